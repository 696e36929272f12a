//! Runge–Kutta pairs of order 5 and 4 that share their stages.
//!
//! kᵢ = f(t + cᵢh, y + h Σⱼ aᵢⱼkⱼ), y₅ = y + h Σ bᵢkᵢ, y₄ = y + h Σ b̂ᵢkᵢ. The difference y₅ − y₄ estimates the
//! local error of y₄, O(h⁵), at no further evaluation.
//! Coefficients: [`tableau`](super::tableau).

use super::tableau::{CASH_KARP, DORMAND_PRINCE, Tableau};
use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// A method that computes two results of different order from the same evaluations.
pub trait EmbeddedPair<Y: State>: Integrator<Y> {
    /// y(t) → y(t + h) as `high` (the order of the method) and `low` (one order less), neither projected.
    fn pair(
        &mut self,
        system: &mut dyn System<Y>,
        t: f64,
        h: f64,
        y: &Y,
        high: &mut Y,
        low: &mut Y,
    ) -> Result<(), StepError>;
}

/// result = y + h Σ bᵢkᵢ, without touching stages of weight zero (they may not have been evaluated yet).
fn combine<Y: State>(y: &Y, h: f64, b: &[f64], k: &[Y], result: &mut Y) {
    result.copy_from(y);
    for (b, k) in b.iter().zip(k).filter(|(b, _)| **b != 0.0) {
        result.add_scaled(h * b, k);
    }
}

impl<const S: usize> Tableau<S> {
    /// Evaluates all stages into k, using `stage` for the states they are evaluated at.
    fn stages<Y: State>(
        &self,
        system: &mut dyn System<Y>,
        t: f64,
        h: f64,
        y: &Y,
        k: &mut [Y; S],
        stage: &mut Y,
    ) -> Result<(), StepError> {
        check_step(h)?;
        for i in 0..S {
            combine(y, h, &self.a[i], k, stage);
            evaluate(system, t + self.c[i] * h, stage, &mut k[i])?;
        }
        Ok(())
    }
}

macro_rules! embedded_method {
    ($(#[$doc:meta])* $method:ident, $name:literal, $tableau:ident, $stages:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $method<Y> {
            stages: Workspace<Y, $stages>,
            results: Workspace<Y, 2>,
        }

        impl<Y> $method<Y> {
            /// The method with an empty workspace.
            pub fn new() -> Self {
                Self { stages: Workspace::default(), results: Workspace::default() }
            }
        }

        impl<Y> Default for $method<Y> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<Y: State> EmbeddedPair<Y> for $method<Y> {
            fn pair(
                &mut self,
                system: &mut dyn System<Y>,
                t: f64,
                h: f64,
                y: &Y,
                high: &mut Y,
                low: &mut Y,
            ) -> Result<(), StepError> {
                let k = self.stages.shaped_like(y);
                $tableau.stages(system, t, h, y, k, high)?;
                combine(y, h, &$tableau.high, k, high);
                combine(y, h, &$tableau.low, k, low);
                if high.is_finite() && low.is_finite() {
                    Ok(())
                } else {
                    Err(StepError::NonFinite { time: t + h })
                }
            }
        }

        impl<Y: State> Integrator<Y> for $method<Y> {
            fn name(&self) -> &'static str {
                $name
            }

            fn order(&self) -> u32 {
                5
            }

            fn step(
                &mut self,
                system: &mut dyn System<Y>,
                t: f64,
                h: f64,
                y: &mut Y,
            ) -> Result<(), StepError> {
                let k = self.stages.shaped_like(y);
                let [stage, result] = self.results.shaped_like(y);
                $tableau.stages(system, t, h, y, k, stage)?;
                combine(y, h, &$tableau.high, k, result);
                accept(system, t + h, result, y)
            }
        }
    };
}

embedded_method!(
    /// Cash and Karp's pair, order 5 with an embedded order 4, six evaluations a step.
    CashKarp,
    "cash-karp",
    CASH_KARP,
    6
);
embedded_method!(
    /// Dormand and Prince's pair, order 5 with an embedded order 4, seven evaluations a step.
    DormandPrince,
    "dormand-prince",
    DORMAND_PRINCE,
    7
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Order conditions of Runge–Kutta methods: Σⱼaᵢⱼ = cᵢ, and Σbᵢcᵢᵐ = 1/(m+1) up to its order.
    fn check<const S: usize>(tableau: &Tableau<S>) {
        for (row, c) in tableau.a.iter().zip(tableau.c) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-14);
        }
        for (b, order) in [(tableau.high, 5), (tableau.low, 4)] {
            for power in 0..order {
                let moment: f64 = b.iter().zip(tableau.c).map(|(b, c)| b * c.powi(power)).sum();
                assert!((moment - 1.0 / f64::from(power + 1)).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn coefficients_meet_the_quadrature_conditions_of_their_order() {
        check(&CASH_KARP);
        check(&DORMAND_PRINCE);
    }
}
