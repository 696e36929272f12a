//! What can be wrong with a collision, and how it is said.

use thiserror::Error;

/// Why a collision has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// A number that goes in is infinite or not a number.
    #[error("{what} must be finite")]
    NotFinite {
        /// Which input.
        what: &'static str,
    },
    /// A coefficient is outside its range.
    #[error("{what} must be {allowed}; got {value}")]
    Coefficient {
        /// Which coefficient.
        what: &'static str,
        /// What is accepted.
        allowed: &'static str,
        /// What was given.
        value: f64,
    },
    /// The contact normal has no direction.
    #[error("the contact normal must not be zero")]
    NoNormal,
    /// The collision matrix is not that of two bodies.
    #[error("the collision matrix must be symmetric and positive definite: {defect}")]
    CollisionMatrix {
        /// What it lacks.
        defect: &'static str,
    },
    /// Neither body can be moved by an impulse.
    #[error("at least one of the two bodies must have a positive inverse mass")]
    NoDynamicBody,
    /// The answer is beyond what a number can hold.
    #[error("the impulse or the velocity after the collision is too large for a number")]
    Overflow,
}
