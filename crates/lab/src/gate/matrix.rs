//! The stochastic matrix of a gate.

use super::kind::Gate;
use crate::contact::Random;
use serde::Serialize;

/// How a part leaves a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// In a state.
    Left(usize),
    /// Fell off the track.
    Rejected,
    /// Not in time.
    Stuck,
}

impl Passage {
    /// Column of a matrix of so many states.
    pub const fn column(self, states: usize) -> usize {
        match self {
            Self::Left(state) => state,
            Self::Rejected => states,
            Self::Stuck => states + 1,
        }
    }
}

/// Counted passages: a row for each state before the gate, a column for each state after it, then rejected and stuck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateMatrix {
    /// The gate.
    pub gate: Gate,
    /// Number of passages.
    pub counts: Vec<Vec<f64>>,
    /// Confidence interval of each share.
    pub intervals: Vec<Vec<(f64, f64)>>,
}

impl GateMatrix {
    /// Number of states.
    pub fn states(&self) -> usize {
        self.counts.len()
    }

    /// M: rows sum to 1. A state without passages stays as it is.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        let share = |(i, row): (usize, &Vec<f64>)| {
            let total: f64 = row.iter().sum();
            let stays = |j: usize| f64::from(u8::from(i == j));
            row.iter().enumerate().map(|(j, n)| if total > 0.0 { n / total } else { stays(j) }).collect()
        };
        self.counts.iter().enumerate().map(share).collect()
    }

    /// A matrix as it could be as well, given these counts: each row drawn from Dirichlet(n_ij + 1/k).
    pub fn drawn(&self, random: &mut Random) -> Vec<Vec<f64>> {
        self.counts
            .iter()
            .map(|row| {
                let prior = 1.0 / row.len() as f64;
                let draws: Vec<f64> = row.iter().map(|n| gamma(n + prior, random)).collect();
                let total: f64 = draws.iter().sum();
                draws.iter().map(|x| x / total).collect()
            })
            .collect()
    }
}

/// (shares before a gate, then rejected and stuck; its matrix) ⇒ shares behind it. What was rejected or stuck remains so.
pub fn behind(before: &[f64], matrix: &[Vec<f64>]) -> Vec<f64> {
    let states = matrix.len();
    let mut after = vec![0.0; states + 2];
    after[states..].copy_from_slice(&before[states..]);
    for (p, row) in before.iter().zip(matrix) {
        for (sum, share) in after.iter_mut().zip(row) {
            *sum += p * share;
        }
    }
    after
}

/// A number of the gamma distribution with a shape (Marsaglia and Tsang; below 1 by Γ(a) = Γ(a + 1) U^(1/a)).
fn gamma(shape: f64, random: &mut Random) -> f64 {
    if shape < 1.0 {
        let u = random.unit().max(1e-300);
        return gamma(shape + 1.0, random) * u.powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (u, v) = (1.0 - random.unit(), random.angle());
        let x = (-2.0 * u.ln()).sqrt() * v.cos();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - random.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of gamma are its shape; a Dirichlet row sums to 1.
    #[test]
    fn draws_have_their_moments() {
        let mut random = Random::new(3, 1);
        for shape in [0.2, 1.0, 7.5] {
            let n = 40_000;
            let draws: Vec<f64> = (0..n).map(|_| gamma(shape, &mut random)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean / shape - 1.0).abs() < 0.05, "{shape}: {mean}");
            assert!((variance / shape - 1.0).abs() < 0.1, "{shape}: {variance}");
        }
    }
}
