//! Contact constraints in solver coordinates, eight manifolds side by side.
//!
//! A body moves in coordinates in which its mass matrix is the identity,
//!
//!   y = (√m v, √I Rᵀ ω),   I = diag(I₁, I₂, I₃) in its principal frame R, constant over the step,
//!
//! so that a constraint row is one vector j for each body: its velocity is j_A·y_A + j_B·y_B, and an impulse
//! λ changes y by j λ. For a normal n at a point r from the centre of mass, j = (± n/√m, ± diag(1/√I) Rᵀ (r ×
//! n)). Neither masses nor inertias appear in the rows. Immovable bodies have j = 0; the velocity of
//! kinematic ones is added separately ([`SurfaceVelocity`]).
//!
//! Rows are constant over a step, so the gap of a contact is its gap at the beginning plus j·∫y dt: the
//! integral is stored with the body, in the same coordinates.

use super::lanes::{F32x8, LANES};
use super::manifold_constraint::MAX_POINTS;
use super::softness::Softness;

/// One contact point of eight manifolds: rotation parts of the rows of A and B (the translation part follows
/// from the normal), gap, effective mass times the Jacobi scale, impulse.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct PointRows {
    pub a: [F32x8; 3],
    pub b: [F32x8; 3],
    pub gap: F32x8,
    pub mass: F32x8,
    pub impulse: F32x8,
}

/// Rolling resistance of eight manifolds: two rows of pure rotation, along the two tangents.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct RollingRows {
    pub a: [[F32x8; 3]; 2],
    pub b: [[F32x8; 3]; 2],
    pub mass: [F32x8; 3],
    pub impulse: [F32x8; 2],
    pub lever: F32x8,
}

/// Velocity of kinematic bodies along the rows of eight manifolds.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SurfaceVelocity {
    pub normal: [F32x8; MAX_POINTS],
    pub tangent: [F32x8; 2],
    pub twist: F32x8,
}

/// Eight manifolds of one colour.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ContactBlock {
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    pub normal: [F32x8; 3],
    pub tangent: [F32x8; 3],
    /// 1/√m of A and B.
    pub inverse_sqrt_mass: [F32x8; 2],
    /// Rotation parts of the two friction rows, of A and B.
    pub friction_a: [[F32x8; 3]; 2],
    pub friction_b: [[F32x8; 3]; 2],
    /// Inverse of the 2×2 matrix K of the friction rows: entries 11, 12, 22.
    pub friction_mass: [F32x8; 3],
    pub friction: [F32x8; 2],
    /// Row and impulse of spinning friction, about the normal.
    pub twist_a: [F32x8; 3],
    pub twist_b: [F32x8; 3],
    pub twist_mass: F32x8,
    pub twist: F32x8,
    pub static_friction: F32x8,
    pub kinetic_friction: F32x8,
    /// Lever arm of spinning friction, m.
    pub twist_lever: F32x8,
    /// 1 where one body is immovable.
    pub immovable: F32x8,
    /// Damping factor of the Jacobi iteration over the points of a manifold, for points in contact.
    pub jacobi_scale: F32x8,
    /// First point and number of points, index of its rolling rows and of its surface velocities;
    /// [`NONE`](super::sim_bodies::NONE) for none.
    pub first_point: u32,
    pub points: u32,
    pub rolling: u32,
    pub surface_velocity: u32,
    /// First manifold, and number of manifolds.
    pub first_manifold: u32,
    pub manifold_count: u32,
    /// Whether one of its manifolds has several points and no impulse yet.
    pub landing: bool,
}

impl ContactBlock {
    /// A block without manifolds.
    pub fn empty() -> Self {
        Self {
            a: [0; LANES],
            b: [0; LANES],
            normal: [F32x8::default(); 3],
            tangent: [F32x8::default(); 3],
            inverse_sqrt_mass: [F32x8::default(); 2],
            friction_a: [[F32x8::default(); 3]; 2],
            friction_b: [[F32x8::default(); 3]; 2],
            friction_mass: [F32x8::default(); 3],
            friction: [F32x8::default(); 2],
            twist_a: [F32x8::default(); 3],
            twist_b: [F32x8::default(); 3],
            twist_mass: F32x8::default(),
            twist: F32x8::default(),
            static_friction: F32x8::default(),
            kinetic_friction: F32x8::default(),
            twist_lever: F32x8::default(),
            immovable: F32x8::default(),
            jacobi_scale: F32x8::default(),
            first_point: 0,
            points: 0,
            rolling: super::sim_bodies::NONE,
            surface_velocity: super::sim_bodies::NONE,
            first_manifold: 0,
            manifold_count: 0,
            landing: false,
        }
    }
}

/// Parameters of a sweep that are the same for all constraints.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepParameters {
    /// Sub-steps per second, 1/h.
    pub substep_rate: f32,
    /// Contacts between two movable bodies, and contacts with an immovable one.
    pub contact: Softness,
    pub immovable_contact: Softness,
    /// Locked axes of joints.
    pub joint: Softness,
    /// Maximum depenetration speed, m/s.
    pub push_speed: f32,
    /// Time since the beginning of the step, s.
    pub elapsed: f32,
    /// Solver bodies below this index are not changed by impulses (static and kinematic).
    pub first_movable: u32,
}
