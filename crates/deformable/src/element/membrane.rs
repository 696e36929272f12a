//! In-plane elasticity of a triangle (St. Venant–Kirchhoff in plane stress).
//!
//! F = [x₁ − x₀, x₂ − x₀] D⁻¹ = [f, g] with D the edges at rest in the plane, E = ½ (FᵀF − I) the Green strain. With the stretch
//! stiffness Y = Young's modulus × thickness (N/m) and ν: λ = Y ν/(1 − ν²), μ = Y/(2 (1 + ν)),
//! ψ = μ |E − E₀|² + ½ λ tr²(E − E₀), S = ∂ψ/∂E, energy A ψ. Above a strain limit ε the larger principal strain e adds
//! ½ k_lim (e − ε)². With the gradients gᵢ of the shape functions: ∂E₁₁/∂xᵢ = gᵢ₁ f, ∂E₂₂/∂xᵢ = gᵢ₂ g, 2 ∂E₁₂/∂xᵢ = gᵢ₁ g + gᵢ₂ f, so
//! the energy has the gradient A Bᵀ S and the second derivative A [Bᵀ C B + (gᵢᵀ S gⱼ) I]. The first term is positive; the
//! projected matrix takes the positive part of S (2 × 2) in the second: compressed cloth buckles, it does not resist across.

use glam::{DMat2, DMat3, DVec2, DVec3};
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::outer;

/// A triangle that resists stretching and shearing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Membrane {
    /// Corners.
    pub vertices: [u32; 3],
    /// D⁻¹, 1/m.
    pub inverse_rest: DMat2,
    /// A, m².
    pub area: f64,
    /// λ, N/m.
    pub lambda: f64,
    /// μ, N/m.
    pub mu: f64,
    /// Time constant of damping, s: viscosity over elasticity.
    pub damping: f64,
    /// ε: principal strain beyond which the limit resists; infinite without limit.
    pub strain_limit: f64,
    /// k_lim, N/m.
    pub limit_stiffness: f64,
    /// E₀ as E₁₁, E₂₂, 2 E₁₂.
    pub prestrain: [f64; 3],
}

impl Membrane {
    /// Triangle at rest ⇒ element; none without area.
    pub fn new(vertices: [u32; 3], x: &[DVec3; 3], [lambda, mu]: [f64; 2], damping: f64) -> Option<Self> {
        let (u, v) = (x[1] - x[0], x[2] - x[0]);
        let length = u.length();
        let area = 0.5 * u.cross(v).length();
        if !(area > 1e-14 * length.max(v.length()).powi(2)) {
            return None;
        }
        let along = v.dot(u) / length;
        let rest = DMat2::from_cols(DVec2::new(length, 0.0), DVec2::new(along, 2.0 * area / length));
        Some(Self {
            vertices,
            inverse_rest: rest.inverse(),
            area,
            lambda,
            mu,
            damping,
            strain_limit: f64::INFINITY,
            limit_stiffness: 0.0,
            prestrain: [0.0; 3],
        })
    }

    #[inline(always)]
    fn deformation(&self, x: &[DVec3; 3]) -> [DVec3; 2] {
        let (u, v, d) = (x[1] - x[0], x[2] - x[0], self.inverse_rest);
        [u * d.x_axis.x + v * d.x_axis.y, u * d.y_axis.x + v * d.y_axis.y]
    }

    /// Green strain E₁₁, E₂₂, 2 E₁₂.
    pub fn strain(&self, x: &[DVec3; 3]) -> [f64; 3] {
        let [f, g] = self.deformation(x);
        [0.5 * (f.length_squared() - 1.0), 0.5 * (g.length_squared() - 1.0), f.dot(g)]
    }

    #[inline(always)]
    fn shape_gradients(&self) -> [DVec2; 3] {
        let d = self.inverse_rest;
        let (g1, g2) = (DVec2::new(d.x_axis.x, d.y_axis.x), DVec2::new(d.x_axis.y, d.y_axis.y));
        [-g1 - g2, g1, g2]
    }

    /// E ⇒ (largest principal strain, its direction n, excess over the other).
    fn principal(e: [f64; 3]) -> (f64, DVec2, f64) {
        let (mean, half, off) = (0.5 * (e[0] + e[1]), 0.5 * (e[0] - e[1]), 0.5 * e[2]);
        let radius = half.hypot(off);
        let n = DVec2::from_angle(0.5 * off.atan2(half));
        (mean + radius, n, 2.0 * radius)
    }

    /// S₁₁, S₂₂, S₁₂.
    #[inline(always)]
    fn stress(&self, e: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = [0, 1, 2].map(|k| e[k] - self.prestrain[k]);
        let trace = self.lambda * (a + b);
        let mut s = [trace + 2.0 * self.mu * a, trace + 2.0 * self.mu * b, self.mu * c];
        if self.limit_stiffness > 0.0 {
            let (largest, n, _) = Self::principal(e);
            let over = self.limit_stiffness * (largest - self.strain_limit).max(0.0);
            s[0] += over * n.x * n.x;
            s[1] += over * n.y * n.y;
            s[2] += over * n.x * n.y;
        }
        s
    }

    /// ∂S/∂(E₁₁, E₂₂, 2 E₁₂), symmetric.
    fn moduli(&self, e: [f64; 3]) -> DMat3 {
        let (l, m) = (self.lambda, self.mu);
        let mut c = DMat3::from_cols_array(&[l + 2.0 * m, l, 0.0, l, l + 2.0 * m, 0.0, 0.0, 0.0, m]);
        if self.limit_stiffness > 0.0 {
            let (largest, n, gap) = Self::principal(e);
            let over = largest - self.strain_limit;
            if over > 0.0 {
                // de = nᵀ dE n, d²e = 2 (nᵀ dE t)²/(e − e₂)
                let normal = DVec3::new(n.x * n.x, n.y * n.y, n.x * n.y);
                let shear = DVec3::new(-n.x * n.y, n.x * n.y, 0.5 * (n.x * n.x - n.y * n.y));
                c += self.limit_stiffness * outer(normal, normal);
                c += (self.limit_stiffness * over * 2.0 / gap.max(1e-9)) * outer(shear, shear);
            }
        }
        c
    }
}

/// Positive part of a symmetric 2 × 2 matrix s₁₁, s₂₂, s₁₂.
#[inline(always)]
fn positive_part([a, b, c]: [f64; 3]) -> [f64; 3] {
    let (mean, half) = (0.5 * (a + b), 0.5 * (a - b));
    let radius = (half * half + c * c).sqrt();
    let (high, low) = (mean + radius, mean - radius);
    if low >= 0.0 {
        [a, b, c]
    } else if high <= 0.0 || radius == 0.0 {
        [0.0; 3]
    } else {
        // high · n nᵀ with n nᵀ = (S − low I)/(high − low)
        let k = high / (high - low);
        [k * (a - low), k * (b - low), k * c]
    }
}

impl Element<3> for Membrane {
    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        let e = self.strain(x);
        let [a, b, c] = [0, 1, 2].map(|k| e[k] - self.prestrain[k]);
        let mut psi = self.mu * (a * a + b * b + 0.5 * c * c) + 0.5 * self.lambda * (a + b) * (a + b);
        if self.limit_stiffness > 0.0 {
            let over = (Self::principal(e).0 - self.strain_limit).max(0.0);
            psi += 0.5 * self.limit_stiffness * over * over;
        }
        self.area * psi
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        let [f, g] = self.deformation(x);
        let [a, b, c] = self.stress(self.strain(x)).map(|s| self.area * s);
        let (p, q) = (a * f + c * g, b * g + c * f);
        self.shape_gradients().map(|s| s.x * p + s.y * q)
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 3], curvature: Curvature) -> [[DMat3; 3]; 3] {
        let [f, g] = self.deformation(x);
        let e = self.strain(x);
        let mut s = self.stress(e);
        if curvature == Curvature::Projected {
            s = positive_part(s);
        }
        let shape = self.shape_gradients();
        let c = self.moduli(e) * self.area;
        // Columns of Bᵢᵀ.
        let b = shape.map(|k| DMat3::from_cols(k.x * f, k.y * g, k.x * g + k.y * f));
        let bc = b.map(|b| b * c);
        let mut h = [[DMat3::ZERO; 3]; 3];
        for i in 0..3 {
            for j in i..3 {
                let (gi, gj) = (shape[i], shape[j]);
                let k = self.area
                    * (s[0] * gi.x * gj.x + s[1] * gi.y * gj.y + s[2] * (gi.x * gj.y + gi.y * gj.x));
                h[i][j] = bc[i] * b[j].transpose() + DMat3::from_diagonal(DVec3::splat(k));
                if i != j {
                    h[j][i] = h[i][j].transpose();
                }
            }
        }
        h
    }

    fn damped(&self, x0: &[DVec3; 3], h: f64) -> Self {
        let ratio = self.damping / h;
        if !(ratio > 0.0) {
            return *self;
        }
        // ψ(E − E₀) + r ψ(E − Eₙ) = (1 + r) ψ(E − (E₀ + r Eₙ)/(1 + r)) + const.
        let now = self.strain(x0);
        let prestrain = [0, 1, 2].map(|k| (self.prestrain[k] + ratio * now[k]) / (1.0 + ratio));
        Self { lambda: self.lambda * (1.0 + ratio), mu: self.mu * (1.0 + ratio), prestrain, ..*self }
    }

    fn damping(&self, x: &[DVec3; 3]) -> Option<[[DMat3; 3]; 3]> {
        if !(self.damping > 0.0) {
            return None;
        }
        let [f, g] = self.deformation(x);
        let (l, m) = (self.lambda, self.mu);
        let c = DMat3::from_cols_array(&[l + 2.0 * m, l, 0.0, l, l + 2.0 * m, 0.0, 0.0, 0.0, m])
            * (self.area * self.damping);
        let b = self.shape_gradients().map(|k| DMat3::from_cols(k.x * f, k.y * g, k.x * g + k.y * f));
        Some(b.map(|bi| b.map(|bj| bi * c * bj.transpose())))
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
