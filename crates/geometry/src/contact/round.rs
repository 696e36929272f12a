//! Spheres and capsules.
//!
//! A sphere's contact is that of its centre, thickened: the nearest point of the other surface, with sign, is
//! known in closed form for every shape but the custom one. Two capsules are two segments, thickened: where
//! these lie along each other, both ends of the common part touch; where they cross, n is at right angles to
//! both and the depth is r_A + r_B.

use glam::DVec3;

use super::facet::{SURFACE, Window};
use super::patch::{joined, lay_over_witness};
use super::polytope::FlatTriangle;
use super::surface_facet::facet_of;
use super::{ContactPoint, Manifold, Piece};
use crate::closest::{ClosestError, ConvexShape, Gjk, GjkCache, Separation, gjk, signed_distance};
use crate::frame::Frame;
use crate::primitive::{self, LineSegment, PointProjection, closest_segment_segment};
use crate::{Capsule, ConvexPolyhedron, Pose, Shape};

/// (piece, point in its frame) ⇒ nearest point of its surface, with sign.
pub(super) fn project(
    piece: &Piece<'_>,
    p: DVec3,
    cache: &mut GjkCache,
) -> Result<PointProjection, ClosestError> {
    let shape = match piece {
        Piece::Triangle(corners) => return on_triangle(corners, p),
        Piece::HalfSpace(half_space) => Shape::HalfSpace(**half_space),
        Piece::Bounded(shape) => match shape {
            ConvexShape::Convex(convex) => return on_polyhedron(convex, p, cache),
            ConvexShape::Custom(custom) => {
                return Ok(projection(&signed_distance(*custom, &p, &Pose::IDENTITY, cache)?));
            }
            ConvexShape::Sphere(sphere) => Shape::Sphere(**sphere),
            ConvexShape::Cuboid(cuboid) => Shape::Cuboid(**cuboid),
            ConvexShape::Cylinder(cylinder) => Shape::Cylinder(**cylinder),
            ConvexShape::Capsule(capsule) => Shape::Capsule(**capsule),
            ConvexShape::Cone(cone) => Shape::Cone(**cone),
            ConvexShape::Ellipsoid(ellipsoid) => Shape::Ellipsoid(**ellipsoid),
        },
    };
    shape.closest_point(p).ok_or(ClosestError::InvalidPoint)
}

/// Nearest points of a shape and a point ⇒ the same as a projection.
fn projection(nearest: &Separation) -> PointProjection {
    PointProjection {
        point: nearest.point_a,
        distance: nearest.distance,
        inside: nearest.distance <= 0.0,
        normal: nearest.normal,
    }
}

fn on_triangle(corners: &[DVec3; 3], p: DVec3) -> Result<PointProjection, ClosestError> {
    let flat = FlatTriangle::new(*corners)?;
    let triangle = primitive::Triangle::from(*corners);
    let point = triangle.closest_point(p);
    let across = flat.and_then(|_| triangle.normal()).unwrap_or(DVec3::Z);
    let out = p - point;
    let distance = out.length();
    let normal = if distance > 0.0 { out / distance } else { across };
    Ok(PointProjection { point, distance, inside: false, normal })
}

/// The highest plane decides inside; outside it does if the projection is on the face, else the nearest point
/// is searched for.
fn on_polyhedron(
    convex: &ConvexPolyhedron,
    p: DVec3,
    cache: &mut GjkCache,
) -> Result<PointProjection, ClosestError> {
    let mut best = (f64::NEG_INFINITY, 0);
    for (face, (normal, offset)) in convex.normals().iter().zip(convex.offsets()).enumerate() {
        let height = normal.dot(p) - offset;
        if height > best.0 {
            best = (height, face);
        }
    }
    let (height, face) = best;
    let normal = convex.normals()[face];
    let foot = p - height * normal;
    let corners = convex.face(face);
    let within = || {
        (0..corners.len()).all(|i| {
            let from = convex.vertices()[corners[i] as usize];
            let to = convex.vertices()[corners[(i + 1) % corners.len()] as usize];
            (to - from).cross(foot - from).dot(normal) >= 0.0
        })
    };
    if height <= 0.0 || within() {
        return Ok(PointProjection { point: foot, distance: height, inside: height <= 0.0, normal });
    }
    Ok(match gjk(convex, &p, &Pose::IDENTITY, cache)? {
        Gjk::Apart(nearest) => projection(&nearest),
        Gjk::Overlapping => PointProjection { point: foot, distance: height, inside: false, normal },
    })
}

/// (piece A, sphere's centre in A's frame, its radius) ⇒ nearest points, the sphere being B.
pub(super) fn nearest_to_sphere(
    a: &Piece<'_>,
    center: DVec3,
    radius: f64,
    cache: &mut GjkCache,
) -> Result<Separation, ClosestError> {
    let at = project(a, center, cache)?;
    let distance = at.distance - radius;
    Ok(Separation {
        distance,
        normal: at.normal,
        point_a: at.point,
        point_b: at.point + distance * at.normal,
    })
}

/// Nearest points ⇒ manifold of one point, if they are near enough.
pub(super) fn single_within(nearest: &Separation, margin: f64) -> Option<Manifold> {
    (nearest.distance <= margin).then(|| single(nearest))
}

/// Nearest points ⇒ manifold of one point.
#[inline]
pub(super) fn single(nearest: &Separation) -> Manifold {
    let mut manifold = Manifold::new(nearest.normal);
    manifold.push(ContactPoint {
        point_a: nearest.point_a,
        point_b: nearest.point_b,
        separation: nearest.distance,
        id: joined([SURFACE; 2]),
    });
    manifold
}

/// Two capsules ⇒ nearest points.
pub(super) fn nearest_capsules(a: &Capsule, b: &Capsule, frame: &Frame) -> Separation {
    let (half_a, half_b) = (DVec3::Z * (0.5 * a.height()), frame.vector(DVec3::Z * (0.5 * b.height())));
    let at = frame.translation;
    let pair = closest_segment_segment(
        &LineSegment::new(-half_a, half_a),
        &LineSegment::new(at - half_b, at + half_b),
    );
    let between = pair.point_b - pair.point_a;
    let size = half_a.z.max(0.5 * b.height());
    let rounding = 1e-14 * size;
    let across = half_a.cross(half_b).try_normalize();
    let normal = match across {
        // Cores that all but cross: what lies between them has lost its digits, what lies across both has
        // not. Of cores that do cross, the side where B's middle is.
        Some(n) if pair.distance <= 1e-6 * size && (between - between.dot(n) * n).length() <= rounding => {
            let along = between.dot(n);
            let side = if along.abs() > rounding { along } else { n.dot(at) };
            if side < 0.0 { -n } else { n }
        }
        _ if pair.distance > rounding => between / pair.distance,
        _ => {
            let n = across.unwrap_or(DVec3::X);
            if n.dot(at) < 0.0 { -n } else { n }
        }
    };
    Separation {
        distance: pair.distance - a.radius() - b.radius(),
        normal,
        point_a: pair.point_a + a.radius() * normal,
        point_b: pair.point_b - b.radius() * normal,
    }
}

/// Two capsules ⇒ one point, or two where they lie along each other.
pub(super) fn collide_capsules(a: &Capsule, b: &Capsule, frame: &Frame, margin: f64) -> Option<Manifold> {
    let nearest = nearest_capsules(a, b, frame);
    if !(nearest.distance <= margin) {
        return None;
    }
    let along = frame.rotation.z_axis;
    // Cores that cross at an angle touch in one point only.
    if along.truncate().length_squared() > 1e-3 {
        return Some(single(&nearest));
    }
    let window = Window::new(nearest.normal, nearest.point_a);
    let facet_a = facet_of(&ConvexShape::Capsule(a), &Frame::IDENTITY, nearest.normal, &window);
    let facet_b = facet_of(&ConvexShape::Capsule(b), frame, -nearest.normal, &window);
    Some(lay_over_witness(&window, &facet_a, &facet_b, margin, &nearest, [SURFACE; 2]))
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    /// Capsules whose cores pass each other at 1e-10 m: the normal is at right angles to both axes to the
    /// last digits, and that of the capsules in each other's place is the opposite one.
    #[test]
    fn capsules_that_all_but_cross_agree_in_either_order() {
        let (a, b) = (Capsule::new(0.4, 1.6).unwrap(), Capsule::new(0.3, 2.0).unwrap());
        for k in 0..200 {
            let t = f64::from(k);
            let turn = DQuat::from_rotation_z(t) * DQuat::from_rotation_x(0.3 + 1.2 * (0.7 * t).sin().abs());
            let (axis_a, axis_b) = (DVec3::Z, turn * DVec3::Z);
            let n = axis_a.cross(axis_b).normalize();
            let gap = 1e-10 * (1.1 + (1.3 * t).sin());
            let place = 0.3 * (2.1 * t).sin() * axis_a + 0.4 * (0.9 * t).cos() * axis_b + gap * n;
            let pose = Pose::new(turn, place);
            let found = nearest_capsules(&a, &b, &Frame::new(&pose).unwrap());
            let back = nearest_capsules(&b, &a, &Frame::new(&pose.inverse()).unwrap());
            assert!(found.normal.abs_diff_eq(n, 1e-12), "{} {n}", found.normal);
            assert!(pose.vector(back.normal).abs_diff_eq(-found.normal, 1e-12));
            assert!((found.distance - (gap - 0.7)).abs() < 1e-14);
        }
    }
}
