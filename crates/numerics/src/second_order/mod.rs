//! One-step methods for ẋ = v, v̇ = a(t, x, v).

mod explicit_euler;
mod symplectic_euler;
mod velocity_verlet;

pub use explicit_euler::ExplicitEuler;
pub use symplectic_euler::SymplecticEuler;
pub use velocity_verlet::VelocityVerlet;

use crate::{SecondOrder, State, StepError};

/// A method that carries positions and velocities over one step. Intermediate states live in the method.
pub trait SecondOrderIntegrator<Q: Clone, V: State>: Send {
    /// Name of the method, as in scene files.
    fn name(&self) -> &'static str;

    /// Order of the global error: halving h divides it by 2^order.
    fn order(&self) -> u32;

    /// (x, v)(t) → (x, v)(t + h). On an error both are what they were.
    fn step(
        &mut self,
        system: &mut dyn SecondOrder<Q, V>,
        t: f64,
        h: f64,
        x: &mut Q,
        v: &mut V,
    ) -> Result<(), StepError>;

    /// Forgets whatever the method remembers of earlier steps, as is due after a collision.
    fn reset(&mut self) {}
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

/// Refuses velocities that have overflowed by time t.
pub(crate) fn check_velocity<V: State>(t: f64, v: &V) -> Result<(), StepError> {
    if v.is_finite() { Ok(()) } else { Err(StepError::NonFinite { time: t }) }
}
