//! Unit frame of a tree: boxes in single precision, rounded outwards relative to the root box.
//!
//! A point p of the root box maps to u = s (p − c), c the root's centre and s a power of two with ½ <
//! max|u| ≤ 1 (s is exact, so scaling rounds nothing). Rounding u to f32 moves it by at most 2⁻²⁵, the f64
//! subtraction by 2⁻⁵³, and the sum u ± 2⁻²³ by at most 2⁻²⁴. So low = f32(u) − 2⁻²³ lies below u and high =
//! f32(u) + 2⁻²³ above it, for any position and size of the mesh.

use glam::DVec3;

use crate::Aabb;
use crate::box32::Box32;

/// 2⁻²³, added outwards to every rounded coordinate.
pub(super) const PAD: f32 = 1.0 / (1 << 23) as f32;

/// The map from the frame of the items to the unit cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitFrame {
    pub origin: DVec3,
    pub scale: f64,
}

impl UnitFrame {
    /// The frame in which `bounds` just fits into [−1, 1]³.
    pub fn around(bounds: &Aabb) -> Self {
        let half = bounds.half_extents().max_element();
        // A single point needs no scale; the clamp keeps 2^k within the normal numbers.
        let exponent = if half > 0.0 { half.log2().ceil().clamp(-900.0, 900.0) } else { 0.0 };
        let mut scale = (-exponent).exp2();
        // The logarithm may be off by a rounding at a power of two.
        if half * scale > 1.0 {
            scale *= 0.5;
        }
        Self { origin: bounds.center(), scale }
    }

    /// Item frame ⇒ unit frame, still in double precision.
    #[inline(always)]
    pub fn point(&self, p: DVec3) -> DVec3 {
        (p - self.origin) * self.scale
    }

    /// (smallest, largest corner) ⇒ outward-rounded box.
    #[inline(always)]
    pub fn outward(&self, min: DVec3, max: DVec3) -> Box32 {
        let (low, high) = (self.point(min).as_vec3(), self.point(max).as_vec3());
        Box32 { low: (low - PAD).extend(0.0), high: (high + PAD).extend(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounded_box_holds_the_exact_one(
            corner in prop::array::uniform3(-1.0..1.0f64), size in prop::array::uniform3(0.0..1.0f64),
            at in prop::array::uniform3(0.0..1.0f64), exponent in -140.0..140.0f64, offset in -1e3..1e3f64,
        ) {
            let unit = exponent.exp2();
            let min = (DVec3::from_array(corner) + offset) * unit;
            let root = Aabb::new(min, min + DVec3::from_array(size) * unit).unwrap();
            let p = (root.min() + DVec3::from_array(at) * root.extents()).clamp(root.min(), root.max());
            let frame = UnitFrame::around(&root);
            let rounded = frame.outward(p, p);
            let exact = frame.point(p);
            for axis in 0..3 {
                prop_assert!(f64::from(rounded.low[axis]) < exact[axis] && exact[axis] < f64::from(rounded.high[axis]));
                prop_assert!(exact[axis].abs() <= 1.0 + 1e-12);
                prop_assert!(f64::from(rounded.high[axis] - rounded.low[axis]) < 4e-7);
            }
        }
    }
}
