//! The inverse of a matrix that grows, shrinks and changes by columns.
//!
//! With friction the systems of the pivoting method are unsymmetric and columns change while rows stay, so
//! what is kept up to date is the inverse V of B itself, in O(k²) a change:
//!
//! * a row rᵀ and a column c join with corner d: s = d − rᵀVc, V ← [V + (Vc)(rᵀV)/s, −Vc/s; −rᵀV/s, 1/s];
//! * row and column p leave: V ← V − V_:p V_p: / V_pp without row and column p;
//! * column p changes by δ: V ← V − (Vδ) V_p: / (1 + (Vδ)_p).
//!
//! Errors grow with the changes; the user watches residuals and calls `rebuild`.

use super::SquareMatrix;
use super::elimination::eliminate;

/// The inverse, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Inverse {
    rows: Vec<Vec<f64>>,
}

impl Inverse {
    /// V x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| super::matrix::dot(row, x)).collect()
    }

    /// A row (its entries in the present columns), a column and their corner join; false, and nothing is
    /// changed, if s is at most `least` in size.
    pub fn border(&mut self, row: &[f64], column: &[f64], corner: f64, least: f64) -> bool {
        let right = self.times(column);
        let mut left = vec![0.0; row.len()];
        for (r, entries) in row.iter().zip(&self.rows) {
            for (l, entry) in left.iter_mut().zip(entries) {
                *l += r * entry;
            }
        }
        let s = corner - super::matrix::dot(row, &right);
        if s.abs() <= least || s.is_nan() {
            return false;
        }
        for (entries, right) in self.rows.iter_mut().zip(&right) {
            let factor = right / s;
            for (entry, left) in entries.iter_mut().zip(&left) {
                *entry += factor * left;
            }
            entries.push(-factor);
        }
        let mut last: Vec<f64> = left.iter().map(|left| -left / s).collect();
        last.push(1.0 / s);
        self.rows.push(last);
        true
    }

    /// Row and column p leave; false, and nothing is changed, if what is left has no inverse.
    pub fn remove(&mut self, p: usize) -> bool {
        let pivot = self.rows[p][p];
        let size = self.rows[p].iter().fold(0.0, |size: f64, entry| size.max(entry.abs()));
        if pivot.abs() <= 1e-13 * size || pivot.is_nan() {
            return false;
        }
        let removed = self.rows.remove(p);
        for entries in &mut self.rows {
            let factor = entries[p] / pivot;
            for (entry, other) in entries.iter_mut().zip(&removed) {
                *entry -= factor * other;
            }
            entries.remove(p);
        }
        true
    }

    /// Column p changes by δ; false, and nothing is changed, if what comes out has no inverse.
    pub fn change_column(&mut self, p: usize, delta: &[f64]) -> bool {
        let change = self.times(delta);
        let divisor = 1.0 + change[p];
        if divisor.abs() <= 1e-12 || divisor.is_nan() {
            return false;
        }
        let pivot_row = self.rows[p].clone();
        for (entries, change) in self.rows.iter_mut().zip(&change) {
            let factor = change / divisor;
            for (entry, other) in entries.iter_mut().zip(&pivot_row) {
                *entry -= factor * other;
            }
        }
        true
    }

    /// The inverse of a matrix made anew; false, and nothing is changed, if it has none.
    pub fn rebuild(&mut self, b: &SquareMatrix) -> bool {
        let n = b.n();
        let mut columns = Vec::with_capacity(n);
        for j in 0..n {
            let mut unit = vec![0.0; n];
            unit[j] = 1.0;
            if !eliminate(&mut b.clone(), &mut unit) {
                return false;
            }
            columns.push(unit);
        }
        self.rows = (0..n).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_is_identity(b: &SquareMatrix, inverse: &Inverse) {
        for j in 0..b.n() {
            let column: Vec<f64> = (0..b.n()).map(|i| b[(i, j)]).collect();
            for (i, entry) in inverse.times(&column).into_iter().enumerate() {
                assert!((entry - f64::from(i == j)).abs() < 1e-12);
            }
        }
    }

    /// After joining, leaving and changing, V B = 1.
    #[test]
    fn stays_the_inverse() {
        let entry = |i: usize, j: usize| ((3 * i + 5 * j) as f64).sin() + if i == j { 3.0 } else { 0.0 };
        let mut inverse = Inverse::default();
        for k in 0..7 {
            let row: Vec<f64> = (0..k).map(|j| entry(k, j)).collect();
            let column: Vec<f64> = (0..k).map(|i| entry(i, k)).collect();
            assert!(inverse.border(&row, &column, entry(k, k), 1e-12));
        }
        let mut b = SquareMatrix::from_fn(7, entry);
        product_is_identity(&b, &inverse);
        let delta: Vec<f64> = (0..7).map(|i| (i as f64).cos()).collect();
        assert!(inverse.change_column(2, &delta));
        for i in 0..7 {
            b[(i, 2)] += delta[i];
        }
        product_is_identity(&b, &inverse);
        assert!(inverse.remove(4));
        let keep = [0, 1, 2, 3, 5, 6];
        let small = SquareMatrix::from_fn(6, |i, j| b[(keep[i], keep[j])]);
        product_is_identity(&small, &inverse);
        let mut again = Inverse::default();
        assert!(again.rebuild(&small));
        product_is_identity(&small, &again);
        assert!(!again.rebuild(&SquareMatrix::zeros(2)));
    }
}
