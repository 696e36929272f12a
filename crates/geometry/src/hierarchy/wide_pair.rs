//! Two [`WideTree`]s in different frames, and one with itself.
//!
//! A box of one tree is taken into the frame of four boxes of the other and back. In the frame of X the box
//! (c, h) of Y has the centre M c + T and at most the half extents |M| h; tested both ways this covers the
//! six side normals of both boxes. The nine products of edges are left out: they would part another tenth of
//! the pairs at twice the price.
//!
//! Of two boxes the larger is opened.

use std::ops::{ControlFlow, Range};

use glam::{DMat3, DVec3, Vec3, Vec4};

use super::wide_tree::{Node, WideTree, places};
use super::{Scratch, Visits};
use crate::Pose;
use crate::box32::Box32;
use crate::wide_link::Link;

/// Coordinates in the unit frame of Y ⇒ coordinates in the unit frame of X, rounded; `slack` bounds the
/// rounding.
struct Between {
    m: [Vec3; 3],
    t: Vec3,
    /// The same map backwards.
    back_m: [Vec3; 3],
    back_t: Vec3,
    slack: f32,
    back_slack: f32,
    /// Length in the frame of Y ⇒ length in the frame of X.
    scale: f32,
}

impl Between {
    fn new(x: &WideTree, y: &WideTree, x_from_y: &Pose) -> Self {
        let scale = x.frame.scale / y.frame.scale;
        let r = DMat3::from_quat(x_from_y.rotation);
        let t = x.frame.point(x_from_y.point(y.frame.origin));
        let back_t = y.frame.point(x_from_y.inverse_point(x.frame.origin));
        let rows = |m: DMat3| [m.row(0).as_vec3(), m.row(1).as_vec3(), m.row(2).as_vec3()];
        // Sixteen roundings of numbers no larger than 1 + scale + |t|.
        let slack = |scale: f64, t: DVec3| (1e-6 * (1.0 + scale + t.abs().max_element())) as f32;
        Self {
            m: rows(r * scale),
            t: t.as_vec3(),
            back_m: rows(r.transpose() * (1.0 / scale)),
            back_t: back_t.as_vec3(),
            slack: slack(scale, t),
            back_slack: slack(1.0 / scale, back_t),
            scale: scale as f32,
        }
    }

    fn reversed(&self) -> Self {
        Self {
            m: self.back_m,
            t: self.back_t,
            back_m: self.m,
            back_t: self.t,
            slack: self.back_slack,
            back_slack: self.slack,
            scale: 1.0 / self.scale,
        }
    }

    /// Bits of the lanes of X's node whose boxes may overlap a box of Y.
    #[inline(always)]
    fn overlapping(&self, node: &Node, other: Box32) -> u32 {
        let c = ((other.low + other.high) * 0.5).truncate();
        let h = ((other.high - other.low) * 0.5).truncate();
        let mut mask = 0b1111;
        for axis in 0..3 {
            let row = self.m[axis];
            let center = row.dot(c) + self.t[axis];
            let reach = row.abs().dot(h) + self.slack;
            let [low, high] = node.planes[axis];
            mask &= low.cmple(Vec4::splat(center + reach)).bitmask();
            mask &= high.cmpge(Vec4::splat(center - reach)).bitmask();
        }
        if mask == 0 {
            return 0;
        }
        let centers = node.planes.map(|[low, high]| (low + high) * 0.5);
        let halves = node.planes.map(|[low, high]| (high - low) * 0.5);
        for axis in 0..3 {
            let row = self.back_m[axis];
            let center = centers[0] * row.x + centers[1] * row.y + centers[2] * row.z;
            let reach = halves[0] * row.x.abs() + halves[1] * row.y.abs() + halves[2] * row.z.abs();
            let distance = (center + (self.back_t[axis] - c[axis])).abs();
            // An empty lane is NaN here, which is never less.
            mask &= distance.cmple(reach + (h[axis] + self.back_slack)).bitmask();
        }
        mask
    }
}

fn size(bounds: Box32) -> f32 {
    (bounds.high - bounds.low).truncate().length_squared()
}

impl WideTree {
    /// Visits pairs of leaves whose boxes may overlap, `pose` placing the other tree in the frame of this
    /// one.
    pub(super) fn walk_pairs(
        &self,
        other: &Self,
        pose: &Pose,
        scratch: &mut Scratch,
        mut leaves: impl FnMut(Range<usize>, Range<usize>) -> ControlFlow<()>,
    ) -> Visits {
        let mut visits = Visits::default();
        let between = Between::new(self, other, pose);
        let back = between.reversed();
        let stack = &mut scratch.pairs;
        stack.clear();
        if between.overlapping(&self.nodes[0], other.slot_box(0)) & 1 == 1 {
            stack.push((0, 0));
        }
        visits.nodes += 1;
        while let Some((a, b)) = stack.pop() {
            let (link_a, link_b) = (self.slot_link(a), other.slot_link(b));
            let (box_a, box_b) = (self.slot_box(a), other.slot_box(b));
            let open_a = match (link_a.as_node(), link_b.as_node()) {
                (None, None) => {
                    visits.items += 1;
                    if leaves(places(link_a), places(link_b)).is_break() {
                        return visits;
                    }
                    continue;
                }
                (Some(index), None) => Some(index),
                (Some(index), Some(_)) if size(box_a) >= size(box_b) * between.scale * between.scale => {
                    Some(index)
                }
                _ => None,
            };
            visits.nodes += 1;
            if let Some(index) = open_a {
                let mut mask = between.overlapping(&self.nodes[index as usize], box_b);
                while mask != 0 {
                    stack.push((index << 2 | mask.trailing_zeros(), b));
                    mask &= mask - 1;
                }
            } else if let Some(index) = link_b.as_node() {
                let mut mask = back.overlapping(&other.nodes[index as usize], box_a);
                while mask != 0 {
                    stack.push((a, index << 2 | mask.trailing_zeros()));
                    mask &= mask - 1;
                }
            }
        }
        visits
    }

    /// Calls `found` with the pairs (item of this tree, item of the other) of leaves whose boxes may overlap,
    /// until `found` breaks.
    pub fn pairs(
        &self,
        other: &Self,
        pose: &Pose,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Visits {
        self.walk_pairs(other, pose, scratch, |places_a, places_b| {
            for &a in &self.order[places_a] {
                for &b in &other.order[places_b.clone()] {
                    found(a, b)?;
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// Visits pairs of leaves of this tree whose boxes overlap; a leaf with itself once.
    pub(super) fn walk_self(
        &self,
        scratch: &mut Scratch,
        mut leaves: impl FnMut(Range<usize>, Range<usize>) -> ControlFlow<()>,
    ) -> Visits {
        let mut visits = Visits::default();
        let stack = &mut scratch.pairs;
        stack.clear();
        stack.push((0, 0));
        while let Some((a, b)) = stack.pop() {
            let (link_a, link_b) = (self.slot_link(a), self.slot_link(b));
            visits.nodes += 1;
            match (link_a.as_node(), link_b.as_node()) {
                (None, None) => {
                    visits.items += 1;
                    if leaves(places(link_a), places(link_b)).is_break() {
                        return visits;
                    }
                }
                (Some(index), _) if a == b => {
                    let node = &self.nodes[index as usize];
                    for lane in 0..4u32 {
                        if node.links[lane as usize] == Link::NOTHING {
                            continue;
                        }
                        let slot = index << 2 | lane;
                        stack.push((slot, slot));
                        let later =
                            overlapping_aligned(node, node.lane_box(lane as usize)) & (0b1110 << lane);
                        push_each(later, |other| stack.push((slot, index << 2 | other)));
                    }
                }
                (Some(index), open_b)
                    if open_b.is_none() || size(self.slot_box(a)) >= size(self.slot_box(b)) =>
                {
                    let mask = overlapping_aligned(&self.nodes[index as usize], self.slot_box(b));
                    push_each(mask, |lane| stack.push((index << 2 | lane, b)));
                }
                (_, Some(index)) => {
                    let mask = overlapping_aligned(&self.nodes[index as usize], self.slot_box(a));
                    push_each(mask, |lane| stack.push((a, index << 2 | lane)));
                }
                (Some(_), None) => {}
            }
        }
        visits
    }
}

fn push_each(mut lanes: u32, mut push: impl FnMut(u32)) {
    while lanes != 0 {
        push(lanes.trailing_zeros());
        lanes &= lanes - 1;
    }
}

/// Bits of the lanes whose boxes overlap a box in the same frame.
fn overlapping_aligned(node: &Node, other: Box32) -> u32 {
    (0..3).fold(0b1111, |mask, axis| {
        let [low, high] = node.planes[axis];
        mask & low.cmple(Vec4::splat(other.high[axis])).bitmask()
            & high.cmpge(Vec4::splat(other.low[axis])).bitmask()
    })
}
