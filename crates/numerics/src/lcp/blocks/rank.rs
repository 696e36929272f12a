//! Rank of the equality rows: how many are linearly independent.
//!
//! J M⁻¹ Jᵀ, scaled to ones on its diagonal, is reduced by Cholesky with the largest pivot first. Rows left
//! over when no pivot exceeds rounding depend linearly on the rest: they are redundant or contradictory.

use super::problem::{BlockError, BlockProblem, EqualityRow};

/// Pivots below this are zero.
const ZERO: f64 = 1e-10;

/// Rank, and the rows that take part in a linear dependence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Number of independent equality rows.
    pub rank: usize,
    /// Rows that take part in a linear dependence, ascending: removing one of them leaves the constraints
    /// unchanged.
    pub dependent: Vec<usize>,
}

/// Equality rows of a problem ⇒ their rank and the dependent ones; O(n³) for n rows.
///
/// # Errors
/// If the problem is not well posed.
pub fn rank_of_equalities(problem: &BlockProblem) -> Result<Rank, BlockError> {
    problem.check()?;
    let equalities = &problem.equalities;
    let n = equalities.len();
    let scale: Vec<f64> = equalities
        .iter()
        .map(|equality| {
            let k = equality.compliance(&problem.blocks);
            if k > 0.0 { 1.0 / k.sqrt() } else { 0.0 }
        })
        .collect();
    let mut s = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let value = scale[i] * scale[j] * coupling(problem, &equalities[i], &equalities[j]);
            (s[i * n + j], s[j * n + i]) = (value, value);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let largest = (rank..n).max_by(|i, j| {
            let pivot = |k: usize| s[order[k] * n + order[k]];
            pivot(*i).total_cmp(&pivot(*j)).then(j.cmp(i))
        });
        let Some(place) = largest else { break };
        let pivot = s[order[place] * n + order[place]];
        if pivot <= ZERO {
            break;
        }
        order.swap(rank, place);
        let row = order[rank];
        // Schur complement; the multipliers take the place of the entries they eliminate.
        for &i in &order[rank + 1..] {
            let factor = s[i * n + row] / pivot;
            if factor != 0.0 {
                for &j in &order[rank + 1..] {
                    s[i * n + j] -= factor * s[row * n + j];
                }
            }
            s[i * n + row] = factor;
        }
        rank += 1;
    }
    Ok(Rank { rank, dependent: dependent(&s, &order, rank) })
}

/// The equality rows left over and those they are combinations of.
fn dependent(s: &[f64], order: &[usize], rank: usize) -> Vec<usize> {
    let n = order.len();
    let mut found = vec![false; n];
    for &left in &order[rank..] {
        found[left] = true;
        // Row `left` of L, times the inverse of the square part of L: weights of the independent equality
        // rows.
        let mut weights: Vec<f64> = order[..rank].iter().map(|k| s[left * n + k]).collect();
        for k in (0..rank).rev() {
            for lower in k + 1..rank {
                weights[k] -= weights[lower] * s[order[lower] * n + order[k]];
            }
            if weights[k].abs() > 1e-6 {
                found[order[k]] = true;
            }
        }
    }
    (0..n).filter(|k| found[*k]).collect()
}

/// J_i M⁻¹ J_jᵀ.
fn coupling(problem: &BlockProblem, one: &EqualityRow, other: &EqualityRow) -> f64 {
    let mut sum = 0.0;
    for (block, [linear, angular]) in one.blocks.iter().zip(&one.rows) {
        let Some(block) = block else { continue };
        for (shared, [v, w]) in other.blocks.iter().zip(&other.rows) {
            if *shared == Some(*block) {
                let [mass, inertia] = &problem.blocks[*block].inverse_mass;
                sum += linear.dot(*mass * *v) + angular.dot(*inertia * *w);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::*;
    use glam::{DMat3, DVec3};

    /// Two bodies, two parallel rows and one independent of them: rank two, and the parallel ones are
    /// reported.
    #[test]
    fn reports_dependent_rows() {
        let block = Block::rigid(1.0, DMat3::IDENTITY, DMat3::IDENTITY, DVec3::ZERO, DVec3::ZERO);
        let along = |axis: DVec3, scale: f64| EqualityRow {
            blocks: [Some(0), Some(1)],
            rows: [[scale * axis, DVec3::ZERO], [-scale * axis, DVec3::ZERO]],
            target: 0.0,
            bounds: [f64::NEG_INFINITY, f64::INFINITY],
            softness: None,
        };
        let equalities = vec![along(DVec3::X, 1.0), along(DVec3::Y, 1.0), along(DVec3::X, 3.0)];
        let problem = BlockProblem { blocks: vec![block; 2], equalities, ..BlockProblem::default() };
        assert_eq!(rank_of_equalities(&problem), Ok(Rank { rank: 2, dependent: vec![0, 2] }));
    }
}
