//! Limits, springs, motors and friction of joints whose locked axes are solved as a tree (`joint_tree`).
//!
//! With J the rows of all locked axes, an impulse λ along another row j of the tree changes the velocities of all of its bodies by A j λ,
//!
//!   A = 1 − Jᵀ (J Jᵀ)⁻¹ J,
//!
//! the projection onto the velocities that the joints permit, and that of the row by λ jᵀ A j = λ ‖A j‖². A sweep with the masses of the two bodies of
//! the joint alone, jᵀ j, stops an arm at a limit within many sub-steps only, in which the position error grows and gives energy back. Here the
//! response A j is computed once per step, by one elimination of the tree with the right-hand side j, and all rows of a tree are solved together. A limit
//! then projects the velocities onto a convex set that contains rest, which never adds energy.

use super::contact_block::SweepParameters;
use super::joint_constraint::JointRow;
use super::joint_tree::{TreeBody, TreeLink, TreePass, Vec6, add, dot};
use super::sim_bodies::NONE;
use super::softness::Softness;
use super::tuning::{TREE_ROW_ACCURACY, TREE_ROW_ITERATIONS, TREE_ROW_SOFTNESS};
use glam::{DQuat, DVec3};

/// A row between two links of a tree, or between a link and an immovable body.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeRow {
    /// Index of the joint among those of the solver, and key of the row.
    pub edge: u32,
    pub key: u8,
    /// Links of the tree that it acts on, [`NONE`] for an immovable side; its direction and lever arms in the world at the
    /// beginning of the step, and j of each side in the present sweep.
    links: [u32; 2],
    linear: DVec3,
    angular: [DVec3; 2],
    rows: [Vec6; 2],
    gap: f64,
    kinematic_rate: f64,
    target_speed: f64,
    range: [f64; 2],
    softness: Softness,
    one_sided: bool,
    acts_in_relax: bool,
    /// Accumulated impulse of the present sub-step.
    pub impulse: f64,
    /// First element of its response among the responses of all rows of the solver.
    response: usize,
    /// ‖A j‖²; 0 if the joints permit no motion along the row, none until the response was computed.
    inverse_mass: Option<f64>,
}

impl TreeRow {
    /// (index of the joint, links of sides A and B, row, first element of its response) ⇒ row.
    pub fn new(edge: u32, links: [u32; 2], row: &JointRow, response: usize) -> Self {
        Self {
            edge,
            key: row.key,
            links,
            linear: row.linear,
            angular: row.world_angular,
            rows: [[0.0; 6]; 2],
            gap: row.gap,
            kinematic_rate: row.kinematic_rate,
            target_speed: row.target_speed,
            range: row.range.map(f64::from),
            softness: row.softness,
            one_sided: row.one_sided,
            acts_in_relax: row.acts_in_relax,
            impulse: f64::from(row.impulse),
            response,
            inverse_mass: None,
        }
    }

    /// Turns the row with body A, in which its axis is fixed: (states of the bodies of both sides).
    fn follow(&mut self, sides: [Option<&TreeBody>; 2]) {
        let turned = sides[0].map_or(DQuat::IDENTITY, |a| a.turned);
        let d = turned * self.linear;
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            self.rows[k] = sides[k].map_or([0.0; 6], |body| body.row(sign, d, turned * self.angular[k]));
        }
    }

    /// (j·∫y dt, parameters) ⇒ C at the present time, m or rad.
    fn gap(&self, shift: f64, parameters: &SweepParameters) -> f64 {
        self.gap + shift + self.kinematic_rate * f64::from(parameters.elapsed)
    }

    /// Whether it may act in this sweep: (C, j·y) ⇒ false for a limit that stays open.
    fn may_act(&self, gap: f64, rate: f64, parameters: &SweepParameters) -> bool {
        let speed = rate + self.kinematic_rate;
        !self.one_sided || self.impulse != 0.0 || gap * f64::from(parameters.substep_rate) + speed < 0.0
    }

    /// Σ j·x over its links.
    fn along(&self, links: &[TreeLink], x: impl Fn(usize) -> Vec6) -> f64 {
        let sides = self.links.iter().zip(&self.rows).filter(|(link, _)| (**link as usize) < links.len());
        sides.map(|(link, j)| dot(j, &x(*link as usize))).sum()
    }

    /// (C, j·y, whether the sweep corrects positions, parameters) ⇒ (e, γ) of e + γ λ = 0, what the row demands while its impulse is within its range.
    fn demand(&self, gap: f64, rate: f64, biased: bool, parameters: &SweepParameters) -> (f64, f64) {
        let speed = rate + self.kinematic_rate - self.target_speed;
        if self.one_sided && gap > 0.0 {
            return (speed + gap * f64::from(parameters.substep_rate), 0.0);
        }
        if !(biased || self.acts_in_relax) {
            return (speed, 0.0);
        }
        let scale = f64::from(self.softness.mass_scale).max(f64::MIN_POSITIVE);
        let softness = f64::from(self.softness.impulse_scale) / scale * self.inverse_mass.unwrap_or(0.0);
        let bias = gap * f64::from(self.softness.bias_rate);
        // A limit that was passed by far is not left at once: that would lift an arm by as much as it has sunk.
        let bias = if self.one_sided { bias.max(-f64::from(parameters.push_speed)) } else { bias };
        (speed + bias, softness)
    }
}

/// The rows of a tree that may act in a sweep: e + W (λ − λ₀) + γ λ = 0 where λ is within its range, W the products jᵀ A j of all pairs.
///
/// Limits along a chain are strongly coupled, and sweeps row by row converge slowly. They find which rows are at an end of their range; the others are
/// then solved together, until none leaves its range.
#[derive(Debug, Default)]
pub(super) struct RowSystem {
    active: Vec<u32>,
    matrix: Vec<f64>,
    demand: Vec<f64>,
    softness: Vec<f64>,
    start: Vec<f64>,
    impulse: Vec<f64>,
    range: Vec<[f64; 2]>,
    /// Rows within their range, the Cholesky factor of their matrix, and the change of their impulses.
    free: Vec<usize>,
    factor: Vec<f64>,
    change: Vec<f64>,
}

impl RowSystem {
    fn clear(&mut self) {
        self.active.clear();
        self.matrix.clear();
        self.demand.clear();
        self.softness.clear();
        self.start.clear();
        self.impulse.clear();
        self.range.clear();
    }

    /// W + γ.
    fn entry(&self, i: usize, k: usize) -> f64 {
        self.matrix[i * self.active.len() + k] + if i == k { self.softness[i] } else { 0.0 }
    }

    /// e + W (λ − λ₀) + γ λ of a row.
    fn residual(&self, i: usize) -> f64 {
        let n = self.active.len();
        let coupled: f64 = (0..n).map(|k| self.matrix[i * n + k] * (self.impulse[k] - self.start[k])).sum();
        self.demand[i] + coupled + self.softness[i] * self.impulse[i]
    }

    /// Solves for the impulses.
    fn solve(&mut self) {
        for _ in 0..TREE_ROW_ITERATIONS {
            for i in 0..self.active.len() {
                let diagonal = self.entry(i, i);
                if diagonal > 0.0 {
                    let [least, most] = self.range[i];
                    self.impulse[i] = (self.impulse[i] - self.residual(i) / diagonal).clamp(least, most);
                }
            }
            if self.solve_free() {
                return;
            }
        }
    }

    /// Solves for the impulses within their range, the others kept ⇒ whether all stay within it, and no other row demands to leave its end.
    fn solve_free(&mut self) -> bool {
        self.free.clear();
        for i in 0..self.active.len() {
            let [least, most] = self.range[i];
            if self.entry(i, i) > 0.0 && self.impulse[i] > least && self.impulse[i] < most {
                self.free.push(i);
            }
        }
        self.factor_free();
        self.change.clear();
        for i in 0..self.free.len() {
            self.change.push(-self.residual(self.free[i]));
        }
        substitute(&self.factor, &mut self.change);
        // As far as the first row that reaches an end of its range: ½ λᵀ (W + γ) λ + eᵀ λ never grows then, as in the sweeps, and with it the energy.
        let mut share = 1.0_f64;
        for (i, change) in self.free.iter().zip(&self.change) {
            let [least, most] = self.range[*i];
            let room = if *change > 0.0 { most - self.impulse[*i] } else { least - self.impulse[*i] };
            if room.abs() < share * change.abs() {
                share = room / change;
            }
        }
        for (i, change) in self.free.iter().zip(&self.change) {
            let [least, most] = self.range[*i];
            self.impulse[*i] = (self.impulse[*i] + share * change).clamp(least, most);
        }
        share >= 1.0
            && (0..self.active.len()).filter(|i| !self.free.contains(i)).all(|i| {
                let ([least, most], residual) = (self.range[i], self.residual(i));
                let accuracy = TREE_ROW_ACCURACY * self.demand[i].abs();
                self.entry(i, i) <= 0.0
                    || (self.impulse[i] <= least && residual >= -accuracy)
                    || (self.impulse[i] >= most && residual <= accuracy)
            })
    }

    /// Cholesky factor of the rows within their range; linearly dependent ones have a pivot of zero.
    fn factor_free(&mut self) {
        let m = self.free.len();
        self.factor.clear();
        self.factor.resize(m * m, 0.0);
        for i in 0..m {
            for k in 0..=i {
                let products: f64 = (0..k).map(|l| self.factor[i * m + l] * self.factor[k * m + l]).sum();
                let rest = self.entry(self.free[i], self.free[k]) - products;
                let pivot = self.factor[k * m + k];
                self.factor[i * m + k] = if i == k {
                    if rest > 1e-10 * self.entry(self.free[i], self.free[i]) { rest.sqrt() } else { 0.0 }
                } else if pivot > 0.0 {
                    rest / pivot
                } else {
                    0.0
                };
            }
        }
    }
}

/// x ← (L Lᵀ)⁻¹ x; zero where the pivot is.
fn substitute(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        let pivot = factor[i * n + i];
        x[i] = if pivot > 0.0 { (x[i] - sum) / pivot } else { 0.0 };
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        let pivot = factor[i * n + i];
        x[i] = if pivot > 0.0 { (x[i] - sum) / pivot } else { 0.0 };
    }
}

#[allow(unsafe_code)]
impl TreePass<'_> {
    /// Turns the rows with their bodies.
    pub fn follow(&self, links: &[TreeLink], rows: &mut [TreeRow], parameters: &SweepParameters) {
        for row in rows {
            let side =
                |k: usize| links.get(row.links[k] as usize).map(|link| self.body(link.body, parameters));
            let sides = [side(0), side(1)];
            row.follow([sides[0].as_ref(), sides[1].as_ref()]);
        }
    }

    /// Applies the impulses of the last sub-step.
    pub fn start_rows(&self, links: &mut [TreeLink], rows: &mut [TreeRow], start: usize) {
        for row in rows.iter_mut().filter(|row| row.impulse != 0.0) {
            self.compute_response(links, row, start);
            self.apply(links, row, row.impulse);
        }
    }

    /// Solves the rows ⇒ whether a response of an earlier sweep was used.
    pub fn solve_rows(
        &self,
        links: &mut [TreeLink],
        rows: &mut [TreeRow],
        system: &mut RowSystem,
        start: usize,
        biased: bool,
        parameters: &SweepParameters,
    ) -> bool {
        system.clear();
        let mut outdated = false;
        for (index, row) in rows.iter_mut().enumerate() {
            let shift = row.along(links, |link| self.shift(links[link].body));
            let rate = row.along(links, |link| self.velocity(links[link].body));
            let gap = row.gap(shift, parameters);
            if !row.may_act(gap, rate, parameters) {
                continue;
            }
            outdated |= row.inverse_mass.is_some();
            if row.inverse_mass.is_none() {
                self.compute_response(links, row, start);
            }
            let (demand, softness) = row.demand(gap, rate, biased, parameters);
            system.active.push(index as u32);
            system.demand.push(demand);
            let least = TREE_ROW_SOFTNESS * row.inverse_mass.unwrap_or(0.0);
            system.softness.push(softness.max(least));
            system.start.push(row.impulse);
            system.impulse.push(row.impulse);
            system.range.push(row.range);
        }
        if system.active.is_empty() {
            return false;
        }
        for row in &system.active {
            for other in &system.active {
                let (row, other) = (&rows[*row as usize], &rows[*other as usize]);
                // SAFETY: responses of a tree belong to one thread.
                let response = |link: usize| unsafe { *self.responses.get(other.response + link) };
                system.matrix.push(row.along(links, response));
            }
        }
        system.solve();
        for (index, impulse) in system.active.iter().zip(&system.impulse) {
            let row = &mut rows[*index as usize];
            let change = impulse - row.impulse;
            row.impulse = *impulse;
            if change != 0.0 {
                self.apply(links, row, change);
            }
        }
        outdated
    }

    /// ∫y dt of a solver body.
    fn shift(&self, body: u32) -> Vec6 {
        // SAFETY: the solver body belongs to this tree.
        let shift = unsafe { &self.solver_bodies.get(body as usize).shift };
        let (v, w) = (shift.linear(), shift.angular());
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// Changes the velocities of the whole tree by an impulse along a row.
    fn apply(&self, links: &[TreeLink], row: &TreeRow, impulse: f64) {
        // SAFETY: responses of a tree belong to one thread.
        let response = unsafe { self.responses.range_mut(row.response..row.response + links.len()) };
        for (link, change) in links.iter().zip(response) {
            self.change_velocity(link.body, &change.map(|change| change * impulse));
        }
    }

    /// Computes A j with the present factors of the tree, from the leaves to the root and back as for the locked axes.
    fn compute_response(&self, links: &mut [TreeLink], row: &mut TreeRow, start: usize) {
        // SAFETY: responses of a tree belong to one thread.
        let response = unsafe { self.responses.range_mut(row.response..row.response + links.len()) };
        for link in links.iter_mut() {
            link.f = [0.0; 6];
        }
        for k in 0..2 {
            if let Some(link) = links.get_mut(row.links[k] as usize) {
                add(&mut link.f, &row.rows[k], 1.0);
            }
        }
        for index in (0..links.len()).rev() {
            let (below, from) = links.split_at_mut(index);
            let link = &mut from[0];
            for k in 0..link.rows {
                link.q[k] = -dot(&link.u[k], &link.f);
            }
            if link.parent != NONE {
                let parent = &mut below[link.parent as usize - start];
                for k in 0..link.rows {
                    let load: f64 = (0..link.rows).map(|l| link.d[k][l] * link.q[l]).sum();
                    add(&mut parent.f, &link.parent_rows[k], load);
                }
            }
        }
        for (index, link) in links.iter().enumerate() {
            let mut rest = link.q;
            if link.parent != NONE {
                let parent = &response[link.parent as usize - start];
                for k in 0..link.rows {
                    rest[k] -= dot(&link.parent_rows[k], parent);
                }
            }
            let mut change: Vec6 = std::array::from_fn(|i| dot(&link.h[i], &link.f));
            for k in 0..link.rows {
                let impulse: f64 = (0..link.rows).map(|l| link.d[k][l] * rest[l]).sum();
                add(&mut change, &link.u[k], impulse);
            }
            response[index] = change;
        }
        let inverse_mass: f64 = response.iter().map(|change| dot(change, change)).sum();
        let own: f64 = row.rows.iter().map(|j| dot(j, j)).sum();
        row.inverse_mass = Some(if inverse_mass > 1e-9 * own { inverse_mass } else { 0.0 });
    }
}
