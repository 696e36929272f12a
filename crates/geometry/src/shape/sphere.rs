//! Spheres: V = 4/3 π r³, I = 2/5 m r².

use std::f64::consts::PI;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::error::{ShapeError, length};

/// A sphere about the origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Sphere {
    radius: f64,
}

#[derive(Deserialize)]
struct Unchecked {
    radius: f64,
}

impl TryFrom<Unchecked> for Sphere {
    type Error = ShapeError;

    fn try_from(read: Unchecked) -> Result<Self, ShapeError> {
        Self::new(read.radius)
    }
}

impl Sphere {
    /// Radius ⇒ sphere.
    pub fn new(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self { radius: length("sphere", "radius", radius)? })
    }

    /// Radius.
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    /// 4/3 π r³
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3)
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        DMat3::from_diagonal(DVec3::splat(0.4 * self.radius * self.radius))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        p.length_squared() <= self.radius * self.radius
    }

    /// The point farthest along a unit direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.radius * direction
    }
}
