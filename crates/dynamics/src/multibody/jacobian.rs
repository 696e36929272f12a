//! Jacobians and their rates: how joint velocities move a point of a link. Column k is the motion that a unit of velocity k gives it; only
//! the axes between the link and the base have one other than zero.
//!
//! With w, u the angular and linear part of an axis about its link's origin o, the column about a point p of the link is (w, u + w × (p − o)).
//! Axes are fixed to their links but for Ṡ, so
//!
//!   ẇ = ω × w + Ṡ_w,  u̇ = ω × u + Ṡ_u,  and the rate of the column is (ẇ, u̇ + ẇ × (p − o) + w × (ṗ − ȯ)).

use super::DynamicsError;
use super::joint::Column;
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

/// (positions, velocities, link, point of it in the world) ⇒ rates of the columns of its Jacobian about that point as it moves with the
/// link, after [`forward_velocities`](super::forward_velocities) of the same state.
///
/// # Errors
/// A link that does not exist, or slices that do not have the length the tree needs.
pub fn jacobian_rate(
    tree: &LinkTree,
    work: &Workspace<f64>,
    (q, v): (&[f64], &[f64]),
    link: usize,
    point: Vector<f64>,
    columns: &mut [SpatialMotion<f64>],
) -> Result<(), DynamicsError> {
    super::check_link(tree, link)?;
    super::check_length("positions", q.len(), tree.position_count())?;
    super::check_length("velocities", v.len(), tree.velocity_count())?;
    super::check_length("columns", columns.len(), tree.velocity_count())?;
    columns.fill(SpatialMotion::default());
    let carrier = &work.links[link];
    let point_velocity = carrier.velocity.at(point - carrier.origin).linear;
    let mut index = link;
    loop {
        let (node, state) = (&tree.nodes[index], &work.links[index]);
        let (arm, omega) = (point - state.origin, state.velocity.angular);
        let arm_rate = point_velocity - state.velocity.linear;
        let own = subspace_rate(tree, work, index, q, v);
        for (place, k) in tree.velocities_of(index).enumerate() {
            let s = work.axes[k].s;
            let angular = omega.cross(s.angular) + own[place].angular;
            let linear = omega.cross(s.linear) + own[place].linear;
            columns[k] =
                SpatialMotion { angular, linear: linear + angular.cross(arm) + s.angular.cross(arm_rate) };
        }
        if node.parent == ROOT {
            return Ok(());
        }
        index = node.parent as usize;
    }
}

/// (link, point of it in the world) ⇒ J̇ v: its angular acceleration and the acceleration of the point's material when no joint
/// accelerates, gravity not counted; after [`forward_velocities`](super::forward_velocities).
///
/// # Errors
/// A link that does not exist.
pub fn bias_acceleration<T: Scalar>(
    tree: &LinkTree,
    work: &Workspace<T>,
    link: usize,
    point: Vector<T>,
) -> Result<SpatialMotion<T>, DynamicsError> {
    super::check_link(tree, link)?;
    let carrier = work.links[link].velocity.at(point - work.links[link].origin);
    let mut sum = SpatialMotion::default();
    let mut index = link;
    loop {
        let (node, state) = (&tree.nodes[index], &work.links[index]);
        sum += state.bias.at(point - state.origin);
        if node.parent == ROOT {
            break;
        }
        index = node.parent as usize;
    }
    // The material that passes the point accelerates by ω × v more than the spatial acceleration says.
    sum.linear += carrier.angular.cross(carrier.linear);
    Ok(sum)
}

/// Ṡ of a link's joint along the axes of the world.
pub(super) fn subspace_rate(
    tree: &LinkTree,
    work: &Workspace<f64>,
    link: usize,
    q: &[f64],
    v: &[f64],
) -> [Column; 6] {
    let mut rate = [Column::default(); 6];
    let joint = &*tree.links()[link].joint;
    if joint.has_constant_subspace() {
        return rate;
    }
    let (q, v) = (&q[tree.positions_of(link)], &v[tree.velocities_of(link)]);
    let mut derivative = [Column::default(); 6];
    for (k, speed) in v.iter().enumerate() {
        joint.motion_subspace_derivative(q, k, &mut derivative[..v.len()]);
        for (rate, derivative) in rate.iter_mut().zip(&derivative[..v.len()]) {
            *rate += *derivative * *speed;
        }
    }
    rate.map(|own| own.rotated(&work.links[link].rotation))
}
