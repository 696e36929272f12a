//! For each moving box the list of boxes it pairs with.
//!
//! A list is a block of 2^class places in one array; a list that outgrows its block moves to one twice as large, and blocks
//! left behind wait for others of their size. So after a while nothing is allocated any more. A pair of two moving boxes is in
//! the lists of both; fixed boxes have none.

#[derive(Clone, Copy, Debug, Default)]
struct List {
    first: u32,
    length: u32,
    /// 0: no block yet, k: 2^k places.
    class: u8,
}

/// The lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    places: Vec<u32>,
    lists: Vec<List>,
    free: [Vec<u32>; 32],
}

impl Neighbors {
    /// Makes room for indices below `count`.
    pub fn reserve(&mut self, count: usize) {
        if self.lists.len() < count {
            self.lists.resize(count, List::default());
        }
    }

    #[inline(always)]
    pub fn of(&self, index: u32) -> &[u32] {
        let list = self.lists[index as usize];
        &self.places[list.first as usize..(list.first + list.length) as usize]
    }

    pub fn add(&mut self, index: u32, neighbor: u32) {
        let list = self.lists[index as usize];
        if list.class == 0 || list.length == 1 << list.class {
            self.grow(index);
        }
        let list = &mut self.lists[index as usize];
        self.places[(list.first + list.length) as usize] = neighbor;
        list.length += 1;
    }

    pub fn drop(&mut self, index: u32, neighbor: u32) {
        let list = &mut self.lists[index as usize];
        let range = list.first as usize..(list.first + list.length) as usize;
        let places = &mut self.places[range];
        if let Some(place) = places.iter().position(|&known| known == neighbor) {
            places[place] = places[places.len() - 1];
            list.length -= 1;
        }
    }

    fn grow(&mut self, index: u32) {
        let old = self.lists[index as usize];
        let class = if old.class == 0 { 3 } else { old.class + 1 };
        let first = self.free[class as usize].pop().unwrap_or_else(|| {
            let first = self.places.len();
            self.places.resize(first + (1 << class), 0);
            first as u32
        });
        let range = old.first as usize..(old.first + old.length) as usize;
        self.places.copy_within(range, first as usize);
        if old.class > 0 {
            self.free[old.class as usize].push(old.first);
        }
        self.lists[index as usize] = List { first, length: old.length, class };
    }
}
