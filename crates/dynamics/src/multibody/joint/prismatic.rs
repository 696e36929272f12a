//! Prismatic joint: q is the distance along a fixed axis a. p = q a, S = (0, a).

use super::{Column, JointKind, SingleAxis, column};
use glam::{DMat3, DVec3};

/// Slides along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrismaticJoint {
    /// Unit axis, the same in both frames.
    pub axis: DVec3,
}

impl JointKind for PrismaticJoint {
    fn name(&self) -> &'static str {
        "prismatic"
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
        (DMat3::IDENTITY, self.axis * q[0])
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        columns[0] = column(DVec3::ZERO, self.axis);
    }
    fn single_axis(&self) -> Option<SingleAxis> {
        Some(SingleAxis::Translation(self.axis))
    }
    fn axes(&self) -> Vec<DVec3> {
        vec![self.axis]
    }
}
