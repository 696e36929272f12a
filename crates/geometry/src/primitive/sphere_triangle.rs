//! Spheres and triangles: the nearest point of the triangle lies within r of the centre.

use super::Triangle;
use crate::BoundingSphere;

/// Whether a solid sphere and a triangle share a point.
pub fn sphere_triangle(sphere: &BoundingSphere, triangle: &Triangle) -> bool {
    let nearest = triangle.closest_point(sphere.center());
    nearest.distance_squared(sphere.center()) <= sphere.radius() * sphere.radius()
}
