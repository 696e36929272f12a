//! How fast piles, stacks, drums, nets and ragdolls move, and how deep they overlap, side by side with Rapier, Box3D and Jolt, on
//! the scenes of `rattleback_scene::stress`.
//!
//! `cargo run --release [--features box3d,jolt,parallel] --bin realtime_speed -- [scene …] [--steps N] [--repeats N] [--threads 1,2]
//! [--engines rattleback,rapier,box3d,jolt] [--json FILE]`
//!
//! Same bodies, steps of 1/60 s, four sub-steps, the whole length of each scene, one thread each by default (Rapier only
//! with the feature `parallel`; its eight lanes with `simd8` and the processor's flags). Runs alternate, so that a busy machine slows
//! all alike; the least and the median time per step of all runs are printed. Speed bought with depth is no speed: how deep bodies
//! overlap at the end, and how high they are, is measured for every engine by one code that belongs to none of them (`overlap`), from
//! the poses after the last step. Jolt has no sub-steps, and its bindings (of version 5.0) neither joints nor meshes: scenes with such
//! are run without it.

use std::time::Instant;

use rattleback_benchmarks::{OverlapMeter, OurWorld, Overlaps, RapierWorld, SceneWorld, machine, today};
use rattleback_scene::stress::{STRESS_SCENES, StressScene};
use serde_json::{Value, json};

const DT: f64 = 1.0 / 60.0;

/// Names of the engines, ours first.
const ENGINES: [&str; 4] = ["rattleback", "rapier", "box3d", "jolt"];

/// An engine with a scene in it; nothing if it was not built in or cannot represent the scene.
fn engine<'s>(name: &str, scene: &'s StressScene, threads: usize) -> Option<Box<dyn SceneWorld + 's>> {
    match name {
        "rattleback" => Some(Box::new(OurWorld::new(scene, DT, threads))),
        "rapier" => Some(Box::new(RapierWorld::new(scene, DT, threads)?)),
        #[cfg(feature = "box3d")]
        "box3d" => Some(Box::new(rattleback_benchmarks::Box3dWorld::new(scene, DT, threads as u32))),
        #[cfg(feature = "jolt")]
        "jolt" => Some(Box::new(rattleback_benchmarks::JoltWorld::new(scene, DT, threads as u32)?)),
        _ => None,
    }
}

/// Results of the runs of an engine.
struct Runs {
    name: &'static str,
    /// Seconds per step, in rising order.
    times: Vec<f64>,
    asleep: usize,
    overlaps: Overlaps,
}

impl Runs {
    fn least(&self) -> f64 {
        self.times.first().copied().unwrap_or(f64::NAN)
    }

    fn median(&self) -> f64 {
        self.times.get(self.times.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn json(&self) -> Value {
        let Overlaps { pairs, mean, high, deepest, height, doubt } = self.overlaps;
        json!({
            "engine": self.name,
            "seconds_per_step_min": self.least(),
            "seconds_per_step_median": self.median(),
            "asleep": self.asleep,
            "overlapping_pairs": pairs,
            "mean_overlap_m": mean,
            "overlap_99_percent_m": high,
            "deepest_overlap_m": deepest,
            "mean_height_m": height,
            "judges_differ_m": doubt,
        })
    }
}

/// One run ⇒ seconds per step of all steps but the first, and the world after it.
fn timed<'s>(mut world: Box<dyn SceneWorld + 's>, steps: usize) -> (f64, Box<dyn SceneWorld + 's>) {
    world.step(0);
    let start = Instant::now();
    for step in 1..steps {
        world.step(step);
    }
    (start.elapsed().as_secs_f64() / (steps - 1) as f64, world)
}

/// Options of the command line.
struct Asked {
    scenes: Vec<String>,
    engines: Vec<String>,
    steps: Option<usize>,
    repeats: usize,
    threads: Vec<usize>,
    json: Option<String>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        scenes: Vec::new(),
        engines: ENGINES.map(String::from).to_vec(),
        steps: None,
        repeats: 3,
        threads: vec![1],
        json: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut list =
            || -> Vec<String> { arguments.next().unwrap_or_default().split(',').map(String::from).collect() };
        match argument.as_str() {
            "--steps" => asked.steps = list()[0].parse().ok(),
            "--repeats" => asked.repeats = list()[0].parse().unwrap_or(3).max(1),
            "--threads" => {
                asked.threads = list().iter().filter_map(|n| n.parse().ok()).filter(|n| *n > 0).collect();
            }
            "--engines" => asked.engines = list(),
            "--json" => asked.json = list().pop(),
            _ => asked.scenes.push(argument),
        }
    }
    asked
}

fn main() {
    let asked = asked();
    println!(
        "{:<14} {:>7} {:>5} {:<10} {:>10} {:>10} {:>11}   {:>12} {:>12} {:>8} {:>10} {:>7}",
        "scene",
        "threads",
        "steps",
        "engine",
        "min ms",
        "median ms",
        "over ours",
        "mean overlap",
        "deepest",
        "pairs",
        "height",
        "asleep"
    );
    let mut results = Vec::new();
    for (name, _, make) in STRESS_SCENES {
        if !asked.scenes.is_empty() && !asked.scenes.iter().any(|wanted| wanted == name) {
            continue;
        }
        let scene = make().expect("the scene can be built");
        let meter = OverlapMeter::new(&scene);
        let steps = asked.steps.unwrap_or(scene.steps).clamp(2, scene.steps);
        for &threads in &asked.threads {
            let mut rows: Vec<Runs> = Vec::new();
            for repeat in 0..asked.repeats {
                for engine_name in ENGINES.iter().filter(|name| asked.engines.iter().any(|e| e == *name)) {
                    let Some(world) = engine(engine_name, &scene, threads) else { continue };
                    let (time, world) = timed(world, steps);
                    // All runs of an engine end alike, or nearly so: the first is measured.
                    if repeat == 0 {
                        let outcome = world.outcome();
                        rows.push(Runs {
                            name: engine_name,
                            times: vec![time],
                            asleep: outcome.asleep,
                            overlaps: meter.measure(&outcome),
                        });
                    } else if let Some(row) = rows.iter_mut().find(|row| row.name == *engine_name) {
                        row.times.push(time);
                    }
                }
            }
            rows.iter_mut().for_each(|row| row.times.sort_by(f64::total_cmp));
            for row in &rows {
                let Overlaps { pairs, mean, deepest, height, doubt, .. } = row.overlaps;
                println!(
                    "{name:<14} {threads:>7} {steps:>5} {:<10} {:>10.3} {:>10.3} {:>5.2} {:>5.2}   {:>9.3} mm {:>9.3} mm {pairs:>8} {height:>8.3} m {:>7}{}",
                    row.name,
                    1e3 * row.least(),
                    1e3 * row.median(),
                    row.least() / rows[0].least(),
                    row.median() / rows[0].median(),
                    1e3 * mean,
                    1e3 * deepest,
                    row.asleep,
                    if doubt > 1e-5 {
                        format!("   (judges differ by {:.3} mm)", 1e3 * doubt)
                    } else {
                        String::new()
                    },
                );
            }
            results.push(json!({
                "scene": name,
                "threads": threads,
                "steps": steps,
                "engines": rows.iter().map(Runs::json).collect::<Vec<_>>(),
            }));
        }
    }
    if let Some(path) = asked.json {
        let report = json!({
            "program": "realtime_speed",
            "version": env!("CARGO_PKG_VERSION"),
            "date": today(),
            "machine": machine(),
            "time_step_s": DT,
            "repeats": asked.repeats,
            "results": results,
        });
        std::fs::write(&path, format!("{report:#}\n")).expect("the file can be written");
    }
}
