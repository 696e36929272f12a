//! Symplectic (semi-implicit) Euler: v' = v + h a(t, x, v), x' = x + h v'.
//!
//! On an oscillator the map has determinant 1 and trace 2 − (ωh)², so it is neutrally stable for ωh < 2 and
//! conserves v² + ω²x² − hω²xv exactly: the energy oscillates but does not drift.

use super::{SecondOrderIntegrator, check_velocity, evaluate};
use crate::integrator::check_step;
use crate::workspace::Workspace;
use crate::{SecondOrder, State, StepError};

/// Symplectic Euler, order 1, one evaluation a step, no energy drift.
#[derive(Clone, Debug)]
pub struct SymplecticEuler<V> {
    work: Workspace<V, 2>,
}

impl<V> SymplecticEuler<V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<V> Default for SymplecticEuler<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone, V: State> SecondOrderIntegrator<Q, V> for SymplecticEuler<V> {
    fn name(&self) -> &'static str {
        "symplectic-euler"
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
        v.copy_from(v_new);
        system.drift(x, h, v);
        Ok(())
    }
}
