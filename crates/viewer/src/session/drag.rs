//! Dragging bodies and links with the mouse.
//!
//! A damped spring pulls the grabbed point p of a body to the target: f = m (k (target − p) − c ṗ) with k = ω², c = 2 ω and m the
//! mass of the body. The response is critically damped and independent of the mass. It is the spring force tuned by frequency, with
//! ζ = 1 and rest length 0. While the simulation runs, links of multibodies are pulled the same way; while it is paused, inverse kinematics
//! puts the joints so that the grabbed point of a link is at the target, or as near as limits allow, at rest.

use super::ClientId;
use glam::DVec3;
use rattleback_dynamics::force::Spring;
use rattleback_dynamics::multibody::{IkSettings, IkTarget, InverseKinematics, Workspace};
use rattleback_dynamics::world::{ColliderOwner, LinkId};
use rattleback_dynamics::{BodyId, Error, ForceId, Signal, Status, Targets, Value, World};
use std::collections::BTreeMap;

/// ω, 1/s: k = 100 s⁻².
const FREQUENCY: f64 = 10.0;
/// Distance from the target at which inverse kinematics is done, m, and its most steps for one movement of the mouse.
const POSE_TOLERANCE: f64 = 1e-6;
const POSE_STEPS: u32 = 60;

/// How the mouse of a client holds something.
#[derive(Clone, Copy, Debug)]
enum Hold {
    /// By a spring.
    Spring { force: ForceId, body: BodyId },
    /// By inverse kinematics: a link and a point in its frame.
    Pose { link: LinkId, point: DVec3 },
}

/// What all clients hold.
#[derive(Debug, Default)]
pub struct Drags {
    holds: BTreeMap<ClientId, Hold>,
}

impl Drags {
    /// Takes hold of a body at a world point; `runs`: whether the simulation does.
    pub fn grab(
        &mut self,
        client: ClientId,
        world: &mut World,
        body: BodyId,
        point: DVec3,
        runs: bool,
    ) -> Result<(), String> {
        self.release(client, world);
        let grabbed = world.body(body).map_err(|error| error.to_string())?;
        let owner = world.owner_of(body).map_err(|error| error.to_string())?;
        if !point.is_finite() {
            return Err("a point must be finite".into());
        }
        if let (ColliderOwner::Link(link), false) = (owner, runs) {
            self.holds.insert(client, Hold::Pose { link, point: grabbed.pose().inverse_point(point) });
            return Ok(());
        }
        if grabbed.status() != Status::Dynamic && !matches!(owner, ColliderOwner::Link(_)) {
            return Err(format!(
                "{} is not dynamic and cannot be dragged",
                grabbed.name().unwrap_or("this body")
            ));
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
        self.holds.insert(client, Hold::Spring { force, body });
        Ok(())
    }

    /// Moves the target of a client.
    pub fn drag(&self, client: ClientId, world: &mut World, target: DVec3) -> Result<(), String> {
        match self.holds.get(&client) {
            None => Ok(()),
            Some(Hold::Spring { force, body }) => {
                let value = Value::VectorSignal(Signal::Constant(target));
                world.set_force_property(*force, "anchor_a", value).map_err(|error| error.to_string())?;
                let _ = world.body_mut(*body);
                Ok(())
            }
            Some(Hold::Pose { link, point }) => {
                pose(world, *link, *point, target).map_err(|error| error.to_string())
            }
        }
    }

    /// Ends a client's hold.
    pub fn release(&mut self, client: ClientId, world: &mut World) {
        if let Some(Hold::Spring { force, .. }) = self.holds.remove(&client) {
            let _ = world.remove_force(force);
        }
    }

    /// Ends all holds, because their world no longer exists.
    pub fn clear(&mut self) {
        self.holds.clear();
    }
}

/// Puts the joints of a multibody so that a point of a link is at the target, at rest.
fn pose(world: &mut World, link: LinkId, point: DVec3, target: DVec3) -> Result<(), Error> {
    if !target.is_finite() {
        return Ok(());
    }
    let multibody = world.multibody(link.multibody)?;
    let tree = multibody.tree();
    let mut limits = vec![[f64::NEG_INFINITY, f64::INFINITY]; tree.velocity_count()];
    for limit in multibody.mechanism().limits() {
        limits[limit.axis] = limit.range;
    }
    let mut q = multibody.all_positions().to_vec();
    let targets = [IkTarget::point(link.index as usize, point, target)];
    let settings = IkSettings { tolerance: POSE_TOLERANCE, iterations: POSE_STEPS, ..IkSettings::default() };
    let mut solver = InverseKinematics::new(tree, targets.len());
    let solved = solver.solve(tree, &mut Workspace::new(tree), &targets, Some(&limits), &settings, &mut q);
    solved.map_err(|source| Error::Mechanism { multibody: link.multibody, source: source.into() })?;
    let at_rest = vec![0.0; tree.velocity_count()];
    world.multibody_mut(link.multibody)?.set_state(&q, &at_rest)
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
            drags.grab(1, &mut world, id, DVec3::ZERO, true).unwrap();
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

    /// A link of a paused arm follows the mouse to a point within reach, and gives way to a spring while the simulation runs.
    #[test]
    fn links_are_posed_while_paused_and_pulled_while_running() {
        use rattleback_dynamics::Registry;
        use rattleback_scene::Scene;
        let mut built = Scene::built_in("arm").unwrap().build(&Registry::default()).unwrap();
        let world = &mut built.world;
        let (_, body) = world.iter_multibodies().next().unwrap().link_bodies().last().unwrap();
        let point = world.body(body).unwrap().position();
        let in_link = world.body(body).unwrap().pose().inverse_point(point);
        let mut drags = Drags::default();
        drags.grab(1, world, body, point, false).unwrap();
        // A place that it can reach: where another pose has it.
        let id = world.iter_multibodies().next().unwrap().id();
        let (q, limits) = {
            let arm = world.multibody(id).unwrap();
            (arm.all_positions().to_vec(), arm.mechanism().limits().to_vec())
        };
        let mut other: Vec<f64> = q.iter().map(|q| q + 0.1).collect();
        for limit in limits {
            let [low, high] = limit.range;
            let place = world.multibody(id).unwrap().tree().position_of_velocity(limit.axis).unwrap();
            other[place] = q[place] + 0.1 * (0.5 * (low + high) - q[place]).clamp(-1.0, 1.0);
        }
        let at_rest = vec![0.0; world.multibody(id).unwrap().all_velocities().len()];
        world.multibody_mut(id).unwrap().set_state(&other, &at_rest).unwrap();
        let target = world.body(body).unwrap().pose().point(in_link);
        world.multibody_mut(id).unwrap().set_state(&q, &at_rest).unwrap();
        drags.drag(1, world, target).unwrap();
        let there = world.body(body).unwrap().pose().point(in_link);
        assert!((there - target).length() < 1e-5, "{there} {target}");
        // Out of reach: as near as it gets, and finite.
        drags.drag(1, world, DVec3::splat(1e6)).unwrap();
        assert!(world.body(body).unwrap().position().is_finite());
        drags.release(1, world);
        let mut free = world.clone();
        let before = world.body(body).unwrap().pose().point(in_link);
        drags.grab(1, world, body, before, true).unwrap();
        drags.drag(1, world, before + DVec3::new(0.0, 0.0, 5.0)).unwrap();
        for _ in 0..20 {
            built.simulator.step(&mut built.world, 1e-3).unwrap();
            FreeMotion::default().step(&mut free, 1e-3).unwrap();
        }
        let [pulled, left] =
            [&built.world, &free].map(|world| world.body(body).unwrap().pose().point(in_link));
        assert!(pulled.z > left.z + 1e-6, "{pulled} {left}");
    }
}
