//! A segment pq against a triangle abc, by signs of volumes.
//!
//! With o(p, q, r, s) = ((q − p) × (r − p))·(s − p): p and q strictly on one side of the plane, o(a,b,c,p)
//! o(a,b,c,q) > 0, means no. Else the line crosses the plane between them, at t = s_p/(s_p − s_q), and inside
//! the triangle iff o(p,q,a,b), o(p,q,b,c), o(p,q,c,a) do not have both signs. In the plane the segment is
//! clipped by the three sides. No quotient is taken before the decision, so small integers are decided
//! exactly.

use glam::DVec3;

use super::segment_segment::{ClosestPair, closest_segment_segment, nearest_near_origin};
use super::triangle::NEEDLE;
use super::{LineSegment, Tolerances, Triangle};

/// Segments that leave the plane by less than this fraction of the size are tested twice.
const NEARLY_PARALLEL: f64 = 1e-6;

/// (segment, triangle) ⇒ first and last parameter of the part of the segment in the triangle. A needle
/// counts as its longest side.
pub fn segment_triangle(
    segment: &LineSegment,
    triangle: &Triangle,
    tolerances: &Tolerances,
) -> Option<[f64; 2]> {
    let size = size_of(segment, triangle);
    let touch = tolerances.length(size);
    let Some((normal, plane_touch)) = reliable_plane(triangle, size, touch) else {
        return segment_on_needle(segment, triangle, touch);
    };
    let height = |p: DVec3| zero_below((p - triangle.a).dot(normal), plane_touch);
    let (s_p, s_q) = (height(segment.start), height(segment.end));
    if s_p * s_q > 0.0 || !(s_p.is_finite() && s_q.is_finite()) {
        return None;
    }
    if s_p == 0.0 && s_q == 0.0 {
        return clip_in_plane(segment, triangle, normal, tolerances);
    }
    let d = segment.offset();
    let length = d.length();
    let mut signs = [false; 2];
    for side in triangle.sides() {
        let e = side.offset();
        let volume = (side.start - segment.start).cross(e).dot(d);
        let volume = zero_below(volume, touch * length * e.length());
        signs[0] |= volume < 0.0;
        signs[1] |= volume > 0.0;
    }
    if signs[0] && signs[1] {
        return None;
    }
    let low = s_p.abs().max(s_q.abs());
    if signs == [false; 2] {
        // All in one plane but for rounding.
        return grazing(segment, triangle, touch);
    }
    if low < NEARLY_PARALLEL * size {
        // The signs may be rounding of the input. A segment this low that crosses the triangle comes at least
        // as near to one of its sides, or has an end over it.
        grazing(segment, triangle, low + touch)?;
    }
    let t = s_p / (s_p - s_q);
    Some([t, t])
}

/// (segment, triangle) ⇒ nearest points, one common point if they intersect.
pub fn closest_segment_triangle(segment: &LineSegment, triangle: &Triangle) -> ClosestPair {
    if let Some([t, _]) = segment_triangle(segment, triangle, &Tolerances::ROUNDING) {
        let p = segment.at(t);
        return ClosestPair { point_a: p, point_b: p, distance: 0.0 };
    }
    // Relative to one corner, for accuracy far from the origin.
    let origin = triangle.a;
    let segment = &segment.shifted(-origin);
    let triangle = &Triangle::from(triangle.corners().map(|p| p - origin));
    let mut best = ClosestPair::new(segment.start, triangle.closest_point(segment.start));
    best = best.nearer(ClosestPair::new(segment.end, triangle.closest_point(segment.end)));
    for side in triangle.sides() {
        best = best.nearer(nearest_near_origin(segment, &side));
    }
    best.shifted(origin)
}

/// Size of the numbers that decide. Their distance is one of them: seen from far away, rounding alone decides
/// on which side of a plane a point lies.
fn size_of(segment: &LineSegment, triangle: &Triangle) -> f64 {
    triangle.longest_side().max(segment.length()).max(segment.start.distance(triangle.a))
}

fn zero_below(value: f64, threshold: f64) -> f64 {
    if value.abs() <= threshold { 0.0 } else { value }
}

/// Unit normal of a triangle and how far from its plane counts as in it, the normal's own rounding included.
/// None for a needle thinner than 1e-8 of its length, whose plane is meaningless.
pub(crate) fn reliable_plane(triangle: &Triangle, size: f64, touch: f64) -> Option<(DVec3, f64)> {
    let n = triangle.double_area_vector();
    let length = n.length();
    let aspect = length / triangle.longest_side().powi(2);
    (aspect >= NEEDLE).then(|| (n / length, touch + 8.0 * f64::EPSILON / aspect * size))
}

/// A needle counts as its longest side, thickened by its height.
fn segment_on_needle(segment: &LineSegment, triangle: &Triangle, touch: f64) -> Option<[f64; 2]> {
    let mut needle = triangle.sides()[0];
    for side in triangle.sides() {
        if side.length_squared() > needle.length_squared() {
            needle = side;
        }
    }
    let height = triangle.double_area_vector().length() / needle.length().max(f64::MIN_POSITIVE);
    let pair = closest_segment_segment(segment, &needle);
    let t = segment.closest_parameter(pair.point_a);
    (pair.distance <= touch + height).then_some([t, t])
}

/// Whether a side, or an end of the segment, touches.
fn grazing(segment: &LineSegment, triangle: &Triangle, touch: f64) -> Option<[f64; 2]> {
    for side in triangle.sides() {
        let pair = closest_segment_segment(segment, &side);
        if pair.distance <= touch {
            let t = segment.closest_parameter(pair.point_a);
            return Some([t, t]);
        }
    }
    let ends = [(segment.start, 0.0), (segment.end, 1.0)];
    ends.into_iter().find(|(p, _)| triangle.distance(*p) <= touch).map(|(_, t)| [t, t])
}

/// Cuts the segment by the three sides' half-planes.
fn clip_in_plane(
    segment: &LineSegment,
    triangle: &Triangle,
    normal: DVec3,
    tolerances: &Tolerances,
) -> Option<[f64; 2]> {
    let touch = tolerances.length(size_of(segment, triangle));
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for side in triangle.sides() {
        let e = side.offset();
        let inward = |p: DVec3| zero_below(e.cross(p - side.start).dot(normal), touch * e.length());
        let (v_p, v_q) = (inward(segment.start), inward(segment.end));
        if v_p < 0.0 && v_q < 0.0 {
            return None;
        }
        if v_p < 0.0 {
            first = first.max(v_p / (v_p - v_q));
        } else if v_q < 0.0 {
            last = last.min(v_p / (v_p - v_q));
        }
    }
    (first <= last + tolerances.relative).then_some([first, last.max(first)])
}
