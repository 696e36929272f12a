//! Shapes given on the command line: a mesh file, or a few words such as `box:1,2,3`.

use crate::failure::Failure;
use crate::mesh;
use glam::DVec3;
use rattleback_geometry::{Shape, ShapeError, TriangleMesh, generate};
use std::path::Path;
use std::sync::Arc;

/// Kinds, what their numbers mean, and an example.
const KINDS: [(&str, &[&str], &str); 6] = [
    ("box", &["length", "width", "height"], "box:1,2,3"),
    ("sphere", &["radius"], "sphere:0.5"),
    ("capsule", &["radius", "height without its caps"], "capsule:0.2,1"),
    ("cylinder", &["radius", "height"], "cylinder:0.3,1"),
    ("cone", &["radius", "height"], "cone:0.3,1"),
    ("ellipsoid", &["half length", "half width", "half height"], "ellipsoid:1,0.5,0.3"),
];

/// Segments around a round shape in a picture.
const SEGMENTS: u32 = 64;

/// A shape and its surface.
pub struct Given {
    /// The shape, for distances.
    pub shape: Shape,
    /// Surface to draw; facets where the shape is round.
    pub surface: TriangleMesh,
    /// Description.
    pub description: String,
}

/// Text ⇒ shape. The name of an existing file takes precedence.
pub fn read(text: &str) -> Result<Given, Failure> {
    let path = Path::new(text);
    match text.split_once(':') {
        // A single letter is a drive of Windows.
        Some((kind, numbers)) if kind.len() > 1 && !path.exists() => literal(text, kind, numbers),
        _ => {
            let surface = mesh::read_triangles(path)?;
            let kind = if surface.is_solid() { "solid" } else { "open surface" };
            let description = format!("{text} ({} triangles, {kind})", surface.triangles().len());
            Ok(Given { shape: Shape::Mesh(Arc::new(surface.clone())), surface, description })
        }
    }
}

fn literal(text: &str, kind: &str, numbers: &str) -> Result<Given, Failure> {
    let Some((kind, names, example)) = KINDS.iter().find(|known| known.0 == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|known| known.2).collect();
        return Err(Failure::Input(format!(
            "{text}: no file of that name and no shape either; shapes are given as {}",
            known.join(", ")
        )));
    };
    let read: Vec<Option<f64>> = numbers.split(',').map(|number| number.trim().parse().ok()).collect();
    let values: Vec<f64> = read.iter().copied().flatten().collect();
    if values.len() != names.len() || read.len() != names.len() {
        return Err(Failure::Input(format!(
            "{text}: a {kind} is given by its {} in metres, as in {example}",
            names.join(", ")
        )));
    }
    let (shape, surface) = made(kind, &values).map_err(|error| Failure::Input(format!("{text}: {error}")))?;
    Ok(Given { shape, surface, description: format!("{kind} of {} m", numbers.replace(',', " × ")) })
}

/// (kind, as many numbers as it needs) ⇒ the shape and its surface.
fn made(kind: &str, numbers: &[f64]) -> Result<(Shape, TriangleMesh), ShapeError> {
    let number = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
    let (x, y, vector) = (number(0), number(1), DVec3::new(number(0), number(1), number(2)));
    Ok(match kind {
        "box" => {
            let half = 0.5 * vector;
            let soup = generate::cuboid(half)?;
            let surface = TriangleMesh::from_soup(&soup)
                .map_err(|_| ShapeError::NonFinite { shape: "box", parameter: "size" })?;
            (Shape::cuboid(half)?, surface)
        }
        "sphere" => (Shape::sphere(x)?, generate::ellipsoid(DVec3::splat(x), SEGMENTS)?),
        "capsule" => (Shape::capsule(x, y)?, generate::capsule(x, y, SEGMENTS)?),
        "cylinder" => (Shape::cylinder(x, y)?, generate::cylinder(x, y, SEGMENTS)?),
        "cone" => (Shape::cone(x, y)?, generate::cone(x, y, SEGMENTS)?),
        _ => (Shape::ellipsoid(vector)?, generate::ellipsoid(vector, SEGMENTS)?),
    })
}
