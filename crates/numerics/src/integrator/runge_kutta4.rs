//! The classical Runge–Kutta method and what it becomes when f does not depend on the state.
//!
//! k₁ = f(t, y), k₂ = f(t + h/2, y + h k₁/2), k₃ = f(t + h/2, y + h k₂/2), k₄ = f(t + h, y + h k₃),
//! y' = y + h/6 (k₁ + 2k₂ + 2k₃ + k₄). Local error O(h⁵).
//!
//! With f = f(t) the two middle evaluations coincide and Simpson's rule is left:
//! y' = y + h/6 (f(t) + 4 f(t + h/2) + f(t + h)), exact for cubics; on t⁴ over [0, h] it overshoots by
//! h⁵/120.

use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// The classical Runge–Kutta method, order 4, four evaluations a step.
#[derive(Clone, Debug)]
pub struct RungeKutta4<Y> {
    work: Workspace<Y, 3>,
}

impl<Y> RungeKutta4<Y> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<Y> Default for RungeKutta4<Y> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Y: State> Integrator<Y> for RungeKutta4<Y> {
    fn name(&self) -> &'static str {
        "runge-kutta-4"
    }

    fn order(&self) -> u32 {
        4
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let [k, stage, result] = self.work.shaped_like(y);
        result.copy_from(y);
        evaluate(system, t, y, k)?;
        // (position of the next stage, weight of the rate just computed)
        for (reach, weight) in [(0.5, 1.0 / 6.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 3.0)] {
            result.add_scaled(weight * h, k);
            stage.copy_from(y);
            stage.add_scaled(reach * h, k);
            evaluate(system, t + reach * h, stage, k)?;
        }
        result.add_scaled(h / 6.0, k);
        accept(system, t + h, result, y)
    }
}

/// Simpson's rule: Runge–Kutta of order 4 for rates that depend on time only, three evaluations a step.
///
/// The state handed to the system stays the one at the start of the step; if the rate does depend on it the
/// method is only of order 1.
#[derive(Clone, Debug)]
pub struct SimpsonRungeKutta4<Y> {
    work: Workspace<Y, 2>,
}

impl<Y> SimpsonRungeKutta4<Y> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default() }
    }
}

impl<Y> Default for SimpsonRungeKutta4<Y> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Y: State> Integrator<Y> for SimpsonRungeKutta4<Y> {
    fn name(&self) -> &'static str {
        "simpson"
    }

    fn order(&self) -> u32 {
        4
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let [k, result] = self.work.shaped_like(y);
        result.copy_from(y);
        for (reach, weight) in [(0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0)] {
            evaluate(system, t + reach * h, y, k)?;
            result.add_scaled(weight * h, k);
        }
        accept(system, t + h, result, y)
    }
}
