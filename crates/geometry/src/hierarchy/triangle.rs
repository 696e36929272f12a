//! Boolean intersection test of two triangles; `primitive::triangle_triangle` computes the common segment, at
//! many times the cost.
//!
//! They are separated iff one of these axes parts them: the normals, the nine products of edges and, for
//! triangles in one plane or without area, the directions normal to an edge within the plane.

use glam::DVec3;

use crate::primitive::{LineSegment, closest_segment_segment};

/// Corners of a triangle.
pub(super) type TriangleCorners = [DVec3; 3];

/// Whether an axis parts two point sets.
#[inline(always)]
fn parts<const N: usize, const M: usize>(axis: DVec3, a: &[DVec3; N], b: &[DVec3; M]) -> bool {
    let (a, b) = (a.map(|p| axis.dot(p)), b.map(|p| axis.dot(p)));
    let low = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high(&a) < low(&b) || high(&b) < low(&a)
}

fn edges(t: &TriangleCorners) -> [DVec3; 3] {
    [t[1] - t[0], t[2] - t[1], t[0] - t[2]]
}

/// Whether two triangles share a point.
pub(super) fn triangles_overlap(a: &TriangleCorners, b: &TriangleCorners) -> bool {
    // Relative to a corner of a, so that rounding depends on the triangles' size and distance, not on their
    // position.
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
    // In general position the axes above decide. Within one plane the edges' normals do; they are just as
    // right elsewhere.
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
fn segments_overlap(a: &TriangleCorners, b: &TriangleCorners) -> bool {
    let size = a.iter().chain(b).map(|p| p.abs().max_element()).fold(0.0, f64::max);
    (0..9).any(|k| {
        let (i, j) = (k / 3, k % 3);
        let [p, q] = [(a, i), (b, j)].map(|(t, i)| LineSegment::new(t[i], t[(i + 1) % 3]));
        closest_segment_segment(&p, &q).distance <= 1e-12 * size
    })
}
