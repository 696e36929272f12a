//! Kicks at both ends of a step: forces other than uniform gravity, and damping.

use super::ballistic_body::MotionKind;
use super::partition::{EventKey, EventKind, Partition};
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::rigid::Wrench;
use glam::DVec3;

impl Partition {
    /// Applies forces other than gravity, and damping, to all bodies for a time h.
    pub fn kick_all(&mut self, loads: &ForceAccumulator, time: f64, h: f64) -> Result<(), Error> {
        let mut kicked = Vec::new();
        for index in 0..self.bodies.len() as u32 {
            let body = &self.bodies[index as usize];
            if !body.is_dynamic() {
                continue;
            }
            let wrench = loads.wrench(body.dynamic_index);
            let damped = body.inertia.linear_damping > 0.0 || body.inertia.angular_damping > 0.0;
            let pushed = wrench.force != DVec3::ZERO || wrench.torque != DVec3::ZERO;
            let slowed = damped && body.kind == MotionKind::Ballistic;
            if !(pushed || slowed) {
                continue;
            }
            self.current = EventKey { time, kind: EventKind::Kick, number: index };
            if body.kind == MotionKind::Resting {
                self.wake_connected(index, time)?;
            }
            self.kick(index, time, wrench, h);
            kicked.push(index);
        }
        if kicked.is_empty() { Ok(()) } else { self.motion_changed(&kicked, time) }
    }

    /// Restarts the trajectory of a body after the wrench and the damping have acted for a time h.
    fn kick(&mut self, body: u32, t: f64, wrench: Wrench, h: f64) {
        let target = &mut self.bodies[body as usize];
        let mut motion = target.at(t);
        motion.v += h * target.inertia.inverse_mass * wrench.force;
        motion.omega += target.inertia.angular_velocity(motion.q, h * wrench.torque);
        target.inertia.damp(&mut motion, h);
        target.restart_trajectory(t, motion);
    }

    /// Whether any body is damped.
    pub fn any_damping(&self) -> bool {
        self.bodies.iter().any(|body| body.inertia.linear_damping > 0.0 || body.inertia.angular_damping > 0.0)
    }
}
