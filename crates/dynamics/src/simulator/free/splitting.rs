//! The default integrator: kick–drift–kick splitting.
//!
//! The flow is split into the kick by forces (v̇ = F/m, L̇ = τ) and the drift of a free body (uniform
//! translation and torque-free rotation, both exact): K(h/2) D(h) K(h/2) (G. Strang, *SIAM J. Numer. Anal.* 5
//! (1968)). It is symplectic and reversible for forces that depend on position, of second order otherwise,
//! and exact for uniform gravity and for free bodies.
//!
//! Forces at the end of the step may depend on the velocities there, which are predicted with the initial
//! forces, v* = v + h a₀, and corrected, v = v* + h/2 (a₁ − a₀).
//!
//! Damping multiplies the velocities by e^(−c h/2) at both ends, by e^(−c h) in total.

use super::StepResult;
use super::integration_context::{BodyIntegrator, IntegrationContext};
use crate::force::ForceAccumulator;
use crate::property::Properties;
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::rigid::{Inertia, Motion, fly};
use glam::DVec3;

pub(super) const NAME: &str = "splitting";

/// Kick–drift–kick integrator.
#[derive(Clone, Debug, Default)]
pub struct Splitting {
    /// ForceAccumulator at the beginning of the step.
    first: ForceAccumulator,
}

/// v += h a, L += h τ for one body.
#[inline]
fn kick(motion: &mut Motion, inertia: &Inertia, h: f64, force: DVec3, torque: DVec3) {
    motion.v += (h * inertia.inverse_mass) * force;
    motion.omega += inertia.angular_velocity(motion.q, h * torque);
}

impl BodyIntegrator for Splitting {
    fn description(&self) -> Description {
        Description { type_name: NAME.into(), properties: Properties::new() }
    }

    fn advance(&mut self, context: &mut IntegrationContext<'_>, h: f64) -> StepResult {
        let t = context.time();
        if context.loads_are_uniform() {
            let g = context.gather_loads(t).uniform_acceleration();
            context.move_in_blocks(|motion, inertia| drift_under(g, motion, inertia, h));
        } else {
            self.predict(context, t, h);
            self.correct(context, t + h, h);
        }
        context.count_substeps(1, 0);
        Ok(())
    }

    fn in_blocks(&self, context: &IntegrationContext<'_>) -> bool {
        context.loads_are_uniform()
    }
}

/// Kick–drift–kick under a constant uniform acceleration.
fn drift_under(g: DVec3, motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    for (body, inertia) in motion.iter_mut().zip(inertia) {
        inertia.damp(body, 0.5 * h);
        body.v += 0.5 * h * g;
    }
    fly(motion, inertia, h);
    for (body, inertia) in motion.iter_mut().zip(inertia) {
        body.v += 0.5 * h * g;
        inertia.damp(body, 0.5 * h);
    }
}

impl Splitting {
    /// Kick, drift, and a second kick with the same loads: v* = v + h a₀.
    fn predict(&mut self, context: &mut IntegrationContext<'_>, t: f64, h: f64) {
        let (motion, inertia, loads) = context.gather_and_move(t);
        self.first.copy_from(loads);
        let g = loads.uniform_acceleration();
        let kick_all = |motion: &mut [Motion]| {
            for (index, (body, inertia)) in motion.iter_mut().zip(inertia).enumerate() {
                let wrench = loads.wrench(index);
                body.v += 0.5 * h * g;
                kick(body, inertia, 0.5 * h, wrench.force, wrench.torque);
            }
        };
        for (body, inertia) in motion.iter_mut().zip(inertia) {
            inertia.damp(body, 0.5 * h);
        }
        kick_all(motion);
        fly(motion, inertia, h);
        kick_all(motion);
    }

    /// v = v* + h/2 (a₁ − a₀), and the second half of the damping.
    fn correct(&self, context: &mut IntegrationContext<'_>, t: f64, h: f64) {
        let (motion, inertia, loads) = context.gather_and_move(t);
        let change = loads.uniform_acceleration() - self.first.uniform_acceleration();
        for (index, (body, inertia)) in motion.iter_mut().zip(inertia).enumerate() {
            body.v += 0.5 * h * change;
            let (before, after) = (self.first.wrench(index), loads.wrench(index));
            kick(body, inertia, 0.5 * h, after.force - before.force, after.torque - before.torque);
            inertia.damp(body, 0.5 * h);
        }
    }
}

pub(super) fn register(integrators: &mut Catalogue<Box<dyn BodyIntegrator>>) -> Result<(), RegistryError> {
    integrators.register(Entry::new(
        NAME,
        "Kick-drift-kick splitting with exact drift: order 2, exact for free bodies and uniform gravity (the default)",
        Vec::new(),
        |_| Ok(Box::new(Splitting::default()) as Box<dyn BodyIntegrator>),
    ))
}
