//! A convex body on the face of a triangle: its support feature, clipped by the triangle's sides.
//!
//! With unit normal N and a corner v, a point p of the body stands at the height N·(p − v) over the face,
//! above the point p − N·(p − v) N of it.

use glam::DVec3;

use super::support_feature::{MAX_FEATURE_POINTS, SupportFeature};
use crate::Pose;
use crate::closest::ConvexShape;
use crate::contact::reduce::widest_first;
use crate::contact::{ContactPoint, Manifold};

/// Three cuts of a polygon add at most three corners.
const MAX_CORNERS: usize = MAX_FEATURE_POINTS + 3;

/// A corner of the polygon that is being cut, and its name.
#[derive(Clone, Copy, Default)]
struct Corner {
    p: DVec3,
    id: u32,
}

#[derive(Clone, Copy)]
struct Polygon {
    corners: [Corner; MAX_CORNERS],
    count: usize,
}

/// (triangle, its unit normal on the side of the body, body, pose, margin) ⇒ contact of the body with the
/// face, along the face's normal; None if the support feature lies beside the triangle or higher than the
/// margin. A is the triangle.
pub(super) fn stand_on_face(
    triangle: &[DVec3; 3],
    normal: DVec3,
    body: &ConvexShape<'_>,
    pose: &Pose,
    margin: f64,
) -> Option<Manifold> {
    let mut polygon = Polygon::of(&SupportFeature::of(body, pose, normal));
    for k in 0..3 {
        let (p, q) = (triangle[k], triangle[(k + 1) % 3]);
        let inward = normal.cross(q - p);
        // Turned towards the third corner, whichever side is the body's.
        let inward = if inward.dot(triangle[(k + 2) % 3] - p) < 0.0 { -inward } else { inward };
        polygon = polygon.cut(p, inward.normalize_or_zero(), k as u32);
    }
    polygon.manifold(triangle[0], normal, margin)
}

/// The same without sides: contact with the plane of a face.
pub(super) fn stand_on_plane(
    point: DVec3,
    normal: DVec3,
    body: &ConvexShape<'_>,
    pose: &Pose,
    margin: f64,
) -> Option<Manifold> {
    Polygon::of(&SupportFeature::of(body, pose, normal)).manifold(point, normal, margin)
}

impl Polygon {
    fn of(feature: &SupportFeature) -> Self {
        let mut corners = [Corner::default(); MAX_CORNERS];
        for ((id, p), corner) in (1u32..).zip(feature.points()).zip(&mut corners) {
            *corner = Corner { p: *p, id };
        }
        Self { corners, count: feature.points().len() }
    }

    /// What lies on the inner side of the plane through p.
    fn cut(&self, p: DVec3, inward: DVec3, side: u32) -> Self {
        let mut kept = Self { corners: [Corner::default(); MAX_CORNERS], count: 0 };
        // Neighbouring triangles both keep a point on their common edge rather than lose it between them.
        let slack = 1e-12 * (1.0 + p.abs().max_element());
        let inside = |corner: &Corner| inward.dot(corner.p - p) + slack;
        let closed = self.count > 2;
        for i in 0..self.count {
            let (from, to) = (self.corners[i], self.corners[(i + 1) % self.count]);
            let (s, t) = (inside(&from), inside(&to));
            if s >= 0.0 {
                kept.push(from);
            }
            let crosses = (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0);
            if crosses && (closed || i == 0) {
                let p = from.p + s / (s - t) * (to.p - from.p);
                let id = (side + 1) << 8 | from.id.min(to.id) << 4 | from.id.max(to.id) & 15;
                kept.push(Corner { p, id });
            }
        }
        kept
    }

    fn push(&mut self, corner: Corner) {
        if let Some(place) = self.corners.get_mut(self.count) {
            *place = corner;
            self.count += 1;
        }
    }

    fn manifold(&self, point: DVec3, normal: DVec3, margin: f64) -> Option<Manifold> {
        let mut points = [ContactPoint::default(); MAX_CORNERS];
        let mut count = 0;
        for corner in &self.corners[..self.count] {
            let separation = normal.dot(corner.p - point);
            if separation <= margin {
                let point_a = corner.p - separation * normal;
                points[count] = ContactPoint { point_a, point_b: corner.p, separation, id: corner.id };
                count += 1;
            }
        }
        let mut manifold = Manifold::new(normal);
        let kept = widest_first(&mut points[..count], normal);
        for &point in &points[..kept] {
            manifold.push(point);
        }
        (kept > 0).then_some(manifold)
    }
}
