//! Ellipsoids with semi-axes s: V = 4/3 π s_x s_y s_z, I_xx = m/5 (s_y² + s_z²) and cyclic.
//!
//! An ellipsoid is the unit sphere stretched by S = diag(s). The farthest point along d is S Sd/|Sd|.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::error::{ShapeError, length};

/// An ellipsoid about the origin with its axes along the coordinate axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Ellipsoid {
    semi_axes: DVec3,
}

#[derive(Deserialize)]
struct Unchecked {
    semi_axes: DVec3,
}

impl TryFrom<Unchecked> for Ellipsoid {
    type Error = ShapeError;

    fn try_from(read: Unchecked) -> Result<Self, ShapeError> {
        Self::new(read.semi_axes)
    }
}

impl Ellipsoid {
    /// Semi-axes ⇒ ellipsoid.
    pub fn new(semi_axes: DVec3) -> Result<Self, ShapeError> {
        for value in semi_axes.to_array() {
            length("ellipsoid", "semi-axis", value)?;
        }
        Ok(Self { semi_axes })
    }

    /// Semi-axes.
    pub const fn semi_axes(&self) -> DVec3 {
        self.semi_axes
    }

    /// 4/3 π s_x s_y s_z
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.semi_axes.element_product()
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        let s = self.semi_axes * self.semi_axes / 5.0;
        DMat3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        (p / self.semi_axes).length_squared() <= 1.0
    }

    /// The point farthest along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.semi_axes * (self.semi_axes * direction).normalize_or(DVec3::X)
    }

    /// Half extents of the smallest axis-aligned box when rotated by R: the lengths of the rows of R S.
    pub(crate) fn half_extents_rotated(&self, rotation: DMat3) -> DVec3 {
        let rs = rotation * DMat3::from_diagonal(self.semi_axes);
        let rows = rs.transpose();
        DVec3::new(rows.x_axis.length(), rows.y_axis.length(), rows.z_axis.length())
    }
}
