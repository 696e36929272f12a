//! `bowling`: straight balls against hooks.

use crate::arguments::Bowling;
use crate::failure::Failure;
use crate::table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_lab::bowling::{Report, experiment};
use rattleback_lab::plot::{Chart, Panel, Series};
use std::io::Write;

/// By how many pins the hook should be better between the head pin and the next to its right.
const EXPECTED_ADVANTAGE: f64 = 0.5;

/// Throws, prints, and draws with `--plot`.
pub fn bowling(options: &Bowling, out: &mut dyn Write) -> Result<(), Failure> {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} throws, {eta} left");
    let bar = ProgressBar::new(2 * u64::from(options.throws));
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    let report = experiment(options.throws, options.seed, options.threads as usize, &|| bar.inc(1));
    bar.finish_and_clear();
    let report = report.map_err(Failure::failed)?;

    let mut table = Table::new(&["x, mm", "straight", "hook"], &[0, 1, 2]);
    let shown = |mean: Option<f64>| mean.map_or_else(|| "-".into(), |mean| format!("{mean:.2}"));
    for bin in report.bins() {
        table.row(vec![format!("{:+.1}", 1e3 * bin.x), shown(bin.straight), shown(bin.hook)]);
    }
    writeln!(
        out,
        "{} straight balls and {} hooks, seed {}: mean number of felled pins over where the ball crosses the pin line",
        options.throws, options.throws, options.seed
    )?;
    table.write(out)?;
    verdict(&report, out)?;
    if let Some(path) = &options.plot {
        chart(&report).save(path).map_err(Failure::failed)?;
        writeln!(out, "written {}", path.display())?;
    }
    Ok(())
}

fn verdict(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some((straight, hook)) = report.means(0.06, 0.12) {
        let advantage = hook - straight;
        writeln!(
            out,
            "+6 to +12 cm: straight {straight:.2}, hook {hook:.2}: the hook fells {advantage:+.2} pins ({})",
            if advantage >= EXPECTED_ADVANTAGE { "as expected" } else { "expected at least +0.5" }
        )?;
    }
    let both: Vec<(f64, f64)> =
        report.bins().iter().filter_map(|bin| Some((bin.straight?, bin.hook?))).collect();
    let better = both.iter().filter(|(straight, hook)| hook >= straight).count();
    writeln!(out, "the hook is at least as good in {better} of {} bins", both.len())?;
    let side = [report.means(-0.08, -0.03), report.means(0.03, 0.08)];
    if let (Some(centre), [Some(left), Some(right)]) = (report.means(-0.01, 0.01), side) {
        writeln!(
            out,
            "straight balls: {:.2} within 1 cm of the middle, {:.2} at 3 to 8 cm on the left, {:.2} on the right",
            centre.0, left.0, right.0
        )?;
    }
    Ok(())
}

fn chart(report: &Report) -> Chart {
    let bins = report.bins();
    let series = |name: &str, pick: &dyn Fn(&rattleback_lab::bowling::Bin) -> Option<f64>| Series {
        name: name.into(),
        points: bins.iter().filter_map(|bin| Some((100.0 * bin.x, pick(bin)?))).collect(),
    };
    Chart {
        title: "Straight balls and hooks".into(),
        x_label: "ball at the pin line (cm right of the head pin)".into(),
        panels: vec![Panel {
            y_label: "mean felled pins".into(),
            series: vec![series("hook", &|bin| bin.hook), series("straight", &|bin| bin.straight)],
            log_y: false,
        }],
    }
}
