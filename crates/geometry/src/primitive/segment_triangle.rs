//! A segment pq against a triangle abc, by signs of volumes.
//!
//! With o(p, q, r, s) = ((q − p) × (r − p))·(s − p): p and q strictly on one side of the plane, o(a,b,c,p) o(a,b,c,q) > 0,
//! means no. Else the line crosses the plane between them, at t = s_p/(s_p − s_q), and inside the triangle iff
//! o(p,q,a,b), o(p,q,b,c), o(p,q,c,a) do not have both signs. In the plane the segment is clipped by the three sides.
//! No quotient is taken before the decision, so small integers are decided exactly.

use glam::DVec3;

use super::segment_segment::{ClosestPair, closest_segment_segment, nearest_near_origin};
use super::{LineSegment, Tolerances, Triangle};

/// (segment, triangle) ⇒ first and last parameter of the part of the segment in the triangle. A triangle without area
/// counts as its longest side.
pub fn segment_triangle(
    segment: &LineSegment,
    triangle: &Triangle,
    tolerances: &Tolerances,
) -> Option<[f64; 2]> {
    let size = size_of(segment, triangle);
    let touch = tolerances.length(size);
    let Some(normal) = triangle.normal() else {
        return segment_on_needle(segment, triangle, touch);
    };
    let height = |p: DVec3| zero_below((p - triangle.a).dot(normal), touch);
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
    let t = s_p / (s_p - s_q);
    (!(signs[0] && signs[1])).then_some([t, t])
}

/// (segment, triangle) ⇒ nearest points, one common point if they meet.
pub fn closest_segment_triangle(segment: &LineSegment, triangle: &Triangle) -> ClosestPair {
    if let Some([t, _]) = segment_triangle(segment, triangle, &Tolerances::ROUNDING) {
        let p = segment.at(t);
        return ClosestPair { point_a: p, point_b: p, distance: 0.0 };
    }
    // Seen from one corner, so that far from the origin candidates are still told apart.
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

/// Size of the numbers that decide. Their distance is one of them: seen from far away, rounding alone decides on which side
/// of a plane a point lies.
fn size_of(segment: &LineSegment, triangle: &Triangle) -> f64 {
    triangle.longest_side().max(segment.length()).max(segment.start.distance(triangle.a))
}

fn zero_below(value: f64, threshold: f64) -> f64 {
    if value.abs() <= threshold { 0.0 } else { value }
}

fn segment_on_needle(segment: &LineSegment, triangle: &Triangle, touch: f64) -> Option<[f64; 2]> {
    let mut needle = triangle.sides()[0];
    for side in triangle.sides() {
        if side.length_squared() > needle.length_squared() {
            needle = side;
        }
    }
    let pair = closest_segment_segment(segment, &needle);
    let t = segment.closest_parameter(pair.point_a);
    (pair.distance <= touch).then_some([t, t])
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
