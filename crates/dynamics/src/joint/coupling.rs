//! Couplings between motions of two bodies that something else holds: gears, and a rack on a pinion.

use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::property::Allowed;

component! {
    /// Gears: B turns about its axis z by −`ratio` times what A turns about its own.
    pub struct Gear as "gear" {
        /// Turns of B for one of A, the other way round.
        ratio: f64 = 1.0, "", Allowed::Finite;
    }
}

impl Joint for Gear {
    fn locks(&self) -> Locks {
        Locks::NONE
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let [a, b] = [state.frames[0].axes().z_axis, state.frames[1].axes().z_axis];
        let mut row = state.about(0, b, state.turned[1] + self.ratio * state.turned[0]);
        row.angular[0] = -self.ratio * a;
        rows.push(row);
    }
}

component! {
    /// Rack and pinion: B moves along its axis z by `radius` times the angle by which A turns about its own axis z.
    pub struct Rack as "rack" {
        /// Of the pinion; negative for teeth on the other side.
        radius: f64 = 0.1, "m", Allowed::Finite;
    }
}

impl Joint for Rack {
    fn locks(&self) -> Locks {
        Locks::NONE
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let [a, b] = [state.frames[0].axes().z_axis, state.frames[1].axes().z_axis];
        let mut row = state.along(0, b, b.dot(state.offset()) - self.radius * state.turned[0]);
        // The teeth push in the line through both centres of mass, or close to it: the torque is that of the radius.
        row.angular = [self.radius * a, glam::DVec3::ZERO];
        rows.push(row);
    }
}
