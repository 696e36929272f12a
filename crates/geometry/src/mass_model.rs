//! Ways to get mass properties other than the exact integral.
//!
//! Sampling: a grid of N×N×N cells over the bounding box; each cell whose centre lies inside is a point mass
//! ρ·cell. The refined variant takes the cell as a little box and adds its own inertia m/12 (s_y² + s_z²) and
//! cyclic, which is exact for boxes. Surface: a point mass at each triangle's centre, proportional to its
//! area, for meshes that bound no volume; the density is then a mass per area.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::mass_properties::{check_density, parallel_axis};
use crate::{MassError, MassProperties, Pose, Shape, TriangleMesh};

/// Largest number of sampling cells along an axis.
const MAX_RESOLUTION: u32 = 256;

/// How mass properties are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MassModel {
    /// Closed form or exact polyhedron integral; density in kg/m³.
    #[default]
    Exact,
    /// Point masses, or little boxes if refined, on a grid over the bounding box; density in kg/m³.
    Sampled {
        /// Cells along each axis.
        resolution: u32,
        /// Whether a cell has an inertia of its own.
        refined: bool,
    },
    /// One point mass per triangle of the surface; density in kg/m².
    Surface {
        /// Sides of a full circle where the surface has to be tessellated.
        segments: u32,
    },
}

impl Shape {
    /// Density and model ⇒ mass properties.
    pub fn mass_properties_with(&self, density: f64, model: MassModel) -> Result<MassProperties, MassError> {
        check_density(density)?;
        match model {
            MassModel::Exact => self.mass_properties(density),
            MassModel::Sampled { resolution, refined } => self.sampled(density, resolution, refined),
            MassModel::Surface { segments } => {
                let no_surface = |_| MassError::NoVolume { shape: self.kind().name().to_owned() };
                self.surface(segments).map_err(no_surface)?.surface_mass_properties(density)
            }
        }
    }

    fn sampled(&self, density: f64, resolution: u32, refined: bool) -> Result<MassProperties, MassError> {
        if !(1..=MAX_RESOLUTION).contains(&resolution) {
            return Err(MassError::Resolution { resolution, max: MAX_RESOLUTION });
        }
        let bounds = self
            .aabb(&Pose::IDENTITY)
            .ok_or_else(|| MassError::Unbounded { shape: self.kind().name().to_owned() })?;
        let cell = bounds.extents() / resolution as f64;
        let point_mass = density * cell.element_product();
        let (mut count, mut first, mut second) = (0u32, DVec3::ZERO, DMat3::ZERO);
        for i in 0..resolution {
            for j in 0..resolution {
                for k in 0..resolution {
                    let offset =
                        cell * (DVec3::new(i as f64, j as f64, k as f64) + 0.5) - bounds.half_extents();
                    if self.contains(bounds.center() + offset) {
                        count += 1;
                        first += offset;
                        second += parallel_axis(offset);
                    }
                }
            }
        }
        if count == 0 {
            return Err(MassError::NonPositiveVolume { volume: 0.0 });
        }
        let mean = first / count as f64;
        let mut inertia = second - parallel_axis(mean) * count as f64;
        if refined {
            let s = cell * cell * (count as f64 / 12.0);
            inertia += DMat3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y));
        }
        MassProperties::new(point_mass * count as f64, bounds.center() + mean, inertia * point_mass)
    }
}

impl TriangleMesh {
    /// Mass per area ⇒ mass properties of one point mass per triangle. Works for open meshes.
    pub fn surface_mass_properties(&self, area_density: f64) -> Result<MassProperties, MassError> {
        check_density(area_density)?;
        let mut parts = Vec::with_capacity(self.triangles().len());
        for i in 0..self.triangles().len() {
            let [a, b, c] = self.triangle(i);
            let mass = area_density * self.area_vector(i).length();
            // Triangles without area have no mass.
            if mass > 0.0 {
                parts.push(MassProperties::point_mass(mass, (a + b + c) / 3.0)?);
            }
        }
        MassProperties::combine(&parts)
    }
}
