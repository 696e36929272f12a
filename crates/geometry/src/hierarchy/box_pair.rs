//! Overlapping pairs of boxes: between two [`BoxTree`]s, and within one.
//!
//! Within one tree the pair (n, n) of an inner node opens to (l, l), (l, r), (r, r) — never to (r, l) — and
//! that of a leaf to the pairs of different items in it, so every unordered pair comes once.

use std::ops::ControlFlow;

use super::box_tree::Node;
use super::{BoxTree, HierarchyError, Scratch, Visits};

/// Pairs of nodes per thread, for load balancing.
const TASKS_PER_THREAD: usize = 16;

impl BoxTree {
    /// Calls `found` with the pairs (item of this tree, item of the other) whose boxes overlap, until `found`
    /// breaks; both trees are in one frame.
    pub fn pairs(
        &self,
        other: &Self,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Visits {
        let mut visits = Visits::default();
        let stack = &mut scratch.pairs;
        stack.clear();
        stack.push((0, 0));
        while let Some((a, b)) = stack.pop() {
            let (node_a, node_b) = (&self.nodes[a as usize], &other.nodes[b as usize]);
            visits.nodes += 1;
            if !node_a.bounds.overlaps(&node_b.bounds) {
                continue;
            }
            if node_a.count > 0 && node_b.count > 0 {
                for i in places(node_a) {
                    for j in places(node_b) {
                        visits.items += 1;
                        if self.boxes[i].overlaps(&other.boxes[j])
                            && found(self.order[i], other.order[j]).is_break()
                        {
                            return visits;
                        }
                    }
                }
            } else if opens_first(node_a, node_b) {
                stack.extend([(a + 1, b), (a + node_a.link, b)]);
            } else {
                stack.extend([(a, b + 1), (a, b + node_b.link)]);
            }
        }
        visits
    }

    /// All pairs i < j of items whose boxes overlap, sorted, replacing the contents of `pairs`; the same for
    /// any number of threads.
    pub fn self_pairs(
        &self,
        threads: usize,
        scratch: &mut Scratch,
        pairs: &mut Vec<(u32, u32)>,
    ) -> Result<Visits, HierarchyError> {
        if !(1..=1024).contains(&threads) {
            let value = threads as f64;
            return Err(HierarchyError::Parameter { name: "threads", value, allowed: "1 to 1024" });
        }
        pairs.clear();
        let stack = &mut scratch.pairs;
        stack.clear();
        stack.push((0, 0));
        let mut visits = Visits::default();
        if threads == 1 {
            self.drain(stack, usize::MAX, pairs, &mut visits);
        } else {
            self.drain(stack, TASKS_PER_THREAD * threads, pairs, &mut visits);
            let tasks: &[(u32, u32)] = stack;
            let results = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads)
                    .map(|worker| {
                        scope.spawn(move || {
                            let (mut own, mut found) = (Vec::new(), Vec::new());
                            let mut visits = Visits::default();
                            own.extend(tasks.iter().skip(worker).step_by(threads));
                            self.drain(&mut own, usize::MAX, &mut found, &mut visits);
                            (found, visits)
                        })
                    })
                    .collect();
                workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
            });
            for result in results {
                match result {
                    Ok((found, extra)) => {
                        pairs.extend(found);
                        visits += extra;
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
        pairs.sort_unstable();
        Ok(visits)
    }

    /// Processes pairs of nodes until none is left, or until there are enough to distribute.
    fn drain(
        &self,
        stack: &mut Vec<(u32, u32)>,
        enough: usize,
        pairs: &mut Vec<(u32, u32)>,
        visits: &mut Visits,
    ) {
        while stack.len() < enough {
            let Some((a, b)) = stack.pop() else { return };
            let (node_a, node_b) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            visits.nodes += 1;
            if a != b && !node_a.bounds.overlaps(&node_b.bounds) {
                continue;
            }
            if node_a.count > 0 && node_b.count > 0 {
                for j in places(node_b) {
                    let end = if a == b { j } else { places(node_a).end };
                    for i in places(node_a).start..end {
                        visits.items += 1;
                        if self.boxes[i].overlaps(&self.boxes[j]) {
                            let (i, j) = (self.order[i], self.order[j]);
                            pairs.push((i.min(j), i.max(j)));
                        }
                    }
                }
            } else if a == b {
                let (left, right) = (a + 1, a + node_a.link);
                stack.extend([(left, left), (left, right), (right, right)]);
            } else if opens_first(node_a, node_b) {
                stack.extend([(a + 1, b), (a + node_a.link, b)]);
            } else {
                stack.extend([(a, b + 1), (a, b + node_b.link)]);
            }
        }
    }
}

fn places(leaf: &Node) -> std::ops::Range<usize> {
    leaf.link as usize..(leaf.link + leaf.count) as usize
}

/// Whether the first of two nodes, not both leaves, is the one to open: the larger.
fn opens_first(a: &Node, b: &Node) -> bool {
    b.count > 0 || a.count == 0 && a.bounds.surface_area() >= b.bounds.surface_area()
}
