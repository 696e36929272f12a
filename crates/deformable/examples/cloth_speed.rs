//! Time per step of cloth: 10⁴ vertices without contact, 2500 with self-contact, growth from 10³ to 10⁵, one and two threads.
//!
//! `cargo run --release -p rattleback-deformable --example cloth_speed -- [contact | plain | growth]`

use std::time::Instant;

use glam::DVec3;
use rattleback_deformable::{Cloth, DeformableSystem, Method, RigidStatus, Settings};
use rattleback_geometry::{Pose, TriangleMesh, generate};

type Run = Result<(), Box<dyn std::error::Error>>;

/// n × n cloth held at two corners, `steps` at 1/60 s ⇒ median time per step, s, and linear iterations per step.
fn hanging(
    n: usize,
    method: Method,
    threads: usize,
    steps: usize,
) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let settings = Settings {
        method,
        threads,
        contact_distance: 0.0,
        max_iterations: 1,
        linear_tolerance: 1e-3,
        ..Settings::default()
    };
    let mut system = DeformableSystem::new(settings);
    // The same material and spacing at every size, so that the work per vertex is the same.
    let mut cloth = Cloth { stretch: 50.0, bending: 1e-6, ..Cloth::default() }.grid(n, n, 0.02)?;
    cloth.pin(0)?;
    cloth.pin(n - 1)?;
    system.add(&cloth)?;
    system.step(1.0 / 60.0)?;
    let (mut times, mut linear) = (Vec::new(), 0);
    for _ in 0..steps {
        let start = Instant::now();
        linear += system.step(1.0 / 60.0)?.linear_iterations;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((times[steps / 2], linear as f64 / steps as f64))
}

/// 50 × 50 cloth that falls over a ball and onto itself on the floor.
fn contact(threads: usize) -> Run {
    let settings = Settings {
        threads,
        max_iterations: 4,
        tolerance: 2e-2,
        linear_tolerance: 1e-2,
        ..Settings::default()
    };
    let mut system = DeformableSystem::new(settings);
    let unit = generate::icosphere(3)?;
    let ball =
        TriangleMesh::new(unit.vertices().iter().map(|&p| 0.15 * p).collect(), unit.triangles().to_vec())?;
    system.add_rigid(&ball, &Pose::at(DVec3::Z * 0.15), 1.0, RigidStatus::Fixed, 0.3)?;
    system.add_plane(DVec3::Z, -0.01, 0.3)?;
    system.add(&Cloth::default().grid(50, 50, 0.02)?.transformed(&Pose::at(DVec3::new(0.02, 0.01, 0.35))))?;
    let (mut times, mut contacts, mut crossings) = (Vec::new(), 0, 0);
    for step in 0..120 {
        let start = Instant::now();
        let report = system.step(1.0 / 60.0)?;
        times.push(start.elapsed().as_secs_f64());
        contacts = contacts.max(report.contacts);
        if step % 10 == 9 {
            crossings += system.intersections().len();
            println!("  step {step}: {:.1} ms, {report:?}", 1e3 * times[step]);
        }
    }
    let mean = times.iter().sum::<f64>() / 120.0;
    times.sort_by(f64::total_cmp);
    println!(
        "2500 vertices with self-contact, {threads} threads: median {:.1} ms, mean {:.1} ms, longest {:.1} ms of 16.7 ms; up to {contacts} contacts, {crossings} intersections",
        1e3 * times[60],
        1e3 * mean,
        1e3 * times[119]
    );
    Ok(())
}

fn main() -> Run {
    let what = std::env::args().nth(1).unwrap_or_else(|| "all".into());
    if what == "all" || what == "plain" {
        for threads in [1, 2] {
            for method in [Method::LinearImplicit, Method::Newton] {
                let (time, linear) = hanging(100, method, threads, 21)?;
                println!(
                    "10⁴ vertices, {method:?}, {threads} threads: {:.2} ms, {linear:.0} linear iterations",
                    1e3 * time
                );
            }
        }
    }
    if what == "all" || what == "contact" {
        for threads in [1, 2] {
            contact(threads)?;
        }
    }
    if what == "all" || what == "growth" {
        for (n, steps) in [(32, 101), (100, 21), (316, 5)] {
            let (time, linear) = hanging(n, Method::Newton, 1, steps)?;
            println!(
                "{} vertices: {:.2} µs per vertex, {linear:.0} linear iterations",
                n * n,
                1e6 * time / (n * n) as f64
            );
        }
    }
    Ok(())
}
