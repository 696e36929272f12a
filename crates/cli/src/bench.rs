//! `bench free-bodies`: time of a step compared with the time to copy its data.
//!
//! A step of free bodies reads and writes the [`Motion`] of each and reads its [`Inertia`]: 2 · size(Motion) +
//! size(Inertia) bytes. A copy that reads half as many bytes and writes half as many is what the machine could do at
//! best; both are measured in turns, so that other load affects them alike.

use crate::failure::Failure;
use crate::table::{Table, number};
use glam::{DMat3, DVec3};
use rattleback_dynamics::rigid::{Inertia, Motion};
use rattleback_dynamics::{Body, FreeMotion, Simulator, World};
use rattleback_geometry::MassProperties;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// Tumbling bodies of different sizes, each with three different moments.
fn tumbling(bodies: u32) -> Result<World, rattleback_dynamics::Error> {
    let mut world = World::default();
    for i in 0..bodies {
        let k = f64::from(i);
        let moments = (1.0 + 0.5 * k.sin()) * DVec3::new(0.010, 0.015, 0.020);
        let mass = MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(moments))?;
        let omega = DVec3::new((0.3 * k).sin(), 6.0 + (0.7 * k).cos(), (1.1 * k).sin());
        world.add_body(Body::dynamic().at(k, 0.0, 0.0).mass_properties(mass).angular_velocity(omega))?;
    }
    Ok(world)
}

/// Seconds of each run ⇒ (least, median).
fn least_and_median(mut seconds: Vec<f64>) -> (f64, f64) {
    seconds.sort_by(f64::total_cmp);
    (seconds[0], seconds[seconds.len() / 2])
}

/// Measures and prints.
pub fn free_bodies(bodies: u32, steps: u32, threads: u32, out: &mut dyn Write) -> Result<(), Failure> {
    let mut world = tumbling(bodies).map_err(Failure::failed)?;
    let mut simulator = FreeMotion::default().with_threads(threads);
    let bytes = bodies as usize * (2 * size_of::<Motion>() + size_of::<Inertia>());
    let source = vec![1.0_f64; bytes / 2 / size_of::<f64>()];
    let mut target = vec![0.0_f64; source.len()];
    let energy = world.readout().energy();

    // One unmeasured step maps pages and allocates buffers.
    simulator.step(&mut world, 1.0 / 240.0).map_err(Failure::failed)?;
    target.copy_from_slice(black_box(&source));
    let (mut step_times, mut copy_times) = (Vec::new(), Vec::new());
    for _ in 0..steps {
        let began = Instant::now();
        simulator.step(&mut world, 1.0 / 240.0).map_err(Failure::failed)?;
        step_times.push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        target.copy_from_slice(black_box(&source));
        black_box(&mut target);
        copy_times.push(began.elapsed().as_secs_f64());
    }

    let drift = (world.readout().energy() / energy - 1.0).abs();
    let (step, copy) = (least_and_median(step_times), least_and_median(copy_times));
    let rate = |seconds: f64| number(bytes as f64 / seconds * 1e-9, 3);
    let mut table = Table::new(&["", "best", "median"], &[1, 2]);
    let mut row = |name: &str, best: String, median: String| table.row(vec![name.into(), best, median]);
    row("steps/s", number(1.0 / step.0, 4), number(1.0 / step.1, 4));
    row("bodies/s, millions", millions(bodies, step.0), millions(bodies, step.1));
    row("step, GB/s", rate(step.0), rate(step.1));
    row("copy, GB/s", rate(copy.0), rate(copy.1));
    row("step/copy, time", number(step.0 / copy.0, 3), number(step.1 / copy.1, 3));
    writeln!(
        out,
        "{bodies} tumbling bodies, {steps} steps, {threads} thread(s) for the steps, one for the copy; a step touches {} MB ({} bytes a body: Motion read and written, Inertia read)",
        number(bytes as f64 * 1e-6, 4),
        bytes / bodies as usize
    )?;
    table.write(out)?;
    writeln!(out, "relative change of the energy: {}", number(drift, 2))?;
    Ok(())
}

fn millions(bodies: u32, seconds: f64) -> String {
    number(f64::from(bodies) / seconds * 1e-6, 3)
}
