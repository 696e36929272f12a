//! No collision of the event-driven simulator creates energy, whatever the settings.

use crate::collision_random::Random;
use glam::{DQuat, DVec3};
use rattleback_dynamics::impact::Restitution;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Body, Material, Simulator, World};
use rattleback_geometry::Shape;

/// (world of one moving body, simulator) ⇒ the sum of all gains of energy from frame to frame, in parts of
/// the first kinetic energy.
fn gains(world: &mut World, simulator: &mut Impulse, frames: usize, dt: f64) -> f64 {
    let mut before = world.readout().energy();
    let scale = world.readout().kinetic_energy.max(1e-6);
    let mut sum = 0.0;
    for _ in 0..frames {
        simulator.step(world, dt).unwrap();
        let now = world.readout().energy();
        sum += (now - before).max(0.0);
        before = now;
    }
    sum / scale
}

fn settings(random: &mut Random) -> ImpulseSettings {
    let law = [Restitution::Stronge, Restitution::Poisson, Restitution::Newton]
        [(3.0 * random.within(0.0, 1.0)) as usize];
    ImpulseSettings {
        restitution_law: law,
        reversing: random.within(0.0, 1.0) < 0.7,
        least_hop: if random.within(0.0, 1.0) < 0.5 { 0.25 } else { random.within(0.0, 1.0) },
        boosted_restitution: if random.within(0.0, 1.0) < 0.5 { 5.0 } else { random.within(0.0, 100.0) },
        ..ImpulseSettings::default()
    }
}

/// Rods that slide upright with friction beyond Painlevé's limit, discs on edge and blocks on a corner, any law, any setting of
/// slow collisions.
#[test]
fn no_collision_creates_energy() {
    let mut random = Random(5);
    let mut worst: f64 = 0.0;
    for case in 0..60 {
        let mut world = World::default();
        let (e, mu) = (random.within(0.0, 1.0), random.within(0.3, 3.0));
        let stuff = world.add_material(Material { restitution: e, ..Material::with_friction(mu) }).unwrap();
        world
            .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(stuff))
            .unwrap();
        let (shape, height) = match case % 3 {
            0 => (Shape::capsule(0.01, 0.8).unwrap(), 0.41),
            1 => (Shape::cylinder(0.2, 0.02).unwrap(), 0.2),
            _ => (Shape::cuboid(DVec3::new(0.05, 0.04, 0.3)).unwrap(), 0.3),
        };
        let tilt = random.within(0.1, 1.2);
        let turn = DQuat::from_rotation_y(if case % 3 == 1 {
            std::f64::consts::FRAC_PI_2 - 0.5 * tilt
        } else {
            tilt
        });
        let body = Body::dynamic()
            .with_shape(shape)
            .material(stuff)
            .orientation(turn)
            .position(DVec3::Z * (height + 0.1))
            .velocity(DVec3::new(
                random.within(-3.0, 3.0),
                0.2 * random.within(0.0, 1.0),
                -random.within(0.0, 1.0),
            ))
            .angular_velocity(0.5 * random.vector(1.0));
        world.add_body(body).unwrap();
        let mut simulator = Impulse::new(settings(&mut random)).unwrap();
        let gain = gains(&mut world, &mut simulator, 120, 1.0 / 120.0);
        if gain > 1e-9 {
            println!("case {case}: e {e} mu {mu} gain {gain:e} {:?}", simulator.settings());
        }
        worst = worst.max(gain);
    }
    assert!(worst <= 1e-9, "{worst:e}");
}
