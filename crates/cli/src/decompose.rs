//! `decompose`: convex decomposition of a solid.

use crate::arguments::Decompose;
use crate::failure::Failure;
use crate::mesh;
use crate::table::{Table, number};
use rattleback_geometry::decomposition::{
    ApproximateSettings, DecompositionSettings, approximate_decomposition, decompose as decompose_exactly,
};
use rattleback_geometry::{ConvexPolyhedron, PolygonSoup};
use std::io::Write;

/// Reads the solid, decomposes it, and prints the parts.
pub fn decompose(options: &Decompose, out: &mut dyn Write) -> Result<(), Failure> {
    let solid = mesh::read_triangles(&options.mesh)?;
    let mut table = Table::headless();
    let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
    row("solid", format!("{} ({} triangles)", options.mesh.display(), solid.triangles().len()));
    let parts = if let Some(max_error) = options.error {
        let settings =
            ApproximateSettings { max_error, max_parts: options.parts, ..ApproximateSettings::default() };
        let found = approximate_decomposition(&solid, &settings)
            .map_err(|error| mesh::blame(&options.mesh, &error))?;
        row("parts", found.parts.len().to_string());
        let within =
            if found.within_limit { "within --error" } else { "more than --error: allow more --parts" };
        row("stick out by at most", format!("{} ({within})", number(found.error_bound, 4)));
        row(
            "volume",
            format!(
                "{} of the solid, {} of the parts",
                number(found.volume, 7),
                number(found.parts_volume, 7)
            ),
        );
        found.parts
    } else {
        let found = decompose_exactly(&solid, &DecompositionSettings::default())
            .map_err(|error| mesh::blame(&options.mesh, &error))?;
        row("parts", found.parts.len().to_string());
        row("cuts", found.report.cuts.to_string());
        if !found.unresolved.is_empty() {
            row("not convex still", format!("{} parts; try --error 0.02", found.unresolved.len()));
        }
        let (whole, sum) = (found.report.volume, found.report.parts_volume);
        row("volume", format!("{} of the solid, {} of the parts", number(whole, 7), number(sum, 7)));
        found.parts
    };
    if let Some(path) = &options.out {
        mesh::write_obj(&joined(&parts), path)?;
        row("written", path.display().to_string());
    }
    table.write(out)?;
    Ok(())
}

/// All parts in one soup, each with its own corners.
fn joined(parts: &[ConvexPolyhedron]) -> PolygonSoup {
    let mut soup = PolygonSoup::default();
    for part in parts {
        let first = soup.vertices.len() as u32;
        soup.vertices.extend_from_slice(part.vertices());
        for face in part.faces() {
            let corners: Vec<u32> = face.iter().map(|corner| first + corner).collect();
            soup.push_face(&corners);
        }
    }
    soup
}
