//! A binary tree of axis-aligned boxes over anything that has a box.
//!
//! Inner nodes hold the box of all below; the left child follows its parent, so a backward pass through the
//! array visits children before parents: a refit is one such run.

use std::ops::ControlFlow;

use glam::DVec3;

use super::binned_build::{self, Effort, Item};
use super::slabs::Slabs;
use super::unit_frame::UnitFrame;
use super::{HierarchyError, MAX_ITEMS, Ray};
use crate::{Aabb, BoundingSphere, MAX_LENGTH};

/// How a box tree is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildSettings {
    /// Most items in a leaf, 1 to 16.
    pub max_leaf: usize,
    /// Threads to build with, at least 1; the tree does not depend on it.
    pub threads: usize,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self { max_leaf: 4, threads: 1 }
    }
}

impl BuildSettings {
    pub(super) fn effort(&self) -> Result<Effort, HierarchyError> {
        let check = |name, value: usize, most: usize, allowed| {
            if (1..=most).contains(&value) {
                Ok(value)
            } else {
                Err(HierarchyError::Parameter { name, value: value as f64, allowed })
            }
        };
        Ok(Effort {
            max_leaf: check("max_leaf", self.max_leaf, 16, "1 to 16")?,
            threads: check("threads", self.threads, 1024, "1 to 1024")?,
        })
    }
}

/// Work done by one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Node volumes tested.
    pub nodes: usize,
    /// Items reported to the caller, or pairs of them.
    pub items: usize,
}

impl std::ops::AddAssign for Visits {
    fn add_assign(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.items += other.items;
    }
}

/// Workspace of a query, owned by the caller so that queries do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) nodes: Vec<(u32, f64)>,
    pub(super) near: Vec<(u32, f32)>,
    pub(super) pairs: Vec<(u32, u32)>,
}

/// Node of a [`BoxTree`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub bounds: Aabb,
    /// Inner node: places to the right child. Leaf: its first item in the order of leaves.
    pub link: u32,
    /// Items of a leaf, 0 for an inner node.
    pub count: u32,
}

/// A binary hierarchy over boxes.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::Aabb;
/// use rattleback_geometry::hierarchy::{BoxTree, BuildSettings, Scratch};
/// let row: Vec<Aabb> = (0..100)
///     .map(|i| Aabb::from_center(DVec3::X * f64::from(i), DVec3::splat(0.4)))
///     .collect::<Result<_, _>>()?;
/// let tree = BoxTree::build(&row, &BuildSettings::default())?;
/// let mut found = Vec::new();
/// let near_seven = Aabb::from_center(DVec3::X * 7.0, DVec3::splat(0.9))?;
/// tree.overlapping(&near_seven, &mut Scratch::default(), |i| { found.push(i); std::ops::ControlFlow::Continue(()) });
/// found.sort();
/// assert_eq!(found, [6, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BoxTree {
    pub(super) nodes: Vec<Node>,
    /// Item boxes in the order of leaves.
    pub(super) boxes: Vec<Aabb>,
    /// Item indices in the order of leaves.
    pub(super) order: Vec<u32>,
}

/// Decision for the items under a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// Nothing.
    Leave,
    /// Look closer.
    Open,
    /// All of them.
    Take,
}

/// Checks of counts and limits common to all builders.
pub(super) fn check_boxes(boxes: &[Aabb]) -> Result<Aabb, HierarchyError> {
    if boxes.len() > MAX_ITEMS {
        return Err(HierarchyError::TooMany { count: boxes.len() });
    }
    let mut bounds = *boxes.first().ok_or(HierarchyError::Empty)?;
    for (index, item) in boxes.iter().enumerate() {
        if !(item.min().abs().max(item.max().abs()).max_element() <= MAX_LENGTH) {
            return Err(HierarchyError::NonFinite { what: "box", index });
        }
        bounds = bounds.union(item);
    }
    Ok(bounds)
}

impl BoxTree {
    /// Boxes ⇒ tree; cuts are placed by the surface-area rule.
    pub fn build(boxes: &[Aabb], settings: &BuildSettings) -> Result<Self, HierarchyError> {
        let effort = settings.effort()?;
        let frame = UnitFrame::around(&check_boxes(boxes)?);
        let items: Vec<Item> =
            (0u32..).zip(boxes).map(|(i, b)| Item::new(frame.outward(b.min(), b.max()), i)).collect();
        let (nodes, order) = binned_build::build(items, effort);
        Ok(Self::over(boxes, order, nodes.iter().map(|node| (node.link, node.count))))
    }

    /// Known links and order ⇒ tree with exact boxes.
    pub(super) fn over(boxes: &[Aabb], order: Vec<u32>, links: impl Iterator<Item = (u32, u32)>) -> Self {
        let boxes: Vec<Aabb> = order.iter().map(|&i| boxes[i as usize]).collect();
        let nodes = links.map(|(link, count)| Node { bounds: boxes[0], link, count }).collect();
        let mut tree = Self { nodes, boxes, order };
        tree.fit();
        tree
    }

    /// Moves every item to a new box but keeps the topology of the tree; boxes come in the order of the
    /// build.
    pub fn refit(&mut self, boxes: &[Aabb]) -> Result<(), HierarchyError> {
        if boxes.len() != self.order.len() {
            let (expected, found) = (self.order.len(), boxes.len());
            return Err(HierarchyError::CountMismatch { what: "boxes", expected, found });
        }
        check_boxes(boxes)?;
        for (place, &item) in self.boxes.iter_mut().zip(&self.order) {
            *place = boxes[item as usize];
        }
        self.fit();
        Ok(())
    }

    /// Node boxes from item boxes.
    fn fit(&mut self) {
        for i in (0..self.nodes.len()).rev() {
            let Node { link, count, .. } = self.nodes[i];
            self.nodes[i].bounds = if count > 0 {
                let leaf = &self.boxes[link as usize..(link + count) as usize];
                leaf[1..].iter().fold(leaf[0], |all, item| all.union(item))
            } else {
                self.nodes[i + 1].bounds.union(&self.nodes[i + link as usize].bounds)
            };
        }
    }

    /// Box of all items.
    pub fn bounds(&self) -> Aabb {
        self.nodes[0].bounds
    }

    /// Number of items.
    pub fn item_count(&self) -> usize {
        self.order.len()
    }

    /// How many nodes it has, leaves included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Calls `visit` for every node with its depth, box and, for a leaf, its items.
    pub fn for_each_node(&self, mut visit: impl FnMut(usize, &Aabb, &[u32])) {
        let mut stack = vec![(0u32, 0usize)];
        while let Some((index, depth)) = stack.pop() {
            let node = &self.nodes[index as usize];
            visit(depth, &node.bounds, self.items(node));
            if node.count == 0 {
                stack.extend([(index + node.link, depth + 1), (index + 1, depth + 1)]);
            }
        }
    }

    pub(super) fn items(&self, node: &Node) -> &[u32] {
        let first = if node.count > 0 { node.link as usize } else { 0 };
        &self.order[first..first + node.count as usize]
    }

    /// Calls `found` with each item whose box overlaps `query`, until `found` breaks.
    pub fn overlapping(
        &self,
        query: &Aabb,
        scratch: &mut Scratch,
        found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        self.descend(scratch, |bounds| bounds.overlaps(query), found)
    }

    /// Calls `found` with each item whose box overlaps the sphere, until `found` breaks.
    pub fn overlapping_sphere(
        &self,
        query: &BoundingSphere,
        scratch: &mut Scratch,
        found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        let (center, reach) = (query.center(), query.radius() * query.radius());
        self.descend(scratch, |bounds| bounds.closest_point(center).distance_squared(center) <= reach, found)
    }

    /// Traversal from the root: `look` decides by a node's box; `found` gets the items of opened leaves with
    /// `false`, and all items under nodes taken as a whole with `true`.
    pub(crate) fn walk(&self, mut look: impl FnMut(&Aabb) -> Branch, mut found: impl FnMut(&[u32], bool)) {
        let mut pending = vec![0u32];
        while let Some(index) = pending.pop() {
            let node = &self.nodes[index as usize];
            match look(&node.bounds) {
                Branch::Leave => {}
                Branch::Open if node.count == 0 => pending.extend([index + node.link, index + 1]),
                Branch::Open => found(self.items(node), false),
                Branch::Take => {
                    // Leaves lie from left to right: from that of the leftmost descendant to that of the
                    // rightmost.
                    let (mut first, mut last) = (index as usize, index as usize);
                    while self.nodes[first].count == 0 {
                        first += 1;
                    }
                    while self.nodes[last].count == 0 {
                        last += self.nodes[last].link as usize;
                    }
                    let end = self.nodes[last].link + self.nodes[last].count;
                    found(&self.order[self.nodes[first].link as usize..end as usize], true);
                }
            }
        }
    }

    /// Calls `found` with each item whose box passes `wanted`, as must all boxes around it.
    pub fn descend(
        &self,
        scratch: &mut Scratch,
        wanted: impl Fn(&Aabb) -> bool,
        mut found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        let mut visits = Visits::default();
        let stack = &mut scratch.nodes;
        stack.clear();
        stack.push((0, 0.0));
        while let Some((index, _)) = stack.pop() {
            let node = &self.nodes[index as usize];
            visits.nodes += 1;
            if !wanted(&node.bounds) {
                continue;
            }
            if node.count == 0 {
                stack.extend([(index + node.link, 0.0), (index + 1, 0.0)]);
                continue;
            }
            for place in node.link..node.link + node.count {
                if wanted(&self.boxes[place as usize]) {
                    visits.items += 1;
                    if found(self.order[place as usize]).is_break() {
                        return visits;
                    }
                }
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
        let slabs = Slabs::new(ray, &self.bounds());
        let mut visits = Visits { nodes: 1, items: 0 };
        let mut limit = limit;
        let stack = &mut scratch.nodes;
        stack.clear();
        if let Some(enter) = slabs.entry(&self.bounds(), limit * slabs.speed) {
            stack.push((0, enter));
        }
        while let Some((index, enter)) = stack.pop() {
            let node = &self.nodes[index as usize];
            if enter > limit * slabs.speed {
                continue;
            }
            if node.count > 0 {
                visits.items += node.count as usize;
                for &item in self.items(node) {
                    limit = hit(item, limit).map_or(limit, |t| t.min(limit));
                }
                continue;
            }
            visits.nodes += 2;
            let children = [index + 1, index + node.link];
            let [left, right] =
                children.map(|child| slabs.entry(&self.nodes[child as usize].bounds, limit * slabs.speed));
            match (left, right) {
                (Some(l), Some(r)) if l <= r => stack.extend([(children[1], r), (children[0], l)]),
                (Some(l), Some(r)) => stack.extend([(children[0], l), (children[1], r)]),
                (Some(l), None) => stack.push((children[0], l)),
                (None, Some(r)) => stack.push((children[1], r)),
                (None, None) => {}
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
        let mut visits = Visits::default();
        let mut limit = limit;
        let stack = &mut scratch.nodes;
        stack.clear();
        if p.is_finite() {
            stack.push((0, self.bounds().distance(p)));
        }
        while let Some((index, near)) = stack.pop() {
            let node = &self.nodes[index as usize];
            if near > limit {
                continue;
            }
            visits.nodes += 1;
            if node.count > 0 {
                visits.items += node.count as usize;
                for &item in self.items(node) {
                    limit = distance(item, limit).map_or(limit, |d| d.min(limit));
                }
                continue;
            }
            let children = [index + 1, index + node.link];
            let [left, right] = children.map(|child| {
                // A little less than the distance, so that rounding does not lose an item that ties.
                (child, self.nodes[child as usize].bounds.distance(p) * (1.0 - 1e-14))
            });
            stack.extend(if left.1 <= right.1 { [right, left] } else { [left, right] });
        }
        visits
    }
}
