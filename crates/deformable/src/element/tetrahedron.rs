//! Elasticity of a tetrahedron: stable neo-Hookean (Smith, de Goes and Kim 2018).
//!
//! F = [x₁ − x₀, x₂ − x₀, x₃ − x₀] D⁻¹, I = |F|², J = det F and
//! ψ = ½ μ (I − 3) + ½ λ (J − α)² − ½ μ ln(I + 1), α = 1 + ¾ μ/λ, at rest for F = 1 and finite for any F, inverted or flat.
//! With Lamé's parameters of the material μ_L, λ_L: μ = 4/3 μ_L, λ = λ_L + 5/6 μ_L. The force is −V ∂ψ/∂F : ∂F/∂x with
//! ∂ψ/∂F = μ (1 − 1/(I + 1)) F + λ (J − α) cof F.
//!
//! ψ depends on the singular values σ of F = U diag(σ) Vᵀ only, so that ∂²ψ/∂F² has known eigenvectors: three combinations of
//! the stretches with the matrix ∂²ψ/∂σ², and for each pair of axes a flip, (ψᵢ − ψⱼ)/(σᵢ − σⱼ) = μ (1 − 1/(I+1)) − λ (J − α) σ_k, and a
//! twist, (ψᵢ + ψⱼ)/(σᵢ + σⱼ) = μ (1 − 1/(I+1)) + λ (J − α) σ_k. The projected matrix clamps these values at zero.

use glam::{DMat3, DVec3};
use rattleback_geometry::symmetric_eigen;
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::outer;

/// A tetrahedron that resists changes of shape and volume.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tetrahedron {
    /// Corners, positively oriented at rest.
    pub vertices: [u32; 4],
    /// D⁻¹, 1/m.
    pub inverse_rest: DMat3,
    /// V, m³.
    pub volume: f64,
    /// μ, Pa.
    pub mu: f64,
    /// λ, Pa.
    pub lambda: f64,
}

/// F ⇒ (U, σ, V), rotations; σ₃ has the sign of det F.
pub(crate) fn rotations_and_stretches(f: DMat3) -> (DMat3, DVec3, DMat3) {
    let (squares, v) = symmetric_eigen(f.transpose() * f);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| squares[b].total_cmp(&squares[a]));
    let (v1, v2) = (v.col(order[0]), v.col(order[1]));
    let v = DMat3::from_cols(v1, v2, v1.cross(v2));
    let u1 = (f * v1).try_normalize().unwrap_or(v1);
    let second = f * v2;
    let across = second - u1 * second.dot(u1);
    let u2 = across.try_normalize().unwrap_or_else(|| u1.any_orthonormal_vector());
    let u = DMat3::from_cols(u1, u2, u1.cross(u2));
    let sigma =
        DVec3::new(u.x_axis.dot(f * v.x_axis), u.y_axis.dot(f * v.y_axis), u.z_axis.dot(f * v.z_axis));
    (u, sigma, v)
}

/// det F · F⁻ᵀ
fn cofactor(f: DMat3) -> DMat3 {
    DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

impl Tetrahedron {
    /// Tetrahedron at rest with Lamé's parameters, Pa ⇒ element; none if its volume is not positive.
    pub fn new(vertices: [u32; 4], x: &[DVec3; 4], lame: [f64; 2]) -> Option<Self> {
        let rest = DMat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let volume = rest.determinant() / 6.0;
        let size = (0..3).map(|k| rest.col(k).length()).fold(0.0, f64::max);
        let [lambda, mu] = lame;
        let inverse_rest = rest.inverse();
        (volume > 1e-14 * size.powi(3) && inverse_rest.is_finite()).then_some(Self {
            vertices,
            inverse_rest,
            volume,
            mu: 4.0 / 3.0 * mu,
            lambda: lambda + 5.0 / 6.0 * mu,
        })
    }

    #[inline]
    fn deformation(&self, x: &[DVec3; 4]) -> DMat3 {
        DMat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * self.inverse_rest
    }

    /// Gradients of the shape functions.
    fn shape_gradients(&self) -> [DVec3; 4] {
        let rows = self.inverse_rest.transpose();
        let [a, b, c] = [rows.x_axis, rows.y_axis, rows.z_axis];
        [-a - b - c, a, b, c]
    }

    fn alpha(&self) -> f64 {
        1.0 + 0.75 * self.mu / self.lambda
    }

    /// Current volume over that at rest.
    pub fn volume_ratio(&self, x: &[DVec3; 4]) -> f64 {
        self.deformation(x).determinant()
    }
}

impl Element<4> for Tetrahedron {
    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        let f = self.deformation(x);
        let i = f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared();
        let volumetric = f.determinant() - self.alpha();
        let at_rest = 0.5 * self.lambda * (1.0 - self.alpha()).powi(2) - 0.5 * self.mu * 4.0_f64.ln();
        let psi = 0.5 * self.mu * (i - 3.0) + 0.5 * self.lambda * volumetric * volumetric
            - 0.5 * self.mu * (i + 1.0).ln();
        self.volume * (psi - at_rest)
    }

    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        let f = self.deformation(x);
        let i = f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared();
        let pressure = self.lambda * (f.determinant() - self.alpha());
        let stress = f * (self.mu * (1.0 - 1.0 / (i + 1.0))) + cofactor(f) * pressure;
        let stress = stress * self.volume;
        self.shape_gradients().map(|g| stress * g)
    }

    fn hessian(&self, x: &[DVec3; 4], curvature: Curvature) -> [[DMat3; 4]; 4] {
        let f = self.deformation(x);
        let (u, s, v) = rotations_and_stretches(f);
        let i1 = 1.0 / (s.length_squared() + 1.0);
        let j = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let (shear, pressure) = (self.mu * (1.0 - i1), self.lambda * (s.x * j.x - self.alpha()));
        let mut stretch = outer(s, s) * (2.0 * self.mu * i1 * i1)
            + outer(j, j) * self.lambda
            + DMat3::from_diagonal(DVec3::splat(shear))
            + DMat3::from_cols(
                DVec3::new(0.0, s.z, s.y),
                DVec3::new(s.z, 0.0, s.x),
                DVec3::new(s.y, s.x, 0.0),
            ) * pressure;
        // Flip and twist of the pair of axes beside axis k.
        let mut flip = DVec3::splat(shear) - pressure * s;
        let mut twist = DVec3::splat(shear) + pressure * s;
        if curvature == Curvature::Projected {
            let (values, r) = symmetric_eigen(stretch);
            if values.min_element() < 0.0 {
                stretch = r * DMat3::from_diagonal(values.max(DVec3::ZERO)) * r.transpose();
            }
            flip = flip.max(DVec3::ZERO);
            twist = twist.max(DVec3::ZERO);
        }
        let (same, cross) = (0.5 * (flip + twist) * self.volume, 0.5 * (flip - twist) * self.volume);
        let stretch = stretch * self.volume;
        let g = self.shape_gradients().map(|g| v.transpose() * g);
        let mut h = [[DMat3::ZERO; 4]; 4];
        for a in 0..4 {
            for b in a..4 {
                let (p, q) = (g[a], g[b]);
                let diagonal = DVec3::new(
                    stretch.x_axis.x * p.x * q.x + same.z * p.y * q.y + same.y * p.z * q.z,
                    stretch.y_axis.y * p.y * q.y + same.z * p.x * q.x + same.x * p.z * q.z,
                    stretch.z_axis.z * p.z * q.z + same.y * p.x * q.x + same.x * p.y * q.y,
                );
                // Entry (row, column) of the pair of axes beside k.
                let entry =
                    |r: usize, c: usize, k: usize| stretch.col(c)[r] * p[r] * q[c] + cross[k] * p[c] * q[r];
                let m = DMat3::from_cols(
                    DVec3::new(diagonal.x, entry(1, 0, 2), entry(2, 0, 1)),
                    DVec3::new(entry(0, 1, 2), diagonal.y, entry(2, 1, 0)),
                    DVec3::new(entry(0, 2, 1), entry(1, 2, 0), diagonal.z),
                );
                h[a][b] = u * m * u.transpose();
                if a != b {
                    h[b][a] = h[a][b].transpose();
                }
            }
        }
        h
    }

    fn damped(&self, _x0: &[DVec3; 4], _h: f64) -> Self {
        *self
    }

    fn damping(&self, _x: &[DVec3; 4]) -> Option<[[DMat3; 4]; 4]> {
        None
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
