//! Why a solid cannot be cut into convex parts.

use thiserror::Error;

use crate::MeshError;
use crate::hierarchy::HierarchyError;

/// Why a decomposition failed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DecompositionError {
    /// Not the surface of a solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No hierarchy can be built over its faces.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// A face visits a vertex twice: it surrounds a hole.
    #[error("face {face} has a hole (its loop visits a vertex twice): cut it into faces without holes")]
    FaceWithHole {
        /// Index of the face.
        face: usize,
    },
    /// A face that is not a convex polygon.
    #[error("face {face} is not convex: `split_faces` cuts it into triangles")]
    NonConvexFace {
        /// Index of the face.
        face: usize,
    },
    /// A shell with inward normals: the solid is hollow.
    #[error("the solid has an interior void: the shell of vertex {vertex} has inward normals")]
    InteriorVoid {
        /// A vertex of the inner shell.
        vertex: u32,
    },
    /// Two faces intersect, or one shell lies inside another.
    #[error("faces {} and {} intersect", faces[0], faces[1])]
    SelfIntersecting {
        /// The two faces, of the triangulated surface.
        faces: [usize; 2],
    },
    /// Some reflex edges remain; only in strict mode.
    #[error("{edges} reflex edges could not be resolved: allow more rounds or turn strictness off")]
    Unresolved {
        /// How many.
        edges: usize,
    },
    /// A setting out of range.
    #[error("{name} is {value}, must be {allowed}")]
    Parameter {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Valid range.
        allowed: &'static str,
    },
}
