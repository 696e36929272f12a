//! On which side of a plane a point lies, decided exactly.
//!
//! orientation(a, b, c, d) = sign of det [b−a, c−a, d−a]: positive if a, b, c run counter-clockwise seen from
//! d. Rounding can flip the sign of a small determinant; geometry built on flipped signs contradicts itself.
//! So the determinant is evaluated without rounding where that decides (J. Shewchuk 1997, crate `robust`).
//!
//! Exact as long as no product of three coordinate differences, nor its last bit, leaves the range of normal
//! numbers.

use std::cmp::Ordering;

use glam::DVec3;
use robust::{Coord3D, orient3d};

/// Sign of det [b−a, c−a, d−a]: `Greater` if d lies above the plane of a, b, c seen counter-clockwise.
pub(crate) fn orientation(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Ordering {
    let [a, b, c, d] = [a, b, c, d].map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
    // Shewchuk's determinant is positive below the plane.
    let below = orient3d(a, b, c, d);
    0.0_f64.partial_cmp(&below).unwrap_or(Ordering::Equal)
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
