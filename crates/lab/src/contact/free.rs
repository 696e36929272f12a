//! Bodies that nothing touches: angular momentum and energy over 100 s, whatever rests or sleeps beside them.
//!
//! Neighbours at rest are near enough for speculative contacts, but never in contact. Some bodies have no shape, some move more slowly than
//! the sleep thresholds: without contacts and joints they must not be stopped.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DMat3, DVec3};
use rattleback_dynamics::{Body, World};
use rattleback_geometry::{MassProperties, Shape};

pub(super) const CLASS: Class = Class {
    name: "contact/free",
    doc: "Free bodies beside resting ones, with and without shape: angular momentum, energy and path over 100 s",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "angular momentum", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "rotational energy", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "path", unit: "", aggregate: Aggregate::Worst, limit },
    ],
    run,
};

const DURATION: f64 = 100.0;

fn limit(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-5 } else { 1e-6 })
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let size = random.log_range(1e-3, 0.5);
    let sides = DVec3::new(random.range(0.3, 1.0), random.range(0.3, 1.0), random.range(0.3, 1.0)) * size;
    let (spin, axis) = (random.log_range(0.01, 30.0), random.direction());
    let has_shape = random.chance(0.5);
    let drift = 1e-3 * size * random.direction();
    let mut world = World::weightless();
    let body = Body::dynamic().orientation(random.rotation()).angular_velocity(spin * axis).velocity(drift);
    let body = if has_shape {
        body.with_shape(Shape::cuboid(sides)?)
    } else {
        let square = sides * sides;
        let moments = (DVec3::splat(square.element_sum()) - square) / 3.0;
        body.mass_properties(MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(moments))?)
    };
    let id = world.add_body(body)?;
    // Out of reach of whatever turns, and of the little way it drifts.
    let room = sides.length() + 0.2 * size + random.log_range(1e-4, 1e-2);
    let neighbour =
        Body::dynamic().position((room + 0.1) * random.direction()).with_shape(Shape::sphere(0.1)?);
    world.add_body(neighbour)?;
    let start = world.body(id)?;
    let (inertia, before) = (*start.inertia(), *start.motion());
    let mut simulator = setup.simulator()?;
    for _ in 0..setup.steps(DURATION) {
        simulator.step(&mut world, setup.dt)?;
    }
    let now = *world.body(id)?.motion();
    let l = inertia.angular_momentum(before.q, before.omega);
    let l_now = inertia.angular_momentum(now.q, now.omega);
    let expected = before.x + drift * world.time();
    Ok(Experiment {
        case: format!("half sides {sides} m, shape {has_shape}, ω = {spin} rad/s about {axis}"),
        errors: vec![
            Some((l_now - l).length() / l.length()),
            Some((now.omega.dot(l_now) / before.omega.dot(l) - 1.0).abs()),
            Some((now.x - expected).length() / (drift.length() * world.time())),
        ],
    })
}
