//! Chains of links on hinges with limits and dry friction, hung up or free, over a floor or not: nothing in them can add energy.
//!
//! Masses, lengths, axes and limits are random, so that chains strike their limits and the floor at any speed, in any order. Energies are relative to
//! Σ m g l, l the distance along the chain to the far end of a link: what a chain could release by falling that far; or to the largest kinetic energy, if that
//! is more, as of a free chain that falls forty metres.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::joint::{JointFrames, Revolute};
use rattleback_dynamics::{Body, World};
use rattleback_geometry::{MassProperties, Shape};

const DURATION: f64 = 3.0;
const G: f64 = 9.81;

pub(super) const CLASS: Class = Class {
    name: "contact/chains",
    doc: "Chains on hinges with limits and friction, hung up or free, that strike their limits and the floor: energy and joints",
    simulators: &["constraint", "realtime"],
    quantities: &[
        Quantity { name: "energy above start", unit: "", aggregate: Aggregate::Worst, limit: above },
        Quantity { name: "energy gained in a step", unit: "", aggregate: Aggregate::Worst, limit: gained },
        Quantity { name: "anchors apart at the end", unit: "", aggregate: Aggregate::Worst, limit: apart },
    ],
    run,
};

fn above(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-3 } else { 1e-6 })
}

fn gained(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(1e-6)
}

fn apart(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 1e-2 } else { 1e-6 })
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let mut world = World::default();
    let count = 2 + random.index(8);
    let (hung, floor, friction) = (random.chance(0.6), random.chance(0.5), random.chance(0.5));
    let height = random.range(0.2, 1.5);
    let (mut above, mut at, mut scale, mut lowest) = (None, DVec3::ZERO, 0.0, 0.0_f64);
    let (mut joints, mut reach) = (Vec::new(), 0.0);
    for _ in 0..count {
        let length = random.log_range(0.1, 0.5);
        let direction = DVec3::new(1.0, random.range(-0.5, 0.5), random.range(-0.5, 0.5)).normalize();
        let body = Body::dynamic().position(at + 0.5 * length * direction).can_sleep(false);
        let body = if floor {
            let radius = 0.05 * length + 0.01;
            lowest = lowest.min(at.z.min(at.z + length * direction.z) - radius);
            let rod = Shape::capsule(radius, 0.3 * length)?;
            body.orientation(DQuat::from_rotation_arc(DVec3::Z, direction)).density(500.0).with_shape(rod)
        } else {
            let mass = random.log_range(0.1, 4.0);
            let moment = mass * length * length / 12.0 * random.range(0.1, 1.2);
            let inertia = DMat3::from_diagonal(DVec3::splat(moment));
            body.mass_properties(MassProperties { mass, center_of_mass: DVec3::ZERO, inertia })
        };
        let id = world.add_body(body)?;
        let axis = if random.chance(0.7) { DVec3::Y } else { random.direction() };
        let limit = random.range(0.1, 1.0);
        let torque = if friction { random.log_range(1e-4, 1.0) } else { 0.0 };
        let hinge =
            Revolute { limited: true, min: -limit, max: limit, friction: torque, ..Revolute::default() };
        let frames = match above {
            Some(above) => Some(JointFrames::between(above, id)),
            None => hung.then(|| JointFrames::to_world(id)),
        };
        if let Some(frames) = frames {
            joints.push(world.add_joint(frames.at(at).along(axis), hinge)?);
        }
        (above, at, reach) = (Some(id), at + length * direction, reach + length);
        scale += world.body(id)?.inertia().mass() * G * reach;
    }
    if floor {
        let ground = Body::fixed().with_shape(Shape::half_space(DVec3::Z)?);
        world.add_body(ground.at(0.0, 0.0, lowest - height))?;
    }
    let mut simulator = setup.simulator()?;
    let start = world.readout().energy();
    let (mut energy, mut highest, mut step, mut kinetic) = (start, 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..setup.steps(DURATION) {
        simulator.step(&mut world, setup.dt)?;
        let readout = world.readout();
        let now = readout.energy();
        kinetic = kinetic.max(readout.kinetic_energy);
        (highest, step) = (highest.max(now - start), step.max(now - energy));
        energy = now;
    }
    scale = scale.max(kinetic);
    let mut offset = 0.0_f64;
    for joint in joints {
        offset = offset.max(world.joint_motion(joint)?.translation.length());
    }
    Ok(Experiment {
        case: format!("{count} links, hung {hung}, floor {floor}, friction {friction}"),
        errors: vec![Some(highest / scale), Some(step / scale), Some(offset / reach)],
    })
}
