//! When bodies of an island first meet on their courses.
//!
//! A pair that did not touch at the beginning and overlaps at the end, or has passed through each other in between, is looked at again
//! at times in between until the gap is positive and below the touching tolerance: regula falsi on the separation along the true
//! courses, kept between a free and an overlapping time. Fast pairs are found by casting one shape against the other.
//! A pair that touched already is left to its contacts, unless another point of it comes down faster than contact allows, or it turns so far
//! that its contacts are others on the way.

use super::force::{Course, follow};
use super::roster::{Pair, Roster};
use crate::motion::Motion;
use rattleback_geometry::swept::{self, Advancement, cast_shapes};

/// Looks at a pair between its free and its overlapping time.
const MOST_LOOKS: usize = 60;
/// Part of the touching tolerance within which a meeting is found: what a rebound misses of e² h is (1 − e²) times the gap it begins at.
const CLOSE: f64 = 1e-3;
/// A touching pair may come to overlap by this much of the smaller body because it turns while it touches; a new point of it that came fast
/// counts as soon as it overlaps by more than what is left as it is.
const DRIFT: f64 = 1e-3;

/// Courses of everybody over an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journey<'s> {
    pub begin: f64,
    pub start: &'s [Motion],
    pub courses: &'s [Course],
}

/// What is known of a pair at the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outlook {
    pub pair: [u32; 2],
    /// Least separation.
    pub separation: f64,
    /// Whether a point that does not touch yet comes down fast.
    pub fast: bool,
}

/// The pair, how far its bodies have come, and where to put them.
struct Search<'s> {
    journey: Journey<'s>,
    pair: &'s mut Pair,
    scratch: &'s mut [Motion],
    looks: &'s mut u64,
    margin: f64,
}

/// (courses, what is known of the pairs, length of the interval) ⇒ when the first pair meets, if one does.
pub(super) fn first_meeting(
    roster: &mut Roster,
    journey: Journey<'_>,
    outlooks: &[Outlook],
    time: f64,
    touch_gap: f64,
    scratch: &mut [Motion],
    looks: &mut u64,
) -> Option<f64> {
    let mut first: Option<f64> = None;
    for outlook in outlooks {
        let Some(mut pair) = roster.pairs.remove(&outlook.pair) else { continue };
        let until = first.unwrap_or(time);
        let margin =
            super::touch::reach(&pair, journey.start, time, |actor| roster.actors[actor as usize].reach);
        let mut search = Search { journey, pair: &mut pair, scratch, looks, margin };
        let found = search.meet(roster, outlook, until, touch_gap);
        roster.pairs.insert(outlook.pair, pair);
        if found.is_some_and(|found| found < until || first.is_none()) {
            first = found;
        }
    }
    first
}

impl Search<'_> {
    fn separation(&mut self, roster: &Roster, time: f64) -> f64 {
        *self.looks += 1;
        for actor in self.pair.actors.map(|actor| actor as usize) {
            let (start, course) = (&self.journey.start[actor], self.journey.courses[actor]);
            self.scratch[actor] = follow(roster, actor, start, course, self.journey.begin, time);
        }
        self.pair.separation(&roster.parts, self.scratch, self.margin)
    }

    fn meet(&mut self, roster: &Roster, outlook: &Outlook, until: f64, touch_gap: f64) -> Option<f64> {
        let tolerance = touch_gap * self.pair.size;
        let touched = outlook.separation <= tolerance;
        if touched {
            let least = super::touch::slop(tolerance);
            let slop = if outlook.fast { least } else { least.max(DRIFT * self.pair.size) };
            // Whoever overlaps by more already gets a little room, so that time goes on.
            let depth = slop.max(0.25 * slop - outlook.separation);
            if self.separation(roster, until) >= -depth {
                return None;
            }
            return Some(self.narrow(roster, (0.0, outlook.separation + depth), until, depth, 0.2 * slop));
        }
        let last = self.separation(roster, until);
        let overlapping = if last < 0.0 { until } else { self.passed(roster, until)? };
        Some(self.narrow(roster, (0.0, outlook.separation), overlapping, 0.0, CLOSE * tolerance))
    }

    /// A time at which a fast pair overlaps though it does not at the end.
    fn passed(&mut self, roster: &Roster, until: f64) -> Option<f64> {
        let mut travel = 0.0;
        let moves = self.pair.parts.map(|part| {
            let part = &roster.parts[part as usize];
            let actor = part.actor as usize;
            let start = &self.journey.start[actor];
            let end = follow(roster, actor, start, self.journey.courses[actor], self.journey.begin, until);
            travel += (end.x - start.x).length();
            let center = part.place.inverse_point(glam::DVec3::ZERO);
            swept::Motion::between(start.pose() * part.place, end.pose() * part.place, center)
        });
        if travel < 0.25 * self.pair.size {
            return None;
        }
        let [Ok(a), Ok(b)] = moves else { return None };
        let shapes = self.pair.parts.map(|part| &roster.parts[part as usize].shape);
        let hit = cast_shapes(shapes[0], &a, shapes[1], &b, &Advancement::default()).ok()??;
        // The chord is not the course; look a little around.
        let at = hit.contact.time * until;
        let step = 0.02 * self.pair.size / travel * until;
        (0..40)
            .map(|k| (at + f64::from(k) * step).min(until))
            .find(|time| self.separation(roster, *time) < 0.0)
    }

    /// Between a free time with its height above −depth and an overlapping one ⇒ a free time whose height is at most `room`.
    fn narrow(&mut self, roster: &Roster, free: (f64, f64), overlapping: f64, depth: f64, room: f64) -> f64 {
        let mut low = free;
        let mut high = (overlapping, self.separation(roster, overlapping) + depth);
        for look in 0..MOST_LOOKS {
            if low.1 <= room && low.1 >= 0.0 && look > 0 {
                break;
            }
            let aim = 0.5 * room.min(low.1);
            let secant = low.0 + (high.0 - low.0) * (low.1 - aim) / (low.1 - high.1);
            let middle = 0.5 * (low.0 + high.0);
            // Every third look halves the interval, whatever the secant says.
            let time = if look % 3 == 2 || !(secant > low.0 && secant < high.0) { middle } else { secant };
            let height = self.separation(roster, time) + depth;
            if height > 0.0 { low = (time, height) } else { high = (time, height) }
        }
        low.0
    }
}
