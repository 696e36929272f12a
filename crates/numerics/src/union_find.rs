//! Union–find: connected components of a graph whose edges arrive one by one.
//!
//! Each set is a tree of parent links, named by its root. `find` halves the path it walks (Tarjan and van
//! Leeuwen 1984), which bounds m operations on n elements by O(m log n). The root is always the lowest
//! element of its set, in place of union by size: the name of a component then depends neither on the order
//! of the edges nor on the number of threads.

/// Disjoint sets of the elements 0..n; every set is named by its lowest element.
///
/// ```
/// use rattleback_numerics::UnionFind;
///
/// let mut islands = UnionFind::new(5);
/// islands.union(4, 2);
/// islands.union(2, 3);
/// assert_eq!(islands.roots().collect::<Vec<_>>(), [0, 1, 2, 2, 2]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnionFind {
    /// Parent of each element, never above it; a root is its own parent.
    parent: Vec<u32>,
}

impl UnionFind {
    /// `count` sets of one element each; at most 2³² of them.
    pub fn new(count: usize) -> Self {
        let mut sets = Self::default();
        sets.reset(count);
        sets
    }

    /// Back to `count` sets of one element each; keeps the allocation.
    pub fn reset(&mut self, count: usize) {
        debug_assert!(u32::try_from(count).is_ok(), "elements are 32 bit numbers");
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// element → the lowest element of its set.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn find(&mut self, mut element: u32) -> u32 {
        while self.parent[element as usize] != element {
            let grandparent = self.parent[self.parent[element as usize] as usize];
            self.parent[element as usize] = grandparent;
            element = grandparent;
        }
        element
    }

    /// Merges the sets of two elements; false if it was one set already.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Whether two elements are in the same set.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn same(&mut self, a: u32, b: u32) -> bool {
        self.find(a) == self.find(b)
    }

    /// Whether an element is the lowest of its set.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn is_root(&self, element: u32) -> bool {
        self.parent[element as usize] == element
    }

    /// Lowest element of the set of each element, in the order of the elements.
    pub fn roots(&mut self) -> impl ExactSizeIterator<Item = u32> {
        // A parent is never above its child, so one pass in ascending order flattens the trees.
        for element in 0..self.parent.len() {
            self.parent[element] = self.parent[self.parent[element] as usize];
        }
        self.parent.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sets_start_with_one_element_each() {
        let mut sets = UnionFind::new(3);
        assert_eq!(sets.len(), 3);
        assert!((0..3).all(|i| sets.find(i) == i && sets.is_root(i)));
        assert!(!sets.same(0, 2));
        assert!(UnionFind::new(0).is_empty());
    }

    #[test]
    fn union_reports_whether_two_sets_became_one() {
        let mut sets = UnionFind::new(4);
        assert!(sets.union(3, 1));
        assert!(sets.union(1, 0));
        assert!(!sets.union(0, 3));
        assert!(!sets.union(2, 2));
    }

    #[test]
    fn a_reset_forgets_all_unions() {
        let mut sets = UnionFind::new(2);
        sets.union(0, 1);
        sets.reset(3);
        assert_eq!(sets, UnionFind::new(3));
    }

    /// Components by repeated relabelling: the slow definition.
    fn components(count: usize, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut label: Vec<u32> = (0..count as u32).collect();
        for _ in 0..count {
            for &(a, b) in edges {
                let low = label[a as usize].min(label[b as usize]);
                label[a as usize] = low;
                label[b as usize] = low;
            }
        }
        label
    }

    proptest! {
        /// The roots are the components, whatever the order of the edges.
        #[test]
        fn roots_are_the_lowest_elements_of_components(
            mut edges in prop::collection::vec((0..40_u32, 0..40_u32), 0..60),
        ) {
            let expected = components(40, &edges);
            for _ in 0..2 {
                let mut sets = UnionFind::new(40);
                for &(a, b) in &edges {
                    let was_apart = !sets.same(a, b);
                    prop_assert_eq!(sets.union(b, a), was_apart);
                }
                let mut copy = sets.clone();
                prop_assert_eq!(copy.roots().collect::<Vec<_>>(), expected.clone());
                prop_assert!((0..40).all(|i| sets.find(i) == expected[i as usize]));
                edges.reverse();
            }
        }
    }
}
