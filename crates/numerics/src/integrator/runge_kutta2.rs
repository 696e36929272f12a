//! The family of second-order Runge–Kutta methods with two evaluations.
//!
//! y' = y + h (w₁k₁ + w₂k₂), k₁ = f(t, y), k₂ = f(t + αh, y + αh k₁). Matching the Taylor series of y up to
//! h² demands w₁ + w₂ = 1 and α w₂ = ½, which leaves w₂ free: w₂ = 1 is the midpoint rule, w₂ = ½ Heun's.

use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// Runge–Kutta of order 2, two evaluations a step.
#[derive(Clone, Debug)]
pub struct RungeKutta2<Y> {
    w2: f64,
    work: Workspace<Y, 3>,
}

impl<Y> RungeKutta2<Y> {
    /// Evaluates in the middle of the step: w₂ = 1, α = ½.
    pub fn midpoint() -> Self {
        Self { w2: 1.0, work: Workspace::default() }
    }

    /// Averages the rates at both ends of the step: w₂ = ½, α = 1.
    pub fn heun() -> Self {
        Self { w2: 0.5, work: Workspace::default() }
    }

    /// Any other member of the family, by the weight w₂ ∈ (0, 1] of the second evaluation.
    pub fn with_weight(w2: f64) -> Result<Self, StepError> {
        if w2 > 0.0 && w2 <= 1.0 {
            return Ok(Self { w2, work: Workspace::default() });
        }
        Err(StepError::InvalidParameter {
            name: "weight of the second stage",
            value: w2,
            allowed: "0 < w ≤ 1",
        })
    }
}

impl<Y: State> Integrator<Y> for RungeKutta2<Y> {
    fn name(&self) -> &'static str {
        if self.w2 == 1.0 {
            "midpoint"
        } else if self.w2 == 0.5 {
            "heun"
        } else {
            "runge-kutta-2"
        }
    }

    fn order(&self) -> u32 {
        2
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let w2 = self.w2;
        let alpha = 0.5 / w2;
        let [k1, k2, result] = self.work.shaped_like(y);
        evaluate(system, t, y, k1)?;
        result.copy_from(y);
        result.add_scaled(alpha * h, k1);
        evaluate(system, t + alpha * h, result, k2)?;
        result.copy_from(y);
        result.add_scaled((1.0 - w2) * h, k1);
        result.add_scaled(w2 * h, k2);
        accept(system, t + h, result, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_outside_the_family_are_refused() {
        for w2 in [0.0, -0.5, 1.0 + 1e-12, f64::NAN, f64::INFINITY] {
            assert!(matches!(RungeKutta2::<f64>::with_weight(w2), Err(StepError::InvalidParameter { .. })));
        }
        assert_eq!(RungeKutta2::<f64>::with_weight(0.75).map(|m| m.order()), Ok(2));
    }
}
