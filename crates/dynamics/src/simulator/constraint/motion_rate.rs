//! Explicit Runge–Kutta steps for the states of rigid bodies, with the tableaux of
//! [`rattleback_numerics::integrator::tableau`].

use crate::rigid::Motion;
use glam::{DQuat, DVec3};
use rattleback_numerics::integrator::tableau::DORMAND_PRINCE_ERROR;

/// Rate of a state: ẋ, q̇, v̇, ω̇.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MotionRate {
    pub x: DVec3,
    pub q: DQuat,
    pub v: DVec3,
    pub omega: DVec3,
}

impl MotionRate {
    /// (state, v̇ and ω̇) ⇒ rate, with q̇ = ½ (0, ω) q.
    pub fn new(motion: &Motion, [v, omega]: [DVec3; 2]) -> Self {
        let w = motion.omega;
        Self { x: motion.v, q: DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * motion.q * 0.5, v, omega }
    }
}

fn add(motion: &mut Motion, h: f64, rate: &MotionRate) {
    motion.x += h * rate.x;
    motion.q += rate.q * h;
    motion.v += h * rate.v;
    motion.omega += h * rate.omega;
}

/// result = start + h Σ weightᵢ rateᵢ, for every body; stages of weight zero are skipped, because they may
/// not be evaluated yet.
pub(super) fn combine(
    start: &[Motion],
    rates: &[Vec<MotionRate>],
    weights: &[f64],
    h: f64,
    result: &mut [Motion],
) {
    result.copy_from_slice(start);
    for (weight, rates) in weights.iter().zip(rates).filter(|(weight, _)| **weight != 0.0) {
        for (motion, rate) in result.iter_mut().zip(rates) {
            add(motion, h * weight, rate);
        }
    }
}

/// Largest local error of a step of Fehlberg's pair over all bodies: m, rad, and velocities relative to 1 +
/// their size.
pub(super) fn fehlberg_error(start: &[Motion], rates: &[Vec<MotionRate>; 13], h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, motion) in start.iter().enumerate() {
        let [a, b, c, d] = [0, 10, 11, 12].map(|stage| &rates[stage][body]);
        let x = a.x + b.x - c.x - d.x;
        let q = a.q + b.q - c.q - d.q;
        let v = (a.v + b.v - c.v - d.v) / (1.0 + motion.v.length());
        let omega = (a.omega + b.omega - c.omega - d.omega) / (1.0 + motion.omega.length());
        let sum = x.length() + 2.0 * q.length() + v.length() + omega.length();
        // NaN compares false and is kept.
        worst = if sum <= worst { worst } else { sum };
    }
    41.0 / 840.0 * h * worst
}

/// Largest local error of a step of Dormand and Prince's pair over all bodies, in the same norm.
pub(super) fn dormand_prince_error(start: &[Motion], rates: &[Vec<MotionRate>; 7], h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, motion) in start.iter().enumerate() {
        let mut sum = Motion { q: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..Motion::default() };
        for (weight, rates) in DORMAND_PRINCE_ERROR.iter().zip(rates) {
            add(&mut sum, h * weight, &rates[body]);
        }
        let velocity = sum.v.length() / (1.0 + motion.v.length());
        let turning = sum.omega.length() / (1.0 + motion.omega.length());
        let sum = sum.x.length() + 2.0 * sum.q.length() + velocity + turning;
        // NaN compares false and is kept.
        worst = if sum <= worst { worst } else { sum };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_numerics::integrator::tableau::FEHLBERG;

    /// Harmonic oscillator ẍ = −x: halving the step divides the error by 2⁸.
    #[test]
    fn fehlberg_converges_with_the_eighth_order() {
        let run = |steps: u32| {
            let h = 2.0 / f64::from(steps);
            let mut state = [Motion { x: DVec3::X, ..Motion::default() }];
            for _ in 0..steps {
                let mut rates: [Vec<MotionRate>; 13] = std::array::from_fn(|_| vec![MotionRate::default()]);
                let start = state;
                for k in 0..13 {
                    combine(&start, &rates, &FEHLBERG.a[k], h, &mut state);
                    rates[k][0] = MotionRate::new(&state[0], [-state[0].x, DVec3::ZERO]);
                }
                combine(&start, &rates, &FEHLBERG.high, h, &mut state);
            }
            (state[0].x.x - 2.0_f64.cos()).abs()
        };
        let ratio = run(2) / run(4);
        assert!((180.0..420.0).contains(&ratio), "{ratio}");
    }
}
