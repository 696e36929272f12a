//! Ballistic trajectory of one body within a step, with velocity jumps at its impacts.

use crate::rigid::{Inertia, Motion, fly};
use crate::world::Status;
use glam::{DQuat, DVec3};

/// A body during the impact stage: its trajectory under constant loads and the impacts resolved so far.
///
/// From its last impact on, the body flies exactly: half a kick, free flight, half a kick. Predictions use a
/// second form, with times t from the beginning of the step: x(t) = x₀ + c + v̂ t + ½ a t², and likewise a
/// rotation vector c′ + ω t. An impact at time τ that changes the velocity by Δ updates v̂ ← v̂ + Δ and c ← c
/// − Δ τ. This form is exact up to the rotation of the lever arms; the solver starts from it where the body
/// is also in contact with others.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImpactBody {
    /// Slot of the body, its status, and its index among the bodies of that status.
    pub slot: u32,
    pub status: Status,
    pub index: u32,
    pub inertia: Inertia,
    /// Acceleration, m/s², and torque, N·m, by external loads; constant over the step.
    pub a: DVec3,
    pub torque: DVec3,
    /// Largest distance of its surface from the centre of mass, m.
    pub reach: f64,
    /// Whether the solver applied impulses to it in the last step: it rests on something or hangs on a joint.
    pub supported: bool,
    /// Whether an impact of this step changed its velocity.
    pub collided: bool,
    /// State at the last impact, and the time of that impact from the beginning of the step, s.
    pub state: Motion,
    pub last_impact: f64,
    /// v̂ (m/s), ω (rad/s), c (m), c′ (rad).
    pub v: DVec3,
    pub omega: DVec3,
    pub offset: DVec3,
    pub rotation_offset: DVec3,
}

impl ImpactBody {
    /// (slot, status, index; state at the beginning of the step; inertia; acceleration; torque) ⇒ trajectory
    /// without impacts.
    pub fn new(
        (slot, status, index): (u32, Status, u32),
        state: &Motion,
        inertia: &Inertia,
        a: DVec3,
        torque: DVec3,
    ) -> Self {
        let free = status == Status::Dynamic;
        Self {
            slot,
            status,
            index,
            inertia: if free { *inertia } else { Inertia::default() },
            a: if free { a } else { DVec3::ZERO },
            torque: if free { torque } else { DVec3::ZERO },
            reach: 0.0,
            supported: false,
            collided: false,
            state: *state,
            last_impact: 0.0,
            v: state.v,
            omega: state.omega,
            offset: DVec3::ZERO,
            rotation_offset: DVec3::ZERO,
        }
    }

    /// State at a time t within the step, s, not before the last impact.
    pub fn state_at(&self, t: f64) -> Motion {
        let (mut state, h) = (self.state, t - self.last_impact);
        if h <= 0.0 || self.status == Status::Fixed {
            return state;
        }
        if self.status == Status::Dynamic {
            fly_under_loads(&mut state, &self.inertia, self.a, self.torque, h);
        } else {
            state.x += h * state.v;
            state.q = (DQuat::from_scaled_axis(h * state.omega) * state.q).normalize();
        }
        state
    }

    /// Continues from a state at time t with new velocities (after an impact).
    pub fn apply_impact(&mut self, t: f64, state: &Motion, v: DVec3, omega: DVec3) {
        let (dv, dw) = (v - state.v, omega - state.omega);
        self.v += dv;
        self.omega += dw;
        self.offset -= dv * t;
        self.rotation_offset -= dw * t;
        self.state = Motion { v, omega, ..*state };
        self.last_impact = t;
        self.collided = true;
    }

    /// Bound on the speed of any point of the body by rotation, m/s.
    pub fn rotation_speed(&self) -> f64 {
        // An unbounded body (half-space) has infinite reach; without rotation the product must be zero, not
        // NaN.
        if self.omega == DVec3::ZERO { 0.0 } else { self.omega.length() * self.reach }
    }

    /// Bound on the error of the prediction with constant ω and fixed lever arms after a time t, m: ½ ω² r
    /// t².
    pub fn rotation_error(&self, t: f64) -> f64 {
        0.5 * t * t * self.omega.length() * self.rotation_speed()
    }
}

/// Free flight under constant loads over a time h, s: half a kick, exact free flight, half a kick. The centre
/// of mass of an undamped body follows its parabola exactly.
pub(super) fn fly_under_loads(motion: &mut Motion, inertia: &Inertia, a: DVec3, torque: DVec3, h: f64) {
    half_kick(motion, inertia, a, torque, h);
    fly(std::slice::from_mut(motion), std::slice::from_ref(inertia), h);
    half_kick(motion, inertia, a, torque, h);
}

/// Half a kick: the velocity change by constant loads in a time h/2, with exponential damping.
#[inline]
pub(super) fn half_kick(motion: &mut Motion, inertia: &Inertia, a: DVec3, torque: DVec3, h: f64) {
    motion.v += a * (0.5 * h);
    // Most bodies have no torque; skipping it saves a rotation.
    if torque != DVec3::ZERO {
        motion.omega += inertia.angular_velocity(motion.q, torque * (0.5 * h));
    }
    inertia.damp(motion, 0.5 * h);
}
