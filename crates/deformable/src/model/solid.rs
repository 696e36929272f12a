//! Soft bodies of tetrahedra.
//!
//! λ = E ν/((1 + ν)(1 − 2ν)), μ = E/(2 (1 + ν)). A box or a closed surface is filled with cubes, each divided into five tetrahedra in one
//! of two mirrored ways in turn, so that faces fit; cubes belong to a surface if their middle is inside.

use std::collections::HashMap;

use glam::DVec3;
use rattleback_geometry::TriangleMesh;
use serde::{Deserialize, Serialize};

use super::{Deformable, MAX_VERTICES};
use crate::DeformableError;
use crate::element::{SpringKind, Tetrahedron};
use crate::error::check;

/// Material of a soft body in engineering units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solid {
    /// kg/m³.
    pub density: f64,
    /// E, Pa.
    pub young: f64,
    /// ν, in [0, 0.5).
    pub poisson_ratio: f64,
    /// Viscosity over elasticity, s: dampers along the edges.
    pub damping: f64,
}

impl Default for Solid {
    /// Soft rubber: 1000 kg/m³, 1e5 Pa, 0.4.
    fn default() -> Self {
        Self { density: 1000.0, young: 1e5, poisson_ratio: 0.4, damping: 1e-3 }
    }
}

/// Vertices and tetrahedra.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidMesh {
    /// Vertices, m.
    pub vertices: Vec<DVec3>,
    /// Corners of each tetrahedron, positively oriented.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// Most cubes along an axis.
const MAX_CELLS: f64 = 512.0;

impl SolidMesh {
    /// A box about the origin of nx × ny × nz cubes of a size in m along each axis.
    ///
    /// # Errors
    /// No cube or too many, or a size that is not positive.
    pub fn lattice(counts: [usize; 3], size: DVec3) -> Result<Self, DeformableError> {
        check("cell size", size.min_element(), size.min_element() > 0.0 && size.is_finite(), "> 0 m")?;
        let corner = -0.5 * size * DVec3::from_array(counts.map(|n| n as f64));
        Self::fill(counts, corner, size, |_| true)
    }

    /// Cubes of a side in m whose middle lies within a closed surface.
    ///
    /// # Errors
    /// A mesh that bounds no solid, or a side too small or too large for it.
    pub fn of_surface(mesh: &TriangleMesh, side: f64) -> Result<Self, DeformableError> {
        if let Some(error) = mesh.solid_error() {
            return Err(DeformableError::Mesh { reason: error.to_string() });
        }
        check("cell size", side, side > 0.0, "> 0 m")?;
        let bounds = mesh.bounds();
        let extent = bounds.max() - bounds.min();
        let cells = (extent / side).ceil().max(DVec3::ONE);
        check("cell size", side, cells.max_element() <= MAX_CELLS, "at least 1/512 of the extent")?;
        let corner = 0.5 * (bounds.max() + bounds.min()) - 0.5 * side * cells;
        let counts = cells.to_array().map(|n| n as usize);
        Self::fill(counts, corner, DVec3::splat(side), |p| mesh.contains(p))
    }

    fn fill(
        counts: [usize; 3],
        corner: DVec3,
        size: DVec3,
        inside: impl Fn(DVec3) -> bool,
    ) -> Result<Self, DeformableError> {
        let [nx, ny, nz] = counts;
        let all = nx.saturating_mul(ny).saturating_mul(nz);
        if all == 0 || all > MAX_VERTICES {
            return Err(DeformableError::TooMany {
                what: "cells (at least 1)",
                count: all as u64,
                limit: MAX_VERTICES as u64,
            });
        }
        let mut mesh = Self::default();
        let mut index: HashMap<[usize; 3], u32> = HashMap::new();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let at = |p: [usize; 3]| corner + size * DVec3::from_array(p.map(|n| n as f64));
                    if !inside(at([i, j, k]) + 0.5 * size) {
                        continue;
                    }
                    let c: [u32; 8] = std::array::from_fn(|n| {
                        let p = [i + (n & 1), j + (n >> 1 & 1), k + (n >> 2)];
                        *index.entry(p).or_insert_with(|| {
                            mesh.vertices.push(at(p));
                            mesh.vertices.len() as u32 - 1
                        })
                    });
                    // The inner tetrahedron joins the corners with an even, or an odd, number of ones.
                    let five = if (i + j + k) % 2 == 0 {
                        [[0, 3, 5, 6], [1, 3, 5, 0], [2, 3, 0, 6], [4, 5, 6, 0], [7, 3, 6, 5]]
                    } else {
                        [[1, 2, 4, 7], [0, 2, 4, 1], [3, 2, 1, 7], [5, 4, 7, 1], [6, 2, 7, 4]]
                    };
                    for t in five {
                        let mut t = t.map(|n| c[n]);
                        let x = t.map(|v| mesh.vertices[v as usize]);
                        if (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) < 0.0 {
                            t.swap(2, 3);
                        }
                        mesh.tetrahedra.push(t);
                    }
                }
            }
        }
        if mesh.tetrahedra.is_empty() {
            return Err(DeformableError::Mesh { reason: "no cell lies within the surface".into() });
        }
        Ok(mesh)
    }

    /// Faces that belong to one tetrahedron, outwards.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let mut seen: HashMap<[u32; 3], u32> = HashMap::new();
        let faces =
            || self.tetrahedra.iter().flat_map(|&[a, b, c, d]| [[b, c, d], [a, d, c], [a, b, d], [a, c, b]]);
        let key = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        for face in faces() {
            *seen.entry(key(face)).or_insert(0) += 1;
        }
        faces().filter(|&face| seen.get(&key(face)) == Some(&1)).collect()
    }
}

impl Solid {
    /// Tetrahedra ⇒ soft body at rest in this shape.
    ///
    /// # Errors
    /// Tetrahedra without positive volume, indices or coefficients out of range.
    pub fn mesh(&self, mesh: &SolidMesh) -> Result<Deformable, DeformableError> {
        check("density", self.density, self.density > 0.0, "> 0 kg/m³")?;
        check("young", self.young, self.young > 0.0, "> 0 Pa")?;
        check("damping", self.damping, self.damping >= 0.0, "≥ 0 s")?;
        let nu = self.poisson_ratio;
        check("poisson_ratio", nu, (0.0..0.5).contains(&nu), "0 to below 0.5")?;
        super::check_indices(&mesh.tetrahedra, mesh.vertices.len())?;
        // ν = 0 would leave no resistance to volume in the stable law.
        let lame = [self.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), self.young / (2.0 * (1.0 + nu))];
        let mut mass = vec![0.0; mesh.vertices.len()];
        let mut tetrahedra = Vec::with_capacity(mesh.tetrahedra.len());
        let mut dampers: HashMap<[u32; 2], f64> = HashMap::new();
        for (element, &t) in mesh.tetrahedra.iter().enumerate() {
            let x = t.map(|v| mesh.vertices[v as usize]);
            let tetrahedron = Tetrahedron::new(t, &x, lame).ok_or(DeformableError::BadTopology {
                element,
                reason: "a tetrahedron must have positive volume at rest",
            })?;
            for v in t {
                mass[v as usize] += 0.25 * self.density * tetrahedron.volume;
            }
            for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                // Springs along the edges of a regular tetrahedron with this modulus: k ≈ E V/(2 l²) each.
                let k = 0.5 * self.young * tetrahedron.volume / x[a].distance_squared(x[b]);
                *dampers.entry([t[a].min(t[b]), t[a].max(t[b])]).or_insert(0.0) += k * self.damping;
            }
            tetrahedra.push(tetrahedron);
        }
        if let Some(vertex) = mass.iter().position(|&m| m == 0.0) {
            return Err(DeformableError::BadTopology {
                element: vertex,
                reason: "vertex without a tetrahedron",
            });
        }
        let mut solid = Deformable::from_vertices(mesh.vertices.clone(), mass)?;
        solid.tetrahedra = tetrahedra;
        solid.triangles = mesh.surface();
        if self.damping > 0.0 {
            let mut dampers: Vec<_> = dampers.into_iter().collect();
            dampers.sort_by_key(|d| d.0);
            for (edge, damping) in dampers {
                solid.add_spring(SpringKind::Damper, edge, 0.0, damping)?;
            }
        }
        Ok(solid)
    }
}
