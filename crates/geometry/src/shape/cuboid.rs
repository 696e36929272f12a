//! Boxes with half extents h: V = 8 h_x h_y h_z, I_xx = m/3 (h_y² + h_z²) and cyclic.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::error::{ShapeError, length};

/// A box about the origin with its sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Cuboid {
    half_extents: DVec3,
}

#[derive(Deserialize)]
struct Unchecked {
    half_extents: DVec3,
}

impl TryFrom<Unchecked> for Cuboid {
    type Error = ShapeError;

    fn try_from(read: Unchecked) -> Result<Self, ShapeError> {
        Self::new(read.half_extents)
    }
}

impl Cuboid {
    /// Half the side lengths ⇒ box.
    pub fn new(half_extents: DVec3) -> Result<Self, ShapeError> {
        for value in half_extents.to_array() {
            length("box", "half extent", value)?;
        }
        Ok(Self { half_extents })
    }

    /// Half the side lengths.
    pub const fn half_extents(&self) -> DVec3 {
        self.half_extents
    }

    /// 8 h_x h_y h_z
    pub fn volume(&self) -> f64 {
        8.0 * self.half_extents.element_product()
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        let s = self.half_extents * self.half_extents / 3.0;
        DMat3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        p.abs().cmple(self.half_extents).all()
    }

    /// A corner farthest along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.half_extents.copysign(direction)
    }
}
