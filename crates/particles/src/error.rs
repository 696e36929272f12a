//! Errors of particle systems, emitters and fluids.

use rattleback_numerics::StepError;
use thiserror::Error;

use crate::ParticleId;

/// Why a particle system refuses an input or a step. The system is left as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ParticleError {
    /// A mass that is not positive and finite. Pinned particles have a flag, not an infinite mass.
    #[error("mass {mass} kg: must be finite and greater than zero")]
    InvalidMass {
        /// The mass, kg.
        mass: f64,
    },
    /// A radius that is negative or not finite.
    #[error("radius {radius} m: must be finite and not negative")]
    InvalidRadius {
        /// The radius, m.
        radius: f64,
    },
    /// A number outside of its range.
    #[error("{name} = {value}: allowed is {allowed}")]
    InvalidCoefficient {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Valid range, in words.
        allowed: &'static str,
    },
    /// A position, velocity or force that is NaN or infinite.
    #[error("{what} of {particle} is not finite at t = {time} s")]
    NonFiniteState {
        /// Which quantity.
        what: &'static str,
        /// The particle.
        particle: ParticleId,
        /// Time of the state, s.
        time: f64,
    },
    /// No particle has this id.
    #[error("{particle} does not exist")]
    NoSuchParticle {
        /// The id.
        particle: ParticleId,
    },
    /// More particles than the system may hold.
    #[error("{count} particles asked for; the limit is {limit}")]
    TooManyParticles {
        /// Number of particles there would be.
        count: u64,
        /// Limit of the system.
        limit: u64,
    },
    /// A spring or connection with the same particle at both ends.
    #[error("element {element} connects {particle} with itself")]
    BadTopology {
        /// Index of the spring.
        element: usize,
        /// The particle.
        particle: ParticleId,
    },
    /// Two particles of a pair force in one place, without softening.
    #[error("{first} and {second} are in one place; give the pair force a softening length")]
    CoincidentParticles {
        /// One particle.
        first: ParticleId,
        /// The other.
        second: ParticleId,
    },
    /// A parameter of an emitter that is out of range or contradicts another.
    #[error("emitter parameter {field}: {reason}")]
    EmitterConfig {
        /// Which parameter.
        field: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// An oriented box tree was asked for; it would have to be rebuilt at each refit.
    #[error("bounding volumes of kind {kind} cannot be refitted; use aabb or sphere")]
    UnsupportedBvh {
        /// The kind.
        kind: &'static str,
    },
    /// Particles of a fluid are compressed beyond what its neighbour search can index.
    #[error(
        "more than {limit} fluid particles within one row of cells near {position:?}: the fluid is squeezed or its particles coincide"
    )]
    FluidTooDense {
        /// Limit of the neighbour search.
        limit: usize,
        /// Centre of the row of cells.
        position: [f64; 3],
    },
    /// Particles spread over more cells than can be indexed.
    #[error("particles spread over {extent} m, more than {limit} cells of {cell} m along an axis")]
    TooFarApart {
        /// Extent of the particles, m.
        extent: f64,
        /// Cells per axis at most.
        limit: u32,
        /// Side of a cell, m.
        cell: f64,
    },
    /// The geometry of an obstacle cannot be sampled or queried.
    #[error("obstacle: {reason}")]
    Obstacle {
        /// Why.
        reason: String,
    },
    /// The integrator refused the step.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Checks a number against a condition ⇒ error with its name and valid range.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    valid: bool,
    allowed: &'static str,
) -> Result<(), ParticleError> {
    if valid && value.is_finite() {
        Ok(())
    } else {
        Err(ParticleError::InvalidCoefficient { name, value, allowed })
    }
}
