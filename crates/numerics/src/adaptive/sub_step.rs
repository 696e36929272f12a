//! The sub-step controller: an interval is cut into N equal sub-steps, N follows the error.
//!
//! Every sub-step within tolerance: the interval is accepted; after `accept_limit` accepted ones N is halved.
//! A sub-step beyond it: the whole interval starts again with 2N (`Rejection::Whole`), or only that sub-step
//! is repeated with half its size (`Rejection::SubStep`), in which case the sub-steps themselves are counted
//! towards growing again and the last one is cut to end on the interval's end.
//!
//! N is at least 1, so that an object never advances beyond its interval.

use crate::StepError;
use crate::integrator::check_step;

/// What is repeated when the error of a sub-step is too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rejection {
    /// The whole interval, from its start.
    #[default]
    Whole,
    /// The sub-step that failed, at half its size.
    SubStep,
}

/// Chooses the number of sub-steps of an interval. One per simulated object; its fields are its whole state.
///
/// ```
/// use rattleback_numerics::adaptive::SubStepController;
/// let mut controller = SubStepController { tolerance: 0.13, ..SubStepController::default() };
/// let (mut time, mut scratch) = (0.0, [0.0; 2]);
/// // A method whose error is the size of its sub-step relative to the interval.
/// let report = controller.advance(0.0, 2.0, &mut time, &mut scratch, |_t, h, time| {
///     *time += h;
///     Ok(h / 2.0)
/// })?;
/// assert_eq!((report.substeps, report.rejected, controller.substeps, time), (8, 3, 8, 2.0));
/// # Ok::<(), rattleback_numerics::StepError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubStepController {
    /// Sub-steps N the next interval starts with.
    pub substeps: u32,
    /// Intervals (or sub-steps, for `Rejection::SubStep`) accepted since N last changed.
    pub accepted: u32,
    /// Acceptances after which N is halved; 4 by default.
    pub accept_limit: u32,
    /// Largest N; 2²⁰ by default.
    pub max_substeps: u32,
    /// Largest error of a sub-step, in the measure of the caller; 1 by default.
    pub tolerance: f64,
    /// What is repeated after a rejection.
    pub rejection: Rejection,
}

impl Default for SubStepController {
    fn default() -> Self {
        Self {
            substeps: 1,
            accepted: 0,
            accept_limit: 4,
            max_substeps: 1 << 20,
            tolerance: 1.0,
            rejection: Rejection::Whole,
        }
    }
}

/// Statistics of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubStepReport {
    /// Sub-steps the result consists of.
    pub substeps: u32,
    /// Sub-steps whose error was too large.
    pub rejected: u32,
}

impl SubStepController {
    /// state(t0) → state(t0 + dt) by sub-steps (t, h, state) ↦ error; `scratch` may hold anything.
    ///
    /// A sub-step that returns `NonFinite` or `NotConverged` counts as one with too large an error. On an
    /// error state and controller are restored.
    ///
    /// # Errors
    /// If a sub-step fails for another reason, or the error stays too large at the largest N.
    pub fn advance<Y: Clone>(
        &mut self,
        t0: f64,
        dt: f64,
        state: &mut Y,
        scratch: &mut [Y; 2],
        mut sub_step: impl FnMut(f64, f64, &mut Y) -> Result<f64, StepError>,
    ) -> Result<SubStepReport, StepError> {
        check_step(dt)?;
        let before = *self;
        self.substeps = self.substeps.clamp(1, self.max_substeps.max(1));
        let result = match self.rejection {
            Rejection::Whole => self.advance_whole(t0, dt, state, &mut scratch[0], &mut sub_step),
            Rejection::SubStep => self.advance_sub_steps(t0, dt, state, scratch, &mut sub_step),
        };
        if result.is_err() {
            *self = before;
        }
        result
    }

    fn advance_whole<Y: Clone>(
        &mut self,
        t0: f64,
        dt: f64,
        state: &mut Y,
        saved: &mut Y,
        sub_step: &mut dyn FnMut(f64, f64, &mut Y) -> Result<f64, StepError>,
    ) -> Result<SubStepReport, StepError> {
        saved.clone_from(state);
        let mut report = SubStepReport::default();
        'interval: loop {
            let h = dt / f64::from(self.substeps);
            for k in 0..self.substeps {
                let t = t0 + f64::from(k) * h;
                let outcome = sub_step(t, h, state);
                if !self.within_tolerance(&outcome) {
                    state.clone_from(saved);
                    report.rejected += 1;
                    self.refine(t, outcome)?;
                    continue 'interval;
                }
            }
            report.substeps = self.substeps;
            self.count_acceptance();
            return Ok(report);
        }
    }

    fn advance_sub_steps<Y: Clone>(
        &mut self,
        t0: f64,
        dt: f64,
        state: &mut Y,
        [at_start, saved]: &mut [Y; 2],
        sub_step: &mut dyn FnMut(f64, f64, &mut Y) -> Result<f64, StepError>,
    ) -> Result<SubStepReport, StepError> {
        at_start.clone_from(state);
        let mut report = SubStepReport::default();
        // Measured from t0, so that sub-steps add up even where t0 + h rounds to t0.
        let mut elapsed = 0.0;
        loop {
            let t = t0 + elapsed;
            let remaining = dt - elapsed;
            let size = dt / f64::from(self.substeps);
            let last = size >= remaining * (1.0 - 1e-9);
            let h = if last { remaining } else { size };
            saved.clone_from(state);
            let outcome = sub_step(t, h, state);
            if self.within_tolerance(&outcome) {
                report.substeps += 1;
                self.count_acceptance();
                if last {
                    return Ok(report);
                }
                elapsed += h;
                continue;
            }
            state.clone_from(saved);
            report.rejected += 1;
            // A sub-step cut short at the end may fail at less than half of dt/N: N must follow it down.
            let refined = self.refine(t, outcome).and_then(|()| {
                while dt / f64::from(self.substeps) >= h {
                    self.refine(t, Ok(f64::INFINITY))?;
                }
                Ok(())
            });
            if refined.is_err() {
                state.clone_from(at_start);
                refined?;
            }
        }
    }

    fn within_tolerance(&self, outcome: &Result<f64, StepError>) -> bool {
        outcome.as_ref().is_ok_and(|error| *error <= self.tolerance)
    }

    fn count_acceptance(&mut self) {
        self.accepted = self.accepted.saturating_add(1);
        if self.accepted >= self.accept_limit {
            self.substeps = (self.substeps / 2).max(1);
            self.accepted = 0;
        }
    }

    /// Doubles N. At its limit the error is that of the sub-step, or that N is at its limit.
    fn refine(&mut self, time: f64, outcome: Result<f64, StepError>) -> Result<(), StepError> {
        if let Err(error) = outcome
            && !matches!(error, StepError::NonFinite { .. } | StepError::NotConverged { .. })
        {
            return Err(error);
        }
        if self.substeps > self.max_substeps / 2 {
            outcome?;
            return Err(StepError::SubStepOverflow { time, maximum: self.max_substeps });
        }
        self.substeps *= 2;
        self.accepted = 0;
        Ok(())
    }
}
