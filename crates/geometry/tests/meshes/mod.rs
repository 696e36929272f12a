//! Triangle meshes for tests, and distances from them by brute force.

use glam::DVec3;
use rattleback_geometry::{TriangleMesh, generate};

/// Box from corner to corner as triangles.
pub fn block(min: DVec3, max: DVec3) -> TriangleMesh {
    let soup = generate::cuboid(0.5 * (max - min)).unwrap();
    let mesh = TriangleMesh::from_soup(&soup).unwrap();
    let vertices = (0..8)
        .map(|i| DVec3::from_array(std::array::from_fn(|a| if i >> a & 1 == 1 { max[a] } else { min[a] })))
        .collect();
    TriangleMesh::new(vertices, mesh.triangles().to_vec()).unwrap()
}

/// Distance of a point from a triangle by projection and its three sides.
pub fn distance_to_triangle(corners: [DVec3; 3], p: DVec3) -> f64 {
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
    let sides = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (corners[i], corners[j]));
    if sides.iter().all(|&(a, b)| normal.cross(b - a).dot(p - a) >= 0.0) {
        return normal.dot(p - corners[0]).abs();
    }
    let to_side = |&(a, b): &(DVec3, DVec3)| {
        let t = ((p - a).dot(b - a) / a.distance_squared(b)).clamp(0.0, 1.0);
        p.distance(a.lerp(b, t))
    };
    sides.iter().map(to_side).fold(f64::INFINITY, f64::min)
}
