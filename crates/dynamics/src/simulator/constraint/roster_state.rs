//! What of the bodies and pairs a step leaves behind for the next one, beyond the world itself.
//!
//! A contact search starts from what the last one found, and its last bits show where it started. So the caches of pairs are part of the
//! state that a snapshot holds. Pairs themselves are not: they follow from the boxes of a sub-step (`Pair::near`).

use super::roster::Roster;
use rattleback_geometry::contact::CacheMemory;
use serde::{Deserialize, Serialize};

/// State of a roster between two steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::simulator) struct RosterState {
    /// The revision of the world it is of; a world of another revision is taken on without it.
    pub(super) revision: Option<u64>,
    /// Whether redundant joints have yet to be reported.
    pub(super) anew: bool,
    /// Caches of near pairs, by the numbers of their parts, in order.
    pairs: Vec<([u32; 2], CacheMemory)>,
}

impl RosterState {
    /// The cache of a pair.
    pub(super) fn cache(&self, parts: [u32; 2]) -> Option<&CacheMemory> {
        let place = self.pairs.binary_search_by_key(&parts, |(key, _)| *key).ok()?;
        Some(&self.pairs[place].1)
    }
}

impl Roster {
    /// What the next step depends on.
    pub fn state(&self) -> RosterState {
        if let Some(recalled) = &self.recalled {
            return recalled.clone();
        }
        let near = self.pairs.iter().filter(|(_, pair)| pair.near);
        let pairs = near.map(|(key, pair)| (*key, pair.cache.memory())).collect();
        RosterState { revision: self.revision, anew: self.anew, pairs }
    }

    /// Goes on from a saved state with the next step.
    pub fn recall(&mut self, state: RosterState) {
        self.forget();
        self.recalled = Some(state);
    }
}
