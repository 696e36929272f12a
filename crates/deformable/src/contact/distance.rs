//! Nearest points of a vertex and a face, and of two edges, with their weights.
//!
//! With weights w of the four points, Σ w = 0 over the pair, r = Σ w_k x_k is the vector between the nearest points: positive on
//! the first feature, negative on the second. By the envelope theorem the gradient of δ = |r| is w_k r/δ.

use glam::DVec3;

use super::FeaturePair;

/// Nearest points of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// Σ w = 0
    pub weights: [f64; 4],
    /// r, from the second feature to the first, m.
    pub offset: DVec3,
}

/// Four points ⇒ nearest points.
#[inline]
pub(crate) fn nearest(kind: FeaturePair, x: &[DVec3; 4]) -> Nearest {
    match kind {
        FeaturePair::VertexFace => vertex_face(x),
        FeaturePair::EdgeEdge => edge_edge(x),
    }
}

/// Nearest point of the triangle by its Voronoi regions; a needle counts as its sides.
fn vertex_face(&[p, a, b, c]: &[DVec3; 4]) -> Nearest {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let found =
        |u: f64, v: f64, w: f64| Nearest { weights: [1.0, -u, -v, -w], offset: p - (u * a + v * b + w * c) };
    if d1 <= 0.0 && d2 <= 0.0 {
        return found(1.0, 0.0, 0.0);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return found(0.0, 1.0, 0.0);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return found(0.0, 0.0, 1.0);
    }
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    if !(area > 1e-20 * ab.length_squared() * ac.length_squared()) {
        return nearest_side(p, [a, b, c]);
    }
    let (va, vb, vc) =
        (b.sub_cross(c, p).dot(normal), c.sub_cross(a, p).dot(normal), a.sub_cross(b, p).dot(normal));
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return found(1.0 - t, t, 0.0);
    }
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return found(1.0 - t, 0.0, t);
    }
    let (d43, d56) = (d4 - d3, d5 - d6);
    if va <= 0.0 && d43 >= 0.0 && d56 >= 0.0 {
        let t = d43 / (d43 + d56);
        return found(0.0, 1.0 - t, t);
    }
    let scale = 1.0 / (va + vb + vc);
    found(va * scale, vb * scale, vc * scale)
}

trait SubCross {
    /// (self − p) × (q − p)
    fn sub_cross(self, q: Self, p: Self) -> Self;
}

impl SubCross for DVec3 {
    #[inline(always)]
    fn sub_cross(self, q: Self, p: Self) -> Self {
        (self - p).cross(q - p)
    }
}

fn nearest_side(p: DVec3, corners: [DVec3; 3]) -> Nearest {
    let mut best = Nearest { weights: [1.0, -1.0, 0.0, 0.0], offset: p - corners[0] };
    for k in 0..3 {
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        let t = parameter(p, a, b);
        let offset = p - (a + t * (b - a));
        if offset.length_squared() < best.offset.length_squared() {
            let mut weights = [1.0, 0.0, 0.0, 0.0];
            weights[k + 1] = t - 1.0;
            weights[(k + 1) % 3 + 1] = -t;
            best = Nearest { weights, offset };
        }
    }
    best
}

/// Parameter of the point of a segment nearest to p.
#[inline(always)]
fn parameter(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let d = b - a;
    let squared = d.length_squared();
    if squared > 0.0 { ((p - a).dot(d) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// Nearest points of two segments: inside both if they cross at an angle, else an end of one of them.
fn edge_edge(&[a, b, c, d]: &[DVec3; 4]) -> Nearest {
    let (u, w, r) = (b - a, d - c, a - c);
    let (uu, ww, uw, ur, wr) = (u.dot(u), w.dot(w), u.dot(w), u.dot(r), w.dot(r));
    let found = |s: f64, t: f64| Nearest { weights: [1.0 - s, s, t - 1.0, -t], offset: r + s * u - t * w };
    let determinant = uu * ww - uw * uw;
    // Of nearly parallel segments the crossing is rounding.
    if determinant > 1e-12 * uu * ww {
        let s = ((uw * wr - ur * ww) / determinant).clamp(0.0, 1.0);
        let t = (s * uw + wr) / ww;
        if t < 0.0 {
            return found((-ur / uu).clamp(0.0, 1.0), 0.0);
        }
        if t > 1.0 {
            return found(((uw - ur) / uu).clamp(0.0, 1.0), 1.0);
        }
        return found(s, t);
    }
    let ends = [
        found(0.0, parameter(a, c, d)),
        found(1.0, parameter(b, c, d)),
        found(parameter(c, a, b), 0.0),
        found(parameter(d, a, b), 1.0),
    ];
    let mut best = ends[0];
    for end in &ends[1..] {
        if end.offset.length_squared() < best.offset.length_squared() {
            best = *end;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rattleback_geometry::primitive::{LineSegment, Triangle, closest_segment_segment};

    use super::*;

    /// Low-discrepancy numbers in [-1, 1).
    fn point(k: u32) -> DVec3 {
        let part = |a: f64| 2.0 * (f64::from(k) * a).fract() - 1.0;
        DVec3::new(part(0.618_033_988_75), part(0.754_877_666_25), part(0.569_840_290_99))
    }

    /// T-DCC-04: distances are those of other code, weights belong to their features, also of needles, points and parallel edges.
    #[test]
    fn nearest_points_agree_with_other_code() {
        for k in 0..40_000 {
            let mut x = [point(4 * k), point(4 * k + 1), point(4 * k + 2), point(4 * k + 3)];
            match k % 6 {
                1 => x[3] = x[2],
                2 => x[3] = x[2] + (x[1] - x[0]) * 0.7,
                3 => x[3] = 0.5 * (x[1] + x[2]),
                4 => x[3] = x[2] + (x[1] - x[0]) + 1e-9 * point(k),
                5 => x.iter_mut().for_each(|x| x.z *= 1e-7),
                _ => {}
            }
            let face = nearest(FeaturePair::VertexFace, &x);
            let expected = Triangle::new(x[1], x[2], x[3]).distance(x[0]);
            assert!((face.offset.length() - expected).abs() < 1e-9, "{k} {x:?}");
            let edges = nearest(FeaturePair::EdgeEdge, &x);
            let expected =
                closest_segment_segment(&LineSegment::new(x[0], x[1]), &LineSegment::new(x[2], x[3]))
                    .distance;
            assert!((edges.offset.length() - expected).abs() < 1e-9, "{k} {x:?}");
            for (near, signs) in [(face, [1.0, -1.0, -1.0, -1.0]), (edges, [1.0, 1.0, -1.0, -1.0])] {
                let sum: DVec3 = (0..4).map(|i| near.weights[i] * x[i]).sum();
                assert!((sum - near.offset).length() < 1e-12);
                assert!(near.weights.iter().sum::<f64>().abs() < 1e-12);
                assert!((0..4).all(|i| near.weights[i] * signs[i] > -1e-12));
            }
        }
    }
}
