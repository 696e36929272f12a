//! What leaves need to know about triangles.
//!
//! Ray: with a, b, c seen from the origin o, the volumes u = d·(c×b), v = d·(a×c), w = d·(b×a) have one sign iff the line
//! passes inside. A shared edge gives both its triangles the same number up to sign, so no ray slips through between
//! neighbours. The hit point is (u a + v b + w c)/(u + v + w).
//!
//! Two triangles: separated iff one of these axes parts them: the normals, the nine products of edges and, for triangles in
//! one plane or without area, the directions normal to an edge within the plane.

use glam::DVec3;

use crate::primitive::{LineSegment, Ray, closest_segment_segment};

pub(super) type Triangle = [DVec3; 3];

/// (ray, triangle) ⇒ t of the crossing and whether the ray meets the front, counter-clockwise side.
#[inline(always)]
pub(super) fn ray_triangle(ray: &Ray, corners: &Triangle, limit: f64) -> Option<(f64, bool)> {
    let (o, d) = (ray.origin(), ray.direction());
    let [a, b, c] = [corners[0] - o, corners[1] - o, corners[2] - o];
    let u = d.dot(c.cross(b));
    let v = d.dot(a.cross(c));
    let w = d.dot(b.cross(a));
    let (low, high) = (u.min(v).min(w), u.max(v).max(w));
    if low < 0.0 && high > 0.0 {
        return None;
    }
    let volume = u + v + w;
    if volume == 0.0 {
        // Seen edge-on, or without area.
        return None;
    }
    let point = (u * a + v * b + w * c) / volume;
    let t = point.dot(d);
    (t >= 0.0 && t <= limit).then_some((t, volume > 0.0))
}

/// Whether an axis parts two point sets.
#[inline(always)]
fn parts<const N: usize, const M: usize>(axis: DVec3, a: &[DVec3; N], b: &[DVec3; M]) -> bool {
    let (a, b) = (a.map(|p| axis.dot(p)), b.map(|p| axis.dot(p)));
    let low = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high(&a) < low(&b) || high(&b) < low(&a)
}

fn edges(t: &Triangle) -> [DVec3; 3] {
    [t[1] - t[0], t[2] - t[1], t[0] - t[2]]
}

/// Whether two triangles share a point.
pub(super) fn triangles_overlap(a: &Triangle, b: &Triangle) -> bool {
    // Seen from a corner of a, so that rounding goes with the triangles' size and distance, not with their place.
    let origin = a[0];
    let (a, b) = (a.map(|p| p - origin), b.map(|p| p - origin));
    let (e, f) = (edges(&a), edges(&b));
    let (n, m) = (e[0].cross(e[1]), f[0].cross(f[1]));
    if parts(n, &a, &b) || parts(m, &a, &b) {
        return false;
    }
    for i in 0..3 {
        for j in 0..3 {
            if parts(e[i].cross(f[j]), &a, &b) {
                return false;
            }
        }
    }
    // In general position the axes above decide. Within one plane the edges' normals do; they are just as right elsewhere.
    if n.cross(m).length_squared() > 1e-12 * n.length_squared() * m.length_squared() {
        return true;
    }
    for i in 0..3 {
        for normal in [n, m] {
            if parts(normal.cross(e[i]), &a, &b) || parts(normal.cross(f[i]), &a, &b) {
                return false;
            }
        }
    }
    let flat = |n: DVec3, e: &[DVec3; 3]| {
        n.length_squared() <= 1e-24 * e.iter().map(|e| e.length_squared()).fold(0.0, f64::max).powi(2)
    };
    !(flat(n, &e) && flat(m, &f)) || segments_overlap(&a, &b)
}

/// Triangles without area are segments: whether some pair of edges touches.
fn segments_overlap(a: &Triangle, b: &Triangle) -> bool {
    let size = a.iter().chain(b).map(|p| p.abs().max_element()).fold(0.0, f64::max);
    (0..9).any(|k| {
        let (i, j) = (k / 3, k % 3);
        let [p, q] = [(a, i), (b, j)].map(|(t, i)| LineSegment::new(t[i], t[(i + 1) % 3]));
        closest_segment_segment(&p, &q).distance <= 1e-12 * size
    })
}

/// Whether a triangle meets the box about the origin with half extents h: sides, normal, and products of edges and sides.
pub(super) fn triangle_meets_box(t: &Triangle, h: DVec3) -> bool {
    let min = t[0].min(t[1]).min(t[2]);
    let max = t[0].max(t[1]).max(t[2]);
    if min.cmpgt(h).any() || max.cmplt(-h).any() {
        return false;
    }
    let e = edges(t);
    let outside = |axis: DVec3| {
        let reach = axis.abs().dot(h);
        let p = t.map(|v| axis.dot(v));
        p[0].min(p[1]).min(p[2]) > reach || p[0].max(p[1]).max(p[2]) < -reach
    };
    if outside(e[0].cross(e[1])) {
        return false;
    }
    !e.iter().any(|&edge| DVec3::AXES.iter().any(|&axis| outside(axis.cross(edge))))
}
