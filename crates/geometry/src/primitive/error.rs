//! Errors and tolerances of primitive tests.

use thiserror::Error;

/// Why a primitive cannot be made or a query not be answered.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum PrimitiveError {
    /// A coordinate is NaN or infinite.
    #[error("{what} must be finite")]
    NonFinite {
        /// The quantity.
        what: &'static str,
    },
    /// A direction of length zero.
    #[error("{what} has length zero and no direction")]
    NoDirection {
        /// Which direction.
        what: &'static str,
    },
    /// A number outside its range.
    #[error("{what} is {value}, must be {allowed}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Valid range.
        allowed: &'static str,
    },
}

/// How near counts as touching: `relative` times the size of the things tested, plus `absolute` metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Fraction of the size of the things tested.
    pub relative: f64,
    /// Metres.
    pub absolute: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { relative: 1e-12, absolute: 0.0 }
    }
}

impl Tolerances {
    /// Only what rounding makes of exact contact.
    pub const ROUNDING: Self = Self { relative: 1e-14, absolute: 0.0 };

    /// Size of the things tested ⇒ length that counts as zero.
    pub fn length(&self, size: f64) -> f64 {
        self.relative * size + self.absolute
    }
}
