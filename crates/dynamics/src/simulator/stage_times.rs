//! Wall-clock time of the stages of a step.

use std::time::Instant;

/// Wall-clock time of the stages of the last step, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Broad phase.
    pub pairs: f64,
    /// Narrow phase.
    pub contacts: f64,
    /// Solver.
    pub solve: f64,
    /// Integration of positions, sleep, bounding boxes.
    pub motion: f64,
}

/// Measures one stage after the other.
#[derive(Debug)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start or the last lap, s.
    pub fn lap(&mut self) -> f64 {
        let began = std::mem::replace(&mut self.0, Instant::now());
        (self.0 - began).as_secs_f64()
    }
}
