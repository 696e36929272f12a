//! Equality rows alone: M (v − v*) = Jᵀ p and J v = t, with impulses within bounds.
//!
//! With any ρ > 0 the equations are the same as (M + Jᵀ ρ J) v = M v* + Jᵀ (p⁰ + ρ t) for the right p⁰, and
//! the matrix is sparse and positive definite however many rows are redundant. From p⁰ = 0 on, v ← v + δ with
//!
//!   (M + Jᵀ ρ J) δ = M (v* − v) + Jᵀ p + Jᵀ ρ r,   r = t − J v,   p ← p + ρ (r − J δ)
//!
//! brings r down by a factor of about 1/(1 + ρ J M⁻¹ Jᵀ) each time, with one factorisation for all, and
//! refines what rounding left. As p grows out of r only, it stays the smallest of all impulses that do it;
//! and where equality rows contradict each other, J δ tends to zero with r at its least square, so that v is
//! the best that can be had. Equality rows with bounds are held first; those that would have to pull beyond a
//! bound are left at it, until none changes sides.

use super::envelope::Envelope;
use super::problem::{Block, BlockError, BlockProblem, EqualityRow};
use glam::DVec3;

/// ρ as a multiple of the effective mass of a row, tried one after the other until the residual is rounding.
/// Impulses are exact to ρ times what rounding leaves of r, so the first is the best if it does.
const STIFFNESS: [f64; 3] = [1e5, 1e8, 1e11];
/// Corrections with one factorisation.
const MOST_CORRECTIONS: usize = 16;

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EqualityReport {
    /// Factorisations.
    pub factorisations: usize,
    /// Largest |J v − t| of equality rows that are held.
    pub residual: f64,
    /// Whether that is rounding; if not, equality rows contradict each other.
    pub converged: bool,
}

/// Active set: state of an equality row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Held,
    Least,
    Most,
}

/// Solver for equality rows; keeps its allocations between problems.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_numerics::lcp::blocks::*;
/// // A body of 2 kg that falls, hung up along z: twice, which changes nothing but the share of each.
/// let block = Block::rigid(2.0, DMat3::IDENTITY, DMat3::IDENTITY, -9.81 * DVec3::Z, DVec3::ZERO);
/// let rows = [[DVec3::Z, DVec3::ZERO], [DVec3::ZERO; 2]];
/// let bounds = [f64::NEG_INFINITY, f64::INFINITY];
/// let row = EqualityRow { blocks: [Some(0), None], rows, target: 0.0, bounds, softness: None };
/// let problem = BlockProblem { blocks: vec![block], equalities: vec![row; 2], ..BlockProblem::default() };
/// let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
/// let report = EqualitySolver::default().solve(&problem, &mut impulse, &mut velocity)?;
/// assert!(report.converged && velocity[0][0].length() < 1e-13 && (impulse[0] - 9.81).abs() < 1e-12);
/// # Ok::<(), BlockError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EqualitySolver {
    envelope: Envelope,
    pairs: Vec<[usize; 2]>,
    arranged: Option<(usize, Vec<[usize; 2]>)>,
    /// Effective mass of each equality row; ρ.
    felt: Vec<f64>,
    rho: Vec<f64>,
    sides: Vec<Side>,
    step: Vec<f64>,
    work: Vec<f64>,
    misses: Vec<f64>,
}

impl EqualitySolver {
    /// Problem without contacts ⇒ impulses of the equality rows and velocities of the blocks.
    pub fn solve(
        &mut self,
        problem: &BlockProblem,
        impulse: &mut Vec<f64>,
        velocity: &mut Vec<[DVec3; 2]>,
    ) -> Result<EqualityReport, BlockError> {
        problem.check()?;
        let BlockProblem { blocks, equalities, .. } = problem;
        velocity.clear();
        velocity.extend(blocks.iter().map(|block| block.free));
        impulse.clear();
        impulse.resize(equalities.len(), 0.0);
        if equalities.is_empty() {
            return Ok(EqualityReport { converged: true, ..EqualityReport::default() });
        }
        self.arrange(blocks.len(), equalities);
        self.felt.clear();
        self.felt.extend(equalities.iter().map(|equality| {
            let k = equality.compliance(blocks);
            if k > 0.0 { 1.0 / k } else { 0.0 }
        }));
        self.sides.clear();
        self.sides.resize(equalities.len(), Side::Held);
        let bounded = equalities
            .iter()
            .filter(|equality| equality.bounds.iter().any(|bound| bound.is_finite()))
            .count();
        let mut report = EqualityReport::default();
        for _ in 0..=2 * bounded {
            self.hold(blocks, equalities, impulse, velocity, &mut report);
            if bounded == 0 || !self.change_sides(equalities, impulse, velocity) {
                break;
            }
        }
        Ok(report)
    }

    /// Room for the matrix; the order of the blocks is found again only if other ones are coupled.
    fn arrange(&mut self, blocks: usize, equalities: &[EqualityRow]) {
        self.pairs.clear();
        self.pairs.extend(
            equalities.iter().filter_map(|equality| Some([equality.blocks[0]?, equality.blocks[1]?])),
        );
        self.pairs.dedup();
        let known = self.arranged.as_ref().is_some_and(|(n, pairs)| *n == blocks && *pairs == self.pairs);
        if !known {
            self.envelope.arrange(blocks, &self.pairs);
            self.arranged = Some((blocks, self.pairs.clone()));
        }
    }

    /// Solves for the rows that are held, with the impulses of the others at their bounds.
    fn hold(
        &mut self,
        blocks: &[Block],
        equalities: &[EqualityRow],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
        report: &mut EqualityReport,
    ) {
        for ((p, equality), side) in impulse.iter_mut().zip(equalities).zip(&self.sides) {
            *p = match side {
                Side::Held => 0.0,
                Side::Least => equality.bounds[0],
                Side::Most => equality.bounds[1],
            };
        }
        for (v, block) in velocity.iter_mut().zip(blocks) {
            *v = block.free;
        }
        let targets = equalities.iter().map(|equality| equality.target.abs()).fold(0.0, f64::max);
        report.residual = f64::INFINITY;
        for stiffness in STIFFNESS {
            self.rho.clear();
            let felt = equalities.iter().zip(&self.felt);
            self.rho.extend(felt.map(|(equality, felt)| equality.softness.unwrap_or(stiffness * felt)));
            report.factorisations += 1;
            if self.factor(blocks, equalities) {
                self.refine(blocks, equalities, impulse, velocity, report);
            }
            report.converged = report.residual <= 1e-12 * size(velocity).max(targets);
            if report.converged {
                break;
            }
        }
        report.converged |= report.residual <= 1e-10 * (1.0 + targets);
    }

    fn factor(&mut self, blocks: &[Block], equalities: &[EqualityRow]) -> bool {
        self.envelope.clear();
        self.envelope.add_masses(blocks);
        for ((equality, rho), side) in equalities.iter().zip(&self.rho).zip(&self.sides) {
            if *side == Side::Held && *rho > 0.0 {
                self.envelope.add_square(&equality.blocks, &equality.rows, *rho);
            }
        }
        self.envelope.factor()
    }

    /// Corrects until nothing gets better.
    fn refine(
        &mut self,
        blocks: &[Block],
        equalities: &[EqualityRow],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
        report: &mut EqualityReport,
    ) {
        let mut before = f64::INFINITY;
        for correction in 0..MOST_CORRECTIONS {
            self.correct(blocks, equalities, impulse, velocity);
            report.residual = self.residual(equalities, velocity);
            let small = 4e-16 * size(velocity);
            if report.residual <= small || correction > 1 && report.residual > 0.3 * before {
                break;
            }
            before = report.residual;
        }
    }

    fn residual(&self, equalities: &[EqualityRow], velocity: &[[DVec3; 2]]) -> f64 {
        let held = equalities.iter().zip(&self.sides).zip(&self.rho);
        held.filter(|((equality, side), rho)| {
            **side == Side::Held && equality.softness.is_none() && **rho > 0.0
        })
        .map(|((equality, _), _)| (equality.row_times(velocity) - equality.target).abs())
        .fold(0.0, f64::max)
    }

    /// One correction δ of the velocities, and of the impulses with it.
    fn correct(
        &mut self,
        blocks: &[Block],
        equalities: &[EqualityRow],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
    ) {
        self.step.clear();
        for (block, v) in blocks.iter().zip(velocity.iter()) {
            let [a, b] = [0, 1].map(|part| block.mass[part] * (block.free[part] - v[part]));
            self.step.extend_from_slice(&[a.x, a.y, a.z, b.x, b.y, b.z]);
        }
        self.misses.clear();
        for (index, equality) in equalities.iter().enumerate() {
            let miss = equality.target - equality.row_times(velocity);
            self.misses.push(miss);
            let held = self.sides[index] == Side::Held;
            if held && equality.softness.is_some() {
                impulse[index] = self.rho[index] * miss;
            }
            let more = if held && equality.softness.is_none() { self.rho[index] * miss } else { 0.0 };
            let push = impulse[index] + more;
            for (block, [linear, angular]) in equality.blocks.iter().zip(&equality.rows) {
                let Some(block) = block else { continue };
                for axis in 0..3 {
                    self.step[6 * block + axis] += push * linear[axis];
                    self.step[6 * block + 3 + axis] += push * angular[axis];
                }
            }
        }
        self.envelope.solve(&mut self.step, &mut self.work);
        for (v, delta) in velocity.iter_mut().zip(self.step.chunks_exact(6)) {
            v[0] += DVec3::new(delta[0], delta[1], delta[2]);
            v[1] += DVec3::new(delta[3], delta[4], delta[5]);
        }
        for (index, equality) in equalities.iter().enumerate() {
            if self.sides[index] == Side::Held {
                let left = equality.target - equality.row_times(velocity);
                match equality.softness {
                    Some(rho) => impulse[index] = rho * left,
                    None => impulse[index] += self.rho[index] * left,
                }
            }
        }
    }

    /// Updates the active set: rows beyond a bound are released, rows whose velocity error has the wrong sign
    /// are held again ⇒ whether any changed.
    fn change_sides(&mut self, equalities: &[EqualityRow], impulse: &[f64], velocity: &[[DVec3; 2]]) -> bool {
        let mut changed = false;
        for (index, equality) in equalities.iter().enumerate() {
            let u = equality.row_times(velocity) - equality.target;
            let rounding = 1e-12 * (1.0 + equality.target.abs());
            let next = match self.sides[index] {
                Side::Held if impulse[index] < equality.bounds[0] => Side::Least,
                Side::Held if impulse[index] > equality.bounds[1] => Side::Most,
                Side::Least if u < -rounding => Side::Held,
                Side::Most if u > rounding => Side::Held,
                side => side,
            };
            changed |= next != self.sides[index];
            self.sides[index] = next;
        }
        changed
    }
}

fn size(velocity: &[[DVec3; 2]]) -> f64 {
    velocity.iter().flatten().map(|v| v.abs().max_element()).fold(0.0, f64::max)
}
