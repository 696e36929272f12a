//! Inverse dynamics by the recursive Newton–Euler algorithm: joint accelerations ⇒ joint forces, in time proportional to the links.
//!
//! From the base to the tips a = a_parent at r + c + S v̇, and each link needs f = I a + (ω, v) ×* I (ω, v) − external. From the tips to
//! the base these forces are added up; the joint carries s·f.

use super::DynamicsError;
use super::forward_dynamics::ExternalForces;
use super::kinematics::{Workspace, follow, parent_of, place, turn_all};
use super::linear::Vector;
use super::scalar::Scalar;
use super::spatial::SpatialMotion;
use super::tree::{LinkTree, ROOT, ShortForm};
use glam::DVec3;

/// (positions, velocities, joint accelerations, external forces, gravity) ⇒ joint forces. The forces through the joints stay in the workspace.
///
/// # Errors
/// Slices that do not have the length the tree needs.
#[inline(always)]
pub fn inverse_dynamics<T: Scalar>(
    tree: &LinkTree,
    work: &mut Workspace<T>,
    (q, v, accelerations): (&[T], &[T], &[T]),
    external: ExternalForces<'_, T>,
    gravity: DVec3,
    forces: &mut [T],
) -> Result<(), DynamicsError> {
    let (nq, nv) = (tree.position_count(), tree.velocity_count());
    super::check_length("positions", q.len(), nq)?;
    super::check_length("velocities", v.len(), nv)?;
    super::check_length("joint accelerations", accelerations.len(), nv)?;
    super::check_length("joint forces", forces.len(), nv)?;
    let Workspace { links, axes } = work;
    super::check_length("links of the workspace", links.len(), tree.nodes.len())?;
    let fall = SpatialMotion { angular: Vector::default(), linear: Vector::splat(-gravity) };
    turn_all(tree, q, axes);
    for (index, node) in tree.nodes.iter().enumerate() {
        place(tree, index, node, q, links, axes);
        follow(tree, index, node, q, v, links, axes);
        let parent = parent_of(links, node).map_or(fall, |parent| links[parent].acceleration);
        let at = node.velocity as usize;
        let link = &mut links[index];
        let mut a = parent.at(link.arm) + link.bias;
        match node.form {
            ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. } => {
                a.angular += axes[at].s.angular * accelerations[at];
            }
            ShortForm::Translation { .. } => a.linear += axes[at].s.linear * accelerations[at],
            ShortForm::General => {
                for k in at..at + node.velocity_count as usize {
                    a += axes[k].s * accelerations[k];
                }
            }
        }
        link.acceleration = a;
        let inertia = node.world_inertia(&link.rotation);
        link.force = inertia.apply(a) + link.velocity.cross_force(inertia.apply(link.velocity));
    }
    if let Some(external) = external {
        super::check_length("external forces", external.len(), tree.nodes.len())?;
        for (link, force) in links.iter_mut().zip(external) {
            link.force = link.force - *force;
        }
    }
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let (force, arm) = (links[index].force, links[index].arm);
        let at = node.velocity as usize;
        match node.form {
            ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. } => {
                forces[at] = axes[at].s.angular.dot(force.torque);
            }
            ShortForm::Translation { .. } => forces[at] = axes[at].s.linear.dot(force.force),
            ShortForm::General => {
                for k in at..at + node.velocity_count as usize {
                    forces[k] = axes[k].s.power(force);
                }
            }
        }
        if node.armature > 0.0 {
            for k in at..at + node.velocity_count as usize {
                forces[k] += T::splat(node.armature) * accelerations[k];
            }
        }
        if node.parent != ROOT {
            links[node.parent as usize].force += force.shifted_by(arm);
        }
    }
    Ok(())
}

/// Forces through all joints after [`forward_dynamics`](super::forward_dynamics) with the same external forces: what each link's parent
/// exerts on it, about the link's origin, read by [`Workspace::reaction`].
///
/// f = I a + (ω, v) ×* I (ω, v) − external + the same of its children: the balance of Newton and Euler, link by link. Its part along the
/// joint's axes is the joint force less the armature's share.
///
/// # Errors
/// Slices that do not have the length the tree needs.
pub fn joint_reactions<T: Scalar>(
    tree: &LinkTree,
    work: &mut Workspace<T>,
    external: ExternalForces<'_, T>,
) -> Result<(), DynamicsError> {
    let links = &mut work.links;
    super::check_length("links of the workspace", links.len(), tree.nodes.len())?;
    if let Some(external) = external {
        super::check_length("external forces", external.len(), tree.nodes.len())?;
    }
    for (index, node) in tree.nodes.iter().enumerate() {
        let link = &mut links[index];
        let inertia = node.world_inertia(&link.rotation);
        link.force =
            inertia.apply(link.acceleration) + link.velocity.cross_force(inertia.apply(link.velocity));
        if let Some(external) = external {
            link.force = link.force - external[index];
        }
    }
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        if node.parent != ROOT {
            let (force, arm) = (links[index].force, links[index].arm);
            links[node.parent as usize].force += force.shifted_by(arm);
        }
    }
    Ok(())
}
