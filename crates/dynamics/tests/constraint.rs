//! The constraint simulator: rest, statics, friction, collisions.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::simulator::constraint::ConstraintNote;
use rattleback_dynamics::simulator::{Constraint, ConstraintSettings};
use rattleback_dynamics::{Body, BodyId, Event, FreeMotion, Material, Simulator, World};
use rattleback_geometry::{MassProperties, Pose, Shape};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 24.0;

fn floor(world: &mut World) -> BodyId {
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap()
}

fn cube(world: &mut World, at: DVec3) -> BodyId {
    world
        .add_body(
            Body::dynamic().position(at).with_shape(Shape::cuboid(DVec3::splat(0.5)).unwrap()).mass(1.0),
        )
        .unwrap()
}

fn run(simulator: &mut Constraint, world: &mut World, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        simulator.step(world, dt).unwrap();
    }
}

fn speeds(world: &World, ids: &[BodyId]) -> f64 {
    let speed = |id: &BodyId| {
        let body = world.body(*id).unwrap();
        body.velocity().length().max(body.angular_velocity().length())
    };
    ids.iter().map(speed).fold(0.0, f64::max)
}

/// A stack of 20 boxes stands for 60 s: velocity below 1e-9 m/s, drift below 1e-9 m; every level carries what is above (MC-4).
#[test]
fn a_stack_of_twenty_stands_still() {
    let mut world = World::default();
    floor(&mut world);
    let places: Vec<DVec3> = (0..20).map(|k| DVec3::new(0.0, 0.0, 0.5 + f64::from(k))).collect();
    let ids: Vec<BodyId> = places.iter().map(|at| cube(&mut world, *at)).collect();
    let mut simulator = Constraint::default();
    for _ in 0..(60.0 / DT) as usize {
        simulator.step(&mut world, DT).unwrap();
        assert!(speeds(&world, &ids) < 1e-9, "{}", speeds(&world, &ids));
    }
    for (id, at) in ids.iter().zip(&places) {
        assert!((world.body(*id).unwrap().position() - *at).length() < 1e-9);
    }
    for (level, id) in ids.iter().enumerate() {
        // Whoever lies on the body pushes it down, whatever it lies on pushes it up.
        let from_below = simulator.contacts().filter(|contact| contact.bodies.contains(id)).map(|contact| {
            let sign = if contact.bodies[1] == *id { 1.0 } else { -1.0 };
            sign * contact.force.z
        });
        let up: f64 = from_below.filter(|force| *force > 0.0).sum();
        let expected = G * f64::from(20 - level as i32);
        assert!((up - expected).abs() < 1e-9 * expected, "{level}: {up}");
    }
}
