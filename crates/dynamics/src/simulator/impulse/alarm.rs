//! What need not be looked at for a while, and the alarms that end it.
//!
//! The odometer of a body (`actor`) reads at least as much as any part of it can have got on along any direction. So
//!
//! - a box that is R larger on all sides than a part holds it until the reading has grown by R, and
//! - two parts whose gap is d have not met before the two readings have grown by d together. A share s₁ + s₂ < d of the gap is
//!   given to each body in proportion to its pace, and the pair *dozes* until one of them has used up its own.
//!
//! Neither depends on what collisions do to the bodies meanwhile: after a collision it is only to be told anew *when* the reading
//! will reach the next mark, one quadratic equation for all boxes and all dozing pairs of a body. And nothing at all has to be
//! done at the beginning of a step.
//!
//! Dozing is for busy bodies, which collide again before anything else happens. For one that flies undisturbed the bound
//! along the normal (`reach`) is much sharper, and seldom needs to be made anew.

use super::ImpulseError;
use super::actor::{Actor, Role};
use super::pair::{LEAST_GAP, Pair, ROUNDING};
use super::reach::Bound;
use super::stage::Stage;
use crate::error::Error;
use crate::filter::Rejected;
use crate::world::World;
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;
use std::cmp::Ordering;

/// Room around a part, in diameters of its body, and in seconds at its present pace.
const ROOM: f64 = 0.1;
const ROOM_TIME: f64 = 2e-3;
/// Least gap of a dozing pair, in ε, to begin with and at its end; and the share of the gap that is left at its end.
const DOZING: f64 = 8.0;
const AWAKE: f64 = 4.0;
const LEFT: f64 = 0.2;
/// A body that collided within so many times the time of a fall through ε is busy.
const BUSY: f64 = 4.0;
/// A pair most of whose pace is turning, by this share, gains nothing from a bound along the normal either.
const TURNING: f64 = 0.3;
/// Readings beyond so many diameters begin anew, so that small marks are not lost in large readings.
const LONGEST_READING: f64 = 1e3;

/// A reading at which a dozing pair has to be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub reading: f64,
    pub pair: u32,
    /// [`Pair::tie`]: pairs may be numbered anew, and a number may be that of another pair by now.
    pub tie: u64,
}

/// The least reading is the greatest mark, as a heap of the standard library wants it.
impl Ord for Mark {
    fn cmp(&self, other: &Self) -> Ordering {
        other.reading.total_cmp(&self.reading).then(other.tie.cmp(&self.tie))
    }
}

impl PartialOrd for Mark {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Mark {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Mark {}

impl Stage {
    /// An odometer has reached a mark.
    pub fn answer_alarm(&mut self, world: &World, index: u32, t: f64) -> Result<(), Error> {
        let actor = &self.actors[index as usize];
        let reached = actor.reading(t).max(actor.next_mark());
        if actor.box_until <= reached {
            self.spread(index, t, t)?;
            self.hear_news(world, t)?;
        }
        while let Some(mark) = self.actors[index as usize].marks.peek().copied() {
            let holds = self.holds(index, &mark);
            if holds && mark.reading > reached {
                break;
            }
            self.actors[index as usize].marks.pop();
            if holds {
                self.look_again(mark.pair, t)?;
            }
        }
        self.begin_reading_anew(index);
        self.ring(index, t);
        Ok(())
    }

    /// A pair whose doze is over.
    fn look_again(&mut self, pair: u32, t: f64) -> Result<(), Error> {
        if !self.pairs[pair as usize].close {
            self.part_ways(pair);
            return Ok(());
        }
        let gap = self.look(pair, t)?;
        self.appoint(pair, t, &gap);
        Ok(())
    }

    /// Whether a mark is still that of a dozing pair, and not left over.
    fn holds(&self, index: u32, mark: &Mark) -> bool {
        self.pairs.get(mark.pair as usize).is_some_and(|pair| {
            pair.dozing && pair.tie() == mark.tie && pair.deadlines[pair.side(index)] == mark.reading
        })
    }

    /// Sets the alarm of an actor to when its odometer reaches the next mark.
    pub fn ring(&mut self, index: u32, t: f64) {
        let actor = &self.actors[index as usize];
        if !actor.moves() {
            self.alarms.cancel(index);
            return;
        }
        let way = actor.next_mark() - actor.reading(t);
        let wait = if way > 0.0 { actor.pace_at(t).time_to_cover(way) } else { 0.0 };
        self.alarms.set(index, t + wait, u64::from(index));
    }

    /// Large readings would swallow small marks.
    pub fn begin_reading_anew(&mut self, index: u32) {
        let actor = &mut self.actors[index as usize];
        let reading = actor.odometer;
        if reading < LONGEST_READING * actor.size.max(1e-3) {
            return;
        }
        actor.odometer = 0.0;
        actor.box_until -= reading;
        let pairs = std::mem::take(&mut actor.pairs);
        for pair in &pairs {
            let pair = &mut self.pairs[*pair as usize];
            let side = pair.side(index);
            pair.deadlines[side] -= reading;
        }
        self.actors[index as usize].pairs = pairs;
        self.mark_anew(index);
    }

    /// Marks of all dozing pairs of an actor.
    fn mark_anew(&mut self, index: u32) {
        let dozing = |pair: &u32| {
            let record = &self.pairs[*pair as usize];
            let (reading, tie) = (record.deadlines[record.side(index)], record.tie());
            record.dozing.then_some(Mark { reading, pair: *pair, tie })
        };
        let marks = self.actors[index as usize].pairs.iter().filter_map(dozing).collect();
        self.actors[index as usize].marks = marks;
    }

    /// Gives every part of an actor a box that it does not leave for a while, and not before `until`.
    pub fn spread(&mut self, index: u32, t: f64, until: f64) -> Result<(), Error> {
        let actor = &mut self.actors[index as usize];
        let now = actor.at(t);
        let reading = actor.reading(t);
        let room = (ROOM * actor.size + ROOM_TIME * actor.pace_at(t).b).max(DOZING * self.epsilon)
            + (actor.reading(until) - reading);
        for part in actor.parts.clone() {
            let Some(bounds) = self.parts[part].aabb(&now.pose()) else { continue };
            let roomy = bounds.enlarged(room).unwrap_or(bounds);
            self.neighbors.set(part as u32, &roomy).map_err(|source| ImpulseError::Space { source })?;
        }
        actor.box_until = reading + (1.0 - 1e-9) * room;
        Ok(())
    }

    /// Makes pairs of who has come close, and notes who has parted.
    pub fn hear_news(&mut self, world: &World, time: f64) -> Result<(), Error> {
        let (mut came, mut parted) = (std::mem::take(&mut self.came), std::mem::take(&mut self.parted));
        self.neighbors.news(&mut came, &mut parted);
        for parts in &parted {
            if let Some(index) = self.find(*parts) {
                self.pairs[index as usize].close = false;
                // Who has an appointment leaves only when its turn has come, so that nobody comes and goes at a border.
                if !self.agenda.has(index) {
                    self.part_ways(index);
                }
            }
        }
        for parts in &came {
            self.introduce(world, *parts, time)?;
        }
        (self.came, self.parted) = (came, parted);
        Ok(())
    }

    /// The pair of two parts, if there is one.
    fn find(&self, [a, b]: [u32; 2]) -> Option<u32> {
        let parts = [a.min(b), a.max(b)];
        let actors = parts.map(|part| &self.actors[self.actor_of_part(part) as usize]);
        let of_first =
            actors[1].is_firm() || (!actors[0].is_firm() && actors[0].pairs.len() < actors[1].pairs.len());
        let shorter = if of_first { &actors[0].pairs } else { &actors[1].pairs };
        shorter.iter().copied().find(|pair| self.pairs[*pair as usize].parts == parts)
    }

    /// Who a part belongs to.
    fn actor_of_part(&self, part: u32) -> u32 {
        self.locals[self.parts[part as usize].actor as usize]
    }

    fn introduce(&mut self, world: &World, [a, b]: [u32; 2], time: f64) -> Result<(), Error> {
        let parts = [a.min(b), a.max(b)];
        let actors = parts.map(|part| self.actor_of_part(part));
        if actors[0] == actors[1] || !actors.iter().any(|a| self.actors[*a as usize].is_free()) {
            return Ok(());
        }
        if let Some(index) = self.find(parts) {
            self.pairs[index as usize].close = true;
            return Ok(());
        }
        let shapes = parts.map(|part| self.parts[part as usize].shape);
        let bodies = actors.map(|actor| self.actors[actor as usize].id);
        if let Some(why) = world.pair_filter().judge(world, bodies, shapes)? {
            self.rejected.push(Rejected { bodies, shapes, why });
            return Ok(());
        }
        let surface = world.mixed_material(shapes[0], shapes[1])?;
        let pair = Pair {
            parts,
            actors,
            close: true,
            cache: PieceCache::default(),
            cached_in: 0,
            measured: (f64::NEG_INFINITY, 0.0),
            told: time,
            distance: 0.0,
            bound: Bound::default(),
            dozing: false,
            deadlines: [f64::INFINITY; 2],
            restitution: surface.restitution,
            friction: surface.kinetic_friction,
            holding_friction: surface.static_friction,
            rolling: [surface.rolling_friction, surface.spinning_friction],
            impulse: DVec3::ZERO,
            summed_since: time,
            force: DVec3::ZERO,
            normal: DVec3::Z,
            point: DVec3::ZERO,
            face: None,
            hop: (f64::NEG_INFINITY, 0.0),
            hop_velocity: DVec3::ZERO,
            hop_gap: 0.0,
            pulled: (0.0, 0.0),
            collisions: 0,
            counted_since: time,
            events: 0,
            stall_since: time,
            offset: 0.0,
        };
        let index = self.enter(pair);
        let mut gap = self.look(index, time)?;
        let least = LEAST_GAP * self.epsilon;
        if gap.distance < least {
            let scale = |actor: u32| {
                let actor = &self.actors[actor as usize];
                if actor.is_free() { actor.size + 1e-6 * actor.start.x.length() } else { 0.0 }
            };
            let overlap = gap.distance < -ROUNDING * scale(actors[0]).max(scale(actors[1]));
            // What another simulator left overlapping stays as deep as it is: the offset counts it as touching.
            if overlap && !world.was_stepped_by_others() {
                return Err(ImpulseError::overlap(bodies, -gap.distance, time).into());
            }
            // The offset makes room for a gap that shrinks; what rests does not use it.
            self.pairs[index as usize].offset = least - gap.distance;
            gap.distance = least;
            self.pairs[index as usize].measured.1 = least;
        }
        self.appoint(index, time, &gap);
        Ok(())
    }

    /// Gives a pair a number.
    fn enter(&mut self, pair: Pair) -> u32 {
        self.counters.pairs_made += 1;
        let actors = pair.actors;
        let index = if let Some(index) = self.spare.pop() {
            self.pairs[index as usize] = pair;
            self.alive[index as usize] = true;
            index
        } else {
            self.pairs.push(pair);
            self.alive.push(true);
            self.pairs.len() as u32 - 1
        };
        for actor in actors {
            let actor = &mut self.actors[actor as usize];
            if !actor.is_firm() {
                actor.pairs.push(index);
            }
        }
        index
    }

    /// Forgets a pair.
    pub fn part_ways(&mut self, index: u32) {
        self.agenda.cancel(index);
        self.alive[index as usize] = false;
        self.pairs[index as usize].dozing = false;
        self.spare.push(index);
        for actor in self.pairs[index as usize].actors {
            let pairs = &mut self.actors[actor as usize].pairs;
            if let Some(place) = pairs.iter().position(|pair| *pair == index) {
                pairs.swap_remove(place);
            }
        }
    }

    /// Lets a pair of this gap doze, if that pays.
    pub fn doze(&mut self, index: u32, t: f64, distance: f64) -> bool {
        if distance < DOZING * self.epsilon {
            return false;
        }
        let actors = self.pairs[index as usize].actors;
        let [first, second] = actors.map(|actor| &self.actors[actor as usize]);
        let busy_time = BUSY * self.fall_time();
        let busy = |actor: &Actor| actor.role == Role::Flying && t - actor.last_hit < busy_time;
        let turning = first.turning_pace() + second.turning_pace();
        if !busy_time.is_finite() {
            return false;
        }
        let slow = self.slow();
        let pace = |actor: &Actor| if actor.is_firm() { 0.0 } else { actor.pace_at(t).b + slow };
        let paces = [pace(first), pace(second)];
        let slack = distance - (LEFT * distance).max(AWAKE * self.epsilon);
        let together = paces[0] + paces[1];
        if !(busy(first) || busy(second) || turning > TURNING * together)
            || slack < 0.25 * busy_time * together
        {
            return false;
        }
        self.agenda.cancel(index);
        for side in 0..2 {
            let actor = &mut self.actors[actors[side] as usize];
            let mark = if actor.is_firm() {
                f64::INFINITY
            } else {
                actor.reading(t) + slack * paces[side] / together
            };
            let pair = &mut self.pairs[index as usize];
            pair.deadlines[side] = mark;
            pair.dozing = true;
            let next = actor.next_mark();
            if mark.is_finite() {
                actor.marks.push(Mark { reading: mark, pair: index, tie: pair.tie() });
            }
            if mark < next {
                self.ring(actors[side], t);
            }
        }
        true
    }
}
