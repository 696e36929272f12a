//! Basic Verlet (Störmer), for steps of any size h' after a step h:
//! x(t+h') = x + (x − x_prev) h'/h + ½a (h + h') h'.
//!
//! The history is not x_prev but the mean velocity u = (x − x_prev)/h of the last step, which also exists on
//! a manifold. The rule becomes
//!
//!   u' = u + ½(h + h') a,  x' = drift(x, h', u'),
//!
//! and a start from (x₀, v₀) is the same rule with u = v₀, h = 0: x' = x₀ + h'v₀ + ½h'²a₀.
//!
//! Central differences give the velocity at the *start* of the step, one step late:
//! v(t) = (h'u + h u')/(h + h') = u + ½h a, for equal steps (x(t+h) − x(t−h))/2h. At the *end* of the step a'
//! is not known yet, so v(t+h') is returned as u' + ½h'a; it is wrong by ½h'²ȧ, which does not accumulate
//! because positions never use it.
//!
//! If the caller changes v between two steps (an impulse, damping), the same change is made to u.

use super::{SecondOrderIntegrator, Step};
use crate::workspace::Workspace;
use crate::{State, StepError};

/// History of basic Verlet: the last step; part of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct VerletHistory<V> {
    /// Mean velocity u = (x − x_prev)/h of the last step.
    pub mean_velocity: V,
    /// Velocity that was returned at the end of the last step.
    pub velocity: V,
    /// Size h of the last step.
    pub step: f64,
}

/// Basic Verlet, order 2, one evaluation a step, no energy drift; has a history of one step.
#[derive(Clone, Debug)]
pub struct BasicVerlet<V> {
    work: Workspace<V, 3>,
    history: Option<VerletHistory<V>>,
    centred: Option<V>,
}

impl<V> BasicVerlet<V> {
    /// The method with no history: its first step starts from position and velocity.
    pub fn new() -> Self {
        Self { work: Workspace::default(), history: None, centred: None }
    }

    /// Velocity at the start of the last step by central differences; none before the first step.
    pub fn centred_velocity(&self) -> Option<&V> {
        self.centred.as_ref()
    }
}

impl<V> Default for BasicVerlet<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone, V: State> SecondOrderIntegrator<Q, V> for BasicVerlet<V> {
    fn name(&self) -> &'static str {
        "basic-verlet"
    }

    fn order(&self) -> u32 {
        2
    }

    fn advance(&mut self, mut step: Step<'_, Q, V>) -> Result<(), StepError> {
        let h = step.h;
        let [a, u, v_new] = self.work.shaped_like(step.v);
        step.acceleration(a)?;

        u.copy_from(step.v);
        let mut h_last = 0.0;
        if let Some(history) = self.history.as_ref().filter(|history| history.velocity.same_shape(step.v)) {
            h_last = history.step;
            // u = mean + (v − returned), in the order that yields `mean` exactly if v is unchanged.
            u.add_scaled(-1.0, &history.velocity);
            u.add_scaled(1.0, &history.mean_velocity);
        }
        u.add_scaled(0.5 * (h_last + h), a);
        v_new.copy_from(u);
        v_new.add_scaled(0.5 * h, a);
        step.finish(u, v_new)?;

        // v(t) = u + ½h a, now that u' = u + ½(h + h') a is formed: v(t) = u' − ½h' a.
        let centred = self.centred.get_or_insert_with(|| u.clone());
        centred.copy_from(u);
        centred.add_scaled(-0.5 * h, a);

        if let Some(history) = &mut self.history {
            history.mean_velocity.copy_from(u);
            history.velocity.copy_from(v_new);
            history.step = h;
        } else {
            let (mean_velocity, velocity) = (u.clone(), v_new.clone());
            self.history = Some(VerletHistory { mean_velocity, velocity, step: h });
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.history = None;
        self.centred = None;
    }

    fn history(&self) -> Option<&VerletHistory<V>> {
        self.history.as_ref()
    }

    fn restore(&mut self, history: Option<VerletHistory<V>>) {
        self.history = history;
        self.centred = None;
    }
}
