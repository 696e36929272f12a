//! Keeping a tree good while its leaves move.
//!
//! Few changes: each leaf is moved by itself. Many: leaves get their boxes where they are, only strays are
//! put elsewhere, and all boxes above are fitted in one walk. More than half new: the tree is rebuilt.
//!
//! Moving leaves also degrade the topology. So in each step some subtrees, in turn, are rebuilt, with a
//! quarter as many leaves as have moved; after a round the part above them is rebuilt, too. A tree in which
//! no leaf moves has no cost.

use super::build::{Item, build_below};
use super::tree::{NO_SLOT, Tree};
use crate::box32::Box32;
use crate::space::SpaceCounters;
use crate::wide_link::Link;

/// Most leaves of a subtree that is built anew at once.
const SUBTREE: usize = 256;
/// So many leaves are fetched at once.
const BATCH: usize = 16;
/// Deeper trees are built anew as a whole.
const MAX_DEPTH: u32 = 64;

/// State of the incremental rebuild.
#[derive(Clone, Debug, Default)]
pub(super) struct Upkeep {
    /// Subtrees still to be built anew in this round.
    due: Vec<u32>,
    /// The same, sorted, while the part above them is built anew.
    kept: Vec<u32>,
    items: Vec<Item>,
    open: Vec<u32>,
}

impl Upkeep {
    /// Brings a tree up to date with the boxes of the `changed`, given in the same order; `alive` tests which
    /// leaves still exist. True if all boxes were fitted and lanes marked by `moved`.
    pub fn apply(
        &mut self,
        tree: &mut Tree,
        (changed, fresh): (&[u32], &[Box32]),
        boxes: &[Box32],
        alive: impl Fn(u32) -> bool,
        moved: impl Fn(u32) -> bool,
        counters: &mut SpaceCounters,
    ) -> bool {
        if changed.is_empty() {
            return false;
        }
        let new = changed.iter().filter(|&&index| alive(index) && tree.slot(index).is_none()).count();
        let many = changed.len() * 4 > tree.leaves * 3;
        let mut too_deep = 0;
        if new * 2 > tree.leaves {
            for &index in changed.iter().filter(|&&index| !alive(index)) {
                tree.remove(index);
            }
            self.rebuild(tree, changed.iter().copied().filter(|&index| alive(index)), boxes, counters);
        } else {
            for (k, (&index, &bounds)) in changed.iter().zip(fresh).enumerate() {
                if k % BATCH == 0 {
                    tree.prefetch(&changed[k..changed.len().min(k + BATCH)]);
                }
                let depth = match (alive(index), tree.slot(index).is_some()) {
                    (false, _) => {
                        tree.remove(index);
                        0
                    }
                    (true, false) => tree.insert(index, bounds),
                    (true, true) => tree.relocate(index, bounds, !many),
                };
                too_deep = too_deep.max(depth);
                if too_deep > MAX_DEPTH {
                    break;
                }
            }
            counters.refits += changed.len() as u64;
            if too_deep > MAX_DEPTH {
                for &index in changed.iter().filter(|&&index| !alive(index)) {
                    tree.remove(index);
                }
                self.rebuild(tree, changed.iter().copied().filter(|&index| alive(index)), boxes, counters);
            } else {
                self.renew(tree, changed.len() / 4, counters);
            }
        }
        if many {
            tree.refit(&moved);
        }
        many
    }

    /// Builds the whole tree anew, with those in `more` that are not yet in it.
    pub fn rebuild(
        &mut self,
        tree: &mut Tree,
        more: impl Iterator<Item = u32>,
        boxes: &[Box32],
        counters: &mut SpaceCounters,
    ) {
        self.collect(tree, 0);
        let more = more.filter(|&index| tree.slot(index).is_none());
        self.items.extend(more.map(|index| Item { bounds: Box32::EMPTY, link: Link::leaf(index) }));
        for item in &mut self.items {
            item.bounds = boxes[item.link.payload() as usize];
        }
        tree.clear();
        tree.leaves = self.items.len();
        build_below(tree, 0, &mut self.items);
        self.due.clear();
        counters.rebuilds += self.items.len() as u64;
    }

    /// The leaves below a node, as items.
    fn collect(&mut self, tree: &Tree, at: u32) {
        self.items.clear();
        self.open.clear();
        self.open.push(at);
        while let Some(at) = self.open.pop() {
            let node = &tree.nodes[at as usize];
            for lane in 0..4 {
                let link = node.links[lane];
                match link.as_node() {
                    Some(child) => self.open.push(child),
                    None if link != Link::NOTHING => {
                        self.items.push(Item { bounds: node.lane_box(lane), link });
                    }
                    None => {}
                }
            }
        }
    }

    /// Builds subtrees anew until `budget` leaves have been treated.
    fn renew(&mut self, tree: &mut Tree, budget: usize, counters: &mut SpaceCounters) {
        let mut done = 0;
        while done < budget {
            let Some(at) = self.due.pop() else {
                self.begin_round(tree);
                if self.due.is_empty() {
                    return;
                }
                continue;
            };
            let inside = (at as usize) < tree.nodes.len();
            if !inside || (at != 0 && tree.nodes[at as usize].parent == NO_SLOT) {
                done += 1;
                continue;
            }
            self.collect(tree, at);
            done += self.items.len().max(1);
            counters.rebuilds += self.items.len() as u64;
            empty_below(tree, at, &mut self.open, &|_| false);
            build_below(tree, at, &mut self.items);
        }
    }

    /// Lists the subtrees to come, and builds the part above them anew.
    fn begin_round(&mut self, tree: &mut Tree) {
        self.due.clear();
        if tree.leaves <= SUBTREE {
            if tree.leaves > 2 {
                self.due.push(0);
            }
            return;
        }
        self.items.clear();
        list_subtrees(tree, 0, &mut self.due, &mut self.items);
        let Self { due, kept, items, open } = self;
        kept.clear();
        kept.extend_from_slice(due);
        kept.sort_unstable();
        empty_below(tree, 0, open, &|at| kept.binary_search(&at).is_ok());
        build_below(tree, 0, items);
        // Taken from the end: in the order of the tree.
        self.due.reverse();
    }
}

/// Leaves below a node; on the way back, of a node with more than `SUBTREE` the children with fewer are
/// listed.
fn list_subtrees(tree: &Tree, at: u32, due: &mut Vec<u32>, items: &mut Vec<Item>) -> usize {
    let node = &tree.nodes[at as usize];
    let mut counts = [0; 4];
    for lane in 0..4 {
        counts[lane] = match node.links[lane].as_node() {
            Some(child) => list_subtrees(tree, child, due, items),
            None => usize::from(node.links[lane] != Link::NOTHING),
        };
    }
    let total = counts.iter().sum();
    if total <= SUBTREE {
        return total;
    }
    for lane in 0..4 {
        let link = node.links[lane];
        if counts[lane] > 0 && counts[lane] <= SUBTREE {
            items.push(Item { bounds: node.lane_box(lane), link });
            due.extend(link.as_node());
        }
    }
    total
}

/// Clears the lanes of a node and frees the nodes below it, except those to be kept and their subtrees.
fn empty_below(tree: &mut Tree, at: u32, open: &mut Vec<u32>, keep: &dyn Fn(u32) -> bool) {
    open.clear();
    open.push(at);
    while let Some(node) = open.pop() {
        open.extend(
            tree.nodes[node as usize].links.iter().filter_map(|link| link.as_node()).filter(|&n| !keep(n)),
        );
        if node == at {
            for lane in 0..4 {
                tree.nodes[at as usize].set(lane, Box32::EMPTY, Link::NOTHING);
            }
        } else {
            tree.release(node);
        }
    }
}
