//! Meshes that a robot names: where they are, and what is made of them.

use super::model::RobotOptions;
use super::xml::{Attribute, Notes};
use crate::error::Problem;
use crate::file_access::FileAccess;
use crate::mesh_file::{self, MeshLimits, ObjOptions};
use crate::source::{Fault, Read};
use glam::{DMat3, DVec3};
use rattleback_geometry::{MassError, MassProperties, PolygonSoup, Shape};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const LIMITS: MeshLimits =
    MeshLimits { max_file_bytes: 256 << 20, max_vertices: 2_000_000, max_faces: 4_000_000 };
/// Folders above that of the file in which a package is looked for.
const MAX_ABOVE: usize = 16;
/// Formats that robots use and that are not read.
const UNREAD: [&str; 3] = ["dae", "ply", "3ds"];

/// Mesh files of a robot; each is read once.
#[derive(Debug)]
pub(super) struct MeshFiles<'a> {
    folder: &'a Path,
    access: FileAccess,
    wanted: bool,
    known: BTreeMap<PathBuf, Arc<PolygonSoup>>,
}

impl<'a> MeshFiles<'a> {
    pub fn new(folder: &'a Path, options: RobotOptions) -> Self {
        Self { folder, access: options.access, wanted: options.meshes, known: BTreeMap::new() }
    }

    /// (attribute with the name of a file, folder of meshes) ⇒ mesh; none if meshes are not wanted or the format is not read.
    pub fn read(
        &mut self,
        file: &Attribute,
        inside: &Path,
        notes: &mut Notes,
    ) -> Read<Option<Arc<PolygonSoup>>> {
        let name = file.value.trim();
        let extension =
            Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if !self.wanted {
            return Ok(None);
        }
        if UNREAD.iter().any(|unread| extension.eq_ignore_ascii_case(unread)) {
            notes.add(
                file.span,
                format!("meshes in the format .{extension} are not read; the shape is left out"),
            );
            return Ok(None);
        }
        let refuse = |reason: String| Fault::new(file.span, Problem::Mesh(format!("`{name}`: {reason}")));
        let path = self.locate(name, inside).map_err(refuse)?;
        if let Some(known) = self.known.get(&path) {
            return Ok(Some(Arc::clone(known)));
        }
        let soup = if extension.eq_ignore_ascii_case("msh") {
            super::msh::read(&path, &LIMITS).map_err(refuse)?
        } else {
            let options = ObjOptions { limits: LIMITS, ..ObjOptions::default() };
            mesh_file::read_with(&path, &options).map_err(|error| refuse(error.to_string()))?.soup
        };
        let soup = Arc::new(soup);
        self.known.insert(path, Arc::clone(&soup));
        Ok(Some(soup))
    }

    /// `package://NAME/PATH` is looked for in folder `NAME` beside the file or above it, and in folders of that name; other names are relative.
    fn locate(&self, name: &str, inside: &Path) -> Result<PathBuf, String> {
        let package = name.strip_prefix("package://").or_else(|| name.strip_prefix("model://"));
        let Some(package) = package else {
            let path = name.strip_prefix("file://").unwrap_or(name);
            return self.access.locate(self.folder, &inside.join(path));
        };
        let below = package.split_once('/').map_or(package, |(_, below)| below);
        let first = self.access.locate(self.folder, Path::new(package));
        if first.is_ok() {
            return first;
        }
        if let Ok(path) = self.access.locate(self.folder, Path::new(below)) {
            return Ok(path);
        }
        if self.access != FileAccess::Anywhere {
            let hint = "not in the robot's folder; --allow-outside looks for the package above it";
            return Err(hint.into());
        }
        let folder = std::fs::canonicalize(if self.folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            self.folder
        });
        for above in folder.map_err(|error| error.to_string())?.ancestors().take(MAX_ABOVE) {
            for path in [above.join(package), above.join(below)] {
                if path.is_file() {
                    return self.access.locate(above, &path);
                }
            }
        }
        first
    }
}

/// Vertices ⇒ convex hull; none, with a warning, for a mesh that is flat.
pub(super) fn hull(vertices: &[DVec3], file: &Attribute, notes: &mut Notes) -> Option<Shape> {
    match Shape::convex_hull(vertices) {
        Ok(shape) => Some(shape),
        Err(error) => {
            notes.add(file.span, format!("the mesh has no convex hull ({error}); the shape is left out"));
            None
        }
    }
}

/// How MuJoCo computes the volume of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MeshInertia {
    /// Pyramids from the centroid of the surface, each counted as positive: exact for shapes that are star-shaped from there.
    #[default]
    Legacy,
    /// Pyramids with their sign.
    Exact,
    /// The convex hull.
    Convex,
    /// The surface, with a mass for each area.
    Shell,
}

/// Triangles ⇒ mass properties at density 1 (for a shell: a mass of 1 for each unit of area).
///
/// A tetrahedron from o over the triangle (a, b, c) has V = (a − o)·((b − o) × (c − o))/6, the centre (o + a + b + c)/4 and the second moment
/// ∫ x xᵀ dV = V/20 (Σ x xᵀ + (Σ x)(Σ x)ᵀ) over its corners from o. A triangle of area A has A/12 of the same sum.
pub(super) fn mesh_mass(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    how: MeshInertia,
) -> Result<MassProperties, MassError> {
    if how == MeshInertia::Convex {
        let hull = Shape::convex_hull(vertices).map_err(|_| MassError::NoVolume { shape: "mesh".into() })?;
        return hull.mass_properties(1.0);
    }
    let corners = || triangles.iter().map(|t| t.map(|corner| vertices[corner as usize]));
    let area_of = |[a, b, c]: [DVec3; 3]| 0.5 * (b - a).cross(c - a).length();
    let area: f64 = corners().map(area_of).sum();
    let middle: DVec3 = corners().map(|t| area_of(t) * (t[0] + t[1] + t[2]) / 3.0).sum::<DVec3>() / area;
    let weight = |[a, b, c]: [DVec3; 3], from: DVec3| {
        let volume = (a - from).dot((b - from).cross(c - from)) / 6.0;
        match how {
            MeshInertia::Shell => area_of([a, b, c]),
            MeshInertia::Legacy => volume.abs(),
            _ => volume,
        }
    };
    let shell = how == MeshInertia::Shell;
    let mass: f64 = corners().map(|t| weight(t, middle)).sum();
    let center_of = |t: [DVec3; 3]| {
        let sum = t[0] + t[1] + t[2];
        if shell { sum / 3.0 } else { 0.25 * (sum + middle) }
    };
    let center: DVec3 = corners().map(|t| weight(t, middle) * center_of(t)).sum::<DVec3>() / mass;
    let outer = |a: DVec3| DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    // MuJoCo takes the volume about the centre of mass; for a mesh that is not closed or not star-shaped it differs from the first one.
    let mass: f64 = corners().map(|t| weight(t, center)).sum();
    let mut second = DMat3::ZERO;
    for t in corners() {
        let from = t.map(|corner| corner - center);
        let sum = outer(from[0]) + outer(from[1]) + outer(from[2]) + outer(from[0] + from[1] + from[2]);
        second += sum * (weight(t, center) / if shell { 12.0 } else { 20.0 });
    }
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    MassProperties::new(mass, center, DMat3::from_diagonal(DVec3::splat(trace)) - second)
}
