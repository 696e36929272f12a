//! A Cholesky factorisation that grows and shrinks row by row.
//!
//! For a chosen set S of rows of a symmetric positive semidefinite A, A_SS = L D Lᵀ with unit lower
//! triangular L. A row joins at the end: with L y = A_Sm, the new row of L is D⁻¹y and the new pivot d = A_mm
//! − yᵀD⁻¹y. (d is what the row still has to itself when all rows of S are held: 0 if it depends on them.)
//! The row in place p leaves: with l the column of L below it, the block behind it becomes L₃D₃L₃ᵀ + d_p l
//! lᵀ, a rank-one update with a positive weight, which is stable (Gill, Golub, Murray & Saunders 1974). Both
//! take O(|S|²).

use super::SquareMatrix;
use super::matrix::dot;

/// L D Lᵀ of some rows of a matrix, in the order in which they joined.
#[derive(Clone, Debug, Default)]
pub(super) struct Ldlt {
    rows: Vec<usize>,
    /// Row i of L, without its last 1, has i entries.
    lower: Vec<Vec<f64>>,
    pivots: Vec<f64>,
}

impl Ldlt {
    /// The rows, in order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Row m joins, unless its pivot is at most `least` ⇒ whether it did.
    pub fn append(&mut self, a: &SquareMatrix, m: usize, least: f64) -> bool {
        let mut row: Vec<f64> = self.rows.iter().map(|j| a[(m, *j)]).collect();
        self.forward(&mut row);
        let mut pivot = a[(m, m)];
        for (y, d) in row.iter_mut().zip(&self.pivots) {
            let l = *y / d;
            pivot -= l * *y;
            *y = l;
        }
        if pivot <= least || pivot.is_nan() {
            return false;
        }
        self.rows.push(m);
        self.lower.push(row);
        self.pivots.push(pivot);
        true
    }

    /// The row in a place leaves.
    pub fn remove(&mut self, place: usize) {
        self.rows.remove(place);
        self.lower.remove(place);
        let mut weight = self.pivots.remove(place);
        let mut v: Vec<f64> = self.lower[place..].iter_mut().map(|row| row.remove(place)).collect();
        for j in 0..v.len() {
            let p = v[j];
            let d = self.pivots[place + j];
            let updated = d + weight * p * p;
            let beta = p * weight / updated;
            weight *= d / updated;
            self.pivots[place + j] = updated;
            for r in j + 1..v.len() {
                let l = &mut self.lower[place + r][place + j];
                v[r] -= p * *l;
                *l += beta * v[r];
            }
        }
    }

    /// L y = y.
    fn forward(&self, y: &mut [f64]) {
        for i in 0..y.len() {
            y[i] -= dot(&self.lower[i], &y[..i]);
        }
    }

    /// x ← A_SS⁻¹ x, in the order of the rows.
    pub fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        for (x, d) in x.iter_mut().zip(&self.pivots) {
            *x /= d;
        }
        for i in (0..x.len()).rev() {
            let value = x[i];
            for (x, l) in x[..i].iter_mut().zip(&self.lower[i]) {
                *x -= l * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However rows came and went, the factorisation solves the system of those that are there.
    #[test]
    fn solves_what_is_left() {
        let n = 12;
        let a = SquareMatrix::from_fn(n, |i, j| {
            1.0 / (1.0 + (i as f64 - j as f64).abs()) + if i == j { 1.0 } else { 0.0 }
        });
        let mut factor = Ldlt::default();
        for m in [3, 7, 1, 11, 0, 5, 9, 2] {
            assert!(factor.append(&a, m, 1e-12));
        }
        for place in [2, 0, 3] {
            factor.remove(place);
        }
        assert!(factor.append(&a, 8, 1e-12) && factor.append(&a, 3, 1e-12));
        // A row that is there already depends on itself.
        assert!(!factor.append(&a, 3, 1e-12));
        let b: Vec<f64> = factor.rows().iter().map(|i| (*i as f64).sin()).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        for (place, i) in factor.rows().iter().enumerate() {
            let left: f64 = factor.rows().iter().zip(&x).map(|(j, x)| a[(*i, *j)] * x).sum();
            assert!((left - b[place]).abs() < 1e-13);
        }
    }
}
