//! Jacobians: how joint velocities move a point of a link. Column k is the motion that a unit of velocity k gives it; only the axes between
//! the link and the base have one other than zero.

use super::DynamicsError;
use super::kinematics::Workspace;
use super::linear::Vector;
use super::scalar::Scalar;
use super::spatial::SpatialMotion;
use super::tree::{LinkTree, ROOT};

/// (link, point of it in the world) ⇒ columns of its Jacobian about that point, after kinematics were computed.
///
/// # Errors
/// A link that does not exist, or columns of another number than the tree has velocities.
pub fn jacobian<T: Scalar>(
    tree: &LinkTree,
    work: &Workspace<T>,
    link: usize,
    point: Vector<T>,
    columns: &mut [SpatialMotion<T>],
) -> Result<(), DynamicsError> {
    super::check_link(tree, link)?;
    super::check_length("columns", columns.len(), tree.velocity_count())?;
    columns.fill(SpatialMotion::default());
    let mut index = link;
    loop {
        let node = &tree.nodes[index];
        let arm = point - work.links[index].origin;
        for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
            columns[k] = work.axes[k].s.at(arm);
        }
        if node.parent == ROOT {
            return Ok(());
        }
        index = node.parent as usize;
    }
}
