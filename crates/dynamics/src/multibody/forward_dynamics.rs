//! Forward dynamics by Featherstone's articulated-body algorithm: joint forces ⇒ joint accelerations, in time proportional to the links.
//!
//! Of a subtree whose joints give way, force and acceleration of its root obey f = I_A a + p_A. From the tips to the base, every axis s of
//! the joint gives way by itself (several axes of one joint one after the other, which is a factorisation of their common D):
//!
//!   U = I_A s,  D = s·U + armature,  u = τ − s·p,  I_A ← I_A − U Uᵀ/D,  p ← p + U u/D,   with p = p_A + I_A c at first,
//!
//! and what is left is shifted to the parent's origin and added to it. From the base to the tips, with a = a_parent at r:
//!
//!   v̇ = (u − U·a)/D,  a ← a + s v̇,  and in the end a ← a + c.
//!
//! Gravity enters as an acceleration −g of the world. R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7; bias forces are
//! p = (ω, v) ×* I (ω, v) − external forces.

use super::DynamicsError;
use super::kinematics::{AxisState, LinkState, Workspace, follow, parent_of, place, turn_all};
use super::linear::Vector;
use super::scalar::Scalar;
use super::spatial::{ArticulatedInertia, SpatialForce, SpatialMotion};
use super::tree::{LinkTree, Node, ROOT, ShortForm};
use glam::DVec3;

/// Forces on links from outside: along the axes of the world, torques about the origins of the links; none, or one for each link.
pub type ExternalForces<'a, T> = Option<&'a [SpatialForce<T>]>;

/// (positions, velocities, joint forces, external forces, gravity) ⇒ joint accelerations.
///
/// # Errors
/// [`DynamicsError::Singular`] names the first link whose joint moves no mass, or whose numbers are not finite.
#[inline(always)]
pub fn forward_dynamics<T: Scalar>(
    tree: &LinkTree,
    work: &mut Workspace<T>,
    (q, v, forces): (&[T], &[T], &[T]),
    external: ExternalForces<'_, T>,
    gravity: DVec3,
    accelerations: &mut [T],
) -> Result<(), DynamicsError> {
    let (nq, nv) = (tree.position_count(), tree.velocity_count());
    super::check_length("positions", q.len(), nq)?;
    super::check_length("velocities", v.len(), nv)?;
    super::check_length("joint forces", forces.len(), nv)?;
    super::check_length("joint accelerations", accelerations.len(), nv)?;
    let Workspace { links, axes } = work;
    super::check_length("links of the workspace", links.len(), tree.nodes.len())?;
    turn_all(tree, q, axes);
    for (index, node) in tree.nodes.iter().enumerate() {
        place(tree, index, node, q, links, axes);
        follow(tree, index, node, q, v, links, axes);
        let link = &mut links[index];
        let inertia = node.world_inertia(&link.rotation);
        link.force = link.velocity.cross_force(inertia.apply(link.velocity));
        link.articulated = ArticulatedInertia::rigid(&inertia);
    }
    if let Some(external) = external {
        super::check_length("external forces", external.len(), tree.nodes.len())?;
        for (link, force) in links.iter_mut().zip(external) {
            link.force = link.force - *force;
        }
    }
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        if !release(node, links, axes, forces, index) {
            return Err(DynamicsError::Singular { link: tree.links()[index].name.clone() });
        }
    }
    let fall = SpatialMotion { angular: Vector::default(), linear: Vector::splat(-gravity) };
    for (index, node) in tree.nodes.iter().enumerate() {
        let parent = parent_of(links, node).map_or(fall, |parent| links[parent].acceleration);
        let mut a = parent.at(links[index].arm);
        let at = node.velocity as usize;
        match node.form {
            ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. } => {
                let rate = axes[at].give(a);
                a.angular += axes[at].s.angular * rate;
                accelerations[at] = rate;
            }
            ShortForm::Translation { .. } => {
                let rate = axes[at].give(a);
                a.linear += axes[at].s.linear * rate;
                accelerations[at] = rate;
            }
            ShortForm::General => {
                for k in at..at + node.velocity_count as usize {
                    let rate = axes[k].give(a);
                    a += axes[k].s * rate;
                    accelerations[k] = rate;
                }
            }
        }
        links[index].acceleration = a + links[index].bias;
    }
    Ok(())
}

impl<T: Scalar> AxisState<T> {
    /// Acceleration along the axis when its parent accelerates by a.
    #[inline(always)]
    fn give(&self, a: SpatialMotion<T>) -> T {
        (self.rest - a.power(self.u)) * self.d_inverse
    }
}

/// Lets the axes of a link's joint give way and adds what is left to its parent ⇒ whether every axis moves some mass.
#[inline(always)]
fn release<T: Scalar>(
    node: &Node,
    links: &mut [LinkState<T>],
    axes: &mut [AxisState<T>],
    forces: &[T],
    index: usize,
) -> bool {
    let LinkState { articulated: mut inertia, force: bias_force, bias, arm, .. } = links[index];
    let mut p = bias_force + inertia.apply(bias);
    let armature = T::splat(node.armature);
    let at = node.velocity as usize;
    let needed = node.parent != ROOT;
    match node.form {
        ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. } => {
            let axis = &mut axes[at];
            axis.u = inertia.apply_angular(axis.s.angular);
            let d = axis.s.angular.dot(axis.u.torque) + armature;
            if !axis.divide(d, forces[at] - axis.s.angular.dot(p.torque)) {
                return false;
            }
        }
        ShortForm::Translation { .. } => {
            let axis = &mut axes[at];
            axis.u = inertia.apply_linear(axis.s.linear);
            let d = axis.s.linear.dot(axis.u.force) + armature;
            if !axis.divide(d, forces[at] - axis.s.linear.dot(p.force)) {
                return false;
            }
        }
        ShortForm::General => {
            for k in (at..at + node.velocity_count as usize).rev() {
                let axis = &mut axes[k];
                axis.u = inertia.apply(axis.s);
                let d = axis.s.power(axis.u) + armature;
                if !axis.divide(d, forces[k] - axis.s.power(p)) {
                    return false;
                }
                inertia.release(axis.u, axis.d_inverse);
                p += axis.u * (axis.rest * axis.d_inverse);
            }
        }
    }
    if needed {
        if node.form != ShortForm::General {
            let axis = &axes[at];
            inertia.release(axis.u, axis.d_inverse);
            p += axis.u * (axis.rest * axis.d_inverse);
        }
        let parent = &mut links[node.parent as usize];
        parent.articulated += inertia.shifted_by(arm);
        parent.force += p.shifted_by(arm);
    }
    true
}

impl<T: Scalar> AxisState<T> {
    #[inline(always)]
    fn divide(&mut self, d: T, rest: T) -> bool {
        self.d_inverse = T::splat(1.0) / d;
        self.rest = rest;
        d.is_positive()
    }
}
