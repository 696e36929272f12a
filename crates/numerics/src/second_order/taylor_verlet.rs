//! Taylor form of Verlet: x' = x + h v + ½h² a, v' = v + h a (+ ½h² j).
//!
//! Without the jerk j = ȧ the velocity is Euler's and the whole method of order 1, however good the position
//! looks; with it both truncation errors are O(h³) and the order is 2. Whether j is available is up to the
//! system ([`SecondOrder::jerk`](crate::SecondOrder::jerk)).

use super::one_step::{Drift, OneStep, OneStepRule};

/// Taylor-series Verlet, one evaluation a step; order 1, or 2 if the system supplies its jerk.
pub type TaylorVerlet<V> = OneStep<TaylorVerletRule, V>;

/// Rule of [`TaylorVerlet`].
#[derive(Clone, Copy, Debug)]
pub struct TaylorVerletRule;

impl OneStepRule for TaylorVerletRule {
    const NAME: &'static str = "taylor-verlet";
    /// For any system; 2 if the system supplies its jerk.
    const ORDER: u32 = 1;
    const DRIFT: Drift = Drift::Mean;
    const JERK: bool = true;
}
