//! Building a tree, or a part of one, from the top down.
//!
//! A node with box area A is met by a random box or ray with a chance ∝ A, so a cut into left and right costs
//! A_l n_l + A_r n_r. Cuts are tried between equal bins of the centres along their longest axis (Wald 2007). A node takes
//! four parts: the part with the largest n A is cut until there are four. A handful is cut in the middle of the list,
//! at a multiple of four, so that the lowest nodes are full.

use glam::Vec4;

use super::tree::{Link, Tree};
use crate::space::box32::Box32;

const BINS: usize = 16;
/// Up to this many items are halved without weighing areas.
const FEW: usize = 16;
/// Below this depth cuts are made in the middle, which bounds the depth.
const DEEP: u32 = 24;

/// Something that shall hang in the tree: a leaf, or a node with all that is below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub bounds: Box32,
    pub link: Link,
}

impl Item {
    /// Twice the box's centre.
    #[inline(always)]
    fn center(&self) -> Vec4 {
        self.bounds.low + self.bounds.high
    }
}

/// A range of items and its box.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    count: usize,
    bounds: Box32,
}

impl Part {
    fn of(items: &[Item], first: usize, count: usize) -> Self {
        let bounds =
            items[first..first + count].iter().fold(Box32::EMPTY, |all, item| all.union(item.bounds));
        Self { first, count, bounds }
    }

    fn cost(&self) -> f32 {
        if self.count < 2 { -1.0 } else { self.count as f32 * self.bounds.half_area() }
    }
}

/// Items ⇒ children of node `at`, which must be empty; all between are new nodes.
pub(super) fn build_below(tree: &mut Tree, at: u32, items: &mut [Item]) {
    subdivide(tree, at, items, 0);
}

fn subdivide(tree: &mut Tree, at: u32, items: &mut [Item], depth: u32) {
    let mut parts = [Part::of(items, 0, items.len()); 4];
    let mut count = 1;
    if items.is_empty() {
        return;
    }
    // Nothing is gained by cutting a part that fits a node, unless all do.
    while count < 4 {
        let small = if items.len() > 4 { 4 } else { 1 };
        let mut widest: Option<usize> = None;
        for (k, part) in parts[..count].iter().enumerate() {
            let open = part.count > small;
            if open && widest.is_none_or(|known| part.cost() > parts[known].cost()) {
                widest = Some(k);
            }
        }
        let Some(k) = widest else { break };
        let Part { first, count: size, .. } = parts[k];
        let left = cut(&mut items[first..first + size], depth);
        parts[k] = Part::of(items, first, left);
        parts[count] = Part::of(items, first + left, size - left);
        count += 1;
    }
    for (lane, part) in parts[..count].iter().enumerate() {
        let slot = at << 2 | lane as u32;
        let range = &mut items[part.first..part.first + part.count];
        if let [only] = range {
            let Item { bounds, link } = *only;
            tree.attach(slot, bounds, link);
        } else {
            let child = tree.allocate(slot);
            tree.attach(slot, part.bounds, Link::node(child));
            subdivide(tree, child, range, depth + 1);
        }
    }
}

/// Sorts the items into two sides ⇒ size of the left one, neither empty.
fn cut(items: &mut [Item], depth: u32) -> usize {
    let (mut low, mut high) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
    for item in items.iter() {
        let center = item.center();
        low = low.min(center);
        high = high.max(center);
    }
    let extent = high - low;
    let axis = if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    };
    if items.len() <= FEW {
        sort_few(items, axis);
        let half = items.len() / 2;
        return if items.len() > 4 { half.next_multiple_of(4).min(items.len() - 1) } else { half };
    }
    let scale = (BINS as f32 - 0.001) / extent[axis];
    if depth < DEEP
        && scale.is_finite()
        && let Some(last) = border(items, axis, low[axis], scale)
    {
        let bin = |item: &Item| ((item.center()[axis] - low[axis]) * scale) as usize;
        return partition(items, |item| bin(item) <= last);
    }
    items.len() / 2
}

/// The last bin left of the cheapest cut.
fn border(items: &[Item], axis: usize, low: f32, scale: f32) -> Option<usize> {
    let mut boxes = [Box32::EMPTY; BINS];
    let mut counts = [0u32; BINS];
    for item in items {
        let bin = (((item.center()[axis] - low) * scale) as usize).min(BINS - 1);
        boxes[bin] = boxes[bin].union(item.bounds);
        counts[bin] += 1;
    }
    let mut costs = [0.0f32; BINS];
    let (mut bounds, mut count) = (Box32::EMPTY, 0);
    for bin in (1..BINS).rev() {
        bounds = bounds.union(boxes[bin]);
        count += counts[bin];
        costs[bin - 1] = if count == 0 { f32::INFINITY } else { count as f32 * bounds.half_area() };
    }
    let (mut bounds, mut count) = (Box32::EMPTY, 0);
    let mut best: Option<(f32, usize)> = None;
    for bin in 0..BINS - 1 {
        bounds = bounds.union(boxes[bin]);
        count += counts[bin];
        if count == 0 {
            continue;
        }
        let cost = costs[bin] + count as f32 * bounds.half_area();
        if cost.is_finite() && best.is_none_or(|(known, _)| cost < known) {
            best = Some((cost, bin));
        }
    }
    best.map(|(_, bin)| bin)
}

/// Brings the items that go left to the front ⇒ how many.
fn partition(items: &mut [Item], goes_left: impl Fn(&Item) -> bool) -> usize {
    let mut left = 0;
    for k in 0..items.len() {
        // Swapped in any case, counted only if meant: no branch to mispredict.
        let goes = goes_left(&items[k]);
        items.swap(left, k);
        left += usize::from(goes);
    }
    left
}

/// Sorts a handful of items by their centres along an axis; equal ones keep their order.
fn sort_few(items: &mut [Item], axis: usize) {
    for k in 1..items.len() {
        let item = items[k];
        let key = item.center()[axis];
        let mut j = k;
        while j > 0 && items[j - 1].center()[axis] > key {
            items[j] = items[j - 1];
            j -= 1;
        }
        items[j] = item;
    }
}
