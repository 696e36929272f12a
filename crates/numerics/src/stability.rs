//! How large a step may be before a method becomes unstable, whatever its accuracy.
//!
//! Decay u̇ = −a u, with s = ah: one step multiplies u by R(−s), where R is the method's truncation of
//! e^(−s): explicit Euler 1 − s, RK2 1 − s + s²/2, RK4 1 − s + s²/2 − s³/6 + s⁴/24, implicit Euler 1/(1 + s).
//!
//! Oscillator ẍ = −ω²x, with z = (ωh)²: the squared modulus |G|² = |R(iωh)|² is
//! explicit Euler 1 + z, implicit Euler 1/(1 + z), RK2 1 + z²/4, RK4 1 − z³/72 + z⁴/576.
//! Symplectic Euler and Verlet have determinant 1 and trace 2 − z: |G| = 1 up to z = 4, then one root leaves
//! the unit circle.
//!
//! Mass–spring systems: the rows of M⁻¹K sum to at most 2 Σⱼ k_ij/m_i in modulus, which by Gershgorin bounds
//! its largest eigenvalue ω².

use thiserror::Error;

/// The methods whose stability is known in closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// y' = y + h f(t, y).
    ExplicitEuler,
    /// y' = y + h f(t + h, y').
    ImplicitEuler,
    /// Any two-stage Runge–Kutta method of order 2.
    RungeKutta2,
    /// The classical Runge–Kutta method.
    RungeKutta4,
    /// v' = v + h a, x' = x + h v'.
    SymplecticEuler,
    /// Velocity or basic Verlet.
    Verlet,
}

/// (method, ωh) → |G|², the factor on the energy of an undamped oscillator per step (of its growing mode).
pub fn oscillator_amplification(method: Method, omega_h: f64) -> f64 {
    let z = omega_h * omega_h;
    match method {
        Method::ExplicitEuler => 1.0 + z,
        Method::ImplicitEuler => 1.0 / (1.0 + z),
        Method::RungeKutta2 => 1.0 + z * z / 4.0,
        Method::RungeKutta4 => 1.0 - z.powi(3) / 72.0 + z.powi(4) / 576.0,
        Method::SymplecticEuler | Method::Verlet if z <= 4.0 => 1.0,
        Method::SymplecticEuler | Method::Verlet => {
            let half_trace = 1.0 - 0.5 * z;
            let root = half_trace.abs() + (half_trace * half_trace - 1.0).sqrt();
            root * root
        }
    }
}

/// (method, ah) → factor on u per step of u̇ = −a u. For symplectic Euler and Verlet u is a velocity damped
/// by the acceleration −a v, evaluated as those methods do: as by explicit Euler, as by Heun's method.
pub fn decay_factor(method: Method, a_h: f64) -> f64 {
    match method {
        Method::ExplicitEuler | Method::SymplecticEuler => 1.0 - a_h,
        Method::ImplicitEuler => 1.0 / (1.0 + a_h),
        Method::RungeKutta2 | Method::Verlet => 1.0 - a_h + 0.5 * a_h * a_h,
        Method::RungeKutta4 => 1.0 - a_h * (1.0 - a_h / 2.0 * (1.0 - a_h / 3.0 * (1.0 - a_h / 4.0))),
    }
}

/// (method, ω_max) → largest step at which no undamped oscillation up to ω_max grows; +∞ for none, 0 if every
/// step makes it grow. The bound is reached, but not allowed, by the symplectic methods.
pub fn max_stable_step(method: Method, omega_max: f64) -> f64 {
    if omega_max == 0.0 {
        return f64::INFINITY;
    }
    let limit = match method {
        Method::ExplicitEuler | Method::RungeKutta2 => 0.0,
        Method::ImplicitEuler => f64::INFINITY,
        Method::RungeKutta4 => 8.0_f64.sqrt(),
        Method::SymplecticEuler | Method::Verlet => 2.0,
    };
    limit / omega_max.abs()
}

/// (method, a_max) → largest step at which no decay up to the rate a_max turns into growth; +∞ for none.
pub fn max_stable_decay_step(method: Method, a_max: f64) -> f64 {
    // Real root of s³ − 4s² + 12s − 24 = 0, where RK4 reaches R = 1.
    const RUNGE_KUTTA_4: f64 = 2.785_293_563_405_289_4;
    if a_max == 0.0 {
        return f64::INFINITY;
    }
    let limit = match method {
        Method::ImplicitEuler => f64::INFINITY,
        Method::RungeKutta4 => RUNGE_KUTTA_4,
        Method::ExplicitEuler | Method::RungeKutta2 | Method::SymplecticEuler | Method::Verlet => 2.0,
    };
    limit / a_max.abs()
}

/// A spring between two masses, as far as stability is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Indices of the masses at its ends.
    pub ends: [usize; 2],
    /// Stiffness in N/m.
    pub stiffness: f64,
}

/// Why a mass–spring system has no frequency bound.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum MassSpringError {
    /// A mass that is not positive.
    #[error("mass {index} is {mass} kg: must be greater than zero (+∞ for a pinned one)")]
    Mass {
        /// Which mass.
        index: usize,
        /// Its value.
        mass: f64,
    },
    /// A stiffness that is negative or not finite.
    #[error("spring {index} has stiffness {stiffness} N/m: must be finite and not negative")]
    Stiffness {
        /// Which spring.
        index: usize,
        /// Its stiffness.
        stiffness: f64,
    },
    /// A spring that refers to a mass that does not exist.
    #[error("spring {index} ends at mass {end}: there are {masses} masses")]
    End {
        /// Which spring.
        index: usize,
        /// The index it refers to.
        end: usize,
        /// How many masses there are.
        masses: usize,
    },
}

/// (masses, springs) → an upper bound on the highest angular frequency, √maxᵢ(2 Σⱼ k_ij/mᵢ).
///
/// ```
/// use rattleback_numerics::stability::{Method, Spring, mass_spring_frequency_bound, max_stable_step};
/// let springs = [Spring { ends: [0, 1], stiffness: 50.0 }];
/// let omega = mass_spring_frequency_bound(&[1.0, 1.0], &springs)?;
/// assert_eq!(omega, 10.0); // exact here: two equal masses swing at √(2k/m)
/// assert_eq!(max_stable_step(Method::Verlet, omega), 0.2);
/// # Ok::<(), rattleback_numerics::stability::MassSpringError>(())
/// ```
pub fn mass_spring_frequency_bound(masses: &[f64], springs: &[Spring]) -> Result<f64, MassSpringError> {
    for (index, &mass) in masses.iter().enumerate() {
        if mass.is_nan() || mass <= 0.0 {
            return Err(MassSpringError::Mass { index, mass });
        }
    }
    let mut stiffness_at = vec![0.0; masses.len()];
    for (index, spring) in springs.iter().enumerate() {
        let stiffness = spring.stiffness;
        if !(stiffness >= 0.0 && stiffness.is_finite()) {
            return Err(MassSpringError::Stiffness { index, stiffness });
        }
        for end in spring.ends {
            let masses = masses.len();
            *stiffness_at.get_mut(end).ok_or(MassSpringError::End { index, end, masses })? += stiffness;
        }
    }
    let square = stiffness_at.iter().zip(masses).map(|(k, m)| 2.0 * k / m).fold(0.0, f64::max);
    Ok(square.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_where_the_amplification_reaches_one() {
        for method in [Method::RungeKutta4, Method::SymplecticEuler, Method::Verlet] {
            let limit = max_stable_step(method, 1.0);
            assert!(oscillator_amplification(method, 0.999 * limit) <= 1.0);
            assert!(oscillator_amplification(method, 1.001 * limit) > 1.0);
        }
        let all = [Method::ExplicitEuler, Method::RungeKutta2, Method::RungeKutta4, Method::Verlet];
        for method in all {
            let limit = max_stable_decay_step(method, 4.0) * 4.0;
            assert!((decay_factor(method, limit).abs() - 1.0).abs() < 1e-12);
            assert!(decay_factor(method, 0.999 * limit).abs() < 1.0);
            assert!(decay_factor(method, 1.001 * limit).abs() > 1.0);
        }
    }

    #[test]
    fn methods_that_are_never_or_always_stable() {
        assert_eq!(max_stable_step(Method::ExplicitEuler, 3.0), 0.0);
        assert_eq!(max_stable_step(Method::ImplicitEuler, 3.0), f64::INFINITY);
        assert_eq!(max_stable_step(Method::Verlet, 0.0), f64::INFINITY);
        assert!(oscillator_amplification(Method::ImplicitEuler, 1e3) < 1e-5);
        assert!(decay_factor(Method::ImplicitEuler, 1e6) < 1e-5);
    }

    /// A chain of n equal masses between walls swings at 2√(k/m) sin(nπ/2(n+1)) at most.
    #[test]
    fn the_bound_of_a_chain_lies_above_its_highest_frequency_and_is_sharp_for_long_ones() {
        let (n, m, k) = (50_usize, 0.01, 1e5);
        let mut masses = vec![m; n];
        masses.extend([f64::INFINITY, f64::INFINITY]);
        let mut springs: Vec<Spring> = (1..n).map(|i| Spring { ends: [i - 1, i], stiffness: k }).collect();
        springs.push(Spring { ends: [n, 0], stiffness: k });
        springs.push(Spring { ends: [n - 1, n + 1], stiffness: k });
        let bound = mass_spring_frequency_bound(&masses, &springs).unwrap();
        let angle = n as f64 * std::f64::consts::PI / (2.0 * (n + 1) as f64);
        let highest = 2.0 * (k / m).sqrt() * angle.sin();
        assert!(bound >= highest && bound < 1.001 * highest);
        // The published limit for k = 1e5, m = 0.01: h < √(m/k) = 3.16e-4 s.
        assert!((max_stable_step(Method::SymplecticEuler, bound) - 3.16e-4).abs() < 1e-6);
    }

    #[test]
    fn impossible_systems_are_refused() {
        let spring = |end, stiffness| [Spring { ends: [0, end], stiffness }];
        let bound = mass_spring_frequency_bound;
        assert!(matches!(bound(&[1.0, 0.0], &[]), Err(MassSpringError::Mass { index: 1, .. })));
        assert!(matches!(bound(&[f64::NAN], &[]), Err(MassSpringError::Mass { .. })));
        assert!(matches!(bound(&[1.0, 1.0], &spring(2, 1.0)), Err(MassSpringError::End { end: 2, .. })));
        assert!(matches!(bound(&[1.0, 1.0], &spring(1, -1.0)), Err(MassSpringError::Stiffness { .. })));
        assert_eq!(bound(&[], &[]), Ok(0.0));
    }
}
