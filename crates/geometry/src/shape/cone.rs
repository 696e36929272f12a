//! Cones of base radius r and height h along z, the centre of mass at the origin: base at z = −h/4, apex at
//! z = 3h/4.
//!
//! V = π r² h/3, I_zz = 3/10 m r², I_xx = I_yy = 3/20 m r² + 3/80 m h².

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::radius_height::radius_and_height;

radius_and_height!(
    /// A right circular cone along z, base at z = −h/4, apex at z = 3h/4.
    Cone,
    "cone",
    "distance of the apex from the base"
);

impl Cone {
    /// Height of the base plane, −h/4.
    pub fn base(&self) -> f64 {
        -0.25 * self.height
    }

    /// Height of the apex, 3h/4.
    pub fn apex(&self) -> f64 {
        0.75 * self.height
    }

    /// π r² h/3
    pub fn volume(&self) -> f64 {
        PI * self.radius * self.radius * self.height / 3.0
    }

    /// Inertia per unit of mass about the origin.
    pub fn unit_inertia(&self) -> DMat3 {
        let (r2, h2) = (self.radius * self.radius, self.height * self.height);
        let across = 0.15 * r2 + 0.0375 * h2;
        DMat3::from_diagonal(DVec3::new(across, across, 0.3 * r2))
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        let below_apex = self.apex() - p.z;
        p.z >= self.base()
            && below_apex >= 0.0
            && p.truncate().length() * self.height <= self.radius * below_apex
    }

    /// The apex or a point of the rim, whichever is farther along the direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let rim = (self.radius * direction.truncate().normalize_or_zero()).extend(self.base());
        let apex = DVec3::Z * self.apex();
        if apex.dot(direction) > rim.dot(direction) { apex } else { rim }
    }

    /// The smallest sphere around the cone: (height of its centre, radius). It passes through apex and rim,
    /// unless the cone is so flat that the base disc alone decides.
    pub(crate) fn bounding_sphere(&self) -> (f64, f64) {
        if self.height <= self.radius {
            return (self.base(), self.radius);
        }
        let reach = 0.5 * (self.height + self.radius * (self.radius / self.height));
        (self.apex() - reach, reach)
    }
}
