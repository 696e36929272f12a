//! What an impulse on one link does to all joint velocities: in time proportional to the links, and to the velocity of the link itself in time proportional
//! to its depth.
//!
//! In the limit of a blow only impulses count, so the articulated-body algorithm runs with the factors U, D of the present positions and
//! nothing else: Y = −P at the link that is struck; towards the base, for each axis, y = −s·Y, Y ← Y + U y/D; then, from the base on, Δv̇ = (y − U·Δ)/D and
//! Δ ← Δ + s Δv̇. Three unit impulses give the inverse mass K of a point: u ← u + K p.

use super::DynamicsError;
use super::kinematics::{Workspace, parent_of};
use super::linear::{Matrix, Vector};
use super::scalar::Scalar;
use super::spatial::{SpatialForce, SpatialMotion};
use super::tree::{LinkTree, ROOT};
use glam::DVec3;

/// (link, impulse about its origin) ⇒ changes of all joint velocities, at the positions of the last forward dynamics.
///
/// # Errors
/// A link that does not exist, or changes of another number than the tree has velocities.
pub fn impulse_response<T: Scalar>(
    tree: &LinkTree,
    work: &mut Workspace<T>,
    link: usize,
    impulse: SpatialForce<T>,
    changes: &mut [T],
) -> Result<(), DynamicsError> {
    super::check_link(tree, link)?;
    super::check_length("changes of velocity", changes.len(), tree.velocity_count())?;
    let Workspace { links, axes } = work;
    changes.fill(T::default());
    let mut carried = impulse;
    let mut index = link;
    loop {
        let node = &tree.nodes[index];
        for k in (node.velocity as usize..(node.velocity + node.velocity_count) as usize).rev() {
            changes[k] = axes[k].s.power(carried);
            carried = carried - axes[k].u * (changes[k] * axes[k].d_inverse);
        }
        if node.parent == ROOT {
            break;
        }
        carried = carried.shifted_by(links[index].arm);
        index = node.parent as usize;
    }
    for (index, node) in tree.nodes.iter().enumerate() {
        let parent = parent_of(links, node).map(|parent| links[parent].change).unwrap_or_default();
        let mut change: SpatialMotion<T> = parent.at(links[index].arm);
        for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
            changes[k] = (changes[k] - change.power(axes[k].u)) * axes[k].d_inverse;
            change += axes[k].s * changes[k];
        }
        links[index].change = change;
    }
    Ok(())
}

/// Joint impulses x ⇒ changes of joint velocities H⁻¹ x, in place, at the positions of the last forward dynamics.
///
/// The factors U, D of the articulated-body algorithm are those of H, so each product costs time proportional to the links.
///
/// # Errors
/// A vector of another length than the tree has velocities.
pub fn apply_inverse_mass<T: Scalar>(
    tree: &LinkTree,
    work: &mut Workspace<T>,
    x: &mut [T],
) -> Result<(), DynamicsError> {
    super::check_length("joint impulses", x.len(), tree.velocity_count())?;
    let Workspace { links, axes } = work;
    for link in links.iter_mut() {
        link.force = SpatialForce::default();
    }
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let mut carried = links[index].force;
        for k in (node.velocity as usize..(node.velocity + node.velocity_count) as usize).rev() {
            x[k] -= axes[k].s.power(carried);
            carried += axes[k].u * (x[k] * axes[k].d_inverse);
        }
        if node.parent != ROOT {
            let arm = links[index].arm;
            links[node.parent as usize].force += carried.shifted_by(arm);
        }
    }
    for (index, node) in tree.nodes.iter().enumerate() {
        let parent = parent_of(links, node).map(|parent| links[parent].change).unwrap_or_default();
        let mut change: SpatialMotion<T> = parent.at(links[index].arm);
        for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
            x[k] = (x[k] - change.power(axes[k].u)) * axes[k].d_inverse;
            change += axes[k].s * x[k];
        }
        links[index].change = change;
    }
    Ok(())
}

/// (link, point of it in the world) ⇒ K: the change of that point's velocity by an impulse there, per N·s, at the positions of the last
/// forward dynamics. Symmetric and positive semidefinite: a linkage may be unable to move in a direction.
///
/// # Errors
/// A link that does not exist.
pub fn inverse_mass<T: Scalar>(
    tree: &LinkTree,
    work: &Workspace<T>,
    link: usize,
    point: Vector<T>,
) -> Result<Matrix<T>, DynamicsError> {
    super::check_link(tree, link)?;
    let Workspace { links, axes } = work;
    // K = Σ over the axes of the path of g gᵀ/D, g the impulse that reaches an axis: H⁻¹ = (Lᵀ D L)⁻¹ along the path.
    let arm = point - links[link].origin;
    let mut carried = DVec3::AXES
        .map(|axis| SpatialForce { torque: Vector::default(), force: Vector::splat(axis) }.shifted_by(arm));
    let mut k_matrix = Matrix::default();
    let mut index = link;
    loop {
        let node = &tree.nodes[index];
        for k in (node.velocity as usize..(node.velocity + node.velocity_count) as usize).rev() {
            let g = carried.map(|force| axes[k].s.power(force));
            let g = Vector::new(g[0], g[1], g[2]);
            let scaled = g * axes[k].d_inverse;
            k_matrix.x += g * scaled.x;
            k_matrix.y += g * scaled.y;
            k_matrix.z += g * scaled.z;
            for (carried, share) in carried.iter_mut().zip([scaled.x, scaled.y, scaled.z]) {
                *carried = *carried - axes[k].u * share;
            }
        }
        if node.parent == ROOT {
            return Ok(k_matrix);
        }
        carried = carried.map(|force| force.shifted_by(links[index].arm));
        index = node.parent as usize;
    }
}
