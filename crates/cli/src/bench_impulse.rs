//! `bench impulse`: the scenes of the event-driven simulator and their speed relative to real time.

use crate::arguments::BenchImpulse;
use crate::failure::Failure;
use crate::table::{Table, number};
use rattleback_dynamics::Registry;
use rattleback_lab::impulse_scenes::{SCENES, measure};
use rattleback_lab::plot::{Chart, Panel, Series};
use std::io::Write;
use std::time::Duration;

/// Goal of every scene: simulated seconds per second.
const GOAL: f64 = 20.0;

/// Computing times below this are too coarse in the system's count, s.
const TICKS: f64 = 0.02;

/// Measures, prints, and draws with `--plot`.
pub fn impulse(options: &BenchImpulse, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let header = [
        "scene",
        "simulated s",
        "computed s",
        "× real time",
        "checks",
        "collisions",
        "micro",
        "at rest",
        "stalled",
        "smallest gap m",
        "published slowdown",
        "goal",
    ];
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let mut panels = Vec::new();
    for scene in SCENES.iter().filter(|scene| scene.name.contains(&options.filter)) {
        let patience = Duration::from_secs(options.patience);
        let cost = measure(scene.name, scene.duration, patience, options.threads, registry)
            .map_err(Failure::failed)?;
        // The system counts in ticks: short times are taken from the wall clock.
        let computed = if cost.computed < TICKS { cost.wall } else { cost.computed };
        let speed = cost.simulated / computed;
        let cut = if cost.simulated < 0.999 * scene.duration { " (cut)" } else { "" };
        table.row(vec![
            scene.name.into(),
            format!("{}{cut}", number(cost.simulated, 4)),
            number(computed, 3),
            number(speed, 3),
            cost.checks.to_string(),
            cost.collisions.to_string(),
            cost.microcollisions.to_string(),
            cost.rested.to_string(),
            cost.stalled.to_string(),
            number(cost.smallest_gap, 2),
            number(scene.slowdown, 3),
            if speed >= GOAL { "reached" } else { "missed" }.into(),
        ]);
        panels.push(Panel {
            y_label: format!("{}, checks/s", scene.name),
            series: vec![Series { name: String::new(), points: cost.check_rate }],
            log_y: true,
        });
    }
    if panels.is_empty() {
        let known: Vec<_> = SCENES.iter().map(|scene| scene.name).collect();
        return Err(Failure::Input(format!(
            "no scene is called `{}`; there are: {}",
            options.filter,
            known.join(", ")
        )));
    }
    table.write(out)?;
    writeln!(
        out,
        "{} thread(s); the goal is {GOAL} simulated seconds per second. Published: computed over simulated time on a workstation of 200 MHz.",
        options.threads
    )?;
    if let Some(path) = &options.plot {
        let chart = Chart {
            title: "Collision checks per simulated second".into(),
            x_label: "time (s)".into(),
            panels,
        };
        chart.save(path).map_err(Failure::failed)?;
        writeln!(out, "written {}", path.display())?;
    }
    Ok(())
}
