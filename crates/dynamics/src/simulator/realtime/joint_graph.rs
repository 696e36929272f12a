//! Joint graph of a solver: joints are coloured (see `solver`), grouped into blocks of eight, and swept
//! before the contacts. Trees of joints are taken out and solved exactly (`joint_tree`).

use super::contact_block::SweepParameters;
use super::joint_constraint::{JointBlock, JointBlockAxes, JointBlockRow, JointConstraint, JointContext};
use super::joint_kernel::{JointArena, JointTask, run_task};
use super::joint_tree::{JointTrees, TreePass, TreeShare, TreeSizes};
use super::lanes::LANES;
use super::sim_bodies::NONE;
use super::solver_body::{BodyRow, SolverBody, SolverFrame};
use super::tuning::{BLOCKS_PER_CHUNK, COLORS, MIN_BLOCKS_PER_THREAD};
use crate::joint::{Locks, Rows};
use rattleback_numerics::team::{Shared, Worker, each};
use std::ops::Range;

/// Rows of a chunk of blocks before they are concatenated, and scratch memory for the rows of one joint.
#[derive(Debug, Default)]
struct RowChunk {
    rows: Vec<JointBlockRow>,
    scratch: Rows,
}

/// Joints of a solver, with buffers that are reused in every step.
#[derive(Debug, Default)]
pub(super) struct JointGraph {
    /// Indices of the joints, with the indices of their solver bodies.
    edges: Vec<(u32, [u32; 2])>,
    /// The same in the step of the last colouring, and the sizes of trees then.
    colored_edges: Vec<(u32, [u32; 2])>,
    colored_sizes: TreeSizes,
    sorted: Vec<u32>,
    /// End of each colour in `sorted`.
    ends: Vec<u32>,
    masks: Vec<u64>,
    keys: Vec<(u16, u32)>,
    blocks: Vec<JointBlock>,
    axes: Vec<JointBlockAxes>,
    rows: Vec<JointBlockRow>,
    chunks: Vec<RowChunk>,
    colors: Vec<Range<usize>>,
    overflow: Range<usize>,
    /// Joints whose locked axes are solved exactly as trees.
    trees: JointTrees,
    /// By edge: how much of it a tree solves.
    in_tree: Vec<TreeShare>,
}

impl JointGraph {
    /// Removes all joints.
    pub fn clear(&mut self) {
        self.edges.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Adds a joint, by index, with the solver bodies of its sides.
    pub fn add(&mut self, index: usize, solver_bodies: [u32; 2]) {
        self.edges.push((index as u32, solver_bodies));
    }

    /// Colours the joints and sorts them by colour and locked axes, if they are not the same as in the last
    /// step.
    fn color(&mut self, all: &[JointConstraint], solver_bodies: usize, first_movable: u32, sizes: TreeSizes) {
        if self.edges == self.colored_edges && self.colored_sizes == sizes {
            return;
        }
        self.colored_sizes = sizes;
        self.colored_edges.clone_from(&self.edges);
        self.trees.build(&self.edges, all, solver_bodies, first_movable, sizes, &mut self.in_tree);
        self.masks.clear();
        self.masks.resize(solver_bodies, 0);
        self.keys.clear();
        for (edge, (index, sides)) in self.edges.iter().enumerate() {
            let share = self.in_tree[edge];
            if share == TreeShare::Everything {
                continue;
            }
            let used = |body: u32| if body >= first_movable { self.masks[body as usize] } else { 0 };
            let color = (!(used(sides[0]) | used(sides[1]))).trailing_zeros() as usize;
            if color < COLORS {
                for body in sides {
                    self.masks[*body as usize] |= 1 << color;
                }
            }
            let in_tree = share == TreeShare::Locks;
            let kind = if in_tree { 0 } else { all[*index as usize].locks.bits() };
            self.keys.push(((color as u16) << 8 | u16::from(kind), edge as u32));
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
    pub fn prepare(
        &mut self,
        all: &[JointConstraint],
        context: &JointContext<'_>,
        solver_bodies: usize,
        first_movable: u32,
        sizes: TreeSizes,
        threads: usize,
    ) {
        self.color(all, solver_bodies, first_movable, sizes);
        self.trees.update_geometry(&self.edges, all, context, threads);
        self.trees.fill_rows(&self.edges, all, context);
        self.assign_blocks(all, first_movable);
        self.fill_blocks(all, context, threads);
    }

    /// Assigns joints to blocks.
    fn assign_blocks(&mut self, all: &[JointConstraint], first_movable: u32) {
        self.blocks.clear();
        self.colors.clear();
        let (mut start, mut axes) = (0, 0);
        for (color, end) in self.ends.iter().map(|end| *end as usize).enumerate() {
            let first_block = self.blocks.len();
            let width = if color < COLORS { LANES } else { 1 };
            let mut first = start;
            while first < end {
                let kind = |position: usize| {
                    let edge = self.sorted[position] as usize;
                    let in_tree = self.in_tree[edge] != TreeShare::Nothing;
                    if in_tree { Locks::NONE } else { all[self.edges[edge].0 as usize].locks }
                };
                let locks = kind(first);
                let edge_count =
                    (first..end.min(first + width)).take_while(|position| kind(*position) == locks).count();
                let mut block = JointBlock {
                    locks,
                    axes: NONE,
                    first_edge: first as u32,
                    edge_count: edge_count as u32,
                    ..JointBlock::default()
                };
                if locks != Locks::NONE && locks != Locks::POINT {
                    block.axes = axes;
                    axes += 1;
                }
                for lane in 0..edge_count {
                    let sides = self.edges[self.sorted[first + lane] as usize].1;
                    (block.a[lane], block.b[lane]) = (sides[0], sides[1]);
                    block.has_kinematic |= sides.iter().any(|body| (1..first_movable).contains(body));
                }
                self.blocks.push(block);
                first += edge_count;
            }
            start = end;
            let blocks = first_block..self.blocks.len();
            if color == COLORS {
                self.overflow = blocks;
            } else if !blocks.is_empty() {
                self.colors.push(blocks);
            }
        }
        self.axes.clear();
        self.axes.resize(axes as usize, JointBlockAxes::default());
    }

    /// Writes all joints into their blocks. The number of rows of a block is known only then: every chunk of
    /// blocks has a list of its own, and the lists are concatenated.
    #[allow(unsafe_code)]
    fn fill_blocks(&mut self, all: &[JointConstraint], context: &JointContext<'_>, threads: usize) {
        let count = self.blocks.len().div_ceil(BLOCKS_PER_CHUNK);
        if self.chunks.len() < count {
            self.chunks.resize_with(count, RowChunk::default);
        }
        let Self { edges, sorted, blocks, axes, rows, chunks, .. } = self;
        {
            let (blocks, axes) = (Shared::new(blocks), Shared::new(axes));
            each(threads, &mut chunks[..count], |k, chunk| {
                chunk.rows.clear();
                for index in k * BLOCKS_PER_CHUNK..blocks.len().min((k + 1) * BLOCKS_PER_CHUNK) {
                    // SAFETY: chunks do not overlap, and axes belong to one block only.
                    let block = unsafe { blocks.get_mut(index) };
                    block.first_row = chunk.rows.len() as u32;
                    for lane in 0..block.edge_count as usize {
                        let joint = &all[edges[sorted[block.first_edge as usize + lane] as usize].0 as usize];
                        // SAFETY: as above.
                        let axes = (block.axes != NONE).then(|| unsafe { axes.get_mut(block.axes as usize) });
                        context.fill(joint, lane, block, axes);
                        let first = block.first_row as usize;
                        context.fill_rows(joint, lane, first, &mut chunk.scratch, &mut chunk.rows);
                    }
                    block.rows = chunk.rows.len() as u32 - block.first_row;
                }
            });
        }
        rows.clear();
        for (chunk, blocks) in chunks.iter_mut().zip(blocks.chunks_mut(BLOCKS_PER_CHUNK)) {
            for block in blocks {
                block.first_row += rows.len() as u32;
            }
            rows.append(&mut chunk.rows);
        }
    }

    /// Multiplies the stored impulses of its joints, for sub-steps of another length.
    pub fn scale_impulses(&self, all: &mut [JointConstraint], factor: f32) {
        for (index, _) in &self.edges {
            let joint = &mut all[*index as usize];
            joint.linear *= factor;
            joint.angular *= factor;
            for impulse in joint.rows.iter_mut().flat_map(|rows| rows.iter_mut()) {
                *impulse *= factor;
            }
        }
    }

    /// Stores the impulses for warm starting.
    pub fn store_impulses(&self, all: &mut [JointConstraint]) {
        self.trees.store_impulses(&self.edges, all);
        for block in &self.blocks {
            for lane in 0..block.edge_count as usize {
                let index = self.sorted[block.first_edge as usize + lane] as usize;
                let joint = &mut all[self.edges[index].0 as usize];
                for k in 0..if self.in_tree[index] == TreeShare::Nothing { 3 } else { 0 } {
                    joint.linear[k] = block.linear[k].0[lane];
                    joint.angular[k] = block.angular[k].0[lane];
                }
                let Some(row_impulses) = &mut joint.rows else { continue };
                row_impulses.fill(0.0);
                let first = block.first_row as usize;
                for row in &self.rows[first..first + block.rows as usize] {
                    if row.mass.0[lane] > 0.0
                        && let Some(impulse) = row_impulses.get_mut(row.keys[lane] as usize)
                    {
                        *impulse = row.impulse.0[lane];
                    }
                }
            }
        }
    }

    /// The joints as seen by every worker thread during a step.
    pub fn pass<'s>(
        &'s mut self,
        solver_bodies: Shared<'s, SolverBody>,
        frames: Shared<'s, SolverFrame>,
        joint_changes: Shared<'s, BodyRow>,
    ) -> JointPass<'s> {
        let blocks = self.blocks.len();
        JointPass {
            arena: JointArena {
                solver_bodies,
                frames,
                joint_changes,
                blocks: Shared::new(&mut self.blocks),
                axes: Shared::new(&mut self.axes),
                rows: Shared::new(&mut self.rows),
            },
            colors: &self.colors,
            overflow: self.overflow.clone(),
            blocks,
            trees: self.trees.pass(solver_bodies, frames, joint_changes),
        }
    }
}

/// The joints during a step.
pub(super) struct JointPass<'s> {
    arena: JointArena<'s>,
    colors: &'s [Range<usize>],
    overflow: Range<usize>,
    blocks: usize,
    trees: TreePass<'s>,
}

#[allow(unsafe_code)]
impl JointPass<'_> {
    /// Prepares all blocks.
    pub fn prepare(&self, worker: &Worker<'_>, avx: bool, parameters: &SweepParameters) {
        // SAFETY: ranges do not overlap.
        let prepare = |blocks| unsafe { run_task(avx, JointTask::Prepare, &self.arena, blocks, parameters) };
        worker.stage(0..self.blocks, MIN_BLOCKS_PER_THREAD, prepare);
    }

    /// Runs a pass over all blocks, colour by colour, then over the trees.
    pub fn sweep(&self, worker: &Worker<'_>, avx: bool, task: JointTask, parameters: &SweepParameters) {
        // SAFETY: ranges do not overlap, and blocks of a colour share no solver body that is written.
        let go = |blocks| unsafe { run_task(avx, task, &self.arena, blocks, parameters) };
        for color in self.colors {
            worker.stage(color.clone(), MIN_BLOCKS_PER_THREAD, go);
        }
        if !self.overflow.is_empty() {
            worker.alone(|| go(self.overflow.clone()));
        }
        match task {
            JointTask::Solve => self.trees.sweep(worker, true, parameters),
            JointTask::Relax => self.trees.sweep(worker, false, parameters),
            JointTask::Prepare | JointTask::WarmStart => {}
        }
    }
}
