//! Rest: bodies that stand still because it has been proved that they can.
//!
//! A micro-collision keeps a resting body hopping by a part of ε, which lets it creep down a slope and makes a stack of more
//! than three or four grind to a halt. So a body is put to rest for good when two things hold:
//!
//! 1. It keeps still (`watch`): at this moment, or on average over 3, 12 or 48 times the time τ of a fall through ε, no point of its surface is
//!    faster than 0.3 √(2gε).
//! 2. Its contacts can stop it and carry it: let its weight act for a time T = 12τ on the body with its (mean) velocity. There are
//!    impulses inside the cones of friction after which nothing is left (`equilibrium`), neither of the momentum it had nor of the momentum
//!    that its weight has given to it. This is asked of all bodies that lean on each other together. A neighbour that moves counts as
//!    a load, the average of its impulses, as long as it presses and does not support.
//!
//! The second is what keeps rolling bodies rolling, however slow they are: the contact of a ball cannot take away the momentum of rolling. A
//! body that slides has v²/(2μg) < 0.05 ε/μ to go when it is stopped.
//!
//! Bodies with too many events in a step are stopped on the spot, reported as stalled, and have to prove at the next step that they can rest.
//!
//! A body at rest does not move as long as it can: an impulse that its contacts can pass on, by the same proof, leaves it where
//! it is; one they cannot wakes it, with all resting bodies it is in contact with. What hops on it is put to the proof again
//! from time to time.

mod cone;
mod equilibrium;
mod sweep;
mod watch;

use super::actor::{Actor, Role};
use super::stage::Stage;
use crate::error::Error;
use crate::motion::Motion;
use crate::world::World;
use equilibrium::{Carried, Support, carries};
use glam::DVec3;
use rattleback_geometry::contact::collide_pieces;
pub(super) use watch::Watch;
use watch::{SPANS, Scale};

/// Time within which contacts have to be able to stop a body, in times of a fall through ε.
const STOPPING: f64 = 12.0;
/// How long a refusal holds, in the same unit.
const REFUSED: f64 = 6.0;
/// Part of its weight that may be left over for a body to come to rest, and to stay there: loads waver, so the second is larger.
const COMING: f64 = 1e-3;
const STAYING: f64 = 1e-2;
/// Gap, in ε, up to which bodies lean on each other.
const LEANING: f64 = 2.0;
/// Cosine between a force and gravity below which a hopping neighbour holds a body up, rather than pushing it aside or down.
const HOLDING_UP: f64 = -0.3;
/// Most bodies that are looked at together.
const LARGEST_GROUP: usize = 512;

/// Collisions faster than so many times √(2gε) always wake, and begin the watch anew.
pub(super) const HARD: f64 = 10.0;

/// Bodies that lean on each other, and what they lean on.
#[derive(Debug, Default)]
struct Group {
    members: Vec<u32>,
    bodies: Vec<Carried>,
    supports: Vec<Support>,
    /// Time the loads have acted for, s.
    span: f64,
}

impl Stage {
    /// A body has collided slowly: if it keeps still, tries to put it to rest.
    pub fn watch(&mut self, world: &World, index: u32, t: f64) -> Result<(), Error> {
        let scale = self.scale();
        let radius = self.radius(index);
        let actor = &mut self.actors[index as usize];
        if actor.role != Role::Flying {
            return Ok(());
        }
        let now = actor.at(t);
        actor.watch.update(t, &now, radius, scale);
        // Bodies in contact are asked together, so one answer holds for all for a while.
        let asked = t - actor.watch.refused < REFUSED * scale.time;
        if !asked && actor.watch.drift(t, &now, radius, scale).is_some() && world.body(actor.id)?.can_sleep()
        {
            self.try_rest(index, t)?;
        }
        Ok(())
    }

    fn scale(&self) -> Scale {
        Scale { speed: self.slow(), time: self.fall_time() }
    }

    /// Largest distance of the surface of a body from its centre of mass, m.
    fn radius(&self, index: u32) -> f64 {
        let parts = self.actors[index as usize].parts.clone();
        self.parts[parts].iter().map(|part| part.radius).fold(0.0, f64::max)
    }

    /// Velocities of a body that rests or keeps still.
    fn drift(&mut self, index: u32, t: f64) -> Option<(DVec3, DVec3)> {
        let (scale, radius) = (self.scale(), self.radius(index));
        let actor = &mut self.actors[index as usize];
        let now = actor.at(t);
        if actor.role == Role::Resting {
            return Some((DVec3::ZERO, DVec3::ZERO));
        }
        actor.watch.drift(t, &now, radius, scale)
    }

    fn try_rest(&mut self, index: u32, t: f64) -> Result<(), Error> {
        let span = STOPPING * self.fall_time();
        // With all that keeps still; or, if that fails, with what hops on it as a load, so that a pile comes to rest from the ground up.
        for joining in [true, false] {
            let Some(mut group) = self.group(index, t, span, joining)? else { continue };
            if carries(&mut group.bodies, &mut group.supports, self.weight * span, COMING) {
                return self.put_to_rest(&group, t);
            }
            for member in &group.members {
                self.actors[*member as usize].watch.refused = t;
            }
            if !group.members[1..].iter().any(|member| self.actors[*member as usize].yields()) {
                break;
            }
        }
        self.actors[index as usize].watch.refused = t;
        Ok(())
    }

    fn put_to_rest(&mut self, group: &Group, t: f64) -> Result<(), Error> {
        self.note_forces(group, t);
        let fresh: Vec<u32> =
            group.members.iter().copied().filter(|member| self.actors[*member as usize].yields()).collect();
        for member in &fresh {
            self.stop(*member, t);
            self.actors[*member as usize].watch.proved = t;
        }
        self.counters.rested += fresh.len() as u64;
        self.moved(&fresh, t)
    }

    fn stop(&mut self, index: u32, t: f64) {
        let actor = &mut self.actors[index as usize];
        let now = actor.at(t);
        actor.role = Role::Resting;
        actor.set_out(t, Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..now });
        self.account_stop(index, &now);
    }

    /// Stops bodies that have stalled until the next step, where they have to prove that they can rest.
    pub fn hold(&mut self, stalled: &[u32], t: f64) -> Result<(), Error> {
        for index in stalled {
            self.stop(*index, t);
            self.actors[*index as usize].watch.held = true;
        }
        self.moved(stalled, t)
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
        if t - self.actors[index as usize].watch.proved < SPANS[1] * self.fall_time() {
            return Ok(());
        }
        self.actors[index as usize].watch.proved = t;
        let span = STOPPING * self.fall_time();
        let carried = match self.group(index, t, span, false)? {
            Some(mut group) => {
                let carried = carries(&mut group.bodies, &mut group.supports, self.weight * span, STAYING);
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
        if self.actors[index as usize].watch.held {
            return Ok(true);
        }
        // Slow, and downwards: the everyday hopping of whatever rests on it.
        if speed < self.slow() && p.dot(self.gravity) > 0.7 * p.length() * self.weight {
            return Ok(true);
        }
        let tau = self.fall_time();
        let Some(mut group) = self.group(index, t, tau, true)? else { return Ok(false) };
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
            self.pairs[support.pair as usize].force += support.force / group.span;
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

    /// All resting bodies in contact with each other from one body on, and all that keep still if these are to join, after
    /// their weight has acted for a time; none if one of them cannot be at rest.
    fn group(&mut self, start: u32, t: f64, span: f64, joining: bool) -> Result<Option<Group>, Error> {
        let mut group = Group { members: vec![start], span, ..Group::default() };
        let mut next = 0;
        while let Some(member) = group.members.get(next).copied() {
            let Some(drift) = self.drift(member, t) else { return Ok(None) };
            group.bodies.push(self.carried(member, t, span, drift));
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
                let still = group.members.contains(&other)
                    || self.actors[other as usize].role == Role::Resting
                    || (joining && self.drift(other, t).is_some());
                let neighbor = &self.actors[other as usize];
                let firm = match neighbor.role {
                    Role::Fixed => true,
                    Role::Scripted => {
                        if !neighbor.script.as_ref().is_some_and(super::script::Script::is_still) {
                            return Ok(None);
                        }
                        true
                    }
                    Role::Flying if !still => {
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

    fn carried(&mut self, member: u32, t: f64, span: f64, (v, omega): (DVec3, DVec3)) -> Carried {
        let radius = self.radius(member);
        let actor = &mut self.actors[member as usize];
        let now = actor.at(t);
        let (inverse_mass, inverse_inertia) = Actor::mobility_of(&actor.inertia, &now);
        Carried { inverse_mass, inverse_inertia, radius, v: v + span * self.gravity, omega }
    }

    /// Adds what a hopping neighbour does to a member on average; false if it holds the member up.
    fn presses(&mut self, pair: u32, member: u32, group: &mut Group, place: usize, t: f64) -> bool {
        let record = &self.pairs[pair as usize];
        let (span, window) = (t - record.summed_since, SPANS[1] * self.fall_time());
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
        let impulse = group.span * force;
        body.v += body.inverse_mass * impulse;
        body.omega += body.inverse_inertia * arm.cross(impulse);
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
