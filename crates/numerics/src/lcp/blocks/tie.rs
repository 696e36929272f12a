//! Ties alone: M (v − v*) = Jᵀ p and J v = t, with impulses within bounds.
//!
//! With any ρ > 0 the equations are the same as (M + Jᵀ ρ J) v = M v* + Jᵀ (p⁰ + ρ t) for the right p⁰, and the matrix is sparse and
//! positive definite however many ties repeat each other. From p⁰ = 0 on, v ← v + δ with
//!
//!   (M + Jᵀ ρ J) δ = M (v* − v) + Jᵀ p + Jᵀ ρ r,   r = t − J v,   p ← p + ρ (r − J δ)
//!
//! brings r down by a factor of about 1/(1 + ρ J M⁻¹ Jᵀ) each time, with one factorisation for all, and refines what rounding left. As p grows
//! out of r only, it stays the smallest of all impulses that do it; and where ties contradict each other, J δ tends to zero
//! with r at its least square, so that v is the best that can be had.
//! Ties with bounds are held first; those that would have to pull beyond a bound are left at it, until none changes sides.

use super::envelope::Envelope;
use super::problem::{Block, BlockError, BlockProblem, BlockTie};
use glam::DVec3;

/// ρ as a multiple of the mass a tie feels: what is not solved with one is tried with the next. Impulses are exact to ρ times what
/// rounding leaves of r, so the first is the best if it does.
const STIFFNESS: [f64; 3] = [1e5, 1e8, 1e11];
/// Corrections with one factorisation.
const MOST_CORRECTIONS: usize = 16;

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TieReport {
    /// Factorisations.
    pub factorisations: usize,
    /// Largest |J v − t| of ties that are held.
    pub residual: f64,
    /// Whether that is rounding; if not, ties contradict each other.
    pub converged: bool,
}

/// What a tie does at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Held,
    Least,
    Most,
}

/// Solves for ties and keeps its memory from one problem to the next.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_numerics::lcp::blocks::*;
/// // A body of 2 kg that falls, hung up along z: twice, which changes nothing but the share of each.
/// let block = Block::rigid(2.0, DMat3::IDENTITY, DMat3::IDENTITY, -9.81 * DVec3::Z, DVec3::ZERO);
/// let rows = [[DVec3::Z, DVec3::ZERO], [DVec3::ZERO; 2]];
/// let bounds = [f64::NEG_INFINITY, f64::INFINITY];
/// let tie = BlockTie { blocks: [Some(0), None], rows, target: 0.0, bounds, softness: None };
/// let problem = BlockProblem { blocks: vec![block], ties: vec![tie; 2], ..BlockProblem::default() };
/// let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
/// let report = TieSolver::default().solve(&problem, &mut impulse, &mut velocity)?;
/// assert!(report.converged && velocity[0][0].length() < 1e-13 && (impulse[0] - 9.81).abs() < 1e-12);
/// # Ok::<(), BlockError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TieSolver {
    envelope: Envelope,
    pairs: Vec<[usize; 2]>,
    arranged: Option<(usize, Vec<[usize; 2]>)>,
    /// Mass that each tie feels; ρ.
    felt: Vec<f64>,
    rho: Vec<f64>,
    sides: Vec<Side>,
    step: Vec<f64>,
    work: Vec<f64>,
    misses: Vec<f64>,
}

impl TieSolver {
    /// Problem without contacts ⇒ impulses of the ties and velocities of the blocks.
    pub fn solve(
        &mut self,
        problem: &BlockProblem,
        impulse: &mut Vec<f64>,
        velocity: &mut Vec<[DVec3; 2]>,
    ) -> Result<TieReport, BlockError> {
        problem.check()?;
        let BlockProblem { blocks, ties, .. } = problem;
        velocity.clear();
        velocity.extend(blocks.iter().map(|block| block.free));
        impulse.clear();
        impulse.resize(ties.len(), 0.0);
        if ties.is_empty() {
            return Ok(TieReport { converged: true, ..TieReport::default() });
        }
        self.arrange(blocks.len(), ties);
        self.felt.clear();
        self.felt.extend(ties.iter().map(|tie| {
            let k = tie.compliance(blocks);
            if k > 0.0 { 1.0 / k } else { 0.0 }
        }));
        self.sides.clear();
        self.sides.resize(ties.len(), Side::Held);
        let bounded = ties.iter().filter(|tie| tie.bounds.iter().any(|bound| bound.is_finite())).count();
        let mut report = TieReport::default();
        for _ in 0..=2 * bounded {
            self.hold(blocks, ties, impulse, velocity, &mut report);
            if bounded == 0 || !self.change_sides(ties, impulse, velocity) {
                break;
            }
        }
        Ok(report)
    }

    /// Room for the matrix; the order of the blocks is found again only if other ones are coupled.
    fn arrange(&mut self, blocks: usize, ties: &[BlockTie]) {
        self.pairs.clear();
        self.pairs.extend(ties.iter().filter_map(|tie| Some([tie.blocks[0]?, tie.blocks[1]?])));
        self.pairs.dedup();
        let known = self.arranged.as_ref().is_some_and(|(n, pairs)| *n == blocks && *pairs == self.pairs);
        if !known {
            self.envelope.arrange(blocks, &self.pairs);
            self.arranged = Some((blocks, self.pairs.clone()));
        }
    }

    /// Solves for the ties that are held, the others pushing with what their bounds allow.
    fn hold(
        &mut self,
        blocks: &[Block],
        ties: &[BlockTie],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
        report: &mut TieReport,
    ) {
        for ((p, tie), side) in impulse.iter_mut().zip(ties).zip(&self.sides) {
            *p = match side {
                Side::Held => 0.0,
                Side::Least => tie.bounds[0],
                Side::Most => tie.bounds[1],
            };
        }
        for (v, block) in velocity.iter_mut().zip(blocks) {
            *v = block.free;
        }
        let targets = ties.iter().map(|tie| tie.target.abs()).fold(0.0, f64::max);
        report.residual = f64::INFINITY;
        for stiffness in STIFFNESS {
            self.rho.clear();
            let felt = ties.iter().zip(&self.felt);
            self.rho.extend(felt.map(|(tie, felt)| tie.softness.unwrap_or(stiffness * felt)));
            report.factorisations += 1;
            if self.factor(blocks, ties) {
                self.refine(blocks, ties, impulse, velocity, report);
            }
            report.converged = report.residual <= 1e-12 * size(velocity).max(targets);
            if report.converged {
                break;
            }
        }
        report.converged |= report.residual <= 1e-10 * (1.0 + targets);
    }

    fn factor(&mut self, blocks: &[Block], ties: &[BlockTie]) -> bool {
        self.envelope.clear();
        self.envelope.add_masses(blocks);
        for ((tie, rho), side) in ties.iter().zip(&self.rho).zip(&self.sides) {
            if *side == Side::Held && *rho > 0.0 {
                self.envelope.add_square(&tie.blocks, &tie.rows, *rho);
            }
        }
        self.envelope.factor()
    }

    /// Corrects until nothing gets better.
    fn refine(
        &mut self,
        blocks: &[Block],
        ties: &[BlockTie],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
        report: &mut TieReport,
    ) {
        let mut before = f64::INFINITY;
        for correction in 0..MOST_CORRECTIONS {
            self.correct(blocks, ties, impulse, velocity);
            report.residual = self.residual(ties, velocity);
            let small = 4e-16 * size(velocity);
            if report.residual <= small || correction > 1 && report.residual > 0.3 * before {
                break;
            }
            before = report.residual;
        }
    }

    fn residual(&self, ties: &[BlockTie], velocity: &[[DVec3; 2]]) -> f64 {
        let held = ties.iter().zip(&self.sides).zip(&self.rho);
        held.filter(|((tie, side), rho)| **side == Side::Held && tie.softness.is_none() && **rho > 0.0)
            .map(|((tie, _), _)| (tie.row_times(velocity) - tie.target).abs())
            .fold(0.0, f64::max)
    }

    /// One correction δ of the velocities, and of the impulses with it.
    fn correct(
        &mut self,
        blocks: &[Block],
        ties: &[BlockTie],
        impulse: &mut [f64],
        velocity: &mut [[DVec3; 2]],
    ) {
        self.step.clear();
        for (block, v) in blocks.iter().zip(velocity.iter()) {
            let [a, b] = [0, 1].map(|part| block.mass[part] * (block.free[part] - v[part]));
            self.step.extend_from_slice(&[a.x, a.y, a.z, b.x, b.y, b.z]);
        }
        self.misses.clear();
        for (index, tie) in ties.iter().enumerate() {
            let miss = tie.target - tie.row_times(velocity);
            self.misses.push(miss);
            let held = self.sides[index] == Side::Held;
            if held && tie.softness.is_some() {
                impulse[index] = self.rho[index] * miss;
            }
            let more = if held && tie.softness.is_none() { self.rho[index] * miss } else { 0.0 };
            let push = impulse[index] + more;
            for (block, [linear, angular]) in tie.blocks.iter().zip(&tie.rows) {
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
        for (index, tie) in ties.iter().enumerate() {
            if self.sides[index] == Side::Held {
                let left = tie.target - tie.row_times(velocity);
                match tie.softness {
                    Some(rho) => impulse[index] = rho * left,
                    None => impulse[index] += self.rho[index] * left,
                }
            }
        }
    }

    /// Lets go of ties beyond their bounds, and holds those again that would give in the wrong way ⇒ whether any changed sides.
    fn change_sides(&mut self, ties: &[BlockTie], impulse: &[f64], velocity: &[[DVec3; 2]]) -> bool {
        let mut changed = false;
        for (index, tie) in ties.iter().enumerate() {
            let u = tie.row_times(velocity) - tie.target;
            let rounding = 1e-12 * (1.0 + tie.target.abs());
            let next = match self.sides[index] {
                Side::Held if impulse[index] < tie.bounds[0] => Side::Least,
                Side::Held if impulse[index] > tie.bounds[1] => Side::Most,
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
