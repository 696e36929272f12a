//! Step doubling: the same interval once with h (y_a) and once with two steps h/2 (y_b).
//!
//! The difference y_b − y_a measures the local error, which is O(hᵖ) with p = order + 1; y_b is kept. Works
//! around any method, at three times its cost.

use super::{Counted, Report, StepControl};
use crate::workspace::Workspace;
use crate::{Integrator, SecondOrder, SecondOrderIntegrator, State, StepError, System};

/// Error control by step doubling around a method M for states Y.
///
/// ```
/// use rattleback_numerics::{System, Tolerance, adaptive::{StepControl, StepDoubling}, integrator::RungeKutta4};
/// struct Decay;
/// impl System<f64> for Decay {
///     fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) { *rate = -y; }
/// }
/// let mut solver = StepDoubling::new(RungeKutta4::new(), StepControl::new(Tolerance::absolute(1e-9)));
/// let mut y = 1.0;
/// let report = solver.integrate(&mut Decay, 0.0, 3.0, &mut y)?;
/// assert!((y - (-3.0_f64).exp()).abs() < 1e-8);
/// assert_eq!(report.evaluations, 12 * (report.accepted + report.rejected));
/// # Ok::<(), rattleback_numerics::StepError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StepDoubling<M, Y> {
    /// Tolerance and limits.
    pub control: StepControl,
    method: M,
    ends: Workspace<Y, 2>,
    work: Workspace<Y, 1>,
}

/// One attempt: y by two half steps into `proposal`, by a whole one into `whole`; returns their distance.
fn double<Y: State>(
    control: &StepControl,
    (t, h): (f64, f64),
    y: &Y,
    proposal: &mut Y,
    whole: &mut Y,
    step: &mut dyn FnMut(f64, f64, &mut Y) -> Result<(), StepError>,
) -> Result<f64, StepError> {
    whole.copy_from(y);
    step(t, h, whole)?;
    proposal.copy_from(y);
    step(t, 0.5 * h, proposal)?;
    step(t + 0.5 * h, 0.5 * h, proposal)?;
    whole.add_scaled(-1.0, proposal);
    Ok(whole.scaled_error(proposal, control.tolerance))
}

impl<M, Y: State> StepDoubling<M, Y> {
    /// Error control around the given method.
    pub fn new(method: M, control: StepControl) -> Self {
        Self { control, method, ends: Workspace::default(), work: Workspace::default() }
    }

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
    ) -> Result<Report, StepError>
    where
        M: Integrator<Y>,
    {
        let mut counted = Counted { system, evaluations: 0 };
        let [whole] = self.work.shaped_like(y);
        let ends = self.ends.shaped_like(y);
        let (control, method) = (&self.control, &mut self.method);
        let p = method.order() + 1;
        let mut attempt = |t: f64, h: f64, y: &Y, proposal: &mut Y| {
            double(control, (t, h), y, proposal, whole, &mut |t, h, y| {
                method.reset();
                method.step(&mut counted, t, h, y)
            })
        };
        let report = control.drive(p, (t0, t1), y, ends, &mut attempt)?;
        Ok(Report { evaluations: counted.evaluations, ..report })
    }
}

impl<M, Q: State, V: State> StepDoubling<M, (Q, V)> {
    /// (x, v)(t0) → (x, v)(t1) by a second-order method. On an error both are restored to t0.
    ///
    /// Trial steps overlap, so the history of a method is reset before each.
    ///
    /// # Errors
    /// As for `integrate`.
    pub fn integrate_second_order(
        &mut self,
        system: &mut dyn SecondOrder<Q, V>,
        t0: f64,
        t1: f64,
        state: &mut (Q, V),
    ) -> Result<Report, StepError>
    where
        M: SecondOrderIntegrator<Q, V>,
    {
        let mut counted = Counted { system, evaluations: 0 };
        let [whole] = self.work.shaped_like(state);
        let ends = self.ends.shaped_like(state);
        let (control, method) = (&self.control, &mut self.method);
        let p = method.order() + 1;
        let mut attempt = |t: f64, h: f64, state: &(Q, V), proposal: &mut (Q, V)| {
            double(control, (t, h), state, proposal, whole, &mut |t, h, (x, v)| {
                method.reset();
                method.step(&mut counted, t, h, x, v)
            })
        };
        let report = control.drive(p, (t0, t1), state, ends, &mut attempt)?;
        Ok(Report { evaluations: counted.evaluations, ..report })
    }
}
