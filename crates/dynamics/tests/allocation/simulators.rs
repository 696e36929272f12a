//! A step in steady state allocates nothing.

use crate::counting::allocations;
use glam::DVec3;
use rattleback_dynamics::force::{Drag, Spring};
use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, FreeMotion, Registry, Simulator, World};
use rattleback_geometry::Shape;

fn allocations_of_ten_steps(world: &mut World, simulator: &mut dyn Simulator) -> u64 {
    let mut run = |steps: u32| (0..steps).for_each(|_| simulator.step(world, 1e-3).unwrap());
    run(3);
    allocations(|| run(10))
}

/// 100 000 tumbling bodies, default integrator.
#[test]
fn a_hundred_thousand_free_bodies_step_without_allocation() {
    let mut world = World::default();
    let shape = Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap();
    for i in 0..100_000 {
        let spin = DVec3::new(1.0, f64::from(i % 17), 0.5);
        world.add_body(Body::dynamic().with_shape(shape.clone()).angular_velocity(spin)).unwrap();
    }
    assert_eq!(allocations_of_ten_steps(&mut world, &mut FreeMotion::default()), 0);
}

/// Every integrator, with forces of position and velocity.
#[test]
fn every_integrator_steps_without_allocation() {
    let registry = Registry::default();
    for entry in registry.integrators.iter() {
        let mut world = World::default();
        let shape = Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap();
        let a =
            world.add_body(Body::dynamic().with_shape(shape.clone()).angular_velocity(DVec3::ONE)).unwrap();
        let b = world.add_body(Body::dynamic().with_shape(shape).at(1.0, 0.0, 0.0)).unwrap();
        world.add_force(Spring { body_a: Some(a), body_b: Some(b), ..Spring::default() }).unwrap();
        world.add_force(Drag { linear: 0.1.into(), ..Drag::default() }).unwrap();
        let mut simulator = FreeMotion::by_name(&entry.name, &registry).unwrap();
        assert_eq!(allocations_of_ten_steps(&mut world, &mut simulator), 0, "{}", entry.name);
    }
}

/// A wall of boxes under the real-time simulator, awake, once it stands.
#[test]
fn a_standing_wall_allocates_nothing() {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    for i in 0..80 {
        let at = DVec3::new(f64::from(i % 10), 0.0, 0.5 + f64::from(i / 10));
        world.add_body(Body::dynamic().position(at).with_shape(shape.clone())).unwrap();
    }
    let mut simulator = Realtime::new(RealtimeSettings { sleep: false, ..Default::default() }).unwrap();
    let mut run = |steps: u32| (0..steps).for_each(|_| simulator.step(&mut world, 1.0 / 60.0).unwrap());
    run(120);
    assert_eq!(allocations(|| run(60)), 0);
}

/// Chains that are swept and chains that are solved exactly, with limits, motors and springs.
#[test]
fn swinging_chains_step_without_allocation() {
    let mut world = World::default();
    for chain in 0..6 {
        let mut above = None;
        for k in 0..4 * (chain + 1) {
            let x = f64::from(k);
            let body = Body::dynamic().at(x + 0.5, f64::from(chain), 0.0);
            let id =
                world.add_body(body.with_shape(Shape::cuboid(DVec3::new(0.4, 0.1, 0.1)).unwrap())).unwrap();
            let joint_frames =
                above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id));
            let joint_frames = joint_frames.at(DVec3::new(x, f64::from(chain), 0.0)).along(DVec3::Y);
            if k % 2 == 0 {
                let joint = Spherical { cone: 1.0, frequency: 1.0, friction: 0.1, ..Spherical::default() };
                world.add_joint(joint_frames, joint).unwrap();
            } else {
                world.add_joint(joint_frames, Revolute { max_torque: 1.0, ..Revolute::default() }).unwrap();
            }
            above = Some(id);
        }
    }
    let mut simulator =
        Realtime::new(RealtimeSettings { sleep: false, ..RealtimeSettings::default() }).unwrap();
    for _ in 0..120 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    assert_eq!(allocations_of_ten_steps(&mut world, &mut simulator), 0);
}

/// A multibody whose links are bodies, beside rigid bodies.
#[test]
fn a_multibody_steps_without_allocation() {
    use rattleback_dynamics::Multibody;
    use rattleback_dynamics::multibody::joint::from_name;
    use rattleback_dynamics::multibody::{Link, LinkTree, Mechanism};
    let mut links = Vec::new();
    for index in 0..5_usize {
        let link = Link::fixed(format!("{index}"), index.checked_sub(1));
        let mut link = link.with_mass(1.0, DVec3::X, glam::DMat3::IDENTITY * 0.1);
        link.joint = from_name("revolute", &[0.0, 1.0, 0.0]).unwrap();
        link.joint_position = DVec3::X;
        links.push(link);
    }
    let mut multibody = Multibody::new(Mechanism::new(LinkTree::new(links).unwrap()));
    for index in 0..5 {
        multibody = multibody.with_part(&index.to_string(), Shape::sphere(0.1).unwrap()).unwrap();
    }
    let mut world = World::default();
    world.add_multibody(multibody).unwrap();
    world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    assert_eq!(allocations_of_ten_steps(&mut world, &mut FreeMotion::default()), 0);
}
