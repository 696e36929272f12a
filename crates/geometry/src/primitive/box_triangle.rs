//! A box and a triangle by all 13 separating axes: 3 face normals, the triangle's normal and the 9 products
//! of an edge of each (Akenine-Möller 2001). In the box's frame, with half sizes h, an axis n separates iff
//! the triangle's interval of n·p misses ± Σ h_i |n_i|.

use glam::DVec3;

use super::Triangle;
use crate::OrientedBox;

/// Whether a solid box and a triangle share a point; a triangle without area counts as its sides.
pub fn box_triangle(bounds: &OrientedBox, triangle: &Triangle) -> bool {
    intersects_centered_box(
        &triangle.corners().map(|p| bounds.pose().inverse_point(p)),
        bounds.half_extents(),
    )
}

/// The same in the box's frame, h being its half sizes.
pub(crate) fn intersects_centered_box(corners: &[DVec3; 3], h: DVec3) -> bool {
    let [a, b, c] = *corners;
    if a.min(b).min(c).cmpgt(h).any() || a.max(b).max(c).cmplt(-h).any() {
        return false;
    }
    let local = Triangle::from(*corners);
    let apart = |axis: DVec3, noise: f64| {
        let [low, high] = local.project(axis);
        let reach = h.dot(axis.abs()) + noise;
        low > reach || high < -reach
    };
    // Products of nearly parallel edges are rounding noise; they must separate by more than that.
    let size = h.max_element() + corners.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let edges = local.edge_vectors();
    let longest_squared = edges.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
    if apart(local.double_area_vector(), 8.0 * f64::EPSILON * size * longest_squared) {
        return false;
    }
    !edges.iter().any(|&e| {
        let noise = 8.0 * f64::EPSILON * size * e.length();
        DVec3::AXES.iter().any(|axis| apart(axis.cross(e), noise))
    })
}
