//! A single impact with friction along two axes, each with its own coefficient.
//!
//! In the contact frame (n, t, k) an impulse P changes the relative velocity by K P. The normal ends with
//! u⁺_n = −e u_n. Each tangent sticks (u⁺_τ = 0, |P_τ| ≤ μ_τ P_n) or slides to one side (P_τ = σ μ_τ P_n, σ
//! u⁺_τ ≤ 0): nine cases, each a 3×3 system, of which one is consistent. Energy changes by ½ P·(u + u⁺);
//! Newton's restitution with friction can make that positive, then e is reduced.
//!
//! M. G. Coutinho (2013), §4.11; his comparison with a critical coefficient of friction fails where the
//! normal impulse itself reverses the slip.

use glam::{DMat3, DVec3};

/// Why an impact has no solution.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpactError {
    /// The bodies separate already.
    #[error("the bodies do not approach each other: u_n = {normal_velocity} m/s")]
    Separating {
        /// u_n, m/s.
        normal_velocity: f64,
    },
    /// A coefficient is out of range or a number is not finite.
    #[error("restitution must be in [0, 1], friction ≥ 0, K symmetric positive definite, all finite")]
    Parameter,
}

/// State of a tangent direction after the impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TangentState {
    /// No slip remains.
    Sticks,
    /// It slides; the friction impulse is positive.
    SlidesPushedForward,
    /// It slides; the friction impulse is negative.
    SlidesPushedBack,
}

/// An impact in its contact frame n, t, k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionalImpact {
    /// K, 1/kg: change of relative velocity per unit impulse.
    pub k: DMat3,
    /// u, relative velocity before the impact, m/s; u_n < 0.
    pub u: DVec3,
    /// e, in [0, 1].
    pub restitution: f64,
    /// μ_t and μ_k, at least 0.
    pub friction: [f64; 2],
}

/// Solution of an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactOutcome {
    /// P, on the body whose velocity relative to the other is u, N s.
    pub impulse: DVec3,
    /// u⁺, m/s.
    pub velocity: DVec3,
    /// States of t and k.
    pub states: [TangentState; 2],
    /// Change of kinetic energy, J.
    pub energy: f64,
    /// e used: less than the given one if that would have created energy.
    pub restitution: f64,
    /// Violation of the conditions of the case taken, m/s; 0 for a consistent one.
    pub inconsistency: f64,
}

const STATES: [TangentState; 3] =
    [TangentState::Sticks, TangentState::SlidesPushedForward, TangentState::SlidesPushedBack];

impl DirectionalImpact {
    /// Impact ⇒ impulse; `clamp_energy` reduces e where energy would be created.
    ///
    /// # Errors
    /// If the bodies separate, or a parameter is out of range.
    ///
    /// ```
    /// use glam::{DMat3, DVec3};
    /// use rattleback_dynamics::simulator::constraint::DirectionalImpact;
    /// // A particle of 2 kg.
    /// let k = DMat3::from_diagonal(DVec3::splat(0.5));
    /// let hit = DirectionalImpact { k, u: DVec3::new(-1.0, 3.0, 0.0), restitution: 0.5, friction: [0.2, 0.2] };
    /// let outcome = hit.resolve(true)?;
    /// assert!((outcome.impulse - DVec3::new(3.0, -0.6, 0.0)).length() < 1e-12);
    /// # Ok::<(), rattleback_dynamics::simulator::constraint::ImpactError>(())
    /// ```
    pub fn resolve(&self, clamp_energy: bool) -> Result<ImpactOutcome, ImpactError> {
        self.check()?;
        let outcome = self.with_restitution(self.restitution);
        if !clamp_energy || outcome.energy <= 1e-12 * self.u.length_squared() / self.k.x_axis.x {
            return Ok(outcome);
        }
        let (mut low, mut high) = (0.0, self.restitution);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if self.with_restitution(middle).energy > 0.0 { high = middle } else { low = middle }
        }
        Ok(self.with_restitution(low))
    }

    fn check(&self) -> Result<(), ImpactError> {
        let finite = self.k.is_finite() && self.u.is_finite();
        let coefficients = (0.0..=1.0).contains(&self.restitution)
            && self.friction.iter().all(|mu| mu.is_finite() && *mu >= 0.0);
        let positive = self.k.x_axis.x > 0.0 && self.k.determinant() > 0.0;
        if !(finite && coefficients && positive) {
            return Err(ImpactError::Parameter);
        }
        if self.u.x >= 0.0 {
            return Err(ImpactError::Separating { normal_velocity: self.u.x });
        }
        Ok(())
    }

    fn with_restitution(&self, e: f64) -> ImpactOutcome {
        let mut best: Option<ImpactOutcome> = None;
        for t in STATES {
            for k in STATES {
                let Some(outcome) = self.assume([t, k], e) else { continue };
                if outcome.inconsistency == 0.0 {
                    return outcome;
                }
                if best.is_none_or(|best| outcome.inconsistency < best.inconsistency) {
                    best = Some(outcome);
                }
            }
        }
        best.unwrap_or(ImpactOutcome {
            impulse: DVec3::ZERO,
            velocity: self.u,
            states: [TangentState::Sticks; 2],
            energy: 0.0,
            restitution: e,
            inconsistency: f64::INFINITY,
        })
    }

    /// Solution for given states of t and k; `None` if the equations are singular.
    fn assume(&self, states: [TangentState; 2], e: f64) -> Option<ImpactOutcome> {
        let row = |i: usize| DVec3::new(self.k.x_axis[i], self.k.y_axis[i], self.k.z_axis[i]);
        let mut rows = [row(0), DVec3::ZERO, DVec3::ZERO];
        let mut right = DVec3::new(-(1.0 + e) * self.u.x, 0.0, 0.0);
        for axis in [1, 2] {
            let sigma = side(states[axis - 1]);
            if sigma == 0.0 {
                rows[axis] = row(axis);
                right[axis] = -self.u[axis];
            } else {
                rows[axis][0] = -sigma * self.friction[axis - 1];
                rows[axis][axis] = 1.0;
            }
        }
        let matrix = DMat3::from_cols(rows[0], rows[1], rows[2]).transpose();
        if matrix.determinant().abs() <= 1e-14 * self.k.x_axis.x {
            return None;
        }
        let impulse = matrix.inverse() * right;
        let velocity = self.u + self.k * impulse;
        let mut inconsistency = (-impulse.x).max(0.0) * self.k.x_axis.x;
        let rounding = 1e-12 * self.u.length();
        for axis in [1, 2] {
            let sigma = side(states[axis - 1]);
            let miss = if sigma == 0.0 {
                (impulse[axis].abs() - self.friction[axis - 1] * impulse.x) * self.k.x_axis.x
            } else {
                sigma * velocity[axis]
            };
            inconsistency = inconsistency.max(miss);
        }
        if inconsistency <= rounding {
            inconsistency = 0.0;
        }
        let energy = 0.5 * impulse.dot(self.u + velocity);
        Some(ImpactOutcome { impulse, velocity, states, energy, restitution: e, inconsistency })
    }
}

/// σ of a state.
fn side(state: TangentState) -> f64 {
    match state {
        TangentState::Sticks => 0.0,
        TangentState::SlidesPushedForward => 1.0,
        TangentState::SlidesPushedBack => -1.0,
    }
}
