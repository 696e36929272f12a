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
use super::hop::{affordable, pay};
use super::pair::Gap;
use super::rest::{HARD, Watch};
use super::stage::Stage;
use super::{ImpulseError, ImpulseSettings};
use crate::contact::{
    Collision, CollisionError, CollisionSettings, Compliance, Contactor, MicroKind, MicroSettings,
    micro_collision, resolve_passive,
};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{Event, World};
use glam::{DMat3, DVec3};

/// A pair that has collided slowly so often within such a time, s, is no longer sent back: it only stops closing in.
const CROWDED: u32 = 30;
const CROWDED_TIME: f64 = 1e-6;

/// Below a gap of so many ε slow collisions are elastic at least. Whatever else a collision does, the next approach leaves the larger part of
/// the gap only; without a rebound the gap would go to zero in ever smaller parts.
const FLOOR: f64 = 1e-3;

/// Beyond so many g hops are not made faster: where a body's own turning pulls, and where the load of others does.
const HARDEST_TURN: f64 = 4.0;
const HARDEST_LOAD: f64 = 16.0;

/// And beyond so many g collisions do not count as slow any longer than so.
const STEEPEST_FALL: f64 = 6.0;

/// What a hop still counts after the next one, when pulls are averaged.
const KEPT: f64 = 0.8;

/// Longer than so many times a fall through ε is no hop.
const LONGEST_HOP: f64 = 8.0;

/// What a collision does.
#[derive(Clone, Copy, Debug)]
struct Response {
    /// On the second body, and where.
    impulse: DVec3,
    point: DVec3,
    /// Both bodies afterwards.
    bodies: [Contactor; 2],
    /// Whether it just turned the contact's velocity round.
    reversed: bool,
}

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
        let gentle = -gap.rate < fall;
        let slow = settings.microcollisions && gentle;
        let mut response = self.respond(settings, index, t, gap, slow)?;
        let mut woken = false;
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            if self.actors[actors[k] as usize].role == Role::Resting {
                let scripted = self.actors[actors[1 - k] as usize].role == Role::Scripted;
                if scripted
                    || !self.absorbs(actors[k], t, sign * response.impulse, response.point, -gap.rate)?
                {
                    self.wake(actors[k], t)?;
                    woken = true;
                }
            }
        }
        if woken {
            response = self.respond(settings, index, t, gap, slow)?;
        }
        let p = response.impulse;
        self.show(actors, t, gap.distance, slow);
        self.count(index, t, p, slow, response.reversed, settings);
        if !slow || settings.report_microcollisions {
            self.events.push(Event::Collision {
                time: t,
                bodies: actors.map(|actor| self.actors[actor as usize].id),
                point: response.point,
                normal: gap.normal,
                impulse: p,
                slow,
            });
        }
        let hard = -gap.rate > HARD * self.slow();
        let mut changed = [0; 2];
        let mut count = 0;
        let mut after = response.bodies;
        let levers = self.pairs[index as usize].rolling;
        if levers != [0.0; 2] {
            resist_rolling(&mut after, gap.normal, levers, p.dot(gap.normal));
        }
        self.account(actors, t, gap, p, &after);
        let [first, second] = after.map(|body| body.v + body.omega.cross(body.r));
        let pulled = self.pulled(index, t, gap);
        let pair = &mut self.pairs[index as usize];
        (pair.pulled, pair.hop) = (pulled, (t, (second - first).dot(gap.normal)));
        (pair.hop_gap, pair.hop_velocity) = (gap.distance.max(0.0), second - first);
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
        if gentle && settings.rest {
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

    /// What a collision does to both bodies; static, kinematic and resting ones have infinite mass.
    fn respond(
        &mut self,
        settings: &ImpulseSettings,
        index: u32,
        t: f64,
        gap: &Gap,
        slow: bool,
    ) -> Result<Response, Error> {
        let pair = &self.pairs[index as usize];
        let (actors, e, mu) = (pair.actors, pair.restitution, pair.friction);
        let point = self.contact_point(actors, gap);
        let bodies = actors.map(|actor| {
            let actor = &mut self.actors[actor as usize];
            let now = actor.at(t);
            actor.contactor(&now, point)
        });
        let ids = actors.map(|actor| self.actors[actor as usize].id);
        let failed = |source| ImpulseError::collision(ids, t, source);
        let single = |p: DVec3, reversed: bool| Response {
            impulse: p,
            point,
            bodies: [bodies[0].after(-p), bodies[1].after(p)],
            reversed,
        };
        if bodies.iter().all(|body| body.inverse_mass == 0.0) {
            return Ok(single(DVec3::ZERO, false));
        }
        let (collision, frame) = Collision::between(&bodies[0], &bodies[1], gap.normal).map_err(failed)?;
        // Wedged between two others, a body that is sent back from each could go to and fro without any time passing.
        let pair = &self.pairs[index as usize];
        let crowded = slow && pair.collisions > CROWDED && t - pair.counted_since <= CROWDED_TIME;
        let e = if gap.distance < FLOOR * self.epsilon && -gap.rate < self.slow() {
            e.max(1.0)
        } else if crowded {
            0.0
        } else {
            e
        };
        let surface =
            CollisionSettings { restitution: settings.law(), e, mu, ..CollisionSettings::default() };
        if !slow || crowded {
            return Ok(single(frame * resolve_passive(&collision, &surface).map_err(failed)?.impulse, false));
        }
        let pull = self.pull(index, t, gap);
        let least = self.least_hop * self.slow() * pull.sqrt();
        let shared = self.both_yield(index);
        if !shared
            && let Some(patch) = self.patch(index, t, gap, &bodies)?
            && let Some(answer) = patch.collide(&bodies, |approach| (e * approach).max(least))
        {
            let point = point - bodies[1].r + answer.lever;
            return Ok(Response { impulse: answer.impulse, point, bodies: answer.bodies, reversed: false });
        }
        if settings.reversing
            && !shared
            && let Some(p) = self.centered(index, t, &collision, frame, mu).map_err(failed)?
            && collision.u.z.abs() >= 0.5 * least.min(affordable(&bodies, mu))
        {
            return Ok(single(frame * p, true));
        }
        let rule = MicroSettings {
            collision_epsilon: self.epsilon,
            gravity: self.weight * pull.min(STEEPEST_FALL),
            reversing: settings.reversing,
            e_max: settings.boosted_restitution,
            least_rebound: least,
            boost: shared,
            allowance: if shared { 0.5 * self.slow().powi(2) / collision.k.z_axis.z } else { 0.0 },
            ..MicroSettings::default()
        };
        let answer = micro_collision(&collision, &surface, &rule, gap.distance.max(0.0)).map_err(failed)?;
        let mut response = single(frame * answer.outcome.impulse, answer.kind == MicroKind::Reversed);
        let wanted = least.min(affordable(&bodies, mu));
        let missing = wanted - answer.outcome.velocity.z;
        if missing > 0.5 * wanted {
            let compliance = Compliance::new(&collision.k).map_err(failed)?;
            let p = answer.outcome.impulse + compliance.impulse(missing * DVec3::Z);
            let p = if p.truncate().length() <= mu * p.z {
                p
            } else {
                answer.outcome.impulse + DVec3::Z * (missing / compliance.k)
            };
            response = single(frame * p, false);
            pay(&bodies, &mut response.bodies);
        }
        Ok(response)
    }

    /// Where an impulse acts: midway across the gap between two bodies that yield, so that neither linear nor angular momentum is lost; on the surface
    /// of the only one that does, so that its lever is that of touching bodies, however wide the gap.
    fn contact_point(&self, actors: [u32; 2], gap: &Gap) -> DVec3 {
        let aside = 0.5 * gap.distance.max(0.0) * gap.normal;
        match actors.map(|actor| self.actors[actor as usize].yields()) {
            [true, false] => gap.point - aside,
            [false, true] => gap.point + aside,
            _ => gap.point,
        }
    }

    /// How hard the gap of a pair is pulled together, in g: in its last hop if nobody else touched the two, else over some hops.
    fn pull(&self, index: u32, t: f64, gap: &Gap) -> f64 {
        let pair = &self.pairs[index as usize];
        let (parted, h) = (pair.hop.1, t - pair.hop.0);
        if h > 0.0 && self.undisturbed(index) {
            return ((parted - gap.rate) / (h * self.weight)).clamp(1.0, HARDEST_TURN);
        }
        let (speed, time) = self.pulled(index, t, gap);
        if time > 0.0 { (speed / (time * self.weight)).clamp(1.0, HARDEST_LOAD) } else { 1.0 }
    }

    /// Whether nothing else has touched the bodies of a pair since they last collided.
    fn undisturbed(&self, index: u32) -> bool {
        let pair = &self.pairs[index as usize];
        let since = pair.hop.0;
        since.is_finite()
            && pair.actors.iter().all(|actor| {
                let actor = &self.actors[*actor as usize];
                !actor.yields() || actor.last_hit == since
            })
    }

    /// The impulse in the contact frame that keeps a point rolling or at rest, if friction allows it.
    ///
    /// Over a hop the velocity of the contact changes by Δ, from u⁺ to u⁻. Without slip on average it goes from −½Δ to ½Δ along the ground, so that is
    /// where it has to begin again: half of what is rolled over lies behind each collision, half ahead, an error of the second order in the
    /// time of a hop. Whatever slip there was besides ends. Along the normal the velocity is turned round. No energy
    /// is created: ½ u·K⁻¹u, all that depends on the impulse, may not grow.
    fn centered(
        &self,
        index: u32,
        t: f64,
        collision: &Collision,
        frame: DMat3,
        mu: f64,
    ) -> Result<Option<DVec3>, CollisionError> {
        let pair = &self.pairs[index as usize];
        if t - pair.hop.0 >= LONGEST_HOP * self.fall_time() || !self.undisturbed(index) {
            return Ok(None);
        }
        let compliance = Compliance::new(&collision.k)?;
        let u = collision.u;
        let change = u - frame.transpose() * pair.hop_velocity;
        let wanted = DVec3::new(-0.5 * change.x, -0.5 * change.y, -u.z);
        let (had, has) = (u.dot(compliance.impulse(u)), wanted.dot(compliance.impulse(wanted)));
        let wanted = if has > had { wanted * (had / has).sqrt() } else { wanted };
        let p = compliance.impulse(wanted - u);
        Ok((p.is_finite() && p.z > 0.0 && p.truncate().length() <= mu * p.z).then_some(p))
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

    /// Counts an event of a pair. Bodies of a pair with too many of them in one stall time are held until the end of the step; if that does not
    /// help either, because a path moves one of them into the other, the pair is left alone until then. So a step ends after a number of
    /// events that depends on nothing but the number of pairs and the stall times in the step.
    pub fn stalls(&mut self, index: u32, t: f64, settings: &ImpulseSettings) -> Result<bool, Error> {
        let window = if settings.stall_time > 0.0 { settings.stall_time } else { self.fall_time().min(1.0) };
        let pair = &mut self.pairs[index as usize];
        if t - pair.stall_since > window {
            (pair.stall_since, pair.events) = (t, 0);
        }
        pair.events = pair.events.saturating_add(1);
        let events = i64::from(pair.events);
        if events < settings.stall_limit {
            return Ok(false);
        }
        let (actors, tie) = (pair.actors, pair.tie());
        let mut held = [0; 2];
        let mut count = 0;
        for actor in actors.into_iter().filter(|actor| self.actors[*actor as usize].yields()) {
            held[count] = actor;
            count += 1;
        }
        if count > 0 {
            self.counters.stalled += 1;
            let bodies = actors.map(|actor| self.actors[actor as usize].id);
            self.events.push(Event::Stalled { time: t, bodies });
            self.hold(&held[..count], t)?;
        }
        if events >= settings.stall_limit.saturating_mul(2) {
            self.agenda.set(index, self.end.next_up(), tie);
            return Ok(true);
        }
        Ok(count > 0)
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
        if t - pair.counted_since > CROWDED_TIME {
            (pair.counted_since, pair.collisions) = (t, 0);
        }
        pair.collisions = pair.collisions.saturating_add(1);
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
