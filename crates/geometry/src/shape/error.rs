//! Why a shape cannot be made.

use thiserror::Error;

use crate::{HullError, MAX_LENGTH, MIN_LENGTH, MeshError};

/// Why a shape cannot be made or tessellated.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size that is not a sensible length.
    #[error("{shape}: {parameter} is {value}, must lie between {MIN_LENGTH:e} and {MAX_LENGTH:e}")]
    Size {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter that is NaN, infinite or absurdly far away.
    #[error("{shape}: {parameter} must be finite and below {MAX_LENGTH:e}")]
    NonFinite {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A direction without length.
    #[error("{shape}: {parameter} has no direction")]
    NoDirection {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A count outside its range.
    #[error("{shape}: {parameter} is {value}, must lie between {min} and {max}")]
    Count {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: usize,
        /// Smallest allowed value.
        min: usize,
        /// Largest allowed value.
        max: usize,
    },
    /// An operation that needs a bounded shape got an unbounded one.
    #[error("{shape} is unbounded")]
    Unbounded {
        /// Name of the shape.
        shape: &'static str,
    },
    /// A part of a compound whose pose is not a rigid motion.
    #[error("compound: the pose of part {part} is not finite or its quaternion is not of unit length")]
    InvalidPose {
        /// Index of the part.
        part: usize,
    },
    /// A support function with inconsistent results.
    #[error("custom shape {name}: support function gives non-finite or inconsistent points")]
    BadSupport {
        /// Name of the custom shape.
        name: String,
    },
    /// The mesh is unsound.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The points have no hull.
    #[error(transparent)]
    Hull(#[from] HullError),
}

/// A length that is positive and whose fifth power (the order of a moment of inertia) is a normal number.
pub(crate) fn length(shape: &'static str, parameter: &'static str, value: f64) -> Result<f64, ShapeError> {
    if (MIN_LENGTH..=MAX_LENGTH).contains(&value) {
        Ok(value)
    } else {
        Err(ShapeError::Size { shape, parameter, value })
    }
}

/// A count within its range.
pub(crate) fn count(
    shape: &'static str,
    parameter: &'static str,
    value: usize,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, ShapeError> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(ShapeError::Count { shape, parameter, value, min: *range.start(), max: *range.end() })
    }
}
