//! Rotations as unit quaternions: checked conversions, drift control and interpolation.
//!
//! q = (s, v) = (cos θ/2, u sin θ/2) turns by θ about u; R = (2s² − 1) 1 + 2 v vᵀ + 2s [v]×. Back from R, the
//! largest of 4s², 4x², 4y², 4z² (sums of diagonal entries) decides which component is taken from a root, so
//! that nothing is divided by a small number, half turns included.

use glam::{DMat3, DQuat, DVec3};
use thiserror::Error;

/// Why something is not a rotation.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum RotationError {
    /// Quaternion or axis of length zero, or not finite.
    #[error("a quaternion or axis of length zero (or not finite) is no rotation")]
    Zero,
    /// The matrix is not orthonormal or mirrors.
    #[error("matrix is not a rotation: RᵀR or its determinant differs from 1 by {error}")]
    NotRotation {
        /// Largest deviation found.
        error: f64,
    },
}

/// Any finite non-zero quaternion ⇒ unit quaternion.
pub fn normalized(q: DQuat) -> Result<DQuat, RotationError> {
    let scale = q.x.abs().max(q.y.abs()).max(q.z.abs()).max(q.w.abs());
    if !q.is_finite() || scale == 0.0 {
        return Err(RotationError::Zero);
    }
    // Divided twice: a quaternion of subnormal numbers must not overflow 1/scale.
    let scaled = DQuat::from_xyzw(q.x / scale, q.y / scale, q.z / scale, q.w / scale);
    Ok(scaled.normalize())
}

/// Rotation matrix, orthonormal within 1e-6, ⇒ unit quaternion with s ≥ 0.
pub fn rotation_from_matrix(r: DMat3) -> Result<DQuat, RotationError> {
    let deviation = (r.transpose() * r - DMat3::IDENTITY).abs();
    let deviation = deviation.x_axis.max(deviation.y_axis).max(deviation.z_axis).max_element();
    let error = deviation.max((r.determinant() - 1.0).abs());
    // Written so that NaN fails too.
    if !(error <= 1e-6) {
        return Err(RotationError::NotRotation { error });
    }
    let q = DQuat::from_mat3(&r).normalize();
    Ok(if q.w < 0.0 { -q } else { q })
}

/// (axis of any length, angle in radians) ⇒ unit quaternion.
pub fn from_axis_angle(axis: DVec3, angle: f64) -> Result<DQuat, RotationError> {
    let scale = axis.abs().max_element();
    if !(axis.is_finite() && angle.is_finite() && scale > 0.0) {
        return Err(RotationError::Zero);
    }
    Ok(DQuat::from_axis_angle((axis / scale).normalize(), angle))
}

/// Unit quaternion ⇒ (unit axis, angle in [0, π]); below 1e-12 rad the axis is x and the angle 0.
pub fn axis_angle(q: DQuat) -> (DVec3, f64) {
    let q = if q.w < 0.0 { -q } else { q };
    let length = q.xyz().length();
    let angle = 2.0 * length.atan2(q.w);
    if angle < 1e-12 { (DVec3::X, 0.0) } else { (q.xyz() / length, angle) }
}

/// A matrix near a rotation ⇒ the rotation by Gram–Schmidt, first column kept, and the error taken out:
/// û = u/|u|, v̂ = v − (v·û) û normalised, ŵ = û × v̂.
pub fn orthonormalized(r: DMat3) -> Result<(DMat3, f64), RotationError> {
    let u = r.x_axis.try_normalize().ok_or(RotationError::Zero)?;
    let v = (r.y_axis - r.y_axis.dot(u) * u).try_normalize().ok_or(RotationError::Zero)?;
    // Once more: the first pass leaves an error of the size of rounding times the skewness.
    let v = (v - v.dot(u) * u).normalize();
    let result = DMat3::from_cols(u, v, u.cross(v));
    let change = (result - r).abs();
    let error = change.x_axis.max(change.y_axis).max(change.z_axis).max_element();
    if result.is_finite() { Ok((result, error)) } else { Err(RotationError::NotRotation { error }) }
}

/// Unit quaternions and t ∈ [0, 1] ⇒ the rotation on the shorter arc between them, at constant angular speed.
pub fn slerp(from: DQuat, to: DQuat, t: f64) -> DQuat {
    let dot = from.dot(to);
    let (to, dot) = if dot < 0.0 { (-to, -dot) } else { (to, dot) };
    if t <= 0.0 {
        return from;
    }
    if t >= 1.0 {
        return to;
    }
    if dot > 1.0 - 1e-9 {
        return (from * (1.0 - t) + to * t).normalize();
    }
    let angle = dot.acos();
    ((from * ((1.0 - t) * angle).sin() + to * (t * angle).sin()) * (1.0 / angle.sin())).normalize()
}
