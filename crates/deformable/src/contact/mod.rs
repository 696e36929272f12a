//! Contact without intersection, after Li et al., "Incremental Potential Contact", 2020.
//!
//! Vertices against faces and edges against edges, of one body or of two, repel each other by a barrier energy that begins at the
//! activation distance and is infinite at contact (`barrier`). No iterate of a step may pass through a surface: every
//! displacement is shortened to a time that is proved to be free of contact (`swept`). Which pairs have to be looked at comes
//! from trees over faces and edges that are refitted (`candidates`).

pub(crate) mod barrier;
pub(crate) mod candidates;
pub(crate) mod distance;
pub(crate) mod intersection;
pub(crate) mod swept;
mod tree;

pub use intersection::{EdgeThroughTriangle, intersections};
pub use swept::conservative_time_of_impact;

/// Two features that may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeaturePair {
    /// A vertex and a face: points 0 | 1, 2, 3.
    VertexFace,
    /// Two edges: points 0, 1 | 2, 3.
    EdgeEdge,
}
