//! Hands that hold bodies.
//!
//! A held body is pulled by a damped spring from the point p where it was gripped to the target: f = m (k (target − p) − c ṗ)
//! with k = ω², c = 2 ω and m its mass, so that heavy and light bodies follow alike and none overshoots. That is the spring
//! force with tuning by frequency, ζ = 1 and no rest length.

use super::ClientId;
use glam::DVec3;
use rattleback_dynamics::force::Spring;
use rattleback_dynamics::{BodyId, ForceId, Signal, Status, Targets, Value, World};
use std::collections::BTreeMap;

/// ω, 1/s: k = 100 s⁻².
const FREQUENCY: f64 = 10.0;

/// Who holds what.
#[derive(Debug, Default)]
pub struct Grips {
    held: BTreeMap<ClientId, (ForceId, BodyId)>,
}

impl Grips {
    /// Takes hold of a body at a world point.
    pub fn grab(
        &mut self,
        client: ClientId,
        world: &mut World,
        body: BodyId,
        point: DVec3,
    ) -> Result<(), String> {
        self.release(client, world);
        let held = world.body(body).map_err(|error| error.to_string())?;
        if held.status() != Status::Dynamic {
            return Err(format!("{} does not move by forces", held.name().unwrap_or("this body")));
        }
        if !point.is_finite() {
            return Err("a point must be finite".into());
        }
        let spring = Spring {
            body_b: Some(body),
            anchor_a: Signal::Constant(point),
            anchor_b: Signal::Constant(held.pose().inverse_point(point)),
            tuning: "frequency".into(),
            angular_frequency: Signal::Constant(FREQUENCY),
            damping_ratio: Signal::Constant(1.0),
            ..Spring::default()
        };
        let force = world
            .add_force_on(Targets::All, Some("hand".into()), Box::new(spring))
            .map_err(|error| error.to_string())?;
        // Opening a body for changes wakes it.
        let _ = world.body_mut(body);
        self.held.insert(client, (force, body));
        Ok(())
    }

    /// Moves the target of what a client holds.
    pub fn drag(&self, client: ClientId, world: &mut World, target: DVec3) -> Result<(), String> {
        let Some((force, body)) = self.held.get(&client) else { return Ok(()) };
        let value = Value::VectorSignal(Signal::Constant(target));
        world.set_force_property(*force, "anchor_a", value).map_err(|error| error.to_string())?;
        let _ = world.body_mut(*body);
        Ok(())
    }

    /// Lets go.
    pub fn release(&mut self, client: ClientId, world: &mut World) {
        if let Some((force, _)) = self.held.remove(&client) {
            let _ = world.remove_force(force);
        }
    }

    /// Forgets everything: the world is another one.
    pub fn clear(&mut self) {
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::{Body, FreeMotion, Simulator};
    use rattleback_geometry::Shape;

    /// Held at its centre without gravity, a body follows x(t) = d (1 − (1 + ω t) e^(−ω t)), whatever it weighs.
    #[test]
    fn heavy_and_light_bodies_follow_alike() {
        for density in [1.0, 10_000.0] {
            let mut world = World::weightless();
            let shape = Shape::sphere(0.1).unwrap();
            let id = world.add_body(Body::dynamic().with_shape(shape).density(density)).unwrap();
            let mut grips = Grips::default();
            grips.grab(1, &mut world, id, DVec3::ZERO).unwrap();
            grips.drag(1, &mut world, DVec3::X).unwrap();
            let mut simulator = FreeMotion::default();
            for _ in 0..200 {
                simulator.step(&mut world, 1e-3).unwrap();
            }
            let expected = 1.0 - (1.0 + 2.0) * (-2.0f64).exp();
            let x = world.body(id).unwrap().position().x;
            assert!((x - expected).abs() < 1e-3, "{x} {expected}");
            grips.release(1, &mut world);
            assert_eq!(world.iter_forces().count(), 0);
        }
    }
}
