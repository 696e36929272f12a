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

use super::lanes::{LANES, Row};
use serde::{Deserialize, Serialize};

/// Largest number of points in a manifold.
pub(super) const POINTS: usize = 4;

/// A body in the solver: y and ∫y dt.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Mover {
    pub velocity: Row,
    pub shift: Row,
}

/// Map from the solver coordinates of a body to the world, constant over a step.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Frame {
    /// First and second column of R, first two entries of the third.
    pub axes: Row,
    /// Last entry of the third column of R; 1/√I; 1/√m; three unused lanes.
    pub rest: Row,
    /// v and ω of a kinematic body; zero for all others.
    pub drive: Row,
}

/// A contact manifold with its accumulated impulses, persistent over steps. Vectors are in the principal
/// frame of a body, or in world axes if the body is static.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(32))]
pub(super) struct Patch {
    /// Normal in A's axes; x_B − x_A in world axes, m; two unused lanes.
    pub head: Row,
    /// Friction impulse in A's axes, N·s; impulse about the normal, N·m·s; rolling resistance impulse in A's
    /// axes, N·m·s; one unused lane.
    pub grip: Row,
    /// Coefficients of static and kinetic friction; lever arms of spinning and rolling friction, m; 1 if one
    /// body is immovable; number of points; two unused lanes.
    pub surface: Row,
    /// The contact points.
    pub points: [Row; POINTS],
    /// Feature ids of the points, for matching with the previous manifold.
    pub ids: [u32; POINTS],
    pub count: u32,
}

/// One contact point of eight manifolds: rotation parts of the rows of A and B (the translation part follows
/// from the normal), gap, effective mass times the Jacobi scale, impulse.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct PointRows {
    pub a: [Row; 3],
    pub b: [Row; 3],
    pub gap: Row,
    pub mass: Row,
    pub impulse: Row,
}

/// Rolling resistance of eight manifolds: two rows of pure rotation, along the two tangents.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct RollingRows {
    pub a: [[Row; 3]; 2],
    pub b: [[Row; 3]; 2],
    pub mass: [Row; 3],
    pub impulse: [Row; 2],
    pub lever: Row,
}

/// Velocity of kinematic bodies along the rows of eight manifolds.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Drive {
    pub normal: [Row; POINTS],
    pub tangent: [Row; 2],
    pub twist: Row,
}

/// Eight manifolds of one colour.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Block {
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    pub normal: [Row; 3],
    pub tangent: [Row; 3],
    /// 1/√m of A and B.
    pub scale: [Row; 2],
    /// Rotation parts of the two friction rows, of A and B.
    pub friction_a: [[Row; 3]; 2],
    pub friction_b: [[Row; 3]; 2],
    /// Inverse of the 2×2 matrix K of the friction rows: entries 11, 12, 22.
    pub friction_mass: [Row; 3],
    pub friction: [Row; 2],
    /// Row and impulse of spinning friction, about the normal.
    pub twist_a: [Row; 3],
    pub twist_b: [Row; 3],
    pub twist_mass: Row,
    pub twist: Row,
    /// Coefficients of static and kinetic friction, and the lever arm of spinning friction, m.
    pub limits: [Row; 3],
    /// 1 where one body is immovable.
    pub stiff: Row,
    /// Damping factor of the Jacobi iteration over the points of a manifold, for points in contact.
    pub share: Row,
    /// First point and number of points, index of its rolling rows and of its surface velocities;
    /// [`NONE`](super::sim_bodies::NONE) for none.
    pub first_point: u32,
    pub points: u32,
    pub rolling: u32,
    pub drive: u32,
    /// First manifold, and number of manifolds.
    pub first_link: u32,
    pub links: u32,
    /// Whether one of its manifolds has several points and no impulse yet.
    pub fresh: bool,
}

/// Coefficients of a soft constraint for one sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Softness {
    /// Fraction of the position error corrected per second, 1/s.
    pub rate: f32,
    pub mass: f32,
    pub impulse: f32,
}

impl Softness {
    pub fn new(frequency: f64, damping: f64, h: f64) -> Self {
        let omega = std::f64::consts::TAU * frequency;
        let a = 2.0 * damping + h * omega;
        let b = h * omega * a;
        Self { rate: (omega / a) as f32, mass: (b / (1.0 + b)) as f32, impulse: (1.0 / (1.0 + b)) as f32 }
    }
}

/// Parameters of a sweep that are the same for all constraints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// Sub-steps per second, 1/h.
    pub rate: f32,
    /// Contacts between two movable bodies, and contacts with an immovable one.
    pub soft: Softness,
    pub stiff: Softness,
    /// Locked axes of joints.
    pub bond: Softness,
    pub push_speed: f32,
    /// Time since the beginning of the step, s.
    pub elapsed: f32,
    /// Solver bodies below this index are not changed by impulses (static and kinematic).
    pub first_free: u32,
}
