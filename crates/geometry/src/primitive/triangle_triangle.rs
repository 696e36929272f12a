//! Two triangles.
//!
//! If neither lies strictly on one side of the other's plane, they intersect iff some side of one intersects
//! the other triangle: the ends of the common segment lie on sides, and if one lies inside the other in one
//! plane, its sides do. Six segment–triangle tests therefore decide every case, corners in the plane and
//! coplanar triangles included, and their intersection points span the common segment. The nearest points of
//! disjoint triangles lie on two sides or on a corner and a face: 9 + 6 tests. Triangles that are clearly
//! apart are measured by a search, which needs fewer.

use glam::DVec3;

use super::segment_segment::{ClosestPair, nearest_near_origin};
use super::segment_triangle::{reliable_plane, segment_triangle};
use super::{LineSegment, Tolerances, Triangle};
use crate::closest::clear_gap;

/// Intersection of two triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleOverlap {
    /// The common segment; of coplanar triangles, whose common part is an area, a longest one between points
    /// where sides meet. Touching triangles may share a segment of length zero.
    pub segment: LineSegment,
    /// Both triangles lie in one plane.
    pub coplanar: bool,
}

/// Two triangles ⇒ what they share; touching counts. Triangles without area count as their longest side.
pub fn triangle_triangle(a: &Triangle, b: &Triangle, tolerances: &Tolerances) -> Option<TriangleOverlap> {
    let size = a.longest_side().max(b.longest_side()).max(a.a.distance(b.a));
    let touch = tolerances.length(size);
    let flat_b = sides_of_plane(a, b, size, touch)?;
    let flat_a = sides_of_plane(b, a, size, touch)?;
    let mut points = [DVec3::ZERO; 12];
    let mut count = 0;
    for (one, other) in [(a, b), (b, a)] {
        for side in one.sides() {
            if let Some([first, last]) = segment_triangle(&side, other, tolerances) {
                points[count] = side.at(first);
                points[count + 1] = side.at(last);
                count += 2;
            }
        }
    }
    let points = &points[..count];
    let mut segment = LineSegment::new(*points.first()?, points[0]);
    for (i, &p) in points.iter().enumerate() {
        for &q in &points[..i] {
            if p.distance_squared(q) > segment.length_squared() {
                segment = LineSegment::new(q, p);
            }
        }
    }
    Some(TriangleOverlap { segment, coplanar: flat_a && flat_b })
}

/// Two triangles ⇒ nearest points, one common point if they intersect.
pub fn closest_triangle_triangle(a: &Triangle, b: &Triangle) -> ClosestPair {
    // Relative to one corner, for accuracy far from the origin.
    let origin = a.a;
    let seen = |triangle: &Triangle| triangle.corners().map(|p| p - origin);
    if let Some((point_a, point_b, distance)) = clear_gap(seen(a), seen(b)) {
        return ClosestPair { point_a, point_b, distance }.shifted(origin);
    }
    if let Some(overlap) = triangle_triangle(a, b, &Tolerances::ROUNDING) {
        let p = overlap.segment.midpoint();
        return ClosestPair { point_a: p, point_b: p, distance: 0.0 };
    }
    let (a, b) = (&Triangle::from(seen(a)), &Triangle::from(seen(b)));
    let mut best = ClosestPair::new(a.a, b.closest_point(a.a));
    for p in [a.b, a.c] {
        best = best.nearer(ClosestPair::new(p, b.closest_point(p)));
    }
    for q in b.corners() {
        best = best.nearer(ClosestPair::new(a.closest_point(q), q));
    }
    for side_a in a.sides() {
        for side_b in b.sides() {
            best = best.nearer(nearest_near_origin(&side_a, &side_b));
        }
    }
    best.shifted(origin)
}

/// None if `b` lies strictly on one side of the plane of `a`, else whether it lies in that plane.
fn sides_of_plane(a: &Triangle, b: &Triangle, size: f64, touch: f64) -> Option<bool> {
    let Some((normal, touch)) = reliable_plane(a, size, touch) else { return Some(true) };
    let heights = b.corners().map(|p| (p - a.a).dot(normal));
    let above = heights.iter().all(|&h| h > touch);
    let below = heights.iter().all(|&h| h < -touch);
    (!above && !below).then(|| heights.iter().all(|h| h.abs() <= touch))
}
