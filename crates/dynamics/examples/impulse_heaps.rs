//! Independent heaps under the event-driven simulator: speed-up by threads.
//!
//! `cargo run --release -p rattleback-dynamics --example impulse_heaps -- [heaps] [seconds]`

use glam::DVec3;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Body, Material, Simulator, World};
use rattleback_geometry::Shape;
use std::time::Instant;

const DT: f64 = 1.0 / 60.0;
const BODIES_PER_HEAP: u32 = 6;

/// A number of heaps, 4 m apart, of coins and blocks that fall on each other.
fn heaps(count: u32) -> Result<World, Box<dyn std::error::Error>> {
    let mut world = World::default();
    let surface = world.add_material(Material { restitution: 0.4, ..Material::default() })?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(surface))?;
    for heap in 0..count {
        let at = 4.0 * DVec3::new(f64::from(heap % 8), f64::from(heap / 8), 0.0);
        for k in 0..BODIES_PER_HEAP {
            let phase = f64::from(heap * BODIES_PER_HEAP + k);
            let shape = match k % 3 {
                0 => Shape::cuboid(DVec3::new(0.12, 0.1, 0.05))?,
                1 => Shape::sphere(0.08)?,
                _ => Shape::cylinder(0.1, 0.06)?,
            };
            let aside = 0.08 * DVec3::new((2.3 * phase).sin(), (1.7 * phase).cos(), 0.0);
            let height = 0.3 + 0.35 * f64::from(k) + 0.05 * (0.9 * phase).sin();
            let spin = DVec3::new((1.1 * phase).sin(), (1.3 * phase).cos(), 0.5);
            let body = Body::dynamic().with_shape(shape).position(at + aside + height * DVec3::Z);
            world.add_body(body.angular_velocity(spin).material(surface))?;
        }
    }
    Ok(world)
}

/// Processor time of this thread, s; 0 where the system does not report it.
fn computed() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).map_or(0.0, |ns| 1e-9 * ns)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(3.0), |text| text.parse())?;
    println!("{count} heaps of {BODIES_PER_HEAP}, {seconds} s");
    println!("threads   seconds   × one thread   first thread computed   collisions   at rest   state");
    let mut alone = None;
    for threads in [1, 2, 4] {
        let mut world = heaps(count)?;
        let mut simulator = Impulse::new(ImpulseSettings { threads, ..ImpulseSettings::default() })?;
        let (began, before) = (Instant::now(), computed());
        while world.time() < seconds {
            simulator.step(&mut world, DT)?;
        }
        let took = began.elapsed().as_secs_f64();
        let speed_up = *alone.get_or_insert(took) / took;
        let state = world.iter_bodies().fold(0_u64, |hash, body| {
            let x = body.position();
            [x.x, x.y, x.z].iter().fold(hash, |hash, number| hash.rotate_left(5) ^ number.to_bits())
        });
        println!(
            "{threads:7}   {took:7.3}   {speed_up:12.2}   {:21.3}   {:10}   {:7}   {state:016x}",
            computed() - before,
            simulator.counters().collisions,
            simulator.resting().count(),
        );
    }
    Ok(())
}
