//! One-step methods for ẏ = f(t, y).

mod euler;
mod runge_kutta2;
mod runge_kutta4;

pub use euler::ExplicitEuler;
pub use runge_kutta2::RungeKutta2;
pub use runge_kutta4::{RungeKutta4, SimpsonRungeKutta4};

use crate::{State, StepError, System};

/// A method that carries a state over one step. Intermediate states live in the method and are reused.
pub trait Integrator<Y: State>: Send {
    /// Name of the method, as in scene files.
    fn name(&self) -> &'static str;

    /// Order of the global error: halving h divides it by 2^order.
    fn order(&self) -> u32;

    /// y(t) → y(t + h), put back on its manifold. On an error y is what it was.
    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError>;

    /// Forgets whatever the method remembers of earlier steps.
    fn reset(&mut self) {}
}

/// Refuses step sizes no method can use.
pub(crate) fn check_step(h: f64) -> Result<(), StepError> {
    if h.is_finite() && h > 0.0 { Ok(()) } else { Err(StepError::InvalidStep { step: h }) }
}

/// (t, y) → f(t, y), or an error if that is not finite.
pub(crate) fn evaluate<Y: State>(
    system: &mut dyn System<Y>,
    t: f64,
    y: &Y,
    rate: &mut Y,
) -> Result<(), StepError> {
    system.rate(t, y, rate);
    if rate.is_finite() { Ok(()) } else { Err(StepError::NonFinite { time: t }) }
}

/// Makes `result` the new state y at time t, unless it has overflowed.
pub(crate) fn accept<Y: State>(
    system: &mut dyn System<Y>,
    t: f64,
    result: &Y,
    y: &mut Y,
) -> Result<(), StepError> {
    if !result.is_finite() {
        return Err(StepError::NonFinite { time: t });
    }
    y.copy_from(result);
    system.project(y);
    Ok(())
}
