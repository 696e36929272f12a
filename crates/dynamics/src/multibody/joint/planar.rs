//! Planar joint: q = (x, y) in the joint's plane and the angle about its normal z; velocities are ẋ, ẏ, q̇₂ along the joint's axes.
//!
//! In the link's axes the plane's axes are e′ = exp(−q₂ z̃) e: S = ((0, x′), (0, y′), (z, 0)); they turn back at q̇₂, so Ṡ v = (0, −v₂ z × (v₀ x′ + v₁ y′)).

use super::{Column, JointKind, column};
use glam::{DMat3, DVec3};

/// Slides in the plane z = 0 of the joint's frame and turns about its normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanarJoint;

impl JointKind for PlanarJoint {
    fn name(&self) -> &'static str {
        "planar"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(Vec::new())
    }
    fn position_count(&self) -> usize {
        3
    }
    fn velocity_count(&self) -> usize {
        3
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_rotation_z(q[2]), DVec3::new(q[0], q[1], 0.0))
    }
    fn motion_subspace(&self, q: &[f64], columns: &mut [Column]) {
        let back = DMat3::from_rotation_z(-q[2]);
        columns[0] = column(DVec3::ZERO, back * DVec3::X);
        columns[1] = column(DVec3::ZERO, back * DVec3::Y);
        columns[2] = column(DVec3::Z, DVec3::ZERO);
    }
    fn bias(&self, q: &[f64], v: &[f64]) -> Column {
        let sliding = DMat3::from_rotation_z(-q[2]) * DVec3::new(v[0], v[1], 0.0);
        column(DVec3::ZERO, DVec3::Z.cross(sliding) * -v[2])
    }
    fn motion_subspace_derivative(&self, q: &[f64], k: usize, columns: &mut [Column]) {
        columns.fill(Column::default());
        if k == 2 {
            let back = DMat3::from_rotation_z(-q[2]);
            columns[0] = column(DVec3::ZERO, -DVec3::Z.cross(back * DVec3::X));
            columns[1] = column(DVec3::ZERO, -DVec3::Z.cross(back * DVec3::Y));
        }
    }
    fn bias_derivatives(&self, q: &[f64], v: &[f64], by_position: &mut [Column], by_velocity: &mut [Column]) {
        let back = DMat3::from_rotation_z(-q[2]);
        let turning = |sliding: DVec3| DVec3::Z.cross(back * sliding);
        let sliding = turning(DVec3::new(v[0], v[1], 0.0));
        by_position[..2].fill(Column::default());
        by_position[2] = column(DVec3::ZERO, DVec3::Z.cross(sliding) * v[2]);
        by_velocity[0] = column(DVec3::ZERO, turning(DVec3::X) * -v[2]);
        by_velocity[1] = column(DVec3::ZERO, turning(DVec3::Y) * -v[2]);
        by_velocity[2] = column(DVec3::ZERO, -sliding);
    }
}
