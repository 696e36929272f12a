//! Multipliers of constraint rows: A λ = r with A = J H⁻¹ Jᵀ symmetric and positive semidefinite, and the same with bounds on λ.
//!
//! Rows may depend on each other. With D the diagonal, A + ε D is positive definite; its solution is that of the smallest multipliers
//! (in the scale of D) among all that fulfil the rows, and a few refinements take the error of ε away. A row that moves nothing (a diagonal that is
//! rounding beside the largest) has no multiplier.
//!
//! Bounds: minimise ½ λᵀ(A + ε D)λ + bᵀλ over lo ≤ λ ≤ hi by an active set. The problem is strictly convex, so the set settles after finitely
//! many changes. J. Nocedal, S. Wright, Numerical Optimization, 2006, §16.5.

/// ε.
const REGULARIZATION: f64 = 1e-10;

/// Diagonal below which a row moves nothing, in parts of the largest.
const NOTHING: f64 = 1e-20;

/// Mark of a row without multiplier among the bounds.
const DEAD: i8 = 2;

/// Refinements after a solution.
const REFINEMENTS: usize = 3;

/// Memory for the solution of so many rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSolver {
    /// Number of rows at most.
    most: usize,
    factor: Vec<f64>,
    rest: Vec<f64>,
    free: Vec<usize>,
    bound: Vec<i8>,
}

impl RowSolver {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            factor: vec![0.0; most * most],
            rest: vec![0.0; most],
            free: Vec::with_capacity(most),
            bound: vec![0; most],
        }
    }

    /// (A of m rows, r) ⇒ λ with A λ = r, the smallest one.
    pub fn solve(&mut self, m: usize, a: &[f64], r: &[f64], lambda: &mut [f64]) {
        debug_assert!(m <= self.most);
        let least = NOTHING * largest_diagonal(m, a);
        self.free.clear();
        self.free.extend((0..m).filter(|i| a[i * m + i] > least));
        self.factorize(m, a);
        lambda[..m].fill(0.0);
        self.refine(m, a, |i| r[i], lambda, REFINEMENTS + 1);
    }

    /// λ += A⁻¹ (r − A λ) on the free rows, so many times.
    fn refine(&mut self, m: usize, a: &[f64], r: impl Fn(usize) -> f64, lambda: &mut [f64], times: usize) {
        for _ in 0..times {
            for place in 0..self.free.len() {
                let i = self.free[place];
                let product: f64 = (0..m).map(|j| a[i * m + j] * lambda[j]).sum();
                self.rest[place] = r(i) - product;
            }
            self.back_substitute(self.free.len());
            for (place, i) in self.free.iter().enumerate() {
                lambda[*i] += self.rest[place];
            }
        }
    }

    /// (A of m rows, b, bounds) ⇒ λ within them with w = A λ + b zero inside, not negative at the lower bound, not positive at the upper.
    ///
    /// Answers whether the active set settled.
    pub fn solve_bounded(
        &mut self,
        m: usize,
        a: &[f64],
        b: &[f64],
        bounds: &[[f64; 2]],
        lambda: &mut [f64],
    ) -> bool {
        debug_assert!(m <= self.most);
        let least = NOTHING * largest_diagonal(m, a);
        for i in 0..m {
            self.bound[i] = if a[i * m + i] > least { 0 } else { DEAD };
            lambda[i] = 0.0_f64.clamp(bounds[i][0], bounds[i][1]);
        }
        for _ in 0..20 * m + 50 {
            self.free.clear();
            self.free.extend((0..m).filter(|i| self.bound[*i] == 0));
            self.factorize(m, a);
            for place in 0..self.free.len() {
                let i = self.free[place];
                let fixed = (0..m).filter(|j| self.bound[*j] != 0).map(|j| a[i * m + j] * lambda[j]);
                self.rest[place] = -b[i] - fixed.sum::<f64>();
            }
            self.back_substitute(self.free.len());
            // As far as the first bound.
            let (mut reach, mut blocking) = (1.0_f64, None);
            for (place, i) in self.free.iter().enumerate() {
                let way = self.rest[place] - lambda[*i];
                for (side, limit) in [(-1_i8, bounds[*i][0]), (1, bounds[*i][1])] {
                    let room = limit - lambda[*i];
                    if way * f64::from(side) > 0.0 && room * f64::from(side) < way * f64::from(side) * reach {
                        (reach, blocking) = ((room / way).max(0.0), Some((*i, side)));
                    }
                }
            }
            for (place, i) in self.free.iter().enumerate() {
                lambda[*i] += reach * (self.rest[place] - lambda[*i]);
            }
            if let Some((i, side)) = blocking {
                self.bound[i] = side;
                lambda[i] = bounds[i][usize::from(side > 0)];
                continue;
            }
            // Whether a bound pulls the wrong way.
            let (mut worst, mut released) = (0.0, None);
            for i in (0..m).filter(|i| self.bound[*i].abs() == 1) {
                let product: f64 = (0..m).map(|j| a[i * m + j] * lambda[j]).sum();
                let scale: f64 = b[i].abs() + (0..m).map(|j| (a[i * m + j] * lambda[j]).abs()).sum::<f64>();
                let w =
                    (b[i] + product + REGULARIZATION * a[i * m + i] * lambda[i]) * f64::from(self.bound[i]);
                if w > 1e-12 * scale && w > worst {
                    (worst, released) = (w, Some(i));
                }
            }
            if let Some(i) = released {
                self.bound[i] = 0;
            } else {
                self.refine(m, a, |i| -b[i], lambda, REFINEMENTS);
                return true;
            }
        }
        false
    }

    /// Where a row's multiplier ended: −1 at its lower bound, 1 at its upper, 0 between.
    pub fn side(&self, row: usize) -> i8 {
        if self.bound[row] == DEAD { 0 } else { self.bound[row] }
    }

    /// Cholesky factor of the rows and columns in `free`, regularised.
    fn factorize(&mut self, m: usize, a: &[f64]) {
        let f = self.free.len();
        for i in 0..f {
            for j in 0..=i {
                let (row, column) = (self.free[i], self.free[j]);
                let mut value = a[row * m + column];
                if i == j {
                    value *= 1.0 + REGULARIZATION;
                }
                let sum: f64 = (0..j).map(|k| self.factor[i * f + k] * self.factor[j * f + k]).sum();
                let rest = value - sum;
                self.factor[i * f + j] = if i == j {
                    rest.max(1e-2 * REGULARIZATION * value).sqrt()
                } else {
                    rest / self.factor[j * f + j]
                };
            }
        }
    }

    /// `rest` ⇒ solution, by the factor.
    fn back_substitute(&mut self, f: usize) {
        for i in 0..f {
            let sum: f64 = (0..i).map(|k| self.factor[i * f + k] * self.rest[k]).sum();
            self.rest[i] = (self.rest[i] - sum) / self.factor[i * f + i];
        }
        for i in (0..f).rev() {
            let sum: f64 = (i + 1..f).map(|k| self.factor[k * f + i] * self.rest[k]).sum();
            self.rest[i] = (self.rest[i] - sum) / self.factor[i * f + i];
        }
    }

    /// Rows of A that depend on those before them.
    pub fn dependent(&mut self, m: usize, a: &[f64], found: &mut Vec<usize>) {
        found.clear();
        let least = NOTHING * largest_diagonal(m, a);
        for i in 0..m {
            for j in 0..=i {
                let kept = |k: &usize| self.factor[k * m + k] > 0.0;
                let sum: f64 =
                    (0..j).filter(kept).map(|k| self.factor[i * m + k] * self.factor[j * m + k]).sum();
                let rest = a[i * m + j] - sum;
                self.factor[i * m + j] = if i != j {
                    let pivot = self.factor[j * m + j];
                    if pivot > 0.0 { rest / pivot } else { 0.0 }
                } else if rest > 1e-9 * a[i * m + i] && a[i * m + i] > least {
                    rest.sqrt()
                } else {
                    found.push(i);
                    0.0
                };
            }
        }
    }
}

fn largest_diagonal(m: usize, a: &[f64]) -> f64 {
    (0..m).map(|i| a[i * m + i]).fold(0.0, f64::max)
}
