//! Errors of queries on two shapes.

use thiserror::Error;

use crate::closest::ClosestError;
use crate::hierarchy::HierarchyError;

/// Why two shapes cannot be brought into contact.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ContactError {
    /// The pose is not finite, or a custom shape returns points that are not.
    #[error(transparent)]
    Closest(#[from] ClosestError),
    /// No hierarchy can be built over a mesh or compound.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// Two half-spaces overlap, or are apart, without end.
    #[error("two half-spaces have no contact points: at most one shape may be unbounded")]
    BothUnbounded,
    /// The margin is NaN or negative or has no end.
    #[error("the margin is {margin}, must be finite and not negative")]
    InvalidMargin {
        /// The value.
        margin: f64,
    },
    /// The merge angle is not an angle up to a right one.
    #[error("the merge angle is {angle}, must lie between 0 and π/2")]
    InvalidMergeAngle {
        /// The value.
        angle: f64,
    },
}
