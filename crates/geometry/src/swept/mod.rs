//! When things that move first touch.
//!
//! Time is s ∈ [0, 1] over the interval of the motion. A reported time is never later than the first contact.

mod boxes;
mod motion;
mod spheres;

pub use boxes::{BoxHit, swept_boxes};
pub use motion::{Interpolation, Motion, chord_pieces, rotation_vector};
pub use spheres::{SphereHit, swept_sphere_half_space, swept_spheres};
