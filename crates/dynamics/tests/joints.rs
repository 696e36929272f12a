//! Joints in real time, against closed forms and counts of freedoms.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::joint::{
    BreakThresholds, Cylindrical, Distance, Fixed, Gear, Generic6Dof, JointFrames, Planar, Prismatic, Rack,
    Revolute, Spherical, Target, Universal, Wheel,
};
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, BodyId, Event, Joint, JointId, Registry, Simulator, World};
use rattleback_geometry::{MassProperties, Pose, Shape};

const DT: f64 = 1.0 / 60.0;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

fn run(world: &mut World, simulator: &mut dyn Simulator, seconds: f64) {
    for _ in 0..(seconds / DT).round() as usize {
        simulator.step(world, DT).unwrap();
    }
}

/// A weightless world with two boxes side by side, joined in the middle, thrown about.
fn pair(joint: Box<dyn Joint>) -> (World, [BodyId; 2], JointId) {
    let mut world = World::weightless();
    let a = world.add_body(Body::dynamic().at(-0.5, 0.0, 0.0).with_shape(cuboid(0.3, 0.2, 0.1))).unwrap();
    let b = world.add_body(Body::dynamic().at(0.5, 0.0, 0.0).with_shape(cuboid(0.2, 0.3, 0.15))).unwrap();
    let joint = world.add_boxed_joint(JointFrames::between(a, b), joint).unwrap();
    world.body_mut(a).unwrap().set_angular_velocity(DVec3::new(0.5, -1.0, 0.7)).unwrap();
    world.body_mut(b).unwrap().set_angular_velocity(DVec3::new(-1.1, 0.4, 2.0)).unwrap();
    world.body_mut(b).unwrap().set_velocity(DVec3::new(0.3, 0.2, -0.4)).unwrap();
    (world, [a, b], joint)
}

/// Frame B in frame A, which both lay at the origin of the world to begin with.
fn relative(world: &World, [a, b]: [BodyId; 2]) -> Pose {
    let start = [Pose::at(DVec3::new(-0.5, 0.0, 0.0)), Pose::at(DVec3::new(0.5, 0.0, 0.0))];
    let frame = |id: BodyId, start: &Pose| world.body(id).unwrap().pose() * start.inverse();
    frame(a, &start[0]).relative(&frame(b, &start[1]))
}

/// What a joint locks stays locked while everything else moves, and momentum is kept.
#[test]
fn each_joint_locks_what_it_says_and_nothing_else() {
    type Measure = fn(&Pose) -> f64;
    /// Joint, what it locks, what it leaves free.
    type Case = (Box<dyn Joint>, Vec<Measure>, Vec<Measure>);
    let tilt: Measure = |pose| (pose.rotation * DVec3::Z).cross(DVec3::Z).length();
    let apart: Measure = |pose| pose.translation.length();
    let turned: Measure = |pose| 2.0 * DVec3::new(pose.rotation.x, pose.rotation.y, pose.rotation.z).length();
    let off_axis: Measure = |pose| pose.translation.truncate().length();
    let height: Measure = |pose| pose.translation.z.abs();
    let across: Measure = |pose| (pose.rotation * DVec3::X).z.abs();
    let cases: Vec<Case> = vec![
        (Box::new(Spherical::default()), vec![apart], vec![turned, tilt]),
        (Box::new(Revolute::default()), vec![apart, tilt], vec![turned]),
        (Box::new(Fixed::default()), vec![apart, turned], vec![]),
        (Box::new(Prismatic::default()), vec![off_axis, turned], vec![height]),
        (Box::new(Cylindrical::default()), vec![off_axis, tilt], vec![height, turned]),
        (Box::new(Planar::default()), vec![height, tilt], vec![off_axis, turned]),
        (Box::new(Universal::default()), vec![apart, across], vec![turned, tilt]),
        (Box::new(Generic6Dof::default()), vec![apart, turned], vec![]),
    ];
    for exact in [false, true] {
        for (joint, locked, free) in &cases {
            let name = joint.type_name();
            let copy = Registry::default().joints.make(name, &joint.properties()).unwrap();
            let (mut world, bodies, _) = pair(copy);
            let before = world.readout();
            let settings = RealtimeSettings {
                exact_joints: if exact { 1 } else { 1000 },
                ..RealtimeSettings::default()
            };
            let mut simulator = Realtime::new(settings).unwrap();
            let mut freely = vec![0.0_f64; free.len()];
            for _ in 0..120 {
                simulator.step(&mut world, DT).unwrap();
                let pose = relative(&world, bodies);
                for measure in locked {
                    assert!(measure(&pose) < 2e-3, "{name}: {pose:?}");
                }
                for (largest, measure) in freely.iter_mut().zip(free) {
                    *largest = largest.max(measure(&pose));
                }
            }
            assert!(freely.iter().all(|largest| *largest > 0.1), "{name} is stuck: {freely:?}");
            let after = world.readout();
            assert!((after.momentum - before.momentum).length() < 1e-3 * before.momentum.length(), "{name}");
            let (l0, l1) = (before.angular_momentum, after.angular_momentum);
            assert!((l1 - l0).length() < 0.02 * l0.length(), "{name}: {l0} {l1}");
            assert!(after.kinetic_energy <= before.kinetic_energy * (1.0 + 1e-3), "{name}");
        }
    }
}

/// A rod about one end: T = 4 √(2L/3g) K(sin ½θ₀); 1.933335 s at 90° for L = 1 m.
#[test]
fn hinged_rod_swings_with_its_period() -> Outcome {
    for (angle, expected) in [(0.2, 1.642051), (std::f64::consts::FRAC_PI_2, 1.933335)] {
        let mut world = World::default();
        let turn = DQuat::from_rotation_y(-angle);
        let rod = Body::dynamic().pose(Pose::new(turn, turn * DVec3::new(0.0, 0.0, -0.5)));
        let rod = world.add_body(rod.with_shape(cuboid(0.005, 0.005, 0.5)))?;
        world.add_joint(JointFrames::to_world(rod).along(DVec3::Y), Revolute::default())?;
        let mut simulator = Realtime::default();
        let (mut last, mut crossings) = (1.0, Vec::new());
        while crossings.len() < 6 {
            simulator.step(&mut world, DT)?;
            let now = world.body(rod)?.position().x;
            if last < 0.0 && now >= 0.0 {
                crossings.push(world.time() - DT * now / (now - last));
            }
            last = now;
            assert!(world.time() < 20.0);
        }
        let period = (crossings[5] - crossings[0]) / 5.0;
        assert!((period / expected - 1.0).abs() < 2e-3, "{angle}: {period} for {expected}");
    }
    Ok(())
}

/// A hundred links with a hundred times the mass at the end, swung from the side: drawn apart by less than 0.1 % of a link.
#[test]
fn long_heavy_chain_holds() -> Outcome {
    let mut world = World::default();
    let (mut above, mut bodies) = (None, Vec::new());
    for k in 0..100 {
        let body = Body::dynamic().at(f64::from(k) + 0.5, 0.0, 0.0);
        let body = if k == 99 {
            body.with_shape(Shape::sphere(0.4)?).mass(100.0)
        } else {
            body.with_shape(cuboid(0.4, 0.1, 0.1)).mass(1.0)
        };
        let id = world.add_body(body)?;
        let joint_frames = above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id));
        world.add_joint(joint_frames.at(DVec3::X * f64::from(k)), Spherical::default())?;
        above = Some(id);
        bodies.push(id);
    }
    let mut simulator = Realtime::default();
    let start = world.readout().energy();
    for _ in 0..300 {
        simulator.step(&mut world, DT)?;
        let mut anchor = DVec3::ZERO;
        for id in &bodies {
            let pose = world.body(*id)?.pose();
            assert!((pose.point(DVec3::X * -0.5) - anchor).length() < 1e-3);
            anchor = pose.point(DVec3::X * 0.5);
        }
    }
    assert!(world.readout().energy() < start + 1.0);
    Ok(())
}

#[test]
fn motors_reach_their_speed_and_servos_their_angle() -> Outcome {
    let wheel = |joint: Revolute| -> Result<(World, BodyId, JointId), Box<dyn std::error::Error>> {
        let mut world = World::default();
        let wheel = world.add_body(Body::dynamic().with_shape(Shape::cylinder(0.5, 0.1)?).mass(2.0))?;
        let joint = world.add_joint(JointFrames::to_world(wheel), joint)?;
        Ok((world, wheel, joint))
    };
    // Torque τ on I: ω = τ t / I until the speed is reached.
    let (mut world, body, joint) =
        wheel(Revolute { speed: 3.0.into(), max_torque: 0.1, ..Revolute::default() })?;
    let moment = world.body(body)?.world_inertia().z_axis.z;
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 1.0);
    let omega = world.body(body)?.angular_velocity().z;
    assert!((omega - 0.1 / moment).abs() < 0.01 * omega, "{omega}");
    run(&mut world, &mut simulator, 10.0);
    assert!((world.body(body)?.angular_velocity().z - 3.0).abs() < 1e-4);
    assert!(world.joint(joint)?.angle() > 10.0, "angles count on");

    let servo = Revolute { target: 2.0.into(), frequency: 2.0, max_torque: 1e6, ..Revolute::default() };
    let (mut world, _, joint) = wheel(servo)?;
    run(&mut world, &mut Realtime::default(), 3.0);
    assert!((world.joint(joint)?.angle() - 2.0).abs() < 1e-3);
    Ok(())
}

#[test]
fn limits_stop_and_let_go() -> Outcome {
    let mut world = World::default();
    let door = world.add_body(Body::dynamic().at(0.5, 0.0, 0.0).with_shape(cuboid(0.5, 0.05, 0.05)))?;
    let limited = Revolute { limited: true, min: -0.5, max: 0.5, ..Revolute::default() };
    let hinge = world.add_joint(JointFrames::to_world(door).along(DVec3::Y), limited)?;
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 3.0);
    assert!((world.joint(hinge)?.angle() - 0.5).abs() < 0.01, "{}", world.joint(hinge)?.angle());
    world.set_gravity(DVec3::Z)?;
    run(&mut world, &mut simulator, 10.0);
    assert!((world.joint(hinge)?.angle() + 0.5).abs() < 0.01, "{}", world.joint(hinge)?.angle());
    Ok(())
}

/// The swing stays in its cone and the twist in its range, however the ball is thrown.
#[test]
fn cones_and_twists_are_kept() -> Outcome {
    let mut world = World::weightless();
    let arm = world.add_body(Body::dynamic().at(0.0, 0.0, 0.5).with_shape(cuboid(0.1, 0.1, 0.5)))?;
    let joint =
        Spherical { cone: 0.6, twist_limited: true, min_twist: -0.3, max_twist: 0.3, ..Spherical::default() };
    world.add_joint(JointFrames::to_world(arm), joint)?;
    let mut simulator = Realtime::default();
    for k in 0..40 {
        let k = f64::from(k);
        let kick = DVec3::new((3.0 * k).sin(), (5.0 * k).cos(), (7.0 * k).sin()) * 4.0;
        world.body_mut(arm)?.set_angular_velocity(kick)?;
        for _ in 0..20 {
            simulator.step(&mut world, DT)?;
            let q = world.body(arm)?.orientation();
            let swing = (q * DVec3::Z).dot(DVec3::Z).clamp(-1.0, 1.0).acos();
            assert!(swing < 0.65, "{swing}");
            let twist = 2.0 * q.z.atan2(q.w);
            let twist =
                (twist + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
            assert!(twist.abs() < 0.38, "{twist}");
        }
    }
    Ok(())
}

/// A weight m on a spring of frequency f swings with it and, hung on, sags by g / (2πf)².
#[test]
fn springs_have_their_frequency() -> Outcome {
    let mut world = World::default();
    let ball = world.add_body(Body::dynamic().at(0.0, 0.0, -1.0).with_shape(Shape::sphere(0.1)?))?;
    let spring = Distance {
        min: 0.0,
        max: 10.0,
        frequency: 1.0,
        rest_length: 1.0,
        damping_ratio: 0.3,
        ..Distance::default()
    };
    let frames = (Pose::IDENTITY, Pose::IDENTITY);
    world.add_joint(JointFrames::to_world(ball).frames(frames.0, frames.1), spring)?;
    let settings = RealtimeSettings { sleep: false, ..RealtimeSettings::default() };
    run(&mut world, &mut Realtime::new(settings)?, 10.0);
    let sag = 9.81 / std::f64::consts::TAU.powi(2);
    assert!(
        (-world.body(ball)?.position().z - 1.0 - sag).abs() < 0.01 * sag,
        "{}",
        world.body(ball)?.position().z
    );
    Ok(())
}

#[test]
fn ropes_go_slack_and_tighten() -> Outcome {
    let mut world = World::default();
    let ball = world.add_body(Body::dynamic().at(0.3, 0.0, 0.0).with_shape(Shape::sphere(0.1)?))?;
    world.add_joint(
        JointFrames::to_world(ball).frames(Pose::IDENTITY, Pose::IDENTITY),
        Distance { max: 2.0, ..Distance::default() },
    )?;
    let mut simulator = Realtime::default();
    for step in 0..300 {
        simulator.step(&mut world, DT)?;
        let position = world.body(ball)?.position();
        if step == 10 {
            assert!(world.body(ball)?.velocity().x.abs() < 1e-9, "slack ropes do not pull");
        }
        assert!(position.length() < 2.02, "{position}");
    }
    Ok(())
}

#[test]
fn gears_and_racks_couple() -> Outcome {
    let mut world = World::weightless();
    let disc = |x: f64| Body::dynamic().at(x, 0.0, 0.0).with_shape(Shape::cylinder(0.2, 0.1).unwrap());
    let (a, b) = (world.add_body(disc(0.0))?, world.add_body(disc(1.0))?);
    let rack = world.add_body(Body::dynamic().at(0.0, 1.0, 0.0).with_shape(cuboid(0.5, 0.1, 0.1)))?;
    let drive = Revolute { speed: 2.0.into(), max_torque: 100.0, ..Revolute::default() };
    let first = world.add_joint(JointFrames::to_world(a), drive)?;
    let second = world.add_joint(JointFrames::to_world(b).at(DVec3::X), Revolute::default())?;
    world.add_joint(JointFrames::between(a, b), Gear { ratio: 3.0 })?;
    world.add_joint(JointFrames::to_world(rack).at(DVec3::Y).along(DVec3::X), Prismatic::default())?;
    let along_x = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    world.add_joint(
        JointFrames::between(a, rack).frames(Pose::IDENTITY, Pose::new(along_x, DVec3::new(0.0, -1.0, 0.0))),
        Rack { radius: 0.25 },
    )?;
    run(&mut world, &mut Realtime::default(), 5.0);
    let turned = world.joint(first)?.angle();
    assert!(turned > 9.0);
    assert!((world.joint(second)?.angle() + 3.0 * turned).abs() < 0.05, "{}", world.joint(second)?.angle());
    assert!(
        (world.body(rack)?.position().x - 0.25 * turned).abs() < 0.02,
        "{}",
        world.body(rack)?.position()
    );
    Ok(())
}

/// A car on four wheels stands level on its springs and drives off.
#[test]
fn wheels_carry_and_drive() -> Outcome {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    let chassis =
        world.add_body(Body::dynamic().at(0.0, 0.0, 0.6).with_shape(cuboid(0.5, 1.0, 0.15)).mass(100.0))?;
    for (x, y) in [(-0.6, -0.8), (0.6, -0.8), (-0.6, 0.8), (0.6, 0.8)] {
        let axle = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
        let body = Body::dynamic().pose(Pose::new(axle, DVec3::new(x, y, 0.35)));
        let wheel = world.add_body(body.with_shape(Shape::cylinder(0.3, 0.1)?).mass(10.0))?;
        let drive = Wheel { speed: (-5.0).into(), max_torque: 20.0, ..Wheel::default() };
        world.add_joint(JointFrames::between(chassis, wheel).at(DVec3::new(x, y, 0.35)), drive)?;
    }
    run(&mut world, &mut Realtime::default(), 5.0);
    let body = world.body(chassis)?;
    assert!(body.position().y > 3.0 && body.position().x.abs() < 0.3, "{}", body.position());
    assert!((body.orientation() * DVec3::Z).z > 0.99 && body.position().z > 0.4);
    assert!((body.velocity().y - 1.5).abs() < 0.1, "{}", body.velocity());
    Ok(())
}

#[test]
fn joints_break_and_say_so() -> Outcome {
    for (breaking, breaks) in [
        (BreakThresholds { force: 15.0, ..BreakThresholds::default() }, true),
        (BreakThresholds { force: 30.0, ..BreakThresholds::default() }, false),
        (BreakThresholds { drift: 1e-2, ..BreakThresholds::default() }, false),
    ] {
        let mut world = World::default();
        let load =
            world.add_body(Body::dynamic().at(0.0, 0.0, -1.0).with_shape(Shape::sphere(0.1)?).mass(2.0))?;
        let joint = world.add_joint(JointFrames::to_world(load).breaking(breaking), Spherical::default())?;
        let mut simulator = Realtime::default();
        let mut reported = false;
        for _ in 0..60 {
            simulator.step(&mut world, DT)?;
            reported |= world
                .events()
                .iter()
                .any(|event| matches!(event, Event::JointBroke { joint: which, .. } if *which == joint));
        }
        assert_eq!(reported, breaks);
        assert_eq!(world.joint(joint).is_err(), breaks);
        assert_eq!(world.body(load)?.position().z < -2.0, breaks);
    }
    Ok(())
}

/// A four-bar linkage keeps its shape and hardly loses energy.
#[test]
fn closed_loops_hold() -> Outcome {
    let mut world = World::default();
    let points =
        [DVec3::ZERO, DVec3::new(0.0, 0.0, 1.0), DVec3::new(1.5, 0.0, 1.6), DVec3::new(2.0, 0.0, 0.0)];
    let mut bars = Vec::new();
    for ends in points.windows(2) {
        let (middle, along) = (0.5 * (ends[0] + ends[1]), ends[1] - ends[0]);
        let turn = DQuat::from_rotation_arc(DVec3::X, along.normalize());
        let body = Body::dynamic().pose(Pose::new(turn, middle));
        bars.push(world.add_body(body.with_shape(cuboid(0.5 * along.length(), 0.03, 0.03)))?);
    }
    let hinge = |joint_frames: JointFrames, point: DVec3| joint_frames.at(point).along(DVec3::Y);
    world.add_joint(hinge(JointFrames::to_world(bars[0]), points[0]), Revolute::default())?;
    world.add_joint(hinge(JointFrames::between(bars[0], bars[1]), points[1]), Revolute::default())?;
    world.add_joint(hinge(JointFrames::between(bars[1], bars[2]), points[2]), Revolute::default())?;
    world.add_joint(hinge(JointFrames::to_world(bars[2]), points[3]), Revolute::default())?;
    let start = world.readout().energy();
    let mut simulator = Realtime::default();
    for _ in 0..600 {
        simulator.step(&mut world, DT)?;
        let end = world.body(bars[2])?.pose().point(DVec3::X * 0.5 * (points[3] - points[2]).length());
        assert!((end - points[3]).length() < 5e-3, "{end}");
        assert!(world.readout().energy() < start + 0.02 * start.abs());
    }
    Ok(())
}

/// Jointed bodies do not touch, may again when the joint is gone, and go with their bodies.
#[test]
fn joints_come_and_go() -> Outcome {
    let mut world = World::weightless();
    let a = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.5)?))?;
    let b = world.add_body(Body::dynamic().at(0.6, 0.0, 0.0).with_shape(Shape::sphere(0.5)?))?;
    let joint = world.add_joint(JointFrames::between(a, b), Fixed::default())?;
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 0.5);
    assert!((world.body(b)?.position().x - 0.6).abs() < 1e-6, "overlap of jointed bodies causes no force");
    world.remove_joint(joint)?;
    run(&mut world, &mut simulator, 2.0);
    assert!(
        (world.body(b)?.position() - world.body(a)?.position()).length() > 0.98,
        "they push each other apart"
    );
    let again = world.add_joint(JointFrames::between(a, b), Spherical::default())?;
    world.remove_body(a)?;
    assert!(world.joint(again).is_err());
    run(&mut world, &mut simulator, 0.1);
    assert!(world.add_joint(JointFrames::between(b, b), Fixed::default()).is_err());
    assert!(world.add_joint(JointFrames::to_world(b).along(DVec3::ZERO), Fixed::default()).is_err());
    assert!(world.add_joint(JointFrames::to_world(b).at(DVec3::NAN), Fixed::default()).is_err());
    assert_eq!(world.joint_count(), 0);
    Ok(())
}

/// A hand drags a ball about, and a pendulum that comes to rest falls asleep with the whole chain.
#[test]
fn hands_drag_and_chains_sleep() -> Outcome {
    let mut world = World::default();
    let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.2)?))?;
    let hand = world.add_joint(JointFrames::to_world(ball), Target::default())?;
    world.set_joint_property(hand, "place", rattleback_dynamics::Value::Vec3(DVec3::new(1.0, 2.0, 3.0)))?;
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 2.0);
    let sag = 9.81 / (std::f64::consts::TAU * 5.0).powi(2);
    assert!((world.body(ball)?.position() - DVec3::new(1.0, 2.0, 3.0 - sag)).length() < 1e-3);

    let mut world = World::default();
    let mut above = None;
    let mut links = Vec::new();
    for k in 0..5 {
        let body = Body::dynamic().at(0.0, 0.0, -0.5 - f64::from(k)).with_shape(cuboid(0.1, 0.1, 0.4));
        let id = world.add_body(body.damping(0.0, 0.5))?;
        let joint_frames = above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id));
        world.add_joint(joint_frames.at(DVec3::Z * -f64::from(k)), Spherical::default())?;
        above = Some(id);
        links.push(id);
    }
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 3.0);
    assert!(links.iter().all(|id| simulator.is_asleep(*id)));
    world.body_mut(links[4])?.set_velocity(DVec3::X)?;
    run(&mut world, &mut simulator, DT);
    assert!(links.iter().all(|id| !simulator.is_asleep(*id)));
    Ok(())
}

/// Snapshots keep joints and what they exclude.
#[test]
fn snapshots_keep_joints() -> Outcome {
    let (mut world, [a, b], joint) = pair(Box::new(Revolute { limited: true, ..Revolute::default() }));
    let mut simulator = Realtime::default();
    run(&mut world, &mut simulator, 0.5);
    let bytes = world.snapshot()?;
    let copy = World::restore(&bytes, &Registry::default())?;
    assert_eq!(copy.joint(joint)?.angle(), world.joint(joint)?.angle());
    assert_eq!(copy.joint(joint)?.kind().properties(), world.joint(joint)?.kind().properties());
    let shapes = [copy.body(a)?.shapes()[0], copy.body(b)?.shapes()[0]];
    assert!(!copy.can_collide(shapes[0], shapes[1])?);
    Ok(())
}

/// One, two and four threads give the same bits, with chains, loops, limits and motors.
#[test]
fn threads_do_not_show() {
    let build = || -> World {
        let mut world = World::default();
        world
            .add_body(Body::fixed().at(0.0, 0.0, -3.0).with_shape(Shape::half_space(DVec3::Z).unwrap()))
            .unwrap();
        for chain in 0..12 {
            let mut above = None;
            for k in 0..4 + 2 * chain {
                let place = DVec3::new(f64::from(k) + 0.5, f64::from(chain), 0.0);
                let body = Body::dynamic().at(place.x, place.y, place.z).with_shape(cuboid(0.4, 0.1, 0.1));
                let id = world.add_body(body).unwrap();
                let joint_frames =
                    above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id));
                let joint_frames = joint_frames.at(place - DVec3::X * 0.5).along(DVec3::Y);
                if k % 3 == 0 {
                    world
                        .add_joint(
                            joint_frames,
                            Spherical { friction: 0.1, cone: 1.0, ..Spherical::default() },
                        )
                        .unwrap();
                } else {
                    world
                        .add_joint(joint_frames, Revolute { max_torque: 0.5, ..Revolute::default() })
                        .unwrap();
                }
                above = Some(id);
            }
        }
        world
    };
    let outcome = |threads: i64| {
        let mut world = build();
        let mut simulator =
            Realtime::new(RealtimeSettings { threads, ..RealtimeSettings::default() }).unwrap();
        run(&mut world, &mut simulator, 2.0);
        world.iter_bodies().map(|body| *body.motion()).collect::<Vec<_>>()
    };
    let one = outcome(1);
    assert!(one == outcome(2));
    assert!(one == outcome(4));
}

/// a disc of 1 kg at 0.1 m above a ball joint, spinning with 200 rad/s at a tilt of 30°, precesses steadily with
/// 0.991645 rad/s; without the gyroscopic torque it would be 0.39.
#[test]
fn spinning_top_precesses() -> Outcome {
    let mut world = World::default();
    let tilt = 30_f64.to_radians();
    let turn = DQuat::from_rotation_y(tilt);
    let (axis, precession) = (turn * DVec3::Z, 0.9916452);
    let disc = MassProperties {
        mass: 1.0,
        center_of_mass: DVec3::ZERO,
        inertia: DMat3::from_diagonal(DVec3::new(0.0025, 0.0025, 0.005)),
    };
    let top = Body::dynamic()
        .pose(Pose::new(turn, 0.1 * axis))
        .with_shape(Shape::sphere(0.05)?)
        .mass_properties(disc);
    let omega = 200.0 * axis + precession * (DVec3::Z - tilt.cos() * axis);
    let top = world.add_body(top.angular_velocity(omega).velocity(omega.cross(0.1 * axis)))?;
    world.add_joint(JointFrames::to_world(top), Spherical::default())?;
    let mut simulator = Realtime::default();
    let (mut turned, mut last) = (0.0, 0.0_f64);
    for _ in 0..240 {
        simulator.step(&mut world, DT)?;
        let place = world.body(top)?.position();
        let azimuth = place.y.atan2(place.x);
        turned +=
            (azimuth - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
        last = azimuth;
        let leaning = (place.z / place.length()).acos();
        assert!((leaning - tilt).abs() < 1_f64.to_radians(), "tilt {}", leaning.to_degrees());
    }
    let rate = turned / world.time();
    assert!((rate / precession - 1.0).abs() < 0.01, "{rate}");
    Ok(())
}

/// Whatever is wrong with a body or a mass, the step returns, nothing turns into nonsense, and the others go on.
#[test]
fn faults_stay_where_they_are() -> Outcome {
    let mut world = World::default();
    let ball = || Body::dynamic().with_shape(Shape::sphere(0.1).unwrap());
    let mut joined =
        |a: Body, b: Body, joint: Box<dyn Joint>| -> Result<[BodyId; 2], Box<dyn std::error::Error>> {
            let (a, b) = (world.add_body(a)?, world.add_body(b)?);
            world.add_boxed_joint(JointFrames::between(a, b), joint)?;
            Ok([a, b])
        };
    joined(ball().mass(1e-6), ball().at(1.0, 0.0, 0.0).mass(1e6), Box::<Fixed>::default())?;
    joined(
        ball().at(0.0, 5.0, 0.0).velocity(DVec3::X * 1e6),
        ball().at(0.0, 6.0, 0.0),
        Box::<Spherical>::default(),
    )?;
    joined(
        ball().at(0.0, 9.0, 0.0).angular_velocity(DVec3::ONE * 1e5),
        ball().at(0.0, 9.5, 0.0),
        Box::<Revolute>::default(),
    )?;
    joined(
        Body::fixed().at(0.0, 20.0, 0.0),
        ball().at(0.0, 20.0, 0.0),
        Box::new(Distance { max: 0.0, ..Distance::default() }),
    )?;
    let mad = joined(ball().at(0.0, 30.0, 0.0), ball().at(0.0, 31.0, 0.0), Box::<Universal>::default())?;
    let sane = joined(ball().at(0.0, 40.0, 0.0), ball().at(0.0, 41.0, 0.0), Box::<Fixed>::default())?;
    let idle = joined(ball().at(0.0, 50.0, 0.0), ball().at(0.0, 51.0, 0.0), Box::<Fixed>::default())?;
    world.body_mut(idle[0])?.set_status(rattleback_dynamics::Status::Disabled)?;
    let mut simulator = Realtime::default();
    for step in 0..120 {
        if step == 10 {
            let wrench = rattleback_dynamics::force::PointForce {
                force: (DVec3::ONE * 1e300).into(),
                ..Default::default()
            };
            world.add_force_on(rattleback_dynamics::Targets::Bodies(vec![mad[0]]), None, Box::new(wrench))?;
        }
        simulator.step(&mut world, DT)?;
        assert!(world.iter_bodies().all(|body| body.motion().is_finite()));
    }
    let [a, b] = sane.map(|id| world.body(id).unwrap().position());
    assert!(((b - a).length() - 1.0).abs() < 1e-3, "the others are held together");
    assert!(a.z < -15.0, "and fall");
    Ok(())
}
