//! Contacts with friction: three rows each, n, t, k.
//!
//! a = A F + b. For every contact 0 ≤ F_n ⟂ a_n ≥ 0, and for its tangential rows τ
//!
//! * *static*: |F_τ| ≤ μ_τ F_n, a_τ F_τ ≤ 0, a_τ (μ_τ F_n − |F_τ|) = 0: equivalent to F_τ = clamp(F_τ − a_τ,
//!   −μ_τ F_n, μ_τ F_n);
//! * *dynamic*: F_τ = σ_τ μ_τ F_n, the signs against the slip, whatever a_τ becomes.
//!
//! The same as a plain problem, with F_τ = p⁺ − p⁻ and λ the size of a_τ (Stewart & Trinkle 1996):
//! 0 ≤ p^± ⟂ λ ± a_τ ≥ 0, 0 ≤ λ ⟂ μ_τ F_n − p⁺ − p⁻ ≥ 0. Seven rows a static contact, one a dynamic one;
//! Lemke's method can process it.

use super::{Lcp, LcpError, Outcome, SquareMatrix};

/// Friction regime of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// It does not slide yet: μ for t and k.
    Static([f64; 2]),
    /// It slides: σ μ for t and k, signed against the slip.
    Dynamic([f64; 2]),
}

/// One contact: rows 3 i, 3 i + 1, 3 i + 2 of the matrix are its n, t, k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionContact {
    /// Sticking or sliding, with coefficients.
    pub friction: Friction,
}

/// a = A F + b with friction.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionProblem {
    a: SquareMatrix,
    b: Vec<f64>,
    contacts: Vec<FrictionContact>,
}

/// Result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionSolution {
    /// F: n, t, k of each contact.
    pub force: Vec<f64>,
    /// A F + b.
    pub acceleration: Vec<f64>,
    /// Whether the problem was solved.
    pub outcome: Outcome,
    /// Pivots or sweeps.
    pub iterations: usize,
}

impl FrictionProblem {
    /// (A, b, contacts) ⇒ problem; refused if sizes do not fit or a number is out of range.
    pub fn new(a: SquareMatrix, b: Vec<f64>, contacts: Vec<FrictionContact>) -> Result<Self, LcpError> {
        let n = 3 * contacts.len();
        if a.n() != n {
            return Err(LcpError::Dimension { what: "rows of the matrix", expected: n, got: a.n() });
        }
        if b.len() != n {
            return Err(LcpError::Dimension { what: "length of b", expected: n, got: b.len() });
        }
        if let Some(row) = a.first_non_finite().or_else(|| b.iter().position(|b| !b.is_finite())) {
            return Err(LcpError::NonFinite { row });
        }
        for (contact, FrictionContact { friction }) in contacts.iter().enumerate() {
            let (Friction::Static(mu) | Friction::Dynamic(mu)) = *friction;
            for value in mu {
                let signed = matches!(friction, Friction::Dynamic(_));
                if !(value.is_finite() && (signed || value >= 0.0)) {
                    return Err(LcpError::Friction { contact, value });
                }
            }
        }
        Ok(Self { a, b, contacts })
    }

    /// A.
    pub const fn a(&self) -> &SquareMatrix {
        &self.a
    }

    /// b.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The contacts.
    pub fn contacts(&self) -> &[FrictionContact] {
        &self.contacts
    }

    /// Force ⇒ residual of the conditions, the largest over all rows, in the unit of a.
    pub fn residual(&self, force: &[f64]) -> f64 {
        let acceleration = self.a.affine(force, &self.b);
        let mut worst = 0.0_f64;
        for (contact, FrictionContact { friction }) in self.contacts.iter().enumerate() {
            let n = 3 * contact;
            worst = worst.max(acceleration[n].min(self.scale(n) * force[n]).abs());
            for (axis, row) in [n + 1, n + 2].into_iter().enumerate() {
                let scale = self.scale(row);
                let wanted = match friction {
                    Friction::Static(mu) => {
                        let bound = mu[axis] * force[n].max(0.0);
                        (force[row] - acceleration[row] / scale).clamp(-bound, bound)
                    }
                    Friction::Dynamic(mu) => mu[axis] * force[n],
                };
                worst = worst.max(scale * (force[row] - wanted).abs());
            }
        }
        worst
    }

    /// The same as a plain problem: for each contact F_n and, if it is static, p⁺, p⁻, λ for t and for k.
    pub fn as_lcp(&self) -> Result<Lcp, LcpError> {
        let names = self.unknowns();
        let a = SquareMatrix::from_fn(names.len(), |i, j| self.plain_entry(names[i], names[j]));
        let b = names.iter().map(|name| match *name {
            Unknown::Normal(n) => self.b[n],
            Unknown::Side(row, sign) => sign * self.b[row],
            Unknown::Slip(_) => 0.0,
        });
        Lcp::new(a, b.collect())
    }

    /// Solution of the plain problem ⇒ forces.
    pub fn from_lcp(&self, z: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; self.b.len()];
        for (name, z) in self.unknowns().into_iter().zip(z) {
            match name {
                Unknown::Normal(n) => {
                    force[n] += z;
                    if let Friction::Dynamic(mu) = self.contacts[n / 3].friction {
                        force[n + 1] += mu[0] * z;
                        force[n + 2] += mu[1] * z;
                    }
                }
                Unknown::Side(row, sign) => force[row] += sign * z,
                Unknown::Slip(_) => {}
            }
        }
        force
    }

    fn unknowns(&self) -> Vec<Unknown> {
        let mut names = Vec::new();
        for (contact, FrictionContact { friction }) in self.contacts.iter().enumerate() {
            let n = 3 * contact;
            names.push(Unknown::Normal(n));
            if let Friction::Static(_) = friction {
                for row in [n + 1, n + 2] {
                    names.extend([Unknown::Side(row, 1.0), Unknown::Side(row, -1.0), Unknown::Slip(row)]);
                }
            }
        }
        names
    }

    /// Matrix entry: effect of the unknown `of` on the row of another.
    fn plain_entry(&self, row: Unknown, of: Unknown) -> f64 {
        let on = |i: usize| match of {
            Unknown::Normal(n) => {
                let slides = match self.contacts[n / 3].friction {
                    Friction::Dynamic(mu) => mu[0] * self.a[(i, n + 1)] + mu[1] * self.a[(i, n + 2)],
                    Friction::Static(_) => 0.0,
                };
                self.a[(i, n)] + slides
            }
            Unknown::Side(j, sign) => sign * self.a[(i, j)],
            Unknown::Slip(_) => 0.0,
        };
        match (row, of) {
            (Unknown::Normal(n), _) => on(n),
            (Unknown::Side(i, _), Unknown::Slip(j)) => f64::from(i == j),
            (Unknown::Side(i, sign), _) => sign * on(i),
            (Unknown::Slip(i), Unknown::Normal(n)) if i / 3 == n / 3 => match self.contacts[n / 3].friction {
                Friction::Static(mu) => mu[i % 3 - 1],
                Friction::Dynamic(_) => 0.0,
            },
            (Unknown::Slip(i), Unknown::Side(j, _)) => -f64::from(i == j),
            (Unknown::Slip(_), _) => 0.0,
        }
    }

    /// Diagonal entry of A; 1 where it is not positive.
    pub(super) fn scale(&self, i: usize) -> f64 {
        let diagonal = self.a[(i, i)];
        if diagonal > 0.0 { diagonal } else { 1.0 }
    }

    /// Magnitude of b.
    pub(super) fn size(&self) -> f64 {
        self.b.iter().fold(0.0, |size: f64, b| size.max(b.abs()))
    }

    pub(super) fn solution(&self, force: Vec<f64>, outcome: Outcome, iterations: usize) -> FrictionSolution {
        let acceleration = self.a.affine(&force, &self.b);
        FrictionSolution { force, acceleration, outcome, iterations }
    }
}

/// Unknowns of the plain problem.
#[derive(Clone, Copy, Debug)]
enum Unknown {
    /// F_n, by its row.
    Normal(usize),
    /// p⁺ or p⁻ of a tangential row.
    Side(usize, f64),
    /// λ of a tangential row.
    Slip(usize),
}
