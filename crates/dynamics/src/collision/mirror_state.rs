//! State of the mirror that outlasts a step and cannot be computed from the world: what a snapshot stores of
//! it.
//!
//! The narrow phase starts from the features found last, and its last bits depend on where it started; the
//! caches of pairs are therefore part of the state. The pairs themselves follow from the bounds of a sub-step
//! (`ColliderPair::near`).

use crate::collision::WorldMirror;
use crate::world::{Epoch, SnapshotError};
use rattleback_geometry::contact::CacheState;
use serde::{Deserialize, Serialize};

/// State of a [`WorldMirror`] between two steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MirrorState {
    /// Revision of the world it belongs to; for any other revision it is discarded.
    pub(crate) revision: Option<u64>,
    /// Whether redundant joints have yet to be reported.
    pub(crate) rebuilt: bool,
    /// Contact caches of near pairs, sorted by the indices of their colliders.
    pairs: Vec<([u32; 2], CacheState)>,
}

impl MirrorState {
    /// The contact cache of a pair.
    pub(crate) fn cache(&self, colliders: [u32; 2]) -> Option<&CacheState> {
        let place = self.pairs.binary_search_by_key(&colliders, |(key, _)| *key).ok()?;
        Some(&self.pairs[place].1)
    }
}

impl WorldMirror {
    /// What the next step depends on besides the world.
    pub fn state(&self) -> MirrorState {
        if let Some(restored) = &self.restored {
            return restored.clone();
        }
        let near = self.pairs.iter().filter(|(_, pair)| pair.near);
        let pairs = near.map(|(key, pair)| (*key, pair.cache.state())).collect();
        MirrorState { revision: self.revision, rebuilt: self.rebuilt, pairs }
    }

    /// State of a simulator that keeps nothing else but its epoch, as bytes.
    pub fn save_with(&self, epoch: Epoch) -> Vec<u8> {
        postcard::to_allocvec(&(self.state(), epoch)).unwrap_or_default()
    }

    /// Puts back what [`save_with`](Self::save_with) gave ⇒ the epoch.
    ///
    /// # Errors
    /// Bytes that are not such a state.
    pub fn restore_with(&mut self, bytes: &[u8]) -> Result<Epoch, SnapshotError> {
        let (mirror, epoch) = match bytes {
            [] => (MirrorState::default(), Epoch::default()),
            bytes => {
                postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("state of the simulator"))?
            }
        };
        self.restore(mirror);
        Ok(epoch)
    }

    /// Continues from a saved state with the next step.
    pub fn restore(&mut self, state: MirrorState) {
        self.clear();
        self.restored = Some(state);
    }
}
