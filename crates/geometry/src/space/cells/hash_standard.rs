//! The hierarchical spatial hash, standard variant (after Overmars): filled anew in each step.
//!
//! Boxes come in the order of their levels, coarse first. Each is tested against the boxes stored
//! in its cells on all levels from its own upwards, which are close; then it is stored on its own level. The
//! close pairs are those of the variant with counters; the work is in proportion to the boxes, moved or not.

use std::collections::HashMap;

use super::close_counters::Cell;
use super::levels::{LevelRule, Levels};
use super::tiling::{CellRange, MixState};
use crate::Aabb;
use crate::space::forward::forward;
use crate::space::pair::SortedPairs;
use crate::space::{
    Candidates, Mobility, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};

/// Cells on several levels, filled anew in each step.
#[derive(Clone, Debug, Default)]
pub struct StandardSpatialHash {
    table: ProxyTable,
    levels: Levels,
    /// Level of each index, kept as long as it stays valid.
    own: Vec<Option<u8>>,
    cells: HashMap<Cell, Vec<u32>, MixState>,
    unserved: usize,
    pairs: SortedPairs,
    counters: SpaceCounters,
}

impl StandardSpatialHash {
    /// Rule of the levels ⇒ space.
    pub fn new(rule: LevelRule) -> Result<Self, SpaceError> {
        rule.check()?;
        Ok(Self { levels: Levels { rule, ..Levels::default() }, ..Self::default() })
    }

    /// The level a box is on from now on.
    fn assign(&mut self, index: u32) -> usize {
        let size = self.levels.size(self.table.bounds(index));
        let mut level = self.levels.level(size);
        if let Some(old) = self.own[index as usize] {
            let side = self.levels.sides[old as usize];
            if size <= 4.0 * side && 8.0 * size >= side {
                level = old as usize;
            }
        }
        self.own[index as usize] = Some(level as u8);
        level
    }

    fn visit_cell(&mut self, index: u32, cell: Cell, store: bool) {
        self.counters.cell_operations += 1;
        let inside =
            if store { Some(self.cells.entry(cell).or_default()) } else { self.cells.get_mut(&cell) };
        let Some(inside) = inside else { return };
        for &other in inside.iter() {
            if self.table.is_moving(index) || self.table.is_moving(other) {
                self.pairs.next.push(pair::key(index, other));
            }
        }
        if store {
            inside.push(index);
        }
    }
}

impl Space for StandardSpatialHash {
    fn name(&self) -> &'static str {
        "spatial-hash-standard"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Enlarged
    }

    forward!(proxies, changes, pairs, counters);

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        let id = self.table.insert(bounds, mobility, user)?;
        self.own.resize(self.table.slot_count(), None);
        self.own[id.index() as usize] = None;
        let size = self.levels.size(bounds);
        self.unserved += usize::from(size > 0.0 && !self.levels.serves(size));
        Ok(id)
    }

    fn build(&mut self) {
        let sizes = self.table.indices().map(|index| self.levels.size(self.table.bounds(index))).collect();
        self.levels.choose(sizes);
        self.unserved = 0;
        self.own.fill(None);
        self.counters.rebuilds += 1;
    }

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        if self.levels.sides.is_empty() || self.unserved * 8 > self.table.len() {
            self.build();
        }
        self.cells.clear();
        let all: Vec<u32> = self.table.indices().collect();
        let mut order: Vec<(usize, u32)> = all.iter().map(|&index| (self.assign(index), index)).collect();
        order.sort_unstable_by_key(|&(level, index)| (usize::MAX - level, index));
        for (own, index) in order {
            let bounds = *self.table.bounds(index);
            if CellRange::of(&bounds, self.levels.sides[own]).is_none() {
                // Too many cells: against all others.
                for &other in &all {
                    self.counters.box_tests += 1;
                    let fixed = !self.table.is_moving(index) && !self.table.is_moving(other);
                    if other != index && !fixed && bounds.overlaps(self.table.bounds(other)) {
                        self.pairs.next.push(pair::key(index, other));
                    }
                }
                continue;
            }
            for level in own..self.levels.sides.len() {
                let Some(range) = CellRange::of(&bounds, self.levels.sides[level]) else { continue };
                range
                    .cells()
                    .for_each(|at| self.visit_cell(index, Cell { level: level as u8, at }, level == own));
            }
        }
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }
}
