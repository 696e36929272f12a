//! Rays and nearest points of convex polyhedra.
//!
//! Ray: each face plane cuts the line; the polyhedron is the interval from the last plane entered to the
//! first one left. Nearest point: inside, the plane with the largest n·p − d < 0 is nearest. Outside, some
//! face visible from p contains the nearest point: the foot of the perpendicular if it lies in the face, else
//! a point of one of its sides.

use glam::DVec3;

use super::cast::Crossing;
use super::project::PointProjection;
use super::{LineSegment, Ray};
use crate::ConvexPolyhedron;

/// Where the line of a ray enters and leaves. Planes are compared without dividing, height < t climb; only a
/// better one is worth a quotient.
pub(crate) fn interval(ray: &Ray, convex: &ConvexPolyhedron) -> Option<[Crossing; 2]> {
    let (o, d) = (ray.origin(), ray.direction());
    let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut first, mut last) = (0, 0);
    for (face, (&normal, &offset)) in convex.normals().iter().zip(convex.offsets()).enumerate() {
        let height = offset - normal.dot(o);
        let climb = normal.dot(d);
        if climb < 0.0 {
            // An infinite t times a climb is infinite, so the first one always counts.
            if height < enter * climb {
                (enter, first) = (height / climb, face);
            }
        } else if climb > 0.0 {
            if height < leave * climb {
                (leave, last) = (height / climb, face);
            }
        } else if !(height >= 0.0) {
            return None;
        }
        if enter > leave {
            return None;
        }
    }
    let crossing = |t: f64, face: usize| Crossing { t, normal: convex.normals()[face], feature: face as u32 };
    Some([crossing(enter, first), crossing(leave, last)])
}

pub(crate) fn project(p: DVec3, convex: &ConvexPolyhedron) -> Option<PointProjection> {
    let inner = deepest_face(convex, p)?;
    if inner.inside {
        return Some(inner);
    }
    let mut best = (f64::INFINITY, p, DVec3::Z);
    for (face, (&normal, &offset)) in convex.normals().iter().zip(convex.offsets()).enumerate() {
        let height = normal.dot(p) - offset;
        // A face not visible from p, or whose plane is already farther than the best point, cannot hold the
        // nearest one.
        if height <= 0.0 || height >= best.0 {
            continue;
        }
        let corners = convex.face(face);
        let foot = p - height * normal;
        let mut inside = true;
        for (i, &start) in corners.iter().enumerate() {
            let end = corners[(i + 1) % corners.len()];
            let side = LineSegment::new(convex.vertices()[start as usize], convex.vertices()[end as usize]);
            if side.offset().cross(foot - side.start).dot(normal) < 0.0 {
                inside = false;
                let q = side.closest_point(p);
                if q.distance(p) < best.0 {
                    best = (q.distance(p), q, normal);
                }
            }
        }
        if inside {
            best = (height, foot, normal);
        }
    }
    Some(PointProjection::outside(p, best.1, best.2))
}

/// The face plane with the largest signed distance from p, as a projection onto it.
pub(crate) fn deepest_face(convex: &ConvexPolyhedron, p: DVec3) -> Option<PointProjection> {
    let mut best: Option<(f64, DVec3)> = None;
    for (&normal, &offset) in convex.normals().iter().zip(convex.offsets()) {
        let height = normal.dot(p) - offset;
        if best.is_none_or(|(known, _)| height > known) {
            best = Some((height, normal));
        }
    }
    let (height, normal) = best?;
    Some(PointProjection { point: p - height * normal, distance: height, inside: height <= 0.0, normal })
}
