//! Stacks of ten boxes, aligned or not, with equal masses and with ratios of a thousand: they stand, at rest, without overlap.
//!
//! Overlaps are measured from the poses alone, by the distance of boxes that are neighbours.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, World};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::distance;

const BOXES: usize = 10;
const RATIO: f64 = 1000.0;

pub(super) const CLASS: Class = Class {
    name: "contact/stacks",
    doc: "Ten boxes on each other, mass ratios of 1, 1000 and geometric both ways: overlap, speed after 2 s, drift in 3 s",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "overlap", unit: "m", aggregate: Aggregate::Worst, limit: overlap },
        Quantity { name: "overlap of equal boxes", unit: "m", aggregate: Aggregate::Worst, limit: overlap },
        Quantity { name: "speed after 2 s", unit: "m/s", aggregate: Aggregate::Worst, limit: speed },
        Quantity { name: "speed of equal boxes", unit: "m/s", aggregate: Aggregate::Worst, limit: speed },
        Quantity { name: "drift", unit: "m", aggregate: Aggregate::Worst, limit: drift },
        Quantity { name: "drift of equal boxes", unit: "m", aggregate: Aggregate::Worst, limit: drift },
    ],
    run,
};

fn overlap(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-3 } else { 1e-4 })
}

fn speed(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-2 } else { 1e-9 })
}

fn drift(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 5e-3 } else { 1e-4 })
}

/// Masses from the bottom up.
fn masses(kind: usize, random: &mut Random) -> [f64; BOXES] {
    let step = |k: usize| RATIO.powf(k as f64 / (BOXES - 1) as f64);
    match kind {
        0 => [1.0; BOXES],
        1 => std::array::from_fn(|k| if k == BOXES - 1 { RATIO } else { 1.0 }),
        2 => std::array::from_fn(step),
        3 => std::array::from_fn(|k| step(BOXES - 1 - k)),
        _ => {
            let mut masses: [f64; BOXES] = std::array::from_fn(step);
            for k in (1..BOXES).rev() {
                masses.swap(k, random.index(k + 1));
            }
            masses
        }
    }
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    // Which stacks an impulse at a time can carry is a question of its own.
    let kind = if setup.simulator == "impulse" { 0 } else { random.index(5) };
    let masses = masses(kind, random);
    let side = random.log_range(0.1, 1.0);
    let unit = random.log_range(0.1, 10.0);
    let mu = random.range(0.3, 1.0);
    let aligned = random.chance(0.4);
    let mut world = World::default();
    let material = world.add_material(Material::with_friction(mu))?;
    let ground = Shape::half_space(DVec3::Z)?;
    world.add_body(Body::fixed().with_shape(ground.clone()).material(material))?;
    let shape = Shape::cuboid(DVec3::splat(0.5 * side))?;
    let mut boxes: Vec<(BodyId, DVec3)> = Vec::new();
    for (k, mass) in masses.iter().enumerate() {
        let mut at = DVec3::Z * (side * (k as f64 + 0.5) + 1e-9 * (k + 1) as f64);
        let mut q = DQuat::IDENTITY;
        if !aligned {
            at += DVec3::new(random.range(-0.1, 0.1), random.range(-0.1, 0.1), 0.0) * side;
            q = DQuat::from_rotation_z(random.angle());
        }
        let template = Body::dynamic().position(at).orientation(q).with_shape(shape.clone());
        boxes.push((world.add_body(template.mass(mass * unit).material(material))?, at));
    }
    let mut simulator = setup.simulator()?;
    let (mut deepest, mut speed, mut drift) = (0.0_f64, None, 0.0_f64);
    let (steps, every) = (setup.steps(3.0), setup.steps(0.05));
    for step in 1..=steps {
        simulator.step(&mut world, setup.dt)?;
        if world.time() >= 2.0 && speed.is_none() {
            let mut fastest = 0.0_f64;
            for (id, _) in &boxes {
                let body = world.body(*id)?;
                fastest = fastest.max(body.velocity().length() + body.angular_velocity().length() * side);
            }
            speed = Some(fastest);
        }
        if step % every != 0 {
            continue;
        }
        let mut below = (ground.clone(), rattleback_geometry::Pose::IDENTITY);
        for (id, start) in &boxes {
            let pose = world.body(*id)?.pose();
            let gap = distance(&below.0, &shape, &below.1.relative(&pose))?.distance;
            deepest = deepest.max(-gap);
            drift = drift.max((pose.translation - *start).truncate().length());
            below = (shape.clone(), pose);
        }
    }
    let names = ["equal", "1000 on nine", "growing upwards", "growing downwards", "in any order"];
    let case = format!("masses {}, unit {unit} kg, side {side} m, μ {mu}, aligned {aligned}", names[kind]);
    let split = |error: Option<f64>| if kind == 0 { [None, error] } else { [error, None] };
    let errors = [split(Some(deepest)), split(speed), split(Some(drift))].concat();
    Ok(Experiment { case, errors })
}
