//! Which boxes are in which cell, as one list sorted by the codes of cells.
//!
//! Boxes of one cell are adjacent, and cells near each other mostly too, so a pass through the list loads
//! every box about once into the cache. Between two steps few boxes change their cells; entries and exits are
//! sorted separately and merged into the list in one pass.

/// A box in a cell; ordered by cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub code: u64,
    pub index: u32,
}

/// The list, and its pending changes.
#[derive(Clone, Debug, Default)]
pub(super) struct MovingCells {
    members: Vec<Member>,
    merged: Vec<Member>,
    coming: Vec<Member>,
    leaving: Vec<Member>,
}

impl MovingCells {
    pub fn clear(&mut self) {
        self.members.clear();
        self.coming.clear();
        self.leaving.clear();
    }

    /// Will be in a cell after [`Self::merge`].
    pub fn come(&mut self, code: u64, index: u32) {
        self.coming.push(Member { code, index });
    }

    /// Is in a cell and will not be after [`Self::merge`].
    pub fn leave(&mut self, code: u64, index: u32) {
        self.leaving.push(Member { code, index });
    }

    /// Makes it so ⇒ how many came and left.
    pub fn merge(&mut self) -> usize {
        let changes = self.coming.len() + self.leaving.len();
        if changes == 0 {
            return 0;
        }
        self.coming.sort_unstable();
        self.leaving.sort_unstable();
        let Self { members, merged, coming, leaving } = self;
        merged.clear();
        merged.reserve(members.len() + coming.len());
        let mut at = 0;
        // Stretches without a change are copied as a whole.
        let mut copy_until = |merged: &mut Vec<Member>, end: usize, skip: usize| {
            merged.extend_from_slice(&members[at..end]);
            at = end + skip;
        };
        let (mut next_coming, mut next_leaving) = (0, 0);
        let mut from = 0;
        while next_coming < coming.len() || next_leaving < leaving.len() {
            let goes = match (coming.get(next_coming), leaving.get(next_leaving)) {
                (Some(one), Some(other)) => other <= one,
                (None, Some(_)) => true,
                _ => false,
            };
            let member = if goes { leaving[next_leaving] } else { coming[next_coming] };
            let place = from + gallop(&members[from..], member);
            if goes {
                let found = usize::from(members.get(place) == Some(&member));
                copy_until(merged, place, found);
                from = place + found;
                next_leaving += 1;
            } else {
                copy_until(merged, place, 0);
                merged.push(member);
                from = place;
                next_coming += 1;
            }
        }
        let end = members.len();
        copy_until(merged, end, 0);
        std::mem::swap(members, merged);
        coming.clear();
        leaving.clear();
        changes
    }

    /// All members in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Members cell by cell.
    pub fn runs(&self) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|a, b| a.code == b.code)
    }

    /// Members of one cell.
    pub fn run(&self, code: u64) -> &[Member] {
        let first = self.members.partition_point(|member| member.code < code);
        let count = self.members[first..].iter().take_while(|member| member.code == code).count();
        &self.members[first..first + count]
    }
}

/// How many of a sorted list lie before a member, which is expected near the front.
fn gallop(members: &[Member], member: Member) -> usize {
    let mut reach = 8;
    while reach < members.len() && members[reach] < member {
        reach *= 2;
    }
    let first = if reach == 8 { 0 } else { reach / 2 };
    let last = reach.min(members.len());
    first + members[first..last].partition_point(|known| *known < member)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After every merge the list is the sorted set of entries without the exits.
        #[test]
        fn merging_keeps_the_set(
            rounds in prop::collection::vec(prop::collection::vec((0u64..40, 0u32..9), 0..80), 1..12),
        ) {
            let (mut cells, mut model) = (MovingCells::default(), BTreeSet::new());
            for round in rounds {
                let round: BTreeSet<(u64, u32)> = round.into_iter().collect();
                for &(code, index) in &round {
                    if model.remove(&(code, index)) {
                        cells.leave(code, index);
                    } else {
                        model.insert((code, index));
                        cells.come(code, index);
                    }
                }
                prop_assert_eq!(cells.merge(), round.len());
                let flat: Vec<(u64, u32)> = cells.runs().flatten().map(|m| (m.code, m.index)).collect();
                prop_assert_eq!(&flat, &model.iter().copied().collect::<Vec<_>>());
                for code in 0..40 {
                    let inside = model.iter().filter(|known| known.0 == code).count();
                    prop_assert_eq!(cells.run(code).len(), inside);
                }
            }
        }
    }
}
