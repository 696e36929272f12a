//! Settings of a particle step.

use serde::{Deserialize, Serialize};

use super::{InsidePolicy, Method};
use crate::ParticleError;
use crate::collision::BvhKind;
use crate::error::check;
use crate::impulse::Combine;

/// What particles collide with. An emitter's flags hold for its particles, where those of the system allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollisionFlags {
    /// Particles of the same emitter; those without an emitter count as one.
    pub internal: bool,
    /// Particles of other emitters.
    pub external: bool,
    /// Bodies.
    pub bodies: bool,
}

/// Mass of a body in collisions with particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EffectiveMass {
    /// With rotation: restitution holds after the body was updated.
    #[default]
    Full,
    /// 1/m + 1/M, as in the source; ignores rotation.
    Source,
}

/// Motion of bodies during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObstacleMotion {
    /// They are where they are at the end of the interval.
    #[default]
    AtEnd,
    /// They move from their pose at the start to that at the end; chords are taken in their frame.
    Swept,
}

/// Settings of a step.
#[derive(Clone, Debug)]
pub struct StepSettings {
    /// Integrator.
    pub method: Method,
    /// Threads; the result does not depend on it.
    pub threads: usize,
    /// What particles collide with.
    pub collisions: CollisionFlags,
    /// Passes of the collision loop before collisions become inelastic.
    pub max_collision_iterations: u32,
    /// Further passes before what still collides is stopped.
    pub max_inelastic_iterations: u32,
    /// Approach speed below which a pair is in contact, m/s; none: max(1e-3, 2 |a_n| dt).
    pub contact_velocity_threshold: Option<f64>,
    /// Sliding speed below which friction is static, m/s.
    pub slip_velocity_threshold: f64,
    /// Collisions that differ by less are simultaneous, as a fraction of the interval.
    pub simultaneous_time_tolerance: f64,
    /// Particles per leaf of the tree, 1 to 16.
    pub particles_per_leaf: usize,
    /// Volumes of the tree.
    pub bvh: BvhKind,
    /// How coefficients of restitution combine; friction is averaged.
    pub restitution_combine: Combine,
    /// Coulomb's cone instead of bounds along two axes.
    pub isotropic_friction: bool,
    /// Mass of bodies.
    pub effective_mass: EffectiveMass,
    /// Motion of bodies.
    pub obstacle_motion: ObstacleMotion,
    /// Bodies receive impulses at once instead of at the beginning of the next interval.
    pub immediate_reaction: bool,
    /// What happens to particles found inside a body.
    pub inside_policy: InsidePolicy,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            method: Method::default(),
            threads: 1,
            collisions: CollisionFlags { internal: true, external: false, bodies: true },
            max_collision_iterations: 32,
            max_inelastic_iterations: 32,
            contact_velocity_threshold: None,
            slip_velocity_threshold: 1e-3,
            simultaneous_time_tolerance: 1e-6,
            particles_per_leaf: 1,
            bvh: BvhKind::Aabb,
            restitution_combine: Combine::Average,
            isotropic_friction: true,
            effective_mass: EffectiveMass::Full,
            obstacle_motion: ObstacleMotion::AtEnd,
            immediate_reaction: false,
            inside_policy: InsidePolicy::Remove,
        }
    }
}

impl StepSettings {
    pub(crate) fn check(&self) -> Result<(), ParticleError> {
        if let Some(speed) = self.contact_velocity_threshold {
            check("contact_velocity_threshold", speed, speed >= 0.0, "≥ 0")?;
        }
        let slip = self.slip_velocity_threshold;
        check("slip_velocity_threshold", slip, slip >= 0.0, "≥ 0")?;
        let time = self.simultaneous_time_tolerance;
        check("simultaneous_time_tolerance", time, (0.0..1.0).contains(&time), "0 to 1")?;
        if self.bvh == BvhKind::Obb {
            return Err(ParticleError::UnsupportedBvh { kind: "obb" });
        }
        Ok(())
    }
}
