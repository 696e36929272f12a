//! Heavy tops and pendulums on joints for a minute: joints do no work, so the energy stays.
//!
//! Bodies have random inertia and no shape; they hang on ball joints, hinges, cardan joints and rods, in series, or spin on a point.
//! Energies are compared with the kinetic energy at the beginning plus what gravity could give, Σ m g l.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::joint::{Distance, JointFrames, Revolute, Spherical, Universal};
use rattleback_dynamics::{Body, BodyId, World};
use rattleback_geometry::MassProperties;
use std::fmt::Write;

const DURATION: f64 = 60.0;
const G: f64 = 9.81;

pub(super) const CLASS: Class = Class {
    name: "contact/joints",
    doc: "Heavy tops and pendulums of one to three bodies on joints: the energy over 60 s",
    simulators: &["constraint", "realtime"],
    quantities: &[
        Quantity { name: "energy gained by tops", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "energy gained by pendulums", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "energy lost", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity {
            name: "growth from the first to the last sixth",
            unit: "",
            aggregate: Aggregate::Worst,
            limit: steady,
        },
    ],
    run,
};

fn limit(_: &str, _: f64) -> Option<f64> {
    Some(1e-3)
}

fn steady(_: &str, _: f64) -> Option<f64> {
    Some(5e-4)
}

/// Sum of kinetic energies, and of m g z.
fn energy(world: &World) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for body in world.iter_bodies() {
        let (inertia, motion) = (body.inertia(), body.motion());
        sum[0] += inertia.kinetic_energy(motion);
        sum[1] += inertia.mass() * G * motion.x.z;
    }
    sum
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let mut world = World::default();
    let bodies = random.index(4);
    let mut case = String::new();
    let mut scale = 0.0;
    if bodies == 0 {
        scale += top(&mut world, random, &mut case)?;
    }
    let (mut above, mut at) = (None, DVec3::ZERO);
    for _ in 0..bodies {
        let (id, end, weight) = link(&mut world, random, above, at, &mut case)?;
        (above, at) = (Some(id), end);
        scale += weight;
    }
    let start = energy(&world);
    scale += start[0];
    let start = start[0] + start[1];
    let mut simulator = setup.simulator()?;
    let steps = setup.steps(DURATION);
    let sixth = (steps / 6).max(1);
    let (mut gained, mut lost, mut means) = (0.0_f64, 0.0_f64, [0.0; 2]);
    for step in 0..steps {
        simulator.step(&mut world, setup.dt)?;
        let now = energy(&world);
        let change = (now[0] + now[1] - start) / scale;
        (gained, lost) = (gained.max(change), lost.max(-change));
        if step < sixth {
            means[0] += change / f64::from(sixth);
        } else if step >= steps - sixth {
            means[1] += change / f64::from(sixth);
        }
    }
    let growth = Some((means[1] - means[0]).max(0.0));
    let (tops, pendulums) = if bodies == 0 { (Some(gained), None) } else { (None, Some(gained)) };
    Ok(Experiment { case, errors: vec![tops, pendulums, Some(lost), growth] })
}

/// Principal moments of a random solid box of that mass, so that they belong to a body.
fn body(random: &mut Random, mass: f64, size: f64) -> MassProperties {
    let sides = DVec3::new(random.range(0.1, 1.0), random.range(0.1, 1.0), random.range(0.1, 1.0)) * size;
    let squares = sides * sides;
    let moments =
        DVec3::new(squares.y + squares.z, squares.z + squares.x, squares.x + squares.y) * (mass / 12.0);
    MassProperties { mass, center_of_mass: DVec3::ZERO, inertia: DMat3::from_diagonal(moments) }
}

/// A top that spins on a point ⇒ m g l.
fn top(world: &mut World, random: &mut Random, case: &mut String) -> Result<f64, Failure> {
    let (mass, length) = (random.log_range(0.1, 10.0), random.log_range(0.03, 0.3));
    let properties = if random.chance(0.7) {
        let (across, along) = (random.range(0.3, 1.5), random.range(0.3, 1.9));
        let moment = mass * (length * random.range(0.3, 1.5)).powi(2);
        let moments = DVec3::new(moment * across, moment * across, moment * across * along);
        MassProperties { mass, center_of_mass: DVec3::ZERO, inertia: DMat3::from_diagonal(moments) }
    } else {
        body(random, mass, 2.0 * length)
    };
    let (lean, spin) = (random.range(0.05, 1.4), random.sign() * random.range(20.0, 300.0));
    let q = DQuat::from_rotation_z(random.angle()) * DQuat::from_rotation_y(lean);
    let omega = q * DVec3::Z * spin + random.direction() * random.range(0.0, 3.0);
    let center = q * DVec3::Z * length;
    *case = format!("top: lean {lean}, spin {spin} rad/s, arm {length} m, {properties:?}");
    let template = Body::dynamic().position(center).orientation(q).velocity(omega.cross(center));
    let id = world.add_body(template.angular_velocity(omega).mass_properties(properties).can_sleep(false))?;
    world.add_joint(JointFrames::to_world(id).at(DVec3::ZERO), Spherical::default())?;
    Ok(mass * G * length)
}

/// A body that hangs on another or on the world ⇒ it, where the next one hangs, and m g l.
fn link(
    world: &mut World,
    random: &mut Random,
    above: Option<BodyId>,
    at: DVec3,
    case: &mut String,
) -> Result<(BodyId, DVec3, f64), Failure> {
    let (mass, length) = (random.log_range(0.2, 5.0), random.log_range(0.1, 1.0));
    let properties = body(random, mass, length);
    let direction = random.direction();
    let center = at + direction * length * random.range(0.3, 0.9);
    let template = Body::dynamic().position(center).orientation(random.rotation());
    let id = world.add_body(template.mass_properties(properties).can_sleep(false))?;
    let joint_frames =
        above.map_or_else(|| JointFrames::to_world(id), |above| JointFrames::between(above, id));
    let kind = random.index(4);
    let joint_frames = joint_frames.at(at).along(random.direction());
    match kind {
        0 => world.add_joint(joint_frames, Spherical::default())?,
        1 => world.add_joint(joint_frames, Revolute::default())?,
        2 => world.add_joint(joint_frames, Universal::default())?,
        _ => {
            let rod = (center - at).length() * 0.6;
            // From the anchor above to a point of the body.
            let on_body = center + (at - center).normalize() * ((center - at).length() - rod);
            let pose = |point: DVec3, id: BodyId| -> Result<_, Failure> {
                let body = world.body(id)?;
                Ok(rattleback_geometry::Pose::at(body.pose().inverse_point(point)))
            };
            let a = above.map_or_else(|| Ok(rattleback_geometry::Pose::at(at)), |above| pose(at, above))?;
            let b = pose(on_body, id)?;
            world.add_joint(
                joint_frames.frames(a, b),
                Distance { min: rod, max: rod, ..Distance::default() },
            )?
        }
    };
    write!(case, "link {kind}: {mass} kg, {length} m along {direction}; ")?;
    Ok((id, at + direction * length, mass * G * (center - at).length() * 2.0))
}
