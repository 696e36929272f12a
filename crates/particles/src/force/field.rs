//! Force fields confined to a region: strength F_c at the centre, falling off towards the boundary.
//!
//! With r the vector from the centre to the point:
//!
//! * sphere: F = (1 − |r|/R) F_c,
//! * box with half sides h, in its frame: F_a = (1 − |r_a|/h_a) F_c,a (`Componentwise`), or
//!   F = Π_a (1 − |r_a|/h_a) F_c (`Product`), which vanishes on the whole boundary,
//! * polyhedron: F = (d/d_c) F_c, d the distance to the nearest face and d_c that of the centre.

use glam::DVec3;

use super::{ForceView, Region, RegionCells, UnaryForce};
use crate::ParticleError;
use crate::error::check;

/// How a field weakens from the centre of its region to the boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Falloff {
    /// It does not: F_c everywhere inside.
    None,
    /// Of a box, every component of the force by the coordinate of its own axis.
    #[default]
    Componentwise,
    /// Of a box, the whole force by the product over the axes.
    Product,
}

/// A force field in a region: wind from a fan, an updraught.
#[derive(Clone, Debug)]
pub struct FieldForce {
    region: Region,
    cells: RegionCells,
    center_force: DVec3,
    falloff: Falloff,
}

impl FieldForce {
    /// A field of the given force at the centre, N, in world axes.
    ///
    /// # Errors
    /// The force is not finite.
    pub fn new(region: Region, center_force: DVec3, falloff: Falloff) -> Result<Self, ParticleError> {
        check("force at the centre", center_force.length(), center_force.is_finite(), "finite")?;
        Ok(Self { cells: RegionCells::new(&region, 16), region, center_force, falloff })
    }

    /// Force at a point, N.
    pub fn at(&self, p: DVec3) -> DVec3 {
        if !self.cells.contains(&self.region, p) {
            return DVec3::ZERO;
        }
        if self.falloff == Falloff::None {
            return self.center_force;
        }
        match &self.region {
            Region::Sphere { center, radius } => {
                (1.0 - p.distance(*center) / radius).max(0.0) * self.center_force
            }
            Region::Cuboid { pose, half_extents } => {
                let weight = (1.0 - pose.inverse_point(p).abs() / *half_extents).max(DVec3::ZERO);
                if self.falloff == Falloff::Product {
                    weight.element_product() * self.center_force
                } else {
                    pose.vector(weight * pose.inverse_vector(self.center_force))
                }
            }
            Region::Polyhedron { center, faces, .. } => {
                let depth = |p: DVec3| faces.iter().map(|(n, d)| d - n.dot(p)).fold(f64::INFINITY, f64::min);
                let deepest = depth(*center);
                if deepest > 0.0 { depth(p).max(0.0) / deepest * self.center_force } else { DVec3::ZERO }
            }
        }
    }
}

impl UnaryForce for FieldForce {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        for (force, &p) in force.iter_mut().zip(&view.position[first..]) {
            *force += self.at(p);
        }
    }
}
