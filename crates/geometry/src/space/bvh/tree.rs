//! A tree of boxes with up to four children per node, which can be changed leaf by leaf.
//!
//! A node holds the boxes of its children coordinate by coordinate, so that one vector operation tests all
//! four. A *slot* is 4 · node + lane. A lane is empty, a leaf (the index of a box), or a node. Node 0 is the
//! root and never leaves. Boxes of inner lanes are always the union of the lanes below.
//!
//! Insertion goes down the lane whose surface grows least until a node has a free lane: a free lane is tested
//! along with the other three anyway, so a leaf there has no extra cost. A leaf that moves is put back from
//! the lowest ancestor that holds its new box, which leaves everything above as it is.

use glam::Vec4;

use crate::box32::Box32;
use crate::wide_link::Link;

/// Up to four boxes; an empty lane has an inverted box, which overlaps no box.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Node {
    pub low: [Vec4; 3],
    pub high: [Vec4; 3],
    pub links: [Link; 4],
    /// Slot of the parent that leads here; `NO_SLOT` for the root and for nodes that are not in use.
    pub parent: u32,
    /// Bit k: something below lane k has moved. Only valid during the pair search.
    pub touched: u32,
}

pub(super) const NO_SLOT: u32 = u32::MAX;

impl Node {
    pub const EMPTY: Self = Self {
        low: [Vec4::INFINITY; 3],
        high: [Vec4::NEG_INFINITY; 3],
        links: [Link::NOTHING; 4],
        parent: NO_SLOT,
        touched: 0,
    };

    #[inline(always)]
    pub fn set(&mut self, lane: usize, bounds: Box32, link: Link) {
        self.set_box(lane, bounds);
        self.links[lane] = link;
    }

    #[inline(always)]
    pub fn set_box(&mut self, lane: usize, bounds: Box32) {
        for axis in 0..3 {
            self.low[axis][lane] = bounds.low[axis];
            self.high[axis][lane] = bounds.high[axis];
        }
    }

    #[inline(always)]
    pub fn lane_box(&self, lane: usize) -> Box32 {
        Box32 {
            low: Vec4::new(self.low[0][lane], self.low[1][lane], self.low[2][lane], 0.0),
            high: Vec4::new(self.high[0][lane], self.high[1][lane], self.high[2][lane], 0.0),
        }
    }

    /// Box around all lanes.
    #[inline(always)]
    pub fn union(&self) -> Box32 {
        let low = self.low.map(Vec4::min_element);
        let high = self.high.map(Vec4::max_element);
        Box32 { low: Vec4::new(low[0], low[1], low[2], 0.0), high: Vec4::new(high[0], high[1], high[2], 0.0) }
    }

    /// Bit k: lane k overlaps the box.
    #[inline(always)]
    pub fn overlap_mask(&self, q: &Spread) -> u32 {
        let x = self.low[0].cmple(q.high[0]) & self.high[0].cmpge(q.low[0]);
        let y = self.low[1].cmple(q.high[1]) & self.high[1].cmpge(q.low[1]);
        let z = self.low[2].cmple(q.high[2]) & self.high[2].cmpge(q.low[2]);
        (x & y & z).bitmask()
    }

    /// For each lane half the surface of the union with a box, and half its own.
    #[inline(always)]
    fn surfaces(&self, q: &Spread) -> (Vec4, Vec4) {
        let mut grown = [Vec4::ZERO; 3];
        let mut own = [Vec4::ZERO; 3];
        for axis in 0..3 {
            grown[axis] = self.high[axis].max(q.high[axis]) - self.low[axis].min(q.low[axis]);
            own[axis] = self.high[axis] - self.low[axis];
        }
        let area = |e: [Vec4; 3]| e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
        (area(grown), area(own))
    }
}

/// A box with each coordinate in four lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub low: [Vec4; 3],
    pub high: [Vec4; 3],
}

impl Spread {
    #[inline(always)]
    pub fn new(bounds: Box32) -> Self {
        let spread = |v: Vec4| [Vec4::splat(v.x), Vec4::splat(v.y), Vec4::splat(v.z)];
        Self { low: spread(bounds.low), high: spread(bounds.high) }
    }
}

/// Lanes of a mask, lowest first.
#[inline(always)]
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            lane as usize
        })
    })
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    free: Vec<u32>,
    /// Slot of each box by index; shorter than the list of boxes if the last ones are not here.
    slots: Vec<u32>,
    pub leaves: usize,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::EMPTY], free: Vec::new(), slots: Vec::new(), leaves: 0 }
    }
}

impl Tree {
    /// Slot of a box, if it is a leaf here.
    #[inline(always)]
    pub fn slot(&self, index: u32) -> Option<u32> {
        self.slots.get(index as usize).copied().filter(|&slot| slot != NO_SLOT)
    }

    pub fn set_slot(&mut self, index: u32, slot: u32) {
        if self.slots.len() <= index as usize {
            self.slots.resize(index as usize + 1, NO_SLOT);
        }
        self.slots[index as usize] = slot;
    }

    /// Prefetches the nodes of some leaves, and those above, by dummy reads: these do not wait
    /// for each other, those of a way through the tree do.
    pub fn prefetch(&self, leaves: &[u32]) {
        for slot in leaves.iter().filter_map(|&index| self.slot(index)) {
            let node = &self.nodes[(slot >> 2) as usize];
            std::hint::black_box((node.low[0].x, node.parent));
        }
        for slot in leaves.iter().filter_map(|&index| self.slot(index)) {
            let above = self.nodes[(slot >> 2) as usize].parent;
            if let Some(node) = self.nodes.get((above >> 2) as usize) {
                std::hint::black_box((node.low[0].x, node.parent));
            }
        }
    }

    /// A fresh node below a slot.
    pub fn allocate(&mut self, parent: u32) -> u32 {
        let node = Node { parent, ..Node::EMPTY };
        if let Some(place) = self.free.pop() {
            self.nodes[place as usize] = node;
            return place;
        }
        self.nodes.push(node);
        // All of them may be given back at once; there shall be room then.
        self.free.reserve(self.nodes.len());
        (self.nodes.len() - 1) as u32
    }

    pub fn release(&mut self, node: u32) {
        self.nodes[node as usize] = Node::EMPTY;
        self.free.push(node);
    }

    /// Removes all leaves and nodes.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::EMPTY);
        self.free.clear();
        self.slots.fill(NO_SLOT);
        self.leaves = 0;
    }

    /// Puts a child into a lane and updates its parent link.
    pub fn attach(&mut self, slot: u32, bounds: Box32, link: Link) {
        self.nodes[(slot >> 2) as usize].set(slot as usize & 3, bounds, link);
        match link.as_node() {
            Some(node) => self.nodes[node as usize].parent = slot,
            None => self.set_slot(link.payload(), slot),
        }
    }

    /// Puts a new leaf in ⇒ how many nodes lie above it.
    pub fn insert(&mut self, index: u32, bounds: Box32) -> u32 {
        self.leaves += 1;
        self.insert_below(0, index, bounds)
    }

    /// Puts a leaf somewhere below a node whose box and ancestors already hold it ⇒ how far below.
    fn insert_below(&mut self, from: u32, index: u32, bounds: Box32) -> u32 {
        let q = Spread::new(bounds);
        let mut at = from;
        let mut depth = 0;
        loop {
            let node = &mut self.nodes[at as usize];
            if let Some(lane) = node.links.iter().position(|&link| link == Link::NOTHING) {
                self.attach(at << 2 | lane as u32, bounds, Link::leaf(index));
                return depth;
            }
            let (grown, own) = node.surfaces(&q);
            let mut best = (f32::INFINITY, 0);
            // Where all lanes are alike (many equal boxes) the index decides, or the tree would become a
            // list.
            let first = index >> (2 * (depth & 15));
            for lane in (0..4).map(|k| (first + k) as usize & 3) {
                // A leaf would get a new node around itself and the newcomer.
                let kept = if node.links[lane].as_node().is_some() { own[lane] } else { 0.0 };
                let cost = grown[lane] - kept;
                if cost < best.0 {
                    best = (cost, lane);
                }
            }
            let lane = best.1;
            let (old, link) = (node.lane_box(lane), node.links[lane]);
            node.set_box(lane, old.union(bounds));
            let slot = at << 2 | lane as u32;
            depth += 1;
            if let Some(child) = link.as_node() {
                at = child;
                continue;
            }
            let child = self.allocate(slot);
            self.nodes[at as usize].links[lane] = Link::node(child);
            self.attach(child << 2, old, link);
            self.attach(child << 2 | 1, bounds, Link::leaf(index));
            return depth;
        }
    }

    pub fn remove(&mut self, index: u32) {
        if let Some(slot) = self.slot(index) {
            self.detach(slot);
            self.slots[index as usize] = NO_SLOT;
            self.leaves -= 1;
        }
    }

    /// Empties a lane; a node with a single lane left is replaced by it.
    fn detach(&mut self, slot: u32) {
        let at = slot >> 2;
        let node = &mut self.nodes[at as usize];
        node.set((slot & 3) as usize, Box32::EMPTY, Link::NOTHING);
        if at == 0 {
            return;
        }
        let mut left = node.links.iter().enumerate().filter(|&(_, &link)| link != Link::NOTHING);
        if let (Some((lane, &link)), None) = (left.next(), left.next()) {
            let (bounds, parent) = (node.lane_box(lane), node.parent);
            self.release(at);
            self.attach(parent, bounds, link);
            self.fit_above(parent >> 2);
        } else {
            self.fit_above(at);
        }
    }

    /// Makes the boxes above a node fit again, as far up as they change.
    fn fit_above(&mut self, mut at: u32) {
        loop {
            let node = &self.nodes[at as usize];
            let (bounds, parent) = (node.union(), node.parent);
            if parent == NO_SLOT {
                return;
            }
            let above = &mut self.nodes[(parent >> 2) as usize];
            let lane = (parent & 3) as usize;
            if above.lane_box(lane) == bounds {
                return;
            }
            above.set_box(lane, bounds);
            at = parent >> 2;
        }
    }

    /// Gives a leaf a new box: in place if the box of its node or of the node above contains it, else
    /// reinserted ⇒ how many nodes lie above it, 0 if these did not change. Without `fit` the boxes above are
    /// left for [`Self::refit`].
    pub fn relocate(&mut self, index: u32, bounds: Box32, fit: bool) -> u32 {
        let Some(slot) = self.slot(index) else { return 0 };
        let mut at = slot >> 2;
        let mut climbed = 0;
        loop {
            let parent = self.nodes[at as usize].parent;
            if parent == NO_SLOT {
                break;
            }
            if self.nodes[(parent >> 2) as usize].lane_box((parent & 3) as usize).contains(bounds) {
                break;
            }
            at = parent >> 2;
            climbed += 1;
        }
        if climbed <= 1 {
            self.nodes[(slot >> 2) as usize].set_box((slot & 3) as usize, bounds);
            if fit {
                self.fit_above(slot >> 2);
            }
            return 0;
        }
        // The holder stays: it is at least two nodes above the one that may dissolve.
        self.detach_below(slot, at);
        let below = self.insert_below(at, index, bounds);
        self.fit_above(at);
        below + self.depth(at)
    }

    /// How many nodes lie above a node.
    fn depth(&self, mut at: u32) -> u32 {
        let mut depth = 0;
        while self.nodes[at as usize].parent != NO_SLOT {
            at = self.nodes[at as usize].parent >> 2;
            depth += 1;
        }
        depth
    }

    /// Empties a lane and makes the boxes fit up to, but without, the lane of node `top`.
    fn detach_below(&mut self, slot: u32, top: u32) {
        let keep = self.nodes[top as usize].parent;
        // Cut off above, so that fitting ends there.
        self.nodes[top as usize].parent = NO_SLOT;
        self.detach(slot);
        self.nodes[top as usize].parent = keep;
    }

    /// Makes all boxes fit, and marks the lanes with a `moved` leaf below.
    pub fn refit(&mut self, moved: &impl Fn(u32) -> bool) {
        self.refit_node(0, moved);
    }

    fn refit_node(&mut self, at: u32, moved: &impl Fn(u32) -> bool) -> (Box32, bool) {
        let links = self.nodes[at as usize].links;
        let mut touched = 0;
        for lane in 0..4 {
            if links[lane] == Link::NOTHING {
                continue;
            }
            if let Some(child) = links[lane].as_node() {
                let (bounds, any) = self.refit_node(child, moved);
                self.nodes[at as usize].set_box(lane, bounds);
                touched |= u32::from(any) << lane;
            } else {
                touched |= u32::from(moved(links[lane].payload())) << lane;
            }
        }
        let node = &mut self.nodes[at as usize];
        node.touched = touched;
        (node.union(), touched != 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::space::SpaceCounters;
    use crate::space::bvh::maintain::Upkeep;

    impl Tree {
        /// Checks the invariants of the tree.
        pub fn assert_sound(&self) {
            let mut open = vec![0u32];
            let (mut leaves, mut nodes) = (0, 0);
            while let Some(at) = open.pop() {
                nodes += 1;
                let node = &self.nodes[at as usize];
                let filled = node.links.iter().filter(|&&link| link != Link::NOTHING).count();
                assert!(at == 0 || filled >= 2, "node {at} holds {filled}");
                for lane in 0..4 {
                    let slot = at << 2 | lane as u32;
                    let link = node.links[lane];
                    if link == Link::NOTHING {
                        assert!(node.low[0][lane] > node.high[0][lane]);
                    } else if let Some(child) = link.as_node() {
                        assert_eq!(self.nodes[child as usize].parent, slot);
                        assert_eq!(self.nodes[child as usize].union(), node.lane_box(lane));
                        open.push(child);
                    } else {
                        leaves += 1;
                        assert_eq!(self.slots[link.payload() as usize], slot);
                    }
                }
            }
            assert_eq!(leaves, self.leaves);
            assert_eq!(nodes + self.free.len(), self.nodes.len());
        }
    }

    fn cube(p: [f32; 3], half: f32) -> Box32 {
        let p = Vec4::new(p[0], p[1], p[2], 0.0);
        let half = Vec4::new(half, half, half, 0.0);
        Box32 { low: p - half, high: p + half }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// After any insertions, moves and removals boxes fit, links are consistent, and no leaf is lost.
        #[test]
        fn tree_stays_sound(
            steps in prop::collection::vec(
                prop::collection::vec((0u32..400, prop::array::uniform3(-9.0f32..9.0), 0.0f32..2.0, 0u8..8), 1..120), 1..12,
            ),
        ) {
            let (mut tree, mut upkeep) = (Tree::default(), Upkeep::default());
            let mut boxes = vec![Box32::EMPTY; 400];
            let mut alive = vec![false; 400];
            for step in steps {
                let mut changed: Vec<u32> = Vec::new();
                for (index, center, half, what) in step {
                    if changed.contains(&index) {
                        continue;
                    }
                    changed.push(index);
                    alive[index as usize] = what > 0;
                    boxes[index as usize] = cube(center, half);
                }
                let (living, counters) = (|index: u32| alive[index as usize], &mut SpaceCounters::default());
                let fresh: Vec<Box32> = changed.iter().map(|&index| boxes[index as usize]).collect();
                upkeep.apply(&mut tree, (&changed, &fresh), &boxes, living, |_| true, counters);
                tree.assert_sound();
                prop_assert_eq!(tree.leaves, alive.iter().filter(|&&alive| alive).count());
                for index in (0..400).filter(|&index| alive[index as usize]) {
                    let slot = tree.slot(index).unwrap();
                    let kept = tree.nodes[(slot >> 2) as usize].lane_box((slot & 3) as usize);
                    prop_assert_eq!(kept, boxes[index as usize]);
                }
            }
        }
    }
}
