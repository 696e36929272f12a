//! Events of contacts whose normal force exceeds a threshold.

use super::{BodyId, Event, ShapeId, World};
use crate::error::Error;
use crate::simulator::ContactPoint;
use std::collections::BTreeMap;

impl World {
    /// Normal force of a pair of shapes, N, above which [`Event::ContactForce`] is reported in every step for contacts of this body; `None`
    /// for no events. Needs a simulator with [`Feature::ContactForceEvents`](crate::simulator::Feature::ContactForceEvents).
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::simulator::Realtime;
    /// use rattleback_dynamics::{Body, Simulator, World};
    /// use rattleback_dynamics::world::Event;
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    /// let cube = Shape::cuboid(DVec3::splat(0.5))?;
    /// let cube = world.add_body(Body::dynamic().at(0.0, 0.0, 0.7).with_shape(cube).mass(2.0))?;
    /// world.set_contact_force_threshold(cube, Some(15.0))?; // its weight is 19.6 N
    /// let (mut simulator, mut hits) = (Realtime::default(), 0);
    /// for _ in 0..60 {
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    ///     hits += world.events().iter().filter(|event| matches!(event, Event::ContactForce { .. })).count();
    /// }
    /// assert!(hits > 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// No such body, or a threshold that is negative or not a number.
    pub fn set_contact_force_threshold(&mut self, body: BodyId, force: Option<f64>) -> Result<(), Error> {
        self.body(body)?;
        match force {
            Some(force) if force >= 0.0 => {
                self.contact_force_thresholds.insert(body, force);
            }
            Some(force) => {
                let value = force.to_string();
                return Err(Error::Parameter { what: "contact force threshold", allowed: ">= 0", value });
            }
            None => {
                self.contact_force_thresholds.remove(&body);
            }
        }
        Ok(())
    }

    /// Threshold of a body, N, if it has one.
    pub fn contact_force_threshold(&self, body: BodyId) -> Option<f64> {
        self.contact_force_thresholds.get(&body).copied()
    }

    /// Whether any body has a threshold.
    pub fn has_contact_force_thresholds(&self) -> bool {
        !self.contact_force_thresholds.is_empty()
    }

    /// Reports the pairs among the contacts of a step whose normal force exceeds the smaller threshold of their bodies, in the order of
    /// their shapes.
    pub(crate) fn report_contact_forces(&mut self, contacts: &[ContactPoint]) {
        let threshold = |bodies: [BodyId; 2]| {
            bodies.iter().filter_map(|body| self.contact_force_threshold(*body)).reduce(f64::min)
        };
        let mut pairs: BTreeMap<[ShapeId; 2], ([BodyId; 2], f64)> = BTreeMap::new();
        for contact in contacts.iter().filter(|contact| threshold(contact.bodies).is_some()) {
            let (shapes, bodies) = match contact.shapes {
                [a, b] if a <= b => ([a, b], contact.bodies),
                [a, b] => ([b, a], [contact.bodies[1], contact.bodies[0]]),
            };
            pairs.entry(shapes).or_insert((bodies, 0.0)).1 += contact.normal_force();
        }
        let time = self.time();
        let exceeds = |bodies, force| threshold(bodies).is_some_and(|least| force > least);
        let mut events: Vec<Event> = pairs
            .into_iter()
            .filter(|(_, (bodies, force))| exceeds(*bodies, *force))
            .map(|(shapes, (bodies, force))| Event::ContactForce { time, bodies, shapes, force })
            .collect();
        self.report(&mut events);
    }
}
