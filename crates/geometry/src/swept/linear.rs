//! First contact of two convex bodies that move without turning, by a ray against their difference body.
//!
//! Let B move by s v relative to A and Ψ(s) = A − B − s v, thickened by both radii, ρ in all. With p the
//! point nearest to the origin of the hull of some corners of Ψ(s), n = p/|p| and w the farthest point of
//! Ψ(s) along −n, all of Ψ(s) lies beyond the plane n·x = n·w − ρ. That plane comes nearer by n·v per unit of
//! s, so there is no contact before
//!
//! ds = (n·w − ρ − gap) / (n·v)
//!
//! has passed, and never if n·v ≤ 0. Where the plane has arrived already, w joins the corners instead. The
//! search for the nearest point and that for the time thus share their corners: there is one search in all,
//! not one per step as in `advancement`. Two spheres need none: |c + s v| = ρ + gap is a quadratic. Every s
//! is a lower bound; the end is where the distance is proved to be within the tolerance. After van den
//! Bergen, "Ray casting against general convex objects with application to continuous collision detection",
//! 2004.

use glam::DVec3;

use super::advancement::{Advancement, Contact, Gap};
use super::{Motion, SweptError};
use crate::closest::{ConvexShape, MovingSearch, Support};
use crate::primitive::PrimitiveError;

/// (shape, motion, shape, motion), neither turning ⇒ first contact over s ∈ [0, 1]; None if they stay apart.
/// As exact as `advance`: every pose up to the reported time is free, and there the gap is below the
/// tolerance.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::closest::ConvexShape;
/// use rattleback_geometry::swept::{Advancement, Motion, cast_linear};
/// use rattleback_geometry::{Cuboid, Pose, Sphere};
/// let (sphere, wall) = (Sphere::new(0.01)?, Cuboid::new(DVec3::new(0.0005, 1.0, 1.0))?);
/// let bullet = Motion::new(Pose::at(-5.0 * DVec3::X), DVec3::ZERO, 16.0 * DVec3::X, DVec3::ZERO)?;
/// let still = Motion::resting(Pose::IDENTITY)?;
/// let (sphere, wall) = (ConvexShape::Sphere(&sphere), ConvexShape::Cuboid(&wall));
/// let hit = cast_linear(&sphere, &bullet, &wall, &still, &Advancement::default())?.unwrap();
/// assert!((hit.time - (5.0 - 0.0105) / 16.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline]
pub fn cast_linear(
    a: &ConvexShape<'_>,
    motion_a: &Motion,
    b: &ConvexShape<'_>,
    motion_b: &Motion,
    settings: &Advancement,
) -> Result<Option<Contact>, SweptError> {
    if let (ConvexShape::Sphere(sphere_a), ConvexShape::Sphere(sphere_b)) = (a, b)
        && motion_a.turn() == DVec3::ZERO
        && motion_b.turn() == DVec3::ZERO
        && settings.check().is_ok()
    {
        let radii = [sphere_a.radius(), sphere_b.radius()];
        return Ok(contact_of_spheres(radii, motion_a, motion_b, settings.distance_tolerance));
    }
    cast_other_kinds(a, motion_a, b, motion_b, settings)
}

fn cast_other_kinds(
    a: &ConvexShape<'_>,
    motion_a: &Motion,
    b: &ConvexShape<'_>,
    motion_b: &Motion,
    settings: &Advancement,
) -> Result<Option<Contact>, SweptError> {
    settings.check()?;
    for motion in [motion_a, motion_b] {
        if motion.turn() != DVec3::ZERO {
            let (what, value) = ("turn of a motion in a linear cast", motion.turn().length());
            return Err(PrimitiveError::OutOfRange { what, value, allowed: "0" }.into());
        }
    }
    // The most frequent kinds are dispatched here once, not at every evaluation.
    match (a, b) {
        (ConvexShape::Cuboid(a), ConvexShape::Cuboid(b)) => {
            contact_of_cores(*a, motion_a, *b, motion_b, settings)
        }
        (ConvexShape::Convex(a), ConvexShape::Convex(b)) => {
            contact_of_cores(*a, motion_a, *b, motion_b, settings)
        }
        _ => contact_of_cores(a, motion_a, b, motion_b, settings),
    }
}

/// The search of the head of this file, for motions that do not turn and settings that have been checked.
pub(super) fn contact_of_cores<A: Support, B: Support>(
    a: &A,
    motion_a: &Motion,
    b: &B,
    motion_b: &Motion,
    settings: &Advancement,
) -> Result<Option<Contact>, SweptError> {
    let pose_a = motion_a.start();
    let way = pose_a.inverse_vector(motion_b.displacement() - motion_a.displacement());
    let radii = a.radius() + b.radius();
    let tolerance = settings.distance_tolerance;
    let mut search = MovingSearch::new(a, b, &pose_a.relative(&motion_b.start()))?;
    let contact = |s: f64, gap: Option<Gap>, iterations: u32, limit_reached: bool| {
        Ok(Some(Contact { time: s, gap, iterations, limit_reached }))
    };
    let gap_at = |search: &MovingSearch<'_, _, _>, s: f64| {
        let moved = s * motion_a.displacement();
        let seen = search.separation(s * way);
        Gap {
            distance: seen.distance,
            normal: pose_a.vector(seen.normal),
            point_a: pose_a.point(seen.point_a) + moved,
            point_b: pose_a.point(seen.point_b) + moved,
        }
    };
    let mut s = 0.0;
    let mut iterations = 0;
    // A search takes a handful of corners between two steps; both are counted.
    let limit = settings.max_iterations.max(1).saturating_mul(4);
    loop {
        iterations += 1;
        let Some(bounds) = search.bounds_at(s * way) else {
            return contact(s, None, iterations, false);
        };
        if bounds.certain && bounds.highest - radii < tolerance {
            if bounds.highest <= radii {
                return contact(s, None, iterations, false);
            }
            return contact(s, Some(gap_at(&search, s)), iterations, false);
        }
        // Where the search has ended its upper bound is the distance, but for rounding.
        let distance = if bounds.certain { bounds.highest } else { bounds.lowest };
        let room = distance - radii - 0.5 * tolerance;
        if room > 0.0 {
            let closing = bounds.axis.dot(way);
            if !(closing > 1e-300) || !(s + room / closing <= 1.0) {
                return Ok(None);
            }
            s += room / closing;
        }
        if iterations >= limit {
            return contact(s, Some(gap_at(&search, s)), iterations, true);
        }
    }
}

/// With c the offset of the centres and v its change: |c + s v| = reach, half the tolerance being left
/// between the surfaces. The line of centres passes at |c − (c·v/v²) v|, from which the discriminant is
/// taken: (c·v)² − v² (c² − reach²) would be pure rounding for fast spheres far away.
#[inline]
fn contact_of_spheres(
    [radius_a, radius_b]: [f64; 2],
    motion_a: &Motion,
    motion_b: &Motion,
    tolerance: f64,
) -> Option<Contact> {
    let c = motion_b.start().translation - motion_a.start().translation;
    let v = motion_b.displacement() - motion_a.displacement();
    let radii = radius_a + radius_b;
    let reach = radii + 0.5 * tolerance;
    let (f_0, h, f_2) = (c.length_squared() - reach * reach, c.dot(v), v.length_squared());
    let s = if f_0 <= 0.0 {
        0.0
    } else {
        let passing = c - (h / f_2) * v;
        let discriminant = f_2 * (reach * reach - passing.length_squared());
        if !(h < 0.0 && discriminant >= 0.0) {
            return None;
        }
        f_0 / (discriminant.sqrt() - h)
    };
    if !(s <= 1.0) {
        return None;
    }
    let between = c + s * v;
    let length = between.length();
    let gap = (length > radii).then(|| {
        let normal = between / length;
        let at_a = motion_a.start().translation + s * motion_a.displacement();
        Gap {
            distance: length - radii,
            normal,
            point_a: at_a + radius_a * normal,
            point_b: at_a + (length - radius_b) * normal,
        }
    });
    Some(Contact { time: s, gap, iterations: 1, limit_reached: false })
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::closest::{GjkCache, signed_distance};
    use crate::swept::{MovingBody, advance, cast_shapes};
    use crate::{Pose, Shape};

    fn shapes() -> Vec<Shape> {
        let corners =
            [DVec3::X, -DVec3::X, 0.7 * DVec3::Y, -DVec3::Y, 0.9 * DVec3::Z, -DVec3::Z, DVec3::splat(0.7)];
        [
            Shape::sphere(0.4),
            Shape::cuboid(DVec3::new(0.5, 0.3, 0.7)),
            Shape::capsule(0.3, 0.8),
            Shape::cylinder(0.4, 0.9),
            Shape::cone(0.5, 1.0),
            Shape::ellipsoid(DVec3::new(0.3, 0.5, 0.8)),
            Shape::convex_hull(&corners),
        ]
        .map(Result::unwrap)
        .to_vec()
    }

    /// Every pair: free before the reported time, within the tolerance there, and hit or miss as by repeated
    /// advancement.
    #[test]
    fn linear_casts_stop_in_front_of_the_first_contact() {
        let (shapes, settings) = (shapes(), Advancement::default());
        let still =
            Motion::resting(Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.1, 0.2, 0.0))).unwrap();
        let (mut hits, mut misses) = (0, 0);
        for (i, a) in shapes.iter().enumerate() {
            for (j, b) in shapes.iter().enumerate() {
                for k in 0..20 {
                    let t = f64::from(k) + 0.37 * i as f64 + 0.11 * j as f64;
                    let start =
                        3.0 * DVec3::new((2.1 * t).sin(), (1.3 * t).cos(), (0.9 * t).sin()).normalize();
                    let way =
                        -2.0 * start + 2.5 * DVec3::new((5.0 * t).sin(), (3.0 * t).cos(), (7.0 * t).cos());
                    let pose = Pose::new(DQuat::from_scaled_axis(DVec3::new(t, 0.4 * t, -t)), start);
                    let motion = Motion::new(pose, DVec3::ZERO, way, DVec3::ZERO).unwrap();
                    let [ca, cb] = [a, b].map(|shape| ConvexShape::try_from(shape).unwrap());
                    let distance = |s: f64| {
                        let pose = motion.pose(s).relative(&still.pose(s));
                        signed_distance(&ca, &cb, &pose, &mut GjkCache::default()).unwrap().distance
                    };
                    let found = cast_linear(&ca, &motion, &cb, &still, &settings).unwrap();
                    let body = |motion: Motion| MovingBody { motion, radius: 2.0 };
                    let known = advance(&body(motion), &body(still), &settings, |pose_a, pose_b| {
                        let seen =
                            signed_distance(&ca, &cb, &pose_a.relative(pose_b), &mut GjkCache::default())
                                .unwrap();
                        let (distance, normal) = (seen.distance, pose_a.vector(seen.normal));
                        let [point_a, point_b] = [seen.point_a, seen.point_b].map(|p| pose_a.point(p));
                        (distance > 0.0).then_some(Gap { distance, normal, point_a, point_b })
                    })
                    .unwrap();
                    let any = cast_shapes(a, &motion, b, &still, &settings).unwrap();
                    assert_eq!(any.map(|hit| hit.contact), found);
                    let end = found.map_or(1.0, |hit| hit.time);
                    let least = (0..=100).map(|n| distance(end * f64::from(n) / 100.0)).fold(9.0, f64::min);
                    assert!(least > 0.0, "{i} {j} {k}: {least}");
                    match (found, known) {
                        (Some(hit), Some(known)) => {
                            hits += 1;
                            let gap = hit.gap.unwrap();
                            assert!(
                                !hit.limit_reached && gap.distance < settings.distance_tolerance,
                                "{i} {j} {k}: {hit:?}"
                            );
                            assert!((gap.distance - distance(hit.time)).abs() < 1e-12);
                            // Both leave a gap between half the tolerance and all of it.
                            assert!((hit.time - known.time).abs() < 1e-4, "{i} {j} {k}");
                            let apart = gap.point_b - gap.point_a - gap.distance * gap.normal;
                            assert!(apart.length() < 1e-12, "{i} {j} {k}: {apart}");
                        }
                        (None, None) => misses += 1,
                        _ => assert!(least < 2.0 * settings.distance_tolerance, "{i} {j} {k}: {least}"),
                    }
                }
            }
        }
        assert!(hits > 300 && misses > 50, "{hits} {misses}");
    }

    #[test]
    fn initial_overlap_and_rotation_are_reported() {
        let sphere = Shape::sphere(1.0).unwrap();
        let cube = Shape::cuboid(DVec3::ONE).unwrap();
        let settings = Advancement::default();
        let still = Motion::resting(Pose::IDENTITY).unwrap();
        let turning = Motion::new(Pose::at(5.0 * DVec3::X), DVec3::ZERO, -DVec3::X, DVec3::Z).unwrap();
        for other in [&sphere, &cube] {
            let [a, b] = [&sphere, other].map(|shape| ConvexShape::try_from(shape).unwrap());
            let inside = cast_linear(&a, &still, &b, &still, &settings).unwrap().unwrap();
            assert_eq!((inside.time, inside.gap), (0.0, None));
            assert!(cast_linear(&a, &turning, &b, &still, &settings).is_err());
        }
    }
}
