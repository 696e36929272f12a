//! Cloth, by springs or as a thin sheet.
//!
//! A sheet of Young's modulus E, Poisson ratio ν and thickness t stretches with Y = E t (N/m) and bends with
//! B = E t³/(12 (1 − ν²)) (N m). Woven cloth bends much more easily than a solid sheet, so both are given by themselves.

use std::collections::HashMap;

use glam::DVec3;
use rattleback_geometry::TriangleMesh;
use serde::{Deserialize, Serialize};

use super::{Deformable, MAX_VERTICES};
use crate::DeformableError;
use crate::element::{Hinge, Membrane, SpringKind};
use crate::error::check;

/// Material of a cloth in engineering units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cloth {
    /// kg/m².
    pub areal_density: f64,
    /// Y, N/m: Young's modulus times thickness.
    pub stretch: f64,
    /// ν, in (−1, 1).
    pub poisson_ratio: f64,
    /// B, N m.
    pub bending: f64,
    /// Viscosity over elasticity, s, of stretch and bending.
    pub damping: f64,
    /// Strain from which the cloth stiffens; infinite: never.
    pub strain_limit: f64,
    /// How many times stiffer it becomes there.
    pub limit_factor: f64,
}

impl Default for Cloth {
    /// Light cotton: 0.15 kg/m², 500 N/m, 1e-5 N m.
    fn default() -> Self {
        Self {
            areal_density: 0.15,
            stretch: 500.0,
            poisson_ratio: 0.3,
            bending: 1e-5,
            damping: 1e-3,
            strain_limit: f64::INFINITY,
            limit_factor: 10.0,
        }
    }
}

impl Cloth {
    /// A sheet of a solid material: Young's modulus in Pa, thickness in m, density in kg/m³.
    #[must_use]
    pub fn sheet(young: f64, poisson_ratio: f64, thickness: f64, density: f64) -> Self {
        Self {
            areal_density: density * thickness,
            stretch: young * thickness,
            poisson_ratio,
            bending: young * thickness.powi(3) / (12.0 * (1.0 - poisson_ratio * poisson_ratio)),
            damping: 0.0,
            ..Self::default()
        }
    }

    /// The same with the damping ratio ζ at a frequency, rad/s: the time constant is 2 ζ/ω.
    #[must_use]
    pub fn with_damping_ratio(mut self, ratio: f64, frequency: f64) -> Self {
        self.damping = 2.0 * ratio / frequency;
        self
    }

    fn validate(&self) -> Result<(), DeformableError> {
        check("areal_density", self.areal_density, self.areal_density > 0.0, "> 0 kg/m²")?;
        check("stretch", self.stretch, self.stretch >= 0.0, "≥ 0 N/m")?;
        check("poisson_ratio", self.poisson_ratio, self.poisson_ratio.abs() < 1.0, "-1 to 1")?;
        check("bending", self.bending, self.bending >= 0.0, "≥ 0 N m")?;
        check("damping", self.damping, self.damping >= 0.0, "≥ 0 s")?;
        check("limit_factor", self.limit_factor, self.limit_factor >= 0.0, "≥ 0")?;
        if !(self.strain_limit > 0.0) {
            return Err(DeformableError::InvalidCoefficient {
                name: "strain_limit",
                value: self.strain_limit,
                allowed: "> 0",
            });
        }
        Ok(())
    }

    /// Vertices and triangles ⇒ cloth at rest in this shape.
    ///
    /// # Errors
    /// Indices out of range, triangles without area, coefficients out of range.
    pub fn mesh(&self, vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Deformable, DeformableError> {
        self.validate()?;
        super::check_indices(triangles, vertices.len())?;
        let (nu, y) = (self.poisson_ratio, self.stretch);
        let lame = [y * nu / (1.0 - nu * nu), y / (2.0 * (1.0 + nu))];
        let mut mass = vec![0.0; vertices.len()];
        let mut membranes = Vec::with_capacity(triangles.len());
        for (element, &t) in triangles.iter().enumerate() {
            let x = t.map(|v| vertices[v as usize]);
            let mut membrane = Membrane::new(t, &x, lame, self.damping)
                .ok_or(DeformableError::BadTopology { element, reason: "a triangle must have an area" })?;
            if self.strain_limit.is_finite() {
                membrane.strain_limit = self.strain_limit;
                membrane.limit_stiffness = self.limit_factor * y;
            }
            for v in t {
                mass[v as usize] += self.areal_density * membrane.area / 3.0;
            }
            membranes.push(membrane);
        }
        if let Some(vertex) = mass.iter().position(|&m| m == 0.0) {
            return Err(DeformableError::BadTopology {
                element: vertex,
                reason: "vertex without a triangle",
            });
        }
        let mut cloth = Deformable::from_vertices(vertices.to_vec(), mass)?;
        cloth.triangles = triangles.to_vec();
        for ([a, b], wings) in inner_edges(triangles) {
            let v = [a, b, wings[0], wings[1]];
            let x = v.map(|v| vertices[v as usize]);
            let area = membranes[wings[2] as usize].area + membranes[wings[3] as usize].area;
            let stiffness = 3.0 * self.bending * x[0].distance_squared(x[1]) / area;
            if stiffness > 0.0 {
                let rest = crate::element::rest_angle(&x);
                cloth.hinges.push(Hinge { vertices: v, stiffness, damping: stiffness * self.damping, rest });
            }
        }
        cloth.membranes = membranes;
        Ok(cloth)
    }

    /// The surface of a mesh as cloth.
    ///
    /// # Errors
    /// As [`mesh`](Self::mesh).
    pub fn surface(&self, mesh: &TriangleMesh) -> Result<Deformable, DeformableError> {
        self.mesh(mesh.vertices(), mesh.triangles())
    }

    /// nx × ny vertices in the plane z = 0 about the origin, with the distance `spacing`; vertex (i, j) has index i + nx j.
    /// Diagonals alternate.
    ///
    /// # Errors
    /// Fewer than two vertices along a side, or coefficients out of range.
    pub fn grid(&self, nx: usize, ny: usize, spacing: f64) -> Result<Deformable, DeformableError> {
        let vertices = grid_vertices(nx, ny, spacing)?;
        let mut triangles = Vec::with_capacity(2 * (nx - 1) * (ny - 1));
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let [a, b, c, d] =
                    [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(p, q)| ((i + p) + nx * (j + q)) as u32);
                if (i + j) % 2 == 0 {
                    triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    triangles.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
        self.mesh(&vertices, &triangles)
    }
}

fn grid_vertices(nx: usize, ny: usize, spacing: f64) -> Result<Vec<DVec3>, DeformableError> {
    check("spacing", spacing, spacing > 0.0, "> 0 m")?;
    if nx < 2 || ny < 2 || nx.saturating_mul(ny) > MAX_VERTICES {
        return Err(DeformableError::TooMany {
            what: "grid vertices (at least 2 × 2)",
            count: nx.saturating_mul(ny) as u64,
            limit: MAX_VERTICES as u64,
        });
    }
    let middle = 0.5 * spacing * DVec3::new((nx - 1) as f64, (ny - 1) as f64, 0.0);
    let at = |k: usize| spacing * DVec3::new((k % nx) as f64, (k / nx) as f64, 0.0) - middle;
    Ok((0..nx * ny).map(at).collect())
}

/// Edges with exactly two triangles ⇒ (edge, [wing of the first, of the second, first, second]), in the order of the triangles.
fn inner_edges(triangles: &[[u32; 3]]) -> Vec<([u32; 2], [u32; 4])> {
    let mut seen: HashMap<[u32; 2], (u32, u32, usize)> = HashMap::new();
    let mut found: Vec<([u32; 2], [u32; 4])> = Vec::new();
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for [p, q, wing] in [[a, b, c], [b, c, a], [c, a, b]] {
            let key = [p.min(q), p.max(q)];
            match seen.get(&key) {
                None => {
                    seen.insert(key, (wing, t as u32, usize::MAX));
                }
                Some(&(first, other, usize::MAX)) => {
                    seen.insert(key, (first, other, found.len()));
                    // Oriented as in the second triangle reversed: the first has it the other way round.
                    found.push(([q, p], [first, wing, other, t as u32]));
                }
                // An edge of three triangles does not bend.
                Some(_) => {}
            }
        }
    }
    found
}

/// Cloth by springs only: the mass–spring model of the textbook.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpringCloth {
    /// Mass of a vertex, kg.
    pub mass: f64,
    /// Between neighbours, N/m.
    pub stretch: f64,
    /// Along diagonals, N/m.
    pub shear: f64,
    /// Over two edges, N/m.
    pub bend: f64,
    /// k_d of all springs, N s/m.
    pub damping: f64,
}

impl SpringCloth {
    /// nx × ny vertices as [`Cloth::grid`].
    ///
    /// # Errors
    /// Fewer than two vertices along a side, or coefficients out of range.
    pub fn grid(&self, nx: usize, ny: usize, spacing: f64) -> Result<Deformable, DeformableError> {
        let vertices = grid_vertices(nx, ny, spacing)?;
        let mass = vec![self.mass; vertices.len()];
        let mut cloth = Deformable::from_vertices(vertices, mass)?;
        let index = |i: usize, j: usize| (i + nx * j) as u32;
        for j in 0..ny {
            for i in 0..nx {
                let here = index(i, j);
                let mut add = |p: usize, q: usize, kind, k: f64| {
                    if i + p < nx && j + q < ny && k > 0.0 {
                        cloth.add_spring(kind, [here, index(i + p, j + q)], k, self.damping)
                    } else {
                        Ok(())
                    }
                };
                add(1, 0, SpringKind::Structural, self.stretch)?;
                add(0, 1, SpringKind::Structural, self.stretch)?;
                add(1, 1, SpringKind::Shear, self.shear)?;
                add(2, 0, SpringKind::Bend, self.bend)?;
                add(0, 2, SpringKind::Bend, self.bend)?;
                if i + 1 < nx && j + 1 < ny {
                    if self.shear > 0.0 {
                        let ends = [index(i + 1, j), index(i, j + 1)];
                        cloth.add_spring(SpringKind::Shear, ends, self.shear, self.damping)?;
                    }
                    let [a, b, c, d] = [here, index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
                    cloth.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        Ok(cloth)
    }

    /// Springs along the edges of a mesh, and between the two vertices opposite to each inner edge.
    ///
    /// # Errors
    /// Indices or coefficients out of range.
    pub fn mesh(&self, vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Deformable, DeformableError> {
        super::check_indices(triangles, vertices.len())?;
        let mut cloth = Deformable::from_vertices(vertices.to_vec(), vec![self.mass; vertices.len()])?;
        cloth.triangles = triangles.to_vec();
        for edge in cloth.edges() {
            cloth.add_spring(SpringKind::Structural, edge, self.stretch, self.damping)?;
        }
        for (_, [a, b, ..]) in inner_edges(triangles) {
            if a != b {
                cloth.add_spring(SpringKind::Bend, [a, b], self.bend, self.damping)?;
            }
        }
        Ok(cloth)
    }
}
