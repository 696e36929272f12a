//! Dam breaks of an incompressible fluid: time per step and particle, iterations, memory.
//!
//! `cargo run --release -p rattleback-particles --example fluid_speed [count] [steps] [threads]`; without a count the
//! cost per particle from 10⁴ to 10⁶.

use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::RigidObstacle;
use rattleback_particles::fluid::{FluidSettings, IncompressibleFluid, sample_box_inside};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u32>());
    let count = arguments.next().transpose()?;
    let steps = arguments.next().transpose()?.unwrap_or(20);
    let threads = arguments.next().transpose()?.unwrap_or(1);
    match count {
        Some(count) => dam_break(count, steps, threads as usize)?,
        None => {
            for count in [10_000, 100_000, 1_000_000] {
                dam_break(count, steps, threads as usize)?;
            }
        }
    }
    Ok(())
}

/// A column of water of 1 m × 0.5 m × 1 m in a tank of three times its length.
fn dam_break(count: u32, steps: u32, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let spacing = (0.5 / f64::from(count)).cbrt();
    let half = DVec3::new(1.5, 0.25, 0.75);
    let settings = FluidSettings { spacing, threads, viscosity: 0.0, ..FluidSettings::default() };
    let mut fluid = IncompressibleFluid::new(settings)?;
    fluid.add_box(-half, DVec3::new(-0.5, 0.25, 0.25), DVec3::ZERO)?;
    fluid.add_boundary(0, sample_box_inside(half, spacing)?)?;
    let mut tank = RigidObstacle::fixed(Shape::cuboid(half)?, Pose::IDENTITY)?;
    // A fixed step in units of the spacing, so that resolutions are comparable.
    let dt = 0.05 * spacing.sqrt() * 0.2_f64.sqrt();
    let (mut iterations, mut sub_steps) = ([0_u32; 2], 0);
    let start = Instant::now();
    for _ in 0..steps {
        fluid.step(dt, &mut [&mut tank])?;
        let statistics = fluid.statistics();
        iterations[0] += statistics.divergence_iterations;
        iterations[1] += statistics.density_iterations;
        sub_steps += statistics.sub_steps;
    }
    let seconds = start.elapsed().as_secs_f64();
    let n = fluid.len();
    println!(
        "{n} particles, {threads} threads: {:.1} ms per sub-step, {:.0} ns per particle and sub-step, {:.1} + {:.1} iterations, {:.0} ns per particle and iteration, {:.0} bytes per particle, t = {:.3} s",
        1e3 * seconds / f64::from(sub_steps),
        1e9 * seconds / f64::from(sub_steps) / n as f64,
        f64::from(iterations[0]) / f64::from(sub_steps),
        f64::from(iterations[1]) / f64::from(sub_steps),
        1e9 * seconds / f64::from(iterations[0] + iterations[1]) / n as f64,
        fluid.memory_bytes() as f64 / n as f64,
        fluid.time(),
    );
    Ok(())
}
