//! Energy, momentum and centre of mass of a tree that has been placed and moves.

use super::kinematics::Workspace;
use super::linear::Vector;
use super::scalar::Scalar;
use super::spatial::SpatialForce;
use super::tree::LinkTree;
use glam::DVec3;

/// Mass, kg, and centre of mass in the world, m; the origin for a tree without mass.
pub fn center_of_mass<T: Scalar>(tree: &LinkTree, work: &Workspace<T>) -> (f64, Vector<T>) {
    let (mut mass, mut moment) = (0.0, Vector::default());
    for (node, link) in tree.nodes.iter().zip(&work.links) {
        mass += node.mass;
        moment += (link.origin + link.rotation.apply(Vector::splat(node.center))) * T::splat(node.mass);
    }
    (mass, if mass > 0.0 { moment * T::splat(1.0 / mass) } else { moment })
}

/// Momentum of all links: linear, and angular about a point of the world. About the centre of mass it is the centroidal momentum.
pub fn momentum<T: Scalar>(tree: &LinkTree, work: &Workspace<T>, about: Vector<T>) -> SpatialForce<T> {
    let mut sum = SpatialForce::default();
    for (node, link) in tree.nodes.iter().zip(&work.links) {
        let own = node.world_inertia(&link.rotation).apply(link.velocity);
        sum += own.shifted_by(link.origin - about);
    }
    sum
}

/// Joint velocities ⇒ kinetic energy, J, that of the armatures included.
pub fn kinetic_energy<T: Scalar>(tree: &LinkTree, work: &Workspace<T>, v: &[T]) -> T {
    let mut sum = T::default();
    for (node, link) in tree.nodes.iter().zip(&work.links) {
        sum += link.velocity.power(node.world_inertia(&link.rotation).apply(link.velocity));
        for v in &v[node.velocity as usize..(node.velocity + node.velocity_count) as usize] {
            sum += T::splat(node.armature) * *v * *v;
        }
    }
    sum * T::splat(0.5)
}

/// Gravity ⇒ potential energy, J; 0 at the origin of the world.
pub fn potential_energy<T: Scalar>(tree: &LinkTree, work: &Workspace<T>, gravity: DVec3) -> T {
    let (mass, center) = center_of_mass(tree, work);
    -(center.dot(Vector::splat(gravity)) * T::splat(mass))
}
