//! Sliding in the initial direction for the whole collision.
//!
//! With ξ₀ = (−μ û₀, 1): p_z = −(1 + e)u_z/(k_z·ξ₀), p = p_z ξ₀. If that reverses the sliding, friction is taken to hold
//! instead: p = K⁻¹((0, 0, −e u_z) − u), its tangential part cut to the cone.

use super::ContactLaw;
use crate::impact::{CollisionError, Impact, Outcome};
use glam::DVec3;

/// Fixes the direction of sliding for the whole collision; Newton's restitution, whatever is requested.
///
/// Violates: Coulomb's law as soon as the sliding turns, the normal velocity where the impulse is cut to the
/// cone, and energy (as Newton's restitution does).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantDirection;

impl ContactLaw for ConstantDirection {
    fn name(&self) -> &'static str {
        "constant-direction"
    }
    fn violates(&self) -> &'static str {
        "the direction of friction when sliding turns; energy; the normal velocity when cut to the cone"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        let slide = sliding_impulse(impact);
        let u_t = impact.velocity.truncate();
        if let Some(p) = slide
            && (impact.velocity + impact.compliance.velocity(p)).truncate().dot(u_t) >= 0.0
            && (u_t.length_squared() > 0.0 || impact.friction == 0.0)
        {
            return Ok(impact.algebraic(p, 0));
        }
        let p = sticking_impulse(impact);
        let z = p.z.max(0.0);
        Ok(impact.algebraic(p.truncate().clamp_length_max(impact.friction * z).extend(z), 0))
    }
}

/// Newton's restitution with friction against the initial sliding; none if friction alone presses the bodies together.
pub(super) fn sliding_impulse(impact: &Impact) -> Option<DVec3> {
    let u_hat = impact.velocity.truncate().normalize_or_zero();
    let kappa = impact.compliance.flow(impact.friction, u_hat).kappa;
    let p_z = -(1.0 + impact.e) * impact.velocity.z / kappa;
    (kappa > 0.0 && p_z.is_finite()).then(|| p_z * (-impact.friction * u_hat).extend(1.0))
}

/// Newton's restitution with no sliding left.
pub(super) fn sticking_impulse(impact: &Impact) -> DVec3 {
    impact.compliance.impulse(DVec3::new(0.0, 0.0, -impact.e * impact.velocity.z) - impact.velocity)
}
