//! Nets and ragdolls: scenes of joints.

use super::{Arrival, Built, StressBody, StressJoint, StressLimits, StressScene, ragdoll};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{CollisionGroups, Status};
use rattleback_geometry::{Pose, Shape, TriangleMesh};
use std::f64::consts::TAU;

/// Spheres in a net, fixed along its upper edge, without collisions.
pub(super) fn joint_grid() -> Built<StressScene> {
    const SIDE: usize = 100;
    let mut scene = StressScene::new("joint-grid", 100, false);
    let ball = Shape::sphere(0.4)?;
    let anchors = |arm: DVec3| [Pose::at(arm), Pose::at(-arm)];
    for k in 0..SIDE {
        for i in 0..SIDE {
            let status = if i == 0 { Status::Fixed } else { Status::Dynamic };
            let mut body = StressBody::new(status, DVec3::new(k as f64, -(i as f64), 0.0), ball.clone());
            body.groups = CollisionGroups { member_of: 2, touches: !2 };
            let index = scene.bodies.len();
            let mut join = |other: usize, arm: DVec3| {
                scene.joints.push(StressJoint {
                    bodies: [other, index],
                    frames: anchors(arm),
                    limits: StressLimits::Ball,
                    spring: [0.0; 2],
                    friction: 0.0,
                });
            };
            if i > 0 {
                join(index - 1, DVec3::new(0.0, -0.5, 0.0));
            }
            if i > 0 && k > 0 {
                join(index - SIDE, DVec3::new(0.5, 0.0, 0.0));
            }
            scene.bodies.push(body);
        }
    }
    Ok(scene)
}

/// Three hundred ragdolls fall, ten columns one after the other, on cells with an upright ring.
pub(super) fn rain() -> Built<StressScene> {
    let mut scene = StressScene::new("rain", 400, true);
    let cell = 15.0;
    let center = |k: usize| cell * (k as f64 - 4.5);
    let (floor, ring) = (Shape::mesh(floor_mesh(8, cell / 8.0)?)?, Shape::mesh(ring_mesh(16, 3.75, 1.0)?)?);
    for row in 0..10 {
        for column in 0..10 {
            let mut body =
                StressBody::new(Status::Fixed, DVec3::new(center(column), 0.0, center(row)), floor.clone());
            body.shapes.push((ring.clone(), Pose::IDENTITY));
            scene.bodies.push(body);
        }
    }
    let (mut columns, mut latest) = (0, [None; 10]);
    for step in (0..scene.steps).filter(|step| step & 0x2f == 0) {
        let column = columns % 10;
        columns += 1;
        let mut arrival = Arrival { step, bodies: vec![], joints: vec![], replaces: latest[column] };
        for row in 0..10 {
            for person in 0..3 {
                let at = DVec3::new(center(column) + 0.75 * f64::from(person), 20.0, center(row));
                ragdoll::stand(at, 10 * column + row, &mut arrival.bodies, &mut arrival.joints)?;
            }
        }
        latest[column] = Some(scene.arrivals.len());
        scene.arrivals.push(arrival);
    }
    Ok(scene)
}

/// A square of so many squares, in the plane y = 0.
fn floor_mesh(squares: usize, side: f64) -> Built<TriangleMesh> {
    let edge = squares + 1;
    let half = 0.5 * squares as f64 * side;
    let vertices = (0..edge * edge)
        .map(|k| DVec3::new((k % edge) as f64 * side - half, 0.0, (k / edge) as f64 * side - half))
        .collect();
    let mut triangles = Vec::with_capacity(2 * squares * squares);
    for k in (0..squares * squares).map(|k| k / squares * edge + k % squares) {
        let [a, b, c, d] = [k, k + 1, k + edge, k + edge + 1].map(|k| k as u32);
        triangles.extend([[a, c, b], [b, c, d]]);
    }
    TriangleMesh::new(vertices, triangles).map_err(Into::into)
}

/// A ring about z of so many segments round and across.
fn ring_mesh(segments: usize, major: f64, minor: f64) -> Built<TriangleMesh> {
    let angle = |k: usize| k as f64 * TAU / segments as f64;
    let mut vertices = Vec::with_capacity(segments * segments);
    let mut triangles = Vec::with_capacity(2 * segments * segments);
    for i in 0..segments {
        for k in 0..segments {
            let out = DVec3::new(major + minor * angle(k).cos(), 0.0, minor * angle(k).sin());
            vertices.push(DQuat::from_rotation_z(angle(i)) * out);
            let corner = |i: usize, k: usize| (i % segments * segments + k % segments) as u32;
            let [a, b, c, d] = [corner(i, k), corner(i + 1, k), corner(i, k + 1), corner(i + 1, k + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    TriangleMesh::new(vertices, triangles).map_err(Into::into)
}
