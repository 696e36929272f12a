//! Eight single-precision numbers at a time.
//!
//! Plain arrays, which the compiler puts into vector registers of whatever width the function is compiled for. No
//! operation is fused, so that the bits do not depend on that width.

use std::array::from_fn;
use std::ops::{Add, Mul, Sub};

/// Eight numbers.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Lanes(pub [f32; 8]);

impl Lanes {
    pub(super) const ZERO: Self = Self([0.0; 8]);

    #[inline(always)]
    pub(super) const fn splat(x: f32) -> Self {
        Self([x; 8])
    }

    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    /// The larger of each number and zero.
    #[inline(always)]
    pub(super) fn positive(self) -> Self {
        Self(self.0.map(|x| if x > 0.0 { x } else { 0.0 }))
    }

    #[inline(always)]
    pub(super) fn reciprocal(self) -> Self {
        Self(self.0.map(|x| 1.0 / x))
    }

    /// Sum of all eight, always in the same order.
    #[inline(always)]
    pub(super) fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    /// Sum of all eight in double precision.
    #[inline(always)]
    pub(super) fn sum_f64(self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0.map(f64::from);
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

impl Add for Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl Sub for Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] - other.0[k]))
    }
}

impl Mul for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] * other.0[k]))
    }
}
