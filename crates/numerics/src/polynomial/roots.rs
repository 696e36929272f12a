//! All real roots on an interval, by splitting it where the derivative vanishes.
//!
//! Between two neighbouring zeros of p' the polynomial is monotone, so a change of sign brackets exactly one
//! root and Newton's method, kept inside the bracket by bisection, finds it. The zeros of p' come from those
//! of p'' in the same way, down to the linear derivative, whose zero is a division.
//!
//! A root of even multiplicity shows no change of sign: there p touches zero at a zero of p'. A splitting
//! point with p below rounding is a root; one with |p| ≤ 1e-12 of the largest coefficient is one if no
//! crossing was found beside it.

use super::{MAX_DEGREE, Polynomial, PolynomialError, TOUCH, bernstein_excludes_root, check_interval};

/// Roots in ascending order, at most as many as the degree; a multiple root is listed once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roots {
    values: [f64; MAX_DEGREE],
    count: usize,
}

impl std::ops::Deref for Roots {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.values[..self.count]
    }
}

impl Roots {
    fn push(&mut self, root: f64) {
        // Rounding may split a root of high multiplicity into more than there can be; the first ones stay.
        if self.count < MAX_DEGREE {
            self.values[self.count] = root;
            self.count += 1;
        }
    }
}

/// A point where the interval is split, and the sign of p there (0 if it is lost in rounding).
#[derive(Clone, Copy, Default)]
struct Node {
    t: f64,
    value: f64,
    sign: i8,
}

impl Node {
    fn new(p: &Polynomial, t: f64) -> Self {
        let value = p.value(t);
        let sign = if value.abs() <= p.rounding(t) {
            0
        } else if value > 0.0 {
            1
        } else {
            -1
        };
        Self { t, value, sign }
    }

    fn crosses_to(self, next: Self) -> bool {
        self.sign * next.sign < 0
    }
}

/// (f, a, b) → the roots of Σ f_k tᵏ in [a, b].
///
/// ```
/// use rattleback_numerics::polynomial::roots_in;
/// let roots = roots_in(&[-6.0, 11.0, -6.0, 1.0], 0.0, 2.5)?; // (t − 1)(t − 2)(t − 3)
/// assert!(roots.len() == 2 && (roots[0] - 1.0).abs() < 1e-14 && (roots[1] - 2.0).abs() < 1e-14);
/// # Ok::<(), rattleback_numerics::polynomial::PolynomialError>(())
/// ```
pub fn roots_in(f: &[f64], a: f64, b: f64) -> Result<Roots, PolynomialError> {
    check_interval(a, b)?;
    let m = a.abs().max(b.abs());
    let p = Polynomial::scaled(f, m)?;
    let mut chain = [p; MAX_DEGREE];
    for order in 1..p.degree {
        chain[order] = chain[order - 1].derivative();
    }
    let mut roots = Roots::default();
    for order in (0..p.degree).rev() {
        roots = roots_between(&chain[order], &roots, a / m, b / m);
    }
    for root in &mut roots.values[..roots.count] {
        *root = (*root * m).clamp(a, b);
    }
    Ok(roots)
}

/// f → the roots of Σ f_k tᵏ in [0, 1]; most polynomials without one are recognised before any is searched
/// for.
pub fn roots_01(f: &[f64]) -> Result<Roots, PolynomialError> {
    if bernstein_excludes_root(f)? {
        return Ok(Roots::default());
    }
    roots_in(f, 0.0, 1.0)
}

/// (p, roots of p' in [a, b]) → roots of p in [a, b].
fn roots_between(p: &Polynomial, critical: &Roots, a: f64, b: f64) -> Roots {
    let mut nodes = [Node::default(); MAX_DEGREE + 2];
    nodes[0] = Node::new(p, a);
    let mut count = 1;
    for &t in critical.iter().filter(|&&t| t > a && t < b) {
        nodes[count] = Node::new(p, t);
        count += 1;
    }
    nodes[count] = Node::new(p, b);
    let nodes = &nodes[..=count];

    let touch = TOUCH * p.largest();
    let mut roots = Roots::default();
    let mut flat_before: Option<f64> = None;
    for (i, &node) in nodes.iter().enumerate() {
        let crosses_before = i > 0 && nodes[i - 1].crosses_to(node);
        let crosses_after = i < count && node.crosses_to(nodes[i + 1]);
        let inside = i > 0 && i < count;
        let touches = inside && node.value.abs() <= touch && !crosses_before && !crosses_after;
        if node.sign == 0 || touches {
            // Two flat points this close are one root of higher multiplicity, split by rounding.
            if !flat_before.is_some_and(|t| node.t - t < 1e-6) {
                roots.push(node.t);
            }
            flat_before = Some(node.t);
        }
        if crosses_after {
            roots.push(bracketed_root(p, node, nodes[i + 1]));
            flat_before = None;
        }
    }
    roots
}

/// (p of opposite signs at two nodes) → the root between them.
fn bracketed_root(p: &Polynomial, left: Node, right: Node) -> f64 {
    let derivative = p.derivative();
    let (mut lo, mut hi) = (left.t, right.t);
    let mut t = lo.midpoint(hi);
    // Every second turn halves the bracket at least, so this bound is never what ends the loop.
    for _ in 0..2200 {
        let value = p.value(t);
        if value == 0.0 {
            return t;
        }
        if (value > 0.0) == (left.sign > 0) {
            lo = t;
        } else {
            hi = t;
        }
        let newton = t - value / derivative.value(t);
        let middle = lo.midpoint(hi);
        let next = if newton > lo && newton < hi { newton } else { middle };
        let resolution = f64::EPSILON * next.abs();
        if (next - t).abs() <= resolution || hi - lo <= resolution || middle <= lo || middle >= hi {
            return next;
        }
        // Newton alone can creep along one side of a flat bracket.
        t = if (next - t).abs() > 0.5 * (hi - lo) { middle } else { next };
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_roots(f: &[f64], (a, b): (f64, f64), expected: &[f64], within: f64) {
        let roots = roots_in(f, a, b).unwrap();
        assert_eq!(roots.len(), expected.len(), "{f:?}: {roots:?}");
        for (root, expected) in roots.iter().zip(expected) {
            assert!((root - expected).abs() <= within, "{root} {expected}");
        }
    }

    #[test]
    fn low_degrees_and_their_special_cases() {
        assert_roots(&[1.0], (0.0, 1.0), &[], 0.0);
        assert_roots(&[-1.0, 2.0, 0.0, 0.0], (0.0, 1.0), &[0.5], 0.0);
        assert_roots(&[0.0, 1.0], (0.0, 1.0), &[0.0], 0.0);
        assert_roots(&[-1.0, 1.0], (0.0, 1.0), &[1.0], 0.0);
        assert_roots(&[0.25, -1.0, 1.0], (0.0, 1.0), &[0.5], 1e-15);
        assert_roots(&[0.25 + 1e-9, -1.0, 1.0], (0.0, 1.0), &[], 0.0);
        assert_roots(&[0.0, 0.0, 0.0, 1.0], (-1.0, 1.0), &[0.0], 1e-15);
    }

    /// CCD-2 and CCD-3: the cubics of two swept tests, roots as published.
    #[test]
    fn published_cubics() {
        let cubic = [16.0, -142.0, 292.0, -168.0];
        assert_roots(&cubic, (0.0, 1.0), &[0.16109539, 0.61373883, 0.96326102], 1e-8);
        assert_roots(&[-8.0, 48.0, -55.0, 3.0], (0.0, 1.0), &[0.22290914, 0.68658944], 1e-8);
    }

    /// Chebyshev's T₈ has its roots at cos((2k + 1)π/16).
    #[test]
    fn degree_eight() {
        let chebyshev = [1.0, 0.0, -32.0, 0.0, 160.0, 0.0, -256.0, 0.0, 128.0];
        let expected: Vec<f64> =
            (0..8).rev().map(|k| (f64::from(2 * k + 1) * std::f64::consts::PI / 16.0).cos()).collect();
        assert_roots(&chebyshev, (-1.0, 1.0), &expected, 1e-14);
        assert_roots(&chebyshev, (0.0, 1.0), &expected[4..], 1e-14);
    }

    #[test]
    fn the_scale_of_neither_t_nor_p_matters() {
        for scale in [1e-200, 1.0, 1e200] {
            assert_roots(&[-6e-3 * scale, 5.0 * scale, -1e3 * scale], (0.0, 1.0), &[0.002, 0.003], 1e-16);
        }
        assert_roots(&[6e12, -5e6, 1.0], (0.0, 1e7), &[2e6, 3e6], 1e-8);
    }

    /// A leading coefficient next to nothing must not spoil the other roots.
    #[test]
    fn tiny_leading_coefficients_are_harmless() {
        assert_roots(&[0.06, -0.5, 1.0, 1e-17], (0.0, 1.0), &[0.2, 0.3], 1e-15);
        assert_roots(&[-0.5, 1.0, 1e-300], (0.0, 1.0), &[0.5], 1e-16);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(roots_in(&[0.0, 0.0], 0.0, 1.0), Err(PolynomialError::Zero));
        assert_eq!(roots_in(&[], 0.0, 1.0), Err(PolynomialError::Zero));
        assert!(matches!(roots_in(&[1.0, f64::NAN], 0.0, 1.0), Err(PolynomialError::Coefficient { .. })));
        assert!(matches!(roots_in(&[1.0, 1.0], 1.0, 1.0), Err(PolynomialError::Interval { .. })));
        assert!(matches!(roots_in(&[1.0, 1.0], 0.0, f64::NAN), Err(PolynomialError::Interval { .. })));
        assert!(matches!(roots_in(&[1.0; 10], 0.0, 1.0), Err(PolynomialError::Degree { degree: 9 })));
        assert!(roots_in(&[1.0, 1.0, 1.0], 0.0, 1e300).is_err());
    }
}
