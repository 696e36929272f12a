//! Shapes and the questions one can ask them.
//!
//! The crate knows nothing of velocity, materials or files: a length is a length, time enters only as the
//! parameter of a swept query.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > 0.0)` is meant where it stands: NaN must take the same way out as a bad number"
)]

mod aabb;
mod bounding_sphere;
pub mod closest;
pub mod contact;
mod convex_hull;
mod convex_polyhedron;
mod coplanar;
pub mod decomposition;
pub mod distance_field;
mod edge_table;
pub mod generate;
mod height_field;
pub mod hierarchy;
mod lazily;
mod mass_model;
mod mass_properties;
mod mesh_error;
mod mesh_report;
mod orientation;
mod oriented_box;
mod polygon_soup;
mod polyhedron;
mod pose;
pub mod primitive;
mod rotation;
mod shape;
pub mod space;
pub mod swept;
mod symmetric_eigen;
mod triangle_mesh;
mod triangulate;
mod volume_integrals;
mod weld;

pub use aabb::{Aabb, BoundsError};
pub use bounding_sphere::BoundingSphere;
pub use convex_hull::{HULL_MERGE_TOLERANCE, HullError, convex_hull, convex_hull_with, hull_triangles};
pub use convex_polyhedron::ConvexPolyhedron;
pub use coplanar::merge_coplanar;
pub use edge_table::{EdgeKind, EdgeTable};
pub use height_field::{HeightField, HeightFieldError};
pub use mass_model::MassModel;
pub use mass_properties::{MassError, MassProperties, PrincipalAxes};
pub use mesh_error::MeshError;
pub use mesh_report::MeshReport;
pub use oriented_box::OrientedBox;
pub use polygon_soup::PolygonSoup;
pub use polyhedron::{Edge, Polyhedron};
pub use pose::Pose;
pub use rotation::{
    RotationError, axis_angle, from_axis_angle, normalized, orthonormalized, rotation_from_matrix, slerp,
};
pub use shape::{
    Capsule, Compound, Cone, Cuboid, Cylinder, Ellipsoid, HalfSpace, Shape, ShapeError, ShapeKind, Sphere,
    SupportShape,
};
pub use symmetric_eigen::symmetric_eigen;
pub use triangle_mesh::TriangleMesh;
pub use triangulate::triangulate_face;
pub use volume_integrals::{VolumeIntegrals, polygon_area_vector};
pub use weld::{WeldError, welded};

/// Smallest size of a shape, in metres.
pub const MIN_LENGTH: f64 = 1e-50;

/// Largest size or coordinate of a shape, in metres: its fifth power, the order of a moment of inertia, is still finite.
pub const MAX_LENGTH: f64 = 1e50;
