//! Whether a point lies inside a closed mesh.
//!
//! Six rays along the axes: inside iff the nearest triangle on each is hit from behind, d·n > 0. A ray that
//! passes a side, a corner or grazes a triangle is undecided. If fewer than three rays decide, or they
//! disagree, the winding number does. A point within tolerance of the surface counts as inside.

use glam::{DVec2, DVec3};

use super::{Tolerances, Triangle};
use crate::TriangleMesh;

/// State of one of the six rays.
#[derive(Clone, Copy)]
struct AxisRay {
    nearest: f64,
    from_behind: bool,
    unclear: bool,
}

/// (point, closed mesh) ⇒ whether the point lies inside or on it.
pub fn point_in_mesh(p: DVec3, mesh: &TriangleMesh, tolerances: &Tolerances) -> bool {
    let touch = tolerances.length(mesh.bounds().diagonal());
    if mesh.bounds().distance(p) > touch {
        return false;
    }
    let mut rays = [AxisRay { nearest: f64::INFINITY, from_behind: false, unclear: false }; 6];
    for i in 0..mesh.triangles().len() {
        let triangle = Triangle::from(mesh.triangle(i).map(|v| v - p));
        let corners = triangle.corners();
        let low = corners[0].min(corners[1]).min(corners[2]);
        let high = corners[0].max(corners[1]).max(corners[2]);
        let near = low.cmple(DVec3::splat(touch)) & high.cmpge(DVec3::splat(-touch));
        if near.all() && triangle.distance(DVec3::ZERO) <= touch {
            return true;
        }
        for axis in 0..3 {
            let across = [(axis + 1) % 3, (axis + 2) % 3];
            if across.iter().all(|&k| near.test(k)) {
                cast_along(axis, &triangle, &mut rays[2 * axis..2 * axis + 2], touch);
            }
        }
    }
    let mut clear = rays.iter().filter(|ray| !ray.unclear);
    let votes = clear.clone().count();
    let inside = clear.clone().filter(|ray| ray.from_behind).count();
    if votes >= 3 && clear.all(|ray| ray.from_behind == (inside > 0)) {
        return inside > 0;
    }
    mesh.contains(p)
}

/// The rays from the origin along −axis and +axis against one triangle.
fn cast_along(axis: usize, triangle: &Triangle, rays: &mut [AxisRay], touch: f64) {
    let flat = triangle.corners().map(|c| DVec2::new(c[(axis + 1) % 3], c[(axis + 2) % 3]));
    let mut passes = [false; 3];
    for i in 0..3 {
        let (start, end) = (flat[i], flat[(i + 1) % 3]);
        let side = (end - start).perp_dot(-start);
        let margin = 4.0 * touch * (end - start).length() + touch * touch;
        passes[usize::from(side >= -margin) + usize::from(side > margin)] = true;
    }
    let [outside_left, on_side, outside_right] = passes;
    if outside_left && outside_right {
        return;
    }
    let n = triangle.double_area_vector();
    if on_side || n[axis].abs() <= 1e-12 * n.length() {
        // Undecided for the ray that the triangle may block, and for both if the side is uncertain.
        let [low, high] = triangle.project(DVec3::AXES[axis]);
        rays[0].unclear |= low <= touch;
        rays[1].unclear |= high >= -touch;
        return;
    }
    let height = triangle.a.dot(n) / n[axis];
    let positive = height > 0.0;
    let ray = &mut rays[usize::from(positive)];
    if height.abs() < ray.nearest {
        ray.nearest = height.abs();
        ray.from_behind = (n[axis] > 0.0) == positive;
    }
}
