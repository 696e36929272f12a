//! Runge–Kutta of order 4 for accelerations that depend on time only.
//!
//! With a₀, a½, a₁ the accelerations at the start, middle and end of the step, Simpson's rule gives
//! v' = v + h/6 (a₀ + 4a½ + a₁), and ∫∫a with the same nodes x' = x + h v + h²/6 (a₀ + 2a½), that is a drift
//! along the mean velocity v + h/6 (a₀ + 2a½). Exact for v if a is a cubic in t, for x if it is a quadratic.

use super::{SecondOrderIntegrator, Step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError};

/// Simpson's rule for accelerations a(t), order 4, three evaluations a step.
///
/// The system is evaluated at the position and velocity of the start of the step throughout.
#[derive(Clone, Debug)]
pub struct Simpson<V> {
    work: Workspace<V, 3>,
}

impl<V> Simpson<V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<V> Default for Simpson<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone, V: State> SecondOrderIntegrator<Q, V> for Simpson<V> {
    fn name(&self) -> &'static str {
        "simpson"
    }

    fn order(&self) -> u32 {
        4
    }

    fn advance(&mut self, step: Step<'_, Q, V>) -> Result<(), StepError> {
        let h = step.h;
        let [a, v_mean, v_new] = self.work.shaped_like(step.v);
        v_mean.copy_from(step.v);
        v_new.copy_from(step.v);
        // (when, weight in v', weight in the mean velocity), each in units of h/6
        for (reach, to_velocity, to_mean) in [(0.0, 1.0, 1.0), (0.5, 4.0, 2.0), (1.0, 1.0, 0.0)] {
            evaluate(step.system, step.t + reach * h, step.x, step.v, a)?;
            v_new.add_scaled(to_velocity * h / 6.0, a);
            v_mean.add_scaled(to_mean * h / 6.0, a);
        }
        step.finish(v_mean, v_new)
    }
}
