//! Trajectories: the state of a body as a function of time over one interval.

use crate::collision::WorldMirror;
use crate::rigid::{Motion, Wrench, fly};
use glam::{DQuat, DVec3};

/// The motion of a body over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Trajectory {
    /// Static.
    #[default]
    Still,
    /// Along the path of a kinematic body.
    Kinematic,
    /// Free flight under a constant acceleration, m/s², and torque, N m.
    Ballistic { acceleration: DVec3, torque: DVec3 },
    /// Constant velocities that carry the body to its end pose; its end velocities are stored elsewhere.
    Uniform { v: DVec3, omega: DVec3 },
    /// The dense output of an integrator: mechanisms and contact phases.
    Integrated,
}

impl Trajectory {
    /// (loads on a body, acceleration common to all bodies, 1/m) ⇒ its free flight.
    pub fn ballistic(wrench: Wrench, uniform: DVec3, inverse_mass: f64) -> Self {
        Self::Ballistic { acceleration: uniform + inverse_mass * wrench.force, torque: wrench.torque }
    }
}

/// (body, its state at `begin`, its trajectory) ⇒ its state after `time`.
///
/// Free flight is kick–drift–kick with the exact torque-free rotation, the same operations as
/// `free::splitting`, so that a body without contacts moves bit for bit as under `free-motion`.
pub(crate) fn evaluate(
    mirror: &WorldMirror,
    body: usize,
    start: &Motion,
    trajectory: Trajectory,
    begin: f64,
    time: f64,
) -> Motion {
    match trajectory {
        Trajectory::Still => *start,
        Trajectory::Kinematic => mirror.bodies[body].kinematic_state(begin + time, start),
        Trajectory::Integrated => mirror.dense_outputs[body].evaluate(begin + time).unwrap_or(*start),
        Trajectory::Ballistic { acceleration, torque } => {
            let inertia = &mirror.bodies[body].inertia;
            let mut motion = *start;
            inertia.damp(&mut motion, 0.5 * time);
            motion.v += 0.5 * time * acceleration;
            if torque != DVec3::ZERO {
                motion.omega += inertia.angular_velocity(motion.q, 0.5 * time * torque);
            }
            fly(std::slice::from_mut(&mut motion), std::slice::from_ref(inertia), time);
            motion.v += 0.5 * time * acceleration;
            if torque != DVec3::ZERO {
                motion.omega += inertia.angular_velocity(motion.q, 0.5 * time * torque);
            }
            inertia.damp(&mut motion, 0.5 * time);
            motion
        }
        Trajectory::Uniform { v, omega } => {
            let turn = DQuat::from_scaled_axis(time * omega);
            Motion { x: start.x + time * v, q: (turn * start.q).normalize(), ..*start }
        }
    }
}
