//! The textbook law of Whittaker, Kane and Levinson: stick if the cone allows it, else slide as at first.
//!
//! p = K⁻¹((0, 0, −e u_z) − u) if |p_t| ≤ μ p_z; otherwise p = p_z(−μ û₀, 1) with p_z = −(1 + e)u_z/(k_z·ξ₀).

use super::constant_direction::{sliding_impulse, sticking_impulse};
use super::{ContactLaw, polar};
use crate::impact::{CollisionError, Impact, Outcome};

/// Sticks if the total impulse lies in the cone, otherwise slides in the initial direction; Newton's
/// restitution.
///
/// Violates: energy (Kane's double pendulum is the classical example); the direction of friction when sliding
/// turns or reverses. Where it has no solution (friction alone presses the bodies together) the integrated
/// law is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whittaker;

impl ContactLaw for Whittaker {
    fn name(&self) -> &'static str {
        "whittaker"
    }
    fn violates(&self) -> &'static str {
        "energy; the direction of friction when sliding turns or reverses"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        let stick = sticking_impulse(impact);
        if stick.z >= 0.0 && stick.truncate().length() <= impact.friction * stick.z {
            return Ok(impact.algebraic(stick, 0));
        }
        match sliding_impulse(impact) {
            Some(p) => Ok(impact.algebraic(p, 0)),
            None => polar::integrate(impact),
        }
    }
}
