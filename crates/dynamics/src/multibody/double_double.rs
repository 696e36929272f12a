//! Numbers of 106 bits as unevaluated sums of two doubles: for joints at which doubles lose too many digits, and as the reference that shows whose
//! rounding a difference is.
//!
//! x = high + low with |low| ≤ ½ ulp(high). Sums and products by error-free transformations (Dekker 1971, Knuth); sine and cosine by Taylor's series after
//! reduction by multiples of π/2.

use super::scalar::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// high + low.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DoubleDouble {
    /// The double next to the number.
    pub high: f64,
    /// What is left, at most half a unit in the last place of `high`.
    pub low: f64,
}

fn sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let part = high - a;
    DoubleDouble { high, low: (a - (high - part)) + (b - part) }
}

/// The same for |a| ≥ |b|.
fn quick(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let (first, second) = (sum(self.high, b.high), sum(self.low, b.low));
        let first = quick(first.high, first.low + second.high);
        quick(first.high, first.low + second.low)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let high = self.high * b.high;
        let low = self.high.mul_add(b.high, -high) + (self.high * b.low + self.low * b.high);
        quick(high, low)
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let first = self.high / b.high;
        let rest = self - b * Self::splat(first);
        let second = rest.high / b.high;
        let rest = rest - b * Self::splat(second);
        quick(first, second) + Self::splat(rest.high / b.high)
    }
}

impl AddAssign for DoubleDouble {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for DoubleDouble {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

/// π/2.
const HALF_PI: DoubleDouble = DoubleDouble { high: std::f64::consts::FRAC_PI_2, low: 6.123233995736766e-17 };

impl Scalar for DoubleDouble {
    const LANES: usize = 1;
    const EXTENDED: bool = true;

    fn splat(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    fn lane(self, _: usize) -> f64 {
        self.high
    }

    fn set_lane(&mut self, _: usize, value: f64) {
        *self = Self::splat(value);
    }

    fn sin_cos(self) -> (Self, Self) {
        let k = (self.high / HALF_PI.high).round();
        let r = self - HALF_PI * Self::splat(k);
        let z = r * r;
        let (mut sin, mut cos) = (r, Self::splat(1.0));
        let (mut odd, mut even) = (r, Self::splat(1.0));
        for n in 1..=14 {
            let n = f64::from(n);
            even = -(even * z / Self::splat((2.0 * n - 1.0) * (2.0 * n)));
            odd = -(odd * z / Self::splat(2.0 * n * (2.0 * n + 1.0)));
            cos += even;
            sin += odd;
        }
        match (k as i64).rem_euclid(4) {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    fn is_positive(self) -> bool {
        self.high > 0.0 && self.high.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_fulfil_their_identities_to_thirty_digits() {
        for k in -40..40 {
            let x = DoubleDouble::splat(0.37 * f64::from(k));
            let (sin, cos) = x.sin_cos();
            let (twice, _) = (x + x).sin_cos();
            assert!((sin * sin + cos * cos - DoubleDouble::splat(1.0)).high.abs() < 1e-30);
            assert!((twice - DoubleDouble::splat(2.0) * sin * cos).high.abs() < 1e-29);
            assert!((sin.high - (0.37 * f64::from(k)).sin()).abs() < 1e-15);
        }
        let third = DoubleDouble::splat(1.0) / DoubleDouble::splat(3.0);
        assert!((third * DoubleDouble::splat(3.0) - DoubleDouble::splat(1.0)).high.abs() < 1e-31);
    }
}
