//! Manifold reduction to four points.
//!
//! - [`deepest_first`], for one pair of convex pieces: the deepest point, the one farthest from it, and the
//!   farthest on either side of the line through both.
//! - [`widest_first`], for manifolds merged from many triangles: projected along the normal, the point
//!   farthest along a fixed direction, the one farthest from it, the one farthest from the line through both,
//!   and the one that adds most area. The choice depends on positions and not on depths, so that rounding
//!   does not change it from step to step; only a point deeper than all selected ones, by more than rounding,
//!   replaces its nearest.

use glam::{DVec2, DVec3};

use super::{ContactPoint, MAX_POINTS};

/// A candidate: where in the window, how far apart, which features.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) point: DVec2,
    pub(super) separation: f64,
    pub(super) id: [u16; 2],
}

/// Depths that differ by less than this fraction of the extent count as equal; then the name decides, not
/// rounding.
pub(super) const EQUAL: f64 = 1e-8;

/// By depth first ⇒ indices of at most four candidates and their number.
#[inline]
pub(super) fn deepest_first(candidates: &[Candidate]) -> ([usize; 4], usize) {
    if candidates.len() <= 4 {
        return ([0, 1, 2, 3], candidates.len());
    }
    let deepest = candidates.iter().map(|c| c.separation).fold(f64::INFINITY, f64::min);
    let extent =
        candidates.iter().map(|c| (c.point - candidates[0].point).abs().max_element()).fold(0.0, f64::max);
    let level = deepest + EQUAL * extent;
    let (mut first, mut least) = (0, None);
    for (i, candidate) in candidates.iter().enumerate() {
        if candidate.separation <= level && least.is_none_or(|id| candidate.id < id) {
            (first, least) = (i, Some(candidate.id));
        }
    }
    let from = candidates[first].point;
    let farthest = |value: &dyn Fn(DVec2) -> f64| {
        let mut best = (0.0, None);
        for (i, candidate) in candidates.iter().enumerate() {
            let next = value(candidate.point - from);
            if next > best.0 {
                best = (next, Some(i));
            }
        }
        best.1
    };
    let Some(second) = farthest(&|p| p.length_squared()) else { return ([first; 4], 1) };
    let along = candidates[second].point - from;
    let mut chosen = ([first, second, 0, 0], 2);
    for side in [1.0, -1.0] {
        if let Some(other) = farthest(&|p| side * along.perp_dot(p)) {
            chosen.0[chosen.1] = other;
            chosen.1 += 1;
        }
    }
    chosen
}

/// Points nearer to each other than this part of their extent count as one.
const SAME: f64 = 1e-6;

/// By position first: moves the selected points to the front ⇒ their number.
pub(super) fn widest_first(points: &mut [ContactPoint], normal: DVec3) -> usize {
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

/// Includes the deepest point if it is deeper than the selected ones by more than rounding.
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
    fn a_grid_of_points_is_reduced_to_its_corners() {
        let mut points: Vec<_> = (0..100)
            .map(|i| point(f64::from(i % 10), f64::from(i / 10), -1e-9 * f64::from(i * 7 % 13)))
            .collect();
        assert_eq!(widest_first(&mut points, DVec3::Z), 4);
        for p in &points[..4] {
            let corner = [p.point_a.x, p.point_a.y].map(|x| x == 0.0 || x == 9.0);
            assert_eq!(corner, [true, true], "{:?}", p.point_a);
        }
    }

    #[test]
    fn the_deepest_point_is_never_lost() {
        let mut points: Vec<_> = (0..100).map(|i| point(f64::from(i % 10), f64::from(i / 10), 0.0)).collect();
        points[44].separation = -1.0;
        let kept = widest_first(&mut points, DVec3::Z);
        assert!(points[..kept].iter().any(|p| p.separation == -1.0));
    }

    #[test]
    fn equal_points_are_one() {
        let mut points = vec![point(1.0, 2.0, 0.0); 7];
        assert_eq!(widest_first(&mut points, DVec3::Z), 1);
        let mut line: Vec<_> = (0..7).map(|i| point(f64::from(i), 0.0, 0.0)).collect();
        assert_eq!(widest_first(&mut line, DVec3::Z), 2);
    }
}
