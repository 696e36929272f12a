//! Meshes in files: OBJ, STL and glTF in, OBJ and STL out.
//!
//! A reader turns bytes into a [`PolygonSoup`] and promises only what it can see: every index is in range, every
//! coordinate is finite, no face is a line or a point, every vertex is used. Whether the faces close, or turn
//! the right way, is for `Polyhedron` and `TriangleMesh` to find out. Numbers stay in the units and axes of the
//! file (metres and y up in glTF; unspecified in OBJ and STL).
//!
//! Deliberately absent: materials, normals, texture coordinates, skins and morph targets.

mod builder;
mod error;
mod gltf;
mod obj;
mod sniff;
mod stl;
mod write;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::{GltfProblem, MeshFileError, ObjProblem, StlPlace, StlProblem};
pub use gltf::read_gltf;
pub use obj::{ObjOptions, read_obj};
use rattleback_geometry::PolygonSoup;
pub use stl::read_stl;
pub use write::{write_obj, write_stl_binary};

/// The kinds of mesh file we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshFormat {
    /// Wavefront OBJ text.
    Obj,
    /// STL with 50 bytes a triangle.
    StlBinary,
    /// STL in words.
    StlAscii,
    /// glTF 2.0 as JSON.
    Gltf,
    /// glTF 2.0 with its binary chunk in one file.
    Glb,
}

impl fmt::Display for MeshFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Obj => "OBJ",
            Self::StlBinary => "binary STL",
            Self::StlAscii => "ASCII STL",
            Self::Gltf => "glTF",
            Self::Glb => "GLB",
        })
    }
}

/// How much a mesh file may make us read and keep; beyond it a reader stops with [`MeshFileError::TooLarge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Bytes of the file; for glTF also of all its buffers together. Default 512 MiB.
    pub max_file_bytes: u64,
    /// Vertices in the soup. Default 20 million (480 MB).
    pub max_vertices: usize,
    /// Faces in the soup. Default 40 million.
    pub max_faces: usize,
}

impl Default for MeshLimits {
    fn default() -> Self {
        Self { max_file_bytes: 512 << 20, max_vertices: 20_000_000, max_faces: 40_000_000 }
    }
}

/// Something in the file that was set right or left out; the mesh is usable all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshWarning {
    /// Faces whose corners lie on one line or point, left out.
    ZeroAreaFaces(usize),
    /// Corners equal to the corner before them in the same face, left out.
    RepeatedCorners(usize),
    /// Vertices no face uses, left out.
    UnusedVertices(usize),
    /// Points, lines and curves, left out.
    OtherPrimitives(usize),
    /// Statements of an unknown keyword, left out.
    UnknownStatements(usize),
    /// Bytes after the last triangle that a binary STL file announces, left out.
    TrailingBytes(usize),
    /// Skinned meshes, read in their rest shape.
    SkinsIgnored(usize),
    /// The content is of another format than the extension.
    OtherFormatThanExtension(MeshFormat),
}

impl fmt::Display for MeshWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroAreaFaces(count) => write!(formatter, "{count} face(s) of zero area left out"),
            Self::RepeatedCorners(count) => {
                write!(formatter, "{count} repeated corner(s) left out of their faces")
            }
            Self::UnusedVertices(count) => {
                write!(formatter, "{count} vertex/vertices used by no face left out")
            }
            Self::OtherPrimitives(count) => {
                write!(formatter, "{count} point, line or curve element(s) left out")
            }
            Self::UnknownStatements(count) => write!(formatter, "{count} unknown statement(s) left out"),
            Self::TrailingBytes(count) => {
                write!(formatter, "{count} byte(s) after the last triangle left out")
            }
            Self::SkinsIgnored(count) => write!(formatter, "{count} skinned mesh(es) read in rest shape"),
            Self::OtherFormatThanExtension(format) => {
                write!(formatter, "the extension differs, but the content is {format}")
            }
        }
    }
}

/// A mesh as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedMesh {
    /// Vertices and faces; n-gons stay n-gons.
    pub soup: PolygonSoup,
    /// What the file turned out to be.
    pub format: MeshFormat,
    /// What was left out or set right, each kind at most once.
    pub warnings: Vec<MeshWarning>,
    /// Names found in the file, in order: OBJ groups and objects, STL solids, glTF nodes with a mesh.
    pub groups: Vec<String>,
}

impl LoadedMesh {
    /// Faces cut into triangles, each by a fan from its first corner: n corners ⇒ n − 2 triangles.
    pub fn fan_triangles(&self) -> Vec<[u32; 3]> {
        write::fan_triangles(&self.soup).collect()
    }
}

/// Path of a mesh file ⇒ mesh, within the default limits. The content has the last word on the format.
///
/// ```
/// use rattleback_scene::mesh_file;
///
/// let path = std::env::temp_dir().join("rattleback-doc-triangle.obj");
/// std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
/// let mesh = mesh_file::read(&path)?;
/// assert_eq!(mesh.soup.face(0), [0, 1, 2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Reading failed, the format is unknown, the file is invalid, or a limit is exceeded.
pub fn read(path: impl AsRef<Path>) -> Result<LoadedMesh, MeshFileError> {
    read_with(path, &ObjOptions::default())
}

/// Path of a mesh file, limits and (for OBJ) the part wanted ⇒ mesh.
///
/// # Errors
/// Reading failed, the format is unknown, the file is invalid, or a limit is exceeded.
pub fn read_with(path: impl AsRef<Path>, options: &ObjOptions) -> Result<LoadedMesh, MeshFileError> {
    let path = path.as_ref();
    let bytes = read_file(path, options.limits.max_file_bytes)?;
    let by_extension = sniff::by_extension(path);
    let Some(format) = sniff::by_content(&bytes).or(by_extension) else {
        return Err(MeshFileError::UnknownFormat { path: path.to_owned() });
    };
    let mut mesh = match format {
        MeshFormat::Obj => read_obj(&bytes, options),
        MeshFormat::StlBinary | MeshFormat::StlAscii => read_stl(&bytes, &options.limits),
        MeshFormat::Gltf | MeshFormat::Glb => read_gltf(&bytes, path.parent(), &options.limits),
    }?;
    if by_extension.is_some_and(|expected| !sniff::same_family(expected, mesh.format)) {
        mesh.warnings.push(MeshWarning::OtherFormatThanExtension(mesh.format));
    }
    Ok(mesh)
}

/// Path ⇒ bytes of that regular file, never more than `max_bytes` of them.
fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, MeshFileError> {
    let io_error = |source| MeshFileError::Io { path: path.to_owned(), source };
    // Looked at before opening: opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(path).map_err(io_error)?;
    if !metadata.is_file() {
        return Err(io_error(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file")));
    }
    check_size("bytes", metadata.len(), max_bytes)?;
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // A file may grow while it is read.
    File::open(path)
        .and_then(|file| file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(io_error)?;
    check_size("bytes", bytes.len() as u64, max_bytes)?;
    Ok(bytes)
}

/// Errs when `found` of `what` exceed `limit`.
fn check_size(what: &'static str, found: u64, limit: u64) -> Result<(), MeshFileError> {
    if found > limit { Err(MeshFileError::TooLarge { what, found, limit }) } else { Ok(()) }
}

/// The text without the byte order mark that some editors put in front.
fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// A token as it may be shown in a message: readable and short.
fn shown(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = &token[..token.len().min(LONGEST)];
    let text: String =
        String::from_utf8_lossy(cut).chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if token.len() > LONGEST { text + "…" } else { text }
}
