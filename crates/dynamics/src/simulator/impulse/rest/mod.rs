//! Rest: bodies that stand still because it has been proved that they can.
//!
//! A microcollision keeps a resting body hopping by a part of ε, which lets it creep down a slope and makes a stack of more
//! than three or four grind to a halt. So a body is put to rest for good when two things hold:
//!
//! 1. It has kept still: over 3, 12 or 48 times the time of a fall through ε its centre has moved at less than 0.3 √(2gε) on
//!    average, its surface has turned at less than 0.1 √(2gε), and it is no faster than 3 √(2gε) now. A body that slides and slows down is faster than that
//!    until the very last moment, so it is not stopped early.
//! 2. Its contacts can carry it: forces exist inside the cones of friction that balance its weight and every other load
//!    (`equilibrium`). This is asked of all bodies that lean on each other together. A neighbour that still hops counts as
//!    a load, the average of its impulses, as long as it presses and does not support.
//!
//! Two bodies that collide so often that time hardly passes are stopped on the spot, reported as stalled, and have to prove
//! at the next step that they can rest.
//!
//! A body at rest stands like a rock as long as it can: an impulse that its contacts can pass on, by the same proof, leaves it where
//! it is; one they cannot brings it back to life, with everybody it leans on or who leans on it. What hops on it is put
//! to the proof again from time to time.

mod equilibrium;

use super::actor::{Actor, Role};
use super::stage::Stage;
use crate::error::Error;
use crate::motion::Motion;
use crate::world::World;
use equilibrium::{Carried, Support, carries};
use glam::{DQuat, DVec3};
use rattleback_geometry::contact::collide_pieces;
use serde::{Deserialize, Serialize};

/// How long a body must keep still, in times of a fall through ε: towers sway longer than single bodies hop.
const STILL_TIMES: [f64; 3] = [3.0, 12.0, 48.0];
/// How fast it may be on average, in parts of the speed after a fall through ε.
const STILL_SPEED: f64 = 0.3;
/// How fast its surface may turn on average, in the same unit. Hopping makes bodies creep but not roll, so this is the stricter one.
const STILL_TURN: f64 = 0.1;
/// How fast a body that keeps still may be at any moment, in the same unit.
const FAST: f64 = 3.0;
/// How long a refusal holds, in times of a fall through ε.
const REFUSED: f64 = 6.0;
/// Part of its weight that may be left over for a body to come to rest, and to stay there: loads waver, so the second is larger.
const COMING: f64 = 5e-3;
const STAYING: f64 = 2e-2;
/// Gap, in ε, up to which bodies lean on each other.
const LEANING: f64 = 2.0;
/// Cosine between a force and gravity below which a hopping neighbour holds a body up, rather than pushing it aside or down.
const HOLDING_UP: f64 = -0.3;
/// Most bodies that are looked at together.
const LARGEST_GROUP: usize = 512;

/// Collisions faster than so many times √(2gε) always wake, and begin the watch anew.
pub(super) const HARD: f64 = 10.0;

/// Where a body was when it was last looked at, over three spans of time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Watch {
    looks: [(f64, DVec3, DQuat); 3],
    /// Until when it counts as still.
    still_until: f64,
    /// Stopped without a proof, for having stalled.
    pub held: bool,
    /// When what a resting body carries was last proved.
    pub proved: f64,
    /// When it was last asked in vain whether it can rest.
    refused: f64,
}

impl Watch {
    /// Begins anew.
    pub fn from(t: f64, now: &Motion) -> Self {
        Self {
            looks: [(t, now.x, now.q); 3],
            still_until: f64::NEG_INFINITY,
            held: false,
            proved: t,
            refused: f64::NEG_INFINITY,
        }
    }
}

/// Bodies that lean on each other, and what they lean on.
#[derive(Debug, Default)]
struct Group {
    members: Vec<u32>,
    bodies: Vec<Carried>,
    supports: Vec<Support>,
}

impl Stage {
    /// A body has collided slowly: if it has kept still long enough, tries to put it to rest.
    pub fn watch(&mut self, world: &World, index: u32, t: f64) -> Result<(), Error> {
        let (fall_time, slow) = (self.fall_time(), self.slow());
        let actor = &mut self.actors[index as usize];
        if actor.role != Role::Flying || t - actor.watch.looks[0].0 < STILL_TIMES[0] * fall_time {
            return Ok(());
        }
        let now = actor.at(t);
        let radius = self.parts[actor.parts.clone()].iter().map(|part| part.radius).fold(0.0, f64::max);
        let fast = now.v.length() + radius * now.omega.length() > FAST * slow;
        let mut due = false;
        for (look, span) in actor.watch.looks.iter_mut().zip(STILL_TIMES) {
            if t - look.0 < span * fall_time {
                continue;
            }
            let turned = 2.0 * (look.2.conjugate() * now.q).xyz().length();
            let (way, unit) = ((now.x - look.1).length(), slow * (t - look.0));
            if !fast && way < STILL_SPEED * unit && radius * turned < STILL_TURN * unit {
                due = true;
                actor.watch.still_until = t + (t - look.0);
            }
            *look = (t, now.x, now.q);
        }
        // What leans on each other is asked together, so one answer holds for all for a while.
        let asked = t - actor.watch.refused < REFUSED * fall_time;
        if due && !asked && world.body(actor.id)?.can_sleep() {
            self.try_rest(index, t)?;
        }
        Ok(())
    }

    fn try_rest(&mut self, index: u32, t: f64) -> Result<(), Error> {
        let Some(mut group) = self.group(index, t)? else { return Ok(()) };
        if !carries(&mut group.bodies, &mut group.supports, self.weight, COMING) {
            for member in &group.members {
                self.actors[*member as usize].watch.refused = t;
            }
            return Ok(());
        }
        self.note_forces(&group, t);
        let fresh: Vec<u32> =
            group.members.iter().copied().filter(|member| self.actors[*member as usize].yields()).collect();
        for member in &fresh {
            let actor = &mut self.actors[*member as usize];
            let now = actor.at(t);
            actor.role = Role::Resting;
            actor.set_out(t, Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..now });
            actor.watch.proved = t;
        }
        self.counters.rested += fresh.len() as u64;
        self.moved(&fresh, t)
    }

    /// Stops two bodies that have stalled until the next step, where they have to prove that they can rest.
    pub fn hold(&mut self, actors: [u32; 2], t: f64) -> Result<(), Error> {
        let held: Vec<u32> =
            actors.into_iter().filter(|actor| self.actors[*actor as usize].yields()).collect();
        for index in &held {
            let actor = &mut self.actors[*index as usize];
            let now = actor.at(t);
            actor.role = Role::Resting;
            actor.set_out(t, Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..now });
            actor.watch.held = true;
        }
        self.moved(&held, t)
    }

    /// Lets go whoever was held and cannot prove that it can rest.
    pub fn release(&mut self, t: f64) -> Result<(), Error> {
        for index in 0..self.actors.len() as u32 {
            let actor = &mut self.actors[index as usize];
            if actor.watch.held {
                (actor.watch.held, actor.watch.proved) = (false, f64::NEG_INFINITY);
                self.prove_again(index, t)?;
            }
        }
        Ok(())
    }

    /// Looks again whether a resting body can carry what has been put on it.
    pub fn prove_again(&mut self, index: u32, t: f64) -> Result<(), Error> {
        if t - self.actors[index as usize].watch.proved < STILL_TIMES[1] * self.fall_time() {
            return Ok(());
        }
        self.actors[index as usize].watch.proved = t;
        let carried = match self.group(index, t)? {
            Some(mut group) => {
                let carried = carries(&mut group.bodies, &mut group.supports, self.weight, STAYING);
                if carried {
                    self.note_forces(&group, t);
                }
                carried
            }
            None => false,
        };
        if carried { Ok(()) } else { self.wake(index, t) }
    }

    /// Whether a resting body can pass an impulse at a point on to what it leans on, and stay where it is.
    pub fn absorbs(&mut self, index: u32, t: f64, p: DVec3, point: DVec3, speed: f64) -> Result<bool, Error> {
        if speed > HARD * self.slow() {
            return Ok(false);
        }
        // Slow, and downwards: the everyday hopping of whatever rests on it.
        if speed < self.slow() && p.dot(self.gravity) > 0.7 * p.length() * self.weight {
            return Ok(true);
        }
        let Some(mut group) = self.group(index, t)? else { return Ok(false) };
        let tau = self.fall_time();
        for body in &mut group.bodies {
            body.v *= tau;
            body.omega *= tau;
        }
        let arm = point - self.actors[index as usize].at(t).x;
        let struck = &mut group.bodies[0];
        struck.v += struck.inverse_mass * p;
        struck.omega += struck.inverse_inertia * arm.cross(p);
        let scale = self.weight * tau + struck.inverse_mass * p.length();
        Ok(carries(&mut group.bodies, &mut group.supports, scale, STAYING))
    }

    /// The forces of a proof are the forces of the contacts.
    fn note_forces(&mut self, group: &Group, t: f64) {
        for support in &group.supports {
            let pair = &mut self.pairs[support.pair as usize];
            pair.force = DVec3::ZERO;
            pair.impulse = DVec3::ZERO;
            pair.summed_since = t;
        }
        for support in &group.supports {
            self.pairs[support.pair as usize].force += support.force;
        }
    }

    /// Brings a resting body back to life, and everybody it leans on or who leans on it.
    pub fn wake(&mut self, index: u32, t: f64) -> Result<(), Error> {
        if self.actors[index as usize].role != Role::Resting {
            return Ok(());
        }
        let mut awake = vec![index];
        let mut next = 0;
        self.rouse(index, t);
        while let Some(one) = awake.get(next).copied() {
            next += 1;
            for pair in self.actors[one as usize].pairs.clone() {
                let other = self.partner(pair, one);
                if !self.pairs[pair as usize].dozing
                    && self.actors[other as usize].role == Role::Resting
                    && self.look(pair, t)?.distance < LEANING * self.epsilon
                {
                    self.rouse(other, t);
                    awake.push(other);
                }
            }
        }
        self.counters.woken += awake.len() as u64;
        self.moved(&awake, t)
    }

    fn rouse(&mut self, index: u32, t: f64) {
        let actor = &mut self.actors[index as usize];
        actor.role = Role::Flying;
        let motion = actor.start;
        actor.set_out(t, motion);
        actor.watch = Watch::from(t, &motion);
    }

    fn partner(&self, pair: u32, actor: u32) -> u32 {
        let [a, b] = self.pairs[pair as usize].actors;
        if a == actor { b } else { a }
    }

    /// Everybody who leans on everybody else from one body on; None if one of them cannot be at rest.
    fn group(&mut self, start: u32, t: f64) -> Result<Option<Group>, Error> {
        let mut group = Group { members: vec![start], ..Group::default() };
        let mut next = 0;
        while let Some(member) = group.members.get(next).copied() {
            group.bodies.push(self.carried(member, t));
            for pair in self.actors[member as usize].pairs.clone() {
                let dozing = self.pairs[pair as usize].dozing;
                if dozing || group.supports.iter().any(|support| support.pair == pair) {
                    continue;
                }
                let gap = self.look(pair, t)?;
                if gap.distance >= LEANING * self.epsilon {
                    continue;
                }
                let other = self.partner(pair, member);
                let neighbor = &self.actors[other as usize];
                let firm = match neighbor.role {
                    Role::Fixed => true,
                    Role::Scripted => {
                        if !neighbor.script.as_ref().is_some_and(super::script::Script::is_still) {
                            return Ok(None);
                        }
                        true
                    }
                    Role::Flying if neighbor.watch.still_until < t => {
                        if !self.presses(pair, member, &mut group, next, t) {
                            return Ok(None);
                        }
                        continue;
                    }
                    Role::Flying | Role::Resting => false,
                };
                if !firm && !group.members.contains(&other) {
                    if group.members.len() >= LARGEST_GROUP {
                        return Ok(None);
                    }
                    group.members.push(other);
                }
                self.lean(pair, &mut group, t)?;
            }
            next += 1;
        }
        for support in &mut group.supports {
            let actors = self.pairs[support.pair as usize].actors;
            support.bodies = actors.map(|actor| group.members.iter().position(|member| *member == actor));
        }
        // From the ground up.
        let gravity = self.gravity;
        let height = |support: &Support| -gravity.dot(support.place);
        group.supports.sort_by(|a, b| height(a).total_cmp(&height(b)));
        Ok(Some(group))
    }

    fn carried(&mut self, member: u32, t: f64) -> Carried {
        let actor = &mut self.actors[member as usize];
        let now = actor.at(t);
        let radius = self.parts[actor.parts.clone()].iter().map(|part| part.radius).fold(0.0, f64::max);
        let (inverse_mass, inverse_inertia) = Actor::mobility_of(&actor.inertia, &now);
        Carried { inverse_mass, inverse_inertia, radius, v: self.gravity, omega: DVec3::ZERO }
    }

    /// Adds what a hopping neighbour does to a member on average; false if it holds the member up.
    fn presses(&mut self, pair: u32, member: u32, group: &mut Group, place: usize, t: f64) -> bool {
        let record = &self.pairs[pair as usize];
        let (span, window) = (t - record.summed_since, STILL_TIMES[1] * self.fall_time());
        // A few impulses are no average: what was known before counts as much as a window.
        let force = (record.impulse + window * record.force) / (span + window);
        let sign = if record.actors[1] == member { 1.0 } else { -1.0 };
        let force = sign * force;
        if force.dot(self.gravity) < HOLDING_UP * force.length() * self.weight {
            return false;
        }
        let normal_point = record.point;
        let actor = &mut self.actors[member as usize];
        let arm = normal_point - actor.at(t).x;
        let body = &mut group.bodies[place];
        body.v += body.inverse_mass * force;
        body.omega += body.inverse_inertia * arm.cross(force);
        true
    }

    /// Adds the points where a pair leans on each other.
    fn lean(&mut self, index: u32, group: &mut Group, t: f64) -> Result<(), Error> {
        let pair = &mut self.pairs[index as usize];
        let motion = pair.actors.map(|actor| self.actors[actor as usize].at(t));
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let (a, b) = (motion[0].pose() * parts[0].place, motion[1].pose() * parts[1].place);
        let geometry = |source| super::ImpulseError::Geometry { source };
        let pieces = (parts[0].piece().map_err(geometry)?, parts[1].piece().map_err(geometry)?);
        let manifold =
            collide_pieces(&pieces.0, &pieces.1, &a.relative(&b), LEANING * self.epsilon, &mut pair.cache)
                .map_err(geometry)?;
        let Some(manifold) = manifold else { return Ok(()) };
        for point in manifold.points() {
            let place = a.point(0.5 * (point.point_a + point.point_b));
            group.supports.push(Support {
                bodies: [None; 2],
                arms: [place - motion[0].x, place - motion[1].x],
                normal: a.vector(manifold.normal),
                friction: pair.holding_friction,
                levers: pair.rolling,
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: index,
                place,
            });
        }
        Ok(())
    }
}
