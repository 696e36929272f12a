//! Discrepancies: pairs of points that should coincide, and what makes them.
//!
//! A point r₁ from the centre of body 1 and a point r₂ from that of body 2 should be at the same place and move against each other
//! with a velocity v_r. An impulse J on body 2 (and −J on body 1) there changes their relative velocity by K J,
//!
//!   K = Σ w 1 − [r]× W [r]×,
//!
//! w and W being inverse mass and inverse inertia. So J = f K⁻¹ (v_r − v) takes the fraction f of a wrong velocity away, and
//! P = f K⁻¹ (−Δx), taken as a displacement times mass, the same fraction of a distance, without adding to the velocities.

use crate::motion::{Inertia, Motion};
use glam::{DMat3, DQuat, DVec3};

/// A body while constraints are solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mass {
    pub motion: Motion,
    pub inertia: Inertia,
    /// Whether impulses move it.
    pub movable: bool,
}

impl Mass {
    /// W v.
    fn turn(&self, v: DVec3) -> DVec3 {
        if self.movable { self.inertia.angular_velocity(self.motion.q, v) } else { DVec3::ZERO }
    }

    fn inverse_mass(&self) -> f64 {
        if self.movable { self.inertia.inverse_mass } else { 0.0 }
    }

    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.motion.v + self.motion.omega.cross(point - self.motion.x)
    }

    /// Adds an impulse at a point, and an angular one.
    pub fn push(&mut self, impulse: DVec3, point: DVec3, twist: DVec3) {
        let turn = (point - self.motion.x).cross(impulse) + twist;
        self.motion.v += impulse * self.inverse_mass();
        self.motion.omega += self.turn(turn);
    }

    /// The same as a displacement.
    pub fn shift(&mut self, impulse: DVec3, point: DVec3, twist: DVec3) {
        let turn = self.turn((point - self.motion.x).cross(impulse) + twist);
        self.motion.x += impulse * self.inverse_mass();
        self.motion.q = (DQuat::from_scaled_axis(turn) * self.motion.q).normalize();
    }
}

/// K of two bodies at a point of each.
pub(super) fn k_matrix(one: &Mass, other: &Mass, points: [DVec3; 2]) -> DMat3 {
    let column = |e: DVec3| {
        let side = |mass: &Mass, point: DVec3| {
            let r = point - mass.motion.x;
            e * mass.inverse_mass() + mass.turn(r.cross(e)).cross(r)
        };
        side(one, points[0]) + side(other, points[1])
    };
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

/// Two bodies of a list, the first before the second or after it.
pub(super) fn both(masses: &mut [Mass], [a, b]: [usize; 2]) -> Option<(&mut Mass, &mut Mass)> {
    match masses.get_disjoint_mut([a, b]) {
        Ok([one, other]) => Some((one, other)),
        Err(_) => None,
    }
}

/// How much of a discrepancy an iteration takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relaxation {
    /// β β_ij / k: what is left after k iterations is (1 − ββ_ij/k)^k.
    Fraction,
    /// β β_ij / (k − l) at iteration l.
    Remaining,
    /// β β_ij: Gauss–Seidel.
    Full,
}

impl Relaxation {
    pub const NAMES: [(&'static str, Self); 3] =
        [("full", Self::Full), ("remaining", Self::Remaining), ("fraction", Self::Fraction)];

    pub fn fraction(self, beta: f64, iteration: usize, iterations: usize) -> f64 {
        match self {
            Self::Fraction => beta / iterations as f64,
            Self::Remaining => beta / (iterations - iteration) as f64,
            Self::Full => beta,
        }
    }
}
