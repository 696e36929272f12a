//! Contact of shapes: manifolds with points, depths and normals.
//!
//! All results are in the frame of the first shape, A; the normal points from A to B; a negative separation
//! is a depth. With a margin m the manifold holds points whose separation is at most m, so that a solver
//! receives contacts before they touch.
//!
//! Every pair is processed in the same way: the normal first (separating axes for flat faces, closed forms
//! for spheres, capsules and half-spaces, nearest-point search for the rest), then the facets of both pieces
//! that face along it are clipped against each other, and the corners of their common part are reduced to
//! four.

mod axis;
mod box_axis;
mod box_clip;
mod box_pair;
mod cache;
mod cached_contact;
mod collide;
mod distance;
mod early_exit;
mod facet;
mod flat_pair;
mod half_space;
mod manifold;
mod overlap;
mod patch;
mod piece;
mod polytope;
mod polytope_pair;
mod reduce;
mod refined_depth;
mod round;
mod search_pair;
mod segment_box;
mod shapes;
mod surface_facet;

pub use cache::PieceCache;
pub use cached_contact::{CachedContact, Recycling};
pub use collide::collide_pieces;
pub use distance::{distance_pieces, pieces_intersect};
pub use manifold::{ContactPoint, MAX_POINTS, Manifold};
pub use piece::Piece;
pub use shapes::{
    CacheState, ContactCache, ContactError, ContactSettings, Contacts, Sides, collide, contact, distance,
    intersects,
};
