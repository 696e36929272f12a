//! The hierarchical spatial hash with close counters (Mirtich 1996): the variant that uses coherence.
//!
//! Candidates are the pairs that are close in the sense of `close_counters`, which is more than overlap: but
//! boxes farther apart than (√3/α) times the larger one are never close.

use super::close_counters::{CloseCounters, record_changes};
use super::levels::{LevelRule, Scheme};
use crate::Aabb;
use crate::space::{
    Candidates, Mobility, Pair, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};

/// Cells on several levels, kept up to date.
#[derive(Clone, Debug, Default)]
pub struct SpatialHash {
    table: ProxyTable,
    core: CloseCounters,
}

impl SpatialHash {
    /// Rule of the levels ⇒ space.
    pub fn new(rule: LevelRule) -> Result<Self, SpaceError> {
        rule.check()?;
        Ok(Self { core: CloseCounters::new(rule, Scheme::Minimal), ..Self::default() })
    }

    /// Sides of the cells of each level, ascending.
    pub fn level_sides(&self) -> &[f64] {
        &self.core.levels.sides
    }

    /// Occupied cells with their level and boxes, sorted.
    pub fn occupied_cells(&self) -> Vec<(usize, [i64; 3], Vec<ProxyId>)> {
        self.core.occupied_cells(&self.table)
    }
}

impl Space for SpatialHash {
    fn name(&self) -> &'static str {
        "spatial-hash"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Enlarged
    }

    record_changes!();

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        self.core.update(&self.table);
        self.core.report(&self.table, changes);
        self.table.recycle();
    }

    fn pair_count(&self) -> usize {
        self.core.close_pairs().len()
    }

    fn for_each_pair(&self, visit: &mut dyn FnMut(Pair)) {
        self.core.close_pairs().for_each(|key| visit(pair::pair(&self.table, key)));
    }
}
