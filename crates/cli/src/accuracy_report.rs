//! `validate --report`: the tests of accuracy for each simulator beside the figures of other engines, as one HTML page.

use crate::table::number;
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::Registry;
use rattleback_lab::accuracy::{AccuracyTest, Circumstances, PEER_NOTE, PEERS, SIMULATORS, STEPS, TESTS};
use rattleback_lab::contact::Row;
use rattleback_lab::validate::Check;
use rattleback_numerics::team;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}p{max-width:60rem}\
.dim{color:#666;font-size:.85rem}.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem}\
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #e5e5e5}th{font-weight:600}\
td:first-child{min-width:16rem}td.ours{background:#eef6fb}td.peer{color:#444}td.no{color:#a00;font-weight:600}";

/// What a simulator came to in a test, in words.
type Cell = String;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Runs a test at both time steps ⇒ figures in the manner of the other engines.
fn figures(test: &AccuracyTest, simulator: &str, registry: &Registry) -> Cell {
    // The wall is a matter of 1/60 s.
    let steps: &[f64] = if test.name == "wall" { &[1.0 / 60.0] } else { &STEPS };
    let runs: Vec<Result<Vec<f64>, String>> = steps
        .iter()
        .map(|dt| {
            let with = Circumstances { registry, simulator, dt: *dt };
            match catch_unwind(AssertUnwindSafe(|| (test.run)(&with))) {
                Ok(measured) => measured.map_err(|error| error.to_string()),
                Err(_) => Err("the simulator panicked".into()),
            }
        })
        .collect();
    let values = test.values.iter().enumerate().map(|(at, (_, unit, _))| {
        let shown: Vec<String> = runs
            .iter()
            .map(|run| match run {
                Ok(values) => values.get(at).map_or_else(|| "–".into(), |value| number(*value, 3)),
                Err(_) => "refused".into(),
            })
            .collect();
        if unit.is_empty() { shown.join(" / ") } else { format!("{} {unit}", shown.join(" / ")) }
    });
    let mut cell = values.collect::<Vec<_>>().join("; ");
    if let Some(error) = runs.iter().find_map(|run| run.as_ref().err()) {
        let _ = write!(cell, " ({error})");
    }
    cell
}

/// The page.
pub fn html(checks: &[Check], rows: &[Row], registry: &Registry, threads: usize) -> String {
    let jobs: Vec<(usize, usize)> = (0..TESTS.len())
        .flat_map(|test| (0..SIMULATORS.len()).map(move |simulator| (test, simulator)))
        .collect();
    let bar = ProgressBar::new(jobs.len() as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} tests of accuracy");
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    let mut cells: Vec<Cell> = vec![String::new(); jobs.len()];
    team::each(threads, &mut cells, |place, cell| {
        let (test, simulator) = jobs[place];
        *cell = figures(&TESTS[test], SIMULATORS[simulator], registry);
        bar.inc(1);
    });
    bar.finish_and_clear();
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Accuracy of Rattleback</title><style>{STYLE}</style></head><body><h1>Accuracy of Rattleback {}</h1>\
         <p>Tests with exact answers, for each simulator with its defaults. Two numbers a / b are those at 1/240 s and at 1 ms; several values of a test are separated by semicolons. {PEER_NOTE}</p>",
        env!("CARGO_PKG_VERSION")
    );
    let _ = write!(page, "<div class=scroll><table><tr><th>test<th>exact");
    for name in SIMULATORS.iter().map(|name| format!("Rattleback {name}")).chain(PEERS.map(str::to_owned)) {
        let _ = write!(page, "<th>{}", escaped(&name));
    }
    for (at, test) in TESTS.iter().enumerate() {
        let exact: Vec<String> = test
            .values
            .iter()
            .map(|(name, unit, exact)| format!("{name} {exact} {unit}").trim().to_owned())
            .collect();
        let _ = write!(
            page,
            "<tr><td><b>{}</b><div class=dim>{}</div><td>{}",
            escaped(test.name),
            escaped(test.doc),
            escaped(&exact.join("; "))
        );
        for cell in &cells[at * SIMULATORS.len()..(at + 1) * SIMULATORS.len()] {
            let _ = write!(page, "<td class=ours>{}", escaped(cell));
        }
        for peer in test.peers {
            let _ = write!(page, "<td class=peer>{}", escaped(peer));
        }
    }
    page.push_str("</table></div>");
    checks_of(&mut page, checks);
    samples_of(&mut page, rows);
    page.push_str("</body></html>\n");
    page
}

fn checks_of(page: &mut String, checks: &[Check]) {
    if checks.is_empty() {
        return;
    }
    page.push_str("<h2>Checks against closed forms, conservation laws and published numbers</h2><div class=scroll><table><tr><th>case<th>simulator<th>expected<th>got<th>error<th>allowed<th>pass");
    for check in checks {
        let relative = if check.relative { " rel" } else { "" };
        let allowed = check.allowed.map_or_else(|| "–".into(), |allowed| number(allowed, 2) + relative);
        let _ = write!(
            page,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}{relative}<td>{allowed}{}",
            escaped(&check.case),
            escaped(&check.simulator),
            number(check.expected, 10),
            number(check.got, 10),
            number(check.error, 2),
            verdict(check.allowed, check.pass)
        );
    }
    page.push_str("</table></div>");
}

fn samples_of(page: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    page.push_str("<h2>Samples of contact</h2><div class=scroll><table><tr><th>quantity<th>simulator<th>time step<th>cases<th>median<th>99 %<th>worst<th>error<th>allowed<th>pass");
    for row in rows {
        let _ = write!(
            page,
            "<tr><td>{}<td>{}<td>{} s<td>{}<td>{}<td>{}<td>{}<td>{} {}<td>{}{}",
            escaped(&row.case),
            escaped(&row.simulator),
            number(row.dt, 4),
            row.samples,
            number(row.median, 2),
            number(row.percentile_99, 2),
            number(row.worst, 2),
            number(row.error, 2),
            row.unit,
            row.allowed.map_or_else(|| "–".into(), |allowed| number(allowed, 2)),
            verdict(row.allowed, row.pass)
        );
    }
    page.push_str("</table></div>");
}

fn verdict(allowed: Option<f64>, pass: bool) -> &'static str {
    match (allowed, pass) {
        (None, _) => "<td>–",
        (_, true) => "<td>yes",
        (_, false) => "<td class=no>NO",
    }
}
