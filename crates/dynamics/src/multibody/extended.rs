//! Forward dynamics whose accelerations are good to the last digits even at joints that move almost no mass.
//!
//! Where the axes of three hinges meet and what lies beyond is nearly a point, D = s·I_A s of the first is what two releases I_A − U Uᵀ/D have left of
//! large numbers: rounding is then no longer small beside D, and v̇ = (u − U·a)/D loses as many digits as D. How many at most is found afterwards, from the
//! numbers that the algorithm leaves. With e the rounding in I_A, of its angular and of its linear part,
//!
//!   e = ε tr I_A + e of its children, shifted,   η = (|ω|² e_angular + |v|² e_linear)/D for the axis s = (ω, v),   e ← e + η |U|²/D.
//!
//! If η of any axis passes [`LARGEST_LOSS`], the algorithm is carried out once more with 106 bits, about 30 times slower.

use super::DynamicsError;
use super::double_double::DoubleDouble;
use super::forward_dynamics::{ExternalForces, forward_dynamics};
use super::kinematics::Workspace;
use super::linear::{Symmetric, Vector};
use super::scalar::Scalar;
use super::spatial::{SpatialForce, SpatialMotion};
use super::tree::{LinkTree, ROOT};
use glam::DVec3;

/// Bound of the relative rounding in some D beyond which doubles do not do: accelerations shall be good to 1e-9. Real rounding is smaller by orders of magnitude.
const LARGEST_LOSS: f64 = 3e-10;

/// Forward dynamics in doubles, and with 106 bits where doubles lose too many digits.
#[derive(Clone, Debug)]
pub struct ExtendedDynamics {
    narrow: Workspace<f64>,
    wide: Workspace<DoubleDouble>,
    /// Rounding in the articulated inertias, angular and linear.
    rounding: Vec<[f64; 2]>,
    q: Vec<DoubleDouble>,
    v: Vec<DoubleDouble>,
    forces: Vec<DoubleDouble>,
    accelerations: Vec<DoubleDouble>,
    external: Vec<SpatialForce<DoubleDouble>>,
}

impl ExtendedDynamics {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        let (links, velocities) = (tree.links().len(), tree.velocity_count());
        Self {
            narrow: Workspace::new(tree),
            wide: Workspace::new(tree),
            rounding: vec![[0.0; 2]; links],
            q: vec![DoubleDouble::default(); tree.position_count()],
            v: vec![DoubleDouble::default(); velocities],
            forces: vec![DoubleDouble::default(); velocities],
            accelerations: vec![DoubleDouble::default(); velocities],
            external: vec![SpatialForce::default(); links],
        }
    }

    /// (positions, velocities, joint forces, external forces, gravity) ⇒ joint accelerations; whether 106 bits were needed.
    ///
    /// # Errors
    /// As [`forward_dynamics`].
    pub fn forward(
        &mut self,
        tree: &LinkTree,
        (q, v, forces): (&[f64], &[f64], &[f64]),
        external: ExternalForces<'_, f64>,
        gravity: DVec3,
        accelerations: &mut [f64],
    ) -> Result<bool, DynamicsError> {
        let state = (q, v, forces);
        match forward_dynamics(tree, &mut self.narrow, state, external, gravity, accelerations) {
            Ok(()) if self.loss(tree) <= LARGEST_LOSS => return Ok(false),
            // A D that rounding made zero or negative.
            Ok(()) | Err(DynamicsError::Singular { .. }) => {}
            Err(error) => return Err(error),
        }
        super::check_length("positions", q.len(), self.q.len())?;
        super::check_length("velocities", v.len(), self.v.len())?;
        widen(q, &mut self.q);
        widen(v, &mut self.v);
        widen(forces, &mut self.forces);
        for (wide, force) in self.external.iter_mut().zip(external.into_iter().flatten()) {
            let [torque, force] =
                [force.torque, force.force].map(|part: Vector<f64>| Vector::splat(part.lane(0)));
            *wide = SpatialForce { torque, force };
        }
        let external = external.map(|_| &self.external[..]);
        let state = (&self.q[..], &self.v[..], &self.forces[..]);
        forward_dynamics(tree, &mut self.wide, state, external, gravity, &mut self.accelerations)?;
        for (narrow, wide) in accelerations.iter_mut().zip(&self.accelerations) {
            *narrow = wide.high;
        }
        for (narrow, wide) in self.narrow.links.iter_mut().zip(&self.wide.links) {
            let SpatialMotion { angular, linear } = wide.acceleration;
            let [angular, linear] = [angular, linear].map(|part| Vector::splat(part.lane(0)));
            narrow.acceleration = SpatialMotion { angular, linear };
        }
        Ok(true)
    }

    /// Where the links are and how they move, after [`forward`](Self::forward).
    pub fn workspace(&mut self) -> &mut Workspace<f64> {
        &mut self.narrow
    }

    /// Largest relative rounding η in a D of the last forward dynamics.
    fn loss(&mut self, tree: &LinkTree) -> f64 {
        let trace = |s: &Symmetric<f64>| s.xx + s.yy + s.zz;
        let square = |v: Vector<f64>| v.dot(v);
        self.rounding.fill([0.0; 2]);
        let mut most = 0.0_f64;
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let link = &self.narrow.links[index];
            let [mut angular, mut linear] = self.rounding[index];
            angular += f64::EPSILON * trace(&link.articulated.angular);
            linear += f64::EPSILON * trace(&link.articulated.linear);
            let first = node.velocity as usize;
            for axis in self.narrow.axes[first..first + node.velocity_count as usize].iter().rev() {
                let d = axis.d_inverse;
                let loss = (square(axis.s.angular) * angular + square(axis.s.linear) * linear) * d;
                angular += loss * square(axis.u.torque) * d;
                linear += loss * square(axis.u.force) * d;
                // Written so that NaN counts as a loss.
                most = if loss <= most { most } else { loss };
            }
            if node.parent != ROOT {
                let parent = &mut self.rounding[node.parent as usize];
                parent[0] += angular + square(link.arm) * linear;
                parent[1] += linear;
            }
        }
        most
    }
}

fn widen(from: &[f64], to: &mut [DoubleDouble]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = DoubleDouble::splat(*from);
    }
}
