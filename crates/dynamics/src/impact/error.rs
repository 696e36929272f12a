//! Errors of the impact laws.

use thiserror::Error;

/// Why a collision could not be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// An input is infinite or not a number.
    #[error("{what} must be finite")]
    NotFinite {
        /// The input.
        what: &'static str,
    },
    /// A coefficient is outside its range.
    #[error("{what} must be {allowed}; got {value}")]
    Coefficient {
        /// The coefficient.
        what: &'static str,
        /// Its range.
        allowed: &'static str,
        /// The value given.
        value: f64,
    },
    /// The contact normal is zero.
    #[error("the contact normal must not be zero")]
    NoNormal,
    /// The matrix is not a collision matrix of two bodies.
    #[error("the collision matrix must be symmetric and positive definite: {defect}")]
    CollisionMatrix {
        /// The property that it lacks.
        defect: &'static str,
    },
    /// Both bodies have infinite mass.
    #[error("at least one of the two bodies must have a positive inverse mass")]
    NoDynamicBody,
    /// The result exceeds the range of numbers.
    #[error("the impulse or the velocity after the collision is too large for a number")]
    Overflow,
}
