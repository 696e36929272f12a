//! Pairs of features that may come near each other while points stay within boxes.
//!
//! Every surface point has a box it may not leave without a new search. A feature's box is the union of those of its points,
//! enlarged by half the activation distance. Pairs of features with overlapping boxes are all that can be within that distance
//! anywhere on the way. Features that share a point, and pairs of which nothing can move, are left out.

use std::ops::Range;

use glam::DVec3;

use super::FeaturePair;
use super::tree::{Box32, LEAF, Tree};

/// Points, edges and triangles of all surfaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surface {
    pub edges: Vec<[u32; 2]>,
    pub triangles: Vec<[u32; 3]>,
    /// Points that are tested against triangles.
    pub corners: Vec<u32>,
    /// Points that no step moves.
    pub fixed: Vec<bool>,
    /// Body of each point, and whether it touches itself.
    pub group: Vec<u32>,
    pub rigid: Vec<bool>,
}

/// Two features that may come near each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub kind: FeaturePair,
    pub points: [u32; 4],
    /// d̂, m: smaller for neighbours of a fine mesh, which are near each other at rest.
    pub range: f64,
    /// ξ, m: the distance that is never reached.
    pub floor: f64,
}

impl Candidate {
    const fn new(kind: FeaturePair, points: [u32; 4]) -> Self {
        Self { kind, points, range: 0.0, floor: 0.0 }
    }
}

/// Search structure, kept between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    faces: Tree,
    edges: Tree,
    corners: Tree,
    low: Vec<DVec3>,
    high: Vec<DVec3>,
    found: Vec<Vec<Candidate>>,
    /// Pairs, in an order that depends on the surface and the boxes only.
    pub pairs: Vec<Candidate>,
    /// Searches so far.
    pub searches: u64,
}

/// Leaves per piece of a search.
const PIECE: usize = 32;

impl Candidates {
    /// Surface at rest ⇒ trees.
    pub fn new(surface: &Surface, rest: &[DVec3]) -> Self {
        let middle = |points: &[u32]| {
            points.iter().map(|&p| rest[p as usize]).fold(DVec3::ZERO, |a, b| a + b) / points.len() as f64
        };
        let faces: Vec<DVec3> = surface.triangles.iter().map(|t| middle(t)).collect();
        let edges: Vec<DVec3> = surface.edges.iter().map(|e| middle(e)).collect();
        let corners: Vec<DVec3> = surface.corners.iter().map(|&p| rest[p as usize]).collect();
        Self {
            faces: Tree::new(&faces),
            edges: Tree::new(&edges),
            corners: Tree::new(&corners),
            ..Self::default()
        }
    }

    /// Whether all points stay within their boxes at x.
    pub fn contains(&self, x: &[DVec3]) -> bool {
        self.low.len() == x.len()
            && x.iter()
                .zip(&self.low)
                .zip(&self.high)
                .all(|((x, low), high)| x.cmpge(*low).all() && x.cmple(*high).all())
    }

    /// Searches for the way from `start` to `end`, with a margin around it and pairs within `range`.
    pub fn search(
        &mut self,
        threads: usize,
        surface: &Surface,
        [start, end]: [&[DVec3]; 2],
        margin: f64,
        range: f64,
    ) {
        self.searches += 1;
        self.low.clear();
        self.high.clear();
        for (a, b) in start.iter().zip(end) {
            self.low.push(a.min(*b) - margin);
            self.high.push(a.max(*b) + margin);
        }
        let (low, high, half) = (&self.low, &self.high, DVec3::splat(0.5 * range));
        let bounds = |points: &[u32]| {
            let (mut a, mut b) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for &p in points {
                a = a.min(low[p as usize]);
                b = b.max(high[p as usize]);
            }
            Box32::around(a - half, b + half)
        };
        self.faces.refit(threads, |i| bounds(&surface.triangles[i as usize]));
        self.edges.refit(threads, |i| bounds(&surface.edges[i as usize]));
        self.corners.refit(threads, |i| bounds(&[surface.corners[i as usize]]));
        let leaves: [Vec<_>; 2] = [self.corners.leaves().collect(), self.edges.leaves().collect()];
        let counts = leaves.each_ref().map(|l| l.len().div_ceil(PIECE));
        self.found.iter_mut().for_each(Vec::clear);
        self.found.resize(counts[0] + counts[1], Vec::new());
        let mut found = std::mem::take(&mut self.found);
        rattleback_numerics::team::each(threads, &mut found, |piece, pairs| {
            if piece < counts[0] {
                let leaves = &leaves[0];
                for &leaf in &leaves[part(piece, leaves.len())] {
                    self.corners_of(surface, leaf, pairs);
                }
            } else {
                let leaves = &leaves[1];
                for &leaf in &leaves[part(piece - counts[0], leaves.len())] {
                    self.edges_of(surface, leaf, pairs);
                }
            }
        });
        self.pairs.clear();
        for pairs in &found {
            self.pairs.extend_from_slice(pairs);
        }
        self.found = found;
    }

    fn corners_of(
        &self,
        surface: &Surface,
        (first, end, bounds): (usize, usize, Box32),
        pairs: &mut Vec<Candidate>,
    ) {
        self.faces.query(&bounds, 0, |from, to| {
            for i in first..end {
                for j in from..to {
                    if !self.corners.boxes[i].overlaps(&self.faces.boxes[j]) {
                        continue;
                    }
                    let p = surface.corners[self.corners.order[i] as usize];
                    let [a, b, c] = surface.triangles[self.faces.order[j] as usize];
                    if p != a && p != b && p != c && surface.may_touch(p, a) {
                        pairs.push(Candidate::new(FeaturePair::VertexFace, [p, a, b, c]));
                    }
                }
            }
        });
    }

    fn edges_of(
        &self,
        surface: &Surface,
        (first, end, bounds): (usize, usize, Box32),
        pairs: &mut Vec<Candidate>,
    ) {
        debug_assert!(end - first <= LEAF);
        self.edges.query(&bounds, first, |from, to| {
            for i in first..end {
                for j in from.max(i + 1)..to {
                    if !self.edges.boxes[i].overlaps(&self.edges.boxes[j]) {
                        continue;
                    }
                    let [a, b] = surface.edges[self.edges.order[i] as usize];
                    let [c, d] = surface.edges[self.edges.order[j] as usize];
                    if a != c && a != d && b != c && b != d && surface.may_touch(a, c) {
                        pairs.push(Candidate::new(FeaturePair::EdgeEdge, [a, b, c, d]));
                    }
                }
            }
        });
    }
}

fn part(piece: usize, count: usize) -> Range<usize> {
    piece * PIECE..count.min((piece + 1) * PIECE)
}

impl Surface {
    /// Whether features with these points are tested: not those of one rigid body, nor two that nothing moves.
    fn may_touch(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        !(self.fixed[a] && self.fixed[b] || self.rigid[a] && self.group[a] == self.group[b])
    }
}
