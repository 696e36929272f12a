//! Fixed boxes by cell: a hash table of occupied cells, each with a list. It is never traversed; cells with
//! moving boxes look up theirs.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use super::cell_code::index_sum;
use super::tiling::Mix;

/// How cells are found in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellHash {
    /// All three indices are mixed.
    #[default]
    CombineRules,
    /// By the sum of the indices, as in the textbook: a bucket for each diagonal slice, long lists in large
    /// worlds.
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
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, code: u64) {
        match self {
            Self::Sum(sum) => *sum = index_sum(code),
            Self::Mixed(mix) => mix.write_u64(code),
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
            CellHash::CombineRules => CellHasher::Mixed(Mix::default()),
            CellHash::IndexSum => CellHasher::Sum(0),
        }
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    index: u32,
    next: u32,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct FixedCells {
    /// First entry of each cell's list.
    lookup: HashMap<u64, u32, HashState>,
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl FixedCells {
    pub fn new(hash: CellHash) -> Self {
        Self { lookup: HashMap::with_hasher(HashState(hash)), entries: Vec::new(), free: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.lookup.clear();
        self.entries.clear();
        self.free.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.lookup.is_empty()
    }

    pub fn enter(&mut self, code: u64, index: u32) {
        let first = self.lookup.entry(code).or_insert(NONE);
        let entry = Entry { index, next: *first };
        *first = if let Some(at) = self.free.pop() {
            self.entries[at as usize] = entry;
            at
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        };
    }

    pub fn leave(&mut self, code: u64, index: u32) {
        let Some(first) = self.lookup.get_mut(&code) else { return };
        let (mut before, mut at) = (NONE, *first);
        while at != NONE && self.entries[at as usize].index != index {
            (before, at) = (at, self.entries[at as usize].next);
        }
        if at == NONE {
            return;
        }
        let next = self.entries[at as usize].next;
        self.free.push(at);
        if before != NONE {
            self.entries[before as usize].next = next;
        } else if next == NONE {
            self.lookup.remove(&code);
        } else {
            *first = next;
        }
    }

    /// Boxes of a cell.
    pub fn list(&self, code: u64) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.lookup.get(&code).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let entry = *self.entries.get(at as usize)?;
            at = entry.next;
            Some(entry.index)
        })
    }

    /// Codes of all occupied cells.
    pub fn codes(&self) -> impl Iterator<Item = u64> + '_ {
        self.lookup.keys().copied()
    }
}
