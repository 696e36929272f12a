//! Free joint: six degrees of freedom of a floating base. q = (position in the joint's frame, quaternion x, y, z, w), v = (velocity of the
//! origin, angular velocity), both in the link's own axes: S = ((0, 1), (1, 0)), constant.

use super::{
    Column, JointKind, column, normalize_quaternion, quaternion, quaternion_rate, rotation_vector,
    rotation_vector_rate, turn,
};
use glam::{DMat3, DQuat, DVec3};

/// Holds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeJoint;

impl JointKind for FreeJoint {
    fn name(&self) -> &'static str {
        "free"
    }
    fn parameters(&self) -> Option<Vec<f64>> {
        Some(Vec::new())
    }
    fn position_count(&self) -> usize {
        7
    }
    fn velocity_count(&self) -> usize {
        6
    }
    fn neutral(&self, q: &mut [f64]) {
        q.copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_quat(quaternion(&q[3..])), DVec3::from_slice(q))
    }
    fn has_constant_subspace(&self) -> bool {
        true
    }
    fn motion_subspace(&self, _: &[f64], columns: &mut [Column]) {
        for (k, axis) in DVec3::AXES.into_iter().enumerate() {
            columns[k] = column(DVec3::ZERO, axis);
            columns[3 + k] = column(axis, DVec3::ZERO);
        }
    }
    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        // The body-fixed twist (v, ω) for the time h: p moves by R (1 + … ) v h; with half the turn the step is of second order.
        let (linear, omega) = (DVec3::from_slice(v), DVec3::from_slice(&v[3..]));
        let middle = quaternion(&q[3..]) * DQuat::from_scaled_axis(omega * (0.5 * h));
        let moved = DVec3::from_slice(q) + middle * linear * h;
        q[..3].copy_from_slice(&moved.to_array());
        turn(&mut q[3..], omega, h);
    }
    // ξ = (displacement in the joint's frame, rotation vector).
    fn retract(&self, start: &[f64], xi: &[f64], q: &mut [f64]) {
        q.copy_from_slice(start);
        for k in 0..3 {
            q[k] += xi[k];
        }
        turn(&mut q[3..], DVec3::from_slice(&xi[3..]), 1.0);
    }
    fn coordinate_rate(&self, start: &[f64], xi: &[f64], v: &[f64], rate: &mut [f64]) {
        let turned = DVec3::from_slice(&xi[3..]);
        let attitude = quaternion(&start[3..]) * DQuat::from_scaled_axis(turned);
        rate[..3].copy_from_slice(&(attitude * DVec3::from_slice(v)).to_array());
        let xi_rate = rotation_vector_rate(turned, DVec3::from_slice(&v[3..]));
        rate[3..].copy_from_slice(&xi_rate.to_array());
    }
    fn position_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) {
        let moving = quaternion(&q[3..]) * DVec3::from_slice(v);
        rate[..3].copy_from_slice(&moving.to_array());
        quaternion_rate(&q[3..], DVec3::from_slice(&v[3..]), &mut rate[3..]);
    }
    fn displacement(&self, start: &[f64], q: &[f64], xi: &mut [f64]) {
        for k in 0..3 {
            xi[k] = q[k] - start[k];
        }
        xi[3..].copy_from_slice(&rotation_vector(&start[3..], &q[3..]).to_array());
    }
    fn velocities_are_rates(&self) -> bool {
        false
    }
    fn normalize(&self, q: &mut [f64]) {
        normalize_quaternion(&mut q[3..]);
    }
}
