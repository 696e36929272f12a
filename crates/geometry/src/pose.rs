//! Rigid motions: the pose of a frame in another frame.
//!
//! A pose τ = (q, t) maps p ↦ q p q* + t. Composition τ₂∘τ₁ = (q₂q₁, q₂t₁q₂* + t₂), inverse τ⁻¹ = (q*, −q* t
//! q). `a_from_b` in a name reads: maps coordinates in frame b to coordinates in frame a.

use glam::{DMat3, DMat4, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::RotationError;
use crate::rotation::rotation_from_matrix;

/// A rotation followed by a translation.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use rattleback_geometry::Pose;
/// let quarter = Pose::new(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2), DVec3::Z);
/// assert!(quarter.point(DVec3::X).abs_diff_eq(DVec3::new(0.0, 1.0, 1.0), 1e-15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Unit quaternion, applied first.
    pub rotation: DQuat,
    /// Position of the local origin.
    pub translation: DVec3,
}

impl Pose {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// (rotation, translation) ⇒ pose.
    #[inline]
    pub const fn new(rotation: DQuat, translation: DVec3) -> Self {
        Self { rotation, translation }
    }

    /// A pure translation.
    #[inline]
    pub const fn at(translation: DVec3) -> Self {
        Self { rotation: DQuat::IDENTITY, translation }
    }

    /// Local point ⇒ the same point in the outer frame.
    #[inline]
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    /// Local direction ⇒ the same direction in the outer frame.
    #[inline]
    pub fn vector(&self, v: DVec3) -> DVec3 {
        self.rotation * v
    }

    /// Outer point ⇒ the same point in the local frame.
    #[inline]
    pub fn inverse_point(&self, p: DVec3) -> DVec3 {
        self.rotation.conjugate() * (p - self.translation)
    }

    /// Outer direction ⇒ the same direction in the local frame.
    #[inline]
    pub fn inverse_vector(&self, v: DVec3) -> DVec3 {
        self.rotation.conjugate() * v
    }

    /// The motion that undoes this one.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// The columns of the result are the local axes in the outer frame.
    #[inline]
    pub fn rotation_matrix(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }

    /// Homogeneous 4×4 form, for renderers.
    pub fn to_matrix(&self) -> DMat4 {
        DMat4::from_rotation_translation(self.rotation, self.translation)
    }

    /// Homogeneous 4×4 form ⇒ pose; an error if the upper left block is no rotation or the last row is not 0
    /// 0 0 1.
    pub fn from_matrix(matrix: &DMat4) -> Result<Self, RotationError> {
        let rotation = rotation_from_matrix(DMat3::from_mat4(*matrix))?;
        let last_row = matrix.row(3);
        if last_row != glam::DVec4::W || !matrix.w_axis.is_finite() {
            return Err(RotationError::NotRotation {
                error: (last_row - glam::DVec4::W).abs().max_element(),
            });
        }
        Ok(Self { rotation, translation: matrix.w_axis.truncate() })
    }

    /// Pose of the frame `other` relative to this frame: self⁻¹ ∘ other.
    #[must_use]
    #[inline]
    pub fn relative(&self, other: &Self) -> Self {
        self.inverse() * *other
    }

    /// Whether every number is finite and the quaternion has unit length within 1e-9.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.translation.is_finite() && (self.rotation.length_squared() - 1.0).abs() < 1e-9
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// Composition: `(outer * inner).point(p) == outer.point(inner.point(p))`.
impl std::ops::Mul for Pose {
    type Output = Self;

    #[inline]
    fn mul(self, inner: Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            translation: self.rotation * inner.translation + self.translation,
        }
    }
}
