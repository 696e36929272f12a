//! Rays, nearest boxes and overlaps.
//!
//! Tree boxes are single precision and too large, so they only decide where not to look; every box itself is asked in double
//! precision. The origin o of a ray becomes two numbers, o₋ < o < o₊: entering a slab is computed as (low − o₊)/d, leaving it as
//! (high − o₋)/d (for d > 0), which is never too late and never too early but for the rounding of quotient and product, which
//! SLACK covers. Because the inequalities are strict, a ray along a face (0 · ∞) is not lost.

use std::ops::ControlFlow;

use glam::{DVec3, Vec4};

use super::tree::{Link, Node, Spread, Tree, lanes};
use crate::Aabb;
use crate::primitive::Ray;
use crate::space::box32::{self, Box32};

/// Relative error of a few single-precision operations, generously.
const SLACK: f32 = 1.0 / (1 << 20) as f32;

/// A ray ready for four boxes at once.
struct WideRay {
    axes: [Axis; 3],
}

/// What a ray is along an axis.
#[derive(Clone, Copy)]
struct Axis {
    /// o₋ and o₊.
    before: Vec4,
    behind: Vec4,
    /// 1/d, a little closer to zero and a little farther from it.
    less: Vec4,
    more: Vec4,
    forward: bool,
}

impl WideRay {
    fn new(ray: &Ray, origin: DVec3) -> Self {
        let o = (ray.origin() - origin).as_vec3().extend(0.0);
        let (before, behind) = (box32::below(o), box32::above(o));
        let inverse = ray.direction().as_vec3().recip();
        let axes = std::array::from_fn(|axis| Axis {
            before: Vec4::splat(before[axis]),
            behind: Vec4::splat(behind[axis]),
            less: Vec4::splat(inverse[axis] * (1.0 - SLACK)),
            more: Vec4::splat(inverse[axis] * (1.0 + SLACK)),
            forward: inverse[axis] >= 0.0,
        });
        Self { axes }
    }

    /// Where the ray enters each lane, and which lanes it meets within `limit`.
    #[inline(always)]
    fn enter(&self, node: &Node, limit: f32) -> (Vec4, u32) {
        let (mut enter, mut leave) = (Vec4::ZERO, Vec4::splat(limit));
        for axis in 0..3 {
            let Axis { before, behind, less, more, forward } = self.axes[axis];
            let (low, high) = (node.low[axis] - behind, node.high[axis] - before);
            let (near, far) = if forward { (low, high) } else { (high, low) };
            enter = (near * less).max(enter);
            leave = (far * more).min(leave);
        }
        (enter, enter.cmple(leave).bitmask())
    }
}

/// Whether single precision can say anything about a point.
pub(super) fn within_reach(p: DVec3, origin: DVec3) -> bool {
    (p - origin).abs().max_element() < 1e30
}

/// A limit in single precision that is not too small.
fn above(limit: f64) -> f32 {
    let rounded = limit.min(1e30) as f32;
    rounded + rounded.abs() * SLACK + f32::MIN_POSITIVE
}

/// Goes through the nodes near to far and asks `leaf` (index, limit) of each box on the way.
fn descend(
    tree: &Tree,
    limit: &mut f64,
    measure: impl Fn(&Node, f32) -> (Vec4, u32),
    mut leaf: impl FnMut(u32, &mut f64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if tree.leaves == 0 {
        return ControlFlow::Continue(());
    }
    let mut stack: Vec<(f32, u32)> = Vec::with_capacity(64);
    stack.push((0.0, 0));
    let mut reach = above(*limit);
    while let Some((distance, at)) = stack.pop() {
        if distance > reach {
            continue;
        }
        let node = &tree.nodes[at as usize];
        let (distances, mask) = measure(node, reach);
        let first = stack.len();
        for lane in lanes(mask) {
            let link = node.links[lane];
            match link.as_node() {
                Some(child) => stack.push((distances[lane], child)),
                // Another leaf may have made the limit smaller.
                None if link != Link::NOTHING && distances[lane] <= reach => {
                    leaf(link.index(), limit)?;
                    reach = above(*limit);
                }
                None => {}
            }
        }
        // The nearest goes last, to be taken first.
        let new = &mut stack[first..];
        for k in 1..new.len() {
            let mut j = k;
            while j > 0 && new[j - 1].0 < new[j].0 {
                new.swap(j - 1, j);
                j -= 1;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Tells in double precision, without a division, that a ray surely misses a box.
pub(super) struct Sieve {
    origin: DVec3,
    /// 1/d, unless a component of d is so small that the products say nothing.
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

/// Asks every leaf that the ray may meet.
pub(super) fn along_ray(
    tree: &Tree,
    ray: &Ray,
    origin: DVec3,
    limit: &mut f64,
    leaf: impl FnMut(u32, &mut f64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let wide = WideRay::new(ray, origin);
    descend(tree, limit, |node, reach| wide.enter(node, reach), leaf)
}

/// Asks every leaf that may lie within the limit of a point.
pub(super) fn nearest(
    tree: &Tree,
    point: DVec3,
    origin: DVec3,
    limit: &mut f64,
    leaf: impl FnMut(u32, &mut f64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let p = (point - origin).as_vec3().extend(0.0);
    let (before, behind) = (box32::below(p), box32::above(p));
    let measure = |node: &Node, reach: f32| {
        let mut square = Vec4::ZERO;
        for axis in 0..3 {
            let outside = (node.low[axis] - Vec4::splat(behind[axis]))
                .max(Vec4::splat(before[axis]) - node.high[axis])
                .max(Vec4::ZERO);
            square += outside * outside;
        }
        let distance = square.map(f32::sqrt) * (1.0 - SLACK);
        (distance, distance.cmple(Vec4::splat(reach)).bitmask())
    };
    descend(tree, limit, measure, leaf)
}

/// Asks every leaf whose box overlaps.
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
                    if leaf(link.index()).is_break() {
                        return (visited, ControlFlow::Break(()));
                    }
                }
            }
        }
    }
    (visited, ControlFlow::Continue(()))
}
