//! Pulls a point of a body somewhere: what a mouse does.

use super::row::{Effect, Row};
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::property::Allowed;
use crate::signal::Signal;
use glam::DVec3;

component! {
    /// Pulls B's anchor to a point of A by a damped spring, as a hand would.
    pub struct Target as "target" {
        /// Where to, in frame A.
        place: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// Oscillations per second.
        frequency: f64 = 5.0, "1/s", Allowed::Positive;
        /// Damping.
        damping_ratio: f64 = 0.7, "", Allowed::NonNegative;
        /// Largest force along each axis.
        max_force: f64 = 1e30, "N", Allowed::NonNegative;
    }
}

impl Joint for Target {
    fn locks(&self) -> Locks {
        Locks::NONE
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let axes = state.frames[0].axes();
        let away = state.offset() - axes * self.place.at(state.time);
        for k in 0..3 {
            let effect = Effect::Spring {
                frequency: self.frequency,
                damping_ratio: self.damping_ratio,
                max_force: self.max_force,
            };
            rows.push(Row { effect, ..state.along(k as u8, axes.col(k), axes.col(k).dot(away)) });
        }
    }

    fn is_driven(&self) -> bool {
        true
    }
}
