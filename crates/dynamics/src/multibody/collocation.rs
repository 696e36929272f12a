//! Motion of a tree through time by Gauss–Legendre collocation with three points: order 6, symmetric in time, stable for any step on
//! linear oscillators. A passive linkage keeps its energy to the error of one step instead of letting it drift.
//!
//! Over a step from (q₀, v₀) positions are q = q₀ ⊕ ξ, with ξ in a vector space of as many numbers as there are velocities and ξ̇ = ρ(ξ, v): for
//! angles and lengths ρ = v, for a rotation exp(ξ) it is v + ½ ξ × v + … (see [`JointKind::coordinate_rate`](super::joint::JointKind)). With the nodes c
//! and weights A of the method,
//!
//!   v_i = v₀ + h Σ A_ij a_j,  ξ_i = h Σ A_ij ρ(ξ_j, v_j),  a_i = a(q₀ ⊕ ξ_i, v_i, t + c_i h),
//!
//! solved by iteration: each pass gains a factor of about h times the stiffness. E. Hairer, C. Lubich, G. Wanner, Geometric Numerical
//! Integration, 2006, §II.1 and §VIII.6.

use super::DynamicsError;
use super::tree::LinkTree;

const ROOT_15: f64 = 3.872983346207417;
/// Nodes.
const C: [f64; 3] = [0.5 - ROOT_15 / 10.0, 0.5, 0.5 + ROOT_15 / 10.0];
/// Weights of the stages.
const A: [[f64; 3]; 3] = [
    [5.0 / 36.0, 2.0 / 9.0 - ROOT_15 / 15.0, 5.0 / 36.0 - ROOT_15 / 30.0],
    [5.0 / 36.0 + ROOT_15 / 24.0, 2.0 / 9.0, 5.0 / 36.0 - ROOT_15 / 24.0],
    [5.0 / 36.0 + ROOT_15 / 30.0, 2.0 / 9.0 + ROOT_15 / 15.0, 5.0 / 36.0],
];
/// Weights of the step.
const B: [f64; 3] = [5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0];

/// Passes after which a step is given up.
const MOST_PASSES: u32 = 100;

/// A pass that changes no velocity by more than this part of the largest ends the iteration.
const TOLERANCE: f64 = 1e-15;

/// Memory of the method for one tree; also the accelerations of the last step, from which the next is guessed.
#[derive(Clone, Debug, Default)]
pub struct Collocation {
    accelerations: [Vec<f64>; 3],
    rates: [Vec<f64>; 3],
    next: [Vec<f64>; 3],
    v: Vec<f64>,
    xi: Vec<f64>,
    q: Vec<f64>,
    /// Step from which the accelerations are, s; 0 for none.
    last: f64,
    /// Passes of the last step.
    passes: u32,
}

impl Collocation {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        let n = tree.velocity_count();
        let stages = || std::array::from_fn(|_| vec![0.0; n]);
        Self {
            accelerations: stages(),
            rates: stages(),
            next: stages(),
            v: vec![0.0; n],
            xi: vec![0.0; n],
            q: vec![0.0; tree.position_count()],
            last: 0.0,
            passes: 0,
        }
    }

    /// Passes that the last step took.
    pub const fn passes(&self) -> u32 {
        self.passes
    }

    /// Discards the accelerations of the last step: the motion was interrupted.
    pub const fn restart(&mut self) {
        self.last = 0.0;
    }

    /// Moves (q, v) from t to t + h; `acceleration` is (q, v, t) ⇒ joint accelerations.
    ///
    /// # Errors
    /// What `acceleration` answers, or [`DynamicsError::NotConverged`]; q and v are then as they were.
    pub fn step(
        &mut self,
        tree: &LinkTree,
        (q, v): (&mut [f64], &mut [f64]),
        (t, h): (f64, f64),
        mut acceleration: impl FnMut(&[f64], &[f64], f64, &mut [f64]) -> Result<(), DynamicsError>,
    ) -> Result<(), DynamicsError> {
        super::check_length("positions", q.len(), self.q.len())?;
        super::check_length("velocities", v.len(), self.v.len())?;
        self.guess(h, q, v, t, &mut acceleration)?;
        let mut before = f64::INFINITY;
        for pass in 1..=MOST_PASSES {
            let mut change = 0.0_f64;
            let mut largest = v.iter().fold(1e-300, |most: f64, v| most.max(v.abs()));
            for stage in 0..3 {
                for k in 0..v.len() {
                    self.v[k] = v[k] + h * sum(&A[stage], &self.accelerations, k);
                    self.xi[k] = h * sum(&A[stage], &self.rates, k);
                }
                tree.retract(q, &self.xi, &mut self.q);
                acceleration(&self.q, &self.v, t + C[stage] * h, &mut self.next[stage])?;
                tree.coordinate_rates(q, &self.xi, &self.v, &mut self.rates[stage]);
            }
            for stage in 0..3 {
                for k in 0..v.len() {
                    change = change.max((h * (self.next[stage][k] - self.accelerations[stage][k])).abs());
                    largest = largest.max((h * self.next[stage][k]).abs());
                }
            }
            std::mem::swap(&mut self.next, &mut self.accelerations);
            self.passes = pass;
            // Done, or as near as rounding lets it come.
            if change <= TOLERANCE * largest || (change >= before && change <= 1e-12 * largest) {
                for k in 0..v.len() {
                    v[k] += h * sum(&B, &self.accelerations, k);
                    self.xi[k] = h * sum(&B, &self.rates, k);
                }
                tree.retract(q, &self.xi, &mut self.q);
                q.copy_from_slice(&self.q);
                tree.normalize(q);
                self.last = h;
                return Ok(());
            }
            if !change.is_finite() {
                break;
            }
            before = change;
        }
        self.last = 0.0;
        Err(DynamicsError::NotConverged { step: h })
    }

    /// First guess of the accelerations: the parabola of the last step drawn on, or the acceleration at the beginning.
    fn guess(
        &mut self,
        h: f64,
        q: &[f64],
        v: &[f64],
        t: f64,
        acceleration: &mut impl FnMut(&[f64], &[f64], f64, &mut [f64]) -> Result<(), DynamicsError>,
    ) -> Result<(), DynamicsError> {
        if self.last == h {
            for k in 0..v.len() {
                let old = [0, 1, 2].map(|stage| self.accelerations[stage][k]);
                for stage in 0..3 {
                    self.accelerations[stage][k] = lagrange(&old, 1.0 + C[stage]);
                }
            }
        } else {
            let [first, second, third] = &mut self.accelerations;
            acceleration(q, v, t, first)?;
            second.copy_from_slice(first);
            third.copy_from_slice(first);
        }
        for stage in 0..3 {
            for k in 0..v.len() {
                self.rates[stage][k] = v[k] + h * sum(&A[stage], &self.accelerations, k);
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn sum(weights: &[f64; 3], stages: &[Vec<f64>; 3], k: usize) -> f64 {
    weights[0] * stages[0][k] + weights[1] * stages[1][k] + weights[2] * stages[2][k]
}

/// Values at the nodes ⇒ their parabola at x.
fn lagrange(values: &[f64; 3], x: f64) -> f64 {
    (0..3)
        .map(|i| {
            let others = (0..3).filter(|j| *j != i);
            values[i] * others.map(|j| (x - C[j]) / (C[i] - C[j])).product::<f64>()
        })
        .sum()
}
