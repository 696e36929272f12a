//! Dormand and Prince's Runge–Kutta pair of order 5 with an error of order 4, for the motion of bodies.
//!
//! J. R. Dormand & P. J. Prince, *J. Comput. Appl. Math.* 6 (1980). The last stage is the first of the next step.

use super::fehlberg::{Rate, add};
use crate::motion::Motion;

/// Number of stages.
pub(super) const STAGES: usize = 7;

/// When each stage is, in parts of the step.
pub(super) const TIMES: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// Weights of earlier stages in each; the last row is the result.
#[rustfmt::skip]
const STAGE: [[f64; 6]; STAGES] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the stages in the result.
pub(super) const RESULT: [f64; 6] = STAGE[6];

/// Difference of the weights of both orders.
const ERROR: [f64; STAGES] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// States of the bodies at a stage, from those at the beginning and the rates of earlier stages.
pub(super) fn stage(
    start: &[Motion],
    rates: &[Vec<Rate>; STAGES],
    stage: usize,
    h: f64,
    result: &mut [Motion],
) {
    result.copy_from_slice(start);
    for (weight, rates) in STAGE[stage].iter().zip(rates).filter(|(weight, _)| **weight != 0.0) {
        for (motion, rate) in result.iter_mut().zip(rates) {
            add(motion, h * weight, rate);
        }
    }
}

/// Largest error of a step over all bodies: m, rad, and velocities in parts of 1 + themselves.
pub(super) fn error(start: &[Motion], rates: &[Vec<Rate>; STAGES], h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, motion) in start.iter().enumerate() {
        let mut sum = Motion { q: glam::DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..Motion::default() };
        for (weight, rates) in ERROR.iter().zip(rates) {
            add(&mut sum, h * weight, &rates[body]);
        }
        let velocity = sum.v.length() / (1.0 + motion.v.length());
        let turning = sum.omega.length() / (1.0 + motion.omega.length());
        let sum = sum.x.length() + 2.0 * sum.q.length() + velocity + turning;
        // Not a number is larger than anything.
        worst = if sum <= worst { worst } else { sum };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_meet_the_quadrature_conditions_of_their_order() {
        for (row, c) in STAGE.iter().zip(TIMES) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-13);
        }
        for power in 0..5 {
            let moment: f64 = RESULT.iter().zip(TIMES).map(|(b, c)| b * c.powi(power)).sum();
            assert!((moment - 1.0 / f64::from(power + 1)).abs() < 1e-14, "{power}");
        }
        for power in 0..4 {
            let moment: f64 = ERROR.iter().zip(TIMES).map(|(b, c)| b * c.powi(power)).sum();
            assert!(moment.abs() < 1e-14, "{power}");
        }
    }
}
