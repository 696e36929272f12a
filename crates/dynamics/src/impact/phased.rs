//! Mirtich's scheme: phases whose ends are known beforehand, so that any integrator of ordinary differential
//! equations can be used.
//!
//! 0. While κ = du_z/dp_z ≤ 0 at the start: in p_z, until κ > 0.
//! 1. Compression, in u_z from u_z(0) to 0: d(u_t, W)/du_z = (s − μMû, u_z)/κ. Then W⁻ = −W and the work e²W⁻
//!    remains.
//! 2. Extension, in u_z up to √(2 e²W⁻ (k − μ|s|)), which cannot exceed the remaining work.
//! 3. Restitution, in W: du/dW = K ξ/u_z.
//!
//! When the sliding stops, the rest is algebraic. Where the scheme does not apply (a normal velocity that
//! falls again, an imaginary end of phase 2, Newton's or Poisson's restitution) it returns nothing.

use super::polar::from_rest;
use super::{Flow, Impact, Outcome, Progress, Restitution, Scheme};
use glam::{DVec2, DVec3};

/// Sliding speed, in parts of |u(0)|, that counts as zero.
const STICK: f64 = 1e-9;

/// Error allowed per step, relative to |u(0)|.
const TOLERANCE: f64 = 1e-13;

/// Number of steps after which the scheme gives up.
const MAX_STEPS: u32 = 20_000;

/// Parameter of a phase.
#[derive(Clone, Copy, PartialEq)]
enum PhaseParameter {
    Impulse,
    Velocity,
    Work,
}

/// Sliding velocity, normal velocity, normal work, impulse.
#[derive(Clone, Copy)]
struct PhaseState {
    u_t: DVec2,
    u_z: f64,
    w: f64,
    p: DVec3,
}

impl PhaseState {
    fn plus(&self, h: f64, rate: &Self) -> Self {
        Self {
            u_t: self.u_t + h * rate.u_t,
            u_z: self.u_z + h * rate.u_z,
            w: self.w + h * rate.w,
            p: self.p + h * rate.p,
        }
    }
}

/// How a phase ended.
enum PhaseEnd {
    /// At its planned end.
    Reached,
    /// Before that, because the sliding stopped.
    Stuck,
}

/// Impact ⇒ its outcome; none if the scheme does not apply.
pub(super) fn integrate(impact: &Impact) -> Option<Outcome> {
    let coupling = impact.friction * impact.compliance.s.length();
    let bracket = impact.compliance.k - coupling;
    if impact.restitution != Restitution::Stronge {
        return None;
    }
    let mut phases = PhaseIntegrator::new(impact);
    if phases.stuck() {
        return phases.finish(0.0);
    }
    if phases.flow(phases.state.u_t).kappa <= 0.0 {
        match phases.run(PhaseParameter::Impulse, f64::INFINITY)? {
            PhaseEnd::Stuck => return phases.finish(0.0),
            PhaseEnd::Reached => {}
        }
    }
    if let PhaseEnd::Stuck = phases.run(PhaseParameter::Velocity, 0.0)? {
        return phases.finish(0.0);
    }
    phases.compressions = 1;
    phases.p_mc = phases.state.p.z;
    let compression = -phases.state.w;
    let work = impact.e * impact.e * compression;
    if work == 0.0 {
        return Some(phases.outcome(compression));
    }
    if bracket <= 0.0 {
        return None;
    }
    if let PhaseEnd::Stuck = phases.run(PhaseParameter::Velocity, (2.0 * work * bracket).sqrt())? {
        return phases.finish(compression);
    }
    if let PhaseEnd::Stuck = phases.run(PhaseParameter::Work, work - compression)? {
        return phases.finish(compression);
    }
    Some(phases.outcome(compression))
}

struct PhaseIntegrator<'a> {
    impact: &'a Impact,
    state: PhaseState,
    steps: u32,
    compressions: u32,
    p_mc: f64,
    scale: f64,
}

impl<'a> PhaseIntegrator<'a> {
    fn new(impact: &'a Impact) -> Self {
        let (u_t, u_z) = (impact.velocity.truncate(), impact.velocity.z);
        let state = PhaseState { u_t, u_z, w: 0.0, p: DVec3::ZERO };
        Self { impact, state, steps: 0, compressions: 0, p_mc: 0.0, scale: impact.velocity.length() }
    }

    fn stuck(&self) -> bool {
        self.impact.friction > 0.0 && self.state.u_t.length() <= STICK * self.scale
    }

    fn flow(&self, u_t: DVec2) -> Flow {
        self.impact.compliance.flow(self.impact.friction, u_t.normalize_or_zero())
    }

    /// Derivative of the state by the parameter; none where the parameter does not grow.
    fn rate(&self, state: &PhaseState, parameter: PhaseParameter) -> Option<PhaseState> {
        let Impact { compliance, friction: mu, .. } = self.impact;
        let xi = (-mu * state.u_t.normalize_or_zero()).extend(1.0);
        let du = compliance.velocity(xi);
        let per_impulse = match parameter {
            PhaseParameter::Impulse => 1.0,
            PhaseParameter::Velocity => du.z,
            PhaseParameter::Work => state.u_z,
        };
        let share = per_impulse.recip();
        (per_impulse > 0.0 && share.is_finite()).then(|| PhaseState {
            u_t: share * du.truncate(),
            u_z: share * du.z,
            w: share * state.u_z,
            p: share * xi,
        })
    }

    /// One classical Runge–Kutta step.
    fn step(&self, from: &PhaseState, parameter: PhaseParameter, h: f64) -> Option<PhaseState> {
        let k1 = self.rate(from, parameter)?;
        let k2 = self.rate(&from.plus(0.5 * h, &k1), parameter)?;
        let k3 = self.rate(&from.plus(0.5 * h, &k2), parameter)?;
        let k4 = self.rate(&from.plus(h, &k3), parameter)?;
        Some(from.plus(h / 6.0, &k1).plus(h / 3.0, &k2).plus(h / 3.0, &k3).plus(h / 6.0, &k4))
    }

    /// Integrates until the parameter is `end` or, in the phase in p_z, until κ > 0.
    fn run(&mut self, parameter: PhaseParameter, end: f64) -> Option<PhaseEnd> {
        let mut h = f64::INFINITY;
        while self.steps < MAX_STEPS {
            if self.stuck() {
                return Some(PhaseEnd::Stuck);
            }
            let left = match parameter {
                PhaseParameter::Impulse if self.flow(self.state.u_t).kappa > 0.0 => {
                    return Some(PhaseEnd::Reached);
                }
                PhaseParameter::Impulse => f64::INFINITY,
                PhaseParameter::Velocity => end - self.state.u_z,
                PhaseParameter::Work => end - self.state.w,
            };
            if left <= 1e-15 * (1.0 + end.abs()) && left.is_finite() {
                return Some(PhaseEnd::Reached);
            }
            // At most half the distance to the origin, where the direction is not defined.
            let rate = self.rate(&self.state, parameter)?;
            let cautious = 0.5 * self.state.u_t.length() / rate.u_t.length().max(f64::MIN_POSITIVE);
            let last = h.min(cautious) >= left;
            h = h.min(cautious).min(left);
            let (next, error) = self.doubled_step(parameter, h)?;
            self.steps += 1;
            let factor = 0.9 * (TOLERANCE * self.scale / error.max(1e-300)).powf(0.2);
            if error <= TOLERANCE * self.scale {
                self.state = next;
                if last {
                    return Some(PhaseEnd::Reached);
                }
            }
            h *= factor.clamp(0.1, 4.0);
        }
        None
    }

    /// Two half steps with Richardson's correction, and an estimate of their error.
    fn doubled_step(&self, parameter: PhaseParameter, h: f64) -> Option<(PhaseState, f64)> {
        let whole = self.step(&self.state, parameter, h)?;
        let half = self.step(&self.step(&self.state, parameter, 0.5 * h)?, parameter, 0.5 * h)?;
        let difference = half.plus(-1.0, &whole);
        let size =
            difference.u_t.length() + difference.u_z.abs() + difference.w.abs() + difference.p.length();
        let error = if size.is_finite() { size / 15.0 } else { return None };
        Some((half.plus(1.0 / 15.0, &difference), error))
    }

    fn progress(&self, compression: f64) -> Progress<'a> {
        let PhaseState { u_t, u_z, w, p } = self.state;
        let mut progress = Progress::new(self.impact);
        (progress.p, progress.u_t, progress.u_z, progress.p_mc) = (p, u_t, u_z, self.p_mc);
        progress.w_minus = if self.compressions > 0 { compression } else { -w };
        progress.w_plus = if self.compressions > 0 { w + compression } else { 0.0 };
        progress.slip.compressions = self.compressions;
        progress.slip.slid = self.state.p.z > 0.0;
        progress.evaluations = self.steps;
        progress.scheme = Scheme::Phased;
        progress
    }

    fn outcome(&self, compression: f64) -> Outcome {
        self.progress(compression).outcome()
    }

    /// The rest, from a contact that has stopped sliding.
    fn finish(&self, compression: f64) -> Option<Outcome> {
        let mut progress = self.progress(compression);
        from_rest(&mut progress).ok()?;
        Some(progress.outcome())
    }
}
