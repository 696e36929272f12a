//! For each moving box the list of boxes it pairs with.
//!
//! Up to six neighbours are stored in the list's own cache line. A longer list is a block of 2^class places
//! in one array; one that outgrows its block moves to one twice as large, and blocks left behind wait for
//! others of their size. So after a while nothing is allocated any more. A pair of two moving boxes is in the
//! lists of both; fixed boxes have none.

/// Neighbours that need no block.
const INLINE: usize = 6;
/// Class of the smallest block.
const SMALLEST: u32 = 4;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct List {
    length: u32,
    /// 0: no block, k: 2^k places.
    class: u32,
    /// The neighbours; with a block, the first of them is where it begins.
    places: [u32; INLINE],
}

/// The lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    lists: Vec<List>,
    blocks: Vec<u32>,
    free: [Vec<u32>; 32],
}

impl Neighbors {
    /// Makes room for indices below `count`.
    pub fn reserve(&mut self, count: usize) {
        if self.lists.len() < count {
            self.lists.resize(count, List::default());
        }
    }

    /// The line of a list, to be read by [`Self::read`]: many are fetched at once faster than one after the
    /// other.
    #[inline(always)]
    pub fn line(&self, index: u32) -> List {
        self.lists[index as usize]
    }

    /// Prefetches a list by a dummy read.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        std::hint::black_box(self.lists[index as usize].length);
    }

    #[inline(always)]
    pub fn of(&self, index: u32) -> &[u32] {
        self.read(&self.lists[index as usize])
    }

    #[inline(always)]
    pub fn read<'a>(&'a self, list: &'a List) -> &'a [u32] {
        let (first, length) = (list.places[0] as usize, list.length as usize);
        if list.class == 0 { &list.places[..length] } else { &self.blocks[first..first + length] }
    }

    pub fn add(&mut self, index: u32, neighbor: u32) {
        let list = &self.lists[index as usize];
        let room = if list.class == 0 { INLINE } else { 1 << list.class };
        if list.length as usize == room {
            self.grow(index);
        }
        let list = &mut self.lists[index as usize];
        let (first, length) = (list.places[0] as usize, list.length as usize);
        if list.class == 0 {
            list.places[length] = neighbor;
        } else {
            self.blocks[first + length] = neighbor;
        }
        list.length += 1;
    }

    pub fn drop(&mut self, index: u32, neighbor: u32) {
        let list = &mut self.lists[index as usize];
        let (first, length) = (list.places[0] as usize, list.length as usize);
        let places = if list.class == 0 {
            &mut list.places[..length]
        } else {
            &mut self.blocks[first..first + length]
        };
        let Some(place) = places.iter().position(|&known| known == neighbor) else { return };
        places[place] = places[length - 1];
        list.length -= 1;
        if list.class > 0 && length - 1 == INLINE {
            let class = std::mem::take(&mut list.class);
            list.places.copy_from_slice(&self.blocks[first..first + INLINE]);
            self.free[class as usize].push(first as u32);
        }
    }

    fn grow(&mut self, index: u32) {
        let old = self.lists[index as usize];
        let class = if old.class == 0 { SMALLEST } else { old.class + 1 };
        let first = self.free[class as usize].pop().unwrap_or_else(|| {
            let first = self.blocks.len();
            self.blocks.resize(first + (1 << class), 0);
            first as u32
        });
        let to = first as usize;
        if old.class == 0 {
            self.blocks[to..to + INLINE].copy_from_slice(&old.places);
        } else {
            let from = old.places[0] as usize;
            self.blocks.copy_within(from..from + old.length as usize, to);
            self.free[old.class as usize].push(old.places[0]);
        }
        let mut places = [0; INLINE];
        places[0] = first;
        self.lists[index as usize] = List { length: old.length, class, places };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The lists contain what was added and not removed, however long they grow in between.
        #[test]
        fn lists_are_sets(words in prop::collection::vec((0u32..4, 0u32..60, any::<bool>()), 1..600)) {
            let mut neighbors = Neighbors::default();
            neighbors.reserve(4);
            let mut model = vec![std::collections::BTreeSet::new(); 4];
            for (index, other, comes) in words {
                let known = &mut model[index as usize];
                if comes && known.insert(other) {
                    neighbors.add(index, other);
                } else if !comes && known.remove(&other) {
                    neighbors.drop(index, other);
                }
            }
            for (index, known) in (0u32..).zip(&model) {
                let mut list = neighbors.of(index).to_vec();
                list.sort_unstable();
                prop_assert!(list.iter().eq(known));
            }
        }
    }
}
