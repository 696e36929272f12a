//! The icosahedron and the spheres made from it.
//!
//! With φ = (1 + √5)/2 the twelve points (0, ±1, ±φ) and cyclic are the corners of an icosahedron. The next
//! level cuts each triangle in four at its edges' midpoints, pushed out to the sphere: V′ = V + E, E′ = 2E +
//! 3F, F′ = 4F.

use std::collections::HashMap;

use glam::DVec3;

use crate::shape::error::count;
use crate::{ShapeError, TriangleMesh};

/// The icosahedron inscribed in the unit sphere: 12 vertices, 30 edges, 20 faces.
pub fn icosahedron() -> Result<TriangleMesh, ShapeError> {
    icosphere(1)
}

/// Level 1 (icosahedron) to 10 ⇒ triangles inscribed in the unit sphere: 20·4^(level−1) of them, with
/// 10·4^(level−1) + 2 vertices.
pub fn icosphere(level: u32) -> Result<TriangleMesh, ShapeError> {
    count("icosphere", "level", level as usize, 1..=10)?;
    let phi = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut vertices = Vec::new();
    for axis in 0..3 {
        for (a, b) in [(-1.0, -phi), (1.0, -phi), (-1.0, phi), (1.0, phi)] {
            let mut p = DVec3::ZERO;
            p[(axis + 1) % 3] = a;
            p[(axis + 2) % 3] = b;
            vertices.push(p.normalize());
        }
    }
    let mut triangles = icosahedron_faces(&vertices);
    for _ in 1..level {
        triangles = subdivide(&mut vertices, &triangles);
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

/// Three corners at edge distance from each other are a face.
fn icosahedron_faces(vertices: &[DVec3]) -> Vec<[u32; 3]> {
    // Edge length of the unit icosahedron is 1.0515; the next distance is 1.7013.
    let near = |i: usize, j: usize| vertices[i].distance_squared(vertices[j]) < 1.5;
    let mut faces = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if near(i, j) && near(j, k) && near(k, i) {
                    let outwards = vertices[i].dot(vertices[j].cross(vertices[k])) > 0.0;
                    faces.push(if outwards { [i, j, k] } else { [i, k, j] }.map(|v| v as u32));
                }
            }
        }
    }
    faces
}

fn subdivide(vertices: &mut Vec<DVec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut midpoints = HashMap::with_capacity(3 * triangles.len() / 2);
    let mut midpoint = |i: u32, j: u32| {
        *midpoints.entry((i.min(j), i.max(j))).or_insert_with(|| {
            vertices.push((vertices[i as usize] + vertices[j as usize]).normalize());
            vertices.len() as u32 - 1
        })
    };
    let mut finer = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (midpoint(a, b), midpoint(b, c), midpoint(c, a));
        finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    finer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_subdivision_rule() {
        for (level, v, e, f) in [(1, 12, 30, 20), (2, 42, 120, 80), (3, 162, 480, 320), (4, 642, 1920, 1280)]
        {
            let report = icosphere(level).unwrap().report().unwrap();
            assert_eq!((report.vertices, report.edges, report.faces), (v, e, f));
            assert!(report.is_solid() && report.genus == Some(0));
        }
        assert!(icosphere(0).is_err() && icosphere(11).is_err());
    }
}
