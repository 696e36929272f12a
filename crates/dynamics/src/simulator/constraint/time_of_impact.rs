//! Time of impact: when the first pair of an island comes to touch on the trajectories of an interval.
//!
//! A pair that is apart at the beginning and overlaps at the end, or has passed through in between, has an
//! impact at a root of its separation g(t). The root is bracketed between a free and an overlapping time and
//! refined by regula falsi on the true trajectories, with a bisection every third time, until 0 ≤ g ≤ a
//! fraction of the touching tolerance. A pair that passes through within the interval is found by a shape
//! cast along the chord of its motion. A pair that touches at the beginning ends the interval only if it
//! comes to overlap: by another point that approaches fast, or because it turns so far that other features
//! carry it.

use super::tuning::{
    FAST_POINT_OVERLAP, IMPACT_GAP_FRACTION, MAX_IMPACT_EVALUATIONS, OVERLAP_SLOP, ROTATION_OVERLAP,
};
use crate::collision::approach_bound;
use crate::collision::{ColliderPair, WorldMirror};
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use rattleback_geometry::swept::{self, Advancement, cast_shapes};

/// Trajectories of all bodies over an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrajectorySet<'s> {
    /// Time at which the interval begins, s.
    pub begin: f64,
    /// States at that time.
    pub start: &'s [Motion],
    pub trajectories: &'s [Trajectory],
}

/// Separation of a pair at the beginning of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairSeparation {
    pub pair: [u32; 2],
    /// Least separation, m.
    pub separation: f64,
    /// Whether a point that does not touch yet approaches faster than the contact speed.
    pub fast: bool,
}

/// Root search for one pair.
struct ImpactSearch<'s> {
    set: TrajectorySet<'s>,
    pair: &'s mut ColliderPair,
    /// States of all bodies, overwritten by those of the pair at the time evaluated last.
    scratch: &'s mut [Motion],
    queries: &'s mut u64,
    margin: f64,
}

/// (trajectories, separations of the pairs, length of the interval) ⇒ time of the first impact since its
/// beginning, s.
pub(super) fn first_impact(
    mirror: &mut WorldMirror,
    set: TrajectorySet<'_>,
    separations: &[PairSeparation],
    time: f64,
    touch_gap: f64,
    scratch: &mut [Motion],
    queries: &mut u64,
) -> Option<f64> {
    let mut first: Option<f64> = None;
    for known in separations {
        let Some(mut pair) = mirror.pairs.remove(&known.pair) else { continue };
        let until = first.unwrap_or(time);
        let margin = approach_bound(&pair, set.start, time, |body| mirror.bodies[body as usize].radius);
        let mut search = ImpactSearch { set, pair: &mut pair, scratch, queries, margin };
        let found = search.time_of_impact(mirror, known, until, touch_gap);
        mirror.pairs.insert(known.pair, pair);
        if found.is_some_and(|found| found < until || first.is_none()) {
            first = found;
        }
    }
    first
}

impl ImpactSearch<'_> {
    /// g(t).
    fn separation(&mut self, mirror: &WorldMirror, time: f64) -> f64 {
        *self.queries += 1;
        for body in self.pair.bodies.map(|body| body as usize) {
            let (start, trajectory) = (&self.set.start[body], self.set.trajectories[body]);
            self.scratch[body] = evaluate(mirror, body, start, trajectory, self.set.begin, time);
        }
        self.pair.separation(&mirror.colliders, self.scratch, self.margin)
    }

    fn time_of_impact(
        &mut self,
        mirror: &WorldMirror,
        known: &PairSeparation,
        until: f64,
        touch_gap: f64,
    ) -> Option<f64> {
        let tolerance = touch_gap * self.pair.size;
        let touched = known.separation <= tolerance;
        if touched {
            let share = if known.fast { FAST_POINT_OVERLAP } else { ROTATION_OVERLAP };
            let slop = (share * self.pair.size).max(OVERLAP_SLOP * tolerance);
            // A pair that overlaps by more than the slop already may sink a quarter of it further, so that
            // time advances.
            let depth = slop.max(0.25 * slop - known.separation);
            if self.separation(mirror, until) >= -depth {
                return None;
            }
            return Some(self.refine(mirror, (0.0, known.separation + depth), until, depth, 0.2 * slop));
        }
        let last = self.separation(mirror, until);
        let overlapping = if last < 0.0 { until } else { self.overlap_within(mirror, until)? };
        Some(self.refine(mirror, (0.0, known.separation), overlapping, 0.0, IMPACT_GAP_FRACTION * tolerance))
    }

    /// A time at which a pair overlaps that is apart at both ends of the interval; only pairs that travel far
    /// are examined.
    fn overlap_within(&mut self, mirror: &WorldMirror, until: f64) -> Option<f64> {
        let mut travel = 0.0;
        let moves = self.pair.colliders.map(|collider| {
            let collider = &mirror.colliders[collider as usize];
            let body = collider.body as usize;
            let start = &self.set.start[body];
            let end = evaluate(mirror, body, start, self.set.trajectories[body], self.set.begin, until);
            travel += (end.x - start.x).length();
            let center = collider.local_pose.inverse_point(glam::DVec3::ZERO);
            swept::Motion::between(
                start.pose() * collider.local_pose,
                end.pose() * collider.local_pose,
                center,
            )
        });
        if travel < 0.25 * self.pair.size {
            return None;
        }
        let [Ok(a), Ok(b)] = moves else { return None };
        let shapes = self.pair.colliders.map(|collider| &mirror.colliders[collider as usize].shape);
        let hit = cast_shapes(shapes[0], &a, shapes[1], &b, &Advancement::default()).ok()??;
        // The chord is not the trajectory: sample from the time of the hit on.
        let at = hit.contact.time * until;
        let step = 0.02 * self.pair.size / travel * until;
        (0..40)
            .map(|k| (at + f64::from(k) * step).min(until))
            .find(|time| self.separation(mirror, *time) < 0.0)
    }

    /// (free time and its height g + depth, overlapping time) ⇒ a free time whose height is at most `room`.
    fn refine(
        &mut self,
        mirror: &WorldMirror,
        free: (f64, f64),
        overlapping: f64,
        depth: f64,
        room: f64,
    ) -> f64 {
        let mut low = free;
        let mut high = (overlapping, self.separation(mirror, overlapping) + depth);
        for evaluation in 0..MAX_IMPACT_EVALUATIONS {
            if low.1 <= room && low.1 >= 0.0 && evaluation > 0 {
                break;
            }
            let aim = 0.5 * room.min(low.1);
            let secant = low.0 + (high.0 - low.0) * (low.1 - aim) / (low.1 - high.1);
            let middle = 0.5 * (low.0 + high.0);
            // Every third evaluation bisects, which bounds the number of evaluations.
            let time =
                if evaluation % 3 == 2 || !(secant > low.0 && secant < high.0) { middle } else { secant };
            let height = self.separation(mirror, time) + depth;
            if height > 0.0 { low = (time, height) } else { high = (time, height) }
        }
        low.0
    }
}
