//! What keeps a rigid body rigid.
//!
//! A body moves by x = c + [a₁ a₂ a₃] X (Lan et al. 2022): c and the three axes are unknowns like the positions of vertices. With
//! e_ij = a_i·a_j − δ_ij the energy E = ¼ k Σ e_ij² is zero for rotations only. Gradient k Σ_j e_ij a_j; second derivative
//! k [δ_ij Σ_l a_l a_lᵀ + a_j a_iᵀ + e_ij I], whose last term the projected matrix restricts to the positive part of e.

use std::array::from_fn;

use glam::{DMat3, DVec3};
use rattleback_geometry::symmetric_eigen;
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::outer;

/// Stiffness of the axes of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// The unknowns a₁, a₂, a₃.
    pub vertices: [u32; 3],
    /// k, J.
    pub stiffness: f64,
}

fn strain(a: &[DVec3; 3]) -> DMat3 {
    let m = DMat3::from_cols(a[0], a[1], a[2]);
    m.transpose() * m - DMat3::IDENTITY
}

impl Element<3> for Affine {
    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    fn energy(&self, a: &[DVec3; 3]) -> f64 {
        let e = strain(a);
        let squares: f64 = (0..3).map(|k| e.col(k).length_squared()).sum();
        0.25 * self.stiffness * squares
    }

    fn gradient(&self, a: &[DVec3; 3]) -> [DVec3; 3] {
        let e = strain(a);
        let m = DMat3::from_cols(a[0], a[1], a[2]);
        from_fn(|i| self.stiffness * (m * e.col(i)))
    }

    fn hessian(&self, a: &[DVec3; 3], curvature: Curvature) -> [[DMat3; 3]; 3] {
        let mut e = strain(a);
        if curvature == Curvature::Projected {
            let (values, r) = symmetric_eigen(e);
            e = r * DMat3::from_diagonal(values.max(DVec3::ZERO)) * r.transpose();
        }
        let all: DMat3 = a.iter().map(|&a| outer(a, a)).fold(DMat3::ZERO, |sum, m| sum + m);
        from_fn(|i| {
            from_fn(|j| {
                let mut h = outer(a[j], a[i]) + DMat3::from_diagonal(DVec3::splat(e.col(j)[i]));
                if i == j {
                    h += all;
                }
                self.stiffness * h
            })
        })
    }

    fn damped(&self, _x0: &[DVec3; 3], _h: f64) -> Self {
        *self
    }

    fn damping(&self, _x: &[DVec3; 3]) -> Option<[[DMat3; 3]; 3]> {
        None
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
