//! A semismooth Newton method on the Fischer–Burmeister function.
//!
//! φ(z, w) = z + w − √(z² + w²) vanishes exactly if z ≥ 0, w ≥ 0, z w = 0. With Φ_i = φ(s_i z_i, w_i) (s the
//! diagonal of A, so that both have the same unit) the problem is Φ(z) = 0, and
//!
//!   Φ' = diag(s (1 − s z/r)) + diag(1 − w/r) A,   r = √((s z)² + w²),
//!
//! where at r = 0 any point of the unit circle will do. Steps are damped so that ½|Φ|² falls. Close to a
//! solution the method has identified the held rows; then one exact solution of their equations ends it, if
//! it satisfies everything.

use super::elimination::eliminate;
use super::{Lcp, LcpError, Outcome, Solution, SquareMatrix};

const MOST_STEPS: usize = 100;
/// Residual, as a part of b, that is as good as it gets.
const TOLERANCE: f64 = 1e-12;

/// (problem, where to start) ⇒ solution. Converges for positive (semi)definite A; each step is O(n³).
pub fn newton(problem: &Lcp, start: Option<&[f64]>) -> Result<Solution, LcpError> {
    let n = problem.n();
    let mut z: Vec<f64> = (0..n).map(|i| (-problem.b()[i] / problem.scale(i)).max(0.0)).collect();
    if let Some(start) = start {
        problem.check_start(start)?;
        z.copy_from_slice(start);
    }
    let size = problem.size();
    for step in 0..MOST_STEPS {
        if problem.residual(&z) <= TOLERANCE * size {
            return Ok(problem.solution(z, Outcome::Solved, step));
        }
        if let Some(exact) = guessed(problem, &z)
            && problem.residual(&exact) <= TOLERANCE * size
        {
            return Ok(problem.solution(exact, Outcome::Solved, step + 1));
        }
        z = improved(problem, &z);
    }
    let outcome = Outcome::IterationLimit { iterations: MOST_STEPS };
    Ok(problem.solution(z, outcome, MOST_STEPS))
}

fn burmeister(problem: &Lcp, z: &[f64]) -> Vec<f64> {
    let w = problem.a().affine(z, problem.b());
    let phi = |i: usize| {
        let (z, w) = (problem.scale(i) * z[i], w[i]);
        z + w - z.hypot(w)
    };
    (0..z.len()).map(phi).collect()
}

fn merit(phi: &[f64]) -> f64 {
    phi.iter().map(|phi| 0.5 * phi * phi).sum()
}

/// One damped Newton step; where Φ' is singular, a small multiple of its diagonal helps.
fn improved(problem: &Lcp, z: &[f64]) -> Vec<f64> {
    let w = problem.a().affine(z, problem.b());
    let phi = burmeister(problem, z);
    let before = merit(&phi);
    let slopes = |i: usize| {
        let (z, w) = (problem.scale(i) * z[i], w[i]);
        let r = z.hypot(w);
        if r > 0.0 { (1.0 - z / r, 1.0 - w / r) } else { (1.0 - 0.5_f64.sqrt(), 1.0 - 0.5_f64.sqrt()) }
    };
    for damping in [1e-13, 1e-8, 1e-4, 1e-1] {
        let mut jacobian = SquareMatrix::from_fn(z.len(), |i, j| {
            let (of_z, of_w) = slopes(i);
            let own = if i == j { (of_z + damping) * problem.scale(i) } else { 0.0 };
            own + of_w * problem.a()[(i, j)]
        });
        let mut step: Vec<f64> = phi.iter().map(|phi| -phi).collect();
        if !eliminate(&mut jacobian, &mut step) {
            continue;
        }
        let mut length = 1.0;
        for _ in 0..12 {
            let next: Vec<f64> = z.iter().zip(&step).map(|(z, d)| z + length * d).collect();
            if merit(&burmeister(problem, &next)) < (1.0 - 1e-4 * length) * before {
                return next;
            }
            length *= 0.5;
        }
    }
    // Nothing falls: a sweep of Gauss–Seidel leads elsewhere.
    let mut next = z.to_vec();
    for i in 0..next.len() {
        let w: f64 = problem.a().row(i).iter().zip(&next).map(|(a, z)| a * z).sum::<f64>() + problem.b()[i];
        next[i] = (next[i] - w / problem.scale(i)).max(0.0);
    }
    next
}

/// The exact solution if the rows with s z > w are held and the others open.
fn guessed(problem: &Lcp, z: &[f64]) -> Option<Vec<f64>> {
    let w = problem.a().affine(z, problem.b());
    let held: Vec<usize> = (0..z.len()).filter(|i| problem.scale(*i) * z[*i] > w[*i]).collect();
    let mut matrix = SquareMatrix::from_fn(held.len(), |i, j| problem.a()[(held[i], held[j])]);
    let mut x: Vec<f64> = held.iter().map(|i| -problem.b()[*i]).collect();
    if !eliminate(&mut matrix, &mut x) {
        return None;
    }
    let mut exact = vec![0.0; z.len()];
    for (i, x) in held.iter().zip(x) {
        exact[*i] = x;
    }
    Some(exact)
}
