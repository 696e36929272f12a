//! Bodies dropped onto the ground so that nothing turns them: a rebound reaches e² h, whatever the height, the step and where in a step
//! the impact is, on planes of any direction, for balls, capsules lying and standing, boxes on a face, an edge or a corner.
//!
//! The height of a rebound is taken from the state after it, z + v_z²/2g, so that it does not depend on when the apex is. A rebound that
//! is over before the step is cannot be observed at the end of it, and is not checked.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, Material, World};
use rattleback_geometry::Shape;
use std::f64::consts::FRAC_PI_2;

const G: f64 = 9.81;

pub(super) const CLASS: Class = Class {
    name: "contact/bounce",
    doc: "Bodies dropped onto the ground: the first rebound reaches e² h; with e = 1 nothing is lost in 10 s",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "first rebound of balls", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "first rebound of others", unit: "", aggregate: Aggregate::Worst, limit: others },
        Quantity { name: "energy after 10 s, e = 1", unit: "", aggregate: Aggregate::Worst, limit },
    ],
    run,
};

fn limit(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-2 } else { 1e-6 })
}

/// Corners of a box that lands flat collide one after the other where every contact is a collision of its own.
fn others(simulator: &str, _: f64) -> Option<f64> {
    match simulator {
        "realtime" => Some(1e-2),
        "constraint" => Some(1e-6),
        _ => None,
    }
}

/// A shape, how it is turned, and how far its lowest point is below its centre of mass, which is right above it.
fn dropped(random: &mut Random, size: f64) -> Result<(&'static str, Shape, DQuat, f64), Failure> {
    let yaw = DQuat::from_rotation_z(random.angle());
    let half = DVec3::new(random.range(0.5, 1.0), random.range(0.5, 1.0), random.range(0.5, 1.0)) * size;
    let kind = if random.chance(0.5) { 0 } else { 1 + random.index(5) };
    Ok(match kind {
        0 => ("ball", Shape::sphere(size)?, random.rotation(), size),
        1 => ("box on a face", Shape::cuboid(half)?, yaw, half.z),
        2 => {
            let tilt = DQuat::from_rotation_x(half.y.atan2(half.z));
            ("box on an edge", Shape::cuboid(half)?, yaw * tilt, half.y.hypot(half.z))
        }
        3 => {
            let tilt = DQuat::from_rotation_arc(half.normalize(), DVec3::Z);
            ("box on a corner", Shape::cuboid(half)?, yaw * tilt, half.length())
        }
        4 => {
            let capsule = Shape::capsule(0.5 * size, 2.0 * half.x)?;
            ("lying capsule", capsule, yaw * DQuat::from_rotation_x(FRAC_PI_2), 0.5 * size)
        }
        _ => ("standing capsule", Shape::capsule(0.5 * size, 2.0 * half.x)?, yaw, half.x + 0.5 * size),
    })
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let elastic = random.chance(0.3);
    let e = if elastic { 1.0 } else { random.range(0.2, 1.0) };
    let size = random.log_range(0.01, 0.5);
    let h = size * random.log_range(1.0, 20.0);
    let density = random.log_range(100.0, 10_000.0);
    let (kind, shape, turn, low) = dropped(random, size)?;
    let up = if random.chance(0.5) { DVec3::Z } else { random.direction() };
    let mut world = World::weightless();
    world.set_gravity(-G * up)?;
    let material = world.add_material(Material::bouncy(e))?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(up)?).material(material))?;
    let turn = DQuat::from_rotation_arc(DVec3::Z, up) * turn;
    let body = Body::dynamic().position((low + h) * up).orientation(turn).with_shape(shape);
    let body = world.add_body(body.density(density).material(material))?;
    let mut simulator = setup.simulator()?;
    // Height that its present motion reaches above the ground.
    let reach = |world: &World| -> Result<(f64, f64), Failure> {
        let body = world.body(body)?;
        let v = body.velocity().dot(up);
        Ok((v, body.position().dot(up) - low + v * v / (2.0 * G)))
    };
    let fall = (2.0 * h / G).sqrt();
    let mut first = None;
    for _ in 0..setup.steps(1.5 * fall + 2.0 * setup.dt) {
        simulator.step(&mut world, setup.dt)?;
        let (v, height) = reach(&world)?;
        if v > 0.0 {
            first = Some(height);
            break;
        }
    }
    let seen = e * fall > setup.dt;
    let rebound = seen.then(|| first.map_or(1.0, |height| (height / (e * e * h) - 1.0).abs()));
    let mut kept = None;
    if elastic && kind == "ball" {
        while world.time() < 10.0 {
            simulator.step(&mut world, setup.dt)?;
        }
        kept = Some((reach(&world)?.1 / h - 1.0).abs());
    }
    let (of_ball, of_other) = if kind == "ball" { (rebound, None) } else { (None, rebound) };
    Ok(Experiment {
        case: format!("{kind}, e = {e}, h = {h} m, size = {size} m, density = {density} kg/m³, up = {up}"),
        errors: vec![of_ball, of_other, kept],
    })
}
