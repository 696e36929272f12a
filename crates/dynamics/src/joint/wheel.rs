//! A wheel on a strut.

use super::axis::{JointAxis, check_limits, drive, limits};
use super::hinges::cardan_angles;
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::Error;
use crate::property::Allowed;
use crate::signal::Signal;

component! {
    /// Wheel: B is sprung along the axis z of A, steered about that axis, and spins about its own axis x.
    pub struct Wheel as "wheel" {
        /// Least position along z.
        min: f64 = -0.1, "m", Allowed::Finite;
        /// Largest position along z.
        max: f64 = 0.1, "m", Allowed::Finite;
        /// Oscillations per second of the suspension.
        frequency: f64 = 2.0, "1/s", Allowed::Positive;
        /// Position along z at which the suspension neither pulls nor pushes.
        rest: f64 = 0.0, "m", Allowed::Finite;
        /// Damping of the suspension.
        damping_ratio: f64 = 0.7, "", Allowed::NonNegative;
        /// Largest torque of the motor; 0 for none.
        max_torque: f64 = 0.0, "N·m", Allowed::NonNegative;
        /// Speed that the motor tries to keep.
        speed: Signal<f64> = 0.0, "rad/s", Allowed::Finite;
        /// Angle to which it is steered.
        steering: Signal<f64> = 0.0, "rad", Allowed::Finite;
        /// Oscillations per second of the steering; 0 lets the wheel swivel freely.
        steering_frequency: f64 = 10.0, "1/s", Allowed::NonNegative;
        /// Dry friction of the bearing.
        friction: f64 = 0.0, "N·m", Allowed::NonNegative;
    }
}

impl Joint for Wheel {
    fn locks(&self) -> Locks {
        Locks::LINE.and(Locks::PERPENDICULAR)
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let t = state.time;
        let (strut, axle) = (state.frames[0].axes().z_axis, state.frames[1].axes().x_axis);
        let place = strut.dot(state.offset());
        let suspension = JointAxis {
            limits: limits(true, self.min, self.max),
            drive: drive(1e30, 0.0, self.rest, self.frequency, self.damping_ratio),
            friction: 0.0,
        };
        suspension.act(state, state.along(0, strut, place), place, rows);
        let [angle, _] = cardan_angles(state);
        if self.steering_frequency > 0.0 {
            let steering = JointAxis {
                drive: drive(1e30, 0.0, self.steering.at(t), self.steering_frequency, 1.0),
                ..JointAxis::default()
            };
            steering.act(state, state.about(4, strut, angle), angle, rows);
        }
        let spin = JointAxis {
            drive: drive(self.max_torque, self.speed.at(t), 0.0, 0.0, 0.0),
            friction: self.friction,
            ..JointAxis::default()
        };
        spin.act(state, state.about(8, axle, 0.0), 0.0, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(true, self.min, self.max)
    }

    fn is_driven(&self) -> bool {
        self.max_torque > 0.0
    }

    fn can_add_energy(&self) -> bool {
        true
    }
}
