//! Passivity: the contacts of an island never add to its energy.
//!
//! Over a sub-step the loads F, τ of its beginning do the work W = Σ F·Δx + τ·Δθ on the bodies of an island. Contacts with bodies that stand
//! still can only dissipate, so T₁ ≤ T₀ + W. Contact phases keep that to the error of their Runge–Kutta method; time steps with contacts
//! fixed where they were at the beginning, and the correction of overlaps, are of the first order and can miss it. The excess is taken
//! from the velocities of the bodies in contact, all scaled by the factor s = √(1 − (T₁ − T₀ − W)/T_c), T_c their kinetic energy: relative
//! velocities that are zero (points at rest against each other, points that stick) stay zero, and slip keeps its direction. Where the velocities do
//! not have that much, overlaps were taken back that nothing pays for: the bodies in contact are let down again, along the loads, by what is
//! left over Σ m|a|.

use super::Constraint;
use super::force::Course;
use super::island::Island;
use crate::motion::Motion;
use glam::DVec3;
use rattleback_geometry::swept::rotation_vector;

/// Excess that is left alone, in parts of the energies it is the difference of: rounding.
const ROUNDING: f64 = 1e-15;

impl Constraint {
    /// Scales the velocities of bodies in contact down where an island has gained energy from its contacts over a sub-step.
    pub(super) fn limit_energy(
        &self,
        island: &Island,
        (start, free): (&[Motion], &[Course]),
        end: &mut [Motion],
    ) {
        let moves = |actor: &usize| start[*actor].v != DVec3::ZERO || start[*actor].omega != DVec3::ZERO;
        // Joints with motors, and bodies that are moved along paths, do work. Bodies that only touch each other keep their momentum instead.
        if !island.assemblies.is_empty() || island.others.is_empty() || island.others.iter().any(moves) {
            return;
        }
        let pull = |actor: usize| match free[actor] {
            Course::Free { acceleration, .. } => acceleration,
            _ => DVec3::ZERO,
        };
        let (mut excess, mut scale, mut in_contact, mut weight) = (0.0, 0.0, 0.0, 0.0);
        for &actor in &island.actors {
            let (inertia, from, to) = (&self.roster.actors[actor].inertia, &start[actor], &end[actor]);
            let [before, after] = [from, to].map(|motion| inertia.kinetic_energy(motion));
            let mut work = 0.0;
            if let Course::Free { acceleration, torque } = free[actor] {
                work += inertia.mass() * acceleration.dot(to.x - from.x);
                if torque != DVec3::ZERO {
                    work += torque.dot(rotation_vector(from.q, to.q));
                }
            }
            excess += after - before - work;
            scale += after + before + work.abs();
            if !self.contact_free[actor] {
                in_contact += after;
                weight += pull(actor).length() * inertia.mass();
            }
        }
        if excess.is_nan() || excess <= ROUNDING * scale || in_contact <= 0.0 && weight == 0.0 {
            return;
        }
        let factor = if in_contact > 0.0 { (1.0 - excess / in_contact).max(0.0).sqrt() } else { 0.0 };
        let unpaid = (excess - in_contact).max(0.0);
        let down = if weight > 0.0 && !self.is_crowd(island) { unpaid / weight } else { 0.0 };
        for &actor in &island.actors {
            if !self.contact_free[actor] {
                end[actor].v *= factor;
                end[actor].omega *= factor;
                end[actor].x += down * pull(actor).normalize_or_zero();
            }
        }
    }
}
