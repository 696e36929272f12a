//! The stage: all actors, their pairs and appointments, and the loop over events.

use super::actor::{Actor, Role};
use super::heap::Agenda;
use super::neighbors::Neighbors;
use super::pair::{Gap, Pair, measure, time_apart};
use super::part::{Part, parts_of};
use super::reach::Bound;
use super::script::Script;
use super::{ContactForce, ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::motion::{Motion, Wrench};
use crate::world::{BodyId, Event, Status, World};
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;
use rattleback_geometry::space::{SpaceCounters, SpaceKind};
use rattleback_numerics::damping::Damping;
use serde::{Deserialize, Serialize};

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

/// Everything the event loop works on.
#[derive(Debug, Default)]
pub(super) struct Stage {
    pub actors: Vec<Actor>,
    pub parts: Vec<Part>,
    pub pairs: Vec<Pair>,
    /// Whether a pair of that number is alive; dead ones wait in `spare`.
    pub alive: Vec<bool>,
    pub spare: Vec<u32>,
    pub agenda: Agenda,
    pub neighbors: Neighbors,
    /// Until when the boxes of the neighbours hold.
    pub end: f64,
    pub epsilon: f64,
    landing: f64,
    /// |g|: how hard things fall.
    pub weight: f64,
    pub gravity: DVec3,
    pub counters: ImpulseCounters,
    pub events: Vec<Event>,
    pub smallest_gap: f64,
    came: Vec<[u32; 2]>,
    parted: Vec<[u32; 2]>,
    renew: Vec<u32>,
}

impl Stage {
    /// Takes everybody in the world on stage.
    pub fn enlist(&mut self, world: &World, settings: &ImpulseSettings, gravity: DVec3) -> Result<(), Error> {
        let counters = self.counters;
        *self = Self {
            counters,
            gravity,
            weight: gravity.length(),
            smallest_gap: f64::INFINITY,
            ..Self::default()
        };
        let time = world.time();
        for status in [Status::Dynamic, Status::Animated, Status::Fixed] {
            for (place, id) in world.bodies().ids(status).iter().enumerate() {
                self.enlist_body(world, *id, status, place, time)?;
            }
        }
        self.epsilon = if settings.collision_epsilon > 0.0 {
            settings.collision_epsilon
        } else {
            self.natural_epsilon()
        };
        self.landing = settings.landing_margin;
        self.open_space(settings, time)
    }

    fn enlist_body(
        &mut self,
        world: &World,
        id: BodyId,
        status: Status,
        place: usize,
        time: f64,
    ) -> Result<(), Error> {
        let body = world.body(id)?;
        let index = self.actors.len() as u32;
        let script = body.path().map(|(path, start)| Script::new(path.clone(), start));
        let role = match (status, &script) {
            (Status::Dynamic, _) => Role::Flying,
            (Status::Animated, Some(_)) => Role::Scripted,
            _ => Role::Fixed,
        };
        // A body turns about its centre of mass if it is free, and about the origin of its path if that moves it.
        let (motion, frame) = if role == Role::Scripted {
            let pose = body.pose();
            let motion = *body.motion();
            (Motion { x: pose.translation, q: pose.rotation, ..motion }, rattleback_geometry::Pose::IDENTITY)
        } else {
            (*body.motion(), body.body_from_principal().inverse())
        };
        let mut actor = Actor::new(
            id,
            role,
            place,
            time,
            motion,
            *world.bodies().inertia_of(id).unwrap_or(&crate::motion::Inertia::default()),
        );
        if role == Role::Flying {
            actor.gravity = self.gravity;
        }
        actor.script = script.filter(|_| role == Role::Scripted);
        let first = self.parts.len();
        for shape in body.shapes() {
            let attached = world.shape(*shape)?;
            if !attached.sensor {
                parts_of(attached, *shape, index, frame * attached.pose, &mut self.parts);
            }
        }
        actor.parts = first..self.parts.len();
        self.actors.push(actor);
        Ok(())
    }

    /// A thousandth of the smallest moving body.
    fn natural_epsilon(&self) -> f64 {
        let size = |actor: &Actor| {
            self.parts[actor.parts.clone()].iter().map(|part| 2.0 * part.radius).fold(0.0, f64::max)
        };
        let smallest = self
            .actors
            .iter()
            .filter(|actor| actor.role == Role::Flying)
            .map(size)
            .filter(|size| *size > 0.0)
            .fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { 1e-3 * smallest } else { 1e-3 }
    }

    /// Slower than this, two bodies that close in are resting on each other: the speed of a fall through ε.
    pub fn slow(&self) -> f64 {
        (2.0 * self.weight * self.epsilon).sqrt()
    }

    /// How long a fall through ε takes.
    pub fn fall_time(&self) -> f64 {
        if self.weight > 0.0 { (2.0 * self.epsilon / self.weight).sqrt() } else { f64::INFINITY }
    }

    /// Puts a box around every part as it is now.
    fn open_space(&mut self, settings: &ImpulseSettings, time: f64) -> Result<(), Error> {
        let kind = SpaceKind::from_name(&settings.space).map_err(|source| ImpulseError::Space { source })?;
        self.neighbors = Neighbors::new(kind);
        self.end = time;
        for part in &self.parts {
            let actor = &self.actors[part.actor as usize];
            let bounds = part.aabb(&actor.start.pose());
            self.neighbors
                .add(bounds.as_ref(), actor.moves())
                .map_err(|source| ImpulseError::Space { source })?;
        }
        self.neighbors.build();
        Ok(())
    }

    /// Makes the swept boxes of all actors good until `end`, and pairs of whoever comes close.
    pub fn open_window(&mut self, world: &World, time: f64, end: f64) -> Result<(), Error> {
        self.end = end;
        for pair in &mut self.pairs {
            // So that a run which is taken up from a snapshot goes on bit for bit.
            pair.cache = PieceCache::default();
        }
        for actor in 0..self.actors.len() as u32 {
            if self.actors[actor as usize].moves() {
                self.spread(actor, time)?;
            }
        }
        self.hear_news(world, time)?;
        self.release(world, time)?;
        for index in 0..self.pairs.len() as u32 {
            if self.alive[index as usize] && !self.pairs[index as usize].close {
                self.part_ways(index);
            }
        }
        Ok(())
    }

    /// Gives every part of an actor a box it does not leave until the end of the window; tells whether any had to change.
    fn spread(&mut self, actor: u32, time: f64) -> Result<bool, Error> {
        let who = &mut self.actors[actor as usize];
        let now = who.at(time);
        let window = (self.end - time).max(0.0);
        let mut changed = false;
        for index in who.parts.clone() {
            let Some(bounds) = who.swept(&self.parts[index], &now, window) else { continue };
            let space = |source| ImpulseError::Space { source };
            if !self.neighbors.bounds(index).map_err(space)?.contains_box(&bounds) {
                let roomy = bounds.enlarged(self.epsilon).unwrap_or(bounds);
                self.neighbors.set(index, &roomy).map_err(space)?;
                changed = true;
            }
        }
        Ok(changed)
    }

    /// Makes pairs of who has come close, and notes who has parted.
    pub fn hear_news(&mut self, world: &World, time: f64) -> Result<(), Error> {
        let (mut came, mut parted) = (std::mem::take(&mut self.came), std::mem::take(&mut self.parted));
        self.neighbors.news(&mut came, &mut parted);
        for parts in &parted {
            if let Some(index) = self.find(*parts) {
                self.pairs[index as usize].close = false;
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
        let actors = parts.map(|part| &self.actors[self.parts[part as usize].actor as usize].pairs);
        let shorter = if actors[0].len() < actors[1].len() { actors[0] } else { actors[1] };
        shorter.iter().copied().find(|pair| self.pairs[*pair as usize].parts == parts)
    }

    fn introduce(&mut self, world: &World, [a, b]: [u32; 2], time: f64) -> Result<(), Error> {
        let parts = [a.min(b), a.max(b)];
        let actors = parts.map(|part| self.parts[part as usize].actor);
        if actors[0] == actors[1] || !actors.iter().any(|a| self.actors[*a as usize].is_free()) {
            return Ok(());
        }
        if let Some(index) = self.find(parts) {
            self.pairs[index as usize].close = true;
            return Ok(());
        }
        let shapes = parts.map(|part| self.parts[part as usize].shape);
        if !world.admit_pair(shapes[0], shapes[1])? {
            return Ok(());
        }
        let surface = world.mixed_material(shapes[0], shapes[1])?;
        let pair = Pair {
            parts,
            actors,
            close: true,
            cache: PieceCache::default(),
            restitution: surface.restitution,
            friction: surface.kinetic_friction,
            holding_friction: surface.static_friction,
            impulse: DVec3::ZERO,
            summed_since: time,
            force: DVec3::ZERO,
            normal: DVec3::Z,
            point: DVec3::ZERO,
            collisions: 0,
            counted_since: time,
        };
        self.counters.pairs_made += 1;
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
            self.actors[actor as usize].pairs.push(index);
        }
        let gap = self.look(index, time)?;
        if gap.distance <= 0.0 {
            return Err(ImpulseError::Overlap {
                bodies: actors.map(|actor| self.actors[actor as usize].id),
                depth: -gap.distance,
                time,
            }
            .into());
        }
        self.appoint(index, time, &gap);
        Ok(())
    }

    fn part_ways(&mut self, index: u32) {
        self.agenda.cancel(index);
        self.alive[index as usize] = false;
        self.spare.push(index);
        for actor in self.pairs[index as usize].actors {
            let pairs = &mut self.actors[actor as usize].pairs;
            if let Some(place) = pairs.iter().position(|pair| *pair == index) {
                pairs.swap_remove(place);
            }
        }
    }

    /// Measures the gap of a pair at time t.
    pub fn look(&mut self, index: u32, t: f64) -> Result<Gap, Error> {
        self.counters.checks += 1;
        let pair = &mut self.pairs[index as usize];
        let motion = pair.actors.map(|actor| self.actors[actor as usize].at(t));
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let mut gap = measure(parts, [&motion[0], &motion[1]], &mut pair.cache, pair.normal)
            .map_err(|source| ImpulseError::Geometry { source })?;
        self.smallest_gap = self.smallest_gap.min(gap.distance);
        if gap.distance <= 0.0 {
            // Rounding at most, or a shape that lies about itself: the last normal still leads apart.
            gap.normal = pair.normal;
            gap.rate = (motion[1].velocity_at(gap.point) - motion[0].velocity_at(gap.point)).dot(gap.normal);
        }
        (pair.normal, pair.point) = (gap.normal, gap.point);
        Ok(gap)
    }

    /// Whether a pair with this gap collides now.
    pub fn touches(&self, gap: &Gap) -> bool {
        gap.distance < self.epsilon && gap.rate < -(1e-9 * self.slow() + 1e-14)
    }

    /// Gives a pair its next appointment.
    pub fn appoint(&mut self, index: u32, t: f64, gap: &Gap) {
        let pair = &self.pairs[index as usize];
        let tie = pair.tie();
        let time =
            if self.touches(gap) && pair.actors.iter().any(|actor| self.actors[*actor as usize].yields()) {
                t
            } else {
                let actors = pair.actors.map(|actor| &self.actors[actor as usize]);
                let parts = pair.parts.map(|part| &self.parts[part as usize]);
                let motion = actors.map(Actor::recent);
                let landing = |bound: Bound| bound.landing_time(gap.distance, self.epsilon, self.landing);
                let wait = time_apart(parts, actors, [&motion[0], &motion[1]], gap.normal, landing);
                // An overlap leaves no gap to be used up: look again after a moment.
                if gap.distance > 0.0 { t + wait } else { t + 1e-3 * self.fall_time().min(1e-3) }
            };
        self.agenda.set(index, time, tie);
    }

    /// After the motion of an actor has changed: new boxes, new neighbours, new appointments.
    pub fn moved(&mut self, world: &World, actors: &[u32], t: f64) -> Result<(), Error> {
        let mut spread = false;
        for actor in actors {
            spread |= self.spread(*actor, t)?;
        }
        if spread {
            self.hear_news(world, t)?;
        }
        let mut renew = std::mem::take(&mut self.renew);
        renew.clear();
        for actor in actors {
            for pair in &self.actors[*actor as usize].pairs {
                if !renew.contains(pair) {
                    renew.push(*pair);
                }
            }
        }
        for index in &renew {
            let gap = self.look(*index, t)?;
            self.appoint(*index, t, &gap);
        }
        self.renew = renew;
        Ok(())
    }

    /// Plays everything that happens until the end of the window.
    pub fn play(&mut self, world: &World, settings: &ImpulseSettings) -> Result<(), Error> {
        while let Some((t, index)) = self.agenda.first().filter(|first| first.0 <= self.end) {
            let gap = self.look(index, t)?;
            self.counters.overlaps += u64::from(gap.distance <= 0.0);
            if self.touches(&gap) {
                self.collide(world, settings, index, t, &gap)?;
            } else if self.pairs[index as usize].close {
                self.appoint(index, t, &gap);
            } else {
                // A pair leaves only when its turn has come, so that nobody comes and goes at the border of a cell.
                self.part_ways(index);
            }
        }
        Ok(())
    }

    /// Kicks and damps a body for a time h.
    pub fn kick(&mut self, actor: u32, t: f64, wrench: Wrench, h: f64) {
        let who = &mut self.actors[actor as usize];
        let mut motion = who.at(t);
        motion.v += h * who.inertia.inverse_mass * wrench.force;
        motion.omega += who.inertia.angular_velocity(motion.q, h * wrench.torque);
        motion.v *= Damping::Exponential.factor(who.inertia.linear_damping, h);
        motion.omega *= Damping::Exponential.factor(who.inertia.angular_damping, h);
        who.set_out(t, motion);
    }

    /// What the space has done.
    pub fn space_counters(&self) -> SpaceCounters {
        self.neighbors.counters()
    }

    /// Whether any body is slowed by damping.
    pub fn any_damping(&self) -> bool {
        self.actors
            .iter()
            .any(|actor| actor.inertia.linear_damping > 0.0 || actor.inertia.angular_damping > 0.0)
    }

    /// Whether the world is no longer the one that was taken on stage.
    pub fn is_stale(&self, world: &World, gravity: DVec3) -> bool {
        let bodies = world.bodies();
        let ids = bodies.ids(Status::Dynamic);
        let dynamic = self.actors.iter().take_while(|actor| actor.is_free());
        self.gravity != gravity
            || self.actors.len() + bodies.count(Status::Inactive) != bodies.len()
            || !dynamic.map(|actor| actor.id).eq(ids.iter().copied())
    }

    /// Average contact forces over the last window.
    pub fn forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let alive = self.pairs.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        alive.filter(|(pair, _)| pair.force != DVec3::ZERO).map(|(pair, _)| ContactForce {
            bodies: pair.actors.map(|actor| self.actors[actor as usize].id),
            force: pair.force,
            point: pair.point,
            normal: pair.normal,
        })
    }
}
