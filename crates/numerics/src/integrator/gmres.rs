//! GMRES (Saad & Schultz 1986): solves A x = b knowing only v ↦ A v.
//!
//! Arnoldi builds an orthonormal basis V of the Krylov space of A and r₀ with A V_m = V_{m+1} H; the x in
//! that space with the smallest residual minimises |β e₁ − H y|, solved on the fly by Givens rotations, which
//! also gives the residual for free. Restarted when the basis is full.

use crate::{State, StepError};

/// Size of the basis before a restart.
const RESTART: usize = 30;

/// Basis vectors, kept between solves.
#[derive(Clone, Debug)]
pub(crate) struct Gmres<Y> {
    basis: Vec<Y>,
}

/// The least-squares problem |β e₁ − H y| in the course of being made triangular.
struct Projected {
    /// Columns of H, rotated; `column[j][i]` is row i.
    columns: [[f64; RESTART + 1]; RESTART],
    rotations: [(f64, f64); RESTART],
    right_side: [f64; RESTART + 1],
}

impl<Y> Default for Gmres<Y> {
    fn default() -> Self {
        Self { basis: Vec::new() }
    }
}

impl<Y: State> Gmres<Y> {
    /// (A, b) → x with |b − A x| ≤ tolerance·|b|, or the best x found within `restarts` restarts.
    pub(crate) fn solve(
        &mut self,
        apply: &mut dyn FnMut(&Y, &mut Y) -> Result<(), StepError>,
        b: &Y,
        x: &mut Y,
        tolerance: f64,
        restarts: u32,
    ) -> Result<(), StepError> {
        x.copy_from(b);
        x.set_zero();
        let target = tolerance * b.dot(b).sqrt();
        for cycle in 0..=restarts {
            self.reserve(0, b);
            let residual = &mut self.basis[0];
            if cycle == 0 {
                residual.copy_from(b);
            } else {
                apply(x, residual)?;
                residual.scale(-1.0);
                residual.add_scaled(1.0, b);
            }
            let beta = residual.dot(residual).sqrt();
            if beta <= target {
                return Ok(());
            }
            residual.scale(1.0 / beta);
            if self.cycle(apply, b, x, beta, target)? <= target {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One run of Arnoldi from `basis[0]`; adds the correction to x and returns the residual it should have.
    fn cycle(
        &mut self,
        apply: &mut dyn FnMut(&Y, &mut Y) -> Result<(), StepError>,
        b: &Y,
        x: &mut Y,
        beta: f64,
        target: f64,
    ) -> Result<f64, StepError> {
        let mut projected = Projected::new(beta);
        let mut size = 0;
        let mut residual = beta;
        while size < RESTART {
            self.reserve(size + 1, b);
            let (known, new) = self.basis.split_at_mut(size + 1);
            let new = &mut new[0];
            apply(&known[size], new)?;
            let length_before = new.dot(new).sqrt();
            let mut column = [0.0; RESTART + 1];
            for (coefficient, vector) in column.iter_mut().zip(known.iter()) {
                *coefficient = new.dot(vector);
                new.add_scaled(-*coefficient, vector);
            }
            let length = new.dot(new).sqrt();
            // What is left after orthogonalisation may be rounding only: the Krylov space is complete.
            let complete = length <= 1e-14 * length_before;
            column[size + 1] = if complete { 0.0 } else { length };
            residual = projected.add(size, column);
            size += 1;
            if complete || residual <= target {
                break;
            }
            new.scale(1.0 / length);
        }
        projected.add_solution(size, &self.basis, x);
        Ok(residual)
    }

    /// Makes `basis[index]` exist with the shape of b.
    fn reserve(&mut self, index: usize, b: &Y) {
        if self.basis.first().is_some_and(|vector| !vector.same_shape(b)) {
            self.basis.clear();
        }
        while self.basis.len() <= index {
            self.basis.push(b.clone());
        }
    }
}

impl Projected {
    fn new(beta: f64) -> Self {
        let mut right_side = [0.0; RESTART + 1];
        right_side[0] = beta;
        Self { columns: [[0.0; RESTART + 1]; RESTART], rotations: [(1.0, 0.0); RESTART], right_side }
    }

    /// Takes column j of H, rotates it to triangular form, and returns the residual that is left.
    fn add(&mut self, j: usize, mut column: [f64; RESTART + 1]) -> f64 {
        for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
            (column[i], column[i + 1]) =
                (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let length = column[j].hypot(column[j + 1]);
        let (c, s) = if length > 0.0 { (column[j] / length, column[j + 1] / length) } else { (1.0, 0.0) };
        column[j] = length;
        column[j + 1] = 0.0;
        self.rotations[j] = (c, s);
        self.right_side[j + 1] = -s * self.right_side[j];
        self.right_side[j] *= c;
        self.columns[j] = column;
        self.right_side[j + 1].abs()
    }

    /// x += V y with y from back substitution; directions A maps to zero are left out.
    fn add_solution<Y: State>(&self, size: usize, basis: &[Y], x: &mut Y) {
        let mut y = [0.0; RESTART];
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|j| self.columns[j][i] * y[j]).sum();
            let diagonal = self.columns[i][i];
            y[i] = if diagonal == 0.0 { 0.0 } else { (self.right_side[i] - known) / diagonal };
        }
        for (coefficient, vector) in y[..size].iter().zip(basis) {
            x.add_scaled(*coefficient, vector);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second-difference matrix plus a skew part, large enough to need restarts.
    #[test]
    fn solves_an_unsymmetric_system_larger_than_its_basis() {
        const N: usize = 100;
        let mut apply = |v: &Vec<f64>, result: &mut Vec<f64>| {
            for i in 0..N {
                let left = if i > 0 { v[i - 1] } else { 0.0 };
                let right = if i + 1 < N { v[i + 1] } else { 0.0 };
                result[i] = 2.2 * v[i] - 1.2 * left - 0.8 * right;
            }
            Ok(())
        };
        let expected: Vec<f64> = (0..N).map(|i| (0.3 * i as f64).sin()).collect();
        let mut b = vec![0.0; N];
        apply(&expected, &mut b).unwrap();
        let mut x = vec![7.0; N];
        Gmres::default().solve(&mut apply, &b, &mut x, 1e-12, 50).unwrap();
        let worst = x.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-9, "{worst}");
    }

    #[test]
    fn a_right_side_of_zero_has_the_solution_zero() {
        let mut x = [1.0, 2.0];
        let mut apply = |v: &[f64; 2], result: &mut [f64; 2]| {
            *result = *v;
            Ok(())
        };
        Gmres::default().solve(&mut apply, &[0.0, 0.0], &mut x, 1e-10, 3).unwrap();
        assert_eq!(x, [0.0, 0.0]);
    }
}
