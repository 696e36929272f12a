//! Distance of two cylinders whose nearest points are on their rims.
//!
//! The distance of two convex bodies is the maximum of s(w) = w·c − h_A(w) − h_B(−w) over all unit vectors w,
//! c = x_B − x_A, and any w gives a lower bound. Its gradient is g(w), the vector from the support point of A
//! along w to that of B along −w, so that |g| is an upper bound, and at the maximum g = d w. On the rim of a
//! cylinder (radius r, axis a) the support point moves along the rim, b = a × w/|a × w| across its axis: h
//! has the second derivative (r/ρ) b bᵀ with ρ = |w across a|. Newton's step in the plane across w is
//!
//!   (Σ (r/ρ) b bᵀ + d 1) δw = g across w.
//!
//! From the last normal of a pair, two or three steps suffice, where a simplex search converges slowly along
//! the curved rims. It has converged when the two bounds agree: a certificate that no nearer points exist. If
//! they do not agree, the nearest points are not both on rims.

use super::tuning::{RIM_AGREEMENT, RIM_ANGLE, RIM_STEPS};
use glam::{DMat2, DVec2, DVec3};
use rattleback_geometry::{Cylinder, Pose};

/// Support of a cylinder along a direction, on its rim.
struct RimSupport {
    /// Support point, from the centre, m.
    point: DVec3,
    /// Unit tangent of the rim, times √(r/ρ).
    tangent: DVec3,
}

impl RimSupport {
    fn along(cylinder: &Cylinder, axis: DVec3, w: DVec3) -> Option<Self> {
        let height = w.dot(axis);
        let across = w - height * axis;
        let rho = across.length();
        if rho < RIM_ANGLE || height.abs() < RIM_ANGLE {
            return None;
        }
        let out = across / rho;
        let (radius, half): (f64, f64) = (cylinder.radius(), 0.5 * cylinder.height());
        Some(Self {
            point: radius * out + half.copysign(height) * axis,
            tangent: (radius / rho).sqrt() * axis.cross(out),
        })
    }
}

/// (two cylinders, their poses, a direction from the first to the second) ⇒ distance, normal and midpoint, if
/// they are apart and nearest at their rims.
pub(super) fn rim_distance(
    cylinders: [&Cylinder; 2],
    poses: [&Pose; 2],
    start: DVec3,
) -> Option<(f64, DVec3, DVec3)> {
    let [a, b] = poses.map(|pose| pose.vector(DVec3::Z));
    let c = poses[1].translation - poses[0].translation;
    let mut w = start;
    for _ in 0..RIM_STEPS {
        let (first, second) =
            (RimSupport::along(cylinders[0], a, w)?, RimSupport::along(cylinders[1], b, -w)?);
        let g = c + second.point - first.point;
        let d = g.dot(w);
        if d.is_nan() || d <= 0.0 {
            return None;
        }
        let length = g.length();
        if length - d <= RIM_AGREEMENT * length {
            let point = poses[0].translation + first.point + 0.5 * g;
            return Some((d, w, point));
        }
        let (x, y) = w.any_orthonormal_pair();
        let flat = |v: DVec3| DVec2::new(v.dot(x), v.dot(y));
        let (s, t) = (flat(first.tangent), flat(second.tangent));
        let hessian = DMat2::from_cols(s.x * s + t.x * t, s.y * s + t.y * t) + d * DMat2::IDENTITY;
        let step = hessian.inverse() * flat(g);
        w = (w + step.x * x + step.y * y).normalize_or_zero();
        if w == DVec3::ZERO || w.is_nan() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::Shape;
    use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};

    proptest! {
        /// Distances between rims agree with the general search: cylinders side by side and above each other
        /// at any tilt.
        #[test]
        fn rim_distance_agrees_with_the_general_search(
            turns in prop::array::uniform6(-3.0..3.0f64), at in prop::array::uniform3(-2.5..2.5f64),
            height in 0.05..2.0f64, nudge in prop::array::uniform3(-0.1..0.1f64),
        ) {
            let coins = [Cylinder::new(1.0, 0.2).unwrap(), Cylinder::new(0.8, height).unwrap()];
            let turn = |k: usize| DQuat::from_scaled_axis(DVec3::new(turns[k], turns[k + 1], turns[k + 2]));
            let poses = [Pose::new(turn(0), DVec3::ZERO), Pose::new(turn(3), DVec3::from_array(at))];
            let shapes = coins.map(Shape::Cylinder);
            let pieces = [0, 1].map(|k| Piece::try_from(&shapes[k]).unwrap());
            let relative = poses[0].relative(&poses[1]);
            let near = distance_pieces(&pieces[0], &pieces[1], &relative, &mut PieceCache::default()).unwrap();
            prop_assume!(near.distance > 1e-6);
            let normal = poses[0].vector(near.normal);
            let start = (normal + DVec3::from_array(nudge)).normalize();
            if let Some((distance, found, point)) = rim_distance([&coins[0], &coins[1]], [&poses[0], &poses[1]], start) {
                prop_assert!((distance - near.distance).abs() < 1e-6 * near.distance.max(1e-3), "{distance} {near:?}");
                prop_assert!((found - normal).length() < 1e-3, "{found} {normal}");
                let middle = poses[0].point(0.5 * (near.point_a + near.point_b));
                prop_assert!((point - middle).length() < 1e-3, "{point} {middle}");
            }
        }
    }

    /// Two tilted cylinders with crossed rims, against the general search.
    #[test]
    fn crossed_rims_have_the_distance_of_the_general_search() {
        let coin = Cylinder::new(1.0, 0.2).unwrap();
        // Tilted towards each other; one is also rotated about x.
        let poses = [
            Pose::new(DQuat::from_rotation_y(0.6), DVec3::ZERO),
            Pose::new(DQuat::from_rotation_x(0.5) * DQuat::from_rotation_y(-0.9), DVec3::new(1.9, 0.1, 0.3)),
        ];
        let (d, w, _) = rim_distance([&coin, &coin], [&poses[0], &poses[1]], DVec3::X).unwrap();
        let shape = Shape::Cylinder(coin);
        let piece = Piece::try_from(&shape).unwrap();
        let relative = poses[0].relative(&poses[1]);
        let near = distance_pieces(&piece, &piece, &relative, &mut PieceCache::default()).unwrap();
        assert!(
            (d - near.distance).abs() < 1e-8 && (w - poses[0].vector(near.normal)).length() < 1e-5,
            "{d} {near:?}"
        );
    }
}
