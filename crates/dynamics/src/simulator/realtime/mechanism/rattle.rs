//! RATTLE for jointed rigid bodies: second order, symmetric in time, symplectic; composed to fourth order.
//!
//! Joints are equations g(x, q) = 0 with rows J, ġ = J·(v, ω). A base step h from a state with g = 0 and J v
//! = 0:
//!
//!   1. half a kick: v += ½h F/m, L += ½h τ;
//!   2. an impulse Jₙᵀλ along the rows *at the beginning*, free flight over h (straight lines, exact
//!      torque-free rotation), with λ such that g = 0 at the end: λ ← λ − K⁻¹ g/h, K = Jₙ M⁻¹ Jₙᵀ, which
//!      converges linearly with a factor of about hω;
//!   3. half a kick, and an impulse Jᵀμ along the rows *at the end* so that J v = 0 there.
//!
//! The method is symmetric in time, and each of its parts is the flow of a Hamiltonian or a projection along
//! the constraint forces (Andersen 1983; Leimkuhler & Skeel 1994). It therefore conserves a nearby energy,
//! and the energy itself does not drift but oscillates by O(h²). Free rotation is exact, so a spin about an
//! axis of symmetry costs no accuracy. No impulse is kept from step to step: the state is that of the world.
//!
//! The five base steps p, p, 1 − 4p, p, p with p = 1/(4 − 4^⅓) cancel the error of second order (Suzuki
//! 1990). The remaining error is so small that the number of steps may change from one world step to the next
//! without a visible change of energy.

use super::super::tuning::{
    RATTLE_FAILED, RATTLE_ITERATIONS, RATTLE_RECOVERY, RATTLE_ROUNDING, SUZUKI_FRACTIONS,
};
use super::constraint_rows::{MechanismJoints, MechanismRow};
use crate::rigid::{Inertia, Motion, rotate_freely};
use glam::DVec3;

/// A body of a mechanism: state, loads, and its index among the dynamic bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct MechanismBody {
    pub index: u32,
    pub motion: Motion,
    pub inertia: Inertia,
    /// F/m, m/s², and τ, N·m; constant over the world step.
    pub acceleration: DVec3,
    pub torque: DVec3,
    /// Angular momentum, kg·m²/s.
    l: DVec3,
}

impl MechanismBody {
    pub fn new(index: u32, motion: Motion, inertia: Inertia, acceleration: DVec3, torque: DVec3) -> Self {
        let l = inertia.angular_momentum(motion.q, motion.omega);
        Self { index, motion, inertia, acceleration, torque, l }
    }

    /// Whether only a uniform force acts on it.
    pub fn is_conservative(&self) -> bool {
        self.torque == DVec3::ZERO
            && self.inertia.linear_damping == 0.0
            && self.inertia.angular_damping == 0.0
    }

    fn kick(&mut self, h: f64) {
        self.motion.v += self.acceleration * h;
        self.l += self.torque * h;
        let [linear, angular] = self.inertia.damping_factors(h);
        self.motion.v *= linear;
        self.l *= angular;
    }

    /// Applies λ times a row whose parts for this body are (d, a).
    fn apply_impulse(&mut self, d: DVec3, a: DVec3, lambda: f64) {
        self.motion.v += d * (lambda * self.inertia.inverse_mass);
        self.l += a * lambda;
    }

    fn fly(&mut self, h: f64) {
        self.motion.x += self.motion.v * h;
        self.motion.q = rotate_freely(self.motion.q, self.l, self.inertia.inverse_moments, h);
    }

    fn update_omega(&mut self) {
        self.motion.omega = self.inertia.angular_velocity(self.motion.q, self.l);
    }
}

/// The integrator with its buffers.
#[derive(Debug, Default)]
pub(super) struct RattleIntegrator {
    pub bodies: Vec<MechanismBody>,
    start: Vec<MechanismBody>,
    rows: Vec<MechanismRow>,
    next_rows: Vec<MechanismRow>,
    /// Lower triangle of K, then its Cholesky factor.
    matrix: Vec<f64>,
    lambda: Vec<f64>,
    change: Vec<f64>,
    target: Vec<f64>,
    /// Sum of the impulses of each row over the step.
    impulse: Vec<f64>,
    /// Energy removed by the initial projection, J; infinite if position errors were found.
    pub disturbance: f64,
}

impl RattleIntegrator {
    /// Integrates the bodies over a step in this many compositions, correcting errors with at most
    /// `max_speed`, m/s ⇒ whether the joints held.
    pub fn run(&mut self, joints: &MechanismJoints, dt: f64, pieces: usize, max_speed: f64) -> bool {
        for body in &mut self.bodies {
            body.update_omega();
        }
        joints.rows(&self.bodies, &mut self.rows);
        self.impulse.clear();
        self.impulse.resize(self.rows.len(), 0.0);
        self.lambda.clear();
        self.lambda.resize(self.rows.len(), 0.0);
        self.factor();
        // Initial projection of the velocities: inelastic, so that energy is removed, if anything.
        let kinetic = |bodies: &[MechanismBody]| {
            bodies.iter().map(|body| body.inertia.kinetic_energy(&body.motion)).sum::<f64>()
        };
        self.disturbance = kinetic(&self.bodies);
        self.project_velocities();
        self.disturbance -= kinetic(&self.bodies);
        if self.rows.iter().any(|row| row.error.abs() > 1e-9) {
            self.disturbance = f64::INFINITY;
        }
        let h = dt / pieces as f64;
        let mut last = f64::INFINITY;
        for piece in 0..pieces * SUZUKI_FRACTIONS.len() {
            let share = SUZUKI_FRACTIONS[piece % SUZUKI_FRACTIONS.len()];
            // Initial guess: the projection at the end of the last base step, half of the whole impulse and
            // proportional to its length.
            self.lambda.iter_mut().for_each(|lambda| *lambda *= share / last);
            last = share;
            if !self.step(joints, h * share, max_speed) {
                return false;
            }
        }
        self.bodies.iter().all(|body| body.motion.is_finite())
    }

    /// The rows and their impulses over the step.
    pub fn impulses(&self) -> impl Iterator<Item = (&MechanismRow, f64)> {
        self.rows.iter().zip(self.impulse.iter().copied())
    }

    /// One base step.
    fn step(&mut self, joints: &MechanismJoints, h: f64, max_speed: f64) -> bool {
        for body in &mut self.bodies {
            body.kick(0.5 * h);
        }
        let max_change = max_speed * h.abs();
        self.target.clear();
        self.target.extend(self.rows.iter().map(|row| {
            let kept = row.error * (1.0 - RATTLE_RECOVERY);
            if row.error.abs() < 1e-9 {
                0.0
            } else {
                kept.max(row.error - max_change).min(row.error + max_change)
            }
        }));
        self.start.clone_from(&self.bodies);
        let mut worst = f64::INFINITY;
        for _ in 0..RATTLE_ITERATIONS {
            self.bodies.clone_from(&self.start);
            apply(&mut self.bodies, &self.rows, &self.lambda);
            for body in &mut self.bodies {
                body.fly(h);
            }
            joints.rows(&self.bodies, &mut self.next_rows);
            let before = worst;
            worst = 0.0;
            self.change.clear();
            for (row, target) in self.next_rows.iter().zip(&self.target) {
                worst = row.scaled(row.error - target).abs().max(worst);
                self.change.push((target - row.error) / h);
            }
            if !worst.is_finite() {
                return false;
            }
            if worst < RATTLE_ROUNDING || worst > 0.5 * before && worst < 1e-11 {
                break;
            }
            solve(&self.matrix, &mut self.change);
            for (lambda, change) in self.lambda.iter_mut().zip(&self.change) {
                *lambda += change;
            }
        }
        if worst > RATTLE_FAILED {
            return false;
        }
        for (sum, lambda) in self.impulse.iter_mut().zip(&self.lambda) {
            *sum += lambda;
        }
        std::mem::swap(&mut self.rows, &mut self.next_rows);
        for body in &mut self.bodies {
            body.kick(0.5 * h);
            body.update_omega();
        }
        self.factor();
        self.project_velocities();
        true
    }

    /// Velocity projection: impulses along the present rows so that J v = 0; they are the initial guess of
    /// the next base step.
    fn project_velocities(&mut self) {
        self.change.clear();
        self.change.extend(self.rows.iter().map(|row| -row.rate(&self.bodies)));
        solve(&self.matrix, &mut self.change);
        apply(&mut self.bodies, &self.rows, &self.change);
        for body in &mut self.bodies {
            body.update_omega();
        }
        for (sum, change) in self.impulse.iter_mut().zip(&self.change) {
            *sum += change;
        }
        self.lambda.copy_from_slice(&self.change);
    }

    /// K = J M⁻¹ Jᵀ of the present rows and its Cholesky factor. Linearly dependent rows get no impulse.
    fn factor(&mut self) {
        let n = self.rows.len();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for i in 0..n {
            let row = self.rows[i];
            let inverse_mass_row = row.inverse_mass_times(&self.bodies);
            for k in 0..=i {
                self.matrix[i * n + k] = row.product(&inverse_mass_row, &self.rows[k]);
            }
        }
        for i in 0..n {
            let own = self.matrix[i * n + i];
            for k in 0..=i {
                let (one, other) = (&self.matrix[i * n..i * n + k], &self.matrix[k * n..k * n + k]);
                let rest = self.matrix[i * n + k] - one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                self.matrix[i * n + k] = if i == k {
                    if rest > 1e-11 * own { rest.sqrt() } else { 0.0 }
                } else if self.matrix[k * n + k] > 0.0 {
                    rest / self.matrix[k * n + k]
                } else {
                    0.0
                };
            }
        }
    }
}

/// x ← K⁻¹ x, with the Cholesky factor of K.
fn solve(matrix: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| matrix[i * n + k] * x[k]).sum();
        let pivot = matrix[i * n + i];
        x[i] = if pivot > 0.0 { (x[i] - sum) / pivot } else { 0.0 };
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| matrix[k * n + i] * x[k]).sum();
        let pivot = matrix[i * n + i];
        x[i] = if pivot > 0.0 { (x[i] - sum) / pivot } else { 0.0 };
    }
}

/// Momenta += Jᵀ λ.
fn apply(bodies: &mut [MechanismBody], rows: &[MechanismRow], lambda: &[f64]) {
    for (row, lambda) in rows.iter().zip(lambda) {
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(body) = row.bodies[side] {
                bodies[body as usize].apply_impulse(row.linear * sign, row.angular[side] * sign, *lambda);
            }
        }
    }
}
