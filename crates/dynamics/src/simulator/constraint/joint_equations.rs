//! Linear equations of a mechanism at one state.
//!
//! With the mass matrix M, the rows J and unknown multipliers λ,
//!
//!   M (x − x*) = Jᵀ λ,   J x = r,
//!
//! are solved three times in a step, with different unknowns x: accelerations (x* from the loads, r = −J̇ v),
//! velocities (x* = v, r = 0), and displacements (x* = 0, r = −C). The last two are the projections onto the
//! constraint manifold in the metric of M, and do no work on motion along it. U. M. Ascher & L. R. Petzold,
//! *Computer methods for ordinary differential equations and differential-algebraic equations* (1998):
//! coordinate projection.

use super::joint_rows::{ConstraintRow, RowContext};
use super::tuning::{MAX_POSITION_CORRECTIONS, POSITION_TOLERANCE};
use crate::collision::WorldMirror;
use crate::island::JointIsland;
use crate::rigid::Motion;
use crate::solver::rigid_block;
use crate::world::World;
use glam::{DQuat, DVec3};
use rattleback_numerics::lcp::blocks::{BlockProblem, EqualityReport, EqualityRow, EqualitySolver};

/// Bounds of the multiplier of a locked direction.
pub(super) const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
/// Bounds of the multiplier of a limit, which only pushes.
pub(super) const UNILATERAL: [f64; 2] = [0.0, f64::INFINITY];

/// Equations of one mechanism at a time, with reusable storage.
#[derive(Debug, Default)]
pub(super) struct JointEquations {
    /// States of all bodies; those of the mechanism are the trial state.
    pub motion: Vec<Motion>,
    pub rows: Vec<ConstraintRow>,
    problem: BlockProblem,
    /// Rows in a position correction.
    chosen: Vec<usize>,
    /// Row of each equation.
    row_of: Vec<usize>,
    block_of: Vec<usize>,
    solver: EqualitySolver,
    impulse: Vec<f64>,
    solution: Vec<[DVec3; 2]>,
}

impl JointEquations {
    /// Starts with a mechanism and the states of all bodies.
    pub fn reset(&mut self, mirror: &WorldMirror, mechanism: &JointIsland, motion: &[Motion]) {
        self.motion.clear();
        self.motion.extend_from_slice(motion);
        self.block_of.clear();
        self.block_of.resize(motion.len(), usize::MAX);
        for (block, body) in mechanism.bodies.iter().enumerate() {
            self.block_of[*body] = block;
        }
        debug_assert_eq!(mirror.bodies.len(), motion.len());
    }

    /// Sets its kinematic bodies to their states at a time.
    pub fn place_kinematic(&mut self, mirror: &WorldMirror, mechanism: &JointIsland, time: f64) {
        for body in &mechanism.kinematic {
            self.motion[*body] = mirror.bodies[*body].kinematic_state(time, &self.motion[*body]);
        }
    }

    /// Evaluates all rows at the trial state.
    pub fn evaluate_rows(
        &mut self,
        world: &World,
        mirror: &WorldMirror,
        mechanism: &JointIsland,
        context: RowContext,
    ) {
        self.rows.clear();
        for &joint in &mechanism.joints {
            mirror.joints[joint].evaluate_rows(joint, world, &self.motion, context, &mut self.rows);
        }
    }

    /// Begins the equations: M at the trial state, and x* of each body.
    pub fn assemble(
        &mut self,
        mirror: &WorldMirror,
        mechanism: &JointIsland,
        free: impl Fn(usize, &Motion) -> [DVec3; 2],
    ) {
        self.problem.equalities.clear();
        self.problem.blocks.clear();
        self.row_of.clear();
        for &body in &mechanism.bodies {
            let (inertia, motion) = (&mirror.bodies[body].inertia, &self.motion[body]);
            self.problem.blocks.push(rigid_block(inertia, motion.q, free(body, motion)));
        }
    }

    /// Applies a known multiplier: x* += M⁻¹ Jᵀ λ.
    pub fn apply_row_force(&mut self, mirror: &WorldMirror, row: usize, lambda: f64) {
        for (side, body) in mirror.joints[self.rows[row].joint].bodies.iter().enumerate() {
            let Some(block) = body.map(|body| self.block_of[body as usize]) else { continue };
            let Some(block) = self.problem.blocks.get_mut(block) else { continue };
            let [linear, angular] = self.rows[row].side(side);
            block.free[0] += lambda * (block.inverse_mass[0] * linear);
            block.free[1] += lambda * (block.inverse_mass[1] * angular);
        }
    }

    /// J M⁻¹ Jᵀ of a row, after [`assemble`](Self::assemble).
    pub fn inverse_mass(&self, mirror: &WorldMirror, row: usize) -> f64 {
        let mut sum = 0.0;
        for (side, body) in mirror.joints[self.rows[row].joint].bodies.iter().enumerate() {
            let Some(block) = body.map(|body| self.block_of[body as usize]) else { continue };
            let Some(block) = self.problem.blocks.get(block) else { continue };
            let [linear, angular] = self.rows[row].side(side);
            sum += linear.dot(block.inverse_mass[0] * linear) + angular.dot(block.inverse_mass[1] * angular);
        }
        sum
    }

    /// Adds the equation J x = value, with bounds on its multiplier; `prescribed` is x of bodies outside the
    /// mechanism.
    pub fn add_row(
        &mut self,
        mirror: &WorldMirror,
        row: usize,
        value: f64,
        bounds: [f64; 2],
        prescribed: impl Fn(usize) -> [DVec3; 2],
    ) {
        let constraint = &self.rows[row];
        let mut equality = EqualityRow {
            blocks: [None; 2],
            rows: [constraint.side(0), constraint.side(1)],
            target: value,
            bounds,
            softness: None,
        };
        for (side, body) in mirror.joints[constraint.joint].bodies.iter().enumerate() {
            let Some(body) = body.map(|body| body as usize) else { continue };
            if self.block_of[body] == usize::MAX {
                let ([v, omega], [linear, angular]) = (prescribed(body), equality.rows[side]);
                equality.target -= linear.dot(v) + angular.dot(omega);
            } else {
                equality.blocks[side] = Some(self.block_of[body]);
            }
        }
        self.row_of.push(row);
        self.problem.equalities.push(equality);
    }

    /// Solves the equations; if they are not finite, neither is the solution.
    pub fn solve(&mut self) -> EqualityReport {
        let found = self.solver.solve(&self.problem, &mut self.impulse, &mut self.solution);
        found.unwrap_or_else(|_| {
            self.impulse.clear();
            self.impulse.resize(self.problem.equalities.len(), f64::NAN);
            self.solution.clear();
            self.solution.resize(self.problem.blocks.len(), [DVec3::NAN; 2]);
            EqualityReport { residual: f64::NAN, ..EqualityReport::default() }
        })
    }

    /// x of each body.
    pub fn solution(&self) -> &[[DVec3; 2]] {
        &self.solution
    }

    /// Rows in the equations, with their multipliers.
    pub fn impulses(&self) -> impl Iterator<Item = (&ConstraintRow, f64)> + Clone + '_ {
        self.row_of.iter().zip(&self.impulse).map(|(row, p)| (&self.rows[*row], *p))
    }

    /// The equations.
    pub fn problem(&self) -> &BlockProblem {
        &self.problem
    }

    /// Row of an equation.
    pub fn row_of(&self, equality: usize) -> usize {
        self.row_of[equality]
    }

    /// Newton projection of positions onto all locked rows and the violated limits that `limited` selects ⇒
    /// the remaining error, m or rad.
    pub fn project_positions(
        &mut self,
        world: &World,
        mirror: &WorldMirror,
        mechanism: &JointIsland,
        context: RowContext,
        limited: impl Fn(&ConstraintRow) -> bool,
    ) -> f64 {
        let context = RowContext { bias: false, ..context };
        let mut least = f64::INFINITY;
        for correction in 0..=MAX_POSITION_CORRECTIONS {
            self.evaluate_rows(world, mirror, mechanism, context);
            let counts = |constraint: &ConstraintRow| {
                constraint.is_locked() || limited(constraint) && constraint.row.error < 0.0
            };
            self.chosen.clear();
            self.chosen.extend((0..self.rows.len()).filter(|row| counts(&self.rows[*row])));
            let worst = self.chosen.iter().map(|row| self.rows[*row].row.error.abs()).fold(0.0, f64::max);
            // Converged to rounding, or no longer converging.
            if worst <= POSITION_TOLERANCE || correction > 3 && worst > 0.7 * least || !worst.is_finite() {
                return worst;
            }
            least = least.min(worst);
            if correction == MAX_POSITION_CORRECTIONS {
                break;
            }
            self.assemble(mirror, mechanism, |_, _| [DVec3::ZERO; 2]);
            for place in 0..self.chosen.len() {
                let row = self.chosen[place];
                self.add_row(mirror, row, -self.rows[row].row.error, UNBOUNDED, |_| [DVec3::ZERO; 2]);
            }
            self.solve();
            for (body, [by, turn]) in mechanism.bodies.iter().zip(&self.solution) {
                let motion = &mut self.motion[*body];
                motion.x += *by;
                // The linearisation does not hold for large rotations.
                motion.q = (DQuat::from_scaled_axis(turn.clamp_length_max(0.5)) * motion.q).normalize();
            }
        }
        least
    }

    /// Projection of velocities onto all locked rows and the limits that `limited` selects ⇒ the error
    /// before, m/s or rad/s.
    pub fn project_velocities(
        &mut self,
        world: &World,
        mirror: &WorldMirror,
        mechanism: &JointIsland,
        context: RowContext,
        limited: impl Fn(&ConstraintRow) -> bool,
    ) -> f64 {
        self.evaluate_rows(world, mirror, mechanism, RowContext { bias: false, ..context });
        self.assemble(mirror, mechanism, |_, motion| [motion.v, motion.omega]);
        let mut worst = 0.0_f64;
        for row in 0..self.rows.len() {
            let constraint = self.rows[row];
            let limit = !constraint.is_locked() && limited(&constraint);
            if !(constraint.is_locked() || limit) {
                continue;
            }
            worst = worst.max(if limit { (-constraint.rate).max(0.0) } else { constraint.rate.abs() });
            let bounds = if limit { UNILATERAL } else { UNBOUNDED };
            let motion = std::mem::take(&mut self.motion);
            self.add_row(mirror, row, 0.0, bounds, |body| [motion[body].v, motion[body].omega]);
            self.motion = motion;
        }
        if worst > 0.0 {
            self.solve();
            self.store_velocities(mechanism);
        } else {
            self.impulse.clear();
            self.impulse.resize(self.row_of.len(), 0.0);
        }
        worst
    }

    /// Stores x as the velocities of the bodies.
    pub fn store_velocities(&mut self, mechanism: &JointIsland) {
        for (body, [v, omega]) in mechanism.bodies.iter().zip(&self.solution) {
            (self.motion[*body].v, self.motion[*body].omega) = (*v, *omega);
        }
    }
}
