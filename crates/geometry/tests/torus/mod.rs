//! The pair of tori whose crossing triangles were counted by brute force (T-1): R = 1, r = 0.4, 50 × 50
//! quads.

use glam::{DQuat, DVec3};
use rattleback_geometry::{Pose, TriangleMesh};

/// Offset dx ⇒ pairs of triangles that share a point.
pub const COUNTS: [(f64, usize); 7] =
    [(3.0, 0), (2.5, 102), (2.0, 270), (1.5, 514), (1.0, 668), (0.5, 818), (0.0, 836)];

/// 5000 triangles about the y axis.
pub fn torus() -> TriangleMesh {
    const N: u32 = 50;
    let angle = |i: u32| f64::from(i) / f64::from(N) * std::f64::consts::TAU;
    let vertices = (0..N * N)
        .map(|k| {
            let ((su, cu), (sv, cv)) = (angle(k / N).sin_cos(), angle(k % N).sin_cos());
            DVec3::new((1.0 + 0.4 * cv) * cu, 0.4 * sv, (1.0 + 0.4 * cv) * su)
        })
        .collect();
    let at = |i: u32, j: u32| i % N * N + j % N;
    let triangles = (0..N * N)
        .flat_map(|k| {
            let (i, j) = (k / N, k % N);
            [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
        })
        .collect();
    TriangleMesh::new(vertices, triangles).unwrap()
}

/// Where the second torus stands.
pub fn pose(dx: f64) -> Pose {
    let axis = DVec3::new(1.0, 2.0, 3.0).normalize();
    Pose::new(DQuat::from_axis_angle(axis, 37f64.to_radians()), DVec3::new(dx, 0.113, 0.057))
}
