//! Exact solution of trees of joints in linear time: for long chains and large mass ratios, where iterative
//! sweeps converge slowly.
//!
//! In solver coordinates the mass matrix is the identity, so the impulses λ of all locked axes satisfy J Jᵀ λ
//! = r with r = −(J y + rate·C), and Δy = Jᵀ λ. In a tree of bodies each body except the root has one joint
//! to its parent, with rows J (child) and P (parent), and block elimination from the leaves to the root
//! causes no fill-in. With H Δy = f + Jᵀ λ for a body whose children are eliminated (H = 1, f = 0 for a
//! leaf):
//!
//!   U = H⁻¹ Jᵀ,  D = J U,  q = r − Uᵀ f,  λ = D⁻¹ (q − P Δy_parent),
//!   H_parent += Pᵀ D⁻¹ P,  f_parent += Pᵀ D⁻¹ q,
//!
//! and from the root to the leaves Δy = H⁻¹ f + U λ. The cost is proportional to the number of joints. This
//! is the sparse factorisation of Baraff (1996, Linear-time dynamics using Lagrange multipliers), equivalent
//! to articulated-body recursions (Featherstone 2008). One-sided and soft rows of trees that are not too large are solved with the response
//! of the tree (`joint_tree_rows`); those of larger ones, and joints that close a loop, are left to the sweeps.

use super::contact_block::SweepParameters;
use super::joint_constraint::{JointConstraint, JointContext, JointSide};
use super::joint_tree_rows::{RowSystem, TreeRow};
use super::sim_bodies::NONE;
use super::solver_body::{BODY_LANES, BodyRow, SolverBody, SolverFrame};
use super::tuning::{
    JOINT_CORRECTION_FACTOR, MAX_TREE_ROW_LINKS, MIN_LINKS_PER_THREAD, TREE_JOINTS_PER_LOOP,
};
use crate::joint::{Locks, Rows};
use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::team::{Shared, Worker, each};
use std::ops::Range;

pub(super) type Vec6 = [f64; 6];

/// A body of a tree, and the joint to its parent.
#[derive(Clone, Debug)]
pub(super) struct TreeLink {
    pub body: u32,
    /// Index of its parent among the links, or [`NONE`] if the parent is immovable or there is none.
    pub parent: u32,
    /// Index of the joint to the parent; [`NONE`] for the root of a floating tree.
    joint: u32,
    locks: Locks,
    /// Solver body of the parent's side of the joint.
    parent_body: u32,
    /// Whether the child is body A of the joint.
    child_is_a: bool,
    geometry: TreeJointGeometry,
    pub rows: usize,
    /// Rows of child and parent; position error; velocity of kinematic bodies along the rows; accumulated
    /// impulse.
    child_rows: [Vec6; 6],
    pub parent_rows: [Vec6; 6],
    error: Vec6,
    kinematic_rate: Vec6,
    impulse: Vec6,
    /// H⁻¹, U, D⁻¹, f, q and Δy of the derivation above.
    pub h: [Vec6; 6],
    pub u: [Vec6; 6],
    pub d: [Vec6; 6],
    pub f: Vec6,
    pub q: Vec6,
    delta: Vec6,
}

impl TreeLink {
    /// Shortens the offset of the anchors that one sub-step corrects to the speed that iteratively solved joints
    /// may correct with: an offset from an impact would otherwise be removed at hundreds of metres per second.
    fn limit_error(&mut self, parameters: &SweepParameters) {
        let linear = (self.locks.bits() & 0b111).count_ones() as usize;
        let offset = self.error[..linear].iter().map(|error| error * error).sum::<f64>().sqrt();
        let speed = offset * f64::from(parameters.joint.bias_rate);
        let max_speed = f64::from(JOINT_CORRECTION_FACTOR * parameters.push_speed);
        if speed > max_speed {
            self.error[..linear].iter_mut().for_each(|error| *error *= max_speed / speed);
        }
    }
}

/// Geometry of a joint at the beginning of the step, in world axes.
#[derive(Clone, Copy, Debug, Default)]
struct TreeJointGeometry {
    arms: [DVec3; 2],
    offset: DVec3,
    axes: [DMat3; 2],
}

/// Which trees are solved exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeSizes {
    /// Smallest number of joints.
    pub least: usize,
    /// Number of joints below which a tree must contain every joint of its bodies: no loops and no couplings between axes, which the sweeps would
    /// solve against it.
    pub whole: usize,
}

/// How much of a joint its tree solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeShare {
    /// The joint is in no tree.
    Nothing,
    /// Its locked axes.
    Locks,
    /// Its locked axes and all other rows.
    Everything,
}

/// All trees of a solver.
#[derive(Debug, Default)]
pub(super) struct JointTrees {
    /// Links, tree by tree, parents before children.
    links: Vec<TreeLink>,
    ranges: Vec<Range<usize>>,
    /// By solver body: its link.
    link_of: Vec<u32>,
    /// Joints by solver body: start of each list, and the lists.
    starts: Vec<u32>,
    lists: Vec<u32>,
    /// Rows besides the locked axes, tree by tree, their responses A j by link, and memory for the rows of one joint.
    rows: Vec<TreeRow>,
    row_ranges: Vec<Range<usize>>,
    responses: Vec<Vec6>,
    systems: Vec<RowSystem>,
    scratch: Rows,
}

impl JointTrees {
    /// (joints with their solver bodies, all joints, number of solver bodies, sizes of trees) ⇒ trees; marks the joints that they solve.
    pub fn build(
        &mut self,
        edges: &[(u32, [u32; 2])],
        all: &[JointConstraint],
        solver_bodies: usize,
        first_movable: u32,
        sizes: TreeSizes,
        in_tree: &mut Vec<TreeShare>,
    ) {
        in_tree.clear();
        in_tree.resize(edges.len(), TreeShare::Nothing);
        self.links.clear();
        self.ranges.clear();
        if edges.len() < sizes.least {
            return;
        }
        self.list_joints(edges, solver_bodies, first_movable);
        self.link_of.clear();
        self.link_of.resize(solver_bodies, NONE);
        // Trees start at joints to immovable bodies, then anywhere.
        for (index, (_, sides)) in edges.iter().enumerate() {
            let free = sides.map(|body| body >= first_movable);
            if free[0] != free[1] && all[edges[index].0 as usize].locks != Locks::NONE {
                let child = usize::from(free[1]);
                self.build_tree(
                    edges,
                    all,
                    first_movable,
                    sizes,
                    in_tree,
                    sides[child],
                    Some((index, child)),
                );
            }
        }
        for body in first_movable as usize..solver_bodies {
            if self.starts[body] != self.starts[body + 1] {
                self.build_tree(edges, all, first_movable, sizes, in_tree, body as u32, None);
            }
        }
    }

    /// Lists the joints of each solver body.
    fn list_joints(&mut self, edges: &[(u32, [u32; 2])], solver_bodies: usize, first_movable: u32) {
        self.starts.clear();
        self.starts.resize(solver_bodies + 2, 0);
        let sides =
            || edges.iter().enumerate().flat_map(|(index, (_, sides))| sides.map(|side| (index, side)));
        for (_, side) in sides().filter(|(_, side)| *side >= first_movable) {
            self.starts[side as usize + 2] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.lists.clear();
        self.lists.resize(self.starts[solver_bodies + 1] as usize, 0);
        for (index, side) in sides().filter(|(_, side)| *side >= first_movable) {
            let end = &mut self.starts[side as usize + 1];
            self.lists[*end as usize] = index as u32;
            *end += 1;
        }
    }

    /// Builds the tree that contains a body, breadth first, unless the body is in a tree already.
    #[allow(clippy::too_many_arguments)]
    fn build_tree(
        &mut self,
        edges: &[(u32, [u32; 2])],
        all: &[JointConstraint],
        first_movable: u32,
        sizes: TreeSizes,
        in_tree: &mut [TreeShare],
        root: u32,
        root_joint: Option<(usize, usize)>,
    ) {
        if self.link_of[root as usize] != NONE {
            return;
        }
        let start = self.links.len();
        self.add_link(edges, all, root, NONE, root_joint);
        let (mut next, mut visited, mut couplings) = (start, 0_usize, 0_usize);
        while next < self.links.len() {
            let body = self.links[next].body;
            let range = self.starts[body as usize] as usize..self.starts[body as usize + 1] as usize;
            for entry in range {
                let index = self.lists[entry] as usize;
                let (joint, sides) = edges[index];
                if all[joint as usize].locks == Locks::NONE {
                    couplings += 1;
                    continue;
                }
                visited += 1;
                let child = usize::from(sides[0] == body);
                if sides[child] >= first_movable && self.link_of[sides[child] as usize] == NONE {
                    self.add_link(edges, all, sides[child], next as u32, Some((index, child)));
                }
            }
            next += 1;
        }
        let tree = start..self.links.len();
        // Every joint between movable bodies was visited from both sides, joints to immovable ones once.
        let loops = visited.saturating_sub(2 * (tree.len() - 1)) / 2;
        let joints = tree.len() - usize::from(root_joint.is_none());
        let is_whole = couplings == 0 && visited == 2 * (tree.len() - 1) + usize::from(root_joint.is_some());
        if joints < sizes.least
            || loops * TREE_JOINTS_PER_LOOP > joints
            || (joints < sizes.whole && !is_whole)
        {
            self.links.truncate(start);
            return;
        }
        let share = if tree.len() <= MAX_TREE_ROW_LINKS { TreeShare::Everything } else { TreeShare::Locks };
        for link in &self.links[tree.clone()] {
            if link.joint != NONE {
                in_tree[link.joint as usize] = share;
            }
        }
        self.ranges.push(tree);
    }

    /// Adds a body to the tree under construction.
    fn add_link(
        &mut self,
        edges: &[(u32, [u32; 2])],
        all: &[JointConstraint],
        body: u32,
        parent: u32,
        joint: Option<(usize, usize)>,
    ) {
        self.link_of[body as usize] = self.links.len() as u32;
        self.links.push(TreeLink {
            body,
            parent,
            joint: joint.map_or(NONE, |(index, _)| index as u32),
            locks: joint.map_or(Locks::NONE, |(index, _)| all[edges[index].0 as usize].locks),
            parent_body: joint.map_or(0, |(index, child)| edges[index].1[1 - child]),
            child_is_a: joint.is_some_and(|(_, child)| child == 0),
            geometry: TreeJointGeometry::default(),
            rows: 0,
            child_rows: [[0.0; 6]; 6],
            parent_rows: [[0.0; 6]; 6],
            error: [0.0; 6],
            kinematic_rate: [0.0; 6],
            impulse: [0.0; 6],
            h: [[0.0; 6]; 6],
            u: [[0.0; 6]; 6],
            d: [[0.0; 6]; 6],
            f: [0.0; 6],
            q: [0.0; 6],
            delta: [0.0; 6],
        });
    }

    /// Updates the geometry of the joints at the beginning of a step.
    pub fn update_geometry(
        &mut self,
        edges: &[(u32, [u32; 2])],
        all: &[JointConstraint],
        context: &JointContext<'_>,
        threads: usize,
    ) {
        each(threads.min(1 + self.links.len() / MIN_LINKS_PER_THREAD), &mut self.links, |_, link| {
            if link.joint == NONE {
                return;
            }
            let joint = &all[edges[link.joint as usize].0 as usize];
            let (Some(a), Some(b)) = (context.side(joint, 0), context.side(joint, 1)) else { return };
            let turned = |side: &JointSide<'_>| DMat3::from_quat(side.rotation);
            link.geometry = TreeJointGeometry {
                arms: [turned(&a) * a.arm, turned(&b) * b.arm],
                offset: b.origin - a.origin,
                axes: [turned(&a) * a.axes, turned(&b) * b.axes],
            };
            link.impulse = [0.0; 6];
        });
    }

    /// Computes the rows besides the locked axes at the beginning of a step.
    pub fn fill_rows(
        &mut self,
        edges: &[(u32, [u32; 2])],
        all: &[JointConstraint],
        context: &JointContext<'_>,
    ) {
        let Self { links, ranges, rows, row_ranges, responses, systems, scratch, .. } = self;
        rows.clear();
        row_ranges.clear();
        let mut response = 0;
        for tree in ranges.iter() {
            let first = rows.len();
            let small = tree.len() <= MAX_TREE_ROW_LINKS;
            for (index, link) in
                links[tree.clone()].iter().enumerate().filter(|(_, link)| small && link.joint != NONE)
            {
                let joint = &all[edges[link.joint as usize].0 as usize];
                let parent = if link.parent == NONE { NONE } else { link.parent - tree.start as u32 };
                let (child, own) = (index as u32, usize::from(!link.child_is_a));
                let sides = if own == 0 { [child, parent] } else { [parent, child] };
                context.rows_of(joint, scratch, |_, row| {
                    rows.push(TreeRow::new(link.joint, sides, row, response));
                    response += tree.len();
                });
            }
            row_ranges.push(first..rows.len());
        }
        responses.resize(response, [0.0; 6]);
        if systems.len() < ranges.len() {
            systems.resize_with(ranges.len(), RowSystem::default);
        }
    }

    /// Stores the impulses in the form that the blocks use: of the anchors and of the rotation, in world
    /// axes.
    pub fn store_impulses(&self, edges: &[(u32, [u32; 2])], all: &mut [JointConstraint]) {
        for link in self.links.iter().filter(|link| link.joint != NONE) {
            let joint = &mut all[edges[link.joint as usize].0 as usize];
            (joint.linear, joint.angular) = (glam::Vec3::ZERO, glam::Vec3::ZERO);
            let linear = (link.locks.bits() & 0b111).count_ones() as usize;
            for k in 0..link.rows {
                let (vector, axis) =
                    if k < linear { (&mut joint.linear, k) } else { (&mut joint.angular, k - linear) };
                vector[axis] = link.impulse[k] as f32;
            }
        }
        let mut last = NONE;
        for row in &self.rows {
            let Some(impulses) = &mut all[edges[row.edge as usize].0 as usize].rows else { continue };
            if row.edge != last {
                impulses.fill(0.0);
                last = row.edge;
            }
            if let Some(impulse) = impulses.get_mut(row.key as usize) {
                *impulse = row.impulse as f32;
            }
        }
    }

    /// The trees as seen by every worker thread during a step.
    pub fn pass<'s>(
        &'s mut self,
        solver_bodies: Shared<'s, SolverBody>,
        frames: Shared<'s, SolverFrame>,
        joint_changes: Shared<'s, BodyRow>,
    ) -> TreePass<'s> {
        TreePass {
            solver_bodies,
            frames,
            joint_changes,
            links: Shared::new(&mut self.links),
            trees: &self.ranges,
            rows: Shared::new(&mut self.rows),
            row_ranges: &self.row_ranges,
            responses: Shared::new(&mut self.responses),
            systems: Shared::new(&mut self.systems),
        }
    }
}

/// The trees during a step.
pub(super) struct TreePass<'s> {
    pub solver_bodies: Shared<'s, SolverBody>,
    frames: Shared<'s, SolverFrame>,
    /// By solver body: velocity change by joints in the present sub-step.
    pub joint_changes: Shared<'s, BodyRow>,
    links: Shared<'s, TreeLink>,
    trees: &'s [Range<usize>],
    rows: Shared<'s, TreeRow>,
    row_ranges: &'s [Range<usize>],
    pub responses: Shared<'s, Vec6>,
    systems: Shared<'s, RowSystem>,
}

/// State of a body within a step, in double precision.
pub(super) struct TreeBody {
    inverse_sqrt_mass: f64,
    /// Columns of R diag(1/√I).
    spin: DMat3,
    moved: DVec3,
    /// Rotation since the beginning of the step.
    pub turned: DQuat,
    kinematic: [DVec3; 2],
    omega: DVec3,
}

impl TreeBody {
    /// Row of velocity constraints: sign (d·v + a·ω) in the coordinates of the body.
    pub fn row(&self, sign: f64, d: DVec3, a: DVec3) -> Vec6 {
        let (linear, angular) = (d * (sign * self.inverse_sqrt_mass), self.spin.transpose() * a * sign);
        [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    }
}

#[allow(unsafe_code)]
impl TreePass<'_> {
    /// Solves all trees exactly for the present velocities, with the bias that corrects drift (`biased`) or
    /// without.
    pub fn sweep(&self, worker: &Worker<'_>, biased: bool, parameters: &SweepParameters) {
        worker.stage(0..self.trees.len(), 1, |trees| {
            trees.for_each(|index| self.sweep_tree(index, biased, parameters));
        });
    }

    /// Solves a tree: starts from the impulses of the last sub-step, then locked axes, then all other rows.
    fn sweep_tree(&self, index: usize, biased: bool, parameters: &SweepParameters) {
        let (tree, rows) = (self.trees[index].clone(), self.row_ranges[index].clone());
        // SAFETY: a tree, its rows, and the solver bodies in it, belong to one thread.
        let (links, rows, system): (&mut [TreeLink], &mut [TreeRow], &mut RowSystem) = unsafe {
            (self.links.range_mut(tree.clone()), self.rows.range_mut(rows), self.systems.get_mut(index))
        };
        for link in links.iter_mut() {
            if link.joint != NONE {
                self.compute_rows(link, biased, parameters);
            }
        }
        if biased {
            for link in links.iter_mut() {
                link.impulse = [0.0; 6];
            }
        }
        factor(links, tree.start);
        if biased {
            for link in links.iter_mut() {
                link.limit_error(parameters);
            }
        }
        self.follow(links, rows, parameters);
        if biased {
            self.start_rows(links, rows, tree.start);
        }
        let rate = if biased { f64::from(parameters.joint.bias_rate) } else { 0.0 };
        self.solve(links, tree.start, rate);
        if self.solve_rows(links, rows, system, tree.start, biased, parameters) {
            // Responses are those of an earlier sweep: what they changed along the locked axes is removed.
            self.solve(links, tree.start, rate);
        }
    }

    /// Present state of a solver body.
    pub fn body(&self, body: u32, parameters: &SweepParameters) -> TreeBody {
        // SAFETY: the solver body belongs to this tree or is not written.
        let (solver_body, frame) =
            unsafe { (self.solver_bodies.get(body as usize), self.frames.get(body as usize)) };
        let (rotation, root) = (frame.rotation(), frame.inverse_sqrt_inertia());
        let spin =
            DMat3::from_cols(rotation.x_axis * root.x, rotation.y_axis * root.y, rotation.z_axis * root.z);
        let kinematic = [frame.surface_velocity.linear(), frame.surface_velocity.angular()];
        let elapsed = f64::from(parameters.elapsed);
        TreeBody {
            inverse_sqrt_mass: frame.inverse_sqrt_mass(),
            spin,
            moved: solver_body.shift.linear() * frame.inverse_sqrt_mass() + kinematic[0] * elapsed,
            turned: DQuat::from_scaled_axis(spin * solver_body.shift.angular() + kinematic[1] * elapsed),
            omega: spin * solver_body.velocity.angular() + kinematic[1],
            kinematic,
        }
    }

    /// Computes the rows of a joint at the present poses of its bodies.
    ///
    /// Impulses of the last sub-step are not applied again: an exact solution needs no warm start.
    fn compute_rows(&self, link: &mut TreeLink, biased: bool, parameters: &SweepParameters) {
        let (child, parent) = (self.body(link.body, parameters), self.body(link.parent_body, parameters));
        let [a, b] = if link.child_is_a { [&child, &parent] } else { [&parent, &child] };
        let arms = [a.turned * link.geometry.arms[0], b.turned * link.geometry.arms[1]];
        let gap = link.geometry.offset + b.moved - a.moved + arms[1] - arms[0];
        // The displacement of the anchors over a sub-step follows from the arms at its middle.
        let half = if biased { 0.5 / f64::from(parameters.substep_rate) } else { 0.0 };
        let ahead = [0, 1].map(|k| DQuat::from_scaled_axis([a, b][k].omega * half) * arms[k] - arms[k]);
        let arm_rotation_rate = b.omega.cross(ahead[1]) - a.omega.cross(ahead[0]);
        let axis = |side: usize, k: usize| [a, b][side].turned * link.geometry.axes[side].col(k);
        let mut lock_rows = LockRows { rows: 0, entries: [(DVec3::ZERO, [DVec3::ZERO; 2], 0.0); 6] };
        let locks = link.locks;
        for k in (0..3).filter(|k| locks.bits() & (1 << k) != 0) {
            let d = if locks.has(Locks::POINT) { DVec3::AXES[k] } else { axis(0, k) };
            let reach = if locks.has(Locks::POINT) { arms[0] } else { arms[0] + gap };
            lock_rows.push(d, [reach.cross(d), arms[1].cross(d)], d.dot(gap));
        }
        if locks.has(Locks::ROTATION) {
            let error = 0.5 * (0..3).map(|k| axis(0, k).cross(axis(1, k))).sum::<DVec3>();
            for d in DVec3::AXES {
                lock_rows.push(DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::PARALLEL) {
            let error = axis(0, 2).cross(axis(1, 2));
            for d in [axis(0, 0), axis(0, 1)] {
                lock_rows.push(DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::PERPENDICULAR) {
            let (z, x) = (axis(0, 2), axis(1, 0));
            lock_rows.push(DVec3::ZERO, [x.cross(z); 2], z.dot(x));
        }
        link.rows = lock_rows.rows;
        for (k, (d, angular, error)) in lock_rows.entries.iter().take(lock_rows.rows).enumerate() {
            let rows = [a.row(-1.0, *d, angular[0]), b.row(1.0, *d, angular[1])];
            let child = usize::from(!link.child_is_a);
            (link.child_rows[k], link.parent_rows[k]) = (rows[child], rows[1 - child]);
            link.error[k] = *error;
            link.kinematic_rate[k] = d.dot(arm_rotation_rate + b.kinematic[0] - a.kinematic[0])
                + angular[1].dot(b.kinematic[1])
                - angular[0].dot(a.kinematic[1]);
        }
    }

    /// Velocity y of a solver body.
    pub fn velocity(&self, body: u32) -> Vec6 {
        // SAFETY: the solver body belongs to this tree or is not written.
        let y = unsafe { &self.solver_bodies.get(body as usize).velocity };
        let (v, w) = (y.linear(), y.angular());
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// Forward elimination from the leaves to the root, back substitution from the root to the leaves.
    fn solve(&self, links: &mut [TreeLink], start: usize, rate: f64) {
        for link in links.iter_mut() {
            link.f = [0.0; 6];
        }
        for index in (0..links.len()).rev() {
            let (below, from) = links.split_at_mut(index);
            let link = &mut from[0];
            if link.joint == NONE {
                continue;
            }
            let (y, z) = (self.velocity(link.body), self.velocity(link.parent_body));
            for k in 0..link.rows {
                let speed =
                    dot(&link.child_rows[k], &y) + dot(&link.parent_rows[k], &z) + link.kinematic_rate[k];
                link.q[k] = -(speed + rate * link.error[k]) - dot(&link.u[k], &link.f);
            }
            if link.parent != NONE {
                let parent = &mut below[link.parent as usize - start];
                for k in 0..link.rows {
                    let load: f64 = (0..link.rows).map(|l| link.d[k][l] * link.q[l]).sum();
                    add(&mut parent.f, &link.parent_rows[k], load);
                }
            }
        }
        for index in 0..links.len() {
            let (below, from) = links.split_at_mut(index);
            let link = &mut from[0];
            let mut rest = link.q;
            if link.parent != NONE {
                let parent = &below[link.parent as usize - start];
                for k in 0..link.rows {
                    rest[k] -= dot(&link.parent_rows[k], &parent.delta);
                }
            }
            link.delta = std::array::from_fn(|i| dot(&link.h[i], &link.f));
            for k in 0..link.rows {
                let impulse: f64 = (0..link.rows).map(|l| link.d[k][l] * rest[l]).sum();
                link.impulse[k] += impulse;
                let u = link.u[k];
                add(&mut link.delta, &u, impulse);
            }
            self.change_velocity(link.body, &link.delta);
        }
    }

    /// Adds to the velocity y of a solver body of the tree.
    pub fn change_velocity(&self, body: u32, delta: &Vec6) {
        let index = body as usize;
        // SAFETY: the solver body belongs to this tree.
        let (y, joint_changes) = unsafe {
            (
                self.solver_bodies.get_mut(index).velocity.lanes_mut(),
                self.joint_changes.get_mut(index).lanes_mut(),
            )
        };
        for (lane, delta) in BODY_LANES.into_iter().zip(delta) {
            let before = y[lane];
            y[lane] += *delta as f32;
            joint_changes[lane] += y[lane] - before;
        }
    }
}

/// Rows of the locked axes of a joint: d, (a, b), error.
struct LockRows {
    rows: usize,
    entries: [(DVec3, [DVec3; 2], f64); 6],
}

impl LockRows {
    fn push(&mut self, d: DVec3, angular: [DVec3; 2], error: f64) {
        self.entries[self.rows] = (d, angular, error);
        self.rows += 1;
    }
}

pub(super) fn dot(a: &Vec6, b: &Vec6) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// to += times · what.
pub(super) fn add(to: &mut Vec6, what: &Vec6, times: f64) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += what * times;
    }
}

/// Computes H⁻¹, U and D⁻¹ of a tree.
fn factor(links: &mut [TreeLink], start: usize) {
    for link in links.iter_mut() {
        link.h = std::array::from_fn(|i| std::array::from_fn(|k| f64::from(u8::from(i == k))));
    }
    for index in (0..links.len()).rev() {
        let (below, from) = links.split_at_mut(index);
        let link = &mut from[0];
        link.h = inverse(&link.h, 6);
        for k in 0..link.rows {
            link.u[k] = std::array::from_fn(|i| dot(&link.h[i], &link.child_rows[k]));
        }
        let mut d = [[0.0; 6]; 6];
        for k in 0..link.rows {
            for l in 0..link.rows {
                d[k][l] = dot(&link.child_rows[k], &link.u[l]);
            }
        }
        link.d = inverse(&d, link.rows);
        if link.parent == NONE {
            continue;
        }
        let parent = &mut below[link.parent as usize - start];
        for k in 0..link.rows {
            let mut row = [0.0; 6];
            for l in 0..link.rows {
                add(&mut row, &link.parent_rows[l], link.d[k][l]);
            }
            for i in 0..6 {
                add(&mut parent.h[i], &row, link.parent_rows[k][i]);
            }
        }
    }
}

/// Inverse of the leading n×n block of a symmetric positive semidefinite matrix by Cholesky factorisation;
/// linearly dependent rows give zero.
fn inverse(m: &[Vec6; 6], n: usize) -> [Vec6; 6] {
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
            let a: [Vec6; 6] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
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
