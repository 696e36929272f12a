//! Where the time of a step goes.

use std::time::Instant;

/// What the stages of the last step took, s of the clock on the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Finding out who may meet whom.
    pub pairs: f64,
    /// Looking at those pairs.
    pub contacts: f64,
    /// Forces and impulses.
    pub solve: f64,
    /// Moving the bodies, and whatever follows from that.
    pub motion: f64,
}

/// Measures one stage after the other.
#[derive(Debug)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since it was started or last asked, s.
    pub fn lap(&mut self) -> f64 {
        let began = std::mem::replace(&mut self.0, Instant::now());
        (self.0 - began).as_secs_f64()
    }
}
