//! Fixed joint: no positions, no velocities.

use super::{Column, JointKind};
use glam::{DMat3, DVec3};

/// Holds a link to its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FixedJoint;

impl JointKind for FixedJoint {
    fn name(&self) -> &'static str {
        "fixed"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(Vec::new())
    }
    fn position_count(&self) -> usize {
        0
    }
    fn velocity_count(&self) -> usize {
        0
    }
    fn pose(&self, _: &[f64]) -> (DMat3, DVec3) {
        (DMat3::IDENTITY, DVec3::ZERO)
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], _: &mut [Column]) {}
}
