//! Boxes, convex polyhedra and triangles as solids with flat faces, for separating axes and clipping.
//!
//! An edge runs so that left × right of its faces' normals points along it. A triangle is a solid without
//! thickness: two faces, one on each side, and three edges between them; left × right is then zero, but the
//! direction is that of the limit.

use glam::DVec3;

use crate::closest::{ClosestError, Support};
use crate::primitive;
use crate::{ConvexPolyhedron, Cuboid, MAX_LENGTH};

/// An edge: its ends and the faces to its left and right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) ends: [u32; 2],
    pub(super) faces: [u32; 2],
}

/// A solid with flat faces.
pub(super) trait Polytope: Support {
    /// Corner.
    fn vertex(&self, vertex: u32) -> DVec3;
    /// Number of a corner farthest along a direction, the search starts at `start`.
    fn farthest_vertex(&self, direction: DVec3, start: u32) -> u32;
    /// Some point well inside.
    fn middle(&self) -> DVec3;
    fn face_count(&self) -> usize;
    fn edge_count(&self) -> usize;
    /// Outward unit normal n and offset d of a face: n·p = d.
    fn plane(&self, face: usize) -> (DVec3, f64);
    fn edge(&self, edge: usize) -> Side;
    /// Calls back with (corner, number of the edge from it to the next) around a face, counter-clockwise.
    fn walk_face(&self, face: usize, visit: impl FnMut(u32, u32));
    /// Calls back with the edges at a corner.
    fn walk_vertex(&self, vertex: u32, visit: impl FnMut(u32));
    /// Number of sides of a face.
    fn side_count(&self, face: usize) -> usize;
    /// A face at a vertex farthest along a direction: of the flattest edge's two faces the one whose normal
    /// is nearer to it.
    fn face_at(&self, vertex: u32, direction: DVec3) -> usize;
}

/// Bits 0, 1, 2 of a corner's number are set where it is negative, as in `Support`.
pub(super) const BOX_FACES: [[u32; 4]; 6] =
    [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]];

/// Edge 4k + s runs along axis k; bits of s: sign of axis k + 1, then of axis k + 2.
const fn box_edge(edge: usize) -> Side {
    let (k, s) = (edge / 4, edge % 4);
    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
    let (negative_i, negative_j) = (s & 1, s >> 1);
    let corner = (negative_i << i | negative_j << j) as u32;
    let (low, high) = (corner | 1 << k, corner);
    let ends = if negative_i == negative_j { [low, high] } else { [high, low] };
    Side { ends, faces: [(2 * i + negative_i) as u32, (2 * j + negative_j) as u32] }
}

const BOX_EDGES: [Side; 12] = {
    let mut edges = [Side { ends: [0; 2], faces: [0; 2] }; 12];
    let mut edge = 0;
    while edge < 12 {
        edges[edge] = box_edge(edge);
        edge += 1;
    }
    edges
};

/// Edge from corner i to corner i + 1 of each face.
pub(super) const BOX_FACE_EDGES: [[u32; 4]; 6] = {
    let mut found = [[0; 4]; 6];
    let mut face = 0;
    while face < 6 {
        let mut i = 0;
        while i < 4 {
            let (p, q) = (BOX_FACES[face][i], BOX_FACES[face][(i + 1) % 4]);
            let mut edge = 0;
            while edge < 12 {
                let [a, b] = BOX_EDGES[edge].ends;
                if (a == p && b == q) || (a == q && b == p) {
                    found[face][i] = edge as u32;
                }
                edge += 1;
            }
            i += 1;
        }
        face += 1;
    }
    found
};

/// Number of the edge of a box between two of its faces, in any order; 0 if they are opposite.
#[inline]
pub(super) fn box_edge_at([one, other]: [usize; 2]) -> u32 {
    let ([k, m], signs) = ([one / 2, other / 2], [one & 1, other & 1]);
    match (3 + m - k) % 3 {
        // The edge runs along the axis before both, or between them in the cycle.
        1 => (4 * ((k + 2) % 3) + signs[0] + 2 * signs[1]) as u32,
        2 => (4 * ((m + 2) % 3) + signs[1] + 2 * signs[0]) as u32,
        _ => 0,
    }
}

/// Number of the face of a box across an axis, on the side of the sign.
#[inline]
pub(super) fn box_face(axis: usize, negative: bool) -> usize {
    2 * axis + usize::from(negative)
}

impl Polytope for Cuboid {
    #[inline]
    fn vertex(&self, vertex: u32) -> DVec3 {
        let side = |bit: u32| if vertex & bit == 0 { 1.0 } else { -1.0 };
        self.half_extents() * DVec3::new(side(1), side(2), side(4))
    }

    #[inline]
    fn farthest_vertex(&self, direction: DVec3, _start: u32) -> u32 {
        direction.is_negative_bitmask()
    }

    #[inline]
    fn middle(&self) -> DVec3 {
        DVec3::ZERO
    }

    #[inline]
    fn face_count(&self) -> usize {
        6
    }

    #[inline]
    fn edge_count(&self) -> usize {
        12
    }

    #[inline]
    fn plane(&self, face: usize) -> (DVec3, f64) {
        let sign = if face & 1 == 0 { 1.0 } else { -1.0 };
        (sign * DVec3::AXES[face / 2], self.half_extents()[face / 2])
    }

    #[inline]
    fn edge(&self, edge: usize) -> Side {
        BOX_EDGES[edge]
    }

    #[inline]
    fn walk_face(&self, face: usize, mut visit: impl FnMut(u32, u32)) {
        for (&vertex, &edge) in BOX_FACES[face].iter().zip(&BOX_FACE_EDGES[face]) {
            visit(vertex, edge);
        }
    }

    #[inline]
    fn walk_vertex(&self, vertex: u32, mut visit: impl FnMut(u32)) {
        for k in 0..3 {
            let negative = |axis: usize| vertex >> (axis % 3) & 1;
            visit(4 * k as u32 + negative(k + 1) + 2 * negative(k + 2));
        }
    }

    #[inline]
    fn side_count(&self, _face: usize) -> usize {
        4
    }

    #[inline]
    fn face_at(&self, _vertex: u32, direction: DVec3) -> usize {
        let axis = direction.abs().max_position();
        box_face(axis, direction[axis] < 0.0)
    }
}

impl Polytope for ConvexPolyhedron {
    #[inline]
    fn vertex(&self, vertex: u32) -> DVec3 {
        self.vertices()[vertex as usize]
    }

    #[inline]
    fn farthest_vertex(&self, direction: DVec3, start: u32) -> u32 {
        Support::farthest(self, direction, start).1
    }

    #[inline]
    fn middle(&self) -> DVec3 {
        let vertices = self.vertices();
        vertices.iter().sum::<DVec3>() / vertices.len() as f64
    }

    #[inline]
    fn face_count(&self) -> usize {
        self.polyhedron().face_count()
    }

    #[inline]
    fn edge_count(&self) -> usize {
        self.edges().len()
    }

    #[inline]
    fn plane(&self, face: usize) -> (DVec3, f64) {
        (self.normals()[face], self.offsets()[face])
    }

    #[inline]
    fn edge(&self, edge: usize) -> Side {
        let edge = self.edges()[edge];
        Side { ends: edge.vertices, faces: edge.faces }
    }

    #[inline]
    fn walk_face(&self, face: usize, mut visit: impl FnMut(u32, u32)) {
        for (&vertex, &edge) in self.face(face).iter().zip(self.face_edges(face)) {
            visit(vertex, edge);
        }
    }

    #[inline]
    fn walk_vertex(&self, vertex: u32, mut visit: impl FnMut(u32)) {
        self.vertex_edges(vertex as usize).iter().for_each(|&edge| visit(edge));
    }

    #[inline]
    fn side_count(&self, face: usize) -> usize {
        self.face(face).len()
    }

    fn face_at(&self, vertex: u32, direction: DVec3) -> usize {
        let from = self.vertices()[vertex as usize];
        let mut flattest = (f64::NEG_INFINITY, 0);
        for (&edge, &to) in
            self.vertex_edges(vertex as usize).iter().zip(self.vertex_neighbors(vertex as usize))
        {
            let along = self.vertices()[to as usize] - from;
            // All descend: the square of the slope, with its sign.
            let slope = along.dot(direction);
            let steepness = slope * slope.abs() / along.length_squared();
            if steepness > flattest.0 {
                flattest = (steepness, edge);
            }
        }
        let [left, right] = self.edges()[flattest.1 as usize].faces.map(|face| face as usize);
        let looks = |face: usize| self.normals()[face].dot(direction);
        if looks(left) >= looks(right) { left } else { right }
    }
}

/// A triangle with an area, and its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatTriangle {
    corners: [DVec3; 3],
    normal: DVec3,
    offset: f64,
}

impl FlatTriangle {
    /// Corners ⇒ triangle; None if it has no area; an error if a corner is not finite or too far out.
    pub(super) fn new(corners: [DVec3; 3]) -> Result<Option<Self>, ClosestError> {
        if !corners.iter().all(|p| p.abs().max_element() <= MAX_LENGTH && p.is_finite()) {
            return Err(ClosestError::InvalidPoint);
        }
        let normal = primitive::Triangle::from(corners).normal();
        Ok(normal.map(|normal| Self { corners, normal, offset: normal.dot(corners[0]) }))
    }
}

impl FlatTriangle {
    /// Corners within the limits of lengths and their unit normal ⇒ triangle.
    #[inline]
    pub(super) fn with_normal(corners: [DVec3; 3], normal: DVec3) -> Self {
        Self { corners, normal, offset: normal.dot(corners[0]) }
    }
}

impl Support for FlatTriangle {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        let number = self.farthest_vertex(direction, 0);
        (self.corners[number as usize], number)
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        Some(self.corners[(number as usize).min(2)])
    }
}

impl Polytope for FlatTriangle {
    #[inline]
    fn vertex(&self, vertex: u32) -> DVec3 {
        self.corners[vertex as usize % 3]
    }

    #[inline]
    fn farthest_vertex(&self, direction: DVec3, _start: u32) -> u32 {
        let [a, b, c] = self.corners.map(|p| p.dot(direction));
        if a >= b && a >= c {
            0
        } else if b >= c {
            1
        } else {
            2
        }
    }

    #[inline]
    fn middle(&self) -> DVec3 {
        primitive::Triangle::from(self.corners).centroid()
    }

    #[inline]
    fn face_count(&self) -> usize {
        2
    }

    #[inline]
    fn edge_count(&self) -> usize {
        3
    }

    #[inline]
    fn plane(&self, face: usize) -> (DVec3, f64) {
        if face == 0 { (self.normal, self.offset) } else { (-self.normal, -self.offset) }
    }

    #[inline]
    fn edge(&self, edge: usize) -> Side {
        Side { ends: [edge as u32, (edge as u32 + 1) % 3], faces: [0, 1] }
    }

    #[inline]
    fn walk_face(&self, face: usize, mut visit: impl FnMut(u32, u32)) {
        let order = if face == 0 { [(0, 0), (1, 1), (2, 2)] } else { [(0, 2), (2, 1), (1, 0)] };
        for (vertex, edge) in order {
            visit(vertex, edge);
        }
    }

    #[inline]
    fn walk_vertex(&self, vertex: u32, mut visit: impl FnMut(u32)) {
        visit(vertex % 3);
        visit((vertex + 2) % 3);
    }

    #[inline]
    fn side_count(&self, _face: usize) -> usize {
        3
    }

    #[inline]
    fn face_at(&self, _vertex: u32, direction: DVec3) -> usize {
        usize::from(self.normal.dot(direction) < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convex_hull;

    /// Every corner of a face is in its plane, the order is counter-clockwise, and edges have their faces
    /// left and right.
    fn check(solid: &impl Polytope) {
        for face in 0..solid.face_count() {
            let (normal, offset) = solid.plane(face);
            let mut corners = Vec::new();
            solid.walk_face(face, |vertex, edge| corners.push((vertex, edge)));
            assert_eq!(corners.len(), solid.side_count(face));
            for (i, &(vertex, edge)) in corners.iter().enumerate() {
                let (p, next) = (solid.vertex(vertex), corners[(i + 1) % corners.len()].0);
                let after = corners[(i + 2) % corners.len()].0;
                assert!((normal.dot(p) - offset).abs() < 1e-12);
                let (q, r) = (solid.vertex(next), solid.vertex(after));
                assert!((q - p).cross(r - q).dot(normal) > 0.0);
                let side = solid.edge(edge as usize);
                assert!(side.ends == [vertex, next] || side.ends == [next, vertex]);
                assert!(side.faces.contains(&(face as u32)));
            }
        }
        for edge in 0..solid.edge_count() {
            let side = solid.edge(edge);
            let along = solid.vertex(side.ends[1]) - solid.vertex(side.ends[0]);
            let [left, right] = side.faces.map(|face| solid.plane(face as usize).0);
            assert!(left.cross(right).dot(along) >= 0.0);
            // The left face lies to the left: n × e points into it.
            assert!(left.cross(along).dot(solid.middle() - solid.vertex(side.ends[0])) > 0.0);
            for end in side.ends {
                let mut found = false;
                solid.walk_vertex(end, |other| found |= other as usize == edge);
                assert!(found);
            }
        }
    }

    #[test]
    fn edges_lie_between_their_faces() {
        for (number, edge) in BOX_EDGES.iter().enumerate() {
            let [left, right] = edge.faces.map(|face| face as usize);
            assert_eq!(box_edge_at([left, right]), number as u32);
            assert_eq!(box_edge_at([right, left]), number as u32);
        }
    }

    #[test]
    fn numbering_of_faces_and_edges_is_consistent() {
        check(&Cuboid::new(DVec3::new(1.0, 2.0, 3.0)).unwrap());
        check(&convex_hull(&[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z]).unwrap());
        check(&FlatTriangle::new([DVec3::X, DVec3::Y, DVec3::Z]).unwrap().unwrap());
    }
}
