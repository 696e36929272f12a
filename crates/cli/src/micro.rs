//! `array` and `stepper`: feed velocities of micro-actuators over their design parameters.

use crate::arguments::{ArrayOptions, MicroOptions, TilingKind, TipsKind};
use crate::failure::Failure;
use crate::run::{check_folder, check_plot_path};
use crate::table::{Table, number};
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::Registry;
use rattleback_lab::micro::{
    ActuatorArray, Design, Feed, Machine, MicroError, Stepper, Tiling, Tips, designs, measure,
};
use rattleback_lab::plot::{Chart, Panel, Series};
use rattleback_lab::poses::student_quantile;
use serde::Serialize;
use std::io::Write;

/// Curves of a plot at most.
const CURVES: usize = 10;

/// Designs that differ by numbers only.
struct Group<M> {
    name: String,
    designs: Vec<M>,
    feeds: Vec<Feed>,
}

/// Everything that is written as JSON.
#[derive(Serialize)]
struct Row<'a, M> {
    design: &'a M,
    feed: &'a Feed,
}

/// Feed velocities of arrays of torsional resonators.
pub fn array(options: &ArrayOptions, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let mut groups = Vec::new();
    for tiling in &options.tiling {
        for tips in &options.tips {
            let base = ActuatorArray {
                tiling: match tiling {
                    TilingKind::Uniform => Tiling::Uniform,
                    TilingKind::Checkered => Tiling::Checkered,
                    TilingKind::Brick => Tiling::Brick,
                    TilingKind::Squeeze => Tiling::Squeeze,
                },
                tips: match tips {
                    TipsKind::One => Tips::One,
                    TipsKind::Both => Tips::Both,
                },
                ..ActuatorArray::default()
            };
            let side = if base.tips == Tips::One { "one side" } else { "both sides" };
            groups.push((format!("{}, {side}", base.tiling.name()), base));
        }
    }
    let Some(groups) = run(&options.micro, groups, registry, out)? else { return Ok(()) };
    if let Some(ActuatorArray { columns, rows, pitch, .. }) = groups.first().and_then(|g| g.designs.first()) {
        writeln!(
            out,
            "{} plates on {} mm by {} mm; mean velocities of {} runs from random places and headings, with 95 % intervals",
            columns * rows,
            number(1e3 * columns * pitch, 3),
            number(1e3 * rows * pitch, 3),
            options.micro.runs
        )?;
    }
    let varied = varied(&groups);
    let mut header: Vec<String> = vec!["tiling, tips".into()];
    header.extend(varied.iter().map(|&p| named::<ActuatorArray>(p)));
    header.extend(["along x, mm/s", "along y, mm/s", "turning, °/s", "left", "failed"].map(String::from));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for group in &groups {
        for (design, feed) in group.designs.iter().zip(&group.feeds) {
            let mut cells = vec![group.name.clone()];
            cells.extend(varied.iter().map(|&p| number(design.value(p), 4)));
            cells.extend([with_interval(feed, 0, 1e3), with_interval(feed, 1, 1e3)]);
            cells.push(with_interval(feed, 2, 1f64.to_degrees()));
            cells.push(feed.runs.iter().filter(|run| run.left).count().to_string());
            cells.push(feed.failed.to_string());
            table.row(cells);
        }
    }
    table.write(out)?;
    print_differences(&groups, &varied, out)?;
    finish(&options.micro, &groups, &varied, "Actuator array", ("feed along x (mm/s)", 1e3), out)
}

/// Steps of an impact-driven slider.
pub fn stepper(options: &MicroOptions, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let groups = vec![("slider".to_owned(), Stepper::default())];
    let Some(groups) = run(options, groups, registry, out)? else { return Ok(()) };
    writeln!(out, "mean of {} runs, with 95 % intervals; a step is the way of one period", options.runs)?;
    let varied = varied(&groups);
    let mut header: Vec<String> = varied.iter().map(|&p| named::<Stepper>(p)).collect();
    header.extend(["speed, mm/s", "step, µm", "one impact, µm", "left", "failed"].map(String::from));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, &[0, 1, 2, 3, 4, 5, 6, 7]);
    for group in &groups {
        for (design, feed) in group.designs.iter().zip(&group.feeds) {
            let mut cells: Vec<String> = varied.iter().map(|&p| number(design.value(p), 4)).collect();
            cells.push(with_interval(feed, 0, 1e3));
            cells.push(with_interval(feed, 0, 1e6 / design.frequency));
            cells.push(design.single_step().map_or_else(|| "-".into(), |step| number(1e6 * step, 3)));
            cells.push(feed.runs.iter().filter(|run| run.left).count().to_string());
            cells.push(feed.failed.to_string());
            table.row(cells);
        }
    }
    table.write(out)?;
    finish(options, &groups, &varied, "Stepper", ("speed (mm/s)", 1e3), out)
}

/// Designs of every group ⇒ their feeds; none if only the parameters were asked for.
fn run<M: Machine>(
    options: &MicroOptions,
    groups: Vec<(String, M)>,
    registry: &Registry,
    out: &mut dyn Write,
) -> Result<Option<Vec<Group<M>>>, Failure> {
    if options.parameters {
        let base = groups.first().map(|(_, base)| base);
        let mut table = Table::new(&["parameter", "default", "unit", "from", "to", "is"], &[1, 3, 4]);
        for (i, p) in M::parameters().iter().enumerate() {
            let (low, high) = p.range;
            let default = base.map_or_else(String::new, |base| number(base.value(i), 4));
            let limits = [number(low, 3), number(high, 3)];
            let [low, high] = limits;
            table.row(vec![p.name.into(), default, p.unit.into(), low, high, p.is.into()]);
        }
        table.write(out)?;
        return Ok(None);
    }
    if let Some(path) = &options.plot {
        check_plot_path(path)?;
    }
    if let Some(path) = &options.json {
        check_folder(path)?;
    }
    let refused = |error: MicroError| match error {
        MicroError::Simulator(_) => Failure::failed(error),
        _ => Failure::input(error),
    };
    let mut all = Vec::new();
    for (name, base) in groups {
        all.push(Group { name, designs: designs(&base, &options.set).map_err(refused)?, feeds: Vec::new() });
    }
    let varies = all.first().is_some_and(|group| group.designs.len() > 1);
    if options.plot.is_some() && !varies {
        return Err(Failure::Input("--plot needs a range, such as --set tilt=1..4/4".into()));
    }
    let runs = options.runs as usize;
    let threads = options.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, Into::into),
        |threads| threads as usize,
    );
    let bar = ProgressBar::new(all.iter().map(|group| group.designs.len() * runs).sum::<usize>() as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} left");
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    for group in &mut all {
        let feeds = measure(&group.designs, runs, options.seed, threads, registry, |_| bar.inc(1));
        group.feeds = feeds.map_err(refused)?;
    }
    bar.finish_and_clear();
    Ok(Some(all))
}

/// Parameters that differ between designs of a group.
fn varied<M: Design>(groups: &[Group<M>]) -> Vec<usize> {
    let Some(designs) = groups.first().map(|group| &group.designs) else { return Vec::new() };
    let Some(first) = designs.first() else { return Vec::new() };
    let differs = |p: &usize| designs.iter().any(|design| design.value(*p) != first.value(*p));
    (0..M::parameters().len()).filter(differs).collect()
}

/// `tilt, deg`.
fn named<M: Design>(parameter: usize) -> String {
    let parameter = &M::parameters()[parameter];
    if parameter.unit.is_empty() {
        parameter.name.into()
    } else {
        format!("{}, {}", parameter.name, parameter.unit)
    }
}

fn with_interval(feed: &Feed, k: usize, unit: f64) -> String {
    let mean = number(unit * feed.mean[k], 3);
    match feed.interval {
        Some(interval) => {
            let (low, high) = interval[k];
            format!("{mean} [{}, {}]", number(unit * low, 3), number(unit * high, 3))
        }
        None => mean,
    }
}

/// Runs of all groups have the same starts: differences from the first group, run by run.
fn print_differences(
    groups: &[Group<ActuatorArray>],
    varied: &[usize],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some((first, others)) = groups.split_first() else { return Ok(()) };
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "\ndifferences of the feed along x from `{}`, same starts", first.name)?;
    let mut header: Vec<String> = vec!["tiling, tips".into()];
    header.extend(varied.iter().map(|&p| named::<ActuatorArray>(p)));
    header.push("difference, mm/s".into());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for group in others {
        for ((design, feed), base) in group.designs.iter().zip(&group.feeds).zip(&first.feeds) {
            let mut cells = vec![group.name.clone()];
            cells.extend(varied.iter().map(|&p| number(design.value(p), 4)));
            // Failed runs leave no pairs.
            cells.push(if feed.failed + base.failed == 0 {
                let differences: Vec<f64> =
                    feed.runs.iter().zip(&base.runs).map(|(a, b)| 1e3 * (a.rates[0] - b.rates[0])).collect();
                let n = differences.len() as f64;
                let mean = differences.iter().sum::<f64>() / n;
                let squares: f64 = differences.iter().map(|x| (x - mean).powi(2)).sum();
                if n < 4.0 {
                    number(mean, 3)
                } else {
                    let half = student_quantile(0.975, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
                    let [low, high] = [mean - half, mean + half].map(|x| number(x, 3));
                    format!("{} [{low}, {high}]", number(mean, 3))
                }
            } else {
                "-".into()
            });
            table.row(cells);
        }
    }
    Ok(table.write(out)?)
}

/// Plot and file.
fn finish<M: Machine + Serialize>(
    options: &MicroOptions,
    groups: &[Group<M>],
    varied: &[usize],
    title: &str,
    (y_label, unit): (&str, f64),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let (Some(path), Some(&x)) = (&options.plot, varied.first()) {
        // A curve for each group and each combination of the other parameters.
        let mut series: Vec<Series> = Vec::new();
        for group in groups {
            for (design, feed) in group.designs.iter().zip(&group.feeds) {
                let others: Vec<String> = varied[1..]
                    .iter()
                    .map(|&p| format!("{} = {}", M::parameters()[p].name, number(design.value(p), 3)))
                    .collect();
                let mut name = if groups.len() > 1 { vec![group.name.clone()] } else { Vec::new() };
                name.extend(others);
                let name = if name.is_empty() { group.name.clone() } else { name.join(", ") };
                let at = (design.value(x), unit * feed.mean[0]);
                let half = feed.interval.map_or(0.0, |i| 0.5 * unit * (i[0].1 - i[0].0));
                let bar = [(f64::NAN, f64::NAN), (at.0, at.1 - half), (at.0, at.1 + half)];
                let place = series.iter().position(|s| s.name == name).unwrap_or_else(|| {
                    series.push(Series { name, points: Vec::new() });
                    series.len() - 1
                });
                // Means first, then the bars of the intervals.
                let points = &mut series[place].points;
                let means = points.iter().position(|p| p.0.is_nan()).unwrap_or(points.len());
                points.insert(means, at);
                points.extend(bar);
            }
        }
        series.truncate(CURVES);
        let panel = Panel { y_label: y_label.into(), series, log_y: false };
        Chart { title: title.into(), x_label: named::<M>(x), panels: vec![panel] }.save(path)?;
        writeln!(out, "written {}", path.display())?;
    }
    if let Some(path) = &options.json {
        let rows: Vec<Row<'_, M>> = groups
            .iter()
            .flat_map(|group| {
                group.designs.iter().zip(&group.feeds).map(|(design, feed)| Row { design, feed })
            })
            .collect();
        let text = serde_json::to_string_pretty(&rows).map_err(Failure::failed)?;
        std::fs::write(path, text)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "written {}", path.display())?;
    }
    Ok(())
}
