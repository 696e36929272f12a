//! Symplectic (semi-implicit) Euler: v' = v + h a(t, x, v), x' = x + h v'.
//!
//! On an oscillator the map has determinant 1 and trace 2 − (ωh)², so it is neutrally stable for ωh < 2 and
//! conserves v² + ω²x² − hω²xv exactly: the energy oscillates but does not drift.

use super::one_step::{Drift, OneStep, OneStepRule};

/// Symplectic Euler, order 1, one evaluation a step, no energy drift.
pub type SymplecticEuler<V> = OneStep<SymplecticEulerRule, V>;

/// Rule of [`SymplecticEuler`].
#[derive(Clone, Copy, Debug)]
pub struct SymplecticEulerRule;

impl OneStepRule for SymplecticEulerRule {
    const NAME: &'static str = "symplectic-euler";
    const ORDER: u32 = 1;
    const DRIFT: Drift = Drift::End;
}
