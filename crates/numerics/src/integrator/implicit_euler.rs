//! Implicit (backward) Euler: y' = y + h f(t + h, y').
//!
//! Newton's method on F(z) = z − y − h f(t + h, z): solve (I − hJ) d = −F(z), z ← z + d, J = ∂f/∂y. The
//! linear systems are solved by GMRES, which only needs products
//!
//!   J v ≈ (f(z + εv) − f(z)) / ε,  ε = √ε_machine (1 + |z|) / |v|.
//!
//! If f is affine in y the product f(v) − f(0) is exact and so is the first Newton step; with f = −C y that
//! step is (I + hC) y' = y.
//!
//! On u̇ = −a u it multiplies by 1/(1 + ah): stable for any h, dissipative, of order 1.

use super::gmres::Gmres;
use super::{Integrator, accept, check_step, evaluate};
use crate::workspace::Workspace;
use crate::{State, StepError, System};

/// Relative residual to which each linear system is solved; better is below the noise of differenced
/// products.
const LINEAR_TOLERANCE: f64 = 1e-8;
/// Restarts of the linear solver before Newton uses its last iterate.
const LINEAR_RESTARTS: u32 = 20;

/// Implicit Euler, order 1, stable for any step on decaying systems.
#[derive(Clone, Debug)]
pub struct ImplicitEuler<Y> {
    /// Newton iterations after which a step counts as failed; 8 by default.
    pub max_newton: u32,
    /// Residual, relative to the one at the start, at which a step counts as solved; 1e-10 by default.
    pub residual: f64,
    affine: bool,
    gmres: Gmres<Y>,
    work: Workspace<Y, 7>,
}

impl<Y> ImplicitEuler<Y> {
    /// For any system.
    pub fn new() -> Self {
        Self {
            max_newton: 8,
            residual: 1e-10,
            affine: false,
            gmres: Gmres::default(),
            work: Workspace::default(),
        }
    }

    /// For systems f(t, y) = A(t) y + b(t): no differences are taken, the linear systems are exact.
    pub fn affine() -> Self {
        Self { affine: true, ..Self::new() }
    }
}

impl<Y> Default for ImplicitEuler<Y> {
    fn default() -> Self {
        Self::new()
    }
}

fn norm<Y: State>(y: &Y) -> f64 {
    y.dot(y).sqrt()
}

/// F = z − y − h f.
fn residual_of<Y: State>(z: &Y, y: &Y, h: f64, f: &Y, residual: &mut Y) {
    residual.copy_from(z);
    residual.add_scaled(-1.0, y);
    residual.add_scaled(-h, f);
}

impl<Y: State> Integrator<Y> for ImplicitEuler<Y> {
    fn name(&self) -> &'static str {
        "implicit-euler"
    }

    fn order(&self) -> u32 {
        1
    }

    fn step(&mut self, system: &mut dyn System<Y>, t: f64, h: f64, y: &mut Y) -> Result<(), StepError> {
        check_step(h)?;
        let time = t + h;
        let [z, f, f_zero, residual, correction, shifted, product] = self.work.shaped_like(y);
        z.copy_from(y);
        evaluate(system, time, z, f)?;
        if self.affine {
            shifted.copy_from(y);
            shifted.set_zero();
            evaluate(system, time, shifted, f_zero)?;
        }
        residual_of(z, y, h, f, residual);
        let start = norm(residual);
        let mut iterations = 0;
        loop {
            let error = norm(residual);
            // Sizes whose square overflows cannot be compared, so they must not pass for converged.
            if !error.is_finite() {
                return Err(StepError::NonFinite { time });
            }
            let rounding = 4.0 * f64::EPSILON * (norm(z) + norm(y) + h * norm(f));
            if error <= (self.residual * start).max(rounding) {
                return accept(system, time, z, y);
            }
            if iterations >= self.max_newton {
                return Err(StepError::NotConverged { time, iterations, error: error / start });
            }
            iterations += 1;
            let scale = 1.0 + norm(z);
            let affine = self.affine;
            // v − h J v
            let mut apply = |v: &Y, result: &mut Y| {
                result.copy_from(v);
                let length = norm(v);
                if affine {
                    evaluate(system, time, v, product)?;
                    result.add_scaled(-h, product);
                    result.add_scaled(h, f_zero);
                } else if length > 0.0 {
                    let epsilon = f64::EPSILON.sqrt() * scale / length;
                    shifted.copy_from(z);
                    shifted.add_scaled(epsilon, v);
                    evaluate(system, time, shifted, product)?;
                    result.add_scaled(-h / epsilon, product);
                    result.add_scaled(h / epsilon, f);
                }
                Ok(())
            };
            self.gmres.solve(&mut apply, residual, correction, LINEAR_TOLERANCE, LINEAR_RESTARTS)?;
            z.add_scaled(-1.0, correction);
            evaluate(system, time, z, f)?;
            residual_of(z, y, h, f, residual);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ẏ = −y³: y' solves y' + h y'³ = y.
    struct Cubic;
    impl System<f64> for Cubic {
        fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) {
            *rate = -y * y * y;
        }
    }

    #[test]
    fn the_nonlinear_equation_of_a_step_is_solved() {
        let (h, start) = (2.0, 3.0);
        let mut y = start;
        ImplicitEuler::new().step(&mut Cubic, 0.0, h, &mut y).unwrap();
        assert!((y + h * y * y * y - start).abs() < 1e-9);
    }

    /// ẏ = y² blows up: for y = 1, h = 1 the equation z = 1 + z² has no real solution.
    struct BlowUp;
    impl System<f64> for BlowUp {
        fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) {
            *rate = y * y;
        }
    }

    #[test]
    fn a_step_without_solution_is_an_error_and_leaves_the_state() {
        let mut y = 1.0;
        let result = ImplicitEuler::new().step(&mut BlowUp, 0.0, 1.0, &mut y);
        assert!(matches!(result, Err(StepError::NotConverged { .. } | StepError::NonFinite { .. })));
        assert_eq!(y, 1.0);
    }

    /// A chain of 50 decaying cells, 10⁶ apart in rate, against the tridiagonal solution by elimination.
    struct Chain;
    const CELLS: usize = 50;
    const RATE: f64 = 1e4;
    impl System<Vec<f64>> for Chain {
        fn rate(&mut self, _t: f64, y: &Vec<f64>, rate: &mut Vec<f64>) {
            for i in 0..CELLS {
                let left = if i > 0 { y[i - 1] } else { 0.0 };
                let right = if i + 1 < CELLS { y[i + 1] } else { 0.0 };
                rate[i] = RATE * (left - 2.0 * y[i] + right);
            }
        }
    }

    #[test]
    fn stiff_diffusion_agrees_with_elimination() {
        let h = 0.1;
        let start: Vec<f64> = (0..CELLS).map(|i| f64::from(i as u32 % 7)).collect();
        let (diagonal, off) = (1.0 + 2.0 * h * RATE, -h * RATE);
        let mut pivot = vec![diagonal; CELLS];
        let mut expected = start.clone();
        for i in 1..CELLS {
            let factor = off / pivot[i - 1];
            pivot[i] -= factor * off;
            expected[i] -= factor * expected[i - 1];
        }
        for i in (0..CELLS).rev() {
            let right = if i + 1 < CELLS { expected[i + 1] } else { 0.0 };
            expected[i] = (expected[i] - off * right) / pivot[i];
        }
        for mut method in [ImplicitEuler::affine(), ImplicitEuler::new()] {
            let mut y = start.clone();
            method.step(&mut Chain, 0.0, h, &mut y).unwrap();
            for (y, expected) in y.iter().zip(&expected) {
                assert!((y - expected).abs() < 1e-6 * expected.abs(), "{y} {expected}");
            }
        }
    }
}
