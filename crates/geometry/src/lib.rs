//! Shapes, and queries on them.
//!
//! # Which query for a distance or a contact?
//!
//! | from | to | function | returns |
//! |---|---|---|---|
//! | any shape at a pose | any shape at a pose | [`contact::contact`] | contact manifolds where they touch or overlap, one call |
//! | any shape | any shape | [`contact::collide`] | the same within a margin, with a cache from step to step |
//! | any shape | any shape | [`contact::distance`] | nearest points, or the depth where they overlap |
//! | any shape | any shape | [`contact::intersects`] | whether they share a point; the cheapest of these |
//! | convex shape | convex shape | [`closest::signed_distance`] | nearest points or penetration, with a cache: GJK, then an expanding polytope |
//! | convex shape | convex shape | [`closest::gjk`] | nearest points, or that they overlap |
//! | convex polyhedron | convex polyhedron | [`closest::vclip`], [`closest::lin_canny`] | nearest features, in near constant time while the motion is small |
//! | primitive | primitive | [`primitive`] | closed forms: points, segments, triangles, boxes, spheres |
//! | point | any shape | [`Shape::closest_point`] | projection onto the surface, inside or outside |
//! | point | many triangles | [`hierarchy::MeshTree::nearest_point`] | nearest triangle and point |
//! | point | sampled solid | [`distance_field::DistanceField`] | signed distance by interpolation, in constant time |
//! | moving shape | moving shape | [`swept::cast_shapes`] | time of impact |
//! | ray | any shape | [`Shape::cast_ray`] | first hit |
//! | many boxes | many boxes | [`space::Space`] | pairs that may touch: the broad phase |
//!
//! Queries of two shapes take the pose of B in the frame of A, `b_in_a`, and return results in A's frame, so
//! that the place of the pair in the world costs no accuracy; [`contact::contact`] alone takes both poses.
//! The normal points from A to B, and a negative distance is a depth.
//!
//! ```
//! use glam::DVec3;
//! use rattleback_geometry::contact::{contact, distance};
//! use rattleback_geometry::{Pose, Shape};
//!
//! let (wall, sphere) = (Shape::cuboid(DVec3::new(0.1, 2.0, 2.0))?, Shape::sphere(0.5)?);
//! let apart = Pose::at(DVec3::X);
//! assert!((distance(&wall, &sphere, &apart)?.distance - 0.4).abs() < 1e-12);
//! assert!(contact(&wall, &Pose::IDENTITY, &sphere, &apart)?.is_empty());
//!
//! let pressed = contact(&wall, &Pose::IDENTITY, &sphere, &Pose::at(DVec3::X * 0.55))?;
//! let (manifold, point) = pressed.deepest().ok_or("no contact")?;
//! assert!((point.separation + 0.05).abs() < 1e-12 && manifold.normal.abs_diff_eq(DVec3::X, 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate is independent of dynamics, materials and files: a length is a length, time enters only as the
//! parameter of a swept query.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > 0.0)` is meant where it stands: NaN must take the same way out as a bad number"
)]

mod aabb;
mod binned_sah;
mod bounding_sphere;
mod box32;
pub mod closest;
pub mod contact;
mod convex_hull;
mod convex_polyhedron;
mod coplanar;
pub mod decomposition;
pub mod distance_field;
mod edge_table;
mod frame;
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
mod wide_link;

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

/// Largest size or coordinate of a shape, in metres: its fifth power, the order of a moment of inertia, is
/// still finite.
pub const MAX_LENGTH: f64 = 1e50;
