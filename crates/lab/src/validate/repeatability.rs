//! The same again: two runs, a run interrupted by a snapshot, and a run backwards in time.

use super::{Allowed, Check, Outcome};
use glam::DVec3;
use rattleback_dynamics::force::{Drag, Gravitation, Spring};
use rattleback_dynamics::{Body, FreeMotion, Registry, Simulator, World};
use rattleback_geometry::Shape;
use std::error::Error;

type Failure = Box<dyn Error + Send + Sync>;

/// Tumbling boxes that attract each other, one of them on a spring at this point of it.
fn boxes(anchor: DVec3) -> Result<World, Failure> {
    let mut world = World::default();
    let mut last = None;
    for i in 0..8_u32 {
        let k = f64::from(i);
        let shape = Shape::cuboid(DVec3::new(0.1, 0.2 + 0.01 * k, 0.3))?;
        let spin = DVec3::new(k.sin(), 3.0 + k, (2.0 * k).cos());
        last = Some(
            world
                .add_body(Body::dynamic().at(k, 0.1 * k * k, 0.0).with_shape(shape).angular_velocity(spin))?,
        );
    }
    let anchor_b = anchor.into();
    world.add_force(Spring { body_b: last, anchor_b, stiffness: 500.0.into(), ..Spring::default() })?;
    world.add_force(Gravitation { constant: 1e-3, softening: 0.1, ..Gravitation::default() })?;
    Ok(world)
}

/// Where the spring pulls at a box so that it tumbles chaotically.
const CORNER: DVec3 = DVec3::new(0.1, 0.2, 0.3);

fn differing_bytes(a: &[u8], b: &[u8]) -> f64 {
    let different = a.iter().zip(b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len());
    different as f64
}

fn run(world: &mut World, simulator: &mut dyn Simulator, steps: u32) -> Result<(), Failure> {
    for _ in 0..steps {
        simulator.step(world, 1.0 / 240.0)?;
    }
    Ok(())
}

/// Bytes in which the snapshots of two runs of 400 steps differ, for every integrator.
pub(super) fn determinism(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for entry in registry.integrators.iter() {
        let end = || -> Result<Vec<u8>, Failure> {
            let (mut world, mut simulator) = (boxes(CORNER)?, FreeMotion::by_name(&entry.name, registry)?);
            run(&mut world, &mut simulator, 400)?;
            Ok(world.snapshot_with(&simulator)?)
        };
        let got = differing_bytes(&end()?, &end()?);
        let label = format!("free-motion/{}", entry.name);
        checks.push(Check::new("repeat/determinism", label, 0.0, got, Allowed::Absolute(0.0)));
    }
    Ok(checks)
}

/// Bytes in which an interrupted run of 400 steps differs from a straight one, for every integrator.
pub(super) fn snapshot(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for entry in registry.integrators.iter() {
        let (mut world, mut simulator) = (boxes(CORNER)?, FreeMotion::by_name(&entry.name, registry)?);
        run(&mut world, &mut simulator, 137)?;
        let saved = world.snapshot_with(&simulator)?;
        run(&mut world, &mut simulator, 263)?;
        let straight = world.snapshot_with(&simulator)?;

        let (mut world, mut simulator) = World::restore_with(&saved, registry)?;
        run(&mut world, &mut *simulator, 263)?;
        let got = differing_bytes(&straight, &world.snapshot_with(&*simulator)?);
        let label = format!("free-motion/{}", entry.name);
        checks.push(Check::new("repeat/snapshot", label, 0.0, got, Allowed::Absolute(0.0)));
    }
    Ok(checks)
}

/// T-INT-08: 1000 steps on, velocities reversed, 1000 steps: distance of the bodies from where they began. Symplectic
/// methods come back to rounding; with a force of velocity nothing does, for comparison. The spring pulls at the centre:
/// at a corner the motion is chaotic, and 4 s make 1e-9 m of any 1e-15 m (measured: a factor of 6e5), reversible or not.
pub(super) fn reversal(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for (name, drag, allowed) in [
        ("splitting", 0.0, Allowed::Absolute(1e-9)),
        ("explicit-euler", 0.0, Allowed::Anything),
        ("splitting", 0.1, Allowed::Anything),
    ] {
        let (mut world, mut simulator) = (boxes(DVec3::ZERO)?, FreeMotion::by_name(name, registry)?);
        if drag > 0.0 {
            world.add_force(Drag { linear: drag.into(), ..Drag::default() })?;
        }
        let places = |world: &World| world.iter_bodies().map(|body| body.position()).collect::<Vec<_>>();
        let start = places(&world);
        run(&mut world, &mut simulator, 1000)?;
        let ids: Vec<_> = world.iter_bodies().map(|body| body.id()).collect();
        for id in ids {
            let (v, omega) = (world.body(id)?.velocity(), world.body(id)?.angular_velocity());
            let mut body = world.body_mut(id)?;
            body.set_velocity(-v)?;
            body.set_angular_velocity(-omega)?;
        }
        run(&mut world, &mut simulator, 1000)?;
        let distances = places(&world).into_iter().zip(start).map(|(now, then)| (now - then).length());
        let got = distances.fold(0.0, f64::max);
        let label = format!("free-motion/{name}{}", if drag > 0.0 { " with drag" } else { "" });
        checks.push(Check::new("repeat/reversal", label, 0.0, got, allowed));
    }
    Ok(checks)
}
