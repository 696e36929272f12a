//! Errors of deformable bodies.

use thiserror::Error;

/// Why a deformable body or a step refuses an input. What it was asked of is left as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DeformableError {
    /// A mass that is not positive and finite. Fixed vertices are pinned, not infinitely heavy.
    #[error("mass {mass} kg: must be finite and greater than zero")]
    InvalidMass {
        /// The mass, kg.
        mass: f64,
    },
    /// A number outside of its range.
    #[error("{name} = {value}: allowed is {allowed}")]
    InvalidCoefficient {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Valid range, in words.
        allowed: &'static str,
    },
    /// A position, velocity or force that is NaN or infinite.
    #[error("{what} of vertex {vertex} is not finite")]
    NonFiniteState {
        /// Which quantity.
        what: &'static str,
        /// The vertex.
        vertex: usize,
    },
    /// An element whose vertices coincide, do not exist, or span no length, area or volume.
    #[error("element {element}: {reason}")]
    BadTopology {
        /// Index of the element in its list.
        element: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// No vertex, body or plane has this index.
    #[error("{what} {index} does not exist; there are {count}")]
    NoSuch {
        /// What was asked for.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// More vertices than can be indexed.
    #[error("{count} {what} asked for; the limit is {limit}")]
    TooMany {
        /// What was asked for.
        what: &'static str,
        /// The number asked for.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// The surfaces intersect before the step, so that no barrier can keep them apart.
    #[error("{count} edges pass through triangles before the step; the first: {edge:?} through {triangle:?}")]
    Intersecting {
        /// Number of pairs.
        count: usize,
        /// Surface vertices of the first edge.
        edge: [u32; 2],
        /// Surface vertices of the first triangle.
        triangle: [u32; 3],
    },
    /// The matrix of a step has a direction of negative curvature, even with the clamp on compressed springs.
    #[error("matrix of the step is not positive definite")]
    IndefiniteMatrix,
    /// A snapshot that is damaged, of another format, or of another model.
    #[error("snapshot: {reason}")]
    Snapshot {
        /// What is wrong.
        reason: &'static str,
    },
    /// A mesh that cannot be used.
    #[error("mesh: {reason}")]
    Mesh {
        /// Why.
        reason: String,
    },
}

/// Checks a number against a condition ⇒ error with its name and valid range.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    valid: bool,
    allowed: &'static str,
) -> Result<(), DeformableError> {
    if valid && value.is_finite() {
        Ok(())
    } else {
        Err(DeformableError::InvalidCoefficient { name, value, allowed })
    }
}
