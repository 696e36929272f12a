//! Dispatch of pairs of pieces to their contact routines.

use super::polytope::FlatTriangle;
use super::{Manifold, Piece, PieceCache, box_pair, half_space, polytope_pair, round, search_pair};
use crate::Pose;
use crate::closest::{ClosestError, ConvexShape};
use crate::frame::Frame;
use crate::primitive::Triangle;

/// (piece A, piece B, B in A's frame, margin, cache) ⇒ manifold of the points nearer than the margin; None if
/// there are none.
///
/// A margin of NaN yields no contact. Two half-spaces have no manifold: they touch everywhere or nowhere.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::{Piece, PieceCache, collide_pieces};
/// use rattleback_geometry::{Pose, Shape};
/// let (floor, cube) = (Shape::cuboid(DVec3::new(5.0, 5.0, 1.0))?, Shape::cuboid(DVec3::ONE)?);
/// let (a, b) = (Piece::try_from(&floor)?, Piece::try_from(&cube)?);
/// let mut cache = PieceCache::default();
/// let manifold = collide_pieces(&a, &b, &Pose::at(DVec3::new(0.0, 0.0, 1.99)), 0.02, &mut cache)?.unwrap();
/// assert_eq!((manifold.normal, manifold.points().len()), (DVec3::Z, 4));
/// assert!(manifold.points().iter().all(|point| (point.separation + 0.01).abs() < 1e-15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn collide_pieces(
    a: &Piece<'_>,
    b: &Piece<'_>,
    b_in_a: &Pose,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    collide_placed(a, b, b_in_a, &Frame::new(b_in_a)?, margin, cache)
}

/// The same with the frame that the pose makes.
#[inline]
pub(super) fn collide_placed(
    a: &Piece<'_>,
    b: &Piece<'_>,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    if margin.is_nan() {
        return Ok(None);
    }
    match (a, b) {
        (Piece::Bounded(shape_a), Piece::Bounded(shape_b)) => {
            bounded(shape_a, shape_b, b_in_a, frame, margin, cache)
        }
        (Piece::HalfSpace(_), Piece::HalfSpace(_)) => Ok(None),
        (Piece::HalfSpace(half_space), other) => half_space::collide(half_space, other, frame, margin),
        (other, Piece::HalfSpace(half_space)) => {
            let found = half_space::collide(half_space, other, &frame.inverse(), margin)?;
            Ok(found.map(|manifold| manifold.swapped(&b_in_a.inverse())))
        }
        (Piece::Bounded(shape), Piece::Triangle(corners)) => {
            with_triangle(shape, *corners, b_in_a, frame, margin, cache)
        }
        (Piece::Triangle(corners), Piece::Bounded(shape)) => {
            triangle_with(*corners, shape, b_in_a, frame, margin, cache)
        }
        (Piece::Triangle(corners_a), Piece::Triangle(corners_b)) => {
            match (FlatTriangle::new(*corners_a)?, FlatTriangle::new(*corners_b)?) {
                (Some(a), Some(b)) => polytope_pair::collide(&a, &b, b_in_a, frame, margin, cache),
                _ => search_pair::collide(
                    &Triangle::from(*corners_a),
                    &Triangle::from(*corners_b),
                    b_in_a,
                    frame,
                    margin,
                    cache,
                ),
            }
        }
    }
}

fn bounded(
    a: &ConvexShape<'_>,
    b: &ConvexShape<'_>,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    use ConvexShape::{Capsule, Convex, Cuboid, Sphere};
    match (a, b) {
        (_, Sphere(sphere)) => {
            let nearest = round::nearest_to_sphere(
                &Piece::Bounded(*a),
                frame.translation,
                sphere.radius(),
                &mut cache.gjk,
            )?;
            Ok(round::single_within(&nearest, margin))
        }
        (Sphere(sphere), _) => {
            sphere_with(&Piece::Bounded(*b), sphere.radius(), b_in_a, frame, margin, cache)
        }
        (Capsule(a), Capsule(b)) => Ok(round::collide_capsules(a, b, frame, margin)),
        (Cuboid(a), Cuboid(b)) => box_pair::collide(a, b, b_in_a, frame, margin, cache),
        (Cuboid(a), Convex(b)) => polytope_pair::collide(*a, *b, b_in_a, frame, margin, cache),
        (Convex(a), Cuboid(b)) => polytope_pair::collide(*a, *b, b_in_a, frame, margin, cache),
        (Convex(a), Convex(b)) => polytope_pair::collide(*a, *b, b_in_a, frame, margin, cache),
        _ => search_pair::collide(a, b, b_in_a, frame, margin, cache),
    }
}

/// A sphere as A.
fn sphere_with(
    b: &Piece<'_>,
    radius: f64,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let center = frame.inverse().translation;
    let nearest = round::nearest_to_sphere(b, center, radius, &mut cache.gjk)?;
    Ok(round::single_within(&nearest, margin).map(|manifold| manifold.swapped(&b_in_a.inverse())))
}

fn with_triangle(
    a: &ConvexShape<'_>,
    corners: [glam::DVec3; 3],
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let flat = FlatTriangle::new(corners)?;
    match (a, &flat) {
        (ConvexShape::Sphere(sphere), _) => {
            sphere_with(&Piece::Triangle(corners), sphere.radius(), b_in_a, frame, margin, cache)
        }
        (ConvexShape::Cuboid(a), Some(b)) => polytope_pair::collide(*a, b, b_in_a, frame, margin, cache),
        (ConvexShape::Convex(a), Some(b)) => polytope_pair::collide(*a, b, b_in_a, frame, margin, cache),
        (a, Some(b)) => search_pair::collide(a, b, b_in_a, frame, margin, cache),
        (a, None) => search_pair::collide(a, &Triangle::from(corners), b_in_a, frame, margin, cache),
    }
}

fn triangle_with(
    corners: [glam::DVec3; 3],
    b: &ConvexShape<'_>,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let flat = FlatTriangle::new(corners)?;
    match (&flat, b) {
        (_, ConvexShape::Sphere(sphere)) => {
            let a = Piece::Triangle(corners);
            let nearest = round::nearest_to_sphere(&a, frame.translation, sphere.radius(), &mut cache.gjk)?;
            Ok(round::single_within(&nearest, margin))
        }
        (Some(a), b) => collide_flat(a, b, b_in_a, frame, margin, cache),
        (None, b) => search_pair::collide(&Triangle::from(corners), b, b_in_a, frame, margin, cache),
    }
}

/// (triangle, any body but a sphere, its pose, its frame, margin, cache) ⇒ manifold of the points nearer than
/// the margin.
#[inline]
pub(super) fn collide_flat(
    a: &FlatTriangle,
    b: &ConvexShape<'_>,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    match b {
        ConvexShape::Cuboid(b) => polytope_pair::collide(a, *b, b_in_a, frame, margin, cache),
        ConvexShape::Convex(b) => polytope_pair::collide(a, *b, b_in_a, frame, margin, cache),
        b => search_pair::collide(a, b, b_in_a, frame, margin, cache),
    }
}
