//! Chatterjee and Ruina's law (1998): a combination of two impulses, cut to the friction cone.
//!
//! P_I = −(u_z/k) ẑ stops the approach without friction, P_II = −K⁻¹u stops all motion at the contact. Then
//!
//!   P = (1 + e) P_I + λ (P_II − P_I),  λ = 1 + e_t, or the largest λ for which |P_t| ≤ μ P_z.
//!
//! K(P_II − P_I) has no normal part, so the normal velocity is Newton's whatever λ is; and the two terms are
//! orthogonal in the metric K, so the energy changes by −(1 − e²)·½ P_I·K P_I − λ(2 − λ)·½|P_II − P_I|²_K:
//! never upwards.

use super::ContactLaw;
use crate::impact::{CollisionError, Impact, Outcome};
use glam::DVec3;

/// Combination of a frictionless and a sticking impulse, with a tangential restitution; Newton's restitution
/// along the normal.
///
/// Violates: the direction of friction, which need not oppose the sliding; energy never grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChatterjeeRuina {
    /// e_t in [−1, 1]: −1 for no friction, 0 to stop the sliding, 1 to reverse it.
    pub tangential_restitution: f64,
}

impl ContactLaw for ChatterjeeRuina {
    fn name(&self) -> &'static str {
        "chatterjee-ruina"
    }
    fn violates(&self) -> &'static str {
        "the direction of friction; never energy"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        let e_t = self.tangential_restitution;
        if !(-1.0..=1.0).contains(&e_t) {
            let (what, allowed) = ("the tangential restitution", "in [-1, 1]");
            return Err(CollisionError::Coefficient { what, allowed, value: e_t });
        }
        let stop = DVec3::new(0.0, 0.0, -impact.velocity.z / impact.compliance.k);
        let base = (1.0 + impact.e) * stop;
        let added = -impact.compliance.impulse(impact.velocity) - stop;
        let lambda = (1.0 + e_t).min(largest_in_cone(base.z, added, impact.friction));
        Ok(impact.algebraic(base + lambda * added, 0))
    }
}

/// Largest λ ≥ 0 with λ|a_t| ≤ μ(z + λ a_z).
fn largest_in_cone(z: f64, a: DVec3, mu: f64) -> f64 {
    let excess = a.truncate().length() - mu * a.z;
    if excess > 0.0 { mu * z / excess } else { f64::INFINITY }
}
