//! Particle systems, emitters and fluids.
//!
//! The crate knows bodies only through [`Obstacle`]: a shape at a pose with a velocity and an inverse mass at any
//! point. It depends neither on worlds nor on files.
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > 0.0)` is meant where it stands: NaN must take the same way out as a bad number"
)]

pub mod collision;
pub mod contact;
pub mod emitter;
mod error;
pub mod fluid;
pub mod force;
mod grid;
pub mod impulse;
mod obstacle;
mod parallel;
pub mod step;
mod store;

pub use error::ParticleError;
pub use grid::CellGrid;
pub use obstacle::{Obstacle, Reaction, RigidObstacle};
pub use step::{ParticleSystem, StepEvent, StepSettings, StepStatistics};
pub use store::{Particle, ParticleId, Particles, Traits};

/// The examples of the guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/particles.md")]
struct Guide;
