//! Early exit: a sufficient condition that the axis of a flat contact is the best, without testing any other.
//!
//! Let C = A − B. Its reach along u is h(u) = max u·(a − b), the overlap along u, and the depth is the least
//! reach over all unit vectors. Suppose along n the reach is δ ≥ 0 and C's face there holds a disc of radius
//! ρ around δn: the faces or edges that touch may slide by ρ in any direction before they leave each other. C
//! also holds a point c, the difference of a point of A and one of B. With u = n cos θ + w sin θ, w across n,
//!
//! h(u) ≥ δ cos θ + ρ sin θ ≥ δ  as long as  tan ½θ ≤ ρ/δ,
//!
//! and h(u) ≥ c·u ≥ H|cos θ| − L sin θ beyond, with H = −c·n and L the length of c's part across n, if θ is
//! obtuse. This grows towards θ = π, and where the first bound ends, cos θ = (δ² − ρ²)/(δ² + ρ²), sin θ =
//! 2ρδ/(δ² + ρ²). Hence no direction reaches less than δ if ρ ≥ δ and H (ρ² − δ²) − 2Lρδ ≥ δ (ρ² + δ²).
//!
//! Apart, δ < 0, a projection inside the face is enough: no points are nearer than the separation along any
//! axis.
//!
//! A corner p of A proves more: C holds p − B, a point reflection of B, so that no direction reaches less
//! than p's depth in B, whatever B's shape. If p is also A's farthest point towards B along the way out, p's
//! depth is that of both.

use glam::DVec3;

use super::polytope::Polytope;

/// (separation along n, ρ, n, a point of B less one of A) ⇒ whether the separation is the largest of all.
#[inline]
pub(super) fn is_best(separation: f64, rho: f64, n: DVec3, from_a_to_b: DVec3) -> bool {
    let delta = -separation;
    if delta < 0.0 {
        return rho >= 0.0;
    }
    let h = from_a_to_b.dot(n);
    let l_squared = (from_a_to_b - h * n).length_squared();
    let left = h * (rho * rho - delta * delta) - delta * (rho * rho + delta * delta);
    // Without a root: left ≥ 2Lρδ.
    rho >= delta && left >= 0.0 && left * left >= 4.0 * l_squared * rho * rho * delta * delta
}

/// How far inside a face of a solid the projection of a point is, negative if it is outside. All in the
/// solid's frame.
#[inline]
pub(super) fn inside_face<P: Polytope>(solid: &P, face: usize, p: DVec3) -> f64 {
    let (normal, _) = solid.plane(face);
    let mut least = f64::INFINITY;
    let mut before: Option<DVec3> = None;
    let mut first = DVec3::ZERO;
    let mut side = |from: DVec3, to: DVec3| {
        let along = to - from;
        least = least.min(normal.cross(along).dot(p - from) / along.length());
    };
    solid.walk_face(face, |vertex, _| {
        let corner = solid.vertex(vertex);
        match before {
            Some(from) => side(from, corner),
            None => first = corner,
        }
        before = Some(corner);
    });
    if let Some(from) = before {
        side(from, first);
    }
    least
}

/// How far inside the parallelogram of two edges' differences the place of contact is; negative if the edges
/// pass each other.
#[inline]
pub(super) fn inside_crossing([from_a, to_a]: [DVec3; 2], [from_b, to_b]: [DVec3; 2], n: DVec3) -> f64 {
    let (u, v, between) = (to_a - from_a, to_b - from_b, from_b - from_a);
    // Seen along n: from_a + s u = from_b + t v; both over sin γ |u||v|.
    let area = u.cross(v).dot(n);
    let (s, t) = (between.cross(v).dot(n) / area, between.cross(u).dot(n) / area);
    let (across_u, across_v) = (area.abs() / v.length(), area.abs() / u.length());
    (s.min(1.0 - s) * across_u).min(t.min(1.0 - t) * across_v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::{Cuboid, Pose};

    /// Where the condition holds, no axis of two boxes is better; and it holds for a box that rests on
    /// another.
    #[test]
    fn the_condition_is_sufficient() {
        let cube = Cuboid::new(DVec3::ONE).unwrap();
        let mut proved = 0;
        for k in 0..400 {
            let t = f64::from(k);
            let place = DVec3::new(1.9 * t.sin(), 1.9 * (1.7 * t).cos(), 2.0 * (0.3 * t).sin().abs());
            let frame = Frame::new(&Pose::at(place)).unwrap();
            let separation = place.z - 2.0;
            // Along z the faces share a rectangle; either may slide by its shorter side.
            let rho = (2.0 - place.x.abs()).min(2.0 - place.y.abs());
            if is_best(separation, rho, DVec3::Z, frame.translation) {
                proved += 1;
                assert!(separation >= place.abs().max_element() - 2.0 - 1e-12);
            }
        }
        assert!(proved > 50, "{proved}");
        assert!(inside_face(&cube, 4, DVec3::new(0.5, -0.25, 3.0)) == 0.5);
        assert!(inside_face(&cube, 4, DVec3::new(1.5, -0.25, 3.0)) == -0.5);
    }
}
