//! Trees of oriented boxes, after Gottschalk, Lin and Manocha (1996).
//!
//! A box is stored in the frame of its *parent's* box: R_c, T_c. Moving the object changes only the pose of
//! the root. Two boxes are tested in one relative pose (R, T), B's frame relative to A's. Opening B to its
//! child c gives R R_c, R T_c + T; opening A gives R_cᵀ R, R_cᵀ (T − T_c).
//!
//! One triangle per leaf makes 2N − 1 nodes. Without leaf nodes (N − 1 nodes) a triangle hangs directly on
//! its parent, has its corners in that parent's frame, and is tested against boxes by 13 axes.

use glam::{DMat3, DQuat, DVec3};

use super::split::{Corners, SplitRule, split};
use super::triangle::TriangleCorners;
use super::volume::{BoxFit, oriented_box};
use super::{HierarchyError, MAX_ITEMS};
use crate::TriangleMesh;

/// Contents of an [`ObbTree`] and how boxes are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObbTreeSettings {
    /// Data the axes are fitted to.
    pub fit: BoxFit,
    /// Whether single triangles have boxes of their own.
    pub leaf_boxes: bool,
    /// Rotations as quaternions: less than half the memory for a few operations more.
    pub quaternions: bool,
    /// Two leaves are tested as triangles at once, without their boxes.
    pub skip_leaf_test: bool,
}

impl Default for ObbTreeSettings {
    fn default() -> Self {
        Self { fit: BoxFit::Hull, leaf_boxes: true, quaternions: false, skip_leaf_test: false }
    }
}

/// A node, or a triangle by its place in the order of leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Child {
    Node(u32),
    Triangle(u32),
}

/// A box in the frame of its parent; its rotation is stored separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub translation: DVec3,
    pub half_extents: DVec3,
    /// Both the same triangle for a leaf.
    pub children: [Child; 2],
}

#[derive(Clone, Debug, PartialEq)]
enum Rotations {
    Matrices(Vec<DMat3>),
    Quaternions(Vec<DQuat>),
}

/// A hierarchy of oriented boxes over the triangles of a mesh.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::hierarchy::{ObbContacts, ObbScratch, ObbTree, ObbTreeSettings, Report};
/// use rattleback_geometry::{Pose, generate};
/// let sphere = generate::icosphere(3)?;
/// let tree = ObbTree::build(&sphere, &ObbTreeSettings::default())?;
/// let (mut scratch, mut contacts) = (ObbScratch::default(), ObbContacts::default());
/// tree.collide(&tree, &Pose::at(DVec3::X * 1.9), Report::FIRST_PAIR, &mut scratch, &mut contacts);
/// assert_eq!(contacts.pairs.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ObbTree {
    pub(super) root: Child,
    pub(super) nodes: Vec<Node>,
    rotations: Rotations,
    /// Corners in the mesh's frame, in the order of leaves.
    pub(super) triangles: Vec<TriangleCorners>,
    /// Corners in the frame of the parent's box, if there are no leaf boxes.
    pub(super) local: Vec<TriangleCorners>,
    /// Indices in the mesh, in the order of leaves.
    pub(super) order: Vec<u32>,
    /// Unit normals of the neighbours across the edges from corner k to k + 1; 0 where there is no neighbour.
    pub(super) across: Vec<[DVec3; 3]>,
    /// Length of the root box's diagonal.
    pub(super) size: f64,
    pub(super) skip_leaf_test: bool,
}

struct Source<'a>(&'a [TriangleCorners]);

impl Corners for Source<'_> {
    fn corners(&self, item: u32) -> [DVec3; 3] {
        self.0[item as usize]
    }
}

/// Deeper nodes are cut in the middle of the list.
const DEEP: usize = 64;

/// Part of the list that still has to become a child.
struct Open {
    first: usize,
    count: usize,
    depth: usize,
    parent: Option<(usize, usize)>,
}

impl ObbTree {
    /// Mesh ⇒ tree.
    pub fn build(mesh: &TriangleMesh, settings: &ObbTreeSettings) -> Result<Self, HierarchyError> {
        let count = mesh.triangles().len();
        if count == 0 {
            return Err(HierarchyError::Empty);
        }
        if count > MAX_ITEMS {
            return Err(HierarchyError::TooMany { count });
        }
        let triangles: Vec<TriangleCorners> = (0..count).map(|i| mesh.triangle(i)).collect();
        let mut tree = Self {
            root: Child::Triangle(0),
            nodes: Vec::new(),
            rotations: Rotations::Matrices(Vec::new()),
            triangles: Vec::new(),
            local: Vec::new(),
            order: (0..count as u32).collect(),
            across: Vec::new(),
            size: mesh.bounds().diagonal(),
            skip_leaf_test: settings.skip_leaf_test,
        };
        let frames = tree.subdivide(&triangles, *settings)?;
        tree.triangles = tree.order.iter().map(|&i| triangles[i as usize]).collect();
        let across = normals_across(mesh);
        tree.across = tree.order.iter().map(|&i| across[i as usize]).collect();
        if !settings.leaf_boxes {
            tree.hang_triangles(&frames);
        }
        let relative = tree.hang_boxes(&frames);
        tree.rotations = if settings.quaternions {
            Rotations::Quaternions(relative.iter().map(|m| DQuat::from_mat3(m).normalize()).collect())
        } else {
            Rotations::Matrices(relative)
        };
        Ok(tree)
    }

    /// Makes the nodes with boxes in the mesh's frame ⇒ their axes.
    fn subdivide(
        &mut self,
        triangles: &[TriangleCorners],
        settings: ObbTreeSettings,
    ) -> Result<Vec<DMat3>, HierarchyError> {
        let source = Source(triangles);
        let (mut frames, mut values, mut corners) = (Vec::new(), Vec::new(), Vec::new());
        let mut open = vec![Open { first: 0, count: triangles.len(), depth: 0, parent: None }];
        while let Some(Open { first, count, depth, parent }) = open.pop() {
            let leaf = Child::Triangle(first as u32);
            let child =
                if count == 1 && !settings.leaf_boxes { leaf } else { Child::Node(self.nodes.len() as u32) };
            match parent {
                Some((parent, side)) => self.nodes[parent].children[side] = child,
                None => self.root = child,
            }
            let Child::Node(index) = child else { continue };
            let items = &mut self.order[first..first + count];
            corners.clear();
            corners.extend(items.iter().map(|&i| triangles[i as usize]));
            let fitted = oriented_box(&corners, settings.fit)?;
            frames.push(fitted.pose().rotation_matrix());
            self.nodes.push(Node {
                translation: fitted.center(),
                half_extents: fitted.half_extents(),
                children: [leaf; 2],
            });
            if count == 1 {
                continue;
            }
            let axes = super::split::axes_by_length(fitted.axes(), fitted.half_extents());
            let parted =
                if depth < DEEP { split(items, &source, axes, SplitRule::Mean, &mut values) } else { None };
            let middle = parted.unwrap_or(count / 2);
            let parent = index as usize;
            let below = depth + 1;
            let right = (first + middle, count - middle);
            open.push(Open { first: right.0, count: right.1, depth: below, parent: Some((parent, 1)) });
            open.push(Open { first, count: middle, depth: below, parent: Some((parent, 0)) });
        }
        Ok(frames)
    }

    /// Puts each triangle into the frame of the node it hangs on.
    fn hang_triangles(&mut self, frames: &[DMat3]) {
        self.local = self.triangles.clone();
        for (node, axes) in self.nodes.iter().zip(frames) {
            for child in node.children {
                if let Child::Triangle(place) = child {
                    let place = place as usize;
                    self.local[place] =
                        self.triangles[place].map(|p| axes.transpose() * (p - node.translation));
                }
            }
        }
    }

    /// Boxes in the mesh's frame ⇒ boxes in their parents' frames; returns the relative rotations.
    fn hang_boxes(&mut self, frames: &[DMat3]) -> Vec<DMat3> {
        let mut relative = frames.to_vec();
        // Children come after their parents: backwards, a parent is still in the mesh's frame when its
        // children are done.
        for parent in (0..self.nodes.len()).rev() {
            for child in self.nodes[parent].children {
                if let Child::Node(child) = child {
                    let child = child as usize;
                    let back = frames[parent].transpose();
                    relative[child] = back * frames[child];
                    let offset = self.nodes[child].translation - self.nodes[parent].translation;
                    self.nodes[child].translation = back * offset;
                }
            }
        }
        relative
    }

    #[inline(always)]
    pub(super) fn rotation(&self, node: u32) -> DMat3 {
        match &self.rotations {
            Rotations::Matrices(matrices) => matrices[node as usize],
            Rotations::Quaternions(quaternions) => DMat3::from_quat(quaternions[node as usize]),
        }
    }

    /// How many boxes it has: 2N − 1 with leaf boxes, N − 1 without.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes held by the nodes and triangles.
    pub fn memory(&self) -> usize {
        let rotations = match &self.rotations {
            Rotations::Matrices(list) => std::mem::size_of_val(list.as_slice()),
            Rotations::Quaternions(list) => std::mem::size_of_val(list.as_slice()),
        };
        rotations
            + std::mem::size_of_val(self.nodes.as_slice())
            + std::mem::size_of_val(self.triangles.as_slice())
            + std::mem::size_of_val(self.local.as_slice())
            + std::mem::size_of_val(self.order.as_slice())
            + std::mem::size_of_val(self.across.as_slice())
    }

    /// Calls `visit` for every box with its depth, axes and centre in the mesh's frame, half extents, and the
    /// triangles (by their index in the mesh) that hang directly on it.
    pub fn for_each_box(&self, mut visit: impl FnMut(usize, DMat3, DVec3, DVec3, &[u32])) {
        let mut stack = vec![(self.root, 0, DMat3::IDENTITY, DVec3::ZERO)];
        while let Some((child, depth, axes, center)) = stack.pop() {
            let Child::Node(index) = child else { continue };
            let node = &self.nodes[index as usize];
            let center = center + axes * node.translation;
            let axes = axes * self.rotation(index);
            let mut own: Vec<u32> = Vec::new();
            for child in node.children {
                match child {
                    Child::Triangle(place) => own.push(self.order[place as usize]),
                    Child::Node(_) => stack.push((child, depth + 1, axes, center)),
                }
            }
            own.dedup();
            visit(depth, axes, center, node.half_extents, &own);
        }
    }
}

/// For each triangle and side: unit normal of the one other triangle that shares it, or 0.
fn normals_across(mesh: &TriangleMesh) -> Vec<[DVec3; 3]> {
    let mut sides: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(3 * mesh.triangles().len());
    for (i, corners) in mesh.triangles().iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), i as u32, k));
        }
    }
    sides.sort_unstable();
    let normal = |i: u32| mesh.area_vector(i as usize).normalize_or_zero();
    let mut across = vec![[DVec3::ZERO; 3]; mesh.triangles().len()];
    for group in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        if let [x, y] = group {
            across[x.2 as usize][x.3] = normal(y.2);
            across[y.2 as usize][y.3] = normal(x.2);
        }
    }
    across
}
