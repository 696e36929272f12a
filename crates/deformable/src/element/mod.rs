//! Elements: what stores elastic energy between a few vertices.
//!
//! An element with energy E(x) of its N vertices exerts the forces −∂E/∂x; K = −∂²E/∂x∂x is the Jacobian of these forces.
//! Implicit steps need matrices without directions of negative curvature: `Curvature::Projected` leaves out or clamps the
//! terms that can have some (each file says which), `Curvature::Exact` is the second derivative.
//!
//! Damping is proportional to the rate of the element's strain q: E_d = ½ k_d q̇². Over an implicit step of length h the rate is
//! (q(x) − q(x₀))/h, so that E + h E_d is again the energy of an element of the same kind, stiffer and with another rest
//! value (`damped`). It depends on strains only: damping changes neither momentum nor angular momentum.

mod affine;
mod altitude;
mod hinge;
mod membrane;
mod rod;
mod spring;
mod tetrahedron;

pub use affine::Affine;
pub use altitude::Altitude;
pub use hinge::Hinge;
pub(crate) use hinge::angle as rest_angle;
pub use membrane::Membrane;
pub use rod::RodBend;
pub(crate) use rod::curvature_of;
pub use spring::{Spring, SpringKind};
pub use tetrahedron::Tetrahedron;

use glam::{DMat3, DVec3};

/// Which second derivative is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The second derivative of the energy.
    Exact,
    /// A positive semi-definite matrix near it.
    Projected,
}

/// Energy between N vertices.
pub trait Element<const N: usize>: Clone + Send + Sync {
    /// Its vertices.
    fn vertices(&self) -> [u32; N];

    /// E(x), J.
    fn energy(&self, x: &[DVec3; N]) -> f64;

    /// ∂E/∂x, N: the negative forces.
    fn gradient(&self, x: &[DVec3; N]) -> [DVec3; N];

    /// ∂²E/∂x∂x, N/m: the negative Jacobian of the forces.
    fn hessian(&self, x: &[DVec3; N], curvature: Curvature) -> [[DMat3; N]; N];

    /// The element whose energy is E + h E_d over a step of length h from x₀, up to a constant.
    #[must_use]
    fn damped(&self, x0: &[DVec3; N], h: f64) -> Self;

    /// C with damping forces −C v at x, N s/m.
    fn damping(&self, x: &[DVec3; N]) -> Option<[[DMat3; N]; N]>;

    /// The same between other vertices.
    fn renumber(&mut self, vertex: impl Fn(u32) -> u32);
}
