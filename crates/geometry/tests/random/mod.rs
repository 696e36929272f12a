//! Seeded random numbers for tests that need many more cases than proptest should shrink.

use glam::{DQuat, DVec3};
use rattleback_geometry::{Pose, TriangleMesh, generate};

/// SplitMix64.
pub struct Random(pub u64);

#[allow(dead_code, reason = "each test file uses a part of it")]
impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub fn in_cube(&mut self) -> DVec3 {
        DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    pub fn on_sphere(&mut self) -> DVec3 {
        loop {
            let p = self.in_cube();
            if (0.01..=1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> DQuat {
        loop {
            let q = DQuat::from_array(std::array::from_fn(|_| self.between(-1.0, 1.0)));
            if (0.01..=1.0).contains(&q.length_squared()) {
                return q.normalize();
            }
        }
    }

    pub fn pose(&mut self, reach: f64) -> Pose {
        Pose::new(self.rotation(), reach * self.in_cube())
    }

    /// A closed mesh that is neither convex nor symmetric: a sphere or torus with every vertex pushed about.
    pub fn crumpled_mesh(&mut self) -> TriangleMesh {
        let mesh = if self.bits().is_multiple_of(2) {
            generate::icosphere(2).unwrap()
        } else {
            generate::torus(1.0, 0.4, 7, 5).unwrap()
        };
        let offset = 3.0 * self.in_cube();
        let vertices = mesh.vertices().iter().map(|&p| p + 0.2 * self.in_cube() + offset).collect();
        TriangleMesh::new(vertices, mesh.triangles().to_vec()).unwrap()
    }
}
