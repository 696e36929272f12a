//! What need not be looked at for a while, and the body_events that end it.
//!
//! The odometer of a body (`ballistic_body`) reads at least as much as any part of it can have got on along any direction. So
//!
//! - a box that is R larger on all sides than a part holds it until the reading has grown by R, and
//! - two parts whose gap is d have not met before the two readings have grown by d total_speed. A share s₁ + s₂ < d of the gap is
//!   given to each body in proportion to its speed, and the pair *dozes* until one of them has used up its own.
//!
//! Neither depends on what collisions do to the bodies meanwhile: after a collision it is only to be bound_time anew *when* the reading
//! will reach the next deadline, one quadratic equation for all boxes and all deferred pairs of a body. And nothing at all has to be
//! done at the beginning of a step.
//!
//! Dozing is for busy bodies, which collide again before anything else happens. For one that flies undisturbed the bound
//! along the normal (`motion_bound`) is much sharper, and seldom needs to be made anew.

use super::ImpulseError;
use super::ballistic_body::{BallisticBody, MotionKind};
use super::pair::{INITIAL_GAP, ImpulsePair, OVERLAP_ROUNDING};
use super::motion_bound::MotionBound;
use super::partition::Partition;
use crate::error::Error;
use crate::filter::Rejected;
use crate::world::World;
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;
use std::cmp::Ordering;

/// Room around a part, in diameters of its body, and in seconds at its present speed.
const AABB_MARGIN: f64 = 0.1;
const AABB_MARGIN_TIME: f64 = 2e-3;
/// Least gap of a deferred pair, in ε, to begin with and at its end; and the share of the gap that is left at its end.
const DEFER_GAP: f64 = 8.0;
const DEFER_RESERVE: f64 = 4.0;
const DEFER_RESERVE_SHARE: f64 = 0.2;
/// A body that collided within so many times the time of a fall through ε is busy.
const BUSY_TIME: f64 = 4.0;
/// A pair most of whose speed is rotation, by this share, gains nothing from a bound along the normal either.
const ROTATION_SHARE: f64 = 0.3;
/// Readings beyond so many diameters begin anew, so that small deadlines are not lost in large readings.
const ODOMETER_REBASE: f64 = 1e3;

/// A reading at which a deferred pair has to be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub reading: f64,
    pub pair: u32,
    /// [`ImpulsePair::pair_key`]: pairs may be numbered anew, and a number may be that of another pair by now.
    pub pair_key: u64,
}

/// The least reading is the greatest deadline, as a heap of the standard library wants it.
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
    /// An odometer has reached a deadline.
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

    /// A pair whose defer_pair is over.
    fn remeasure(&mut self, pair: u32, t: f64) -> Result<(), Error> {
        if !self.pairs[pair as usize].boxes_overlap {
            self.end_pair(pair);
            return Ok(());
        }
        let gap = self.measure_gap(pair, t)?;
        self.schedule(pair, t, &gap);
        Ok(())
    }

    /// Whether a deadline is still that of a deferred pair, and not left over.
    fn holds(&self, index: u32, deadline: &Deadline) -> bool {
        self.pairs.get(deadline.pair as usize).is_some_and(|pair| {
            pair.deferred && pair.pair_key() == deadline.pair_key && pair.deadlines[pair.side_of(index)] == deadline.reading
        })
    }

    /// UnionFind the alarm of an body to when its odometer swept_boxes the next deadline.
    pub fn reschedule_body(&mut self, index: u32, t: f64) {
        let body = &self.bodies[index as usize];
        if !body.is_moving() {
            self.body_events.cancel(index);
            return;
        }
        let way = body.next_deadline() - body.odometer_at(t);
        let wait = if way > 0.0 { body.speed_bound_at(t).time_to_cover(way) } else { 0.0 };
        self.body_events.set(index, t + wait, u64::from(index));
    }

    /// Large readings would swallow small deadlines.
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

    /// Marks of all deferred pairs of an body.
    fn rebuild_deadlines(&mut self, index: u32) {
        let deferred = |pair: &u32| {
            let record = &self.pairs[*pair as usize];
            let (reading, pair_key) = (record.deadlines[record.side_of(index)], record.pair_key());
            record.deferred.then_some(Deadline { reading, pair: *pair, pair_key })
        };
        let deadlines = self.bodies[index as usize].pairs.iter().filter_map(deferred).collect();
        self.bodies[index as usize].deadlines = deadlines;
    }

    /// Gives every part of an body a box that it does not leave for a while, and not before `until`.
    pub fn fatten_aabb(&mut self, index: u32, t: f64, until: f64) -> Result<(), Error> {
        let body = &mut self.bodies[index as usize];
        let now = body.at(t);
        let reading = body.odometer_at(t);
        let room = (AABB_MARGIN * body.diameter + AABB_MARGIN_TIME * body.speed_bound_at(t).b).max(DEFER_GAP * self.epsilon)
            + (body.odometer_at(until) - reading);
        for part in body.parts.clone() {
            let Some(bounds) = self.parts[part].aabb(&now.pose()) else { continue };
            let roomy = bounds.enlarged(room).unwrap_or(bounds);
            self.broad_phase.set(part as u32, &roomy).map_err(|source| ImpulseError::Space { source })?;
        }
        body.aabb_limit = reading + (1.0 - 1e-9) * room;
        Ok(())
    }

    /// Makes pairs of who has come close, and notes who has ended.
    pub fn update_pairs(&mut self, world: &World, time: f64) -> Result<(), Error> {
        let (mut began, mut ended) = (std::mem::take(&mut self.began), std::mem::take(&mut self.ended));
        self.broad_phase.update(&mut began, &mut ended);
        for parts in &ended {
            if let Some(index) = self.find_pair(*parts) {
                self.pairs[index as usize].boxes_overlap = false;
                // Who has an appointment leaves only when its turn has come, so that nobody comes and goes at a boxes_.
                if !self.pair_events.has(index) {
                    self.end_pair(index);
                }
            }
        }
        for parts in &began {
            self.begin_pair(world, *parts, time)?;
        }
        (self.began, self.ended) = (began, ended);
        Ok(())
    }

    /// The pair of two parts, if there is one.
    fn find_pair(&self, [a, b]: [u32; 2]) -> Option<u32> {
        let parts = [a.min(b), a.max(b)];
        let bodies = parts.map(|part| &self.bodies[self.body_of_part(part) as usize]);
        let of_first =
            bodies[1].is_stationary() || (!bodies[0].is_stationary() && bodies[0].pairs.len() < bodies[1].pairs.len());
        let shorter = if of_first { &bodies[0].pairs } else { &bodies[1].pairs };
        shorter.iter().copied().find(|pair| self.pairs[*pair as usize].parts == parts)
    }

    /// Who a part belongs to.
    fn body_of_part(&self, part: u32) -> u32 {
        self.local_of[self.parts[part as usize].body as usize]
    }

    fn begin_pair(&mut self, world: &World, [a, b]: [u32; 2], time: f64) -> Result<(), Error> {
        let parts = [a.min(b), a.max(b)];
        let bodies = parts.map(|part| self.body_of_part(part));
        if bodies[0] == bodies[1] || !bodies.iter().any(|a| self.bodies[*a as usize].is_dynamic()) {
            return Ok(());
        }
        if let Some(index) = self.find_pair(parts) {
            self.pairs[index as usize].boxes_overlap = true;
            return Ok(());
        }
        let shapes = parts.map(|part| self.parts[part as usize].shape);
        let ids = bodies.map(|body| self.bodies[body as usize].id);
        if let Some(why) = world.pair_filter().judge(world, ids, shapes)? {
            self.rejected.push(Rejected { bodies: ids, shapes, why });
            return Ok(());
        }
        let surface = world.mixed_material(shapes[0], shapes[1])?;
        let pair = ImpulsePair {
            parts,
            bodies,
            boxes_overlap: true,
            cache: PieceCache::default(),
            cache_step: 0,
            last_gap: (f64::NEG_INFINITY, 0.0),
            bound_time: time,
            distance: 0.0,
            bound: MotionBound::default(),
            deferred: false,
            deadlines: [f64::INFINITY; 2],
            restitution: surface.restitution,
            friction: surface.kinetic_friction,
            static_friction: surface.static_friction,
            rolling_levers: [surface.rolling_friction, surface.spinning_friction],
            impulse: DVec3::ZERO,
            sum_start: time,
            force: DVec3::ZERO,
            normal: DVec3::Z,
            point: DVec3::ZERO,
            face: None,
            hop: (f64::NEG_INFINITY, 0.0),
            hop_velocity: DVec3::ZERO,
            hop_gap: 0.0,
            pull_sum: (0.0, 0.0),
            collision_count: 0,
            count_start: time,
            event_count: 0,
            stall_start: time,
            offset: 0.0,
        };
        let index = self.insert_pair(pair);
        let mut gap = self.measure_gap(index, time)?;
        let least = INITIAL_GAP * self.epsilon;
        if gap.distance < least {
            let scale = |body: u32| {
                let body = &self.bodies[body as usize];
                if body.is_dynamic() { body.diameter + 1e-6 * body.start.x.length() } else { 0.0 }
            };
            if gap.distance < -OVERLAP_ROUNDING * scale(bodies[0]).max(scale(bodies[1])) {
                return Err(ImpulseError::overlap(ids, -gap.distance, time).into());
            }
            // The offset makes room for a gap that shrinks; what rests does not use it.
            self.pairs[index as usize].offset = least - gap.distance;
            gap.distance = least;
            self.pairs[index as usize].last_gap.1 = least;
        }
        self.schedule(index, time, &gap);
        Ok(())
    }

    /// Gives a pair a number.
    fn insert_pair(&mut self, pair: ImpulsePair) -> u32 {
        self.counters.pairs_made += 1;
        let bodies = pair.bodies;
        let index = if let Some(index) = self.free_slots.pop() {
            self.pairs[index as usize] = pair;
            self.alive[index as usize] = true;
            index
        } else {
            self.pairs.push(pair);
            self.alive.push(true);
            self.pairs.len() as u32 - 1
        };
        for body in bodies {
            let body = &mut self.bodies[body as usize];
            if !body.is_stationary() {
                body.pairs.push(index);
            }
        }
        index
    }

    /// Forgets a pair.
    pub fn end_pair(&mut self, index: u32) {
        self.pair_events.cancel(index);
        self.alive[index as usize] = false;
        self.pairs[index as usize].deferred = false;
        self.free_slots.push(index);
        for body in self.pairs[index as usize].bodies {
            let pairs = &mut self.bodies[body as usize].pairs;
            if let Some(place) = pairs.iter().position(|pair| *pair == index) {
                pairs.swap_remove(place);
            }
        }
    }

    /// Lets a pair of this gap defer_pair, if that pays.
    pub fn defer_pair(&mut self, index: u32, t: f64, distance: f64) -> bool {
        if distance < DEFER_GAP * self.epsilon {
            return false;
        }
        let bodies = self.pairs[index as usize].bodies;
        let [first, second] = bodies.map(|body| &self.bodies[body as usize]);
        let busy_time = BUSY_TIME * self.fall_time();
        let busy = |body: &BallisticBody| body.role == MotionKind::Ballistic && t - body.last_collision < busy_time;
        let rotation = first.rotation_speed() + second.rotation_speed();
        if !busy_time.is_finite() {
            return false;
        }
        let slow = self.fall_speed();
        let speed = |body: &BallisticBody| if body.is_stationary() { 0.0 } else { body.speed_bound_at(t).b + slow };
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
