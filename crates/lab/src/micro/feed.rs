//! Mean velocity of what a machine moves, by repeated runs.

use super::design::{Design, MicroError};
use crate::contact::Random;
use crate::poses::student_quantile;
use crate::queue::in_turn;
use rattleback_dynamics::Registry;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Confidence of intervals.
const CONFIDENCE: f64 = 0.95;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Mean velocity along x and y, m/s, and mean angular velocity about z, rad/s.
    pub rates: [f64; 3],
    /// Whether the part left the machine before the end; the rates are those until then.
    pub left: bool,
}

/// What moves a part.
pub trait Machine: Design + Sync {
    /// An error for numbers that are out of range or do not fit each other.
    ///
    /// # Errors
    /// The first such number.
    fn check(&self) -> Result<(), MicroError>;
    /// One run from a random start.
    ///
    /// # Errors
    /// What the simulator refuses.
    fn run(&self, random: &mut Random, registry: &Registry) -> Result<Run, rattleback_dynamics::Error>;
}

/// Velocity of one design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feed {
    /// Mean over the runs: x, y in m/s, about z in rad/s.
    pub mean: [f64; 3],
    /// Standard deviation of the means.
    pub deviation: [f64; 3],
    /// 95 % intervals of the means (Student); none of fewer than four runs.
    pub interval: Option<[(f64, f64); 3]>,
    /// The runs.
    pub runs: Vec<Run>,
    /// Runs that ended with an error of the simulator.
    pub failed: usize,
}

/// (designs, runs of each, seed, threads) ⇒ their feeds, the same for any number of threads. All designs have the same random starts, so that their
/// differences are not blurred by chance. `done` is told how many runs were finished by then.
///
/// # Errors
/// Numbers that do not fit, or a design of which every run failed.
pub fn measure<M: Machine>(
    designs: &[M],
    runs: usize,
    seed: u64,
    threads: usize,
    registry: &Registry,
    done: impl Fn(usize) + Sync,
) -> Result<Vec<Feed>, MicroError> {
    designs.iter().try_for_each(Machine::check)?;
    let finished = std::sync::atomic::AtomicUsize::new(0);
    let all = in_turn(threads, designs.len() * runs, |place| {
        let mut random = Random::new(seed, (place % runs) as u64 + 1);
        let run = || designs[place / runs].run(&mut random, registry);
        let found = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(_) => Err("the simulator panicked".to_owned()),
        };
        done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        found
    });
    all.chunks(runs.max(1)).map(summed).collect()
}

fn summed(found: &[Result<Run, String>]) -> Result<Feed, MicroError> {
    let runs: Vec<Run> = found.iter().filter_map(|run| run.as_ref().ok().copied()).collect();
    if runs.is_empty() {
        let error = found.iter().find_map(|run| run.as_ref().err().cloned());
        return Err(MicroError::Simulator(error.unwrap_or_else(|| "at least one run is needed".into())));
    }
    let n = runs.len() as f64;
    let mean = [0, 1, 2].map(|k| runs.iter().map(|run| run.rates[k]).sum::<f64>() / n);
    let deviation = [0, 1, 2].map(|k| {
        let squares: f64 = runs.iter().map(|run| (run.rates[k] - mean[k]).powi(2)).sum();
        if runs.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { f64::INFINITY }
    });
    let interval = (runs.len() >= 4).then(|| {
        let t = student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0);
        [0, 1, 2].map(|k| (mean[k] - t * deviation[k], mean[k] + t * deviation[k]))
    });
    Ok(Feed { mean, deviation, interval, failed: found.len() - runs.len(), runs })
}
