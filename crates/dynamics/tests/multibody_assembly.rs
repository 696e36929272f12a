//! Rigid bodies with joints ⇔ multibodies: the same motion both ways, and what is refused.

use crate::multibody_support::Random;
use glam::{DQuat, DVec3};
use rattleback_dynamics::joint::{
    BreakThresholds, Cylindrical, Distance, Fixed, JointFrames, Planar, Prismatic, Revolute, Spherical,
    Universal,
};
use rattleback_dynamics::world::CollisionGroups;
use rattleback_dynamics::{Body, BodyId, Error, FreeMotion, Properties, Registry, Simulator, World};
use rattleback_geometry::{Pose, Shape};

fn constraint() -> Box<dyn Simulator> {
    Registry::default().simulators.make("constraint", &Properties::new()).unwrap()
}

fn brick(random: &mut Random, name: &str, at: DVec3) -> Body {
    let half = DVec3::new(0.1 + 0.2 * random.unit(), 0.1 + 0.2 * random.unit(), 0.1 + 0.2 * random.unit());
    let pose = Pose::new(random.rotation(), at);
    // Bodies of an assembly may overlap; only their joints matter here.
    let groups = CollisionGroups { member_of: 1, touches: 0 };
    Body::dynamic().named(name).pose(pose).groups(groups).with_shape(Shape::cuboid(half).unwrap())
}

/// A tree of bodies with every kind of joint, hanging on the world or floating.
fn random_assembly(seed: u64) -> (World, Vec<BodyId>) {
    let mut random = Random::new(seed);
    let mut world = World::default();
    let count = 2 + (random.unit() * 5.0) as usize;
    let mut bodies = Vec::new();
    for k in 0..count {
        let at = random.vector() + DVec3::new(0.0, 0.0, -(k as f64));
        let id = world.add_body(brick(&mut random, &format!("body {k}"), at)).unwrap();
        let ends = match bodies.len() {
            0 if seed.is_multiple_of(3) => None,
            0 => Some(JointFrames::to_world(id)),
            n => {
                let other = bodies[(random.unit() * n as f64) as usize];
                // Either side may be nearer to the world.
                let forward = random.unit() < 0.5;
                Some(if forward { JointFrames::between(other, id) } else { JointFrames::between(id, other) })
            }
        };
        bodies.push(id);
        let Some(ends) = ends else { continue };
        let ends =
            ends.at(at + 0.4 * random.vector()).oriented(random.rotation()).named(&format!("joint {k}"));
        match (random.unit() * 7.0) as u32 {
            0 => world.add_joint(ends, Prismatic::default()),
            1 => world.add_joint(ends, Cylindrical::default()),
            2 => world.add_joint(ends, Spherical::default()),
            3 => world.add_joint(ends, Universal::default()),
            4 => world.add_joint(ends, Planar::default()),
            5 => world.add_joint(ends, Fixed::default()),
            _ => world.add_joint(ends, Revolute::default()),
        }
        .unwrap();
    }
    (world, bodies)
}

fn places(world: &World, names: &[String]) -> Vec<(DVec3, DVec3, DVec3)> {
    let of = |name: &String| {
        let body = world.body(world.find_body(name).unwrap_or_else(|| panic!("no {name}"))).unwrap();
        (body.center_of_mass(), body.velocity(), body.angular_velocity())
    };
    names.iter().map(of).collect()
}

/// Largest distance of centres of mass, m, and largest difference of velocities, m/s and rad/s.
fn apart(a: &[(DVec3, DVec3, DVec3)], b: &[(DVec3, DVec3, DVec3)]) -> (f64, f64) {
    a.iter().zip(b).fold((0.0, 0.0), |(x, v): (f64, f64), (a, b)| {
        (x.max((a.0 - b.0).length()), v.max((a.1 - b.1).length()).max((a.2 - b.2).length()))
    })
}

fn run(simulator: &mut dyn Simulator, world: &mut World, seconds: f64) {
    for _ in 0..(seconds / 1e-3).round() as usize {
        simulator.step(world, 1e-3).unwrap();
    }
}

/// The same motion as `constraint` computes for bodies and joints; after the way back the bodies go on as if nothing had happened.
#[test]
fn assemblies_move_alike_as_bodies_and_as_multibodies() {
    let (mut worst, mut worst_back) = ((0.0_f64, 0.0_f64), (0.0_f64, 0.0_f64));
    for seed in 0..20 {
        let (mut world, bodies) = random_assembly(seed);
        let names: Vec<String> = (0..bodies.len()).map(|k| format!("body {k}")).collect();
        let joints = world.joint_count();
        // Velocities that the joints allow.
        run(&mut *constraint(), &mut world, 0.1);
        let mut turned = world.clone();
        let id = turned.multibody_from_bodies(bodies[bodies.len() - 1]).unwrap();
        let (x, v) = apart(&places(&world, &names), &places(&turned, &names));
        assert!(x < 1e-12 && v < 1e-10, "seed {seed}: {x:e} m, {v:e} at once");
        assert_eq!(
            (turned.joint_count(), turned.multibody(id).unwrap().tree().links().len()),
            (0, bodies.len())
        );
        run(&mut *constraint(), &mut world, 0.2);
        run(&mut FreeMotion::default(), &mut turned, 0.2);
        let (x, v) = apart(&places(&world, &names), &places(&turned, &names));
        worst = (worst.0.max(x), worst.1.max(v));
        assert!(x < 1e-8 && v < 1e-7, "seed {seed}: {x:e} m, {v:e} m/s after 0.2 s");
        // Back to bodies, and on.
        let back = turned.bodies_from_multibody(id).unwrap();
        assert_eq!((back.len(), turned.joint_count(), turned.multibody_count()), (bodies.len(), joints, 0));
        run(&mut *constraint(), &mut world, 0.1);
        run(&mut *constraint(), &mut turned, 0.1);
        let (x, v) = apart(&places(&world, &names), &places(&turned, &names));
        worst_back = (worst_back.0.max(x), worst_back.1.max(v));
        assert!(x < 1e-7 && v < 1e-6, "seed {seed}: {x:e} m, {v:e} m/s after the way back");
    }
    println!("apart: {worst:?} as a multibody, {worst_back:?} after the way back");
}

/// A four-bar of bodies becomes a tree with one loop, and a rod with two ball joints a loop of one equation.
#[test]
fn closed_assemblies_keep_their_loops() {
    let mut world = World::default();
    let bar = |length: f64, from: DVec3, angle: f64| {
        let way = DQuat::from_rotation_y(-angle);
        let shape = Shape::cuboid(DVec3::new(0.5 * length, 0.03, 0.03)).unwrap();
        Body::dynamic().pose(Pose::new(way, from + way * DVec3::X * (0.5 * length))).with_shape(shape)
    };
    // A parallelogram: crank and rocker of 1 m, coupler and ground of 2 m.
    let angle = 1.0_f64;
    let tip = DVec3::new(angle.cos(), 0.0, angle.sin());
    let ground = DVec3::new(2.0, 0.0, 0.0);
    let crank = world.add_body(bar(1.0, DVec3::ZERO, angle).named("crank")).unwrap();
    let coupler = world.add_body(bar(2.0, tip, 0.0).named("coupler")).unwrap();
    let rocker = world.add_body(bar(1.0, ground, angle).named("rocker")).unwrap();
    let hinge = Revolute::default;
    world.add_joint(JointFrames::to_world(crank).along(DVec3::Y), hinge()).unwrap();
    world.add_joint(JointFrames::between(crank, coupler).at(tip).along(DVec3::Y), hinge()).unwrap();
    world.add_joint(JointFrames::to_world(rocker).at(ground).along(DVec3::Y), hinge()).unwrap();
    world.add_joint(JointFrames::between(coupler, rocker).at(ground + tip).along(DVec3::Y), hinge()).unwrap();
    let mut turned = world.clone();
    let id = turned.multibody_from_bodies(coupler).unwrap();
    assert_eq!(turned.multibody(id).unwrap().mechanism().parts().loops.len(), 1);
    let names = ["crank", "coupler", "rocker"].map(str::to_owned);
    run(&mut *constraint(), &mut world, 0.5);
    run(&mut FreeMotion::default(), &mut turned, 0.5);
    let (x, v) = apart(&places(&world, &names), &places(&turned, &names));
    assert!(x < 1e-8 && v < 1e-7, "{x:e} {v:e}");
    turned.bodies_from_multibody(id).unwrap();
    assert_eq!((turned.joint_count(), turned.multibody_count()), (4, 0));
    // A body on a rod floats, and a loop holds it.
    let mut world = World::default();
    let bob = world
        .add_body(Body::dynamic().named("bob").at(1.0, 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap()));
    let rod = Distance { min: 1.0, max: 1.0, ..Distance::default() };
    let frames = JointFrames::to_world(bob.unwrap()).frames(Pose::IDENTITY, Pose::IDENTITY);
    world.add_joint(frames, rod).unwrap();
    let id = world.multibody_from_bodies(world.find_body("bob").unwrap()).unwrap();
    run(&mut FreeMotion::default(), &mut world, 0.5);
    let length = world.body(world.find_body("bob").unwrap()).unwrap().position().length();
    assert!((length - 1.0).abs() < 1e-10, "{length}");
    assert_eq!(world.multibody(id).unwrap().tree().velocity_count(), 6);
}

/// Limits, friction and whole turns are kept both ways.
#[test]
fn limits_friction_and_turns_are_kept() {
    let mut world = World::default();
    let arm = world
        .add_body(Body::dynamic().named("arm").at(0.5, 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap()))
        .unwrap();
    let hinge = Revolute { limited: true, min: -20.0, max: 0.75, friction: 0.1, ..Revolute::default() };
    world.add_joint(JointFrames::to_world(arm).along(DVec3::Y).named("hinge"), hinge).unwrap();
    let id = world.multibody_from_bodies(arm).unwrap();
    let mechanism = world.multibody(id).unwrap().mechanism();
    assert_eq!(mechanism.limits()[0].range, [-20.0, 0.75]);
    assert_eq!(mechanism.parts().frictions[0].force, 0.1);
    world.multibody_mut(id).unwrap().set_positions(0, &[-9.0]).unwrap();
    world.bodies_from_multibody(id).unwrap();
    let (joint, record) = world.iter_joints().next().unwrap();
    assert!((record.angle() + 9.0).abs() < 1e-12, "{}", record.angle());
    let kept = world.joint_as::<Revolute>(joint).unwrap();
    assert_eq!((kept.limited, kept.min, kept.max, kept.friction), (true, -20.0, 0.75, 0.1));
}

/// What cannot be converted is named, and the world stays as it was.
#[test]
fn what_cannot_be_converted_is_named() {
    let ball = || Body::dynamic().with_shape(Shape::sphere(0.1).unwrap());
    let mut world = World::default();
    let (a, b) = (world.add_body(ball()).unwrap(), world.add_body(ball().at(1.0, 0.0, 0.0)).unwrap());
    let motor = Revolute { max_torque: 1.0, ..Revolute::default() };
    let joint = world.add_joint(JointFrames::between(a, b).named("motor"), motor).unwrap();
    let refused = world.multibody_from_bodies(a).unwrap_err();
    assert!(refused.to_string().contains("joint `motor`"), "{refused}");
    world.remove_joint(joint).unwrap();
    let breaking = BreakThresholds { force: 10.0, ..BreakThresholds::default() };
    world
        .add_joint(JointFrames::between(a, b).named("weak").breaking(breaking), Revolute::default())
        .unwrap();
    let refused = world.multibody_from_bodies(b).unwrap_err();
    assert!(matches!(&refused, Error::Assembly { what, .. } if what.contains("weak")), "{refused}");
    assert_eq!((world.bodies().len(), world.joint_count(), world.multibody_count()), (2, 1, 0));
    let floor = world.add_body(Body::fixed().with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    assert!(matches!(world.multibody_from_bodies(floor), Err(Error::WrongStatus { .. })));
}
