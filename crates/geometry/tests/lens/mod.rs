//! A convex shape of the user's own: the common part of two spheres, with a sharp rim.

use glam::{DVec2, DVec3};
use rattleback_geometry::SupportShape;

/// The common part of two spheres of this radius with centres at z = ±`offset`.
#[derive(Debug)]
pub struct Lens {
    pub radius: f64,
    pub offset: f64,
}

impl SupportShape for Lens {
    fn name(&self) -> &'static str {
        "lens"
    }

    fn support(&self, d: DVec3) -> DVec3 {
        // The cap opposite to the sphere's centre; where the direction points past the rim, the rim.
        let side = if d.z < 0.0 { -1.0 } else { 1.0 };
        let p = DVec3::new(0.0, 0.0, -self.offset * side) + self.radius * d;
        if p.z * side >= 0.0 {
            return p;
        }
        let rim = (self.radius * self.radius - self.offset * self.offset).sqrt();
        (rim * d.truncate().normalize_or(DVec2::X)).extend(0.0)
    }
}
