//! The uniform grid: cells of one size, of which only occupied ones are stored.
//!
//! The side of a cell is k times the mean diameter of the boxes, k = 2. A box keeps the range of cells it
//! lies in; as long as that does not change it stays where it is in the list of moving
//! ([`moving_cells`](super::moving_cells)) or the table of fixed boxes ([`fixed_cells`](super::fixed_cells)).
//! A cell is *active* while at least two boxes lie in it, one of them moving. Boxes of a pair may share
//! several cells; the pair belongs to the one with the lowest indices, cell_i = max(low_i of a, low_i of b),
//! so that it is found once. Within a cell boxes are compared four at a time, in single precision relative to
//! one of them and rounded outwards; the rest is tested exactly. Boxes with too many cells are compared with
//! all that move.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::cell_code::{Lattice, Place, cell_above, code};
use super::fixed_cells::{CellHash, FixedCells};
use super::four_boxes::FourBoxes;
use super::moving_cells::{Member, MovingCells};
use crate::Aabb;
use crate::box32::Box32;
use crate::space::forward::forward;
use crate::space::pair::SortedPairs;
use crate::space::{
    Candidates, Mobility, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};

/// Settings of the uniform grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformGridSettings {
    /// Side of a cell in mean diameters of the boxes; at least 1.
    pub cell_ratio: f64,
    /// Side of a cell in metres, instead.
    pub cell_side: Option<f64>,
    /// How cells of fixed boxes are found.
    pub hash: CellHash,
}

impl Default for UniformGridSettings {
    fn default() -> Self {
        Self { cell_ratio: 2.0, cell_side: None, hash: CellHash::default() }
    }
}

/// So many boxes are fetched before they are needed.
const AHEAD: usize = 128;

/// Cells of one size.
#[derive(Clone, Debug)]
pub struct UniformGrid {
    settings: UniformGridSettings,
    lattice: Lattice,
    table: ProxyTable,
    places: Vec<Place>,
    moving: MovingCells,
    fixed: FixedCells,
    /// Moving boxes whose cells have changed since the last step, and where they were then.
    changed: Vec<(u32, Place)>,
    is_changed: Vec<bool>,
    giants: Vec<u32>,
    /// All moving boxes, and where they are in this list.
    movers: Vec<u32>,
    mover_places: Vec<u32>,
    /// Boxes at the last choice of the side.
    chosen_for: usize,
    pairs: SortedPairs,
    members: CellMembers,
    counters: SpaceCounters,
}

/// Room to compare the boxes of a cell: first the moving, then the fixed ones.
#[derive(Clone, Debug, Default)]
struct CellMembers {
    indices: Vec<u32>,
    boxes: Vec<Box32>,
    blocks: Vec<FourBoxes>,
}

impl Default for UniformGrid {
    fn default() -> Self {
        Self::with(UniformGridSettings::default())
    }
}

impl UniformGrid {
    /// Settings ⇒ space.
    pub fn new(settings: UniformGridSettings) -> Result<Self, SpaceError> {
        let UniformGridSettings { cell_ratio, cell_side, .. } = settings;
        if !(1.0..=1e6).contains(&cell_ratio) {
            let allowed = "between 1 and 1e6";
            return Err(SpaceError::Setting { name: "cell_ratio", value: cell_ratio, allowed });
        }
        if let Some(value) = cell_side.filter(|side| !(1e-50..=1e50).contains(side)) {
            return Err(SpaceError::Setting { name: "cell_side", value, allowed: "between 1e-50 and 1e50" });
        }
        Ok(Self::with(settings))
    }

    fn with(settings: UniformGridSettings) -> Self {
        Self {
            settings,
            lattice: Lattice::new(settings.cell_side.unwrap_or(1.0)),
            table: ProxyTable::default(),
            places: Vec::new(),
            moving: MovingCells::default(),
            fixed: FixedCells::new(settings.hash),
            changed: Vec::new(),
            is_changed: Vec::new(),
            giants: Vec::new(),
            movers: Vec::new(),
            mover_places: Vec::new(),
            chosen_for: 0,
            pairs: SortedPairs::default(),
            members: CellMembers::default(),
            counters: SpaceCounters::default(),
        }
    }

    /// Side of a cell.
    pub fn cell_side(&self) -> f64 {
        self.lattice.side()
    }

    /// Number of occupied cells as of the last step.
    pub fn cell_count(&self) -> usize {
        let shared = self.fixed.codes().filter(|&code| !self.moving.run(code).is_empty()).count();
        self.moving.runs().count() + self.fixed.codes().count() - shared
    }

    /// Occupied cells as of the last step, their boxes, and whether they are active, sorted.
    pub fn occupied_cells(&self) -> Vec<([i64; 3], Vec<ProxyId>, bool)> {
        let mut cells: BTreeMap<[i64; 3], (Vec<ProxyId>, bool)> = BTreeMap::new();
        let moving = self.moving.runs().flatten().map(|member| (member.code, member.index));
        let fixed = self.fixed.codes().flat_map(|code| self.fixed.list(code).map(move |index| (code, index)));
        for (code, index) in moving.chain(fixed) {
            let Some(range) = self.lattice.range(self.table.bounds(index)) else { continue };
            let (inside, moves) = cells.entry(cell_above(code, range.low)).or_default();
            inside.push(self.table.id(index));
            *moves |= self.table.is_moving(index);
        }
        let listed = |(cell, (mut inside, moves)): ([i64; 3], (Vec<ProxyId>, bool))| {
            inside.sort_unstable();
            let active = moves && inside.len() > 1;
            (cell, inside, active)
        };
        cells.into_iter().map(listed).collect()
    }

    /// Twice (by default) the mean diameter; boxes a hundred times larger than the median do not count.
    fn best_side(&self) -> f64 {
        if let Some(side) = self.settings.cell_side {
            return side;
        }
        let mut sizes: Vec<f64> =
            self.table.indices().map(|index| self.table.bounds(index).diagonal()).collect();
        sizes.retain(|&size| size > 0.0);
        if sizes.is_empty() {
            return self.lattice.side();
        }
        let half = sizes.len() / 2;
        let (_, &mut middle, _) = sizes.select_nth_unstable_by(half, f64::total_cmp);
        sizes.retain(|&size| size <= 100.0 * middle);
        self.settings.cell_ratio * sizes.iter().sum::<f64>() / sizes.len() as f64
    }

    /// Cells for the boxes as they are now.
    fn rebuild(&mut self) {
        self.lattice = Lattice::new(self.best_side().max(1e-50));
        self.chosen_for = self.table.len();
        self.moving.clear();
        self.fixed.clear();
        self.giants.clear();
        self.changed.clear();
        self.is_changed.fill(false);
        self.places.fill(Place::NOWHERE);
        self.counters.rebuilds += 1;
        let all: Vec<u32> = self.table.indices().collect();
        for index in all {
            self.put(index);
        }
        self.settle();
    }

    /// Puts a box where it belongs.
    #[inline]
    fn put(&mut self, index: u32) {
        let new = Place::of(self.lattice.range(self.table.bounds(index)));
        let old = self.places[index as usize];
        if new != old {
            self.replace(index, old, new);
        }
    }

    /// Fixed boxes change their cells at once, moving ones in the next step.
    fn replace(&mut self, index: u32, old: Place, new: Place) {
        self.places[index as usize] = new;
        if self.table.is_moving(index) {
            if !std::mem::replace(&mut self.is_changed[index as usize], true) {
                self.changed.push((index, old));
            }
        } else {
            old.codes().for_each(|code| self.fixed.leave(code, index));
            new.codes().for_each(|code| self.fixed.enter(code, index));
            self.counters.cell_operations += (old.codes().count() + new.codes().count()) as u64;
        }
        match self.giants.binary_search(&index) {
            Ok(place) if !new.is_giant() => drop(self.giants.remove(place)),
            Err(place) if new.is_giant() => self.giants.insert(place, index),
            _ => {}
        }
    }

    /// Moving boxes enter the cells they are in now.
    fn settle(&mut self) {
        let Self { moving, places, changed, is_changed, .. } = self;
        for (index, old) in changed.drain(..) {
            let new = places[index as usize];
            is_changed[index as usize] = false;
            if new == old {
                continue;
            }
            old.codes().for_each(|code| moving.leave(code, index));
            new.codes().for_each(|code| moving.come(code, index));
        }
        self.counters.cell_operations += moving.merge() as u64;
    }

    /// Pairs of all active cells.
    fn find_pairs(&mut self) {
        let Self { table, lattice, moving, fixed, pairs, members, counters, .. } = self;
        let any_fixed = !fixed.is_empty();
        let (mut passed, mut fetched) = (0, 0);
        for run in moving.runs() {
            passed += run.len();
            if passed > fetched {
                // Prefetch by dummy reads: these do not wait for each other, those of the comparisons would.
                let soon =
                    moving.members().get(fetched..).unwrap_or_default().iter().take(AHEAD + passed - fetched);
                std::hint::black_box(soon.map(|member| table.bounds(member.index).min().x).sum::<f64>());
                fetched = passed + AHEAD;
            }
            let code = run[0].code;
            members.indices.clear();
            members.indices.extend(run.iter().map(|member: &Member| member.index));
            if any_fixed {
                members.indices.extend(fixed.list(code));
            }
            if members.indices.len() > 1 {
                counters.box_tests += members.compare(table, lattice, (code, run.len()), &mut pairs.next);
            }
        }
        for &giant in &self.giants {
            let moves = self.table.is_moving(giant);
            let fixed = self.table.indices().filter(|&index| moves && !self.table.is_moving(index));
            for other in self.movers.iter().copied().chain(fixed) {
                self.counters.box_tests += 1;
                if other != giant && self.table.bounds(giant).overlaps(self.table.bounds(other)) {
                    self.pairs.next.push(pair::key(giant, other));
                }
            }
        }
    }

    fn add_mover(&mut self, index: u32) {
        self.mover_places[index as usize] = self.movers.len() as u32;
        self.movers.push(index);
    }

    fn drop_mover(&mut self, index: u32) {
        let place = self.mover_places[index as usize] as usize;
        self.movers.swap_remove(place);
        if let Some(&moved) = self.movers.get(place) {
            self.mover_places[moved as usize] = place as u32;
        }
    }
}

impl CellMembers {
    /// Compares the first `moving` of the listed with all after them ⇒ how many comparisons; pairs that
    /// belong to the cell go to `found`.
    fn compare(
        &mut self,
        table: &ProxyTable,
        lattice: &Lattice,
        (own_code, moving): (u64, usize),
        found: &mut Vec<u64>,
    ) -> u64 {
        let Self { indices, boxes, blocks } = self;
        let origin = table.bounds(indices[0]).min();
        boxes.clear();
        boxes.extend(indices.iter().map(|&index| Box32::outward(table.bounds(index), origin)));
        blocks.clear();
        blocks.extend(boxes.chunks(4).map(FourBoxes::new));
        let mut tests = 0;
        for one in 0..moving {
            let index = indices[one];
            for (k, block) in blocks.iter().enumerate().skip((one + 1) / 4) {
                let mut mask = block.overlap_mask(boxes[one]);
                tests += 4;
                if 4 * k <= one {
                    mask &= 0b1110 << (one - 4 * k);
                }
                while mask != 0 {
                    let other = indices[4 * k + mask.trailing_zeros() as usize];
                    mask &= mask - 1;
                    let (a, b) = (table.bounds(index), table.bounds(other));
                    if a.overlaps(b) && code(lattice.cell(a.min().max(b.min()))) == own_code {
                        found.push(pair::key(index, other));
                    }
                }
            }
        }
        tests
    }
}

impl Space for UniformGrid {
    fn name(&self) -> &'static str {
        "uniform-grid"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Exact
    }

    forward!(proxies, pairs, counters);

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        let id = self.table.insert(bounds, mobility, user)?;
        let count = self.table.slot_count();
        self.places.resize(count, Place::NOWHERE);
        self.is_changed.resize(count, false);
        self.mover_places.resize(count, 0);
        if mobility == Mobility::Moving {
            self.add_mover(id.index());
        }
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
        self.replace(index, self.places[index as usize], Place::NOWHERE);
        if self.table.is_moving(index) {
            self.drop_mover(index);
        }
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
        } else {
            self.settle();
        }
        self.find_pairs();
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }

    fn overlapping(&self, bounds: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let overlaps_bounds = |index: u32| self.table.bounds(index).overlaps(bounds);
        let mut look = |index: u32| {
            if overlaps_bounds(index) { visit(self.table.id(index)) } else { ControlFlow::Continue(()) }
        };
        let window = self.lattice.range(bounds).filter(|_| self.chosen_for > 0);
        let Some(window) = window else {
            let _ = self.table.indices().try_for_each(look);
            return;
        };
        for cell in window.cells() {
            let code = code(cell);
            let moving = self.moving.run(code).iter().map(|member| member.index);
            let settled = moving.filter(|&index| !self.is_changed[index as usize]);
            for index in settled.chain(self.fixed.list(code)).filter(|&index| overlaps_bounds(index)) {
                // In several cells of the window: tested in the lowest.
                let lowest = self.table.bounds(index).min().max(bounds.min());
                if self.lattice.cell(lowest) == cell && look(index).is_break() {
                    return;
                }
            }
        }
        let alive = |index: &u32| self.table.is_alive(*index) && !self.places[*index as usize].is_giant();
        let unsettled = self.changed.iter().map(|&(index, _)| index).filter(alive);
        let _ = unsettled.chain(self.giants.iter().copied()).try_for_each(look);
    }
}
