//! The uniform grid: cells of one size in a hash table, and only those that something lies in.
//!
//! The side of a cell is k times the mean diameter of the boxes, k = 2. A box keeps the range of cells it lies in; as long as
//! that does not change nothing happens. A cell is *active* while at least two boxes lie in it, one of them moving. Boxes of
//! a pair may share several cells; the pair belongs to the one with the lowest indices, cell_i = max(low_i of a, low_i of b),
//! so that it is found once. Boxes with too many cells are compared with all that move.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::ControlFlow;

use super::tiling::{CellRange, Mix};
use crate::Aabb;
use crate::space::pair::SortedPairs;
use crate::space::{
    Candidates, Mobility, Pair, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};

/// How cells are found in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellHash {
    /// All three indices are mixed.
    #[default]
    Mixing,
    /// By the sum of the indices, as the book suggests: a bucket for each diagonal slice, long lists in large worlds.
    IndexSum,
}

/// A hasher that adds up, or mixes.
#[derive(Clone, Copy, Debug)]
enum CellHasher {
    Sum(u64),
    Mixed(Mix),
}

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        match self {
            Self::Sum(sum) => *sum,
            Self::Mixed(mix) => mix.finish(),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_i64(i64::from(byte)));
    }

    fn write_i64(&mut self, word: i64) {
        match self {
            Self::Sum(sum) => *sum = sum.wrapping_add(word as u64),
            Self::Mixed(mix) => mix.write_i64(word),
        }
    }
}

/// Private, so that hashers are no part of the public interface.
#[derive(Clone, Copy, Debug)]
struct HashState(CellHash);

impl BuildHasher for HashState {
    type Hasher = CellHasher;

    fn build_hasher(&self) -> CellHasher {
        match self.0 {
            CellHash::Mixing => CellHasher::Mixed(Mix::default()),
            CellHash::IndexSum => CellHasher::Sum(0),
        }
    }
}

/// Index of a cell without the length prefix that arrays are hashed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key([i64; 3]);

impl std::hash::Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|&index| state.write_i64(index));
    }
}

/// Settings of the uniform grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformGridSettings {
    /// Side of a cell in mean diameters of the boxes; at least 1.
    pub cell_ratio: f64,
    /// Side of a cell in metres, instead.
    pub cell_side: Option<f64>,
    /// How cells are found.
    pub hash: CellHash,
}

impl Default for UniformGridSettings {
    fn default() -> Self {
        Self { cell_ratio: 2.0, cell_side: None, hash: CellHash::default() }
    }
}

const NONE: u32 = u32::MAX;

/// A cell that something lies in.
#[derive(Clone, Debug)]
struct Cell {
    key: Key,
    /// First entry of the list of moving and of that of fixed boxes.
    lists: [u32; 2],
    counts: [u32; 2],
    /// Place in the list of active cells.
    active: u32,
}

impl Cell {
    fn is_active(&self) -> bool {
        self.counts[0] > 0 && self.counts[0] + self.counts[1] > 1
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    index: u32,
    next: u32,
}

/// Where a box is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Nowhere,
    Cells(CellRange),
    /// Too many cells.
    Giant,
}

/// Cells of one size.
#[derive(Clone, Debug)]
pub struct UniformGrid {
    settings: UniformGridSettings,
    side: f64,
    table: ProxyTable,
    places: Vec<Place>,
    lookup: HashMap<Key, u32, HashState>,
    cells: Vec<Cell>,
    free_cells: Vec<u32>,
    entries: Vec<Entry>,
    free_entries: Vec<u32>,
    active: Vec<u32>,
    giants: Vec<u32>,
    /// Boxes at the last choice of the side.
    chosen_for: usize,
    pairs: SortedPairs,
    counters: SpaceCounters,
}

impl Default for UniformGrid {
    fn default() -> Self {
        Self::with(UniformGridSettings::default())
    }
}

impl UniformGrid {
    /// Settings ⇒ space.
    pub fn new(settings: UniformGridSettings) -> Result<Self, SpaceError> {
        if !(1.0..=1e6).contains(&settings.cell_ratio) {
            let allowed = "between 1 and 1e6";
            return Err(SpaceError::Setting { name: "cell_ratio", value: settings.cell_ratio, allowed });
        }
        if let Some(side) = settings.cell_side
            && !(1e-50..=1e50).contains(&side)
        {
            return Err(SpaceError::Setting {
                name: "cell_side",
                value: side,
                allowed: "between 1e-50 and 1e50",
            });
        }
        Ok(Self::with(settings))
    }

    fn with(settings: UniformGridSettings) -> Self {
        Self {
            settings,
            side: settings.cell_side.unwrap_or(1.0),
            table: ProxyTable::default(),
            places: Vec::new(),
            lookup: HashMap::with_hasher(HashState(settings.hash)),
            cells: Vec::new(),
            free_cells: Vec::new(),
            entries: Vec::new(),
            free_entries: Vec::new(),
            active: Vec::new(),
            giants: Vec::new(),
            chosen_for: 0,
            pairs: SortedPairs::default(),
            counters: SpaceCounters::default(),
        }
    }

    /// Side of a cell.
    pub fn cell_side(&self) -> f64 {
        self.side
    }

    /// Number of cells that something lies in.
    pub fn cell_count(&self) -> usize {
        self.lookup.len()
    }

    /// Occupied cells, who is in them, and whether they are active, sorted.
    pub fn occupied_cells(&self) -> Vec<([i64; 3], Vec<ProxyId>, bool)> {
        let mut all: Vec<_> = self
            .lookup
            .values()
            .map(|&place| {
                let cell = &self.cells[place as usize];
                let mut inside: Vec<_> = self
                    .list(cell.lists[0])
                    .chain(self.list(cell.lists[1]))
                    .map(|index| self.table.id(index))
                    .collect();
                inside.sort_unstable();
                (cell.key.0, inside, cell.active != NONE)
            })
            .collect();
        all.sort_unstable();
        all
    }

    fn list(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = first;
        std::iter::from_fn(move || {
            let entry = *self.entries.get(at as usize)?;
            at = entry.next;
            Some(entry.index)
        })
    }

    /// Twice (by default) the mean diameter; what is a hundred times larger than the middle one does not count.
    fn best_side(&self) -> f64 {
        if let Some(side) = self.settings.cell_side {
            return side;
        }
        let mut sizes: Vec<f64> =
            self.table.indices().map(|index| self.table.bounds(index).diagonal()).collect();
        sizes.retain(|&size| size > 0.0);
        if sizes.is_empty() {
            return self.side;
        }
        let half = sizes.len() / 2;
        let (_, &mut middle, _) = sizes.select_nth_unstable_by(half, f64::total_cmp);
        sizes.retain(|&size| size <= 100.0 * middle);
        self.settings.cell_ratio * sizes.iter().sum::<f64>() / sizes.len() as f64
    }

    /// Cells for the boxes as they are now.
    fn rebuild(&mut self) {
        self.side = self.best_side().max(1e-50);
        self.chosen_for = self.table.len();
        self.lookup.clear();
        self.cells.clear();
        self.free_cells.clear();
        self.entries.clear();
        self.free_entries.clear();
        self.active.clear();
        self.giants.clear();
        self.places.fill(Place::Nowhere);
        self.counters.rebuilds += 1;
        let all: Vec<u32> = self.table.indices().collect();
        for index in all {
            self.put(index);
        }
    }

    /// Puts a box where it belongs.
    #[inline]
    fn put(&mut self, index: u32) {
        let new = CellRange::of(self.table.bounds(index), self.side).map_or(Place::Giant, Place::Cells);
        let old = self.places[index as usize];
        if new == old {
            return;
        }
        self.replace(index, old, new);
    }

    fn replace(&mut self, index: u32, old: Place, new: Place) {
        self.places[index as usize] = new;
        let (before, after) = (range(old), range(new));
        let outside = |other: Option<CellRange>, cell| other.is_none_or(|range| !range.contains(cell));
        if let Some(before) = before {
            before.cells().filter(|&cell| outside(after, cell)).for_each(|cell| self.leave(index, Key(cell)));
        }
        if let Some(after) = after {
            after.cells().filter(|&cell| outside(before, cell)).for_each(|cell| self.enter(index, Key(cell)));
        }
        match self.giants.binary_search(&index) {
            Ok(place) if new != Place::Giant => drop(self.giants.remove(place)),
            Err(place) if new == Place::Giant => self.giants.insert(place, index),
            _ => {}
        }
    }

    fn enter(&mut self, index: u32, key: Key) {
        self.counters.cell_operations += 1;
        let Self { lookup, cells, free_cells, entries, free_entries, .. } = self;
        let place = *lookup.entry(key).or_insert_with(|| {
            let cell = Cell { key, lists: [NONE; 2], counts: [0; 2], active: NONE };
            if let Some(place) = free_cells.pop() {
                cells[place as usize] = cell;
                return place;
            }
            cells.push(cell);
            (cells.len() - 1) as u32
        });
        let side = usize::from(!self.table.is_moving(index));
        let cell = &mut cells[place as usize];
        let entry = Entry { index, next: cell.lists[side] };
        cell.counts[side] += 1;
        cell.lists[side] = if let Some(at) = free_entries.pop() {
            entries[at as usize] = entry;
            at
        } else {
            entries.push(entry);
            (entries.len() - 1) as u32
        };
        self.note(place);
    }

    fn leave(&mut self, index: u32, key: Key) {
        self.counters.cell_operations += 1;
        let Some(&place) = self.lookup.get(&key) else { return };
        let side = usize::from(!self.table.is_moving(index));
        let cell = &mut self.cells[place as usize];
        let (mut before, mut at) = (NONE, cell.lists[side]);
        while at != NONE && self.entries[at as usize].index != index {
            (before, at) = (at, self.entries[at as usize].next);
        }
        if at == NONE {
            return;
        }
        let next = self.entries[at as usize].next;
        if before == NONE {
            cell.lists[side] = next;
        } else {
            self.entries[before as usize].next = next;
        }
        cell.counts[side] -= 1;
        let empty = cell.counts == [0, 0];
        self.free_entries.push(at);
        self.note(place);
        if empty {
            self.lookup.remove(&key);
            self.free_cells.push(place);
        }
    }

    /// Lists a cell as active, or takes it off the list.
    fn note(&mut self, place: u32) {
        let cell = &mut self.cells[place as usize];
        match (cell.is_active(), cell.active) {
            (true, NONE) => {
                cell.active = self.active.len() as u32;
                self.active.push(place);
            }
            (false, at) if at != NONE => {
                cell.active = NONE;
                self.active.swap_remove(at as usize);
                if let Some(&moved) = self.active.get(at as usize) {
                    self.cells[moved as usize].active = at;
                }
            }
            _ => {}
        }
    }

    /// Pairs of all active cells.
    fn find_pairs(&mut self) {
        let Self { table, places, cells, entries, active, pairs, counters, .. } = self;
        let low = |index: u32| match places[index as usize] {
            Place::Cells(range) => range.low,
            _ => [0; 3],
        };
        for &place in active.iter() {
            let cell = &cells[place as usize];
            let mut at = cell.lists[0];
            while at != NONE {
                let Entry { index, next } = entries[at as usize];
                let (bounds, own) = (table.bounds(index), low(index));
                for mut beside in [next, cell.lists[1]] {
                    while beside != NONE {
                        let other = entries[beside as usize];
                        beside = other.next;
                        counters.box_tests += 1;
                        if !bounds.overlaps(table.bounds(other.index)) {
                            continue;
                        }
                        let theirs = low(other.index);
                        if (0..3).all(|axis| own[axis].max(theirs[axis]) == cell.key.0[axis]) {
                            pairs.next.push(pair::key(index, other.index));
                        }
                    }
                }
                at = next;
            }
        }
        for &giant in &self.giants {
            for other in self.table.indices() {
                self.counters.box_tests += 1;
                let fixed = !self.table.is_moving(giant) && !self.table.is_moving(other);
                if other != giant && !fixed && self.table.bounds(giant).overlaps(self.table.bounds(other)) {
                    self.pairs.next.push(pair::key(giant, other));
                }
            }
        }
    }
}

fn range(place: Place) -> Option<CellRange> {
    match place {
        Place::Cells(range) => Some(range),
        Place::Giant | Place::Nowhere => None,
    }
}

impl Space for UniformGrid {
    fn name(&self) -> &'static str {
        "uniform-grid"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Exact
    }

    fn proxies(&self) -> &ProxyTable {
        &self.table
    }

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        let id = self.table.insert(bounds, mobility, user)?;
        self.places.resize(self.table.slot_count(), Place::Nowhere);
        // The first ones wait until something is known about their sizes.
        if self.chosen_for > 0 {
            self.put(id.index());
        }
        Ok(id)
    }

    fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(), SpaceError> {
        let (index, _) = self.table.update(id, bounds)?;
        if self.chosen_for > 0 {
            self.put(index);
        }
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), SpaceError> {
        let index = self.table.remove(id)?;
        self.replace(index, self.places[index as usize], Place::Nowhere);
        Ok(())
    }

    fn build(&mut self) {
        self.rebuild();
    }

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        // Twice as many or half as many boxes may be of other sizes.
        let count = self.table.len();
        if count > 2 * self.chosen_for || 2 * count < self.chosen_for {
            self.rebuild();
        }
        self.find_pairs();
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }

    fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    fn for_each_pair(&self, visit: &mut dyn FnMut(Pair)) {
        self.pairs.iter().for_each(|key| visit(pair::pair(&self.table, key)));
    }

    fn counters(&self) -> SpaceCounters {
        self.counters
    }

    fn overlapping(&self, bounds: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let mut look = |index: u32| {
            let meets = self.table.bounds(index).overlaps(bounds);
            if meets { visit(self.table.id(index)) } else { ControlFlow::Continue(()) }
        };
        let window = CellRange::of(bounds, self.side).filter(|_| self.chosen_for > 0);
        let Some(window) = window else {
            let _ = self.table.indices().try_for_each(look);
            return;
        };
        for cell in window.cells() {
            let Some(&place) = self.lookup.get(&Key(cell)) else { continue };
            let lists = self.cells[place as usize].lists;
            for index in lists.into_iter().flat_map(|first| self.list(first)) {
                let Some(own) = range(self.places[index as usize]) else { continue };
                // In several cells of the window: looked at in the lowest.
                let lowest = (0..3).all(|axis| own.low[axis].max(window.low[axis]) == cell[axis]);
                if lowest && look(index).is_break() {
                    return;
                }
            }
        }
        let _ = self.giants.iter().try_for_each(|&giant| look(giant));
    }
}
