//! Contacts of two shapes: a reusable list of manifolds.

use crate::contact::{ContactPoint, Manifold};

/// Contact of two shapes: one manifold for each pair of pieces, or for each flat place where many triangles
/// touch. In A's frame, unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    pub(super) manifolds: Vec<Manifold>,
}

impl Contacts {
    /// Clears the list, keeps the allocation.
    pub fn clear(&mut self) {
        self.manifolds.clear();
    }

    /// The manifolds, each with at least one point.
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// Whether there is no contact within the margin.
    pub fn is_empty(&self) -> bool {
        self.manifolds.is_empty()
    }

    /// Number of points of all manifolds.
    pub fn point_count(&self) -> usize {
        self.manifolds.iter().map(|manifold| manifold.points().len()).sum()
    }

    /// The point of the least separation and its manifold; of equal ones the first.
    pub fn deepest(&self) -> Option<(&Manifold, &ContactPoint)> {
        let points = self.manifolds.iter().filter_map(|manifold| Some((manifold, manifold.deepest()?)));
        points.reduce(|best, next| if next.1.separation < best.1.separation { next } else { best })
    }
}
