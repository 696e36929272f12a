//! Points, segments, rays, triangles, tetrahedra, boxes and spheres: nearest points, closed intersection
//! tests of every pair, and rays and nearest points of every shape.

mod bounding_volume;
mod box_box;
mod box_sphere;
mod box_triangle;
mod cast;
mod cast_triangles;
mod contact_frame;
mod coplanar_edges;
mod cross_matrix;
mod custom;
mod ellipsoid;
mod error;
mod moving_bounds;
mod penetration;
mod plane;
mod point_in_object;
mod polyhedron;
mod project;
mod ray;
mod segment;
mod segment_box;
mod segment_segment;
mod segment_sphere;
mod segment_triangle;
mod shape_cast_ray;
mod sphere_sphere;
mod sphere_triangle;
mod surface;
mod tetrahedron;
mod triangle;
mod triangle_triangle;

pub use bounding_volume::BoundingVolume;
pub use box_box::{BoxAxis, aabb_box, box_box, separating_axis};
pub use box_sphere::{aabb_sphere, box_sphere, closest_point_of_box};
pub use box_triangle::box_triangle;
pub(crate) use box_triangle::intersects_centered_box;
pub use cast::{FromInside, RayHit};
pub use cast_triangles::{TriangleRay, cast_ray_at_mesh, cast_ray_at_triangles};
pub use contact_frame::{ContactFrame, edge_normal_rate, face_normal_rate, point_normal_rate};
pub use coplanar_edges::coplanar_edges;
pub use cross_matrix::cross_matrix;
pub use error::{PrimitiveError, Tolerances};
pub(crate) use moving_bounds::axis_interval;
pub use penetration::{IntersectionSegment, PenetrationRegion, penetration_regions};
pub use plane::{Plane, SegmentPlane};
pub use point_in_object::point_in_mesh;
pub use project::PointProjection;
pub use ray::Ray;
pub use segment::LineSegment;
pub use segment_box::{
    ray_intersects_aabb, segment_aabb, segment_box, segment_intersects_aabb, slab_interval,
};
pub use segment_segment::{ClosestPair, closest_segment_segment};
pub use segment_sphere::segment_sphere;
pub use segment_triangle::{closest_segment_triangle, segment_triangle};
pub use sphere_sphere::{closest_sphere_sphere, sphere_sphere};
pub use sphere_triangle::sphere_triangle;
pub use surface::closest_of_triangles;
pub use tetrahedron::Tetrahedron;
pub use triangle::Triangle;
pub use triangle_triangle::{TriangleOverlap, closest_triangle_triangle, triangle_triangle};
