//! Energy, power, momentum and centre of mass of a tree that has been placed and moves.

use super::DynamicsError;
use super::kinematics::Workspace;
use super::linear::Vector;
use super::scalar::Scalar;
use super::spatial::{RigidInertia, SpatialForce, SpatialMotion};
use super::tree::{LinkTree, ROOT};
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

/// Centroidal momentum: h = A v about the centre of mass, and its rate A v̇ + Ȧ v, with memory for one tree.
///
/// Column k of A is the momentum that a unit of velocity k gives the subtree beyond its joint. D. Orin, A. Goswami, S. Lee, Centroidal
/// dynamics of a humanoid robot, 2013.
#[derive(Clone, Debug)]
pub struct CentroidalMomentum<T> {
    composite: Vec<RigidInertia<T>>,
    acceleration: Vec<SpatialMotion<T>>,
    matrix: Vec<SpatialForce<T>>,
    center: Vector<T>,
    momentum: SpatialForce<T>,
    bias_rate: SpatialForce<T>,
}

impl<T: Scalar> CentroidalMomentum<T> {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        Self {
            composite: vec![RigidInertia::default(); tree.nodes.len()],
            acceleration: vec![SpatialMotion::default(); tree.nodes.len()],
            matrix: vec![SpatialForce::default(); tree.velocity_count()],
            center: Vector::default(),
            momentum: SpatialForce::default(),
            bias_rate: SpatialForce::default(),
        }
    }

    /// Columns of A: (angular, linear) momentum for a unit of each velocity.
    pub fn matrix(&self) -> &[SpatialForce<T>] {
        &self.matrix
    }

    /// Centre of mass in the world, m.
    pub const fn center(&self) -> Vector<T> {
        self.center
    }

    /// Momentum about the centre of mass.
    pub const fn momentum(&self) -> SpatialForce<T> {
        self.momentum
    }

    /// Ȧ v: rate of the momentum when no joint accelerates, gravity not counted.
    pub const fn bias_rate(&self) -> SpatialForce<T> {
        self.bias_rate
    }

    /// Computes everything, after [`forward_velocities`](super::forward_velocities).
    ///
    /// # Errors
    /// A workspace of another tree.
    pub fn compute(&mut self, tree: &LinkTree, work: &Workspace<T>) -> Result<(), DynamicsError> {
        super::check_length("links of the workspace", work.links.len(), tree.nodes.len())?;
        super::check_length("links of the centroidal momentum", self.composite.len(), tree.nodes.len())?;
        self.center = center_of_mass(tree, work).1;
        (self.momentum, self.bias_rate) = (SpatialForce::default(), SpatialForce::default());
        for (index, (node, link)) in tree.nodes.iter().zip(&work.links).enumerate() {
            let arm = link.origin - self.center;
            let inertia = node.world_inertia(&link.rotation);
            let own = inertia.apply(link.velocity);
            self.momentum += own.shifted_by(arm);
            let parent = if node.parent == ROOT {
                SpatialMotion::default()
            } else {
                self.acceleration[node.parent as usize]
            };
            self.acceleration[index] = parent.at(link.arm) + link.bias;
            let rate = inertia.apply(self.acceleration[index]) + link.velocity.cross_force(own);
            self.bias_rate += rate.shifted_by(arm);
            self.composite[index] = inertia.shifted_by(arm);
        }
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let own = self.composite[index];
            let back = self.center - work.links[index].origin;
            for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
                self.matrix[k] = own.apply(work.axes[k].s.at(back));
            }
            if node.parent != ROOT {
                self.composite[node.parent as usize] += own;
            }
        }
        Ok(())
    }
}

/// (joint forces, joint velocities) ⇒ power that the joints feed in, W.
pub fn joint_power<T: Scalar>(forces: &[T], v: &[T]) -> T {
    let mut sum = T::default();
    for (force, v) in forces.iter().zip(v) {
        sum += *force * *v;
    }
    sum
}

/// Power of external forces, one for each link, W; after velocities were computed.
pub fn external_power<T: Scalar>(work: &Workspace<T>, external: &[SpatialForce<T>]) -> T {
    let mut sum = T::default();
    for (link, force) in work.links.iter().zip(external) {
        sum += link.velocity.power(*force);
    }
    sum
}
