//! The answer: manifolds in a list that is used again and again.

use crate::contact::{ContactPoint, Manifold};

/// Contact of two shapes: one manifold for each pair of pieces, or for each flat place where many triangles touch. In A's
/// frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    pub(super) manifolds: Vec<Manifold>,
}

impl Contacts {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.manifolds.clear();
    }

    /// The manifolds, each with at least one point.
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// Whether nothing is nearer than the margin.
    pub fn is_empty(&self) -> bool {
        self.manifolds.is_empty()
    }

    /// How many points there are in all.
    pub fn point_count(&self) -> usize {
        self.manifolds.iter().map(|manifold| manifold.points().len()).sum()
    }

    /// The point of the least separation and its manifold; of equal ones the first.
    pub fn deepest(&self) -> Option<(&Manifold, &ContactPoint)> {
        let points = self.manifolds.iter().filter_map(|manifold| Some((manifold, manifold.deepest()?)));
        points.reduce(|best, next| if next.1.separation < best.1.separation { next } else { best })
    }
}
