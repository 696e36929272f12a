//! Tuning constants of the sequential simulator.

/// Least approach speed of a contact with restitution, m/s.
pub(super) const MIN_REST_SPEED: f64 = 0.01;
/// Least approach speed of a contact with restitution, in units of the speed that gravity adds in a step.
pub(super) const REST_SPEED_PER_KICK: f64 = 2.0;
