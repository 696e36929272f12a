//! Explicit Euler for second-order systems: x' = x + h v, v' = v + h a(t, x, v).
//!
//! The same map as Euler on y = (x, v), kept for systems whose positions are no vectors. Multiplies the
//! energy of an oscillator by 1 + (ωh)² each step.

use super::one_step::{Drift, OneStep, OneStepRule};

/// Explicit Euler on positions and velocities, order 1, one evaluation a step.
pub type ExplicitEuler<V> = OneStep<ExplicitEulerRule, V>;

/// Rule of [`ExplicitEuler`].
#[derive(Clone, Copy, Debug)]
pub struct ExplicitEulerRule;

impl OneStepRule for ExplicitEulerRule {
    const NAME: &'static str = "explicit-euler";
    const ORDER: u32 = 1;
    const DRIFT: Drift = Drift::Start;
}
