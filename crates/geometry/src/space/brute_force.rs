//! Every box against every other: slow, and right. All other spaces are compared with it.

use super::forward::forward;
use super::pair::{self, SortedPairs};
use super::{Candidates, Mobility, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError};
use crate::Aabb;

/// The space without structure.
#[derive(Clone, Debug, Default)]
pub struct BruteForce {
    table: ProxyTable,
    pairs: SortedPairs,
    counters: SpaceCounters,
}

impl Space for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Exact
    }

    forward!(proxies, changes, pairs, counters);

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        self.table.insert(bounds, mobility, user)
    }

    fn build(&mut self) {}

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        for a in self.table.indices().filter(|&index| self.table.is_moving(index)) {
            for b in self.table.indices().filter(|&b| b > a || !self.table.is_moving(b)) {
                self.counters.box_tests += 1;
                if a != b && self.table.bounds(a).overlaps(self.table.bounds(b)) {
                    self.pairs.next.push(pair::key(a, b));
                }
            }
        }
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }
}
