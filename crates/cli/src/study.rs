//! `study`: parameters of a scene are varied, results are measured.

use crate::arguments::Study;
use crate::failure::Failure;
use crate::resume_file::ResumeFile;
use crate::run::{check_folder, check_plot_path, interruption};
use crate::table::{Table, number};
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::Registry;
use rattleback_lab::study::effects::{chart, effect};
use rattleback_lab::study::{Experiment, StudyError, TrialRecord, write_trials};
use rattleback_scene::{StudyFile, built_in_studies};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// First line of a file of runs.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    rattleback_study: u32,
    /// Hash of study and scene.
    study: String,
    runs: usize,
    seed: u64,
    samples: u32,
    repetitions: u32,
}

/// Runs a study.
pub fn study(options: &Study, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(name) = &options.file else {
        let mut table = Table::headless();
        for study in built_in_studies() {
            table.row(vec![study.name.to_owned(), study.summary.to_owned()]);
        }
        return Ok(table.write(out)?);
    };
    let mut file = StudyFile::open(name).map_err(Failure::input)?;
    file.samples = options.samples.unwrap_or(file.samples);
    file.repetitions = options.repetitions.unwrap_or(file.repetitions);
    file.seed = options.seed.unwrap_or(file.seed);
    for path in &options.table {
        check_table_path(path)?;
    }
    if let Some(path) = &options.plot {
        check_plot_path(path)?;
    }
    let experiment = Experiment::new(file, options.files.access(), registry).map_err(Failure::input)?;
    let records = run(options, &experiment, registry)?;
    print(&experiment, &records, out)?;
    for path in &options.table {
        write_trials(path, &experiment, &records).map_err(Failure::failed)?;
        writeln!(out, "written {} ({} rows)", path.display(), records.len())?;
    }
    if let Some(path) = &options.plot {
        for (parameter, path) in plot_paths(path, &experiment) {
            chart(&experiment, &records, parameter).save(&path)?;
            writeln!(out, "written {}", path.display())?;
        }
    }
    Ok(())
}

fn check_table_path(path: &Path) -> Result<(), Failure> {
    let known = path
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("csv") || ext.eq_ignore_ascii_case("parquet"));
    if !known {
        return Err(Failure::Input(format!("{}: tables are saved as .csv or .parquet", path.display())));
    }
    check_folder(path)
}

/// A plot for each parameter that has more than one value.
fn plot_paths(path: &Path, experiment: &Experiment) -> Vec<(usize, PathBuf)> {
    let parameters = &experiment.study().parameters;
    if parameters.len() < 2 {
        return (0..parameters.len()).map(|parameter| (parameter, path.to_owned())).collect();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let named = |name: &str| path.with_file_name(format!("{stem}-{name}.{extension}"));
    parameters.iter().enumerate().map(|(at, parameter)| (at, named(&parameter.name))).collect()
}

fn run(options: &Study, experiment: &Experiment, registry: &Registry) -> Result<Vec<TrialRecord>, Failure> {
    let study = experiment.study();
    let header = Header {
        rattleback_study: 1,
        study: experiment.fingerprint(),
        runs: experiment.runs(),
        seed: study.seed,
        samples: study.samples,
        repetitions: study.repetitions,
    };
    let is_sound = |record: &TrialRecord| record.results.len() == study.results.len();
    let (mut file, mut records) = match &options.resume {
        Some(path) => {
            let (file, records) = ResumeFile::open(path, &header, "runs", is_sound)?;
            (Some(file), records)
        }
        None => (None, Vec::new()),
    };
    let threads = options.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, Into::into),
        |threads| threads as usize,
    );
    let bar = ProgressBar::new(experiment.runs() as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} left  {msg}");
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    bar.set_position(records.len() as u64);
    bar.reset_eta();
    let (interrupted, mut failure, mut failed) = (interruption(), None, 0);
    let result = experiment.run(threads, &mut records, registry, |record| {
        bar.inc(1);
        if record.error.is_some() {
            failed += 1;
            bar.set_message(format!("{failed} failed"));
        }
        if let Some(file) = &mut file {
            failure = file.append(std::slice::from_ref(record)).err();
        }
        failure.is_none() && !interrupted.load(Ordering::Relaxed)
    });
    bar.finish_and_clear();
    if let Some(failure) = failure {
        return Err(failure);
    }
    if interrupted.load(Ordering::Relaxed) && records.len() < experiment.runs() {
        let count = records.len();
        return Err(Failure::Stopped(match &options.resume {
            Some(path) => format!("{count} runs are kept in {}; run it again to continue", path.display()),
            None => format!("{count} runs are lost; --resume FILE would keep them"),
        }));
    }
    result.map_err(|error| match error {
        StudyError::Scene(error) => Failure::input(error),
        error @ StudyError::AllFailed { .. } => Failure::failed(error),
    })?;
    Ok(records)
}

fn print(experiment: &Experiment, records: &[TrialRecord], out: &mut dyn Write) -> Result<(), Failure> {
    let study = experiment.study();
    let title = if study.title.is_empty() { &study.scene } else { &study.title };
    let failed = records.iter().filter(|record| record.error.is_some()).count();
    write!(out, "{title}: {} runs of {}, seed {}", records.len(), study.scene, study.seed)?;
    writeln!(out, "{}", if failed > 0 { format!(", {failed} failed") } else { String::new() })?;
    if let Some(error) = records.iter().find_map(|record| record.error.as_ref()) {
        writeln!(out, "the first that failed: {error}")?;
    }
    for (result, (name, unit, ..)) in study.results.iter().enumerate() {
        let mut values: Vec<f64> = records.iter().filter_map(|record| record.results[result]).collect();
        values.sort_by(f64::total_cmp);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let shown = |x: f64| number(x, 4);
        let (Some(least), Some(most)) = (values.first(), values.last()) else {
            writeln!(out, "\n{name}: no run has one")?;
            continue;
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        writeln!(
            out,
            "\n{name}: mean {}{unit}, median {}, from {} to {}, {} of {} runs",
            shown(mean),
            shown(values[values.len() / 2]),
            shown(*least),
            shown(*most),
            values.len(),
            records.len()
        )?;
        let mut table =
            Table::new(&["parameter", "explains", "level", "runs", "mean", "± 95 %"], &[1, 2, 3, 4, 5]);
        for (parameter, described) in study.parameters.iter().enumerate() {
            let effect = effect(experiment, records, parameter, result, &|_| true);
            let share = effect.share.map_or_else(|| "-".into(), |share| format!("{:.0} %", 100.0 * share));
            // Long curves are for plots.
            let every = effect.levels.len().div_ceil(10).max(1);
            for (at, level) in effect.levels.iter().enumerate().step_by(every) {
                let half = level.half_width.map_or_else(|| "-".into(), shown);
                let (first, share) = if at == 0 {
                    (described.name.clone(), share.clone())
                } else {
                    (String::new(), String::new())
                };
                let label = level.label.parse().map_or_else(|_| level.label.clone(), shown);
                table.row(vec![first, share, label, level.count.to_string(), shown(level.mean), half]);
            }
        }
        table.write(out)?;
    }
    Ok(())
}
