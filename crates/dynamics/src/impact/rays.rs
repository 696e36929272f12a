//! Rays of constant sliding: directions that the sliding velocity keeps.
//!
//! They are the zeros of g(θ) (see [`Compliance`]). With t = tan(θ/2), (1 + t²)² g is the quartic
//!
//!   −(fμ + d)t⁴ − 2((a − b)μ + e)t³ + 6fμ t² + 2((a − b)μ − e)t + (d − fμ).
//!
//! θ and θ + π are the same problem with s = (e, d) reversed, so two quartics on −1 ≤ t ≤ 1 cover the circle
//! and no root lies at infinity. g has zero mean, so there are two or four rays, or, if g vanishes
//! identically (a sphere), all directions are rays. A ray diverges if h > 0. Stable sticking has no diverging
//! ray, unstable exactly one.

use super::Compliance;
use glam::DVec2;
use rattleback_numerics::polynomial::roots_in;
use std::f64::consts::{FRAC_PI_2, PI};

/// Direction of constant sliding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ray {
    /// Direction θ in (−π, π], in rad.
    pub angle: f64,
    /// h = d|u_t|/dp_z along it, in 1/kg: above 0 it diverges, below it converges to the origin.
    pub growth: f64,
}

/// All rays of a collision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rays {
    /// Every direction is a ray, as for a sphere.
    All,
    /// These, by ascending angle; entries beyond the count are zero.
    Some {
        /// The rays.
        rays: [Ray; 4],
        /// Their number.
        count: usize,
    },
}

impl Rays {
    /// The rays as a slice; empty if every direction is one.
    pub fn as_slice(&self) -> &[Ray] {
        match self {
            Self::All => &[],
            Self::Some { rays, count } => &rays[..(*count).min(4)],
        }
    }
}

/// (K, μ) ⇒ its rays of constant sliding.
pub fn rays(compliance: &Compliance, mu: f64) -> Rays {
    let (a, f, b) = (compliance.m.x_axis.x * mu, compliance.m.x_axis.y * mu, compliance.m.y_axis.y * mu);
    let DVec2 { x: e, y: d } = compliance.s;
    let size = (a - b).abs().max(f.abs()).max(e.abs()).max(d.abs());
    if size <= 8.0 * f64::EPSILON * (a + b + compliance.k) || !size.is_finite() {
        return Rays::All;
    }
    let (mut found, mut count) = ([Ray::default(); 4], 0);
    for (sign, turn) in [(1.0, 0.0), (-1.0, PI)] {
        let (e, d) = (sign * e, sign * d);
        let quartic = [d - f, 2.0 * (a - b - e), 6.0 * f, -2.0 * (a - b + e), -(f + d)];
        let Ok(roots) = roots_in(&quartic, -1.0, 1.0) else { continue };
        for t in roots.iter() {
            let angle = polished(compliance, mu, 2.0 * t.atan() + turn);
            // The same root found in both halves.
            let known = |ray: &Ray| (ray.angle - angle).sin().abs() < 1e-9 && (ray.angle - angle).cos() > 0.0;
            if count < 4 && !found[..count].iter().any(known) {
                let growth = compliance.flow(mu, DVec2::from_angle(angle)).h;
                found[count] = Ray { angle, growth };
                count += 1;
            }
        }
    }
    found[..count].sort_by(|a, b| a.angle.total_cmp(&b.angle));
    Rays::Some { rays: found, count }
}

/// Two of Newton's steps on g itself; angle brought into (−π, π].
fn polished(compliance: &Compliance, mu: f64, mut angle: f64) -> f64 {
    for _ in 0..2 {
        let flow = compliance.flow(mu, DVec2::from_angle(angle));
        let step = flow.g / flow.g_slope;
        // Not at a double root, where g and its slope vanish together.
        if step.abs() < 1e-6 * FRAC_PI_2 {
            angle -= step;
        }
    }
    let wrapped = (angle + PI).rem_euclid(2.0 * PI) - PI;
    if wrapped <= -PI { wrapped + 2.0 * PI } else { wrapped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::compliance::tests::figure;
    use glam::DMat3;

    /// N6, Fig. 3.3: rays at 147° (converging) and −71° (diverging).
    #[test]
    fn the_published_figure_has_its_published_rays() {
        let found = rays(&figure(), 0.2);
        let expected = [(-71.1126847213, 0.3200553117), (147.0010577487, -3.0521015368)];
        assert_eq!(found.as_slice().len(), 2);
        for (ray, (angle, growth)) in found.as_slice().iter().zip(expected) {
            assert!((ray.angle.to_degrees() - angle).abs() < 1e-9, "{ray:?}");
            assert!((ray.growth - growth).abs() < 1e-9, "{ray:?}");
        }
    }

    /// N6 at μ = 0.5: four converging rays, two of them on the axes.
    #[test]
    fn more_friction_makes_four_converging_rays() {
        let found = rays(&figure(), 0.5);
        let expected =
            [(-90.0, -0.5), (0.0, -3.0), (39.8553534597, -1.8625413912), (152.825030032, -5.6374586088)];
        assert_eq!(found.as_slice().len(), 4);
        for (ray, (angle, growth)) in found.as_slice().iter().zip(expected) {
            assert!((ray.angle.to_degrees() - angle).abs() < 1e-9, "{ray:?}");
            assert!((ray.growth - growth).abs() < 1e-9, "{ray:?}");
        }
    }

    #[test]
    fn a_sphere_slides_straight_in_every_direction() {
        let sphere = Compliance::new(&DMat3::from_diagonal(glam::DVec3::new(3.5, 3.5, 1.0))).expect("valid");
        assert_eq!(rays(&sphere, 0.3), Rays::All);
    }
}
