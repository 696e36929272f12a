//! Joints that only let turn: about one axis, or about two that stay across each other.

use super::axis::{JointAxis, check_limits, drive, limits};
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::Error;
use crate::property::Allowed;
use crate::signal::Signal;

component! {
    /// Hinge: B turns about the axis z of A.
    pub struct Revolute as "revolute" {
        /// Whether the angle is limited.
        limited: bool = false, "", Allowed::Finite;
        /// Smallest angle; angles count on over any number of turns.
        min: f64 = -1.0, "rad", Allowed::Finite;
        /// Largest angle.
        max: f64 = 1.0, "rad", Allowed::Finite;
        /// Largest torque of the motor; 0 for no motor.
        max_torque: f64 = 0.0, "N·m", Allowed::NonNegative;
        /// Speed that the motor tries to keep.
        speed: Signal<f64> = 0.0, "rad/s", Allowed::Finite;
        /// If not 0, the motor is a spring of this many oscillations per second that pulls to `target`.
        frequency: f64 = 0.0, "1/s", Allowed::NonNegative;
        /// Angle it pulls to.
        target: Signal<f64> = 0.0, "rad", Allowed::Finite;
        /// Damping of the spring; below 1 it swings.
        damping_ratio: f64 = 1.0, "", Allowed::NonNegative;
        /// Dry friction.
        friction: f64 = 0.0, "N·m", Allowed::NonNegative;
    }
}

impl Joint for Revolute {
    fn locks(&self) -> Locks {
        Locks::POINT.and(Locks::PARALLEL)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let t = state.time;
        let freedom = JointAxis {
            limits: limits(self.limited, self.min, self.max),
            drive: drive(
                self.max_torque,
                self.speed.at(t),
                self.target.at(t),
                self.frequency,
                self.damping_ratio,
            ),
            friction: self.friction,
        };
        let angle = state.turned[2];
        freedom.act(state, state.about(0, state.frames[0].axes().z_axis, angle), angle, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(self.limited, self.min, self.max)
    }

    fn has_rows(&self) -> bool {
        self.limited || self.max_torque > 0.0 || self.friction > 0.0
    }

    fn is_driven(&self) -> bool {
        self.max_torque > 0.0
    }
}

component! {
    /// Cross of a cardan shaft: B turns about the axis z of A and about its own axis x, which stay across each other.
    pub struct Universal as "universal" {
        /// Whether the angle about z of A is limited.
        first_limited: bool = false, "", Allowed::Finite;
        /// Smallest angle about z of A.
        first_min: f64 = -1.0, "rad", Allowed::Finite;
        /// Largest angle about z of A.
        first_max: f64 = 1.0, "rad", Allowed::Finite;
        /// Whether the angle about x of B is limited.
        second_limited: bool = false, "", Allowed::Finite;
        /// Smallest angle about x of B.
        second_min: f64 = -1.0, "rad", Allowed::Finite;
        /// Largest angle about x of B.
        second_max: f64 = 1.0, "rad", Allowed::Finite;
        /// Dry friction about both.
        friction: f64 = 0.0, "N·m", Allowed::NonNegative;
    }
}

/// Angles of B about z of A and about x of B.
///
/// R = R_z(α) R_x(β): x_B = (cos α, sin α, 0) in A, and z_A = (0, sin β, cos β) in B.
pub(super) fn cardan_angles(state: &JointState) -> [f64; 2] {
    let [a, b] = [state.frames[0].axes(), state.frames[1].axes()];
    let first = b.x_axis.dot(a.y_axis).atan2(b.x_axis.dot(a.x_axis));
    let second = a.z_axis.dot(b.y_axis).atan2(a.z_axis.dot(b.z_axis));
    [first, second]
}

impl Joint for Universal {
    fn locks(&self) -> Locks {
        Locks::POINT.and(Locks::PERPENDICULAR)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let [first, second] = cardan_angles(state);
        let axes = [state.frames[0].axes().z_axis, state.frames[1].axes().x_axis];
        let free = |limits| JointAxis { limits, friction: self.friction, ..JointAxis::default() };
        let one = free(limits(self.first_limited, self.first_min, self.first_max));
        one.act(state, state.about(0, axes[0], first), first, rows);
        let other = free(limits(self.second_limited, self.second_min, self.second_max));
        other.act(state, state.about(4, axes[1], second), second, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(self.first_limited, self.first_min, self.first_max)?;
        check_limits(self.second_limited, self.second_min, self.second_max)
    }

    fn has_rows(&self) -> bool {
        self.first_limited || self.second_limited || self.friction > 0.0
    }
}
