//! The course of a body within a step, bent where it is hit.

use crate::motion::{Inertia, Motion, fly};
use crate::world::Status;
use glam::{DMat3, DQuat, DVec3};

/// Where a body goes in this step as far as impacts and constant forces tell.
///
/// From its last impact on it flies exactly: half a kick, free flight, the other half. For predictions there is a second form,
/// reckoned from the beginning of the step: x(t) = x₀ + c + v̂ t + ½ a t² and likewise an angle c′ + ω t, where an impact at τ that
/// changes the velocity by Δ makes v̂ ← v̂ + Δ and c ← c − Δ τ. That form is exact but for the turning of lever arms, and it is
/// what the solver starts with where a body touches others as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Slot of the body, its status and its place among the bodies of that status.
    pub actor: u32,
    pub status: Status,
    pub place: u32,
    pub inertia: Inertia,
    /// By forces, m/s² and N m, the same all through the step.
    pub a: DVec3,
    pub torque: DVec3,
    /// Largest distance of its surface from the centre of mass, m.
    pub reach: f64,
    /// Whether the solver pushed it in the last step: it lies on something, or hangs on a joint.
    pub supported: bool,
    /// Whether it was hit in this step.
    pub hit: bool,
    /// State at the last impact, and when that was.
    pub state: Motion,
    pub since: f64,
    /// v̂, ω, c, c′.
    pub v: DVec3,
    pub omega: DVec3,
    pub moved: DVec3,
    pub turned: DVec3,
}

impl Course {
    /// (slot, status, place, state at the beginning of the step, inertia, acceleration, torque) ⇒ course without impacts.
    pub fn new(
        (actor, status, place): (u32, Status, u32),
        state: &Motion,
        inertia: &Inertia,
        a: DVec3,
        torque: DVec3,
    ) -> Self {
        let free = status == Status::Dynamic;
        Self {
            actor,
            status,
            place,
            inertia: if free { *inertia } else { Inertia::default() },
            a: if free { a } else { DVec3::ZERO },
            torque: if free { torque } else { DVec3::ZERO },
            reach: 0.0,
            supported: false,
            hit: false,
            state: *state,
            since: 0.0,
            v: state.v,
            omega: state.omega,
            moved: DVec3::ZERO,
            turned: DVec3::ZERO,
        }
    }

    /// State at a time within the step, not before the last impact.
    pub fn at(&self, t: f64) -> Motion {
        let (mut state, h) = (self.state, t - self.since);
        if h <= 0.0 || self.status == Status::Fixed {
            return state;
        }
        if self.status == Status::Dynamic {
            drift(&mut state, &self.inertia, self.a, self.torque, h);
        } else {
            state.x += h * state.v;
            state.q = (DQuat::from_scaled_axis(h * state.omega) * state.q).normalize();
        }
        state
    }

    /// I⁻¹ in the world's axes.
    pub fn inverse_inertia(&self, q: DQuat) -> DMat3 {
        let r = DMat3::from_quat(q);
        r * DMat3::from_diagonal(self.inertia.inverse_moments) * r.transpose()
    }

    /// Goes on from a state at τ with other velocities.
    pub fn bend(&mut self, t: f64, state: &Motion, v: DVec3, omega: DVec3) {
        let (dv, dw) = (v - state.v, omega - state.omega);
        self.v += dv;
        self.omega += dw;
        self.moved -= dv * t;
        self.turned -= dw * t;
        self.state = Motion { v, omega, ..*state };
        self.since = t;
        self.hit = true;
    }

    /// How fast turning takes any point of it, m/s.
    pub fn swing(&self) -> f64 {
        // What has no end need not turn to get anywhere.
        if self.omega == DVec3::ZERO { 0.0 } else { self.omega.length() * self.reach }
    }

    /// How far a point of it may be from where a constant angular velocity and a fixed lever arm put it after a time, m: ½ ω² r t².
    pub fn bulge(&self, t: f64) -> f64 {
        0.5 * t * t * self.omega.length() * self.swing()
    }
}

/// Free flight under constant loads: half a kick, exact flight, half a kick. The centre of mass of an undamped body follows its
/// parabola exactly.
pub(super) fn drift(motion: &mut Motion, inertia: &Inertia, a: DVec3, torque: DVec3, h: f64) {
    kick(motion, inertia, a, torque, h);
    fly(std::slice::from_mut(motion), std::slice::from_ref(inertia), h);
    kick(motion, inertia, a, torque, h);
}

/// Half of what constant loads do to the velocities in a time h.
#[inline]
pub(super) fn kick(motion: &mut Motion, inertia: &Inertia, a: DVec3, torque: DVec3, h: f64) {
    motion.v += a * (0.5 * h);
    motion.omega += inertia.angular_velocity(motion.q, torque * (0.5 * h));
    // Most are not damped, and e⁰ takes as long as any other power.
    if inertia.linear_damping > 0.0 {
        motion.v *= (-0.5 * h * inertia.linear_damping).exp();
    }
    if inertia.angular_damping > 0.0 {
        motion.omega *= (-0.5 * h * inertia.angular_damping).exp();
    }
}
