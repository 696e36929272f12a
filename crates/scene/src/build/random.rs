//! Random differences between copies.
//!
//! Every `[[body]]` draws from a stream of its own, so that a change to one leaves the copies of the others alone.

use glam::{DQuat, DVec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use std::f64::consts::TAU;

/// (seed, stream) ⇒ generator.
pub(super) fn generator(seed: u64, stream: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed), u128::from(stream))
}

/// Uniform in [0, 1), a multiple of 2⁻⁵³.
pub(super) fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Every coordinate uniform in [−1, 1).
pub(super) fn cube(random: &mut Pcg64) -> DVec3 {
    let mut coordinate = || 2.0 * unit(random) - 1.0;
    DVec3::new(coordinate(), coordinate(), coordinate())
}

/// Uniform over all rotations (Shoemake): with u, v, w uniform in [0, 1),
/// q = (√(1−u) sin 2πv, √(1−u) cos 2πv, √u sin 2πw, √u cos 2πw).
pub(super) fn rotation(random: &mut Pcg64) -> DQuat {
    let (u, v, w) = (unit(random), TAU * unit(random), TAU * unit(random));
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    DQuat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos()).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of R over all rotations is zero, and of every squared entry 1/3.
    #[test]
    fn rotations_prefer_no_direction() {
        let mut random = generator(7, 1);
        let n = 20_000;
        let (mut mean, mut square) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..n {
            let x = rotation(&mut random) * DVec3::X;
            mean += x / f64::from(n);
            square += x * x / f64::from(n);
        }
        assert!(mean.abs().max_element() < 0.02, "{mean}");
        assert!((square - DVec3::splat(1.0 / 3.0)).abs().max_element() < 0.02, "{square}");
    }
}
