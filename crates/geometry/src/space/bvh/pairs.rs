//! Which pairs are new, which are gone.
//!
//! A pair are two boxes, not both fixed, whose enlarged boxes overlap. It can only appear or vanish if one of
//! them was touched: moved out of its enlarged box, inserted or removed. So
//! - vanished: for each touched box, those of its neighbours that no longer overlap;
//! - appeared: what the touched boxes overlap in both trees and do not yet have as neighbour.
//!
//! If few were touched each queries the trees by itself, and the result is compared with its neighbours, both
//! ways: no box of a neighbour is fetched. If many, the trees are walked against themselves and each other
//! once.
//!
//! If both boxes of a pair were touched the one with the smaller index reports it. All inputs are read only,
//! so the work is split freely among threads; the results are sorted afterwards.

use std::ops::ControlFlow;

use super::BATCH;
use super::neighbors::{List, Neighbors};
use super::query;
use super::state::State;
use super::tree::{Node, Spread, Tree, lanes};
use crate::box32::Box32;
use crate::space::pair;
use crate::wide_link::Link;
use rattleback_numerics::team::each;

/// Touched boxes per thread, at least.
const THREAD_MIN: usize = 512;
/// Pairs of subtrees distributed to threads, at least.
const TASKS: usize = 256;
/// Lists up to this length are searched from front to back.
const SHORT: usize = 32;
/// Inputs of the pair search.
pub(super) struct View<'a> {
    pub boxes: &'a [Box32],
    pub moving: &'a Tree,
    pub fixed: &'a Tree,
    pub neighbors: &'a Neighbors,
    pub states: &'a [State],
    pub touched: &'a [u32],
    /// Boxes of the touched, in their order.
    pub fresh: &'a [Box32],
}

/// Two nodes whose leaves may overlap; of the moving tree, or of the moving and the fixed one.
#[derive(Clone, Copy, Debug)]
struct Task {
    a: u32,
    b: u32,
    with_fixed: bool,
}

/// Results and workspace of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    pub appeared: Vec<u64>,
    pub vanished: Vec<u64>,
    pub nodes_visited: u64,
    pub box_tests: u64,
    stack: Vec<u32>,
    tasks: Vec<Task>,
    found: Vec<u32>,
    known: Vec<u32>,
}

/// Fills the workers' lists; as many threads as there are workers, or fewer. `marked`: the moving
/// tree's lanes are marked by what was touched, which means it were many.
pub(super) fn find(view: &View, marked: bool, workers: &mut [Worker]) {
    for worker in workers.iter_mut() {
        worker.appeared.clear();
        worker.vanished.clear();
        worker.tasks.clear();
        (worker.nodes_visited, worker.box_tests) = (0, 0);
    }
    let threads = workers.len().min(view.touched.len().div_ceil(THREAD_MIN)).max(1);
    let workers = &mut workers[..threads];
    if marked {
        share_tasks(view, workers);
    }
    let chunk = view.touched.len().div_ceil(threads).max(1);
    let work = |k: usize, worker: &mut Worker| {
        let (first, last) = ((k * chunk).min(view.touched.len()), ((k + 1) * chunk).min(view.touched.len()));
        let (touched, fresh) = (&view.touched[first..last], &view.fresh[first..last]);
        if marked {
            worker.find_lost(view, touched, fresh);
            while let Some(task) = worker.tasks.pop() {
                worker.walk(view, task);
            }
        } else {
            let mut lines = [List::default(); BATCH];
            for (touched, fresh) in touched.chunks(BATCH).zip(fresh.chunks(BATCH)) {
                view.moving.prefetch(touched);
                for (line, &index) in lines.iter_mut().zip(touched) {
                    *line = view.neighbors.line(index);
                }
                for ((&index, &bounds), line) in touched.iter().zip(fresh).zip(&lines) {
                    worker.query_one(view, index, bounds, view.neighbors.read(line));
                }
            }
        }
    };
    each(threads, workers, work);
}

/// Opens pairs of nodes until there are enough tasks for all threads.
fn share_tasks(view: &View, workers: &mut [Worker]) {
    let Some((first, others)) = workers.split_first_mut() else { return };
    first.tasks.push(Task { a: 0, b: 0, with_fixed: true });
    first.tasks.push(Task { a: 0, b: 0, with_fixed: false });
    if others.is_empty() {
        return;
    }
    let mut next = 0;
    while next < first.tasks.len() && first.tasks.len() - next < TASKS {
        let task = first.tasks[next];
        next += 1;
        first.walk(view, task);
    }
    first.tasks.drain(..next);
    let threads = others.len() + 1;
    for k in (0..first.tasks.len()).rev() {
        if k % threads > 0 {
            let task = first.tasks.swap_remove(k);
            others[k % threads - 1].tasks.push(task);
        }
    }
}

impl Worker {
    fn find_lost(&mut self, view: &View, touched: &[u32], fresh: &[Box32]) {
        for (&index, &bounds) in touched.iter().zip(fresh) {
            let gone = !view.states[index as usize].is_alive();
            for &other in view.neighbors.of(index) {
                let state = view.states[other as usize];
                if other < index && state.is_touched() && state.is_moving() {
                    continue;
                }
                self.box_tests += 1;
                if gone || !state.is_alive() || !bounds.overlaps(view.boxes[other as usize]) {
                    self.vanished.push(pair::key(index, other));
                }
            }
        }
    }

    /// Compares the overlaps of a single box with its previous ones.
    fn query_one(&mut self, view: &View, index: u32, bounds: Box32, neighbors: &[u32]) {
        let mut found = std::mem::take(&mut self.found);
        let mut known = std::mem::take(&mut self.known);
        found.clear();
        if view.states[index as usize].is_alive() {
            for tree in [view.moving, view.fixed].into_iter().filter(|tree| tree.leaves > 0) {
                let (nodes, _) = query::overlapping(tree, 0, bounds, &mut self.stack, |other| {
                    found.push(other);
                    ControlFlow::Continue(())
                });
                self.nodes_visited += nodes;
            }
            self.box_tests += found.len() as u64;
        }
        let long = found.len().max(neighbors.len()) > SHORT;
        if long {
            known.clear();
            known.extend_from_slice(neighbors);
            known.sort_unstable();
            found.sort_unstable();
        }
        let neighbors = if long { &known[..] } else { neighbors };
        let holds = |list: &[u32], other: u32| {
            if long { list.binary_search(&other).is_ok() } else { list.contains(&other) }
        };
        let spoken = |other: u32| {
            let state = view.states[other as usize];
            other < index && state.is_touched() && state.is_moving()
        };
        for &other in &found {
            if other != index && !holds(neighbors, other) && !spoken(other) {
                self.appeared.push(pair::key(index, other));
            }
        }
        for &other in neighbors {
            if !holds(&found, other) && !spoken(other) {
                self.vanished.push(pair::key(index, other));
            }
        }
        (self.found, self.known) = (found, known);
    }

    /// One pair of nodes: leaves that overlap are reported, nodes that overlap become tasks.
    fn walk(&mut self, view: &View, task: Task) {
        self.nodes_visited += 1;
        let a = &view.moving.nodes[task.a as usize];
        if task.with_fixed {
            let b = &view.fixed.nodes[task.b as usize];
            for lane in lanes(a.touched) {
                let mask = b.overlap_mask(&Spread::new(a.lane_box(lane)));
                self.overlap(view, (a, lane), (b, mask), true);
            }
        } else if task.a == task.b {
            for lane in 0..4 {
                let touched = a.touched >> lane & 1;
                // Lanes above this one; all of them if this one moved, else those that did.
                let wanted = (0b1110 << lane) & (a.touched | touched.wrapping_neg());
                if a.links[lane] == Link::NOTHING {
                    continue;
                }
                if touched == 1
                    && let Some(child) = a.links[lane].as_node()
                {
                    self.tasks.push(Task { a: child, b: child, with_fixed: false });
                }
                let mask = a.overlap_mask(&Spread::new(a.lane_box(lane))) & wanted;
                self.overlap(view, (a, lane), (a, mask), false);
            }
        } else {
            let b = &view.moving.nodes[task.b as usize];
            for lane in 0..4 {
                let wanted = b.touched | (a.touched >> lane & 1).wrapping_neg();
                let mask = b.overlap_mask(&Spread::new(a.lane_box(lane))) & wanted;
                self.overlap(view, (a, lane), (b, mask), false);
            }
        }
    }

    /// A lane of one node and lanes of another that it overlaps.
    #[inline(always)]
    fn overlap(&mut self, view: &View, (a, lane): (&Node, usize), (b, mask): (&Node, u32), with_fixed: bool) {
        let one = a.links[lane];
        for k in lanes(mask) {
            let other = b.links[k];
            match (one.as_node(), other.as_node()) {
                (Some(a), Some(b)) => self.tasks.push(Task { a, b, with_fixed }),
                (None, None) => self.report(view, one.payload(), other.payload(), with_fixed),
                (None, Some(node)) => {
                    let tree = if with_fixed { view.fixed } else { view.moving };
                    self.below(
                        view,
                        tree,
                        (node, a.lane_box(lane)),
                        |other| (one.payload(), other),
                        with_fixed,
                    );
                }
                (Some(node), None) => {
                    let leaf = (node, b.lane_box(k));
                    self.below(view, view.moving, leaf, |one| (one, other.payload()), with_fixed);
                }
            }
        }
    }

    /// A leaf against the subtree of a node.
    fn below(
        &mut self,
        view: &View,
        tree: &Tree,
        (node, bounds): (u32, Box32),
        names: impl Fn(u32) -> (u32, u32),
        with_fixed: bool,
    ) {
        let mut stack = std::mem::take(&mut self.stack);
        let (visited, _) = query::overlapping(tree, node, bounds, &mut stack, |leaf| {
            let (one, other) = names(leaf);
            self.report(view, one, other, with_fixed);
            ControlFlow::Continue(())
        });
        self.stack = stack;
        self.nodes_visited += visited;
    }

    /// A moving box and another one overlap: new if one of them was touched and they are no neighbours.
    #[inline(always)]
    fn report(&mut self, view: &View, one: u32, other: u32, with_fixed: bool) {
        self.box_tests += 1;
        let touched = |index: u32| view.states[index as usize].is_touched();
        let touched = touched(one) || (!with_fixed && touched(other));
        if touched && !view.neighbors.of(one).contains(&other) {
            self.appeared.push(pair::key(one, other));
        }
    }
}
