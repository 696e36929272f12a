//! Building a tree, or a part of one, from the top down.
//!
//! Cuts are made by the surface area heuristic (`binned_sah`) along the longest axis of the centres. A node
//! takes four parts: the part with the largest n A is cut until there are four. A handful is cut in the
//! middle of the list, at a multiple of four, so that the lowest nodes are full.

use glam::Vec4;

use super::tree::Tree;
use crate::binned_sah::{cheapest_border, longest_axis, sort_few};
use crate::box32::Box32;
use crate::wide_link::Link;

const BINS: usize = 16;
/// Up to this many items are halved without weighing areas.
const FEW: usize = 16;
/// Below this depth cuts are made in the middle, which bounds the depth.
const DEEP: u32 = 24;

/// A child to be inserted: a leaf, or a node with its subtree.
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
    // Cutting a part that fits a node gains nothing, unless all do.
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
    let axis = longest_axis(extent);
    if items.len() <= FEW {
        sort_few(items, |item| item.center()[axis]);
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
    cheapest_border(&boxes, &counts).map(|border| border.last)
}

/// Moves the items of the left side to the front ⇒ their number.
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
