//! Trees of boxes over faces or edges whose boxes change and whose order does not.
//!
//! Items are ordered once, by halving along the widest axis of their places at rest; nodes cover ranges of that order and stand in
//! preorder, so that a refit is one pass from the end.

use glam::DVec3;

/// Items per leaf.
pub(super) const LEAF: usize = 4;

/// Lowest and highest corner, rounded outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Box32 {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

impl Box32 {
    pub const EMPTY: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// Corners ⇒ box that contains them.
    pub fn around(low: DVec3, high: DVec3) -> Self {
        Self {
            low: low.to_array().map(|x| (x as f32).next_down()),
            high: high.to_array().map(|x| (x as f32).next_up()),
        }
    }

    #[inline(always)]
    pub fn union(&self, o: &Self) -> Self {
        Self {
            low: std::array::from_fn(|k| if self.low[k] < o.low[k] { self.low[k] } else { o.low[k] }),
            high: std::array::from_fn(|k| if self.high[k] > o.high[k] { self.high[k] } else { o.high[k] }),
        }
    }

    #[inline(always)]
    #[allow(clippy::needless_bitwise_bool, reason = "six comparisons without branches")]
    pub fn overlaps(&self, o: &Self) -> bool {
        (self.low[0] <= o.high[0])
            & (o.low[0] <= self.high[0])
            & (self.low[1] <= o.high[1])
            & (o.low[1] <= self.high[1])
            & (self.low[2] <= o.high[2])
            & (o.low[2] <= self.high[2])
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Box32,
    /// Items of the subtree, in tree order.
    first: u32,
    end: u32,
    /// Right child; 0 for a leaf. The left one follows the node.
    right: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Items in tree order.
    pub order: Vec<u32>,
    /// Their boxes, in tree order.
    pub boxes: Vec<Box32>,
}

impl Tree {
    /// Places of the items ⇒ tree.
    pub fn new(places: &[DVec3]) -> Self {
        let mut tree = Self { order: (0..places.len() as u32).collect(), ..Self::default() };
        if !places.is_empty() {
            let mut order = std::mem::take(&mut tree.order);
            tree.split(places, &mut order, 0);
            tree.order = order;
        }
        tree.boxes = vec![Box32::EMPTY; places.len()];
        tree
    }

    fn split(&mut self, places: &[DVec3], items: &mut [u32], first: usize) {
        let node = self.nodes.len();
        let end = first + items.len();
        self.nodes.push(Node { bounds: Box32::EMPTY, first: first as u32, end: end as u32, right: 0 });
        if items.len() <= LEAF {
            return;
        }
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &i in &*items {
            low = low.min(places[i as usize]);
            high = high.max(places[i as usize]);
        }
        let size = high - low;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        // Full leaves: a multiple of the leaf size to the left.
        let middle = (items.len() / 2).next_multiple_of(LEAF).min(items.len() - 1);
        items.select_nth_unstable_by(middle, |&a, &b| {
            places[a as usize][axis].total_cmp(&places[b as usize][axis]).then(a.cmp(&b))
        });
        let (left, right) = items.split_at_mut(middle);
        self.split(places, left, first);
        self.nodes[node].right = self.nodes.len() as u32;
        self.split(places, right, first + middle);
    }

    /// Boxes of the items ⇒ boxes of all nodes.
    pub fn refit(&mut self, threads: usize, item: impl Fn(u32) -> Box32 + Sync) {
        let order = &self.order;
        rattleback_numerics::team::each_piece(threads, &mut self.boxes, 512, |first, boxes| {
            for (k, b) in boxes.iter_mut().enumerate() {
                *b = item(order[first + k]);
            }
        });
        for n in (0..self.nodes.len()).rev() {
            let node = self.nodes[n];
            self.nodes[n].bounds = if node.right == 0 {
                self.boxes[node.first as usize..node.end as usize]
                    .iter()
                    .fold(Box32::EMPTY, |a, b| a.union(b))
            } else {
                self.nodes[n + 1].bounds.union(&self.nodes[node.right as usize].bounds)
            };
        }
    }

    /// Ranges of items in tree order, and box, of each leaf.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, usize, Box32)> + '_ {
        self.nodes.iter().filter(|n| n.right == 0).map(|n| (n.first as usize, n.end as usize, n.bounds))
    }

    /// Calls `found` with the ranges of leaves that overlap a box and end after `from`.
    #[inline]
    pub fn query(&self, bounds: &Box32, from: usize, mut found: impl FnMut(usize, usize)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let n = stack[depth] as usize;
            let node = &self.nodes[n];
            if node.end as usize <= from || !node.bounds.overlaps(bounds) {
                continue;
            }
            if node.right == 0 {
                found(node.first as usize, node.end as usize);
            } else {
                stack[depth] = node.right;
                stack[depth + 1] = n as u32 + 1;
                depth += 2;
            }
        }
    }
}
