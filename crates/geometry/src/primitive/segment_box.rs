//! Rays, segments and boxes.
//!
//! Slabs: p + t d lies between the two planes of axis i for t between (l_i − p_i)/d_i and (u_i − p_i)/d_i;
//! the box is hit iff the three intervals share a point. That is how hits are computed.
//!
//! Silhouette: seen along d, the box's outline has six edges, which depend only on the signs of d. The ray
//! misses iff it passes one of them on the outside, side(i, j) = −d·((b_i − p) × (b_j − p)) having the wrong
//! sign, or starts beyond the box. With b_l = lower − p and b_u = upper − p each side needs two products and
//! no division (Mahovsky and Wyvill 2004).

use glam::DVec3;

use super::{LineSegment, Ray};
use crate::{Aabb, OrientedBox};

/// (point, direction of any length, box) ⇒ the interval of t ∈ [0, `max`] with p + t d in the box.
pub fn slab_interval(p: DVec3, d: DVec3, max: f64, bounds: &Aabb) -> Option<[f64; 2]> {
    let (mut enter, mut leave) = (0.0_f64, max);
    for axis in 0..3 {
        let (low, high) = (bounds.min()[axis] - p[axis], bounds.max()[axis] - p[axis]);
        if d[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (t1, t2) = (low / d[axis], high / d[axis]);
        enter = enter.max(t1.min(t2));
        leave = leave.min(t1.max(t2));
    }
    (enter <= leave).then_some([enter, leave])
}

/// Whether a segment and a solid axis-aligned box share a point.
pub fn segment_aabb(segment: &LineSegment, bounds: &Aabb) -> bool {
    slab_interval(segment.start, segment.offset(), 1.0, bounds).is_some()
}

/// Whether a segment and a solid box share a point.
pub fn segment_box(segment: &LineSegment, bounds: &OrientedBox) -> bool {
    let start = bounds.pose().inverse_point(segment.start);
    let offset = bounds.pose().inverse_vector(segment.offset());
    let h = bounds.half_extents();
    Aabb::new(-h, h).is_ok_and(|local| slab_interval(start, offset, 1.0, &local).is_some())
}

/// Whether a ray intersects a solid axis-aligned box, by the silhouette; most misses need no division.
pub fn ray_intersects_aabb(ray: &Ray, bounds: &Aabb) -> bool {
    let d = ray.direction();
    !starts_beyond(ray.origin(), d, bounds) && line_intersects_aabb(ray.origin(), d, bounds)
}

/// Whether a segment intersects a solid axis-aligned box, by the silhouette: the line must, and neither end
/// may be behind it.
pub fn segment_intersects_aabb(segment: &LineSegment, bounds: &Aabb) -> bool {
    let d = segment.offset();
    if d == DVec3::ZERO {
        return bounds.contains(segment.start);
    }
    !starts_beyond(segment.start, d, bounds)
        && !starts_beyond(segment.end, -d, bounds)
        && line_intersects_aabb(segment.start, d, bounds)
}

fn starts_beyond(p: DVec3, d: DVec3, bounds: &Aabb) -> bool {
    (0..3).any(|i| if d[i] < 0.0 { p[i] < bounds.min()[i] } else { p[i] > bounds.max()[i] })
        || (0..3).any(|i| d[i] == 0.0 && p[i] < bounds.min()[i])
}

/// The six outline edges by the signs of d.
fn line_intersects_aabb(p: DVec3, d: DVec3, bounds: &Aabb) -> bool {
    let (l, u) = (bounds.min() - p, bounds.max() - p);
    // Named by the two corners of the edge they belong to.
    let (e34, e65) = (d.x * l.y - d.y * u.x, d.x * u.y - d.y * l.x);
    let (e26, e48) = (d.x * u.z - d.z * l.x, d.x * l.z - d.z * u.x);
    let (e85, e32) = (d.y * l.z - d.z * u.y, d.y * u.z - d.z * l.y);
    let (e37, e15) = (d.x * u.z - d.z * u.x, d.x * l.z - d.z * l.x);
    let (e41, e76) = (d.y * l.z - d.z * l.y, d.y * u.z - d.z * u.y);
    let (e21, e78) = (d.x * l.y - d.y * l.x, d.x * u.y - d.y * u.x);
    let (not_below, not_above) = match (d.x < 0.0, d.y < 0.0, d.z < 0.0) {
        (true, true, true) => ([e34, e48, e85], [e65, e26, e32]),
        (true, true, false) => ([e34, e15, e41], [e65, e37, e76]),
        (true, false, true) => ([e21, e48, e76], [e78, e26, e41]),
        (true, false, false) => ([e21, e15, e32], [e78, e37, e85]),
        (false, true, true) => ([e78, e37, e85], [e21, e15, e32]),
        (false, true, false) => ([e78, e26, e41], [e21, e48, e76]),
        (false, false, true) => ([e65, e37, e76], [e34, e15, e41]),
        (false, false, false) => ([e65, e26, e32], [e34, e48, e85]),
    };
    not_below.iter().all(|&e| e >= 0.0) && not_above.iter().all(|&e| e <= 0.0)
}
