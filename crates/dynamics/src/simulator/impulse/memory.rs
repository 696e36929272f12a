//! What has to be remembered so that a run taken up from a snapshot goes on bit for bit.
//!
//! Shapes, masses and materials are the world's; remembered is who moves since when and how, who rests, which pairs there are and
//! when they meet. Warm starts of the geometry are not: they begin anew at every step anyway.

use super::ImpulseSettings;
use super::actor::{Actor, Role};
use super::pair::Pair;
use super::rest::Watch;
use super::stage::{ImpulseCounters, Stage};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::World;
use glam::DVec3;
use rattleback_geometry::Aabb;
use serde::{Deserialize, Serialize};

/// What an actor was doing.
#[derive(Debug, Serialize, Deserialize)]
struct Recalled {
    role: Role,
    since: f64,
    start: Motion,
    watch: Watch,
    pairs: Vec<u32>,
    odometer: f64,
    box_until: f64,
    last_hit: f64,
}

impl Recalled {
    fn of(actor: &Actor) -> Self {
        Self {
            role: actor.role,
            since: actor.since,
            start: actor.start,
            watch: actor.watch,
            pairs: actor.pairs.clone(),
            odometer: actor.odometer,
            box_until: actor.box_until,
            last_hit: actor.last_hit,
        }
    }

    fn restore(self, actor: &mut Actor) {
        actor.role = self.role;
        actor.set_out(self.since, self.start);
        actor.watch = self.watch;
        actor.pairs = self.pairs;
        actor.odometer = self.odometer;
        actor.box_until = self.box_until;
        actor.last_hit = self.last_hit;
    }

    fn fits(&self, actor: &Actor) -> bool {
        (self.role == actor.role || (self.role == Role::Resting && actor.role == Role::Flying))
            && self.since.is_finite()
            && self.start.is_finite()
            && self.odometer.is_finite()
            && !(self.box_until.is_nan() || self.last_hit.is_nan())
    }
}

/// The state of a stage between two steps.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    pub revision: Option<u64>,
    gravity: DVec3,
    counters: ImpulseCounters,
    smallest_gap: f64,
    end: f64,
    actors: Vec<Recalled>,
    boxes: Vec<Aabb>,
    pairs: Vec<Pair>,
    alive: Vec<bool>,
    spare: Vec<u32>,
    appointments: Vec<(f64, u32)>,
    alarms: Vec<(f64, u32)>,
}

impl Memory {
    /// Stage ⇒ what has to be remembered of it.
    pub fn of(stage: &Stage, revision: Option<u64>) -> Self {
        Self {
            revision,
            gravity: stage.gravity,
            counters: stage.counters,
            smallest_gap: stage.smallest_gap,
            end: stage.end,
            actors: stage.actors.iter().map(Recalled::of).collect(),
            boxes: (0..stage.parts.len()).filter_map(|part| stage.neighbors.bounds(part).ok()).collect(),
            pairs: stage.pairs.clone(),
            alive: stage.alive.clone(),
            spare: stage.spare.clone(),
            appointments: stage.agenda.appointments().collect(),
            alarms: stage.alarms.appointments().collect(),
        }
    }

    /// Whether nothing in it points outside a stage of this world.
    fn fits(&self, stage: &Stage) -> bool {
        let (actors, parts, pairs) = (stage.actors.len(), stage.parts.len(), self.pairs.len());
        let pair_fits = |pair: &Pair| {
            pair.parts.iter().all(|part| (*part as usize) < parts)
                && [0, 1].iter().all(|k| {
                    stage.parts.get(pair.parts[*k] as usize).is_some_and(|part| part.actor == pair.actors[*k])
                })
        };
        self.actors.len() == actors
            && self.boxes.len() == parts
            && self.alive.len() == pairs
            && self.pairs.iter().all(pair_fits)
            && self.spare.iter().all(|pair| (*pair as usize) < pairs && !self.alive[*pair as usize])
            && self.appointments.iter().all(|(time, pair)| {
                time.is_finite() && (*pair as usize) < pairs && self.alive[*pair as usize]
            })
            && self.alarms.iter().all(|(time, actor)| time.is_finite() && (*actor as usize) < actors)
            && self.actors.iter().zip(&stage.actors).all(|(recalled, actor)| {
                let known = |pair: &u32| (*pair as usize) < pairs && self.alive[*pair as usize];
                recalled.fits(actor) && recalled.pairs.iter().all(known)
            })
    }

    /// Puts a fresh stage of the same world into the remembered state; leaves it fresh if the two do not fit.
    pub fn restore(self, stage: &mut Stage, world: &World, settings: &ImpulseSettings) -> Result<(), Error> {
        stage.enlist(world, settings, self.gravity)?;
        if !self.fits(stage) {
            return Ok(());
        }
        let actors = self.actors.len() as u32;
        for (recalled, actor) in self.actors.into_iter().zip(&mut stage.actors) {
            recalled.restore(actor);
        }
        for (part, bounds) in self.boxes.iter().enumerate() {
            // A box that a space would refuse was never in one.
            if stage.neighbors.set(part, bounds).is_err() {
                return stage.enlist(world, settings, self.gravity);
            }
        }
        for (time, pair) in self.appointments {
            stage.agenda.set(pair, time, self.pairs[pair as usize].tie());
        }
        for actor in 0..actors {
            stage.alarms.cancel(actor);
        }
        for (time, actor) in self.alarms {
            stage.alarms.set(actor, time, u64::from(actor));
        }
        (stage.pairs, stage.alive, stage.spare) = (self.pairs, self.alive, self.spare);
        for actor in 0..actors {
            stage.mark_anew(actor);
        }
        (stage.counters, stage.smallest_gap, stage.end) = (self.counters, self.smallest_gap, self.end);
        stage.hear_news(world, world.time())
    }
}
