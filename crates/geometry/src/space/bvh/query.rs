//! Rays, nearest boxes and overlaps.
//!
//! Tree boxes are single precision and too large, so they only cull; every box itself is tested in double
//! precision. The origin o of a ray becomes two numbers, o₋ < o < o₊: entering a slab is computed as (low −
//! o₊)/d, leaving it as (high − o₋)/d (for d > 0), which is never too late and never too early but for the
//! rounding of quotient and product, which SLACK covers. Because the inequalities are strict, a ray along a
//! face (0 · ∞) is not lost.

use std::ops::ControlFlow;

use glam::{DVec3, Vec4};

use super::tree::{Node, Spread, Tree, lanes};
use crate::Aabb;
use crate::box32::{self, Box32};
use crate::primitive::Ray;
use crate::wide_link::Link;

/// Relative error of a few single-precision operations, generously.
const SLACK: f32 = 1.0 / (1 << 20) as f32;

/// How far off four boxes are.
pub(super) trait Measure {
    /// (node, limit) ⇒ how far off each lane is at least, and which of them may lie within the limit.
    fn measure(&self, node: &Node, limit: f32) -> (Vec4, u32);
}

/// A ray ready for four boxes at once.
pub(super) struct WideRay {
    axes: [Axis; 3],
}

/// A ray along one axis.
#[derive(Clone, Copy)]
struct Axis {
    /// o₊ where the lower side is hit first, else o₋; and the other one.
    near_shift: Vec4,
    far_shift: Vec4,
    /// 1/d, a little closer to zero and a little farther from it.
    less: Vec4,
    more: Vec4,
    /// 0 if the lower side is hit first, 1 if the upper.
    first: usize,
}

impl WideRay {
    /// A ray relative to the origin of the boxes.
    pub fn new(ray: &Ray, origin: DVec3) -> Self {
        let o = (ray.origin() - origin).as_vec3().extend(0.0);
        let (before, behind) = (box32::below(o), box32::above(o));
        let inverse = ray.direction().as_vec3().recip();
        let axes = std::array::from_fn(|axis| {
            let forward = inverse[axis] >= 0.0;
            let shifts = if forward { [behind, before] } else { [before, behind] };
            Axis {
                near_shift: Vec4::splat(shifts[0][axis]),
                far_shift: Vec4::splat(shifts[1][axis]),
                less: Vec4::splat(inverse[axis] * (1.0 - SLACK)),
                more: Vec4::splat(inverse[axis] * (1.0 + SLACK)),
                first: usize::from(!forward),
            }
        });
        Self { axes }
    }
}

impl Measure for WideRay {
    /// Where the ray enters each lane, and which lanes it hits.
    #[inline(always)]
    fn measure(&self, node: &Node, limit: f32) -> (Vec4, u32) {
        let (mut enter, mut leave) = (Vec4::ZERO, Vec4::splat(limit));
        let sides = [&node.low, &node.high];
        for axis in 0..3 {
            let Axis { near_shift, far_shift, less, more, first } = self.axes[axis];
            enter = ((sides[first & 1][axis] - near_shift) * less).max(enter);
            leave = ((sides[first & 1 ^ 1][axis] - far_shift) * more).min(leave);
        }
        (enter, enter.cmple(leave).bitmask())
    }
}

/// Whether a point is within the range of single precision.
pub(super) fn within_reach(p: DVec3, origin: DVec3) -> bool {
    (p - origin).abs().max_element() < 1e30
}

/// A limit in single precision that is not too small.
fn above(limit: f64) -> f32 {
    let rounded = limit.min(1e30) as f32;
    rounded + rounded.abs() * SLACK + f32::MIN_POSITIVE
}

/// Priority queue entry: lower bound of the distance and link, as one number. Distances are not negative, and
/// their bits are in the order of their values, so the nearer of two is the lesser number; 0 is empty. The
/// last is taken first.
struct Queue {
    first: [u64; ROOM],
    count: usize,
    /// Overflow of the queue.
    before: Vec<u64>,
}

/// Enough for most trees.
const ROOM: usize = 48;

impl Queue {
    #[inline(always)]
    fn of(link: Link) -> Self {
        let mut first = [0; ROOM];
        first[0] = u64::from(link.bits());
        Self { first, count: 1, before: Vec::new() }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(f32, Link)> {
        let key = match self.count.checked_sub(1) {
            Some(last) => {
                self.count = last;
                self.first[last.min(ROOM - 1)]
            }
            None => self.before.pop()?,
        };
        Some((f32::from_bits((key >> 32) as u32), Link::from_bits(key as u32)))
    }

    /// Adds the lanes of a mask, the nearest last. Which and how many they are is hard to foresee, so all
    /// four are sorted and written, without a branch, and those that are not meant do not count.
    #[inline(always)]
    fn push(&mut self, distances: [f32; 4], links: &[Link; 4], mask: u32) {
        if self.count > ROOM - 4 {
            self.make_room();
        }
        let key = |lane: usize| {
            let meant = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            (u64::from(distances[lane].to_bits()) << 32 | u64::from(links[lane].bits())) & meant
        };
        let sorted = sorted_down([key(0), key(1), key(2), key(3)]);
        if let Some(places) = self.first.get_mut(self.count..self.count + 4) {
            places.copy_from_slice(&sorted);
            self.count += mask.count_ones() as usize;
        }
    }

    #[cold]
    fn make_room(&mut self) {
        self.before.extend_from_slice(&self.first[..self.count]);
        self.count = 0;
    }
}

/// Largest first.
#[inline(always)]
fn sorted_down([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let (a, b) = (a.max(b), a.min(b));
    let (c, d) = (c.max(d), c.min(d));
    let (a, c) = (a.max(c), a.min(c));
    let (b, d) = (b.max(d), b.min(d));
    [a, b.max(c), b.min(c), d]
}

/// Visits the nodes near to far and calls `leaf` (index, limit) for each box on the way. Boxes are queued as
/// nodes are: a box beyond the limit set by a nearer one is never visited.
#[inline(always)]
pub(super) fn descend(
    tree: &Tree,
    limit: &mut f64,
    measure: &impl Measure,
    mut leaf: impl FnMut(u32, &mut f64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if tree.leaves == 0 {
        return ControlFlow::Continue(());
    }
    let mut queue = Queue::of(Link::node(0));
    let mut reach = above(*limit);
    while let Some((distance, link)) = queue.pop() {
        if distance > reach {
            continue;
        }
        if let Some(at) = link.as_node() {
            let node = &tree.nodes[at as usize];
            let (distances, mask) = measure.measure(node, reach);
            queue.push(distances.to_array(), &node.links, mask);
        } else if link != Link::NOTHING {
            leaf(link.payload(), limit)?;
            reach = above(*limit);
        }
    }
    ControlFlow::Continue(())
}

/// Whether a ray surely misses a box: in double precision, without a division.
pub(super) struct Sieve {
    origin: DVec3,
    /// 1/d, unless a component of d is so small that the products overflow.
    inverse: Option<DVec3>,
}

impl Sieve {
    pub fn new(ray: &Ray) -> Self {
        let usable = ray.direction().abs().min_element() > 1e-30;
        Self { origin: ray.origin(), inverse: usable.then(|| ray.direction().recip()) }
    }

    /// Products with the inverse are off by some 10⁻¹⁶ relative to the quotients, 10⁻¹² is allowed.
    #[inline(always)]
    pub fn misses(&self, bounds: &Aabb, limit: f64) -> bool {
        let Some(inverse) = self.inverse else { return false };
        let (one, other) = ((bounds.min() - self.origin) * inverse, (bounds.max() - self.origin) * inverse);
        let enter = one.min(other).max_element();
        let leave = one.max(other).min_element().min(limit);
        enter - 1e-12 * enter.abs() > leave + 1e-12 * leave.abs() || leave < 0.0
    }
}

/// A point ready for four boxes at once: two numbers below and above each of its coordinates.
pub(super) struct WidePoint {
    before: [Vec4; 3],
    behind: [Vec4; 3],
}

impl WidePoint {
    /// A point relative to the origin of the boxes.
    pub fn new(point: DVec3, origin: DVec3) -> Self {
        let p = (point - origin).as_vec3().extend(0.0);
        let spread = |v: Vec4| [Vec4::splat(v.x), Vec4::splat(v.y), Vec4::splat(v.z)];
        Self { before: spread(box32::below(p)), behind: spread(box32::above(p)) }
    }
}

impl Measure for WidePoint {
    #[inline(always)]
    fn measure(&self, node: &Node, limit: f32) -> (Vec4, u32) {
        let mut square = Vec4::ZERO;
        for axis in 0..3 {
            let (low, high) = (node.low[axis] - self.behind[axis], self.before[axis] - node.high[axis]);
            let outside = low.max(high).max(Vec4::ZERO);
            square += outside * outside;
        }
        let distance = square.map(f32::sqrt) * (1.0 - SLACK);
        (distance, distance.cmple(Vec4::splat(limit)).bitmask())
    }
}

/// Visits every leaf whose box overlaps.
#[inline(always)]
pub(super) fn overlapping(
    tree: &Tree,
    from: u32,
    bounds: Box32,
    stack: &mut Vec<u32>,
    mut leaf: impl FnMut(u32) -> ControlFlow<()>,
) -> (u64, ControlFlow<()>) {
    let q = Spread::new(bounds);
    let mut visited = 0;
    stack.clear();
    stack.push(from);
    while let Some(at) = stack.pop() {
        visited += 1;
        let node = &tree.nodes[at as usize];
        for lane in lanes(node.overlap_mask(&q)) {
            let link = node.links[lane];
            match link.as_node() {
                Some(child) => stack.push(child),
                None => {
                    if leaf(link.payload()).is_break() {
                        return (visited, ControlFlow::Break(()));
                    }
                }
            }
        }
    }
    (visited, ControlFlow::Continue(()))
}
