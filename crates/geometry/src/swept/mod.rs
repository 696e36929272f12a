//! When things that move first touch.
//!
//! Time is s ∈ [0, 1] over the interval of the motion. A reported time is never later than the first contact:
//! rigid shapes are advanced only as far as nothing can have happened, and roots of closed forms are exact to
//! rounding.

mod advancement;
mod bisection;
mod boxes;
mod linear;
mod meshes;
mod motion;
mod shapes;
mod spheres;
mod triangles;

pub use advancement::{Advancement, Contact, Gap, MovingBody, advance};
pub use bisection::{Bisection, BisectionHit, Overlap, bisect};
pub use boxes::{BoxHit, swept_boxes};
pub use linear::cast_linear;
pub use meshes::{FeatureOwners, MeshHit, MeshSweep, MovingMesh, swept_meshes, swept_rigid_meshes};
pub use motion::{Interpolation, Motion, chord_pieces, rotation_vector};
pub use shapes::{ShapeContact, SweptError, cast_shapes};
pub use spheres::{SphereHit, swept_sphere_half_space, swept_spheres};
pub use triangles::{
    FeatureHit, MovingPoint, MovingTriangle, TriangleFeatures, TriangleHit, swept_edges, swept_triangles,
    swept_vertex_face,
};
