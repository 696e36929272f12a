//! Checkpoint of a partition at the beginning of a step, for rollback.

use super::ImpulseError;
use super::ballistic_body::BallisticBody;
use super::counters::ImpulseCounters;
use super::pair::ImpulsePair;
use super::partition::Partition;
use crate::error::Error;
use crate::solver::EventQueue;

/// What a step changes, except for the AABBs: the broad phase has an undo log.
#[derive(Debug)]
pub(super) struct Checkpoint {
    bodies: Vec<BallisticBody>,
    pairs: Vec<ImpulsePair>,
    alive: Vec<bool>,
    free_slots: Vec<u32>,
    pair_events: EventQueue,
    body_events: EventQueue,
    counters: ImpulseCounters,
    smallest_gap: f64,
    end: f64,
}

impl Partition {
    /// Saves the present state.
    pub fn save_checkpoint(&mut self) {
        self.checkpoint = Some(Box::new(Checkpoint {
            bodies: self.bodies.clone(),
            pairs: self.pairs.clone(),
            alive: self.alive.clone(),
            free_slots: self.free_slots.clone(),
            pair_events: self.pair_events.clone(),
            body_events: self.body_events.clone(),
            counters: self.counters,
            smallest_gap: self.smallest_gap,
            end: self.end,
        }));
        self.broad_phase.begin_log();
    }

    /// Restores the state of the checkpoint; does nothing if there is none.
    pub fn rollback(&mut self) -> Result<(), Error> {
        let Some(checkpoint) = self.checkpoint.take() else { return Ok(()) };
        let Checkpoint {
            bodies,
            pairs,
            alive,
            free_slots,
            pair_events,
            body_events,
            counters,
            smallest_gap,
            end,
        } = *checkpoint;
        (self.bodies, self.pairs, self.alive, self.free_slots) = (bodies, pairs, alive, free_slots);
        (self.pair_events, self.body_events, self.counters) = (pair_events, body_events, counters);
        (self.smallest_gap, self.end) = (smallest_gap, end);
        self.events.clear();
        self.rejected.clear();
        self.failure = None;
        self.broad_phase.undo().map_err(|source| ImpulseError::Space { source })?;
        Ok(())
    }

    /// Drops the checkpoint when the step is accepted.
    pub fn drop_checkpoint(&mut self) {
        self.checkpoint = None;
        self.broad_phase.end_log();
    }
}
