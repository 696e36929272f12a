//! Explicit Euler for second-order systems: x' = x + h v, v' = v + h a(t, x, v).
//!
//! The same map as Euler on y = (x, v), kept for systems whose positions are no vectors. Multiplies the
//! energy of an oscillator by 1 + (ωh)² each step.

use super::evaluate;
use super::one_step::{OneStep, OneStepRule, Velocities};
use crate::{SecondOrder, State, StepError};

/// Explicit Euler on positions and velocities, order 1, one evaluation a step.
pub type ExplicitEuler<V> = OneStep<ExplicitEulerRule, V, 2>;

/// Rule of [`ExplicitEuler`].
#[derive(Clone, Copy, Debug)]
pub struct ExplicitEulerRule;

impl OneStepRule<2> for ExplicitEulerRule {
    const NAME: &'static str = "explicit-euler";
    const ORDER: u32 = 1;

    fn velocities<'d, 'v: 'd, 'w: 'd, Q, V: State>(
        system: &mut dyn SecondOrder<Q, V>,
        [t, h]: [f64; 2],
        x: &Q,
        v: &'v V,
        work: &'w mut [V; 2],
    ) -> Result<Velocities<'d, 'w, V>, StepError> {
        let [a, v_new] = work;
        evaluate(system, t, x, v, a)?;
        v_new.copy_from(v);
        v_new.add_scaled(h, a);
        Ok(Velocities { drift: v, new: v_new })
    }
}
