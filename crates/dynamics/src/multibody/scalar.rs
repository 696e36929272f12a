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

    /// Whether it has more digits than a double.
    const EXTENDED: bool = false;

    /// The same number in every lane.
    fn splat(value: f64) -> Self;

    /// Number in a lane.
    fn lane(self, lane: usize) -> f64;

    /// Replaces the number in a lane.
    fn set_lane(&mut self, lane: usize, value: f64);

    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);

    /// Sines and cosines of four angles, each as of one alone.
    fn sin_cos_of_four(x: [Self; 4]) -> ([Self; 4], [Self; 4]) {
        let (mut sin, mut cos) = ([Self::default(); 4], [Self::default(); 4]);
        for k in 0..4 {
            (sin[k], cos[k]) = x[k].sin_cos();
        }
        (sin, cos)
    }

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
        let ([sin], [cos]) = sin_cos([self]);
        (sin, cos)
    }

    // Two or four at a time in the registers of the machine.
    #[inline(always)]
    fn sin_cos_of_four(x: [Self; 4]) -> ([Self; 4], [Self; 4]) {
        sin_cos(x)
    }

    #[inline(always)]
    fn is_positive(self) -> bool {
        self > 0.0 && self.is_finite()
    }
}

/// π/2 in two parts: 33 bits, so that its product with a whole number up to 2²⁰ is exact, and the rest.
const HALF_PI: [f64; 2] = [1.5707963267341256, 6.077100506506192e-11];

/// Angles up to this size are reduced by [`HALF_PI`]; larger ones are left to the system's library.
const LARGEST_ANGLE: f64 = 1e5;

/// Adding and subtracting this rounds to a whole number, whose lowest bits are then those of the sum.
const ROUNDER: f64 = 6755399441055744.0;

/// Taylor's coefficients: −1/3!, 1/5!, … and 1/4!, −1/6!, …; what is left out at π/4 is below 1e-19 and 3e-18.
const SINE: [f64; 8] = [
    -0.16666666666666666,
    0.008333333333333333,
    -0.0001984126984126984,
    2.7557319223985893e-06,
    -2.505210838544172e-08,
    1.6059043836821613e-10,
    -7.647163731819816e-13,
    2.8114572543455206e-15,
];
const COSINE: [f64; 7] = [
    0.041666666666666664,
    -0.001388888888888889,
    2.48015873015873e-05,
    -2.755731922398589e-07,
    2.08767569878681e-09,
    -1.1470745597729725e-11,
    4.779477332387385e-14,
];

/// Sines and cosines of several angles by the same operations for each, within a unit in the last place, or of 1: the bits do not depend on how many there are,
/// nor on the system.
#[inline(always)]
pub(super) fn sin_cos<const N: usize>(x: [f64; N]) -> ([f64; N], [f64; N]) {
    let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        let shifted = x[i] * std::f64::consts::FRAC_2_PI + ROUNDER;
        let k = shifted - ROUNDER;
        let quadrant = shifted.to_bits();
        let r = (x[i] - k * HALF_PI[0]) - k * HALF_PI[1];
        let z = r * r;
        let mut s = SINE[7];
        let mut c = COSINE[6];
        s = s * z + SINE[6];
        c = c * z + COSINE[5];
        s = s * z + SINE[5];
        c = c * z + COSINE[4];
        s = s * z + SINE[4];
        c = c * z + COSINE[3];
        s = s * z + SINE[3];
        c = c * z + COSINE[2];
        s = s * z + SINE[2];
        c = c * z + COSINE[1];
        s = s * z + SINE[1];
        c = c * z + COSINE[0];
        s = s * z + SINE[0];
        let s = r + r * (z * s);
        // 1 − z/2 loses the bits that `lost` brings back.
        let half = 0.5 * z;
        let whole = 1.0 - half;
        let lost = (1.0 - whole) - half;
        let c = whole + (lost + z * (z * c));
        // Odd quadrants swap the two; signs by quadrant bits: sine in 2 and 3, cosine in 1 and 2.
        let odd = (quadrant & 1).wrapping_neg();
        let (a, b) = (s.to_bits(), c.to_bits());
        let swap = (a ^ b) & odd;
        sin[i] = f64::from_bits((a ^ swap) ^ ((quadrant & 2) << 62));
        cos[i] = f64::from_bits((b ^ swap) ^ (((quadrant + 1) & 2) << 62));
    }
    for i in 0..N {
        if x[i].is_nan() || x[i].abs() > LARGEST_ANGLE {
            (sin[i], cos[i]) = sin_cos_of_large(x[i]);
        }
    }
    (sin, cos)
}

/// Not inlined: a compiler that sees no harm in it would compute the library's sine for every angle and drop it.
#[cold]
#[inline(never)]
fn sin_cos_of_large(x: f64) -> (f64, f64) {
    x.sin_cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_and_cosines_are_right() {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        for count in 0..1_000_000_u32 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (x >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0;
            let angle = unit * [1.0, 4.0, 100.0, 1e5][count as usize % 4];
            let ([sin], [cos]) = sin_cos([angle]);
            assert!((sin - angle.sin()).abs() <= 2.3e-16, "sin {angle}: {sin} {}", angle.sin());
            assert!((cos - angle.cos()).abs() <= 2.3e-16, "cos {angle}: {cos} {}", angle.cos());
            let four = sin_cos([angle, 1.0, 1e9, f64::NAN]);
            assert_eq!((four.0[0], four.1[0], four.0[2]), (sin, cos, 1e9_f64.sin()));
            assert!(four.0[3].is_nan());
        }
        assert_eq!(sin_cos([0.0, -0.0]).0, [0.0, 0.0]);
        assert_eq!(sin_cos([0.0]).1, [1.0]);
        assert!(sin_cos([f64::INFINITY]).0[0].is_nan());
    }
}
