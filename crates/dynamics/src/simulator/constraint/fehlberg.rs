//! Fehlberg's Runge–Kutta method of order 8 with an error of order 7, for the motion of bodies.
//!
//! With the rates kᵢ at thirteen stages, y(t + h) = y + h Σ bᵢ kᵢ, and the error is (41/840) h (k₁ + k₁₁ − k₁₂ − k₁₃). E. Fehlberg, NASA TR R-287 (1968).

use crate::motion::Motion;
use glam::{DQuat, DVec3};

/// Number of stages.
pub(super) const STAGES: usize = 13;

/// When each stage is, in parts of the step.
pub(super) const TIMES: [f64; STAGES] = [
    0.0,
    2.0 / 27.0,
    1.0 / 9.0,
    1.0 / 6.0,
    5.0 / 12.0,
    0.5,
    5.0 / 6.0,
    1.0 / 6.0,
    2.0 / 3.0,
    1.0 / 3.0,
    1.0,
    0.0,
    1.0,
];

/// Weights of earlier stages in each.
#[rustfmt::skip]
const STAGE: [[f64; 12]; STAGES] = [
    [0.0; 12],
    [2.0 / 27.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 36.0, 1.0 / 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 24.0, 0.0, 1.0 / 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [5.0 / 12.0, 0.0, -25.0 / 16.0, 25.0 / 16.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 20.0, 0.0, 0.0, 1.0 / 4.0, 1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-25.0 / 108.0, 0.0, 0.0, 125.0 / 108.0, -65.0 / 27.0, 125.0 / 54.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [31.0 / 300.0, 0.0, 0.0, 0.0, 61.0 / 225.0, -2.0 / 9.0, 13.0 / 900.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [2.0, 0.0, 0.0, -53.0 / 6.0, 704.0 / 45.0, -107.0 / 9.0, 67.0 / 90.0, 3.0, 0.0, 0.0, 0.0, 0.0],
    [-91.0 / 108.0, 0.0, 0.0, 23.0 / 108.0, -976.0 / 135.0, 311.0 / 54.0, -19.0 / 60.0, 17.0 / 6.0, -1.0 / 12.0, 0.0, 0.0, 0.0],
    [2383.0 / 4100.0, 0.0, 0.0, -341.0 / 164.0, 4496.0 / 1025.0, -301.0 / 82.0, 2133.0 / 4100.0, 45.0 / 82.0, 45.0 / 164.0, 18.0 / 41.0, 0.0, 0.0],
    [3.0 / 205.0, 0.0, 0.0, 0.0, 0.0, -6.0 / 41.0, -3.0 / 205.0, -3.0 / 41.0, 3.0 / 41.0, 6.0 / 41.0, 0.0, 0.0],
    [-1777.0 / 4100.0, 0.0, 0.0, -341.0 / 164.0, 4496.0 / 1025.0, -289.0 / 82.0, 2193.0 / 4100.0, 51.0 / 82.0, 33.0 / 164.0, 12.0 / 41.0, 0.0, 1.0],
];

/// Weights of the stages in the result.
#[rustfmt::skip]
const RESULT: [f64; STAGES] = [
    0.0, 0.0, 0.0, 0.0, 0.0, 34.0 / 105.0, 9.0 / 35.0, 9.0 / 35.0, 9.0 / 280.0, 9.0 / 280.0, 0.0, 41.0 / 840.0, 41.0 / 840.0,
];

/// How fast the state of a body changes: ẋ, q̇, v̇, ω̇.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    pub x: DVec3,
    pub q: DQuat,
    pub v: DVec3,
    pub omega: DVec3,
}

impl Rate {
    /// (state, accelerations) ⇒ rate: q̇ = ½ (0, ω) q.
    pub fn new(motion: &Motion, [v, omega]: [DVec3; 2]) -> Self {
        let w = motion.omega;
        Self { x: motion.v, q: DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * motion.q * 0.5, v, omega }
    }
}

pub(super) fn add(motion: &mut Motion, h: f64, rate: &Rate) {
    motion.x += h * rate.x;
    motion.q += rate.q * h;
    motion.v += h * rate.v;
    motion.omega += h * rate.omega;
}

/// States of the bodies at a stage, from those at the beginning and the rates of earlier stages.
pub(super) fn stage(
    start: &[Motion],
    rates: &[Vec<Rate>; STAGES],
    stage: usize,
    h: f64,
    result: &mut [Motion],
) {
    combine(start, rates, &STAGE[stage], h, result);
}

/// States at the end of the step.
pub(super) fn finish(start: &[Motion], rates: &[Vec<Rate>; STAGES], h: f64, result: &mut [Motion]) {
    combine(start, rates, &RESULT, h, result);
}

fn combine(start: &[Motion], rates: &[Vec<Rate>; STAGES], weights: &[f64], h: f64, result: &mut [Motion]) {
    result.copy_from_slice(start);
    for (weight, rates) in weights.iter().zip(rates).filter(|(weight, _)| **weight != 0.0) {
        for (motion, rate) in result.iter_mut().zip(rates) {
            add(motion, h * weight, rate);
        }
    }
}

/// Largest error of a step over all bodies: m, rad, and velocities in parts of 1 + themselves.
pub(super) fn error(start: &[Motion], rates: &[Vec<Rate>; STAGES], h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, motion) in start.iter().enumerate() {
        let [a, b, c, d] = [0, 10, 11, 12].map(|stage| &rates[stage][body]);
        let x = a.x + b.x - c.x - d.x;
        let q = a.q + b.q - c.q - d.q;
        let v = (a.v + b.v - c.v - d.v) / (1.0 + motion.v.length());
        let omega = (a.omega + b.omega - c.omega - d.omega) / (1.0 + motion.omega.length());
        let sum = x.length() + 2.0 * q.length() + v.length() + omega.length();
        // Not a number is larger than anything.
        worst = if sum <= worst { worst } else { sum };
    }
    41.0 / 840.0 * h * worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_meet_the_quadrature_conditions_of_their_order() {
        for (row, c) in STAGE.iter().zip(TIMES) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-13);
        }
        for power in 0..8 {
            let moment: f64 = RESULT.iter().zip(TIMES).map(|(b, c)| b * c.powi(power)).sum();
            assert!((moment - 1.0 / f64::from(power + 1)).abs() < 1e-14, "{power}");
        }
    }

    /// A body on a spring, x″ = −x: halving the step divides the error by 2⁸.
    #[test]
    fn converges_with_the_eighth_order() {
        let run = |steps: u32| {
            let h = 2.0 / f64::from(steps);
            let mut state = [Motion { x: DVec3::X, ..Motion::default() }];
            for _ in 0..steps {
                let mut rates: [Vec<Rate>; STAGES] = std::array::from_fn(|_| vec![Rate::default()]);
                let start = state;
                for k in 0..STAGES {
                    stage(&start, &rates, k, h, &mut state);
                    rates[k][0] = Rate::new(&state[0], [-state[0].x, DVec3::ZERO]);
                }
                finish(&start, &rates, h, &mut state);
            }
            (state[0].x.x - 2.0_f64.cos()).abs()
        };
        let ratio = run(2) / run(4);
        assert!((180.0..420.0).contains(&ratio), "{ratio}");
    }
}
