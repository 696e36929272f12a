//! Two spheres: disjoint iff |c_A − c_B|² > (r_A + r_B)².

use super::ClosestPair;
use crate::BoundingSphere;

/// Whether two spheres share a point.
pub fn sphere_sphere(a: &BoundingSphere, b: &BoundingSphere) -> bool {
    a.overlaps(b)
}

/// Nearest points of two solid spheres: one common point if they overlap.
pub fn closest_sphere_sphere(a: &BoundingSphere, b: &BoundingSphere) -> ClosestPair {
    let between = b.center() - a.center();
    let distance = between.length();
    if distance <= a.radius() + b.radius() {
        // Midway through the lens, pulled into both spheres if one holds the other.
        let t = 0.5 * (a.radius() + distance - b.radius());
        let t = t.clamp(0.0, distance);
        let p = a.center() + if distance > 0.0 { (t / distance) * between } else { between };
        return ClosestPair { point_a: p, point_b: p, distance: 0.0 };
    }
    let n = between / distance;
    ClosestPair {
        point_a: a.center() + a.radius() * n,
        point_b: b.center() - b.radius() * n,
        distance: distance - a.radius() - b.radius(),
    }
}
