//! The vertices of a body under a tree of boxes, to find those that may lie in a field.

use glam::DVec3;

use crate::Aabb;
use crate::hierarchy::{BoxTree, BuildSettings, HierarchyError};

/// Points in a leaf, at most.
const LEAF: usize = 8;

/// The vertices of a body under a tree of boxes.
#[derive(Clone, Debug)]
pub struct VertexTree {
    points: Vec<DVec3>,
    tree: BoxTree,
}

impl VertexTree {
    /// Points ⇒ tree; an error if there are none or one is not finite.
    pub fn new(points: &[DVec3]) -> Result<Self, HierarchyError> {
        let boxes = points.iter().map(|&p| Aabb::new(p, p)).collect::<Result<Vec<Aabb>, _>>()?;
        let tree = BoxTree::build(&boxes, &BuildSettings { max_leaf: LEAF, threads: 1 })?;
        Ok(Self { points: points.to_vec(), tree })
    }

    /// The points, in the order given.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Box around all points.
    pub fn bounds(&self) -> Aabb {
        self.tree.bounds()
    }

    pub(super) fn tree(&self) -> &BoxTree {
        &self.tree
    }
}
