//! Stationary distribution of a transition matrix that was counted, with its uncertainty.
//!
//! P_ij is the share of drops from pose i that end in pose j. Parts that are dropped again and again are in pose j with the probability π_j, π P = π. If
//! several sets of poses are never left, the limit depends on the first drop; then π = lim u (½ + ½ P)^n from given first poses u.
//!
//! Rows are counted independently of each other, n_i drops each. A change dP of P changes π by dπ = π dP Z with the fundamental matrix
//! Z = (1 − P + 1π)⁻¹ (Kemeny and Snell), so var π_j = Σ_i π_i²/n_i · [Σ_k P_ik Z_kj² − (Σ_k P_ik Z_kj)²]. For the variance, P has half a drop
//! more per row, spread as π, so that a pose never seen is not certain never to be.

use super::interval::normal_quantile;

/// The stationary distribution of counted transitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Stationary {
    /// π.
    pub p: Vec<f64>,
    /// Confidence interval of each; none if it is not unique.
    pub interval: Option<Vec<(f64, f64)>>,
    /// Number of sets of poses that are never left; the distribution is unique if it is 1.
    pub closed_classes: usize,
    /// P, row by row.
    pub matrix: Vec<Vec<f64>>,
}

/// (counts n_ij, first distribution u, confidence) ⇒ stationary distribution. Rows without counts stay where they are.
pub fn stationary(counts: &[Vec<f64>], first: &[f64], confidence: f64) -> Stationary {
    let k = counts.len();
    let totals: Vec<f64> = counts.iter().map(|row| row.iter().sum()).collect();
    let matrix: Vec<Vec<f64>> = (0..k)
        .map(|i| {
            let stay = |j: usize| f64::from(u8::from(i == j));
            (0..k).map(|j| if totals[i] > 0.0 { counts[i][j] / totals[i] } else { stay(j) }).collect()
        })
        .collect();
    let p = limit(&matrix, first);
    let closed_classes = closed_classes(&matrix);
    let interval = (closed_classes == 1 && totals.iter().all(|n| *n > 0.0))
        .then(|| intervals(&matrix, &p, &totals, confidence))
        .flatten();
    Stationary { p, interval, closed_classes, matrix }
}

/// lim u (½ + ½ P)^n by squaring.
fn limit(matrix: &[Vec<f64>], first: &[f64]) -> Vec<f64> {
    let k = matrix.len();
    let mut power: Vec<Vec<f64>> = (0..k)
        .map(|i| (0..k).map(|j| 0.5 * matrix[i][j] + if i == j { 0.5 } else { 0.0 }).collect())
        .collect();
    for _ in 0..48 {
        let mut square = vec![vec![0.0; k]; k];
        let mut change: f64 = 0.0;
        for i in 0..k {
            for l in 0..k {
                let factor = power[i][l];
                if factor > 0.0 {
                    for j in 0..k {
                        square[i][j] += factor * power[l][j];
                    }
                }
            }
            // Rows stay shares in spite of rounding.
            let sum: f64 = square[i].iter().sum();
            square[i].iter_mut().for_each(|x| *x /= sum);
            change = (0..k).map(|j| (square[i][j] - power[i][j]).abs()).fold(change, f64::max);
        }
        power = square;
        if change < 1e-15 {
            break;
        }
    }
    let total: f64 = first.iter().sum();
    (0..k)
        .map(|j| (0..k).map(|i| first[i] * power[i][j]).sum::<f64>() / total.max(f64::MIN_POSITIVE))
        .collect()
}

/// Number of strongly connected sets without a way out.
fn closed_classes(matrix: &[Vec<f64>]) -> usize {
    let k = matrix.len();
    let reach: Vec<Vec<bool>> = (0..k)
        .map(|from| {
            let mut seen = vec![false; k];
            let mut stack = vec![from];
            seen[from] = true;
            while let Some(i) = stack.pop() {
                for j in 0..k {
                    if matrix[i][j] > 0.0 && !seen[j] {
                        seen[j] = true;
                        stack.push(j);
                    }
                }
            }
            seen
        })
        .collect();
    // A class is closed if all that it reaches reaches back; each is counted at its first member.
    (0..k).filter(|&i| (0..k).all(|j| !reach[i][j] || reach[j][i]) && (0..i).all(|j| !reach[i][j])).count()
}

fn intervals(matrix: &[Vec<f64>], p: &[f64], totals: &[f64], confidence: f64) -> Option<Vec<(f64, f64)>> {
    let k = matrix.len();
    let smoothed: Vec<Vec<f64>> = (0..k)
        .map(|i| {
            (0..k)
                .map(|j| (matrix[i][j] * totals[i] + 0.5 * (0.5 * p[j] + 0.5 / k as f64)) / (totals[i] + 0.5))
                .collect()
        })
        .collect();
    let mut a = vec![vec![0.0; k]; k];
    for i in 0..k {
        for j in 0..k {
            a[i][j] = f64::from(u8::from(i == j)) - smoothed[i][j] + p[j];
        }
    }
    let z = inverse(a)?;
    let quantile = normal_quantile(0.5 + 0.5 * confidence);
    let interval = |j: usize| {
        let mut variance = 0.0;
        for i in 0..k {
            let mean: f64 = (0..k).map(|l| smoothed[i][l] * z[l][j]).sum();
            let square: f64 = (0..k).map(|l| smoothed[i][l] * z[l][j] * z[l][j]).sum();
            // A pose that is never reached has no weight; half a drop stands for what was not seen.
            let weight = p[i].max(0.5 * p.iter().sum::<f64>() / totals.iter().sum::<f64>());
            variance += weight * weight / totals[i] * (square - mean * mean).max(0.0);
        }
        let half = quantile * variance.sqrt();
        ((p[j] - half).max(0.0), (p[j] + half).min(1.0))
    };
    Some((0..k).map(interval).collect())
}

/// Gauss–Jordan with pivots.
fn inverse(mut a: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let k = a.len();
    let mut b: Vec<Vec<f64>> =
        (0..k).map(|i| (0..k).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for column in 0..k {
        let pivot = (column..k).max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))?;
        if a[pivot][column].abs() < 1e-12 {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        let scale = 1.0 / a[column][column];
        a[column].iter_mut().chain(&mut b[column]).for_each(|x| *x *= scale);
        for row in (0..k).filter(|row| *row != column) {
            let factor = a[row][column];
            if factor != 0.0 {
                for j in 0..k {
                    a[row][j] -= factor * a[column][j];
                    b[row][j] -= factor * b[column][j];
                }
            }
        }
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Random;

    const P: [[f64; 3]; 3] = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]];

    /// π of a 3×3 matrix by solving π P = π by hand: (17, 12, 13)/42 would be wrong if π P differed from it.
    #[test]
    fn stationary_shares_stay_under_the_matrix() {
        let counts: Vec<Vec<f64>> = P.iter().map(|row| row.iter().map(|x| 1000.0 * x).collect()).collect();
        let found = stationary(&counts, &[1.0, 0.0, 0.0], 0.95);
        assert_eq!(found.closed_classes, 1);
        for j in 0..3 {
            let next: f64 = (0..3).map(|i| found.p[i] * P[i][j]).sum();
            assert!((next - found.p[j]).abs() < 1e-12);
        }
        assert!((found.p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn poses_that_are_never_left_keep_their_first_share() {
        let counts = vec![vec![10.0, 0.0, 0.0], vec![0.0, 10.0, 0.0], vec![5.0, 5.0, 0.0]];
        let found = stationary(&counts, &[0.2, 0.4, 0.4], 0.95);
        assert_eq!((found.closed_classes, found.interval), (2, None));
        assert!((found.p[0] - 0.4).abs() < 1e-12 && (found.p[1] - 0.6).abs() < 1e-12);
    }

    #[test]
    fn intervals_cover_the_truth() {
        let mut random = Random::new(3, 3);
        let exact: Vec<Vec<f64>> = P.iter().map(|row| row.to_vec()).collect();
        let truth = stationary(&exact, &[1.0; 3], 0.95).p;
        let (runs, mut hits) = (600, 0);
        for _ in 0..runs {
            let mut counts = vec![vec![0.0; 3]; 3];
            for (row, count) in P.iter().zip(&mut counts) {
                for _ in 0..100 {
                    let x = random.unit();
                    count[if x < row[0] {
                        0
                    } else if x < row[0] + row[1] {
                        1
                    } else {
                        2
                    }] += 1.0;
                }
            }
            let found = stationary(&counts, &[1.0; 3], 0.95).interval.unwrap();
            hits += (0..3).filter(|&j| found[j].0 <= truth[j] && truth[j] <= found[j].1).count();
        }
        let share = hits as f64 / f64::from(3 * runs);
        assert!((0.93..0.975).contains(&share), "{share}");
    }
}
