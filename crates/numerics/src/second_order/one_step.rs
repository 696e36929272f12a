//! Methods without a history: v' is computed from the state at the start of the step, then x drifts along one
//! velocity.

use std::marker::PhantomData;

use super::{SecondOrderIntegrator, check_velocity};
use crate::integrator::check_step;
use crate::workspace::Workspace;
use crate::{SecondOrder, State, StepError};

/// What a rule computes: x' = drift(x, h, `drift`) and v' = `new`.
#[derive(Clone, Copy, Debug)]
pub struct Velocities<'d, 'w, V> {
    /// Velocity along which positions move for the whole step.
    pub drift: &'d V,
    /// Velocity at the end of the step.
    pub new: &'w V,
}

/// A rule for [`OneStep`] that needs N intermediate velocities.
pub trait OneStepRule<const N: usize> {
    /// Name of the method, as in scene files.
    const NAME: &'static str;
    /// Order of the global error.
    const ORDER: u32;

    /// (system, [t, h], x, v, workspace) → velocity of the drift and velocity at the end of the step.
    ///
    /// # Errors
    /// If an acceleration is not finite.
    fn velocities<'d, 'v: 'd, 'w: 'd, Q, V: State>(
        system: &mut dyn SecondOrder<Q, V>,
        time: [f64; 2],
        x: &Q,
        v: &'v V,
        work: &'w mut [V; N],
    ) -> Result<Velocities<'d, 'w, V>, StepError>;
}

/// The method of a rule R, with its workspace.
#[derive(Clone, Debug)]
pub struct OneStep<R, V, const N: usize> {
    work: Workspace<V, N>,
    rule: PhantomData<R>,
}

impl<R, V, const N: usize> OneStep<R, V, N> {
    /// The method with an empty workspace.
    pub fn new() -> Self {
        Self { work: Workspace::default(), rule: PhantomData }
    }
}

impl<R, V, const N: usize> Default for OneStep<R, V, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: OneStepRule<N> + Send, Q: Clone, V: State, const N: usize> SecondOrderIntegrator<Q, V>
    for OneStep<R, V, N>
{
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn order(&self) -> u32 {
        R::ORDER
    }

    fn step(
        &mut self,
        system: &mut dyn SecondOrder<Q, V>,
        t: f64,
        h: f64,
        x: &mut Q,
        v: &mut V,
    ) -> Result<(), StepError> {
        check_step(h)?;
        let Velocities { drift, new } = R::velocities(system, [t, h], x, v, self.work.shaped_like(v))?;
        check_velocity(t + h, new)?;
        system.drift(x, h, drift);
        v.copy_from(new);
        Ok(())
    }
}
