//! One pivoting path from zero forces to those of all contacts, row by row: see [`baraff`](super::baraff).
//!
//! A normal row is *open* (F = 0, a ≥ 0) or *held* (a = 0, F ≥ 0). A tangential row of a static contact is
//! *off* (while the normal is open), *held* (a = 0, |F| ≤ μF_n), or at its *limit* σ = ±1 (F = σμF_n, σa ≤
//! 0); that of a dynamic contact is always at its limit.
//!
//! A force at its limit follows its normal force, ΔF_τ = σμ ΔF_n, so its column is merged into the normal's:
//! the unknowns of a step are the held rows, with the columns Ā_n = A_n + Σ σμ A_τ and A_τ, and
//!
//!   Ā_HH Δx = −σ Ā_Hr,   ΔF_r = σ  for the row r that is being satisfied.
//!
//! The matrix is unsymmetric; its inverse is kept up to date ([`bordered`](super::bordered)). The step ends
//! at the first of a_r = 0 or |F_r| = μF_n of the driven row; F_n = 0 (held normal opens, its tangents are
//! off); a_n = 0 (open normal is held, its tangents start at the limit against their acceleration); |F_τ| =
//! μF_n (held tangent comes to its limit); a_τ = 0 (tangent at its limit is held). No such event: the force
//! grows for ever, which dynamic friction can bring about (Painlevé).
//!
//! A held row that depends on the others cannot be an unknown; it is *bound*: its force stays and its
//! acceleration is zero as long as those of the others are, and it becomes an unknown the moment it is not.

use super::bordered::Inverse;
use super::elimination::eliminate;
use super::matrix::dot;
use super::{Friction, FrictionProblem, Outcome, SquareMatrix};

/// Rates smaller than this part of the diagonal are rounding.
const DEPENDENT: f64 = 1e-10;
/// Violations smaller than this part of b are rounding.
const NOTHING: f64 = 1e-12;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not yet processed, or open, or off: the force is constant.
    Off,
    /// An open normal: F = 0, a ≥ 0 is watched.
    Open,
    /// An unknown: a = 0.
    Held,
    /// a = 0 because it depends on the held ones.
    Bound,
    /// F = σ μ F_n.
    Limit(f64),
    /// F = σ μ F_n for good.
    Slides(f64),
}

/// How a pivoting path ends.
pub(super) enum End {
    Outcome(Outcome),
    /// This contact could not be satisfied: too many zero-length steps in a row.
    Cycles(usize),
}

/// What ends a step.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The driven row has a = 0.
    Satisfied,
    /// The driven tangent has come to its limit σ.
    AtLimit,
    /// A held normal has F = 0.
    Opens(usize),
    /// An open normal has a = 0.
    Closes(usize),
    /// A held or bound tangent has come to its limit σ.
    Slips(usize, f64),
    /// A tangent at its limit has a = 0.
    Sticks(usize),
    /// A bound row is about to move.
    Frees(usize),
}

/// Forces, accelerations and states of all rows along the path.
pub(super) struct Pivoting<'p> {
    problem: &'p FrictionProblem,
    force: Vec<f64>,
    a: Vec<f64>,
    state: Vec<State>,
    /// The unknowns, in the order of the inverse.
    held: Vec<usize>,
    inverse: Inverse,
    df: Vec<f64>,
    da: Vec<f64>,
    pub pivots: usize,
    nothing: f64,
}

impl<'p> Pivoting<'p> {
    /// Nothing satisfied yet.
    pub fn new(problem: &'p FrictionProblem) -> Self {
        let n = problem.b().len();
        Self {
            problem,
            force: vec![0.0; n],
            a: problem.b().to_vec(),
            state: vec![State::Off; n],
            held: Vec::new(),
            inverse: Inverse::default(),
            df: vec![0.0; n],
            da: vec![0.0; n],
            pivots: 0,
            nothing: NOTHING * problem.size(),
        }
    }

    /// (order of the contacts, most pivots) ⇒ how satisfying them in this order ends.
    pub fn run(&mut self, order: &[usize], limit: usize) -> End {
        for contact in order {
            let n = 3 * contact;
            if let Friction::Dynamic(_) = self.problem.contacts()[*contact].friction {
                self.state[n + 1] = State::Slides(1.0);
                self.state[n + 2] = State::Slides(1.0);
            }
            if self.a[n] >= -self.nothing {
                self.state[n] = State::Open;
                continue;
            }
            for row in n..n + 3 {
                if let Some(end) = self.satisfy(row, limit) {
                    return end;
                }
            }
        }
        End::Outcome(Outcome::Solved)
    }

    /// Takes states from forces; a tangent within `near` (relative) of its limit counts as at it.
    pub fn take_over(&mut self, force: &[f64], near: f64) {
        self.force.copy_from_slice(force);
        for n in (0..force.len()).step_by(3) {
            for row in [n + 1, n + 2] {
                let bound = self.mu(row) * force[n];
                self.state[row] = match self.problem.contacts()[n / 3].friction {
                    Friction::Dynamic(_) => State::Slides(1.0),
                    Friction::Static(_) if force[n] <= 0.0 => State::Off,
                    Friction::Static(_) if force[row].abs() < bound * (1.0 - near) => State::Held,
                    Friction::Static(_) => State::Limit(force[row].signum()),
                };
            }
            self.state[n] = if force[n] > 0.0 { State::Held } else { State::Open };
        }
        let held: Vec<usize> = (0..force.len()).filter(|row| self.state[*row] == State::Held).collect();
        for row in held {
            self.hold(row);
        }
    }

    /// Drives a row until it is satisfied ⇒ the failure, if it cannot be.
    fn satisfy(&mut self, row: usize, limit: usize) -> Option<End> {
        let tangent = !row.is_multiple_of(3);
        let mut stuck = 0;
        loop {
            if tangent && self.state[row] != State::Off || self.state[row - row % 3] == State::Open {
                // Dynamic, or an event has settled it already.
                return None;
            }
            if self.a[row].abs() <= self.nothing {
                self.hold(row);
                return None;
            }
            if self.pivots >= limit {
                return Some(End::Outcome(Outcome::IterationLimit { iterations: self.pivots }));
            }
            self.pivots += 1;
            let sigma = if self.a[row] < 0.0 { 1.0 } else { -1.0 };
            self.direction(row, sigma);
            let (step, event) = self.next_event(row, sigma);
            if !step.is_finite() {
                if self.a[row].abs() <= 1e-9 * self.problem.size() {
                    self.state[row] = State::Bound;
                    return None;
                }
                return Some(End::Outcome(Outcome::Unbounded { row }));
            }
            for (value, d) in self.force.iter_mut().zip(&self.df).chain(self.a.iter_mut().zip(&self.da)) {
                *value += step * d;
            }
            stuck = if step > 0.0 { 0 } else { stuck + 1 };
            if stuck > 2 * self.state.len() + 4 {
                return Some(End::Cycles(row / 3));
            }
            if self.happen(event, row, sigma) {
                return None;
            }
        }
    }

    /// μ of a tangential row, signed where it slides.
    fn mu(&self, row: usize) -> f64 {
        let (Friction::Static(mu) | Friction::Dynamic(mu)) = self.problem.contacts()[row / 3].friction;
        mu[row % 3 - 1]
    }

    /// ΔF_τ/ΔF_n of a tangential force.
    fn follows(&self, row: usize) -> f64 {
        match self.state[row] {
            State::Limit(sigma) | State::Slides(sigma) => sigma * self.mu(row),
            _ => 0.0,
        }
    }

    /// Entry of the merged matrix: row i, column of the unknown j.
    fn merged(&self, i: usize, j: usize) -> f64 {
        let entries = self.problem.a().row(i);
        if !j.is_multiple_of(3) {
            return entries[j];
        }
        entries[j] + self.follows(j + 1) * entries[j + 1] + self.follows(j + 2) * entries[j + 2]
    }

    fn column(&self, j: usize) -> Vec<f64> {
        self.held.iter().map(|i| self.merged(*i, j)).collect()
    }

    /// ΔF and Δa for a driven row.
    fn direction(&mut self, row: usize, sigma: f64) {
        let right: Vec<f64> = self.column(row).iter().map(|entry| -sigma * entry).collect();
        let mut x = self.inverse.times(&right);
        // One step of refinement; if the correction is large, a new inverse.
        let rest = |held: &[usize], x: &[f64]| -> Vec<f64> {
            let left = |i: &usize| held.iter().zip(x).map(|(j, x)| self.merged(*i, *j) * x).sum::<f64>();
            held.iter().zip(&right).map(|(i, right)| right - left(i)).collect()
        };
        let error = rest(&self.held, &x);
        let size = right.iter().fold(0.0, |size: f64, r| size.max(r.abs()));
        if error.iter().any(|e| e.abs() > 1e-9 * size) {
            let matrix =
                SquareMatrix::from_fn(self.held.len(), |i, j| self.merged(self.held[i], self.held[j]));
            let mut fresh = Inverse::default();
            if fresh.rebuild(&matrix) {
                x = fresh.times(&right);
                self.inverse = fresh;
            }
        } else {
            for (x, change) in x.iter_mut().zip(self.inverse.times(&error)) {
                *x += change;
            }
        }
        self.df.fill(0.0);
        self.df[row] = sigma;
        for (j, x) in self.held.iter().zip(x) {
            self.df[*j] = x;
        }
        for n in (0..self.df.len()).step_by(3) {
            for tangent in [n + 1, n + 2] {
                let share = self.follows(tangent);
                if share != 0.0 {
                    self.df[tangent] = share * self.df[n];
                }
            }
        }
        for i in 0..self.da.len() {
            self.da[i] = dot(self.problem.a().row(i), &self.df);
        }
        for i in &self.held {
            self.da[*i] = 0.0;
        }
    }

    /// Length of the step, and the event that ends it.
    fn next_event(&self, row: usize, sigma: f64) -> (f64, Event) {
        let mut first = (f64::INFINITY, Event::Satisfied);
        let mut offer = |step: f64, event: Event| {
            if step < first.0 {
                first = (step.max(0.0), event);
            }
        };
        let moves = |i: usize| self.da[i].abs() > DEPENDENT * self.problem.scale(i) * self.largest_df();
        if sigma * self.da[row] > 0.0 && moves(row) {
            offer(-self.a[row] / self.da[row], Event::Satisfied);
        }
        if !row.is_multiple_of(3) {
            let n = row - row % 3;
            let closing = sigma * self.df[row] - self.mu(row) * self.df[n];
            if closing > 0.0 {
                let room = self.mu(row) * self.force[n] - sigma * self.force[row];
                offer(room / closing, Event::AtLimit);
            }
        }
        for i in 0..self.state.len() {
            let (tangent, n) = (i % 3 != 0, i - i % 3);
            match self.state[i] {
                _ if i == row => {}
                State::Bound if moves(i) => offer(0.0, Event::Frees(i)),
                State::Held | State::Bound if !tangent && self.df[i] < 0.0 => {
                    offer(-self.force[i] / self.df[i], Event::Opens(i));
                }
                State::Held | State::Bound if tangent => {
                    for side in [1.0, -1.0] {
                        let closing = side * self.df[i] - self.mu(i) * self.df[n];
                        if closing > 1e-14 * self.largest_df() {
                            let room = self.mu(i) * self.force[n] - side * self.force[i];
                            offer(room / closing, Event::Slips(i, side));
                        }
                    }
                }
                State::Open if self.da[i] < 0.0 && moves(i) => {
                    offer(-self.a[i] / self.da[i], Event::Closes(i));
                }
                State::Limit(side) if side * self.da[i] > 0.0 && moves(i) => {
                    offer(-self.a[i] / self.da[i], Event::Sticks(i));
                }
                _ => {}
            }
        }
        first
    }

    fn largest_df(&self) -> f64 {
        self.df.iter().fold(0.0, |size: f64, d| size.max(d.abs()))
    }

    /// Changes states after a step ⇒ whether the driven row is done.
    fn happen(&mut self, event: Event, row: usize, sigma: f64) -> bool {
        match event {
            Event::Satisfied => {
                self.a[row] = 0.0;
                self.hold(row);
                return true;
            }
            Event::AtLimit => {
                self.put_at_limit(row, sigma);
                return true;
            }
            Event::Opens(n) => {
                for i in [n + 1, n + 2] {
                    self.release(i);
                    if !matches!(self.state[i], State::Slides(_)) {
                        self.state[i] = State::Off;
                    }
                    self.force[i] = 0.0;
                }
                self.release(n);
                self.force[n] = 0.0;
                self.state[n] = State::Open;
            }
            Event::Closes(n) => {
                self.a[n] = 0.0;
                for i in [n + 1, n + 2] {
                    if self.state[i] == State::Off && self.a[i].abs() > self.nothing {
                        self.state[i] = State::Limit(if self.a[i] < 0.0 { 1.0 } else { -1.0 });
                    }
                }
                self.hold(n);
                for i in [n + 1, n + 2] {
                    if self.state[i] == State::Off {
                        self.hold(i);
                    }
                }
            }
            Event::Slips(i, side) => {
                self.release(i);
                self.put_at_limit(i, side);
            }
            Event::Sticks(i) => {
                self.a[i] = 0.0;
                let share = self.follows(i);
                self.state[i] = State::Off;
                self.change_normal(i, -share);
                self.hold(i);
            }
            Event::Frees(i) => {
                self.state[i] = State::Off;
                self.hold(i);
            }
        }
        false
    }

    /// The normal's column changes by `share` times a tangent's.
    fn change_normal(&mut self, tangent: usize, share: f64) {
        let n = tangent - tangent % 3;
        let Some(place) = self.held.iter().position(|row| *row == n) else { return };
        let a = self.problem.a();
        let delta: Vec<f64> = self.held.iter().map(|i| share * a[(*i, tangent)]).collect();
        if !self.inverse.change_column(place, &delta) {
            self.rebuild();
        }
    }

    fn put_at_limit(&mut self, row: usize, side: f64) {
        self.force[row] = side * self.mu(row) * self.force[row - row % 3];
        self.state[row] = State::Limit(side);
        self.change_normal(row, side * self.mu(row));
    }

    /// Makes a row an unknown, or binds it if it depends on the others.
    fn hold(&mut self, row: usize) {
        let entries: Vec<f64> = self.held.iter().map(|j| self.merged(row, *j)).collect();
        let (column, corner) = (self.column(row), self.merged(row, row));
        let least = DEPENDENT * self.problem.scale(row);
        if self.inverse.border(&entries, &column, corner, least) {
            self.held.push(row);
            self.state[row] = State::Held;
        } else {
            self.state[row] = State::Bound;
        }
    }

    /// Takes a row out of the unknowns, if it is one.
    fn release(&mut self, row: usize) {
        let Some(place) = self.held.iter().position(|held| *held == row) else { return };
        self.held.remove(place);
        if !self.inverse.remove(place) {
            self.rebuild();
        }
    }

    /// The inverse of the unknowns as they are now; those that depend on others are bound.
    fn rebuild(&mut self) {
        self.inverse = Inverse::default();
        for row in std::mem::take(&mut self.held) {
            self.hold(row);
        }
    }

    /// The forces with the errors of many updates removed: Ā_HH x = −b_H − (terms of bound rows), if that
    /// reduces the residual.
    pub fn polished(&self) -> Vec<f64> {
        let bound = |i: usize| self.state[i] == State::Bound;
        let mut force = vec![0.0; self.force.len()];
        for i in (0..force.len()).filter(|i| bound(*i)) {
            force[i] = self.force[i];
            for tangent in [i + 1, i + 2].into_iter().filter(|_| i % 3 == 0) {
                force[tangent] += self.follows(tangent) * force[i];
            }
        }
        let matrix = SquareMatrix::from_fn(self.held.len(), |i, j| self.merged(self.held[i], self.held[j]));
        let mut best = (self.problem.residual(&self.force), self.force.clone());
        // The first round solves, the others refine.
        for _ in 0..3 {
            let mut x: Vec<f64> = self
                .held
                .iter()
                .map(|i| -self.problem.b()[*i] - dot(self.problem.a().row(*i), &force))
                .collect();
            if !eliminate(&mut matrix.clone(), &mut x) {
                break;
            }
            for (j, x) in self.held.iter().zip(&x) {
                force[*j] += *x;
            }
            for n in (0..force.len()).step_by(3).filter(|n| self.state[*n] == State::Held) {
                for tangent in [n + 1, n + 2] {
                    let share = self.follows(tangent);
                    if share != 0.0 {
                        force[tangent] = share * force[n];
                    }
                }
            }
            let residual = self.problem.residual(&force);
            if residual < best.0 {
                best = (residual, force.clone());
            }
        }
        best.1
    }
}
