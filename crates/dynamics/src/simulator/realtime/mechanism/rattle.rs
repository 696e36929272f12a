//! RATTLE for jointed rigid bodies: second order, symmetric in time, symplectic; composed to fourth order.
//!
//! Joints are equations g(x, q) = 0 with rows J, ġ = J·(v, ω). A base step h from a state with g = 0 and J v
//! = 0:
//!
//!   1. half a kick: v += ½h F/m, L += ½h τ;
//!   2. an impulse Jₙᵀλ along the rows *at the beginning*, free flight over h (straight lines, exact torque-free
//!      rotation), with λ such that g = 0 at the end: λ ← λ − K⁻¹ g/h, K = Jₙ M⁻¹ Jₙᵀ, which converges linearly with a
//!      factor of about hω;
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

use super::rows::{JointRow, Linkage};
use crate::motion::{Inertia, Motion, rotate_freely};
use glam::DVec3;

/// Fractions of a step in Suzuki's composition.
const SHARES: [f64; 5] = {
    const P: f64 = 0.414_490_771_794_375_7;
    [P, P, 1.0 - 4.0 * P, P, P]
};
const CORRECTIONS: usize = 16;
const ROUNDING: f64 = 1e-13;
const FAILED: f64 = 1e-8;
const RECOVERY: f64 = 0.2;

/// A body of a mechanism: state, loads, and its index among the dynamic bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub place: u32,
    pub motion: Motion,
    pub inertia: Inertia,
    /// F/m, m/s², and τ, N·m; constant over the world step.
    pub acceleration: DVec3,
    pub torque: DVec3,
    /// Angular momentum, kg·m²/s.
    l: DVec3,
}

impl Node {
    pub fn new(place: u32, motion: Motion, inertia: Inertia, acceleration: DVec3, torque: DVec3) -> Self {
        let l = inertia.angular_momentum(motion.q, motion.omega);
        Self { place, motion, inertia, acceleration, torque, l }
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
        if self.inertia.linear_damping > 0.0 {
            self.motion.v *= (-h * self.inertia.linear_damping).exp();
        }
        if self.inertia.angular_damping > 0.0 {
            self.l *= (-h * self.inertia.angular_damping).exp();
        }
    }

    /// Applies λ times a row whose parts for this body are (d, a).
    fn push(&mut self, d: DVec3, a: DVec3, lambda: f64) {
        self.motion.v += d * (lambda * self.inertia.inverse_mass);
        self.l += a * lambda;
    }

    fn fly(&mut self, h: f64) {
        self.motion.x += self.motion.v * h;
        self.motion.q = rotate_freely(self.motion.q, self.l, self.inertia.inverse_moments, h);
    }

    fn turn(&mut self) {
        self.motion.omega = self.inertia.angular_velocity(self.motion.q, self.l);
    }
}

/// The integrator with its buffers.
#[derive(Debug, Default)]
pub(super) struct Rattle {
    pub nodes: Vec<Node>,
    start: Vec<Node>,
    rows: Vec<JointRow>,
    next: Vec<JointRow>,
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

impl Rattle {
    /// Integrates the bodies over a step in this many compositions, correcting errors with at most
    /// `max_speed`, m/s ⇒ whether the joints held.
    pub fn run(&mut self, linkage: &Linkage, dt: f64, pieces: usize, fastest: f64) -> bool {
        for node in &mut self.nodes {
            node.turn();
        }
        linkage.rows(&self.nodes, &mut self.rows);
        self.impulse.clear();
        self.impulse.resize(self.rows.len(), 0.0);
        self.lambda.clear();
        self.lambda.resize(self.rows.len(), 0.0);
        self.factor();
        // Initial projection of the velocities: inelastic, so that energy is removed, if anything.
        let kinetic =
            |nodes: &[Node]| nodes.iter().map(|node| node.inertia.kinetic_energy(&node.motion)).sum::<f64>();
        self.disturbance = kinetic(&self.nodes);
        self.stop();
        self.disturbance -= kinetic(&self.nodes);
        if self.rows.iter().any(|row| row.error.abs() > 1e-9) {
            self.disturbance = f64::INFINITY;
        }
        let h = dt / pieces as f64;
        let mut last = f64::INFINITY;
        for piece in 0..pieces * SHARES.len() {
            let share = SHARES[piece % SHARES.len()];
            // Initial guess: the projection at the end of the last base step, half of the whole impulse and
            // proportional to its length.
            self.lambda.iter_mut().for_each(|lambda| *lambda *= share / last);
            last = share;
            if !self.step(linkage, h * share, fastest) {
                return false;
            }
        }
        self.nodes.iter().all(|node| node.motion.is_finite())
    }

    /// The rows and their impulses over the step.
    pub fn impulses(&self) -> impl Iterator<Item = (&JointRow, f64)> {
        self.rows.iter().zip(self.impulse.iter().copied())
    }

    /// One base step.
    fn step(&mut self, linkage: &Linkage, h: f64, fastest: f64) -> bool {
        for node in &mut self.nodes {
            node.kick(0.5 * h);
        }
        let most = fastest * h.abs();
        self.target.clear();
        self.target.extend(self.rows.iter().map(|row| {
            let kept = row.error * (1.0 - RECOVERY);
            if row.error.abs() < 1e-9 { 0.0 } else { kept.max(row.error - most).min(row.error + most) }
        }));
        self.start.clone_from(&self.nodes);
        let mut worst = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            self.nodes.clone_from(&self.start);
            apply(&mut self.nodes, &self.rows, &self.lambda);
            for node in &mut self.nodes {
                node.fly(h);
            }
            linkage.rows(&self.nodes, &mut self.next);
            let before = worst;
            worst = 0.0;
            self.change.clear();
            for (row, target) in self.next.iter().zip(&self.target) {
                worst = row.scaled(row.error - target).abs().max(worst);
                self.change.push((target - row.error) / h);
            }
            if !worst.is_finite() {
                return false;
            }
            if worst < ROUNDING || worst > 0.5 * before && worst < 1e-11 {
                break;
            }
            solve(&self.matrix, &mut self.change);
            for (lambda, change) in self.lambda.iter_mut().zip(&self.change) {
                *lambda += change;
            }
        }
        if worst > FAILED {
            return false;
        }
        for (sum, lambda) in self.impulse.iter_mut().zip(&self.lambda) {
            *sum += lambda;
        }
        std::mem::swap(&mut self.rows, &mut self.next);
        for node in &mut self.nodes {
            node.kick(0.5 * h);
            node.turn();
        }
        self.factor();
        self.stop();
        true
    }

    /// Velocity projection: impulses along the present rows so that J v = 0; they are the initial guess of
    /// the next base step.
    fn stop(&mut self) {
        self.change.clear();
        self.change.extend(self.rows.iter().map(|row| -row.rate(&self.nodes)));
        solve(&self.matrix, &mut self.change);
        apply(&mut self.nodes, &self.rows, &self.change);
        for node in &mut self.nodes {
            node.turn();
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
            let sides = row.felt(&self.nodes);
            for k in 0..=i {
                self.matrix[i * n + k] = row.product(&sides, &self.rows[k]);
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
fn apply(nodes: &mut [Node], rows: &[JointRow], lambda: &[f64]) {
    for (row, lambda) in rows.iter().zip(lambda) {
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(node) = row.nodes[side] {
                nodes[node as usize].push(row.linear * sign, row.angular[side] * sign, *lambda);
            }
        }
    }
}
