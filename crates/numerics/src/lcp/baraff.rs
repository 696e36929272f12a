//! Baraff's extension of the pivoting method to friction (1994), with corrected step bounds.
//!
//! Rows are satisfied one by one, as in [`dantzig`](super::dantzig), while the friction conditions of all rows before are kept (`pivoting`).
//!
//! Zero-length steps can cycle. When too many follow each other, the contact is postponed: everything starts again with that contact
//! last. There is no proof that this ends (with large friction the path to the solution may have to turn back, which this method cannot),
//! so it is counted, and sweeps of Gauss–Seidel or Lemke's method take over, the latter with b shaken a little if it has to be, and at last with
//! contacts that give way a little.

use super::matrix::dot;
use super::pivoting::{End, Pivoting};
use super::{
    FrictionProblem, FrictionSolution, LcpError, Outcome, SquareMatrix, SweepSettings, gauss_seidel_friction,
    lemke,
};

/// Frictional problem ⇒ forces. `Unbounded` names the row whose force would have to be infinite.
///
/// ```
/// use rattleback_numerics::lcp::{Friction, FrictionContact, FrictionProblem, SquareMatrix, baraff};
/// // A particle of 1 kg on the floor, pushed sideways with 3 N; μ = 0.5: it stays.
/// let a = SquareMatrix::from_fn(3, |i, j| f64::from(i == j));
/// let contact = FrictionContact { friction: Friction::Static([0.5; 2]) };
/// let solution = baraff(&FrictionProblem::new(a, vec![-9.81, 3.0, 0.0], vec![contact])?);
/// assert_eq!(solution.force, [9.81, -3.0, 0.0]);
/// # Ok::<(), rattleback_numerics::lcp::LcpError>(())
/// ```
pub fn baraff(problem: &FrictionProblem) -> FrictionSolution {
    let contacts = problem.contacts().len();
    let mut order: Vec<usize> = (0..contacts).collect();
    let mut pivots = 0;
    let limit = 100 + 150 * contacts;
    let mut last = Outcome::IterationLimit { iterations: 0 };
    for _ in 0..=contacts.min(ORDERS) {
        let mut pivoting = Pivoting::new(problem);
        let end = pivoting.run(&order, limit);
        pivots += pivoting.pivots;
        match end {
            End::Outcome(Outcome::Solved) => {
                let force = reread(problem, pivoting.polished());
                if problem.residual(&force) <= 1e-9 * problem.size() {
                    return problem.solution(force, Outcome::Solved, pivots);
                }
                break;
            }
            End::Outcome(outcome) => {
                last = outcome;
                break;
            }
            End::Cycles(contact) => {
                order.retain(|other| *other != contact);
                order.push(contact);
            }
        }
    }
    by_other_means(problem, last, pivots)
}

/// Forces that miss their conditions by more than rounding ⇒ those of the states that can be read from them, if they are better.
fn reread(problem: &FrictionProblem, force: Vec<f64>) -> Vec<f64> {
    let residual = problem.residual(&force);
    if residual <= 1e-12 * problem.size() {
        return force;
    }
    // Whether a tangent is at its limit or only near it.
    let again = [1e-13, 1e-9, 1e-6].map(|near| {
        let mut pivoting = Pivoting::new(problem);
        pivoting.take_over(&force, near);
        pivoting.polished()
    });
    let tries = again.into_iter().chain([force]).map(|force| (problem.residual(&force), force));
    tries.min_by(|x, y| x.0.total_cmp(&y.0)).map_or_else(Vec::new, |(_, force)| force)
}

/// Orders that are tried before sweeps have to help.
const ORDERS: usize = 3;

/// What pivots could not settle: sweeps, or Lemke's method, find out who sticks and who slides, and the equations of that are solved
/// exactly. Problems without any solution stay what they were.
fn by_other_means(problem: &FrictionProblem, outcome: Outcome, pivots: usize) -> FrictionSolution {
    let exact = |force: &[f64]| {
        let mut pivoting = Pivoting::new(problem);
        pivoting.take_over(force, 1e-9);
        let force = reread(problem, pivoting.polished());
        (problem.residual(&force) <= 1e-9 * problem.size()).then_some(force)
    };
    // With half the step sweeps settle where with the whole one they go round.
    for relaxation in [1.0, 0.5] {
        let settings = SweepSettings { sweeps: 3000, relaxation, tolerance: 1e-11 };
        let swept = gauss_seidel_friction(problem, &settings, None).map(|swept| swept.force);
        if let Some(force) = swept.ok().and_then(|force| exact(&force)) {
            return problem.solution(force, Outcome::Solved, pivots);
        }
    }
    let mut force = vec![0.0; problem.b().len()];
    let mut iterations = pivots;
    // Shaking helps against ties only, not where forces would have to be infinite.
    let shakes = if matches!(outcome, Outcome::IterationLimit { .. }) { SHAKES } else { 0 };
    for attempt in 0..=shakes {
        let Ok(plain) = shaken(problem, attempt).and_then(|problem| problem.as_lcp()) else { break };
        let found = lemke(&plain);
        iterations += found.iterations;
        let candidate = problem.from_lcp(&found.z);
        // The method may end on a ray with next to nothing left of its artificial unknown: what counts are the conditions.
        let good = problem.residual(&candidate) <= 1e-9 * problem.size();
        if let Some(force) = exact(&candidate).or_else(|| good.then(|| candidate.clone())) {
            return problem.solution(force, Outcome::Solved, iterations);
        }
        if attempt == 0 {
            force = candidate;
        }
    }
    if shakes > 0 {
        for softness in SOFTNESSES {
            let Ok(soft) = softened(problem, softness) else { break };
            let mut pivoting = Pivoting::new(&soft);
            let order: Vec<usize> = (0..problem.contacts().len()).collect();
            pivoting.run(&order, 100 + 150 * order.len());
            iterations += pivoting.pivots;
            let by_pivots = pivoting.polished();
            let by_lemke = soft.as_lcp().map(|plain| soft.from_lcp(&lemke(&plain).z));
            for candidate in [Some(by_pivots), by_lemke.ok()].into_iter().flatten() {
                if let Some(force) = exact(&candidate) {
                    return problem.solution(force, Outcome::Solved, iterations);
                }
            }
        }
    }
    let outcome = match outcome {
        Outcome::IterationLimit { .. } => Outcome::IterationLimit { iterations: pivots },
        other => other,
    };
    problem.solution(force, outcome, pivots)
}

/// Tries with other roundings before a problem is given up.
const SHAKES: u32 = 12;

/// The same problem with b moved by a little that forces could do, b + ε A r: where several rows come to their end at the same
/// moment, another one is the first. With static friction and b among what forces can do, Lemke's method has to find a solution (its matrix is
/// copositive: zᵀM z = FᵀA F + Σ μ λ F_n), so whatever keeps it from that is such a tie and rounding.
fn shaken(problem: &FrictionProblem, attempt: u32) -> Result<FrictionProblem, LcpError> {
    if attempt == 0 {
        return Ok(problem.clone());
    }
    let n = problem.b().len();
    let mut bits = u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let push: Vec<f64> = (0..n)
        .map(|row| {
            // Any numbers will do that do not repeat themselves.
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 11) as f64 / (1_u64 << 53) as f64 / problem.scale(row)
        })
        .collect();
    let size = 1e-11 * 4_f64.powf(f64::from(attempt / 2)) * problem.size();
    let b = (0..n).map(|row| problem.b()[row] + size * dot(problem.a().row(row), &push)).collect();
    FrictionProblem::new(problem.a().clone(), b, problem.contacts().to_vec())
}

/// How much contacts may give way, in parts of their diagonals, for who sticks and who slides to be found out.
const SOFTNESSES: [f64; 5] = [1e-9, 1e-7, 1e-5, 1e-4, 1e-3];

/// The same problem with contacts that give way a little, A + ε diag A: rows that depend on each other, between which pivots are a matter of rounding, do
/// not any more, and forces that would be huge stay in reach.
fn softened(problem: &FrictionProblem, softness: f64) -> Result<FrictionProblem, LcpError> {
    let n = problem.b().len();
    let soft = |i: usize, j: usize| if i == j { softness * problem.scale(i) } else { 0.0 };
    let a = SquareMatrix::from_fn(n, |i, j| problem.a()[(i, j)] + soft(i, j));
    FrictionProblem::new(a, problem.b().to_vec(), problem.contacts().to_vec())
}
