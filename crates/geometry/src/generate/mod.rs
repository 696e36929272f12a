//! Meshes by formula, for scenes, tests and drawing.

mod boxes;
mod revolved;
mod sphere;
mod swept;

pub use boxes::{cuboid, cuboid_with_hole, tetrahedron};
pub use revolved::{capsule, cone, cylinder, ellipsoid, revolved, torus};
pub use sphere::{icosahedron, icosphere};
pub use swept::swept;
