//! Cache of a contact between pieces.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::Manifold;
use super::axis::Features;
use crate::closest::GjkCache;
use crate::frame::Frame;

/// Warm start of the contact of one pair of pieces. Any cache is safe with any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PieceCache {
    pub(super) gjk: GjkCache,
    /// Features of the last axis.
    pub(super) features: Features,
    /// How much farther the last axis turns than the shapes that made it: 1 for faces, 1.1/sin of the angle
    /// of edges.
    pub(super) spread: f64,
    /// The middle of the last contact on A and on B, each in its own frame.
    pub(super) inner: Option<[DVec3; 2]>,
}

impl PieceCache {
    /// Keeps what made a manifold.
    #[inline]
    pub(super) fn remember(&mut self, manifold: &Manifold, features: Features, frame: &Frame) {
        let points = manifold.points();
        let share = 1.0 / points.len().max(1) as f64;
        let (mut a, mut b) = (DVec3::ZERO, DVec3::ZERO);
        for point in points {
            a += point.point_a;
            b += point.point_b;
        }
        self.features = features;
        self.inner = Some([share * a, frame.point_in_b(share * b)]);
    }
}
