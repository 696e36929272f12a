//! Distance of two pieces, and whether they touch.
//!
//! Two half-spaces overlap unless their normals are opposite, n_B = −n_A; then their distance is that of the
//! planes, negative if they overlap.

use super::{Piece, PieceCache, half_space, round, search_pair};
use crate::closest::ConvexShape::{Capsule, Sphere};
use crate::closest::{ClosestError, Gjk, GjkCache, Separation, Support, gjk, signed_distance};
use crate::frame::Frame;
use crate::primitive::Triangle;
use crate::{HalfSpace, MAX_LENGTH, Pose, ShapeKind};

/// Half-spaces whose normals add up to less than this are opposite.
const OPPOSITE: f64 = 1e-12;

/// (piece A, piece B, B in A's frame, cache) ⇒ nearest points, a depth being a negative distance. An error
/// for two half-spaces that are not opposite: they overlap without bound.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
/// use rattleback_geometry::{Pose, Shape};
/// let (floor, sphere) = (Shape::half_space(DVec3::Z)?, Shape::sphere(0.5)?);
/// let (a, b) = (Piece::try_from(&floor)?, Piece::try_from(&sphere)?);
/// let nearest = distance_pieces(&a, &b, &Pose::at(DVec3::new(1.0, 2.0, 2.0)), &mut PieceCache::default())?;
/// assert_eq!((nearest.distance, nearest.point_b), (1.5, DVec3::new(1.0, 2.0, 1.5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn distance_pieces(
    a: &Piece<'_>,
    b: &Piece<'_>,
    b_in_a: &Pose,
    cache: &mut PieceCache,
) -> Result<Separation, ClosestError> {
    let (frame, gjk) = (checked_frame(a, b, b_in_a)?, &mut cache.gjk);
    match (a, b) {
        (Piece::HalfSpace(a), Piece::HalfSpace(b)) => {
            opposite(a, b, &frame).ok_or(ClosestError::NotConvex(ShapeKind::HalfSpace))
        }
        (Piece::HalfSpace(a), b) => half_space::nearest(a, b, &frame),
        (a, Piece::HalfSpace(b)) => {
            Ok(half_space::nearest(b, a, &frame.inverse())?.swapped(&b_in_a.inverse()))
        }
        (a, Piece::Bounded(Sphere(sphere))) => {
            round::nearest_to_sphere(a, frame.translation, sphere.radius(), gjk)
        }
        (Piece::Bounded(Sphere(sphere)), b) => {
            let center = frame.inverse().translation;
            Ok(round::nearest_to_sphere(b, center, sphere.radius(), gjk)?.swapped(&b_in_a.inverse()))
        }
        (Piece::Bounded(Capsule(a)), Piece::Bounded(Capsule(b))) => Ok(round::nearest_capsules(a, b, &frame)),
        (Piece::Bounded(a), Piece::Bounded(b)) => search_pair::nearest(a, b, b_in_a, &frame, gjk),
        (Piece::Bounded(a), Piece::Triangle(b)) => signed_distance(a, &Triangle::from(*b), b_in_a, gjk),
        (Piece::Triangle(a), Piece::Bounded(b)) => signed_distance(&Triangle::from(*a), b, b_in_a, gjk),
        (Piece::Triangle(a), Piece::Triangle(b)) => {
            signed_distance(&Triangle::from(*a), &Triangle::from(*b), b_in_a, gjk)
        }
    }
}

/// (piece A, piece B, B in A's frame, cache) ⇒ whether they have a point in common. Cheaper than a distance
/// or a manifold.
pub fn pieces_intersect(
    a: &Piece<'_>,
    b: &Piece<'_>,
    b_in_a: &Pose,
    cache: &mut PieceCache,
) -> Result<bool, ClosestError> {
    let (frame, gjk) = (checked_frame(a, b, b_in_a)?, &mut cache.gjk);
    match (a, b) {
        (Piece::HalfSpace(a), Piece::HalfSpace(b)) => {
            Ok(opposite(a, b, &frame).is_none_or(|nearest| nearest.distance <= 0.0))
        }
        (Piece::HalfSpace(_) | Piece::Bounded(Sphere(_)), _)
        | (_, Piece::HalfSpace(_) | Piece::Bounded(Sphere(_)))
        | (Piece::Bounded(Capsule(_)), Piece::Bounded(Capsule(_))) => {
            Ok(distance_pieces(a, b, b_in_a, cache)?.distance <= 0.0)
        }
        (Piece::Bounded(a), Piece::Bounded(b)) => cores_intersect(a, b, b_in_a, gjk),
        (Piece::Bounded(a), Piece::Triangle(b)) => cores_intersect(a, &Triangle::from(*b), b_in_a, gjk),
        (Piece::Triangle(a), Piece::Bounded(b)) => cores_intersect(&Triangle::from(*a), b, b_in_a, gjk),
        (Piece::Triangle(a), Piece::Triangle(b)) => {
            cores_intersect(&Triangle::from(*a), &Triangle::from(*b), b_in_a, gjk)
        }
    }
}

fn cores_intersect<A: Support, B: Support>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    cache: &mut GjkCache,
) -> Result<bool, ClosestError> {
    Ok(match gjk(a, b, b_in_a, cache)? {
        Gjk::Apart(nearest) => nearest.distance <= 0.0,
        Gjk::Overlapping => true,
    })
}

/// The frame that the pose makes, if pose and triangles are finite and not too far away.
fn checked_frame(a: &Piece<'_>, b: &Piece<'_>, b_in_a: &Pose) -> Result<Frame, ClosestError> {
    let frame = Frame::new(b_in_a)?;
    check_triangle(a)?;
    check_triangle(b)?;
    Ok(frame)
}

fn check_triangle(piece: &Piece<'_>) -> Result<(), ClosestError> {
    match piece {
        Piece::Triangle(corners)
            if !corners.iter().all(|p| p.is_finite() && p.abs().max_element() <= MAX_LENGTH) =>
        {
            Err(ClosestError::InvalidPoint)
        }
        _ => Ok(()),
    }
}

/// Distance of the planes of opposite half-spaces, None of others.
fn opposite(a: &HalfSpace, b: &HalfSpace, frame: &Frame) -> Option<Separation> {
    let normal = a.normal();
    if (normal + frame.vector(b.normal())).length() > OPPOSITE {
        return None;
    }
    let point_b = frame.translation;
    let distance = normal.dot(point_b);
    Some(Separation { distance, normal, point_a: point_b - distance * normal, point_b })
}
