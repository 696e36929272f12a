//! Capsules: a segment of length h along z, thickened by r.
//!
//! Cylinder part m_c = ρ π r² h, the two half spheres together m_s = ρ 4/3 π r³. A half sphere's centre of
//! mass lies 3r/8 from its flat side, so I_zz = m_c r²/2 + m_s 2r²/5 and I_xx = m_c (3r² + h²)/12 + m_s
//! (2r²/5 + h²/4 + 3hr/8).

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::radius_height::radius_and_height;

radius_and_height!(
    /// All points within `radius` of the segment z ∈ [−h/2, h/2].
    Capsule,
    "capsule",
    "length of the segment, without the caps"
);

impl Capsule {
    /// π r² (h + 4r/3)
    pub fn volume(&self) -> f64 {
        PI * self.radius * self.radius * (self.height + 4.0 / 3.0 * self.radius)
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        let (r, h) = (self.radius, self.height);
        let caps = 4.0 / 3.0 * r / (h + 4.0 / 3.0 * r);
        let cylinder = 1.0 - caps;
        let along = cylinder * 0.5 * r * r + caps * 0.4 * r * r;
        let across =
            cylinder * (3.0 * r * r + h * h) / 12.0 + caps * (0.4 * r * r + 0.25 * h * h + 0.375 * h * r);
        DMat3::from_diagonal(DVec3::new(across, across, along))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        let half = 0.5 * self.height;
        (p - DVec3::Z * p.z.clamp(-half, half)).length_squared() <= self.radius * self.radius
    }

    /// A point farthest along a unit direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.radius * direction + DVec3::Z * (0.5 * self.height).copysign(direction.z)
    }
}
