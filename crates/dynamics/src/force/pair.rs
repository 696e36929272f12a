//! Forces between every two bodies in scope, along the line between their centres of mass.
//!
//! With r = x_i − x_j, r = |r| and the softened distance s = √(r² + ε²):
//! - gravitation: F_i = −G m_i m_j r / s³, U = −G m_i m_j / s;
//! - Coulomb:     F_i = K q_i q_j r / s³,  U = K q_i q_j / s;
//! - Lennard-Jones: F_i = 48 (ε/σ²) [(σ/r)¹⁴ − ½ (σ/r)⁸] r, U = 4 ε [(σ/r)¹² − (σ/r)⁶].
//!
//! Beyond the cut-off there is nothing; `shifted` subtracts the force at the cut-off, so that it fades to zero there.
//! F_j = −F_i exactly, so momentum is conserved to rounding.

use super::{Force, ForceAccumulator, ForceContext, TargetBody};
use crate::component;
use crate::error::{Error, parameter};
use crate::property::Allowed;
use crate::rigid::Wrench;
use crate::world::Bodies;
use glam::DVec3;

/// G of the source documents, N·m²/kg².
pub const GRAVITATIONAL_CONSTANT: f64 = 6.672e-11;
/// K of the source documents, N·m²/C².
pub const COULOMB_CONSTANT: f64 = 8.9875e9;

/// Calls `visit(i, j, r)` for every unordered pair closer than the cut-off (0: all of them).
fn pairs<'a>(
    scope: &ForceContext<'a>,
    cutoff: f64,
    mut visit: impl FnMut(&TargetBody<'a>, &TargetBody<'a>, DVec3),
) {
    let limit = if cutoff > 0.0 { cutoff * cutoff } else { f64::INFINITY };
    for k in 0..scope.target_count() {
        let Some(i) = scope.nth_target(k) else { continue };
        for j in (k + 1..scope.target_count()).filter_map(|k| scope.nth_target(k)) {
            let r = i.motion.x - j.motion.x;
            if r.length_squared() <= limit {
                visit(&i, &j, r);
            }
        }
    }
}

fn push_apart(loads: &mut ForceAccumulator, i: usize, j: usize, force: DVec3) {
    // Two bodies in the same place push each other nowhere rather than to infinity.
    if force.is_finite() {
        loads.add(i, Wrench { force, torque: DVec3::ZERO });
        loads.add(j, Wrench { force: -force, torque: DVec3::ZERO });
    }
}

/// Inverse-square law with softening: r ⇒ (force on i, potential), for coupling c > 0 repulsive.
fn inverse_square(c: f64, r: DVec3, softening: f64) -> (DVec3, f64) {
    let s2 = r.length_squared() + softening * softening;
    let s = s2.sqrt();
    (c * r / (s2 * s), c / s)
}

/// (bodies i, j) ⇒ coupling constant of the inverse-square law, N·m²; positive repels.
trait InverseSquareCoupling {
    fn coupling(&self, scope: &ForceContext<'_>, i: &TargetBody<'_>, j: &TargetBody<'_>) -> f64;
}

/// Adds the inverse-square forces of all pairs in scope.
fn apply_inverse_square(
    law: &impl InverseSquareCoupling,
    [cutoff, softening]: [f64; 2],
    scope: &ForceContext<'_>,
    loads: &mut ForceAccumulator,
) {
    pairs(scope, cutoff, |i, j, r| {
        push_apart(loads, i.index, j.index, inverse_square(law.coupling(scope, i, j), r, softening).0);
    });
}

/// Inverse-square potential of all pairs in scope, J.
fn inverse_square_energy(
    law: &impl InverseSquareCoupling,
    [cutoff, softening]: [f64; 2],
    scope: &ForceContext<'_>,
) -> f64 {
    let mut sum = 0.0;
    pairs(scope, cutoff, |i, j, r| sum += inverse_square(law.coupling(scope, i, j), r, softening).1);
    sum
}

/// Implements [`Force`] for an [`InverseSquareCoupling`] with `cutoff` and `softening`.
macro_rules! inverse_square_force {
    ($name:ident) => {
        impl Force for $name {
            fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
                apply_inverse_square(self, [self.cutoff, self.softening], scope, loads);
            }

            fn potential_energy(&self, scope: &ForceContext<'_>) -> f64 {
                inverse_square_energy(self, [self.cutoff, self.softening], scope)
            }

            fn power_without_potential(&self, _scope: &ForceContext<'_>) -> Option<f64> {
                Some(0.0)
            }

            fn is_passive(&self) -> bool {
                true
            }
        }
    };
}

component! {
    /// Newton's gravitation between all bodies in scope.
    pub struct Gravitation as "gravitation" {
        /// G.
        constant: f64 = GRAVITATIONAL_CONSTANT, "N·m²/kg²", Allowed::NonNegative;
        /// ε: the force stays bounded below this distance.
        softening: f64 = 0.0, "m", Allowed::NonNegative;
        /// No force beyond this distance; 0 means everywhere.
        cutoff: f64 = 0.0, "m", Allowed::NonNegative;
    }
}

impl InverseSquareCoupling for Gravitation {
    fn coupling(&self, _scope: &ForceContext<'_>, i: &TargetBody<'_>, j: &TargetBody<'_>) -> f64 {
        -self.constant / (i.inertia.inverse_mass * j.inertia.inverse_mass)
    }
}

inverse_square_force!(Gravitation);

component! {
    /// Electrostatic force between all charged bodies in scope.
    pub struct Coulomb as "coulomb" {
        /// K.
        constant: f64 = COULOMB_CONSTANT, "N·m²/C²", Allowed::NonNegative;
        /// ε: the force stays bounded below this distance.
        softening: f64 = 0.0, "m", Allowed::NonNegative;
        /// No force beyond this distance; 0 means everywhere.
        cutoff: f64 = 0.0, "m", Allowed::NonNegative;
    }
}

impl InverseSquareCoupling for Coulomb {
    fn coupling(&self, scope: &ForceContext<'_>, i: &TargetBody<'_>, j: &TargetBody<'_>) -> f64 {
        self.constant * scope.bodies.charge_of(i.id) * scope.bodies.charge_of(j.id)
    }
}

inverse_square_force!(Coulomb);

component! {
    /// Lennard-Jones force between all bodies in scope.
    pub struct LennardJones as "lennard-jones" {
        /// ε: depth of the well.
        depth: f64 = 1.0, "J", Allowed::NonNegative;
        /// σ: distance of zero potential.
        diameter: f64 = 1.0, "m", Allowed::Positive;
        /// No force beyond this distance; 0 means everywhere.
        cutoff: f64 = 0.0, "m", Allowed::NonNegative;
        /// Whether the force stops abruptly at the cut-off or is shifted to fade to zero there.
        truncation: String = "sharp", "", Allowed::OneOf(&["sharp", "shifted"]);
    }
}

impl LennardJones {
    /// Distance ⇒ (force along r, potential), before truncation.
    fn law(&self, r: f64) -> (f64, f64) {
        let s6 = (self.diameter / r).powi(6);
        (48.0 * self.depth * (s6 * s6 - 0.5 * s6) / r, 4.0 * self.depth * (s6 * s6 - s6))
    }

    /// Distance ⇒ (force along r, potential).
    pub fn at(&self, r: f64) -> (f64, f64) {
        let (force, potential) = self.law(r);
        if self.cutoff > 0.0 && self.truncation == "shifted" {
            let (force_c, potential_c) = self.law(self.cutoff);
            return (force - force_c, potential - potential_c + (r - self.cutoff) * force_c);
        }
        (force, potential)
    }
}

impl Force for LennardJones {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        pairs(scope, self.cutoff, |i, j, r| {
            let length = r.length();
            push_apart(loads, i.index, j.index, self.at(length).0 * r / length);
        });
    }

    fn potential_energy(&self, scope: &ForceContext<'_>) -> f64 {
        let mut sum = 0.0;
        pairs(scope, self.cutoff, |_, _, r| sum += self.at(r.length()).1);
        sum
    }

    fn power_without_potential(&self, _scope: &ForceContext<'_>) -> Option<f64> {
        Some(0.0)
    }

    fn is_passive(&self) -> bool {
        true
    }

    fn check(&self, _bodies: &Bodies) -> Result<(), Error> {
        if self.truncation == "shifted" && self.cutoff == 0.0 {
            return Err(parameter("cutoff of a shifted lennard-jones force", "> 0", self.cutoff));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-FRC-04: the numbers of the Lennard-Jones law, and F = −dU/dr.
    #[test]
    fn lennard_jones_numbers() {
        let law = LennardJones::default();
        for (r, force) in [
            (1.0, 24.0),
            (2.0_f64.powf(1.0 / 6.0), 0.0),
            ((26.0_f64 / 7.0).powf(1.0 / 6.0), -2.396429),
            (2.5, -0.0389995),
        ] {
            assert!((law.at(r).0 - force).abs() < 1e-6, "F({r}) = {}", law.at(r).0);
            let slope = (law.at(r + 1e-6).1 - law.at(r - 1e-6).1) / 2e-6;
            assert!((law.at(r).0 + slope).abs() < 1e-6);
        }
        assert!((law.at(2.5).1 + 0.0163169).abs() < 1e-7);
    }

    #[test]
    fn shifted_force_fades_to_zero_and_keeps_its_potential() {
        let law = LennardJones { cutoff: 2.5, truncation: "shifted".into(), ..LennardJones::default() };
        assert_eq!(law.at(2.5), (0.0, 0.0));
        let slope = (law.at(1.3 + 1e-6).1 - law.at(1.3 - 1e-6).1) / 2e-6;
        assert!((law.at(1.3).0 + slope).abs() < 1e-6);
    }
}
