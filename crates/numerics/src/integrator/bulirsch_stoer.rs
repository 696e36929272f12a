//! Bulirsch–Stoer: extrapolation of the modified midpoint rule to step size zero.
//!
//! With s = h/n the modified midpoint rule is z₁ = y + s f(t, y), z_{m+1} = z_{m−1} + 2s f(t + ms, z_m),
//! S(n) = ½(z_n + z_{n−1} + s f(t + h, z_n)). Its error is a series in s² (Gragg), so that Neville's scheme
//!
//!   T(k, j) = T(k, j−1) + (T(k, j−1) − T(k−1, j−1)) / ((n_k/n_{k−j})² − 1),  n = 2, 4, 6, …, 16
//!
//! gains two orders a column. Only worth while for smooth f.

use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System, Tolerance};

/// Largest number of rows of the extrapolation table: n = 2, 4, …, 16.
const MAX_ROWS: usize = 8;

/// Extrapolated modified midpoint rule: as many rows as the tolerance requires, or a fixed number of them.
#[derive(Clone, Debug)]
pub struct BulirschStoer<Y> {
    rows: usize,
    tolerance: Option<Tolerance>,
    table: Workspace<Y, MAX_ROWS>,
    work: Workspace<Y, 6>,
}

impl<Y> BulirschStoer<Y> {
    /// Adds rows until two successive diagonal entries agree within the tolerance; if the last row does not
    /// bring that, the step fails with `NotConverged`.
    pub fn new(tolerance: Tolerance) -> Result<Self, StepError> {
        tolerance.check()?;
        Ok(Self::with(MAX_ROWS, Some(tolerance)))
    }

    /// Always uses `rows` ∈ 1..=8 rows, which makes a method of order 2·rows.
    pub fn with_rows(rows: u32) -> Result<Self, StepError> {
        if (1..=MAX_ROWS as u32).contains(&rows) {
            return Ok(Self::with(rows as usize, None));
        }
        let value = f64::from(rows);
        Err(StepError::InvalidParameter { name: "rows of the extrapolation table", value, allowed: "1 to 8" })
    }

    fn with(rows: usize, tolerance: Option<Tolerance>) -> Self {
        Self { rows, tolerance, table: Workspace::default(), work: Workspace::default() }
    }
}

/// Sub-steps n of table row k.
fn substeps(row: usize) -> f64 {
    (2 * (row + 1)) as f64
}

/// y, f(t, y) → S(n) in `z`; `z_last` and `k` are scratch.
fn modified_midpoint<Y: State>(
    system: &mut dyn System<Y>,
    (t, h, n): (f64, f64, f64),
    (y, rate): (&Y, &Y),
    (z, z_last, k): (&mut Y, &mut Y, &mut Y),
) -> Result<(), StepError> {
    let s = h / n;
    z_last.copy_from(y);
    z.copy_from(y);
    z.add_scaled(s, rate);
    for m in 1..n as u32 {
        evaluate(system, t + f64::from(m) * s, z, k)?;
        z_last.add_scaled(2.0 * s, k);
        std::mem::swap(z_last, z);
    }
    evaluate(system, t + h, z, k)?;
    z.add_scaled(1.0, z_last);
    z.add_scaled(s, k);
    z.scale(0.5);
    Ok(())
}

/// Adds a row to the table: `entry` goes in as T(k, 0), comes out as T(k, k); `previous` as T(k−1, k−1).
fn extrapolate<Y: State>(row: usize, table: &mut [Y], entry: &mut Y, previous: &mut Y) {
    for j in 1..=row {
        // table[j − 1] still holds T(k−1, j−1)
        previous.copy_from(&table[j - 1]);
        table[j - 1].copy_from(entry);
        let ratio = substeps(row) / substeps(row - j);
        let gain = 1.0 / (ratio * ratio - 1.0);
        entry.scale(1.0 + gain);
        entry.add_scaled(-gain, previous);
    }
    table[row].copy_from(entry);
}

impl<Y: State> Integrator<Y> for BulirschStoer<Y> {
    fn name(&self) -> &'static str {
        "bulirsch-stoer"
    }

    fn order(&self) -> u32 {
        2 * self.rows as u32
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let table = self.table.shaped_like(y);
        let [rate, k, z, z_last, previous, difference] = self.work.shaped_like(y);
        evaluate(system, t, y, rate)?;
        let mut error = f64::INFINITY;
        for row in 0..self.rows {
            modified_midpoint(system, (t, h, substeps(row)), (y, rate), (z, z_last, k))?;
            extrapolate(row, table, z, previous);
            if let Some(tolerance) = self.tolerance.filter(|_| row > 0) {
                difference.copy_from(z);
                difference.add_scaled(-1.0, previous);
                error = difference.scaled_error(z, tolerance);
                if error <= 1.0 {
                    return accept(system, t + h, z, y);
                }
            }
        }
        if self.tolerance.is_some() {
            return Err(StepError::NotConverged { time: t + h, iterations: self.rows as u32, error });
        }
        accept(system, t + h, z, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Exponential;
    impl System<f64> for Exponential {
        fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) {
            *rate = *y;
        }
    }

    #[test]
    fn one_large_step_of_the_exponential_reaches_the_tolerance() {
        let mut y = 1.0;
        let mut method = BulirschStoer::new(Tolerance::new(0.0, 1e-12)).unwrap();
        method.step(&mut Exponential, 0.0, 1.0, &mut y).unwrap();
        assert!((y / 1.0_f64.exp() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_step_too_large_to_converge_is_refused_and_leaves_the_state() {
        let mut y = 1.0;
        let mut method = BulirschStoer::new(Tolerance::new(0.0, 1e-13)).unwrap();
        let result = method.step(&mut Exponential, 0.0, 40.0, &mut y);
        assert!(matches!(result, Err(StepError::NotConverged { iterations: 8, .. })));
        assert_eq!(y, 1.0);
    }

    #[test]
    fn the_number_of_rows_is_checked() {
        assert!(BulirschStoer::<f64>::with_rows(0).is_err());
        assert!(BulirschStoer::<f64>::with_rows(9).is_err());
        assert!(BulirschStoer::<f64>::new(Tolerance::absolute(-1.0)).is_err());
    }
}
