//! From two facets over a window to a manifold: heights apart at the corners of the common part, reduced to
//! four points.

use glam::DVec2;

use super::facet::{Facet, Window};
use super::overlap::{MAX_CORNERS, overlap};
use super::reduce::{Candidate, deepest_first};
use super::{ContactPoint, Manifold};
use crate::closest::Separation;

/// How much deeper a witness must be than all corners to count, in units of the window's extent.
const DEEPER: f64 = 1e-9;

/// By how much, as a fraction of the size, the common part may fall short of an axis that is kept for
/// temporal coherence.
const NEARLY_BEST: f64 = 1e-7;

/// (least separation of a corner, size of the facets, separation along the axis) ⇒ whether the corners prove
/// the axis.
#[inline]
pub(super) fn proves(least: f64, extent: f64, separation: f64) -> bool {
    // An axis all but as good as the best one has its deepest corner beside the common part.
    let allowed = if separation < 0.0 { NEARLY_BEST * extent } else { 0.0 };
    least <= separation + allowed.max(DEEPER * (extent + separation.abs()))
}

/// Facets with so few corners together share a part with no more.
const FEW: usize = 8;

/// (window, facets, margin, separation along the window's normal) ⇒ manifold of their common part; None if it
/// does not prove the separation.
#[inline]
pub(super) fn lay_over_axis(
    window: &Window,
    a: &Facet,
    b: &Facet,
    margin: f64,
    separation: f64,
) -> Option<Manifold> {
    if a.count + b.count <= FEW {
        Patch::<FEW>::new(a, b, margin).along_axis(window, a, b, separation)
    } else {
        Patch::<MAX_CORNERS>::new(a, b, margin).along_axis(window, a, b, separation)
    }
}

/// (window, facets, margin, nearest points, their name) ⇒ manifold of what the facets share, with the nearest
/// points if no corner is as deep as they are.
#[inline]
pub(super) fn lay_over_witness(
    window: &Window,
    a: &Facet,
    b: &Facet,
    margin: f64,
    witness: &Separation,
    id: [u16; 2],
) -> Manifold {
    if a.count + b.count <= FEW {
        Patch::<FEW>::new(a, b, margin).manifold_with(window, a, b, witness, id)
    } else {
        Patch::<MAX_CORNERS>::new(a, b, margin).manifold_with(window, a, b, witness, id)
    }
}

/// The corners of the common part of two facets that are nearer than a margin; at most N.
struct Patch<const N: usize> {
    candidates: [Candidate; N],
    count: usize,
    /// Least separation of any corner, regardless of the margin.
    least: f64,
    /// Size of the facets.
    extent: f64,
}

impl<const N: usize> Patch<N> {
    #[inline]
    fn new(a: &Facet, b: &Facet, margin: f64) -> Self {
        let mut patch = Self {
            candidates: [Candidate::default(); N],
            count: 0,
            least: f64::INFINITY,
            extent: a.extent().min(b.extent()),
        };
        let common = overlap::<N>(a, b);
        let (base, slope) = (b.base - a.base, b.slope - a.slope);
        for corner in common.corners() {
            let separation = base + slope.dot(corner.point);
            patch.least = patch.least.min(separation);
            if separation <= margin {
                patch.candidates[patch.count] = Candidate { point: corner.point, separation, id: corner.id };
                patch.count += 1;
            }
        }
        patch
    }

    /// The manifold if the corners prove the axis.
    #[inline]
    fn along_axis(&self, window: &Window, a: &Facet, b: &Facet, separation: f64) -> Option<Manifold> {
        proves(self.least, self.extent, separation).then(|| self.manifold(window, a, b))
    }

    /// Whether some corner is as deep as that.
    #[inline]
    fn reaches(&self, separation: f64) -> bool {
        self.least <= separation + DEEPER * (self.extent + separation.abs())
    }

    /// The manifold along the window's normal, the facets' heights telling where on A and B.
    #[inline]
    fn manifold(&self, window: &Window, a: &Facet, b: &Facet) -> Manifold {
        let mut manifold = Manifold::new(window.n);
        let (chosen, count) = deepest_first(&self.candidates[..self.count]);
        for &i in &chosen[..count] {
            let candidate = &self.candidates[i];
            let [on_a, on_b] = places(candidate.point, a, b);
            manifold.push(ContactPoint {
                point_a: window.point(on_a, a.height(on_a)),
                point_b: window.point(on_b, b.height(on_b)),
                separation: candidate.separation,
                id: joined(candidate.id),
            });
        }
        manifold
    }

    /// As `manifold`, with the witnesses of an exact result if no corner is as deep as they are.
    fn manifold_with(
        mut self,
        window: &Window,
        a: &Facet,
        b: &Facet,
        witness: &Separation,
        id: [u16; 2],
    ) -> Manifold {
        if self.reaches(witness.distance) && self.count > 0 {
            return self.manifold(window, a, b);
        }
        let point = window.flat(0.5 * (witness.point_a + witness.point_b));
        self.keep_apart_from(point);
        self.candidates[self.count] = Candidate { point, separation: witness.distance, id };
        self.count += 1;
        let mut manifold = self.manifold(window, a, b);
        let name = joined(id);
        for contact in manifold.points_mut() {
            if contact.id == name {
                (contact.point_a, contact.point_b) = (witness.point_a, witness.point_b);
            }
        }
        manifold
    }

    /// Drops corners that a point all but coincides with.
    fn keep_apart_from(&mut self, point: DVec2) {
        let near = 1e-6 * self.extent;
        let mut kept = 0;
        for i in 0..self.count {
            if self.candidates[i].point.distance_squared(point) > near * near {
                self.candidates[kept] = self.candidates[i];
                kept += 1;
            }
        }
        // Room for the point itself.
        self.count = kept.min(N - 1);
    }
}

/// Where on A and on B a corner is: the same place in the window, but for two lines at a small angle each its
/// own.
#[inline]
fn places(p: DVec2, a: &Facet, b: &Facet) -> [DVec2; 2] {
    if a.count == 2 && b.count == 2 { [a.nearest_on_line(p), b.nearest_on_line(p)] } else { [p, p] }
}

/// Feature of A and feature of B ⇒ name of a contact point.
#[inline]
pub(super) fn joined([a, b]: [u16; 2]) -> u32 {
    u32::from(a) << 16 | u32::from(b)
}
