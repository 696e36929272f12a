//! Counters of shared cells per pair of boxes, updated as boxes enter and leave cells.
//!
//! A box is stored in its cells on its own level and on all coarser ones. Two boxes are *close* iff they
//! share a cell on the coarser of their two levels: then cc(X, Y) counts the cells of that level they share.
//! Boxes that are not close cannot overlap. Only cells that a box enters or leaves are touched.
//!
//! Boxes with too many cells are compared with all others instead, and count once if they overlap.

use std::collections::HashMap;

use super::levels::{LevelRule, Levels, Scheme};
use super::tiling::{CellRange, MixState};
use crate::Aabb;
use crate::space::{PairChanges, ProxyId, ProxyTable, SpaceCounters, pair};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub level: u8,
    pub at: [i64; 3],
}

/// Where a box is stored.
#[derive(Clone, Copy, Debug)]
struct Stored {
    bounds: Aabb,
    level: u8,
}

/// Cells, counters, and unreported changes.
#[derive(Clone, Debug, Default)]
pub(super) struct CloseCounters {
    pub levels: Levels,
    cells: HashMap<Cell, Vec<u32>, MixState>,
    close: HashMap<u64, u32, MixState>,
    stored: Vec<Option<Stored>>,
    /// Boxes with too many cells, ascending.
    giants: Vec<u32>,
    /// Pairs of giants that count at present, ascending.
    giant_pairs: Vec<u64>,
    /// Pairs whose counter left or reached zero; an odd number of times if the pair changed.
    flips: Vec<u64>,
    /// Boxes that came, moved or left since the last step.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    unserved: usize,
    /// The levels shall be chosen anew in the next step.
    pub outdated: bool,
    pub counters: SpaceCounters,
}

/// Bookkeeping of a [`Space`](crate::space::Space) made of a `table` and such a `core`: insertions, moves and
/// removals are recorded, and placed in the next step.
macro_rules! record_changes {
    () => {
        $crate::space::forward::forward!(proxies);

        fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
            let id = self.table.insert(bounds, mobility, user)?;
            self.core.note_size(bounds);
            self.core.touch(id.index());
            Ok(id)
        }

        fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(), SpaceError> {
            let (index, _) = self.table.update(id, bounds)?;
            self.core.touch(index);
            Ok(())
        }

        fn remove(&mut self, id: ProxyId) -> Result<(), SpaceError> {
            let index = self.table.remove(id)?;
            self.core.touch(index);
            Ok(())
        }

        fn build(&mut self) {
            self.core.outdated = true;
        }

        fn counters(&self) -> SpaceCounters {
            self.core.counters
        }
    };
}
pub(super) use record_changes;

impl CloseCounters {
    pub fn new(rule: LevelRule, scheme: Scheme) -> Self {
        Self { levels: Levels { sides: Vec::new(), rule, scheme }, ..Self::default() }
    }

    pub fn touch(&mut self, index: u32) {
        let place = index as usize;
        if self.is_changed.len() <= place {
            self.is_changed.resize(place + 1, false);
            self.stored.resize(place + 1, None);
        }
        if !std::mem::replace(&mut self.is_changed[place], true) {
            self.changed.push(index);
        }
    }

    /// A box came whose size may have no level.
    pub fn note_size(&mut self, bounds: &Aabb) {
        let size = self.levels.size(bounds);
        self.unserved += usize::from(size > 0.0 && !self.levels.serves(size));
    }

    /// Brings cells and counters up to date.
    pub fn update(&mut self, table: &ProxyTable) {
        if self.outdated || self.levels.sides.is_empty() || self.unserved * 8 > table.len() {
            self.rebuild(table);
        }
        let mut changed = std::mem::take(&mut self.changed);
        for index in changed.drain(..) {
            self.is_changed[index as usize] = false;
            self.place(table, index);
        }
        self.changed = changed;
        self.compare_giants(table);
    }

    /// Chooses levels anew for the boxes there are, and stores all.
    fn rebuild(&mut self, table: &ProxyTable) {
        for index in 0..self.stored.len() as u32 {
            self.leave(table, index);
        }
        let sizes = table.indices().map(|index| self.levels.size(table.bounds(index))).collect();
        self.levels.choose(sizes);
        self.unserved = 0;
        self.outdated = false;
        self.counters.rebuilds += 1;
        for index in table.indices() {
            self.place(table, index);
        }
    }

    /// Stores a box where it now belongs.
    fn place(&mut self, table: &ProxyTable, index: u32) {
        if !table.is_alive(index) {
            self.leave(table, index);
            return;
        }
        let bounds = *table.bounds(index);
        let old = self.stored[index as usize];
        let size = self.levels.size(&bounds);
        let mut level = self.levels.level(size);
        if let Some(old) = old {
            // Boxes that stretch when they are fast keep their level as long as it does not hurt.
            let side = self.levels.sides[old.level as usize];
            if size <= 4.0 * side && 8.0 * size >= side {
                level = old.level as usize;
            }
        }
        let side = self.levels.sides[level];
        let fits = CellRange::of(&bounds, side).is_some();
        match old {
            Some(old) if fits && old.level as usize == level => self.shift(table, index, old, bounds),
            _ => {
                self.leave(table, index);
                if fits {
                    self.enter(table, index, Stored { bounds, level: level as u8 });
                } else if let Err(place) = self.giants.binary_search(&index) {
                    self.giants.insert(place, index);
                }
            }
        }
    }

    fn range(&self, bounds: &Aabb, level: usize) -> Option<CellRange> {
        CellRange::of(bounds, self.levels.sides[level])
    }

    fn enter(&mut self, table: &ProxyTable, index: u32, stored: Stored) {
        self.stored[index as usize] = Some(stored);
        for level in stored.level as usize..self.levels.sides.len() {
            let Some(range) = self.range(&stored.bounds, level) else { continue };
            range.cells().for_each(|at| self.enter_cell(table, index, Cell { level: level as u8, at }));
        }
    }

    fn leave(&mut self, table: &ProxyTable, index: u32) {
        if let Ok(place) = self.giants.binary_search(&index) {
            self.giants.remove(place);
        }
        let Some(stored) = self.stored[index as usize] else { return };
        for level in stored.level as usize..self.levels.sides.len() {
            let Some(range) = self.range(&stored.bounds, level) else { continue };
            range.cells().for_each(|at| self.leave_cell(table, index, Cell { level: level as u8, at }));
        }
        self.stored[index as usize] = None;
    }

    /// From one place to another on the same level: only the cells that differ are touched.
    fn shift(&mut self, table: &ProxyTable, index: u32, old: Stored, bounds: Aabb) {
        self.stored[index as usize] = Some(Stored { bounds, ..old });
        for level in old.level as usize..self.levels.sides.len() {
            let (before, after) = (self.range(&old.bounds, level), self.range(&bounds, level));
            if before == after {
                continue;
            }
            let (Some(before), Some(after)) = (before, after) else { continue };
            for at in before.cells().filter(|&cell| !after.contains(cell)) {
                self.leave_cell(table, index, Cell { level: level as u8, at });
            }
            for at in after.cells().filter(|&cell| !before.contains(cell)) {
                self.enter_cell(table, index, Cell { level: level as u8, at });
            }
        }
    }

    fn enter_cell(&mut self, table: &ProxyTable, index: u32, cell: Cell) {
        self.counters.cell_operations += 1;
        let Self { cells, close, stored, flips, .. } = self;
        let inside = cells.entry(cell).or_default();
        for &other in inside.iter() {
            if overlap(table, stored, index, other, cell.level) {
                let key = pair::key(index, other);
                let count = close.entry(key).or_insert(0);
                if *count == 0 {
                    flips.push(key);
                }
                *count += 1;
            }
        }
        inside.push(index);
    }

    fn leave_cell(&mut self, table: &ProxyTable, index: u32, cell: Cell) {
        self.counters.cell_operations += 1;
        let Self { cells, close, stored, flips, .. } = self;
        let Some(inside) = cells.get_mut(&cell) else { return };
        if let Some(place) = inside.iter().position(|&known| known == index) {
            inside.swap_remove(place);
        }
        for &other in inside.iter() {
            if overlap(table, stored, index, other, cell.level) {
                decrement(close, flips, pair::key(index, other));
            }
        }
        if inside.is_empty() {
            cells.remove(&cell);
        }
    }

    /// Boxes with too many cells against all others.
    fn compare_giants(&mut self, table: &ProxyTable) {
        let mut now = Vec::new();
        for &giant in &self.giants {
            let bounds = table.bounds(giant);
            for other in table.indices() {
                self.counters.box_tests += 1;
                let fixed = !table.is_moving(giant) && !table.is_moving(other);
                if other != giant && !fixed && bounds.overlaps(table.bounds(other)) {
                    now.push(pair::key(giant, other));
                }
            }
        }
        now.sort_unstable();
        now.dedup();
        for &key in now.iter().filter(|key| self.giant_pairs.binary_search(key).is_err()) {
            let count = self.close.entry(key).or_insert(0);
            if *count == 0 {
                self.flips.push(key);
            }
            *count += 1;
        }
        for &key in self.giant_pairs.iter().filter(|key| now.binary_search(key).is_err()) {
            decrement(&mut self.close, &mut self.flips, key);
        }
        self.giant_pairs = now;
    }

    /// Which pairs became close, which are no more.
    pub fn report(&mut self, table: &ProxyTable, changes: &mut PairChanges) {
        changes.clear();
        self.flips.sort_unstable();
        for run in self.flips.chunk_by(|a, b| a == b).filter(|run| run.len() % 2 == 1) {
            let list =
                if self.close.contains_key(&run[0]) { &mut changes.appeared } else { &mut changes.vanished };
            list.push(pair::pair(table, run[0]));
        }
        self.flips.clear();
    }

    /// Pairs that are close, in no particular order.
    pub fn close_pairs(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.close.keys().copied()
    }

    /// Occupied cells with their level and boxes, sorted.
    pub fn occupied_cells(&self, table: &ProxyTable) -> Vec<(usize, [i64; 3], Vec<ProxyId>)> {
        let named = |inside: Vec<u32>| inside.into_iter().map(|index| table.id(index)).collect();
        self.occupied()
            .into_iter()
            .map(|(cell, inside)| (cell.level as usize, cell.at, named(inside)))
            .collect()
    }

    /// Occupied cells and their boxes, sorted.
    fn occupied(&self) -> Vec<(Cell, Vec<u32>)> {
        let mut cells: Vec<_> = self.cells.iter().map(|(cell, inside)| (*cell, inside.clone())).collect();
        for (_, inside) in &mut cells {
            inside.sort_unstable();
        }
        cells.sort_unstable();
        cells
    }
}

/// Whether sharing a cell on this level counts for two boxes.
fn overlap(table: &ProxyTable, stored: &[Option<Stored>], one: u32, other: u32, level: u8) -> bool {
    let own = |index: u32| stored[index as usize].map_or(0, |stored| stored.level);
    level == own(one).max(own(other)) && (table.is_moving(one) || table.is_moving(other))
}

fn decrement(close: &mut HashMap<u64, u32, MixState>, flips: &mut Vec<u64>, key: u64) {
    if let Some(count) = close.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            close.remove(&key);
            flips.push(key);
        }
    }
}
