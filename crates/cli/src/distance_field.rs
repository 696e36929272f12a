//! `sdf`: a solid as a signed distance field.

use crate::arguments::{Axis, Sdf};
use crate::failure::Failure;
use crate::mesh;
use crate::table::{Table, number};
use glam::DVec3;
use rattleback_geometry::distance_field::{DistanceField, FieldSettings};
use rattleback_lab::plot::Slice;
use std::io::Write;
use std::path::Path;

/// Reads the solid, builds the field, extracts its surface, and prints the deviation.
pub fn sdf(options: &Sdf, out: &mut dyn Write) -> Result<(), Failure> {
    let solid = mesh::read_triangles(&options.mesh)?;
    let blame = |error: &dyn std::fmt::Display| mesh::blame(&options.mesh, error);
    let settings = FieldSettings { resolution: options.resolution, ..FieldSettings::default() };
    let field = DistanceField::build(&solid, &settings).map_err(|error| blame(&error))?;
    let surface = field.to_mesh().map_err(|error| blame(&error))?;
    let volume = |mesh: &rattleback_geometry::TriangleMesh| {
        mesh.integrals().map_or_else(|_| "unknown".into(), |integrals| number(integrals.t1, 7))
    };
    let mut table = Table::headless();
    let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
    row("solid", format!("{} ({} triangles)", options.mesh.display(), solid.triangles().len()));
    let [x, y, z] = field.grid().cells();
    row("field", format!("{x} × {y} × {z} cells of {}", number(field.grid().cell(), 4)));
    row("memory", format!("{} kB", field.memory_bytes().div_ceil(1000)));
    row("surface given back", format!("{} triangles", surface.triangles().len()));
    row("volume", format!("{} of the solid, {} given back", volume(&solid), volume(&surface)));
    if let Some(path) = &options.out {
        mesh::write_obj(&surface.to_soup(), path)?;
        row("written", path.display().to_string());
    }
    if let Some(path) = &options.png {
        draw(&field, options, path)?;
        row("written", path.display().to_string());
    }
    table.write(out)?;
    Ok(())
}

/// A slice through the field at right angles to an axis.
fn draw(field: &DistanceField, options: &Sdf, path: &Path) -> Result<(), Failure> {
    let (across, [right, up]) = match options.across {
        Axis::X => (0, [1, 2]),
        Axis::Y => (1, [0, 2]),
        Axis::Z => (2, [0, 1]),
    };
    let (low, high) = (field.grid().origin(), field.grid().end());
    let place = options.slice.unwrap_or(0.5 * (low[across] + high[across]));
    if !(low[across]..=high[across]).contains(&place) {
        let (low, high) = (number(low[across], 6), number(high[across], 6));
        return Err(Failure::Input(format!(
            "--slice {place}: the field reaches from {low} m to {high} m there"
        )));
    }
    let names = ["x", "y", "z"];
    let at = |x: f64, y: f64| {
        let mut p = DVec3::ZERO;
        (p[across], p[right], p[up]) = (place, x, y);
        field.value(p)
    };
    let file = options.mesh.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let slice = Slice {
        title: format!("Signed distance of {file} at {} = {} m", names[across], number(place, 5)),
        labels: [right, up].map(|axis| format!("{} (m)", names[axis])),
        scale_label: "distance (m)".into(),
        low: [low[right], low[up]],
        high: [high[right], high[up]],
        value: &at,
    };
    Ok(slice.draw()?.save(path)?)
}
