//! Sliding bodies in and around Painlevé's region: friction so strong that it presses the contact together.
//!
//! A rod of half-length ℓ that leans by θ from the vertical and slides towards the side it leans to has a normal compliance
//! k_zξ = (1 − 3 sin θ (μ cos θ − sin θ)) / m: below zero for μ > (4 + tan²θ')/(3 tan θ') with θ' from the horizontal, at least 4/3. There a contact without
//! approach has no force that could hold it, and an impact stops the slip. Whatever the friction, no collision creates
//! energy; and slip that is driven into the ground ends.
//!
//! Drawn are thin rods, discs on edge and blocks on a corner, thrown so that the lowest point slides.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, Material, World};
use rattleback_geometry::Shape;

pub(super) const CLASS: Class = Class {
    name: "contact/painleve",
    doc: "Rods, discs and blocks sliding with friction beyond Painlevé's limit: energy is never gained, the slip ends",
    simulators: &["impulse", "constraint"],
    quantities: &[
        Quantity { name: "energy gained", unit: "", aggregate: Aggregate::Sum, limit: gain_limit },
        Quantity { name: "still sliding", unit: "", aggregate: Aggregate::Mean, limit: sliding_limit },
    ],
    run,
};

fn gain_limit(_: &str, _: f64) -> Option<f64> {
    Some(1e-9)
}

fn sliding_limit(_: &str, _: f64) -> Option<f64> {
    Some(0.0)
}

/// A thrown body loses its speed v to friction within v/μg, not counting its flights; so long it is watched, in units of v/μg. Flights together last
/// no longer than 2w/g(1 − e), w² = v² + 2gℓ, if friction turns all of v upwards at once and the body falls from its length ℓ; above this e
/// nothing is required.
const PATIENCE: f64 = 4.0;
const BOUNCIEST: f64 = 0.95;

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let kind = random.index(3);
    let size = random.log_range(0.05, 1.0);
    let mu = random.range(0.3, 4.0);
    let restitution = if random.chance(0.4) { 0.0 } else { random.unit() };
    let lean = random.range(0.1, 1.3);
    let (shape, upright) = match kind {
        0 => (Shape::capsule(0.02 * size, size)?, DQuat::IDENTITY),
        1 => (Shape::cylinder(0.5 * size, 0.1 * size)?, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2)),
        _ => {
            let half = DVec3::new(random.range(0.05, 0.4), random.range(0.05, 0.4), 0.5) * size;
            (Shape::cuboid(half)?, DQuat::from_rotation_z(random.angle()))
        }
    };
    let around = random.angle();
    let q = DQuat::from_rotation_z(around) * DQuat::from_rotation_y(lean) * upright;
    let speed = random.range(0.3, 3.0) * (9.81 * size).sqrt();
    let course = around + if random.chance(0.7) { 0.0 } else { random.angle() };
    let mut world = World::default();
    let material = world.add_material(Material { restitution, ..Material::with_friction(mu) })?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let body = Body::dynamic()
        .with_shape(shape.clone())
        .density(random.log_range(100.0, 8000.0))
        .material(material)
        .orientation(q)
        .velocity(DVec3::new(speed * course.cos(), speed * course.sin(), -random.unit() * 0.1 * speed))
        .angular_velocity(random.direction() * (random.unit() * 0.3 * speed / size));
    // The lowest point a little above the ground.
    let lowest =
        shape.aabb(&rattleback_geometry::Pose::new(q, DVec3::ZERO)).map_or(0.0, |bounds| bounds.min().z);
    let gap = random.log_range(1e-6, 1e-2) * size;
    let id = world.add_body(body.position(DVec3::Z * (gap - lowest)))?;
    let mut simulator = setup.simulator()?;
    let (mut before, scale, mut gained) = (world.readout().energy(), world.readout().kinetic_energy, 0.0);
    // The body falls over as well, which adds at most its height to the energy.
    let launch = (speed * speed + 2.0 * 9.81 * size).sqrt();
    let flights = 2.0 * launch / (9.81 * (1.0 - restitution.min(BOUNCIEST)));
    let duration = PATIENCE * speed / (9.81 * mu.min(1.0)) + flights + 2.0 * (size / 9.81).sqrt() + 1.0;
    for _ in 0..setup.steps(duration) {
        simulator.step(&mut world, setup.dt)?;
        let now = world.readout().energy();
        gained += (now - before).max(0.0);
        before = now;
    }
    // What rolls (a rod on its side, a disc) may go on; what cannot roll must have stopped.
    let speed_left = world.body(id)?.velocity().length();
    let still =
        (kind == 2 && restitution <= BOUNCIEST).then(|| f64::from(u8::from(speed_left > 0.02 * speed)));
    Ok(Experiment {
        case: format!(
            "{} of size {size} m, μ = {mu}, e = {restitution}, lean {lean}, around {around}, course {course}, v = {speed} m/s, gap {gap:e} m",
            ["rod", "disc", "block"][kind]
        ),
        errors: vec![Some(gained / scale), still],
    })
}
