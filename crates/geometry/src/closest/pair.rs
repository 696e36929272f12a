//! The difference body Ψ = {a − b : a ∈ A, b ∈ B} of two cores, by its support function.
//!
//! The distance of A and B is the distance of Ψ from the origin, and their penetration depth that of the
//! origin from Ψ's surface. Ψ's farthest point along d is s_A(d) − s_B(−d).

use glam::{DMat3, DVec3};

use super::{ClosestError, Support};
use crate::{MAX_LENGTH, Pose};

/// A corner of Ψ and where it comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    /// a − b.
    pub(super) w: DVec3,
    /// Point of A's core.
    pub(super) a: DVec3,
    /// Point of B's core, in A's frame.
    pub(super) b: DVec3,
    /// Numbers of the two points in their shapes.
    pub(super) numbers: [u32; 2],
}

impl Corner {
    pub(super) const ZERO: Self = Self { w: DVec3::ZERO, a: DVec3::ZERO, b: DVec3::ZERO, numbers: [0; 2] };

    /// Size of the numbers behind w, which bounds its rounding error.
    #[inline]
    pub(super) fn size(&self) -> f64 {
        self.a.abs().max_element().max(self.b.abs().max_element())
    }
}

/// Support function of a difference body.
pub(super) trait Difference {
    /// Its farthest point along a direction; the search starts at the given vertex numbers.
    fn farthest(&self, direction: DVec3, start: [u32; 2]) -> Corner;

    /// The corner of the given numbers, if it is made of corners.
    fn corner(&self, numbers: [u32; 2]) -> Option<Corner>;

    /// Whether it has more than finitely many corners.
    fn is_curved(&self) -> bool;

    /// From a point of A to one of B: first search direction.
    fn toward_b(&self) -> DVec3;
}

/// Two cores in A's frame.
pub(super) struct Pair<'a, A, B> {
    pub(super) a: &'a A,
    pub(super) b: &'a B,
    pub(super) rotation: DMat3,
    pub(super) translation: DVec3,
}

impl<'a, A: Support, B: Support> Pair<'a, A, B> {
    #[inline]
    pub(super) fn new(a: &'a A, b: &'a B, b_in_a: &Pose) -> Result<Self, ClosestError> {
        if !(b_in_a.is_valid() && b_in_a.translation.abs().max_element() <= MAX_LENGTH) {
            return Err(ClosestError::InvalidPose);
        }
        Ok(Self { a, b, rotation: b_in_a.rotation_matrix(), translation: b_in_a.translation })
    }

    /// Direction in A's frame ⇒ the same in B's: Rᵀ d.
    #[inline]
    fn seen_from_b(&self, d: DVec3) -> DVec3 {
        DVec3::new(self.rotation.x_axis.dot(d), self.rotation.y_axis.dot(d), self.rotation.z_axis.dot(d))
    }
}

impl<A: Support, B: Support> Difference for Pair<'_, A, B> {
    // Inlined: passing direction and corner through memory would stall.
    #[inline(always)]
    fn farthest(&self, direction: DVec3, start: [u32; 2]) -> Corner {
        let (a, number_a) = self.a.farthest(direction, start[0]);
        let (local, number_b) = self.b.farthest(self.seen_from_b(-direction), start[1]);
        let b = self.rotation * local + self.translation;
        Corner { w: a - b, a, b, numbers: [number_a, number_b] }
    }

    #[inline]
    fn corner(&self, numbers: [u32; 2]) -> Option<Corner> {
        let a = self.a.corner(numbers[0])?;
        let b = self.rotation * self.b.corner(numbers[1])? + self.translation;
        Some(Corner { w: a - b, a, b, numbers })
    }

    #[inline]
    fn is_curved(&self) -> bool {
        self.a.corner(0).is_none() || self.b.corner(0).is_none()
    }

    #[inline]
    fn toward_b(&self) -> DVec3 {
        self.translation
    }
}
