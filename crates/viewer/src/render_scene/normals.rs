//! Vertex normals: smooth across small dihedral angles, split at creases.
//!
//! The normal of a corner is the sum of the area vectors of the triangles around its vertex that face within 40° of the
//! corner's own triangle. Corners of a vertex with equal normals are merged.

use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// cos 40°.
const SMOOTH: f64 = 0.766;

/// Corner positions, their unit normals, and triangles of corners.
pub(super) type Corners = (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>);

/// (vertices, triangles) ⇒ corners.
pub(super) fn creased(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Corners {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertices[v as usize]);
        (b - a).cross(c - a)
    };
    let areas: Vec<DVec3> = triangles.iter().map(area).collect();
    let units: Vec<DVec3> = areas.iter().map(|area| area.normalize_or_zero()).collect();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
    for (i, triangle) in triangles.iter().enumerate() {
        for v in triangle {
            around[*v as usize].push(i as u32);
        }
    }
    let (mut positions, mut normals, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: HashMap<(u32, [i32; 3]), u32> = HashMap::new();
    for (i, triangle) in triangles.iter().enumerate() {
        faces.push(triangle.map(|v| {
            let smooth = |other: &&u32| units[**other as usize].dot(units[i]) > SMOOTH;
            let sum: DVec3 = around[v as usize].iter().filter(smooth).map(|o| areas[*o as usize]).sum();
            let normal = sum.try_normalize().unwrap_or(units[i]).as_vec3();
            let key = (normal * 1024.0).round().as_ivec3().to_array();
            *known.entry((v, key)).or_insert_with(|| {
                positions.push(vertices[v as usize].as_vec3());
                normals.push(normal);
                positions.len() as u32 - 1
            })
        }));
    }
    (positions, normals, faces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_geometry::Shape;

    /// A cube has three normals at each vertex, a sphere one, along its radius.
    #[test]
    fn cubes_are_sharp_and_balls_are_smooth() {
        let cube = Shape::cuboid(DVec3::ONE).unwrap().surface(8).unwrap();
        let (positions, normals, _) = creased(cube.vertices(), cube.triangles());
        assert_eq!(positions.len(), 24);
        assert!(normals.iter().all(|n| n.abs().max_element() > 0.999));
        let ball = Shape::sphere(1.0).unwrap().surface(32).unwrap();
        let (positions, normals, _) = creased(ball.vertices(), ball.triangles());
        assert_eq!(positions.len(), ball.vertices().len());
        assert!(positions.iter().zip(&normals).all(|(p, n)| p.normalize().dot(*n) > 0.99));
    }
}
