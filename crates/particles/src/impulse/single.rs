//! A single collision of two point masses.
//!
//! u = v_B − v_A in the frame (n, t, k), 1/μ = 1/m_A + 1/m_B:
//!
//!   P_n = −μ (1 + e) u_n,
//!   per tangential axis a: the impulse that stops sliding is −μ u_a; if it exceeds f_a P_n in size, the pair
//!   keeps sliding and P_a = −sign(u_a) f_a P_n.
//!
//! `Directional` friction bounds the two axes of the frame one by one, which is up to √2 too strong between them;
//! `Isotropic` friction takes t along the slip.

use glam::DVec3;
use rattleback_geometry::primitive::ContactFrame;

/// How the coefficients of two surfaces combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// (a + b)/2.
    #[default]
    Average,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// a b.
    Product,
}

impl Combine {
    /// Coefficient of a pair.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Average => f64::midpoint(a, b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Product => a * b,
        }
    }
}

/// Bounds of friction in the tangent plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrictionModel {
    /// |P_a| ≤ μ_a P_n for each axis of the contact frame.
    Directional([f64; 2]),
    /// |P_tangential| ≤ μ P_n.
    Isotropic(f64),
}

impl FrictionModel {
    /// Frame and bounds of its two axes for a relative velocity.
    pub(crate) fn frame(self, normal: DVec3, u: DVec3) -> ([DVec3; 3], [f64; 2]) {
        let fallback = || {
            ContactFrame::new(normal)
                .map_or([DVec3::Z, DVec3::Y, -DVec3::X], |f| [f.normal, f.tangent, f.binormal])
        };
        match self {
            Self::Directional(mu) => (fallback(), mu),
            Self::Isotropic(mu) => {
                let slip = u - u.dot(normal) * normal;
                match slip.try_normalize().filter(|t| t.dot(normal).abs() < 1e-6) {
                    Some(t) => ([normal, t, normal.cross(t)], [mu; 2]),
                    None => (fallback(), [mu; 2]),
                }
            }
        }
    }
}

/// Two particles at their collision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleCollision {
    /// 1/m of A and of B, kg⁻¹; 0 for a fixed one.
    pub inverse_mass: [f64; 2],
    /// Velocities of A and of B, m/s.
    pub velocity: [DVec3; 2],
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Friction.
    pub friction: FrictionModel,
}

/// Result of a single collision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleOutcome {
    /// P on B, N s.
    pub impulse: DVec3,
    /// Velocities of A and of B after it, m/s.
    pub velocity: [DVec3; 2],
}

/// Collision ⇒ impulse and velocities; none if both masses are infinite or the pair does not approach.
pub fn collide_pair(collision: &SingleCollision) -> Option<SingleOutcome> {
    let [w_a, w_b] = collision.inverse_mass;
    let [v_a, v_b] = collision.velocity;
    let u = v_b - v_a;
    if !(w_a + w_b > 0.0) || !(u.dot(collision.normal) < 0.0) {
        return None;
    }
    let mu = 1.0 / (w_a + w_b);
    let ([n, t, k], bounds) = collision.friction.frame(collision.normal, u);
    let p_n = -mu * (1.0 + collision.restitution) * u.dot(n);
    let tangential = |axis: DVec3, bound: f64| (-mu * u.dot(axis)).clamp(-bound * p_n, bound * p_n);
    let impulse = p_n * n + tangential(t, bounds[0]) * t + tangential(k, bounds[1]) * k;
    Some(SingleOutcome { impulse, velocity: [v_a - w_a * impulse, v_b + w_b * impulse] })
}
