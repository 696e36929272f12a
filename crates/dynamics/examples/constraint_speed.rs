//! Speed of the constraint simulator with 100 bodies and 400 contacts and more: at rest in towers and a wall;
//! and in motion, which costs much more: cubes falling onto a heap, into a bin, and in a shaken bin.
//! Simulated seconds per second of CPU time, on one core.
//!
//! `cargo run --release -p rattleback-dynamics --example constraint_speed [part of a scene's name]`

use glam::{DQuat, DVec3};
use rattleback_dynamics::simulator::Constraint;
use rattleback_dynamics::{Body, Path, ShapePart, Simulator, World};
use rattleback_geometry::{Pose, Shape};
use std::time::Instant;

const DT: f64 = 1.0 / 24.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:22} {:>6} {:>8} {:>8} {:>12} {:>12} {:>10} {:>8} {:>10} {:>12}",
        "scene",
        "bodies",
        "contacts",
        "max",
        "ms per step",
        "worst, ms",
        "real time",
        "unsolved",
        "impacts",
        "overlap, mm"
    );
    report("20 towers of 5", towers()?, 5.0)?;
    report("wall at rest", wall()?, 5.0)?;
    report("25 cubes, falling", heap(25, 0.0)?, 2.0)?;
    report("25 cubes, e = 0.3", heap(25, 0.3)?, 2.0)?;
    report("100 cubes, falling", heap(100, 0.0)?, 2.0)?;
    report("100 cubes into a bin", bin(None, 0.0)?, 6.0)?;
    report("the same, e = 0.3", bin(None, 0.3)?, 3.0)?;
    report("100 in a shaken bin", bin(Some(1.5), 0.0)?, 4.0)?;
    Ok(())
}

fn world(restitution: f64) -> Result<World, Box<dyn std::error::Error>> {
    let mut world = World::default();
    let material = rattleback_dynamics::Material { restitution, ..rattleback_dynamics::Material::default() };
    world.set_material(world.default_material(), material)?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    Ok(world)
}

/// 100 cubes, four contacts each.
fn towers() -> Result<World, Box<dyn std::error::Error>> {
    let mut world = world(0.0)?;
    for k in 0..100 {
        let (tower, level) = (f64::from(k / 5), f64::from(k % 5));
        let shape = Shape::cuboid(DVec3::splat(0.1))?;
        world.add_body(Body::dynamic().at(0.3 * tower, 0.0, 0.1 + 0.2 * level).with_shape(shape))?;
    }
    Ok(world)
}

/// Bricks in running bond, every layer one shorter than the one below, with open joints between neighbours.
fn wall() -> Result<World, Box<dyn std::error::Error>> {
    let mut world = world(0.0)?;
    let half = DVec3::new(0.2, 0.1, 0.1);
    for layer in 0..14 {
        for k in 0..14 - layer {
            let x = 0.44 * f64::from(k) + 0.22 * f64::from(layer);
            let z = 0.1 + 0.2 * f64::from(layer);
            world.add_body(Body::dynamic().at(x, 0.0, z).with_shape(Shape::cuboid(half)?))?;
        }
    }
    Ok(world)
}

fn heap(count: i32, restitution: f64) -> Result<World, Box<dyn std::error::Error>> {
    let mut world = world(restitution)?;
    for k in 0..count {
        let (i, j, l) = (f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
        let turn = DQuat::from_scaled_axis(DVec3::new(f64::from(k), 0.3 * f64::from(k), 0.7));
        let at = DVec3::new(0.36 * i, 0.36 * j, 0.2 + 0.36 * l);
        world.add_body(
            Body::dynamic().position(at).orientation(turn).with_shape(Shape::cuboid(DVec3::splat(0.1))?),
        )?;
    }
    Ok(world)
}

/// 100 cubes above a bin of 1.1 m × 1.1 m; a shaken bin oscillates horizontally by 5 cm, so that its heap
/// stays in motion.
fn bin(frequency: Option<f64>, restitution: f64) -> Result<World, Box<dyn std::error::Error>> {
    let mut world = World::default();
    let material = rattleback_dynamics::Material { restitution, ..rattleback_dynamics::Material::default() };
    world.set_material(world.default_material(), material)?;
    let mut body = match frequency {
        None => Body::fixed(),
        Some(frequency) => Body::kinematic(Path::Harmonic {
            amplitude: DVec3::new(0.05, 0.02, 0.0),
            swing: DVec3::ZERO,
            frequency,
            phase: 0.0,
        }),
    };
    for (half, at) in [
        (DVec3::new(1.0, 1.0, 0.5), DVec3::new(0.0, 0.0, -0.5)),
        (DVec3::new(0.25, 1.0, 3.0), DVec3::new(0.8, 0.0, 3.0)),
        (DVec3::new(0.25, 1.0, 3.0), DVec3::new(-0.8, 0.0, 3.0)),
        (DVec3::new(1.0, 0.25, 3.0), DVec3::new(0.0, 0.8, 3.0)),
        (DVec3::new(1.0, 0.25, 3.0), DVec3::new(0.0, -0.8, 3.0)),
    ] {
        body = body.with_part(ShapePart { pose: Pose::at(at), ..ShapePart::from(Shape::cuboid(half)?) });
    }
    world.add_body(body)?;
    for k in 0..100 {
        let (i, j, l) = (f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
        let turn = DQuat::from_scaled_axis(DVec3::new(f64::from(k), 0.3 * f64::from(k), 0.7));
        let at = DVec3::new(0.36 * (i - 1.0), 0.36 * (j - 1.0), 0.2 + 0.36 * l);
        world.add_body(
            Body::dynamic().position(at).orientation(turn).with_shape(Shape::cuboid(DVec3::splat(0.1))?),
        )?;
    }
    Ok(world)
}

/// CPU time of this process, s, where the system reports it; on a busy machine wall-clock time is misleading.
fn cpu_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn report(name: &str, mut world: World, seconds: f64) -> Result<(), Box<dyn std::error::Error>> {
    let only = std::env::args().nth(1);
    if only.is_some_and(|only| !name.contains(&only)) {
        return Ok(());
    }
    let mut simulator = Constraint::default();
    let steps = (seconds / DT) as usize;
    let (mut total, mut worst, mut max_contacts, mut unsolved, mut impacts) = (0.0, 0.0_f64, 0, 0, 0);
    let (mut sum, mut overlap) = (0, 0.0_f64);
    for _ in 0..steps {
        let (start, run) = (Instant::now(), cpu_time());
        simulator.step(&mut world, DT)?;
        let taken = run.zip(cpu_time()).map_or(start.elapsed().as_secs_f64(), |(from, to)| to - from);
        total += taken;
        worst = worst.max(taken);
        let contacts = simulator.contacts().count();
        (sum, max_contacts) = (sum + contacts, max_contacts.max(contacts));
        overlap = simulator.contacts().map(|contact| -contact.gap).fold(overlap, f64::max);
        unsolved += simulator.counters().not_converged;
        impacts += simulator.counters().impacts;
    }
    let bodies = world.iter_bodies().count() - 1;
    let each = total / steps as f64;
    println!(
        "{name:22} {bodies:>6} {:>8} {max_contacts:>8} {:>12.2} {:>12.2} {:>9.1}× {unsolved:>8} {impacts:>10} {:>12.3}",
        sum / steps,
        1e3 * each,
        1e3 * worst,
        DT / each,
        1e3 * overlap,
    );
    Ok(())
}
