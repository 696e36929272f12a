//! Numbers that the algorithms are written for: one state at a time, or several in lanes.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number, or several of them on which the same operations are carried out.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// How many numbers it holds.
    const LANES: usize;

    /// The same number in every lane.
    fn splat(value: f64) -> Self;

    /// Number in a lane.
    fn lane(self, lane: usize) -> f64;

    /// Replaces the number in a lane.
    fn set_lane(&mut self, lane: usize, value: f64);

    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);

    /// Whether every lane is finite and above 0.
    fn is_positive(self) -> bool;
}

impl Scalar for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn set_lane(&mut self, _: usize, value: f64) {
        *self = value;
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }

    #[inline(always)]
    fn is_positive(self) -> bool {
        self > 0.0 && self.is_finite()
    }
}
