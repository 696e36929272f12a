//! A box tree over points, to find those that may lie in a field.

use glam::DVec3;

use crate::{Aabb, BoundsError};

/// Points in a leaf, at most.
const LEAF: usize = 8;

/// A node: its box and either its points or its two children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub bounds: Aabb,
    /// Points `order[first..end]`.
    pub first: u32,
    pub end: u32,
    /// Second child; the first one follows its parent. 0 for a leaf.
    pub second: u32,
}

/// The vertices of a body under a tree of boxes, halved at the median of the longest side.
#[derive(Clone, Debug)]
pub struct VertexTree {
    points: Vec<DVec3>,
    order: Vec<u32>,
    nodes: Vec<Node>,
}

impl VertexTree {
    /// Points ⇒ tree; an error if there are none or one is not finite.
    pub fn new(points: &[DVec3]) -> Result<Self, BoundsError> {
        Aabb::from_points(points.iter().copied())?;
        let order = (0..points.len() as u32).collect();
        let mut tree = Self { points: points.to_vec(), order, nodes: Vec::new() };
        tree.build(0, points.len())?;
        Ok(tree)
    }

    /// Depth is the logarithm of the count, since every cut halves it.
    fn build(&mut self, first: usize, end: usize) -> Result<(), BoundsError> {
        let points = &self.points;
        let bounds = Aabb::from_points(self.order[first..end].iter().map(|&i| points[i as usize]))?;
        let node = self.nodes.len();
        self.nodes.push(Node { bounds, first: first as u32, end: end as u32, second: 0 });
        if end - first > LEAF {
            let axis = bounds.extents().max_position();
            let middle = first.midpoint(end);
            self.order[first..end].select_nth_unstable_by(middle - first, |&a, &b| {
                points[a as usize][axis].total_cmp(&points[b as usize][axis]).then(a.cmp(&b))
            });
            self.build(first, middle)?;
            self.nodes[node].second = self.nodes.len() as u32;
            self.build(middle, end)?;
        }
        Ok(())
    }

    /// The points, in the order given.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Box around all points.
    pub fn bounds(&self) -> Aabb {
        self.nodes[0].bounds
    }

    pub(super) fn node(&self, index: u32) -> Node {
        self.nodes[index as usize]
    }

    /// Indices of the points under a node.
    pub(super) fn points_under(&self, node: &Node) -> &[u32] {
        &self.order[node.first as usize..node.end as usize]
    }
}
