//! The number of distinct real roots on an interval, without finding any.
//!
//! Sturm's chain p₀ = p, p₁ = p', p_{i+1} = −(p_{i−1} mod p_i) has as many changes of sign at a as at b, less
//! the number of distinct roots in (a, b]. Its last member g is the greatest common divisor of p and p', so
//! if p has multiple roots, p/g has the same ones, each once; that is what is counted then, because the whole
//! chain vanishes at a multiple root and an end point may be one.

use super::{MAX_DEGREE, Polynomial, PolynomialError, check_interval};

/// Size below which a remainder of polynomials with coefficients up to 1 is rounding.
const VANISHING: f64 = 1e-10;

/// (f, a, b) → number of distinct roots of Σ f_k tᵏ in [a, b], ends included.
///
/// Roots closer than about 1e-5 of the interval's distance from zero may be counted as one.
///
/// ```
/// use rattleback_numerics::polynomial::sturm_count;
/// assert_eq!(sturm_count(&[-6.0, 11.0, -6.0, 1.0], 0.0, 2.5)?, 2);
/// assert_eq!(sturm_count(&[1.0, -2.0, 1.0], 0.0, 1.0)?, 1); // a double root at 1
/// # Ok::<(), rattleback_numerics::polynomial::PolynomialError>(())
/// ```
pub fn sturm_count(f: &[f64], a: f64, b: f64) -> Result<usize, PolynomialError> {
    check_interval(a, b)?;
    let m = a.abs().max(b.abs());
    let mut p = Polynomial::scaled(f, m)?;
    while p.degree > 0 && p.coefficients[p.degree].abs() < 1e-14 {
        p.degree -= 1;
    }
    let mut chain = Chain::new(p);
    let common = chain.last();
    if common.degree > 0 {
        chain = Chain::new(quotient(p, common));
    }
    let (a, b) = (a / m, b / m);
    let at_start = usize::from(chain.members[0].vanishes_at(a));
    Ok(chain.sign_changes(a).saturating_sub(chain.sign_changes(b)) + at_start)
}

impl Polynomial {
    /// Whether the value at t is zero up to what division by a common factor leaves behind.
    fn vanishes_at(&self, t: f64) -> bool {
        self.value(t).abs() <= VANISHING * self.largest()
    }
}

/// Sturm's chain; members beyond `count` are not used.
struct Chain {
    members: [Polynomial; MAX_DEGREE + 1],
    count: usize,
}

impl Chain {
    fn new(mut p: Polynomial) -> Self {
        p.normalise();
        let mut chain = Self { members: [p; MAX_DEGREE + 1], count: 1 };
        let mut next = p.derivative();
        let mut ends = p.degree == 0;
        while !ends && chain.count <= MAX_DEGREE {
            next.normalise();
            chain.members[chain.count] = next;
            chain.count += 1;
            match negative_remainder(&chain.members[chain.count - 2], &next) {
                Some(remainder) => next = remainder,
                None => ends = true,
            }
        }
        chain
    }

    fn last(&self) -> Polynomial {
        self.members[self.count - 1]
    }

    /// Changes of sign along the chain at t, members that vanish skipped.
    fn sign_changes(&self, t: f64) -> usize {
        let first_vanishes = self.members[0].vanishes_at(t);
        let values = self.members[usize::from(first_vanishes)..self.count].iter().map(|p| p.value(t));
        let mut changes = 0;
        let mut last = 0.0;
        for value in values.filter(|&value| value != 0.0) {
            if value * last < 0.0 {
                changes += 1;
            }
            last = value.signum();
        }
        changes
    }
}

/// (p, q) → −(p mod q); none if it vanishes.
fn negative_remainder(p: &Polynomial, q: &Polynomial) -> Option<Polynomial> {
    if q.degree == 0 {
        return None;
    }
    let (_, mut remainder) = divide(*p, *q);
    if remainder.largest() < VANISHING {
        return None;
    }
    // Leading terms that are rounding would be divided by in the next member.
    while remainder.degree > 0
        && remainder.coefficients[remainder.degree].abs() < VANISHING * remainder.largest()
    {
        remainder.coefficients[remainder.degree] = 0.0;
        remainder.degree -= 1;
    }
    remainder.coefficients.iter_mut().for_each(|f| *f = -*f);
    Some(remainder)
}

fn quotient(p: Polynomial, q: Polynomial) -> Polynomial {
    divide(p, q).0
}

/// (p, q) → (p div q, p mod q); q has a leading coefficient that is not zero.
fn divide(p: Polynomial, q: Polynomial) -> (Polynomial, Polynomial) {
    let mut remainder = p;
    let mut quotient =
        Polynomial { coefficients: [0.0; MAX_DEGREE + 1], degree: p.degree.saturating_sub(q.degree) };
    for shift in (0..=quotient.degree).rev().filter(|_| p.degree >= q.degree) {
        let factor = remainder.coefficients[shift + q.degree] / q.coefficients[q.degree];
        quotient.coefficients[shift] = factor;
        for (power, coefficient) in q.terms().iter().enumerate() {
            remainder.coefficients[shift + power] -= factor * coefficient;
        }
        remainder.coefficients[shift + q.degree] = 0.0;
    }
    remainder.degree = q.degree.saturating_sub(1).min(p.degree);
    (quotient, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The members of the chain of a cubic as written out in the specification, up to positive factors.
    #[test]
    fn the_chain_of_a_cubic_is_the_published_one() {
        let [f0, f1, f2, f3] = [0.3, -0.7, -0.2, 1.0];
        let p = Polynomial::scaled(&[f0, f1, f2, f3], 1.0).unwrap();
        let chain = Chain::new(p);
        assert_eq!(chain.count, 4);
        let p1 = |t: f64| 3.0 * f3 * t * t + 2.0 * f2 * t + f1;
        let slope = 2.0 * f2 * f2 / (9.0 * f3) - 2.0 * f1 / 3.0;
        let constant = f1 * f2 / (9.0 * f3) - f0;
        let p3 = -p1(-constant / slope);
        for t in [0.0, 0.4, 1.0] {
            let expected = [p1(t), slope * t + constant, p3];
            for (member, expected) in chain.members[1..].iter().zip(expected) {
                assert_eq!(member.value(t) > 0.0, expected > 0.0);
            }
        }
        assert!(
            (chain.members[2].value(0.0) / chain.members[2].value(1.0) - constant / (slope + constant)).abs()
                < 1e-12
        );
    }

    #[test]
    fn multiple_roots_count_once_wherever_they_are() {
        let cases: [(&[f64], usize); 6] = [
            (&[-0.125, 0.75, -1.5, 1.0], 1), // (t − ½)³
            (&[0.0, 0.0, 1.0], 1),           // t²
            (&[0.0, 0.0, -1.0, 1.0], 2),     // t²(t − 1)
            (&[0.0, 1.0, -2.0, 1.0], 2),     // t(t − 1)²
            (&[1.0, 0.0, 1.0], 0),           // t² + 1
            (&[5.0], 0),
        ];
        for (f, expected) in cases {
            assert_eq!(sturm_count(f, 0.0, 1.0), Ok(expected), "{f:?}");
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(sturm_count(&[], 0.0, 1.0), Err(PolynomialError::Zero));
        assert!(sturm_count(&[1.0, f64::NAN], 0.0, 1.0).is_err());
        assert!(sturm_count(&[1.0, 1.0], 1.0, 0.0).is_err());
    }
}
