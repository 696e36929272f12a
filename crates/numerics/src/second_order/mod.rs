//! One-step methods for ẋ = v, v̇ = a(t, x, v).
//!
//! ```
//! use glam::{DQuat, DVec3};
//! use rattleback_numerics::{SecondOrder, SecondOrderIntegrator, second_order::VelocityVerlet};
//!
//! /// A wheel under constant angular acceleration: positions are rotations, not vectors.
//! struct Wheel;
//! impl SecondOrder<DQuat, DVec3> for Wheel {
//!     fn acceleration(&mut self, _t: f64, _x: &DQuat, _v: &DVec3, a: &mut DVec3) {
//!         *a = DVec3::Z;
//!     }
//!     fn drift(&mut self, x: &mut DQuat, h: f64, v: &DVec3) {
//!         *x = (DQuat::from_scaled_axis(*v * h) * *x).normalize();
//!     }
//! }
//!
//! let (mut x, mut v) = (DQuat::IDENTITY, DVec3::ZERO);
//! VelocityVerlet::new().step(&mut Wheel, 0.0, 1.0, &mut x, &mut v)?;
//! assert!(x.angle_between(DQuat::from_rotation_z(0.5)) < 1e-7 && v == DVec3::Z);
//! # Ok::<(), rattleback_numerics::StepError>(())
//! ```

mod basic_verlet;
mod explicit_euler;
mod one_step;
mod simpson;
mod step;
mod symplectic_euler;
mod taylor_verlet;
mod velocity_verlet;

pub use basic_verlet::{BasicVerlet, VerletHistory};
pub use explicit_euler::ExplicitEuler;
pub use one_step::{Drift, OneStep, OneStepRule};
pub use simpson::Simpson;
pub use step::Step;
pub use symplectic_euler::SymplecticEuler;
pub use taylor_verlet::TaylorVerlet;
pub use velocity_verlet::VelocityVerlet;

use crate::integrator::check_step;
use crate::{SecondOrder, State, StepError};

/// A method that advances positions and velocities by one step. Intermediate states are part of the method,
/// for reuse.
pub trait SecondOrderIntegrator<Q: Clone, V: State>: Send {
    /// Name of the method, as in scene files.
    fn name(&self) -> &'static str;

    /// Order of the global error: halving h divides it by 2^order.
    fn order(&self) -> u32;

    /// (x, v)(t) → (x, v)(t + h). On an error both are unchanged.
    ///
    /// # Errors
    /// If h is not positive and finite, or an acceleration or velocity is not finite.
    fn step(
        &mut self,
        system: &mut dyn SecondOrder<Q, V>,
        t: f64,
        h: f64,
        x: &mut Q,
        v: &mut V,
    ) -> Result<(), StepError> {
        check_step(h)?;
        self.advance(Step { system, t, h, x, v })
    }

    /// The method itself: what `step` does once it has checked h.
    ///
    /// # Errors
    /// If an acceleration or velocity is not finite.
    fn advance(&mut self, step: Step<'_, Q, V>) -> Result<(), StepError>;

    /// Drops the history of earlier steps, as is due after a collision.
    fn reset(&mut self) {}

    /// History of earlier steps, to be saved with the state; none for most methods.
    fn history(&self) -> Option<&VerletHistory<V>> {
        None
    }

    /// Restores a history saved by `history`.
    fn restore(&mut self, _history: Option<VerletHistory<V>>) {}
}

/// Names of the methods, as [`by_name`] takes them.
pub const NAMES: [&str; 6] =
    ["explicit-euler", "symplectic-euler", "taylor-verlet", "velocity-verlet", "basic-verlet", "simpson"];

/// name → the method with an empty workspace; none if there is no method of that name.
pub fn by_name<Q, V>(name: &str) -> Option<Box<dyn SecondOrderIntegrator<Q, V>>>
where
    Q: Clone + Send + 'static,
    V: State + 'static,
{
    Some(match name {
        "explicit-euler" => Box::new(ExplicitEuler::new()),
        "symplectic-euler" => Box::new(SymplecticEuler::new()),
        "taylor-verlet" => Box::new(TaylorVerlet::new()),
        "velocity-verlet" => Box::new(VelocityVerlet::new()),
        "basic-verlet" => Box::new(BasicVerlet::new()),
        "simpson" => Box::new(Simpson::new()),
        _ => return None,
    })
}

/// (t, x, v) → a, or an error if that is not finite.
pub(crate) fn evaluate<Q, V: State>(
    system: &mut dyn SecondOrder<Q, V>,
    t: f64,
    x: &Q,
    v: &V,
    a: &mut V,
) -> Result<(), StepError> {
    system.acceleration(t, x, v, a);
    if a.is_finite() { Ok(()) } else { Err(StepError::NonFinite { time: t }) }
}

/// Error if the velocity at time t is not finite.
pub(crate) fn check_velocity<V: State>(t: f64, v: &V) -> Result<(), StepError> {
    if v.is_finite() { Ok(()) } else { Err(StepError::NonFinite { time: t }) }
}
