//! Sweep and prune: boxes overlap iff their intervals do on all three axes.
//!
//! Three axes: the ends of all intervals lie in a sorted list for each axis. Boxes move little, so that
//! insertion sort needs few swaps. A start that passes to the left of an end begins an overlap on that axis:
//! if the boxes overlap they become a pair. An end that passes to the left of a start ends one. Insertion
//! sort swaps two ends at most once in a step, so each pair is right in the end. At equal coordinates starts
//! come before ends: intervals are closed.
//!
//! One axis: boxes sorted by where they start on the axis along which they are spread most; each is compared
//! with those that start before it ends.

use std::collections::HashSet;

use glam::DVec3;

use super::forward::forward;
use super::pair::SortedPairs;
use super::{
    Candidates, Mobility, Pair, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};
use crate::Aabb;

/// The end of an interval.
#[derive(Clone, Copy, Debug)]
struct End {
    value: f64,
    /// Twice the index, plus one for the upper end.
    name: u32,
}

impl End {
    fn index(self) -> u32 {
        self.name >> 1
    }

    fn is_upper(self) -> bool {
        self.name & 1 == 1
    }

    /// Sorted by coordinate, starts first, then by name.
    fn precedes(self, other: Self) -> bool {
        let order = self.value.total_cmp(&other.value);
        order.then(self.is_upper().cmp(&other.is_upper())).then(self.name.cmp(&other.name)).is_lt()
    }
}

/// Sorted ends on three axes.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    table: ProxyTable,
    axes: [Vec<End>; 3],
    /// Inserted since the last step.
    newcomers: Vec<u32>,
    pairs: HashSet<u64>,
    /// Pairs that came or went; an odd number of times if they changed.
    flips: Vec<u64>,
    outdated: bool,
    counters: SpaceCounters,
}

impl SweepAndPrune {
    fn flip(&mut self, key: u64, now: bool) {
        let changed = if now { self.pairs.insert(key) } else { self.pairs.remove(&key) };
        if changed {
            self.flips.push(key);
        }
    }

    fn overlap(&self, a: u32, b: u32) -> bool {
        (self.table.is_moving(a) || self.table.is_moving(b))
            && self.table.bounds(a).overlaps(self.table.bounds(b))
    }

    /// Boxes that left, and their pairs.
    fn forget_leaving(&mut self) {
        if self.table.leaving().is_empty() {
            return;
        }
        for axis in &mut self.axes {
            axis.retain(|end| self.table.is_alive(end.index()));
        }
        self.newcomers.retain(|&index| self.table.is_alive(index));
        let gone = |key: u64| {
            let (a, b) = pair::indices(key);
            !self.table.is_alive(a) || !self.table.is_alive(b)
        };
        let lost: Vec<u64> = self.pairs.iter().copied().filter(|&key| gone(key)).collect();
        for key in lost {
            self.flip(key, false);
        }
    }

    fn refresh_values(&mut self) {
        for (k, axis) in self.axes.iter_mut().enumerate() {
            for end in axis {
                let bounds = self.table.bounds(end.index());
                end.value = if end.is_upper() { bounds.max()[k] } else { bounds.min()[k] };
            }
        }
    }

    /// Insertion sort; every swap is a change of overlap.
    fn sort(&mut self, axis: usize) {
        let mut ends = std::mem::take(&mut self.axes[axis]);
        for k in 1..ends.len() {
            let end = ends[k];
            let mut j = k;
            while j > 0 && end.precedes(ends[j - 1]) {
                let passed = ends[j - 1];
                self.counters.swaps += 1;
                if end.is_upper() != passed.is_upper() && end.index() != passed.index() {
                    let key = pair::key(end.index(), passed.index());
                    if end.is_upper() {
                        self.flip(key, false);
                    } else {
                        self.counters.box_tests += 1;
                        if self.overlap(end.index(), passed.index()) {
                            self.flip(key, true);
                        }
                    }
                }
                ends[j] = passed;
                j -= 1;
            }
            ends[j] = end;
        }
        self.axes[axis] = ends;
    }

    /// Everything anew: sorted at once, and swept along x.
    fn rebuild(&mut self) {
        self.newcomers.clear();
        self.outdated = false;
        self.counters.rebuilds += 1;
        for axis in &mut self.axes {
            axis.clear();
            let ends = self.table.indices().flat_map(|index| [2 * index, 2 * index + 1]);
            axis.extend(ends.map(|name| End { value: 0.0, name }));
        }
        self.refresh_values();
        for axis in &mut self.axes {
            axis.sort_unstable_by(|a, b| {
                if a.precedes(*b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
            });
        }
        let mut found = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        for end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&index| index != end.index());
                continue;
            }
            self.counters.box_tests += open.len() as u64;
            found.extend(
                open.iter()
                    .filter(|&&other| self.overlap(end.index(), other))
                    .map(|&other| pair::key(end.index(), other)),
            );
            open.push(end.index());
        }
        found.sort_unstable();
        let lost: Vec<u64> =
            self.pairs.iter().copied().filter(|key| found.binary_search(key).is_err()).collect();
        for key in lost {
            self.flip(key, false);
        }
        for key in found {
            self.flip(key, true);
        }
    }
}

/// Common to one axis and three: boxes are tested as set, and new ones are sorted in by the next step.
macro_rules! sort_in_later {
    () => {
        fn candidates(&self) -> Candidates {
            Candidates::Exact
        }

        forward!(proxies, changes, counters);

        fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
            let id = self.table.insert(bounds, mobility, user)?;
            self.newcomers.push(id.index());
            Ok(id)
        }

        fn build(&mut self) {
            self.outdated = true;
        }
    };
}

impl Space for SweepAndPrune {
    fn name(&self) -> &'static str {
        "sweep-and-prune"
    }

    sort_in_later!();

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        self.forget_leaving();
        if self.outdated || self.newcomers.len() * 8 > self.table.len() {
            self.rebuild();
        } else {
            for axis in &mut self.axes {
                let ends = self.newcomers.iter().flat_map(|&index| [2 * index, 2 * index + 1]);
                axis.extend(ends.map(|name| End { value: 0.0, name }));
            }
            self.newcomers.clear();
            self.refresh_values();
            (0..3).for_each(|axis| self.sort(axis));
        }
        changes.clear();
        self.flips.sort_unstable();
        for run in self.flips.chunk_by(|a, b| a == b).filter(|run| run.len() % 2 == 1) {
            let list =
                if self.pairs.contains(&run[0]) { &mut changes.appeared } else { &mut changes.vanished };
            list.push(pair::pair(&self.table, run[0]));
        }
        self.flips.clear();
        self.table.recycle();
    }

    fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    fn for_each_pair(&self, visit: &mut dyn FnMut(Pair)) {
        self.pairs.iter().for_each(|&key| visit(pair::pair(&self.table, key)));
    }
}

/// Boxes sorted along one axis.
#[derive(Clone, Debug, Default)]
pub struct SingleAxisSweep {
    table: ProxyTable,
    axis: usize,
    /// (start, end, index) sorted by start.
    order: Vec<(f64, f64, u32)>,
    newcomers: Vec<u32>,
    outdated: bool,
    pairs: SortedPairs,
    counters: SpaceCounters,
}

impl SingleAxisSweep {
    /// Which axis, 0, 1, 2 for x, y, z, was taken.
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// The axis along which the centres vary most.
    fn widest_axis(&self) -> usize {
        let count = self.table.len().max(1) as f64;
        let centers = || self.table.indices().map(|index| self.table.bounds(index).center());
        let mean = centers().sum::<DVec3>() / count;
        let variance: DVec3 = centers().map(|center| (center - mean) * (center - mean)).sum();
        (0..3).fold(0, |best, axis| if variance[axis] > variance[best] { axis } else { best })
    }

    fn refresh(&mut self) {
        let bounds = |index: u32| {
            (self.table.bounds(index).min()[self.axis], self.table.bounds(index).max()[self.axis])
        };
        for item in &mut self.order {
            (item.0, item.1) = bounds(item.2);
        }
    }

    /// Sort for nearly sorted input.
    fn sort(&mut self) {
        let before = |a: &(f64, f64, u32), b: &(f64, f64, u32)| (a.0, a.2) < (b.0, b.2);
        for k in 1..self.order.len() {
            let item = self.order[k];
            let mut j = k;
            while j > 0 && before(&item, &self.order[j - 1]) {
                self.order[j] = self.order[j - 1];
                self.counters.swaps += 1;
                j -= 1;
            }
            self.order[j] = item;
        }
    }
}

impl Space for SingleAxisSweep {
    fn name(&self) -> &'static str {
        "sweep-and-prune-1"
    }

    sort_in_later!();
    forward!(pairs);

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        if !self.table.leaving().is_empty() {
            self.order.retain(|item| self.table.is_alive(item.2));
            self.newcomers.retain(|&index| self.table.is_alive(index));
        }
        let many = self.newcomers.len() * 8 > self.table.len();
        self.order.extend(self.newcomers.drain(..).map(|index| (0.0, 0.0, index)));
        if many || self.outdated {
            self.axis = self.widest_axis();
            self.outdated = false;
            self.counters.rebuilds += 1;
            self.refresh();
            self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        } else {
            self.refresh();
        }
        self.sort();
        for (k, &(_, end, index)) in self.order.iter().enumerate() {
            for &(_, _, other) in self.order[k + 1..].iter().take_while(|item| item.0 <= end) {
                self.counters.box_tests += 1;
                let moving = self.table.is_moving(index) || self.table.is_moving(other);
                if moving && self.table.bounds(index).overlaps(self.table.bounds(other)) {
                    self.pairs.next.push(pair::key(index, other));
                }
            }
        }
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }
}
