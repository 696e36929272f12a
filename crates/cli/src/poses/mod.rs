//! `poses`: with which probability a dropped part comes to rest on each of its faces.

mod comparison;
mod figures;
mod outputs;
mod record_file;
mod report;
mod tray;

use crate::arguments::{DropMethod, DropSurface, PartFile, Poses};
use crate::failure::Failure;
use crate::mesh;
use crate::run::interruption;
use crate::table::{Table, number};
use comparison::Measured;
use indicatif::{ProgressBar, ProgressStyle};
use rattleback_dynamics::Registry;
use rattleback_geometry::{PolygonSoup, TriangleMesh};
use rattleback_lab::poses::{
    Disturbance, DropRecord, DropSettings, Estimate, Freedom, Landscape, Method, Part, PartOptions,
    PoseStudy, Stop, StudySettings, Surface, independence, perturbed, sample_size,
};
use record_file::RecordFile;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Everything that was found out about a part.
pub struct Answer {
    /// The part.
    pub part: Part,
    /// Its poses.
    pub landscape: Landscape,
    /// Circumstances.
    pub settings: StudySettings,
    /// Perturbed quasi-static shares: cone, edge strip.
    pub perturbed: [Vec<f64>; 2],
    /// Estimates by drops.
    pub estimates: Vec<Estimate>,
    /// The drops.
    pub records: BTreeMap<&'static str, Vec<DropRecord>>,
    /// Circumstance ⇒ estimate with it changed.
    pub sensitivity: Vec<(String, Estimate)>,
    /// Measured shares and the error of each estimate.
    pub measured: Option<Measured>,
}

impl Answer {
    /// Name and shares of every estimate, from the simplest to the best.
    pub fn columns(&self) -> Vec<(String, Vec<f64>)> {
        let still = self.landscape.poses.iter().map(|pose| pose.quasi_static).collect();
        let mut columns = vec![
            ("quasi-static".to_owned(), still),
            ("cone".to_owned(), self.perturbed[0].clone()),
            ("edge strip".to_owned(), self.perturbed[1].clone()),
        ];
        columns.extend(self.estimates.iter().map(|e| (e.method.name().to_owned(), e.p.clone())));
        columns
    }
}

/// Estimates, prints, and writes what is asked for.
pub fn poses(options: &Poses, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let part = read_part(&options.part)?;
    let refused = |error: &dyn std::fmt::Display| mesh::blame(&options.part.mesh, error);
    let landscape = Landscape::of(&part, options.part.smooth).map_err(|error| refused(&error))?;
    let theta = options.angle.to_radians();
    let shares = |model| perturbed(&part, &landscape, model, theta).map_err(Failure::input);
    let perturbed = [shares(Disturbance::Cone)?, shares(Disturbance::EdgeStrip)?];
    let settings = settings(options);
    let measured = options.compare.as_deref().map(|path| comparison::read(path, landscape.poses.len()));
    let mut answer = Answer {
        perturbed,
        estimates: Vec::new(),
        records: BTreeMap::new(),
        sensitivity: Vec::new(),
        measured: measured.transpose()?,
        settings,
        landscape,
        part,
    };
    outputs::check(options)?;
    drop_parts(options, registry, &mut answer)?;
    print(options, &answer, out)?;
    if options.independence {
        print_independence(options, &answer, registry, out)?;
    }
    outputs::write(options, &answer, out)
}

/// Reads the mesh of a part, and weighs it.
pub fn read_part(options: &PartFile) -> Result<Part, Failure> {
    let scaled = |path: &Path| -> Result<PolygonSoup, Failure> {
        let mut soup = mesh::read(path)?.soup;
        soup.vertices.iter_mut().for_each(|p| *p *= options.unit.length());
        Ok(soup)
    };
    let mut inserts = Vec::new();
    for insert in &options.insert {
        let (path, density) = insert
            .rsplit_once('=')
            .and_then(|(path, density)| Some((Path::new(path), density.parse::<f64>().ok()?)))
            .ok_or_else(|| Failure::Input(format!("--insert must be FILE=DENSITY; got {insert}")))?;
        let solid = TriangleMesh::from_soup(&scaled(path)?).map_err(|error| mesh::blame(path, &error))?;
        inserts.push((solid, density));
    }
    let part = PartOptions { density: options.density, filled_hull: options.hull, ..PartOptions::default() };
    Part::with_inserts(&scaled(&options.mesh)?, &inserts, &part)
        .map_err(|error| mesh::blame(&options.mesh, &error))
}

fn settings(options: &Poses) -> StudySettings {
    let surface = match options.surface {
        DropSurface::Floor => Surface::Floor,
        DropSurface::Belt => Surface::Belt,
        DropSurface::Bowl => Surface::Bowl,
    };
    StudySettings {
        drop: DropSettings {
            friction: options.mu,
            restitution: options.e,
            height: options.height,
            speed: options.speed,
            surface,
            simulator: options.simulator.clone(),
            dt: options.dt,
            ..DropSettings::default()
        },
        seed: options.seed,
        chains: options.chains as usize,
        ..StudySettings::default()
    }
}

/// `1%`, `0.5 %` or `0.01` ⇒ fraction.
fn precision(text: &str) -> Result<f64, Failure> {
    let trimmed = text.trim();
    let parsed = match trimmed.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|x| 0.01 * x),
        None => trimmed.parse(),
    };
    match parsed {
        Ok(delta) if (1e-4..0.5).contains(&delta) => Ok(delta),
        _ => Err(Failure::Input(format!("--until must be from 0.01% to below 50%, such as 1%; got {text}"))),
    }
}

fn threads(options: &Poses) -> usize {
    options.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, Into::into),
        |threads| threads as usize,
    )
}

fn drop_parts(options: &Poses, registry: &Registry, answer: &mut Answer) -> Result<(), Failure> {
    let methods: &[Method] = match options.method {
        DropMethod::All => &Method::ALL,
        DropMethod::Uniform => &[Method::Uniform],
        DropMethod::Bootstrap => &[Method::Bootstrap],
        DropMethod::Transition => &[Method::Transition],
        DropMethod::None => &[],
    };
    let stop = match &options.until {
        None => Stop::Drops(options.drops as usize),
        Some(text) => {
            let delta = precision(text)?;
            // Dependent drops need more than the worst case of independent ones.
            Stop::Precision { delta, most: 20 * sample_size(delta, 0.05) as usize }
        }
    };
    let most = match stop {
        Stop::Drops(count) => count as u64,
        Stop::Precision { delta, .. } => sample_size(delta, 0.05),
    };
    let threads = threads(options);
    let interrupted = interruption();
    let mut file = options
        .resume
        .as_deref()
        .map(|path| RecordFile::open(path, &answer.part, &answer.settings, answer.landscape.poses.len()))
        .transpose()?;
    let study = PoseStudy::new(&answer.part, &answer.landscape, &answer.settings, registry)
        .map_err(Failure::input)?;
    for &method in methods {
        let mut records = file.as_mut().map_or_else(Vec::new, |file| file.take(method));
        let bar = progress(most, method);
        bar.set_position(records.len() as u64);
        let mut failure = None;
        let estimate = study.run(method, stop, threads, &mut records, |fresh, estimate| {
            bar.set_position(estimate.drops as u64);
            bar.set_message(summary(estimate));
            if let Some(file) = &mut file {
                failure = file.append(fresh).err();
            }
            failure.is_none() && !interrupted.load(Ordering::Relaxed)
        });
        bar.finish_and_clear();
        if let Some(failure) = failure {
            return Err(failure);
        }
        answer.estimates.push(estimate.map_err(Failure::failed)?);
        if interrupted.load(Ordering::Relaxed) {
            let count = records.len();
            return Err(Failure::Stopped(match &options.resume {
                Some(path) => format!(
                    "{count} drops ({}) are kept in {}; run it again to continue",
                    method.name(),
                    path.display()
                ),
                None => format!("{count} drops ({}) are lost; --resume FILE would keep them", method.name()),
            }));
        }
        answer.records.insert(method.name(), records);
    }
    if options.sensitivity && !methods.is_empty() {
        answer.sensitivity = sensitivity(answer, registry, most.min(2000) as usize, threads)?;
    }
    Ok(())
}

/// The same drops with one circumstance changed at a time.
fn sensitivity(
    answer: &Answer,
    registry: &Registry,
    drops: usize,
    threads: usize,
) -> Result<Vec<(String, Estimate)>, Failure> {
    let base = &answer.settings.drop;
    let mut cases = Vec::new();
    for factor in [0.5, 2.0] {
        cases.push((
            format!("μ = {}", number(factor * base.friction, 3)),
            DropSettings { friction: factor * base.friction, ..base.clone() },
        ));
        let restitution = (factor * base.restitution).min(1.0);
        cases.push((format!("e = {}", number(restitution, 3)), DropSettings { restitution, ..base.clone() }));
        cases.push((
            format!("height {} m", number(factor * base.height, 3)),
            DropSettings { height: factor * base.height, ..base.clone() },
        ));
    }
    let mut found = Vec::new();
    for (name, drop) in cases {
        let settings = StudySettings { drop, ..answer.settings.clone() };
        let study =
            PoseStudy::new(&answer.part, &answer.landscape, &settings, registry).map_err(Failure::input)?;
        let bar = progress(drops as u64, Method::Uniform);
        let mut records = Vec::new();
        let estimate =
            study.run(Method::Uniform, Stop::Drops(drops), threads, &mut records, |_, estimate| {
                bar.set_position(estimate.drops as u64);
                bar.set_message(name.clone());
                true
            });
        bar.finish_and_clear();
        found.push((name, estimate.map_err(Failure::failed)?));
    }
    Ok(found)
}

/// χ² tests of what the result should not depend on.
fn print_independence(
    options: &Poses,
    answer: &Answer,
    registry: &Registry,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let threads = threads(options);
    let drops = options.drops as usize;
    writeln!(
        out,
        "\n{drops} uniform drops each, compared with those of another seed; p below 0.001 is a difference"
    )?;
    let mut table = Table::new(
        &["changed", "χ²", "degrees", "p", "largest difference, points", "unsettled"],
        &[1, 2, 3, 4, 5],
    );
    let settings = &answer.settings;
    let (part, landscape) = (&answer.part, &answer.landscape);
    let rows = independence(part, landscape, options.part.smooth, settings, drops, threads, registry);
    for row in rows.map_err(Failure::failed)? {
        table.row(match row.result {
            Ok((chi, degrees, p)) => vec![
                row.changed,
                number(chi, 3),
                degrees.to_string(),
                number(p, 2),
                format!("{:.1}", 100.0 * row.difference),
                row.unsettled.to_string(),
            ],
            Err(error) => vec![format!("{}: {error}", row.changed)],
        });
    }
    Ok(table.write(out)?)
}

fn progress(drops: u64, method: Method) -> ProgressBar {
    let template = format!("{:<10} {{bar:24}} {{pos}}/{{len}} drops, {{eta}} left  {{msg}}", method.name());
    let bar = ProgressBar::new(drops);
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The present estimate, short.
fn summary(estimate: &Estimate) -> String {
    let mut order: Vec<usize> = (0..estimate.p.len()).collect();
    order.sort_by(|a, b| estimate.p[*b].total_cmp(&estimate.p[*a]));
    let shown: Vec<String> =
        order.iter().take(4).map(|pose| format!("{}: {:.1}", pose + 1, 100.0 * estimate.p[*pose])).collect();
    let width = estimate.half_width().map_or_else(String::new, |width| format!(" ±{:.1}", 100.0 * width));
    format!("{} %{width}", shown.join(" "))
}

fn print(options: &Poses, answer: &Answer, out: &mut dyn Write) -> Result<(), Failure> {
    let (part, drop) = (&answer.part, &answer.settings.drop);
    let mass = part.mass();
    writeln!(
        out,
        "{}: {} triangles, hull of {} faces, {} kg, {} stable poses",
        options.part.mesh.display(),
        part.surface().triangles().len(),
        part.hull().face_count(),
        number(mass.mass, 4),
        answer.landscape.poses.len()
    )?;
    for note in part.notes() {
        writeln!(out, "note: {note}")?;
    }
    if part.size() > 1.0 && options.part.unit.length() == 1.0 {
        writeln!(
            out,
            "note: {} m large; if the file is in millimetres, say --unit mm",
            number(part.size(), 3)
        )?;
    }
    if !answer.estimates.is_empty() {
        writeln!(
            out,
            "drops: {} m, {} m/s, μ = {}, e = {}, {}, seed {}; percent, with 95 % intervals",
            drop.height, drop.speed, drop.friction, drop.restitution, drop.simulator, answer.settings.seed
        )?;
    }
    let mut header =
        vec!["pose", "height, mm", "barrier, mm", "rests on", "quasi-static", "cone", "edge strip"];
    header.extend(answer.estimates.iter().map(|e| e.method.name()));
    let mut table = Table::new(&header, &[0, 1, 2, 4, 5, 6, 7, 8, 9]);
    let percent = |p: f64| format!("{:.1}", 100.0 * p);
    for (i, pose) in answer.landscape.poses.iter().enumerate() {
        let barrier = pose.escape - pose.height;
        let mut cells = vec![
            (i + 1).to_string(),
            format!("{:.3}", 1e3 * pose.height),
            if barrier.is_finite() { format!("{:.3}", 1e3 * barrier) } else { "-".into() },
            rests_on(pose),
            percent(pose.quasi_static),
            percent(answer.perturbed[0][i]),
            percent(answer.perturbed[1][i]),
        ];
        for estimate in &answer.estimates {
            cells.push(match &estimate.interval {
                Some(interval) => {
                    let (low, high) = interval[i];
                    format!("{} [{}, {}]", percent(estimate.p[i]), percent(low), percent(high))
                }
                None => percent(estimate.p[i]),
            });
        }
        table.row(cells);
    }
    if let Some(measured) = &answer.measured {
        let mut cells = vec!["error".to_owned(), String::new(), String::new(), "against measured".into()];
        cells.extend(answer.columns().iter().map(|(_, p)| format!("{:.1}", measured.error(p))));
        table.row(cells);
    }
    table.write(out)?;
    for estimate in &answer.estimates {
        let name = estimate.method.name();
        let width =
            estimate.half_width().map_or_else(String::new, |w| format!(", within ±{:.1} points", 100.0 * w));
        write!(out, "{name}: {} drops{width}", estimate.drops)?;
        if estimate.unsettled + estimate.failed > 0 {
            write!(out, ", {} unsettled, {} failed", estimate.unsettled, estimate.failed)?;
        }
        match estimate.closed_classes {
            Some(1) | None => {}
            Some(classes) => {
                write!(
                    out,
                    "; {classes} sets of poses are never left: the result depends on the first drop"
                )?;
            }
        }
        // Chains of the bootstrap reinforce their first drops: their interval may never become as narrow as wanted.
        if let (Some(text), Some(width)) = (&options.until, estimate.half_width())
            && width > precision(text)?
        {
            write!(out, "; {text} was not reached")?;
        }
        writeln!(out)?;
    }
    for (name, estimate) in &answer.sensitivity {
        let shares: Vec<String> = estimate.p.iter().map(|p| percent(*p)).collect();
        writeln!(out, "with {name}: {}", shares.join(" "))?;
    }
    Ok(())
}

/// What a pose rests on.
pub fn rests_on(pose: &rattleback_lab::poses::StablePose) -> String {
    match (pose.freedom, pose.faces.len()) {
        (Freedom::Rolls { .. }, count) => format!("rolls, {count} facets"),
        (Freedom::Fixed, 1) if pose.marginal => "face, on its edge".into(),
        (Freedom::Fixed, 1) => "face".into(),
        (Freedom::Fixed, count) => format!("{count} facets"),
    }
}
