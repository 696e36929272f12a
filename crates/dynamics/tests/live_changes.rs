//! What is changed in a running world reaches every simulator: surfaces, filters, shapes, forces, gravity scale, locked rotations.

use glam::{DQuat, DVec3};
use rattleback_dynamics::force::Drag;
use rattleback_dynamics::joint::{Fixed, Generic6Dof, JointFrames, Revolute, Spherical};
use rattleback_dynamics::simulator::{Capabilities, Feature, unsupported};
use rattleback_dynamics::world::Combine;
use rattleback_dynamics::{
    Body, BodyId, CollisionGroups, Event, Material, Properties, Registry, ShapeId, ShapePart, Simulator,
    Status, World,
};
use rattleback_geometry::{MassProperties, Pose, Shape};

const DT: f64 = 1.0 / 60.0;
const ALL: [&str; 6] = ["free-motion", "realtime", "impulse", "constraint", "penalty", "sequential"];
const WITH_CONTACTS: [&str; 5] = ["realtime", "impulse", "constraint", "penalty", "sequential"];

fn make(name: &str) -> Box<dyn Simulator> {
    Registry::default().simulators.make(name, &Properties::new()).unwrap()
}

fn run(world: &mut World, simulator: &mut dyn Simulator, seconds: f64) {
    for _ in 0..(seconds / DT).round() as usize {
        simulator.step(world, DT).unwrap();
    }
}

/// A cube on the ground, and the ground's shape.
fn cube_on_ground(friction: f64) -> (World, BodyId, ShapeId) {
    let mut world = World::default();
    world.set_material(world.default_material(), Material::with_friction(friction)).unwrap();
    let ground = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let cube = Shape::cuboid(DVec3::splat(0.25)).unwrap();
    let cube = world.add_body(Body::dynamic().at(0.0, 0.0, 0.25).with_shape(cube)).unwrap();
    let shape = world.body(ground).unwrap().shapes()[0];
    (world, cube, shape)
}

/// A cube slides on ice; the ice is made rough under it by changing the material, the combine rule, or the shape's material.
#[test]
fn changed_friction_stops_a_sliding_cube() {
    #[allow(clippy::type_complexity)]
    let changes: [(&str, fn(&mut World, ShapeId)); 3] = [
        ("material", |world, _| {
            world.set_material(world.default_material(), Material::with_friction(0.8)).unwrap();
        }),
        ("combine rule", |world, ground| {
            // With the maximum the rough ground decides.
            let rough = world.add_material(Material::with_friction(0.8)).unwrap();
            world.set_shape_material(ground, rough).unwrap();
            world.combine_rules_mut().friction = Combine::Maximum;
        }),
        ("material of a shape", |world, ground| {
            let rough = world.add_material(Material::with_friction(1.6)).unwrap();
            world.set_shape_material(ground, rough).unwrap();
        }),
    ];
    for name in WITH_CONTACTS {
        for (what, change) in changes {
            let (mut world, cube, ground) = cube_on_ground(0.0);
            world.body_mut(cube).unwrap().set_velocity(2.0 * DVec3::X).unwrap();
            let mut simulator = make(name);
            run(&mut world, &mut *simulator, 0.5);
            assert!(world.body(cube).unwrap().velocity().x > 1.9, "{name}, {what}: ice is not smooth");
            change(&mut world, ground);
            run(&mut world, &mut *simulator, 1.0);
            assert!(world.body(cube).unwrap().velocity().length() < 0.1, "{name}, {what}");
        }
    }
}

/// A cube at rest falls as soon as a rule, groups, a sensor flag or the removal of the ground's shape lets it through.
#[test]
fn changed_filter_lets_a_resting_cube_fall() {
    #[allow(clippy::type_complexity)]
    let changes: [(&str, fn(&mut World, BodyId, ShapeId)); 4] = [
        ("rule", |world, cube, ground| {
            let ground = world.shape(ground).unwrap().body;
            world.filter_mut().rules.insert_body_pair(ground, cube);
        }),
        ("groups", |world, _, ground| {
            world.set_shape_groups(ground, CollisionGroups { member_of: 2, touches: 0 }).unwrap();
        }),
        ("sensor", |world, _, ground| world.set_shape_sensor(ground, true).unwrap()),
        ("removal", |world, _, ground| {
            world.detach_shape(ground).unwrap();
        }),
    ];
    for name in WITH_CONTACTS {
        for (what, change) in changes {
            let (mut world, cube, ground) = cube_on_ground(0.5);
            let mut simulator = make(name);
            run(&mut world, &mut *simulator, 2.0);
            assert!(
                (world.body(cube).unwrap().position().z - 0.25).abs() < 5e-3,
                "{name}, {what}: does not rest"
            );
            change(&mut world, cube, ground);
            run(&mut world, &mut *simulator, 0.5);
            assert!(
                world.body(cube).unwrap().position().z < -0.5,
                "{name}, {what}: {}",
                world.body(cube).unwrap().position()
            );
        }
    }
}

/// A cube gets feet, which carry it; a larger geometry in place of the old lifts nothing that is far away.
#[test]
fn attached_and_replaced_shapes_carry() {
    for name in WITH_CONTACTS {
        let (mut world, cube, _) = cube_on_ground(0.5);
        world
            .body_mut(cube)
            .unwrap()
            .set_pose(Pose::new(DQuat::IDENTITY, DVec3::new(0.0, 0.0, 3.0)))
            .unwrap();
        let mut simulator = make(name);
        run(&mut world, &mut *simulator, 0.1);
        let foot = ShapePart {
            pose: Pose::new(DQuat::IDENTITY, DVec3::new(0.0, 0.0, -0.75)),
            ..Shape::cuboid(DVec3::splat(0.25)).unwrap().into()
        };
        world.attach_shape(cube, foot).unwrap();
        run(&mut world, &mut *simulator, 2.0);
        let z = world.body(cube).unwrap().position().z;
        assert!((z - 1.0).abs() < 0.01, "{name}: stands at {z}");
        // The upper cube shrinks: nothing changes. The lower one becomes flat: it falls by 0.2.
        let shapes = world.body(cube).unwrap().shapes().to_vec();
        world.replace_shape(shapes[0], Shape::cuboid(DVec3::splat(0.1)).unwrap()).unwrap();
        world.replace_shape(shapes[1], Shape::cuboid(DVec3::new(0.25, 0.25, 0.05)).unwrap()).unwrap();
        run(&mut world, &mut *simulator, 1.0);
        let z = world.body(cube).unwrap().position().z;
        assert!((z - 0.8).abs() < 0.01, "{name}: stands at {z}");
    }
}

/// Forces, gravity scale and locked rotations act in every simulator.
#[test]
fn loads_of_single_bodies_act_in_every_simulator() {
    for name in ALL {
        let mut world = World::default();
        let ball = || Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).mass(2.0);
        let floating = world.add_body(ball().at(0.0, 0.0, 5.0).gravity_scale(0.0)).unwrap();
        let light = world.add_body(ball().at(1.0, 0.0, 5.0).gravity_scale(0.5)).unwrap();
        let pushed = world.add_body(ball().at(2.0, 0.0, 5.0)).unwrap();
        let held = world.add_body(ball().at(3.0, 0.0, 5.0)).unwrap();
        world.body_mut(pushed).unwrap().add_force(DVec3::new(0.0, 4.0, 2.0 * 9.81)).unwrap();
        world.body_mut(pushed).unwrap().add_torque(0.008 * DVec3::Z).unwrap(); // I = 2/5 m r² = 0.008
        world.body_mut(held).unwrap().set_gravity_scale(-1.0).unwrap();
        let mut simulator = make(name);
        run(&mut world, &mut *simulator, 1.0);
        let at = |body: BodyId| world.body(body).unwrap().position();
        assert!((at(floating).z - 5.0).abs() < 2e-3, "{name}: {}", at(floating));
        assert!((at(light).z - (5.0 - 0.25 * 9.81)).abs() < 0.06, "{name}: {}", at(light));
        assert!((at(held).z - (5.0 + 0.5 * 9.81)).abs() < 0.1, "{name}: {}", at(held));
        assert!((at(pushed) - DVec3::new(2.0, 1.0, 5.0)).length() < 0.03, "{name}: {}", at(pushed));
        let body = world.body(pushed).unwrap();
        assert!((body.velocity().y - 2.0).abs() < 1e-6, "{name}: {}", body.velocity());
        assert!((body.angular_velocity().z - 1.0).abs() < 1e-5, "{name}: {}", body.angular_velocity());
        // Potential energy follows the scale: K + U of the light one stays.
        world.body_mut(pushed).unwrap().clear_forces().unwrap();
        run(&mut world, &mut *simulator, 0.1);
        assert!((world.body(pushed).unwrap().velocity().y - 2.0).abs() < 1e-6, "{name}");
    }
}

/// A box whose rotations are locked lands on a corner of it and stays upright; torque impulses do not turn it.
#[test]
fn locked_rotations_hold_or_are_refused() {
    for name in ALL {
        let mut world = World::default();
        let edge = Shape::cuboid(DVec3::new(0.2, 1.0, 0.5)).unwrap();
        world.add_body(Body::fixed().at(0.35, 0.0, -0.5).with_shape(edge)).unwrap();
        let cube = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        let cube =
            world.add_body(Body::dynamic().at(0.0, 0.0, 0.3).with_shape(cube).lock_rotations()).unwrap();
        world.body_mut(cube).unwrap().apply_torque_impulse(5.0 * DVec3::Y).unwrap();
        assert!(world.body_mut(cube).unwrap().set_angular_velocity(DVec3::X).is_err());
        let mut simulator = make(name);
        if !simulator.capabilities().has(Feature::LockedRotations) {
            assert!(simulator.step(&mut world, DT).is_err(), "{name} refuses what it cannot do");
            continue;
        }
        run(&mut world, &mut *simulator, 1.0);
        let body = world.body(cube).unwrap();
        assert!(body.orientation().angle_between(DQuat::IDENTITY) < 1e-6, "{name}: {}", body.orientation());
        if name != "free-motion" {
            assert!((body.position().z - 0.25).abs() < 0.01, "{name}: {}", body.position());
        }
    }
}

/// Mass, centre of mass and joints after the shapes of a body have changed.
#[test]
fn mass_follows_the_shapes_when_asked() {
    let mut world = World::default();
    let cube = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    let body = world.add_body(Body::dynamic().with_shape(cube.clone()).angular_velocity(DVec3::Z)).unwrap();
    let hinge = world.add_joint(JointFrames::to_world(body).at(DVec3::X), Spherical::default()).unwrap();
    let anchor = world.joint_motion(hinge).unwrap();
    let second = ShapePart { pose: Pose::new(DQuat::IDENTITY, 2.0 * DVec3::X), ..cube.into() };
    world.attach_shape(body, second).unwrap();
    assert_eq!(world.body(body).unwrap().mass(), 1000.0);
    world.body_mut(body).unwrap().set_density(1000.0).unwrap();
    let now = world.body(body).unwrap();
    assert!((now.mass() - 2000.0).abs() < 1e-9);
    assert!((now.center_of_mass() - DVec3::X).length() < 1e-12);
    // The frame turned about its origin, so the new centre moves along y.
    assert!((now.velocity() - DVec3::Y).length() < 1e-12);
    assert!(now.position().length() < 1e-12);
    let moved = world.joint_motion(hinge).unwrap();
    assert!((moved.translation - anchor.translation).length() < 1e-12);
    assert!((moved.angular_velocity - DVec3::Z).length() < 1e-12);
    assert!(
        world
            .body_mut(body)
            .unwrap()
            .set_mass_properties(MassProperties {
                mass: -1.0,
                center_of_mass: DVec3::ZERO,
                inertia: glam::DMat3::IDENTITY
            })
            .is_err()
    );
}

/// A weight hangs on a hinge: the reaction is its weight, upwards.
#[test]
fn reaction_of_a_joint_is_the_weight_it_bears() {
    for name in ["realtime", "constraint"] {
        for axis in [DVec3::Y, DVec3::new(0.6, 0.0, 0.8)] {
            let mut world = World::default();
            let ball = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).mass(3.0);
            let ball = world.add_body(ball).unwrap();
            let joint = world.add_joint(JointFrames::to_world(ball).along(axis), Fixed::default()).unwrap();
            let mut simulator = make(name);
            run(&mut world, &mut *simulator, 1.0);
            let reaction = simulator.joint_reaction(&world, joint).unwrap();
            assert!((reaction.force - 3.0 * 9.81 * DVec3::Z).length() < 0.05, "{name}: {reaction:?}");
        }
    }
}

/// Typed change of a joint; what does not fit is refused and leaves it as it was.
#[test]
fn joints_are_changed_by_type() {
    let mut world = World::default();
    let wheel = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.3).unwrap())).unwrap();
    let hinge = world.add_joint(JointFrames::to_world(wheel), Revolute::default()).unwrap();
    world
        .change_joint::<Revolute>(hinge, |hinge| (hinge.speed, hinge.max_torque) = (3.0.into(), 1e6))
        .unwrap();
    run(&mut world, &mut *make("realtime"), 1.0);
    assert!((world.joint_motion(hinge).unwrap().angular_velocity.z - 3.0).abs() < 0.01);
    assert!(world.change_joint::<Revolute>(hinge, |hinge| hinge.max_torque = f64::NAN).is_err());
    assert_eq!(world.joint_as::<Revolute>(hinge).unwrap().max_torque, 1e6);
    let error = world.joint_as::<Spherical>(hinge).unwrap_err().to_string();
    assert!(error.contains("Spherical") && error.contains("revolute"), "{error}");
}

/// A sensor reports contacts wherever the simulator has the feature, and nowhere else; the same for events.
#[test]
fn capabilities_are_true() {
    let registry = Registry::default();
    for name in ALL {
        let capabilities = registry.capabilities(name).unwrap();
        let (mut world, _, ground) = cube_on_ground(0.5);
        world
            .set_material(
                world.default_material(),
                Material {
                    rolling_friction: 0.05,
                    spinning_friction: 0.05,
                    restitution: 0.0,
                    ..Material::default()
                },
            )
            .unwrap();
        let gate = Shape::cuboid(DVec3::splat(0.3)).unwrap();
        let gate = ShapePart { sensor: true, ..gate.into() };
        world.add_body(Body::fixed().at(5.0, 0.0, 1.0).with_part(gate)).unwrap();
        let ball = Body::dynamic()
            .at(5.0, 0.0, 2.0)
            .with_shape(Shape::sphere(0.1).unwrap())
            .velocity(0.5 * DVec3::Y);
        let ball = world.add_body(ball).unwrap();
        let sensed = |event: &Event, world: &World| match event {
            Event::ContactBegan { shapes, .. } => {
                shapes.iter().any(|shape| world.shape(*shape).unwrap().sensor)
            }
            _ => false,
        };
        let (mut by_sensor, mut contacts, mut collisions, mut slept) = (false, false, false, false);
        let mut simulator = make(name);
        for _ in 0..360 {
            simulator.step(&mut world, DT).unwrap();
            for event in world.events() {
                by_sensor |= sensed(event, &world);
                contacts |= matches!(event, Event::ContactBegan { shapes, .. } if shapes.contains(&ground));
                collisions |= matches!(event, Event::Collision { .. });
                slept |= matches!(event, Event::Slept { .. });
            }
        }
        assert_eq!(by_sensor, capabilities.has(Feature::Sensors), "{name}: sensors");
        assert_eq!(contacts, capabilities.has(Feature::ContactEvents), "{name}: contact events");
        assert_eq!(slept, capabilities.has(Feature::SleepEvents), "{name}: sleep events");
        assert!(!collisions || capabilities.has(Feature::CollisionEvents), "{name}: collision events");
        assert_eq!(
            !simulator.sleeping_bodies(&world).is_empty(),
            capabilities.has(Feature::Sleeping),
            "{name}: sleep"
        );
        if capabilities.has(Feature::Contacts) {
            let speed = world.body(ball).unwrap().velocity().length();
            assert_eq!(
                speed < 0.1,
                capabilities.has(Feature::RollingFriction),
                "{name}: rolls at {speed} m/s"
            );
        }
        let warned = unsupported(&world, capabilities);
        let needed =
            [Feature::Sensors, Feature::RollingFriction, Feature::SpinningFriction, Feature::Contacts];
        for feature in needed {
            let warns = warned.iter().any(|warning| warning.feature == feature);
            assert_eq!(warns, !capabilities.has(feature), "{name}: {feature}");
        }
    }
    assert!(unsupported(&cube_on_ground(0.5).0, Capabilities::ALL).is_empty());
}

/// A copy of a world behaves as the original.
#[test]
fn copied_world_goes_the_same_way() {
    let (mut world, cube, _) = cube_on_ground(0.3);
    world.add_force(Drag { linear: 0.1.into(), ..Drag::default() }).unwrap();
    world.body_mut(cube).unwrap().set_velocity(DVec3::X).unwrap();
    world.body_mut(cube).unwrap().set_user_data(7).unwrap();
    let mut copy = world.clone();
    run(&mut world, &mut *make("realtime"), 1.0);
    run(&mut copy, &mut *make("realtime"), 1.0);
    assert_eq!(world.bodies().motion(Status::Dynamic), copy.bodies().motion(Status::Dynamic));
    assert_eq!(copy.body(cube).unwrap().user_data(), 7);
}

/// A contact modifier takes the friction of one cube away while it slides; NaN and values out of range do no harm; without it friction
/// is back.
#[test]
fn contact_modifier_changes_friction_of_living_contacts() {
    for name in WITH_CONTACTS {
        let (mut world, cube, _) = cube_on_ground(0.5);
        let mut simulator = make(name);
        run(&mut world, &mut *simulator, 0.1);
        world.pair_filter_mut().set_contact_modifier(move |world, shapes, material| {
            if shapes.iter().any(|shape| world.shape(*shape).is_ok_and(|shape| shape.body == cube)) {
                (material.static_friction, material.kinetic_friction) = (-1.0, 0.0);
                (material.restitution, material.rolling_friction) = (f64::NAN, f64::NAN);
            }
        });
        world.body_mut(cube).unwrap().set_velocity(DVec3::X).unwrap();
        run(&mut world, &mut *simulator, 0.5);
        let sliding = world.body(cube).unwrap().velocity().x;
        assert!((sliding - 1.0).abs() < 1e-3, "{name} without friction: {sliding}");
        world.pair_filter_mut().clear_contact_modifier();
        run(&mut world, &mut *simulator, 0.5);
        let stopped = world.body(cube).unwrap().velocity().x;
        assert!(stopped.abs() < 0.01, "{name} with friction: {stopped}");
    }
}

/// A cube at rest exceeds half its weight in every step and twice its weight in none; without a threshold there are no events.
#[test]
fn contact_forces_above_a_threshold_are_reported() {
    for name in WITH_CONTACTS {
        for (threshold, expected) in [(Some(0.5), true), (Some(2.0), false), (None, false)] {
            let (mut world, cube, ground) = cube_on_ground(0.5);
            let weight = world.body(cube).unwrap().mass() * 9.81;
            let mut simulator = make(name);
            assert!(simulator.capabilities().has(Feature::ContactForceEvents));
            run(&mut world, &mut *simulator, 0.5);
            world.set_contact_force_threshold(cube, threshold.map(|share| share * weight)).unwrap();
            let mut forces = Vec::new();
            for _ in 0..30 {
                simulator.step(&mut world, DT).unwrap();
                forces.extend(world.events().iter().filter_map(|event| match event {
                    Event::ContactForce { shapes, force, .. } if shapes.contains(&ground) => Some(*force),
                    _ => None,
                }));
            }
            assert_eq!(!forces.is_empty(), expected, "{name}, {threshold:?}: {forces:?}");
            if expected {
                let mean = forces.iter().sum::<f64>() / 30.0;
                assert!((mean - weight).abs() < 0.1 * weight, "{name}: {mean} N of {weight} N");
            }
        }
    }
    let (mut world, cube, _) = cube_on_ground(0.5);
    assert!(world.set_contact_force_threshold(cube, Some(-1.0)).is_err());
    assert!(world.set_contact_force_threshold(cube, Some(f64::NAN)).is_err());
    world.set_contact_force_threshold(cube, Some(1.0)).unwrap();
    world.remove_body(cube).unwrap();
    assert!(!world.has_contact_force_thresholds());
}

/// A body restricted to a plane and one axis of rotation stays there, whatever pushes it, and moves freely in the rest.
#[test]
fn locked_axes_restrict_a_body() {
    for name in ALL {
        let mut simulator = make(name);
        // `sequential` refuses joints with a sliding axis.
        if !simulator.capabilities().has(Feature::Joints) || name == "sequential" {
            continue;
        }
        let mut world = World::default();
        let cube = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        let cube = world.add_body(Body::dynamic().with_shape(cube).mass(1.0)).unwrap();
        let plane = Generic6Dof::locking([false, true, false], [true, false, true]);
        world.add_joint(JointFrames::to_world(cube), plane).unwrap();
        let mut body = world.body_mut(cube).unwrap();
        body.apply_impulse(DVec3::new(1.0, 3.0, 0.0), DVec3::new(0.0, 0.1, 0.1)).unwrap();
        run(&mut world, &mut *simulator, 1.0);
        let body = world.body(cube).unwrap();
        let (x, omega) = (body.position(), body.angular_velocity());
        assert!(x.y.abs() < 5e-3 && (x.x - 1.0).abs() < 0.05 && x.z < -4.0, "{name}: {x}");
        assert!(omega.x.abs() < 0.02 && omega.z.abs() < 0.02 && omega.y > 1.0, "{name}: {omega}");
    }
}

/// A ball in flight stops and stays when it is put to sleep, a stack sleeps as a whole, and waking one wakes all; simulators without the
/// feature go on as if nothing had been requested.
#[test]
fn bodies_are_put_to_sleep_by_call() {
    for name in ALL {
        let (mut world, cube, _) = cube_on_ground(0.5);
        let small = Shape::cuboid(DVec3::splat(0.1)).unwrap();
        let upper = world.add_body(Body::dynamic().at(0.0, 0.0, 0.6).with_shape(small)).unwrap();
        let ball =
            Body::dynamic().at(5.0, 0.0, 20.0).velocity(DVec3::X).with_shape(Shape::sphere(0.1).unwrap());
        let ball = world.add_body(ball).unwrap();
        let mut simulator = make(name);
        let by_call = simulator.capabilities().has(Feature::SleepByCall);
        run(&mut world, &mut *simulator, 0.1);
        for body in [upper, ball] {
            world.put_to_sleep(body).unwrap();
        }
        run(&mut world, &mut *simulator, DT);
        let place = world.body(ball).unwrap().position();
        run(&mut world, &mut *simulator, 0.3);
        let moved = (world.body(ball).unwrap().position() - place).length();
        assert_eq!(moved == 0.0, by_call, "{name}: {moved}");
        if !by_call {
            continue;
        }
        assert_eq!(simulator.sleeping_bodies(&world), [cube, upper, ball], "{name}");
        world.wake(cube).unwrap();
        simulator.step(&mut world, DT).unwrap();
        assert_eq!(simulator.sleeping_bodies(&world), [ball], "{name}");
        world.put_to_sleep(upper).unwrap();
        world.wake(upper).unwrap();
        simulator.step(&mut world, DT).unwrap();
        assert_eq!(simulator.sleeping_bodies(&world), [ball], "{name}");
        world.remove_body(upper).unwrap();
        assert!(world.put_to_sleep(upper).is_err() && world.wake(upper).is_err());
    }
}
