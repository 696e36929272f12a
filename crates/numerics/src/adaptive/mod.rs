//! Step-size control: how far a method may step so that its error stays below a tolerance.

mod control;
mod embedded;
mod step_doubling;
mod sub_step;

pub use control::{Report, StepControl, step_factor};
pub use embedded::Embedded;
pub use step_doubling::StepDoubling;
pub use sub_step::{Rejection, SubStepController, SubStepReport};

use crate::{SecondOrder, System};

/// A system that counts how often it is evaluated.
struct Counted<'a, S: ?Sized> {
    system: &'a mut S,
    evaluations: u64,
}

impl<Y> System<Y> for Counted<'_, dyn System<Y> + '_> {
    fn rate(&mut self, t: f64, y: &Y, rate: &mut Y) {
        self.evaluations += 1;
        self.system.rate(t, y, rate);
    }

    fn project(&mut self, y: &mut Y) {
        self.system.project(y);
    }
}

impl<Q, V> SecondOrder<Q, V> for Counted<'_, dyn SecondOrder<Q, V> + '_> {
    fn acceleration(&mut self, t: f64, x: &Q, v: &V, a: &mut V) {
        self.evaluations += 1;
        self.system.acceleration(t, x, v, a);
    }

    fn drift(&mut self, x: &mut Q, h: f64, v: &V) {
        self.system.drift(x, h, v);
    }

    fn jerk(&mut self, t: f64, x: &Q, v: &V, a: &V, jerk: &mut V) -> bool {
        self.system.jerk(t, x, v, a, jerk)
    }
}
