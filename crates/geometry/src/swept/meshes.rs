//! Two triangle meshes whose vertices move on straight lines.
//!
//! Neighbouring triangles share corners and edges. So that each pair of features is tested once, every vertex
//! and every edge belongs to the first triangle that has it: three vertex bits and three edge bits per
//! triangle. Without culling that makes V₁F₂ + F₁V₂ + E₁E₂ tests.
//!
//! Between s = 0 and 1 the mesh is not rigid: a body that turns by 180° shrinks to its axis half-way.
//! `chord_pieces` computes how finely a rotation must be cut.

use std::collections::BTreeSet;

use glam::DVec3;

use super::triangles::{
    MovingPoint, MovingTriangle, TriangleFeatures, TriangleHit, earlier, swept_edges, swept_vertex_face,
};
use super::{Motion, chord_pieces};
use crate::primitive::{PrimitiveError, Tolerances, triangle_triangle};
use crate::{Aabb, TriangleMesh};

/// Which triangle tests which vertices and edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureOwners {
    masks: Vec<u8>,
}

impl FeatureOwners {
    /// Triangles ⇒ owners. Bit i of a triangle's mask: its corner i, bit 3 + i: its side from corner i to i +
    /// 1.
    pub fn of(triangles: &[[u32; 3]]) -> Self {
        let (mut vertices, mut edges) = (BTreeSet::new(), BTreeSet::new());
        let masks = triangles.iter().map(|triangle| {
            let mut mask = 0;
            for i in 0..3 {
                let (v, w) = (triangle[i], triangle[(i + 1) % 3]);
                mask |= u8::from(vertices.insert(v)) << i;
                mask |= u8::from(edges.insert((v.min(w), v.max(w)))) << (3 + i);
            }
            mask
        });
        Self { masks: masks.collect() }
    }

    /// Whether a triangle tests its corner.
    pub fn owns_vertex(&self, triangle: usize, corner: usize) -> bool {
        self.masks.get(triangle).is_some_and(|mask| mask >> corner & 1 == 1)
    }

    /// Whether a triangle tests its side from corner `side` to the next.
    pub fn owns_edge(&self, triangle: usize, side: usize) -> bool {
        self.masks.get(triangle).is_some_and(|mask| mask >> (3 + side) & 1 == 1)
    }
}

/// A mesh at the start and the end of its motion.
#[derive(Clone, Debug)]
pub struct MovingMesh<'a> {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    triangles: &'a [[u32; 3]],
    owners: FeatureOwners,
}

impl<'a> MovingMesh<'a> {
    /// (vertices at s = 0, at s = 1, triangles over them) ⇒ moving mesh.
    pub fn new(
        start: Vec<DVec3>,
        end: Vec<DVec3>,
        triangles: &'a [[u32; 3]],
    ) -> Result<Self, PrimitiveError> {
        if start.iter().chain(&end).any(|p| !p.is_finite()) {
            return Err(PrimitiveError::NonFinite { what: "vertex of a moving mesh" });
        }
        let count = start.len().min(end.len());
        if let Some(&index) = triangles.iter().flatten().find(|&&i| i as usize >= count) {
            let (what, allowed) = ("vertex index", "below the number of vertices at both times");
            return Err(PrimitiveError::OutOfRange { what, value: f64::from(index), allowed });
        }
        Ok(Self { start, end, triangles, owners: FeatureOwners::of(triangles) })
    }

    /// A mesh that stays where it is.
    pub fn resting(vertices: Vec<DVec3>, triangles: &'a [[u32; 3]]) -> Result<Self, PrimitiveError> {
        Self::new(vertices.clone(), vertices, triangles)
    }

    /// Triangle i; panics if there is none.
    pub fn triangle(&self, i: usize) -> MovingTriangle {
        let point = |v: u32| MovingPoint { start: self.start[v as usize], end: self.end[v as usize] };
        MovingTriangle { corners: self.triangles[i].map(point) }
    }
}

/// First contact of two moving meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshHit {
    /// When, where and which features.
    pub hit: TriangleHit,
    /// Triangle of each mesh.
    pub triangles: [u32; 2],
}

/// Result and cost of a sweep of two meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshSweep {
    /// The first contact.
    pub first: Option<MeshHit>,
    /// Corner–face and edge–edge tests done.
    pub tests: u64,
}

/// Two moving meshes ⇒ first contact. `candidates` are the pairs of triangles whose swept boxes overlap, from
/// a hierarchy; None means all pairs.
pub fn swept_meshes(a: &MovingMesh<'_>, b: &MovingMesh<'_>, candidates: Option<&[(u32, u32)]>) -> MeshSweep {
    let mut sweep = MeshSweep { first: None, tests: 0 };
    let (count_a, count_b) = (a.triangles.len(), b.triangles.len());
    if let Some(pairs) = candidates {
        for &(i, j) in pairs {
            if (i as usize) < count_a && (j as usize) < count_b {
                sweep_pair(a, b, [i, j], &mut sweep);
            }
        }
        return sweep;
    }
    for i in 0..count_a as u32 {
        for j in 0..count_b as u32 {
            sweep_pair(a, b, [i, j], &mut sweep);
        }
    }
    sweep
}

/// Two rigid meshes on their ways ⇒ first contact over s ∈ [0, 1]. Rotations are cut into pieces so that no
/// vertex leaves its true arc by more than `chord_tolerance`; within that the time is exact.
pub fn swept_rigid_meshes(
    a: &TriangleMesh,
    motion_a: &Motion,
    b: &TriangleMesh,
    motion_b: &Motion,
    chord_tolerance: f64,
) -> Result<Option<MeshHit>, PrimitiveError> {
    let pieces_of = |mesh: &TriangleMesh, motion: &Motion| {
        let radius = mesh.vertices().iter().map(|p| p.distance(motion.center())).fold(0.0, f64::max);
        chord_pieces(motion.turn().length(), radius, chord_tolerance)
    };
    let pieces = pieces_of(a, motion_a)?.max(pieces_of(b, motion_b)?);
    let vertices = |mesh: &TriangleMesh, motion: &Motion, s: f64| -> Vec<DVec3> {
        let pose = motion.pose(s);
        mesh.vertices().iter().map(|&p| pose.point(p)).collect()
    };
    let mut moving_a = MovingMesh::resting(vertices(a, motion_a, 0.0), a.triangles())?;
    let mut moving_b = MovingMesh::resting(vertices(b, motion_b, 0.0), b.triangles())?;
    for piece in 0..pieces {
        let [from, to] = [piece, piece + 1].map(|k| f64::from(k) / f64::from(pieces));
        moving_a.start = std::mem::replace(&mut moving_a.end, vertices(a, motion_a, to));
        moving_b.start = std::mem::replace(&mut moving_b.end, vertices(b, motion_b, to));
        let candidates = overlapping_pairs(&moving_a, &moving_b);
        if let Some(mut first) = swept_meshes(&moving_a, &moving_b, Some(&candidates)).first {
            first.hit.time = from + (to - from) * first.hit.time;
            return Ok(Some(first));
        }
    }
    Ok(None)
}

/// Pairs of triangles whose swept boxes overlap.
fn overlapping_pairs(a: &MovingMesh<'_>, b: &MovingMesh<'_>) -> Vec<(u32, u32)> {
    let boxes = |mesh: &MovingMesh<'_>| -> Vec<(u32, Aabb)> {
        let swept = |i: usize| {
            let corners = mesh.triangle(i).corners;
            Aabb::from_points(corners.iter().flat_map(|c| [c.start, c.end])).ok()
        };
        (0..mesh.triangles.len()).filter_map(|i| Some((i as u32, swept(i)?))).collect()
    };
    let (boxes_a, boxes_b) = (boxes(a), boxes(b));
    let around = |boxes: &[(u32, Aabb)]| boxes.iter().map(|entry| entry.1).reduce(|x, y| x.union(&y));
    let Some(all_b) = around(&boxes_b) else { return Vec::new() };
    let mut pairs = Vec::new();
    for (i, x) in boxes_a.iter().filter(|(_, x)| x.overlaps(&all_b)) {
        pairs.extend(boxes_b.iter().filter(|(_, y)| x.overlaps(y)).map(|(j, _)| (*i, *j)));
    }
    pairs
}

fn sweep_pair(a: &MovingMesh<'_>, b: &MovingMesh<'_>, pair: [u32; 2], sweep: &mut MeshSweep) {
    let [i, j] = pair.map(|k| k as usize);
    let (t, u) = (a.triangle(i), b.triangle(j));
    let mut best = None;
    if let Some(overlap) = triangle_triangle(&t.at(0.0), &u.at(0.0), &Tolerances::default()) {
        let point = overlap.segment.midpoint();
        let normal = t.at(0.0).normal().unwrap_or(DVec3::Z);
        best = Some(TriangleHit { time: 0.0, point, normal, features: TriangleFeatures::Overlap });
    }
    for k in 0..3 {
        for l in 0..3 {
            if a.owners.owns_edge(i, k) && b.owners.owns_edge(j, l) {
                sweep.tests += 1;
                if let Some(hit) = swept_edges(t.side(k), u.side(l)) {
                    best = Some(earlier(best, &hit, TriangleFeatures::Edges(k as u8, l as u8)));
                }
            }
        }
    }
    for k in 0..3 {
        if b.owners.owns_vertex(j, k) {
            sweep.tests += 1;
            if let Some(hit) = swept_vertex_face(u.corners[k], &t) {
                best = Some(earlier(best, &hit, TriangleFeatures::FaceVertex(k as u8)));
            }
        }
        if a.owners.owns_vertex(i, k) {
            sweep.tests += 1;
            if let Some(mut hit) = swept_vertex_face(t.corners[k], &u) {
                hit.normal = -hit.normal;
                best = Some(earlier(best, &hit, TriangleFeatures::VertexFace(k as u8)));
            }
        }
    }
    if let Some(hit) = best
        && sweep.first.is_none_or(|known| hit.time < known.hit.time)
    {
        sweep.first = Some(MeshHit { hit, triangles: pair });
    }
}
