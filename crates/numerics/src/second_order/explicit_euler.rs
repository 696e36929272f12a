//! Explicit Euler for second-order systems: x' = x + h v, v' = v + h a(t, x, v).
//!
//! The same map as Euler on y = (x, v), kept for systems whose positions are no vectors. Multiplies the energy
//! of an oscillator by 1 + (ωh)² each step.

use super::{SecondOrderIntegrator, check_velocity, evaluate};
use crate::integrator::check_step;
use crate::workspace::Workspace;
use crate::{SecondOrder, State, StepError};

/// Explicit Euler on positions and velocities, order 1, one evaluation a step.
#[derive(Clone, Debug)]
pub struct ExplicitEuler<V> {
    work: Workspace<V, 2>,
}

impl<V> ExplicitEuler<V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<V> Default for ExplicitEuler<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone, V: State> SecondOrderIntegrator<Q, V> for ExplicitEuler<V> {
    fn name(&self) -> &'static str {
        "explicit-euler"
    }

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
        let [a, v_new] = self.work.shaped_like(v);
        evaluate(system, t, x, v, a)?;
        v_new.copy_from(v);
        v_new.add_scaled(h, a);
        check_velocity(t + h, v_new)?;
        system.drift(x, h, v);
        v.copy_from(v_new);
        Ok(())
    }
}
