//! Projected Gauss–Seidel on the rows of one contact, as in real-time engines.
//!
//! Sweep: p_z ← max(0, p_z − (u_z + e u_z(0))/k), then p_t ← the disc of radius μ p_z ∋ p_t − M⁻¹u_t, with u
//! = u(0) + K p kept up to date. Friction depends on the velocity after the collision, not on the sliding
//! during it.

use super::ContactLaw;
use crate::impact::{CollisionError, Impact, Outcome};
use glam::DVec3;

/// Rows solved one after the other and projected on the cone, as in real-time engines; Newton's restitution.
///
/// Violates: Coulomb's law during the collision (friction is taken against the final velocity, roughly), energy (Newton),
/// and its own equations as far as the sweeps have not converged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequentialImpulse {
    /// Number of sweeps over the rows.
    pub sweeps: u32,
}

impl SequentialImpulse {
    /// Default number of sweeps, typical of real-time engines.
    pub const SWEEPS: u32 = 10;
}

impl ContactLaw for SequentialImpulse {
    fn name(&self) -> &'static str {
        "sequential-impulse"
    }
    fn violates(&self) -> &'static str {
        "Coulomb's law during the collision; energy; its own equations before it has converged"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        let Impact { compliance, velocity, friction, e, .. } = impact;
        let target = -e * velocity.z;
        let normal = |p: DVec3| {
            let u_z = velocity.z + compliance.velocity(p).z;
            (p.z - (u_z - target) / compliance.k).max(0.0)
        };
        let mut p = DVec3::ZERO;
        for _ in 0..self.sweeps {
            p.z = normal(p);
            let u_t = (*velocity + compliance.velocity(p)).truncate();
            let p_t = p.truncate() - compliance.solve_tangent(u_t);
            p = p_t.clamp_length_max(friction * p.z).extend(p.z);
        }
        p.z = normal(p);
        Ok(impact.algebraic(p.truncate().clamp_length_max(friction * p.z).extend(p.z), self.sweeps))
    }
}
