//! Baraff's extension of the pivoting method to friction (1994), with corrected step bounds.
//!
//! Rows are satisfied one by one, as in [`dantzig`](super::dantzig), while the friction conditions of all
//! earlier rows stay satisfied (`pivoting`).
//!
//! Zero-length steps can cycle. After too many in a row the contact is postponed: the method restarts with
//! that contact last. Termination is not proven (with large friction the path to the solution may have to
//! turn back, which this method cannot), so restarts are limited; then Gauss–Seidel sweeps, Lemke's method,
//! Lemke's method with a perturbed b, and slightly soft contacts are tried in this order.

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

/// Forces whose residual exceeds rounding ⇒ the exact solution for the contact states read from them, if it
/// is better.
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

/// Orders of contacts tried before the fallbacks.
const ORDERS: usize = 3;

/// Fallbacks where pivoting failed: sweeps or Lemke's method find which contacts stick and which slide, and
/// the equations of these states are solved exactly. A problem without a solution keeps its outcome.
fn by_other_means(problem: &FrictionProblem, outcome: Outcome, pivots: usize) -> FrictionSolution {
    let exact = |force: &[f64]| {
        let mut pivoting = Pivoting::new(problem);
        pivoting.take_over(force, 1e-9);
        let force = reread(problem, pivoting.polished());
        (problem.residual(&force) <= 1e-9 * problem.size()).then_some(force)
    };
    // Sweeps that cycle with full steps often converge with half steps.
    for relaxation in [1.0, 0.5] {
        let settings = SweepSettings { sweeps: 3000, relaxation, tolerance: 1e-11 };
        let swept = gauss_seidel_friction(problem, &settings, None).map(|swept| swept.force);
        if let Some(force) = swept.ok().and_then(|force| exact(&force)) {
            return problem.solution(force, Outcome::Solved, pivots);
        }
    }
    let mut force = vec![0.0; problem.b().len()];
    let mut iterations = pivots;
    // A perturbation breaks ties of the ratio test; it does not help where forces would have to be infinite.
    let shakes = if matches!(outcome, Outcome::IterationLimit { .. }) { SHAKES } else { 0 };
    for attempt in 0..=shakes {
        let Ok(plain) = shaken(problem, attempt).and_then(|problem| problem.as_lcp()) else { break };
        let found = lemke(&plain);
        iterations += found.iterations;
        let candidate = problem.from_lcp(&found.z);
        // The method may end on a ray with a negligible artificial unknown, so the residual decides.
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

/// Perturbed attempts before a problem is given up.
const SHAKES: u32 = 12;

/// The problem with b perturbed within the range of A, b + ε A r: where several rows reach their bounds at
/// once, this changes which is first. With static friction and b in the range of A, Lemke's method finds a
/// solution in exact arithmetic (its matrix is copositive: zᵀM z = FᵀA F + Σ μ λ F_n), so its failures are
/// due to such ties and to rounding.
fn shaken(problem: &FrictionProblem, attempt: u32) -> Result<FrictionProblem, LcpError> {
    if attempt == 0 {
        return Ok(problem.clone());
    }
    let n = problem.b().len();
    let mut bits = u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let push: Vec<f64> = (0..n)
        .map(|row| {
            // Any sequence without repetition will do.
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 11) as f64 / (1_u64 << 53) as f64 / problem.scale(row)
        })
        .collect();
    let size = 1e-11 * 4_f64.powf(f64::from(attempt / 2)) * problem.size();
    let b = (0..n).map(|row| problem.b()[row] + size * dot(problem.a().row(row), &push)).collect();
    FrictionProblem::new(problem.a().clone(), b, problem.contacts().to_vec())
}

/// Compliances, relative to the diagonals, of the soft problems that identify sticking and sliding contacts.
const SOFTNESSES: [f64; 5] = [1e-9, 1e-7, 1e-5, 1e-4, 1e-3];

/// The same problem with slightly soft contacts, A + ε diag A: rows that are linearly dependent,
/// between which pivots are a matter of rounding, do not any more, and forces that would be huge stay in
/// reach.
fn softened(problem: &FrictionProblem, softness: f64) -> Result<FrictionProblem, LcpError> {
    let n = problem.b().len();
    let soft = |i: usize, j: usize| if i == j { softness * problem.scale(i) } else { 0.0 };
    let a = SquareMatrix::from_fn(n, |i, j| problem.a()[(i, j)] + soft(i, j));
    FrictionProblem::new(a, problem.b().to_vec(), problem.contacts().to_vec())
}
