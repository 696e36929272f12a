//! Nearest points of two segments p(s) = p₁ + s u, q(t) = q₁ + t w.
//!
//! Inside both, r = p₁ − q₁ + s u − t w is at right angles to u and w. With n = u × w:
//! s = ((q₁ − p₁) × w)·n/n². Clamped to [0, 1], that point of p has its nearest point on q, and that one its
//! nearest on p again, which is the answer (Lumelsky 1985). Of nearly parallel segments s is rounding, and
//! the ends are tested too.

use glam::DVec3;

use super::LineSegment;

/// sin² of the angle below which segments count as nearly parallel.
const NEARLY_PARALLEL: f64 = 1e-6;

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
    // Relative to one end, for accuracy far from the origin.
    let origin = p.start;
    nearest_near_origin(&p.shifted(-origin), &q.shifted(-origin)).shifted(origin)
}

/// The same for segments whose coordinates are of the size of their distance.
pub(crate) fn nearest_near_origin(p: &LineSegment, q: &LineSegment) -> ClosestPair {
    let (u, w) = (p.offset(), q.offset());
    let n = u.cross(w);
    let n_squared = n.length_squared();
    if !(n_squared > NEARLY_PARALLEL * u.length_squared() * w.length_squared()) {
        return nearest_nearly_parallel(p, q, n, n_squared);
    }
    // Clamped to p, then to q, then to p again: the nearest points of segments that cross at an angle.
    let s = ((q.start - p.start).cross(w).dot(n) / n_squared).clamp(0.0, 1.0);
    let point_q = q.closest_point(p.at(s));
    let point_p = p.closest_point(point_q);
    ClosestPair::new(point_p, point_q)
}

/// An end of one of them is nearest, or the crossing that rounding leaves: all five are tried.
fn nearest_nearly_parallel(p: &LineSegment, q: &LineSegment, n: DVec3, n_squared: f64) -> ClosestPair {
    let mut best = ClosestPair::new(p.start, q.closest_point(p.start));
    best = best.nearer(ClosestPair::new(p.end, q.closest_point(p.end)));
    best = best.nearer(ClosestPair::new(p.closest_point(q.start), q.start));
    best = best.nearer(ClosestPair::new(p.closest_point(q.end), q.end));
    let s = (q.start - p.start).cross(q.offset()).dot(n) / n_squared;
    if (0.0..=1.0).contains(&s) {
        let point_q = q.closest_point(p.at(s));
        let point_p = p.closest_point(point_q);
        best = best.nearer(ClosestPair::new(point_p, q.closest_point(point_p)));
    }
    best
}
