//! Two [`ObbTree`]s against each other: intersecting triangles and contact points.

use glam::{DMat3, DVec3};

use super::contact_points::{TriangleContact, contacts_of_pair, weld};
use super::obb_tree::Child;
use super::oriented_overlap::{SatMode, boxes_disjoint};
use super::triangle::{TriangleCorners, triangles_overlap};
use super::{ObbTree, PairCost};
use crate::Pose;
use crate::primitive::intersects_centered_box;

/// Output of a collision query: two independent switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Stop at the first pair of triangles.
    pub first_only: bool,
    /// Also compute points and normals.
    pub points: bool,
}

impl Report {
    /// Every pair of intersecting triangles.
    pub const ALL_PAIRS: Self = Self { first_only: false, points: false };
    /// Every pair, with contact points and normals.
    pub const ALL_POINTS: Self = Self { first_only: false, points: true };
    /// Some pair: the fastest.
    pub const FIRST_PAIR: Self = Self { first_only: true, points: false };
    /// Some pair, with its contact points and normals.
    pub const FIRST_POINTS: Self = Self { first_only: true, points: true };
}

/// Result of a collision query; owned by the caller and overwritten.
#[derive(Clone, Debug, Default)]
pub struct ObbContacts {
    /// Triangles (of A, of B) that share a point.
    pub pairs: Vec<(u32, u32)>,
    /// Points, if requested, in the frame of A; nearly equal ones are merged.
    pub points: Vec<TriangleContact>,
    /// Cost of the query.
    pub cost: PairCost,
}

/// Workspace of a query, owned by the caller.
#[derive(Clone, Debug, Default)]
pub struct ObbScratch {
    stack: Vec<NodePair>,
}

/// Two children and the frame of B's (or of the parent of its triangle) relative to A's.
#[derive(Clone, Copy, Debug)]
struct NodePair {
    a: Child,
    b: Child,
    r: DMat3,
    t: DVec3,
}

impl ObbTree {
    /// Trees A and B, pose of B in the frame of A ⇒ pairs and points. An invalid pose yields no pairs.
    pub fn collide(
        &self,
        other: &Self,
        pose: &Pose,
        report: Report,
        scratch: &mut ObbScratch,
        contacts: &mut ObbContacts,
    ) {
        contacts.pairs.clear();
        contacts.points.clear();
        contacts.cost = PairCost::default();
        if !pose.is_valid() {
            return;
        }
        let world = (pose.rotation_matrix(), pose.translation);
        let stack = &mut scratch.stack;
        stack.clear();
        let start = NodePair { a: self.root, b: other.root, r: world.0, t: world.1 };
        contacts.cost.volume_transforms = 1;
        stack.push(self.enter_a(other.enter_b(start)));
        while let Some(pair) = stack.pop() {
            if let (Some(i), Some(j)) = (self.leaf(pair.a), other.leaf(pair.b)) {
                if !self.skip_leaf_test && self.apart(other, &pair, &mut contacts.cost) {
                    continue;
                }
                if self.test_triangles(other, i, j, &world, report, contacts) && report.first_only {
                    break;
                }
                continue;
            }
            if self.apart(other, &pair, &mut contacts.cost) {
                continue;
            }
            match (self.size_of(pair.a), other.size_of(pair.b)) {
                (Some(size_a), size_b) if size_b.is_none_or(|size_b| size_a >= size_b) => {
                    if let Child::Node(index) = pair.a {
                        for child in self.nodes[index as usize].children {
                            stack.push(self.enter_a(NodePair { a: child, ..pair }));
                        }
                    }
                }
                _ => {
                    if let Child::Node(index) = pair.b {
                        for child in other.nodes[index as usize].children {
                            stack.push(other.enter_b(NodePair { b: child, ..pair }));
                        }
                    }
                }
            }
        }
        if report.points {
            weld(&mut contacts.points, 1e-6 * self.size.max(other.size));
        }
    }

    /// Place of the triangle if the child is a single one.
    fn leaf(&self, child: Child) -> Option<u32> {
        match child {
            Child::Triangle(place) => Some(place),
            Child::Node(index) => match self.nodes[index as usize].children {
                [Child::Triangle(x), Child::Triangle(y)] if x == y => Some(x),
                _ => None,
            },
        }
    }

    /// Measure of what can be opened: None for a leaf.
    fn size_of(&self, child: Child) -> Option<f64> {
        match child {
            Child::Node(index) if self.leaf(child).is_none() => {
                Some(self.nodes[index as usize].half_extents.length_squared())
            }
            _ => None,
        }
    }

    /// From the frame of A's parent to that of A itself; a triangle stays with its parent.
    fn enter_a(&self, pair: NodePair) -> NodePair {
        let Child::Node(index) = pair.a else { return pair };
        let back = self.rotation(index).transpose();
        let t = back * (pair.t - self.nodes[index as usize].translation);
        NodePair { r: back * pair.r, t, ..pair }
    }

    /// The same for B.
    fn enter_b(&self, pair: NodePair) -> NodePair {
        let Child::Node(index) = pair.b else { return pair };
        let t = pair.r * self.nodes[index as usize].translation + pair.t;
        NodePair { r: pair.r * self.rotation(index), t, ..pair }
    }

    /// Whether a box of at least one side parts the two.
    fn apart(&self, other: &Self, pair: &NodePair, cost: &mut PairCost) -> bool {
        let NodePair { r, t, .. } = pair;
        cost.volume_tests += 1;
        match (pair.a, pair.b) {
            (Child::Node(a), Child::Node(b)) => {
                let (a, b) = (self.nodes[a as usize].half_extents, other.nodes[b as usize].half_extents);
                boxes_disjoint(a, b, r, *t, SatMode::Full15)
            }
            (Child::Node(a), Child::Triangle(b)) => {
                let h = self.nodes[a as usize].half_extents;
                let corners = other.local[b as usize].map(|p| *r * p + *t);
                !intersects_centered_box(&corners, roomy(h, &corners))
            }
            (Child::Triangle(a), Child::Node(b)) => {
                let h = other.nodes[b as usize].half_extents;
                let corners = self.local[a as usize].map(|p| r.transpose() * (p - *t));
                !intersects_centered_box(&corners, roomy(h, &corners))
            }
            (Child::Triangle(_), Child::Triangle(_)) => false,
        }
    }

    /// Tests two triangles in the frame of A ⇒ whether they intersect; stores the requested results.
    fn test_triangles(
        &self,
        other: &Self,
        i: u32,
        j: u32,
        world: &(DMat3, DVec3),
        report: Report,
        contacts: &mut ObbContacts,
    ) -> bool {
        let (i, j) = (i as usize, j as usize);
        let a = &self.triangles[i];
        let b = other.triangles[j].map(|p| world.0 * p + world.1);
        contacts.cost.triangle_tests += 1;
        contacts.cost.triangle_transforms += 1;
        if !triangles_overlap(a, &b) {
            return false;
        }
        contacts.pairs.push((self.order[i], other.order[j]));
        if report.points {
            let triangles = (self.order[i], other.order[j]);
            let across = other.across[j].map(|n| world.0 * n);
            contacts_of_pair((a, self.across[i]), (&b, across), triangles, &mut contacts.points);
        }
        true
    }
}

/// Half extents with room for the rounding of frames deep in the tree.
fn roomy(h: DVec3, corners: &TriangleCorners) -> DVec3 {
    let reach = corners.iter().map(|p| p.abs().max_element()).fold(h.max_element(), f64::max);
    h + 1e-12 * reach
}
