//! Lemke's method (1965), by exchange of variables in a table.
//!
//! w = b + A z + 1 z₀ with one artificial z₀ ≥ 0. First z₀ enters, as far as all w ≥ 0; the w that then
//! vanishes leaves. From there on the complement of the variable that left enters, and the variable that
//! vanishes first leaves, until z₀ does: then z is a solution. If the one that enters may grow for ever, the
//! method ends on a ray; for positive semidefinite A that means that there is no solution.
//!
//! An exchange of the basic variable of row r, y_r = q_r + Σ T_rj x_j, with the non-basic x_c:
//! x_c = (y_r − q_r − Σ_{j≠c} T_rj x_j)/T_rc, put into all other rows.

use super::{Lcp, Outcome, Solution};

/// Entries smaller than this are rounding.
const NOTHING: f64 = 1e-12;

/// Problem ⇒ solution, by no more than 50 n + 100 pivots. For any matrix; slower than the methods for special
/// ones.
pub fn lemke(problem: &Lcp) -> Solution {
    let n = problem.n();
    if problem.b().iter().all(|b| *b >= 0.0) {
        return problem.solution(vec![0.0; n], Outcome::Solved, 0);
    }
    let mut table = Table::new(problem);
    let limit = 100 + 50 * n;
    let (mut entering, mut row) = (n, table.first_row());
    let mut pivots = 0;
    let outcome = loop {
        let left = table.exchange(row, entering);
        pivots += 1;
        if left == 2 * n {
            break Outcome::Solved;
        }
        if pivots >= limit {
            break Outcome::IterationLimit { iterations: pivots };
        }
        // w_i is variable i, z_i is n + i, z₀ is 2n.
        let complement = if left < n { left + n } else { left - n };
        entering = table.columns.iter().position(|name| *name == complement).unwrap_or(0);
        match table.leaving(entering) {
            Some(leaving) => row = leaving,
            None => break Outcome::Unbounded { row: complement % n },
        }
    };
    let mut z = vec![0.0; n];
    for (row, name) in table.names.iter().enumerate() {
        if (n..2 * n).contains(name) {
            z[name - n] = table.q[row].max(0.0);
        }
    }
    problem.solution(z, outcome, pivots)
}

struct Table {
    n: usize,
    /// n rows of n + 1 columns.
    t: Vec<f64>,
    q: Vec<f64>,
    /// Basic variable of each row.
    names: Vec<usize>,
    /// Non-basic variable of each column.
    columns: Vec<usize>,
}

impl Table {
    fn new(problem: &Lcp) -> Self {
        let n = problem.n();
        let mut t = Vec::with_capacity(n * (n + 1));
        for i in 0..n {
            t.extend_from_slice(problem.a().row(i));
            t.push(1.0);
        }
        Self { n, t, q: problem.b().to_vec(), names: (0..n).collect(), columns: (n..=2 * n).collect() }
    }

    /// The row that vanishes last as z₀ comes down from above.
    fn first_row(&self) -> usize {
        (0..self.n).min_by(|i, j| self.q[*i].total_cmp(&self.q[*j])).unwrap_or(0)
    }

    /// Ratio test: the variable that vanishes first as a column's variable grows; z₀ before all others.
    fn leaving(&self, column: usize) -> Option<usize> {
        let width = self.n + 1;
        let mut best: Option<(f64, usize)> = None;
        for row in 0..self.n {
            let slope = self.t[row * width + column];
            if slope >= -NOTHING {
                continue;
            }
            let ratio = self.q[row].max(0.0) / -slope;
            let better = best.is_none_or(|(least, other)| {
                let tie = (ratio - least).abs() <= NOTHING * (1.0 + least);
                let larger = -slope > -self.t[other * width + column];
                let artificial = self.names[row] == 2 * self.n;
                let taken = self.names[other] == 2 * self.n;
                if tie { !taken && (artificial || larger) } else { ratio < least }
            });
            if better {
                best = Some((ratio, row));
            }
        }
        best.map(|(_, row)| row)
    }

    /// Exchanges a row's and a column's variables ⇒ the one that left the basis.
    fn exchange(&mut self, row: usize, column: usize) -> usize {
        let width = self.n + 1;
        let inverse = 1.0 / self.t[row * width + column];
        let mut pivot_row = self.t[row * width..(row + 1) * width].to_vec();
        for entry in &mut pivot_row {
            *entry *= -inverse;
        }
        pivot_row[column] = inverse;
        let pivot_q = -self.q[row] * inverse;
        for i in (0..self.n).filter(|i| *i != row) {
            let entries = &mut self.t[i * width..(i + 1) * width];
            let factor = entries[column];
            if factor == 0.0 {
                continue;
            }
            entries[column] = 0.0;
            for (entry, pivot) in entries.iter_mut().zip(&pivot_row) {
                *entry += factor * pivot;
            }
            self.q[i] += factor * pivot_q;
        }
        self.t[row * width..(row + 1) * width].copy_from_slice(&pivot_row);
        self.q[row] = pivot_q;
        let left = self.names[row];
        self.names[row] = std::mem::replace(&mut self.columns[column], left);
        left
    }
}
