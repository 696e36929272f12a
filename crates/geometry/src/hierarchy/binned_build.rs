//! The surface-area build of a binary box tree, in single precision.
//!
//! Cuts are made by the surface area heuristic (`binned_sah`): along all axes for the few large nodes at the
//! top, along the longest axis of the centroids below; a handful of items is halved along it.
//!
//! Nodes lie in depth-first order: the left child follows its parent, the right child is `link` places behind
//! it. Links are relative, so subtrees built by different threads are simply put one after the other, and the
//! tree does not depend on the number of threads.

use glam::Vec4;

use crate::binned_sah::{Border, cheapest_border, longest_axis, sort_few};
use crate::box32::Box32;

/// Bins per axis; a power of two.
const BINS: usize = 16;
/// Up to this many items are halved without weighing areas.
const FEW: usize = 8;
/// Fewer items than this are sorted into half as many bins.
const COARSE: usize = 48;
/// From this many items on all three axes are tried.
const MANY: usize = 8192;
/// Below this depth cuts are made in the middle of the list, which bounds the depth by `DEEP` + log₂ n.
const DEEP: u32 = 64;
/// Items of a subtree that gets a thread of its own, at least.
const THREAD_MIN: usize = 4096;
/// Smallest normal f32: an index added to its bits stays a normal number, which arithmetic does not slow down
/// on.
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

/// Limits of a build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub max_leaf: usize,
    pub threads: usize,
}

/// Items ⇒ nodes, and the items' indices in the order of the leaves.
pub(super) fn build(mut items: Vec<Item>, effort: Effort) -> (Vec<Node>, Vec<u32>) {
    let mut nodes = Vec::with_capacity(items.len() + 1);
    let mut order = vec![0; items.len()];
    let span = Span::of(&items);
    let mut spare = items.clone();
    let range = Range { items: &mut items, spare: &mut spare, order: &mut order, first: 0, span, depth: 0 };
    subdivide(range, effort.max_leaf, effort.threads, &mut nodes);
    (nodes, order)
}

/// Box of some items and box of their centres.
#[derive(Clone, Copy)]
struct Span {
    bounds: Box32,
    centers: Box32,
}

impl Span {
    fn of(items: &[Item]) -> Self {
        items.iter().fold(Self { bounds: Box32::EMPTY, centers: Box32::EMPTY }, |span, item| Self {
            bounds: span.bounds.union(item.0),
            centers: span.centers.with_point(item.center()),
        })
    }
}

/// Items of a subtree, as much spare room to sort them into, and their places in the leaf order.
struct Range<'a> {
    items: &'a mut [Item],
    spare: &'a mut [Item],
    order: &'a mut [u32],
    first: u32,
    span: Span,
    depth: u32,
}

fn subdivide(range: Range, max_leaf: usize, threads: usize, nodes: &mut Vec<Node>) {
    let Range { mut items, mut spare, order, first, span, depth } = range;
    let count = items.len();
    let place = nodes.len();
    nodes.push(Node { bounds: span.bounds, link: first, count: count as u32 });
    if count <= max_leaf {
        for (place, item) in order.iter_mut().zip(items) {
            *place = item.index();
        }
        return;
    }
    let Cut { middle, left, right, moved } = cut(items, spare, &span, depth);
    if moved {
        (items, spare) = (spare, items);
    }
    let (left_items, right_items) = items.split_at_mut(middle);
    let (left_spare, right_spare) = spare.split_at_mut(middle);
    let (left_order, right_order) = order.split_at_mut(middle);
    let depth = depth + 1;
    let left = Range { items: left_items, spare: left_spare, order: left_order, first, span: left, depth };
    let first = first + middle as u32;
    let right =
        Range { items: right_items, spare: right_spare, order: right_order, first, span: right, depth };
    if threads > 1 && count >= THREAD_MIN {
        let other = threads / 2;
        let right_nodes = std::thread::scope(|scope| {
            let task = scope.spawn(move || {
                let mut nodes = Vec::with_capacity(right.items.len() + 1);
                subdivide(right, max_leaf, other, &mut nodes);
                nodes
            });
            subdivide(left, max_leaf, threads - other, nodes);
            task.join()
        });
        nodes[place].link = (nodes.len() - place) as u32;
        match right_nodes {
            Ok(right_nodes) => nodes.extend_from_slice(&right_nodes),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    } else {
        subdivide(left, max_leaf, 1, nodes);
        nodes[place].link = (nodes.len() - place) as u32;
        subdivide(right, max_leaf, 1, nodes);
    }
    nodes[place].count = 0;
}

/// Two sides.
struct Cut {
    /// Size of the left one.
    middle: usize,
    left: Span,
    right: Span,
    /// Whether the sorted items are in the spare room.
    moved: bool,
}

/// Sorts the items into two sides.
fn cut(items: &mut [Item], spare: &mut [Item], span: &Span, depth: u32) -> Cut {
    let extent = span.centers.high - span.centers.low;
    let longest = longest_axis(extent);
    if depth < DEEP {
        if items.len() <= FEW {
            match longest {
                0 => sort_few(items, |item| along::<0>(item.center())),
                1 => sort_few(items, |item| along::<1>(item.center())),
                _ => sort_few(items, |item| along::<2>(item.center())),
            }
        } else {
            let axes = if items.len() >= MANY { 0..3 } else { longest..longest + 1 };
            let mut best: Option<AxisBorder> = None;
            for axis in axes {
                let border = match (axis, items.len() < COARSE) {
                    (0, true) => border::<0, { BINS / 2 }>(items, span),
                    (1, true) => border::<1, { BINS / 2 }>(items, span),
                    (_, true) => border::<2, { BINS / 2 }>(items, span),
                    (0, false) => border::<0, BINS>(items, span),
                    (1, false) => border::<1, BINS>(items, span),
                    (_, false) => border::<2, BINS>(items, span),
                };
                if let Some(border) = border
                    && best.as_ref().is_none_or(|known| border.border.cost < known.border.cost)
                {
                    best = Some(border);
                }
            }
            if let Some(best) = best {
                return match best.axis {
                    0 => partition::<0>(items, spare, &best),
                    1 => partition::<1>(items, spare, &best),
                    _ => partition::<2>(items, spare, &best),
                };
            }
        }
    }
    let middle = items.len() / 2;
    let (left, right) = (Span::of(&items[..middle]), Span::of(&items[middle..]));
    Cut { middle, left, right, moved: false }
}

#[inline(always)]
fn along<const AXIS: usize>(v: Vec4) -> f32 {
    match AXIS {
        0 => v.x,
        1 => v.y,
        _ => v.z,
    }
}

/// Where bins begin and how wide they are.
#[derive(Clone, Copy)]
struct Bins {
    low: f32,
    scale: f32,
}

impl Bins {
    fn new<const AXIS: usize, const COUNT: usize>(span: &Span) -> Option<Self> {
        let low = along::<AXIS>(span.centers.low);
        let extent = along::<AXIS>(span.centers.high) - low;
        let scale = (COUNT - 1) as f32 / extent;
        (extent > 0.0 && scale.is_finite()).then_some(Self { low, scale })
    }

    /// Bin of a centre: the nearest integer to its scaled offset, which lies within 0 and `COUNT` − 1. Adding
    /// 2²³ rounds and puts the integer into the last bits, quicker than a conversion.
    #[inline(always)]
    fn of<const AXIS: usize>(self, item: &Item) -> usize {
        let offset = (along::<AXIS>(item.center()) - self.low) * self.scale;
        (offset + 8_388_608.0).to_bits() as usize & (BINS - 1)
    }
}

/// A cut between bins along an axis.
struct AxisBorder {
    axis: usize,
    bins: Bins,
    border: Border,
}

/// Sorts the centres into bins and takes the cheapest border; None if the axis does not part them.
fn border<const AXIS: usize, const COUNT: usize>(items: &[Item], span: &Span) -> Option<AxisBorder> {
    let bins = Bins::new::<AXIS, COUNT>(span)?;
    let mut boxes = [Box32::EMPTY; COUNT];
    let mut counts = [0u32; COUNT];
    for item in items {
        let bin = bins.of::<AXIS>(item) & (COUNT - 1);
        boxes[bin] = boxes[bin].union(item.0);
        counts[bin] += 1;
    }
    let border = cheapest_border(&boxes, &counts)?;
    Some(AxisBorder { axis: AXIS, bins, border })
}

/// Copies the items to the spare room, those left of the cut to the front, and spans both sides on the way.
/// Every item is written to both sides and only one of the two positions advances: there is no branch to
/// mispredict.
fn partition<const AXIS: usize>(items: &[Item], spare: &mut [Item], cut: &AxisBorder) -> Cut {
    let count = items.len();
    let (mut below, mut above) = (Box32::EMPTY, Box32::EMPTY);
    let mut left = 0;
    for (done, item) in items.iter().enumerate() {
        let goes_left = cut.bins.of::<AXIS>(item) <= cut.border.last;
        let right = count - 1 - (done - left);
        spare[left] = *item;
        spare[right] = *item;
        left += usize::from(goes_left);
        // A centre on the wrong side is replaced by a neutral element.
        let center = item.center();
        let (low_left, low_right) = if goes_left { (0.0, f32::INFINITY) } else { (f32::INFINITY, 0.0) };
        below = Box32 { low: below.low.min(center + low_left), high: below.high.max(center - low_left) };
        above = Box32 { low: above.low.min(center + low_right), high: above.high.max(center - low_right) };
    }
    Cut {
        middle: left,
        left: Span { bounds: cut.border.left, centers: below },
        right: Span { bounds: cut.border.right, centers: above },
        moved: true,
    }
}
