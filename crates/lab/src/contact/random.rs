//! Random numbers of one experiment.

use glam::{DQuat, DVec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use std::f64::consts::TAU;

/// A seeded generator with the distributions that experiments draw from.
#[derive(Clone, Debug)]
pub struct Random(Pcg64);

impl Random {
    /// (seed, number of the experiment) ⇒ its generator.
    pub fn new(seed: u64, experiment: u64) -> Self {
        Self(Pcg64::new(u128::from(seed) << 64 | u128::from(experiment), u128::from(experiment)))
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// In [low, high) with uniform logarithm; both above 0.
    pub fn log_range(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    /// Uniform in 0..count.
    pub fn index(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// True with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// −1 or 1.
    pub fn sign(&mut self) -> f64 {
        if self.chance(0.5) { -1.0 } else { 1.0 }
    }

    /// Uniform in an interval of angles of one turn, rad.
    pub fn angle(&mut self) -> f64 {
        TAU * self.unit()
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> DVec3 {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.angle().sin_cos();
        let r = (1.0 - z * z).sqrt();
        DVec3::new(r * cos, r * sin, z)
    }

    /// Uniform over all rotations (Shoemake's subgroup algorithm).
    pub fn rotation(&mut self) -> DQuat {
        let u = self.unit();
        let (s, c) = ((1.0 - u).sqrt(), u.sqrt());
        let (a, b) = (self.angle(), self.angle());
        DQuat::from_xyzw(s * a.sin(), s * a.cos(), c * b.sin(), c * b.cos())
    }
}
