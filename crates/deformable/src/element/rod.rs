//! Bending of a strand at one of its points.
//!
//! Edges e = x₁ − x₀ and f = x₂ − x₁ with the angle φ between them have the curvature binormal κb = 2 e × f/(|e||f| + e·f), of
//! length 2 tan(φ/2) (Bergou et al. 2008). A rod of bending stiffness B (N m²) with the lengths |e|, |f| at rest has
//! E = ½ k (|κb| − κ₀)², k = 2 B/(|e| + |f|): a spring of rest length κ₀ in the space of κb, with the curvature of one. With the
//! Jacobian J of κb, projected: k Jᵀ [b̂ b̂ᵀ + max(0, 1 − κ₀/κ)(I − b̂ b̂ᵀ)] J. Derivatives of κb by dual numbers.

use std::array::from_fn;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::{Dual, Real, Vec3, blocks, outer, plain, variables};

/// Bending spring of a strand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RodBend {
    /// Three consecutive points.
    pub vertices: [u32; 3],
    /// k, N m.
    pub stiffness: f64,
    /// k_d, N m s.
    pub damping: f64,
    /// κ₀ = 2 tan(φ₀/2).
    pub rest: f64,
}

fn binormal<T: Real>(x: &[Vec3<T>; 3]) -> Vec3<T> {
    let (e, f) = (x[1] - x[0], x[2] - x[1]);
    e.cross(f).scaled(T::of(2.0) / (e.length() * f.length() + e.dot(f)))
}

/// Three points ⇒ |κb|.
pub(crate) fn curvature_of(x: &[DVec3; 3]) -> f64 {
    binormal(&plain(x)).length()
}

struct State {
    kappa: f64,
    /// b̂, zero if straight.
    unit: DVec3,
    /// ∂κb/∂x_i
    jacobian: [DMat3; 3],
}

impl State {
    /// κb and its Jacobian; none where they have no bound.
    fn of(x: &[DVec3; 3]) -> Option<Self> {
        let b: Vec3<Dual<f64, 9>> = binormal(&variables(&plain(x)));
        let value = DVec3::from_array(b.0.map(|c| c.a));
        let jacobian = from_fn(|i| DMat3::from_cols_array(&from_fn(|k| b.0[k % 3].d[3 * i + k / 3])));
        let finite = value.is_finite() && jacobian.iter().all(|j: &DMat3| j.is_finite());
        // Folded back onto itself |κb| has no bound; beyond 1e6 the rod counts as folded.
        (finite && value.length_squared() < 1e12).then(|| Self {
            kappa: value.length(),
            unit: value.normalize_or_zero(),
            jacobian,
        })
    }
}

impl Element<3> for RodBend {
    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        let bend = curvature_of(x).min(1e6) - self.rest;
        if bend.is_nan() { 0.0 } else { 0.5 * self.stiffness * bend * bend }
    }

    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        let Some(s) = State::of(x) else { return [DVec3::ZERO; 3] };
        s.jacobian.map(|j| j.transpose() * (self.stiffness * (s.kappa - self.rest) * s.unit))
    }

    fn hessian(&self, x: &[DVec3; 3], curvature: Curvature) -> [[DMat3; 3]; 3] {
        let Some(s) = State::of(x) else { return [[DMat3::ZERO; 3]; 3] };
        let along = outer(s.unit, s.unit);
        let mut across = if self.rest == 0.0 { 1.0 } else { 1.0 - self.rest / s.kappa.max(1e-12) };
        if curvature == Curvature::Projected {
            across = across.max(0.0);
        }
        let c = self.stiffness * (along + across * (DMat3::IDENTITY - along));
        let mut h = s.jacobian.map(|ji| s.jacobian.map(|jj| ji.transpose() * c * jj));
        if curvature == Curvature::Exact {
            let x: [Vec3<Dual<f64, 9>>; 3] = variables(&plain(x));
            let b: Vec3<Dual<Dual<f64, 9>, 9>> = binormal(&variables(&x));
            let f = self.stiffness * (s.kappa - self.rest) * s.unit;
            let second: [[DMat3; 3]; 3] = blocks(|i, j| (0..3).map(|c| f[c] * b.0[c].d[i].d[j]).sum());
            for i in 0..3 {
                for j in 0..3 {
                    h[i][j] += second[i][j];
                }
            }
        }
        h
    }

    fn damped(&self, x0: &[DVec3; 3], h: f64) -> Self {
        let viscous = self.damping / h;
        let kappa = curvature_of(x0);
        if !(viscous > 0.0) || !kappa.is_finite() {
            return *self;
        }
        let stiffness = self.stiffness + viscous;
        Self { stiffness, rest: (self.stiffness * self.rest + viscous * kappa) / stiffness, ..*self }
    }

    fn damping(&self, x: &[DVec3; 3]) -> Option<[[DMat3; 3]; 3]> {
        let s = State::of(x)?;
        let g = s.jacobian.map(|j| j.transpose() * s.unit);
        (self.damping > 0.0).then(|| g.map(|gi| g.map(|gj| outer(self.damping * gi, gj))))
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
