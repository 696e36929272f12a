//! Universal joint: q = (angle about a in the joint's frame, then angle about b in the link's frame). R = exp(q₀ ã) exp(q₁ b̃).
//!
//! In the link's axes a is a′ = exp(−q₁ b̃) a, so S = ((a′, 0), (b, 0)) and da′/dt = −q̇₁ b × a′, whence Ṡ v = (−v₀ v₁ b × a′, 0).

use super::{Column, JointKind, column};
use glam::{DMat3, DVec3};

/// Turns about two axes that cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniversalJoint {
    /// Unit axis fixed in the joint's frame.
    pub first: DVec3,
    /// Unit axis fixed in the link's frame.
    pub second: DVec3,
}

impl UniversalJoint {
    fn first_in_link(&self, q: &[f64]) -> DVec3 {
        DMat3::from_axis_angle(self.second, -q[1]) * self.first
    }
}

impl JointKind for UniversalJoint {
    fn name(&self) -> &'static str {
        "universal"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some([self.first.to_array(), self.second.to_array()].concat())
    }
    fn position_count(&self) -> usize {
        2
    }
    fn velocity_count(&self) -> usize {
        2
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_axis_angle(self.first, q[0]) * DMat3::from_axis_angle(self.second, q[1]), DVec3::ZERO)
    }
    fn motion_subspace(&self, q: &[f64], columns: &mut [Column]) {
        columns[0] = column(self.first_in_link(q), DVec3::ZERO);
        columns[1] = column(self.second, DVec3::ZERO);
    }
    fn bias(&self, q: &[f64], v: &[f64]) -> Column {
        column(self.second.cross(self.first_in_link(q)) * (-v[0] * v[1]), DVec3::ZERO)
    }
    fn motion_subspace_derivative(&self, q: &[f64], k: usize, columns: &mut [Column]) {
        columns.fill(Column::default());
        if k == 1 {
            columns[0] = column(-self.second.cross(self.first_in_link(q)), DVec3::ZERO);
        }
    }
    fn bias_derivatives(&self, q: &[f64], v: &[f64], by_position: &mut [Column], by_velocity: &mut [Column]) {
        let turning = self.second.cross(self.first_in_link(q));
        by_position[0] = Column::default();
        by_position[1] = column(self.second.cross(turning) * (v[0] * v[1]), DVec3::ZERO);
        by_velocity[0] = column(turning * -v[1], DVec3::ZERO);
        by_velocity[1] = column(turning * -v[0], DVec3::ZERO);
    }
    fn axes(&self) -> Vec<DVec3> {
        vec![self.first, self.second]
    }
}
