//! State saved in a snapshot, from which a run continues bit for bit.
//!
//! Shapes, masses and materials belong to the world. Saved are the trajectories, rest states, pairs and their
//! events. Warm starts of the distance queries are not saved: they restart at every step anyway. Pairs are
//! stored in the order of their convex parts, so that the bytes do not depend on the partitions.

use super::ImpulseSettings;
use super::ballistic_body::{BallisticBody, MotionKind};
use super::counters::ImpulseCounters;
use super::pair::ImpulsePair;
use super::partition::Partition;
use super::repartition::NO_INDEX;
use super::rest::RestDetector;
use super::timewarp::PartitionSet;
use super::travel_deadline::Deadline;
use crate::error::Error;
use crate::rigid::Motion;
use crate::world::{Epoch, World};
use glam::DVec3;
use rattleback_geometry::Aabb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// State of a body.
#[derive(Debug, Serialize, Deserialize)]
struct BodyState {
    kind: MotionKind,
    start_time: f64,
    start: Motion,
    detector: RestDetector,
    /// Indices into the saved pairs.
    pairs: Vec<u32>,
    /// Odometer reading and key of the pair.
    deadlines: Vec<(f64, u64)>,
    /// Time of its next deadline event, s.
    deadline: Option<f64>,
    odometer: f64,
    aabb_limit: f64,
    last_collision: f64,
}

impl BodyState {
    fn save(partition: &Partition, index: usize, indices: &BTreeMap<u64, u32>) -> Self {
        let body = &partition.bodies[index];
        let place = |pair: &u32| indices.get(&partition.pairs[*pair as usize].pair_key()).copied();
        let mut deadlines: Vec<_> =
            body.deadlines.iter().map(|deadline| (deadline.reading, deadline.pair_key)).collect();
        deadlines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // The path of a link ends with the step.
        let ended = (body.is_link && body.kind == MotionKind::Kinematic).then_some(partition.end);
        Self {
            kind: body.kind,
            start_time: ended.unwrap_or(body.start_time),
            start: ended.map_or(body.start, |end| body.clone().at(end)),
            detector: body.detector,
            pairs: body.pairs.iter().filter_map(place).collect(),
            deadlines,
            deadline: partition.body_events.time(index as u32),
            odometer: ended.map_or(body.odometer, |end| body.odometer_at(end)),
            aabb_limit: body.aabb_limit,
            last_collision: body.last_collision,
        }
    }

    fn load(self, body: &mut BallisticBody, indices: &BTreeMap<u64, u32>) {
        body.kind = self.kind;
        body.restart_trajectory(self.start_time, self.start);
        body.detector = self.detector;
        body.pairs = self.pairs;
        let deadline = |(reading, pair_key): &(f64, u64)| {
            let pair = indices.get(pair_key).copied().unwrap_or(NO_INDEX);
            Deadline { reading: *reading, pair, pair_key: *pair_key }
        };
        body.deadlines = self.deadlines.iter().map(deadline).collect();
        body.odometer = self.odometer;
        body.aabb_limit = self.aabb_limit;
        body.last_collision = self.last_collision;
    }

    fn fits(&self, body: &BallisticBody) -> bool {
        (self.kind == body.kind || (self.kind == MotionKind::Resting && body.kind == MotionKind::Ballistic))
            && self.start_time.is_finite()
            && self.start.is_finite()
            && self.odometer.is_finite()
            && self.deadline.is_none_or(f64::is_finite)
            && !self.deadlines.iter().any(|deadline| deadline.0.is_nan())
            && !(self.aabb_limit.is_nan() || self.last_collision.is_nan())
    }
}

/// State of all partitions between two steps.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ImpulseState {
    pub revision: Option<u64>,
    pub epoch: Epoch,
    gravity: DVec3,
    counters: ImpulseCounters,
    smallest_gap: f64,
    end: f64,
    bodies: Vec<BodyState>,
    /// Fat AABBs of all moving parts.
    boxes: Vec<(u32, Aabb)>,
    /// In the order of their parts, with indices of bodies in the world, and the times of their events.
    pairs: Vec<(ImpulsePair, Option<f64>)>,
}

impl ImpulseState {
    /// Partitions ⇒ their state.
    pub fn save(partition_set: &PartitionSet, revision: Option<u64>, epoch: Epoch) -> Self {
        let partitions = &partition_set.partitions;
        let mut pairs = Vec::new();
        let (mut bodies, mut boxes): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for partition in partitions {
            for (index, pair) in
                partition.pairs.iter().enumerate().filter(|(index, _)| partition.alive[*index])
            {
                let bodies = pair.bodies.map(|body| partition.global_of[body as usize]);
                pairs
                    .push((ImpulsePair { bodies, ..pair.clone() }, partition.pair_events.time(index as u32)));
            }
        }
        pairs.sort_by_key(|(pair, _)| pair.pair_key());
        let indices = pair_indices(&pairs);
        for partition in partitions {
            boxes.extend(partition.broad_phase.boxes());
            for (index, number) in partition.global_of.iter().enumerate() {
                bodies.push((*number, BodyState::save(partition, index, &indices)));
            }
        }
        boxes.sort_by_key(|(part, _)| *part);
        // Stationary bodies are in all partitions.
        bodies.sort_by_key(|(number, _)| *number);
        bodies.dedup_by_key(|(number, _)| *number);
        let first = partitions.first();
        Self {
            revision,
            epoch,
            gravity: first.map_or(DVec3::ZERO, |partition| partition.gravity),
            counters: partition_set.counters,
            smallest_gap: partition_set.smallest_gap,
            end: first.map_or(0.0, |partition| partition.end),
            bodies: bodies.into_iter().map(|(_, saved)| saved).collect(),
            boxes,
            pairs,
        }
    }

    /// Whether all indices are valid in a partition of this world.
    fn fits(&self, partition: &Partition) -> bool {
        let pair_fits = |(pair, event_time): &(ImpulsePair, Option<f64>)| {
            let owner = |k: usize| partition.parts.get(pair.parts[k] as usize).map(|part| part.body);
            event_time.is_none_or(f64::is_finite)
                && pair.offset.is_finite()
                && (0..2).all(|k| owner(k) == Some(pair.bodies[k]))
                && pair.bodies.iter().any(|body| partition.bodies[*body as usize].is_dynamic())
        };
        self.bodies.len() == partition.bodies.len()
            && self.boxes.len() == partition.broad_phase.boxes().count()
            && self.boxes.iter().all(|(part, _)| partition.broad_phase.bounds(*part).is_some())
            && self.pairs.iter().all(pair_fits)
            && self.pairs.windows(2).all(|two| two[0].0.pair_key() < two[1].0.pair_key())
            && self.bodies.iter().zip(&partition.bodies).enumerate().all(|(number, (saved, body))| {
                let known = |pair: &u32| {
                    self.pairs
                        .get(*pair as usize)
                        .is_some_and(|(pair, _)| pair.bodies.contains(&(number as u32)))
                };
                saved.fits(body) && saved.pairs.iter().all(known)
            })
    }

    /// Builds one partition from the world and restores the state; a fresh one if they do not fit.
    pub fn load(
        self,
        partition_set: &mut PartitionSet,
        world: &World,
        settings: &ImpulseSettings,
    ) -> Result<(), Error> {
        partition_set.build(world, settings, self.gravity)?;
        let Some(partition) = partition_set.partitions.first_mut().filter(|partition| self.fits(partition))
        else {
            return Ok(());
        };
        let indices = pair_indices(&self.pairs);
        for (index, (saved, body)) in self.bodies.into_iter().zip(&mut partition.bodies).enumerate() {
            let (index, deadline) = (index as u32, saved.deadline);
            saved.load(body, &indices);
            partition.body_events.cancel(index);
            if let Some(time) = deadline {
                partition.body_events.set(index, time, u64::from(index));
            }
        }
        for (part, bounds) in &self.boxes {
            // An AABB that the space rejects cannot have been saved: start afresh.
            if partition.broad_phase.set(*part, bounds).is_err() {
                return partition_set.build(world, settings, self.gravity);
            }
        }
        for (index, (pair, event_time)) in self.pairs.into_iter().enumerate() {
            if let Some(time) = event_time {
                partition.pair_events.set(index as u32, time, pair.pair_key());
            }
            partition.pairs.push(pair);
            partition.alive.push(true);
        }
        partition.end = self.end;
        partition.broad_phase.update(&mut Vec::new(), &mut Vec::new());
        (partition_set.counters, partition_set.smallest_gap) = (self.counters, self.smallest_gap);
        Ok(())
    }
}

/// Pairs in order ⇒ key and index of each.
fn pair_indices(pairs: &[(ImpulsePair, Option<f64>)]) -> BTreeMap<u64, u32> {
    pairs.iter().enumerate().map(|(place, (pair, _))| (pair.pair_key(), place as u32)).collect()
}
