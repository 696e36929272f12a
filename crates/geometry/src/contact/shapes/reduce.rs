//! Four points that carry what many do.
//!
//! Seen along the normal: the point farthest along a fixed direction, the one farthest from it, the one farthest from the
//! line through both, and the one farthest on the other side. The choice depends on where points lie and not on how deep
//! they are, so that it does not change from step to step with rounding; only a point that is deeper than all chosen ones, by more than rounding, takes the place of its nearest.

use glam::DVec3;

use crate::contact::{ContactPoint, MAX_POINTS};

/// Points nearer to each other than this part of their extent count as one.
const SAME: f64 = 1e-6;

/// Puts the points worth keeping first and answers how many these are.
pub(super) fn reduce(points: &mut [ContactPoint], normal: DVec3) -> usize {
    if points.len() < 2 {
        return points.len();
    }
    let tangent = normal.any_orthonormal_vector();
    // Not along an axis, where the corners of an aligned body would tie.
    let tangent = (tangent + 0.37 * normal.cross(tangent)).normalize_or_zero();
    pick(points, 0, |p| p.dot(tangent));
    let origin = points[0].point_b;
    let flat = |p: DVec3| (p - origin).reject_from_normalized(normal);
    pick(points, 1, |p| flat(p).length_squared());
    let line = flat(points[1].point_b);
    let length = line.length();
    let extent = length.max(origin.abs().max_element() * 1e-6);
    let mut kept = 2;
    if !(length > SAME * extent) {
        kept = 1;
    } else if points.len() > 2 {
        let across = normal.cross(line / length);
        pick(points, 2, |p| flat(p).dot(across).abs());
        let third = flat(points[2].point_b).dot(across);
        if third.abs() > SAME * length {
            kept = 3;
            if points.len() > 3 {
                // The fourth adds most area: it lies farthest outside the triangle of the first three.
                let corners = [0, 1, 2].map(|i| flat(points[i].point_b));
                let turn = third.signum();
                let outside = |p: DVec3| {
                    let p = flat(p);
                    (0..3)
                        .map(|i| {
                            let (a, b) = (corners[i], corners[(i + 1) % 3]);
                            -turn * normal.dot((b - a).cross(p - a))
                        })
                        .fold(f64::NEG_INFINITY, f64::max)
                };
                pick(points, 3, outside);
                if outside(points[3].point_b) > SAME * length * length {
                    kept = 4;
                }
            }
        }
    }
    keep_deepest(points, kept.min(MAX_POINTS), length)
}

/// Swaps the point of the largest value, the first of equal ones, into a place.
fn pick(points: &mut [ContactPoint], place: usize, value: impl Fn(DVec3) -> f64) {
    let mut best = (f64::NEG_INFINITY, place);
    for (i, point) in points.iter().enumerate().skip(place) {
        let here = value(point.point_b);
        // Equal but for rounding is equal.
        if here > best.0 + 1e-9 * best.0.abs().min(f64::MAX) || best.0 == f64::NEG_INFINITY {
            best = (here, i);
        }
    }
    points.swap(place, best.1);
}

/// Brings in the deepest point if it is deeper than those kept by more than rounding.
fn keep_deepest(points: &mut [ContactPoint], kept: usize, length: f64) -> usize {
    let depth = |points: &[ContactPoint]| {
        let numbered = points.iter().enumerate();
        numbered.fold(
            (f64::INFINITY, 0),
            |best, (i, p)| if p.separation < best.0 { (p.separation, i) } else { best },
        )
    };
    let (known, _) = depth(&points[..kept]);
    let (deepest, at) = depth(points);
    if kept == 1 {
        points.swap(0, at);
        return 1;
    }
    if !(deepest < known - 1e-7 * length) {
        return kept;
    }
    if kept < MAX_POINTS {
        points.swap(kept, at);
        return kept + 1;
    }
    let from = points[at].point_b;
    let mut nearest = (f64::INFINITY, 0);
    for (i, point) in points[..kept].iter().enumerate() {
        let distance = point.point_b.distance_squared(from);
        if distance < nearest.0 {
            nearest = (distance, i);
        }
    }
    points.swap(nearest.1, at);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, separation: f64) -> ContactPoint {
        let p = DVec3::new(x, y, 0.0);
        ContactPoint { point_a: p, point_b: p, separation, id: 0 }
    }

    #[test]
    fn a_grid_of_points_is_carried_by_its_corners() {
        let mut points: Vec<_> = (0..100)
            .map(|i| point(f64::from(i % 10), f64::from(i / 10), -1e-9 * f64::from(i * 7 % 13)))
            .collect();
        assert_eq!(reduce(&mut points, DVec3::Z), 4);
        for p in &points[..4] {
            let corner = [p.point_a.x, p.point_a.y].map(|x| x == 0.0 || x == 9.0);
            assert_eq!(corner, [true, true], "{:?}", p.point_a);
        }
    }

    #[test]
    fn the_deepest_point_is_never_lost() {
        let mut points: Vec<_> = (0..100).map(|i| point(f64::from(i % 10), f64::from(i / 10), 0.0)).collect();
        points[44].separation = -1.0;
        let kept = reduce(&mut points, DVec3::Z);
        assert!(points[..kept].iter().any(|p| p.separation == -1.0));
    }

    #[test]
    fn equal_points_are_one() {
        let mut points = vec![point(1.0, 2.0, 0.0); 7];
        assert_eq!(reduce(&mut points, DVec3::Z), 1);
        let mut line: Vec<_> = (0..7).map(|i| point(f64::from(i), 0.0, 0.0)).collect();
        assert_eq!(reduce(&mut line, DVec3::Z), 2);
    }
}
