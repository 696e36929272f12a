//! What happens when two bodies meet.
//!
//! One impulse p at one point: +p on the second body, −p on the first, by the contact law. Slower than a fall through ε, it
//! is a microcollision and answered by its own rule. A resting body stands like a rock against slow collisions and is
//! woken by faster ones.

use super::actor::Role;
use super::pair::Gap;
use super::stage::Stage;
use super::{ImpulseError, ImpulseSettings};
use crate::contact::{
    Collision, CollisionError, CollisionSettings, MicroKind, MicroSettings, micro_collision, resolve,
};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{Event, World};
use glam::DVec3;

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
        let slow = settings.microcollisions && -gap.rate < self.slow();
        for (one, other) in [(0, 1), (1, 0)] {
            let hard = !slow || self.actors[actors[other] as usize].role == Role::Scripted;
            if hard && self.actors[actors[one] as usize].role == Role::Resting {
                self.wake(world, actors[one], t)?;
            }
        }
        let motion = actors.map(|actor| self.actors[actor as usize].at(t));
        let bodies = [0, 1].map(|k| self.actors[actors[k] as usize].contactor(&motion[k], gap.point));
        let failed = |source: CollisionError| {
            Error::from(ImpulseError::Collision {
                bodies: actors.map(|actor| self.actors[actor as usize].id),
                time: t,
                source,
            })
        };
        let (collision, frame) = Collision::between(&bodies[0], &bodies[1], gap.normal).map_err(failed)?;
        let pair = &self.pairs[index as usize];
        let surface = CollisionSettings {
            restitution: settings.law(),
            e: pair.restitution,
            mu: pair.friction,
            ..CollisionSettings::default()
        };
        let (impulse, reversed) = if slow {
            let rule = MicroSettings {
                collision_epsilon: self.epsilon,
                gravity: self.weight,
                reversing: settings.reversing,
                e_max: settings.boosted_restitution,
                ..MicroSettings::default()
            };
            let outcome =
                micro_collision(&collision, &surface, &rule, gap.distance.max(0.0)).map_err(failed)?;
            (outcome.outcome.impulse, outcome.kind == MicroKind::Reversed)
        } else {
            (resolve(&collision, &surface).map_err(failed)?.impulse, false)
        };
        let p = frame * impulse;
        self.count(index, t, p, slow, reversed, settings);
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
        let mut changed = [0; 2];
        let mut count = 0;
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let actor = &mut self.actors[actors[k] as usize];
            if actor.yields() {
                let after = bodies[k].after(sign * p);
                actor.set_out(t, Motion { v: after.v, omega: after.omega, ..motion[k] });
                if !slow {
                    actor.watch.since = t;
                    actor.watch.pose = motion[k];
                    actor.watch.still = false;
                }
                changed[count] = actors[k];
                count += 1;
            }
        }
        self.moved(world, &changed[..count], t)?;
        if slow && settings.rest {
            for actor in actors {
                match self.actors[actor as usize].role {
                    Role::Flying => self.watch(world, actor, t)?,
                    Role::Resting => self.prove_again(world, actor, t)?,
                    Role::Fixed | Role::Scripted => {}
                }
            }
        }
        Ok(())
    }

    /// Keeps the books of a pair.
    fn count(&mut self, index: u32, t: f64, p: DVec3, slow: bool, reversed: bool, settings: &ImpulseSettings) {
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
