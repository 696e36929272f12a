//! Contact of shapes: who touches whom, where, how deep, and along which normal.
//!
//! All answers are in the frame of the first shape, A; the normal points from A to B; a negative separation is a depth.
//! A margin m asks for points whose separation is at most m, so that a solver sees a contact before it happens.
//!
//! Every pair goes the same way: the normal first (separating axes for flat faces, closed forms for balls, capsules and
//! half-spaces, nearest-point search for the rest), then the facets of both pieces that look along it are laid over each
//! other, and of the corners of their common part four are kept.

mod axis;
mod box_axis;
mod box_clip;
mod box_pair;
mod cache;
mod collide;
mod distance;
mod facet;
mod flat_pair;
mod frame;
mod half_space;
mod kept;
mod manifold;
mod overlap;
mod patch;
mod piece;
mod polytope;
mod polytope_pair;
mod proof;
mod reduce;
mod round;
mod search_pair;
mod second_look;
mod segment_box;
mod shapes;
mod surface_facet;

pub use cache::PieceCache;
pub use collide::collide_pieces;
pub use distance::{distance_pieces, pieces_intersect};
pub use kept::{KeptContact, Recycling};
pub use manifold::{ContactPoint, MAX_POINTS, Manifold};
pub use piece::Piece;
pub use shapes::{
    CacheMemory, ContactCache, ContactError, ContactSettings, Contacts, Sides, collide, distance, intersects,
};
