//! Velocity Verlet: x' = x + h v + ½h² a, v' = v + ½h (a + a').
//!
//! The position update is a drift along the mean velocity v + ½h a, which is also how it is done on a
//! manifold. If the acceleration depends on velocity, a' is evaluated at the predictor v* = v + h a; since v*
//! is wrong by O(h²) the corrected v' is wrong by O(h³) only, and the method stays of order 2.
//!
//! On an oscillator it conserves v² + ω²x²(1 − (ωh)²/4) exactly for ωh < 2, and running it backwards retraces
//! the steps.

use super::{SecondOrderIntegrator, Step, check_velocity, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError};

/// Velocity Verlet, order 2, two evaluations a step, no energy drift, reversible.
#[derive(Clone, Debug)]
pub struct VelocityVerlet<Q, V> {
    work: Workspace<V, 3>,
    x_start: Option<Q>,
}

impl<Q, V> VelocityVerlet<Q, V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default(), x_start: None }
    }
}

impl<Q, V> Default for VelocityVerlet<Q, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone + Send, V: State> SecondOrderIntegrator<Q, V> for VelocityVerlet<Q, V> {
    fn name(&self) -> &'static str {
        "velocity-verlet"
    }

    fn order(&self) -> u32 {
        2
    }

    fn advance(&mut self, mut step: Step<'_, Q, V>) -> Result<(), StepError> {
        let (t, h) = (step.t, step.h);
        let [a, a_end, v_trial] = self.work.shaped_like(step.v);
        step.acceleration(a)?;
        let Step { system, x, v, .. } = step;
        v_trial.copy_from(v);
        v_trial.add_scaled(0.5 * h, a);

        let x_start = self.x_start.get_or_insert_with(|| x.clone());
        x_start.clone_from(x);
        system.drift(x, h, v_trial);

        v_trial.add_scaled(0.5 * h, a);
        let end = evaluate(system, t + h, x, v_trial, a_end).and_then(|()| {
            v_trial.copy_from(v);
            v_trial.add_scaled(0.5 * h, a);
            v_trial.add_scaled(0.5 * h, a_end);
            check_velocity(t + h, v_trial)
        });
        if end.is_err() {
            x.clone_from(x_start);
            return end;
        }
        v.copy_from(v_trial);
        Ok(())
    }
}
