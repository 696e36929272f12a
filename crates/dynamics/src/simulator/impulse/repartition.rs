//! Moves bodies, pairs, deadlines and events between partitions.
//!
//! A moving body is in one partition, together with all bodies it is in a pair with. Stationary bodies are in
//! all of them. No result depends on the indices of bodies and pairs within their partition, except for the
//! order of moving bodies, which is that of the world. So everything can be moved without changing a bit of
//! what follows.

use super::ImpulseError;
use super::ballistic_body::BallisticBody;
use super::pair::ImpulsePair;
use super::partition::Partition;
use super::travel_deadline::Deadline;
use crate::error::Error;
use std::sync::Arc;

/// Marks an index without a meaning.
pub(super) const NO_INDEX: u32 = u32::MAX;

/// (partitions of one world, new partition for every index in the world, number of new partitions) ⇒ the new
/// partitions.
pub(super) fn repartition(
    partitions: Vec<Partition>,
    partition_of: &[u32],
    count: usize,
) -> Result<Vec<Partition>, Error> {
    let Some(model) = partitions.first() else { return Ok(partitions) };
    let mut new: Vec<Partition> = (0..count).map(|_| model.empty_like()).collect();
    let (mut transferred_bodies, mut stationary) = (Vec::new(), Vec::new());
    let mut pairs = Vec::new();
    for (source, mut partition) in partitions.into_iter().enumerate() {
        let renumbered = partition.take_pairs(partition_of, &mut new, &mut pairs);
        for (index, mut body) in partition.bodies.drain(..).enumerate() {
            let number = partition.global_of[index];
            if body.is_stationary() {
                if source == 0 {
                    stationary.push((number, body));
                }
                continue;
            }
            body.renumber(&renumbered);
            let deadline = partition.body_events.time(index as u32);
            let bounds = body.parts.clone().map(|part| partition.broad_phase.bounds(part as u32)).collect();
            transferred_bodies.push(TransferredBody { number, body, deadline, bounds });
        }
        let first = &mut new[0];
        first.counters += partition.counters;
        first.work += partition.work;
        first.smallest_gap = first.smallest_gap.min(partition.smallest_gap);
    }
    transferred_bodies.sort_by_key(|transferred| transferred.number);
    for transferred in transferred_bodies {
        new[partition_of[transferred.number as usize] as usize].receive_body(transferred)?;
    }
    for partition in &mut new {
        for (number, body) in &stationary {
            partition.add_body(*number, body.clone());
        }
        partition.broad_phase.build();
        partition.broad_phase.update(&mut Vec::new(), &mut Vec::new());
    }
    for (to, pair, event_time) in pairs {
        new[to].receive_pair(pair, event_time);
    }
    Ok(new)
}

/// A moving body between two partitions.
struct TransferredBody {
    number: u32,
    body: BallisticBody,
    deadline: Option<f64>,
    bounds: Vec<Option<rattleback_geometry::Aabb>>,
}

impl BallisticBody {
    /// Translates the indices of its pairs, old index ⇒ (new index, key). Obsolete deadlines stay, as they do
    /// within a partition.
    fn renumber(&mut self, renumbered: &[(u32, u64)]) {
        for pair in &mut self.pairs {
            *pair = renumbered[*pair as usize].0;
        }
        let deadlines = std::mem::take(&mut self.deadlines).into_vec();
        let renumbered = deadlines.into_iter().map(|deadline| {
            let (pair, pair_key) = renumbered.get(deadline.pair as usize).copied().unwrap_or((NO_INDEX, 0));
            Deadline { pair: if pair_key == deadline.pair_key { pair } else { NO_INDEX }, ..deadline }
        });
        self.deadlines = renumbered.collect();
    }
}

impl Partition {
    /// A partition of the same world without bodies.
    fn empty_like(&self) -> Self {
        Self {
            local_of: vec![NO_INDEX; self.local_of.len()],
            parts: Arc::clone(&self.parts),
            broad_phase: self.broad_phase.empty_like(),
            end: self.end,
            step: self.step,
            horizon: self.horizon,
            epsilon: self.epsilon,
            landing_margin: self.landing_margin,
            least_hop: self.least_hop,
            gravity_norm: self.gravity_norm,
            gravity: self.gravity,
            smallest_gap: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Removes all pairs, with indices in the world for their bodies, and appends them to `dealt` ⇒ new index
    /// and key of each.
    fn take_pairs(
        &mut self,
        partition_of: &[u32],
        new: &mut [Self],
        dealt: &mut Vec<(usize, ImpulsePair, Option<f64>)>,
    ) -> Vec<(u32, u64)> {
        let mut renumbered = Vec::with_capacity(self.pairs.len());
        for (index, mut pair) in self.pairs.drain(..).enumerate() {
            if !self.alive[index] {
                renumbered.push((NO_INDEX, 0));
                continue;
            }
            let stationary = self.bodies[pair.bodies[0] as usize].is_stationary();
            pair.bodies = pair.bodies.map(|body| self.global_of[body as usize]);
            let to = partition_of[pair.bodies[usize::from(stationary)] as usize] as usize;
            renumbered.push((new[to].alive.len() as u32, pair.pair_key()));
            new[to].alive.push(true);
            dealt.push((to, pair, self.pair_events.time(index as u32)));
        }
        renumbered
    }

    fn add_body(&mut self, number: u32, body: BallisticBody) {
        self.local_of[number as usize] = self.bodies.len() as u32;
        self.global_of.push(number);
        self.bodies.push(body);
    }

    fn receive_body(&mut self, transferred: TransferredBody) -> Result<(), Error> {
        let index = self.bodies.len() as u32;
        for (part, bounds) in transferred.body.parts.clone().zip(transferred.bounds) {
            let added = self.broad_phase.add(part as u32, bounds.as_ref());
            added.map_err(|source| ImpulseError::Space { source })?;
        }
        self.add_body(transferred.number, transferred.body);
        if let Some(time) = transferred.deadline {
            self.body_events.set(index, time, u64::from(index));
        }
        Ok(())
    }

    fn receive_pair(&mut self, mut pair: ImpulsePair, event_time: Option<f64>) {
        pair.bodies = pair.bodies.map(|number| self.local_of[number as usize]);
        if let Some(time) = event_time {
            self.pair_events.set(self.pairs.len() as u32, time, pair.pair_key());
        }
        self.pairs.push(pair);
    }
}
