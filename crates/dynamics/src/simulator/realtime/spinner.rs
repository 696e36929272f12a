//! Bodies on joints that spin so fast that their axes turn a good deal within a step: tops, gyroscopes, flywheels.
//!
//! All others get what free rotation does to ω in a step spread evenly over it. A top nutates many times in that time, so it is
//! turned anew in every sub-step h: from q = q₀ exp(θ) with L = I(q) ω, free rotation by h leads to q', and ω' = I(q')⁻¹ L.
//! Sub-steps are made short enough for that: ν h ≤ [`NUTATION`], ν = |ω| (I_max − I_min) / I_mid.

use super::block::Mover;
use super::lanes::Row;
use super::team::Shared;
use crate::motion::{Inertia, Motion, rotate_freely};
use glam::{DQuat, DVec3};

/// Largest nutation in a sub-step, rad.
const NUTATION: f64 = 0.1;

/// ν of a body, rad/s.
pub(super) fn nutation_rate(motion: &Motion, inertia: &Inertia) -> f64 {
    let moments = inertia.moments;
    let (least, most) = (moments.min_element(), moments.max_element());
    let middle = moments.element_sum() - least - most;
    motion.omega.length() * (most - least) / middle
}

/// (ν, length of the step, sub-steps) ⇒ how many times as many sub-steps it takes.
pub(super) fn times_finer(rate: f64, dt: f64, substeps: usize) -> f64 {
    rate * dt / (substeps as f64 * NUTATION)
}

/// One such body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spinner {
    pub mover: u32,
    pub q: DQuat,
    pub inertia: Inertia,
}

impl Spinner {
    /// Replaces the move of a sub-step h, which has turned it with its ω, by free rotation from where it stood before.
    ///
    /// # Safety
    /// Nobody else touches its mover meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn turn(&self, movers: &Shared<'_, Mover>, kicked: &Shared<'_, Row>, h: f64) {
        // SAFETY: promised by the caller.
        let (mover, kicked) =
            unsafe { (movers.get_mut(self.mover as usize), kicked.get_mut(self.mover as usize)) };
        let root: DVec3 = self.inertia.inverse_moments.map(f64::sqrt);
        let velocity = mover.velocity.vector(4);
        let before = (mover.shift.vector(4) - velocity * h) * root;
        let q = self.q * DQuat::from_scaled_axis(before);
        let l = self.inertia.angular_momentum(q, self.q * (velocity * root));
        let next = rotate_freely(q, l, self.inertia.inverse_moments, h);
        let turned = self.q.conjugate() * next;
        let turned = (if turned.w < 0.0 { -turned } else { turned }).to_scaled_axis() / root;
        let change = (self.q.conjugate() * self.inertia.angular_velocity(next, l)) / root - velocity;
        for (k, place) in [4, 5, 6].into_iter().enumerate() {
            mover.shift.0[place] = turned[k] as f32;
            mover.velocity.0[place] += change[k] as f32;
            // Not something that contacts have done.
            kicked.0[place] += change[k] as f32;
        }
    }
}
