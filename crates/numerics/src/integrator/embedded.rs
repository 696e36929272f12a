//! Runge–Kutta pairs of order 5 and 4 that share their stages.
//!
//! kᵢ = f(t + cᵢh, y + h Σⱼ aᵢⱼkⱼ), y₅ = y + h Σ bᵢkᵢ, y₄ = y + h Σ b̂ᵢkᵢ. The difference y₅ − y₄ estimates
//! the local error of y₄, O(h⁵), at no further evaluation. Coefficients: Cash & Karp 1990; Dormand & Prince
//! 1980.

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

/// Coefficients of a pair with S stages.
struct Tableau<const S: usize> {
    c: [f64; S],
    a: [[f64; S]; S],
    high: [f64; S],
    low: [f64; S],
}

const CASH_KARP: Tableau<6> = Tableau {
    c: [0.0, 1.0 / 5.0, 3.0 / 10.0, 3.0 / 5.0, 1.0, 7.0 / 8.0],
    a: [
        [0.0; 6],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0, 0.0, 0.0, 0.0],
        [-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0, 0.0, 0.0],
        [1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0, 0.0],
    ],
    high: [37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    low: [2825.0 / 27648.0, 0.0, 18575.0 / 48384.0, 13525.0 / 55296.0, 277.0 / 14336.0, 1.0 / 4.0],
};

const DORMAND_PRINCE: Tableau<7> = Tableau {
    c: [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    a: [
        [0.0; 7],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0, 0.0],
        [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    ],
    high: [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    low: [
        5179.0 / 57600.0,
        0.0,
        7571.0 / 16695.0,
        393.0 / 640.0,
        -92097.0 / 339200.0,
        187.0 / 2100.0,
        1.0 / 40.0,
    ],
};

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
