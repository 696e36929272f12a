//! Analytic derivatives of inverse and forward dynamics in time proportional to links times depth.
//!
//! All vectors are along the axes of the world and about the origin O of the branch's base, held still. A displacement along axis s_k of
//! joint j carries everything that is fixed to the links beyond it: δx = s_k × x for motions, s_k ×* x for forces. With v, a the velocity
//! and acceleration of j's parent (index h), ∂_k for the change that the link's own frame sees, and e_k = ∂_k S q̇,
//!
//!   ψ̇_k = v_h × s_k + e_k,        ψ̈_k = a_h × s_k + v_h × ψ̇_k + ∂_k S q̈ + v_j × e_k + ∂_k(Ṡ q̇),
//!   δv_i = s_k × v_i + ψ̇_k,       δa_i = s_k × a_i + ψ̇_k × v_i + ψ̈_k,      for links i beyond j, whence
//!   δf_i = s_k ×* f_i + I_i ψ̈_k + B_i ψ̇_k,   B ψ = v ×* I ψ + ψ ×* I v − I (v × ψ).
//!
//! For velocities δv_i = s_k and δf_i = I_i σ_k + B_i s_k, with σ_k = v_h × s_k + v_j × s_k + ∂(Ṡ q̇)/∂q̇_k.
//! Written out, B depends on the angular part w of ψ only: B ψ = (İ w + w × L, 2 w × P), İ the rate of the second moment about O and (L, P) the
//! momentum. So the sums over subtrees are an inertia, its rate, a momentum and a force, and each pair of related axes costs four inner
//! products. Forward dynamics: M δq̈ = −δτ at the accelerations found, solved with the factors of M along the tree.
//!
//! External forces keep their components in the world and act at the origins of the links, as forward dynamics takes them.
//! After S. Singh, R. Russell, P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra, 2022.

use super::DynamicsError;
use super::forward_dynamics::{ExternalForces, forward_dynamics};
use super::inverse_dynamics::inverse_dynamics;
use super::joint::Column;
use super::kinematics::Workspace;
use super::linear::{Matrix, Symmetric, Vector};
use super::mass_matrix::MassMatrix;
use super::spatial::{RigidInertia, SpatialForce, SpatialMotion};
use super::tree::{LinkTree, ROOT};
use glam::DVec3;

/// Sums over a subtree.
#[derive(Clone, Copy, Debug, Default)]
struct Composite {
    inertia: RigidInertia<f64>,
    /// Rate of the second moment about O.
    rate: Symmetric<f64>,
    momentum: SpatialForce<f64>,
    force: SpatialForce<f64>,
    /// Change of external forces by an angular displacement w: torque E w, force w × F.
    external_torque: Matrix<f64>,
    external_force: Vector<f64>,
    velocity: SpatialMotion<f64>,
    acceleration: SpatialMotion<f64>,
}

/// s, ψ̇, ψ̈ and σ of an axis.
#[derive(Clone, Copy, Debug, Default)]
struct AxisRates {
    s: SpatialMotion<f64>,
    psi: SpatialMotion<f64>,
    psi_rate: SpatialMotion<f64>,
    sigma: SpatialMotion<f64>,
}

/// Derivatives of the dynamics of one tree at one state, and memory for them. Nothing is allocated after it was made.
///
/// Matrices are written row by row: entry (i, k) is the derivative of force or acceleration i by position or velocity k, positions counted along
/// the velocities (q moved along velocity k alone).
#[derive(Clone, Debug)]
pub struct DynamicsDerivatives {
    links: Vec<Composite>,
    axes: Vec<AxisRates>,
    /// Next axis towards the base.
    parent: Vec<u32>,
    mass: MassMatrix<f64>,
    by_position: Vec<f64>,
    by_velocity: Vec<f64>,
    by_force: Vec<f64>,
    scratch: Vec<f64>,
}

impl DynamicsDerivatives {
    /// Memory for a tree: three matrices of its velocity count squared.
    pub fn new(tree: &LinkTree) -> Self {
        let n = tree.velocity_count();
        let mass = MassMatrix::new(tree);
        Self {
            links: vec![Composite::default(); tree.nodes.len()],
            axes: vec![AxisRates::default(); n],
            parent: mass.parents().to_vec(),
            mass,
            by_position: vec![0.0; n * n],
            by_velocity: vec![0.0; n * n],
            by_force: vec![0.0; n * n],
            scratch: vec![0.0; n],
        }
    }

    /// ∂τ/∂q after [`inverse`](Self::inverse), ∂q̈/∂q after [`forward`](Self::forward).
    pub fn by_position(&self) -> &[f64] {
        &self.by_position
    }

    /// ∂τ/∂q̇ after [`inverse`](Self::inverse), ∂q̈/∂q̇ after [`forward`](Self::forward).
    pub fn by_velocity(&self) -> &[f64] {
        &self.by_velocity
    }

    /// ∂q̈/∂τ = M⁻¹ after [`forward`](Self::forward).
    pub fn by_force(&self) -> &[f64] {
        &self.by_force
    }

    /// ∂τ/∂q̈ = M after [`inverse`](Self::inverse).
    pub const fn mass_matrix(&self) -> &MassMatrix<f64> {
        &self.mass
    }

    /// (positions, velocities, joint accelerations, external forces, gravity) ⇒ ∂τ/∂q, ∂τ/∂q̇, M.
    ///
    /// # Errors
    /// Slices that do not have the length the tree needs.
    pub fn inverse(
        &mut self,
        tree: &LinkTree,
        work: &mut Workspace<f64>,
        (q, v, accelerations): (&[f64], &[f64], &[f64]),
        external: ExternalForces<'_, f64>,
        gravity: DVec3,
    ) -> Result<(), DynamicsError> {
        super::check_length("rows of the derivatives", self.axes.len(), tree.velocity_count())?;
        inverse_dynamics(
            tree,
            work,
            (q, v, accelerations),
            external,
            gravity,
            &mut self.scratch[..tree.velocity_count()],
        )?;
        self.outward(tree, work, (q, v, accelerations), external, gravity);
        self.by_position.fill(0.0);
        self.by_velocity.fill(0.0);
        self.inward(tree, work, q);
        Ok(())
    }

    /// (positions, velocities, joint forces, external forces, gravity) ⇒ accelerations, ∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ.
    ///
    /// # Errors
    /// As [`forward_dynamics`].
    pub fn forward(
        &mut self,
        tree: &LinkTree,
        work: &mut Workspace<f64>,
        (q, v, forces): (&[f64], &[f64], &[f64]),
        external: ExternalForces<'_, f64>,
        gravity: DVec3,
        accelerations: &mut [f64],
    ) -> Result<(), DynamicsError> {
        forward_dynamics(tree, work, (q, v, forces), external, gravity, accelerations)?;
        self.inverse(tree, work, (q, v, accelerations), external, gravity)?;
        let n = self.axes.len();
        self.by_force.fill(0.0);
        for k in 0..n {
            self.by_force[k * n + k] = 1.0;
        }
        for matrix in [&mut self.by_position, &mut self.by_velocity] {
            for value in matrix.iter_mut() {
                *value = -*value;
            }
            self.mass.solve_rows(matrix, n)?;
        }
        self.mass.solve_rows(&mut self.by_force, n)
    }

    /// From the base to the tips: what each link and axis contributes, about the origin of its branch's base.
    fn outward(
        &mut self,
        tree: &LinkTree,
        work: &mut Workspace<f64>,
        (q, v, accelerations): (&[f64], &[f64], &[f64]),
        external: ExternalForces<'_, f64>,
        gravity: DVec3,
    ) {
        let fall = SpatialMotion { angular: Vector::default(), linear: Vector::splat(-gravity) };
        for (index, node) in tree.nodes.iter().enumerate() {
            let rooted = node.parent == ROOT;
            let base = if rooted { work.links[index].origin } else { work.links[node.parent as usize].base };
            work.links[index].base = base;
            let link = &work.links[index];
            let arm = link.origin - base;
            let back = -arm;
            let (v_parent, a_parent) = if rooted {
                (SpatialMotion::default(), fall)
            } else {
                let parent = &self.links[node.parent as usize];
                (parent.velocity, parent.acceleration)
            };
            let inertia = node.inertia_about(&link.rotation, arm);
            let (velocity, acceleration) = (link.velocity.at(back), link.acceleration.at(back));
            let momentum = inertia.apply(velocity);
            let mut own = Composite {
                inertia,
                rate: second_moment_rate(&inertia, velocity),
                momentum,
                force: inertia.apply(acceleration) + velocity.cross_force(momentum),
                velocity,
                acceleration,
                ..Composite::default()
            };
            if let Some(external) = external {
                let SpatialForce { torque, force } = external[index];
                own.force = own.force - external[index].shifted_by(arm);
                // w × τ + arm × (w × F), column by column.
                let column = |w: Vector<f64>| w.cross(torque) + arm.cross(w.cross(force));
                own.external_torque = Matrix {
                    x: column(Vector::new(1.0, 0.0, 0.0)),
                    y: column(Vector::new(0.0, 1.0, 0.0)),
                    z: column(Vector::new(0.0, 0.0, 1.0)),
                };
                own.external_force = force;
            }
            self.links[index] = own;
            let joint = &*tree.links()[index].joint;
            let range = tree.velocities_of(index);
            let constant = joint.has_constant_subspace();
            let (mut by_position, mut by_velocity) = ([Column::default(); 6], [Column::default(); 6]);
            if !constant {
                let count = range.len();
                joint.bias_derivatives(
                    &q[tree.positions_of(index)],
                    &v[range.clone()],
                    &mut by_position[..count],
                    &mut by_velocity[..count],
                );
            }
            for (place, k) in range.clone().enumerate() {
                let s = work.axes[k].s.at(back);
                let carried = v_parent.cross(s);
                let mut axis = AxisRates { s, psi: carried, ..AxisRates::default() };
                axis.sigma = carried + velocity.cross(s);
                let mut more = SpatialMotion::default();
                if !constant {
                    let mut columns = [Column::default(); 6];
                    joint.motion_subspace_derivative(
                        &q[tree.positions_of(index)],
                        place,
                        &mut columns[..range.len()],
                    );
                    let world = |own: Column| own.rotated(&link.rotation).at(back);
                    let (mut e, mut pushed) = (Column::default(), Column::default());
                    for (column, m) in columns.iter().zip(range.clone()) {
                        e += *column * v[m];
                        pushed += *column * accelerations[m];
                    }
                    let e = world(e);
                    axis.psi += e;
                    axis.sigma += world(by_velocity[place]);
                    more = world(pushed) + velocity.cross(e) + world(by_position[place]);
                }
                axis.psi_rate = a_parent.cross(s) + v_parent.cross(axis.psi) + more;
                self.axes[k] = axis;
            }
        }
    }

    /// From the tips to the base: sums over subtrees, and the entries between each axis and those towards the base.
    fn inward(&mut self, tree: &LinkTree, work: &Workspace<f64>, q: &[f64]) {
        let n = self.axes.len();
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let own = self.links[index];
            if node.parent != ROOT {
                let parent = &mut self.links[node.parent as usize];
                parent.inertia += own.inertia;
                parent.rate += own.rate;
                parent.momentum += own.momentum;
                parent.force += own.force;
                parent.external_torque.x += own.external_torque.x;
                parent.external_torque.y += own.external_torque.y;
                parent.external_torque.z += own.external_torque.z;
                parent.external_force += own.external_force;
            }
            let range = tree.velocities_of(index);
            for m in range.clone() {
                let AxisRates { s, psi, psi_rate, sigma } = self.axes[m];
                let u = own.inertia.apply(s);
                // Bᵀ s and Eᵀ s: both have an angular part only.
                let b = own.rate.apply(s.angular)
                    + own.momentum.torque.cross(s.angular)
                    + own.momentum.force.cross(s.linear) * 2.0;
                let e = own.external_torque.apply_transposed(s.angular) + own.external_force.cross(s.linear);
                let outer = |w: Vector<f64>| SpatialForce {
                    torque: own.rate.apply(w) + w.cross(own.momentum.torque),
                    force: w.cross(own.momentum.force) * 2.0,
                };
                let moved = SpatialForce {
                    torque: own.external_torque.apply(s.angular),
                    force: s.angular.cross(own.external_force),
                };
                let by_position =
                    s.cross_force(own.force) + own.inertia.apply(psi_rate) + outer(psi.angular) + moved;
                let by_velocity = own.inertia.apply(sigma) + outer(s.angular);
                // Axes of the joint itself, then those of links towards the base.
                for k in range.clone() {
                    let other = &self.axes[k];
                    self.by_position[m * n + k] =
                        other.psi_rate.power(u) + other.psi.angular.dot(b) + other.s.angular.dot(e);
                    self.by_velocity[m * n + k] = other.sigma.power(u) + other.s.angular.dot(b);
                }
                let row = self.mass.row_mut(m);
                let mut k = m;
                for value in row.iter_mut().rev() {
                    let other = &self.axes[k];
                    *value = other.s.power(u);
                    if k < range.start {
                        self.by_position[m * n + k] =
                            other.psi_rate.power(u) + other.psi.angular.dot(b) + other.s.angular.dot(e);
                        self.by_velocity[m * n + k] = other.sigma.power(u) + other.s.angular.dot(b);
                        self.by_position[k * n + m] = other.s.power(by_position);
                        self.by_velocity[k * n + m] = other.s.power(by_velocity);
                    }
                    k = self.parent[k] as usize;
                }
                let last = row.len() - 1;
                row[last] += node.armature;
            }
            self.own_subspace(tree, work, index, q);
        }
    }

    /// ∂_k s_m · F of joints whose axes turn in their own link's frame.
    fn own_subspace(&mut self, tree: &LinkTree, work: &Workspace<f64>, index: usize, q: &[f64]) {
        let joint = &*tree.links()[index].joint;
        if joint.has_constant_subspace() {
            return;
        }
        let (n, range) = (self.axes.len(), tree.velocities_of(index));
        let link = &work.links[index];
        let back = link.base - link.origin;
        let mut columns = [Column::default(); 6];
        for (place, k) in range.clone().enumerate() {
            joint.motion_subspace_derivative(
                &q[tree.positions_of(index)],
                place,
                &mut columns[..range.len()],
            );
            for (column, m) in columns.iter().zip(range.clone()) {
                let turned = column.rotated(&link.rotation).at(back);
                self.by_position[m * n + k] += turned.power(self.links[index].force);
            }
        }
    }
}

/// İ = ω̃ I − I ω̃ + 2 (h·v) 1 − h vᵀ − v hᵀ: rate of the second moment about a point that stands still.
fn second_moment_rate(i: &RigidInertia<f64>, v: SpatialMotion<f64>) -> Symmetric<f64> {
    let (w, s, h, u) = (v.angular, &i.second_moment, i.first_moment, v.linear);
    let x = w.cross(Vector::new(s.xx, s.xy, s.xz));
    let y = w.cross(Vector::new(s.xy, s.yy, s.yz));
    let z = w.cross(Vector::new(s.xz, s.yz, s.zz));
    let twice = 2.0 * h.dot(u);
    Symmetric {
        xx: 2.0 * x.x + twice - 2.0 * h.x * u.x,
        xy: y.x + x.y - h.x * u.y - h.y * u.x,
        xz: z.x + x.z - h.x * u.z - h.z * u.x,
        yy: 2.0 * y.y + twice - 2.0 * h.y * u.y,
        yz: z.y + y.z - h.y * u.z - h.z * u.y,
        zz: 2.0 * z.z + twice - 2.0 * h.z * u.z,
    }
}
