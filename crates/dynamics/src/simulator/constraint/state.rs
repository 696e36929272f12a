//! Everything a step depends on besides the world: what a snapshot holds of the simulator, so that a restored run goes on bit for bit.

use super::Constraint;
use super::crowd::RESTLESS;
use super::roster_state::RosterState;
use super::touch::Name;
use crate::world::{Epoch, JointId, ShapeId};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The state between two steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    substeps: u64,
    accepted: u64,
    restless: u64,
    /// Forces that the next problems start from, and where they acted.
    forces: Vec<(Name, [DVec3; 2])>,
    /// Shapes that touch, so that events tell what began and ended.
    touching: Vec<[ShapeId; 2]>,
    warned: Vec<(bool, Vec<JointId>)>,
    roster: RosterState,
    epoch: Epoch,
}

impl State {
    /// Of a simulator that has not stepped yet.
    pub fn fresh(substeps: u64) -> Self {
        Self { substeps, ..Self::default() }
    }
}

impl Constraint {
    /// What the next step depends on.
    pub(super) fn state(&self) -> State {
        State {
            substeps: self.substeps as u64,
            accepted: self.accepted as u64,
            restless: self.restless,
            forces: self.memory.iter().map(|(name, force)| (*name, *force)).collect(),
            touching: self.touching.iter().copied().collect(),
            warned: self.warned.iter().cloned().collect(),
            roster: self.roster.state(),
            epoch: self.epoch,
        }
    }

    /// Goes on from a state with the next step.
    pub(super) fn take_up(&mut self, state: State) {
        self.substeps = state.substeps.clamp(1, 1 << 20) as usize;
        self.accepted = state.accepted.min(4) as usize;
        self.restless = state.restless.min(RESTLESS);
        let finite = |(_, known): &(Name, [DVec3; 2])| known.iter().all(|v| v.is_finite());
        self.memory = state.forces.into_iter().filter(finite).collect();
        self.touching = state.touching.into_iter().collect();
        self.warned = state.warned.into_iter().collect();
        self.contacts.clear();
        self.roster.recall(state.roster);
        self.epoch = state.epoch;
    }

    /// Forgets what depends on the states of bodies: another simulator has moved them.
    pub(super) fn retake_states(&mut self) {
        self.roster.forget();
        self.memory.clear();
        self.contacts.clear();
    }

    /// Forgets everything about the world.
    pub(super) fn start_over(&mut self) {
        self.take_up(State::fresh(self.settings.substeps.max(1) as u64));
        self.roster.forget();
    }
}
