//! SplitMix64: the same numbers on every machine.

use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;

/// A generator and its state.
pub struct Random(pub u64);

impl Random {
    /// Uniform in [−1, 1).
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Uniform in the cube of side 2.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }

    /// Uniform on the unit sphere.
    pub fn on_sphere(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if (0.01..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    /// Turned by any angle about any axis, anywhere in a cube of side 2 `reach`.
    pub fn pose(&mut self, reach: f64) -> Pose {
        let turn = DQuat::from_axis_angle(self.on_sphere(), std::f64::consts::PI * self.next());
        Pose::new(turn.normalize(), reach * self.vector())
    }
}
