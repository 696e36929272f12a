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

use super::block::{Block, Drive, Frame, Mover, Patch, PointRows, RollingRows, Sweep};
use super::bond_kernel::BondTask;
use super::bond_set::{BondRound, BondSet};
use super::kernel::{Arena, Link, Task, perform};
use super::lanes::{LANES, Row, has_wide};
use super::roster::NONE;
use super::spinner::Spinner;
use super::work::MoverWork;
use glam::{DMat3, DVec3};
use rattleback_numerics::team::{Shared, Worker, together};
use std::ops::Range;

const COLORS: usize = 64;

pub(super) const LEAST_BLOCKS: usize = 8;
const LEAST_MOVERS: usize = 256;

/// Pointer to a manifold of the contact graph, valid during one step.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct PatchPlace(pub *mut Patch);

// SAFETY: pointers are dereferenced only during the step in which they were taken, each by one thread.
#[allow(unsafe_code)]
unsafe impl Send for PatchPlace {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for PatchPlace {}

/// Properties of a manifold that the blocks need: read while it is in the cache, since manifolds are
/// scattered in memory.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// Number of points, 1 to 4.
    points: u8,
    /// Several points, and no impulse yet: the bodies land on each other in this step.
    fresh: bool,
    /// No impulse yet (cold start).
    cold: bool,
    rolls: bool,
}

impl Note {
    fn of(patch: &Patch) -> Self {
        let points = &patch.points[..patch.count as usize];
        let cold = points.iter().all(|row| row.0[6] == 0.0);
        Self {
            points: points.len().clamp(1, 4) as u8,
            fresh: points.len() > 1 && cold,
            cold,
            rolls: patch.surface.0[3] > 0.0,
        }
    }
}

/// Solver with its buffers, which are reused in every step.
#[derive(Debug, Default)]
pub(super) struct Solver {
    movers: Vec<Mover>,
    frames: Vec<Frame>,
    /// By solver body: the kick of a sub-step.
    kicks: Vec<Row>,
    kicked: Vec<Row>,
    /// By solver body: velocity change by joints in the present sub-step; empty without joints.
    held: Vec<Row>,
    links: Vec<Link>,
    places: Vec<PatchPlace>,
    sorted: Vec<u32>,
    patches: Vec<PatchPlace>,
    blocks: Vec<Block>,
    points: Vec<PointRows>,
    rolling: Vec<RollingRows>,
    drives: Vec<Drive>,
    /// Movers below this one are not moved by impulses.
    first_free: u32,
    masks: Vec<u64>,
    /// By solver body: index of the last of its manifolds.
    last_link: Vec<u32>,
    /// By manifold: properties that the blocks need.
    notes: Vec<Note>,
    keys: Vec<u16>,
    /// Blocks of each colour, and the overflow blocks that are solved sequentially.
    colors: Vec<Range<usize>>,
    loners: Range<usize>,
    /// By solver body: work done on it; empty unless an energy ledger is open.
    works: Vec<MoverWork>,
    pub accounts: bool,
    pub bonds: BondSet,
    pub spinners: Vec<Spinner>,
}

/// Sub-steps and parameters of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub substeps: usize,
    pub h: f32,
    pub sweep: Sweep,
    pub threads: usize,
}

impl Solver {
    /// Begins a step with the static body (index 0) only.
    pub fn clear(&mut self) {
        self.links.clear();
        self.bonds.clear();
        self.spinners.clear();
        self.works.clear();
        self.places.clear();
        self.notes.clear();
        self.movers.clear();
        self.frames.clear();
        self.kicks.clear();
        self.enter(Mover::default(), Frame::fixed(), Row::default());
    }

    /// (body, its frame, kick of a sub-step) ⇒ its index.
    pub fn enter(&mut self, mover: Mover, frame: Frame, kick: Row) -> u32 {
        self.movers.push(mover);
        self.frames.push(frame);
        self.kicks.push(kick);
        (self.movers.len() - 1) as u32
    }

    /// All bodies, frames and kicks, to be filled in parallel.
    pub fn seats(&mut self) -> (Shared<'_, Mover>, Shared<'_, Frame>, Shared<'_, Row>) {
        (Shared::new(&mut self.movers), Shared::new(&mut self.frames), Shared::new(&mut self.kicks))
    }

    /// Bodies added from now on are changed by impulses.
    pub fn begin_free(&mut self) {
        self.first_free = self.movers.len() as u32;
    }

    pub const fn first_free(&self) -> u32 {
        self.first_free
    }

    pub fn mover_count(&self) -> usize {
        self.movers.len()
    }

    pub fn free_count(&self) -> usize {
        self.movers.len() - self.first_free as usize
    }

    /// Index ⇒ kick of a sub-step.
    pub fn kick_of(&self, place: u32) -> &Row {
        &self.kicks[place as usize]
    }

    /// Index ⇒ work of contacts and joints on the body, if an energy ledger is open.
    pub fn work(&self, place: u32) -> Option<&MoverWork> {
        self.works.get(place as usize)
    }

    /// Index ⇒ the body after the step.
    pub fn leave(&self, place: u32) -> (&Mover, &Frame) {
        (&self.movers[place as usize], &self.frames[place as usize])
    }

    /// Index ⇒ normal of the only manifold of a body, and whether that had no impulse before the step; `None`
    /// if it has several.
    #[allow(unsafe_code)]
    pub fn only_normal(&self, place: u32) -> Option<(DVec3, bool)> {
        if self.masks.get(place as usize)?.count_ones() != 1 {
            return None;
        }
        let index = self.last_link[place as usize] as usize;
        // SAFETY: manifolds are neither moved nor, after the sweeps, written during a step.
        let head = unsafe { (*self.places[index].0).head };
        let axes = &self.frames[self.links[index].a as usize];
        let (a, b) = (axes.axes.0.map(f64::from), f64::from(axes.rest.0[0]));
        let normal =
            DMat3::from_cols_array(&[a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], b]) * head.vector(0);
        Some((normal.normalize_or_zero(), self.notes[index].cold))
    }

    pub fn add(&mut self, link: Link, patch: &mut Patch) {
        self.links.push(link);
        self.notes.push(Note::of(patch));
        self.places.push(PatchPlace(std::ptr::from_mut(patch)));
    }

    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// Colours the manifolds, and sorts them by colour and then by number of points.
    fn color(&mut self, first_free: u32) {
        self.masks.clear();
        self.masks.resize(self.movers.len(), 0);
        self.last_link.resize(self.movers.len(), 0);
        self.keys.clear();
        let mut counts = [0_u32; (COLORS + 1) * 4];
        for (index, (link, note)) in self.links.iter().zip(&self.notes).enumerate() {
            let used = |mover: u32| if mover >= first_free { self.masks[mover as usize] } else { 0 };
            let color = (!(used(link.a) | used(link.b))).trailing_zeros() as usize;
            if color < COLORS {
                for mover in [link.a, link.b] {
                    self.masks[mover as usize] |= 1 << color;
                    self.last_link[mover as usize] = index as u32;
                }
            }
            let key = color * 4 + (4 - usize::from(note.points));
            counts[key] += 1;
            self.keys.push(key as u16);
        }
        let mut start = 0;
        for count in &mut counts {
            (*count, start) = (start, start + *count);
        }
        self.sorted.clear();
        self.sorted.resize(self.links.len(), 0);
        for (index, key) in self.keys.iter().enumerate() {
            let place = &mut counts[*key as usize];
            self.sorted[*place as usize] = index as u32;
            *place += 1;
        }
        // After this counting sort each count is the end of its bucket.
        self.make_blocks(first_free, &std::array::from_fn(|color| counts[color * 4 + 3]));
    }

    fn make_blocks(&mut self, first_free: u32, ends: &[u32; COLORS + 1]) {
        self.patches.clear();
        self.patches.extend(self.sorted.iter().map(|index| self.places[*index as usize]));
        self.blocks.clear();
        self.colors.clear();
        let (mut points, mut rolling, mut drives) = (0, 0, 0);
        let mut start = 0;
        for (color, end) in ends.iter().enumerate() {
            let first_block = self.blocks.len();
            let width = if color < COLORS { LANES } else { 1 };
            let mut first = start as usize;
            while first < *end as usize {
                let links = width.min(*end as usize - first);
                let mut block = Block::empty();
                block.first_link = first as u32;
                block.links = links as u32;
                let (mut most, mut rolls, mut driven) = (0, false, false);
                for lane in 0..links {
                    let link = &self.links[self.sorted[first + lane] as usize];
                    block.a[lane] = link.a;
                    block.b[lane] = link.b;
                    let note = self.notes[self.sorted[first + lane] as usize];
                    most = most.max(note.points.into());
                    block.fresh |= note.fresh;
                    rolls |= note.rolls;
                    driven |= [link.a, link.b].iter().any(|mover| (1..first_free).contains(mover));
                }
                (block.first_point, block.points) = (points, most);
                points += most;
                if rolls {
                    block.rolling = rolling;
                    rolling += 1;
                }
                if driven {
                    block.drive = drives;
                    drives += 1;
                }
                self.blocks.push(block);
                first += links;
            }
            start = *end;
            let blocks = first_block..self.blocks.len();
            if color == COLORS {
                self.loners = blocks;
            } else if !blocks.is_empty() {
                self.colors.push(blocks);
            }
        }
        self.points.resize(points as usize, PointRows::default());
        self.rolling.resize(rolling as usize, RollingRows::default());
        self.drives.resize(drives as usize, Drive::default());
    }

    /// Integrates all solver bodies over the step.
    pub fn solve(&mut self, plan: &Plan) {
        if self.links.is_empty() && self.bonds.is_empty() {
            return;
        }
        let plan = &Plan { sweep: Sweep { first_free: self.first_free, ..plan.sweep }, ..*plan };
        self.color(self.first_free);
        self.kicked.resize(self.movers.len(), Row::default());
        self.held.clear();
        if !self.bonds.is_empty() {
            self.held.resize(self.movers.len(), Row::default());
        }
        if self.accounts {
            self.works.resize(self.movers.len(), MoverWork::default());
        }
        let held = Shared::new(&mut self.held);
        let arena = Arena {
            movers: Shared::new(&mut self.movers),
            frames: Shared::new(&mut self.frames),
            patches: Shared::new(&mut self.patches),
            blocks: Shared::new(&mut self.blocks),
            points: Shared::new(&mut self.points),
            rolling: Shared::new(&mut self.rolling),
            drives: Shared::new(&mut self.drives),
        };
        let round = Round {
            plan,
            wide: has_wide(),
            arena,
            kicks: &self.kicks,
            held,
            works: Shared::new(&mut self.works),
            spinners: &self.spinners,
            kicked: Shared::new(&mut self.kicked),
            colors: &self.colors,
            loners: self.loners.clone(),
            free: plan.sweep.first_free as usize..arena.movers.len(),
            blocks: arena.blocks.len(),
            bonds: self.bonds.round(arena.movers, arena.frames, held),
        };
        together(plan.threads, |worker| round.run(worker));
    }
}

/// A step as seen by every worker thread.
struct Round<'s> {
    plan: &'s Plan,
    wide: bool,
    arena: Arena<'s>,
    kicks: &'s [Row],
    kicked: Shared<'s, Row>,
    held: Shared<'s, Row>,
    works: Shared<'s, MoverWork>,
    spinners: &'s [Spinner],
    colors: &'s [Range<usize>],
    loners: Range<usize>,
    free: Range<usize>,
    blocks: usize,
    bonds: BondRound<'s>,
}

#[allow(unsafe_code)]
impl Round<'_> {
    fn run(&self, worker: &Worker<'_>) {
        let mut sweep = self.plan.sweep;
        // SAFETY: ranges do not overlap.
        let each_block = |task, sweep: &Sweep| {
            worker.stage(0..self.blocks, LEAST_BLOCKS, |blocks| unsafe {
                perform(self.wide, task, &self.arena, blocks, sweep);
            });
        };
        each_block(Task::Prepare, &sweep);
        self.bonds.prepare(worker, self.wide, &sweep);
        for substep in 0..self.plan.substeps {
            sweep.elapsed = substep as f32 * self.plan.h;
            worker.stage(self.free.clone(), LEAST_MOVERS, |movers| {
                movers.for_each(|mover| self.kick(mover, substep > 0));
            });
            self.bonds.sweep(worker, self.wide, BondTask::Warm, &sweep);
            if substep == 0 {
                self.sweep(worker, Task::Warm, &sweep);
            }
            self.bonds.sweep(worker, self.wide, BondTask::Push, &sweep);
            self.sweep(worker, Task::Push, &sweep);
            worker.stage(self.free.clone(), LEAST_MOVERS, |movers| {
                movers.for_each(|mover| self.advance(mover));
            });
            worker.stage(0..self.spinners.len(), LEAST_BLOCKS, |spinners| {
                for spinner in &self.spinners[spinners] {
                    // SAFETY: ranges do not overlap.
                    unsafe { spinner.turn(&self.arena.movers, &self.kicked, self.plan.h.into()) };
                }
            });
            sweep.elapsed += self.plan.h;
            self.bonds.sweep(worker, self.wide, BondTask::Relax, &sweep);
            self.sweep(worker, Task::Relax, &sweep);
        }
        each_block(Task::Keep, &sweep);
        if !self.works.is_empty() {
            worker.stage(self.free.clone(), LEAST_MOVERS, |movers| {
                movers.for_each(|mover| self.close(mover));
            });
        }
    }

    fn sweep(&self, worker: &Worker<'_>, task: Task, sweep: &Sweep) {
        // SAFETY: ranges do not overlap, and blocks of a colour share no solver body that is written.
        let go = |blocks| unsafe { perform(self.wide, task, &self.arena, blocks, sweep) };
        for color in self.colors {
            worker.stage(color.clone(), LEAST_BLOCKS, go);
        }
        if !self.loners.is_empty() {
            worker.alone(|| go(self.loners.clone()));
        }
    }

    /// Kick: y ← damped y + h ẏ, plus the warm start, the effect of the contact sweeps of the last sub-step.
    /// Joint rows follow their bodies from sub-step to sub-step, so their effect is not applied again here.
    #[inline(always)]
    fn kick(&self, mover: usize, again: bool) {
        // SAFETY: ranges do not overlap.
        let (y, kicked) =
            unsafe { (&mut self.arena.movers.get_mut(mover).velocity.0, &mut self.kicked.get_mut(mover).0) };
        let kick = &self.kicks[mover].0;
        let mut bonded = Row::default();
        if self.held.len() > mover {
            // SAFETY: as above.
            bonded = std::mem::take(unsafe { self.held.get_mut(mover) });
        }
        if self.works.len() > mover {
            // SAFETY: as above.
            let work = unsafe { self.works.get_mut(mover) };
            if again {
                work.end(&Row(*y), &Row(*kicked), &bonded, &self.kicks[mover]);
            }
            work.begin(&Row(*y));
        }
        let damping: [f32; LANES] = std::array::from_fn(|i| if i < 4 { kick[3] } else { kick[7] });
        for i in 0..LANES {
            let push = if i % 4 == 3 { 0.0 } else { kick[i] };
            let done = if again { y[i] - kicked[i] - bonded.0[i] } else { 0.0 };
            kicked[i] = y[i] * damping[i] + push;
            y[i] = kicked[i] + done;
        }
    }

    /// Adds the work of the last sub-step.
    fn close(&self, mover: usize) {
        // SAFETY: ranges do not overlap.
        let (y, kicked, work) = unsafe {
            (
                &self.arena.movers.get_mut(mover).velocity,
                self.kicked.get_mut(mover),
                self.works.get_mut(mover),
            )
        };
        let mut bonded = Row::default();
        if self.held.len() > mover {
            // SAFETY: as above.
            bonded = *unsafe { self.held.get_mut(mover) };
        }
        work.end(y, kicked, &bonded, &self.kicks[mover]);
    }

    #[inline(always)]
    fn advance(&self, index: usize) {
        // SAFETY: ranges do not overlap.
        let mover = unsafe { self.arena.movers.get_mut(index) };
        if self.works.len() > index {
            // SAFETY: as above.
            unsafe { self.works.get_mut(index) }.moves(&self.kicks[index], &mover.velocity);
        }
        for i in 0..LANES {
            mover.shift.0[i] += self.plan.h * mover.velocity.0[i];
        }
    }
}

impl Block {
    fn empty() -> Self {
        Self {
            a: [0; LANES],
            b: [0; LANES],
            normal: [Row::default(); 3],
            tangent: [Row::default(); 3],
            scale: [Row::default(); 2],
            friction_a: [[Row::default(); 3]; 2],
            friction_b: [[Row::default(); 3]; 2],
            friction_mass: [Row::default(); 3],
            friction: [Row::default(); 2],
            twist_a: [Row::default(); 3],
            twist_b: [Row::default(); 3],
            twist_mass: Row::default(),
            twist: Row::default(),
            limits: [Row::default(); 3],
            stiff: Row::default(),
            share: Row::default(),
            first_point: 0,
            points: 0,
            rolling: NONE,
            drive: NONE,
            first_link: 0,
            links: 0,
            fresh: false,
        }
    }
}
