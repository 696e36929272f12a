//! Viscous damping v̇ = −c v over a step: v(t + h) = v e^(−ch).
//!
//! The exponential is exact for any h. Cut off after the term of a method's own order n,
//! e^(−s) ≈ Σₖ (−s)ᵏ/k! for k ≤ n, it is the factor that method yields for the damping alone.

/// How damping is applied over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damping {
    /// e^(−ch), exact.
    #[default]
    Exponential,
    /// The series of the exponential up to and including the term of this order.
    Series(u32),
}

impl Damping {
    /// (c in 1/s, h in s) → factor on the velocity over a step.
    pub fn factor(self, c: f64, h: f64) -> f64 {
        let s = c * h;
        match self {
            Self::Exponential => (-s).exp(),
            Self::Series(order) => {
                // Horner; terms beyond the 64th are below rounding wherever the series is of any use.
                (1..=order.min(64)).rev().fold(1.0, |sum, k| 1.0 - sum * s / f64::from(k))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// damping 0.1 over 10 s leaves e⁻¹ of the velocity, for any h.
    #[test]
    fn exponential_damping_does_not_depend_on_the_step() {
        for steps in [1, 7, 100, 12_345] {
            let h = 10.0 / f64::from(steps);
            let v = (0..steps).fold(1.0, |v, _| v * Damping::Exponential.factor(0.1, h));
            assert!((v - (-1.0_f64).exp()).abs() < 1e-10);
        }
    }

    #[test]
    fn the_series_is_what_the_runge_kutta_methods_do() {
        use crate::stability::{Method, decay_factor};
        for (order, method) in
            [(1, Method::ExplicitEuler), (2, Method::RungeKutta2), (4, Method::RungeKutta4)]
        {
            assert!((Damping::Series(order).factor(3.0, 0.2) - decay_factor(method, 0.6)).abs() < 1e-15);
        }
        assert!((Damping::Series(u32::MAX).factor(1.0, 1.0) - (-1.0_f64).exp()).abs() < 1e-15);
    }
}
