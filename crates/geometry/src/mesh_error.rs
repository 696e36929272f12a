//! Errors of a mesh, with the first offending element.

use thiserror::Error;

/// Why polygons do not form the requested mesh.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// No vertex or no face.
    #[error("mesh has no faces or no vertices")]
    Empty,
    /// More elements than 32-bit indices reach.
    #[error("mesh has {count} {what}, at most {allowed} are allowed")]
    TooManyElements {
        /// Kind of element.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} is not finite")]
    NonFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A coordinate whose fifth power would overflow.
    #[error("vertex {vertex} lies beyond {} from the origin", crate::MAX_LENGTH)]
    TooLarge {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A face names a vertex that does not exist.
    #[error("face {face} names vertex {index}, but there are only {vertices} vertices")]
    IndexOutOfRange {
        /// Index of the face.
        face: usize,
        /// The bad vertex index.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A face with fewer than three corners, a repeated corner or no area.
    #[error("face {face} is degenerate (fewer than three different corners, or no area)")]
    DegenerateFace {
        /// Index of the face.
        face: usize,
    },
    /// Two faces with the same corners.
    #[error("face {face} repeats face {first}")]
    DuplicateFace {
        /// Index of the later face.
        face: usize,
        /// Index of the earlier face.
        first: usize,
    },
    /// An edge with only one face: the mesh has a border.
    #[error("mesh is open: only one face uses edge {}-{}", edge[0], edge[1])]
    Open {
        /// The two vertices of the edge.
        edge: [u32; 2],
    },
    /// An edge with three or more faces.
    #[error("edge {}-{} has {faces} faces, must have two", edge[0], edge[1])]
    NonManifoldEdge {
        /// The two vertices of the edge.
        edge: [u32; 2],
        /// How many faces use it.
        faces: usize,
    },
    /// A vertex where separate fans of faces touch.
    #[error("vertex {vertex} joins separate fans of faces")]
    NonManifoldVertex {
        /// Index of the vertex.
        vertex: u32,
    },
    /// Neighbouring faces run along their edge in the same direction.
    #[error("both faces of edge {}-{} run along it in the same direction", edge[0], edge[1])]
    InconsistentWinding {
        /// The two vertices of the edge.
        edge: [u32; 2],
    },
    /// The face normals point inwards.
    #[error("mesh is inside out (signed volume {volume}): reverse its faces")]
    Inverted {
        /// The signed volume.
        volume: f64,
    },
    /// The corners of a face do not lie in one plane.
    #[error("face {face} deviates from its plane by {deviation}, allowed is {allowed}: triangulate it")]
    NonPlanarFace {
        /// Index of the face.
        face: usize,
        /// Largest distance of a corner from the plane.
        deviation: f64,
        /// Largest distance allowed.
        allowed: f64,
    },
    /// A tolerance outside [0, 0.1] of the size.
    #[error("tolerance is {tolerance}, must lie between 0 and 0.1 of the size")]
    Tolerance {
        /// The bad value.
        tolerance: f64,
    },
    /// A vertex sticks out over the plane of a face.
    #[error("not convex: vertex {vertex} lies {height} above the plane of face {face}")]
    NotConvex {
        /// Index of the face.
        face: usize,
        /// Index of the vertex.
        vertex: usize,
        /// How far it sticks out.
        height: f64,
    },
    /// Locally convex, but of several pieces, with handles, or winding around itself.
    #[error("not convex: the surface is not one simple shell")]
    NotSimple,
}
