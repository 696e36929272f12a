//! Explicit Euler: y' = y + h f(t, y).
//!
//! Local error ½h² ÿ, global order 1. On u̇ = −a u it multiplies by 1 − ha, so it needs ha < 2; on an
//! oscillator it multiplies the energy by 1 + (ωh)² each step, so it never stays bounded.

use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// Explicit Euler, order 1, one evaluation a step.
#[derive(Clone, Debug)]
pub struct ExplicitEuler<Y> {
    work: Workspace<Y, 2>,
}

impl<Y> ExplicitEuler<Y> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<Y> Default for ExplicitEuler<Y> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Y: State> Integrator<Y> for ExplicitEuler<Y> {
    fn name(&self) -> &'static str {
        "explicit-euler"
    }

    fn order(&self) -> u32 {
        1
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let [k, result] = self.work.shaped_like(y);
        evaluate(system, t, y, k)?;
        result.copy_from(y);
        result.add_scaled(h, k);
        accept(system, t + h, result, y)
    }
}
