//! Choices about contact with surfaces.

use super::ContactError;

/// Which sides of a surface that bounds no solid can be touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// Either: a sheet without thickness.
    #[default]
    Both,
    /// Only the one from which triangles run counter-clockwise.
    Front,
}

/// Choices about contact with surfaces. Solid meshes and terrain are always touched from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// Which sides of an open mesh can be touched. Default both.
    pub open_meshes: Sides,
    /// Manifolds of one piece against triangles whose normals differ by less, in radians, become one of at
    /// most four points; 0 keeps one manifold per triangle. Default one degree.
    pub merge_angle: f64,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self { open_meshes: Sides::Both, merge_angle: 1f64.to_radians() }
    }
}

impl ContactSettings {
    /// One manifold per triangle, nothing merged.
    pub fn raw() -> Self {
        Self { merge_angle: 0.0, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), ContactError> {
        if (0.0..=std::f64::consts::FRAC_PI_2).contains(&self.merge_angle) {
            return Ok(());
        }
        Err(ContactError::InvalidMergeAngle { angle: self.merge_angle })
    }
}
