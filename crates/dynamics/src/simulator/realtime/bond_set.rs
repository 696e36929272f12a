//! Joint graph of a solver: joints are coloured (see `solver`), grouped into blocks of eight, and swept
//! before the contacts. Trees of joints are taken out and solved exactly (`joint_tree`).

use super::block::{Frame, Mover, Sweep};
use super::bond::{Bond, BondAxes, BondBlock, BondRow, Filling};
use super::bond_kernel::{BondArena, BondTask, perform};
use super::lanes::{LANES, Row};
use super::roster::NONE;
use super::solver::LEAST_BLOCKS;
use super::tree::{TreeRound, Trees};
use crate::joint::{Locks, Rows};
use rattleback_numerics::team::{Shared, Worker, each};
use std::ops::Range;

const COLORS: usize = 64;

const STRETCH: usize = 8;

/// Rows of a chunk of blocks before they are concatenated, and scratch memory for the rows of one joint.
#[derive(Debug, Default)]
struct Stretch {
    rows: Vec<BondRow>,
    scratch: Rows,
}

/// Joints of a solver, with buffers that are reused in every step.
#[derive(Debug, Default)]
pub(super) struct BondSet {
    /// Indices of the joints, with the indices of their solver bodies.
    links: Vec<(u32, [u32; 2])>,
    /// The same in the step of the last colouring.
    known: Vec<(u32, [u32; 2])>,
    sorted: Vec<u32>,
    /// End of each colour in `sorted`.
    ends: Vec<u32>,
    masks: Vec<u64>,
    keys: Vec<(u16, u32)>,
    blocks: Vec<BondBlock>,
    axes: Vec<BondAxes>,
    rows: Vec<BondRow>,
    stretches: Vec<Stretch>,
    colors: Vec<Range<usize>>,
    loners: Range<usize>,
    /// Joints whose locked axes are solved exactly as trees.
    trees: Trees,
    /// By edge: whether a tree solves it.
    in_tree: Vec<bool>,
}

impl BondSet {
    pub fn clear(&mut self) {
        self.links.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub fn add(&mut self, place: usize, movers: [u32; 2]) {
        self.links.push((place as u32, movers));
    }

    /// Colours the joints and sorts them by colour and locked axes, if they are not the same as in the last
    /// step.
    fn sort(&mut self, all: &[Bond], movers: usize, first_free: u32, fewest: usize) {
        if self.links == self.known {
            return;
        }
        self.known.clone_from(&self.links);
        self.trees.grow(&self.links, all, movers, first_free, fewest, &mut self.in_tree);
        self.masks.clear();
        self.masks.resize(movers, 0);
        self.keys.clear();
        for (index, (place, sides)) in self.links.iter().enumerate() {
            let used = |mover: u32| if mover >= first_free { self.masks[mover as usize] } else { 0 };
            let color = (!(used(sides[0]) | used(sides[1]))).trailing_zeros() as usize;
            if color < COLORS {
                for mover in sides {
                    self.masks[*mover as usize] |= 1 << color;
                }
            }
            let kind = if self.in_tree[index] { 0 } else { all[*place as usize].locks.bits() };
            self.keys.push(((color as u16) << 8 | u16::from(kind), index as u32));
        }
        self.keys.sort_unstable();
        self.sorted.clear();
        self.sorted.extend(self.keys.iter().map(|(_, index)| *index));
        self.ends.clear();
        for color in 0..=COLORS as u16 {
            self.ends.push(self.keys.partition_point(|(key, _)| key >> 8 <= color) as u32);
        }
    }

    /// Computes the blocks of all joints.
    pub fn fill(
        &mut self,
        all: &[Bond],
        filling: &Filling<'_>,
        movers: usize,
        first_free: u32,
        fewest: usize,
        threads: usize,
    ) {
        self.sort(all, movers, first_free, fewest);
        self.trees.fill(&self.links, all, filling, threads);
        self.lay_out(all, first_free);
        self.fill_blocks(all, filling, threads);
    }

    /// Assigns joints to blocks.
    fn lay_out(&mut self, all: &[Bond], first_free: u32) {
        self.blocks.clear();
        self.colors.clear();
        let (mut start, mut axes) = (0, 0);
        for (color, end) in self.ends.iter().map(|end| *end as usize).enumerate() {
            let first_block = self.blocks.len();
            let width = if color < COLORS { LANES } else { 1 };
            let mut first = start;
            while first < end {
                let kind = |place: usize| {
                    let index = self.sorted[place] as usize;
                    if self.in_tree[index] { Locks::NONE } else { all[self.links[index].0 as usize].locks }
                };
                let locks = kind(first);
                let links = (first..end.min(first + width)).take_while(|place| kind(*place) == locks).count();
                let mut block = BondBlock {
                    locks,
                    axes: NONE,
                    first_link: first as u32,
                    links: links as u32,
                    ..BondBlock::default()
                };
                if locks != Locks::NONE && locks != Locks::POINT {
                    block.axes = axes;
                    axes += 1;
                }
                for lane in 0..links {
                    let sides = self.links[self.sorted[first + lane] as usize].1;
                    (block.a[lane], block.b[lane]) = (sides[0], sides[1]);
                    block.driven |= sides.iter().any(|mover| (1..first_free).contains(mover));
                }
                self.blocks.push(block);
                first += links;
            }
            start = end;
            let blocks = first_block..self.blocks.len();
            if color == COLORS {
                self.loners = blocks;
            } else if !blocks.is_empty() {
                self.colors.push(blocks);
            }
        }
        self.axes.clear();
        self.axes.resize(axes as usize, BondAxes::default());
    }

    /// Writes all joints into their blocks. The number of rows of a block is known only then: every chunk of
    /// blocks has a list of its own, and the lists are concatenated.
    #[allow(unsafe_code)]
    fn fill_blocks(&mut self, all: &[Bond], filling: &Filling<'_>, threads: usize) {
        let count = self.blocks.len().div_ceil(STRETCH);
        if self.stretches.len() < count {
            self.stretches.resize_with(count, Stretch::default);
        }
        let Self { links, sorted, blocks, axes, rows, stretches, .. } = self;
        {
            let (blocks, axes) = (Shared::new(blocks), Shared::new(axes));
            each(threads, &mut stretches[..count], |k, stretch| {
                stretch.rows.clear();
                for index in k * STRETCH..blocks.len().min((k + 1) * STRETCH) {
                    // SAFETY: chunks do not overlap, and axes belong to one block only.
                    let block = unsafe { blocks.get_mut(index) };
                    block.first_row = stretch.rows.len() as u32;
                    for lane in 0..block.links as usize {
                        let bond = &all[links[sorted[block.first_link as usize + lane] as usize].0 as usize];
                        // SAFETY: as above.
                        let axes = (block.axes != NONE).then(|| unsafe { axes.get_mut(block.axes as usize) });
                        filling.fill(bond, lane, block, axes);
                        let first = block.first_row as usize;
                        filling.fill_rows(bond, lane, first, &mut stretch.scratch, &mut stretch.rows);
                    }
                    block.rows = stretch.rows.len() as u32 - block.first_row;
                }
            });
        }
        rows.clear();
        for (stretch, blocks) in stretches.iter_mut().zip(blocks.chunks_mut(STRETCH)) {
            for block in blocks {
                block.first_row += rows.len() as u32;
            }
            rows.append(&mut stretch.rows);
        }
    }

    /// Stores the impulses for warm starting.
    pub fn keep(&self, all: &mut [Bond]) {
        self.trees.keep(&self.links, all);
        for block in &self.blocks {
            for lane in 0..block.links as usize {
                let index = self.sorted[block.first_link as usize + lane] as usize;
                let bond = &mut all[self.links[index].0 as usize];
                for k in 0..if self.in_tree[index] { 0 } else { 3 } {
                    bond.linear[k] = block.linear[k].0[lane];
                    bond.angular[k] = block.angular[k].0[lane];
                }
                let Some(held) = &mut bond.rows else { continue };
                held.fill(0.0);
                let first = block.first_row as usize;
                for row in &self.rows[first..first + block.rows as usize] {
                    if row.mass.0[lane] > 0.0
                        && let Some(impulse) = held.get_mut(row.keys[lane] as usize)
                    {
                        *impulse = row.impulse.0[lane];
                    }
                }
            }
        }
    }

    /// The joints as seen by every worker thread during a step.
    pub fn round<'s>(
        &'s mut self,
        movers: Shared<'s, Mover>,
        frames: Shared<'s, Frame>,
        held: Shared<'s, Row>,
    ) -> BondRound<'s> {
        let blocks = self.blocks.len();
        BondRound {
            arena: BondArena {
                movers,
                frames,
                held,
                blocks: Shared::new(&mut self.blocks),
                axes: Shared::new(&mut self.axes),
                rows: Shared::new(&mut self.rows),
            },
            colors: &self.colors,
            loners: self.loners.clone(),
            blocks,
            trees: self.trees.round(movers, frames, held),
        }
    }
}

/// The joints during a step.
pub(super) struct BondRound<'s> {
    arena: BondArena<'s>,
    colors: &'s [Range<usize>],
    loners: Range<usize>,
    blocks: usize,
    trees: TreeRound<'s>,
}

#[allow(unsafe_code)]
impl BondRound<'_> {
    pub fn prepare(&self, worker: &Worker<'_>, wide: bool, sweep: &Sweep) {
        // SAFETY: ranges do not overlap.
        let prepare = |blocks| unsafe { perform(wide, BondTask::Prepare, &self.arena, blocks, sweep) };
        worker.stage(0..self.blocks, LEAST_BLOCKS, prepare);
    }

    pub fn sweep(&self, worker: &Worker<'_>, wide: bool, task: BondTask, sweep: &Sweep) {
        // SAFETY: ranges do not overlap, and blocks of a colour share no solver body that is written.
        let go = |blocks| unsafe { perform(wide, task, &self.arena, blocks, sweep) };
        for color in self.colors {
            worker.stage(color.clone(), LEAST_BLOCKS, go);
        }
        if !self.loners.is_empty() {
            worker.alone(|| go(self.loners.clone()));
        }
        match task {
            BondTask::Push => self.trees.sweep(worker, true, sweep),
            BondTask::Relax => self.trees.sweep(worker, false, sweep),
            BondTask::Prepare | BondTask::Warm => {}
        }
    }
}
