//! One step of a second-order system, as a method receives it.

use super::{check_velocity, evaluate};
use crate::{SecondOrder, State, StepError};

/// A step from (x, v)(t) to t + h, with h positive and finite.
pub struct Step<'s, Q, V> {
    /// The system.
    pub system: &'s mut dyn SecondOrder<Q, V>,
    /// Time at the start.
    pub t: f64,
    /// Size of the step.
    pub h: f64,
    /// Positions.
    pub x: &'s mut Q,
    /// Velocities.
    pub v: &'s mut V,
}

impl<Q, V: State> Step<'_, Q, V> {
    /// a(t, x, v), or an error if that is not finite.
    pub fn acceleration(&mut self, a: &mut V) -> Result<(), StepError> {
        evaluate(self.system, self.t, self.x, self.v, a)
    }

    /// x' = drift(x, h, `drift`) and v' = `new`, or an error if `new` is not finite.
    pub fn finish(self, drift: &V, new: &V) -> Result<(), StepError> {
        check_velocity(self.t + self.h, new)?;
        self.system.drift(self.x, self.h, drift);
        self.v.copy_from(new);
        Ok(())
    }
}
