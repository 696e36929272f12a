//! Reading and writing of meshes.

use crate::failure::Failure;
use rattleback_geometry::{PolygonSoup, TriangleMesh};
use rattleback_scene::mesh_file::{self, LoadedMesh};
use std::fs::File;
use std::path::Path;

/// An error about a file ⇒ a failure that names the file, once.
pub fn blame(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let (text, path) = (error.to_string(), path.display().to_string());
    Failure::Input(if text.contains(&path) { text } else { format!("{path}: {text}") })
}

/// File ⇒ polygons.
pub fn read(path: &Path) -> Result<LoadedMesh, Failure> {
    mesh_file::read(path).map_err(|error| blame(path, &error))
}

/// File ⇒ triangles.
pub fn read_triangles(path: &Path) -> Result<TriangleMesh, Failure> {
    TriangleMesh::from_soup(&read(path)?.soup).map_err(|error| blame(path, &error))
}

/// Writes polygons as OBJ.
pub fn write_obj(soup: &PolygonSoup, path: &Path) -> Result<(), Failure> {
    let file = File::create(path).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    mesh_file::write_obj(soup, file).map_err(Failure::failed)
}
