//! A particle system and its step.
//!
//! 1. Particles found inside a body are repaired ([`InsidePolicy`]); all particles are integrated from t₀ to t₁
//!    without collisions; bodies receive the reactions of the interval before.
//! 2. Every particle moves along the chord between both states. The first contacts are sorted by time; of each
//!    particle the earliest counts, and contacts at the same time that share particles form a cluster.
//! 3. Particles of a cluster, and all particles that forces couple to them, go back to the time t_c on their
//!    chords. Impulses are solved for at once, then contact forces of pairs that stay in touch.
//! 4. These particles, and no others, are integrated from t_c to t₁. From 2 until no contact is left.
//! 5. After `max_collision_iterations` all collisions are inelastic; after `max_inelastic_iterations` more, what
//!    still collides stays where it is for the rest of the interval and is counted. The loop always ends.
//! 6. Particles age, expire, split; emitters release new ones.
//!
//! Where no force couples particles and they do not collide with each other, each particle is a cluster of its own:
//! the same steps then run particle by particle, in parallel (`independent`).

mod collide;
mod independent;
mod inside;
mod integrate;
mod settings;
mod system;

pub use inside::InsidePolicy;
pub use integrate::Method;
pub use settings::{CollisionFlags, EffectiveMass, ObstacleMotion, StepSettings};
pub use system::{ParticleSystem, StepEvent, StepStatistics};
