//! Cuts a solid into convex parts and writes them as one OBJ file, a group for each part.
//!
//! `cargo run --release -p rattleback-geometry --example decompose_mesh -- [ring|torus|star|cup] [folder]`
//! writes `exact.obj` and `approximate.obj`; parts are drawn a little apart.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::decomposition::{
    ApproximateSettings, DecompositionSettings, approximate_decomposition, decompose,
};
use rattleback_geometry::{ConvexPolyhedron, PolygonSoup, TriangleMesh, generate};

fn star() -> PolygonSoup {
    let corner = |i: u32, z: f64| {
        let radius = if i.is_multiple_of(2) { 1.0 } else { 0.4 };
        let (sin, cos) = (TAU * f64::from(i) / 10.0).sin_cos();
        DVec3::new(radius * cos, radius * sin, z)
    };
    let mut soup =
        PolygonSoup::new([0.0, 0.4].iter().flat_map(|&z| (0..10).map(move |i| corner(i, z))).collect());
    soup.push_face(&(0..10).rev().collect::<Vec<_>>());
    soup.push_face(&(10..20).collect::<Vec<_>>());
    (0..10).for_each(|i| soup.push_face(&[i, (i + 1) % 10, 10 + (i + 1) % 10, 10 + i]));
    soup
}

fn solid(name: &str) -> Result<TriangleMesh, Box<dyn std::error::Error>> {
    let cup = [(0.0, 0.0), (1.0, 0.0), (1.2, 2.0), (0.9, 2.0), (0.7, 0.4), (0.0, 0.3)];
    Ok(match name {
        "torus" => generate::torus(1.0, 0.4, 16, 8)?,
        "star" => TriangleMesh::from_soup(&star())?,
        "cup" => generate::revolved(&cup, 12)?,
        "ring" => TriangleMesh::from_soup(&generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5)?)?,
        _ => return Err(format!("no solid named {name}: ring, torus, star or cup").into()),
    })
}

/// Parts as groups of one file, moved away from the centre by a tenth.
fn object(parts: &[ConvexPolyhedron], center: DVec3) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let mut first = 1;
    for (i, part) in parts.iter().enumerate() {
        writeln!(text, "g part{i}")?;
        let middle = part.vertices().iter().sum::<DVec3>() / part.vertices().len() as f64;
        for p in part.vertices() {
            let p = *p + 0.1 * (middle - center);
            writeln!(text, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for face in part.faces() {
            let corners: Vec<String> = face.iter().map(|v| (v + first).to_string()).collect();
            writeln!(text, "f {}", corners.join(" "))?;
        }
        first += part.vertices().len() as u32;
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mesh = solid(&arguments.next().unwrap_or_else(|| "torus".into()))?;
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".into()));
    let center = mesh.bounds().center();

    let start = Instant::now();
    let exact = decompose(&mesh, &DecompositionSettings::default())?;
    println!(
        "exact: {} faces into {} parts ({} unresolved) by {} cuts in {:.1} ms; volume {} of {}",
        mesh.triangles().len(),
        exact.parts.len(),
        exact.unresolved.len(),
        exact.report.cuts,
        1e3 * start.elapsed().as_secs_f64(),
        exact.report.parts_volume,
        exact.report.volume
    );
    std::fs::write(folder.join("exact.obj"), object(&exact.parts, center)?)?;

    let start = Instant::now();
    let rough =
        approximate_decomposition(&mesh, &ApproximateSettings { max_error: 0.04, ..Default::default() })?;
    println!(
        "approximate: {} parts in {:.1} ms, none sticks out by more than {:.4}; volume {} of {}",
        rough.parts.len(),
        1e3 * start.elapsed().as_secs_f64(),
        rough.error_bound,
        rough.parts_volume,
        rough.volume
    );
    std::fs::write(folder.join("approximate.obj"), object(&rough.parts, center)?)?;
    Ok(())
}
