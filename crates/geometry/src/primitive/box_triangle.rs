//! A box and a triangle by all 13 separating axes: 3 face normals, the triangle's normal and the 9 products of an edge of
//! each (Akenine-Möller 2001). In the box's frame, with half sizes h, an axis n separates iff the triangle's interval of n·p
//! misses ± Σ h_i |n_i|.

use glam::DVec3;

use super::Triangle;
use crate::OrientedBox;

/// Whether a solid box and a triangle share a point; a triangle without area counts as its sides.
pub fn box_triangle(bounds: &OrientedBox, triangle: &Triangle) -> bool {
    let h = bounds.half_extents();
    let corners = triangle.corners().map(|p| bounds.pose().inverse_point(p));
    let local = Triangle::from(corners);
    let apart = |axis: DVec3, noise: f64| {
        let [low, high] = local.project(axis);
        let reach = h.dot(axis.abs()) + noise;
        low > reach || high < -reach
    };
    // Products of nearly parallel edges are rounding noise; they must separate by more than that.
    let size = h.max_element() + corners.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let normal = local.double_area_vector();
    if DVec3::AXES.iter().any(|&axis| apart(axis, 0.0)) {
        return false;
    }
    if apart(normal, 8.0 * f64::EPSILON * size * local.longest_side().powi(2)) {
        return false;
    }
    for e in local.edge_vectors() {
        let noise = 8.0 * f64::EPSILON * size * e.length();
        if DVec3::AXES.iter().any(|axis| apart(axis.cross(e), noise)) {
            return false;
        }
    }
    true
}
