//! Interval arithmetic with outward rounding.
//!
//! An interval [lo, hi] stands for every real number in it. X ∘ Y encloses { x ∘ y : x ∈ X, y ∈ Y }: the
//! bounds are those of the exact range, which monotonicity puts at end points, moved outwards by one
//! floating-point number. That is enough because IEEE +, −, ×, ÷ and √ round to nearest. An expression
//! evaluated this way therefore encloses all its true values, however its intermediate results were rounded.

use std::ops::{Add, Div, Mul, Neg, Sub};
use thiserror::Error;

/// A closed interval of real numbers, possibly empty or unbounded.
///
/// ```
/// use rattleback_numerics::interval::Interval;
/// let third = Interval::point(1.0) / Interval::point(3.0);
/// assert!((third * Interval::point(3.0)).contains(1.0));
/// let x = Interval::new(-1.0, 2.0)?;
/// assert!(x.powi(2).contains(4.0) && !x.powi(2).contains(-0.1));
/// # Ok::<(), rattleback_numerics::interval::IntervalError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

/// Why two numbers do not bound an interval.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "[{lo}, {hi}] is no interval: the lower bound must be below +∞, not above the upper one, and that above −∞"
)]
pub struct IntervalError {
    /// The lower bound.
    pub lo: f64,
    /// The upper bound.
    pub hi: f64,
}

/// A product of bounds, where an unbounded interval times zero is zero.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Interval {
    /// No number at all.
    pub const EMPTY: Self = Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
    /// Every real number.
    pub const ENTIRE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// (lo, hi) → [lo, hi].
    pub fn new(lo: f64, hi: f64) -> Result<Self, IntervalError> {
        if lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY {
            Ok(Self { lo, hi })
        } else {
            Err(IntervalError { lo, hi })
        }
    }

    /// x → [x, x]; ±∞ becomes the half line beyond the largest finite number, NaN the whole line.
    pub fn point(x: f64) -> Self {
        if x.is_nan() {
            return Self::ENTIRE;
        }
        Self { lo: x.min(f64::MAX), hi: x.max(f64::MIN) }
    }

    /// Lower bound; +∞ if empty.
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// Upper bound; −∞ if empty.
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// Whether there is no number in it.
    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// Whether x lies in it.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether all of `other` lies in it.
    pub fn encloses(self, other: Self) -> bool {
        other.is_empty() || (self.lo <= other.lo && other.hi <= self.hi)
    }

    /// hi − lo, rounded up; 0 if empty.
    pub fn width(self) -> f64 {
        if self.lo < self.hi { (self.hi - self.lo).next_up() } else { 0.0 }
    }

    /// A number in its middle, finite even if the interval is not; none if empty.
    pub fn midpoint(self) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        if self == Self::ENTIRE {
            return Some(0.0);
        }
        Some(self.lo.max(f64::MIN).midpoint(self.hi.min(f64::MAX)))
    }

    /// The numbers in both.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Self { lo, hi } } else { Self::EMPTY }
    }

    /// The smallest interval around both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// { |x| }.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.is_empty() || self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Self { lo: 0.0, hi: self.hi.max(-self.lo) }
        }
    }

    /// { min(x, y) }.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        Self { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// { max(x, y) }.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        -(-self).min(-other)
    }

    /// { √x } of the numbers in it that are not negative; empty if there is none.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let x = self.intersect(Self { lo: 0.0, hi: f64::INFINITY });
        if x.is_empty() {
            return x;
        }
        Self { lo: x.lo.sqrt().next_down().max(0.0), hi: x.hi.sqrt().next_up() }
    }

    /// { xⁿ }, tight for even n around zero; xⁿ for n < 0 is 1/x^|n|.
    #[must_use]
    pub fn powi(self, n: i32) -> Self {
        if self.is_empty() {
            return self;
        }
        if n < 0 {
            return Self::point(1.0) / self.power(n.unsigned_abs());
        }
        self.power(n.unsigned_abs())
    }

    /// { xⁿ } by its bounds: xⁿ grows with |x|, and keeps the sign of x if n is odd.
    fn power(self, n: u32) -> Self {
        if n == 0 {
            return Self::point(1.0);
        }
        if n.is_multiple_of(2) {
            let size = self.abs();
            Self { lo: positive_power(size.lo, n).lo, hi: positive_power(size.hi, n).hi }
        } else {
            let bound = |x: f64| {
                if x < 0.0 { -positive_power(-x, n) } else { positive_power(x, n) }
            };
            Self { lo: bound(self.lo).lo, hi: bound(self.hi).hi }
        }
    }

    /// { x / y }, or none if the divisor contains zero.
    pub fn checked_div(self, divisor: Self) -> Option<Self> {
        if divisor.contains(0.0) { None } else { Some(self / divisor) }
    }

    /// [lo, hi] rounded outwards by one ulp each; the whole line if a bound is NaN.
    fn outward(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            return Self::ENTIRE;
        }
        Self { lo: lo.next_down(), hi: hi.next_up() }
    }
}

/// (x ≥ 0, n ≥ 1) → an interval around xⁿ, by squaring.
fn positive_power(x: f64, mut n: u32) -> Interval {
    let mut square = Interval { lo: x.min(f64::MAX), hi: x };
    let mut result = None;
    while n > 0 {
        if n % 2 == 1 {
            result = Some(result.map_or(square, |result: Interval| result * square));
        }
        square = square * square;
        n /= 2;
    }
    let result = result.unwrap_or(square);
    Interval { lo: result.lo.max(0.0), hi: result.hi }
}

impl From<f64> for Interval {
    fn from(x: f64) -> Self {
        Self::point(x)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        Self::outward(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        let ends = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        let lo = ends.into_iter().fold(f64::INFINITY, f64::min);
        let hi = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self::outward(lo, hi)
    }
}

impl Div for Interval {
    type Output = Self;
    /// { x / y : y ≠ 0 }: the whole line if zero lies inside the divisor, a half line if it is one of its
    /// ends, empty if the divisor is nothing but zero.
    fn div(self, divisor: Self) -> Self {
        if self.is_empty() || divisor.is_empty() || (divisor.lo == 0.0 && divisor.hi == 0.0) {
            return Self::EMPTY;
        }
        if divisor.lo < 0.0 && divisor.hi > 0.0 {
            return Self::ENTIRE;
        }
        if divisor.hi <= 0.0 {
            return -self / -divisor;
        }
        // 0 ≤ divisor: x/y is largest at the small end for x > 0, at the large end for x < 0.
        let at = |x: f64, y: f64| {
            if x == 0.0 {
                0.0
            } else if y == 0.0 {
                x.signum() * f64::INFINITY
            } else {
                x / y
            }
        };
        let lo = if self.lo >= 0.0 { at(self.lo, divisor.hi) } else { at(self.lo, divisor.lo) };
        let hi = if self.hi >= 0.0 { at(self.hi, divisor.lo) } else { at(self.hi, divisor.hi) };
        // ∞/∞: the quotient of unbounded ends can be anything of that sign, zero included.
        let lo = if lo.is_nan() { if self.lo > 0.0 { 0.0 } else { f64::NEG_INFINITY } } else { lo };
        let hi = if hi.is_nan() { if self.hi < 0.0 { 0.0 } else { f64::INFINITY } } else { hi };
        Self::outward(lo, hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(lo: f64, hi: f64) -> Interval {
        Interval::new(lo, hi).unwrap()
    }

    #[test]
    fn what_bounds_no_interval_is_refused() {
        let infinity = f64::INFINITY;
        for (lo, hi) in [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (infinity, infinity)] {
            assert!(Interval::new(lo, hi).is_err());
        }
        assert_eq!(Interval::point(f64::NAN), Interval::ENTIRE);
        assert!(Interval::point(infinity).contains(f64::MAX));
    }

    #[test]
    fn rounding_never_loses_the_exact_value() {
        let (one, three) = (Interval::point(1.0), Interval::point(3.0));
        let third = one / three;
        assert!(third.width() > 0.0 && third.width() < 3e-16);
        assert!((third + third + third).contains(1.0));
        assert!(Interval::point(2.0).sqrt().powi(2).contains(2.0));
        // 0.1 summed ten times is not 1 in floating point.
        let tenth = one / Interval::point(10.0);
        let sum = (0..10).fold(Interval::point(0.0), |sum, _| sum + tenth);
        assert!(sum.contains(1.0) && sum.width() < 1e-14);
        // 2⁵³ + 1 is no floating-point number.
        let large = Interval::point(9_007_199_254_740_992.0) + one;
        assert!(large.lo() < 9_007_199_254_740_993.0 && large.hi() >= 9_007_199_254_740_994.0);
    }

    #[test]
    fn division_by_zero_is_a_set_like_any_other() {
        let x = interval(1.0, 2.0);
        assert_eq!(x / interval(-1.0, 1.0), Interval::ENTIRE);
        assert!((x / Interval::point(0.0)).is_empty());
        let half_line = x / interval(0.0, 4.0);
        assert!(half_line.contains(0.25) && !half_line.contains(0.2) && half_line.hi() == f64::INFINITY);
        let below = x / interval(-4.0, 0.0);
        assert!(below.contains(-0.25) && below.contains(-1e300) && !below.contains(0.0));
        assert_eq!(x.checked_div(interval(0.0, 1.0)), None);
        let unbounded = interval(1.0, f64::INFINITY);
        let quotient = unbounded / unbounded;
        assert!(quotient.contains(1e-300) && quotient.contains(1e300));
    }

    #[test]
    fn emptiness_spreads_through_every_operation() {
        let (empty, x) = (Interval::EMPTY, interval(-1.0, 1.0));
        let results =
            [empty + x, x - empty, empty * x, x / empty, empty.sqrt(), empty.powi(2), empty.abs(), -empty];
        assert!(results.iter().all(|result| result.is_empty()));
        assert!(empty.min(x).is_empty() && x.max(empty).is_empty());
        assert!(interval(-2.0, -1.0).sqrt().is_empty());
        assert!(interval(0.0, 1.0).intersect(interval(2.0, 3.0)).is_empty());
        assert_eq!(empty.hull(x), x);
        assert_eq!((empty.width(), empty.midpoint()), (0.0, None));
        assert!(x.encloses(empty) && !empty.contains(0.0));
    }

    #[test]
    fn powers_know_about_signs() {
        let x = interval(-2.0, 1.0);
        assert!(x.powi(2).lo() == 0.0 && x.powi(2).contains(4.0));
        assert!(x.powi(3).contains(-8.0) && x.powi(3).contains(1.0) && !x.powi(3).contains(1.1));
        assert_eq!(x.powi(0), Interval::point(1.0));
        let inverse = interval(2.0, 4.0).powi(-2);
        assert!(inverse.contains(1.0 / 16.0) && inverse.contains(0.25) && !inverse.contains(0.3));
        assert!(x.powi(i32::MIN).contains(1.0));
    }

    #[test]
    fn midpoint_and_width_stay_finite_where_they_can() {
        assert_eq!(interval(1.0, 3.0).midpoint(), Some(2.0));
        assert_eq!(interval(f64::MIN, f64::MAX).midpoint(), Some(0.0));
        assert_eq!(Interval::ENTIRE.midpoint(), Some(0.0));
        assert!(interval(0.0, f64::INFINITY).midpoint().is_some_and(f64::is_finite));
        assert!(interval(1.0, 3.0).width() >= 2.0);
    }

    #[test]
    fn unbounded_intervals_times_zero_are_zero() {
        let zero = Interval::ENTIRE * Interval::point(0.0);
        assert!(zero.contains(0.0) && zero.width() < 1e-300);
        assert!((Interval::ENTIRE - Interval::ENTIRE) == Interval::ENTIRE);
    }
}
