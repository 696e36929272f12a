//! The point of a convex set nearest to p, from its support function alone (Gilbert, Johnson and Keerthi 1988).
//!
//! A simplex of at most four support points is kept; v is its point nearest to p. The set lies behind the plane through
//! w = s(p − v) at right angles to p − v, so (p − w)·(p − v)/|p − v| is a lower bound of the distance and |p − v| an upper
//! one; when they agree v is the answer. Else w joins the simplex, which shrinks to the corners v needs. The nearest point
//! of so small a simplex is found by trying all its faces.

use glam::DVec3;

use super::{LineSegment, Tetrahedron, Triangle};

const MAX_STEPS: usize = 128;

/// Where a convex set stands relative to a point outside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SupportDistance {
    /// Nearest point of the set.
    pub point: DVec3,
    /// Unit vector from the set towards p.
    pub normal: DVec3,
    /// The set lies at least this far behind p along −normal.
    pub lower_bound: f64,
}

/// (support function over directions of any length, size of the set, p) ⇒ nearest point; None if p lies inside or within
/// rounding of the set.
pub(crate) fn distance_to_support(
    support: impl Fn(DVec3) -> DVec3,
    size: f64,
    p: DVec3,
) -> Option<SupportDistance> {
    let mut simplex: Vec<DVec3> = Vec::with_capacity(4);
    simplex.push(support(p));
    let mut best: Option<SupportDistance> = None;
    let rounding = 1e-14 * (size + p.length());
    for _ in 0..MAX_STEPS {
        let (v, kept) = closest_of_simplex(&simplex, p);
        simplex = kept;
        let out = p - v;
        let distance = out.length();
        if !(distance > rounding) || simplex.len() == 4 {
            return None;
        }
        let normal = out / distance;
        let w = support(normal);
        let lower_bound = (p - w).dot(normal);
        if best.is_none_or(|known| lower_bound > known.lower_bound) {
            best = Some(SupportDistance { point: v, normal, lower_bound });
        }
        if distance - lower_bound <= 1e-13 * (distance + size) || simplex.contains(&w) {
            return best.filter(|b| b.lower_bound > 0.0).map(|b| SupportDistance { point: v, ..b });
        }
        simplex.push(w);
    }
    best.filter(|b| b.lower_bound > 0.0)
}

/// Nearest point of the hull of one to four points, and the points it rests on.
fn closest_of_simplex(points: &[DVec3], p: DVec3) -> (DVec3, Vec<DVec3>) {
    if let [a, b, c, d] = *points {
        if Tetrahedron::new([a, b, c, d]).contains(p) {
            return (p, points.to_vec());
        }
    }
    let mut best = (points[0], vec![points[0]]);
    let mut offer = |q: DVec3, corners: &[DVec3]| {
        if q.distance_squared(p) < best.0.distance_squared(p) {
            best = (q, corners.to_vec());
        }
    };
    let count = points.len();
    for i in 0..count {
        offer(points[i], &[points[i]]);
        for j in 0..i {
            offer(LineSegment::new(points[i], points[j]).closest_point(p), &[points[i], points[j]]);
            for k in 0..j {
                let corners = [points[i], points[j], points[k]];
                offer(Triangle::from(corners).closest_point(p), &corners);
            }
        }
    }
    best
}
