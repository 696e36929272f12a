//! Eight contacts side by side, as the solver sees them.
//!
//! A body moves in coordinates in which its mass matrix is the identity,
//!
//!   y = (√m v, √I Rᵀ ω),   I = diag(I₁, I₂, I₃) in its principal frame R, kept over the step,
//!
//! so that a row of a constraint is one vector j for each body: it feels j_A·y_A + j_B·y_B, and an impulse λ changes y by j λ. For a
//! normal n in a point r from the centre of mass, j = (± n/√m, ± diag(1/√I) Rᵀ (r × n)). Neither masses nor inertias appear in the
//! rows. What cannot be moved has j = 0; how it moves by itself is added where it matters ([`Drive`]).
//!
//! Over a step the rows do not change, so the gap of a contact is its gap at the beginning plus j·∫y dt: the integral is kept with
//! the body, in the same coordinates.

use super::lanes::{LANES, Row};
use serde::{Deserialize, Serialize};

/// Most points in a manifold.
pub(super) const POINTS: usize = 4;

/// A body in the solver: y and ∫y dt. Lanes 0–2 belong to its translation, 4–6 to its rotation.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Mover {
    pub velocity: Row,
    pub shift: Row,
}

/// How a body's coordinates lie in the world.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Frame {
    /// First and second column of R, first two numbers of the third.
    pub axes: Row,
    /// Last number of the third column; 1/√I; 1/√m.
    pub rest: Row,
    /// v and ω of a body that moves by itself; zero for all others.
    pub drive: Row,
}

/// A manifold as it lives from step to step. Vectors belong to the principal frame of a body, or to the world's axes if the body
/// is fixed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(32))]
pub(super) struct Patch {
    /// Normal in A's axes; x_B − x_A in the world's.
    pub head: Row,
    /// Friction impulse in A's axes, impulse about the normal, impulse against rolling in A's axes.
    pub grip: Row,
    /// μ at rest, μ sliding, lever arms against spinning and rolling, 1 if one side cannot be moved, how many points.
    pub surface: Row,
    /// Point on A, point on B, impulse, gap.
    pub points: [Row; POINTS],
    /// Names of the points.
    pub ids: [u32; POINTS],
    pub count: u32,
}

/// Eight points: rows of A and B (rotation only; translation follows from the normal), gap, share/(j·j), impulse.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct PointRows {
    pub a: [Row; 3],
    pub b: [Row; 3],
    pub gap: Row,
    pub mass: Row,
    pub impulse: Row,
}

/// Resistance against rolling: two rows of rotation, as those of friction.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct RollingRows {
    pub a: [[Row; 3]; 2],
    pub b: [[Row; 3]; 2],
    pub mass: [Row; 3],
    pub impulse: [Row; 2],
    pub lever: Row,
}

/// What bodies that move by themselves add to the velocities of the rows.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Drive {
    pub normal: [Row; POINTS],
    pub tangent: [Row; 2],
    pub twist: Row,
}

/// Eight manifolds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Block {
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    pub normal: [Row; 3],
    pub tangent: [Row; 3],
    /// 1/√m.
    pub scale: [Row; 2],
    /// Rotation parts of friction along the tangent and across, of A and B.
    pub friction_a: [[Row; 3]; 2],
    pub friction_b: [[Row; 3]; 2],
    /// Inverse of the 2×2 matrix of friction.
    pub friction_mass: [Row; 3],
    pub friction: [Row; 2],
    /// Rotation about the normal.
    pub twist_a: [Row; 3],
    pub twist_b: [Row; 3],
    pub twist_mass: Row,
    pub twist: Row,
    /// μ at rest, μ sliding, lever arm against spinning.
    pub limits: [Row; 3],
    /// 1 where one side cannot be moved.
    pub stiff: Row,
    /// Part of its own answer that each point gives that touches, as all answer at once.
    pub share: Row,
    /// Where its points, rolling rows and drives are; [`NONE`](super::roster::NONE) for none.
    pub first_point: u32,
    pub points: u32,
    pub rolling: u32,
    pub drive: u32,
    /// Which links it is made of.
    pub first_link: u32,
    pub links: u32,
    /// Whether one of its manifolds has several points and held nothing yet.
    pub fresh: bool,
}

/// How rows answer to violations: a damped spring that is stable at any stiffness.
///
/// With ω = 2π f and sub-step h the implicit spring gives λ' = −m̂ (u + ω/(2ζ + hω) s) M − (1 − m̂) λ, m̂ = hω(2ζ + hω)/(1 + …).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Softness {
    /// Part of a violation mended per second.
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

/// What is the same for every contact of a sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// Sub-steps per second.
    pub rate: f32,
    /// Between movable bodies, and with one that is not.
    pub soft: Softness,
    pub stiff: Softness,
    /// Locks of joints.
    pub bond: Softness,
    pub push_speed: f32,
    /// Seconds since the beginning of the step.
    pub elapsed: f32,
    /// Movers below this one are not moved by impulses.
    pub first_free: u32,
}
