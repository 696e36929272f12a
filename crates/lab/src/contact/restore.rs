//! Worlds saved in the middle and restored: the copy continues bit for bit, whatever the state of the scene.
//!
//! A scene of random bodies, joints and a kinematic plate is stepped to a random moment (in flight, while it lands, in a pile, at rest), saved
//! with its simulator, restored by a fresh registry, and both are stepped on. Compared are the snapshots of both worlds, bit by bit.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::DVec3;
use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
use rattleback_dynamics::{Body, BodyId, Material, Path, World};
use rattleback_geometry::{Shape, TriangleMesh, generate};

pub(super) const CLASS: Class = Class {
    name: "contact/restore",
    doc: "Worlds saved in the middle of random scenes and restored: the copy goes on bit for bit",
    simulators: &["impulse", "constraint", "realtime", "penalty", "sequential"],
    quantities: &[
        Quantity { name: "copies that differ", unit: "", aggregate: Aggregate::Mean, limit },
        Quantity { name: "snapshots written differently", unit: "", aggregate: Aggregate::Mean, limit },
    ],
    run,
};

fn limit(_: &str, _: f64) -> Option<f64> {
    Some(0.0)
}

/// Simulated time after which it is saved, at most, and for which it is compared, s.
const BEFORE: f64 = 1.5;
const AFTER: f64 = 0.5;

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let jointed = random.chance(0.4) && !["impulse", "penalty"].contains(&setup.simulator);
    let count = 2 + random.index(24);
    let mut world = scene(setup, random, count, jointed)?;
    let before = setup.steps(random.range(0.0, BEFORE));
    let mut simulator = setup.simulator()?;
    for _ in 0..before {
        simulator.step(&mut world, setup.dt)?;
    }
    let saved = world.snapshot_with(&*simulator)?;
    let (mut copy, mut resumed) = World::restore_with(&saved, setup.registry)?;
    let rewritten = copy.snapshot_with(&*resumed)? != saved;
    let mut differs = None;
    let after = setup.steps(AFTER);
    for step in 0..after {
        simulator.step(&mut world, setup.dt)?;
        resumed.step(&mut copy, setup.dt)?;
        let last = step + 1 == after;
        if copy.events() != world.events()
            || (last || step % 8 == 0) && copy.snapshot()? != world.snapshot()?
        {
            differs = Some(step);
            break;
        }
    }
    let verdict = differs.map_or(String::new(), |step| format!(", differs by step {step}"));
    Ok(Experiment {
        case: format!("{count} bodies, joints: {jointed}, saved after {before} steps{verdict}"),
        errors: vec![Some(f64::from(u8::from(differs.is_some()))), Some(f64::from(u8::from(rewritten)))],
    })
}

fn scene(setup: &Setup<'_>, random: &mut Random, count: usize, jointed: bool) -> Result<World, Failure> {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    world.add_body(Body::fixed().at(0.3, 0.3, 0.0).with_shape(Shape::cuboid(DVec3::new(0.3, 0.2, 0.1))?))?;
    if setup.simulator != "impulse" {
        let turning = Path::Steady { velocity: DVec3::ZERO, angular_velocity: DVec3::Z };
        let plate = Shape::cuboid(DVec3::new(0.4, 0.4, 0.05))?;
        world.add_body(Body::kinematic(turning).at(-0.6, 0.0, 0.1).with_shape(plate))?;
    }
    let material = world.add_material(Material::bouncy(random.range(0.0, 0.9)))?;
    let smooth = setup.simulator == "impulse";
    let mut last: Option<BodyId> = None;
    for k in 0..count {
        let place = DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64);
        let at = DVec3::new(-0.5, -0.4, 0.5) + 0.48 * place + 0.02 * random.direction();
        let body = Body::dynamic()
            .position(at)
            .orientation(random.rotation())
            .velocity(random.range(0.0, 2.0) * random.direction())
            .angular_velocity(random.range(0.0, 5.0) * random.direction())
            .with_shape(shape(random, smooth)?);
        let id = world.add_body(if random.chance(0.5) { body.material(material) } else { body })?;
        if let Some(last) = last.filter(|_| jointed && random.chance(0.6)) {
            let joint_frames =
                JointFrames::between(last, id).at(at - 0.24 * DVec3::X).along(random.direction());
            if random.chance(0.5) {
                world.add_joint(joint_frames, Revolute::default())?;
            } else {
                world.add_joint(joint_frames, Spherical::default())?;
            }
        }
        last = Some(id);
    }
    Ok(world)
}

/// A shape of at most 0.22 m from its middle.
fn shape(random: &mut Random, simple: bool) -> Result<Shape, Failure> {
    let size = DVec3::new(random.range(0.06, 0.12), random.range(0.06, 0.12), random.range(0.06, 0.12));
    Ok(match random.index(if simple { 5 } else { 7 }) {
        0 => Shape::sphere(size.x)?,
        1 => Shape::cuboid(size)?,
        2 => Shape::cylinder(size.x, 2.0 * size.y)?,
        3 => Shape::capsule(0.5 * size.x, size.y)?,
        4 => {
            let corners: Vec<DVec3> = (0..10).map(|_| 0.2 * random.direction()).collect();
            Shape::convex_hull(&corners)?
        }
        5 => Shape::ellipsoid(size)?,
        _ => Shape::mesh(TriangleMesh::from_soup(&generate::cuboid(size)?)?)?,
    })
}
