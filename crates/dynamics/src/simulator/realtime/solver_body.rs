//! Bodies in the coordinates of the solver, in which the mass matrix is the identity.
//!
//!   y = (√m v, √I Rᵀ ω),   I = diag(I₁, I₂, I₃) in the principal frame R, constant over the step.
//!
//! `contact_block` derives the constraint rows in these coordinates.

use super::lanes::{F32x8, LANES};
use super::tuning::MAX_SOLVER_NUMBER;
use crate::rigid::Motion;
use glam::{DMat3, DQuat, DVec3, Mat3};

/// Lanes of the translation and of the rotation in a [`BodyRow`]; the other two are padding.
pub(super) const BODY_LANES: [usize; 6] = [0, 1, 2, 4, 5, 6];
pub(super) const ANGULAR_LANES: [usize; 3] = [4, 5, 6];
/// Padding lanes that hold damping factors in a [`Kick`].
const LINEAR_DAMPING: usize = 3;
const ANGULAR_DAMPING: usize = 7;

/// Whether a lane of a [`BodyRow`] is padding.
#[inline(always)]
pub(super) const fn is_padding(lane: usize) -> bool {
    lane % 4 == 3
}

/// A vector of solver coordinates: translation, padding, rotation, padding.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(super) struct BodyRow(pub F32x8);

impl BodyRow {
    #[inline]
    pub fn new(linear: DVec3, angular: DVec3) -> Self {
        let (v, w) = (linear.as_vec3(), angular.as_vec3());
        Self(F32x8([v.x, v.y, v.z, 0.0, w.x, w.y, w.z, 0.0]))
    }

    /// From all lanes, padding included.
    #[inline]
    pub const fn from_lanes(lanes: [f32; LANES]) -> Self {
        Self(F32x8(lanes))
    }

    #[inline]
    pub const fn lanes(&self) -> &[f32; LANES] {
        &self.0.0
    }

    #[inline]
    pub const fn lanes_mut(&mut self) -> &mut [f32; LANES] {
        &mut self.0.0
    }

    /// Translation.
    #[inline]
    pub fn linear(&self) -> DVec3 {
        self.0.vector(0)
    }

    /// Rotation.
    #[inline]
    pub fn angular(&self) -> DVec3 {
        self.0.vector(4)
    }

    /// Whether all numbers are within the range of single precision.
    #[inline]
    pub fn is_in_range(&self) -> bool {
        self.lanes().iter().all(|number| number.abs() < MAX_SOLVER_NUMBER)
    }
}

/// Effect of external loads and damping in a sub-step: h ẏ, with the damping factors e^(−h d) of translation
/// and rotation in the padding lanes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(super) struct Kick(BodyRow);

impl Kick {
    /// (change of translation, its damping factor, change of rotation, its damping factor) ⇒ kick.
    #[inline]
    pub fn new(linear: DVec3, linear_damping: f64, angular: DVec3, angular_damping: f64) -> Self {
        let mut row = BodyRow::new(linear, angular);
        (row.0.0[LINEAR_DAMPING], row.0.0[ANGULAR_DAMPING]) = (linear_damping as f32, angular_damping as f32);
        Self(row)
    }

    /// The lanes as they are.
    #[inline]
    pub const fn row(&self) -> &BodyRow {
        &self.0
    }

    /// Whether all numbers are within the range of single precision.
    #[inline]
    pub fn is_in_range(&self) -> bool {
        self.0.is_in_range()
    }

    /// Damping factor of a lane of y.
    #[inline(always)]
    pub const fn damping(&self, lane: usize) -> f32 {
        if lane < 4 { self.0.lanes()[LINEAR_DAMPING] } else { self.0.lanes()[ANGULAR_DAMPING] }
    }

    /// Change of a lane of y by loads.
    #[inline(always)]
    pub const fn change(&self, lane: usize) -> f32 {
        if is_padding(lane) { 0.0 } else { self.0.lanes()[lane] }
    }
}

/// A body in the solver: y and ∫y dt.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct SolverBody {
    pub velocity: BodyRow,
    pub shift: BodyRow,
}

/// Map from the solver coordinates of a body to the world, constant over a step.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SolverFrame {
    /// First and second column of R, first two entries of the third.
    pub axes: F32x8,
    /// Last entry of the third column of R; 1/√I; 1/√m; three unused lanes.
    pub scaling: F32x8,
    /// v and ω of a kinematic body; zero for all others.
    pub surface_velocity: BodyRow,
}

impl SolverFrame {
    /// (orientation, 1/√I, 1/√m) ⇒ frame of a dynamic body.
    #[inline]
    pub fn new(q: DQuat, inverse_sqrt_inertia: DVec3, inverse_sqrt_mass: f64) -> Self {
        let r = Mat3::from_quat(q.as_quat()).to_cols_array();
        let root = inverse_sqrt_inertia.as_vec3();
        Self {
            axes: F32x8([r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]]),
            scaling: F32x8([r[8], root.x, root.y, root.z, inverse_sqrt_mass as f32, 0.0, 0.0, 0.0]),
            surface_velocity: BodyRow::default(),
        }
    }

    /// Frame of a static body.
    #[inline]
    pub fn fixed() -> Self {
        Self::new(DQuat::IDENTITY, DVec3::ZERO, 0.0)
    }

    /// Frame of a kinematic body.
    #[inline]
    pub fn kinematic(motion: &Motion) -> Self {
        let surface_velocity = BodyRow::new(motion.v, motion.omega);
        Self { surface_velocity, ..Self::new(motion.q, DVec3::ZERO, 0.0) }
    }

    /// R.
    #[inline]
    pub fn rotation(&self) -> DMat3 {
        let z = [self.axes.0[6], self.axes.0[7], self.scaling.0[0]].map(f64::from);
        DMat3::from_cols(self.axes.vector(0), self.axes.vector(3), DVec3::from_array(z))
    }

    /// 1/√I.
    #[inline]
    pub fn inverse_sqrt_inertia(&self) -> DVec3 {
        self.scaling.vector(1)
    }

    /// 1/√m.
    #[inline]
    pub fn inverse_sqrt_mass(&self) -> f64 {
        self.scaling.0[4].into()
    }
}
