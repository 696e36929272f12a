//! Uniform gravity: F = m g, U = −m g·x.

use super::{Force, Loads, Scope, rate_of_potential};
use crate::component;
use crate::motion::Wrench;
use crate::property::Allowed;
use crate::signal::Signal;
use glam::DVec3;

component! {
    /// The same acceleration everywhere.
    pub struct Gravity as "gravity" {
        /// Acceleration of free fall.
        acceleration: Signal<DVec3> = DVec3::new(0.0, 0.0, -9.81), "m/s²", Allowed::Finite;
    }
}

impl Force for Gravity {
    fn apply(&self, scope: &Scope<'_>, loads: &mut Loads) {
        let g = self.acceleration.at(scope.time);
        if scope.covers_all() {
            return loads.add_uniform_acceleration(g);
        }
        for body in scope.targets() {
            loads.add(body.index, Wrench { force: g / body.inertia.inverse_mass, torque: DVec3::ZERO });
        }
    }

    fn potential_energy(&self, scope: &Scope<'_>) -> f64 {
        let g = self.acceleration.at(scope.time);
        scope.targets().map(|body| -g.dot(body.motion.x) / body.inertia.inverse_mass).sum()
    }

    fn power_without_potential(&self, scope: &Scope<'_>) -> Option<f64> {
        Some(if self.is_passive() { 0.0 } else { rate_of_potential(self, scope) })
    }

    fn is_passive(&self) -> bool {
        self.acceleration.is_constant()
    }

    fn is_uniform(&self) -> bool {
        self.acceleration.is_constant()
    }
}
