//! The surface-area build of a binary box tree, in single precision.
//!
//! Of a node with box area A a random ray that hits it hits a child with probability A_child/A. So a cut into left and right
//! costs C = C_node A + A_l n_l + A_r n_r against n A of a leaf. Cuts are tried at the borders of equal bins of the
//! centroids along each axis (Wald 2007); a node with few items is sorted along its longest axis and every cut tried.
//!
//! Nodes lie in depth-first order: the left child follows its parent, the right child stands `right` places behind it.
//! Links are relative, so subtrees built by different threads are simply put one after the other, and the tree does not
//! depend on the number of threads.

use glam::Vec4;

use super::unit_frame::Box32;

/// Bins per axis.
const BINS: usize = 16;
/// Up to this many items every cut along the longest axis is tried.
const FEW: usize = 8;
/// Below this depth cuts are made in the middle of the list, which bounds the depth by `DEEP` + log₂ n.
const DEEP: u32 = 64;
/// Subtrees with fewer items are not worth a thread.
const THREAD_MIN: usize = 4096;
/// Smallest normal f32: an index added to its bits stays a normal number, which arithmetic does not slow down on.
const INDEX_BASE: u32 = 0x0080_0000;

/// A box and the index of what it bounds, in the free lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item(Box32);

impl Item {
    #[inline(always)]
    pub fn new(mut bounds: Box32, index: u32) -> Self {
        bounds.low.w = f32::from_bits(INDEX_BASE + index);
        Self(bounds)
    }

    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.0.low.w.to_bits() - INDEX_BASE
    }

    /// Twice the box's centre.
    #[inline(always)]
    fn center(&self) -> Vec4 {
        self.0.low + self.0.high
    }
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub bounds: Box32,
    /// Inner node: places to the right child. Leaf: its first item.
    pub link: u32,
    /// Items of a leaf, 0 for an inner node.
    pub count: u32,
}

/// How much work to spend and where to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub max_leaf: usize,
    pub threads: usize,
    /// Cost of visiting a node over the cost of an item.
    pub node_cost: f32,
}

/// Items ⇒ nodes; the items are sorted into the order of the leaves.
pub(super) fn build(items: &mut [Item], effort: Effort) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(2 * items.len());
    let mut span = Span::EMPTY;
    for item in items.iter() {
        span.add(item);
    }
    subdivide(items, 0, span, 0, effort, effort.threads, &mut nodes);
    nodes
}

/// Box of some items and box of their centres.
#[derive(Clone, Copy)]
struct Span {
    bounds: Box32,
    centers: Box32,
}

impl Span {
    const EMPTY: Self = Self { bounds: Box32::EMPTY, centers: Box32::EMPTY };

    #[inline(always)]
    fn add(&mut self, item: &Item) {
        self.bounds = self.bounds.union(item.0);
        self.centers = self.centers.with_point(item.center());
    }
}

fn subdivide(
    items: &mut [Item],
    first: u32,
    span: Span,
    depth: u32,
    effort: Effort,
    threads: usize,
    nodes: &mut Vec<Node>,
) {
    let count = items.len();
    let place = nodes.len();
    nodes.push(Node { bounds: span.bounds, link: first, count: count as u32 });
    if count == 1 {
        return;
    }
    let cut = if depth >= DEEP {
        None
    } else if count <= FEW {
        sorted_cut(items, &span)
    } else {
        binned_cut(items, &span)
    };
    if count <= effort.max_leaf {
        let leaf = count as f32 * span.bounds.half_area();
        let inner = cut.as_ref().map_or(leaf, |cut| cut.cost) + effort.node_cost * span.bounds.half_area();
        if inner >= leaf {
            return;
        }
    }
    let (middle, left_span, right_span) = match cut {
        Some(Cut { place: Place::Before(middle), .. }) => halves(items, middle),
        Some(Cut { place: Place::Bin { axis, scale, last }, .. }) => {
            partition(items, axis, span.centers.low[axis], scale, last)
        }
        None => halves(items, count / 2),
    };
    let (left, right) = items.split_at_mut(middle);
    let right_first = first + middle as u32;
    if threads > 1 && count >= THREAD_MIN {
        let other = threads / 2;
        let right_nodes = std::thread::scope(|scope| {
            let task = scope.spawn(move || {
                let mut nodes = Vec::with_capacity(2 * right.len());
                subdivide(right, right_first, right_span, depth + 1, effort, other, &mut nodes);
                nodes
            });
            subdivide(left, first, left_span, depth + 1, effort, threads - other, nodes);
            task.join()
        });
        nodes[place].link = (nodes.len() - place) as u32;
        match right_nodes {
            Ok(right_nodes) => nodes.extend_from_slice(&right_nodes),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    } else {
        subdivide(left, first, left_span, depth + 1, effort, 1, nodes);
        nodes[place].link = (nodes.len() - place) as u32;
        subdivide(right, right_first, right_span, depth + 1, effort, 1, nodes);
    }
    nodes[place].count = 0;
}

/// Where a node is cut and what its children cost: A_l n_l + A_r n_r.
struct Cut {
    cost: f32,
    place: Place,
}

enum Place {
    /// Items stand in order; those before the index go left.
    Before(usize),
    /// Items whose bin along the axis is at most `last` go left.
    Bin { axis: usize, scale: f32, last: usize },
}

fn longest_axis(e: Vec4) -> usize {
    if e.x >= e.y && e.x >= e.z {
        0
    } else if e.y >= e.z {
        1
    } else {
        2
    }
}

/// Sorts few items along the longest axis of their centres and tries every cut.
fn sorted_cut(items: &mut [Item], span: &Span) -> Option<Cut> {
    let axis = longest_axis(span.centers.high - span.centers.low);
    let count = items.len();
    for i in 1..count {
        let item = items[i];
        let key = item.center()[axis];
        let mut j = i;
        while j > 0 && items[j - 1].center()[axis] > key {
            items[j] = items[j - 1];
            j -= 1;
        }
        items[j] = item;
    }
    let mut right_cost = [0.0f32; FEW];
    let mut bounds = Box32::EMPTY;
    for i in (1..count).rev() {
        bounds = bounds.union(items[i].0);
        right_cost[i] = (count - i) as f32 * bounds.half_area();
    }
    let mut best = (f32::INFINITY, count / 2);
    bounds = Box32::EMPTY;
    for i in 1..count {
        bounds = bounds.union(items[i - 1].0);
        let cost = i as f32 * bounds.half_area() + right_cost[i];
        if cost < best.0 {
            best = (cost, i);
        }
    }
    Some(Cut { cost: best.0, place: Place::Before(best.1) })
}

/// Bin along an axis from the scaled offset of a centre.
#[inline(always)]
fn bin_of(offset: f32) -> usize {
    // The conversion saturates; the minimum is for the largest centre, which falls on the last border.
    (offset as i32 as usize).min(BINS - 1)
}

/// Sorts the centres into bins and tries their borders; None if no axis parts the centres.
fn binned_cut(items: &[Item], span: &Span) -> Option<Cut> {
    let extent = span.centers.high - span.centers.low;
    let mut scale = Vec4::ZERO;
    for axis in 0..3 {
        let s = BINS as f32 / extent[axis];
        if extent[axis] > 0.0 && s.is_finite() {
            scale[axis] = s;
        }
    }
    let mut boxes = [[Box32::EMPTY; BINS]; 3];
    let mut counts = [[0u32; BINS]; 3];
    for item in items {
        let offset = (item.center() - span.centers.low) * scale;
        let bins = [bin_of(offset.x), bin_of(offset.y), bin_of(offset.z)];
        for axis in 0..3 {
            let bin = bins[axis];
            boxes[axis][bin] = boxes[axis][bin].union(item.0);
            counts[axis][bin] += 1;
        }
    }
    let mut best: Option<Cut> = None;
    for axis in 0..3 {
        if scale[axis] == 0.0 {
            continue;
        }
        let (cost, last) = cheapest_border(&boxes[axis], &counts[axis]);
        if best.as_ref().is_none_or(|known| cost < known.cost) {
            best = Some(Cut { cost, place: Place::Bin { axis, scale: scale[axis], last } });
        }
    }
    best.filter(|cut| cut.cost.is_finite())
}

/// Bins ⇒ (cost, last bin of the left side); infinite cost if one bin holds all.
fn cheapest_border(boxes: &[Box32; BINS], counts: &[u32; BINS]) -> (f32, usize) {
    let mut right_cost = [f32::INFINITY; BINS];
    let (mut bounds, mut count) = (Box32::EMPTY, 0);
    for bin in (1..BINS).rev() {
        bounds = bounds.union(boxes[bin]);
        count += counts[bin];
        if count > 0 {
            right_cost[bin] = count as f32 * bounds.half_area();
        }
    }
    let mut best = (f32::INFINITY, 0);
    (bounds, count) = (Box32::EMPTY, 0);
    for last in 0..BINS - 1 {
        bounds = bounds.union(boxes[last]);
        count += counts[last];
        if count > 0 {
            let cost = count as f32 * bounds.half_area() + right_cost[last + 1];
            if cost < best.0 {
                best = (cost, last);
            }
        }
    }
    best
}

/// Spans of the two sides of a list cut before `middle`.
fn halves(items: &[Item], middle: usize) -> (usize, Span, Span) {
    let (mut left, mut right) = (Span::EMPTY, Span::EMPTY);
    items[..middle].iter().for_each(|item| left.add(item));
    items[middle..].iter().for_each(|item| right.add(item));
    (middle, left, right)
}

/// Brings the items of the bins up to `last` to the front, and spans both sides on the way.
fn partition(items: &mut [Item], axis: usize, low: f32, scale: f32, last: usize) -> (usize, Span, Span) {
    let (mut left, mut right) = (Span::EMPTY, Span::EMPTY);
    let (mut i, mut j) = (0, items.len());
    // Everything before i is left, everything from j on is right.
    while i < j {
        let item = items[i];
        if bin_of((item.center()[axis] - low) * scale) <= last {
            left.add(&item);
            i += 1;
        } else {
            right.add(&item);
            j -= 1;
            items.swap(i, j);
        }
    }
    (i, left, right)
}
