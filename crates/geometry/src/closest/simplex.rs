//! The point of a simplex of up to four points nearest to the origin.
//!
//! Of a triangle with corners a, b, c and n = (b−a)×(c−a), the origin's projection has the weights
//! λ_a = n·(b×(c−b))/n², λ_b = n·(c×(a−c))/n², λ_c = n·(a×(b−a))/n², and itself is n (n·a)/n². Only
//! differences of corners are crossed with corners, so the error stays that of the corners' own rounding,
//! however far away the triangle is. A weight that is not positive puts the nearest point on the opposite
//! edge. Of a tetrahedron, only faces that have the origin and the fourth corner on different sides count; if
//! there is none, the origin is inside.
//!
//! Most simplices of a search are only steps on the way: weights are computed on demand, and without their
//! common divisor.

use glam::DVec3;

/// Below this sine (squared) of its corner angle a triangle is taken for its edges.
const THIN_SQUARED: f64 = 1e-30;
/// Above this sine (squared) of a corner angle it does not matter which two sides a triangle's normal is
/// taken from.
const BLUNT_SQUARED: f64 = 0.04;
/// Below this ratio (squared) of volume to the product of edges a tetrahedron is taken for its faces.
const FLAT_SQUARED: f64 = 1e-28;

/// The nearest point and the corners it is a mixture of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) point: DVec3,
    /// Square of its distance from the origin; 0 if the origin is inside a tetrahedron.
    pub(super) squared: f64,
    /// Bit i is set if corner i is needed.
    pub(super) needed: u32,
    /// How many are needed.
    pub(super) count: u32,
}

/// The first `count` corners ⇒ the point of their hull nearest to the origin.
pub(super) fn nearest(points: &[DVec3; 4], count: usize) -> Nearest {
    match count {
        0 | 1 => at_corner(points, 0),
        2 => on_segment(points, 0, 1),
        3 => on_triangle(points, 0, 1, 2),
        _ => on_tetrahedron(points, [0, 1, 2, 3], 4),
    }
}

/// The corners that a nearest point needs, at most three, and one across it at the place `new` ⇒ the nearest
/// point of them all. Without the new corner they do not hold it.
#[inline(always)]
pub(super) fn nearest_with(points: &[DVec3; 4], last: &Nearest, new: usize) -> Nearest {
    let first = last.needed.trailing_zeros() as usize & 3;
    match last.count {
        0 | 1 => on_segment(points, first, new),
        2 => {
            let second = (last.needed & last.needed.wrapping_sub(1)).trailing_zeros() as usize & 3;
            on_triangle(points, first, second, new)
        }
        _ => on_tetrahedron(points, [new + 1, new + 2, new + 3, new].map(|i| i & 3), 3),
    }
}

#[inline(always)]
fn at_corner(points: &[DVec3; 4], i: usize) -> Nearest {
    let point = points[i];
    Nearest { point, squared: point.length_squared(), needed: 1 << i, count: 1 }
}

#[inline(always)]
fn on_segment(points: &[DVec3; 4], i: usize, j: usize) -> Nearest {
    let (a, b) = (points[i], points[j]);
    let ab = b - a;
    // Measured from both ends: where the ends' own roundings differ, neither weight can leave [0, 1].
    let (to_a, to_b) = (-a.dot(ab), b.dot(ab));
    if !(to_a > 0.0) {
        return at_corner(points, i);
    }
    if !(to_b > 0.0) {
        return at_corner(points, j);
    }
    let (near, way, along) = if to_a < to_b { (a, ab, to_a) } else { (b, -ab, to_b) };
    let point = near + (along / (to_a + to_b)) * way;
    Nearest { point, squared: point.length_squared(), needed: 1 << i | 1 << j, count: 2 }
}

#[inline(always)]
fn on_triangle(points: &[DVec3; 4], i: usize, j: usize, k: usize) -> Nearest {
    let (a, b, c) = (points[i], points[j], points[k]);
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let (n, scale) = across(ab, bc, ca);
    let n2 = n.length_squared();
    let (weight_a, weight_b, weight_c) = (n.dot(b.cross(bc)), n.dot(c.cross(ca)), n.dot(a.cross(ab)));
    let thin = !(n2 > THIN_SQUARED * scale);
    if !thin && weight_a > 0.0 && weight_b > 0.0 && weight_c > 0.0 {
        let point = n * (n.dot(a) / n2);
        let needed = 1 << i | 1 << j | 1 << k;
        return Nearest { point, squared: point.length_squared(), needed, count: 3 };
    }
    on_sides(points, [i, j, k], [weight_a, weight_b, weight_c].map(|weight| thin || !(weight > 0.0)))
}

/// Sides of a triangle ⇒ n, and the product of the squares of two sides. In a thin triangle the longest side
/// stays out: crossed with another long one, its rounding would tilt n along itself.
#[inline(always)]
pub(super) fn across(ab: DVec3, bc: DVec3, ca: DVec3) -> (DVec3, f64) {
    let n = ab.cross(bc);
    let (ab2, bc2) = (ab.length_squared(), bc.length_squared());
    let scale = ab2 * bc2;
    if n.length_squared() > BLUNT_SQUARED * scale {
        return (n, scale);
    }
    let ca2 = ca.length_squared();
    let n = if ca2 >= ab2 && ca2 >= bc2 {
        n
    } else if ab2 >= bc2 {
        bc.cross(ca)
    } else {
        ca.cross(ab)
    };
    (n, scale)
}

/// The nearest point on those sides of a triangle that it lies beyond, opposite to corner 0, 1 and 2.
fn on_sides(points: &[DVec3; 4], [i, j, k]: [usize; 3], beyond: [bool; 3]) -> Nearest {
    let mut best: Option<Nearest> = None;
    for (beyond, from, to) in [(beyond[0], j, k), (beyond[1], k, i), (beyond[2], i, j)] {
        if beyond {
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

/// Of a tetrahedron that is not flat only the first `faces` are tested.
fn on_tetrahedron(points: &[DVec3; 4], of: [usize; 4], faces: usize) -> Nearest {
    let [a, b, c, d] = of.map(|i| points[i]);
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let volume = ab.cross(ac).dot(ad);
    let edges_squared = ab.length_squared() * ac.length_squared() * ad.length_squared();
    let flat = !(volume * volume > FLAT_SQUARED * edges_squared);
    // All of the sign of the whole if the origin is inside.
    let inside = volumes(a, b, c, d);
    let mut best: Option<Nearest> = None;
    for (face, part) in FACES[..if flat { 4 } else { faces }].iter().zip(inside) {
        if flat || part == 0.0 || (part > 0.0) != (volume > 0.0) {
            let next = on_triangle(points, of[face[0]], of[face[1]], of[face[2]]);
            // All else lies behind this face.
            if !flat && next.count == 3 {
                return next;
            }
            if best.is_none_or(|known| next.squared < known.squared) {
                best = Some(next);
            }
        }
    }
    best.unwrap_or(Nearest { point: DVec3::ZERO, squared: 0.0, needed: 15, count: 4 })
}

/// The corners a nearest point was found from ⇒ its mixture of them, with weights that sum to 1; 0 for those
/// not needed.
pub(super) fn weights(points: &[DVec3; 4], nearest: &Nearest) -> [f64; 4] {
    let mut places = [0; 4];
    let mut left = nearest.needed;
    for place in &mut places {
        *place = left.trailing_zeros() as usize & 3;
        left &= left.wrapping_sub(1);
    }
    let [a, b, c, d] = places.map(|place| points[place]);
    let shares = match nearest.count {
        0 | 1 => [1.0, 0.0, 0.0, 0.0],
        2 => [b.dot(b - a), -a.dot(b - a), 0.0, 0.0],
        3 => {
            let (ab, bc, ca) = (b - a, c - b, a - c);
            let n = across(ab, bc, ca).0;
            [n.dot(b.cross(bc)), n.dot(c.cross(ca)), n.dot(a.cross(ab)), 0.0]
        }
        _ => volumes(a, b, c, d),
    };
    let part = 1.0 / shares.iter().sum::<f64>();
    let mut weights = [0.0; 4];
    for i in 0..(nearest.count as usize).clamp(1, 4) {
        weights[places[i]] = part * shares[i];
    }
    weights
}

/// Signed volumes of the origin with the faces opposite to a, b, c, d.
#[inline(always)]
fn volumes(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> [f64; 4] {
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let a_ab = a.cross(ab);
    [b.cross(c - b).dot(d - b), -a.cross(ac).dot(ad), a_ab.dot(ad), -a_ab.dot(ac)]
}
