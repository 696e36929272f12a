//! Dragging bodies with the mouse.
//!
//! A damped spring pulls the grabbed point p of a body to the target: f = m (k (target − p) − c ṗ) with k = ω², c = 2 ω and m the
//! mass of the body. The response is critically damped and independent of the mass. It is the spring force tuned by frequency, with
//! ζ = 1 and rest length 0.

use super::ClientId;
use glam::DVec3;
use rattleback_dynamics::force::Spring;
use rattleback_dynamics::{BodyId, ForceId, Signal, Status, Targets, Value, World};
use std::collections::BTreeMap;

/// ω, 1/s: k = 100 s⁻².
const FREQUENCY: f64 = 10.0;

/// The spring between the mouse of a client and a body.
#[derive(Clone, Copy, Debug)]
struct MouseSpring {
    force: ForceId,
    body: BodyId,
}

/// Mouse springs of all clients.
#[derive(Debug, Default)]
pub struct Drags {
    springs: BTreeMap<ClientId, MouseSpring>,
}

impl Drags {
    /// Attaches a spring to a body at a world point.
    pub fn grab(
        &mut self,
        client: ClientId,
        world: &mut World,
        body: BodyId,
        point: DVec3,
    ) -> Result<(), String> {
        self.release(client, world);
        let grabbed = world.body(body).map_err(|error| error.to_string())?;
        if grabbed.status() != Status::Dynamic {
            return Err(format!(
                "{} is not dynamic and cannot be dragged",
                grabbed.name().unwrap_or("this body")
            ));
        }
        if !point.is_finite() {
            return Err("a point must be finite".into());
        }
        let spring = Spring {
            body_b: Some(body),
            anchor_a: Signal::Constant(point),
            anchor_b: Signal::Constant(grabbed.pose().inverse_point(point)),
            tuning: "frequency".into(),
            angular_frequency: Signal::Constant(FREQUENCY),
            damping_ratio: Signal::Constant(1.0),
            ..Spring::default()
        };
        let force = world
            .add_force_on(Targets::All, Some("mouse".into()), Box::new(spring))
            .map_err(|error| error.to_string())?;
        // Mutable access wakes a sleeping body.
        let _ = world.body_mut(body);
        self.springs.insert(client, MouseSpring { force, body });
        Ok(())
    }

    /// Moves the target of a client's spring.
    pub fn drag(&self, client: ClientId, world: &mut World, target: DVec3) -> Result<(), String> {
        let Some(MouseSpring { force, body }) = self.springs.get(&client) else { return Ok(()) };
        let value = Value::VectorSignal(Signal::Constant(target));
        world.set_force_property(*force, "anchor_a", value).map_err(|error| error.to_string())?;
        let _ = world.body_mut(*body);
        Ok(())
    }

    /// Removes a client's spring.
    pub fn release(&mut self, client: ClientId, world: &mut World) {
        if let Some(MouseSpring { force, .. }) = self.springs.remove(&client) {
            let _ = world.remove_force(force);
        }
    }

    /// Removes all springs, because their world no longer exists.
    pub fn clear(&mut self) {
        self.springs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::{Body, FreeMotion, Simulator};
    use rattleback_geometry::Shape;

    /// Dragged at its centre without gravity, a body follows x(t) = d (1 − (1 + ω t) e^(−ω t)), whatever its mass.
    #[test]
    fn heavy_and_light_bodies_follow_alike() {
        for density in [1.0, 10_000.0] {
            let mut world = World::weightless();
            let shape = Shape::sphere(0.1).unwrap();
            let id = world.add_body(Body::dynamic().with_shape(shape).density(density)).unwrap();
            let mut drags = Drags::default();
            drags.grab(1, &mut world, id, DVec3::ZERO).unwrap();
            drags.drag(1, &mut world, DVec3::X).unwrap();
            let mut simulator = FreeMotion::default();
            for _ in 0..200 {
                simulator.step(&mut world, 1e-3).unwrap();
            }
            let expected = 1.0 - (1.0 + 2.0) * (-2.0f64).exp();
            let x = world.body(id).unwrap().position().x;
            assert!((x - expected).abs() < 1e-3, "{x} {expected}");
            drags.release(1, &mut world);
            assert_eq!(world.iter_forces().count(), 0);
        }
    }
}
