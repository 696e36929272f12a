//! Polygon soup, as read from files or generated: points and index loops, without any guarantee.
//!
//! The soup is the common currency of mesh readers; `Polyhedron` and `TriangleMesh` check it and build
//! topology.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Vertices and faces, each face a loop of vertex indices, stored flat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Loops", into = "Loops")]
pub struct PolygonSoup {
    /// Points in the modelling frame.
    pub vertices: Vec<DVec3>,
    indices: Vec<u32>,
    /// `indices[loop_ends[i - 1]..loop_ends[i]]` is face i.
    loop_ends: Vec<u32>,
}

/// How a soup is written: one list a face.
#[derive(Serialize, Deserialize)]
struct Loops {
    vertices: Vec<DVec3>,
    faces: Vec<Vec<u32>>,
}

impl From<Loops> for PolygonSoup {
    fn from(read: Loops) -> Self {
        let mut soup = Self::new(read.vertices);
        read.faces.iter().for_each(|face| soup.push_face(face));
        soup
    }
}

impl From<PolygonSoup> for Loops {
    fn from(soup: PolygonSoup) -> Self {
        let faces = soup.faces().map(<[u32]>::to_vec).collect();
        Self { vertices: soup.vertices, faces }
    }
}

impl PolygonSoup {
    /// A soup without faces.
    pub fn new(vertices: Vec<DVec3>) -> Self {
        Self { vertices, indices: Vec::new(), loop_ends: Vec::new() }
    }

    /// Points and triangles ⇒ soup.
    pub fn from_triangles(vertices: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let loop_ends = (1..=triangles.len() as u32).map(|i| 3 * i).collect();
        Self { vertices, indices: triangles.as_flattened().to_vec(), loop_ends }
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
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone + '_ {
        (0..self.face_count()).map(|i| self.face(i))
    }

    /// The same faces in the same order, each running the other way.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut soup = Self::new(self.vertices.clone());
        for face in self.faces() {
            let corners: Vec<u32> = face.iter().rev().copied().collect();
            soup.push_face(&corners);
        }
        soup
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_being_written_and_read() {
        let mut soup =
            PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE], &[[0, 1, 2]]);
        soup.push_face(&[3, 2, 1, 0]);
        let text = serde_json::to_string(&soup).unwrap();
        assert_eq!(serde_json::from_str::<PolygonSoup>(&text).unwrap(), soup);
        assert_eq!(soup.reversed().face(0), [2, 1, 0]);
        assert_eq!(soup.face_count(), 2);
    }
}
