//! Four boxes at a time.
//!
//! Two levels of the binary tree become one: a node holds the boxes of up to four children, coordinate by
//! coordinate, so that one vector operation treats all four. Boxes are f32 in the unit frame of
//! [`UnitFrame`](super::unit_frame), rounded outwards; exact tests are made on the items in f64.
//!
//! Node 0 is above the root: its first lane holds the root's box and link. A *slot* (node, lane) names every
//! box of the tree, the root's included.

use std::ops::Range;

use glam::{DVec3, Vec4};

use super::binned_build::{self, Item};
use super::box_tree::check_boxes;
use super::unit_frame::UnitFrame;
use super::{BuildSettings, HierarchyError};
use crate::Aabb;
use crate::box32::Box32;
use crate::wide_link::Link;

/// Bits of a leaf's payload that hold its first place; those above hold its number of items less one.
const FIRST_BITS: u32 = 27;

/// Link to a leaf with `count` items from place `first` on.
fn leaf_link(first: u32, count: u32) -> Link {
    Link::leaf((count - 1) << FIRST_BITS | first)
}

/// Places of a leaf's items.
#[inline(always)]
pub(super) fn places(leaf: Link) -> Range<usize> {
    let first = (leaf.payload() & ((1 << FIRST_BITS) - 1)) as usize;
    first..first + (leaf.payload() >> FIRST_BITS) as usize + 1
}

/// Up to four boxes: `planes[axis][0]` the lower, `planes[axis][1]` the upper sides. A lane without child has
/// an inverted box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub planes: [[Vec4; 2]; 3],
    pub links: [Link; 4],
}

impl Node {
    const EMPTY: Self = Self { planes: [[Vec4::INFINITY, Vec4::NEG_INFINITY]; 3], links: [Link::NOTHING; 4] };

    fn set_box(&mut self, lane: usize, bounds: Box32) {
        for axis in 0..3 {
            self.planes[axis][0][lane] = bounds.low[axis];
            self.planes[axis][1][lane] = bounds.high[axis];
        }
    }

    #[inline(always)]
    pub fn lane_box(&self, lane: usize) -> Box32 {
        let side = |s: usize| {
            Vec4::new(self.planes[0][s][lane], self.planes[1][s][lane], self.planes[2][s][lane], 0.0)
        };
        Box32 { low: side(0), high: side(1) }
    }

    /// Box around all four.
    fn all(&self) -> Box32 {
        let corner = |s: usize, f: fn(Vec4) -> f32| {
            Vec4::new(f(self.planes[0][s]), f(self.planes[1][s]), f(self.planes[2][s]), 0.0)
        };
        Box32 { low: corner(0, Vec4::min_element), high: corner(1, Vec4::max_element) }
    }
}

/// A hierarchy of four-fold nodes over boxes, for speed.
///
/// Its boxes are rounded outwards, so that overlap queries may hand over an item that misses by 10⁻⁷ of the
/// whole size.
#[derive(Clone, Debug, PartialEq)]
pub struct WideTree {
    pub(super) frame: UnitFrame,
    pub(super) nodes: Vec<Node>,
    pub(super) order: Vec<u32>,
    pub(super) bounds: Aabb,
}

impl WideTree {
    /// Boxes ⇒ tree.
    pub fn build(boxes: &[Aabb], settings: &BuildSettings) -> Result<Self, HierarchyError> {
        let bounds = check_boxes(boxes)?;
        let frame = UnitFrame::around(&bounds);
        let items = (0u32..).zip(boxes).map(|(i, b)| Item::new(frame.outward(b.min(), b.max()), i)).collect();
        Self::from_items(frame, bounds, items, settings)
    }

    pub(super) fn from_items(
        frame: UnitFrame,
        bounds: Aabb,
        items: Vec<Item>,
        settings: &BuildSettings,
    ) -> Result<Self, HierarchyError> {
        let (binary, order) = binned_build::build(items, settings.effort()?);
        Ok(Self { frame, nodes: collapsed(&binary), order, bounds })
    }

    /// Box of all items.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Number of items.
    pub fn item_count(&self) -> usize {
        self.order.len()
    }

    /// How many four-fold nodes it has.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Moves every item to a new box but keeps the topology of the tree; boxes come in the order of the
    /// build.
    pub fn refit(&mut self, boxes: &[Aabb]) -> Result<(), HierarchyError> {
        if boxes.len() != self.order.len() {
            let (expected, found) = (self.order.len(), boxes.len());
            return Err(HierarchyError::CountMismatch { what: "boxes", expected, found });
        }
        self.bounds = check_boxes(boxes)?;
        let order = std::mem::take(&mut self.order);
        self.fit(|place| (boxes[order[place] as usize].min(), boxes[order[place] as usize].max()));
        self.order = order;
        Ok(())
    }

    /// Node boxes from the corners of the boxes in the order of leaves, children before parents;
    /// `self.bounds` must already hold them all.
    pub(super) fn fit(&mut self, corners: impl Fn(usize) -> (DVec3, DVec3)) {
        self.frame = UnitFrame::around(&self.bounds);
        for index in (0..self.nodes.len()).rev() {
            for lane in 0..4 {
                let link = self.nodes[index].links[lane];
                if link == Link::NOTHING {
                    continue;
                }
                let bounds = match link.as_node() {
                    Some(child) => self.nodes[child as usize].all(),
                    None => places(link).fold(Box32::EMPTY, |all, place| {
                        let (min, max) = corners(place);
                        all.union(self.frame.outward(min, max))
                    }),
                };
                self.nodes[index].set_box(lane, bounds);
            }
        }
    }

    #[inline(always)]
    pub(super) fn slot_link(&self, slot: u32) -> Link {
        self.nodes[(slot >> 2) as usize].links[(slot & 3) as usize]
    }

    #[inline(always)]
    pub(super) fn slot_box(&self, slot: u32) -> Box32 {
        self.nodes[(slot >> 2) as usize].lane_box((slot & 3) as usize)
    }
}

/// Binary nodes ⇒ four-fold nodes: the larger of the inner children is opened until there are four.
fn collapsed(binary: &[binned_build::Node]) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(binary.len() / 2 + 2);
    let mut top = Node::EMPTY;
    top.set_box(0, binary[0].bounds);
    nodes.push(top);
    // (binary node, the node and lane it belongs to)
    let mut open = vec![(0usize, 0usize, 0usize)];
    while let Some((index, parent, lane)) = open.pop() {
        let node = &binary[index];
        if node.count > 0 {
            nodes[parent].links[lane] = leaf_link(node.link, node.count);
            continue;
        }
        let place = nodes.len();
        nodes[parent].links[lane] = Link::node(place as u32);
        let mut children = [index + 1, index + node.link as usize, 0, 0];
        let mut count = 2;
        while count < 4 {
            let mut widest: Option<(f32, usize)> = None;
            for (k, &child) in children[..count].iter().enumerate() {
                let area = binary[child].bounds.half_area();
                if binary[child].count == 0 && widest.is_none_or(|(known, _)| area > known) {
                    widest = Some((area, k));
                }
            }
            let Some((_, k)) = widest else { break };
            let opened = children[k];
            children[k] = opened + 1;
            children[count] = opened + binary[opened].link as usize;
            count += 1;
        }
        let mut wide = Node::EMPTY;
        for lane in 0..count {
            wide.set_box(lane, binary[children[lane]].bounds);
        }
        nodes.push(wide);
        for lane in (0..count).rev() {
            open.push((children[lane], place, lane));
        }
    }
    nodes
}
