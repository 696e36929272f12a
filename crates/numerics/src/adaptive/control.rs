//! The rule that chooses the next step from the error of the last one.
//!
//! The error of one step grows as hᵖ (p = order + 1), so the step that would just have met the tolerance is
//! h_d = h (tolerance/error)^(1/p). A step that missed it is repeated with h_d; one that met it is kept and
//! the next may be 0.8 h_d. Both changes are held within a factor of [0.1, 5].

use crate::{State, StepError, Tolerance};

/// Largest part of a rejected step the next attempt may have: the error law is only asymptotic, and attempts
/// that shrink by very little might never end.
const LARGEST_RETRY: f64 = 0.95;

/// (error, tolerance, p) → factor (tolerance/error)^(1/p) on the step size, unclamped; +∞ if there is no
/// error, 0 if it is not a number.
pub fn step_factor(error: f64, tolerance: f64, p: u32) -> f64 {
    if error == 0.0 {
        return f64::INFINITY;
    }
    let factor = (tolerance / error.abs()).powf(1.0 / f64::from(p.max(1)));
    if factor.is_nan() { 0.0 } else { factor }
}

/// (t, h, y) → proposal for y(t + h), and its error in units of the tolerance.
type Attempt<'a, Y> = dyn FnMut(f64, f64, &Y, &mut Y) -> Result<f64, StepError> + 'a;

/// Tolerance and limits of an adaptive integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepControl {
    /// Largest error of a step.
    pub tolerance: Tolerance,
    /// Part of the ideal step that is taken after an accepted one; 0.8 by default.
    pub safety: f64,
    /// Smallest factor between two steps; 0.1 by default.
    pub factor_min: f64,
    /// Largest factor between two steps; 5 by default.
    pub factor_max: f64,
    /// Smallest step in seconds; by default 1e-9 of the interval.
    pub minimum_step: Option<f64>,
    /// First step in seconds; by default the whole interval.
    pub initial_step: Option<f64>,
    /// Attempts after which an interval is given up; ten million by default.
    pub max_attempts: u64,
}

impl StepControl {
    /// The usual factors with the given tolerance.
    pub const fn new(tolerance: Tolerance) -> Self {
        Self {
            tolerance,
            safety: 0.8,
            factor_min: 0.1,
            factor_max: 5.0,
            minimum_step: None,
            initial_step: None,
            max_attempts: 10_000_000,
        }
    }

    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// Names the first setting out of range.
    pub fn check(&self) -> Result<(), StepError> {
        self.tolerance.check()?;
        let range = |name, value: f64, ok: bool, allowed| {
            if ok { Ok(()) } else { Err(StepError::InvalidParameter { name, value, allowed }) }
        };
        range("safety", self.safety, self.safety > 0.0 && self.safety <= 1.0, "0 < safety ≤ 1")?;
        let shrinks = self.factor_min > 0.0 && self.factor_min < 1.0;
        range("factor_min", self.factor_min, shrinks, "0 < factor < 1")?;
        let grows = self.factor_max >= 1.0 && self.factor_max.is_finite();
        range("factor_max", self.factor_max, grows, "1 ≤ factor < ∞")?;
        for step in [self.minimum_step, self.initial_step].into_iter().flatten() {
            crate::integrator::check_step(step)?;
        }
        Ok(())
    }

    /// Advances y from t0 to t1 by attempts. On an error y is restored to t0.
    pub(super) fn drive<Y: State>(
        &self,
        p: u32,
        (t0, t1): (f64, f64),
        y: &mut Y,
        [start, proposal]: &mut [Y; 2],
        attempt: &mut Attempt<'_, Y>,
    ) -> Result<Report, StepError> {
        self.check()?;
        if !(t0.is_finite() && t1.is_finite() && (t1 - t0).is_finite() && t1 > t0) {
            return Err(StepError::InvalidInterval { from: t0, to: t1 });
        }
        start.copy_from(y);
        let result = self.steps(p, (t0, t1), y, proposal, attempt);
        if result.is_err() {
            y.copy_from(start);
        }
        result
    }

    fn steps<Y: State>(
        &self,
        p: u32,
        (t0, t1): (f64, f64),
        y: &mut Y,
        proposal: &mut Y,
        attempt: &mut Attempt<'_, Y>,
    ) -> Result<Report, StepError> {
        let minimum = self.minimum_step.unwrap_or(1e-9 * (t1 - t0));
        let mut t = t0;
        let mut wanted = self.initial_step.unwrap_or(t1 - t0);
        let mut report = Report::default();
        while t < t1 {
            if report.accepted + report.rejected >= self.max_attempts {
                return Err(StepError::TooManySteps { time: t, maximum: self.max_attempts });
            }
            // The last step ends on t1 exactly; no remainder below rounding is left over.
            let remaining = t1 - t;
            let last = wanted >= remaining * (1.0 - 1e-12);
            let h = if last { remaining } else { wanted };
            let outcome = attempt(t, h, y, proposal);
            let error = match outcome {
                Ok(error) => error,
                // A trial step that left the domain of f may succeed with a smaller size.
                Err(StepError::NonFinite { .. } | StepError::NotConverged { .. }) => f64::INFINITY,
                Err(error) => return Err(error),
            };
            let factor = step_factor(error, 1.0, p);
            if error <= 1.0 {
                y.copy_from(proposal);
                t = if last { t1 } else { t + h };
                report.accepted += 1;
                let next = h * (self.safety * factor).clamp(self.factor_min, self.factor_max);
                wanted = if last { next.max(wanted) } else { next };
            } else {
                report.rejected += 1;
                wanted = h * factor.max(self.factor_min).min(LARGEST_RETRY);
                if wanted < minimum || t + wanted <= t {
                    outcome?;
                    return Err(StepError::Underflow { time: t, step: wanted, minimum });
                }
            }
            if t < t1 && t + wanted <= t {
                return Err(StepError::Underflow { time: t, step: wanted, minimum });
            }
        }
        report.next_step = wanted;
        Ok(report)
    }
}

impl Default for StepControl {
    fn default() -> Self {
        Self::new(Tolerance::default())
    }
}

/// Statistics of an adaptive integration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Steps that were kept.
    pub accepted: u64,
    /// Steps that were thrown away.
    pub rejected: u64,
    /// Evaluations of the system, those of rejected steps included.
    pub evaluations: u64,
    /// Step size in seconds to start the next interval with.
    pub next_step: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-INT-06 (step factors of the slides): 1e-8 → 100 h, 1e-3 → 0.31623 h at tolerance 1e-4, p = 2.
    #[test]
    fn step_factor_matches_the_published_numbers() {
        assert!((step_factor(1e-8, 1e-4, 2) - 100.0).abs() < 1e-9);
        assert!((step_factor(1e-3, 1e-4, 2) - 0.31623).abs() < 1e-5);
        assert_eq!(step_factor(0.0, 1e-4, 2), f64::INFINITY);
        assert_eq!(step_factor(f64::NAN, 1e-4, 2), 0.0);
        assert_eq!(step_factor(f64::INFINITY, 1e-4, 2), 0.0);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let good = StepControl::default();
        let bad = [
            StepControl { safety: 0.0, ..good },
            StepControl { factor_min: 1.0, ..good },
            StepControl { factor_max: f64::NAN, ..good },
            StepControl { minimum_step: Some(-1.0), ..good },
            StepControl { initial_step: Some(f64::NAN), ..good },
            StepControl { tolerance: Tolerance::absolute(0.0), ..good },
        ];
        assert!(good.check().is_ok());
        assert!(bad.iter().all(|control| control.check().is_err()));
    }
}
