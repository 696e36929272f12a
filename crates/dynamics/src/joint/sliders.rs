//! Joints that let slide: along an axis, along and about an axis, in a plane.

use super::axis::{JointAxis, check_limits, drive, limits};
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::Error;
use crate::property::Allowed;
use crate::signal::Signal;

component! {
    /// Slider: B moves along the axis z of A and does not turn.
    pub struct Prismatic as "prismatic" {
        /// Whether the way is limited.
        limited: bool = false, "", Allowed::Finite;
        /// Least position along z.
        min: f64 = -1.0, "m", Allowed::Finite;
        /// Largest position along z.
        max: f64 = 1.0, "m", Allowed::Finite;
        /// Largest force of the motor; 0 for no motor.
        max_force: f64 = 0.0, "N", Allowed::NonNegative;
        /// Speed that the motor tries to keep.
        speed: Signal<f64> = 0.0, "m/s", Allowed::Finite;
        /// If not 0, the motor is a spring of this many oscillations per second that pulls to `target`.
        frequency: f64 = 0.0, "1/s", Allowed::NonNegative;
        /// Position it pulls to.
        target: Signal<f64> = 0.0, "m", Allowed::Finite;
        /// Damping of the spring; below 1 it swings.
        damping_ratio: f64 = 1.0, "", Allowed::NonNegative;
        /// Dry friction.
        friction: f64 = 0.0, "N", Allowed::NonNegative;
    }
}

impl Joint for Prismatic {
    fn locks(&self) -> Locks {
        Locks::LINE.and(Locks::ROTATION)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let t = state.time;
        let freedom = JointAxis {
            limits: limits(self.limited, self.min, self.max),
            drive: drive(
                self.max_force,
                self.speed.at(t),
                self.target.at(t),
                self.frequency,
                self.damping_ratio,
            ),
            friction: self.friction,
        };
        let axis = state.frames[0].axes().z_axis;
        let place = axis.dot(state.offset());
        freedom.act(state, state.along(0, axis, place), place, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(self.limited, self.min, self.max)
    }

    fn has_rows(&self) -> bool {
        self.limited || self.max_force > 0.0 || self.friction > 0.0
    }

    fn is_driven(&self) -> bool {
        self.max_force > 0.0
    }
}

component! {
    /// Piston: B moves along the axis z of A and turns about it.
    pub struct Cylindrical as "cylindrical" {
        /// Whether the way is limited.
        limited: bool = false, "", Allowed::Finite;
        /// Least position along z.
        min: f64 = -1.0, "m", Allowed::Finite;
        /// Largest position along z.
        max: f64 = 1.0, "m", Allowed::Finite;
        /// Whether the angle is limited.
        angle_limited: bool = false, "", Allowed::Finite;
        /// Smallest angle about z.
        min_angle: f64 = -1.0, "rad", Allowed::Finite;
        /// Largest angle about z.
        max_angle: f64 = 1.0, "rad", Allowed::Finite;
        /// Largest force of the motor along z; 0 for no motor.
        max_force: f64 = 0.0, "N", Allowed::NonNegative;
        /// Speed that it tries to keep.
        speed: Signal<f64> = 0.0, "m/s", Allowed::Finite;
        /// Largest torque of the motor about z; 0 for no motor.
        max_torque: f64 = 0.0, "N·m", Allowed::NonNegative;
        /// Speed that it tries to keep.
        turning_speed: Signal<f64> = 0.0, "rad/s", Allowed::Finite;
        /// Dry friction along z.
        friction: f64 = 0.0, "N", Allowed::NonNegative;
    }
}

impl Joint for Cylindrical {
    fn locks(&self) -> Locks {
        Locks::LINE.and(Locks::PARALLEL)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let t = state.time;
        let axis = state.frames[0].axes().z_axis;
        let (place, angle) = (axis.dot(state.offset()), state.turned[2]);
        let sliding = JointAxis {
            limits: limits(self.limited, self.min, self.max),
            drive: drive(self.max_force, self.speed.at(t), 0.0, 0.0, 0.0),
            friction: self.friction,
        };
        sliding.act(state, state.along(0, axis, place), place, rows);
        let turning = JointAxis {
            limits: limits(self.angle_limited, self.min_angle, self.max_angle),
            drive: drive(self.max_torque, self.turning_speed.at(t), 0.0, 0.0, 0.0),
            friction: 0.0,
        };
        turning.act(state, state.about(4, axis, angle), angle, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(self.limited, self.min, self.max)?;
        check_limits(self.angle_limited, self.min_angle, self.max_angle)
    }

    fn is_driven(&self) -> bool {
        self.max_force > 0.0 || self.max_torque > 0.0
    }
}

component! {
    /// Table: B slides in the plane across the axis z of A and turns about that axis.
    pub struct Planar as "planar" {
        /// Whether positions in the plane are limited.
        limited: bool = false, "", Allowed::Finite;
        /// Farthest along x of A, either way.
        reach_x: f64 = 1.0, "m", Allowed::NonNegative;
        /// Farthest along y of A, either way.
        reach_y: f64 = 1.0, "m", Allowed::NonNegative;
        /// Dry friction along x and y each.
        friction: f64 = 0.0, "N", Allowed::NonNegative;
    }
}

impl Joint for Planar {
    fn locks(&self) -> Locks {
        Locks::PLANE.and(Locks::PARALLEL)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let axes = state.frames[0].axes();
        for (key, axis, reach) in [(0, axes.x_axis, self.reach_x), (4, axes.y_axis, self.reach_y)] {
            let place = axis.dot(state.offset());
            let limits = limits(self.limited, -reach, reach);
            let freedom = JointAxis { limits, friction: self.friction, ..JointAxis::default() };
            freedom.act(state, state.along(key, axis, place), place, rows);
        }
    }

    fn has_rows(&self) -> bool {
        self.limited || self.friction > 0.0
    }
}
