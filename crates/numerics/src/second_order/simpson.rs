//! Runge–Kutta of order 4 for accelerations that depend on time only.
//!
//! With a₀, a½, a₁ the accelerations at the start, middle and end of the step, Simpson's rule gives
//! v' = v + h/6 (a₀ + 4a½ + a₁), and ∫∫a with the same nodes x' = x + h v + h²/6 (a₀ + 2a½), that is a drift
//! along the mean velocity v + h/6 (a₀ + 2a½). Exact for v if a is a cubic in t, for x if it is a quadratic.

use super::evaluate;
use super::one_step::{OneStep, OneStepRule, Velocities};
use crate::{SecondOrder, State, StepError};

/// Simpson's rule for accelerations a(t), order 4, three evaluations a step.
///
/// The system is evaluated at the position and velocity of the start of the step throughout.
pub type Simpson<V> = OneStep<SimpsonRule, V, 3>;

/// Rule of [`Simpson`].
#[derive(Clone, Copy, Debug)]
pub struct SimpsonRule;

impl OneStepRule<3> for SimpsonRule {
    const NAME: &'static str = "simpson";
    const ORDER: u32 = 4;

    fn velocities<'d, 'v: 'd, 'w: 'd, Q, V: State>(
        system: &mut dyn SecondOrder<Q, V>,
        [t, h]: [f64; 2],
        x: &Q,
        v: &'v V,
        work: &'w mut [V; 3],
    ) -> Result<Velocities<'d, 'w, V>, StepError> {
        let [a, v_mean, v_new] = work;
        v_mean.copy_from(v);
        v_new.copy_from(v);
        // (when, weight in v', weight in the mean velocity), each in units of h/6
        for (reach, to_velocity, to_mean) in [(0.0, 1.0, 1.0), (0.5, 4.0, 2.0), (1.0, 1.0, 0.0)] {
            evaluate(system, t + reach * h, x, v, a)?;
            v_new.add_scaled(to_velocity * h / 6.0, a);
            v_mean.add_scaled(to_mean * h / 6.0, a);
        }
        Ok(Velocities { drift: v_mean, new: v_new })
    }
}
