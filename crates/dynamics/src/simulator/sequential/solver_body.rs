//! Bodies in the sequential solver, and the impulse that removes the error of a point constraint.
//!
//! A point at r₁ from the centre of body 1 and a point at r₂ from that of body 2 should coincide and have the
//! relative velocity v_r. An impulse J on body 2 (and −J on body 1) changes their relative velocity by K J,
//!
//!   K = Σ w 1 − [r]× W [r]×,
//!
//! with w and W the inverse mass and inverse inertia. So J = f K⁻¹ (v_r − v) removes the fraction f of a
//! velocity error, and P = f K⁻¹ (−Δx), applied as displacement times mass, the same fraction of a position
//! error, without changing the velocities.

use crate::rigid::{Inertia, Motion};
use crate::solver::ImpulseResponse;
use glam::{DMat3, DQuat, DVec3};

/// State of a body while constraints are solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequentialBody {
    pub motion: Motion,
    pub inertia: Inertia,
    /// Whether impulses move it.
    pub movable: bool,
}

impl SequentialBody {
    /// W v; zero for a body that impulses do not move.
    fn inverse_inertia_times(&self, v: DVec3) -> DVec3 {
        if self.movable { self.inertia.angular_velocity(self.motion.q, v) } else { DVec3::ZERO }
    }

    /// w; zero for a body that impulses do not move.
    fn inverse_mass(&self) -> f64 {
        if self.movable { self.inertia.inverse_mass } else { 0.0 }
    }

    /// Applies an impulse at a point, N s, and an angular impulse, N m s.
    pub fn apply_wrench_impulse(&mut self, impulse: DVec3, point: DVec3, twist: DVec3) {
        let angular = (point - self.motion.x).cross(impulse) + twist;
        self.motion.v += impulse * self.inverse_mass();
        self.motion.omega += self.inverse_inertia_times(angular);
    }

    /// Applies the same as a displacement: kg m at a point, and kg m².
    pub fn apply_displacement(&mut self, impulse: DVec3, point: DVec3, twist: DVec3) {
        let turn = self.inverse_inertia_times((point - self.motion.x).cross(impulse) + twist);
        self.motion.x += impulse * self.inverse_mass();
        self.motion.q = (DQuat::from_scaled_axis(turn) * self.motion.q).normalize();
    }
}

impl ImpulseResponse for SequentialBody {
    fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.motion.velocity_at(point)
    }

    fn inverse_mass_at(&self, point: DVec3) -> DMat3 {
        let r = point - self.motion.x;
        let column = |e: DVec3| e * self.inverse_mass() + self.inverse_inertia_times(r.cross(e)).cross(r);
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
    }

    fn apply_impulse(&mut self, point: DVec3, impulse: DVec3) {
        self.apply_wrench_impulse(impulse, point, DVec3::ZERO);
    }
}

/// Two different bodies of a list; `None` if they are the same.
pub(super) fn pair_mut(
    bodies: &mut [SequentialBody],
    [a, b]: [usize; 2],
) -> Option<(&mut SequentialBody, &mut SequentialBody)> {
    match bodies.get_disjoint_mut([a, b]) {
        Ok([one, other]) => Some((one, other)),
        Err(_) => None,
    }
}

/// Fraction of an error that one iteration removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relaxation {
    /// β β_ij / k in each of k iterations: (1 − ββ_ij/k)^k of the error remains.
    Fraction,
    /// β β_ij / (k − l) at iteration l.
    Remaining,
    /// β β_ij: Gauss–Seidel.
    #[default]
    Full,
}

impl Relaxation {
    /// Names of all.
    pub const NAMES: [(&'static str, Self); 3] =
        [("full", Self::Full), ("remaining", Self::Remaining), ("fraction", Self::Fraction)];

    pub(super) fn fraction(self, beta: f64, iteration: usize, iterations: usize) -> f64 {
        match self {
            Self::Fraction => beta / iterations as f64,
            Self::Remaining => beta / (iterations - iteration) as f64,
            Self::Full => beta,
        }
    }
}
