//! Error control by an embedded pair: the error of a step is y₅ − y₄, y₅ is kept.
//!
//! The difference is the local error of the lower order 4, O(h⁵), so p is the order of the method, 5.

use super::{Counted, Report, StepControl};
use crate::integrator::EmbeddedPair;
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// Error control by the embedded pair M for states Y.
#[derive(Clone, Debug)]
pub struct Embedded<M, Y> {
    /// Tolerance and limits.
    pub control: StepControl,
    method: M,
    ends: Workspace<Y, 2>,
    work: Workspace<Y, 1>,
}

impl<M, Y> Embedded<M, Y> {
    /// Error control with the given pair.
    pub fn new(method: M, control: StepControl) -> Self {
        Self { control, method, ends: Workspace::default(), work: Workspace::default() }
    }
}

impl<Y: State, M: EmbeddedPair<Y>> Embedded<M, Y> {
    /// y(t0) → y(t1). On an error y is restored to t0.
    ///
    /// # Errors
    /// If the settings are out of range, the step size underflows or the attempts are used up.
    pub fn integrate(
        &mut self,
        system: &mut dyn System<Y>,
        t0: f64,
        t1: f64,
        y: &mut Y,
    ) -> Result<Report, StepError> {
        let mut counted = Counted { system, evaluations: 0 };
        let [low] = self.work.shaped_like(y);
        let ends = self.ends.shaped_like(y);
        let (control, method) = (&self.control, &mut self.method);
        let p = method.order();
        let mut attempt = |t: f64, h: f64, y: &Y, high: &mut Y| {
            method.pair(&mut counted, t, h, y, high, low)?;
            low.add_scaled(-1.0, high);
            let error = low.scaled_error(high, control.tolerance);
            counted.project(high);
            Ok(error)
        };
        let report = control.drive(p, (t0, t1), y, ends, &mut attempt)?;
        Ok(Report { evaluations: counted.evaluations, ..report })
    }
}
