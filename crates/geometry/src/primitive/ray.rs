//! Half-lines o + t d, t ≥ 0, with d a unit vector, so that t is a distance.

use glam::{DMat3, DVec3};

use super::PrimitiveError;
use crate::Pose;

/// Origin and unit direction.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::Ray;
/// let ray = Ray::aimed(DVec3::ZERO, DVec3::new(0.0, 3.0, 4.0))?;
/// assert!(ray.at(5.0).abs_diff_eq(DVec3::new(0.0, 3.0, 4.0), 1e-15));
/// assert!(Ray::new(DVec3::ZERO, DVec3::ZERO).is_err());
/// # Ok::<(), rattleback_geometry::primitive::PrimitiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: DVec3,
    direction: DVec3,
}

impl Ray {
    /// (origin, direction of any length but zero) ⇒ ray.
    pub fn new(origin: DVec3, direction: DVec3) -> Result<Self, PrimitiveError> {
        if !(origin.is_finite() && direction.is_finite()) {
            return Err(PrimitiveError::NonFinite { what: "ray" });
        }
        let scale = direction.abs().max_element();
        if scale == 0.0 {
            return Err(PrimitiveError::NoDirection { what: "ray direction" });
        }
        // Divided by its largest component first, so that no length overflows or vanishes.
        Ok(Self { origin, direction: (direction / scale).normalize() })
    }

    /// The ray from `origin` towards `target`.
    pub fn aimed(origin: DVec3, target: DVec3) -> Result<Self, PrimitiveError> {
        Self::new(origin, target - origin)
    }

    /// Where it starts.
    pub const fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Unit vector along it.
    pub const fn direction(&self) -> DVec3 {
        self.direction
    }

    /// Point at distance t.
    #[inline]
    pub fn at(&self, t: f64) -> DVec3 {
        self.origin + t * self.direction
    }

    /// The ray moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { origin: pose.point(self.origin), direction: pose.vector(self.direction) }
    }

    /// The ray in the local frame of `pose`.
    #[must_use]
    pub fn in_frame(&self, pose: &Pose) -> Self {
        Self { origin: pose.inverse_point(self.origin), direction: pose.inverse_vector(self.direction) }
    }

    /// The ray under a linear map; distances along it are those of the image. An error if the map loses its
    /// direction.
    pub fn mapped(&self, matrix: &DMat3) -> Result<Self, PrimitiveError> {
        Self::new(*matrix * self.origin, *matrix * self.direction)
    }

    /// Distance along the ray of the point nearest to `p`.
    pub fn closest_parameter(&self, p: DVec3) -> f64 {
        (p - self.origin).dot(self.direction).max(0.0)
    }

    /// Nearest point of the ray.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        self.at(self.closest_parameter(p))
    }

    /// Distance of a point.
    pub fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.closest_point(p))
    }
}
