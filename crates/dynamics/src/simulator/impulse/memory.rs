//! What has to be remembered so that a run taken up from a snapshot goes on bit for bit.
//!
//! Shapes, masses and materials are the world's; remembered is who moves since when and how, who rests, which pairs there are and
//! when they meet. Warm starts of the geometry are not: they begin anew at every step anyway. Pairs are told in the order of their parts, so that a
//! memory does not tell on how many stages it was played.

use super::ImpulseSettings;
use super::actor::{Actor, Role};
use super::alarm::Mark;
use super::company::Company;
use super::pair::Pair;
use super::recast::NOBODY;
use super::rest::Watch;
use super::stage::{ImpulseCounters, Stage};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{Epoch, World};
use glam::DVec3;
use rattleback_geometry::Aabb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an actor was doing.
#[derive(Debug, Serialize, Deserialize)]
struct Recalled {
    role: Role,
    since: f64,
    start: Motion,
    watch: Watch,
    /// By their places in the memory.
    pairs: Vec<u32>,
    /// Reading and tie.
    marks: Vec<(f64, u64)>,
    alarm: Option<f64>,
    odometer: f64,
    box_until: f64,
    last_hit: f64,
}

impl Recalled {
    fn of(stage: &Stage, index: usize, places: &BTreeMap<u64, u32>) -> Self {
        let actor = &stage.actors[index];
        let place = |pair: &u32| places.get(&stage.pairs[*pair as usize].tie()).copied();
        let mut marks: Vec<_> = actor.marks.iter().map(|mark| (mark.reading, mark.tie)).collect();
        marks.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Self {
            role: actor.role,
            since: actor.since,
            start: actor.start,
            watch: actor.watch,
            pairs: actor.pairs.iter().filter_map(place).collect(),
            marks,
            alarm: stage.alarms.time(index as u32),
            odometer: actor.odometer,
            box_until: actor.box_until,
            last_hit: actor.last_hit,
        }
    }

    fn restore(self, actor: &mut Actor, places: &BTreeMap<u64, u32>) {
        actor.role = self.role;
        actor.set_out(self.since, self.start);
        actor.watch = self.watch;
        actor.pairs = self.pairs;
        let mark = |(reading, tie): &(f64, u64)| {
            let pair = places.get(tie).copied().unwrap_or(NOBODY);
            Mark { reading: *reading, pair, tie: *tie }
        };
        actor.marks = self.marks.iter().map(mark).collect();
        actor.odometer = self.odometer;
        actor.box_until = self.box_until;
        actor.last_hit = self.last_hit;
    }

    fn fits(&self, actor: &Actor) -> bool {
        (self.role == actor.role || (self.role == Role::Resting && actor.role == Role::Flying))
            && self.since.is_finite()
            && self.start.is_finite()
            && self.odometer.is_finite()
            && self.alarm.is_none_or(f64::is_finite)
            && !self.marks.iter().any(|mark| mark.0.is_nan())
            && !(self.box_until.is_nan() || self.last_hit.is_nan())
    }
}

/// The state of a company between two steps.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    pub revision: Option<u64>,
    pub epoch: Epoch,
    gravity: DVec3,
    counters: ImpulseCounters,
    smallest_gap: f64,
    end: f64,
    actors: Vec<Recalled>,
    /// Of all parts that move.
    boxes: Vec<(u32, Aabb)>,
    /// In the order of their parts, with the numbers of the world for their actors, and when they meet.
    pairs: Vec<(Pair, Option<f64>)>,
}

impl Memory {
    /// Company ⇒ what has to be remembered of it.
    pub fn of(company: &Company, revision: Option<u64>, epoch: Epoch) -> Self {
        let stages = &company.stages;
        let mut pairs = Vec::new();
        let (mut actors, mut boxes): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for stage in stages {
            for (index, pair) in stage.pairs.iter().enumerate().filter(|(index, _)| stage.alive[*index]) {
                let actors = pair.actors.map(|actor| stage.cast[actor as usize]);
                pairs.push((Pair { actors, ..pair.clone() }, stage.agenda.time(index as u32)));
            }
        }
        pairs.sort_by_key(|(pair, _)| pair.tie());
        let places = places_of(&pairs);
        for stage in stages {
            boxes.extend(stage.neighbors.boxes());
            for (index, number) in stage.cast.iter().enumerate() {
                actors.push((*number, Recalled::of(stage, index, &places)));
            }
        }
        boxes.sort_by_key(|(part, _)| *part);
        // Whoever never moves is on all stages.
        actors.sort_by_key(|(number, _)| *number);
        actors.dedup_by_key(|(number, _)| *number);
        let first = stages.first();
        Self {
            revision,
            epoch,
            gravity: first.map_or(DVec3::ZERO, |stage| stage.gravity),
            counters: company.counters,
            smallest_gap: company.smallest_gap,
            end: first.map_or(0.0, |stage| stage.end),
            actors: actors.into_iter().map(|(_, recalled)| recalled).collect(),
            boxes,
            pairs,
        }
    }

    /// Whether nothing in it points outside a stage of this world.
    fn fits(&self, stage: &Stage) -> bool {
        let pair_fits = |(pair, meeting): &(Pair, Option<f64>)| {
            let owner = |k: usize| stage.parts.get(pair.parts[k] as usize).map(|part| part.actor);
            meeting.is_none_or(f64::is_finite)
                && pair.offset.is_finite()
                && (0..2).all(|k| owner(k) == Some(pair.actors[k]))
                && pair.actors.iter().any(|actor| stage.actors[*actor as usize].is_free())
        };
        self.actors.len() == stage.actors.len()
            && self.boxes.len() == stage.neighbors.boxes().count()
            && self.boxes.iter().all(|(part, _)| stage.neighbors.bounds(*part).is_some())
            && self.pairs.iter().all(pair_fits)
            && self.pairs.windows(2).all(|two| two[0].0.tie() < two[1].0.tie())
            && self.actors.iter().zip(&stage.actors).enumerate().all(|(number, (recalled, actor))| {
                let known = |pair: &u32| {
                    self.pairs
                        .get(*pair as usize)
                        .is_some_and(|(pair, _)| pair.actors.contains(&(number as u32)))
                };
                recalled.fits(actor) && recalled.pairs.iter().all(known)
            })
    }

    /// Puts everybody in the world on one stage, in the remembered state; fresh if the two do not fit.
    pub fn restore(
        self,
        company: &mut Company,
        world: &World,
        settings: &ImpulseSettings,
    ) -> Result<(), Error> {
        company.enlist(world, settings, self.gravity)?;
        let Some(stage) = company.stages.first_mut().filter(|stage| self.fits(stage)) else { return Ok(()) };
        let places = places_of(&self.pairs);
        for (index, (recalled, actor)) in self.actors.into_iter().zip(&mut stage.actors).enumerate() {
            let (index, alarm) = (index as u32, recalled.alarm);
            recalled.restore(actor, &places);
            stage.alarms.cancel(index);
            if let Some(time) = alarm {
                stage.alarms.set(index, time, u64::from(index));
            }
        }
        for (part, bounds) in &self.boxes {
            // A box that a space would refuse was never in one.
            if stage.neighbors.set(*part, bounds).is_err() {
                return company.enlist(world, settings, self.gravity);
            }
        }
        for (index, (pair, meeting)) in self.pairs.into_iter().enumerate() {
            if let Some(time) = meeting {
                stage.agenda.set(index as u32, time, pair.tie());
            }
            stage.pairs.push(pair);
            stage.alive.push(true);
        }
        stage.end = self.end;
        stage.neighbors.news(&mut Vec::new(), &mut Vec::new());
        (company.counters, company.smallest_gap) = (self.counters, self.smallest_gap);
        Ok(())
    }
}

/// Pairs in order ⇒ tie and place of each.
fn places_of(pairs: &[(Pair, Option<f64>)]) -> BTreeMap<u64, u32> {
    pairs.iter().enumerate().map(|(place, (pair, _))| (pair.tie(), place as u32)).collect()
}
