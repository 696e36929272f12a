//! Gyroscopic motion of jointed bodies whose angular velocity direction changes considerably within a step:
//! tops, gyroscopes, flywheels.
//!
//! For all other bodies the change of ω by free rotation over the step is distributed evenly over the
//! sub-steps. A fast top nutates many times within a step; its rotation is therefore integrated in every
//! sub-step h: from q = q₀ exp(θ) with L = I(q) ω, exact free rotation over h leads to q′, and ω′ = I(q′)⁻¹
//! L.
//!
//! Sub-steps are made short enough that ν h ≤ [`MAX_NUTATION_ANGLE`]. By Euler's equations linearised about
//! rotation around the principal axis k, a body nutates with ω_k √|(I_k − I_i)(I_k − I_j) / (I_i I_j)|
//! (Goldstein, Classical Mechanics, §5.6); ν is the norm of these three rates. A rod that rotates end over
//! end does not nutate, a spinning disc does.
//!
//! Only islands without contacts are treated so. The limbs of a ragdoll that hits the ground nutate as fast as a
//! top for a moment, but contacts and friction change their energy far more than the splitting error does.

use super::solver_body::{ANGULAR_LANES, BodyRow, SolverBody};
use super::tuning::MAX_NUTATION_ANGLE;
use crate::rigid::{Inertia, Motion, rotate_freely};
use glam::{DQuat, DVec3};
use rattleback_numerics::team::Shared;

/// Nutation rate ν of a body, rad/s.
pub(super) fn nutation_rate(motion: &Motion, inertia: &Inertia) -> f64 {
    let (own, moments) = (motion.q.conjugate() * motion.omega, inertia.moments);
    let squared = |k: usize| {
        let [this, one, other] = [moments[k], moments[(k + 1) % 3], moments[(k + 2) % 3]];
        own[k] * own[k] * ((this - one) * (this - other) / (one * other)).abs()
    };
    (squared(0) + squared(1) + squared(2)).sqrt()
}

/// (nutation rate in rad/s, length of the step in s, sub-steps) ⇒ factor by which the number of sub-steps has
/// to grow.
pub(super) fn substep_factor(rate: f64, dt: f64, substeps: usize) -> f64 {
    rate * dt / (substeps as f64 * MAX_NUTATION_ANGLE)
}

/// A body whose rotation is integrated in every sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct GyroscopicBody {
    pub solver_index: u32,
    pub q: DQuat,
    pub inertia: Inertia,
}

impl GyroscopicBody {
    /// Replaces the rotation of the last sub-step h, which used a constant ω, by exact free rotation from the
    /// orientation before it.
    ///
    /// # Safety
    /// No other thread accesses its solver body meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn integrate_rotation(
        &self,
        solver_bodies: &Shared<'_, SolverBody>,
        kicked: &Shared<'_, BodyRow>,
        h: f64,
    ) {
        // SAFETY: promised by the caller.
        let (solver_body, kicked) = unsafe {
            (solver_bodies.get_mut(self.solver_index as usize), kicked.get_mut(self.solver_index as usize))
        };
        let root: DVec3 = self.inertia.inverse_moments.map(f64::sqrt);
        let velocity = solver_body.velocity.angular();
        let before = (solver_body.shift.angular() - velocity * h) * root;
        let q = self.q * DQuat::from_scaled_axis(before);
        let l = self.inertia.angular_momentum(q, self.q * (velocity * root));
        let next = rotate_freely(q, l, self.inertia.inverse_moments, h);
        let turned = self.q.conjugate() * next;
        let turned = (if turned.w < 0.0 { -turned } else { turned }).to_scaled_axis() / root;
        let change = (self.q.conjugate() * self.inertia.angular_velocity(next, l)) / root - velocity;
        for (k, lane) in ANGULAR_LANES.into_iter().enumerate() {
            solver_body.shift.lanes_mut()[lane] = turned[k] as f32;
            solver_body.velocity.lanes_mut()[lane] += change[k] as f32;
            // Not an effect of contacts: excluded from the difference that the next sub-step applies again.
            kicked.lanes_mut()[lane] += change[k] as f32;
        }
    }
}
