//! Passivity: the contacts of an island never add to its energy.
//!
//! Over a sub-step the loads F, τ at its beginning do the work W = Σ F·Δx + τ·Δθ on the bodies of an island. Contacts
//! with static bodies can only dissipate, so T₁ ≤ T₀ + W. Contact phases satisfy this to the error of their
//! Runge–Kutta method; time steps with contacts fixed at their beginning, and the removal of overlaps, are of first
//! order and can violate it. The excess is taken from the velocities of the bodies in contact, all scaled by
//! s = √(1 − (T₁ − T₀ − W)/T_c), T_c their kinetic energy: relative velocities that are zero (resting and sticking
//! points) stay zero, and slip keeps its direction. Where T_c is too small, overlaps were removed without anything
//! that did the work: the bodies in contact are moved back along the loads by the remaining energy over Σ m|a|.

use super::Constraint;
use super::tuning::ENERGY_ROUNDING;
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::Trajectory;
use glam::DVec3;
use rattleback_geometry::swept::rotation_vector;

/// Energy balance of an island over a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EnergyBalance {
    /// T₁ − T₀ − W, J.
    excess: f64,
    /// Sum of the energies it is the difference of, J.
    scale: f64,
    /// T_c: kinetic energy of the bodies in contact at the end, J.
    in_contact: f64,
    /// Σ m|a| of these bodies, N.
    weight: f64,
}

impl EnergyBalance {
    /// Whether contacts have added energy, beyond a relative error.
    pub fn gains(&self, tolerance: f64) -> bool {
        self.excess > tolerance * self.scale
    }
}

impl Constraint {
    /// Energy balance of an island in contact with static bodies alone; `None` for others. Kinematic bodies do work, and
    /// without a static body scaling would violate conservation of momentum.
    pub(super) fn energy_balance(
        &self,
        island: &ContactIsland,
        (start, free): (&[Motion], &[Trajectory]),
        end: &[Motion],
    ) -> Option<EnergyBalance> {
        let moves = |body: &usize| start[*body].v != DVec3::ZERO || start[*body].omega != DVec3::ZERO;
        if island.others.is_empty() || island.others.iter().any(moves) {
            return None;
        }
        let mut balance = EnergyBalance::default();
        for &body in &island.bodies {
            let (inertia, from, to) = (&self.mirror.bodies[body].inertia, &start[body], &end[body]);
            let [before, after] = [from, to].map(|motion| inertia.kinetic_energy(motion));
            let mut work = 0.0;
            if let Trajectory::Ballistic { acceleration, torque } = free[body] {
                work += inertia.mass() * acceleration.dot(to.x - from.x);
                if torque != DVec3::ZERO {
                    work += torque.dot(rotation_vector(from.q, to.q));
                }
            }
            balance.excess += after - before - work;
            balance.scale += after + before + work.abs();
            if !self.contact_free[body] {
                balance.in_contact += after;
                balance.weight += pull(free[body]).length() * inertia.mass();
            }
        }
        balance.excess.is_finite().then_some(balance)
    }

    /// Removes the energy that an island has gained from its contacts over an interval.
    pub(super) fn limit_energy(
        &self,
        island: &ContactIsland,
        (start, free): (&[Motion], &[Trajectory]),
        end: &mut [Motion],
    ) {
        let Some(balance) = self.energy_balance(island, (start, free), end) else { return };
        let EnergyBalance { excess, in_contact, weight, .. } = balance;
        if !balance.gains(ENERGY_ROUNDING) || in_contact <= 0.0 && weight == 0.0 {
            return;
        }
        let factor = if in_contact > 0.0 { (1.0 - excess / in_contact).max(0.0).sqrt() } else { 0.0 };
        let unpaid = (excess - in_contact).max(0.0);
        let down = if weight > 0.0 { unpaid / weight } else { 0.0 };
        for &body in &island.bodies {
            if !self.contact_free[body] {
                end[body].v *= factor;
                end[body].omega *= factor;
                end[body].x += down * pull(free[body]).normalize_or_zero();
            }
        }
    }
}

/// Acceleration of free flight, m/s².
fn pull(free: Trajectory) -> DVec3 {
    match free {
        Trajectory::Ballistic { acceleration, .. } => acceleration,
        _ => DVec3::ZERO,
    }
}
