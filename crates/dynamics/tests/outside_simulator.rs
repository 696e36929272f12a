//! A simulator outside the crate: it uses the public interface only, is registered by name, and can do to a world what the built-in ones do.

use glam::DVec3;
use rattleback_dynamics::force::ForceAccumulator;
use rattleback_dynamics::joint::{Fixed, JointFrames};
use rattleback_dynamics::registry::{Description, Entry};
use rattleback_dynamics::simulator::{Capabilities, ContactPoint, Feature, StepContext};
use rattleback_dynamics::world::{Continuity, SnapshotError};
use rattleback_dynamics::{
    Body, BodyId, Epoch, Error, Event, FreeMotion, Properties, Registry, Simulator, Status, World,
};
use rattleback_geometry::{Pose, Shape};

/// Bodies fall by symplectic Euler and stop at z = 0; a body faster than a limit is quarantined, and its joints break.
#[derive(Debug, Default)]
struct Floor {
    loads: ForceAccumulator,
    epoch: Epoch,
    found: Vec<Continuity>,
    touching: Vec<BodyId>,
}

const SPEED_LIMIT: f64 = 50.0;

impl Simulator for Floor {
    fn description(&self) -> Description {
        Description { type_name: "floor".into(), properties: Properties::new() }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[Feature::KinematicBodies, Feature::Joints])
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require("floor", self.capabilities())?;
        self.found.push(step.continuity());
        step.gather_loads(step.start(), &mut self.loads);
        let g = self.loads.uniform_acceleration();
        let ids = step.bodies().ids(Status::Dynamic).to_vec();
        let (mut fast, mut touching) = (Vec::new(), Vec::new());
        let (states, inertias) = step.dynamic_mut();
        for (index, (state, inertia)) in states.iter_mut().zip(inertias).enumerate() {
            state.v += (g + self.loads.wrench(index).force * inertia.inverse_mass) * dt;
            state.x += state.v * dt;
            if state.x.z < 0.0 {
                (state.x.z, state.v) = (0.0, DVec3::ZERO);
                touching.push(ids[index]);
            }
            if state.v.length() > SPEED_LIMIT {
                fast.push(ids[index]);
            }
        }
        self.touching = touching;
        for body in fast {
            step.quarantine(body);
            let joints: Vec<_> = step
                .iter_joints()
                .filter(|(_, record)| record.bodies().contains(&Some(body)))
                .map(|(id, _)| id)
                .collect();
            for joint in joints {
                step.break_joint(joint);
            }
        }
        if step.dynamic_mut().0.iter().any(|state| state.x.x > 1e3) {
            return Err(Error::Unsupported { simulator: "floor", what: "bodies far away", instead: "no" });
        }
        self.epoch = step.finish();
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        Vec::new()
    }

    fn save_state(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.epoch).unwrap()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.epoch = postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("floor"))?;
        Ok(())
    }
}

fn world() -> (World, BodyId) {
    let mut world = World::default();
    let ball =
        world.add_body(Body::dynamic().at(0.0, 0.0, 1.0).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    (world, ball)
}

#[test]
fn it_is_made_by_name_and_moves_bodies() {
    let mut registry = Registry::default();
    let entry = Entry::new("floor", "Bodies fall to a floor", Vec::new(), |_| {
        Ok(Box::new(Floor::default()) as Box<dyn Simulator>)
    });
    registry.simulators.register(entry).unwrap();
    let mut simulator = registry.simulators.make("floor", &Properties::new()).unwrap();
    let (mut world, ball) = world();
    for _ in 0..120 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    let body = world.body(ball).unwrap();
    assert!(body.position().z == 0.0 && body.velocity() == DVec3::ZERO && (world.time() - 2.0).abs() < 1e-12);
    assert!(simulator.step(&mut world, f64::NAN).is_err() && simulator.step(&mut world, -1.0).is_err());
}

#[test]
fn it_learns_what_happened_since_its_last_step() {
    let (mut world, _) = world();
    let (mut floor, mut other) = (Floor::default(), FreeMotion::default());
    floor.step(&mut world, 0.01).unwrap();
    floor.step(&mut world, 0.01).unwrap();
    other.step(&mut world, 0.01).unwrap();
    floor.step(&mut world, 0.01).unwrap();
    let mut copy = world.clone();
    floor.step(&mut copy, 0.01).unwrap();
    let expected =
        [Continuity::OtherWorld, Continuity::Unbroken, Continuity::SteppedByOthers, Continuity::OtherWorld];
    assert_eq!(floor.found, expected);
}

/// A failed step leaves time, states and joints as they were.
#[test]
fn a_failed_step_leaves_no_trace() {
    let (mut world, ball) = world();
    world.body_mut(ball).unwrap().set_pose(Pose::at(DVec3::new(2e3, 0.0, 1.0))).unwrap();
    let before = *world.bodies().motion_of(ball).unwrap();
    assert!(Floor::default().step(&mut world, 0.01).is_err());
    assert!(*world.bodies().motion_of(ball).unwrap() == before && world.time() == 0.0);
}

#[test]
fn it_quarantines_bodies_and_breaks_joints() {
    let (mut world, ball) = world();
    let other =
        world.add_body(Body::dynamic().at(1.0, 0.0, 1.0).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let joint = world.add_joint(JointFrames::between(ball, other), Fixed::default()).unwrap();
    world.body_mut(ball).unwrap().set_velocity(DVec3::X * 100.0).unwrap();
    let mut floor = Floor::default();
    floor.step(&mut world, 0.01).unwrap();
    assert_eq!(world.body(ball).unwrap().status(), Status::Disabled);
    assert_eq!(world.body(ball).unwrap().position(), DVec3::Z);
    assert!(world.joint(joint).is_err());
    let events = world.events();
    assert!(events.iter().any(|event| matches!(event, Event::Quarantined { body, .. } if *body == ball)));
    assert!(events.iter().any(|event| matches!(event, Event::JointBroke { .. })), "{events:?}");
}
