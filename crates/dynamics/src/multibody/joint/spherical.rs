//! Spherical joint: q is a unit quaternion (x, y, z, w), v the angular velocity in the link's own axes. R = R(q), S = (1, 0): constant
//! there, so there is no bias, and no attitude at which it locks.

use super::{
    Column, JointKind, column, normalize_quaternion, quaternion, quaternion_rate, rotation_vector,
    rotation_vector_rate, turn,
};
use glam::{DMat3, DVec3};

/// Turns in any direction about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SphericalJoint;

impl JointKind for SphericalJoint {
    fn name(&self) -> &'static str {
        "spherical"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(Vec::new())
    }
    fn position_count(&self) -> usize {
        4
    }
    fn velocity_count(&self) -> usize {
        3
    }
    fn neutral(&self, q: &mut [f64]) {
        q.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_quat(quaternion(q)), DVec3::ZERO)
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        for (place, axis) in columns.iter_mut().zip(DVec3::AXES) {
            *place = column(axis, DVec3::ZERO);
        }
    }
    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        turn(q, DVec3::from_slice(v), h);
    }
    fn retract(&self, start: &[f64], xi: &[f64], q: &mut [f64]) {
        q.copy_from_slice(start);
        turn(q, DVec3::from_slice(xi), 1.0);
    }
    fn coordinate_rate(&self, _: &[f64], xi: &[f64], v: &[f64], rate: &mut [f64]) {
        let xi_rate = rotation_vector_rate(DVec3::from_slice(xi), DVec3::from_slice(v));
        rate.copy_from_slice(&xi_rate.to_array());
    }
    fn position_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) {
        quaternion_rate(q, DVec3::from_slice(v), rate);
    }
    fn displacement(&self, start: &[f64], q: &[f64], xi: &mut [f64]) {
        xi.copy_from_slice(&rotation_vector(start, q).to_array());
    }
    fn velocities_are_rates(&self) -> bool {
        false
    }
    fn normalize(&self, q: &mut [f64]) {
        normalize_quaternion(q);
    }
}
