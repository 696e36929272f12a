//! One-step methods for ẏ = f(t, y).

mod bulirsch_stoer;
mod embedded;
mod euler;
mod gmres;
mod implicit_euler;
mod runge_kutta2;
mod runge_kutta4;
pub mod tableau;

pub use bulirsch_stoer::BulirschStoer;
pub use embedded::{CashKarp, DormandPrince, EmbeddedPair};
pub use euler::ExplicitEuler;
pub use implicit_euler::ImplicitEuler;
pub use runge_kutta2::RungeKutta2;
pub use runge_kutta4::{RungeKutta4, SimpsonRungeKutta4};

use crate::{State, StepError, System, Tolerance};

/// A method that advances a state by one step. Intermediate states are part of the method, for reuse.
pub trait Integrator<Y: State>: Send + Sync {
    /// Name of the method, as in scene files.
    fn name(&self) -> &'static str;

    /// Order of the global error: halving h divides it by 2^order.
    fn order(&self) -> u32;

    /// y(t) → y(t + h), projected onto its manifold. On an error y is unchanged.
    ///
    /// # Errors
    /// If h is not positive and finite, a rate is not finite, or an implicit method does not converge.
    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError>;

    /// Drops the history of earlier steps.
    fn reset(&mut self) {}
}

/// Names of the methods, as [`by_name`] takes them.
pub const NAMES: [&str; 9] = [
    "explicit-euler",
    "implicit-euler",
    "midpoint",
    "heun",
    "runge-kutta-4",
    "simpson",
    "cash-karp",
    "dormand-prince",
    "bulirsch-stoer",
];

/// name → the method with its default settings; none if there is no method of that name.
pub fn by_name<Y: State + 'static>(name: &str) -> Option<Box<dyn Integrator<Y>>> {
    Some(match name {
        "explicit-euler" => Box::new(ExplicitEuler::new()),
        "implicit-euler" => Box::new(ImplicitEuler::new()),
        "midpoint" => Box::new(RungeKutta2::midpoint()),
        "heun" => Box::new(RungeKutta2::heun()),
        "runge-kutta-4" => Box::new(RungeKutta4::new()),
        "simpson" => Box::new(SimpsonRungeKutta4::new()),
        "cash-karp" => Box::new(CashKarp::new()),
        "dormand-prince" => Box::new(DormandPrince::new()),
        "bulirsch-stoer" => Box::new(BulirschStoer::new(Tolerance::default()).ok()?),
        _ => return None,
    })
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
