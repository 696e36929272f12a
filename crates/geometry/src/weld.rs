//! Joining vertices that are the same point.
//!
//! Files of loose triangles repeat each vertex once per triangle. Exact welding joins equal coordinates (−0 =
//! 0) by a hash table. Welding with a tolerance ε puts vertices into cells of size ε and looks for an earlier
//! vertex within ε in the 27 cells around, so the time stays linear; the first vertex of a cluster represents
//! it.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};
use thiserror::Error;

use crate::PolygonSoup;

/// Why vertices cannot be welded.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum WeldError {
    /// Tolerance negative, NaN or infinite.
    #[error("weld tolerance is {tolerance}, must be finite and not negative")]
    Tolerance {
        /// The bad value.
        tolerance: f64,
    },
    /// A vertex is not finite, or so many tolerances from the origin that cells cannot be counted.
    #[error("vertex {vertex} is not finite or lies more than 2⁶² tolerances from the origin")]
    Vertex {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A face names a vertex that does not exist.
    #[error("face {face} names vertex {index}, which does not exist")]
    IndexOutOfRange {
        /// Index of the face.
        face: usize,
        /// The bad vertex index.
        index: u32,
    },
}

/// Soup ⇒ the same faces over joined vertices, and the number of faces that collapsed and were dropped.
/// Tolerance 0 joins equal coordinates only. Repeated neighbours within a face are joined; a face left with
/// fewer than three corners goes.
pub fn welded(soup: &PolygonSoup, tolerance: f64) -> Result<(PolygonSoup, usize), WeldError> {
    if !(tolerance.is_finite() && tolerance >= 0.0) {
        return Err(WeldError::Tolerance { tolerance });
    }
    let (vertices, index) =
        if tolerance == 0.0 { weld_equal(&soup.vertices)? } else { weld_near(&soup.vertices, tolerance)? };
    let mut result = PolygonSoup::new(vertices);
    let mut dropped = 0;
    let mut corners = Vec::new();
    for (face, old) in soup.faces().enumerate() {
        corners.clear();
        for &v in old {
            corners.push(*index.get(v as usize).ok_or(WeldError::IndexOutOfRange { face, index: v })?);
        }
        corners.dedup();
        while corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if corners.len() < 3 {
            dropped += 1;
        } else {
            result.push_face(&corners);
        }
    }
    Ok((result, dropped))
}

type Welding = (Vec<DVec3>, Vec<u32>);

fn weld_equal(points: &[DVec3]) -> Result<Welding, WeldError> {
    let mut known = HashMap::with_capacity(points.len());
    let (mut vertices, mut index) = (Vec::new(), Vec::with_capacity(points.len()));
    for (vertex, &p) in points.iter().enumerate() {
        if !p.is_finite() {
            return Err(WeldError::Vertex { vertex });
        }
        // Adding zero turns −0 into 0.
        let key = (p + DVec3::ZERO).to_array().map(f64::to_bits);
        index.push(*known.entry(key).or_insert_with(|| {
            vertices.push(p);
            vertices.len() as u32 - 1
        }));
    }
    Ok((vertices, index))
}

fn weld_near(points: &[DVec3], tolerance: f64) -> Result<Welding, WeldError> {
    // A vertex founds a new entry only if none lies within ε, so a cell of side ε holds at most a handful of
    // them.
    let mut cells: HashMap<I64Vec3, Vec<u32>> = HashMap::with_capacity(points.len());
    let (mut vertices, mut index) = (Vec::<DVec3>::new(), Vec::with_capacity(points.len()));
    for (vertex, &p) in points.iter().enumerate() {
        let cell = (p / tolerance).floor();
        // `not <` also catches NaN.
        if !(cell.abs().max_element() < 4.6e18) {
            return Err(WeldError::Vertex { vertex });
        }
        let cell = cell.as_i64vec3();
        let mut nearest: Option<(f64, u32)> = None;
        for neighbor in 0..27 {
            let offset = I64Vec3::new(neighbor % 3 - 1, neighbor / 3 % 3 - 1, neighbor / 9 - 1);
            for &candidate in cells.get(&(cell + offset)).into_iter().flatten() {
                let distance = vertices[candidate as usize].distance(p);
                if distance <= tolerance && nearest.is_none_or(|known| (distance, candidate) < known) {
                    nearest = Some((distance, candidate));
                }
            }
        }
        index.push(nearest.map_or_else(
            || {
                vertices.push(p);
                let new = vertices.len() as u32 - 1;
                cells.entry(cell).or_default().push(new);
                new
            },
            |(_, known)| known,
        ));
    }
    Ok((vertices, index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriangleMesh, generate};

    fn loose(mesh: &TriangleMesh, shake: f64) -> PolygonSoup {
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..mesh.triangles().len() {
            let base = vertices.len() as u32;
            let wobble = shake * ((i % 7) as f64 / 7.0 - 0.5);
            vertices.extend(mesh.triangle(i).map(|p| p + wobble));
            triangles.push([base, base + 1, base + 2]);
        }
        PolygonSoup::from_triangles(vertices, &triangles)
    }

    #[test]
    fn loose_triangles_become_a_closed_sphere_again() {
        let sphere = generate::icosphere(4).unwrap();
        for (shake, tolerance) in [(0.0, 0.0), (1e-9, 1e-8)] {
            let (soup, dropped) = welded(&loose(&sphere, shake), tolerance).unwrap();
            assert_eq!((soup.vertices.len(), soup.face_count(), dropped), (642, 1280, 0));
            assert!(TriangleMesh::from_soup(&soup).unwrap().is_solid());
        }
    }

    #[test]
    fn collapsed_faces_are_counted_and_bad_input_is_named() {
        let points = vec![DVec3::ZERO, DVec3::X * 1e-9, DVec3::Y, DVec3::new(-0.0, 0.0, -0.0)];
        let soup = PolygonSoup::from_triangles(points, &[[0, 1, 2], [3, 0, 2]]);
        assert_eq!(welded(&soup, 0.0).unwrap().1, 1);
        assert_eq!(welded(&soup, 1e-6).unwrap().1, 2);
        assert!(matches!(welded(&soup, f64::NAN), Err(WeldError::Tolerance { .. })));
        let nan = PolygonSoup::from_triangles(vec![DVec3::NAN; 3], &[[0, 1, 2]]);
        assert_eq!(welded(&nan, 0.0), Err(WeldError::Vertex { vertex: 0 }));
        assert_eq!(welded(&nan, 1.0), Err(WeldError::Vertex { vertex: 0 }));
        let bad = PolygonSoup::from_triangles(vec![DVec3::ZERO], &[[0, 0, 1]]);
        assert_eq!(welded(&bad, 0.0), Err(WeldError::IndexOutOfRange { face: 0, index: 1 }));
    }
}
