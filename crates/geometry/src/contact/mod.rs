//! Contact of shapes: who touches whom, where, how deep, and along which normal.
//!
//! All answers are in the frame of the first shape, A; the normal points from A to B; a negative separation is a depth.
//! A margin m asks for points whose separation is at most m, so that a solver sees a contact before it happens.

mod manifold;
mod piece;
mod shapes;

pub use manifold::{ContactPoint, MAX_POINTS, Manifold};
pub use piece::Piece;
pub use shapes::{ContactCache, ContactError, ContactSettings, Contacts, Sides, collide};

use crate::Pose;
use crate::closest::{ClosestError, GjkCache, Triangle, signed_distance};

/// What contact of one pair of pieces leaves behind for its next time. Any cache is safe with any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PieceCache {
    gjk: GjkCache,
}

/// (piece A, piece B, B in A's frame, margin, cache) ⇒ manifold of the points nearer than the margin; None if there are none.
pub fn collide_pieces(
    a: &Piece<'_>,
    b: &Piece<'_>,
    b_in_a: &Pose,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let nearest = match (a, b) {
        (Piece::Bounded(a), Piece::Bounded(b)) => signed_distance(a, b, b_in_a, &mut cache.gjk)?,
        (Piece::Bounded(a), Piece::Triangle(b)) => signed_distance(a, &Triangle(*b), b_in_a, &mut cache.gjk)?,
        (Piece::Triangle(a), Piece::Bounded(b)) => signed_distance(&Triangle(*a), b, b_in_a, &mut cache.gjk)?,
        (Piece::Triangle(a), Piece::Triangle(b)) => {
            signed_distance(&Triangle(*a), &Triangle(*b), b_in_a, &mut cache.gjk)?
        }
        _ => return Ok(None),
    };
    if nearest.distance > margin {
        return Ok(None);
    }
    let mut manifold = Manifold::new(nearest.normal);
    manifold.push(ContactPoint {
        point_a: nearest.point_a,
        point_b: nearest.point_b,
        separation: nearest.distance,
        id: 0,
    });
    Ok(Some(manifold))
}
