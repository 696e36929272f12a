//! Two axis-aligned boxes that move without turning while s goes from 0 to 1.
//!
//! On each axis |P_i + s D_i| ≤ R_i, R the sum of the half sizes, holds on an interval of s. They overlap
//! while all three hold; the axis that comes last is the normal's.

use glam::DVec3;

use crate::Aabb;
use crate::primitive::axis_interval;

/// When two moving boxes first touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxHit {
    /// s ∈ [0, 1]
    pub time: f64,
    /// Unit vector along the axis of least overlap, from the first box to the second.
    pub normal: DVec3,
    /// Unit vector from the first centre to the second.
    pub center_line: DVec3,
}

/// (box, displacement, box, displacement) ⇒ first contact with s ∈ [0, 1]; touching counts.
pub fn swept_boxes(a: &Aabb, displacement_a: DVec3, b: &Aabb, displacement_b: DVec3) -> Option<BoxHit> {
    let p = b.center() - a.center();
    let d = displacement_b - displacement_a;
    let reach = a.half_extents() + b.half_extents();
    let (mut enter, mut leave, mut last_axis) = (0.0_f64, 1.0_f64, None);
    for axis in 0..3 {
        let [first, last] = axis_interval(p[axis], d[axis], reach[axis])?;
        if first > enter {
            (enter, last_axis) = (first, Some(axis));
        }
        leave = leave.min(last);
    }
    // Written so that NaN is a miss.
    if !(enter <= leave) {
        return None;
    }
    let between = p + enter * d;
    let axis = last_axis.unwrap_or_else(|| (reach - between.abs()).min_position());
    let normal = DVec3::AXES[axis] * if between[axis] < 0.0 { -1.0 } else { 1.0 };
    Some(BoxHit { time: enter, normal, center_line: between.normalize_or(DVec3::Z) })
}
