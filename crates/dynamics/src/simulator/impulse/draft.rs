//! How a stage was when a step began, so that the step can be taken back.

use super::ImpulseError;
use super::actor::Actor;
use super::heap::Agenda;
use super::pair::Pair;
use super::stage::{ImpulseCounters, Stage};
use crate::error::Error;

/// What a step changes, but for the boxes: the space remembers those itself.
#[derive(Debug)]
pub(super) struct Draft {
    actors: Vec<Actor>,
    pairs: Vec<Pair>,
    alive: Vec<bool>,
    spare: Vec<u32>,
    agenda: Agenda,
    alarms: Agenda,
    counters: ImpulseCounters,
    smallest_gap: f64,
    end: f64,
}

impl Stage {
    /// Remembers how everything is.
    pub fn keep_draft(&mut self) {
        self.draft = Some(Box::new(Draft {
            actors: self.actors.clone(),
            pairs: self.pairs.clone(),
            alive: self.alive.clone(),
            spare: self.spare.clone(),
            agenda: self.agenda.clone(),
            alarms: self.alarms.clone(),
            counters: self.counters,
            smallest_gap: self.smallest_gap,
            end: self.end,
        }));
        self.neighbors.begin_log();
    }

    /// Puts everything back to how it was; nothing if nothing was kept.
    pub fn take_back(&mut self) -> Result<(), Error> {
        let Some(draft) = self.draft.take() else { return Ok(()) };
        let Draft { actors, pairs, alive, spare, agenda, alarms, counters, smallest_gap, end } = *draft;
        (self.actors, self.pairs, self.alive, self.spare) = (actors, pairs, alive, spare);
        (self.agenda, self.alarms, self.counters) = (agenda, alarms, counters);
        (self.smallest_gap, self.end) = (smallest_gap, end);
        self.events.clear();
        self.rejected.clear();
        self.failure = None;
        self.neighbors.undo().map_err(|source| ImpulseError::Space { source })?;
        Ok(())
    }

    /// The step holds: forgets how everything was.
    pub fn drop_draft(&mut self) {
        self.draft = None;
        self.neighbors.end_log();
    }
}
