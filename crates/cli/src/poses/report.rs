//! One self-contained HTML page: pictures, probabilities with intervals, convergence, transitions, sensitivity.

use super::{Answer, figures, rests_on};
use crate::arguments::Poses;
use crate::failure::Failure;
use crate::table::number;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}p{max-width:50rem}\
.poses{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1rem}\
figure{margin:0;border:1px solid #ddd;border-radius:6px;overflow:hidden}\
figure img{width:100%;display:block}figcaption{padding:.5rem .8rem .7rem}\
.big{font-size:1.35rem;font-weight:600}.dim{color:#666;font-size:.85rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.25rem .7rem;border-bottom:1px solid #e5e5e5}th{font-weight:600}\
td:first-child,th:first-child{text-align:left}\
.bar{position:relative;height:8px;background:#eee;border-radius:4px;margin-top:.3rem}\
.bar b{position:absolute;top:0;bottom:0;left:0;background:#3d8fc4;border-radius:4px}\
.bar i{position:absolute;top:2px;height:4px;background:#174a6b}\
svg{max-width:100%;height:auto}\
@media print{figure{break-inside:avoid}}";

/// The page.
pub fn html(options: &Poses, answer: &Answer) -> Result<String, Failure> {
    let mut page = String::new();
    let name = escaped(&options.part.mesh.file_name().unwrap_or_default().to_string_lossy());
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Poses of {name}</title><style>{STYLE}</style></head><body><h1>Poses of {name}</h1>"
    );
    facts(&mut page, answer);
    figures_of(&mut page, answer)?;
    estimates(&mut page, answer);
    if !answer.records.is_empty() {
        let svg = figures::convergence_of(answer)?.to_svg().map_err(Failure::failed)?;
        let _ = write!(page, "<h2>Convergence</h2>{svg}");
    }
    transitions(&mut page, answer);
    sensitivity(&mut page, answer);
    page.push_str("</body></html>\n");
    Ok(page)
}

fn facts(page: &mut String, answer: &Answer) {
    let (mass, drop) = (answer.part.mass(), &answer.settings.drop);
    let c = mass.center_of_mass * 1e3;
    let _ = write!(
        page,
        "<p class=dim>{} g; centre of mass ({}, {}, {}) mm; hull of {} faces; {} stable poses.",
        number(1e3 * mass.mass, 4),
        number(c.x, 4),
        number(c.y, 4),
        number(c.z, 4),
        answer.part.hull().face_count(),
        answer.landscape.poses.len()
    );
    if !answer.estimates.is_empty() {
        let _ = write!(
            page,
            " Drops from {} m with {} m/s, friction {}, restitution {}, simulator <code>{}</code>, seed {}.",
            drop.height,
            drop.speed,
            drop.friction,
            drop.restitution,
            escaped(&drop.simulator),
            answer.settings.seed
        );
    }
    for note in answer.part.notes() {
        let _ = write!(page, "<br>{}", escaped(note));
    }
    page.push_str("</p>");
}

fn figures_of(page: &mut String, answer: &Answer) -> Result<(), Failure> {
    page.push_str("<div class=poses>");
    // Uniform drops, if there are any: the others presume a history of drops.
    let best = answer.estimates.first();
    let mut order: Vec<usize> = (0..answer.landscape.poses.len()).collect();
    let share = |i: usize| best.map_or(answer.landscape.poses[i].quasi_static, |e| e.p[i]);
    order.sort_by(|a, b| share(*b).total_cmp(&share(*a)).then(a.cmp(b)));
    for i in order {
        let pose = &answer.landscape.poses[i];
        let png = STANDARD.encode(figures::picture(&answer.part, pose.down, (400, 300))?);
        let interval = best.and_then(|e| e.interval.as_ref()).map(|interval| interval[i]);
        let range = interval.map_or_else(String::new, |(low, high)| {
            format!(" <span class=dim>{:.1} to {:.1}</span>", 100.0 * low, 100.0 * high)
        });
        let whisker = interval.map_or_else(String::new, |(low, high)| {
            format!("<i style=\"left:{:.2}%;width:{:.2}%\"></i>", 100.0 * low, 100.0 * (high - low))
        });
        let _ = write!(
            page,
            "<figure><img alt=\"pose {n}\" src=\"data:image/png;base64,{png}\"><figcaption>\
             <span class=big>{p:.1} %</span>{range}<div class=bar><b style=\"width:{p:.2}%\"></b>{whisker}</div>\
             <span class=dim>pose {n}: {rests}, centre of mass at {h} mm</span></figcaption></figure>",
            n = i + 1,
            p = 100.0 * share(i),
            rests = rests_on(pose),
            h = number(1e3 * pose.height, 4),
        );
    }
    page.push_str("</div>");
    let shown = best
        .map_or_else(|| "quasi-static".to_owned(), |e| format!("{} drops ({})", e.drops, e.method.name()));
    let _ = write!(page, "<p class=dim>Percentages under the pictures: {shown}, with 95 % intervals.</p>");
    Ok(())
}

fn estimates(page: &mut String, answer: &Answer) {
    page.push_str("<h2>Estimates (%)</h2><table><tr><th>pose</th>");
    let columns = answer.columns();
    for (name, _) in &columns {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr>");
    let still = columns.len() - answer.estimates.len();
    for i in 0..answer.landscape.poses.len() {
        let _ = write!(page, "<tr><td>{}</td>", i + 1);
        for (k, (_, p)) in columns.iter().enumerate() {
            let interval = k.checked_sub(still).and_then(|k| answer.estimates[k].interval.as_ref());
            let range = interval.map_or_else(String::new, |interval| {
                format!(
                    " <span class=dim>[{:.1}, {:.1}]</span>",
                    100.0 * interval[i].0,
                    100.0 * interval[i].1
                )
            });
            let _ = write!(page, "<td>{:.1}{range}</td>", 100.0 * p[i]);
        }
        page.push_str("</tr>");
    }
    if let Some(measured) = &answer.measured {
        page.push_str("<tr><td>error</td>");
        for (_, p) in &columns {
            let _ = write!(page, "<td>{:.1}</td>", measured.error(p));
        }
        page.push_str("</tr>");
    }
    page.push_str("</table>");
    for estimate in &answer.estimates {
        if estimate.unsettled + estimate.failed > 0 {
            let _ = write!(
                page,
                "<p class=dim>{}: {} of {} drops did not settle, {} failed.</p>",
                estimate.method.name(),
                estimate.unsettled,
                estimate.drops,
                estimate.failed
            );
        }
        if let Some(classes) = estimate.closed_classes.filter(|classes| *classes > 1) {
            let _ = write!(
                page,
                "<p>{classes} sets of poses are never left by a drop: the long-run shares depend on the first drop.</p>"
            );
        }
    }
}

fn transitions(page: &mut String, answer: &Answer) {
    let Some(matrix) = answer.estimates.iter().find_map(|e| e.matrix.as_ref()).filter(|m| m.len() <= 40)
    else {
        return;
    };
    page.push_str("<h2>Transitions (%)</h2><p class=dim>A part dropped in the pose of the row ends in that of the column.</p><table><tr><th>from</th>");
    for j in 0..matrix.len() {
        let _ = write!(page, "<th>{}</th>", j + 1);
    }
    page.push_str("</tr>");
    for (i, row) in matrix.iter().enumerate() {
        let _ = write!(page, "<tr><td>{}</td>", i + 1);
        for p in row {
            let _ = write!(
                page,
                "<td style=\"background:rgba(61,143,196,{:.2})\">{:.1}</td>",
                0.7 * p,
                100.0 * p
            );
        }
        page.push_str("</tr>");
    }
    page.push_str("</table>");
}

fn sensitivity(page: &mut String, answer: &Answer) {
    if answer.sensitivity.is_empty() {
        return;
    }
    page.push_str("<h2>Sensitivity (%)</h2><p class=dim>Uniform drops with one circumstance changed.</p><table><tr><th>with</th>");
    for i in 0..answer.landscape.poses.len() {
        let _ = write!(page, "<th>{}</th>", i + 1);
    }
    page.push_str("</tr>");
    for (name, estimate) in &answer.sensitivity {
        let _ = write!(page, "<tr><td>{}</td>", escaped(name));
        for p in &estimate.p {
            let _ = write!(page, "<td>{:.1}</td>", 100.0 * p);
        }
        page.push_str("</tr>");
    }
    page.push_str("</table>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
