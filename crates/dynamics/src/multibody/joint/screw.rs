//! Screw joint: turning by q about a fixed axis a moves the link by λ q along it. R = exp(q ã), p = λ q a, S = (a, λ a).

use super::{Column, JointKind, column};
use glam::{DMat3, DVec3};

/// Turns about an axis and moves along it in proportion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrewJoint {
    /// Unit axis, the same in both frames.
    pub axis: DVec3,
    /// λ: advance for an angle of one radian, m/rad; a thread of pitch P has P/2π.
    pub lead: f64,
}

impl JointKind for ScrewJoint {
    fn name(&self) -> &'static str {
        "screw"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some([self.axis.x, self.axis.y, self.axis.z, self.lead].to_vec())
    }
    fn position_count(&self) -> usize {
        1
    }
    fn velocity_count(&self) -> usize {
        1
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_axis_angle(self.axis, q[0]), self.axis * (self.lead * q[0]))
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        columns[0] = column(self.axis, self.axis * self.lead);
    }
    fn axes(&self) -> Vec<DVec3> {
        vec![self.axis]
    }
}
