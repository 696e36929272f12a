//! `sdf`: a solid as a signed distance field.

use crate::arguments::Sdf;
use crate::failure::Failure;
use crate::mesh;
use crate::table::{Table, number};
use rattleback_geometry::distance_field::{DistanceField, FieldSettings};
use std::io::Write;

/// Reads the solid, builds the field and the surface it gives back, prints how well they agree.
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
    table.write(out)?;
    Ok(())
}
