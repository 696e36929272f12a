//! Taylor form of Verlet: x' = x + h v + ½h² a, v' = v + h a (+ ½h² j).
//!
//! Without the jerk j = ȧ the velocity is Euler's and the whole method of order 1, however good the position
//! looks; with it both truncation errors are O(h³) and the order is 2. Whether j is available is up to the
//! system ([`SecondOrder::jerk`]).

use super::evaluate;
use super::one_step::{OneStep, OneStepRule, Velocities};
use crate::{SecondOrder, State, StepError};

/// Taylor-series Verlet, one evaluation a step; order 1, or 2 if the system supplies its jerk.
pub type TaylorVerlet<V> = OneStep<TaylorVerletRule, V, 4>;

/// Rule of [`TaylorVerlet`].
#[derive(Clone, Copy, Debug)]
pub struct TaylorVerletRule;

impl OneStepRule<4> for TaylorVerletRule {
    const NAME: &'static str = "taylor-verlet";
    /// For any system; 2 if the system supplies its jerk.
    const ORDER: u32 = 1;

    fn velocities<'d, 'v: 'd, 'w: 'd, Q, V: State>(
        system: &mut dyn SecondOrder<Q, V>,
        [t, h]: [f64; 2],
        x: &Q,
        v: &'v V,
        work: &'w mut [V; 4],
    ) -> Result<Velocities<'d, 'w, V>, StepError> {
        let [a, jerk, v_mean, v_new] = work;
        evaluate(system, t, x, v, a)?;
        v_mean.copy_from(v);
        v_mean.add_scaled(0.5 * h, a);
        v_new.copy_from(v);
        v_new.add_scaled(h, a);
        if system.jerk(t, x, v, a, jerk) {
            v_new.add_scaled(0.5 * h * h, jerk);
        }
        Ok(Velocities { drift: v_mean, new: v_new })
    }
}
