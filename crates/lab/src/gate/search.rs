//! Which gates, one after the other, deliver most parts in the wanted state.
//!
//! The state behind a gate is taken to be all that the next gate sees, so the shares behind gates 1 … n are p M₁ M₂ … M_n. Few gates are tried in every order; of many, the best
//! sequences of each length are continued (beam search). Intervals are those of matrices drawn from their Dirichlet distributions.

use super::matrix::{GateMatrix, behind};
use crate::contact::Random;
use serde::Serialize;

/// Sequences that are continued.
const BEAM: usize = 200;
/// Draws for an interval.
const DRAWS: usize = 400;

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// States that are wanted.
    pub wanted: Vec<usize>,
    /// At least this share of the parts that leave is in a wanted state; of the sequences that fulfil it, the one with the largest yield is best.
    pub purity: f64,
}

/// A sequence of gates and what it delivers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequence {
    /// Numbers of the gates.
    pub gates: Vec<usize>,
    /// Share of all parts that leave in a wanted state.
    pub delivered: f64,
    /// Its 95 % interval.
    pub delivered_interval: (f64, f64),
    /// Share of the parts that leave which are in a wanted state.
    pub purity: f64,
    /// Its 95 % interval.
    pub purity_interval: (f64, f64),
    /// Share that is rejected, and share that is stuck.
    pub lost: (f64, f64),
}

/// (shares behind the last gate, wanted states) ⇒ delivered, purity.
fn judged(shares: &[f64], wanted: &[usize]) -> (f64, f64) {
    let states = shares.len() - 2;
    let delivered: f64 = wanted.iter().filter_map(|state| shares.get(*state)).sum();
    let left: f64 = shares[..states].iter().sum();
    (delivered, if left > 0.0 { delivered / left } else { 0.0 })
}

/// (matrices, shares of states at the entry, most gates, goal, number of answers) ⇒ sequences, the best first. Those that miss the purity come last, by purity.
pub fn best_sequences(
    matrices: &[GateMatrix],
    entry: &[f64],
    most: usize,
    goal: &Goal,
    answers: usize,
) -> Vec<Sequence> {
    let shares: Vec<Vec<Vec<f64>>> = matrices.iter().map(GateMatrix::shares).collect();
    let mut first = entry.to_vec();
    first.extend([0.0, 0.0]);
    let score = |shares: &[f64]| {
        let (delivered, purity) = judged(shares, &goal.wanted);
        if purity >= goal.purity { 1.0 + delivered } else { purity * delivered.clamp(1e-9, 1.0).powf(0.1) }
    };
    let mut found: Vec<(f64, Vec<usize>)> = vec![(score(&first), Vec::new())];
    let mut front: Vec<(Vec<usize>, Vec<f64>)> = vec![(Vec::new(), first.clone())];
    for _ in 0..most {
        let mut next: Vec<(f64, Vec<usize>, Vec<f64>)> = Vec::new();
        for (gates, before) in &front {
            for (gate, matrix) in shares.iter().enumerate() {
                let after = behind(before, matrix);
                let gates: Vec<usize> = gates.iter().copied().chain([gate]).collect();
                next.push((score(&after), gates, after));
            }
        }
        next.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.extend(next.iter().take(BEAM).map(|(score, gates, _)| (*score, gates.clone())));
        next.truncate(BEAM.max(matrices.len()));
        front = next.into_iter().map(|(_, gates, shares)| (gates, shares)).collect();
    }
    // Of equal ones the shorter.
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(&b.1)));
    found.truncate(answers);
    found.into_iter().map(|(_, gates)| described(matrices, &shares, &first, goal, gates)).collect()
}

fn described(
    matrices: &[GateMatrix],
    shares: &[Vec<Vec<f64>>],
    first: &[f64],
    goal: &Goal,
    gates: Vec<usize>,
) -> Sequence {
    let last = gates.iter().fold(first.to_vec(), |before, gate| behind(&before, &shares[*gate]));
    let (delivered, purity) = judged(&last, &goal.wanted);
    let mut random = Random::new(1, 77);
    let mut draws: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..DRAWS {
        // A gate that occurs twice has the same matrix both times.
        let drawn: Vec<Option<Vec<Vec<f64>>>> = matrices
            .iter()
            .enumerate()
            .map(|(at, matrix)| gates.contains(&at).then(|| matrix.drawn(&mut random)))
            .collect();
        let last = gates.iter().fold(first.to_vec(), |before, gate| {
            drawn[*gate].as_ref().map_or_else(|| before.clone(), |matrix| behind(&before, matrix))
        });
        let (delivered, purity) = judged(&last, &goal.wanted);
        draws[0].push(delivered);
        draws[1].push(purity);
    }
    let [delivered_interval, purity_interval] = draws.map(|mut draws| {
        draws.sort_by(f64::total_cmp);
        (draws[DRAWS / 40], draws[DRAWS - 1 - DRAWS / 40])
    });
    let states = last.len() - 2;
    Sequence {
        gates,
        delivered,
        delivered_interval,
        purity,
        purity_interval,
        lost: (last[states], last[states + 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Gate;

    /// A gate that rejects state 1 and one that turns half of state 1 into state 0: by hand, turning twice and rejecting then delivers most.
    #[test]
    fn the_best_sequence_is_found_by_hand() {
        let matrix = |counts: Vec<Vec<f64>>| GateMatrix {
            gate: Gate::None,
            intervals: counts.iter().map(|row| vec![(0.0, 1.0); row.len()]).collect(),
            counts,
        };
        let turns = matrix(vec![vec![1000.0, 0.0, 0.0, 0.0], vec![500.0, 500.0, 0.0, 0.0]]);
        let rejects = matrix(vec![vec![1000.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 1000.0, 0.0]]);
        let goal = Goal { wanted: vec![0], purity: 0.99 };
        let best = best_sequences(&[turns, rejects], &[0.4, 0.6], 3, &goal, 3);
        assert_eq!(best[0].gates, [0, 0, 1]);
        assert!((best[0].delivered - 0.85).abs() < 1e-12 && best[0].purity == 1.0, "{best:?}");
        assert!((best[0].lost.0 - 0.15).abs() < 1e-12);
        let (low, high) = best[0].delivered_interval;
        assert!(low < 0.85 && 0.85 < high && high - low < 0.06, "{best:?}");
    }
}
