//! First contact of bodies of any form by halving the interval.
//!
//! Free at `low`, overlapping at `high`: test half-way and keep the half for which that still holds. The time
//! reported is `low`, the contact that of `high`. Overlaps that begin and end between two samples are missed:
//! `looks` cuts the interval first.

use crate::primitive::PrimitiveError;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bisection {
    /// Equal pieces sampled before halving starts. Default 1: only the end.
    pub looks: u32,
    /// Overlap in metres at which the search ends; 0 continues to the time tolerance. Default 1e-4.
    pub depth_tolerance: f64,
    /// Width of the interval, in s, that is short enough. Default 1e-9.
    pub time_tolerance: f64,
    /// Halvings after which to stop. Default 64.
    pub max_iterations: u32,
}

impl Default for Bisection {
    fn default() -> Self {
        Self { looks: 1, depth_tolerance: 1e-4, time_tolerance: 1e-9, max_iterations: 64 }
    }
}

/// An overlap found at some s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap<T> {
    /// Largest depth of any of its regions.
    pub depth: f64,
    /// User data of the overlap.
    pub contact: T,
}

/// First contact found by halving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BisectionHit<T> {
    /// s ∈ [0, 1], free unless it is 0 and the bodies overlap from the start.
    pub time: f64,
    /// The nearest later time known to overlap.
    pub overlapping: f64,
    /// The overlap there.
    pub overlap: Overlap<T>,
    /// Halvings done.
    pub iterations: u32,
}

/// (settings, what overlaps at s) ⇒ first contact; None if the bodies are apart at every sample.
pub fn bisect<T>(
    settings: &Bisection,
    mut overlap_at: impl FnMut(f64) -> Option<Overlap<T>>,
) -> Result<Option<BisectionHit<T>>, PrimitiveError> {
    let negative = |value: f64| !(value >= 0.0);
    if negative(settings.time_tolerance) || negative(settings.depth_tolerance) {
        let value = settings.time_tolerance.min(settings.depth_tolerance);
        return Err(PrimitiveError::OutOfRange { what: "tolerance", value, allowed: "not negative" });
    }
    if let Some(overlap) = overlap_at(0.0) {
        return Ok(Some(BisectionHit { time: 0.0, overlapping: 0.0, overlap, iterations: 0 }));
    }
    let looks = settings.looks.max(1);
    for look in 1..=looks {
        let high = f64::from(look) / f64::from(looks);
        if let Some(overlap) = overlap_at(high) {
            let low = f64::from(look - 1) / f64::from(looks);
            let first = BisectionHit { time: low, overlapping: high, overlap, iterations: 0 };
            return Ok(Some(halve(settings, first, overlap_at)));
        }
    }
    Ok(None)
}

fn halve<T>(
    settings: &Bisection,
    mut hit: BisectionHit<T>,
    mut overlap_at: impl FnMut(f64) -> Option<Overlap<T>>,
) -> BisectionHit<T> {
    while hit.overlap.depth >= settings.depth_tolerance
        && hit.overlapping - hit.time > settings.time_tolerance
        && hit.iterations < settings.max_iterations
    {
        let middle = hit.time.midpoint(hit.overlapping);
        hit.iterations += 1;
        match overlap_at(middle) {
            Some(overlap) => (hit.overlapping, hit.overlap) = (middle, overlap),
            None => hit.time = middle,
        }
    }
    hit
}
