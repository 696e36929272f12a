//! Springs between two vertices.
//!
//! d = x_j − x_i, l = |d|, d̂ = d/l. E = ½ k (l − l₀)², force on i: k (l − l₀) d̂, and
//! K_ii = k (−I + (l₀/l)(I − d̂ d̂ᵀ)) = −k [d̂ d̂ᵀ + (1 − l₀/l)(I − d̂ d̂ᵀ)], K_ij = −K_ii.
//! A compressed spring (l < l₀) has negative curvature across; the projected matrix clamps 1 − l₀/l to ≥ 0. Damping acts
//! along the spring: D_ii = −k_d d̂ d̂ᵀ. A spring shorter than 1e-12 of its rest length has no direction and no force.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::outer;

/// What a spring is for; the law is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpringKind {
    /// Along edges: resists stretching.
    Structural,
    /// Across cells: resists shearing.
    Shear,
    /// Over two edges: resists bending.
    Bend,
    /// Over three edges of a strand: resists twisting.
    Torsion,
    /// From the points of a strand to auxiliary points beside it.
    Extra,
    /// Damping only.
    Damper,
}

/// A damped spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// Its ends.
    pub vertices: [u32; 2],
    /// What it is for.
    pub kind: SpringKind,
    /// k, N/m.
    pub stiffness: f64,
    /// k_d, N s/m.
    pub damping: f64,
    /// l₀, m.
    pub rest: f64,
}

impl Spring {
    /// (l, d̂), or none without direction.
    fn direction(&self, x: &[DVec3; 2]) -> Option<(f64, DVec3)> {
        let d = x[1] - x[0];
        let l = d.length();
        (l > 1e-12 * self.rest && l > 0.0).then(|| (l, d / l))
    }
}

impl Element<2> for Spring {
    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn energy(&self, x: &[DVec3; 2]) -> f64 {
        let stretch = x[0].distance(x[1]) - self.rest;
        0.5 * self.stiffness * stretch * stretch
    }

    fn gradient(&self, x: &[DVec3; 2]) -> [DVec3; 2] {
        let Some((l, d)) = self.direction(x) else { return [DVec3::ZERO; 2] };
        let f = self.stiffness * (l - self.rest) * d;
        [-f, f]
    }

    fn hessian(&self, x: &[DVec3; 2], curvature: Curvature) -> [[DMat3; 2]; 2] {
        let Some((l, d)) = self.direction(x) else {
            // All directions resist as the axis does, so that a step leaves the singular place.
            let k = DMat3::from_diagonal(DVec3::splat(self.stiffness));
            return [[k, -k], [-k, k]];
        };
        let along = outer(d, d);
        let mut across = 1.0 - self.rest / l;
        if curvature == Curvature::Projected {
            across = across.max(0.0);
        }
        let k = self.stiffness * (along + across * (DMat3::IDENTITY - along));
        [[k, -k], [-k, k]]
    }

    fn damped(&self, x0: &[DVec3; 2], h: f64) -> Self {
        let viscous = self.damping / h;
        let stiffness = self.stiffness + viscous;
        if !(viscous > 0.0) {
            return *self;
        }
        let rest = (self.stiffness * self.rest + viscous * x0[0].distance(x0[1])) / stiffness;
        Self { stiffness, rest, ..*self }
    }

    fn damping(&self, x: &[DVec3; 2]) -> Option<[[DMat3; 2]; 2]> {
        let (_, d) = self.direction(x)?;
        (self.damping > 0.0).then(|| {
            let c = self.damping * outer(d, d);
            [[c, -c], [-c, c]]
        })
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
