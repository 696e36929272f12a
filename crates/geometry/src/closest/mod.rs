//! How far apart two convex shapes are, and where they are nearest.
//!
//! Every query is posed in the frame of the first shape, A: `b_in_a` maps B's coordinates to A's, so the
//! place of the pair in the world never costs accuracy. Results are in A's frame too. The normal points
//! from A to B; a negative distance is a penetration. With d the distance, n the normal and p the nearest
//! points, p_B − p_A = d n.

mod clip;
mod convex_shape;
mod error;
mod feature_map;
mod feature_pair;
mod gjk;
mod lin_canny;
mod moving_search;
mod pair;
mod penetration;
mod polytope;
mod simplex;
mod still_nearest;
mod support;
mod triangles;
mod uphill;
mod vclip;

pub use convex_shape::ConvexShape;
pub use error::ClosestError;
pub use feature_map::{Feature, FeatureMap};
pub use gjk::{Gjk, GjkCache, gjk};
pub use lin_canny::{LinCannyCache, lin_canny};
pub(crate) use moving_search::MovingSearch;
pub use penetration::signed_distance;
pub use support::Support;
pub(crate) use triangles::clear_gap;
pub use vclip::{VClipCache, Walk, vclip};

use glam::DVec3;

/// The nearest points of two shapes, in A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Distance of the surfaces; how far the shapes must be moved apart, taken negative, when they overlap.
    pub distance: f64,
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// Point of A nearest to B, or deepest in it.
    pub point_a: DVec3,
    /// Point of B nearest to A, or deepest in it.
    pub point_b: DVec3,
}

impl Separation {
    /// The same result with A and B exchanged; `b_in_a` is the pose of the query.
    #[must_use]
    pub fn swapped(&self, b_in_a: &crate::Pose) -> Self {
        Self {
            distance: self.distance,
            normal: b_in_a.inverse_vector(-self.normal),
            point_a: b_in_a.inverse_point(self.point_b),
            point_b: b_in_a.inverse_point(self.point_a),
        }
    }
}
