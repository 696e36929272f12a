//! `info`: mass, inertia, bounds and validity of a mesh.

use crate::arguments::Info;
use crate::failure::Failure;
use crate::mesh;
use crate::table::{Table, number};
use glam::{DMat3, DVec3};
use rattleback_geometry::{
    Aabb, BoundingSphere, MassProperties, MeshReport, OrientedBox, PolygonSoup, VolumeIntegrals,
    polygon_area_vector,
};
use serde_json::json;
use std::io::Write;

/// Report on a mesh, in SI units.
struct Findings {
    format: String,
    warnings: Vec<String>,
    report: MeshReport,
    /// The first reason why it is not the boundary of a solid.
    fault: Option<String>,
    area: f64,
    bounds: Aabb,
    oriented_box: OrientedBox,
    sphere: BoundingSphere,
    /// Only of a closed surface with consistently oriented faces.
    mass: Option<MassProperties>,
}

/// Reads the mesh and prints the report.
pub fn info(options: &Info, out: &mut dyn Write) -> Result<(), Failure> {
    if !(options.density.is_finite() && options.density > 0.0) {
        return Err(Failure::Input(format!("--density must be finite and > 0; got {}", options.density)));
    }
    let findings = examine(options)?;
    if options.json {
        let text = serde_json::to_string_pretty(&as_json(options, &findings)).map_err(Failure::failed)?;
        writeln!(out, "{text}")?;
        return Ok(());
    }
    print(options, &findings, out)
}

fn examine(options: &Info) -> Result<Findings, Failure> {
    let named = |error: &dyn std::fmt::Display| mesh::blame(&options.mesh, error);
    let loaded = mesh::read(&options.mesh)?;
    let mut soup = loaded.soup;
    for vertex in &mut soup.vertices {
        *vertex *= options.unit.length();
    }
    let report = MeshReport::of(&soup).map_err(|error| named(&error))?;
    let fault = report.first_error().map(|error| error.to_string());
    let area = soup.faces().map(|face| polygon_area_vector(&soup.vertices, face).length()).sum();
    let mass = mass(&soup, &report, options.density).map_err(|error| named(&error))?;
    Ok(Findings {
        format: loaded.format.to_string(),
        warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
        fault,
        area,
        bounds: Aabb::from_points(soup.vertices.iter().copied()).map_err(|error| named(&error))?,
        oriented_box: OrientedBox::fit(&soup.vertices).map_err(|error| named(&error))?,
        sphere: BoundingSphere::smallest(&soup.vertices).map_err(|error| named(&error))?,
        report,
        mass,
    })
}

/// Mass properties of a closed surface; of its mirror image if it is inside out.
fn mass(
    soup: &PolygonSoup,
    report: &MeshReport,
    density: f64,
) -> Result<Option<MassProperties>, rattleback_geometry::MassError> {
    if !(report.closed && report.oriented && report.manifold_edges) {
        return Ok(None);
    }
    let soup = if report.inverted { soup.reversed() } else { soup.clone() };
    // About the centre of the mesh, where the moments are not differences of large numbers.
    let middle = soup.vertices.iter().sum::<DVec3>() / soup.vertices.len() as f64;
    let integrals = VolumeIntegrals::of_soup_about(&soup, middle);
    MassProperties::from_integrals(&integrals, middle, density).map(Some)
}

fn vector(v: DVec3) -> String {
    // A coordinate that is zero by symmetry is rounded to zero.
    let noise = 1e-14 * v.abs().max_element();
    let shown = v.to_array().map(|x| number(if x.abs() <= noise { 0.0 } else { x }, 7));
    format!("({}, {}, {})", shown[0], shown[1], shown[2])
}

fn print(options: &Info, findings: &Findings, out: &mut dyn Write) -> Result<(), Failure> {
    let Findings { report, .. } = findings;
    let yes = |flag| if flag { "yes" } else { "no" };
    let mut table = Table::headless();
    let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
    row("file", format!("{} ({})", options.mesh.display(), findings.format));
    row("vertices, edges, faces", format!("{}, {}, {}", report.vertices, report.edges, report.faces));
    row(
        "surface",
        format!(
            "closed {}, oriented {}, manifold {}, components {}{}",
            yes(report.closed),
            yes(report.oriented),
            yes(report.manifold_edges && report.manifold_vertices),
            report.components,
            report.genus.map_or_else(String::new, |genus| format!(", genus {genus}")),
        ),
    );
    row("first fault", findings.fault.clone().unwrap_or_else(|| "none".into()));
    row("surface area", format!("{} m²", number(findings.area, 7)));
    let (low, high) = (findings.bounds.min(), findings.bounds.max());
    row("bounding box", format!("{} to {} m", vector(low), vector(high)));
    row("  size", format!("{} m", vector(findings.bounds.extents())));
    row("tightest box found", format!("{} m", vector(2.0 * findings.oriented_box.half_extents())));
    let sphere = &findings.sphere;
    row(
        "bounding sphere",
        format!("radius {} m about {}", number(sphere.radius(), 7), vector(sphere.center())),
    );
    if let Some(mass) = &findings.mass {
        let principal = mass.principal();
        let axes = DMat3::from_quat(principal.rotation);
        row("volume", format!("{} m³", number(mass.mass / options.density, 7)));
        row("mass", format!("{} kg at {} kg/m³", number(mass.mass, 7), options.density));
        row("centre of mass", format!("{} m", vector(mass.center_of_mass)));
        row("inertia tensor", format!("{} kg·m²", vector(mass.inertia.row(0))));
        row("  about the centre", vector(mass.inertia.row(1)));
        row("  of mass", vector(mass.inertia.row(2)));
        row("principal moments", format!("{} kg·m²", vector(principal.moments)));
        for (name, axis) in
            ["principal axes", "", ""].into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis])
        {
            row(name, vector(axis));
        }
    }
    table.write(out)?;
    for warning in &findings.warnings {
        writeln!(out, "note: {warning}")?;
    }
    if findings.mass.is_none() {
        writeln!(out, "note: volume and mass need a closed surface with consistently oriented faces")?;
    } else if report.inverted {
        writeln!(
            out,
            "note: the faces point inwards; mass and inertia are those of the mesh turned right side out"
        )?;
    }
    if findings.bounds.extents().max_element() > 50.0 && options.unit.length() == 1.0 {
        writeln!(out, "note: over 50 m large; if the file is in millimetres, pass --unit mm")?;
    }
    Ok(())
}

fn as_json(options: &Info, findings: &Findings) -> serde_json::Value {
    let rows = |m: DMat3| [m.row(0).to_array(), m.row(1).to_array(), m.row(2).to_array()];
    let mass = findings.mass.as_ref().map(|mass| {
        let principal = mass.principal();
        let axes = DMat3::from_quat(principal.rotation);
        json!({
            "volume": mass.mass / options.density,
            "density": options.density,
            "mass": mass.mass,
            "center_of_mass": mass.center_of_mass.to_array(),
            "inertia": rows(mass.inertia),
            "principal_moments": principal.moments.to_array(),
            "principal_axes": rows(axes.transpose()),
        })
    });
    let oriented = &findings.oriented_box;
    json!({
        "file": options.mesh.display().to_string(),
        "format": findings.format,
        "unit_in_metres": options.unit.length(),
        "warnings": findings.warnings,
        "surface": findings.report,
        "fault": findings.fault,
        "solid": findings.report.is_solid(),
        "surface_area": findings.area,
        "bounding_box": { "min": findings.bounds.min().to_array(), "max": findings.bounds.max().to_array() },
        "oriented_box": {
            "center": oriented.center().to_array(),
            "axes": oriented.axes().map(|axis| axis.to_array()),
            "half_extents": oriented.half_extents().to_array(),
        },
        "bounding_sphere": { "center": findings.sphere.center().to_array(), "radius": findings.sphere.radius() },
        "mass_properties": mass,
    })
}
