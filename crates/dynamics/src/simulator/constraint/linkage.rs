//! An assembly at one state: its rows, and what solves for them.
//!
//! The same equations serve three times: accelerations from forces (J v̇ = −J̇ v), velocities from impulses (J v = 0) and places from
//! displacements (J δ = −C). Only what is free to begin with and what the rows are to come to differ.

use super::assembly::Assembly;
use super::bond::{Moment, Tied};
use super::roster::Roster;
use crate::motion::Motion;
use crate::world::World;
use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::lcp::blocks::{Block, BlockProblem, BlockTie, TieReport, TieSolver};

/// Bounds of a row that is held whatever it takes.
pub(super) const ALWAYS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
/// Bounds of a row that only pushes.
pub(super) const PUSHES: [f64; 2] = [0.0, f64::INFINITY];

/// Corrections of places before it is clear that joints contradict each other.
const MOST_CORRECTIONS: usize = 24;
/// What places may be missed by, m or rad.
const CLOSE: f64 = 2e-14;

/// Room for the equations of one assembly at a time.
#[derive(Debug, Default)]
pub(super) struct Linkage {
    /// States of everybody, those of the assembly as they are looked at now.
    pub motion: Vec<Motion>,
    pub rows: Vec<Tied>,
    problem: BlockProblem,
    /// Rows that places are brought to.
    chosen: Vec<usize>,
    /// Which row each tie stands for.
    row_of: Vec<usize>,
    block_of: Vec<usize>,
    solver: TieSolver,
    impulse: Vec<f64>,
    solution: Vec<[DVec3; 2]>,
}

impl Linkage {
    /// Starts from these states of everybody.
    pub fn start(&mut self, roster: &Roster, assembly: &Assembly, motion: &[Motion]) {
        self.motion.clear();
        self.motion.extend_from_slice(motion);
        self.block_of.clear();
        self.block_of.resize(motion.len(), usize::MAX);
        for (block, actor) in assembly.actors.iter().enumerate() {
            self.block_of[*actor] = block;
        }
        debug_assert_eq!(roster.actors.len(), motion.len());
    }

    /// Puts animated bodies where they are at a time.
    pub fn script(&mut self, roster: &Roster, assembly: &Assembly, time: f64) {
        for actor in &assembly.scripted {
            self.motion[*actor] = roster.actors[*actor].scripted(time, &self.motion[*actor]);
        }
    }

    /// Looks at all rows.
    pub fn look(&mut self, world: &World, roster: &Roster, assembly: &Assembly, moment: Moment) {
        self.rows.clear();
        for &bond in &assembly.bonds {
            roster.bonds[bond].rows(bond, world, &self.motion, moment, &mut self.rows);
        }
    }

    /// Begins equations with what the bodies do by themselves.
    pub fn pose(
        &mut self,
        roster: &Roster,
        assembly: &Assembly,
        free: impl Fn(usize, &Motion) -> [DVec3; 2],
    ) {
        self.problem.ties.clear();
        self.problem.blocks.clear();
        self.row_of.clear();
        for &actor in &assembly.actors {
            let (inertia, motion) = (&roster.actors[actor].inertia, &self.motion[actor]);
            let axes = DMat3::from_quat(motion.q);
            let turned = |moments: DVec3| axes * DMat3::from_diagonal(moments) * axes.transpose();
            let [v, omega] = free(actor, motion);
            self.problem.blocks.push(Block::rigid(
                inertia.mass(),
                turned(inertia.large_moments()),
                turned(inertia.inverse_moments),
                v,
                omega,
            ));
        }
    }

    /// Adds a force of a row that is known: what is free changes by M⁻¹ Jᵀ λ.
    pub fn push(&mut self, roster: &Roster, row: usize, lambda: f64) {
        for (side, actor) in roster.bonds[self.rows[row].bond].actors.iter().enumerate() {
            let Some(block) = actor.map(|actor| self.block_of[actor as usize]) else { continue };
            let Some(block) = self.problem.blocks.get_mut(block) else { continue };
            let [linear, angular] = self.rows[row].side(side);
            block.free[0] += lambda * (block.inverse_mass[0] * linear);
            block.free[1] += lambda * (block.inverse_mass[1] * angular);
        }
    }

    /// J M⁻¹ Jᵀ of a row; the bodies have to be posed.
    pub fn compliance(&self, roster: &Roster, row: usize) -> f64 {
        let mut sum = 0.0;
        for (side, actor) in roster.bonds[self.rows[row].bond].actors.iter().enumerate() {
            let Some(block) = actor.map(|actor| self.block_of[actor as usize]) else { continue };
            let Some(block) = self.problem.blocks.get(block) else { continue };
            let [linear, angular] = self.rows[row].side(side);
            sum += linear.dot(block.inverse_mass[0] * linear) + angular.dot(block.inverse_mass[1] * angular);
        }
        sum
    }

    /// Adds a row that is to come to a value, which bodies that nothing moves have a part in.
    pub fn tie(
        &mut self,
        roster: &Roster,
        row: usize,
        value: f64,
        bounds: [f64; 2],
        unmoved: impl Fn(usize) -> [DVec3; 2],
    ) {
        let tied = &self.rows[row];
        let mut tie = BlockTie {
            blocks: [None; 2],
            rows: [tied.side(0), tied.side(1)],
            target: value,
            bounds,
            softness: None,
        };
        for (side, actor) in roster.bonds[tied.bond].actors.iter().enumerate() {
            let Some(actor) = actor.map(|actor| actor as usize) else { continue };
            if self.block_of[actor] == usize::MAX {
                let ([v, omega], [linear, angular]) = (unmoved(actor), tie.rows[side]);
                tie.target -= linear.dot(v) + angular.dot(omega);
            } else {
                tie.blocks[side] = Some(self.block_of[actor]);
            }
        }
        self.row_of.push(row);
        self.problem.ties.push(tie);
    }

    /// Solves; numbers that are none lead to a solution that is none.
    pub fn solve(&mut self) -> TieReport {
        let found = self.solver.solve(&self.problem, &mut self.impulse, &mut self.solution);
        found.unwrap_or_else(|_| {
            self.impulse.clear();
            self.impulse.resize(self.problem.ties.len(), f64::NAN);
            self.solution.clear();
            self.solution.resize(self.problem.blocks.len(), [DVec3::NAN; 2]);
            TieReport { residual: f64::NAN, ..TieReport::default() }
        })
    }

    /// Body by body what came out.
    pub fn solution(&self) -> &[[DVec3; 2]] {
        &self.solution
    }

    /// Rows that were tied, with their impulses.
    pub fn impulses(&self) -> impl Iterator<Item = (&Tied, f64)> + Clone + '_ {
        self.row_of.iter().zip(&self.impulse).map(|(row, p)| (&self.rows[*row], *p))
    }

    /// For the problem as it is posed: the ties.
    pub fn problem(&self) -> &BlockProblem {
        &self.problem
    }

    /// Which row a tie stands for.
    pub fn row_of(&self, tie: usize) -> usize {
        self.row_of[tie]
    }

    /// Brings places to where all rows that are held, and limits that are passed, are met ⇒ what is missed then, m or rad.
    pub fn settle_places(
        &mut self,
        world: &World,
        roster: &Roster,
        assembly: &Assembly,
        moment: Moment,
        limited: impl Fn(&Tied) -> bool,
    ) -> f64 {
        let moment = Moment { bias: false, ..moment };
        let mut least = f64::INFINITY;
        for correction in 0..=MOST_CORRECTIONS {
            self.look(world, roster, assembly, moment);
            let counts = |tied: &Tied| tied.is_hold() || limited(tied) && tied.row.error < 0.0;
            self.chosen.clear();
            self.chosen.extend((0..self.rows.len()).filter(|row| counts(&self.rows[*row])));
            let worst = self.chosen.iter().map(|row| self.rows[*row].row.error.abs()).fold(0.0, f64::max);
            // As good as rounding allows, or as good as it gets.
            if worst <= CLOSE || correction > 3 && worst > 0.7 * least || !worst.is_finite() {
                return worst;
            }
            least = least.min(worst);
            if correction == MOST_CORRECTIONS {
                break;
            }
            self.pose(roster, assembly, |_, _| [DVec3::ZERO; 2]);
            for place in 0..self.chosen.len() {
                let row = self.chosen[place];
                self.tie(roster, row, -self.rows[row].row.error, ALWAYS, |_| [DVec3::ZERO; 2]);
            }
            self.solve();
            for (actor, [by, turn]) in assembly.actors.iter().zip(&self.solution) {
                let motion = &mut self.motion[*actor];
                motion.x += *by;
                // A step of more than half a radian is too long for a first order.
                motion.q = (DQuat::from_scaled_axis(turn.clamp_length_max(0.5)) * motion.q).normalize();
            }
        }
        least
    }

    /// The nearest velocities that keep to all rows that are held and to limits that are reached ⇒ what was missed before, m/s or rad/s.
    pub fn settle_velocities(
        &mut self,
        world: &World,
        roster: &Roster,
        assembly: &Assembly,
        moment: Moment,
        limited: impl Fn(&Tied) -> bool,
    ) -> f64 {
        self.look(world, roster, assembly, Moment { bias: false, ..moment });
        self.pose(roster, assembly, |_, motion| [motion.v, motion.omega]);
        let mut worst = 0.0_f64;
        for row in 0..self.rows.len() {
            let tied = self.rows[row];
            let limit = !tied.is_hold() && limited(&tied);
            if !(tied.is_hold() || limit) {
                continue;
            }
            worst = worst.max(if limit { (-tied.rate).max(0.0) } else { tied.rate.abs() });
            let bounds = if limit { PUSHES } else { ALWAYS };
            let motion = std::mem::take(&mut self.motion);
            self.tie(roster, row, 0.0, bounds, |actor| [motion[actor].v, motion[actor].omega]);
            self.motion = motion;
        }
        if worst > 0.0 {
            self.solve();
            self.take_velocities(assembly);
        } else {
            self.impulse.clear();
            self.impulse.resize(self.row_of.len(), 0.0);
        }
        worst
    }

    /// Makes the solution the velocities of the bodies.
    pub fn take_velocities(&mut self, assembly: &Assembly) {
        for (actor, [v, omega]) in assembly.actors.iter().zip(&self.solution) {
            (self.motion[*actor].v, self.motion[*actor].omega) = (*v, *omega);
        }
    }
}
