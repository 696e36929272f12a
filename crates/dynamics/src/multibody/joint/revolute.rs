//! Revolute joint: q is the angle about a fixed axis a. R = exp(q ã), S = (a, 0).

use super::{Column, JointKind, SingleAxis, column};
use glam::{DMat3, DVec3};

/// Turns about an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RevoluteJoint {
    /// Unit axis, the same in both frames.
    pub axis: DVec3,
}

impl JointKind for RevoluteJoint {
    fn name(&self) -> &'static str {
        "revolute"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(self.axis.to_array().to_vec())
    }
    fn position_count(&self) -> usize {
        1
    }
    fn velocity_count(&self) -> usize {
        1
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_axis_angle(self.axis, q[0]), DVec3::ZERO)
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        columns[0] = column(self.axis, DVec3::ZERO);
    }
    fn single_axis(&self) -> Option<SingleAxis> {
        Some(SingleAxis::Rotation(self.axis))
    }
    fn axes(&self) -> Vec<DVec3> {
        vec![self.axis]
    }
}
