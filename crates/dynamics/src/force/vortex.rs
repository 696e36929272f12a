//! A columnar vortex: f = m φ [a_t â × ρ̂ − a_r ρ̂ + a_l â], with ρ the offset from the axis â.
//!
//! φ falls from 1 on the axis to 0 at the radius (linearly), or stays 1. On the axis itself ρ̂ is undefined and only
//! the lift acts.

use super::{Force, ForceAccumulator, ForceContext};
use crate::component;
use crate::property::Allowed;
use crate::rigid::Wrench;
use crate::signal::Signal;
use glam::DVec3;

component! {
    /// Swirls, draws in and lifts whatever is inside a column.
    pub struct Vortex as "vortex" {
        /// Middle of the bottom of the column.
        axis_point: DVec3 = DVec3::ZERO, "m", Allowed::Finite;
        /// Direction of the column.
        axis_direction: DVec3 = DVec3::Z, "", Allowed::Direction;
        /// Radius of the column.
        radius: f64 = 5.0, "m", Allowed::Positive;
        /// Height of the column.
        height: f64 = 10.0, "m", Allowed::Positive;
        /// a_t: around the axis.
        tangential_acceleration: Signal<f64> = 5.0, "m/s²", Allowed::Finite;
        /// a_r: towards the axis.
        radial_acceleration: Signal<f64> = 5.0, "m/s²", Allowed::Finite;
        /// a_l: along the axis.
        lift_acceleration: Signal<f64> = 0.0, "m/s²", Allowed::Finite;
        /// Whether the field fades towards the radius.
        falloff: String = "linear", "", Allowed::OneOf(&["linear", "none"]);
    }
}

impl Force for Vortex {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let t = scope.time;
        let (a_t, a_r) = (self.tangential_acceleration.at(t), self.radial_acceleration.at(t));
        let a_l = self.lift_acceleration.at(t);
        let axis = self.axis_direction.normalize();
        for body in scope.targets() {
            let offset = body.motion.x - self.axis_point;
            let along = offset.dot(axis);
            let rho = offset - along * axis;
            let distance = rho.length();
            if !(0.0..=self.height).contains(&along) || distance >= self.radius {
                continue;
            }
            let out = if distance > 0.0 { rho / distance } else { DVec3::ZERO };
            let phi = if self.falloff == "linear" { 1.0 - distance / self.radius } else { 1.0 };
            let acceleration = phi * (a_t * axis.cross(out) - a_r * out + a_l * axis);
            loads.add(
                body.index,
                Wrench { force: acceleration / body.inertia.inverse_mass, torque: DVec3::ZERO },
            );
        }
    }
}
