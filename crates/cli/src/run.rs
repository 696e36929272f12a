//! `run`: simulates a scene, with recordings, plots and snapshots.

use crate::arguments::Run;
use crate::chart::Watch;
use crate::failure::Failure;
use crate::record::{Record, check_record_path};
use crate::scene_file;
use crate::summary::{Summary, Tally, shown_body};
use crate::table::number;
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::property::Value;
use rattleback_dynamics::world::BodyRef;
use rattleback_dynamics::world::LedgerSettings;
use rattleback_dynamics::{Properties, Registry, Simulator, World};
use rattleback_lab::channel::Channel;
use rattleback_scene::BuiltScene;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A run shows its progress after this time.
const PROGRESS_AFTER: Duration = Duration::from_millis(700);
/// Most steps of a run.
const MAX_STEPS: f64 = 1e12;

/// Runs a scene.
pub fn run(options: &Run, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let open = if options.quiet { scene_file::open_quietly } else { scene_file::open };
    let scene = open(&options.scene, options.files)?;
    // Warnings of the simulator in the file do not apply to another one.
    let mut built = if options.quiet || options.simulator.is_some() {
        scene.build(registry).map_err(Failure::input)?
    } else {
        scene_file::build(&scene, registry)?
    };
    if let Some(path) = &options.resume {
        resume(&mut built, path, registry)?;
    }
    choose_simulator(&mut built, options, registry)?;
    let dt = options.dt.unwrap_or(built.dt);
    let steps = step_count(options, &built, dt)?;
    let start = built.world.readout();
    check_finite(&built.world).map_err(Failure::Input)?;
    if options.no_ledger {
        built.world.close_energy_ledger();
    } else if built.world.energy_ledger().is_none() {
        built.world.open_energy_ledger(LedgerSettings::default()).map_err(Failure::input)?;
    }

    let watch = match &options.plot {
        Some(path) => {
            check_plot_path(path)?;
            let channels = channels(options, &built)?;
            Some(Watch::new(channels, start.energy(), options.every, steps))
        }
        None => None,
    };
    if let Some(path) = &options.save {
        check_folder(path)?;
    }
    if let Some(path) = &options.record {
        check_record_path(path)?;
    }
    let recorder = options.record.as_ref().map(|path| Record::create(path, &built, dt)).transpose()?;

    let mut run_loop = RunLoop {
        recorder,
        watch,
        tally: Tally::default(),
        stop: interruption(),
        progress: Progress::new(steps, options.quiet),
        every: options.every,
    };
    let began = Instant::now();
    let end = run_loop.step_all(&mut built.world, &mut *built.simulator, dt, steps);
    let wall = began.elapsed();
    run_loop.progress.clear();

    // Records and plots are written even if a step failed.
    let stopped = run_loop.stop.load(Ordering::Relaxed);
    let (tally, files) = keep(options, run_loop, &built)?;
    end?;
    if !options.quiet {
        let title = if built.title.is_empty() { &options.scene } else { &built.title };
        let simulator = describe(&*built.simulator);
        Summary { title, simulator, world: &built.world, start, dt, wall, tally, files }.write(out)?;
    }
    check_finite(&built.world).map_err(Failure::Failed)?;
    if stopped { Err(Failure::Interrupted(built.world.time())) } else { Ok(()) }
}

/// Refuses a world whose energy or momentum is not finite, and names the body that is farthest out or fastest.
pub fn check_finite(world: &World) -> Result<(), String> {
    let readout = world.readout();
    let finite = readout.kinetic_energy.is_finite()
        && readout.potential_energy.is_finite()
        && readout.momentum.is_finite()
        && readout.angular_momentum.is_finite();
    if finite {
        return Ok(());
    }
    let size = |body: &BodyRef<'_>| {
        [body.position(), body.velocity(), body.angular_velocity()]
            .iter()
            .map(|vector| vector.abs().max_element())
            .fold(0.0, f64::max)
    };
    let worst = world.iter_bodies().max_by(|a, b| size(a).total_cmp(&size(b)));
    let body = worst.map_or_else(String::new, |body| {
        let (name, place, velocity) = (shown_body(&body), body.position(), body.velocity());
        format!("; {name} is at {place} m and moves at {velocity} m/s")
    });
    Err(format!(
        "energy or momentum at t = {} s is not finite: kinetic {} J, potential {} J{body}",
        world.time(),
        readout.kinetic_energy,
        readout.potential_energy
    ))
}

/// Replaces world and simulator by those of a snapshot.
fn resume(built: &mut BuiltScene, path: &Path, registry: &Registry) -> Result<(), Failure> {
    let named = |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| named(&error))?;
    (built.world, built.simulator) = World::restore_with(&bytes, registry).map_err(|error| named(&error))?;
    Ok(())
}

/// Replaces the simulator or its integrator, by the options.
fn choose_simulator(built: &mut BuiltScene, options: &Run, registry: &Registry) -> Result<(), Failure> {
    if options.simulator.is_none() && options.integrator.is_none() {
        return Ok(());
    }
    let mut properties = Properties::new();
    if let Some(integrator) = &options.integrator {
        registry.integrators.get(integrator).map_err(Failure::input)?;
        properties.insert("integrator".into(), Value::Text(integrator.clone()));
    }
    // Settings of another simulator or integrator do not apply: it has its defaults.
    let name = options.simulator.clone().unwrap_or_else(|| built.simulator.description().type_name);
    built.simulator = registry.simulators.make(&name, &properties).map_err(Failure::input)?;
    Ok(())
}

/// Number of whole steps that cover the remaining time.
fn step_count(options: &Run, built: &BuiltScene, dt: f64) -> Result<u64, Failure> {
    if !(dt.is_finite() && dt > 0.0) {
        return Err(Failure::Input(format!("the time step must be finite and > 0; got {dt}")));
    }
    let duration = options.duration.unwrap_or(built.duration - built.world.time());
    if !(duration.is_finite() && duration >= 0.0) {
        return Err(Failure::Input(match options.duration {
            Some(duration) => format!("--for must be finite and ≥ 0; got {duration}"),
            None => format!(
                "the saved state is at t = {} s, past the end of the scene at {} s; give the time to simulate: --for SECONDS",
                built.world.time(),
                built.duration
            ),
        }));
    }
    whole_steps(duration, dt)
}

/// (duration, time step), both in s ⇒ number of steps, if not too many.
pub fn whole_steps(duration: f64, dt: f64) -> Result<u64, Failure> {
    // A remainder of a millionth of a step is rounding.
    let steps = (duration / dt - 1e-6).ceil().max(0.0);
    if steps > MAX_STEPS {
        return Err(Failure::Input(format!(
            "{} s in steps of {} s are {steps:e} steps; at most {MAX_STEPS:e} are allowed",
            number(duration, 7),
            number(dt, 7)
        )));
    }
    Ok(steps as u64)
}

/// The chosen channels, or those of the scene, or the energy.
fn channels(options: &Run, built: &BuiltScene) -> Result<Vec<Channel>, Failure> {
    let suggested = if built.plot.is_empty() { vec!["energy".to_owned()] } else { built.plot.clone() };
    let names = if options.channels.is_empty() { &suggested } else { &options.channels };
    names.iter().map(|name| Channel::parse(name.trim(), &built.world).map_err(Failure::input)).collect()
}

/// Refuses a plot that could not be saved, before the run begins.
pub fn check_plot_path(path: &Path) -> Result<(), Failure> {
    let known = path
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("png") || ext.eq_ignore_ascii_case("svg"));
    if !known {
        return Err(Failure::Input(format!("{}: plots are saved as .png or .svg", path.display())));
    }
    check_folder(path)
}

pub fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() {
        return Ok(());
    }
    Err(Failure::Input(format!("{}: there is no folder {}", path.display(), folder.display())))
}

/// A flag that Ctrl-C sets.
pub fn interruption() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    stop
}

/// The loop of a run with its outputs.
struct RunLoop {
    recorder: Option<Record>,
    watch: Option<Watch>,
    tally: Tally,
    stop: Arc<AtomicBool>,
    progress: Progress,
    every: u64,
}

impl RunLoop {
    /// Takes all steps, or those until it is stopped.
    fn step_all(
        &mut self,
        world: &mut World,
        simulator: &mut dyn Simulator,
        dt: f64,
        steps: u64,
    ) -> Result<(), Failure> {
        self.sample(world, simulator, 0, true);
        for step in 1..=steps {
            if self.stop.load(Ordering::Relaxed) {
                self.sample(world, simulator, step - 1, true);
                return Ok(());
            }
            if let Err(error) = simulator.step(world, dt) {
                self.sample(world, simulator, step - 1, true);
                return Err(Failure::Failed(world.with_names(&error.to_string())));
            }
            self.tally.count(world);
            self.sample(world, simulator, step, step == steps);
            self.progress.show(step);
        }
        Ok(())
    }

    /// Records and samples every so many steps; always the first and the last state.
    fn sample(&mut self, world: &World, simulator: &dyn Simulator, step: u64, always: bool) {
        let due = |stride: u64| step.is_multiple_of(stride);
        let record = self.recorder.as_mut().filter(|_| due(self.every) || always);
        let watch = self.watch.as_mut().filter(|watch| due(watch.stride) || always);
        if record.is_none() && watch.is_none() {
            return;
        }
        let readout = world.readout();
        if let Some(recorder) = record {
            recorder.record(world, &readout, simulator);
        }
        if let Some(watch) = watch {
            watch.sample(world, &readout);
        }
    }
}

/// Writes all outputs ⇒ counters of the run, and a description of each output.
fn keep(options: &Run, run_loop: RunLoop, built: &BuiltScene) -> Result<(Tally, Vec<String>), Failure> {
    let mut files = Vec::new();
    // If the recording failed, plot and state are saved all the same.
    let recorded = run_loop.recorder.map(Record::finish);
    if let Some(Ok(written)) = &recorded {
        files.push(written.clone());
    }
    if let (Some(watch), Some(path)) = (run_loop.watch, &options.plot) {
        watch.chart(&built.title).save(path).map_err(Failure::failed)?;
        files.push(path.display().to_string());
    }
    if let Some(path) = &options.save {
        let bytes = built.world.snapshot_with(&*built.simulator).map_err(Failure::failed)?;
        save(path, &bytes).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        files.push(path.display().to_string());
    }
    if let Some(Err(failure)) = recorded {
        return Err(failure);
    }
    Ok((run_loop.tally, files))
}

/// Writes to a temporary file first, so that an old snapshot is replaced only by a complete one.
fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    std::fs::write(&partial, bytes)?;
    std::fs::rename(&partial, path)
}

/// Simulator ⇒ its name and integrator.
fn describe(simulator: &dyn Simulator) -> String {
    let description = simulator.description();
    match description.properties.get("integrator") {
        Some(Value::Text(integrator)) => format!("{}, integrator {integrator}", description.type_name),
        _ => description.type_name,
    }
}

/// A progress bar on stderr, if that is a terminal.
struct Progress {
    steps: u64,
    began: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(steps: u64, quiet: bool) -> Self {
        let wanted = !quiet && io::stderr().is_terminal();
        Self { steps, began: Instant::now(), wanted, bar: None }
    }

    fn show(&mut self, step: u64) {
        // Reading the clock costs time: every 64 steps is enough.
        if !self.wanted || !step.is_multiple_of(64) {
            return;
        }
        if self.bar.is_none() && self.began.elapsed() > PROGRESS_AFTER {
            let style = ProgressStyle::with_template("{bar:40} {percent}% of {len} steps, {eta} left");
            let bar = ProgressBar::new(self.steps);
            self.bar = Some(style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style)));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(step);
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
