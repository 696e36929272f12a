//! Symplectic (semi-implicit) Euler: v' = v + h a(t, x, v), x' = x + h v'.
//!
//! On an oscillator the map has determinant 1 and trace 2 − (ωh)², so it is neutrally stable for ωh < 2 and
//! conserves v² + ω²x² − hω²xv exactly: the energy oscillates but does not drift.

use super::evaluate;
use super::one_step::{OneStep, OneStepRule, Velocities};
use crate::{SecondOrder, State, StepError};

/// Symplectic Euler, order 1, one evaluation a step, no energy drift.
pub type SymplecticEuler<V> = OneStep<SymplecticEulerRule, V, 2>;

/// Rule of [`SymplecticEuler`].
#[derive(Clone, Copy, Debug)]
pub struct SymplecticEulerRule;

impl OneStepRule<2> for SymplecticEulerRule {
    const NAME: &'static str = "symplectic-euler";
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
        Ok(Velocities { drift: v_new, new: v_new })
    }
}
