//! `validate`: the physics checks as tables.

use crate::accuracy_report;
use crate::arguments::Validate;
use crate::failure::Failure;
use crate::run::check_folder;
use crate::table::{Table, number};
use rattleback_dynamics::Registry;
use rattleback_lab::contact::{self, CLASSES, Row, Study, chart};
use rattleback_lab::validate::{CASES, Check, matching};
use serde::Serialize;
use std::io::Write;

/// A row of the JSON output: one of both kinds.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Check(&'a Check),
    Sampled(&'a Row),
}

/// Runs the cases and classes that match the filter; fails if any check does.
pub fn validate(options: &Validate, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let cases: Vec<_> = if options.list {
        CASES.iter().filter(|case| case.name.contains(options.filter.as_str())).collect()
    } else {
        matching(&options.filter).collect()
    };
    // Samples take long: they run only if the filter names them.
    let classes: Vec<_> =
        contact::matching(&options.filter).filter(|_| !options.filter.is_empty() || options.list).collect();
    if cases.is_empty() && classes.is_empty() {
        let names = CASES.iter().map(|case| case.name).chain(CLASSES.iter().map(|class| class.name));
        let names: Vec<_> = names.collect();
        return Err(Failure::Input(format!(
            "no case has `{}` in its name; cases: {}",
            options.filter,
            names.join(", ")
        )));
    }
    if options.list {
        let mut table = Table::headless();
        let cases = cases.iter().map(|case| (case.name, case.doc));
        for (name, doc) in cases.chain(classes.iter().map(|class| (class.name, class.doc))) {
            table.row(vec![name.into(), doc.into()]);
        }
        return Ok(table.write(out)?);
    }
    if let Some(path) = &options.report {
        check_folder(path)?;
    }
    let study = study(options, registry)?;
    let checks: Vec<Check> = cases.iter().flat_map(|case| case.run(registry)).collect();
    if !options.json && !checks.is_empty() {
        check_table(&checks).write(out)?;
    }
    let mut rows = Vec::new();
    for class in classes {
        let more = study.run(class, registry);
        if !options.json && !more.is_empty() {
            writeln!(out, "\n{}: {} experiments each\n", class.name, study.samples)?;
            sample_table(class.name, &more).write(out)?;
        }
        rows.extend(more);
    }
    if options.json {
        let entries = checks.iter().map(Entry::Check).chain(rows.iter().map(Entry::Sampled));
        serde_json::to_writer_pretty(&mut *out, &entries.collect::<Vec<_>>())
            .map_err(|error| Failure::from(std::io::Error::from(error)))?;
        writeln!(out)?;
    }
    if let Some(path) = &options.plot {
        chart(&rows).save(path).map_err(|error| Failure::Failed(error.to_string()))?;
    }
    if let Some(path) = &options.report {
        let page = accuracy_report::html(&checks, &rows, registry, study.threads);
        std::fs::write(path, page)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        if !options.json {
            writeln!(out, "written {}", path.display())?;
        }
    }
    let verdict = verdict(
        checks
            .iter()
            .map(|check| (check.allowed, check.pass))
            .chain(rows.iter().map(|row| (row.allowed, row.pass))),
    )?;
    if !options.json {
        writeln!(out, "\n{verdict}")?;
    }
    Ok(())
}

/// Options ⇒ which experiments to run.
fn study(options: &Validate, registry: &Registry) -> Result<Study, Failure> {
    let mut study =
        Study { samples: options.samples, first: options.first, seed: options.seed, ..Study::default() };
    if let Some(name) = &options.simulator {
        registry.simulators.get(name).map_err(|error| Failure::Input(error.to_string()))?;
        study.simulator = Some(name.clone());
    }
    if !options.dt.is_empty() {
        if let Some(dt) = options.dt.iter().find(|dt| !(dt.is_finite() && **dt > 0.0)) {
            return Err(Failure::Input(format!("--dt {dt}: time steps are finite and above 0")));
        }
        study.steps.clone_from(&options.dt);
    }
    Ok(study)
}

/// (limit, pass) of all rows ⇒ how many pass, or how many do not.
fn verdict(rows: impl Iterator<Item = (Option<f64>, bool)>) -> Result<String, Failure> {
    let (mut judged, mut compared, mut failed) = (0, 0, 0);
    for (allowed, pass) in rows {
        judged += usize::from(allowed.is_some());
        compared += usize::from(allowed.is_none());
        failed += usize::from(!pass);
    }
    if failed > 0 {
        return Err(Failure::Failed(format!("{failed} of {judged} checks failed")));
    }
    Ok(format!("All {judged} checks pass; {compared} further rows are for comparison."))
}

fn check_table(checks: &[Check]) -> Table {
    let header = ["case", "simulator", "expected", "got", "error", "allowed", "pass"];
    let mut table = Table::new(&header, &[2, 3, 4, 5]);
    for check in checks {
        let percent = if check.relative { " rel" } else { "" };
        table.row(vec![
            check.case.clone(),
            check.simulator.clone(),
            number(check.expected, 10),
            number(check.got, 10),
            number(check.error, 2) + percent,
            check.allowed.map_or_else(|| "-".into(), |allowed| number(allowed, 2) + percent),
            mark(check.allowed, check.pass).into(),
        ]);
    }
    table
}

fn sample_table(class: &str, rows: &[Row]) -> Table {
    let header = [
        "quantity",
        "simulator",
        "dt",
        "cases",
        "median",
        "99 %",
        "worst",
        "error",
        "allowed",
        "pass",
        "worst case",
    ];
    let mut table = Table::new(&header, &[2, 3, 4, 5, 6, 7, 8]);
    for row in rows {
        let name = row
            .case
            .strip_prefix(class)
            .map_or(row.case.as_str(), |rest| rest.trim_start_matches([':', ' ']));
        let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
        table.row(vec![
            name.into(),
            row.simulator.clone(),
            format!("{} s", number(row.dt, 4)),
            row.samples.to_string(),
            number(row.median, 2),
            number(row.percentile_99, 2),
            number(row.worst, 2),
            number(row.error, 2) + unit.as_str(),
            row.allowed.map_or_else(|| "-".into(), |allowed| number(allowed, 2) + unit.as_str()),
            mark(row.allowed, row.pass).into(),
            if row.pass { format!("#{}", row.worst_experiment) } else { explain(row) },
        ]);
    }
    table
}

/// A row that does not pass ⇒ description of its worst experiment.
fn explain(row: &Row) -> String {
    let failed = if row.failures > 0 { format!(", {} refused", row.failures) } else { String::new() };
    format!("#{}{failed}: {}", row.worst_experiment, row.worst_case)
}

fn mark(allowed: Option<f64>, pass: bool) -> &'static str {
    match (allowed, pass) {
        (None, _) => "-",
        (_, true) => "yes",
        (_, false) => "NO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: Option<f64>, pass: bool) -> Check {
        Check {
            case: "case".into(),
            simulator: "simulator".into(),
            expected: 1.0,
            got: 1.5,
            error: 0.5,
            relative: false,
            allowed,
            pass,
        }
    }

    #[test]
    fn one_failed_check_is_a_failure() {
        let praise = verdict([(Some(1.0), true), (None, true)].into_iter()).unwrap();
        assert_eq!(praise, "All 1 checks pass; 1 further rows are for comparison.");
        let failure = verdict([(Some(1.0), true), (Some(0.1), false), (None, true)].into_iter()).unwrap_err();
        assert_eq!((failure.exit_code(), failure.to_string().as_str()), (1, "1 of 2 checks failed"));
        let mut out = Vec::new();
        check_table(&[check(Some(0.1), false)]).write(&mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("1.5    0.5      0.1  NO"));
    }
}
