//! Joints solved exactly, tree by tree: long chains and large ratios of mass, which sweeps take forever to get through.
//!
//! In the solver's coordinates masses are one, so the impulses λ of all locks satisfy J Jᵀ λ = r, r = −(J y + rate·gap), and
//! Δy = Jᵀ λ. In a tree of bodies each but the root has one joint to its parent, with rows J (child) and P (parent), and the
//! system falls apart from the leaves up. With H Δy = f + Jᵀ λ for a body whose children are done (H = 1, f = 0 for a leaf):
//!
//!   U = H⁻¹ Jᵀ,  D = J U,  q = r − Uᵀ f,  λ = D⁻¹ (q − P Δy_parent),
//!   H_parent += Pᵀ D⁻¹ P,  f_parent += Pᵀ D⁻¹ q,
//!
//! and from the root down Δy = H⁻¹ f + U λ. All in time proportional to the number of joints. Joints that close a loop, and
//! everything one-sided or soft, are left to the sweeps.

use super::block::{Frame, Mover, Sweep};
use super::bond::{Bond, Filling, Side};
use super::lanes::Row;
use super::roster::NONE;
use crate::joint::Locks;
use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::team::{Shared, Worker, each};
use std::ops::Range;

type Six = [f64; 6];

/// Branches that are not worth another thread.
const LEAST_BRANCHES: usize = 64;

/// A body in a tree, and the joint to its parent.
#[derive(Clone, Debug)]
struct Branch {
    mover: u32,
    /// Its parent among the branches, or [`NONE`] if that cannot be moved or there is none.
    parent: u32,
    /// The joint to the parent, by place among all; [`NONE`] for the root of a tree that nothing holds.
    bond: u32,
    locks: Locks,
    /// Mover of the parent's side of the joint.
    other: u32,
    /// Whether the child is A.
    child_is_a: bool,
    joint: Geometry,
    rows: usize,
    /// Rows of child and parent.
    child: [Six; 6],
    above: [Six; 6],
    error: Six,
    own: Six,
    impulse: Six,
    /// H⁻¹, U and D⁻¹.
    h: [Six; 6],
    u: [Six; 6],
    d: [Six; 6],
    f: Six,
    q: Six,
    change: Six,
}

/// A joint at the beginning of the step, in the world's axes.
#[derive(Clone, Copy, Debug, Default)]
struct Geometry {
    arms: [DVec3; 2],
    apart: DVec3,
    axes: [DMat3; 2],
}

/// All trees of a solver.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// Parents before children, tree by tree.
    branches: Vec<Branch>,
    ranges: Vec<Range<usize>>,
    /// By mover: its branch.
    branch_of: Vec<u32>,
    /// Joints by mover: where each list begins, and the lists.
    starts: Vec<u32>,
    lists: Vec<u32>,
}

impl Trees {
    /// (joints with their movers, all joints, how many movers, fewest joints of a tree) ⇒ marks those that the trees take over.
    pub fn grow(
        &mut self,
        links: &[(u32, [u32; 2])],
        all: &[Bond],
        movers: usize,
        first_free: u32,
        fewest: usize,
        taken: &mut Vec<bool>,
    ) {
        taken.clear();
        taken.resize(links.len(), false);
        self.branches.clear();
        self.ranges.clear();
        if links.len() < fewest {
            return;
        }
        self.list(links, movers, first_free);
        self.branch_of.clear();
        self.branch_of.resize(movers, NONE);
        // Trees begin at joints to what cannot be moved, then anywhere.
        for (index, (_, sides)) in links.iter().enumerate() {
            let free = sides.map(|mover| mover >= first_free);
            if free[0] != free[1] && all[links[index].0 as usize].locks != Locks::NONE {
                let child = usize::from(free[1]);
                self.plant(links, all, first_free, fewest, taken, sides[child], Some((index, child)));
            }
        }
        for mover in first_free as usize..movers {
            if self.starts[mover] != self.starts[mover + 1] {
                self.plant(links, all, first_free, fewest, taken, mover as u32, None);
            }
        }
    }

    /// Lists the joints of each mover.
    fn list(&mut self, links: &[(u32, [u32; 2])], movers: usize, first_free: u32) {
        self.starts.clear();
        self.starts.resize(movers + 2, 0);
        let sides =
            || links.iter().enumerate().flat_map(|(index, (_, sides))| sides.map(|side| (index, side)));
        for (_, side) in sides().filter(|(_, side)| *side >= first_free) {
            self.starts[side as usize + 2] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.lists.clear();
        self.lists.resize(self.starts[movers + 1] as usize, 0);
        for (index, side) in sides().filter(|(_, side)| *side >= first_free) {
            let place = &mut self.starts[side as usize + 1];
            self.lists[*place as usize] = index as u32;
            *place += 1;
        }
    }

    /// Grows one tree from a body that is in none yet.
    #[allow(clippy::too_many_arguments)]
    fn plant(
        &mut self,
        links: &[(u32, [u32; 2])],
        all: &[Bond],
        first_free: u32,
        fewest: usize,
        taken: &mut [bool],
        root: u32,
        foot: Option<(usize, usize)>,
    ) {
        if self.branch_of[root as usize] != NONE {
            return;
        }
        let start = self.branches.len();
        self.enter(links, all, root, NONE, foot);
        let (mut next, mut met) = (start, 0_usize);
        while next < self.branches.len() {
            let mover = self.branches[next].mover;
            let list = self.starts[mover as usize] as usize..self.starts[mover as usize + 1] as usize;
            for place in list {
                let index = self.lists[place] as usize;
                let (bond, sides) = links[index];
                if all[bond as usize].locks == Locks::NONE {
                    continue;
                }
                met += 1;
                let child = usize::from(sides[0] == mover);
                if sides[child] >= first_free && self.branch_of[sides[child] as usize] == NONE {
                    self.enter(links, all, sides[child], next as u32, Some((index, child)));
                }
            }
            next += 1;
        }
        let tree = start..self.branches.len();
        // Every joint but those to what cannot be moved has been met from both sides.
        let loops = met.saturating_sub(2 * (tree.len() - 1)) / 2;
        let joints = tree.len() - usize::from(foot.is_none());
        if joints < fewest || loops * 8 > joints {
            self.branches.truncate(start);
            return;
        }
        for branch in &self.branches[tree.clone()] {
            if branch.bond != NONE {
                taken[branch.bond as usize] = true;
            }
        }
        self.ranges.push(tree);
    }

    fn enter(
        &mut self,
        links: &[(u32, [u32; 2])],
        all: &[Bond],
        mover: u32,
        parent: u32,
        joint: Option<(usize, usize)>,
    ) {
        self.branch_of[mover as usize] = self.branches.len() as u32;
        self.branches.push(Branch {
            mover,
            parent,
            bond: joint.map_or(NONE, |(index, _)| index as u32),
            locks: joint.map_or(Locks::NONE, |(index, _)| all[links[index].0 as usize].locks),
            other: joint.map_or(0, |(index, child)| links[index].1[1 - child]),
            child_is_a: joint.is_some_and(|(_, child)| child == 0),
            joint: Geometry::default(),
            rows: 0,
            child: [[0.0; 6]; 6],
            above: [[0.0; 6]; 6],
            error: [0.0; 6],
            own: [0.0; 6],
            impulse: [0.0; 6],
            h: [[0.0; 6]; 6],
            u: [[0.0; 6]; 6],
            d: [[0.0; 6]; 6],
            f: [0.0; 6],
            q: [0.0; 6],
            change: [0.0; 6],
        });
    }

    /// Takes over where the joints are at the beginning of a step.
    pub fn fill(&mut self, links: &[(u32, [u32; 2])], all: &[Bond], filling: &Filling<'_>, threads: usize) {
        each(threads.min(1 + self.branches.len() / LEAST_BRANCHES), &mut self.branches, |_, branch| {
            if branch.bond == NONE {
                return;
            }
            let bond = &all[links[branch.bond as usize].0 as usize];
            let (Some(a), Some(b)) = (filling.side(bond, 0), filling.side(bond, 1)) else { return };
            let turned = |side: &Side<'_>| DMat3::from_quat(side.rotation);
            branch.joint = Geometry {
                arms: [turned(&a) * a.arm, turned(&b) * b.arm],
                apart: b.origin - a.origin,
                axes: [turned(&a) * a.axes, turned(&b) * b.axes],
            };
            branch.impulse = [0.0; 6];
        });
    }

    /// Writes the impulses back, as those of locks swept in blocks: of the anchors and of the rotation, in the world's axes.
    pub fn keep(&self, links: &[(u32, [u32; 2])], all: &mut [Bond]) {
        for branch in self.branches.iter().filter(|branch| branch.bond != NONE) {
            let bond = &mut all[links[branch.bond as usize].0 as usize];
            (bond.linear, bond.angular) = (glam::Vec3::ZERO, glam::Vec3::ZERO);
            let linear = (branch.locks.bits() & 0b111).count_ones() as usize;
            for k in 0..branch.rows {
                let (vector, place) =
                    if k < linear { (&mut bond.linear, k) } else { (&mut bond.angular, k - linear) };
                vector[place] = branch.impulse[k] as f32;
            }
        }
    }

    pub fn round<'s>(
        &'s mut self,
        movers: Shared<'s, Mover>,
        frames: Shared<'s, Frame>,
        held: Shared<'s, Row>,
    ) -> TreeRound<'s> {
        TreeRound { movers, frames, held, branches: Shared::new(&mut self.branches), trees: &self.ranges }
    }
}

/// The trees during a step.
pub(super) struct TreeRound<'s> {
    movers: Shared<'s, Mover>,
    frames: Shared<'s, Frame>,
    /// By mover: what joints have done to it in the present sub-step.
    held: Shared<'s, Row>,
    branches: Shared<'s, Branch>,
    trees: &'s [Range<usize>],
}

/// A body during a step: its scaling, how far it has come, and how it moves by itself.
struct Body {
    scale: f64,
    /// Columns of R diag(1/√I).
    spin: DMat3,
    moved: DVec3,
    turned: DQuat,
    own: [DVec3; 2],
    omega: DVec3,
}

#[allow(unsafe_code)]
impl TreeRound<'_> {
    /// One sweep: mends what has drifted (`push`), or only stops. All trees are solved exactly for the present velocities.
    pub fn sweep(&self, worker: &Worker<'_>, push: bool, sweep: &Sweep) {
        worker.stage(0..self.trees.len(), 1, |trees| self.sweep_trees(&self.trees[trees], push, sweep));
    }

    fn sweep_trees(&self, trees: &[Range<usize>], push: bool, sweep: &Sweep) {
        for tree in trees {
            // SAFETY: a tree belongs to one thread, and its movers to it alone.
            let branches: &mut [Branch] = unsafe { self.branches.range_mut(tree.clone()) };
            for branch in branches.iter_mut() {
                if branch.bond != NONE {
                    self.lay_rows(branch, push, sweep);
                }
            }
            if push {
                for branch in branches.iter_mut() {
                    branch.impulse = [0.0; 6];
                }
            }
            factor(branches, tree.start);
            self.solve(branches, tree.start, if push { f64::from(sweep.bond.rate) } else { 0.0 });
        }
    }

    fn body(&self, mover: u32, sweep: &Sweep) -> Body {
        // SAFETY: the mover belongs to this tree or is not written.
        let (mover, frame) = unsafe { (self.movers.get(mover as usize), self.frames.get(mover as usize)) };
        let (axes, rest) = (&frame.axes.0, &frame.rest.0);
        let number = |x: f32| f64::from(x);
        let rotation = DMat3::from_cols(
            DVec3::new(number(axes[0]), number(axes[1]), number(axes[2])),
            DVec3::new(number(axes[3]), number(axes[4]), number(axes[5])),
            DVec3::new(number(axes[6]), number(axes[7]), number(rest[0])),
        );
        let root = frame.rest.vector(1);
        let spin =
            DMat3::from_cols(rotation.x_axis * root.x, rotation.y_axis * root.y, rotation.z_axis * root.z);
        let own = [frame.drive.vector(0), frame.drive.vector(4)];
        let elapsed = f64::from(sweep.elapsed);
        Body {
            scale: number(rest[4]),
            spin,
            moved: mover.shift.vector(0) * number(rest[4]) + own[0] * elapsed,
            turned: DQuat::from_scaled_axis(spin * mover.shift.vector(4) + own[1] * elapsed),
            omega: spin * mover.velocity.vector(4) + own[1],
            own,
        }
    }

    /// The rows of a joint where its bodies are now.
    ///
    /// Nothing that was done in the sub-step before is applied again: an exact solution needs no beginning.
    fn lay_rows(&self, branch: &mut Branch, push: bool, sweep: &Sweep) {
        let (child, above) = (self.body(branch.mover, sweep), self.body(branch.other, sweep));
        let [a, b] = if branch.child_is_a { [&child, &above] } else { [&above, &child] };
        let arms = [a.turned * branch.joint.arms[0], b.turned * branch.joint.arms[1]];
        let gap = branch.joint.apart + b.moved - a.moved + arms[1] - arms[0];
        // How anchors move over a sub-step is told by the arms in its middle.
        let half = if push { 0.5 / f64::from(sweep.rate) } else { 0.0 };
        let ahead = [0, 1].map(|k| DQuat::from_scaled_axis([a, b][k].omega * half) * arms[k] - arms[k]);
        let bend = b.omega.cross(ahead[1]) - a.omega.cross(ahead[0]);
        let axis = |side: usize, k: usize| [a, b][side].turned * branch.joint.axes[side].col(k);
        let mut laid = Laid { rows: 0, entries: [(DVec3::ZERO, [DVec3::ZERO; 2], 0.0); 6] };
        let locks = branch.locks;
        for k in (0..3).filter(|k| locks.bits() & (1 << k) != 0) {
            let d = if locks.has(Locks::POINT) { DVec3::AXES[k] } else { axis(0, k) };
            let reach = if locks.has(Locks::POINT) { arms[0] } else { arms[0] + gap };
            laid.push(d, [reach.cross(d), arms[1].cross(d)], d.dot(gap));
        }
        if locks.has(Locks::ROTATION) {
            let error = 0.5 * (0..3).map(|k| axis(0, k).cross(axis(1, k))).sum::<DVec3>();
            for d in DVec3::AXES {
                laid.push(DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::PARALLEL) {
            let error = axis(0, 2).cross(axis(1, 2));
            for d in [axis(0, 0), axis(0, 1)] {
                laid.push(DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::ACROSS) {
            let (z, x) = (axis(0, 2), axis(1, 0));
            laid.push(DVec3::ZERO, [x.cross(z); 2], z.dot(x));
        }
        branch.rows = laid.rows;
        for (k, (d, angular, error)) in laid.entries.iter().take(laid.rows).enumerate() {
            let row = |body: &Body, sign: f64, angular: DVec3| -> Six {
                let (linear, turning) = (*d * (sign * body.scale), body.spin.transpose() * angular * sign);
                [linear.x, linear.y, linear.z, turning.x, turning.y, turning.z]
            };
            let rows = [row(a, -1.0, angular[0]), row(b, 1.0, angular[1])];
            let child = usize::from(!branch.child_is_a);
            (branch.child[k], branch.above[k]) = (rows[child], rows[1 - child]);
            branch.error[k] = *error;
            branch.own[k] =
                d.dot(bend + b.own[0] - a.own[0]) + angular[1].dot(b.own[1]) - angular[0].dot(a.own[1]);
        }
    }

    fn velocity(&self, mover: u32) -> Six {
        // SAFETY: the mover belongs to this tree or is not written.
        let y = unsafe { &self.movers.get(mover as usize).velocity };
        let (v, w) = (y.vector(0), y.vector(4));
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// From the leaves up and from the root down.
    fn solve(&self, branches: &mut [Branch], start: usize, rate: f64) {
        for branch in branches.iter_mut() {
            branch.f = [0.0; 6];
        }
        for index in (0..branches.len()).rev() {
            let (below, from) = branches.split_at_mut(index);
            let branch = &mut from[0];
            if branch.bond == NONE {
                continue;
            }
            let (y, z) = (self.velocity(branch.mover), self.velocity(branch.other));
            for k in 0..branch.rows {
                let speed = dot(&branch.child[k], &y) + dot(&branch.above[k], &z) + branch.own[k];
                branch.q[k] = -(speed + rate * branch.error[k]) - dot(&branch.u[k], &branch.f);
            }
            if branch.parent != NONE {
                let parent = &mut below[branch.parent as usize - start];
                for k in 0..branch.rows {
                    let pull: f64 = (0..branch.rows).map(|l| branch.d[k][l] * branch.q[l]).sum();
                    add(&mut parent.f, &branch.above[k], pull);
                }
            }
        }
        for index in 0..branches.len() {
            let (below, from) = branches.split_at_mut(index);
            let branch = &mut from[0];
            let mut rest = branch.q;
            if branch.parent != NONE {
                let parent = &below[branch.parent as usize - start];
                for k in 0..branch.rows {
                    rest[k] -= dot(&branch.above[k], &parent.change);
                }
            }
            branch.change = std::array::from_fn(|i| dot(&branch.h[i], &branch.f));
            for k in 0..branch.rows {
                let impulse: f64 = (0..branch.rows).map(|l| branch.d[k][l] * rest[l]).sum();
                branch.impulse[k] += impulse;
                let u = branch.u[k];
                add(&mut branch.change, &u, impulse);
            }
            // SAFETY: the mover belongs to this tree.
            let (y, held) = unsafe {
                let place = branch.mover as usize;
                (&mut self.movers.get_mut(place).velocity.0, &mut self.held.get_mut(place).0)
            };
            for (place, change) in [0, 1, 2, 4, 5, 6].into_iter().zip(branch.change) {
                let before = y[place];
                y[place] += change as f32;
                held[place] += y[place] - before;
            }
        }
    }
}

/// Rows being laid: d, (a, b), error.
struct Laid {
    rows: usize,
    entries: [(DVec3, [DVec3; 2], f64); 6],
}

impl Laid {
    fn push(&mut self, d: DVec3, angular: [DVec3; 2], error: f64) {
        self.entries[self.rows] = (d, angular, error);
        self.rows += 1;
    }
}

fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut Six, what: &Six, times: f64) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += what * times;
    }
}

/// Prepares the matrices of a tree.
fn factor(branches: &mut [Branch], start: usize) {
    for branch in branches.iter_mut() {
        branch.h = std::array::from_fn(|i| std::array::from_fn(|k| f64::from(u8::from(i == k))));
    }
    for index in (0..branches.len()).rev() {
        let (below, from) = branches.split_at_mut(index);
        let branch = &mut from[0];
        branch.h = inverse(&branch.h, 6);
        for k in 0..branch.rows {
            branch.u[k] = std::array::from_fn(|i| dot(&branch.h[i], &branch.child[k]));
        }
        let mut d = [[0.0; 6]; 6];
        for k in 0..branch.rows {
            for l in 0..branch.rows {
                d[k][l] = dot(&branch.child[k], &branch.u[l]);
            }
        }
        branch.d = inverse(&d, branch.rows);
        if branch.parent == NONE {
            continue;
        }
        let parent = &mut below[branch.parent as usize - start];
        for k in 0..branch.rows {
            let mut row = [0.0; 6];
            for l in 0..branch.rows {
                add(&mut row, &branch.above[l], branch.d[k][l]);
            }
            for i in 0..6 {
                add(&mut parent.h[i], &row, branch.above[k][i]);
            }
        }
    }
}

/// Inverse of a symmetric positive matrix of n rows by Cholesky; rows that depend on others come out as zero.
fn inverse(m: &[Six; 6], n: usize) -> [Six; 6] {
    let mut l = [[0.0; 6]; 6];
    for i in 0..n {
        for k in 0..=i {
            let sum: f64 = (0..k).map(|j| l[i][j] * l[k][j]).sum();
            let rest = m[i][k] - sum;
            l[i][k] = if i == k {
                if rest > 1e-13 * m[i][i].abs() { rest.sqrt() } else { 0.0 }
            } else if l[k][k] > 0.0 {
                rest / l[k][k]
            } else {
                0.0
            };
        }
    }
    let mut out = [[0.0; 6]; 6];
    for column in 0..n {
        let mut x = [0.0; 6];
        for i in column..n {
            let sum: f64 = (column..i).map(|j| l[i][j] * x[j]).sum();
            let rest = f64::from(u8::from(i == column)) - sum;
            x[i] = if l[i][i] > 0.0 { rest / l[i][i] } else { 0.0 };
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|j| l[j][i] * x[j]).sum();
            x[i] = if l[i][i] > 0.0 { (x[i] - sum) / l[i][i] } else { 0.0 };
        }
        for i in 0..n {
            out[i][column] = x[i];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_one() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / f64::from(u32::MAX) - 0.25
        };
        for n in 1..=6 {
            let a: [Six; 6] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            let mut m = [[0.0; 6]; 6];
            for i in 0..n {
                for k in 0..n {
                    m[i][k] = dot(&a[i], &a[k]) + if i == k { 0.1 } else { 0.0 };
                }
            }
            let inverted = inverse(&m, n);
            for i in 0..n {
                for k in 0..n {
                    let product: f64 = (0..n).map(|j| m[i][j] * inverted[j][k]).sum();
                    assert!((product - f64::from(u8::from(i == k))).abs() < 1e-9);
                }
            }
        }
    }
}
