//! Trees of triangles with any kind of volume, and with different kinds at different depths.
//!
//! Built from the top: fit a volume to the node's triangles, cut them by [`SplitRule`], go on with both
//! sides. Or from the bottom: one node per triangle, and the two whose common box has the smallest surface
//! are joined until one is left.

use glam::DVec3;

use super::oriented_overlap::SatMode;
use super::split::{Corners, SplitRule, split};
use super::triangle::TriangleCorners;
use super::volume::{BoxFit, Volume, VolumeKind};
use super::{HierarchyError, MAX_ITEMS};
use crate::{Aabb, TriangleMesh};

/// Which volume a node gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumePlan {
    /// The same kind everywhere.
    Uniform(VolumeKind),
    /// One kind above a depth, another from there on: cheap where objects are far apart, tight where they are
    /// close.
    Hybrid {
        /// Near the root.
        upper: VolumeKind,
        /// At the leaves.
        lower: VolumeKind,
        /// First depth with the lower kind; the root has depth 0.
        from_depth: usize,
    },
}

impl VolumePlan {
    fn kind(self, depth: usize) -> VolumeKind {
        match self {
            Self::Uniform(kind) => kind,
            Self::Hybrid { upper, lower, from_depth } => {
                if depth < from_depth {
                    upper
                } else {
                    lower
                }
            }
        }
    }
}

/// In which order the tree comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuildOrder {
    /// From the root down.
    #[default]
    TopDown,
    /// From the triangles up; takes time with the square of their number, so at most 20 000 are allowed.
    BottomUp,
}

/// How a [`VolumeTree`] is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeTreeSettings {
    /// Volumes of the nodes.
    pub plan: VolumePlan,
    /// Where nodes are cut.
    pub split: SplitRule,
    /// Nodes with at most this many triangles are leaves.
    pub max_leaf: usize,
    /// Depth at which nodes become leaves in any case, at most 64.
    pub max_depth: usize,
    /// Order of the build.
    pub order: BuildOrder,
    /// Treatment of triangles that no axis separates: one leaf, or two halves of the list.
    pub halve_indivisible: bool,
}

impl Default for VolumeTreeSettings {
    fn default() -> Self {
        Self {
            plan: VolumePlan::Hybrid {
                upper: VolumeKind::Aabb,
                lower: VolumeKind::Obb(BoxFit::Hull),
                from_depth: 4,
            },
            split: SplitRule::Mean,
            max_leaf: 1,
            max_depth: 64,
            order: BuildOrder::TopDown,
            halve_indivisible: false,
        }
    }
}

/// A node: left child next to it, right child `right` places on; its triangles are `first..first + count`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub volume: Volume,
    pub size: f64,
    /// 0 for a leaf.
    pub right: u32,
    pub first: u32,
    pub count: u32,
    depth: u32,
}

/// A hierarchy over triangles whose nodes may be boxes, oriented boxes, spheres or hulls.
///
/// ```
/// use rattleback_geometry::generate;
/// use rattleback_geometry::hierarchy::{VolumeTree, VolumeTreeSettings};
/// let torus = generate::torus(1.0, 0.4, 20, 10)?;
/// let tree = VolumeTree::build(&torus, &VolumeTreeSettings::default())?;
/// assert_eq!(tree.node_count(), 2 * torus.triangles().len() - 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeTree {
    pub(super) nodes: Vec<Node>,
    /// Corners in the order of leaves.
    pub(super) triangles: Vec<TriangleCorners>,
    /// Indices in the mesh, in the order of leaves.
    pub(super) order: Vec<u32>,
    plan: VolumePlan,
    /// Tested pairs use all fifteen axes or the side normals only.
    pub sat_mode: SatMode,
}

/// Triangles by their index in the mesh.
struct Source<'a>(&'a [TriangleCorners]);

impl Corners for Source<'_> {
    fn corners(&self, item: u32) -> [DVec3; 3] {
        self.0[item as usize]
    }
}

/// A part of the list that still has to become a node.
struct Open {
    first: usize,
    count: usize,
    depth: usize,
    /// The parent, if this is its right child.
    right_of: Option<usize>,
}

/// Largest allowed `max_depth`.
const DEEP: usize = 64;
const BOTTOM_UP_MAX: usize = 20_000;

impl VolumeTree {
    /// Mesh ⇒ tree.
    pub fn build(mesh: &TriangleMesh, settings: &VolumeTreeSettings) -> Result<Self, HierarchyError> {
        let count = mesh.triangles().len();
        if count == 0 {
            return Err(HierarchyError::Empty);
        }
        if count > MAX_ITEMS {
            return Err(HierarchyError::TooMany { count });
        }
        let check = |name, value: usize, most: usize, allowed| {
            let wrong = HierarchyError::Parameter { name, value: value as f64, allowed };
            if (1..=most).contains(&value) { Ok(()) } else { Err(wrong) }
        };
        check("max_leaf", settings.max_leaf, MAX_ITEMS, "1 or more")?;
        check("max_depth", settings.max_depth, DEEP, "1 to 64")?;
        let triangles: Vec<TriangleCorners> = (0..count).map(|i| mesh.triangle(i)).collect();
        let mut tree = match settings.order {
            BuildOrder::TopDown => Self::top_down(&triangles, settings)?,
            BuildOrder::BottomUp => {
                check("triangles of a bottom-up build", count, BOTTOM_UP_MAX, "at most 20000")?;
                Self::bottom_up(&triangles, settings)?
            }
        };
        tree.fit()?;
        Ok(tree)
    }

    fn empty(settings: &VolumeTreeSettings) -> Self {
        Self {
            nodes: Vec::new(),
            triangles: Vec::new(),
            order: Vec::new(),
            plan: settings.plan,
            sat_mode: SatMode::Full15,
        }
    }

    fn top_down(
        triangles: &[TriangleCorners],
        settings: &VolumeTreeSettings,
    ) -> Result<Self, HierarchyError> {
        let mut tree = Self::empty(settings);
        tree.order = (0..triangles.len() as u32).collect();
        let source = Source(triangles);
        let (mut values, mut corners) = (Vec::new(), Vec::new());
        let mut open = vec![Open { first: 0, count: triangles.len(), depth: 0, right_of: None }];
        while let Some(Open { first, count, depth, right_of }) = open.pop() {
            let index = tree.nodes.len();
            if let Some(parent) = right_of {
                tree.nodes[parent].right = (index - parent) as u32;
            }
            tree.push_node(first, count, depth);
            if count <= settings.max_leaf || depth >= settings.max_depth {
                continue;
            }
            let items = &mut tree.order[first..first + count];
            corners.clear();
            corners.extend(items.iter().map(|&i| triangles[i as usize]));
            let axes = settings.plan.kind(depth).around(&corners)?.axes(&corners);
            let middle = match split(items, &source, axes, settings.split, &mut values) {
                Some(middle) => middle,
                None if settings.halve_indivisible => count / 2,
                None => continue,
            };
            let below = depth + 1;
            open.push(Open {
                first: first + middle,
                count: count - middle,
                depth: below,
                right_of: Some(index),
            });
            open.push(Open { first, count: middle, depth: below, right_of: None });
        }
        tree.triangles = tree.order.iter().map(|&i| triangles[i as usize]).collect();
        Ok(tree)
    }

    fn push_node(&mut self, first: usize, count: usize, depth: usize) {
        // The volume is put in by `fit`.
        let volume = Volume::Hull(Box::default());
        let (first, count, depth) = (first as u32, count as u32, depth as u32);
        self.nodes.push(Node { volume, size: 0.0, right: 0, first, count, depth });
    }

    fn bottom_up(
        triangles: &[TriangleCorners],
        settings: &VolumeTreeSettings,
    ) -> Result<Self, HierarchyError> {
        let joins = joined_by_surface(triangles)?;
        let mut tree = Self::empty(settings);
        let leaves = triangles.len();
        // (cluster, depth, parent if right child), in depth-first order; a node's range is known when it is
        // left.
        let mut open = vec![(leaves + joins.len() - 1, 0, None)];
        while let Some((cluster, depth, right_of)) = open.pop() {
            let index = tree.nodes.len();
            if let Some(parent) = right_of {
                let node: &mut Node = &mut tree.nodes[parent];
                node.right = (index - parent) as u32;
            }
            tree.push_node(tree.order.len(), 1, depth);
            if cluster < leaves {
                tree.order.push(cluster as u32);
            } else {
                let [left, right] = joins[cluster - leaves];
                open.push((right, depth + 1, Some(index)));
                open.push((left, depth + 1, None));
            }
        }
        for i in (0..tree.nodes.len()).rev() {
            if tree.nodes[i].right > 0 {
                let right = i + tree.nodes[i].right as usize;
                tree.nodes[i].count = tree.nodes[i + 1].count + tree.nodes[right].count;
            }
        }
        tree.triangles = tree.order.iter().map(|&i| triangles[i as usize]).collect();
        Ok(tree)
    }

    /// Fits every volume to the triangles below it.
    fn fit(&mut self) -> Result<(), HierarchyError> {
        for node in &mut self.nodes {
            let below = &self.triangles[node.first as usize..(node.first + node.count) as usize];
            node.volume = self.plan.kind(node.depth as usize).around(below)?;
            node.size = node.volume.size();
        }
        Ok(())
    }

    /// Moves the triangles but keeps the topology of the tree; every volume is fitted anew.
    pub fn refit(&mut self, mesh: &TriangleMesh) -> Result<(), HierarchyError> {
        if mesh.triangles().len() != self.order.len() {
            let (expected, found) = (self.order.len(), mesh.triangles().len());
            return Err(HierarchyError::CountMismatch { what: "triangles", expected, found });
        }
        for (corners, &i) in self.triangles.iter_mut().zip(&self.order) {
            *corners = mesh.triangle(i as usize);
        }
        self.fit()
    }

    /// How many nodes it has.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Calls `visit` for every node with its depth, volume, triangles and whether it is a leaf; parents come
    /// before children.
    pub fn for_each_node(&self, mut visit: impl FnMut(usize, &Volume, &[u32], bool)) {
        for node in &self.nodes {
            let range = node.first as usize..(node.first + node.count) as usize;
            visit(node.depth as usize, &node.volume, &self.order[range], node.right == 0);
        }
    }
}

/// Triangles ⇒ pairs of clusters in the order they are joined; cluster n + k is the k-th pair, n the number
/// of triangles.
///
/// Follows nearest neighbours until two are each other's nearest, and joins those.
fn joined_by_surface(triangles: &[TriangleCorners]) -> Result<Vec<[usize; 2]>, HierarchyError> {
    let mut alive: Vec<(usize, Aabb)> = Vec::with_capacity(triangles.len());
    for (i, corners) in triangles.iter().enumerate() {
        alive.push((i, Aabb::from_points(*corners)?));
    }
    let mut joins = Vec::with_capacity(triangles.len().saturating_sub(1));
    // Clusters by their boxes; the chain holds clusters each of which is the nearest of the one before.
    let mut chain: Vec<(usize, Aabb)> = Vec::new();
    while alive.len() + chain.len() > 1 {
        if chain.is_empty()
            && let Some(start) = alive.pop()
        {
            chain.push(start);
        }
        let (_, tip) = chain[chain.len() - 1];
        let back = chain.len().checked_sub(2).map(|k| tip.union(&chain[k].1).surface_area());
        let mut nearest = (back.unwrap_or(f64::INFINITY), None);
        for (k, (_, other)) in alive.iter().enumerate() {
            let area = tip.union(other).surface_area();
            if area < nearest.0 {
                nearest = (area, Some(k));
            }
        }
        match (nearest.1, chain.len()) {
            (Some(k), _) => {
                let next = alive.swap_remove(k);
                chain.push(next);
            }
            (None, 2..) => {
                let (last, before) = (chain.pop(), chain.pop());
                if let (Some((a, box_a)), Some((b, box_b))) = (last, before) {
                    joins.push([a, b]);
                    alive.push((triangles.len() + joins.len() - 1, box_a.union(&box_b)));
                }
            }
            // A lone cluster whose every neighbour is infinitely far: take any.
            (None, _) => chain.extend(alive.pop()),
        }
    }
    Ok(joins)
}
