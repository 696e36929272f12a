//! Dantzig's pivoting method, as Baraff (1994) uses it for contact.
//!
//! Rows are satisfied one by one while those before them are kept so. A row is *held* (w = 0, z ≥ 0) or
//! *open* (z = 0, w ≥ 0). For a row m with w_m < 0, z_m grows:
//!
//!   Δz_m = 1,   Δz_open = 0,   A_HH Δz_H = −A_Hm,   Δw = A Δz,
//!
//! as far as no other row changes state: until w_m = 0 (m is held), z_i = 0 for a held i (it opens), or w_i =
//! 0 for an open i (it is held); then on from there. For positive definite A, Δw_m > 0 always and the method
//! ends. For semidefinite A, Δw_m = 0 means that A Δz = 0: either some z_i falls to zero on the way, or Δz ≥
//! 0 with b·Δz = w_m < 0 proves that no solution exists.

use super::ldlt::Ldlt;
use super::matrix::dot;
use super::{Lcp, LcpError, Outcome, Solution};

/// Pivots smaller than this part of the diagonal are rounding.
const DEPENDENT: f64 = 1e-11;
/// Violations smaller than this part of b are rounding.
const NOTHING: f64 = 1e-13;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not yet processed; z = 0.
    Waiting,
    Open,
    Held,
}

/// (problem with symmetric positive semidefinite A, where to start: rows with z > 0 there are tried first) ⇒
/// solution.
pub fn dantzig(problem: &Lcp, start: Option<&[f64]>) -> Result<Solution, LcpError> {
    problem.check_symmetric()?;
    let mut pivoting = Pivoting::new(problem);
    if let Some(start) = start {
        problem.check_start(start)?;
        pivoting.warm(start);
    }
    let outcome = pivoting.run();
    let z = if outcome == Outcome::Solved { pivoting.polished() } else { pivoting.z.clone() };
    Ok(problem.solution(z, outcome, pivoting.pivots))
}

struct Pivoting<'p> {
    problem: &'p Lcp,
    z: Vec<f64>,
    w: Vec<f64>,
    state: Vec<State>,
    factor: Ldlt,
    pivots: usize,
    nothing: f64,
    /// Directions.
    dz: Vec<f64>,
    dw: Vec<f64>,
}

/// What ends a step.
enum Event {
    Done,
    /// A held row, by its place in the factorisation.
    Opens(usize),
    Holds(usize),
}

impl<'p> Pivoting<'p> {
    fn new(problem: &'p Lcp) -> Self {
        let n = problem.n();
        Self {
            problem,
            z: vec![0.0; n],
            w: problem.b().to_vec(),
            state: vec![State::Waiting; n],
            factor: Ldlt::default(),
            pivots: 0,
            nothing: NOTHING * problem.size(),
            dz: vec![0.0; n],
            dw: vec![0.0; n],
        }
    }

    /// Holds the rows that are positive at the start, as far as they stay so.
    fn warm(&mut self, start: &[f64]) {
        for m in (0..self.z.len()).filter(|m| start[*m] > 0.0) {
            if self.factor.append(self.problem.a(), m, self.least(m)) {
                self.state[m] = State::Held;
            }
        }
        loop {
            self.solve_held();
            let worst = self.held_extreme();
            let Some((place, row)) = worst else { break };
            self.factor.remove(place);
            self.state[row] = State::Waiting;
            self.z[row] = 0.0;
            self.pivots += 1;
        }
        self.w = self.problem.a().affine(&self.z, self.problem.b());
    }

    /// The held row with the most negative z.
    fn held_extreme(&self) -> Option<(usize, usize)> {
        let rows = self.factor.rows().iter().copied().enumerate();
        rows.filter(|(_, row)| self.z[*row] < 0.0).min_by(|x, y| self.z[x.1].total_cmp(&self.z[y.1]))
    }

    /// z of the held rows from A_HH z_H = −b_H, refined once.
    fn solve_held(&mut self) {
        let rows = self.factor.rows();
        let mut x: Vec<f64> = rows.iter().map(|i| -self.problem.b()[*i]).collect();
        self.factor.solve(&mut x);
        for (i, x) in rows.iter().zip(&x) {
            self.z[*i] = *x;
        }
        let mut rest: Vec<f64> =
            rows.iter().map(|i| -self.problem.b()[*i] - dot(self.problem.a().row(*i), &self.z)).collect();
        self.factor.solve(&mut rest);
        for (i, x) in rows.iter().zip(&rest) {
            self.z[*i] += x;
        }
    }

    fn least(&self, m: usize) -> f64 {
        DEPENDENT * self.problem.a()[(m, m)].abs()
    }

    fn run(&mut self) -> Outcome {
        let n = self.z.len();
        let limit = 100 + 50 * n;
        // A row may have to be processed again; then it is queued once more.
        while let Some(m) = self.state.iter().position(|state| *state == State::Waiting) {
            if self.w[m] >= -self.nothing {
                self.state[m] = State::Open;
                continue;
            }
            loop {
                if self.pivots >= limit {
                    return Outcome::IterationLimit { iterations: self.pivots };
                }
                self.pivots += 1;
                match self.advance(m) {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(outcome) => return outcome,
                }
            }
        }
        Outcome::Solved
    }

    fn direction(&mut self, m: usize) {
        let a = self.problem.a();
        let rows = self.factor.rows();
        let mut x: Vec<f64> = rows.iter().map(|i| -a[(*i, m)]).collect();
        self.factor.solve(&mut x);
        self.dz.fill(0.0);
        self.dz[m] = 1.0;
        // A is symmetric, so its rows are its columns.
        self.dw.copy_from_slice(a.row(m));
        for (i, x) in rows.iter().zip(x) {
            self.dz[*i] = x;
            for (dw, entry) in self.dw.iter_mut().zip(a.row(*i)) {
                *dw += x * entry;
            }
        }
        for i in rows {
            self.dw[*i] = 0.0;
        }
    }

    /// Lets z_m grow up to the next event ⇒ whether the row is satisfied now.
    fn advance(&mut self, m: usize) -> Result<bool, Outcome> {
        self.direction(m);
        let own = self.dw[m];
        let mut step = (f64::INFINITY, Event::Done);
        if own > self.least(m) {
            step.0 = -self.w[m] / own;
        }
        for (place, i) in self.factor.rows().iter().enumerate() {
            if self.dz[*i] < 0.0 {
                let s = (-self.z[*i] / self.dz[*i]).max(0.0);
                if s < step.0 {
                    step = (s, Event::Opens(place));
                }
            }
        }
        for i in 0..self.z.len() {
            let least = -DEPENDENT * self.problem.scale(i);
            if self.state[i] == State::Open && self.dw[i] < least {
                let s = (-self.w[i] / self.dw[i]).max(0.0);
                if s < step.0 {
                    step = (s, Event::Holds(i));
                }
            }
        }
        let (s, event) = step;
        if !s.is_finite() {
            return self.no_end(m, own);
        }
        for (value, d) in self.z.iter_mut().zip(&self.dz).chain(self.w.iter_mut().zip(&self.dw)) {
            *value += s * d;
        }
        match event {
            Event::Done => {
                self.w[m] = 0.0;
                let joined = self.factor.append(self.problem.a(), m, 0.0);
                self.state[m] = if joined { State::Held } else { State::Open };
                return Ok(true);
            }
            Event::Opens(place) => {
                let row = self.factor.rows()[place];
                self.factor.remove(place);
                self.z[row] = 0.0;
                self.state[row] = State::Open;
            }
            Event::Holds(row) => {
                self.w[row] = 0.0;
                if self.factor.append(self.problem.a(), row, self.least(row)) {
                    self.state[row] = State::Held;
                } else {
                    // It depends on the held ones and only seemed to move.
                    self.state[row] = State::Waiting;
                }
            }
        }
        Ok(false)
    }

    /// Nothing stops the growth of z_m.
    fn no_end(&mut self, m: usize, own: f64) -> Result<bool, Outcome> {
        if -self.w[m] <= 1e-9 * self.problem.size() {
            // What is missing is rounding, and nothing can be done about it.
            self.state[m] = State::Open;
            return Ok(true);
        }
        if own < -self.least(m) {
            return Err(Outcome::Unbounded { row: m });
        }
        let rows = (0..self.z.len()).filter(|i| self.dz[*i] > DEPENDENT).collect();
        Err(Outcome::Inconsistent { rows })
    }

    /// z with the errors of many updates removed.
    fn polished(&mut self) -> Vec<f64> {
        let before = self.z.clone();
        let rows = self.factor.rows().to_vec();
        let mut fresh = Ldlt::default();
        let sound = rows.iter().all(|row| fresh.append(self.problem.a(), *row, 0.0));
        if !sound {
            return before;
        }
        self.factor = fresh;
        for (z, state) in self.z.iter_mut().zip(&self.state) {
            if *state != State::Held {
                *z = 0.0;
            }
        }
        self.solve_held();
        let size = self.z.iter().fold(0.0, |size: f64, z| size.max(z.abs()));
        if self.z.iter().any(|z| *z < -1e-9 * size) || self.z.iter().any(|z| !z.is_finite()) {
            return before;
        }
        self.z.iter().map(|z| z.max(0.0)).collect()
    }
}
