//! Taylor form of Verlet: x' = x + h v + ½h² a, v' = v + h a (+ ½h² j).
//!
//! Without the jerk j = ȧ the velocity is Euler's and the whole method of order 1, however good the position
//! looks; with it both truncation errors are O(h³) and the order is 2. The system says whether it knows j.

use super::{SecondOrderIntegrator, check_velocity, evaluate};
use crate::integrator::check_step;
use crate::workspace::Workspace;
use crate::{SecondOrder, State, StepError};

/// Taylor-series Verlet, one evaluation a step; order 1, or 2 if the system supplies its jerk.
#[derive(Clone, Debug)]
pub struct TaylorVerlet<V> {
    work: Workspace<V, 4>,
}

impl<V> TaylorVerlet<V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<V> Default for TaylorVerlet<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone, V: State> SecondOrderIntegrator<Q, V> for TaylorVerlet<V> {
    fn name(&self) -> &'static str {
        "taylor-verlet"
    }

    /// What holds for any system; 2 if the system supplies its jerk.
    fn order(&self) -> u32 {
        1
    }

    fn step(
        &mut self,
        system: &mut dyn SecondOrder<Q, V>,
        t: f64,
        h: f64,
        x: &mut Q,
        v: &mut V,
    ) -> Result<(), StepError> {
        check_step(h)?;
        let [a, jerk, v_mean, v_new] = self.work.shaped_like(v);
        evaluate(system, t, x, v, a)?;
        v_mean.copy_from(v);
        v_mean.add_scaled(0.5 * h, a);
        v_new.copy_from(v);
        v_new.add_scaled(h, a);
        if system.jerk(t, x, v, a, jerk) {
            v_new.add_scaled(0.5 * h * h, jerk);
        }
        check_velocity(t + h, v_new)?;
        system.drift(x, h, v_mean);
        v.copy_from(v_new);
        Ok(())
    }
}
