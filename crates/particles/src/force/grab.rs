//! The spring between a pointer and a particle: rest length 0, damping of the whole relative velocity.
//!
//! F = −k_s (p − p_pointer) − k_d (v − v_pointer), of at most `max_force`. A spring never jumps as the pointer
//! may; damping along its axis only would leave the swing across it.

use glam::DVec3;

use super::{ForceView, SpringLaw, UnaryForce};
use crate::error::check;
use crate::{ParticleError, ParticleId, Particles};

/// A particle held by a pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grab {
    particle: ParticleId,
    law: SpringLaw,
    max_force: f64,
    /// Position of the pointer, m.
    pub target: DVec3,
    /// Velocity of the pointer, m/s.
    pub target_velocity: DVec3,
}

impl Grab {
    /// Holds a particle at its present place.
    ///
    /// # Errors
    /// The particle does not exist, or a number is out of range; `max_force` may be infinite.
    pub fn new(
        particles: &Particles,
        particle: ParticleId,
        law: SpringLaw,
        max_force: f64,
    ) -> Result<Self, ParticleError> {
        let target = particles.position()[particles.index(particle)?];
        law.check()?;
        if max_force != f64::INFINITY {
            check("max_force", max_force, max_force > 0.0, "greater than zero")?;
        }
        Ok(Self { particle, law, max_force, target, target_velocity: DVec3::ZERO })
    }
}

impl UnaryForce for Grab {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        let Some(place) = view.place(self.particle) else { return };
        let Some(force) = place.checked_sub(first).and_then(|k| force.get_mut(k)) else { return };
        let [k_s, k_d] = self.law.coefficients(view.mass(place));
        let pull =
            k_s * (self.target - view.position[place]) + k_d * (self.target_velocity - view.velocity[place]);
        *force += pull.clamp_length_max(self.max_force);
    }
}
