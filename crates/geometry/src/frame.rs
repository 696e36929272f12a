//! Pose of B relative to A as a matrix: p ↦ R p + t.

use glam::{DMat3, DVec3};

use crate::closest::ClosestError;
use crate::{MAX_LENGTH, Pose};

/// Pose of B relative to A, prepared for many points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) rotation: DMat3,
    pub(crate) translation: DVec3,
}

impl Frame {
    /// A's own.
    pub(crate) const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// Pose of B in A ⇒ frame, if the pose is one.
    #[inline]
    pub(crate) fn new(b_in_a: &Pose) -> Result<Self, ClosestError> {
        if b_in_a.is_valid() && b_in_a.translation.abs().max_element() <= MAX_LENGTH {
            Ok(Self { rotation: b_in_a.rotation_matrix(), translation: b_in_a.translation })
        } else {
            Err(ClosestError::InvalidPose)
        }
    }

    /// Pose of A relative to B.
    #[inline]
    pub(crate) fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// Point of B ⇒ the same in A's frame.
    #[inline]
    pub(crate) fn point(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    /// Direction of B ⇒ the same in A's frame.
    #[inline]
    pub(crate) fn vector(&self, v: DVec3) -> DVec3 {
        self.rotation * v
    }

    /// Direction in A's frame ⇒ the same in B's: Rᵀ v.
    #[inline]
    pub(crate) fn vector_in_b(&self, v: DVec3) -> DVec3 {
        DVec3::new(self.rotation.x_axis.dot(v), self.rotation.y_axis.dot(v), self.rotation.z_axis.dot(v))
    }

    /// Point in A's frame ⇒ the same in B's.
    #[inline]
    pub(crate) fn point_in_b(&self, p: DVec3) -> DVec3 {
        self.vector_in_b(p - self.translation)
    }
}
