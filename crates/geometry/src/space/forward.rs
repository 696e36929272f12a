//! Methods of [`Space`](super::Space) that only forward to the parts a space is made of.

/// Implements methods of a space by its fields: `proxies` and `changes` by `table`, `pairs` by the
/// [`SortedPairs`] `pairs`, `counters` by `counters`.
///
/// [`SortedPairs`]: super::pair::SortedPairs
macro_rules! forward {
    (proxies) => {
        fn proxies(&self) -> &$crate::space::ProxyTable {
            &self.table
        }
    };
    (changes) => {
        fn update(&mut self, id: $crate::space::ProxyId, bounds: &$crate::Aabb) -> Result<(), $crate::space::SpaceError> {
            self.table.update(id, bounds).map(|_| ())
        }

        fn remove(&mut self, id: $crate::space::ProxyId) -> Result<(), $crate::space::SpaceError> {
            self.table.remove(id).map(|_| ())
        }
    };
    (pairs) => {
        fn pair_count(&self) -> usize {
            self.pairs.len()
        }

        fn for_each_pair(&self, visit: &mut dyn FnMut($crate::space::Pair)) {
            self.pairs.iter().for_each(|key| visit($crate::space::pair::pair(&self.table, key)));
        }
    };
    (counters) => {
        fn counters(&self) -> $crate::space::SpaceCounters {
            self.counters
        }
    };
    ($($part:ident),+) => {
        $($crate::space::forward::forward!($part);)+
    };
}
pub(super) use forward;
