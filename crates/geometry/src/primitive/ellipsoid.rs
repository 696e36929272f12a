//! The point of an ellipsoid nearest to p.
//!
//! x = (p_i s_i²/(λ + s_i²)) with Σ (x_i/s_i)² = 1 and λ > −s_min². By symmetry p_i ≥ 0. With z_i = p_i/s_i,
//! r_i = (s_i/s_min)² and u = λ/s_min² + 1 > 0 the condition reads g(u) = Σ (r_i z_i/(u + r_i − 1))² − 1 = 0.
//! g falls and is convex, g(z_min) ≥ 0 and g(Σ r_i z_i) ≤ 0, so there is one root between; Newton's method
//! from its left never passes it. A component p_min = 0 is replaced by 1e-200: u is then of that size if the
//! answer leaves the plane (Eberly 2013).

use glam::DVec3;

use super::project::PointProjection;
use crate::Ellipsoid;

pub(crate) fn project(p: DVec3, ellipsoid: &Ellipsoid) -> PointProjection {
    let s = ellipsoid.semi_axes();
    let s_min = s.min_element();
    let z = (p.abs() / s).max(DVec3::splat(1e-200));
    let ratio = s / s_min;
    let (r, excess) = (ratio * ratio, (ratio - 1.0) * (ratio + 1.0));
    let term = |u: f64| r * z / (excess + u);
    let g = |u: f64| term(u).length_squared() - 1.0;
    let thin = s.min_position();
    let (mut low, mut high) = (z[thin], (r * z).element_sum());
    for _ in 0..200 {
        if !(high > low * (1.0 + f64::EPSILON)) {
            break;
        }
        if high > 4.0 * low {
            let middle = low.sqrt() * high.sqrt();
            *(if g(middle) > 0.0 { &mut low } else { &mut high }) = middle;
            continue;
        }
        let t = term(low);
        let slope = -2.0 * (t * t / (excess + low)).element_sum();
        let next = low - g(low) / slope;
        if !(next > low) {
            break;
        }
        low = next.min(high);
    }
    let on_unit_sphere = term(low).normalize_or(DVec3::X);
    let sign = DVec3::ONE.copysign(p);
    let point = sign * s * on_unit_sphere;
    let normal = (sign * on_unit_sphere / ratio).normalize_or(DVec3::Z);
    let distance = p.distance(point);
    let inside = ellipsoid.contains(p);
    PointProjection { point, distance: if inside { -distance } else { distance }, inside, normal }
}
