//! An edge cut by the planes of a Voronoi region.
//!
//! With e(λ) = tail + λ (head − tail) and S the height above a plane, positive inside: both ends below
//! exclude the edge by that plane alone; otherwise the end below is cut off at λ = S_t/(S_t − S_h). The rest
//! is [low, high], each bound with the feature across the plane that made it; nothing is left if low > high.

use super::Feature;

/// The part of an edge inside a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clip {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) low_neighbor: Option<Feature>,
    pub(super) high_neighbor: Option<Feature>,
}

impl Clip {
    /// The whole edge.
    pub(super) const WHOLE: Self = Self { low: 0.0, high: 1.0, low_neighbor: None, high_neighbor: None };

    /// Cuts by one plane, given the heights of both ends; false if the plane alone excludes the edge.
    #[inline]
    pub(super) fn cut(&mut self, tail: f64, head: f64, neighbor: Feature) -> bool {
        if tail < 0.0 {
            if head < 0.0 {
                return false;
            }
            let at = tail / (tail - head);
            if at > self.low {
                self.low = at;
                self.low_neighbor = Some(neighbor);
            }
        } else if head < 0.0 {
            let at = tail / (tail - head);
            if at < self.high {
                self.high = at;
                self.high_neighbor = Some(neighbor);
            }
        }
        true
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.low > self.high
    }
}
