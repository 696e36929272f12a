//! `validate`: the physics checks as a table.

use crate::arguments::Validate;
use crate::failure::Failure;
use crate::table::{Table, number};
use rattleback_dynamics::Registry;
use rattleback_lab::validate::{CASES, Check, matching};
use std::io::Write;

/// Runs the cases that match the filter; fails if any check does.
pub fn validate(options: &Validate, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let cases: Vec<_> = matching(&options.filter).collect();
    if cases.is_empty() {
        let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        return Err(Failure::Input(format!(
            "no case has `{}` in its name; cases: {}",
            options.filter,
            names.join(", ")
        )));
    }
    if options.list {
        let mut table = Table::headless();
        for case in cases {
            table.row(vec![case.name.into(), case.doc.into()]);
        }
        return Ok(table.write(out)?);
    }
    let checks: Vec<Check> = cases.iter().flat_map(|case| case.run(registry)).collect();
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &checks)
            .map_err(|error| Failure::from(std::io::Error::from(error)))?;
        writeln!(out)?;
    } else {
        table(&checks).write(out)?;
    }
    let verdict = verdict(&checks)?;
    if !options.json {
        writeln!(out, "\n{verdict}")?;
    }
    Ok(())
}

/// Checks ⇒ praise, or how many of them failed.
fn verdict(checks: &[Check]) -> Result<String, Failure> {
    let judged = checks.iter().filter(|check| check.allowed.is_some()).count();
    let failed = checks.iter().filter(|check| !check.pass).count();
    if failed > 0 {
        return Err(Failure::Failed(format!("{failed} of {judged} checks failed")));
    }
    let compared = checks.len() - judged;
    Ok(format!("All {judged} checks pass; {compared} further rows are for comparison."))
}

fn table(checks: &[Check]) -> Table {
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
            match (check.allowed, check.pass) {
                (None, _) => "-".into(),
                (_, true) => "yes".into(),
                (_, false) => "NO".into(),
            },
        ]);
    }
    table
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
        let (good, bad, comparison) = (check(Some(1.0), true), check(Some(0.1), false), check(None, true));
        let praise = verdict(&[good.clone(), comparison.clone()]).unwrap();
        assert_eq!(praise, "All 1 checks pass; 1 further rows are for comparison.");
        let failure = verdict(&[good, bad.clone(), comparison]).unwrap_err();
        assert_eq!((failure.exit_code(), failure.to_string().as_str()), (1, "1 of 2 checks failed"));
        let mut out = Vec::new();
        table(&[bad]).write(&mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("1.5    0.5      0.1  NO"));
    }
}
