//! One-sided colliders: they stop what approaches against their direction, and let everything else pass.

use glam::DVec3;
use rattleback_dynamics::simulator::{Constraint, Impulse, Penalty, Realtime, Sequential};
use rattleback_dynamics::{Body, BodyId, Error, ShapePart, Simulator, World};
use rattleback_geometry::Shape;

/// A platform of 10 cm with its top at 1 m that resists from above only, and a floor.
fn platform() -> World {
    let mut world = World::default();
    let slab = Shape::cuboid(DVec3::new(1.0, 1.0, 0.05)).unwrap();
    let part = ShapePart { one_way: Some(DVec3::Z * 3.0), ..ShapePart::from(slab) };
    world.add_body(Body::fixed().at(0.0, 0.0, 0.95).with_part(part)).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    world
}

fn ball(world: &mut World, at: DVec3, velocity: DVec3) -> BodyId {
    let body = Body::dynamic().at(at.x, at.y, at.z).velocity(velocity);
    world.add_body(body.with_shape(Shape::sphere(0.1).unwrap())).unwrap()
}

fn heights(world: &mut World, id: BodyId, steps: usize) -> Vec<f64> {
    let mut simulator = Realtime::default();
    let mut seen = Vec::new();
    for _ in 0..steps {
        simulator.step(world, 1.0 / 60.0).unwrap();
        seen.push(world.body(id).unwrap().position().z);
    }
    seen
}

/// From above it is a floor, for slow bodies and for those that would pass through it within a step.
#[test]
fn stops_bodies_from_above() {
    for speed in [0.0, 5.0, 500.0] {
        let mut world = platform();
        let id = ball(&mut world, DVec3::new(0.2, 0.0, 1.6), DVec3::Z * -speed);
        let seen = heights(&mut world, id, 240);
        assert!(seen.iter().all(|z| *z > 1.08), "{speed}: {:?}", seen.iter().copied().fold(9.0, f64::min));
        assert!((seen[239] - 1.1).abs() < 2e-3, "{speed}: {}", seen[239]);
    }
}

/// From below it has no effect: the ball rises as high as without it, v²/2g, and comes to rest on top.
#[test]
fn lets_pass_from_below() {
    let mut world = platform();
    let id = ball(&mut world, DVec3::new(0.2, 0.0, 0.3), DVec3::Z * 6.0);
    let seen = heights(&mut world, id, 300);
    let apex = 0.3 + 6.0 * 6.0 / (2.0 * 9.80665);
    let top = seen.iter().copied().fold(0.0, f64::max);
    assert!((top - apex).abs() < 5e-3, "{top} instead of {apex}");
    assert!((seen[299] - 1.1).abs() < 2e-3, "{}", seen[299]);
    // Through within one step, without return.
    let mut world = platform();
    let id = ball(&mut world, DVec3::new(0.2, 0.0, 0.3), DVec3::Z * 300.0);
    assert!(heights(&mut world, id, 1)[0] > 5.0);
}

/// A ball that reverses inside the platform falls back: it is not pushed out on the wrong side.
#[test]
fn a_ball_that_reverses_inside_falls_back() {
    let mut world = platform();
    // v²/2g = 0.65 m: its centre reaches the centre of the platform.
    let id = ball(&mut world, DVec3::new(0.2, 0.0, 0.3), DVec3::Z * (2.0 * 9.80665 * 0.65_f64).sqrt());
    let seen = heights(&mut world, id, 240);
    let top = seen.iter().copied().fold(0.0, f64::max);
    assert!((top - 0.95).abs() < 5e-3, "{top}");
    assert!((seen[239] - 0.1).abs() < 2e-3, "{}", seen[239]);
}

/// A ball passes from the side, too.
#[test]
fn lets_pass_from_the_side() {
    let mut world = platform();
    world.set_gravity(DVec3::ZERO).unwrap();
    let id = ball(&mut world, DVec3::new(-3.0, 0.0, 0.95), DVec3::X * 4.0);
    heights(&mut world, id, 90);
    let body = world.body(id).unwrap();
    assert!((body.position() - DVec3::new(3.0, 0.0, 0.95)).length() < 1e-6, "{}", body.position());
}

/// A direction that is zero or not finite is an error, and so is a one-sided collider in simulators that do
/// not support them.
#[test]
fn invalid_directions_and_unsupported_simulators_are_errors() {
    let mut world = World::default();
    for direction in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
        let part = ShapePart { one_way: Some(direction), ..ShapePart::from(Shape::sphere(1.0).unwrap()) };
        assert!(matches!(world.add_body(Body::fixed().with_part(part)), Err(Error::Parameter { .. })));
    }
    let others: [Box<dyn Simulator>; 4] = [
        Box::new(Impulse::default()),
        Box::new(Constraint::default()),
        Box::new(Penalty::default()),
        Box::new(Sequential::default()),
    ];
    for mut simulator in others {
        let mut world = platform();
        assert!(matches!(simulator.step(&mut world, 0.01), Err(Error::Unsupported { .. })));
        assert_eq!(world.time(), 0.0);
    }
}
