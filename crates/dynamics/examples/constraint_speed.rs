//! 100 bodies with 400 contacts and more at rest: towers and a wall; and cubes falling into a heap, which is much dearer. Seconds simulated
//! per second of computing, on one core.
//!
//! `cargo run --release -p rattleback-dynamics --example constraint_speed`

use glam::{DQuat, DVec3};
use rattleback_dynamics::simulator::Constraint;
use rattleback_dynamics::{Body, Simulator, World};
use rattleback_geometry::Shape;
use std::time::Instant;

const DT: f64 = 1.0 / 24.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:22} {:>6} {:>8} {:>12} {:>12} {:>10} {:>8} {:>10}",
        "scene", "bodies", "contacts", "ms per step", "worst, ms", "real time", "missed", "meetings"
    );
    report("20 towers of 5", towers()?, 5.0)?;
    report("wall at rest", wall()?, 5.0)?;
    report("25 cubes, falling", heap(25, 0.0)?, 2.0)?;
    report("25 cubes, e = 0.3", heap(25, 0.3)?, 2.0)?;
    report("100 cubes, falling", heap(100, 0.0)?, 2.0)?;
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
        let at = DVec3::new(0.25 * i, 0.25 * j, 0.3 + 0.4 * l);
        world.add_body(
            Body::dynamic().position(at).orientation(turn).with_shape(Shape::cuboid(DVec3::splat(0.1))?),
        )?;
    }
    Ok(world)
}

/// Seconds that this process has been computing, where the system tells: on a busy machine a clock on the wall says little.
fn computed() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(told.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn report(name: &str, mut world: World, seconds: f64) -> Result<(), Box<dyn std::error::Error>> {
    let mut simulator = Constraint::default();
    let steps = (seconds / DT) as usize;
    let (mut total, mut worst, mut contacts, mut missed, mut meetings) = (0.0, 0.0_f64, 0, 0, 0);
    for _ in 0..steps {
        let (start, run) = (Instant::now(), computed());
        simulator.step(&mut world, DT)?;
        let taken = run.zip(computed()).map_or(start.elapsed().as_secs_f64(), |(from, to)| to - from);
        total += taken;
        worst = worst.max(taken);
        contacts = contacts.max(simulator.contacts().count());
        missed += simulator.counters().not_converged;
        meetings += simulator.counters().meetings;
    }
    let bodies = world.iter_bodies().count() - 1;
    let each = total / steps as f64;
    println!(
        "{name:22} {bodies:>6} {contacts:>8} {:>12.2} {:>12.2} {:>9.1}× {missed:>8} {meetings:>10}",
        1e3 * each,
        1e3 * worst,
        DT / each
    );
    Ok(())
}
