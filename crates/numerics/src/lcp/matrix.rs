//! A dense square matrix, row by row.

use super::LcpError;
use std::ops::{Index, IndexMut};

/// A dense square matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SquareMatrix {
    n: usize,
    entries: Vec<f64>,
}

impl SquareMatrix {
    /// Number of rows ⇒ a matrix of zeros.
    pub fn zeros(n: usize) -> Self {
        Self { n, entries: vec![0.0; n * n] }
    }

    /// (number of rows, entry at (row, column)) ⇒ matrix.
    pub fn from_fn(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(n);
        for i in 0..n {
            for j in 0..n {
                matrix[(i, j)] = entry(i, j);
            }
        }
        matrix
    }

    /// (number of rows, entries row by row) ⇒ matrix; refused if there are not n² entries.
    pub fn from_rows(n: usize, entries: Vec<f64>) -> Result<Self, LcpError> {
        if n.checked_mul(n) != Some(entries.len()) {
            return Err(LcpError::Dimension {
                what: "entries of the matrix",
                expected: n,
                got: entries.len(),
            });
        }
        Ok(Self { n, entries })
    }

    /// Number of rows.
    pub const fn n(&self) -> usize {
        self.n
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.n..(i + 1) * self.n]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * self.n..(i + 1) * self.n]
    }

    /// y = A x + b.
    pub fn affine(&self, x: &[f64], b: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| dot(self.row(i), x) + b[i]).collect()
    }

    /// The largest difference of an entry from its mirror image, and where.
    pub fn asymmetry(&self) -> (f64, [usize; 2]) {
        let mut worst = (0.0, [0, 0]);
        for i in 0..self.n {
            for j in 0..i {
                let difference = (self[(i, j)] - self[(j, i)]).abs();
                if difference > worst.0 {
                    worst = (difference, [i, j]);
                }
            }
        }
        worst
    }

    /// The largest entry in size.
    pub fn largest(&self) -> f64 {
        self.entries.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
    }

    /// The first row with an entry that is not finite.
    pub(super) fn first_non_finite(&self) -> Option<usize> {
        self.entries.iter().position(|entry| !entry.is_finite()).map(|place| place / self.n.max(1))
    }
}

impl Index<(usize, usize)> for SquareMatrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.entries[i * self.n + j]
    }
}

impl IndexMut<(usize, usize)> for SquareMatrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.entries[i * self.n + j]
    }
}

/// x·y, in four sums that the compiler can keep in one register.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
