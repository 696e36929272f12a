//! Pairs of boxes, and how they change from step to step.

use super::{ProxyId, ProxyTable};

/// Two boxes of a space, the one with the smaller id first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The smaller id.
    pub a: ProxyId,
    /// The larger id.
    pub b: ProxyId,
}

impl Pair {
    /// Two ids in any order ⇒ pair.
    pub fn new(one: ProxyId, other: ProxyId) -> Self {
        Self { a: one.min(other), b: one.max(other) }
    }
}

/// Changes of a step, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairChanges {
    /// Pairs that are candidates now and were not before.
    pub appeared: Vec<Pair>,
    /// Pairs that were candidates and are no more, also because a box was removed.
    pub vanished: Vec<Pair>,
}

impl PairChanges {
    /// Clears both lists, keeps their allocations.
    pub fn clear(&mut self) {
        self.appeared.clear();
        self.vanished.clear();
    }
}

/// Two indices as one number that sorts like the pair.
#[inline(always)]
pub(super) fn key(one: u32, other: u32) -> u64 {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

/// The smaller and the larger index of a key.
#[inline(always)]
pub(super) fn indices(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

#[inline(always)]
pub(super) fn pair(table: &ProxyTable, key: u64) -> Pair {
    let (a, b) = indices(key);
    Pair { a: table.id(a), b: table.id(b) }
}

/// The candidates of a space that finds all of them anew in each step.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedPairs {
    current: Vec<u64>,
    /// Filled by the space before [`Self::replace`]; keys in any order, repetitions allowed.
    pub next: Vec<u64>,
}

impl SortedPairs {
    /// Replaces the candidates by `next` and reports the differences.
    pub fn replace(&mut self, table: &ProxyTable, changes: &mut PairChanges) {
        changes.clear();
        self.next.sort_unstable();
        self.next.dedup();
        let (mut old, mut new) = (self.current.iter().peekable(), self.next.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (Some(&&o), Some(&&n)) if o == n => {
                    old.next();
                    new.next();
                }
                (Some(&&o), n) if n.is_none_or(|&&n| o < n) => {
                    changes.vanished.push(pair(table, o));
                    old.next();
                }
                (_, Some(&&n)) => {
                    changes.appeared.push(pair(table, n));
                    new.next();
                }
                _ => break,
            }
        }
        std::mem::swap(&mut self.current, &mut self.next);
        self.next.clear();
    }

    pub fn len(&self) -> usize {
        self.current.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.current.iter().copied()
    }
}
