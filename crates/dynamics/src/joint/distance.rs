//! Rods, ropes and springs between two anchors.

use super::axis::{JointAxis, check_limits, drive};
use super::row::Row;
use super::{Effect, Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::Error;
use crate::property::Allowed;

component! {
    /// Keeps the distance of two anchors in a range: a rod if `min` and `max` are the same, a rope if `min` is 0.
    pub struct Distance as "distance" {
        /// Least distance.
        min: f64 = 0.0, "m", Allowed::NonNegative;
        /// Largest distance.
        max: f64 = 1.0, "m", Allowed::NonNegative;
        /// If not 0, a spring of this many oscillations per second pulls to `rest_length`.
        frequency: f64 = 0.0, "1/s", Allowed::NonNegative;
        /// Length it pulls to.
        rest_length: f64 = 1.0, "m", Allowed::NonNegative;
        /// Damping of the spring.
        damping_ratio: f64 = 1.0, "", Allowed::NonNegative;
        /// Largest force of the spring.
        max_force: f64 = 1e30, "N", Allowed::NonNegative;
    }
}

impl Joint for Distance {
    fn locks(&self) -> Locks {
        Locks::NONE
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let offset = state.offset();
        let length = offset.length();
        // If the anchors coincide, the direction is arbitrary.
        let direction = offset.try_normalize().unwrap_or(glam::DVec3::Z);
        let row = Row { effect: Effect::Lock, ..state.along(0, direction, length) };
        let max_force = if self.frequency > 0.0 { self.max_force } else { 0.0 };
        let freedom = JointAxis {
            limits: Some((self.min, self.max)),
            drive: drive(max_force, 0.0, self.rest_length, self.frequency, self.damping_ratio),
            friction: 0.0,
        };
        freedom.act(state, row, length, rows);
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(true, self.min, self.max)
    }

    fn can_add_energy(&self) -> bool {
        self.frequency > 0.0
    }
}
