//! Bernstein test: a sufficient condition that a polynomial has no root in [0, 1].
//!
//! In the Bernstein basis p(t) = Σ B_i C(n,i) tⁱ(1−t)ⁿ⁻ⁱ with B_i = Σ_{k≤i} f_k C(i,k)/C(n,k). The basis
//! functions are not negative and sum to one, so p lies between the smallest and the largest B_i: if these
//! have the same sign, p has no root. For a cubic B₀ = f₀, B₁ = f₀ + f₁/3, B₂ = f₀ + 2f₁/3 + f₂/3, B₃ = f₀ +
//! f₁ + f₂ + f₃.

use super::{MAX_DEGREE, Polynomial, PolynomialError, TOUCH};

/// f → true if Σ f_k tᵏ certainly has no root in [0, 1], nor touches zero there; false proves nothing.
///
/// ```
/// use rattleback_numerics::polynomial::bernstein_excludes_root;
/// assert!(bernstein_excludes_root(&[1.0, 1.0, 1.0])?);
/// assert!(!bernstein_excludes_root(&[-0.5, 1.0])?);
/// # Ok::<(), rattleback_numerics::polynomial::PolynomialError>(())
/// ```
pub fn bernstein_excludes_root(f: &[f64]) -> Result<bool, PolynomialError> {
    let p = Polynomial::scaled(f, 1.0)?;
    // Differences of f_k/C(n,k), summed up, are the B_i: b[i] ← b[i] + b[i − 1], n times over.
    let mut b = [0.0; MAX_DEGREE + 1];
    let mut binomial = 1.0;
    for (power, coefficient) in p.terms().iter().enumerate() {
        b[power] = coefficient / binomial;
        binomial *= (p.degree - power) as f64 / (power + 1) as f64;
    }
    for round in 1..=p.degree {
        for i in (round..=p.degree).rev() {
            b[i] += b[i - 1];
        }
    }
    let b = &b[..=p.degree];
    // The margin covers rounding and keeps polynomials that touch zero within tolerance.
    let margin = TOUCH * (1 << p.degree) as f64;
    Ok(b.iter().all(|&b| b > margin) || b.iter().all(|&b| b < -margin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_of_a_cubic_are_those_of_the_formula() {
        // B₁ = f₀ + f₁/3 alone of the other sign, or not.
        assert!(!bernstein_excludes_root(&[1.0, -3.1, 3.5, 0.1]).unwrap());
        assert!(bernstein_excludes_root(&[1.0, -2.9, 3.5, 0.1]).unwrap());
        // B₂ = f₀ + 2f₁/3 + f₂/3 alone of the other sign.
        assert!(!bernstein_excludes_root(&[1.0, 0.0, -3.1, 3.0]).unwrap());
        assert!(bernstein_excludes_root(&[1.0, 0.0, -2.9, 3.0]).unwrap());
    }

    #[test]
    fn roots_at_the_ends_and_touching_ones_are_not_excluded() {
        for f in [&[0.0, 1.0][..], &[1.0, -1.0], &[0.25, -1.0, 1.0], &[1e-13, 0.0, 1.0]] {
            assert!(!bernstein_excludes_root(f).unwrap(), "{f:?}");
        }
        assert!(bernstein_excludes_root(&[f64::INFINITY, 1.0]).is_err());
    }
}
