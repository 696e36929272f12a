//! Single-precision boxes of box trees.
//!
//! [`Box32::outward`] rounds outwards relative to a given origin. A coordinate x in double precision becomes
//! f = f32(x − origin), off by at most half a unit in the last place, which is ≤ 2⁻²⁴|f|. Subtracting ε|f| +
//! η with ε = 2⁻²², η the smallest normal number, and rounding once more (again ≤ 2⁻²⁴|f|) ends below x −
//! origin, adding it above. So the box contains the exact one, and is too large by 10⁻⁶ of its distance from
//! the origin at most.

use glam::{DVec3, Vec4};

use crate::Aabb;

/// 2⁻²².
const EPSILON: f32 = 1.0 / (1 << 22) as f32;

/// Lower and upper corner; the fourth lanes are unused, or hold a link while a tree is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Box32 {
    pub low: Vec4,
    pub high: Vec4,
}

impl Box32 {
    /// Empty, the neutral element of `union`.
    pub const EMPTY: Self = Self { low: Vec4::INFINITY, high: Vec4::NEG_INFINITY };

    /// The smallest such box that contains the exact one.
    #[inline(always)]
    pub fn outward(bounds: &Aabb, origin: DVec3) -> Self {
        let low = (bounds.min() - origin).as_vec3().extend(0.0);
        let high = (bounds.max() - origin).as_vec3().extend(0.0);
        Self { low: below(low), high: above(high) }
    }

    #[inline(always)]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    #[inline(always)]
    pub fn with_point(self, p: Vec4) -> Self {
        Self { low: self.low.min(p), high: self.high.max(p) }
    }

    #[inline(always)]
    pub fn overlaps(self, other: Self) -> bool {
        let apart = self.low.cmpgt(other.high).bitmask() | other.low.cmpgt(self.high).bitmask();
        apart.trailing_zeros() >= 3
    }

    #[inline(always)]
    pub fn contains(self, other: Self) -> bool {
        let out = self.low.cmpgt(other.low).bitmask() | other.high.cmpgt(self.high).bitmask();
        out.trailing_zeros() >= 3
    }

    /// Half the surface, the cost measure of box trees.
    #[inline(always)]
    pub fn half_area(self) -> f32 {
        let e = self.high - self.low;
        e.x * e.y + e.y * e.z + e.z * e.x
    }
}

/// A little less, coordinate by coordinate.
#[inline(always)]
pub(crate) fn below(x: Vec4) -> Vec4 {
    x - (x.abs() * EPSILON + f32::MIN_POSITIVE)
}

/// A little more, coordinate by coordinate.
#[inline(always)]
pub(crate) fn above(x: Vec4) -> Vec4 {
    x + (x.abs() * EPSILON + f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounded_box_holds_the_exact_one(
            corner in prop::array::uniform3(-1.0..1.0f64), size in prop::array::uniform3(0.0..1.0f64),
            exponent in -60.0..50.0f64, origin in prop::array::uniform3(-1e6..1e6f64),
        ) {
            let (unit, origin) = (exponent.exp2(), DVec3::from_array(origin));
            let min = DVec3::from_array(corner) * unit + origin;
            let exact = Aabb::new(min, min + DVec3::from_array(size) * unit).unwrap();
            let rounded = Box32::outward(&exact, origin);
            for axis in 0..3 {
                prop_assert!(f64::from(rounded.low[axis]) < exact.min()[axis] - origin[axis]);
                prop_assert!(f64::from(rounded.high[axis]) > exact.max()[axis] - origin[axis]);
                let excess = exact.min()[axis] - origin[axis] - f64::from(rounded.low[axis]);
                prop_assert!(excess <= 1e-6 * (exact.min()[axis] - origin[axis]).abs() + 1e-37);
            }
        }
    }
}
