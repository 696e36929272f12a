//! Uniform gravity: F = s m g, U = −s m g·x, with s the gravity scale of the body.

use super::{Force, ForceAccumulator, ForceContext, rate_of_potential};
use crate::component;
use crate::property::Allowed;
use crate::rigid::Wrench;
use crate::signal::Signal;
use crate::world::Status;
use glam::DVec3;

component! {
    /// The same acceleration everywhere.
    pub struct Gravity as "gravity" {
        /// Acceleration of free fall.
        acceleration: Signal<DVec3> = DVec3::new(0.0, 0.0, -9.81), "m/s²", Allowed::Finite;
    }
}

impl Force for Gravity {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let g = self.acceleration.at(scope.time);
        let mut add = |index: usize, scale: f64, inverse_mass: f64| {
            loads.add(index, Wrench { force: scale * g / inverse_mass, torque: DVec3::ZERO });
        };
        if scope.covers_all() {
            // What is common to all bodies, and the difference for those with a scale of their own.
            for (index, scale) in scope.bodies.scaled() {
                add(index, scale - 1.0, scope.bodies.inertia(Status::Dynamic)[index].inverse_mass);
            }
            return loads.add_uniform_acceleration(g);
        }
        for body in scope.targets() {
            add(body.index, scope.bodies.gravity_scale_of(body.id), body.inertia.inverse_mass);
        }
    }

    fn potential_energy(&self, scope: &ForceContext<'_>) -> f64 {
        let g = self.acceleration.at(scope.time);
        let scale = |id| scope.bodies.gravity_scale_of(id);
        scope.targets().map(|body| -scale(body.id) * g.dot(body.motion.x) / body.inertia.inverse_mass).sum()
    }

    fn power_without_potential(&self, scope: &ForceContext<'_>) -> Option<f64> {
        Some(if self.is_passive() { 0.0 } else { rate_of_potential(self, scope) })
    }

    fn is_passive(&self) -> bool {
        self.acceleration.is_constant()
    }

    fn is_uniform(&self) -> bool {
        self.acceleration.is_constant()
    }
}
