//! Nearest points of two segments p(s) = p₁ + s u, q(t) = q₁ + t w.
//!
//! Inside both, r = p₁ − q₁ + s u − t w is at right angles to u and w. With n = u × w:
//! s = ((q₁ − p₁) × w)·n/n², t = ((q₁ − p₁) × u)·n/n². If that point lies outside either segment, or the segments are
//! parallel (n = 0), an end point of one of them is nearest: four point–segment questions.

use glam::DVec3;

use super::LineSegment;

/// A point on each of two things and their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPair {
    /// Nearest point of the first.
    pub point_a: DVec3,
    /// Nearest point of the second.
    pub point_b: DVec3,
    /// Distance of the two points.
    pub distance: f64,
}

impl ClosestPair {
    /// Two points ⇒ pair.
    pub fn new(point_a: DVec3, point_b: DVec3) -> Self {
        Self { point_a, point_b, distance: point_a.distance(point_b) }
    }

    /// The same with first and second exchanged.
    #[must_use]
    pub const fn swapped(&self) -> Self {
        Self { point_a: self.point_b, point_b: self.point_a, distance: self.distance }
    }

    /// Two points and their exact-as-known distance, moved by `shift`.
    pub(crate) fn shifted(&self, shift: DVec3) -> Self {
        Self { point_a: self.point_a + shift, point_b: self.point_b + shift, distance: self.distance }
    }

    /// The nearer of two pairs; this one if equal.
    #[must_use]
    pub fn nearer(self, other: Self) -> Self {
        if other.distance < self.distance { other } else { self }
    }
}

/// Two segments ⇒ their nearest points. Of parallel ones: one of the many nearest pairs.
pub fn closest_segment_segment(p: &LineSegment, q: &LineSegment) -> ClosestPair {
    // Seen from one end, so that far from the origin candidates are still told apart.
    let origin = p.start;
    nearest_near_origin(&p.shifted(-origin), &q.shifted(-origin)).shifted(origin)
}

/// The same for segments whose coordinates are of the size of their distance.
pub(crate) fn nearest_near_origin(p: &LineSegment, q: &LineSegment) -> ClosestPair {
    let (u, w) = (p.offset(), q.offset());
    let n = u.cross(w);
    let n_squared = n.length_squared();
    let between = q.start - p.start;
    let mut best = ClosestPair::new(p.start, q.closest_point(p.start));
    best = best.nearer(ClosestPair::new(p.end, q.closest_point(p.end)));
    best = best.nearer(ClosestPair::new(p.closest_point(q.start), q.start));
    best = best.nearer(ClosestPair::new(p.closest_point(q.end), q.end));
    if n_squared > 0.0 {
        let s = between.cross(w).dot(n) / n_squared;
        let t = between.cross(u).dot(n) / n_squared;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            // One round of alternating projections takes out the rounding of nearly parallel segments.
            let point_q = q.closest_point(p.at(s));
            let point_p = p.closest_point(point_q);
            best = best.nearer(ClosestPair::new(point_p, q.closest_point(point_p)));
            best = best.nearer(ClosestPair::new(p.at(s), q.at(t)));
        }
    }
    best
}
