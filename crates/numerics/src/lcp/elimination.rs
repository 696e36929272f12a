//! Gaussian elimination with row exchanges, for small dense systems without structure.

use super::SquareMatrix;

/// A x = b ⇒ x, in place of b; false if A is singular to working precision. A is destroyed.
///
/// # Panics
/// If `b` is shorter than A has rows.
pub fn eliminate(a: &mut SquareMatrix, b: &mut [f64]) -> bool {
    let n = a.n();
    let least = 1e-14 * a.largest();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[(*i, k)].abs().total_cmp(&a[(*j, k)].abs())).unwrap_or(k);
        if a[(pivot, k)].abs() <= least || a[(pivot, k)].is_nan() {
            return false;
        }
        if pivot != k {
            for j in 0..n {
                let swapped = a[(pivot, j)];
                a[(pivot, j)] = a[(k, j)];
                a[(k, j)] = swapped;
            }
            b.swap(pivot, k);
        }
        let top = a.row(k).to_vec();
        for i in k + 1..n {
            let factor = a[(i, k)] / top[k];
            if factor == 0.0 {
                continue;
            }
            for (entry, pivot) in a.row_mut(i)[k..].iter_mut().zip(&top[k..]) {
                *entry -= factor * pivot;
            }
            b[i] -= factor * b[k];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = a.row(i)[i + 1..].iter().zip(&b[i + 1..]).map(|(a, b)| a * b).sum();
        b[i] = (b[i] - known) / a[(i, i)];
    }
    true
}
