//! Sleep and wake by call.

use super::{BodyId, World};
use crate::error::Error;

impl World {
    /// Puts a body to sleep at the end of the next step, with all dynamic bodies that contacts and joints connect to it: their velocities become
    /// zero, and they are not simulated until something disturbs them. Bodies in contact with a moving kinematic body, or on
    /// driven joints, stay awake. Needs a simulator with [`Feature::SleepByCall`](crate::simulator::Feature::SleepByCall); others drop the
    /// request.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::simulator::Realtime;
    /// use rattleback_dynamics::{Body, Simulator, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 9.0).with_shape(Shape::sphere(0.1)?))?;
    /// let mut simulator = Realtime::default();
    /// world.put_to_sleep(ball)?;
    /// for _ in 0..60 {
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    /// }
    /// assert!(simulator.is_asleep(ball) && world.body(ball)?.position().z > 8.99);
    /// world.wake(ball)?;
    /// simulator.step(&mut world, 1.0 / 60.0)?;
    /// assert!(!simulator.is_asleep(ball) && world.body(ball)?.velocity().z < -0.1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// No such body.
    pub fn put_to_sleep(&mut self, body: BodyId) -> Result<(), Error> {
        self.body(body)?;
        self.sleep_requests.push(body);
        Ok(())
    }

    /// Wakes a body with the bodies that fell asleep with it, and withdraws a request to sleep. Changes through
    /// [`body_mut`](Self::body_mut) wake it too.
    ///
    /// # Errors
    /// No such body.
    pub fn wake(&mut self, body: BodyId) -> Result<(), Error> {
        self.body_mut(body)?;
        self.sleep_requests.retain(|requested| *requested != body);
        Ok(())
    }

    /// Removes and returns the bodies that are to fall asleep.
    pub(crate) fn take_sleep_requests(&mut self) -> Vec<BodyId> {
        std::mem::take(&mut self.sleep_requests)
    }
}
