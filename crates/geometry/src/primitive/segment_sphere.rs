//! Segments and spheres: the nearest point of the segment lies within r of the centre.

use super::LineSegment;
use crate::BoundingSphere;

/// Whether a segment and a solid sphere share a point; a segment inside the sphere does.
pub fn segment_sphere(segment: &LineSegment, sphere: &BoundingSphere) -> bool {
    let nearest = segment.closest_point(sphere.center());
    nearest.distance_squared(sphere.center()) <= sphere.radius() * sphere.radius()
}
