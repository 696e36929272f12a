//! The point of a simplex of up to four points nearest to the origin.
//!
//! Of a triangle with corners a, b, c and n = (b−a)×(c−a), the origin's projection has the weights
//! λ_a = n·(b×(c−b))/n², λ_b = n·(c×(a−c))/n², λ_c = n·(a×(b−a))/n², and itself is n (n·a)/n². Only differences of corners
//! are crossed with corners, so the error stays that of the corners' own rounding, however far away the triangle is. A
//! weight that is not positive puts the nearest point on the opposite edge. Of a tetrahedron, only faces that have the
//! origin and the fourth corner on different sides count; if there is none, the origin is inside.

use glam::DVec3;

/// Below this sine (squared) of its corner angle a triangle is taken for its edges.
const THIN_SQUARED: f64 = 1e-30;
/// Below this ratio (squared) of volume to the product of edges a tetrahedron is taken for its faces.
const FLAT_SQUARED: f64 = 1e-28;

/// The nearest point, as a mixture of corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) point: DVec3,
    /// Square of its distance from the origin; 0 if the origin is inside a tetrahedron.
    pub(super) squared: f64,
    /// One per corner, adding up to 1; 0 for corners that are not needed.
    pub(super) weights: [f64; 4],
    /// Bit i is set if corner i is needed.
    pub(super) needed: u32,
}

/// One to four points ⇒ the point of their hull nearest to the origin.
#[inline]
pub(super) fn nearest(points: &[DVec3; 4], count: usize) -> Nearest {
    match count {
        0 | 1 => at_corner(points, 0),
        2 => on_segment(points, 0, 1),
        3 => on_triangle(points, 0, 1, 2),
        _ => on_tetrahedron(points),
    }
}

#[inline]
fn at_corner(points: &[DVec3; 4], i: usize) -> Nearest {
    let mut weights = [0.0; 4];
    weights[i] = 1.0;
    Nearest { point: points[i], squared: points[i].length_squared(), weights, needed: 1 << i }
}

#[inline]
fn on_segment(points: &[DVec3; 4], i: usize, j: usize) -> Nearest {
    let (a, b) = (points[i], points[j]);
    let ab = b - a;
    if -a.dot(ab) <= 0.0 {
        return at_corner(points, i);
    }
    if b.dot(ab) <= 0.0 {
        return at_corner(points, j);
    }
    // Measured from both ends: where the ends' own roundings differ, neither weight can leave [0, 1].
    let (to_a, to_b) = (-a.dot(ab), b.dot(ab));
    let t = to_a / (to_a + to_b);
    let point = if t < 0.5 { a + t * ab } else { b - (1.0 - t) * ab };
    let mut weights = [0.0; 4];
    weights[i] = 1.0 - t;
    weights[j] = t;
    Nearest { point, squared: point.length_squared(), weights, needed: 1 << i | 1 << j }
}

#[inline]
fn on_triangle(points: &[DVec3; 4], i: usize, j: usize, k: usize) -> Nearest {
    let (a, b, c) = (points[i], points[j], points[k]);
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let (ab2, bc2, ca2) = (ab.length_squared(), bc.length_squared(), ca.length_squared());
    // The longest edge stays out: crossed with another long one, its rounding would tilt a thin triangle along itself.
    let n = if ab2 >= bc2 && ab2 >= ca2 {
        bc.cross(ca)
    } else if bc2 >= ca2 {
        ca.cross(ab)
    } else {
        ab.cross(bc)
    };
    let n2 = n.length_squared();
    let weight_a = n.dot(b.cross(bc));
    let weight_b = n.dot(c.cross(ca));
    let weight_c = n.dot(a.cross(ab));
    let thin = !(n2 > THIN_SQUARED * ab2 * bc2);
    if !thin && weight_a > 0.0 && weight_b > 0.0 && weight_c > 0.0 {
        let sum = weight_a + weight_b + weight_c;
        let point = n * (n.dot(a) / n2);
        let mut weights = [0.0; 4];
        weights[i] = weight_a / sum;
        weights[j] = weight_b / sum;
        weights[k] = weight_c / sum;
        return Nearest { point, squared: point.length_squared(), weights, needed: 1 << i | 1 << j | 1 << k };
    }
    let mut best: Option<Nearest> = None;
    for (weight, from, to) in [(weight_a, j, k), (weight_b, k, i), (weight_c, i, j)] {
        if thin || !(weight > 0.0) {
            let next = on_segment(points, from, to);
            if best.is_none_or(|known| next.squared < known.squared) {
                best = Some(next);
            }
        }
    }
    best.unwrap_or_else(|| at_corner(points, i))
}

/// Faces opposite to corners 0, 1, 2, 3.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

#[inline]
fn on_tetrahedron(points: &[DVec3; 4]) -> Nearest {
    let [a, b, c, d] = *points;
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let volume = ab.cross(ac).dot(ad);
    let edges_squared = ab.length_squared() * ac.length_squared() * ad.length_squared();
    let flat = !(volume * volume > FLAT_SQUARED * edges_squared);
    // Signed volumes of the origin with each face; all of the sign of the whole if inside.
    let bc_d = b.cross(c - b).dot(d - b);
    let inside = [bc_d, -a.cross(ac).dot(ad), a.cross(ab).dot(ad), -a.cross(ab).dot(ac)];
    let mut best: Option<Nearest> = None;
    for (face, part) in FACES.iter().zip(inside) {
        if flat || part == 0.0 || (part > 0.0) != (volume > 0.0) {
            let next = on_triangle(points, face[0], face[1], face[2]);
            // All else lies behind this face.
            if !flat && next.needed.count_ones() == 3 {
                return next;
            }
            if best.is_none_or(|known| next.squared < known.squared) {
                best = Some(next);
            }
        }
    }
    best.unwrap_or_else(|| {
        let weights = inside.map(|part| part / volume);
        Nearest { point: DVec3::ZERO, squared: 0.0, weights, needed: 15 }
    })
}
