//! The multi-level grid (Coutinho): levels in a fixed ratio, chosen by the diameters of the boxes; pairs that
//! share a cell of the coarser level are compared box by box, so that candidates are exact.

use super::close_counters::{CloseCounters, record_changes};
use super::levels::{LevelRule, Scheme};
use crate::Aabb;
use crate::space::forward::forward;
use crate::space::pair::SortedPairs;
use crate::space::{
    Candidates, Mobility, Pair, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};

/// Cells on several levels in a fixed ratio.
#[derive(Clone, Debug)]
pub struct MultiLevelGrid {
    table: ProxyTable,
    core: CloseCounters,
    pairs: SortedPairs,
}

impl Default for MultiLevelGrid {
    fn default() -> Self {
        let core = CloseCounters::new(LevelRule::default(), Scheme::Geometric);
        Self { table: ProxyTable::default(), core, pairs: SortedPairs::default() }
    }
}

impl MultiLevelGrid {
    /// Rule of the levels (k_min = α, k_max = β in the textbook) ⇒ space.
    pub fn new(rule: LevelRule) -> Result<Self, SpaceError> {
        rule.check()?;
        let mut space = Self::default();
        space.core.levels.rule = rule;
        Ok(space)
    }

    /// Sides of the cells of each level, ascending.
    pub fn level_sides(&self) -> &[f64] {
        &self.core.levels.sides
    }

    /// Occupied cells with their level and boxes, sorted.
    pub fn occupied_cells(&self) -> Vec<(usize, [i64; 3], Vec<ProxyId>)> {
        self.core.occupied_cells(&self.table)
    }

    /// Pairs that share a cell on the coarser of their levels, sorted: the potential pairs of the textbook.
    pub fn sharing_pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<_> = self.core.close_pairs().map(|key| pair::pair(&self.table, key)).collect();
        pairs.sort_unstable();
        pairs
    }
}

impl Space for MultiLevelGrid {
    fn name(&self) -> &'static str {
        "multi-level-grid"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Exact
    }

    record_changes!();
    forward!(pairs);

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        self.core.update(&self.table);
        // Pairs that became close are reported by their boxes instead.
        self.core.report(&self.table, changes);
        let Self { table, core, pairs } = self;
        let close = core.close_pairs().len() as u64;
        core.counters.box_tests += close;
        pairs.next.extend(core.close_pairs().filter(|&key| {
            let (a, b) = pair::indices(key);
            table.bounds(a).overlaps(table.bounds(b))
        }));
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }
}
