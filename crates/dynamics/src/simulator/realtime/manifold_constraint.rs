//! A contact manifold with its accumulated impulses, persistent over steps for warm starting.
//!
//! The numbers are grouped into rows of eight lanes, so that a kernel loads eight manifolds and transposes
//! them; everything else reads them by name.

use super::lanes::F32x8;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

/// Largest number of points in a manifold.
pub(super) const MAX_POINTS: usize = 4;

/// A point of a manifold: anchors on A and B, impulse, gap.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(transparent)]
pub(super) struct PackedPoint(pub F32x8);

impl PackedPoint {
    #[inline]
    pub const fn new(anchor_a: Vec3, anchor_b: Vec3, impulse: f32, gap: f32) -> Self {
        Self(F32x8([anchor_a.x, anchor_a.y, anchor_a.z, anchor_b.x, anchor_b.y, anchor_b.z, impulse, gap]))
    }

    /// Point on A, m, in A's axes.
    #[inline]
    pub fn anchor_a(&self) -> DVec3 {
        self.0.vector(0)
    }

    /// Point on B, m, in B's axes.
    #[inline]
    pub fn anchor_b(&self) -> DVec3 {
        self.0.vector(3)
    }

    /// Normal impulse of a sub-step, N·s.
    #[inline]
    pub const fn impulse(&self) -> f32 {
        self.0.0[6]
    }

    #[inline]
    pub const fn set_impulse(&mut self, impulse: f32) {
        self.0.0[6] = impulse;
    }

    /// Gap at the beginning of the step, m; negative is overlap.
    #[inline]
    pub const fn gap(&self) -> f32 {
        self.0.0[7]
    }

    #[inline]
    pub const fn set_gap(&mut self, gap: f32) {
        self.0.0[7] = gap;
    }
}

/// A contact manifold. Vectors are in the principal frame of a body, or in world axes if the body is static.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(32))]
pub(super) struct ManifoldConstraint {
    /// Normal in A's axes; x_B − x_A in world axes, m; two unused lanes.
    pub head: F32x8,
    /// Friction impulse in A's axes, N·s; impulse about the normal, N·m·s; rolling resistance impulse in A's
    /// axes, N·m·s; one unused lane.
    pub friction: F32x8,
    /// Coefficients of static and kinetic friction; lever arms of spinning and rolling friction, m; 1 if one
    /// body is immovable; number of points; two unused lanes.
    pub surface: F32x8,
    /// The contact points.
    pub points: [PackedPoint; MAX_POINTS],
    /// Feature ids of the points, for matching with the previous manifold.
    pub ids: [u32; MAX_POINTS],
    pub count: u32,
}

impl ManifoldConstraint {
    /// The points in use.
    #[inline]
    pub fn points(&self) -> &[PackedPoint] {
        &self.points[..self.count as usize]
    }

    #[inline]
    pub fn points_mut(&mut self) -> &mut [PackedPoint] {
        &mut self.points[..self.count as usize]
    }

    /// Radius of gyration of the points about that axis in their plane for which it is smallest, m: half the side of
    /// a square, 0 for one or two points.
    pub fn lever_arm(&self) -> f64 {
        let points = self.points();
        let count = points.len() as f64;
        if points.len() < 3 {
            return 0.0;
        }
        let (t, k) = self.normal().normalize_or(DVec3::Z).any_orthonormal_pair();
        let center = points.iter().map(PackedPoint::anchor_a).sum::<DVec3>() / count;
        let (mut tt, mut tk, mut kk) = (0.0, 0.0, 0.0);
        for point in points {
            let d = point.anchor_a() - center;
            let (x, y) = (d.dot(t), d.dot(k));
            (tt, tk, kk) = (tt + x * x, tk + x * y, kk + y * y);
        }
        let (mean, half) = (0.5 * (tt + kk), 0.5 * (tt - kk));
        ((mean - half.hypot(tk)).max(0.0) / count).sqrt()
    }

    /// Normal from A to B, in A's axes.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.head.vector(0)
    }

    #[inline]
    pub fn set_normal(&mut self, normal: Vec3) {
        self.head.0[..3].copy_from_slice(&normal.to_array());
    }

    /// x_B − x_A, m, in world axes.
    #[inline]
    pub fn offset(&self) -> DVec3 {
        self.head.vector(3)
    }

    #[inline]
    pub fn set_offset(&mut self, offset: Vec3) {
        self.head.0[3..6].copy_from_slice(&offset.to_array());
    }

    /// Friction impulse of a sub-step, N·s, in A's axes.
    #[inline]
    pub fn friction_impulse(&self) -> DVec3 {
        self.friction.vector(0)
    }

    /// Sets the friction impulse of a sub-step, N·s, in A's axes; those of spinning and rolling become zero.
    #[inline]
    pub const fn reset_friction_impulse(&mut self, impulse: Vec3) {
        self.friction = F32x8([impulse.x, impulse.y, impulse.z, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    /// Sets the impulses of sliding, spinning and rolling friction of a sub-step.
    #[inline]
    pub fn set_friction_impulses(&mut self, sliding: [f32; 3], spinning: f32, rolling: [f32; 3]) {
        self.friction.0[..3].copy_from_slice(&sliding);
        self.friction.0[3] = spinning;
        self.friction.0[4..7].copy_from_slice(&rolling);
    }

    /// Multiplies all impulses, for sub-steps of another length.
    pub fn scale_impulses(&mut self, factor: f32) {
        for point in &mut self.points[..self.count as usize] {
            point.set_impulse(point.impulse() * factor);
        }
        for impulse in &mut self.friction.0[..7] {
            *impulse *= factor;
        }
    }

    #[inline]
    pub const fn static_friction(&self) -> f32 {
        self.surface.0[0]
    }

    #[inline]
    pub const fn kinetic_friction(&self) -> f32 {
        self.surface.0[1]
    }

    /// Lever arm of rolling friction, m.
    #[inline]
    pub const fn rolling_lever(&self) -> f32 {
        self.surface.0[3]
    }
}
