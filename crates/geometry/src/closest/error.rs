//! Errors of queries on two shapes.

use thiserror::Error;

use crate::ShapeKind;

/// Why two shapes have no nearest points.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ClosestError {
    /// The relative pose is not finite, farther than `MAX_LENGTH`, or its quaternion has no unit length.
    #[error(
        "the pose of B in A must be finite, at most 1e50 m long, with a quaternion of unit length within 1e-9"
    )]
    InvalidPose,
    /// A point of a shape is not finite or farther out than `MAX_LENGTH`.
    #[error("a support function returned a point that is not finite or farther out than 1e50 m")]
    InvalidPoint,
    /// Only bounded convex shapes have a support function.
    #[error("a {} is not bounded and convex; take it apart into pieces that are", .0.name())]
    NotConvex(ShapeKind),
}
