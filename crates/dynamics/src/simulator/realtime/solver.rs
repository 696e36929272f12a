//! Sub-stepping solver: kick, solve, integrate, relax.
//!
//! In each sub-step h: y += h ẏ_free; the impulses of the last sub-step are applied again (warm start); one
//! sweep over all rows corrects position errors by soft constraints; ∫y dt grows by h y; one sweep without
//! bias removes the velocity that the correction added. Small steps instead of many iterations: Macklin et
//! al. 2019; soft constraints with relaxation: Catto 2024 (Solver2D). The order of kick and drift is
//! semi-implicit Euler.
//!
//! Warm starting within a step needs no sweep of its own: rows do not change over a step, so the effect of
//! the accumulated impulses on a body, Σ j λ, is the sum of what all sweeps of the step so far did to it.
//! Hence W ← y − y_kicked at the end of each sub-step, and y ← y_kicked + W at the beginning of the next.
//!
//! # Graph colouring
//!
//! Two constraints may be solved at the same time if they share no body that impulses change. With bodies as
//! vertices and constraints as edges this is an edge colouring; constraints of one colour run in parallel,
//! eight to a block. The colouring is greedy: each body has a bit mask of the colours at it, and a constraint
//! takes the lowest colour free at both of its bodies. A greedy edge colouring of a graph of maximum degree Δ
//! needs at most 2Δ − 1 colours; constraints that find none of the [`COLORS`] colours free go to the
//! overflow, which is solved sequentially. Static and kinematic bodies are only read and are ignored. The
//! order of constraints, and with it the result, does not depend on the number of threads.

use super::contact_block::{ContactBlock, PointRows, RollingRows, SurfaceVelocity, SweepParameters};
use super::contact_kernel::{ContactArena, ContactTask, ManifoldBodies, run_task};
use super::gyroscopic::GyroscopicBody;
use super::joint_graph::{JointGraph, JointPass};
use super::joint_kernel::JointTask;
use super::lanes::{LANES, has_avx2};
use super::manifold_constraint::ManifoldConstraint;
use super::solver_body::{BodyRow, Kick, SolverBody, SolverFrame};
use super::tuning::{COLORS, MIN_BLOCKS_PER_THREAD, MIN_BODIES_PER_THREAD};
use super::work::BodyWork;
use glam::DVec3;
use rattleback_numerics::team::{Shared, Worker, together};
use std::ops::Range;

/// Pointer to a manifold of the contact graph, valid during one step.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct ManifoldPointer(pub *mut ManifoldConstraint);

// SAFETY: pointers are dereferenced only during the step in which they were taken, each by one thread.
#[allow(unsafe_code)]
unsafe impl Send for ManifoldPointer {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for ManifoldPointer {}

/// Properties of a manifold that the blocks need: read while it is in the cache, since manifolds are
/// scattered in memory.
#[derive(Clone, Copy, Debug)]
struct ManifoldInfo {
    /// Number of points, 1 to 4.
    points: u8,
    /// Several points, and no impulse yet: the bodies land on each other in this step.
    landing: bool,
    /// No impulse yet (cold start).
    cold: bool,
    rolls: bool,
}

impl ManifoldInfo {
    fn of(manifold: &ManifoldConstraint) -> Self {
        let points = manifold.points();
        let cold = points.iter().all(|point| point.impulse() == 0.0);
        Self {
            points: points.len().clamp(1, 4) as u8,
            landing: points.len() > 1 && cold,
            cold,
            rolls: manifold.rolling_lever() > 0.0,
        }
    }
}

/// Solver with its buffers, which are reused in every step.
#[derive(Debug, Default)]
pub(super) struct SubstepSolver {
    solver_bodies: Vec<SolverBody>,
    frames: Vec<SolverFrame>,
    /// By solver body: the kick of a sub-step.
    kicks: Vec<Kick>,
    /// By solver body: y after the kick of the present sub-step.
    kicked: Vec<BodyRow>,
    /// By solver body: velocity change by joints in the present sub-step; empty without joints.
    joint_changes: Vec<BodyRow>,
    manifold_bodies: Vec<ManifoldBodies>,
    unsorted_manifolds: Vec<ManifoldPointer>,
    sorted: Vec<u32>,
    manifolds: Vec<ManifoldPointer>,
    blocks: Vec<ContactBlock>,
    points: Vec<PointRows>,
    rolling: Vec<RollingRows>,
    surface_velocities: Vec<SurfaceVelocity>,
    /// Solver bodies below this index are not changed by impulses (static and kinematic).
    first_movable: u32,
    masks: Vec<u64>,
    /// By solver body: index of the last of its manifolds.
    last_manifold: Vec<u32>,
    /// By manifold: properties that the blocks need.
    infos: Vec<ManifoldInfo>,
    keys: Vec<u16>,
    /// Blocks of each colour, and the overflow blocks that are solved sequentially.
    colors: Vec<Range<usize>>,
    overflow: Range<usize>,
    /// By solver body: work done on it; empty unless an energy ledger is open.
    works: Vec<BodyWork>,
    pub records_work: bool,
    pub joints: JointGraph,
    pub gyroscopic: Vec<GyroscopicBody>,
}

/// Sub-steps and parameters of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubstepPlan {
    pub substeps: usize,
    pub h: f32,
    pub parameters: SweepParameters,
    pub threads: usize,
}

impl SubstepSolver {
    /// Begins a step with the static body (index 0) only.
    pub fn clear(&mut self) {
        self.manifold_bodies.clear();
        self.joints.clear();
        self.gyroscopic.clear();
        self.works.clear();
        self.unsorted_manifolds.clear();
        self.infos.clear();
        self.solver_bodies.clear();
        self.frames.clear();
        self.kicks.clear();
        self.add_body(SolverBody::default(), SolverFrame::fixed(), Kick::default());
    }

    /// (body, its frame, kick of a sub-step) ⇒ its index.
    pub fn add_body(&mut self, solver_body: SolverBody, frame: SolverFrame, kick: Kick) -> u32 {
        self.solver_bodies.push(solver_body);
        self.frames.push(frame);
        self.kicks.push(kick);
        (self.solver_bodies.len() - 1) as u32
    }

    /// All bodies, frames and kicks, to be filled in parallel.
    pub fn buffers(&mut self) -> (Shared<'_, SolverBody>, Shared<'_, SolverFrame>, Shared<'_, Kick>) {
        (Shared::new(&mut self.solver_bodies), Shared::new(&mut self.frames), Shared::new(&mut self.kicks))
    }

    /// Bodies added from now on are changed by impulses.
    pub fn begin_movable(&mut self) {
        self.first_movable = self.solver_bodies.len() as u32;
    }

    pub const fn first_movable(&self) -> u32 {
        self.first_movable
    }

    pub fn body_count(&self) -> usize {
        self.solver_bodies.len()
    }

    pub fn movable_count(&self) -> usize {
        self.solver_bodies.len() - self.first_movable as usize
    }

    /// Index ⇒ kick of a sub-step.
    pub fn kick_of(&self, body: u32) -> &Kick {
        &self.kicks[body as usize]
    }

    /// Index ⇒ work of contacts and joints on the body, if an energy ledger is open.
    pub fn work(&self, body: u32) -> Option<&BodyWork> {
        self.works.get(body as usize)
    }

    /// Index ⇒ the body after the step.
    pub fn body_and_frame(&self, body: u32) -> (&SolverBody, &SolverFrame) {
        (&self.solver_bodies[body as usize], &self.frames[body as usize])
    }

    /// Index ⇒ normal of the only manifold of a body, and whether that had no impulse before the step; `None`
    /// if it has several.
    #[allow(unsafe_code)]
    pub fn single_manifold_normal(&self, body: u32) -> Option<(DVec3, bool)> {
        if self.masks.get(body as usize)?.count_ones() != 1 {
            return None;
        }
        let index = self.last_manifold[body as usize] as usize;
        // SAFETY: manifolds are neither moved nor, after the sweeps, written during a step.
        let normal = unsafe { (*self.unsorted_manifolds[index].0).normal() };
        let frame = &self.frames[self.manifold_bodies[index].a as usize];
        Some(((frame.rotation() * normal).normalize_or_zero(), self.infos[index].cold))
    }

    /// Adds a manifold, with the slots of its bodies.
    pub fn add_manifold(&mut self, link: ManifoldBodies, manifold: &mut ManifoldConstraint) {
        self.manifold_bodies.push(link);
        self.infos.push(ManifoldInfo::of(manifold));
        self.unsorted_manifolds.push(ManifoldPointer(std::ptr::from_mut(manifold)));
    }

    /// Multiplies the impulses of all manifolds, for sub-steps of another length.
    #[allow(unsafe_code)]
    pub fn scale_impulses(&mut self, factor: f32) {
        for manifold in &self.unsorted_manifolds {
            // SAFETY: every manifold was added once, and is not moved during a step.
            unsafe { (*manifold.0).scale_impulses(factor) };
        }
    }

    pub fn manifold_bodies_mut(&mut self) -> &mut [ManifoldBodies] {
        &mut self.manifold_bodies
    }

    /// Colours the manifolds, and sorts them by colour and then by number of points.
    fn color_manifolds(&mut self, first_movable: u32) {
        self.masks.clear();
        self.masks.resize(self.solver_bodies.len(), 0);
        self.last_manifold.resize(self.solver_bodies.len(), 0);
        self.keys.clear();
        let mut counts = [0_u32; (COLORS + 1) * 4];
        for (manifold, (bodies, info)) in self.manifold_bodies.iter().zip(&self.infos).enumerate() {
            let used = |body: u32| if body >= first_movable { self.masks[body as usize] } else { 0 };
            let color = (!(used(bodies.a) | used(bodies.b))).trailing_zeros() as usize;
            if color < COLORS {
                for body in [bodies.a, bodies.b] {
                    self.masks[body as usize] |= 1 << color;
                    self.last_manifold[body as usize] = manifold as u32;
                }
            }
            let key = color * 4 + (4 - usize::from(info.points));
            counts[key] += 1;
            self.keys.push(key as u16);
        }
        let mut start = 0;
        for count in &mut counts {
            (*count, start) = (start, start + *count);
        }
        self.sorted.clear();
        self.sorted.resize(self.manifold_bodies.len(), 0);
        for (index, key) in self.keys.iter().enumerate() {
            let position = &mut counts[*key as usize];
            self.sorted[*position as usize] = index as u32;
            *position += 1;
        }
        // After this counting sort each count is the end of its bucket.
        self.build_blocks(first_movable, &std::array::from_fn(|color| counts[color * 4 + 3]));
    }

    /// Groups the manifolds of each colour into blocks; `ends` are the ends of the colours in `sorted`.
    fn build_blocks(&mut self, first_movable: u32, ends: &[u32; COLORS + 1]) {
        self.manifolds.clear();
        self.manifolds.extend(self.sorted.iter().map(|index| self.unsorted_manifolds[*index as usize]));
        self.blocks.clear();
        self.colors.clear();
        let (mut points, mut rolling, mut surface_velocities) = (0, 0, 0);
        let mut start = 0;
        for (color, end) in ends.iter().enumerate() {
            let first_block = self.blocks.len();
            let width = if color < COLORS { LANES } else { 1 };
            let mut first = start as usize;
            while first < *end as usize {
                let manifold_count = width.min(*end as usize - first);
                let mut block = ContactBlock::empty();
                block.first_manifold = first as u32;
                block.manifold_count = manifold_count as u32;
                let (mut max_points, mut rolls, mut has_kinematic) = (0, false, false);
                for lane in 0..manifold_count {
                    let bodies = &self.manifold_bodies[self.sorted[first + lane] as usize];
                    block.a[lane] = bodies.a;
                    block.b[lane] = bodies.b;
                    let info = self.infos[self.sorted[first + lane] as usize];
                    max_points = max_points.max(info.points.into());
                    block.landing |= info.landing;
                    rolls |= info.rolls;
                    has_kinematic |=
                        [bodies.a, bodies.b].iter().any(|body| (1..first_movable).contains(body));
                }
                (block.first_point, block.points) = (points, max_points);
                points += max_points;
                if rolls {
                    block.rolling = rolling;
                    rolling += 1;
                }
                if has_kinematic {
                    block.surface_velocity = surface_velocities;
                    surface_velocities += 1;
                }
                self.blocks.push(block);
                first += manifold_count;
            }
            start = *end;
            let blocks = first_block..self.blocks.len();
            if color == COLORS {
                self.overflow = blocks;
            } else if !blocks.is_empty() {
                self.colors.push(blocks);
            }
        }
        self.points.resize(points as usize, PointRows::default());
        self.rolling.resize(rolling as usize, RollingRows::default());
        self.surface_velocities.resize(surface_velocities as usize, SurfaceVelocity::default());
    }

    /// Integrates all solver bodies over the step.
    pub fn solve(&mut self, plan: &SubstepPlan) {
        if self.manifold_bodies.is_empty() && self.joints.is_empty() {
            return;
        }
        let plan = &SubstepPlan {
            parameters: SweepParameters { first_movable: self.first_movable, ..plan.parameters },
            ..*plan
        };
        self.color_manifolds(self.first_movable);
        self.kicked.resize(self.solver_bodies.len(), BodyRow::default());
        self.joint_changes.clear();
        if !self.joints.is_empty() {
            self.joint_changes.resize(self.solver_bodies.len(), BodyRow::default());
        }
        if self.records_work {
            self.works.resize(self.solver_bodies.len(), BodyWork::default());
        }
        let joint_changes = Shared::new(&mut self.joint_changes);
        let arena = ContactArena {
            solver_bodies: Shared::new(&mut self.solver_bodies),
            frames: Shared::new(&mut self.frames),
            manifolds: Shared::new(&mut self.manifolds),
            blocks: Shared::new(&mut self.blocks),
            points: Shared::new(&mut self.points),
            rolling: Shared::new(&mut self.rolling),
            surface_velocities: Shared::new(&mut self.surface_velocities),
        };
        let pass = SolverPass {
            plan,
            avx: has_avx2(),
            arena,
            kicks: &self.kicks,
            joint_changes,
            works: Shared::new(&mut self.works),
            gyroscopic: &self.gyroscopic,
            kicked: Shared::new(&mut self.kicked),
            colors: &self.colors,
            overflow: self.overflow.clone(),
            free: plan.parameters.first_movable as usize..arena.solver_bodies.len(),
            blocks: arena.blocks.len(),
            joints: self.joints.pass(arena.solver_bodies, arena.frames, joint_changes),
        };
        together(plan.threads, |worker| pass.run(worker));
    }
}

/// A step as seen by every worker thread.
struct SolverPass<'s> {
    plan: &'s SubstepPlan,
    avx: bool,
    arena: ContactArena<'s>,
    kicks: &'s [Kick],
    kicked: Shared<'s, BodyRow>,
    joint_changes: Shared<'s, BodyRow>,
    works: Shared<'s, BodyWork>,
    gyroscopic: &'s [GyroscopicBody],
    colors: &'s [Range<usize>],
    overflow: Range<usize>,
    free: Range<usize>,
    blocks: usize,
    joints: JointPass<'s>,
}

#[allow(unsafe_code)]
impl SolverPass<'_> {
    /// All sub-steps of a step.
    fn run(&self, worker: &Worker<'_>) {
        let mut parameters = self.plan.parameters;
        // SAFETY: ranges do not overlap.
        let each_block = |task, parameters: &SweepParameters| {
            worker.stage(0..self.blocks, MIN_BLOCKS_PER_THREAD, |blocks| unsafe {
                run_task(self.avx, task, &self.arena, blocks, parameters);
            });
        };
        each_block(ContactTask::Prepare, &parameters);
        self.joints.prepare(worker, self.avx, &parameters);
        for substep in 0..self.plan.substeps {
            parameters.elapsed = substep as f32 * self.plan.h;
            worker.stage(self.free.clone(), MIN_BODIES_PER_THREAD, |solver_bodies| {
                solver_bodies.for_each(|index| self.kick(index, substep > 0));
            });
            self.joints.sweep(worker, self.avx, JointTask::WarmStart, &parameters);
            if substep == 0 {
                self.sweep(worker, ContactTask::WarmStart, &parameters);
            }
            self.joints.sweep(worker, self.avx, JointTask::Solve, &parameters);
            self.sweep(worker, ContactTask::Solve, &parameters);
            worker.stage(self.free.clone(), MIN_BODIES_PER_THREAD, |solver_bodies| {
                solver_bodies.for_each(|index| self.integrate(index));
            });
            worker.stage(0..self.gyroscopic.len(), MIN_BLOCKS_PER_THREAD, |gyroscopic| {
                for gyroscopic_body in &self.gyroscopic[gyroscopic] {
                    // SAFETY: ranges do not overlap.
                    unsafe {
                        gyroscopic_body.integrate_rotation(
                            &self.arena.solver_bodies,
                            &self.kicked,
                            self.plan.h.into(),
                        );
                    };
                }
            });
            parameters.elapsed += self.plan.h;
            self.joints.sweep(worker, self.avx, JointTask::Relax, &parameters);
            self.sweep(worker, ContactTask::Relax, &parameters);
        }
        each_block(ContactTask::StoreImpulses, &parameters);
        if !self.works.is_empty() {
            worker.stage(self.free.clone(), MIN_BODIES_PER_THREAD, |solver_bodies| {
                solver_bodies.for_each(|index| self.end_work(index));
            });
        }
    }

    /// Runs a pass over all blocks, colour by colour, then over the overflow.
    fn sweep(&self, worker: &Worker<'_>, task: ContactTask, parameters: &SweepParameters) {
        // SAFETY: ranges do not overlap, and blocks of a colour share no solver body that is written.
        let go = |blocks| unsafe { run_task(self.avx, task, &self.arena, blocks, parameters) };
        for color in self.colors {
            worker.stage(color.clone(), MIN_BLOCKS_PER_THREAD, go);
        }
        if !self.overflow.is_empty() {
            worker.alone(|| go(self.overflow.clone()));
        }
    }

    /// Kick: y ← damped y + h ẏ, plus the warm start, the effect of the contact sweeps of the last sub-step.
    /// Joint rows follow their bodies from sub-step to sub-step, so their effect is not applied again here.
    #[inline(always)]
    fn kick(&self, index: usize, warm_start: bool) {
        // SAFETY: ranges do not overlap.
        let (y, kicked) = unsafe {
            (
                self.arena.solver_bodies.get_mut(index).velocity.lanes_mut(),
                self.kicked.get_mut(index).lanes_mut(),
            )
        };
        let kick = &self.kicks[index];
        let mut joint_change = BodyRow::default();
        if self.joint_changes.len() > index {
            // SAFETY: as above.
            joint_change = std::mem::take(unsafe { self.joint_changes.get_mut(index) });
        }
        if self.works.len() > index {
            // SAFETY: as above.
            let work = unsafe { self.works.get_mut(index) };
            if warm_start {
                work.end(&BodyRow::from_lanes(*y), &BodyRow::from_lanes(*kicked), &joint_change, kick);
            }
            work.begin(&BodyRow::from_lanes(*y));
        }
        for i in 0..LANES {
            let warm = if warm_start { y[i] - kicked[i] - joint_change.lanes()[i] } else { 0.0 };
            kicked[i] = y[i] * kick.damping(i) + kick.change(i);
            y[i] = kicked[i] + warm;
        }
    }

    /// Adds the work of the last sub-step.
    fn end_work(&self, index: usize) {
        // SAFETY: ranges do not overlap.
        let (y, kicked, work) = unsafe {
            (
                &self.arena.solver_bodies.get_mut(index).velocity,
                self.kicked.get_mut(index),
                self.works.get_mut(index),
            )
        };
        let mut joint_change = BodyRow::default();
        if self.joint_changes.len() > index {
            // SAFETY: as above.
            joint_change = *unsafe { self.joint_changes.get_mut(index) };
        }
        work.end(y, kicked, &joint_change, &self.kicks[index]);
    }

    /// Drift: ∫y dt grows by h y.
    #[inline(always)]
    fn integrate(&self, index: usize) {
        // SAFETY: ranges do not overlap.
        let solver_body = unsafe { self.arena.solver_bodies.get_mut(index) };
        if self.works.len() > index {
            // SAFETY: as above.
            unsafe { self.works.get_mut(index) }.record_drift(&self.kicks[index], &solver_body.velocity);
        }
        for i in 0..LANES {
            solver_body.shift.lanes_mut()[i] += self.plan.h * solver_body.velocity.lanes()[i];
        }
    }
}
