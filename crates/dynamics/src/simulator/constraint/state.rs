//! State of the simulator between two steps: what a snapshot stores, so that a restored run continues bit for
//! bit.

use super::Constraint;
use super::tuning::NEWTON_BACKOFF;
use crate::collision::ContactKey;
use crate::collision::MirrorState;
use crate::world::{Epoch, JointId, ShapeId};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Everything a step depends on besides the world and the settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ConstraintState {
    substeps: u64,
    accepted: u64,
    newton_backoff: u64,
    /// Warm start: force of each contact point, N, and its position, m.
    forces: Vec<(ContactKey, [DVec3; 2])>,
    /// Touching shapes, for begin and end events.
    touching: Vec<[ShapeId; 2]>,
    reported: Vec<(bool, Vec<JointId>)>,
    mirror: MirrorState,
    epoch: Epoch,
}

impl ConstraintState {
    /// State before the first step.
    pub fn initial(substeps: u64) -> Self {
        Self { substeps, ..Self::default() }
    }
}

impl Constraint {
    /// The present state.
    pub(super) fn state(&self) -> ConstraintState {
        ConstraintState {
            substeps: self.substeps as u64,
            accepted: self.accepted as u64,
            newton_backoff: self.newton_backoff,
            forces: self.warm_start.iter().map(|(key, force)| (*key, *force)).collect(),
            touching: self.touching.iter().copied().collect(),
            reported: self.reported_joints.iter().cloned().collect(),
            mirror: self.mirror.state(),
            epoch: self.epoch,
        }
    }

    /// Continues from a state with the next step. Values out of range are clamped, forces that are not finite
    /// dropped.
    pub(super) fn restore_state(&mut self, state: ConstraintState) {
        self.substeps = state.substeps.clamp(1, 1 << 20) as usize;
        self.accepted = state.accepted.min(4) as usize;
        self.newton_backoff = state.newton_backoff.min(NEWTON_BACKOFF);
        let finite = |(_, known): &(ContactKey, [DVec3; 2])| known.iter().all(|v| v.is_finite());
        self.warm_start = state.forces.into_iter().filter(finite).collect();
        self.touching = state.touching.into_iter().collect();
        self.reported_joints = state.reported.into_iter().collect();
        self.contacts.clear();
        self.mirror.restore(state.mirror);
        self.epoch = state.epoch;
    }

    /// Drops what depends on the states of bodies, after another simulator has moved them.
    pub(super) fn drop_body_states(&mut self) {
        self.mirror.clear();
        self.warm_start.clear();
        self.contacts.clear();
    }

    /// Drops everything that depends on the world.
    pub(super) fn reset(&mut self) {
        self.restore_state(ConstraintState::initial(self.settings.substeps.max(1) as u64));
        self.mirror.clear();
    }
}
