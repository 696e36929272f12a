//! On which side of a plane a point lies, decided exactly.
//!
//! orientation(a, b, c, d) = sign of det [b−a, c−a, d−a]: positive if a, b, c run counter-clockwise seen from
//! d. Rounding can flip the sign of a small determinant; geometry built on flipped signs contradicts itself.
//! So the determinant is evaluated without any rounding as a sum of floating-point numbers that do not
//! overlap (D. Priest 1991, J. Shewchuk 1997): u + v and u·v are each exactly the rounded result plus an
//! error that is again a floating-point number.
//!
//! Exact as long as no product of three coordinate differences, nor its last bit, leaves the range of normal
//! numbers.

use std::cmp::Ordering;

use glam::DVec3;

/// u + v = sum + error exactly.
fn two_sum(u: f64, v: f64) -> (f64, f64) {
    let sum = u + v;
    let v_part = sum - u;
    (sum, (u - (sum - v_part)) + (v - v_part))
}

/// u · v = product + error exactly, by splitting each factor into two halves of 26 bits.
fn two_product(u: f64, v: f64) -> (f64, f64) {
    let halves = |w: f64| {
        let c = 134_217_729.0 * w; // 2²⁷ + 1
        let high = c - (c - w);
        (high, w - high)
    };
    let product = u * v;
    let ((uh, ul), (vh, vl)) = (halves(u), halves(v));
    (product, ul * vl - (((product - uh * vh) - ul * vh) - uh * vl))
}

/// A number as a sum of non-overlapping parts, smallest first, none of them zero.
#[derive(Default)]
struct Expansion(Vec<f64>);

impl Expansion {
    fn add(&mut self, value: f64) {
        let mut carry = value;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let (sum, error) = two_sum(carry, self.0[i]);
            carry = sum;
            if error != 0.0 {
                self.0[kept] = error;
                kept += 1;
            }
        }
        self.0.truncate(kept);
        if carry != 0.0 {
            self.0.push(carry);
        }
    }

    fn add_product(&mut self, u: f64, v: f64, w: f64) {
        if u == 0.0 || v == 0.0 || w == 0.0 {
            return;
        }
        let (product, error) = two_product(u, v);
        for part in [error, product] {
            let (high, low) = two_product(part, w);
            self.add(low);
            self.add(high);
        }
    }
}

/// Sign of det [b−a, c−a, d−a]: `Greater` if d lies above the plane of a, b, c seen counter-clockwise.
pub(crate) fn orientation(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Ordering {
    // Each difference p − q as rounded value and error.
    let difference = |p: DVec3| -> [[f64; 2]; 3] {
        std::array::from_fn(|i| {
            let (high, low) = two_sum(p[i], -a[i]);
            [high, low]
        })
    };
    let (u, v, w) = (difference(b), difference(c), difference(d));
    let mut determinant = Expansion::default();
    for (i, j, k, sign) in
        [(0, 1, 2, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0), (0, 2, 1, -1.0), (2, 1, 0, -1.0), (1, 0, 2, -1.0)]
    {
        for p in u[i] {
            for q in v[j] {
                for r in w[k] {
                    determinant.add_product(sign * p, q, r);
                }
            }
        }
    }
    // The last part outweighs all others together.
    determinant.0.last().map_or(Ordering::Equal, |&part| part.total_cmp(&0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sees_one_unit_in_the_last_place() {
        let (a, b, c) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.7, 0.1, 0.9), DVec3::new(0.3, 0.8, 0.4));
        assert_eq!(orientation(a, b, c, a), Ordering::Equal);
        let tilted = |z: f64| DVec3::new(0.5, 0.5, z);
        let flat = [DVec3::new(0.0, 0.0, 0.3), DVec3::new(1.0, 0.0, 0.3), DVec3::new(0.0, 1.0, 0.3)];
        let [p, q, r] = flat;
        assert_eq!(orientation(p, q, r, tilted(0.3)), Ordering::Equal);
        assert_eq!(orientation(p, q, r, tilted(0.3_f64.next_up())), Ordering::Greater);
        assert_eq!(orientation(p, q, r, tilted(0.3_f64.next_down())), Ordering::Less);
    }

    proptest! {
        /// Against integer arithmetic: coordinates are integers times 2⁻³⁰, moved far from the origin.
        #[test]
        fn agrees_with_integers(p in prop::array::uniform12(-2_000_000_000i64..2_000_000_000), flat in any::<bool>()) {
            let mut p = p.map(i128::from);
            if flat {
                // d = b + c − a lies in the plane, one unit beside it in z.
                for i in 0..3 { p[9 + i] = p[3 + i] + p[6 + i] - p[i]; }
                p[11] += p[0] % 2;
            }
            let at = |k: usize| DVec3::from_array(std::array::from_fn(|i| p[3 * k + i] as f64 * 0.5_f64.powi(30)));
            let d = |k: usize, i: usize| p[3 * k + i] - p[i];
            let det = d(1, 0) * (d(2, 1) * d(3, 2) - d(2, 2) * d(3, 1)) - d(1, 1) * (d(2, 0) * d(3, 2) - d(2, 2) * d(3, 0))
                + d(1, 2) * (d(2, 0) * d(3, 1) - d(2, 1) * d(3, 0));
            prop_assert_eq!(orientation(at(0), at(1), at(2), at(3)), det.cmp(&0));
        }
    }
}
