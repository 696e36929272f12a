//! Polygons as files and generators give them: points and index loops, nothing promised.
//!
//! The soup is the common currency of mesh readers; `Polyhedron` and `TriangleMesh` check it and build topology.

use glam::DVec3;

/// Vertices and faces, each face a loop of vertex indices, stored flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonSoup {
    /// Points in the modelling frame.
    pub vertices: Vec<DVec3>,
    indices: Vec<u32>,
    /// `indices[loop_ends[i - 1]..loop_ends[i]]` is face i.
    loop_ends: Vec<u32>,
}

impl PolygonSoup {
    /// A soup without faces.
    pub fn new(vertices: Vec<DVec3>) -> Self {
        Self { vertices, indices: Vec::new(), loop_ends: Vec::new() }
    }

    /// Points and triangles ⇒ soup.
    pub fn from_triangles(vertices: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let mut soup = Self::new(vertices);
        for triangle in triangles {
            soup.push_face(triangle);
        }
        soup
    }

    /// Appends one loop, counter-clockwise seen from outside.
    pub fn push_face(&mut self, corners: &[u32]) {
        self.indices.extend_from_slice(corners);
        self.loop_ends.push(self.indices.len() as u32);
    }

    /// Number of loops.
    pub fn face_count(&self) -> usize {
        self.loop_ends.len()
    }

    /// Vertex indices of face `i`, in order.
    pub fn face(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.loop_ends[i - 1] as usize };
        &self.indices[start..self.loop_ends[i] as usize]
    }

    /// All faces in order.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> + '_ {
        (0..self.face_count()).map(|i| self.face(i))
    }
}
