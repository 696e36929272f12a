//! Cylinders of radius r and height h along z: V = π r² h, I_zz = m r²/2, I_xx = I_yy = m (3r² + h²)/12.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::radius_height::radius_and_height;

radius_and_height!(
    /// A right circular cylinder along z, z ∈ [−h/2, h/2].
    Cylinder,
    "cylinder",
    "full height"
);

impl Cylinder {
    /// π r² h
    pub fn volume(&self) -> f64 {
        PI * self.radius * self.radius * self.height
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        let (r2, h2) = (self.radius * self.radius, self.height * self.height);
        let across = (3.0 * r2 + h2) / 12.0;
        DMat3::from_diagonal(DVec3::new(across, across, 0.5 * r2))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        p.z.abs() <= 0.5 * self.height && p.truncate().length_squared() <= self.radius * self.radius
    }

    /// A point farthest along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        (self.radius * direction.truncate().normalize_or_zero())
            .extend((0.5 * self.height).copysign(direction.z))
    }

    /// Half extents of the smallest axis-aligned box when the axis points along the unit vector `axis`:
    /// h/2 |aᵢ| + r √(1 − aᵢ²), the second term being the rim's reach.
    pub(crate) fn half_extents_along(&self, axis: DVec3) -> DVec3 {
        0.5 * self.height * axis.abs() + self.radius * circle_reach(axis)
    }
}

/// Reach of a unit circle about the unit vector `axis` along each coordinate axis: √(1 − aᵢ²), computed from
/// the other two components, which keeps full accuracy when the circle is seen edge-on.
pub(crate) fn circle_reach(axis: DVec3) -> DVec3 {
    DVec3::new(axis.y.hypot(axis.z), axis.z.hypot(axis.x), axis.x.hypot(axis.y))
}
