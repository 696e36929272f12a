//! Motion of a tree through time: methods, and steps that stop at events.
//!
//! A step is taken with the modes of limits and friction as they are at its beginning. If its end lies beyond an event (a limit reached, a
//! slipping joint that came to rest, a held joint that gives way), the time of the first is found by bisection of the step, the state put on the event, the
//! modes decided anew, and the rest of the step taken.

use super::DynamicsError;
use super::collocation::Collocation;
use super::constrained::Dynamics;
use super::kinematics::Workspace;
use super::mechanism::{Mechanism, StepReport};
use super::spatial::SpatialForce;
use super::tree::LinkTree;
use rattleback_numerics::adaptive::{StepControl, StepDoubling};
use rattleback_numerics::integrator::RungeKutta4;
use rattleback_numerics::{Integrator, StepError, System, Tolerance};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Events that one step may have.
const MOST_EVENTS: u32 = 1000;

/// How a mechanism is moved through time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Method {
    /// Gauss–Legendre collocation of order 6: keeps the energy of a passive linkage. The default.
    #[default]
    Gauss,
    /// The classical Runge–Kutta method with the step given.
    RungeKutta4,
    /// The classical Runge–Kutta method with steps found by doubling.
    AdaptiveRungeKutta4 {
        /// Largest error of a step in any position or velocity, rad, m and their rates.
        tolerance: f64,
    },
    /// An integrator of the library by its name, with the step given.
    Library {
        /// As `rattleback_numerics::integrator::by_name` has it.
        name: String,
    },
}

/// (time, places and velocities of the links) ⇒ force on each link, along the axes of the world and about the origin of the link. They are
/// evaluated wherever a method evaluates accelerations.
pub type LinkForces<'f> = dyn FnMut(f64, &Workspace<f64>, &mut [SpatialForce<f64>]) + 'f;

/// (q, v, t) ⇒ accelerations, written to the last argument.
type AccelerationFn<'f> = dyn FnMut(&[f64], &[f64], f64, &mut [f64]) -> Result<(), DynamicsError> + 'f;

/// A method with its memory.
#[allow(clippy::large_enum_variant)] // one per multibody
pub(super) enum Stepper {
    Gauss(Collocation),
    Library(Box<dyn Integrator<Vec<f64>>>, Vec<f64>),
    Adaptive(Box<StepDoubling<RungeKutta4<Vec<f64>>, Vec<f64>>>, Vec<f64>, Option<f64>),
}

impl std::fmt::Debug for Stepper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gauss(_) => "Gauss",
            Self::Library(method, _) => method.name(),
            Self::Adaptive(..) => "adaptive",
        })
    }
}

impl Stepper {
    /// A method for a tree; none for a name that the library does not have.
    pub fn new(method: &Method, tree: &LinkTree) -> Option<Self> {
        let state = || vec![0.0; tree.position_count() + tree.velocity_count()];
        Some(match method {
            Method::Gauss => Self::Gauss(Collocation::new(tree)),
            Method::RungeKutta4 => Self::Library(Box::new(RungeKutta4::new()), state()),
            Method::AdaptiveRungeKutta4 { tolerance } => {
                let control = StepControl::new(Tolerance::absolute(*tolerance));
                Self::Adaptive(Box::new(StepDoubling::new(RungeKutta4::new(), control)), state(), None)
            }
            Method::Library { name } => {
                Self::Library(rattleback_numerics::integrator::by_name(name)?, state())
            }
        })
    }

    /// Discards the history from which the next step is extrapolated.
    pub fn interrupt(&mut self) {
        match self {
            Self::Gauss(method) => method.restart(),
            Self::Library(method, _) => method.reset(),
            Self::Adaptive(_, _, next) => *next = None,
        }
    }

    /// Moves (q, v) for a time with the accelerations given.
    fn advance(
        &mut self,
        tree: &LinkTree,
        (q, v): (&mut [f64], &mut [f64]),
        (t, h): (f64, f64),
        acceleration: &mut AccelerationFn<'_>,
    ) -> Result<(), DynamicsError> {
        let y = match self {
            Self::Gauss(method) => return method.step(tree, (q, v), (t, h), acceleration),
            Self::Library(_, y) | Self::Adaptive(_, y, _) => y,
        };
        let count = q.len();
        y[..count].copy_from_slice(q);
        y[count..].copy_from_slice(v);
        let mut system = TreeSystem::new(tree, acceleration);
        let done = match self {
            Self::Gauss(_) => Ok(()),
            Self::Library(method, y) => method.step(&mut system, t, h, y),
            Self::Adaptive(method, y, next) => {
                method.control.initial_step = next.map(|next| next.min(h));
                method.integrate(&mut system, t, t + h, y).map(|report| *next = Some(report.next_step))
            }
        };
        // The error of the acceleration is more specific than that of the integrator, a number that is not finite.
        let failed = system.failure.take();
        if let Err(error) = done {
            return Err(failed.unwrap_or(error.into()));
        }
        if let Self::Library(_, y) | Self::Adaptive(_, y, _) = self {
            q.copy_from_slice(&y[..count]);
            v.copy_from_slice(&y[count..]);
        }
        Ok(())
    }
}

/// A tree's equations of motion for the library's integrators: y = (q, v), quaternions as plain numbers that are put back to unit length after each step.
pub struct TreeSystem<'a> {
    tree: &'a LinkTree,
    acceleration: &'a mut AccelerationFn<'a>,
    /// Why an acceleration could not be computed; the rate was not finite then.
    pub failure: Option<DynamicsError>,
}

impl std::fmt::Debug for TreeSystem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSystem").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl<'a> TreeSystem<'a> {
    /// `acceleration` is (q, v, t) ⇒ joint accelerations.
    pub fn new(tree: &'a LinkTree, acceleration: &'a mut AccelerationFn<'a>) -> Self {
        Self { tree, acceleration, failure: None }
    }
}

impl System<Vec<f64>> for TreeSystem<'_> {
    fn rate(&mut self, t: f64, y: &Vec<f64>, rate: &mut Vec<f64>) {
        let (q, v) = y.split_at(self.tree.position_count());
        let (q_rate, v_rate) = rate.split_at_mut(q.len());
        // Quaternions of unit length for the accelerations, on the place of their rates; these follow.
        q_rate.copy_from_slice(q);
        self.tree.normalize(q_rate);
        if let Err(error) = (self.acceleration)(q_rate, v, t, v_rate) {
            self.failure = Some(error);
            v_rate.fill(f64::NAN);
        }
        self.tree.position_rates(q, v, q_rate);
    }

    fn project(&mut self, y: &mut Vec<f64>) {
        self.tree.normalize(&mut y[..self.tree.position_count()]);
    }
}

impl Mechanism {
    /// Moves the mechanism by a time h, s.
    ///
    /// # Errors
    /// What the accelerations or the method refuse; the state is then as it was.
    pub fn step(&mut self, h: f64) -> Result<StepReport, DynamicsError> {
        self.dynamics.external.clear();
        self.step_loaded(h, None)
    }

    /// The same under forces on the links.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_under(&mut self, h: f64, forces: &mut LinkForces<'_>) -> Result<StepReport, DynamicsError> {
        self.step_loaded(h, Some(forces))
    }

    fn step_loaded(
        &mut self,
        h: f64,
        forces: Option<&mut LinkForces<'_>>,
    ) -> Result<StepReport, DynamicsError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(StepError::InvalidStep { step: h }.into());
        }
        let tree = Arc::clone(&self.tree);
        let Self { dynamics, stepper, q, v, a, start_q, start_v, first_q, first_v, time, .. } = self;
        first_q.copy_from_slice(q);
        first_v.copy_from_slice(v);
        let evaluations = dynamics.evaluations;
        dynamics.hits.clear();
        let done = step(&tree, (dynamics, forces), stepper, [q, v, a, start_q, start_v], (*time, h));
        match done {
            Ok((events, closure_error)) => {
                *time += h;
                let evaluations = dynamics.evaluations - evaluations;
                Ok(StepReport { events, evaluations, closure_error })
            }
            Err(error) => {
                q.copy_from_slice(first_q);
                v.copy_from_slice(first_v);
                stepper.interrupt();
                Err(error)
            }
        }
    }
}

/// ⇒ (events, largest error of an equation).
fn step(
    tree: &LinkTree,
    (dynamics, mut forces): (&mut Dynamics, Option<&mut LinkForces<'_>>),
    stepper: &mut Stepper,
    [q, v, a, start_q, start_v]: [&mut Vec<f64>; 5],
    (time, h): (f64, f64),
) -> Result<(u32, f64), DynamicsError> {
    let (mut left, mut events) = (h, 0);
    let mut load = |dynamics: &mut Dynamics, q: &[f64], v: &[f64], t: f64| {
        if let Some(forces) = &mut forces {
            dynamics.load_links((q, v), t, forces);
        }
    };
    load(dynamics, q, v, time);
    dynamics.decide_modes(q, v, a)?;
    loop {
        let t = time + (h - left);
        start_q.copy_from_slice(q);
        start_v.copy_from_slice(v);
        let mut attempt =
            |span: f64, dynamics: &mut Dynamics, stepper: &mut Stepper, q: &mut [f64], v: &mut [f64]| {
                q.copy_from_slice(start_q);
                v.copy_from_slice(start_v);
                stepper.advance(tree, (q, v), (t, span), &mut |q, v, t, a| {
                    load(dynamics, q, v, t);
                    dynamics.accelerate(q, v, a)
                })?;
                load(dynamics, q, v, t + span);
                Ok::<(), DynamicsError>(())
            };
        attempt(left, dynamics, stepper, q, v)?;
        if !dynamics.has_events() || !dynamics.is_beyond_event(q, v, a)? {
            break;
        }
        // The first event lies between `before` and `after`.
        let (mut before, mut after) = (0.0, left);
        while after - before > 1e-14 * h.max(t.abs() * 1e-2) {
            let middle = 0.5 * (before + after);
            if middle <= before || middle >= after {
                break;
            }
            stepper.interrupt();
            attempt(middle, dynamics, stepper, q, v)?;
            if dynamics.is_beyond_event(q, v, a)? { after = middle } else { before = middle }
        }
        stepper.interrupt();
        attempt(after, dynamics, stepper, q, v)?;
        stepper.interrupt();
        dynamics.meet_event((q, v), a, t + after)?;
        dynamics.decide_modes(q, v, a)?;
        events += 1;
        left -= after;
        if left <= 1e-14 * h {
            break;
        }
        if events > MOST_EVENTS {
            return Err(DynamicsError::TooManyEvents { count: MOST_EVENTS, time: t });
        }
    }
    let closure_error = dynamics.project(q, v, a, 4)?;
    Ok((events, closure_error))
}

/// Moves many independent mechanisms by a time h on so many threads. Each has the bits that it has alone; what its step answered is
/// [`Mechanism::outcome`].
pub fn step_all(threads: usize, mechanisms: &mut [Mechanism], h: f64) {
    rattleback_numerics::team::each(threads, mechanisms, |_, mechanism| {
        mechanism.outcome = mechanism.step(h);
    });
}
