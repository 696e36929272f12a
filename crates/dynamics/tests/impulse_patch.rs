//! Microcollisions average to Coulomb's force: a body at rest on them neither rotates nor creeps.

use glam::{DQuat, DVec3};
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Body, Material, Simulator, World};
use rattleback_geometry::Shape;

/// A brick dropped on its corner from just above the floor, tilted by 1° about any horizontal axis, comes to
/// rest within a second.
#[test]
fn a_tilted_brick_comes_to_rest() {
    for k in 0..24 {
        let mut world = World::default();
        let clay = world
            .add_material(Material { restitution: 0.1 * f64::from(k % 5), ..Material::with_friction(0.3) });
        let clay = clay.unwrap();
        world
            .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(clay))
            .unwrap();
        let angle = 0.26 * f64::from(k);
        let tilt = DQuat::from_axis_angle(DVec3::new(angle.cos(), angle.sin(), 0.0), 1f64.to_radians());
        let half = DVec3::new(0.03, 0.02, 0.01);
        let lowest = (tilt * DVec3::X).z.abs() * half.x
            + (tilt * DVec3::Y).z.abs() * half.y
            + (tilt * DVec3::Z).z * half.z;
        let brick = Body::dynamic().with_shape(Shape::cuboid(half).unwrap()).material(clay).orientation(tilt);
        let id = world.add_body(brick.position(DVec3::Z * (lowest + 1.5e-3))).unwrap();
        let mut simulator = Impulse::default();
        for _ in 0..60 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        let body = world.body(id).unwrap();
        assert_eq!(simulator.resting().count(), 1, "{k}: {} {}", body.velocity(), body.angular_velocity());
    }
}

/// Boxes on slopes that must not sleep hop in place: no creep, no yaw.
#[test]
fn a_box_that_may_not_sleep_does_not_creep() {
    for k in 1..12 {
        let slope = 0.04 * f64::from(k);
        let mut world = World::default();
        let wood =
            world.add_material(Material { restitution: 0.2, ..Material::with_friction(1.2 * slope.tan()) });
        let wood = wood.unwrap();
        let turn = DQuat::from_rotation_z(0.7 * f64::from(k)) * DQuat::from_rotation_y(slope);
        let normal = turn * DVec3::Z;
        world.add_body(Body::fixed().with_shape(Shape::half_space(normal).unwrap()).material(wood)).unwrap();
        let body = Body::dynamic()
            .with_shape(Shape::cuboid(DVec3::new(0.1, 0.07, 0.02)).unwrap())
            .material(wood)
            .orientation(turn * DQuat::from_rotation_z(f64::from(k)))
            .position(normal * 0.02005)
            .can_sleep(false);
        let id = world.add_body(body).unwrap();
        let mut simulator = Impulse::new(ImpulseSettings::default()).unwrap();
        let mut mean = |steps: u32| {
            let mut sum = DVec3::ZERO;
            for _ in 0..steps {
                simulator.step(&mut world, 1e-3).unwrap();
                sum += world.body(id).unwrap().position() / f64::from(steps);
            }
            sum
        };
        mean(500);
        let way = mean(500);
        mean(500);
        let way = mean(500) - way;
        let creep = (way - way.dot(normal) * normal).length();
        assert!(creep < 1e-7, "{k}: {creep:e} m in a second");
        let turned = world.body(id).unwrap().angular_velocity().length();
        assert!(turned < 1e-6, "{k}: {turned:e}");
    }
}
