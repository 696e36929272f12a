//! Everything on one side of a plane through the origin.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::error::ShapeError;

/// The solid n·p ≤ 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct HalfSpace {
    normal: DVec3,
}

#[derive(Deserialize)]
struct Unchecked {
    normal: DVec3,
}

impl TryFrom<Unchecked> for HalfSpace {
    type Error = ShapeError;

    fn try_from(read: Unchecked) -> Result<Self, ShapeError> {
        Self::new(read.normal)
    }
}

impl HalfSpace {
    /// Outward normal, of any length but zero, ⇒ half-space.
    pub fn new(normal: DVec3) -> Result<Self, ShapeError> {
        if !normal.is_finite() {
            return Err(ShapeError::NonFinite { shape: "half_space", parameter: "normal" });
        }
        // Divided by its largest component first, so that no length overflows or vanishes.
        let scale = normal.abs().max_element();
        let no_direction = ShapeError::NoDirection { shape: "half_space", parameter: "normal" };
        if scale == 0.0 {
            return Err(no_direction);
        }
        // A vector that is already of unit length stays as it is: written and read again, it must not drift.
        if normal.is_normalized() && (normal.length() - 1.0).abs() < 4.0 * f64::EPSILON {
            return Ok(Self { normal });
        }
        Ok(Self { normal: (normal / scale).try_normalize().ok_or(no_direction)? })
    }

    /// Outward unit normal.
    pub const fn normal(&self) -> DVec3 {
        self.normal
    }

    /// Whether n·p ≤ 0.
    pub fn contains(&self, p: DVec3) -> bool {
        self.normal.dot(p) <= 0.0
    }
}
