//! Partition: a set of bodies with their pairs and events, and the event loop over them.

use super::ballistic_body::BallisticBody;
use super::broad_phase::ImpulseBroadPhase;
use super::checkpoint::Checkpoint;
use super::convex_part::ConvexPart;
use super::corner_bound::{self, CornerBound, corner_bounds};
use super::counters::ImpulseCounters;
use super::motion_bound::{LandingRule, MotionBound};
use super::observer::CollisionObserver;
use super::pair::{ImpulsePair, PairGap, measure, separation_time};
use super::support_bound::{SupportBound, landing_time, support_bounds};
use super::timewarp::StepFailure;
use super::tuning::{
    ALONE_GAP, BOUNCE_GAP_FACE, BOUNCE_GAP_SEARCHED, BOUNCE_GAP_SHARE, BOUNCE_MARGIN, CORNER_TIME_LIMIT,
    FACE_BORDER_RISE, FLIGHT_TIME, HOP_RETURN_DEPTH, HOP_RETURN_GAP, HOP_RETURN_SPEED, NEAR_GAP,
};
use super::{ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::filter::Rejected;
use crate::simulator::ContactPoint;
use crate::solver::EventQueue;
use crate::world::{Event, World};
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;
use std::sync::Arc;

/// Kind of an event; simultaneous events are run in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventKind {
    /// Kick of a body, by index.
    #[default]
    Kick,
    /// Release of frozen bodies at the beginning of a step.
    Release,
    /// Travel deadline of a body.
    Deadline,
    /// Measurement of a pair.
    Pair,
}

/// Event that is being run, for the order of errors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventKey {
    pub time: f64,
    pub kind: EventKind,
    pub number: u32,
}

/// Bodies, pairs and events that are simulated together.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// Moving bodies in the order of the world, then stationary ones.
    pub bodies: Vec<BallisticBody>,
    /// Index in this partition ⇒ index in the world, and back.
    pub global_of: Vec<u32>,
    pub local_of: Vec<u32>,
    /// Convex parts of all bodies of the world.
    pub parts: Arc<[ConvexPart]>,
    pub pairs: Vec<ImpulsePair>,
    /// Whether the pair at an index exists; free indices are in `free_slots`.
    pub alive: Vec<bool>,
    pub free_slots: Vec<u32>,
    /// Next measurement of each pair, and next travel deadline of each body.
    pub pair_events: EventQueue,
    pub body_events: EventQueue,
    pub broad_phase: ImpulseBroadPhase,
    /// End of the present step, s.
    pub end: f64,
    /// Number of the step.
    pub step: u64,
    /// Time until which fat AABBs have to be valid in any case, s; for the bracketing search.
    pub horizon: f64,
    /// Width ε of the collision shell, m.
    pub epsilon: f64,
    /// σ: part of a gap that an approach leaves.
    pub landing_margin: f64,
    /// Speed of a hop, in √(2gε).
    pub least_hop: f64,
    /// |g|, m/s².
    pub gravity_norm: f64,
    pub gravity: DVec3,
    pub counters: ImpulseCounters,
    pub events: Vec<Event>,
    /// Pairs rejected by the pair filter.
    pub rejected: Vec<Rejected>,
    pub smallest_gap: f64,
    /// Buffers of the event loop.
    pub began: Vec<[u32; 2]>,
    pub ended: Vec<[u32; 2]>,
    pub affected: Vec<u32>,
    pub corner_bounds: [CornerBound; 2],
    pub support_bounds: [SupportBound; 2],
    pub observer: CollisionObserver,
    /// Gaps measured since the bodies were last partitioned.
    pub work: u64,
    pub current: EventKey,
    /// State at the beginning of the step, if it may be rolled back.
    pub checkpoint: Option<Box<Checkpoint>>,
    /// Whether the work of collisions is recorded for the energy ledger.
    pub records_work: bool,
    /// Error of this step.
    pub failure: Option<StepFailure>,
}

impl Partition {
    /// √(2gε), m/s, the speed after a free fall through ε: slower collisions are microcollisions.
    pub fn fall_speed(&self) -> f64 {
        (2.0 * self.gravity_norm * self.epsilon).sqrt()
    }

    /// τ = √(2ε/g), s, the duration of a free fall through ε.
    pub fn fall_time(&self) -> f64 {
        if self.gravity_norm > 0.0 { (2.0 * self.epsilon / self.gravity_norm).sqrt() } else { f64::INFINITY }
    }

    /// Begins a step.
    pub fn begin_step(&mut self, step: u64, time: f64, end: f64) -> Result<(), Error> {
        (self.step, self.end) = (step, end);
        self.current = EventKey { time, kind: EventKind::Release, number: 0 };
        self.release_frozen(time)
    }

    /// Measures the gap of a pair at time t.
    pub fn measure_gap(&mut self, index: u32, t: f64) -> Result<PairGap, Error> {
        self.counters.checks += 1;
        let pair = &mut self.pairs[index as usize];
        if pair.cache_step != self.step {
            (pair.cache, pair.cache_step) = (PieceCache::default(), self.step);
        }
        let motion = pair.bodies.map(|body| self.bodies[body as usize].at(t));
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let tolerance = FACE_BORDER_RISE * self.epsilon;
        let mut gap = measure(parts, [&motion[0], &motion[1]], &mut pair.cache, pair.normal, tolerance)
            .map_err(|source| ImpulseError::Geometry { source })?;
        self.smallest_gap = self.smallest_gap.min(gap.distance);
        gap.distance += pair.offset;
        if gap.distance <= 0.0 && pair.last_gap.0 > f64::NEG_INFINITY {
            // Rounding, or a wrong distance: the last normal still separates the bodies.
            gap.normal = pair.normal;
            gap.rate = (motion[1].velocity_at(gap.point) - motion[0].velocity_at(gap.point)).dot(gap.normal);
        }
        (pair.normal, pair.point, pair.face) = (gap.normal, gap.point, gap.face);
        pair.last_gap = (t, gap.distance);
        Ok(gap)
    }

    /// Gap of a pair at time t, measured only if it was not at the same time: an impulse changes only its
    /// rate.
    fn gap_at(&mut self, index: u32, t: f64) -> Result<PairGap, Error> {
        let pair = &self.pairs[index as usize];
        let (time, distance) = pair.last_gap;
        if time != t || distance <= 0.0 {
            return self.measure_gap(index, t);
        }
        let (bodies, normal, point, face) = (pair.bodies, pair.normal, pair.point, pair.face);
        let [first, second] = bodies.map(|body| self.bodies[body as usize].at(t).velocity_at(point));
        Ok(PairGap { distance, normal, point, rate: (second - first).dot(normal), face })
    }

    /// Whether a pair with this gap collides now.
    pub fn is_colliding(&self, index: u32, t: f64, gap: &PairGap) -> bool {
        gap.distance < self.collision_distance(index, t, gap) && gap.rate < -self.least_approach()
    }

    /// Speed of approach, m/s, up to which bodies do not collide.
    fn least_approach(&self) -> f64 {
        1e-9 * self.fall_speed() + 1e-14
    }

    /// Whether impulses can move both bodies of a pair now.
    pub fn both_movable(&self, index: u32) -> bool {
        self.pairs[index as usize].bodies.iter().all(|body| self.bodies[*body as usize].is_movable())
    }

    /// Gap below which a pair collides, m: ε; smaller for a bounce, and for the return of a hop.
    ///
    /// A collision at the gap d, before the bodies have fallen through it, changes a rebound to e² h into one
    /// to e² (h − d) + d. So that this error is no more than a part [`BOUNCE_GAP_SHARE`] of a rebound that is
    /// not itself lost in ε, d is at most that part of (e u)²/2g. This applies to bodies in free flight
    /// towards a body that does not move; among other bodies that hit them, such narrow gaps would be used up
    /// at once.
    ///
    /// A hop that is measured early, because the bound on its motion is not sharp, is still slow. A collision
    /// there would make the next hop lower still. So it has to return to about the gap it started from, or to
    /// about its initial speed.
    fn collision_distance(&self, index: u32, t: f64, gap: &PairGap) -> f64 {
        if self.gravity_norm == 0.0 {
            return self.epsilon;
        }
        let pair = &self.pairs[index as usize];
        let (rebound, separation_speed) = (pair.restitution * gap.rate, pair.hop.1);
        let near = if -rebound > self.fall_speed() && self.lands_alone(index, t) {
            // Distances from an iteration are less accurate.
            let least = if gap.face.is_some() { BOUNCE_GAP_FACE } else { BOUNCE_GAP_SEARCHED } * self.epsilon;
            (BOUNCE_GAP_SHARE * 0.5 * rebound * rebound / self.gravity_norm).max(least)
        } else if separation_speed > 0.0
            && -gap.rate < HOP_RETURN_SPEED * separation_speed
            && !self.both_movable(index)
        {
            (pair.hop_gap + HOP_RETURN_DEPTH * 0.5 * separation_speed * separation_speed / self.gravity_norm)
                .max(HOP_RETURN_GAP * self.epsilon)
        } else {
            self.epsilon
        };
        near.min(self.epsilon)
    }

    /// Whether a body in free flight approaches one that impulses do not move, and is near to no other.
    fn lands_alone(&self, index: u32, t: f64) -> bool {
        let recently = t - FLIGHT_TIME * self.fall_time();
        let near = |other: &u32| {
            let pair = &self.pairs[*other as usize];
            *other != index && !pair.deferred && pair.gap_lower_bound(t) < ALONE_GAP * self.epsilon
        };
        !self.both_movable(index)
            && self.pairs[index as usize].bodies.iter().all(|body| {
                let body = &self.bodies[*body as usize];
                !body.is_movable() || (body.last_collision < recently && !body.pairs.iter().any(near))
            })
    }

    /// Schedules the next event of a pair whose gap has just been measured.
    pub fn schedule(&mut self, index: u32, t: f64, gap: &PairGap) {
        let pair = &mut self.pairs[index as usize];
        (pair.bound_time, pair.distance, pair.bound, pair.deferred) =
            (t, gap.distance, MotionBound::default(), false);
        let (pair_key, bodies) = (pair.pair_key(), pair.bodies);
        if self.is_colliding(index, t, gap)
            && bodies.iter().any(|body| self.bodies[*body as usize].is_movable())
        {
            self.pair_events.set(index, t, pair_key);
        } else if gap.distance > 0.0 {
            let apart = gap.distance > NEAR_GAP * self.epsilon;
            let near = if apart { self.epsilon } else { self.collision_distance(index, t, gap) };
            self.schedule_after(index, t, near);
        } else {
            // An overlap leaves no gap to bound: measure again soon.
            self.pair_events.set(index, t + 1e-3 * self.fall_time().min(1e-3), pair_key);
        }
    }

    /// Schedules a pair of known distance and normal for the time before which its gap cannot be below
    /// `near`.
    fn schedule_after(&mut self, index: u32, t: f64, near: f64) {
        let distance = self.pairs[index as usize].distance;
        if self.defer_pair(index, t, distance) {
            return;
        }
        let pair = &self.pairs[index as usize];
        let bodies = pair.bodies.map(|body| &self.bodies[body as usize]);
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let motion = bodies.map(BallisticBody::last_motion);
        let sigma = if near < self.epsilon {
            (pair.hop_gap / near).clamp(BOUNCE_MARGIN, self.landing_margin.max(BOUNCE_MARGIN))
        } else {
            self.landing_margin
        };
        let rule = LandingRule {
            epsilon: near,
            sigma,
            hop: self.least_hop * self.fall_speed(),
            climbs: self.both_movable(index),
            still: self.least_approach(),
        };
        let landing = |bound: MotionBound| bound.landing_time(distance, rule);
        let (mut wait, bound) =
            separation_time(parts, bodies, [&motion[0], &motion[1]], pair.normal, landing);
        let (pair_key, normal, face) = (pair.pair_key(), pair.normal, pair.face);
        let longest = CORNER_TIME_LIMIT * self.fall_time();
        if wait < longest && longest.is_finite() {
            let motion = [&motion[0], &motion[1]];
            let (bounds, is_near) = (&mut self.support_bounds, distance < self.epsilon);
            if corner_bounds(&mut self.corner_bounds, parts, bodies, motion, normal, face, longest) {
                wait = corner_bound::landing_time(&self.corner_bounds, distance, rule, [wait, longest]);
            } else if let Some(latest) =
                support_bounds(bounds, parts, bodies, motion, normal, face, longest, is_near)
            {
                wait = landing_time(&self.support_bounds, distance, rule, [wait, latest]);
            }
        }
        self.pairs[index as usize].bound = bound;
        self.pair_events.set(index, t + wait, pair_key);
    }

    /// After trajectories have been restarted: reschedules the bodies and their pairs. Pairs that are not
    /// near are not measured: the lower bound of their gap along the old normal is enough.
    pub fn motion_changed(&mut self, bodies: &[u32], t: f64) -> Result<(), Error> {
        for (place, body) in bodies.iter().enumerate() {
            self.rebase_odometer(*body);
            let beyond = self.bodies[*body as usize].odometer_at(self.horizon)
                > self.bodies[*body as usize].aabb_limit;
            if self.horizon > t && beyond {
                self.fatten_aabb(*body, t, self.horizon)?;
            }
            self.reschedule_body(*body, t);
            let mut affected = std::mem::take(&mut self.affected);
            affected.clone_from(&self.bodies[*body as usize].pairs);
            for index in &affected {
                let pair = &self.pairs[*index as usize];
                let seen = pair.bodies.iter().any(|other| bodies[..place].contains(other));
                if pair.deferred || seen {
                    continue;
                }
                let left = pair.gap_lower_bound(t);
                if left > NEAR_GAP * self.epsilon {
                    for other in pair.bodies {
                        self.bodies[other as usize].at(t);
                    }
                    let pair = &mut self.pairs[*index as usize];
                    (pair.bound_time, pair.distance) = (t, left);
                    self.schedule_after(*index, t, self.epsilon);
                } else {
                    let gap = self.gap_at(*index, t)?;
                    self.schedule(*index, t, &gap);
                }
            }
            self.affected = affected;
        }
        Ok(())
    }

    /// Event loop: runs all events until the end of the step.
    pub fn run_events(&mut self, world: &World, settings: &ImpulseSettings) -> Result<(), Error> {
        loop {
            let event = self.pair_events.first().filter(|first| first.0 <= self.end);
            let until = event.map_or(self.end, |first| first.0);
            if let Some((t, body)) = self.body_events.first().filter(|first| first.0 <= until) {
                self.current = EventKey { time: t, kind: EventKind::Deadline, number: body };
                self.reach_deadline(world, body, t)?;
                continue;
            }
            let Some((t, index)) = event else { return Ok(()) };
            self.current = EventKey { time: t, kind: EventKind::Pair, number: index };
            let gap = self.measure_gap(index, t)?;
            self.counters.overlaps += u64::from(gap.distance <= 0.0);
            if self.check_stall(index, t, settings)? {
                continue;
            }
            if self.is_colliding(index, t, &gap) {
                self.collide(world, settings, index, t, &gap)?;
            } else if self.pairs[index as usize].boxes_overlap {
                self.schedule(index, t, &gap);
            } else {
                self.end_pair(index);
            }
        }
    }

    /// Mean contact forces over the last window, with the keys of their pairs.
    pub fn forces(&self) -> impl Iterator<Item = (u64, ContactPoint)> + '_ {
        let alive = self.pairs.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        alive.filter(|(pair, _)| pair.force != DVec3::ZERO).map(|(pair, _)| {
            let force = ContactPoint {
                bodies: pair.bodies.map(|body| self.bodies[body as usize].id),
                shapes: pair.parts.map(|part| self.parts[part as usize].shape),
                // Bodies never overlap, and the gap of a contact is below ε.
                gap: 0.0,
                force: pair.force,
                point: pair.point,
                normal: pair.normal,
            };
            (pair.pair_key(), force)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Material, World};
    use rattleback_geometry::Shape;
    use std::collections::BTreeMap;

    fn keys(partition: &Partition) -> BTreeMap<u64, f64> {
        partition
            .pair_events
            .events()
            .map(|(time, pair)| (partition.pairs[pair as usize].pair_key(), time))
            .collect()
    }

    /// Impulse test 15: after a collision every event of the two bodies is what it would be if computed
    /// afresh, and no other has changed.
    #[test]
    fn a_collision_reschedules_the_pairs_of_its_bodies_and_no_others() {
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
        let mut partition = Partition::default();
        partition.build(&world, &settings, DVec3::new(0.0, 0.0, -9.81)).unwrap();
        partition.begin_step(1, 0.0, 0.0).unwrap();
        partition.run_events(&world, &settings).unwrap();
        let mut seen = 0;
        while seen < 40 {
            let first =
                |partition: &Partition| partition.pair_events.first().map_or(f64::INFINITY, |first| first.0);
            let body_time = partition.body_events.first().map_or(f64::INFINITY, |first| first.0);
            let t = first(&partition).min(body_time);
            let (before, collisions) = (keys(&partition), partition.counters.collisions);
            let (_, pair) = partition.pair_events.first().unwrap();
            let collided = partition.pairs[pair as usize].bodies;
            if body_time > first(&partition) {
                let gap = partition.measure_gap(pair, t).unwrap();
                if partition.is_colliding(pair, t, &gap) {
                    partition.collide(&world, &settings, pair, t, &gap).unwrap();
                } else {
                    partition.schedule(pair, t, &gap);
                }
            } else {
                partition.begin_step(partition.step + 1, t, t).unwrap();
                partition.run_events(&world, &settings).unwrap();
                continue;
            }
            if partition.counters.collisions == collisions {
                continue;
            }
            seen += 1;
            let after = keys(&partition);
            let own = |pair_key: u64| {
                let parts = [(pair_key >> 32) as usize, (pair_key & 0xffff_ffff) as usize];
                parts.iter().any(|part| {
                    let body = partition.local_of[partition.parts[*part].body as usize];
                    collided.contains(&body) && partition.bodies[body as usize].is_dynamic()
                })
            };
            for (pair_key, time) in before.iter().filter(|(pair_key, _)| !own(**pair_key)) {
                assert_eq!(after.get(pair_key), Some(time));
            }
            let free: Vec<u32> =
                collided.into_iter().filter(|a| partition.bodies[*a as usize].is_movable()).collect();
            partition.motion_changed(&free, t).unwrap();
            assert_eq!(keys(&partition), after);
        }
    }
}
