//! Linear complementarity problem and its solution.

use super::SquareMatrix;
use thiserror::Error;

/// Why a problem cannot be posed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LcpError {
    /// Sizes do not fit together.
    #[error("{what}: expected {expected}, got {got}")]
    Dimension {
        /// What has the wrong size.
        what: &'static str,
        /// Size it should have (rows of the matrix, or length of a vector).
        expected: usize,
        /// Size it has.
        got: usize,
    },
    /// A value that is not finite.
    #[error("row {row}: every number must be finite")]
    NonFinite {
        /// First row with such a number.
        row: usize,
    },
    /// The method needs a symmetric matrix.
    #[error(
        "entries ({row}, {column}) and ({column}, {row}) differ by {difference}; the matrix must be symmetric"
    )]
    Asymmetric {
        /// Where.
        row: usize,
        /// Where.
        column: usize,
        /// By how much.
        difference: f64,
    },
    /// A coefficient is out of range.
    #[error("contact {contact}: friction must be finite and ≥ 0; got {value}")]
    Friction {
        /// Which contact.
        contact: usize,
        /// The coefficient.
        value: f64,
    },
}

/// Outcome of a solver.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All conditions hold.
    Solved,
    /// The force of a row can grow for ever without satisfying it: with friction, Painlevé's paradox (no
    /// finite force; an impulse is needed).
    Unbounded {
        /// The row that was being satisfied.
        row: usize,
    },
    /// No z ≥ 0 satisfies these rows together.
    Inconsistent {
        /// The rows of the contradiction.
        rows: Vec<usize>,
    },
    /// Iteration limit reached; the solution holds the last iterate.
    IterationLimit {
        /// Pivots or sweeps done.
        iterations: usize,
    },
}

/// w = A z + b, 0 ≤ z ⟂ w ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Lcp {
    a: SquareMatrix,
    b: Vec<f64>,
}

/// Result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The unknowns.
    pub z: Vec<f64>,
    /// A z + b.
    pub w: Vec<f64>,
    /// Whether the problem was solved.
    pub outcome: Outcome,
    /// Pivots or sweeps.
    pub iterations: usize,
}

impl Lcp {
    /// (A, b) ⇒ problem; refused if sizes do not fit or a number is not finite.
    pub fn new(a: SquareMatrix, b: Vec<f64>) -> Result<Self, LcpError> {
        if a.n() != b.len() {
            return Err(LcpError::Dimension { what: "length of b", expected: a.n(), got: b.len() });
        }
        if let Some(row) = a.first_non_finite().or_else(|| b.iter().position(|b| !b.is_finite())) {
            return Err(LcpError::NonFinite { row });
        }
        Ok(Self { a, b })
    }

    /// A.
    pub const fn a(&self) -> &SquareMatrix {
        &self.a
    }

    /// b.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.b.len()
    }

    /// z ⇒ residual of the conditions: the largest |min(z, w)|, in the unit of w, with z scaled by A's
    /// diagonal.
    pub fn residual(&self, z: &[f64]) -> f64 {
        let w = self.a.affine(z, &self.b);
        let row = |i: usize| w[i].min(self.scale(i) * z[i]).abs();
        (0..self.n()).map(row).fold(0.0, f64::max)
    }

    /// Diagonal entry of A; 1 where it is not positive.
    pub(super) fn scale(&self, i: usize) -> f64 {
        let diagonal = self.a[(i, i)];
        if diagonal > 0.0 { diagonal } else { 1.0 }
    }

    /// Magnitude of b, the reference for tolerances.
    pub(super) fn size(&self) -> f64 {
        self.b.iter().fold(0.0, |size: f64, b| size.max(b.abs()))
    }

    pub(super) fn check_symmetric(&self) -> Result<(), LcpError> {
        let (difference, [row, column]) = self.a.asymmetry();
        if difference > 1e-9 * self.a.largest() {
            return Err(LcpError::Asymmetric { row, column, difference });
        }
        Ok(())
    }

    pub(super) fn check_start(&self, start: &[f64]) -> Result<(), LcpError> {
        if start.len() != self.n() {
            return Err(LcpError::Dimension {
                what: "length of the start",
                expected: self.n(),
                got: start.len(),
            });
        }
        start.iter().position(|z| !z.is_finite()).map_or(Ok(()), |row| Err(LcpError::NonFinite { row }))
    }

    pub(super) fn solution(&self, z: Vec<f64>, outcome: Outcome, iterations: usize) -> Solution {
        let w = self.a.affine(&z, &self.b);
        Solution { z, w, outcome, iterations }
    }
}
