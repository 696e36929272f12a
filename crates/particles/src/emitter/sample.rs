//! Random numbers of an emitter: a nominal value with a deviation that is never exceeded.
//!
//! A normal distribution of σ = deviation/3, cut off at the deviation by rejection (1 in 370 is drawn again). The
//! standard deviation of what is left is 0.328859 deviations.

use std::f64::consts::TAU;

use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use serde::{Deserialize, Serialize};

/// A nominal value and the largest deviation from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// Nominal value.
    pub mean: f64,
    /// Largest deviation, ≥ 0.
    pub deviation: f64,
}

impl Varied {
    /// A value that does not vary.
    pub const fn fixed(mean: f64) -> Self {
        Self { mean, deviation: 0.0 }
    }

    /// mean ± deviation.
    pub const fn new(mean: f64, deviation: f64) -> Self {
        Self { mean, deviation }
    }

    /// Generator ⇒ value in [mean − deviation, mean + deviation].
    pub fn sample(&self, random: &mut Pcg64) -> f64 {
        if self.deviation == 0.0 { self.mean } else { self.mean + self.deviation * truncated_normal(random) }
    }
}

/// Uniform number in [0, 1) with 53 bits.
pub(super) fn uniform(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Normal of σ = 1/3 within [−1, 1], by Box and Muller.
fn truncated_normal(random: &mut Pcg64) -> f64 {
    loop {
        let (u, angle) = (1.0 - uniform(random), TAU * uniform(random));
        let x = (-2.0 * u.ln()).sqrt() * angle.cos() / 3.0;
        if x.abs() <= 1.0 {
            return x;
        }
    }
}

/// A unit vector turned by an angle of at most `deviation` rad, with the distribution of a `Varied`.
pub(super) fn deviated(direction: DVec3, deviation: f64, random: &mut Pcg64) -> DVec3 {
    if deviation == 0.0 {
        return direction;
    }
    let angle = Varied::new(0.0, deviation).sample(random);
    let around = TAU * uniform(random);
    let (t, k) = direction.any_orthonormal_pair();
    let across = around.cos() * t + around.sin() * k;
    (angle.cos() * direction + angle.sin() * across).normalize_or(direction)
}
