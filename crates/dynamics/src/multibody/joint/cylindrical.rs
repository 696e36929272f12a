//! Cylindrical joint: q = (distance along, angle about) a fixed axis a. S = ((0, a), (a, 0)).

use super::{Column, JointKind, column};
use glam::{DMat3, DVec3};

/// Turns about an axis and slides along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CylindricalJoint {
    /// Unit axis, the same in both frames.
    pub axis: DVec3,
}

impl JointKind for CylindricalJoint {
    fn name(&self) -> &'static str {
        "cylindrical"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(self.axis.to_array().to_vec())
    }
    fn position_count(&self) -> usize {
        2
    }
    fn velocity_count(&self) -> usize {
        2
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_axis_angle(self.axis, q[1]), self.axis * q[0])
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        columns[0] = column(DVec3::ZERO, self.axis);
        columns[1] = column(self.axis, DVec3::ZERO);
    }
    fn axes(&self) -> Vec<DVec3> {
        vec![self.axis]
    }
}
