//! Limit on overlapping bodies: a hundred thousand bodies spawned in one place, beside a tower that must not
//! be affected.
//!
//! `cargo run --release -p rattleback-dynamics --example overlap_limit [bodies]`

use glam::DVec3;
use rattleback_dynamics::simulator::Realtime;
use rattleback_dynamics::{Body, Event, Simulator, World};
use rattleback_geometry::Shape;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bodies = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse::<u32>())?;
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    let cube = Shape::cuboid(DVec3::splat(0.5))?;
    let mut top = None;
    for k in 0..5 {
        top = Some(
            world.add_body(Body::dynamic().at(200.0, 0.0, 0.5 + f64::from(k)).with_shape(cube.clone()))?,
        );
    }
    for k in 0..bodies {
        let at = DVec3::new(1e-6 * f64::from(k), 0.0, 3.0);
        world.add_body(Body::dynamic().position(at).with_shape(cube.clone()))?;
    }
    let mut simulator = Realtime::default();
    for step in 0..120 {
        let start = Instant::now();
        simulator.step(&mut world, 1.0 / 60.0)?;
        let taken = start.elapsed().as_secs_f64();
        let quarantined =
            world.events().iter().filter(|event| matches!(event, Event::Quarantined { .. })).count();
        if quarantined > 0 || step % 30 == 0 {
            println!(
                "step {step}: {:.1} ms, {quarantined} quarantined, {:?}",
                1e3 * taken,
                simulator.counters()
            );
        }
    }
    if let Some(top) = top {
        println!("top of the tower at {}", world.body(top)?.position());
    }
    Ok(())
}
