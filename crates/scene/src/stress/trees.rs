//! Trees of many hulls that fall on a rolling field of many triangles.

use super::{Built, StressBody, StressScene};
use glam::DVec3;
use rattleback_dynamics::Status;
use rattleback_geometry::{Pose, Shape, TriangleMesh};
use std::f64::consts::TAU;

/// Fifty trees; the field has 60 000 triangles times the square of `fineness`.
pub(super) fn trees(name: &'static str, fineness: usize) -> Built<StressScene> {
    let mut scene = StressScene::new(name, 500, true);
    scene.sleep_speed = 0.2;
    scene.bodies.push(StressBody::new(Status::Fixed, DVec3::ZERO, Shape::mesh(field(fineness)?)?));
    let mut logs = Vec::new();
    let (mut radius, mut y) = (0.75, 1.0);
    for _ in 0..22 {
        let height = 1.5 + 2.0 * radius;
        let corners: Vec<DVec3> = (0..12)
            .map(|k| {
                let (sine, cosine) = (f64::from(k / 2) * TAU / 6.0).sin_cos();
                DVec3::new(radius * cosine, y - radius + f64::from(k % 2) * height, radius * sine)
            })
            .collect();
        logs.push((Shape::convex_hull(&corners)?, Pose::IDENTITY));
        y += height;
        radius *= 0.95;
    }
    for k in 0..50 {
        let k = f64::from(k);
        let sign = if k % 2.0 == 0.0 { -1.0 } else { 1.0 };
        scene.bodies.push(StressBody {
            shapes: logs.clone(),
            density: 1.0,
            spin: DVec3::Z * (sign * 0.5 * (0.5 + 0.5 * k / 50.0)),
            surface: [0.9, 0.05],
            ..StressBody::new(Status::Dynamic, DVec3::new(0.0, 1.0, -70.0 + 3.0 * k), logs[0].0.clone())
        });
    }
    Ok(scene)
}

/// Waves of 0.4 m over 150 m × 200 m.
fn field(fineness: usize) -> Built<TriangleMesh> {
    let (columns, rows) = (150 * fineness, 200 * fineness);
    let side = 1.0 / fineness as f64;
    let edge = columns + 1;
    let vertices = (0..edge * (rows + 1))
        .map(|k| {
            let (x, z) = ((k % edge) as f64 * side, (k / edge) as f64 * side);
            let y = 0.4 * (TAU * 0.1 * x).sin() * (TAU * 0.05 * z).sin();
            DVec3::new(x - 75.0, y, z - 100.0)
        })
        .collect();
    let mut triangles = Vec::with_capacity(2 * columns * rows);
    for k in (0..columns * rows).map(|k| k / columns * edge + k % columns) {
        let [a, b, c, d] = [k, k + 1, k + edge, k + edge + 1].map(|k| k as u32);
        triangles.extend([[a, c, b], [b, c, d]]);
    }
    TriangleMesh::new(vertices, triangles).map_err(Into::into)
}
