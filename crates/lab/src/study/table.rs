//! Runs as a table, CSV or Parquet: a row for each run, a column for each parameter and each result.
//!
//! Columns: `run`, `sample`, `repetition`, `seed`, the parameters, the results, `error`. Parameters that are numbers in every run are columns of numbers, all others
//! of text. A result that there is none of is NaN (empty in CSV).

use super::experiment::{Experiment, TrialRecord};
use crate::parquet::{Cell, ColumnType, ParquetWriter};
use crate::record::{RecordError, is_parquet, quoted};
use rattleback_scene::ParameterValues;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes all runs to a file; Parquet if it is called so.
///
/// # Errors
/// Writing failed.
pub fn write_trials(
    path: &Path,
    experiment: &Experiment,
    records: &[TrialRecord],
) -> Result<(), RecordError> {
    let named = |source| RecordError { path: path.to_owned(), source };
    let out = BufWriter::new(File::create(path).map_err(named)?);
    let written =
        if is_parquet(path) { parquet(out, experiment, records) } else { csv(out, experiment, records) };
    written.map_err(named)
}

/// Whether a parameter is a number in every run.
fn numeric(values: &ParameterValues) -> bool {
    match values {
        ParameterValues::List(list) => list.iter().all(|value| value.number().is_some()),
        _ => true,
    }
}

/// Names and types of the columns; names that occur twice get the kind in front.
fn columns(experiment: &Experiment) -> Vec<(String, ColumnType)> {
    let study = experiment.study();
    let mut columns: Vec<(String, ColumnType)> =
        ["run", "sample", "repetition", "seed"].map(|name| (name.to_owned(), ColumnType::Number)).to_vec();
    for parameter in &study.parameters {
        let kind = if numeric(&parameter.values) { ColumnType::Number } else { ColumnType::Text };
        let taken = columns.iter().any(|(name, _)| *name == parameter.name);
        columns.push((
            if taken { format!("parameter.{}", parameter.name) } else { parameter.name.clone() },
            kind,
        ));
    }
    for (name, ..) in &study.results {
        let taken = name == "error" || columns.iter().any(|(other, _)| other == name);
        columns.push((if taken { format!("result.{name}") } else { name.clone() }, ColumnType::Number));
    }
    columns.push(("error".into(), ColumnType::Text));
    columns
}

/// A value of a row.
enum Value {
    Number(f64),
    Text(String),
}

fn row(experiment: &Experiment, record: &TrialRecord) -> Vec<Value> {
    let trial = experiment.trial(record.index);
    let whole = [trial.index as f64, trial.sample as f64, trial.repetition as f64, trial.seed as f64];
    let mut row: Vec<Value> = whole.map(Value::Number).into();
    for (parameter, value) in experiment.study().parameters.iter().zip(&trial.values) {
        row.push(match value.number() {
            Some(x) if numeric(&parameter.values) => Value::Number(x),
            _ => Value::Text(value.to_string()),
        });
    }
    row.extend(record.results.iter().map(|result| Value::Number(result.unwrap_or(f64::NAN))));
    row.push(Value::Text(record.error.clone().unwrap_or_default()));
    row
}

fn csv(mut out: impl Write, experiment: &Experiment, records: &[TrialRecord]) -> io::Result<()> {
    let names: Vec<String> = columns(experiment).iter().map(|(name, _)| quoted(name).into_owned()).collect();
    writeln!(out, "{}", names.join(","))?;
    for record in records {
        let cells = row(experiment, record).into_iter().map(|value| match value {
            Value::Number(x) if x.is_nan() => String::new(),
            Value::Number(x) => x.to_string(),
            Value::Text(text) => quoted(&text).into_owned(),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
    }
    out.flush()
}

fn parquet(out: impl Write, experiment: &Experiment, records: &[TrialRecord]) -> io::Result<()> {
    let columns = columns(experiment);
    let columns: Vec<(&str, ColumnType)> =
        columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let mut writer = ParquetWriter::new(out, &columns)?;
    for record in records {
        let row = row(experiment, record);
        let cells: Vec<Cell<'_>> = row
            .iter()
            .map(|value| match value {
                Value::Number(x) => Cell::Number(*x),
                Value::Text(text) => Cell::Text(text),
            })
            .collect();
        writer.row(&cells)?;
    }
    writer.finish().map(|_| ())
}
