//! Bending of a surface along an edge.
//!
//! Triangles (x₂, x₀, x₁) and (x₃, x₁, x₀) share the edge e = x₁ − x₀. With the area vectors a = (x₀ − x₂) × (x₁ − x₂) and
//! b = (x₁ − x₃) × (x₀ − x₃) the bending angle is θ = atan2((b × a)·ê, a·b), zero if flat, and E = ½ k (θ − θ₀)². A plate of
//! bending stiffness B (N m) has k = 3 B e²/A, A the area of both triangles (Grinspun et al. 2003). The gradient (Bridson et al.
//! 2003):
//! ∂θ/∂x₂ = |e| a/a², ∂θ/∂x₃ = |e| b/b²,
//! ∂θ/∂x₀ = ((x₂ − x₁)·ê) a/a² + ((x₃ − x₁)·ê) b/b², ∂θ/∂x₁ = −((x₂ − x₀)·ê) a/a² − ((x₃ − x₀)·ê) b/b².
//! Projected: k ∇θ ∇θᵀ. The exact matrix adds k (θ − θ₀) ∇²θ, by dual numbers.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::{Real, Vec3, blocks, outer, plain, variables};

/// A hinge between two triangles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hinge {
    /// Ends of the edge, then the corners opposite to it.
    pub vertices: [u32; 4],
    /// k, N m.
    pub stiffness: f64,
    /// k_d, N m s.
    pub damping: f64,
    /// θ₀, rad.
    pub rest: f64,
}

/// Four points ⇒ θ.
pub(crate) fn angle(x: &[DVec3; 4]) -> f64 {
    let a = (x[0] - x[2]).cross(x[1] - x[2]);
    let b = (x[1] - x[3]).cross(x[0] - x[3]);
    let e = (x[1] - x[0]).normalize_or_zero();
    b.cross(a).dot(e).atan2(a.dot(b))
}

/// Four points ⇒ ∇θ.
fn angle_gradient<T: Real>(x: &[Vec3<T>; 4]) -> [Vec3<T>; 4] {
    let a = (x[0] - x[2]).cross(x[1] - x[2]);
    let b = (x[1] - x[3]).cross(x[0] - x[3]);
    let e = x[1] - x[0];
    let length = e.length();
    let e = e.scaled(T::of(1.0) / length);
    let (a, b) = (a.scaled(T::of(1.0) / a.dot(a)), b.scaled(T::of(1.0) / b.dot(b)));
    [
        a.scaled((x[2] - x[1]).dot(e)) + b.scaled((x[3] - x[1]).dot(e)),
        a.scaled(-(x[2] - x[0]).dot(e)) + b.scaled(-(x[3] - x[0]).dot(e)),
        a.scaled(length),
        b.scaled(length),
    ]
}

impl Hinge {
    /// θ − θ₀ in (−π, π], and ∇θ; none if a triangle has no area.
    fn state(&self, x: &[DVec3; 4]) -> Option<(f64, [DVec3; 4])> {
        let a = (x[0] - x[2]).cross(x[1] - x[2]).length_squared();
        let b = (x[1] - x[3]).cross(x[0] - x[3]).length_squared();
        let size = x[0].distance_squared(x[1]);
        if !(a.min(b) > 1e-16 * size * size && size > 0.0) {
            return None;
        }
        let gradient = angle_gradient(&plain(x)).map(|v| DVec3::from_array(v.0));
        Some((wrap(angle(x) - self.rest), gradient))
    }
}

/// Angle ⇒ the same in (−π, π].
fn wrap(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        angle
    }
}

impl Element<4> for Hinge {
    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        let bend = wrap(angle(x) - self.rest);
        0.5 * self.stiffness * bend * bend
    }

    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        let Some((bend, gradient)) = self.state(x) else { return [DVec3::ZERO; 4] };
        gradient.map(|g| self.stiffness * bend * g)
    }

    fn hessian(&self, x: &[DVec3; 4], curvature: Curvature) -> [[DMat3; 4]; 4] {
        let Some((bend, g)) = self.state(x) else { return [[DMat3::ZERO; 4]; 4] };
        let mut h = g.map(|gi| g.map(|gj| outer(self.stiffness * gi, gj)));
        if curvature == Curvature::Exact {
            let second = angle_gradient(&variables::<f64, 4, 12>(&plain(x)));
            let second: [[DMat3; 4]; 4] = blocks(|i, j| second[i / 3].0[i % 3].d[j]);
            for i in 0..4 {
                for j in 0..4 {
                    h[i][j] += self.stiffness * bend * second[i][j];
                }
            }
        }
        h
    }

    fn damped(&self, x0: &[DVec3; 4], h: f64) -> Self {
        let viscous = self.damping / h;
        if !(viscous > 0.0) {
            return *self;
        }
        let stiffness = self.stiffness + viscous;
        let rest = self.rest + viscous * wrap(angle(x0) - self.rest) / stiffness;
        Self { stiffness, rest, ..*self }
    }

    fn damping(&self, x: &[DVec3; 4]) -> Option<[[DMat3; 4]; 4]> {
        let (_, g) = self.state(x)?;
        (self.damping > 0.0).then(|| g.map(|gi| g.map(|gj| outer(self.damping * gi, gj))))
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
