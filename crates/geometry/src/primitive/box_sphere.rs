//! Boxes and spheres: clamp the centre into the box, in the box's frame; they intersect iff the clamped point
//! lies within r.

use glam::DVec3;

use crate::{Aabb, BoundingSphere, OrientedBox};

/// Whether an axis-aligned box and a sphere share a point.
pub fn aabb_sphere(bounds: &Aabb, sphere: &BoundingSphere) -> bool {
    bounds.closest_point(sphere.center()).distance_squared(sphere.center())
        <= sphere.radius() * sphere.radius()
}

/// Whether a box and a sphere share a point.
pub fn box_sphere(bounds: &OrientedBox, sphere: &BoundingSphere) -> bool {
    let center = bounds.pose().inverse_point(sphere.center());
    let outside = (center.abs() - bounds.half_extents()).max(DVec3::ZERO);
    outside.length_squared() <= sphere.radius() * sphere.radius()
}

/// Nearest point of a solid box: `p` itself if inside.
pub fn closest_point_of_box(bounds: &OrientedBox, p: DVec3) -> DVec3 {
    let local = bounds.pose().inverse_point(p);
    let clamped = local.clamp(-bounds.half_extents(), bounds.half_extents());
    if clamped == local { p } else { bounds.pose().point(clamped) }
}
