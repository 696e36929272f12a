//! A piece of the solid while it is being cut: triangles with the planes they were cut from.
//!
//! Along an edge with direction e, counter-clockwise in its face 1, the dihedral angle inside the solid is
//!   θ = π − atan2((n₁ × n₂)·e, n₁·n₂)  in (0, 2π),
//! more than π where the surface bends inwards. (π − arccos n₁·n₂ never exceeds π and cannot distinguish the
//! two.) The normals are those of the planes the triangles were cut from: pieces of one face stay exactly
//! coplanar however thin they become.

use std::collections::HashMap;

use glam::DVec3;
use rattleback_numerics::UnionFind;

use crate::VolumeIntegrals;

/// A triangle and the index of its plane's normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub corners: [u32; 3],
    pub plane: u32,
}

/// A closed piece. Side 3 f + i runs from corner i of face f to the next.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub vertices: Vec<DVec3>,
    pub faces: Vec<Face>,
    /// The side running the other way along the same edge.
    pub twins: Vec<u32>,
    /// Some side that leaves each vertex.
    pub leaving: Vec<u32>,
    /// Edges no longer than this have no meaningful direction.
    pub short: f64,
}

/// A part while it is being collected.
#[derive(Default)]
struct Piece {
    vertices: Vec<DVec3>,
    faces: Vec<Face>,
    /// New index of each old vertex.
    index: HashMap<u32, u32>,
}

/// (normal of the face that has the edge counter-clockwise, of the other face, direction) ⇒ dihedral angle.
pub(super) fn dihedral_angle(n1: DVec3, n2: DVec3, e: DVec3) -> f64 {
    std::f64::consts::PI - n1.cross(n2).dot(e).atan2(n1.dot(n2))
}

impl Part {
    /// Closed oriented triangles ⇒ part; None if a side has no twin.
    pub fn new(vertices: Vec<DVec3>, faces: Vec<Face>, short: f64) -> Option<Self> {
        let mut side_of = HashMap::with_capacity(3 * faces.len());
        for (f, face) in (0u32..).zip(&faces) {
            for i in 0..3 {
                let ends = (face.corners[i], face.corners[(i + 1) % 3]);
                if side_of.insert(ends, 3 * f + i as u32).is_some() {
                    return None;
                }
            }
        }
        let mut twins = Vec::with_capacity(3 * faces.len());
        let mut leaving = vec![u32::MAX; vertices.len()];
        for (f, face) in (0u32..).zip(&faces) {
            for i in 0..3 {
                let (from, to) = (face.corners[i], face.corners[(i + 1) % 3]);
                twins.push(*side_of.get(&(to, from))?);
                leaving[from as usize] = 3 * f + i as u32;
            }
        }
        Some(Self { vertices, faces, twins, leaving, short })
    }

    /// Start and end of a side.
    pub fn ends(&self, side: u32) -> [u32; 2] {
        let corners = self.faces[side as usize / 3].corners;
        [corners[side as usize % 3], corners[(side as usize + 1) % 3]]
    }

    pub fn point(&self, vertex: u32) -> DVec3 {
        self.vertices[vertex as usize]
    }

    /// Unit direction of a side, zero if its ends coincide.
    pub fn direction(&self, side: u32) -> DVec3 {
        let [a, b] = self.ends(side);
        (self.point(b) - self.point(a)).normalize_or_zero()
    }

    pub fn normal(&self, normals: &[DVec3], face: u32) -> DVec3 {
        normals[self.faces[face as usize].plane as usize]
    }

    /// Dihedral angle at the edge of a side; π where the edge is too short. (Cuts across a row of vertices on
    /// one line leave such edges. They bound nothing.)
    pub fn angle(&self, normals: &[DVec3], side: u32) -> f64 {
        let (n1, n2) = (self.normal(normals, side / 3), self.normal(normals, self.twins[side as usize] / 3));
        let [a, b] = self.ends(side).map(|v| self.point(v));
        if n1 == n2 || a.distance(b) <= self.short {
            return std::f64::consts::PI;
        }
        dihedral_angle(n1, n2, (b - a).normalize_or_zero())
    }

    /// Sides that stand for the edges whose angle exceeds π by more than the tolerance, the most open first.
    pub fn reflex_sides(&self, normals: &[DVec3], tolerance: f64) -> Vec<u32> {
        let mut found: Vec<(f64, u32)> = (0..self.twins.len() as u32)
            .filter(|&side| side < self.twins[side as usize])
            .map(|side| (self.angle(normals, side), side))
            .filter(|(angle, _)| *angle > std::f64::consts::PI + tolerance)
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, side)| side).collect()
    }

    /// Sides that leave a vertex.
    pub fn star(&self, vertex: u32) -> Vec<u32> {
        let first = self.leaving[vertex as usize];
        let mut star = Vec::new();
        let mut side = first;
        while side != u32::MAX && star.len() < self.twins.len() {
            star.push(side);
            side = self.twins[before(side) as usize];
            if side == first {
                break;
            }
        }
        star
    }

    /// Mean length of the edges that bend.
    pub fn mean_edge(&self, normals: &[DVec3]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for side in (0..self.twins.len() as u32).filter(|&side| side < self.twins[side as usize]) {
            let plane = |side: u32| self.normal(normals, side / 3);
            if plane(side) != plane(self.twins[side as usize]) {
                let [a, b] = self.ends(side);
                sum += self.point(a).distance(self.point(b));
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    pub fn volume(&self) -> f64 {
        let triangles: Vec<[u32; 3]> = self.faces.iter().map(|face| face.corners).collect();
        let origin = self.vertices.first().copied().unwrap_or_default();
        VolumeIntegrals::of_triangles_about(&self.vertices, &triangles, origin).t1
    }

    /// The pieces that do not share an edge, each with its own vertices.
    pub fn separated(self) -> Vec<Self> {
        let short = self.short;
        let mut sets = UnionFind::new(self.faces.len());
        for (side, &twin) in (0u32..).zip(&self.twins) {
            sets.union(side / 3, twin / 3);
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut piece_of = HashMap::new();
        for (f, face) in (0u32..).zip(&self.faces) {
            let piece = *piece_of.entry(sets.find(f)).or_insert_with(|| {
                pieces.push(Piece::default());
                pieces.len() - 1
            });
            let Piece { vertices, faces, index } = &mut pieces[piece];
            let corners = face.corners.map(|v| {
                *index.entry(v).or_insert_with(|| {
                    vertices.push(self.vertices[v as usize]);
                    vertices.len() as u32 - 1
                })
            });
            faces.push(Face { corners, plane: face.plane });
        }
        pieces.into_iter().filter_map(|piece| Self::new(piece.vertices, piece.faces, short)).collect()
    }
}

/// The side that comes before a side in its face.
pub(super) fn before(side: u32) -> u32 {
    if side.is_multiple_of(3) { side + 2 } else { side - 1 }
}

/// The side that follows a side in its face.
pub(super) fn after(side: u32) -> u32 {
    if side % 3 == 2 { side - 2 } else { side + 1 }
}
