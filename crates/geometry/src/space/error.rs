//! Errors of the input of a space.

use thiserror::Error;

use super::ProxyId;

/// Boxes reach at most this far from the origin of the world, in metres: single-precision boxes, whose areas
/// are compared, stay finite. An unbounded shape, such as a half-space, has the box
/// [`everywhere`](super::everywhere).
pub const MAX_REACH: f64 = 1e15;

/// Why a space refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SpaceError {
    /// The id was removed, or belongs to another space.
    #[error("no box with id {id:?} in this space: it was removed or never inserted")]
    Unknown {
        /// The id.
        id: ProxyId,
    },
    /// A corner lies too far out.
    #[error("a box reaches to {reach} m on axis {axis}, at most {MAX_REACH} m are allowed")]
    Enormous {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
        /// The offending coordinate.
        reach: f64,
    },
    /// More boxes than ids.
    #[error("a space holds at most {limit} boxes")]
    Full {
        /// How many.
        limit: usize,
    },
    /// A setting outside of its range.
    #[error("{name} is {value}, must be {allowed}")]
    Setting {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Valid range.
        allowed: &'static str,
    },
    /// No space has this name.
    #[error("no space of that name; there are: {known}")]
    UnknownName {
        /// The names there are.
        known: &'static str,
    },
}
