//! `gate`: the stochastic matrix of gates on a feeder track, and the best sequence of them.

use crate::arguments::{GateOptions, TransportKind};
use crate::failure::Failure;
use crate::mesh;
use crate::poses::{read_part, rests_on};
use crate::run::{check_folder, check_plot_path};
use crate::table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::Registry;
use rattleback_lab::gate::{
    Gate, GateMatrix, GateTrack, Goal, Sequence, TrackSettings, Transport, best_sequences, parse_gates,
};
use rattleback_lab::plot::{Chart, Panel, Series};
use rattleback_lab::poses::{Landscape, Part, wilson};
use serde::Serialize;
use std::io::Write;

/// Matrices are printed for at most so many gates.
const PRINTED: usize = 6;
/// Sequences that are printed.
const ANSWERS: usize = 8;

/// A gate text and the gates it stands for.
struct Family {
    text: String,
    swept: Option<&'static str>,
    /// Gate, value of the first range, number of the matrix.
    gates: Vec<(Gate, f64, usize)>,
}

/// Everything that is written as JSON.
#[derive(Serialize)]
struct Output<'a> {
    settings: &'a TrackSettings,
    input: &'a [f64],
    matrices: &'a [GateMatrix],
    shares: Vec<Vec<Vec<f64>>>,
    sequences: &'a [Sequence],
}

/// Measures gates, prints, and writes what is asked for.
pub fn gate(options: &GateOptions, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let part = read_part(&options.part)?;
    let landscape =
        Landscape::of(&part, options.part.smooth).map_err(|error| mesh::blame(&options.part.mesh, &error))?;
    let settings = settings(options, &part);
    let poses = landscape.poses.len();
    let entry = entry(options, &landscape)?;
    let wanted = wanted(options, poses)?;
    if !(options.purity >= 0.0 && options.purity <= 100.0) {
        return Err(Failure::Input(format!("--purity must be from 0 to 100; got {}", options.purity)));
    }
    if let Some(path) = &options.plot {
        check_plot_path(path)?;
    }
    if let Some(path) = &options.json {
        check_folder(path)?;
    }
    let (mut families, mut all) = (Vec::new(), Vec::new());
    for text in &options.gate {
        let (gates, swept) = parse_gates(text).map_err(Failure::input)?;
        let gates = gates.into_iter().map(|(gate, value)| {
            all.push(gate);
            (gate, value, all.len() - 1)
        });
        families.push(Family { text: text.clone(), swept, gates: gates.collect() });
    }
    if options.plot.is_some() && families.iter().all(|family| family.swept.is_none()) {
        return Err(Failure::Input(
            "--plot needs a gate with a range, such as bar:clearance=0.01..0.02/5".into(),
        ));
    }
    let matrices = matrices(options, &part, &landscape, &settings, &all, registry)?;
    print_poses(options, &part, &landscape, &entry, out)?;
    for matrix in matrices.iter().take(if all.len() <= PRINTED { PRINTED } else { 0 }) {
        print_matrix(matrix, &settings, out)?;
    }
    print_summary(&matrices, &entry, &wanted, out)?;
    let sequences = options.search.map_or_else(Vec::new, |most| {
        let goal = Goal { wanted: wanted.clone(), purity: 0.01 * options.purity };
        best_sequences(&matrices, &entry, most as usize, &goal, ANSWERS)
    });
    if !sequences.is_empty() {
        print_sequences(&sequences, &matrices, options, out)?;
    }
    if let Some(path) = &options.plot {
        chart(&families, &matrices, &entry, &wanted, options).save(path)?;
        writeln!(out, "written {}", path.display())?;
    }
    if let Some(path) = &options.json {
        let output = Output {
            settings: &settings,
            input: &entry,
            shares: matrices.iter().map(GateMatrix::shares).collect(),
            matrices: &matrices,
            sequences: &sequences,
        };
        let text = serde_json::to_string_pretty(&output).map_err(Failure::failed)?;
        std::fs::write(path, text)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "written {}", path.display())?;
    }
    Ok(())
}

fn settings(options: &GateOptions, part: &Part) -> TrackSettings {
    let transport = match options.transport {
        TransportKind::Conveyor => Transport::Conveyor { speed: options.speed },
        TransportKind::Gravity => Transport::Gravity { incline: options.incline },
        TransportKind::Vibratory => Transport::Vibratory {
            amplitude: options.amplitude,
            frequency: options.frequency,
            angle: options.vibration_angle,
        },
    };
    let default = TrackSettings::for_size(part.size());
    TrackSettings {
        transport,
        width: options.width.unwrap_or(default.width),
        offset: options.offset.unwrap_or(default.offset),
        friction: options.mu,
        restitution: options.e,
        headings: options.headings as usize,
        simulator: options.simulator.clone(),
        dt: options.dt,
        seed: options.seed,
        ..default
    }
}

/// Shares of the states that come; headings are uniform.
fn entry(options: &GateOptions, landscape: &Landscape) -> Result<Vec<f64>, Failure> {
    let poses = landscape.poses.len();
    let shares: Vec<f64> = if options.input.is_empty() {
        landscape.poses.iter().map(|pose| pose.quasi_static).collect()
    } else {
        options.input.clone()
    };
    let total: f64 = shares.iter().sum();
    if shares.len() != poses || shares.iter().any(|p| !(*p >= 0.0 && p.is_finite())) || total <= 0.0 {
        return Err(Failure::Input(format!(
            "--input needs a share ≥ 0 for each of the {poses} poses, such as {}",
            vec!["1"; poses].join(",")
        )));
    }
    let headings = options.headings as usize;
    Ok(shares.iter().flat_map(|p| std::iter::repeat_n(p / total / headings as f64, headings)).collect())
}

/// Numbers of poses ⇒ states.
fn wanted(options: &GateOptions, poses: usize) -> Result<Vec<usize>, Failure> {
    let headings = options.headings as usize;
    if let Some(wrong) = options.want.iter().find(|pose| !(1..=poses).contains(pose)) {
        return Err(Failure::Input(format!(
            "--want: there is no pose {wrong}; the part has poses 1 to {poses}"
        )));
    }
    Ok(options.want.iter().flat_map(|pose| (pose - 1) * headings..pose * headings).collect())
}

fn matrices(
    options: &GateOptions,
    part: &Part,
    landscape: &Landscape,
    settings: &TrackSettings,
    gates: &[Gate],
    registry: &Registry,
) -> Result<Vec<GateMatrix>, Failure> {
    let threads = options.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, Into::into),
        |threads| threads as usize,
    );
    let bar = ProgressBar::new(gates.len() as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} gates, {eta} left");
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    let matrices = gates.iter().map(|gate| {
        let track = GateTrack::new(part, landscape, *gate, settings, registry).map_err(Failure::input)?;
        let matrix = track.matrix(options.trials as usize, threads).map_err(Failure::failed);
        bar.inc(1);
        matrix
    });
    let matrices = matrices.collect();
    bar.finish_and_clear();
    matrices
}

fn print_poses(
    options: &GateOptions,
    part: &Part,
    landscape: &Landscape,
    entry: &[f64],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(
        out,
        "{}: {:.1} mm, {} stable poses; {} transport, μ = {}, e = {}, {} passages from each state, seed {}",
        options.part.mesh.display(),
        1e3 * part.size(),
        landscape.poses.len(),
        match options.transport {
            TransportKind::Conveyor => "conveyor",
            TransportKind::Gravity => "gravity",
            TransportKind::Vibratory => "vibratory",
        },
        options.mu,
        options.e,
        options.trials,
        options.seed
    )?;
    let headings = options.headings as usize;
    let mut table = Table::new(&["pose", "centre of mass, mm", "rests on", "comes, %"], &[0, 1, 3]);
    for (at, pose) in landscape.poses.iter().enumerate() {
        let share: f64 = entry[at * headings..(at + 1) * headings].iter().sum();
        table.row(vec![
            (at + 1).to_string(),
            format!("{:.2}", 1e3 * pose.height),
            rests_on(pose),
            format!("{:.1}", 100.0 * share),
        ]);
    }
    Ok(table.write(out)?)
}

/// `2`, or `2/0` with a sector of the heading.
fn state_name(state: usize, headings: usize) -> String {
    if headings == 1 {
        (state + 1).to_string()
    } else {
        format!("{}/{}", state / headings + 1, state % headings)
    }
}

fn print_matrix(matrix: &GateMatrix, settings: &TrackSettings, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "\n{}: percent of the parts in each row, with 95 % intervals", matrix.gate)?;
    let states = matrix.states();
    let mut header = vec!["from \\ to".to_owned()];
    header.extend((0..states).map(|state| state_name(state, settings.headings)));
    header.extend(["rejected".to_owned(), "stuck".to_owned()]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    for (from, (row, intervals)) in matrix.shares().iter().zip(&matrix.intervals).enumerate() {
        let mut cells = vec![state_name(from, settings.headings)];
        cells.extend(
            row.iter().zip(intervals).map(|(p, (low, high))| {
                format!("{:.1} [{:.1}, {:.1}]", 100.0 * p, 100.0 * low, 100.0 * high)
            }),
        );
        table.row(cells);
    }
    Ok(table.write(out)?)
}

/// Shares behind a gate, with the interval that independent parts of this mixture would have.
fn behind(matrix: &GateMatrix, entry: &[f64]) -> Vec<(f64, f64, f64)> {
    let shares = matrix.shares();
    let columns = matrix.states() + 2;
    (0..columns)
        .map(|column| {
            let p: f64 = entry.iter().zip(&shares).map(|(share, row)| share * row[column]).sum();
            // Rows are counted independently: variances add.
            let variance: f64 = entry
                .iter()
                .zip(&matrix.counts)
                .map(|(share, row)| {
                    let n: f64 = row.iter().sum();
                    let (low, high) = wilson(row[column], n, 0.95);
                    (share * 0.5 * (high - low)).powi(2)
                })
                .sum();
            let half = variance.sqrt();
            (p, (p - half).max(0.0), (p + half).min(1.0))
        })
        .collect()
}

fn print_summary(
    matrices: &[GateMatrix],
    entry: &[f64],
    wanted: &[usize],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out)?;
    let mut table = Table::new(
        &["gate", "wanted, %", "others, %", "rejected, %", "stuck, %", "purity, %"],
        &[1, 2, 3, 4, 5],
    );
    for matrix in matrices {
        let (shares, states) = (behind(matrix, entry), matrix.states());
        let delivered: f64 = wanted.iter().map(|state| shares[*state].0).sum();
        let left: f64 = shares[..states].iter().map(|share| share.0).sum();
        let percent = |p: f64| format!("{:.1}", 100.0 * p);
        table.row(vec![
            matrix.gate.to_string(),
            percent(delivered),
            percent(left - delivered),
            percent(shares[states].0),
            percent(shares[states + 1].0),
            if left > 0.0 { percent(delivered / left) } else { "-".into() },
        ]);
    }
    Ok(table.write(out)?)
}

fn print_sequences(
    sequences: &[Sequence],
    matrices: &[GateMatrix],
    options: &GateOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(
        out,
        "\nsequences with a purity of at least {} %, by the share of all parts that they deliver in pose {}; 95 % intervals",
        options.purity,
        options.want.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
    )?;
    let mut table =
        Table::new(&["delivered, %", "purity, %", "rejected, %", "stuck, %", "gates"], &[0, 1, 2, 3]);
    let with = |p: f64, (low, high): (f64, f64)| {
        format!("{:.1} [{:.1}, {:.1}]", 100.0 * p, 100.0 * low, 100.0 * high)
    };
    for sequence in sequences {
        let gates: Vec<String> = sequence.gates.iter().map(|gate| matrices[*gate].gate.to_string()).collect();
        table.row(vec![
            with(sequence.delivered, sequence.delivered_interval),
            with(sequence.purity, sequence.purity_interval),
            format!("{:.1}", 100.0 * sequence.lost.0),
            format!("{:.1}", 100.0 * sequence.lost.1),
            if gates.is_empty() { "no gate".into() } else { gates.join(" → ") },
        ]);
    }
    Ok(table.write(out)?)
}

/// A panel for each gate with a range: what leaves over its first range.
fn chart(
    families: &[Family],
    matrices: &[GateMatrix],
    entry: &[f64],
    wanted: &[usize],
    options: &GateOptions,
) -> Chart {
    let headings = options.headings as usize;
    let swept: Vec<&Family> = families.iter().filter(|family| family.swept.is_some()).collect();
    let panels = swept.iter().map(|family| {
        let curve = |name: String, columns: Vec<usize>| {
            let mut points = Vec::new();
            let mut bars = Vec::new();
            for (_, x, matrix) in &family.gates {
                let shares = behind(&matrices[*matrix], entry);
                let p: f64 = columns.iter().map(|column| shares[*column].0).sum();
                let half =
                    columns.iter().map(|c| (0.5 * (shares[*c].2 - shares[*c].1)).powi(2)).sum::<f64>().sqrt();
                points.push((*x, 100.0 * p));
                bars.extend([(f64::NAN, f64::NAN), (*x, 100.0 * (p - half)), (*x, 100.0 * (p + half))]);
            }
            points.extend(bars);
            Series { name, points }
        };
        let states = matrices[0].states();
        let poses = states / headings;
        let mut series: Vec<Series> = (0..poses)
            .take(5)
            .map(|pose| {
                let mark = if wanted.contains(&(pose * headings)) { " (wanted)" } else { "" };
                curve(format!("pose {}{mark}", pose + 1), (pose * headings..(pose + 1) * headings).collect())
            })
            .collect();
        series.push(curve("rejected".into(), vec![states]));
        series.push(curve("stuck".into(), vec![states + 1]));
        Panel { y_label: format!("{} (% of parts)", family.text), series, log_y: false }
    });
    let name = swept.first().and_then(|family| family.swept).unwrap_or_default();
    let unit = if name == "angle" { "°" } else { "m" };
    Chart {
        title: "What leaves a gate".into(),
        x_label: format!("{name} ({unit})"),
        panels: panels.take(12).collect(),
    }
}
