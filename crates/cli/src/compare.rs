//! `compare`: one scene under several simulators: energy, momentum, overlap, cost, and where their results diverge.

use crate::arguments::Compare;
use crate::failure::Failure;
use crate::scene_file;
use crate::summary::shown_body;
use crate::table::{Table, number};
use glam::DVec3;
use rattleback_dynamics::{Properties, Registry, Simulator, Status, World};
use rattleback_lab::plot::{Chart, Panel, Series};
use rattleback_scene::Scene;
use std::io::Write;
use std::time::Instant;

/// Most samples of a run.
const MOST_SAMPLES: u64 = 1000;
/// Distance between the positions of a body under two simulators above which they have diverged, m.
const DIVERGED: f64 = 1e-3;

/// State and cost of a run at one time.
struct Sample {
    time: f64,
    energy: f64,
    momentum: f64,
    /// Deepest overlap, m.
    depth: f64,
    /// Sum of all normal forces, N.
    force: f64,
    /// Computing time so far, s.
    cost: f64,
    places: Vec<DVec3>,
}

/// The run of one simulator.
struct Run {
    simulator: String,
    samples: Vec<Sample>,
    steps: u64,
    /// Deepest overlap, m, and largest sum of forces, N, over all steps.
    depth: f64,
    force: f64,
    /// Why it stopped early, if it did.
    failed: Option<String>,
}

/// Runs, prints, and draws with `--plot`.
pub fn compare(options: &Compare, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let scene = scene_file::open(&options.scene, options.files)?;
    let built = scene.build(registry).map_err(Failure::input)?;
    let own = built.simulator.description();
    let names = chosen(options, &own.type_name, registry)?;
    let dt = options.dt.unwrap_or(built.dt);
    let duration = options.time.unwrap_or(built.duration);
    if !(dt.is_finite() && dt > 0.0 && duration.is_finite() && duration >= 0.0) {
        return Err(Failure::Input(format!(
            "time and time step must be finite and > 0; got {duration} and {dt}"
        )));
    }
    let steps = (duration / dt - 1e-6).ceil().max(1.0);
    if steps > 1e9 {
        return Err(Failure::Input(format!(
            "{duration} s in steps of {dt} s are {steps:e} steps; at most 1e9 are allowed"
        )));
    }
    let mut runs = Vec::new();
    for name in names {
        let mut built = scene.build(registry).map_err(Failure::input)?;
        // The scene's own simulator keeps the scene's settings; others start from their defaults.
        if name != own.type_name {
            built.simulator = registry.simulators.make(&name, &Properties::new()).map_err(Failure::input)?;
        }
        runs.push(run(name, &mut built.world, &mut *built.simulator, dt, steps as u64));
    }
    report(options, &scene, registry, &runs, dt, out)?;
    if let Some(path) = &options.plot {
        let title = if built.title.is_empty() { &options.scene } else { &built.title };
        chart(title, &runs).save(path).map_err(Failure::input)?;
        writeln!(out, "\n{}", path.display())?;
    }
    if runs.iter().all(|run| run.samples.len() < 2) {
        return Err(Failure::Failed("no simulator could run the scene".into()));
    }
    Ok(())
}

/// The chosen simulators, or all, the scene's own first.
fn chosen(options: &Compare, own: &str, registry: &Registry) -> Result<Vec<String>, Failure> {
    if options.simulators.is_empty() {
        let others = registry.simulators.iter().map(|entry| entry.name.clone()).filter(|name| name != own);
        return Ok(std::iter::once(own.to_owned()).chain(others).collect());
    }
    for name in &options.simulators {
        registry.simulators.get(name).map_err(Failure::input)?;
    }
    Ok(options.simulators.clone())
}

fn run(simulator: String, world: &mut World, by: &mut dyn Simulator, dt: f64, steps: u64) -> Run {
    let mut run = Run { simulator, samples: Vec::new(), steps: 0, depth: 0.0, force: 0.0, failed: None };
    let stride = steps.div_ceil(MOST_SAMPLES);
    let mut cost = 0.0;
    run.samples.push(sample(world, (0.0, 0.0), cost));
    for step in 1..=steps {
        let began = Instant::now();
        if let Err(error) = by.step(world, dt) {
            run.failed = Some(world.with_names(&error.to_string()));
            break;
        }
        cost += began.elapsed().as_secs_f64();
        run.steps = step;
        let contacts = by.contacts(world);
        let depth = contacts.iter().map(|contact| -contact.gap).fold(0.0, f64::max);
        let force = contacts.iter().map(|contact| contact.normal_force().abs()).sum();
        (run.depth, run.force) = (run.depth.max(depth), run.force.max(force));
        if step.is_multiple_of(stride) || step == steps {
            run.samples.push(sample(world, (depth, force), cost));
        }
    }
    run
}

fn sample(world: &World, (depth, force): (f64, f64), cost: f64) -> Sample {
    let readout = world.readout();
    Sample {
        time: world.time(),
        energy: readout.energy(),
        momentum: readout.momentum.length(),
        depth,
        force,
        cost,
        places: moving(world).map(|body| body.position()).collect(),
    }
}

/// Bodies that a simulator moves, in the same order for all simulators.
fn moving(world: &World) -> impl Iterator<Item = rattleback_dynamics::world::BodyRef<'_>> + '_ {
    world.iter_bodies().filter(|body| matches!(body.status(), Status::Dynamic | Status::Disabled))
}

/// The largest distance between bodies in two samples, and which body that is.
fn largest_distance(a: &Sample, b: &Sample) -> (f64, usize) {
    let distances = a.places.iter().zip(&b.places).map(|(a, b)| a.distance(*b)).enumerate();
    distances.fold((0.0, 0), |most, (body, far)| if far > most.0 { (far, body) } else { most })
}

fn report(
    options: &Compare,
    scene: &Scene,
    registry: &Registry,
    runs: &[Run],
    dt: f64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let header = [
        "simulator",
        "steps",
        "energy J",
        "gained J",
        "lost J",
        "momentum kg m/s",
        "deepest m",
        "force N",
        "ms per step",
        "× real time",
    ];
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for run in runs.iter().filter(|run| run.steps > 0) {
        let (Some(first), Some(last)) = (run.samples.first(), run.samples.last()) else { continue };
        let change = |sample: &Sample| sample.energy - first.energy;
        let gained = run.samples.iter().map(change).fold(0.0, f64::max);
        let lost = run.samples.iter().map(|sample| -change(sample)).fold(0.0, f64::max);
        let each = last.cost / run.steps as f64;
        table.row(vec![
            run.simulator.clone(),
            run.steps.to_string(),
            number(last.energy, 6),
            number(gained, 3),
            number(lost, 3),
            number(last.momentum, 4),
            number(run.depth, 2),
            number(run.force, 4),
            number(1e3 * each, 3),
            number(dt / each, 3),
        ]);
    }
    writeln!(out, "{}, in steps of {} s\n", options.scene, number(dt, 6))?;
    table.write(out)?;
    let skipped: Vec<&Run> = runs.iter().filter(|run| run.failed.is_some()).collect();
    if !skipped.is_empty() {
        writeln!(out)?;
    }
    for run in skipped {
        let why = run.failed.as_deref().unwrap_or_default();
        if run.steps == 0 {
            writeln!(out, "skipped {}: {why}", run.simulator)?;
        } else {
            let time = run.samples.last().map_or(0.0, |sample| sample.time);
            writeln!(out, "{} stopped after t = {} s: {why}", run.simulator, number(time, 4))?;
        }
    }
    let mut compared = runs.iter().filter(|run| run.steps > 0);
    let Some(reference) = compared.next() else { return Ok(()) };
    let built = scene.build(registry).map_err(Failure::input)?;
    let labels: Vec<String> = moving(&built.world).map(|body| shown_body(&body)).collect();
    for (index, run) in compared.enumerate() {
        if index == 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", divergence(reference, run, &labels))?;
    }
    Ok(())
}

/// Where a run diverges from another one, in words.
fn divergence(reference: &Run, run: &Run, labels: &[String]) -> String {
    let label = |body: usize| labels.get(body).map_or("?", String::as_str);
    let pairs = reference.samples.iter().zip(&run.samples).map(|(a, b)| (b.time, largest_distance(a, b)));
    let most =
        pairs.clone().fold((0.0, (0.0, 0)), |most, next| if next.1.0 > most.1.0 { next } else { most });
    let names = format!("{} and {}", reference.simulator, run.simulator);
    match pairs.clone().find(|(_, (far, _))| *far > DIVERGED) {
        Some((time, (_, body))) => format!(
            "{names} diverge at t = {} s ({}); their largest distance is {} m ({}, t = {} s)",
            number(time, 4),
            label(body),
            number(most.1.0, 3),
            label(most.1.1),
            number(most.0, 4)
        ),
        None => format!("{names} agree: their largest distance is {} m", number(most.1.0, 2)),
    }
}

fn chart(title: &str, runs: &[Run]) -> Chart {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.steps > 0).collect();
    let panel = |y_label: &str, log_y: bool, value: &dyn Fn(&Run, usize) -> f64| {
        let series = runs.iter().map(|run| Series {
            name: run.simulator.clone(),
            points: (0..run.samples.len()).map(|k| (run.samples[k].time, value(run, k))).collect(),
        });
        Panel { y_label: y_label.into(), series: series.collect(), log_y }
    };
    let distance = |run: &Run, k: usize| {
        let other = runs.first().and_then(|first| first.samples.get(k));
        other.map_or(f64::NAN, |other| largest_distance(other, &run.samples[k]).0)
    };
    let first = runs.first().map_or("", |run| run.simulator.as_str());
    let panels = vec![
        panel("energy (J)", false, &|run, k| run.samples[k].energy),
        panel("momentum (kg m/s)", false, &|run, k| run.samples[k].momentum),
        panel("overlap (m)", true, &|run, k| run.samples[k].depth),
        panel("contact force (N)", false, &|run, k| run.samples[k].force),
        panel("computing time (s)", false, &|run, k| run.samples[k].cost),
        panel(&format!("distance from {first} (m)"), true, &distance),
    ];
    Chart { title: title.into(), x_label: "time (s)".into(), panels }
}
