//! What happens when two bodies meet.
//!
//! One impulse p at one point: +p on the second body, −p on the first, by the contact law. Slower than a fall through ε, it
//! is a microcollision and answered by its own rule. A resting body stands like a rock against slow collisions and is
//! woken by faster ones.
//!
//! A rim that rattles falls faster than with g: its contact runs round while it is in the air. A coin under others is pressed down by their
//! hops. So that their hops are as high as others, and not lower and more frequent, the least rebound is that of a fall through ε with the pull a
//! of the gap, √(2aε), and likewise the speed up to which a collision counts as slow. Parted at v and closing in at u a time h later,
//! a = (v + u)/h, of the last hop if nothing else touched the two, else as Σ(v + u)/Σh over some hops: in the long run, what its own
//! impulses give a gap is what everything else takes from it.
//!
//! Who rolls is slowed by what happens in the contact itself: the normal impulse p_n acts up to b ahead of the contact point, b the
//! lever of rolling friction, so that a moment of at most b p_n opposes the part of the relative ω across the normal, and likewise
//! the part along it with the lever of spinning friction. With d its direction it takes |ω| / (d·(I₁⁻¹ + I₂⁻¹) d) to stop it, and
//! no more is ever taken: so the energy falls.

use super::actor::Role;
use super::pair::Gap;
use super::rest::{HARD, Watch};
use super::stage::Stage;
use super::{ImpulseError, ImpulseSettings};
use crate::contact::{
    Collision, CollisionSettings, Contactor, MicroKind, MicroSettings, micro_collision, resolve,
};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{Event, World};
use glam::DVec3;

/// A pair that has met slowly so often within one stall time is no longer sent back: it only stops closing in.
const CROWDED: u32 = 30;

/// Beyond so many g hops are not made faster: where a body's own turning pulls, and where the load of others does.
const HARDEST_TURN: f64 = 4.0;
const HARDEST_LOAD: f64 = 16.0;

/// And beyond so many g collisions do not count as slow any longer than so.
const STEEPEST_FALL: f64 = 6.0;

/// What a hop still counts after the next one, when pulls are averaged.
const KEPT: f64 = 0.8;

/// Longer than so many times a fall through ε is no hop.
const LONGEST_HOP: f64 = 8.0;

impl Stage {
    /// Lets a pair collide.
    pub fn collide(
        &mut self,
        world: &World,
        settings: &ImpulseSettings,
        index: u32,
        t: f64,
        gap: &Gap,
    ) -> Result<(), Error> {
        let actors = self.pairs[index as usize].actors;
        let fall = self.slow() * self.pull(index, t, gap).min(STEEPEST_FALL).sqrt();
        let slow = settings.microcollisions && -gap.rate < fall;
        let (mut p, mut reversed) = self.impulse(settings, index, t, gap, slow)?;
        let mut woken = false;
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            if self.actors[actors[k] as usize].role == Role::Resting {
                let scripted = self.actors[actors[1 - k] as usize].role == Role::Scripted;
                if scripted || !self.absorbs(actors[k], t, sign * p, gap.point, -gap.rate)? {
                    self.wake(actors[k], t)?;
                    woken = true;
                }
            }
        }
        if woken {
            (p, reversed) = self.impulse(settings, index, t, gap, slow)?;
        }
        self.show(actors, t, gap.distance, slow);
        self.count(index, t, p, slow, reversed, settings);
        if self.stalls(index, t, settings) {
            return self.hold(actors, t);
        }
        if !slow || settings.report_microcollisions {
            self.events.push(Event::Collision {
                time: t,
                bodies: actors.map(|actor| self.actors[actor as usize].id),
                point: gap.point,
                normal: gap.normal,
                impulse: p,
                slow,
            });
        }
        let hard = -gap.rate > HARD * self.slow();
        let mut changed = [0; 2];
        let mut count = 0;
        let after = self.after(index, t, gap, p);
        let [first, second] = after.map(|body| body.v + body.omega.cross(body.r));
        let pulled = self.pulled(index, t, gap);
        let pair = &mut self.pairs[index as usize];
        (pair.pulled, pair.hop) = (pulled, (t, (second - first).dot(gap.normal)));
        for k in 0..2 {
            let actor = &mut self.actors[actors[k] as usize];
            if actor.yields() {
                let now = actor.at(t);
                actor.set_out(t, Motion { v: after[k].v, omega: after[k].omega, ..now });
                actor.last_hit = t;
                if hard {
                    actor.watch = Watch::from(t, &now);
                }
                changed[count] = actors[k];
                count += 1;
            }
        }
        self.moved(&changed[..count], t)?;
        if slow && settings.rest {
            for actor in actors {
                match self.actors[actor as usize].role {
                    Role::Flying => self.watch(world, actor, t)?,
                    Role::Resting => self.prove_again(actor, t)?,
                    Role::Fixed | Role::Scripted => {}
                }
            }
        }
        Ok(())
    }

    /// Both bodies after the impulse p, and after what resists their rolling on each other.
    fn after(&mut self, index: u32, t: f64, gap: &Gap, p: DVec3) -> [Contactor; 2] {
        let pair = &self.pairs[index as usize];
        let (actors, levers) = (pair.actors, pair.rolling);
        let [a, b] = actors.map(|actor| {
            let actor = &mut self.actors[actor as usize];
            let now = actor.at(t);
            actor.contactor(&now, gap.point)
        });
        let mut bodies = [a.after(-p), b.after(p)];
        if levers != [0.0; 2] {
            resist_rolling(&mut bodies, gap.normal, levers, p.dot(gap.normal));
        }
        bodies
    }

    /// The impulse on the second body, and whether it just turned the contact's velocity round. Who does not yield stands
    /// like a rock.
    fn impulse(
        &mut self,
        settings: &ImpulseSettings,
        index: u32,
        t: f64,
        gap: &Gap,
        slow: bool,
    ) -> Result<(DVec3, bool), Error> {
        let pair = &self.pairs[index as usize];
        let (actors, e, mu) = (pair.actors, pair.restitution, pair.friction);
        let bodies = actors.map(|actor| {
            let actor = &mut self.actors[actor as usize];
            let now = actor.at(t);
            actor.contactor(&now, gap.point)
        });
        let ids = actors.map(|actor| self.actors[actor as usize].id);
        let failed = |source| ImpulseError::Collision { bodies: ids, time: t, source };
        if bodies.iter().all(|body| body.inverse_mass == 0.0) {
            return Ok((DVec3::ZERO, false));
        }
        let (collision, frame) = Collision::between(&bodies[0], &bodies[1], gap.normal).map_err(failed)?;
        // Wedged between two others, a body that is sent back from each could go to and fro without any time passing.
        let pair = &self.pairs[index as usize];
        let crowded = slow && pair.collisions > CROWDED && t - pair.counted_since <= settings.stall_time;
        let e = if crowded { 0.0 } else { e };
        let surface =
            CollisionSettings { restitution: settings.law(), e, mu, ..CollisionSettings::default() };
        if !slow || crowded {
            return Ok((frame * resolve(&collision, &surface).map_err(failed)?.impulse, false));
        }
        let pull = self.pull(index, t, gap);
        let rule = MicroSettings {
            collision_epsilon: self.epsilon,
            gravity: self.weight * pull.min(STEEPEST_FALL),
            reversing: settings.reversing,
            e_max: settings.boosted_restitution,
            least_rebound: settings.least_hop * self.slow() * pull.sqrt(),
            ..MicroSettings::default()
        };
        let answer = micro_collision(&collision, &surface, &rule, gap.distance.max(0.0)).map_err(failed)?;
        Ok((frame * answer.outcome.impulse, answer.kind == MicroKind::Reversed))
    }

    /// How hard the gap of a pair is pulled together, in g: in its last hop if nobody else touched the two, else over some hops.
    fn pull(&self, index: u32, t: f64, gap: &Gap) -> f64 {
        let pair = &self.pairs[index as usize];
        let ((since, parted), h) = (pair.hop, t - pair.hop.0);
        let undisturbed = |actor: &u32| {
            let actor = &self.actors[*actor as usize];
            !actor.yields() || actor.last_hit == since
        };
        if h.is_finite() && h > 0.0 && pair.actors.iter().all(undisturbed) {
            return ((parted - gap.rate) / (h * self.weight)).clamp(1.0, HARDEST_TURN);
        }
        let (speed, time) = self.pulled(index, t, gap);
        if time > 0.0 { (speed / (time * self.weight)).clamp(1.0, HARDEST_LOAD) } else { 1.0 }
    }

    /// By how much in all, and in what time, the gap has been pulled together over its last hops, later ones counting more.
    fn pulled(&self, index: u32, t: f64, gap: &Gap) -> (f64, f64) {
        let pair = &self.pairs[index as usize];
        let ((since, parted), (speed, time)) = (pair.hop, pair.pulled);
        let h = t - since;
        // After a flight everything begins anew.
        if h >= LONGEST_HOP * self.fall_time() {
            return (0.0, 0.0);
        }
        (KEPT * speed + (parted - gap.rate), KEPT * time + h)
    }

    /// Whether a pair has collided so often that time hardly passes; says so.
    fn stalls(&mut self, index: u32, t: f64, settings: &ImpulseSettings) -> bool {
        let pair = &mut self.pairs[index as usize];
        if t - pair.counted_since > settings.stall_time {
            (pair.counted_since, pair.collisions) = (t, 0);
        }
        pair.collisions += 1;
        if i64::from(pair.collisions) < settings.stall_limit {
            return false;
        }
        pair.collisions = 0;
        self.counters.stalled += 1;
        let bodies = pair.actors.map(|actor| self.actors[actor as usize].id);
        self.events.push(Event::Stalled { time: t, bodies });
        true
    }

    /// Keeps the books of a pair.
    fn count(
        &mut self,
        index: u32,
        t: f64,
        p: DVec3,
        slow: bool,
        reversed: bool,
        settings: &ImpulseSettings,
    ) {
        self.counters.collisions += 1;
        self.counters.microcollisions += u64::from(slow);
        self.counters.reversed += u64::from(reversed);
        let pair = &mut self.pairs[index as usize];
        if t - pair.summed_since > settings.force_window {
            pair.force = pair.impulse / (t - pair.summed_since);
            pair.impulse = DVec3::ZERO;
            pair.summed_since = t;
        }
        pair.impulse += p;
    }
}

/// (bodies, normal, levers of rolling and spinning, normal impulse) ⇒ the bodies after the resistance.
fn resist_rolling(bodies: &mut [Contactor; 2], n: DVec3, levers: [f64; 2], p_n: f64) {
    for (spinning, lever) in [(false, levers[0]), (true, levers[1])] {
        let omega = bodies[1].omega - bodies[0].omega;
        let along = omega.dot(n) * n;
        let omega = if spinning { along } else { omega - along };
        let size = omega.length();
        if size * lever * p_n <= 0.0 {
            continue;
        }
        let d = omega / size;
        let [a, b] = [0, 1].map(|k| bodies[k].inverse_inertia * d);
        let torque = (lever * p_n).min(size / (a + b).dot(d));
        bodies[0].omega += torque * a;
        bodies[1].omega -= torque * b;
    }
}
