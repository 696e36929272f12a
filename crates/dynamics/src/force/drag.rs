//! Drag: F = −k_v u − k_q |u| u with u = v − v_medium, τ = −k_w ω.

use super::{Force, ForceAccumulator, ForceContext};
use crate::component;
use crate::property::Allowed;
use crate::rigid::Wrench;
use crate::signal::Signal;
use glam::DVec3;

component! {
    /// Resistance of a medium to motion and spin.
    pub struct Drag as "drag" {
        /// k_v: force per speed.
        linear: Signal<f64> = 0.0, "N·s/m", Allowed::NonNegative;
        /// k_q: force per speed squared.
        quadratic: Signal<f64> = 0.0, "N·s²/m²", Allowed::NonNegative;
        /// k_w: torque per angular speed.
        angular: Signal<f64> = 0.0, "N·m·s", Allowed::NonNegative;
        /// Velocity of the medium.
        medium_velocity: Signal<DVec3> = DVec3::ZERO, "m/s", Allowed::Finite;
    }
}

impl Force for Drag {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let t = scope.time;
        let (k_v, k_q, k_w) = (self.linear.at(t), self.quadratic.at(t), self.angular.at(t));
        let medium = self.medium_velocity.at(t);
        for body in scope.targets() {
            let u = body.motion.v - medium;
            let force = -(k_v + k_q * u.length()) * u;
            loads.add(body.index, Wrench { force, torque: -k_w * body.motion.omega });
        }
    }

    fn is_passive(&self) -> bool {
        self.medium_velocity.extremes().iter().all(|v| *v == DVec3::ZERO)
    }
}
