//! Projected Gauss–Seidel: rows are satisfied one by one, each regardless of its effect on the others, in
//! repeated sweeps.
//!
//! z_i ← max(0, z_i − ω w_i/A_ii); a tangential row is clamped to ±μF_n instead. For symmetric positive
//! definite A it converges linearly for 0 < ω < 2; the number of sweeps grows with the condition of A (for a
//! stack, with the square of its height).

use super::matrix::dot;
use super::{Friction, FrictionProblem, FrictionSolution, Lcp, LcpError, Outcome, Solution};

/// How long to sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepSettings {
    /// Most sweeps. Default 1000.
    pub sweeps: usize,
    /// ω: 1 is Gauss–Seidel, more is over-relaxation. Default 1.
    pub relaxation: f64,
    /// Residual, as a part of the largest |b|, that counts as solved. Default 1e-10.
    pub tolerance: f64,
}

impl Default for SweepSettings {
    fn default() -> Self {
        Self { sweeps: 1000, relaxation: 1.0, tolerance: 1e-10 }
    }
}

impl SweepSettings {
    fn relaxation(&self) -> f64 {
        if self.relaxation.is_finite() { self.relaxation.clamp(0.01, 1.99) } else { 1.0 }
    }
}

/// (problem, settings, where to start) ⇒ solution, as good as the sweeps make it.
pub fn gauss_seidel(
    problem: &Lcp,
    settings: &SweepSettings,
    start: Option<&[f64]>,
) -> Result<Solution, LcpError> {
    let mut z = vec![0.0; problem.n()];
    if let Some(start) = start {
        problem.check_start(start)?;
        z.copy_from_slice(start);
    }
    let (omega, size) = (settings.relaxation(), problem.size());
    for sweep in 0..settings.sweeps {
        let mut change = 0.0_f64;
        for i in 0..z.len() {
            let scale = problem.scale(i);
            let w = dot(problem.a().row(i), &z) + problem.b()[i];
            let next = (z[i] - omega * w / scale).max(0.0);
            change = change.max(scale * (next - z[i]).abs());
            z[i] = next;
        }
        if change <= settings.tolerance * size && problem.residual(&z) <= settings.tolerance * size {
            return Ok(problem.solution(z, Outcome::Solved, sweep + 1));
        }
    }
    Ok(problem.solution(z, Outcome::IterationLimit { iterations: settings.sweeps }, settings.sweeps))
}

/// The same with friction.
pub fn gauss_seidel_friction(
    problem: &FrictionProblem,
    settings: &SweepSettings,
    start: Option<&[f64]>,
) -> Result<FrictionSolution, LcpError> {
    let n = problem.b().len();
    let mut force = vec![0.0; n];
    if let Some(start) = start {
        if start.len() != n {
            return Err(LcpError::Dimension { what: "length of the start", expected: n, got: start.len() });
        }
        if let Some(row) = start.iter().position(|force| !force.is_finite()) {
            return Err(LcpError::NonFinite { row });
        }
        force.copy_from_slice(start);
    }
    let (omega, size) = (settings.relaxation(), problem.size());
    for sweep in 0..settings.sweeps {
        let mut change = 0.0_f64;
        for i in 0..n {
            let scale = problem.scale(i);
            let a = dot(problem.a().row(i), &force) + problem.b()[i];
            let wanted = force[i] - omega * a / scale;
            let next = bounded(problem, &force, i, wanted);
            change = change.max(scale * (next - force[i]).abs());
            force[i] = next;
        }
        if change <= settings.tolerance * size && problem.residual(&force) <= settings.tolerance * size {
            return Ok(problem.solution(force, Outcome::Solved, sweep + 1));
        }
    }
    let outcome = Outcome::IterationLimit { iterations: settings.sweeps };
    Ok(problem.solution(force, outcome, settings.sweeps))
}

/// The force nearest to the wanted one that row i may have.
fn bounded(problem: &FrictionProblem, force: &[f64], i: usize, wanted: f64) -> f64 {
    if i.is_multiple_of(3) {
        return wanted.max(0.0);
    }
    let normal = force[i - i % 3];
    match problem.contacts()[i / 3].friction {
        Friction::Static(mu) => {
            let bound = mu[i % 3 - 1] * normal;
            wanted.clamp(-bound, bound)
        }
        Friction::Dynamic(mu) => mu[i % 3 - 1] * normal,
    }
}
