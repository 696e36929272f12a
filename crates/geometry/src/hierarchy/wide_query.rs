//! One ray, box, sphere or point against a [`WideTree`].
//!
//! All work is done in the unit frame, where every box side is at most 1. A ray is first cut at the root's
//! box in f64, so that its origin lies there too. The entry near·w − (o w) into a slab then suffers from
//! rounding w (2⁻²⁴), the product (2⁻²⁴), o w (2⁻²⁴) and the difference (2 · 2⁻²⁴), in all less than 6 · 2⁻²⁴
//! |w|: the slack that entry and exit are moved by. Cutting the ray costs 2⁻⁵² |o| of the true origin on top.

use std::ops::{ControlFlow, Range};

use glam::{DVec3, Vec3, Vec4};

use super::slabs::Slabs;
use super::unit_frame::PAD;
use super::wide_tree::{WideTree, places};
use super::{Ray, Scratch, Visits};
use crate::box32::Box32;
use crate::wide_link::Link;
use crate::{Aabb, BoundingSphere};

/// 6 · 2⁻²⁴, rounded up.
const SLACK: f64 = 4e-7;
/// Smallest component of a direction with |d|_∞ = 1: moves the ray by 4 · 10⁻⁹ at most within the unit frame.
const FLOOR: f64 = 1e-9;

/// A ray prepared for four boxes; its parameter is `speed`·t − `start`.
struct WideRay {
    inverse: [Vec4; 3],
    enter: [Vec4; 3],
    leave: [Vec4; 3],
    /// 0 if the lower side is hit first, 1 if the upper.
    first_side: [usize; 3],
    speed: f64,
    start: f64,
}

impl WideRay {
    /// None if the ray misses the root within [0, limit].
    fn new(tree: &WideTree, ray: &Ray, limit: f64) -> Option<Self> {
        let slabs = Slabs::new(ray, &tree.bounds);
        let entry = slabs.entry(&tree.bounds, limit * slabs.speed)?;
        let speed = slabs.speed * tree.frame.scale;
        let start = entry * tree.frame.scale;
        let far = tree.frame.point(ray.origin());
        let d = ray.direction() / slabs.speed;
        let o = far + start * d;
        let slack = SLACK + 1e-15 * far.abs().max_element();
        let mut prepared = Self {
            inverse: [Vec4::ZERO; 3],
            enter: [Vec4::ZERO; 3],
            leave: [Vec4::ZERO; 3],
            first_side: [0; 3],
            speed,
            start,
        };
        for axis in 0..3 {
            let w = 1.0 / if d[axis].abs() < FLOOR { FLOOR.copysign(d[axis]) } else { d[axis] };
            prepared.inverse[axis] = Vec4::splat(w as f32);
            prepared.enter[axis] = Vec4::splat((o[axis] * w + slack * w.abs()) as f32);
            prepared.leave[axis] = Vec4::splat((o[axis] * w - slack * w.abs()) as f32);
            prepared.first_side[axis] = usize::from(w < 0.0);
        }
        Some(prepared)
    }

    /// Largest t of interest ⇒ the same along the prepared ray, rounded up.
    fn limit(&self, t: f64) -> f32 {
        ((t * self.speed - self.start) * (1.0 + 1e-6) + SLACK) as f32
    }
}

impl WideTree {
    /// Walks along a ray from near to far; `leaf` gets the places of a leaf's items and the largest t of
    /// interest, and returns the new one.
    #[inline(always)]
    pub(super) fn walk_ray(
        &self,
        ray: &Ray,
        limit: f64,
        scratch: &mut Scratch,
        mut leaf: impl FnMut(Range<usize>, f64) -> f64,
    ) -> Visits {
        let mut visits = Visits::default();
        let Some(prepared) = WideRay::new(self, ray, limit) else { return visits };
        let WideRay { inverse, enter, leave, first_side, .. } = prepared;
        let mut limit = limit;
        let mut limit32 = prepared.limit(limit);
        let stack = &mut scratch.near;
        stack.clear();
        stack.push((self.nodes[0].links[0].bits(), 0.0));
        while let Some((bits, near)) = stack.pop() {
            if near > limit32 {
                continue;
            }
            let mut link = Link::from_bits(bits);
            // Down along the nearest child, the others wait.
            loop {
                let Some(index) = link.as_node() else {
                    let places = places(link);
                    visits.items += places.len();
                    let shorter = leaf(places, limit);
                    if shorter < limit {
                        limit = shorter;
                        limit32 = prepared.limit(limit);
                    }
                    break;
                };
                visits.nodes += 1;
                let node = &self.nodes[index as usize];
                let slab = |axis: usize| {
                    let near = first_side[axis] & 1;
                    (
                        node.planes[axis][near] * inverse[axis] - enter[axis],
                        node.planes[axis][near ^ 1] * inverse[axis] - leave[axis],
                    )
                };
                let ((x0, x1), (y0, y1), (z0, z1)) = (slab(0), slab(1), slab(2));
                let entry = x0.max(y0).max(z0.max(Vec4::ZERO));
                let exit = x1.min(y1).min(z1.min(Vec4::splat(limit32)));
                let mut mask = entry.cmple(exit).bitmask();
                if mask == 0 {
                    break;
                }
                let entry = entry.to_array();
                let mut lane = mask.trailing_zeros() as usize & 3;
                mask &= mask - 1;
                if mask == 0 {
                    link = node.links[lane];
                    continue;
                }
                // The nearest goes first; the others are stacked in order of distance.
                let base = stack.len();
                while mask != 0 {
                    let mut other = mask.trailing_zeros() as usize & 3;
                    mask &= mask - 1;
                    if entry[other] < entry[lane] {
                        (lane, other) = (other, lane);
                    }
                    stack.push((node.links[other].bits(), entry[other]));
                    let mut k = stack.len() - 1;
                    while k > base && stack[k - 1].1 < stack[k].1 {
                        stack.swap(k - 1, k);
                        k -= 1;
                    }
                }
                link = node.links[lane];
            }
        }
        visits
    }

    /// Calls `hit` with items along a ray, roughly from near to far, with the largest t of interest, at first
    /// `limit`. `hit` returns a smaller t to shorten the ray: the t of its hit for the closest one, −∞ to
    /// stop, None to go on unchanged.
    pub fn along_ray(
        &self,
        ray: &Ray,
        limit: f64,
        scratch: &mut Scratch,
        mut hit: impl FnMut(u32, f64) -> Option<f64>,
    ) -> Visits {
        self.walk_ray(ray, limit, scratch, |places, limit| {
            self.order[places]
                .iter()
                .fold(limit, |limit, &item| hit(item, limit).map_or(limit, |t| t.min(limit)))
        })
    }

    /// Visits the leaves whose box overlaps a box or a sphere, given by its box in the unit frame.
    pub(super) fn walk_overlap(
        &self,
        query: Box32,
        scratch: &mut Scratch,
        mut leaf: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Visits {
        let mut visits = Visits::default();
        let low = [0, 1, 2].map(|axis| Vec4::splat(query.low[axis]));
        let high = [0, 1, 2].map(|axis| Vec4::splat(query.high[axis]));
        let stack = &mut scratch.near;
        stack.clear();
        stack.push((0, 0.0));
        while let Some((bits, _)) = stack.pop() {
            let link = Link::from_bits(bits);
            let Some(index) = link.as_node() else {
                let places = places(link);
                visits.items += places.len();
                if leaf(places).is_break() {
                    return visits;
                }
                continue;
            };
            visits.nodes += 1;
            let node = &self.nodes[index as usize];
            let mut mask = (0..3)
                .map(|axis| node.planes[axis][0].cmple(high[axis]) & node.planes[axis][1].cmpge(low[axis]))
                .fold(0b1111, |all, axis| all & axis.bitmask());
            while mask != 0 {
                let lane = mask.trailing_zeros() as usize & 3;
                mask &= mask - 1;
                stack.push((node.links[lane].bits(), 0.0));
            }
        }
        visits
    }

    /// Box in the items' frame ⇒ box in the unit frame, rounded outwards.
    pub(super) fn query_box(&self, min: DVec3, max: DVec3) -> Box32 {
        // There are no boxes farther out, and the rounding of `outward` is bounded near 1.
        let clamp = |p: DVec3| self.frame.point(p).clamp(DVec3::splat(-1.5), DVec3::splat(1.5)).as_vec3();
        let pad = Vec3::splat(2.0 * PAD);
        Box32 { low: (clamp(min) - pad).extend(0.0), high: (clamp(max) + pad).extend(0.0) }
    }

    /// Calls `found` with each item whose rounded box may overlap `query`, until `found` breaks.
    pub fn overlapping(
        &self,
        query: &Aabb,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        self.walk_overlap(self.query_box(query.min(), query.max()), scratch, |places| {
            self.order[places].iter().try_for_each(|&item| found(item))
        })
    }

    /// Calls `found` with each item of a leaf whose box overlaps the sphere's box, until `found` breaks.
    pub fn overlapping_sphere(
        &self,
        query: &BoundingSphere,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        let (c, r) = (query.center(), query.radius());
        self.walk_overlap(self.query_box(c - r, c + r), scratch, |places| {
            self.order[places].iter().try_for_each(|&item| found(item))
        })
    }

    /// Walks the leaves around `p` from near to far while their box may lie nearer than `limit`; `leaf` gets
    /// the places of a leaf's items and the distance of interest, and returns the new one.
    pub(super) fn walk_nearest(
        &self,
        p: DVec3,
        limit: f64,
        scratch: &mut Scratch,
        mut leaf: impl FnMut(Range<usize>, f64) -> f64,
    ) -> Visits {
        let mut visits = Visits::default();
        let unit = self.frame.point(p);
        let reach = unit.abs().max_element();
        // At this distance single precision cannot distinguish boxes (or square a distance): then none is
        // skipped.
        let trust = f32::from(u8::from(reach < 1e6));
        let slack = Vec4::splat((SLACK * (1.0 + reach)) as f32);
        let at = [0, 1, 2].map(|axis| Vec4::splat(unit[axis].clamp(-1e6, 1e6) as f32));
        let square = |distance: f64| {
            let unit = distance * self.frame.scale * (1.0 + 1e-6) + SLACK;
            (unit * unit) as f32
        };
        let mut limit = limit;
        let mut limit32 = square(limit);
        let stack = &mut scratch.near;
        stack.clear();
        stack.push((0, 0.0));
        while let Some((bits, near)) = stack.pop() {
            if near > limit32 {
                continue;
            }
            let link = Link::from_bits(bits);
            let Some(index) = link.as_node() else {
                let places = places(link);
                visits.items += places.len();
                limit = leaf(places, limit);
                limit32 = square(limit);
                continue;
            };
            visits.nodes += 1;
            let node = &self.nodes[index as usize];
            let gap = |axis: usize| {
                let [low, high] = node.planes[axis];
                let gap = ((low - at[axis]).max(at[axis] - high) - slack).max(Vec4::ZERO);
                gap * gap
            };
            let distance = (gap(0) + gap(1) + gap(2)) * trust;
            let base = stack.len();
            for lane in 0..4 {
                if node.links[lane] == Link::NOTHING || distance[lane] > limit32 {
                    continue;
                }
                stack.push((node.links[lane].bits(), distance[lane]));
                let mut k = stack.len() - 1;
                while k > base && stack[k - 1].1 < stack[k].1 {
                    stack.swap(k - 1, k);
                    k -= 1;
                }
            }
        }
        visits
    }

    /// Hands over items around a point, roughly from near to far, with the distance of interest, at first
    /// `limit`. `distance` returns the item's distance to narrow the search, or None to leave it. No result
    /// for a `p` that is not finite.
    pub fn nearest(
        &self,
        p: DVec3,
        limit: f64,
        scratch: &mut Scratch,
        mut distance: impl FnMut(u32, f64) -> Option<f64>,
    ) -> Visits {
        if !p.is_finite() {
            return Visits::default();
        }
        self.walk_nearest(p, limit, scratch, |places, limit| {
            self.order[places]
                .iter()
                .fold(limit, |limit, &item| distance(item, limit).map_or(limit, |d| d.min(limit)))
        })
    }
}
