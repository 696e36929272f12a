//! The stage: all actors, their pairs and appointments, and the loop over events.

use super::actor::Actor;
use super::company::Failure;
use super::draft::Draft;
use super::heap::Agenda;
use super::neighbors::Neighbors;
use super::observer::Observer;
use super::outline::{Advance, advance, landing_time};
use super::pair::{Gap, Pair, measure, time_apart};
use super::part::Part;
use super::reach::{Bound, Landing};
use super::{ContactForce, ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::filter::Rejected;
use crate::world::{Event, World};
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bodies are not near each other beyond so many ε: their velocity at the contact does not matter.
const SURELY_APART: f64 = 2.0;

/// Corners are followed on their own for at most so many times the time of a fall through ε.
const LONGEST_HOP: f64 = 3.0;

/// Part of the height of a rebound by which a collision may come before the bodies touch.
const NEARNESS: f64 = 2e-7;

/// Least time since its last collision, in times of a fall through ε, after which a body comes out of a flight; a rebound that is not lost in ε takes
/// twice the time of that fall.
const FLIGHT: f64 = 1.9;
/// Gap, in ε, to anything else beyond which a body comes alone.
const ALONE: f64 = 4.0;

/// Smallest gap, in ε, at which a bounce is waited for: above faces, whose gap is exact, and elsewhere.
const SMALLEST_GAP: f64 = 1e-7;
const SMALLEST_SEARCHED: f64 = 1e-3;

/// How near to its beginning a hop ends: in parts of its speed, and of its height.
const NEARLY_AS_FAST: f64 = 0.95;
const NEARLY_AS_DEEP: f64 = 0.1;
/// Below this part of ε any depth will do: what is nearly zero could be lost in rounding.
const SHALLOW: f64 = 0.01;

/// σ of a pair that is to bounce: the part of its gap that a step towards contact leaves.
const CLOSE_MARGIN: f64 = 0.5;

/// What the event loop has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpulseCounters {
    /// Measured gaps.
    pub checks: u64,
    /// Collisions of every kind.
    pub collisions: u64,
    /// Slow ones among them.
    pub microcollisions: u64,
    /// Slow ones that were simply turned back.
    pub reversed: u64,
    /// Appointments at which the gap was not positive: always 0 unless a shape lies about itself.
    pub overlaps: u64,
    /// Pairs that were found near each other.
    pub pairs_made: u64,
    /// Bodies put to rest.
    pub rested: u64,
    /// Resting bodies disturbed.
    pub woken: u64,
    /// Pairs that stalled.
    pub stalled: u64,
}

impl std::ops::AddAssign for ImpulseCounters {
    fn add_assign(&mut self, other: Self) {
        self.checks += other.checks;
        self.collisions += other.collisions;
        self.microcollisions += other.microcollisions;
        self.reversed += other.reversed;
        self.overlaps += other.overlaps;
        self.pairs_made += other.pairs_made;
        self.rested += other.rested;
        self.woken += other.woken;
        self.stalled += other.stalled;
    }
}

/// What is being done, in the order in which it is done at equal times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TurnKind {
    /// Kicks of actors, by number.
    #[default]
    Kick,
    /// Who was held has to prove that it can rest.
    Release,
    /// The alarm of an actor.
    Alarm,
    /// The appointment of a pair.
    Meeting,
}

/// What is being done, for whom and when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    pub time: f64,
    pub kind: TurnKind,
    pub number: u32,
}

/// Everything the event loop works on.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// Those who move in the order of the world, then those who never do.
    pub actors: Vec<Actor>,
    /// Their numbers in the world, and back; all actors of a world, if this stage is its only one.
    pub cast: Vec<u32>,
    pub locals: Vec<u32>,
    /// All parts of the world.
    pub parts: Arc<[Part]>,
    pub pairs: Vec<Pair>,
    /// Whether a pair of that number is alive; dead ones wait in `spare`.
    pub alive: Vec<bool>,
    pub spare: Vec<u32>,
    /// When pairs meet, and when odometers reach their next mark.
    pub agenda: Agenda,
    pub alarms: Agenda,
    pub neighbors: Neighbors,
    /// Until when is played at present.
    pub end: f64,
    /// Number of the step.
    pub step: u64,
    /// Until when boxes have to hold in any case; for a search that looks ahead.
    pub horizon: f64,
    pub epsilon: f64,
    pub landing: f64,
    /// Speed of a hop, in parts of that of a fall through ε.
    pub least_hop: f64,
    /// |g|: how hard things fall.
    pub weight: f64,
    pub gravity: DVec3,
    pub counters: ImpulseCounters,
    pub events: Vec<Event>,
    /// Pairs that came close and may not touch.
    pub rejected: Vec<Rejected>,
    pub smallest_gap: f64,
    pub came: Vec<[u32; 2]>,
    pub parted: Vec<[u32; 2]>,
    pub renew: Vec<u32>,
    pub advances: [Advance; 2],
    pub observer: Observer,
    /// Gaps measured since the cast was dealt out.
    pub worked: u64,
    pub turn: Turn,
    /// How everything was when the step began, if somebody may want it back.
    pub draft: Option<Box<Draft>>,
    /// Whether the work of collisions is accounted for.
    pub accounts: bool,
    /// What went wrong in this step.
    pub failure: Option<Failure>,
}

impl Stage {
    /// Slower than this, two bodies that close in are resting on each other: the speed of a fall through ε.
    pub fn slow(&self) -> f64 {
        (2.0 * self.weight * self.epsilon).sqrt()
    }

    /// How long a fall through ε takes.
    pub fn fall_time(&self) -> f64 {
        if self.weight > 0.0 { (2.0 * self.epsilon / self.weight).sqrt() } else { f64::INFINITY }
    }

    /// Begins a step.
    pub fn begin(&mut self, step: u64, time: f64, end: f64) -> Result<(), Error> {
        (self.step, self.end) = (step, end);
        self.turn = Turn { time, kind: TurnKind::Release, number: 0 };
        self.release(time)
    }

    /// Measures the gap of a pair at time t.
    pub fn look(&mut self, index: u32, t: f64) -> Result<Gap, Error> {
        self.counters.checks += 1;
        let pair = &mut self.pairs[index as usize];
        if pair.cached_in != self.step {
            (pair.cache, pair.cached_in) = (PieceCache::default(), self.step);
        }
        let motion = pair.actors.map(|actor| self.actors[actor as usize].at(t));
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let mut gap = measure(parts, [&motion[0], &motion[1]], &mut pair.cache, pair.normal)
            .map_err(|source| ImpulseError::Geometry { source })?;
        self.smallest_gap = self.smallest_gap.min(gap.distance);
        gap.distance += pair.offset;
        if gap.distance <= 0.0 && pair.measured.0 > f64::NEG_INFINITY {
            // Rounding at most, or a shape that lies about itself: the last normal still leads apart.
            gap.normal = pair.normal;
            gap.rate = (motion[1].velocity_at(gap.point) - motion[0].velocity_at(gap.point)).dot(gap.normal);
        }
        (pair.normal, pair.point, pair.face) = (gap.normal, gap.point, gap.face);
        pair.measured = (t, gap.distance);
        Ok(gap)
    }

    /// The gap of a pair at time t, measured only if it was not just then: an impulse changes how fast it closes, and nothing
    /// else.
    fn look_unless_seen(&mut self, index: u32, t: f64) -> Result<Gap, Error> {
        let pair = &self.pairs[index as usize];
        let (time, distance) = pair.measured;
        if time != t || distance <= 0.0 {
            return self.look(index, t);
        }
        let (actors, normal, point, face) = (pair.actors, pair.normal, pair.point, pair.face);
        let [first, second] = actors.map(|actor| self.actors[actor as usize].at(t).velocity_at(point));
        Ok(Gap { distance, normal, point, rate: (second - first).dot(normal), face })
    }

    /// Whether a pair with this gap collides now.
    pub fn touches(&self, index: u32, t: f64, gap: &Gap) -> bool {
        gap.distance < self.reach_of(index, t, gap) && gap.rate < -(1e-9 * self.slow() + 1e-14)
    }

    /// Whether both bodies of a pair can be moved by impulses now.
    pub fn both_yield(&self, index: u32) -> bool {
        self.pairs[index as usize].actors.iter().all(|actor| self.actors[*actor as usize].yields())
    }

    /// Gap below which a pair collides: ε; nearer if it bounces, or is on its way back from a hop.
    ///
    /// A collision at the gap d, before the bodies have fallen through it, makes a rebound to e² h one to e² (h − d) + d instead.
    /// So that this is no more than a part [`NEARNESS`] of a rebound that is not itself lost in ε, d is at most that part of (e u)²/2g. That is for bodies
    /// that come out of a flight to something that stands; between others that hit them, so narrow gaps would be used up within no time.
    ///
    /// A hop that is looked at early, because the bound on its way is rough, is still slow. Answered there, the next would be lower still. So it is
    /// waited until it is about as deep as where it began, or about as fast.
    fn reach_of(&self, index: u32, t: f64, gap: &Gap) -> f64 {
        if self.weight == 0.0 {
            return self.epsilon;
        }
        let pair = &self.pairs[index as usize];
        let (rebound, parted) = (pair.restitution * gap.rate, pair.hop.1);
        let near = if -rebound > self.slow() && self.comes_alone(index, t) {
            // Gaps that are found by search are not known better than so.
            let least = if gap.face.is_some() { SMALLEST_GAP } else { SMALLEST_SEARCHED } * self.epsilon;
            (NEARNESS * 0.5 * rebound * rebound / self.weight).max(least)
        } else if parted > 0.0 && -gap.rate < NEARLY_AS_FAST * parted && !self.both_yield(index) {
            (pair.hop_gap + NEARLY_AS_DEEP * 0.5 * parted * parted / self.weight).max(SHALLOW * self.epsilon)
        } else {
            self.epsilon
        };
        near.min(self.epsilon)
    }

    /// Whether a body comes out of a flight to another that stands, and near to nothing else.
    fn comes_alone(&self, index: u32, t: f64) -> bool {
        let recently = t - FLIGHT * self.fall_time();
        let near = |other: &u32| {
            let pair = &self.pairs[*other as usize];
            *other != index && !pair.dozing && pair.at_least(t) < ALONE * self.epsilon
        };
        !self.both_yield(index)
            && self.pairs[index as usize].actors.iter().all(|actor| {
                let actor = &self.actors[*actor as usize];
                !actor.yields() || (actor.last_hit < recently && !actor.pairs.iter().any(near))
            })
    }

    /// Gives a pair that has just been looked at its next appointment.
    pub fn appoint(&mut self, index: u32, t: f64, gap: &Gap) {
        let pair = &mut self.pairs[index as usize];
        (pair.told, pair.distance, pair.bound, pair.dozing) = (t, gap.distance, Bound::default(), false);
        let (tie, actors) = (pair.tie(), pair.actors);
        if self.touches(index, t, gap) && actors.iter().any(|actor| self.actors[*actor as usize].yields()) {
            self.agenda.set(index, t, tie);
        } else if gap.distance > 0.0 {
            let apart = gap.distance > SURELY_APART * self.epsilon;
            let near = if apart { self.epsilon } else { self.reach_of(index, t, gap) };
            self.wait(index, t, near);
        } else {
            // An overlap leaves no gap to be used up: look again after a moment.
            self.agenda.set(index, t + 1e-3 * self.fall_time().min(1e-3), tie);
        }
    }

    /// Tells a pair of known distance and normal how long it may wait until it is as near as that.
    fn wait(&mut self, index: u32, t: f64, near: f64) {
        let distance = self.pairs[index as usize].distance;
        if self.doze(index, t, distance) {
            return;
        }
        let pair = &self.pairs[index as usize];
        let actors = pair.actors.map(|actor| &self.actors[actor as usize]);
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let motion = actors.map(Actor::recent);
        let sigma = if near < self.epsilon {
            (pair.hop_gap / near).clamp(CLOSE_MARGIN, self.landing.max(CLOSE_MARGIN))
        } else {
            self.landing
        };
        let widths = Landing {
            epsilon: near,
            sigma,
            hop: self.least_hop * self.slow(),
            climbs: self.both_yield(index),
        };
        let landing = |bound: Bound| bound.landing_time(distance, widths);
        let (mut wait, bound) = time_apart(parts, actors, [&motion[0], &motion[1]], pair.normal, landing);
        let (tie, normal, face) = (pair.tie(), pair.normal, pair.face);
        let longest = LONGEST_HOP * self.fall_time();
        if wait < longest && longest.is_finite() {
            let motion = [&motion[0], &motion[1]];
            if advance(&mut self.advances, parts, actors, motion, normal, face, longest) {
                wait = landing_time(&self.advances, distance, widths, [wait, longest]);
            }
        }
        self.pairs[index as usize].bound = bound;
        self.agenda.set(index, t + wait, tie);
    }

    /// After the motion of actors has changed: new alarms, and new appointments for their pairs. Who is surely not near is not
    /// looked at: what is left of its gap along the old normal is enough to tell how long it may wait.
    pub fn moved(&mut self, actors: &[u32], t: f64) -> Result<(), Error> {
        for (place, actor) in actors.iter().enumerate() {
            self.begin_reading_anew(*actor);
            let beyond =
                self.actors[*actor as usize].reading(self.horizon) > self.actors[*actor as usize].box_until;
            if self.horizon > t && beyond {
                self.spread(*actor, t, self.horizon)?;
            }
            self.ring(*actor, t);
            let mut renew = std::mem::take(&mut self.renew);
            renew.clone_from(&self.actors[*actor as usize].pairs);
            for index in &renew {
                let pair = &self.pairs[*index as usize];
                let seen = pair.actors.iter().any(|other| actors[..place].contains(other));
                if pair.dozing || seen {
                    continue;
                }
                let left = pair.at_least(t);
                if left > SURELY_APART * self.epsilon {
                    for other in pair.actors {
                        self.actors[other as usize].at(t);
                    }
                    let pair = &mut self.pairs[*index as usize];
                    (pair.told, pair.distance) = (t, left);
                    self.wait(*index, t, self.epsilon);
                } else {
                    let gap = self.look_unless_seen(*index, t)?;
                    self.appoint(*index, t, &gap);
                }
            }
            self.renew = renew;
        }
        Ok(())
    }

    /// Plays everything that happens until the end of the step.
    pub fn play(&mut self, world: &World, settings: &ImpulseSettings) -> Result<(), Error> {
        loop {
            let meeting = self.agenda.first().filter(|first| first.0 <= self.end);
            let until = meeting.map_or(self.end, |first| first.0);
            if let Some((t, actor)) = self.alarms.first().filter(|first| first.0 <= until) {
                self.turn = Turn { time: t, kind: TurnKind::Alarm, number: actor };
                self.answer_alarm(world, actor, t)?;
                continue;
            }
            let Some((t, index)) = meeting else { return Ok(()) };
            self.turn = Turn { time: t, kind: TurnKind::Meeting, number: index };
            let gap = self.look(index, t)?;
            self.counters.overlaps += u64::from(gap.distance <= 0.0);
            if self.stalls(index, t, settings)? {
                continue;
            }
            if self.touches(index, t, &gap) {
                self.collide(world, settings, index, t, &gap)?;
            } else if self.pairs[index as usize].close {
                self.appoint(index, t, &gap);
            } else {
                self.part_ways(index);
            }
        }
    }

    /// Average contact forces over the last window, each with a number that orders them.
    pub fn forces(&self) -> impl Iterator<Item = (u64, ContactForce)> + '_ {
        let alive = self.pairs.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        alive.filter(|(pair, _)| pair.force != DVec3::ZERO).map(|(pair, _)| {
            let force = ContactForce {
                bodies: pair.actors.map(|actor| self.actors[actor as usize].id),
                force: pair.force,
                point: pair.point,
                normal: pair.normal,
            };
            (pair.tie(), force)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Material, World};
    use rattleback_geometry::Shape;
    use std::collections::BTreeMap;

    fn keys(stage: &Stage) -> BTreeMap<u64, f64> {
        stage.agenda.appointments().map(|(time, pair)| (stage.pairs[pair as usize].tie(), time)).collect()
    }

    /// Impulse test 15: after a collision every appointment of the two bodies is what it would be if made anew, and no
    /// other has changed.
    #[test]
    fn a_collision_renews_the_appointments_of_its_bodies_and_no_others() {
        let mut world = World::default();
        let hard = world.add_material(Material { restitution: 1.0, ..Material::default() }).unwrap();
        world
            .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(hard))
            .unwrap();
        for k in 0..8 {
            let (x, z) = (0.25 * f64::from(k), 0.2 + 0.013 * f64::from(k * k % 7));
            let half = DVec3::new(0.1, 0.08, 0.06);
            let block = Body::dynamic().with_shape(Shape::cuboid(half).unwrap()).at(x, 0.0, z).material(hard);
            let omega = DVec3::new(0.3, -0.2 * f64::from(k), 0.4);
            world
                .add_body(block.velocity(DVec3::new(-0.1 * f64::from(k), 0.0, 0.0)).angular_velocity(omega))
                .unwrap();
        }
        let settings = ImpulseSettings::default();
        let mut stage = Stage::default();
        stage.enlist(&world, &settings, DVec3::new(0.0, 0.0, -9.81)).unwrap();
        stage.begin(1, 0.0, 0.0).unwrap();
        stage.play(&world, &settings).unwrap();
        let mut seen = 0;
        while seen < 40 {
            let first = |stage: &Stage| stage.agenda.first().map_or(f64::INFINITY, |first| first.0);
            let alarm = stage.alarms.first().map_or(f64::INFINITY, |first| first.0);
            let t = first(&stage).min(alarm);
            let (before, collisions) = (keys(&stage), stage.counters.collisions);
            let (_, pair) = stage.agenda.first().unwrap();
            let met = stage.pairs[pair as usize].actors;
            if alarm > first(&stage) {
                let gap = stage.look(pair, t).unwrap();
                if stage.touches(pair, t, &gap) {
                    stage.collide(&world, &settings, pair, t, &gap).unwrap();
                } else {
                    stage.appoint(pair, t, &gap);
                }
            } else {
                stage.begin(stage.step + 1, t, t).unwrap();
                stage.play(&world, &settings).unwrap();
                continue;
            }
            if stage.counters.collisions == collisions {
                continue;
            }
            seen += 1;
            let after = keys(&stage);
            let own = |tie: u64| {
                let parts = [(tie >> 32) as usize, (tie & 0xffff_ffff) as usize];
                parts.iter().any(|part| {
                    let actor = stage.locals[stage.parts[*part].actor as usize];
                    met.contains(&actor) && stage.actors[actor as usize].is_free()
                })
            };
            for (tie, time) in before.iter().filter(|(tie, _)| !own(**tie)) {
                assert_eq!(after.get(tie), Some(time));
            }
            let free: Vec<u32> = met.into_iter().filter(|a| stage.actors[*a as usize].yields()).collect();
            stage.moved(&free, t).unwrap();
            assert_eq!(keys(&stage), after);
        }
    }
}
