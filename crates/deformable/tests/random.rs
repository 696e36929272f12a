//! A seeded generator for samples.

use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

pub struct Random(Pcg64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 1))
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// Uniform in the cube [low, high)³.
    pub fn vector(&mut self, low: f64, high: f64) -> DVec3 {
        DVec3::new(self.range(low, high), self.range(low, high), self.range(low, high))
    }
}
