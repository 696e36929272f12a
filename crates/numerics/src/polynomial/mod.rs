//! Real roots of polynomials p(t) = Σ f_k tᵏ on an interval; coefficients are given from f₀ upwards.

mod bernstein;
mod roots;
mod sturm;

pub use bernstein::bernstein_excludes_root;
pub use roots::{Roots, roots_01, roots_in};
pub use sturm::sturm_count;

use thiserror::Error;

/// Largest degree the functions of this module take.
pub const MAX_DEGREE: usize = 8;

/// |p| below this part of the largest coefficient counts as touching zero.
const TOUCH: f64 = 1e-12;

/// Why a polynomial has no list of roots.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum PolynomialError {
    /// The degree exceeds the fixed-size arrays.
    #[error("degree {degree}: at most {MAX_DEGREE} is allowed")]
    Degree {
        /// The degree.
        degree: usize,
    },
    /// A coefficient is infinite or not a number, or becomes so on the interval.
    #[error("coefficient {power} is not finite, or its term is not on the interval")]
    Coefficient {
        /// Power of t it belongs to.
        power: usize,
    },
    /// The interval is empty, reversed or not finite.
    #[error("interval [{from}, {to}]: both ends must be finite and the end must lie after the start")]
    Interval {
        /// Start of the interval.
        from: f64,
        /// End of the interval.
        to: f64,
    },
    /// All coefficients are zero: every point is a root.
    #[error("all coefficients are zero: every point is a root")]
    Zero,
}

/// A polynomial of checked degree with finite coefficients, scaled so that the largest is 1 in size.
#[derive(Clone, Copy, Debug)]
struct Polynomial {
    coefficients: [f64; MAX_DEGREE + 1],
    degree: usize,
}

impl Polynomial {
    /// (f, m) → p(m s) as a polynomial in s, scaled; so |s| ≤ 1 where |t| ≤ m, and terms can be compared.
    fn scaled(f: &[f64], m: f64) -> Result<Self, PolynomialError> {
        let length = f.iter().rposition(|&f| f != 0.0).map_or(0, |power| power + 1);
        let degree = length.saturating_sub(1);
        if degree > MAX_DEGREE {
            return Err(PolynomialError::Degree { degree });
        }
        let mut coefficients = [0.0; MAX_DEGREE + 1];
        let largest = f.iter().fold(0.0_f64, |largest, f| largest.max(f.abs()));
        let mut unit = 1.0;
        for (power, &f) in f[..length].iter().enumerate() {
            coefficients[power] = f / largest * unit;
            unit *= m;
            if !coefficients[power].is_finite() {
                return Err(PolynomialError::Coefficient { power });
            }
        }
        let mut p = Self { coefficients, degree };
        p.normalise();
        if p.largest() == 0.0 { Err(PolynomialError::Zero) } else { Ok(p) }
    }

    fn terms(&self) -> &[f64] {
        &self.coefficients[..=self.degree]
    }

    fn largest(&self) -> f64 {
        self.terms().iter().fold(0.0, |largest, f| largest.max(f.abs()))
    }

    /// Divides by the largest coefficient.
    fn normalise(&mut self) {
        let largest = self.largest();
        if largest > 0.0 {
            self.coefficients.iter_mut().for_each(|f| *f /= largest);
        }
        while self.degree > 0 && self.coefficients[self.degree] == 0.0 {
            self.degree -= 1;
        }
    }

    fn value(&self, t: f64) -> f64 {
        self.terms().iter().rev().fold(0.0, |sum, f| sum * t + f)
    }

    /// A bound on the rounding error of `value`: that of Horner's scheme and of the coefficients themselves.
    fn rounding(&self, t: f64) -> f64 {
        let size = self.terms().iter().rev().fold(0.0, |sum, f| sum * t.abs() + f.abs());
        4.0 * (self.degree + 1) as f64 * f64::EPSILON * size
    }

    fn derivative(&self) -> Self {
        let mut derivative =
            Self { coefficients: [0.0; MAX_DEGREE + 1], degree: self.degree.saturating_sub(1) };
        for power in 1..=self.degree {
            derivative.coefficients[power - 1] = power as f64 * self.coefficients[power];
        }
        derivative
    }
}

/// Refuses intervals that are none.
fn check_interval(from: f64, to: f64) -> Result<(), PolynomialError> {
    if from.is_finite() && to.is_finite() && from < to {
        Ok(())
    } else {
        Err(PolynomialError::Interval { from, to })
    }
}
