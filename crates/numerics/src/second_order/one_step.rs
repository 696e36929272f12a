//! Methods with one evaluation a step and no history: v' = v + h a (+ ½h² j), then x drifts along the velocity
//! of the start, middle or end of the step.

use std::marker::PhantomData;

use super::{SecondOrderIntegrator, Step};
use crate::workspace::Workspace;
use crate::{State, StepError};

/// Velocity along which positions move for the whole step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// v, that of the start.
    Start,
    /// v + ½h a, the mean under constant acceleration.
    Mean,
    /// v', that of the end.
    End,
}

/// What distinguishes the methods of [`OneStep`].
pub trait OneStepRule {
    /// Name of the method, as in scene files.
    const NAME: &'static str;
    /// Order of the global error.
    const ORDER: u32;
    /// Velocity of the drift.
    const DRIFT: Drift;
    /// Whether v' has the term ½h² j if the system supplies its jerk.
    const JERK: bool = false;
}

/// The method of a rule R, with its workspace.
#[derive(Clone, Debug)]
pub struct OneStep<R, V> {
    work: Workspace<V, 3>,
    rule: PhantomData<R>,
}

impl<R, V> OneStep<R, V> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default(), rule: PhantomData }
    }
}

impl<R, V> Default for OneStep<R, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: OneStepRule + Send, Q: Clone, V: State> SecondOrderIntegrator<Q, V> for OneStep<R, V> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn order(&self) -> u32 {
        R::ORDER
    }

    fn advance(&mut self, mut step: Step<'_, Q, V>) -> Result<(), StepError> {
        let h = step.h;
        let [a, other, v_new] = self.work.shaped_like(step.v);
        step.acceleration(a)?;
        v_new.copy_from(step.v);
        v_new.add_scaled(h, a);
        if R::JERK && step.system.jerk(step.t, step.x, step.v, a, other) {
            v_new.add_scaled(0.5 * h * h, other);
        }
        let drift = match R::DRIFT {
            Drift::End => &*v_new,
            early => {
                other.copy_from(step.v);
                if early == Drift::Mean {
                    other.add_scaled(0.5 * h, a);
                }
                other
            }
        };
        step.finish(drift, v_new)
    }
}
