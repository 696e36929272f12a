//! The arc between two rays in which the sliding direction turns, and a coordinate in which the turn is uniform.
//!
//! Between the ray φ_a it leaves and the ray φ_b it approaches, with half-angle vectors v(φ) = (cos φ/2, sin φ/2),
//!
//!   v ∝ v_a + x v_b,   x = sin(|φ − φ_a|/2)/sin(|φ_b − φ|/2) ∈ (0, ∞),   û = v² as complex numbers,
//!
//! so the direction is rational in x, and the rays are at x = 0 and x = ∞. The turning rate g has zeros φ_a, φ_b and two
//! more; divided by the first two it is a trigonometric polynomial of degree one,
//!
//!   g = sin((φ − φ_a)/2) sin((φ − φ_b)/2) Q(φ),   Q = q₀ + q·û,
//!
//! with coefficients that follow by comparing harmonics about the middle m of the arc: with D = cos Δ, Δ = |φ_b − φ_a|/2,
//! and g = G₁c cos ψ + … + G₂c cos 2ψ + G₂s sin 2ψ, ψ = φ − m, they are A₁ = −4G₂c, B₁ = −4G₂s, q₀ = D A₁ − 2G₁c. In
//! y = ln x then
//!
//!   dη/dy = 2/(sin Δ |Q|),
//!
//! which is finite at both ends: the whole turn, singular as it looks, is smooth in y. Its only singularities are complex,
//! where (1 + 2Dx + x²)Q = Q_a + 2(q₀D + q·û(m))x + Q_b x² vanishes or 1 + 2Dx + x² does, and so the distance up to which
//! an approximation by polynomials holds is known beforehand.

use super::Compliance;
use glam::DVec2;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4, TAU};

/// sin Δ below this is left to the Taylor steps.
const NARROW: f64 = 1e-3;

/// The arc in which a direction turns, in a frame in which the direction at the start is along x.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlideArc {
    /// Half-angle vectors of the rays.
    v_a: DVec2,
    v_b: DVec2,
    /// cos Δ and sin Δ.
    cos: f64,
    sin: f64,
    /// Q = q₀ + q·û.
    q0: f64,
    q: DVec2,
    /// x at the start.
    pub x: f64,
    /// Singularities in the plane of y = ln x: real and (non-negative) imaginary part.
    pub singular: [(f64, f64); 3],
    /// M and s in this frame: (a, f, b), (e, d).
    pub m: [f64; 3],
    pub s: DVec2,
}

/// Coefficients of g in the frame of the arc.
#[derive(Clone, Copy)]
struct TurningRate {
    a: f64,
    f: f64,
    e: f64,
    d: f64,
}

impl TurningRate {
    fn at(&self, phi: f64) -> f64 {
        let (sin, cos) = phi.sin_cos();
        self.of(DVec2::new(cos, sin)).0
    }

    /// g and its slope at a direction.
    fn of(&self, u: DVec2) -> (f64, f64) {
        let Self { a, f, e, d } = *self;
        let (c2, s2) = (u.x * u.x - u.y * u.y, 2.0 * u.x * u.y);
        (0.5 * a * s2 - f * c2 + d * u.x - e * u.y, a * c2 + 2.0 * f * s2 - d * u.y - e * u.x)
    }

    /// First change of sign of g from φ = 0 in the direction `sense`, sampled on eighths of the circle.
    fn first_zero(&self, sense: f64) -> Option<f64> {
        const EIGHTHS: [(f64, f64); 7] = [
            (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
            (0.0, 1.0),
            (-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
            (-1.0, 0.0),
            (-FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
            (0.0, -1.0),
            (FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
        ];
        let start = self.of(DVec2::X).0;
        let mut before = start;
        for (n, (cos, sin)) in EIGHTHS.iter().enumerate() {
            let g = self.of(DVec2::new(*cos, sense * sin)).0;
            if g * start < 0.0 {
                let from = sense * FRAC_PI_4 * n as f64;
                let to = sense * FRAC_PI_4 * (n + 1) as f64;
                return Some(self.refine(start, [from, to], from + (to - from) * (before / (before - g))));
            }
            before = g;
        }
        None
    }

    /// The zero between φ = from, with the sign of `start`, and φ = to, from a guess.
    fn refine(&self, start: f64, [mut from, mut to]: [f64; 2], mut phi: f64) -> f64 {
        for _ in 0..60 {
            let (sin, cos) = phi.sin_cos();
            let (g, slope) = self.of(DVec2::new(cos, sin));
            if g == 0.0 {
                return phi;
            }
            if g * start > 0.0 {
                from = phi;
            } else {
                to = phi;
            }
            let newton = phi - g / slope;
            let inside = (newton - from) * (newton - to) < 0.0;
            let next = if inside { newton } else { 0.5 * (from + to) };
            // Newton's steps square the error: one this short is the last.
            if (next - phi).abs() <= if inside { 1e-9 } else { 2.0 * f64::EPSILON } * phi.abs() {
                return next;
            }
            phi = next;
        }
        phi
    }

    /// (φ_a, φ_b) ⇒ q₀, q.
    fn divided(&self, phi_a: f64, phi_b: f64) -> (f64, DVec2) {
        let middle = DVec2::from_angle(0.5 * (phi_a + phi_b));
        let (c2, s2) = (middle.x * middle.x - middle.y * middle.y, 2.0 * middle.x * middle.y);
        let a1 = -4.0 * (0.5 * self.a * s2 - self.f * c2);
        let b1 = -4.0 * (0.5 * self.a * c2 + self.f * s2);
        let g1 = self.d * middle.x - self.e * middle.y;
        let q0 = (0.5 * (phi_b - phi_a)).cos() * a1 - 2.0 * g1;
        (q0, DVec2::new(a1 * middle.x - b1 * middle.y, a1 * middle.y + b1 * middle.x))
    }
}

impl SlideArc {
    /// (K, μ, direction) ⇒ the arc it turns in; none if its rays are too close together.
    pub fn new(compliance: &Compliance, mu: f64, u_hat: DVec2) -> Option<Self> {
        let normal = u_hat.perp();
        let (m_u, m_n) = (compliance.m * u_hat, compliance.m * normal);
        let m = [m_u.dot(u_hat), m_u.dot(normal), m_n.dot(normal)];
        let s = DVec2::new(compliance.s.dot(u_hat), compliance.s.dot(normal));
        let turning = TurningRate { a: mu * (m[0] - m[2]), f: mu * m[1], e: s.x, d: s.y };
        let start = turning.at(0.0);
        let sense = start.signum();
        let (mut phi_b, mut phi_a) = (turning.first_zero(sense)?, turning.first_zero(-sense)?);
        let (mut q0, mut q) = turning.divided(phi_a, phi_b);
        if q0.abs() <= q.length() {
            // Two more rays; the samples may have missed them.
            let (centre, half) = (q.to_angle(), (-q0 / q.length()).clamp(-1.0, 1.0).acos());
            for ray in [centre - half, centre + half] {
                let ahead = (sense * ray).rem_euclid(TAU);
                if ahead < phi_b.abs() {
                    phi_b = sense * ahead;
                }
                if TAU - ahead < phi_a.abs() {
                    phi_a = sense * (ahead - TAU);
                }
            }
            (q0, q) = turning.divided(phi_a, phi_b);
        }
        Self::between(phi_a, phi_b, q0, q, m, s)
    }

    fn between(phi_a: f64, phi_b: f64, q0: f64, q: DVec2, m: [f64; 3], s: DVec2) -> Option<Self> {
        let (v_a, v_b) = (DVec2::from_angle(0.5 * phi_a), DVec2::from_angle(0.5 * phi_b));
        let (sin, cos) = (0.5 * (phi_b - phi_a).abs()).sin_cos();
        let x = (v_a.y / v_b.y).abs();
        if sin.is_nan() || sin < NARROW || !(x > 0.0 && x.is_finite()) {
            return None;
        }
        let (w_a, w_m, w_b) = (v_a.rotate(v_a), v_a.rotate(v_b), v_b.rotate(v_b));
        let (c0, c1, c2) = (q0 + q.dot(w_a), q0 * cos + q.dot(w_m), q0 + q.dot(w_b));
        // c0 + 2 c1 x + c2 x² = 0.
        let discriminant = c1 * c1 - c0 * c2;
        let [first, second] = if discriminant < 0.0 {
            let root = DVec2::new(-c1 / c2, (-discriminant).sqrt() / c2.abs());
            [root, root]
        } else {
            let sum = -c1 - discriminant.sqrt().copysign(c1);
            [DVec2::new(sum / c2, 0.0), DVec2::new(c0 / sum, 0.0)]
        };
        let logarithm = |x: DVec2| (x.length().ln(), x.to_angle());
        let singular = [logarithm(first), logarithm(second), (0.0, DVec2::new(-cos, sin).to_angle())];
        Some(Self { v_a, v_b, cos, sin, q0, q, x, singular, m, s })
    }

    /// x ⇒ û in the frame of the arc and dη/dy.
    #[inline(always)]
    pub fn at(&self, x: f64) -> (DVec2, f64) {
        let v = self.v_a + x * self.v_b;
        let square = 1.0 / (1.0 + x * (2.0 * self.cos + x));
        let u = DVec2::new((v.x - v.y) * (v.x + v.y) * square, 2.0 * v.x * v.y * square);
        (u, 2.0 / (self.sin * (self.q0 + self.q.dot(u)).abs()))
    }
}
