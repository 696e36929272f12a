//! Surface area heuristic over bins, shared by the builds of box trees.
//!
//! Of a node with box area A a random ray that hits it hits a child with probability A_child/A. So a cut into
//! left and right costs A_l n_l + A_r n_r. Cuts are tried at the borders of equal bins of the centroids (Wald
//! 2007).

use glam::Vec4;

use crate::box32::Box32;

/// A cut between two bins.
pub(crate) struct Border {
    pub cost: f32,
    /// The last bin on the left side.
    pub last: usize,
    /// Box of the items on the left.
    pub left: Box32,
    /// Box of the items on the right.
    pub right: Box32,
}

/// (boxes and numbers of items by bin) ⇒ the cheapest cut with items on both sides and a finite cost, the
/// first of equal ones.
#[inline(always)]
pub(crate) fn cheapest_border<const COUNT: usize>(
    boxes: &[Box32; COUNT],
    counts: &[u32; COUNT],
) -> Option<Border> {
    let mut right = [Box32::EMPTY; COUNT];
    let (mut bounds, mut total) = (Box32::EMPTY, counts[0]);
    for bin in (1..COUNT).rev() {
        bounds = bounds.union(boxes[bin]);
        right[bin] = bounds;
        total += counts[bin];
    }
    let (mut bounds, mut count) = (Box32::EMPTY, 0);
    let mut best: Option<Border> = None;
    for last in 0..COUNT - 1 {
        // A cut behind an empty bin equals the one before it.
        if counts[last] == 0 {
            continue;
        }
        bounds = bounds.union(boxes[last]);
        count += counts[last];
        let beyond = total - count;
        if beyond == 0 {
            break;
        }
        let cost = count as f32 * bounds.half_area() + beyond as f32 * right[last + 1].half_area();
        if cost.is_finite() && best.as_ref().is_none_or(|known| cost < known.cost) {
            best = Some(Border { cost, last, left: bounds, right: right[last + 1] });
        }
    }
    best
}

/// Axis of the largest component of an extent, the first of equal ones.
pub(crate) fn longest_axis(e: Vec4) -> usize {
    if e.x >= e.y && e.x >= e.z {
        0
    } else if e.y >= e.z {
        1
    } else {
        2
    }
}

/// Insertion sort of a few items by a key; equal ones keep their order.
#[inline(always)]
pub(crate) fn sort_few<T: Copy>(items: &mut [T], key: impl Fn(&T) -> f32) {
    for i in 1..items.len() {
        let item = items[i];
        let own = key(&item);
        let mut j = i;
        while j > 0 && key(&items[j - 1]) > own {
            items[j] = items[j - 1];
            j -= 1;
        }
        items[j] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_box(x: f32) -> Box32 {
        Box32 { low: Vec4::new(x, 0.0, 0.0, 0.0), high: Vec4::new(x + 1.0, 1.0, 1.0, 0.0) }
    }

    /// Two clusters with empty bins between them: the cut is behind the first, with both boxes tight.
    #[test]
    fn the_border_parts_clusters() {
        let mut boxes = [Box32::EMPTY; 8];
        let mut counts = [0; 8];
        for (bin, x) in [(0, 0.0), (1, 1.0), (6, 10.0), (7, 11.0)] {
            (boxes[bin], counts[bin]) = (unit_box(x), 3);
        }
        let border = cheapest_border(&boxes, &counts).unwrap();
        assert_eq!((border.last, border.left.high.x, border.right.low.x), (1, 2.0, 10.0));
        // 2×1×1 on either side: half area 5, six items each.
        assert_eq!(border.cost, 60.0);
    }

    #[test]
    fn items_in_one_bin_have_no_border() {
        let (mut boxes, mut counts) = ([Box32::EMPTY; 4], [0; 4]);
        (boxes[2], counts[2]) = (unit_box(0.0), 5);
        assert!(cheapest_border(&boxes, &counts).is_none());
    }

    #[test]
    fn few_items_are_sorted_and_equal_ones_keep_their_order() {
        let mut items = [(3.0, 'a'), (1.0, 'b'), (3.0, 'c'), (2.0, 'd')];
        sort_few(&mut items, |item| item.0);
        assert_eq!(items.map(|item| item.1), ['b', 'd', 'a', 'c']);
    }
}
