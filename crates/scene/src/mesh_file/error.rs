//! What can be wrong with a mesh file, and where.

use std::fmt;
use std::path::PathBuf;

use super::MeshFormat;

/// Why a mesh could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// Reading failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file in question.
        path: PathBuf,
        /// Its words.
        source: std::io::Error,
    },
    /// The destination did not take what was written.
    #[error("writing the mesh failed: {0}")]
    Write(#[from] std::io::Error),
    /// More than [`MeshLimits`](super::MeshLimits) allows.
    #[error("the mesh file has {found} {what}, {limit} are allowed")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many there are, or at least are announced.
        found: u64,
        /// How many may be.
        limit: u64,
    },
    /// The format follows from neither extension nor content.
    #[error("{}: not a supported mesh format; OBJ, STL, glTF and GLB are", path.display())]
    UnknownFormat {
        /// The file in question.
        path: PathBuf,
    },
    /// The file has no face, or none of area greater than zero.
    #[error("the {format} file has no face of area greater than zero")]
    NoFaces {
        /// The format it was read as.
        format: MeshFormat,
    },
    /// The requested group or object is not in the file.
    #[error("no group or object {wanted:?} in the file; there are: {}", available.join(", "))]
    UnknownGroup {
        /// The requested name.
        wanted: String,
        /// The first few names there are.
        available: Vec<String>,
    },
    /// A line of an OBJ file is wrong.
    #[error("OBJ line {line}: {problem}")]
    Obj {
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        problem: ObjProblem,
    },
    /// An STL file is wrong.
    #[error("STL {place}: {problem}")]
    Stl {
        /// Where.
        place: StlPlace,
        /// What is wrong there.
        problem: StlProblem,
    },
    /// A glTF file is wrong or beyond us.
    #[error("glTF {place}: {problem}")]
    Gltf {
        /// Where, as a path into the document like `accessors[3]`.
        place: String,
        /// What is wrong there.
        problem: GltfProblem,
    },
    /// A soup given to a writer refers to a vertex it does not have.
    #[error("face {face} refers to vertex {index}, but the soup has {vertices}")]
    FaceOutOfRange {
        /// Face number from 0.
        face: usize,
        /// Vertex number from 0.
        index: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A coordinate given to a writer cannot be stored in the format.
    #[error("vertex {vertex} has a coordinate that {format} cannot store (not finite, or too large)")]
    Unstorable {
        /// Vertex number from 0.
        vertex: usize,
        /// The format written.
        format: MeshFormat,
    },
}

/// What can be wrong with a line of an OBJ file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjProblem {
    /// `v` needs three numbers.
    #[error("a vertex needs 3 coordinates, found {found}")]
    TooFewCoordinates {
        /// How many there are.
        found: usize,
    },
    /// Not a number.
    #[error("{token:?} is not a number")]
    BadNumber {
        /// The word in question.
        token: String,
    },
    /// NaN, an infinity, or a number too large for 64 bits.
    #[error("coordinate {token:?} is not finite")]
    NonFinite {
        /// The word in question.
        token: String,
    },
    /// Not one of `v`, `v/vt`, `v//vn`, `v/vt/vn` with integers other than 0.
    #[error("{token:?} is not a face corner; v, v/vt, v//vn and v/vt/vn with non-zero integers are")]
    BadCorner {
        /// The word in question.
        token: String,
    },
    /// The corner names a vertex that is not in the file.
    #[error(
        "vertex index {index} is out of range, the file has {vertices} vertices (up to this line, if negative)"
    )]
    IndexOutOfRange {
        /// As written.
        index: i64,
        /// How many there are.
        vertices: usize,
    },
    /// `f` needs three corners.
    #[error("a face needs at least 3 corners, found {found}")]
    TooFewCorners {
        /// How many there are.
        found: usize,
    },
}

/// Where in an STL file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StlPlace {
    /// The 84 bytes in front of a binary file.
    Header,
    /// Triangle of a binary file, from 0.
    Triangle(usize),
    /// Line of an ASCII file, from 1.
    Line(usize),
}

impl fmt::Display for StlPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => formatter.write_str("header"),
            Self::Triangle(index) => write!(formatter, "triangle {index}"),
            Self::Line(line) => write!(formatter, "line {line}"),
        }
    }
}

/// What can be wrong with an STL file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StlProblem {
    /// Neither an ASCII file nor long enough to be a binary one.
    #[error(
        "{bytes} bytes that do not start an ASCII file are too few for a binary one, which has at least 84"
    )]
    TooShort {
        /// Length of the file.
        bytes: usize,
    },
    /// The file ends before the triangles it announces.
    #[error("{announced} triangles announced, but the file holds only {present}")]
    Truncated {
        /// By the header.
        announced: u32,
        /// Whole triangles there are.
        present: usize,
    },
    /// Another word was due.
    #[error("expected {expected}, found {found:?}")]
    Unexpected {
        /// What was due.
        expected: &'static str,
        /// The text found there; empty at the end of the file.
        found: String,
    },
    /// NaN, an infinity, or a number too large for 64 bits.
    #[error("a vertex coordinate is not finite")]
    NonFinite,
}

/// What can be wrong with a glTF file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GltfProblem {
    /// The container of a GLB file is broken.
    #[error("{0}")]
    Container(&'static str),
    /// The JSON does not parse, or lacks something.
    #[error("{0}")]
    Json(String),
    /// A part of the format we do not read.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// An index points beyond its list.
    #[error("refers to {list}[{index}], but there are {count}")]
    BadReference {
        /// The list.
        list: &'static str,
        /// Where it points.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A node is its own ancestor or has two parents.
    #[error("the node is reached twice; nodes must form trees")]
    NodeReachedTwice,
    /// Referenced bytes are outside of their buffer or view.
    #[error("{what} ends at byte {end}, but only {available} are there")]
    OutOfBounds {
        /// What lies outside.
        what: &'static str,
        /// One past its last byte; saturated.
        end: u64,
        /// Bytes there are.
        available: u64,
    },
    /// Values that contradict each other or the format.
    #[error("{0}")]
    Invalid(&'static str),
    /// A buffer's URI leads out of the file's folder, or to the network.
    #[error("buffer file {0:?} is not inside the folder of the glTF file")]
    OutsideFolder(String),
    /// A buffer file beside the glTF file cannot be read.
    #[error("buffer file {uri:?}: {reason}")]
    BufferFile {
        /// As written in the document.
        uri: String,
        /// The file system's words.
        reason: String,
    },
    /// An index value beyond the primitive's vertices.
    #[error("index {index} is out of range, the primitive has {vertices} vertices")]
    IndexOutOfRange {
        /// Value of the index.
        index: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A position, before or after its transform, is NaN or infinite.
    #[error("a vertex position is not finite")]
    NonFinite,
}
