//! Signed distance fields: large static surroundings to collide with, and simpler meshes of complicated ones.

mod closest;
mod collision;
mod error;
mod field;
mod gradient;
mod grid;
mod marching_cubes;
mod marching_cubes_table;
mod response;
mod scanlines;
mod vertex_tree;

pub use closest::{ClosestSettings, ClosestSurfacePoint, StepRule};
pub use collision::{FieldContact, FieldMesh, MeshContacts, Traversal, collide};
pub use error::FieldError;
pub use field::DistanceField;
pub use grid::FieldGrid;
pub use response::{Outcome, Velocity, mean_outcome};
pub use vertex_tree::VertexTree;

/// Definition of the inside where a surface overlaps itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillRule {
    /// Points that the surface winds around: overlapping closed pieces count as one solid. Faces must agree
    /// in orientation.
    #[default]
    Winding,
    /// Points that a ray leaves through an odd number of faces: orientation does not matter, but where two
    /// pieces overlap is outside.
    EvenOdd,
}

/// How to build a distance field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSettings {
    /// Cells along the longest side of the surface's box, at least 1. Default 64.
    pub resolution: u32,
    /// Definition of the inside. Default `Winding`.
    pub fill_rule: FillRule,
    /// Largest memory in bytes, including temporary memory of the build. Default 1 GiB.
    pub memory_limit: u64,
}

impl Default for FieldSettings {
    fn default() -> Self {
        Self { resolution: 64, fill_rule: FillRule::Winding, memory_limit: 1 << 30 }
    }
}
