//! First contact of moving particles with each other and with bodies.
//!
//! Within an interval particles move along chords, s ∈ [0, 1]. A sphere and a shape touch when the distance of
//! the centre from the shape is the radius.

mod candidates;
mod pair;
mod shape;
mod triangle;

pub use candidates::{BvhKind, ParticleTree};
pub use pair::{PairHit, swept_particles};
pub use shape::{ShapeHit, swept_particle_shape};
pub use triangle::{Feature, TriangleHit, swept_particle_triangle};
