//! Travel deadlines: odometer readings up to which a fat AABB or a gap needs no attention.
//!
//! The odometer of a body (`ballistic_body`) is an upper bound on the displacement of any of its points along
//! any direction. So
//!
//! - a fat AABB with the margin R is valid until the odometer has grown by R, and
//! - two parts at the gap d cannot collide before their two odometers together have grown by d. A part s₁ +
//!   s₂ < d of the gap is split between the bodies in proportion to their speed bounds, and the pair is
//!   *deferred* until one of the two has used up its share.
//!
//! Neither depends on what collisions do to the bodies in the meantime. After a collision only the *time* at
//! which the odometer reaches the next deadline has to be computed again: one quadratic equation for all
//! AABBs and all deferred pairs of a body. Nothing has to be done at the beginning of a step.
//!
//! Deferring pays for busy bodies, which collide again before anything else happens. For a body in
//! undisturbed flight the bound along the normal (`motion_bound`) is much sharper, and rarely invalidated.

use super::ImpulseError;
use super::ballistic_body::{BallisticBody, MotionKind};
use super::partition::Partition;
use super::tuning::{
    AABB_MARGIN, AABB_MARGIN_TIME, BUSY_TIME, DEFER_GAP, DEFER_RESERVE, DEFER_RESERVE_SHARE, ODOMETER_REBASE,
    ROTATION_SHARE,
};
use crate::error::Error;
use crate::world::World;
use std::cmp::Ordering;

/// Odometer reading at which the gap of a deferred pair has to be measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub reading: f64,
    pub pair: u32,
    /// [`ImpulsePair::pair_key`](super::pair::ImpulsePair::pair_key): an index may have been reused for
    /// another pair in the meantime.
    pub pair_key: u64,
}

/// Reversed, so that the standard max-heap yields the smallest reading first.
impl Ord for Deadline {
    fn cmp(&self, other: &Self) -> Ordering {
        other.reading.total_cmp(&self.reading).then(other.pair_key.cmp(&self.pair_key))
    }
}

impl PartialOrd for Deadline {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Deadline {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Deadline {}

impl Partition {
    /// Handles the event of a body whose odometer has reached its next deadline.
    pub fn reach_deadline(&mut self, world: &World, index: u32, t: f64) -> Result<(), Error> {
        let body = &self.bodies[index as usize];
        let reached = body.odometer_at(t).max(body.next_deadline());
        if body.aabb_limit <= reached {
            self.fatten_aabb(index, t, t)?;
            self.update_pairs(world, t)?;
        }
        while let Some(deadline) = self.bodies[index as usize].deadlines.peek().copied() {
            let holds = self.holds(index, &deadline);
            if holds && deadline.reading > reached {
                break;
            }
            self.bodies[index as usize].deadlines.pop();
            if holds {
                self.remeasure(deadline.pair, t)?;
            }
        }
        self.rebase_odometer(index);
        self.reschedule_body(index, t);
        Ok(())
    }

    /// Measures and schedules a pair that was deferred.
    fn remeasure(&mut self, pair: u32, t: f64) -> Result<(), Error> {
        if !self.pairs[pair as usize].boxes_overlap {
            self.end_pair(pair);
            return Ok(());
        }
        let gap = self.measure_gap(pair, t)?;
        self.schedule(pair, t, &gap);
        Ok(())
    }

    /// Whether a deadline is still that of a deferred pair, and not obsolete.
    fn holds(&self, index: u32, deadline: &Deadline) -> bool {
        self.pairs.get(deadline.pair as usize).is_some_and(|pair| {
            pair.deferred
                && pair.pair_key() == deadline.pair_key
                && pair.deadlines[pair.side_of(index)] == deadline.reading
        })
    }

    /// Schedules the event of a body at the time its odometer reaches the next deadline.
    pub fn reschedule_body(&mut self, index: u32, t: f64) {
        let body = &self.bodies[index as usize];
        if !body.is_moving() {
            self.body_events.cancel(index);
            return;
        }
        let remaining = body.next_deadline() - body.odometer_at(t);
        let wait = if remaining > 0.0 { body.speed_bound_at(t).time_to_cover(remaining) } else { 0.0 };
        self.body_events.set(index, t + wait, u64::from(index));
    }

    /// Restarts a large odometer from zero, where small differences would be lost in rounding.
    pub fn rebase_odometer(&mut self, index: u32) {
        let body = &mut self.bodies[index as usize];
        let reading = body.odometer;
        if reading < ODOMETER_REBASE * body.diameter.max(1e-3) {
            return;
        }
        body.odometer = 0.0;
        body.aabb_limit -= reading;
        let pairs = std::mem::take(&mut body.pairs);
        for pair in &pairs {
            let pair = &mut self.pairs[*pair as usize];
            let side = pair.side_of(index);
            pair.deadlines[side] -= reading;
        }
        self.bodies[index as usize].pairs = pairs;
        self.rebuild_deadlines(index);
    }

    /// Recomputes the deadlines of all deferred pairs of a body.
    fn rebuild_deadlines(&mut self, index: u32) {
        let deferred = |pair: &u32| {
            let record = &self.pairs[*pair as usize];
            let (reading, pair_key) = (record.deadlines[record.side_of(index)], record.pair_key());
            record.deferred.then_some(Deadline { reading, pair: *pair, pair_key })
        };
        let deadlines = self.bodies[index as usize].pairs.iter().filter_map(deferred).collect();
        self.bodies[index as usize].deadlines = deadlines;
    }

    /// Gives every part of a body a fat AABB that is valid for a while, and at least until the time `until`.
    pub fn fatten_aabb(&mut self, index: u32, t: f64, until: f64) -> Result<(), Error> {
        let body = &mut self.bodies[index as usize];
        let now = body.at(t);
        let reading = body.odometer_at(t);
        let margin = (AABB_MARGIN * body.diameter + AABB_MARGIN_TIME * body.speed_bound_at(t).b)
            .max(DEFER_GAP * self.epsilon)
            + (body.odometer_at(until) - reading);
        for part in body.parts.clone() {
            let Some(bounds) = self.parts[part].aabb(&now.pose()) else { continue };
            let fat = bounds.enlarged(margin).unwrap_or(bounds);
            self.broad_phase.set(part as u32, &fat).map_err(|source| ImpulseError::Space { source })?;
        }
        body.aabb_limit = reading + (1.0 - 1e-9) * margin;
        Ok(())
    }

    /// Defers a pair at this gap if that pays ⇒ whether it was.
    pub fn defer_pair(&mut self, index: u32, t: f64, distance: f64) -> bool {
        if distance < DEFER_GAP * self.epsilon {
            return false;
        }
        let bodies = self.pairs[index as usize].bodies;
        let [first, second] = bodies.map(|body| &self.bodies[body as usize]);
        let busy_time = BUSY_TIME * self.fall_time();
        let busy =
            |body: &BallisticBody| body.kind == MotionKind::Ballistic && t - body.last_collision < busy_time;
        let rotation = first.rotation_speed() + second.rotation_speed();
        if !busy_time.is_finite() {
            return false;
        }
        let slow = self.fall_speed();
        let speed =
            |body: &BallisticBody| if body.is_stationary() { 0.0 } else { body.speed_bound_at(t).b + slow };
        let speeds = [speed(first), speed(second)];
        let slack = distance - (DEFER_RESERVE_SHARE * distance).max(DEFER_RESERVE * self.epsilon);
        let total_speed = speeds[0] + speeds[1];
        if !(busy(first) || busy(second) || rotation > ROTATION_SHARE * total_speed)
            || slack < 0.25 * busy_time * total_speed
        {
            return false;
        }
        self.pair_events.cancel(index);
        for side in 0..2 {
            let body = &mut self.bodies[bodies[side] as usize];
            let deadline = if body.is_stationary() {
                f64::INFINITY
            } else {
                body.odometer_at(t) + slack * speeds[side] / total_speed
            };
            let pair = &mut self.pairs[index as usize];
            pair.deadlines[side] = deadline;
            pair.deferred = true;
            let next = body.next_deadline();
            if deadline.is_finite() {
                body.deadlines.push(Deadline { reading: deadline, pair: index, pair_key: pair.pair_key() });
            }
            if deadline < next {
                self.reschedule_body(bodies[side], t);
            }
        }
        true
    }
}
