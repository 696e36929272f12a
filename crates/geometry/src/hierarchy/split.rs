//! Textbook rules for splitting a node.
//!
//! A plane normal to an axis parts items by the side of their midpoint. The axis is the longest of the node's
//! volume; if one side stays empty, or nearly so, the second longest is tried, then the third, and the best
//! balanced cut is taken. Midpoints that no axis parts stay together or, where a leaf must not hold them all,
//! are cut in the middle of the list.

use glam::DVec3;

/// Position of the splitting plane along its axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitRule {
    /// Through the mean of all corners of all items, a corner counting once for each item.
    #[default]
    Mean,
    /// Through the median of all corners.
    Median,
    /// Through the middle of the extent.
    Middle,
}

/// An item for the splitting rules.
pub(super) trait Corners {
    /// The points whose mean or median places the plane.
    fn corners(&self, item: u32) -> [DVec3; 3];

    /// The point that chooses the side.
    fn midpoint(&self, item: u32) -> DVec3 {
        let [a, b, c] = self.corners(item);
        (a + b + c) / 3.0
    }
}

/// A cut is lopsided if a side of a node with more than `LOPSIDED_FROM` items has less than a twentieth of
/// them.
const LOPSIDED_FROM: usize = 20;

/// Sorts `items` into two sides and returns the size of the first; None if no axis parts the midpoints.
/// `axes` come with the longest first.
pub(super) fn split(
    items: &mut [u32],
    source: &impl Corners,
    axes: [DVec3; 3],
    rule: SplitRule,
    values: &mut Vec<f64>,
) -> Option<usize> {
    let count = items.len();
    let mut best: Option<(usize, DVec3, f64)> = None;
    for axis in axes {
        let plane = plane(items, source, axis, rule, values);
        let below = items.iter().filter(|&&item| axis.dot(source.midpoint(item)) < plane).count();
        let smaller = below.min(count - below);
        if smaller > best.map_or(0, |(known, ..)| known) {
            best = Some((smaller, axis, plane));
        }
        if smaller > 0 && (count <= LOPSIDED_FROM || 20 * smaller >= count) {
            break;
        }
    }
    let (_, axis, plane) = best?;
    let mut middle = 0;
    for i in 0..count {
        if axis.dot(source.midpoint(items[i])) < plane {
            items.swap(i, middle);
            middle += 1;
        }
    }
    Some(middle)
}

/// Place of the plane along the axis.
fn plane(items: &[u32], source: &impl Corners, axis: DVec3, rule: SplitRule, values: &mut Vec<f64>) -> f64 {
    let along = items.iter().flat_map(|&item| source.corners(item)).map(|p| axis.dot(p));
    match rule {
        SplitRule::Mean => {
            let (mut sum, mut low, mut high) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
            for x in along {
                sum += x;
                low = x.min(low);
                high = x.max(high);
            }
            // Rounding must not push the mean of equal numbers beyond them.
            (sum / (3 * items.len()) as f64).clamp(low, high)
        }
        SplitRule::Median => {
            values.clear();
            values.extend(along);
            let middle = values.len() / 2;
            *values.select_nth_unstable_by(middle, f64::total_cmp).1
        }
        SplitRule::Middle => {
            let (low, high) =
                along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (x.min(low), x.max(high)));
            0.5 * low + 0.5 * high
        }
    }
}

/// Coordinate axes of a box, the longest first; equal ones in the order x, y, z.
pub(super) fn axes_by_length(axes: [DVec3; 3], lengths: DVec3) -> [DVec3; 3] {
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    order.map(|k| axes[k])
}
