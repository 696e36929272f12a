//! Files of an answer: JSON, Parquet, pictures, plot, report.

use super::{Answer, figures, report, rests_on, tray};
use crate::arguments::Poses;
use crate::failure::Failure;
use crate::run::{check_folder, check_plot_path};
use rattleback_lab::parquet::{Cell, ColumnType, ParquetWriter};
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Refuses files that could not be written, before the drops begin.
pub fn check(options: &Poses) -> Result<(), Failure> {
    for path in [&options.json, &options.parquet, &options.report, &options.resume, &options.scene]
        .into_iter()
        .flatten()
    {
        check_folder(path)?;
    }
    if let Some(path) = &options.pictures {
        check_folder(path)?;
    }
    options.plot.as_deref().map_or(Ok(()), check_plot_path)
}

/// Writes what is asked for.
pub fn write(options: &Poses, answer: &Answer, out: &mut dyn Write) -> Result<(), Failure> {
    let mut written = |path: &Path| writeln!(out, "written {}", path.display());
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&as_json(options, answer)).map_err(Failure::failed)?;
        save(path, format!("{text}\n").as_bytes())?;
        written(path)?;
    }
    if let Some(path) = &options.parquet {
        write_drops(path, answer)?;
        written(path)?;
        let poses = path.with_extension("poses.parquet");
        write_poses(&poses, answer)?;
        written(&poses)?;
    }
    if let Some(folder) = &options.pictures {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))?;
        for (i, pose) in answer.landscape.poses.iter().enumerate() {
            let path = folder.join(format!("pose-{:02}.png", i + 1));
            save(&path, &figures::picture(&answer.part, pose.down, (480, 360))?)?;
        }
        written(folder)?;
    }
    if let Some(path) = &options.scene {
        save(path, tray::scene(answer)?.as_bytes())?;
        written(path)?;
    }
    if let Some(path) = &options.plot {
        figures::convergence_of(answer)?.save(path).map_err(Failure::failed)?;
        written(path)?;
    }
    if let Some(path) = &options.report {
        save(path, report::html(options, answer)?.as_bytes())?;
        written(path)?;
    }
    Ok(())
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

fn as_json(options: &Poses, answer: &Answer) -> serde_json::Value {
    let mass = answer.part.mass();
    let poses: Vec<serde_json::Value> = answer
        .landscape
        .poses
        .iter()
        .enumerate()
        .map(|(i, pose)| {
            json!({
                "pose": i + 1,
                "down": pose.down.to_array(),
                "height": pose.height,
                "barrier": (pose.escape - pose.height).is_finite().then_some(pose.escape - pose.height),
                "rests_on": rests_on(pose),
                "faces": pose.faces.len(),
                "marginal": pose.marginal,
                "quasi_static": pose.quasi_static,
                "perturbed_cone": answer.perturbed[0][i],
                "perturbed_edge_strip": answer.perturbed[1][i],
            })
        })
        .collect();
    let measured = answer.measured.as_ref().map(|measured| {
        let errors: serde_json::Map<String, serde_json::Value> =
            answer.columns().into_iter().map(|(name, p)| (name, json!(measured.error(&p)))).collect();
        let groups: Vec<Vec<usize>> =
            measured.groups.iter().map(|group| group.iter().map(|pose| pose + 1).collect()).collect();
        json!({ "poses": groups, "shares": measured.shares, "errors": errors })
    });
    let sensitivity: Vec<serde_json::Value> = answer
        .sensitivity
        .iter()
        .map(|(name, estimate)| json!({ "with": name, "estimate": estimate }))
        .collect();
    json!({
        "part": {
            "file": options.part.mesh.display().to_string(),
            "mass": mass.mass,
            "center_of_mass": mass.center_of_mass.to_array(),
            "hull_faces": answer.part.hull().face_count(),
            "notes": answer.part.notes(),
        },
        "settings": answer.settings,
        "poses": poses,
        "estimates": answer.estimates,
        "sensitivity": sensitivity,
        "measured": measured,
    })
}

fn table(path: &Path, columns: &[(&str, ColumnType)]) -> Result<ParquetWriter<BufWriter<File>>, Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let file = File::create(path).map_err(failed)?;
    ParquetWriter::new(BufWriter::new(file), columns).map_err(failed)
}

/// A row for each drop. Poses are numbered from 1; 0 is unsettled, and for `from` a uniform start.
fn write_drops(path: &Path, answer: &Answer) -> Result<(), Failure> {
    use ColumnType::{Number, Text};
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let names = [
        "drop", "from", "pose", "time", "start_x", "start_y", "start_z", "start_w", "end_x", "end_y",
        "end_z", "end_w",
    ];
    let mut columns = vec![("method", Text)];
    columns.extend(names.iter().map(|name| (*name, Number)));
    let mut writer = table(path, &columns)?;
    for record in answer.records.values().flatten() {
        let number = |index: Option<usize>| index.map_or(0.0, |i| (i + 1) as f64);
        let mut cells = vec![Cell::Text(record.method.name())];
        cells.extend(
            [(record.index + 1) as f64, number(record.from), number(record.pose), record.time]
                .map(Cell::Number),
        );
        cells.extend(record.start.iter().chain(&record.end).map(|x| Cell::Number(*x)));
        writer.row(&cells).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(())
}

/// A row for each pose and estimate.
fn write_poses(path: &Path, answer: &Answer) -> Result<(), Failure> {
    use ColumnType::{Number, Text};
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let columns = [
        ("pose", Number),
        ("estimate", Text),
        ("probability", Number),
        ("low", Number),
        ("high", Number),
        ("height", Number),
        ("down_x", Number),
        ("down_y", Number),
        ("down_z", Number),
    ];
    let mut writer = table(path, &columns)?;
    let columns = answer.columns();
    let still = columns.len() - answer.estimates.len();
    for (k, (name, p)) in columns.iter().enumerate() {
        let interval = k.checked_sub(still).and_then(|k| answer.estimates[k].interval.as_ref());
        for (i, pose) in answer.landscape.poses.iter().enumerate() {
            let (low, high) = interval.map_or((p[i], p[i]), |interval| interval[i]);
            writer
                .row(&[
                    Cell::Number((i + 1) as f64),
                    Cell::Text(name),
                    Cell::Number(p[i]),
                    Cell::Number(low),
                    Cell::Number(high),
                    Cell::Number(pose.height),
                    Cell::Number(pose.down.x),
                    Cell::Number(pose.down.y),
                    Cell::Number(pose.down.z),
                ])
                .map_err(failed)?;
        }
    }
    writer.finish().map_err(failed)?;
    Ok(())
}
