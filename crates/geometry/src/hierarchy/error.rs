//! Errors of the input of a hierarchy.

use thiserror::Error;

use crate::BoundsError;

/// Most items one hierarchy can hold: leaf ranges are packed into 32 bits.
pub const MAX_ITEMS: usize = 1 << 27;

/// Why a hierarchy cannot be built, refitted or queried.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum HierarchyError {
    /// Nothing to put into it.
    #[error("a hierarchy needs at least one item")]
    Empty,
    /// More items than links can address.
    #[error("{count} items given, a hierarchy holds at most {MAX_ITEMS}")]
    TooMany {
        /// How many were given.
        count: usize,
    },
    /// A number is NaN, infinite or beyond [`crate::MAX_LENGTH`].
    #[error("{what} {index} is not finite or exceeds the largest length")]
    NonFinite {
        /// Where the number is.
        what: &'static str,
        /// Its index, 0 if there is one only.
        index: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex} of {count}")]
    NoSuchVertex {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A refit must bring exactly the items of the build.
    #[error("{found} {what} given, the hierarchy was built over {expected}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// As many as at the build.
        expected: usize,
        /// As many as were given.
        found: usize,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}, must be {allowed}")]
    Parameter {
        /// Name of the setting.
        name: &'static str,
        /// The value.
        value: f64,
        /// Valid range.
        allowed: &'static str,
    },
    /// A node's volume could not be fitted.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
}
