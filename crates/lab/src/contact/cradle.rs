//! Rows of equal elastic balls: however many are launched, as many leave at the other end, with the same velocity.
//!
//! Gaps run from none to a few millimetres, so that at a coarse step all blows fall into one step and at a fine one each has its own.
//! Some rows fall asleep before they are hit.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::DVec3;
use rattleback_dynamics::{Body, Material, World};
use rattleback_geometry::Shape;

pub(super) const CLASS: Class = Class {
    name: "contact/cradle",
    doc: "Rows of equal balls, e = 1, touching or with gaps: velocities after all blows",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "velocity", unit: "", aggregate: Aggregate::Worst, limit: velocity_limit },
        Quantity { name: "energy gained", unit: "", aggregate: Aggregate::Worst, limit: energy_limit },
    ],
    run,
};

fn velocity_limit(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 2e-2 } else { 1e-6 })
}

/// `realtime` keeps velocities of the solver in single precision.
fn energy_limit(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-6 } else { 1e-9 })
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let balls = 2 + random.index(9);
    let launched = 1 + random.index(balls - 1);
    let gap = if random.chance(0.4) { 0.0 } else { random.log_range(1e-6, 5e-3) };
    let (r, v) = (random.log_range(0.005, 0.2), random.log_range(0.2, 5.0));
    let (way, wait) = (random.direction(), random.range(0.01, 1.0));
    let (density, mu) = (random.log_range(100.0, 10_000.0), random.range(0.0, 0.5));
    let mut world = World::weightless();
    let material = world.add_material(Material { restitution: 1.0, ..Material::with_friction(mu) })?;
    let mut ids = Vec::with_capacity(balls);
    for k in 0..balls {
        let (back, speed) = if k < launched { (v * wait, v * way) } else { (0.0, DVec3::ZERO) };
        let place = (k as f64 * (2.0 * r + gap) - back) * way;
        let ball = Body::dynamic().position(place).velocity(speed).with_shape(Shape::sphere(r)?);
        ids.push(world.add_body(ball.density(density).material(material))?);
    }
    let before = world.readout().kinetic_energy;
    let mut simulator = setup.simulator()?;
    let time = wait + (balls as f64 * gap + 4.0 * r) / v + 0.1;
    for _ in 0..setup.steps(time) {
        simulator.step(&mut world, setup.dt)?;
    }
    let mut error = 0.0_f64;
    for (k, id) in ids.iter().enumerate() {
        let expected = if k >= balls - launched { v * way } else { DVec3::ZERO };
        error = error.max((world.body(*id)?.velocity() - expected).length() / v);
    }
    let gained = (world.readout().kinetic_energy / before - 1.0).max(0.0);
    Ok(Experiment {
        case: format!(
            "{launched} of {balls} balls, gap = {gap} m, radius = {r} m, v = {v} m/s along {way}, μ = {mu}, launched {wait} s away"
        ),
        errors: vec![Some(error), Some(gained)],
    })
}
