//! Multibodies in worlds: motion, links as bodies, energy, snapshots, and what is refused.

use crate::multibody_support::{Random, assert_close, rod};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::RevoluteJoint;
use rattleback_dynamics::multibody::{
    Element, Friction, Limit, Link, LinkTree, Mechanism, MechanismError, Method, Servo,
};
use rattleback_dynamics::query::{QueryFilter, QueryPipeline};
use rattleback_dynamics::world::{ColliderOwner, LedgerSettings, LinkId, WorkCategory};
use rattleback_dynamics::{
    Body, Error, Event, FreeMotion, Multibody, MultibodyId, Properties, Registry, ShapePart, Simulator, World,
};
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::{Pose, Shape};

const SIMULATORS: [&str; 6] = ["free-motion", "realtime", "impulse", "constraint", "penalty", "sequential"];
const WITH_CONTACTS: [&str; 5] = ["realtime", "impulse", "constraint", "penalty", "sequential"];

fn make(name: &str) -> Box<dyn Simulator> {
    Registry::default().simulators.make(name, &Properties::new()).unwrap()
}

/// Rods of 1 m and 1 kg that turn about y, all of them horizontal.
fn pendulum(count: usize) -> Mechanism {
    let link = |index: usize| {
        let parent = index.checked_sub(1);
        let at = if index == 0 { DVec3::ZERO } else { -DVec3::Z };
        rod(Link::new(format!("rod {index}"), parent, RevoluteJoint { axis: DVec3::Y })
            .at(at, DQuat::IDENTITY))
    };
    let mut mechanism = Mechanism::new(LinkTree::new((0..count).map(link).collect()).unwrap());
    let mut q = vec![0.0; count];
    q[0] = std::f64::consts::FRAC_PI_2;
    mechanism.set_state(&q, &vec![0.0; count]).unwrap();
    mechanism
}

/// A box that fills a rod.
fn rod_shape() -> ShapePart {
    let shape = Shape::cuboid(DVec3::new(0.05, 0.05, 0.5)).unwrap();
    ShapePart { pose: Pose::at(-0.5 * DVec3::Z), ..shape.into() }
}

fn with_shapes(mechanism: Mechanism) -> Multibody {
    let names: Vec<String> = mechanism.tree().links().iter().map(|link| link.name.clone()).collect();
    names.iter().fold(Multibody::new(mechanism).named("arm"), |multibody, name| {
        multibody.with_part(name, rod_shape()).unwrap()
    })
}

/// A random forest with springs, dampers, limits and dry friction where the joints allow them.
fn random_mechanism(seed: u64, count: usize) -> Mechanism {
    let mut random = Random::new(seed);
    let tree = random.tree(count);
    let (q, v) = (random.positions(&tree), random.numbers(tree.velocity_count(), 0.5));
    let mut mechanism = Mechanism::new(tree);
    for axis in 0..mechanism.tree().velocity_count() {
        let scalar = mechanism.tree().position_of_velocity(axis).map(|place| q[place]);
        mechanism.add_element(Element::Damper { axis, coefficient: 0.2 * random.unit() }).unwrap();
        match ((random.unit() * 5.0) as u32, scalar) {
            (0, _) => {
                let stiffness = 5.0 * random.unit();
                mechanism.add_element(Element::Spring { axis, stiffness, rest: 0.1 }).unwrap();
            }
            (1, Some(q)) => {
                let limit = Limit { axis, range: [q - 0.1, q + 0.1], restitution: 0.5 * random.unit() };
                mechanism.add_limit(limit).unwrap();
            }
            (2, _) => mechanism.add_friction(Friction { axis, force: random.unit() }).unwrap(),
            (3, Some(q)) => {
                let servo = Servo {
                    axis,
                    stiffness: 10.0,
                    damping: 1.0,
                    max_force: 5.0,
                    position: q + 0.2,
                    velocity: 0.0,
                };
                mechanism.add_servo(servo).unwrap();
            }
            _ => {}
        }
    }
    mechanism.set_state(&q, &v).unwrap();
    mechanism
}

fn bits(world: &World, id: MultibodyId) -> Vec<u64> {
    let multibody = world.multibody(id).unwrap();
    let numbers = multibody.all_positions().iter().chain(multibody.all_velocities());
    numbers.map(|x| x.to_bits()).collect()
}

/// I φ̈ = −m g l sin φ; from φ₀ the period is T = 4 √(I/(m g l)) K(sin φ₀/2), K by the arithmetic-geometric mean.
#[test]
fn a_pendulum_swings_with_the_period_of_the_closed_form() {
    let start = 1.2_f64;
    let (mut a, mut b) = (1.0, (0.5 * start).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    // 4 K = 2π/agm; I = ⅓ m l², half the length to the centre of mass.
    let period = std::f64::consts::TAU / a * ((1.0_f64 / 12.0 + 0.25) / (9.81 * 0.5)).sqrt();
    let mut world = World::default();
    let id = world.add_multibody(with_shapes(pendulum(1))).unwrap();
    world.multibody_mut(id).unwrap().set_positions("rod 0", &[start]).unwrap();
    let mut simulator = make("realtime");
    let steps = 3 * 1000;
    for _ in 0..steps {
        simulator.step(&mut world, period / 1000.0).unwrap();
    }
    let multibody = world.multibody(id).unwrap();
    assert!((multibody.positions("rod 0").unwrap()[0] - start).abs() < 1e-9);
    assert!(multibody.velocities(0).unwrap()[0].abs() < 1e-6);
    // q̈ at the turning point.
    let expected = -9.81 * 0.5 * start.sin() / (1.0 / 12.0 + 0.25);
    assert!((multibody.accelerations("rod 0").unwrap()[0] - expected).abs() < 1e-6);
}

/// Issue: triple pendulum from horizontal at 1 ms for 60 s, error of the energy at most 1e-6 of the largest kinetic energy.
#[test]
fn a_triple_pendulum_keeps_its_energy_for_a_minute() {
    let mut world = World::default();
    let id = world.add_multibody(Multibody::new(pendulum(3))).unwrap();
    let start = world.readout().energy();
    let (mut most, mut worst) = (0.0_f64, 0.0_f64);
    let mut simulator = FreeMotion::default();
    for _ in 0..60_000 {
        simulator.step(&mut world, 1e-3).unwrap();
        let now = world.readout();
        most = most.max(now.kinetic_energy);
        worst = worst.max((now.energy() - start).abs());
    }
    println!("largest kinetic energy {most:.3} J, largest error {worst:.3e} J, {:.2e} of it", worst / most);
    assert!(worst <= 1e-6 * most, "{worst:e} J of {most} J");
    assert!((world.multibody(id).unwrap().kinetic_energy() - world.readout().kinetic_energy).abs() == 0.0);
}

/// The world adds nothing of its own: every simulator moves a multibody as it moves by itself.
#[test]
fn a_step_of_a_world_is_a_step_of_the_mechanism_to_the_last_bit() {
    for seed in 0..24 {
        let name = SIMULATORS[seed as usize % SIMULATORS.len()];
        let mut alone = random_mechanism(seed, 1 + seed as usize % 7);
        let mut world = World::default();
        let id = world.add_multibody(Multibody::new(alone.clone())).unwrap();
        let other = world.add_multibody(with_shapes(pendulum(2)));
        assert!(other.is_ok());
        let mut simulator = make(name);
        for step in 0..40 {
            if alone.step(2e-3).is_err() {
                break;
            }
            simulator.step(&mut world, 2e-3).unwrap();
            let expected: Vec<u64> =
                alone.positions().iter().chain(alone.velocities()).map(|x| x.to_bits()).collect();
            assert_eq!(bits(&world, id), expected, "seed {seed}, {name}, step {step}");
        }
    }
}

/// Saved at a random moment with its simulator and restored, a world goes on as if nothing had happened, links and bodies alike; also if
/// simulators take turns.
#[test]
fn a_restored_world_goes_on_bit_for_bit() {
    let registry = Registry::default();
    for seed in 0..12_u64 {
        let name = SIMULATORS[seed as usize % SIMULATORS.len()];
        let mut random = Random::new(seed + 100);
        let mut world = World::default();
        world
            .add_body(Body::fixed().at(0.0, 0.0, -3.0).with_shape(Shape::half_space(DVec3::Z).unwrap()))
            .unwrap();
        let arm = world.add_multibody(with_shapes(pendulum(2))).unwrap();
        let tree = world.add_multibody(Multibody::new(random_mechanism(seed, 5))).unwrap();
        let ball = world
            .add_body(Body::dynamic().at(1.0, 0.0, 0.2).with_shape(Shape::sphere(0.1).unwrap()))
            .unwrap();
        let mut simulator = make(name);
        let before = 1 + (random.unit() * 60.0) as usize;
        for _ in 0..before {
            simulator.step(&mut world, 2e-3).unwrap();
        }
        let bytes = world.snapshot_with(&*simulator).unwrap();
        let (mut restored, mut other) = World::restore_with(&bytes, &registry).unwrap();
        assert_eq!(restored.snapshot().unwrap(), world.snapshot().unwrap(), "seed {seed}");
        let (mut turn, mut other_turn) = (make("penalty"), make("penalty"));
        for step in 0..60 {
            if step % 20 < 15 {
                simulator.step(&mut world, 2e-3).unwrap();
                other.step(&mut restored, 2e-3).unwrap();
            } else {
                turn.step(&mut world, 2e-3).unwrap();
                other_turn.step(&mut restored, 2e-3).unwrap();
            }
            for id in [arm, tree] {
                assert_eq!(bits(&world, id), bits(&restored, id), "seed {seed}, {name}, step {step}");
            }
            let motion = |world: &World| *world.body(ball).unwrap().motion();
            assert_eq!(motion(&world), motion(&restored), "seed {seed}, {name}, step {step}");
        }
    }
}

/// A copy of a world is a world of its own.
#[test]
fn a_copied_world_moves_alike() {
    let mut world = World::default();
    let id = world.add_multibody(with_shapes(pendulum(3))).unwrap();
    FreeMotion::default().step(&mut world, 1e-3).unwrap();
    let mut copy = world.clone();
    for _ in 0..20 {
        FreeMotion::default().step(&mut world, 1e-3).unwrap();
        FreeMotion::default().step(&mut copy, 1e-3).unwrap();
    }
    assert_eq!(bits(&world, id), bits(&copy, id));
}

/// Link bodies have the poses and velocities of forward kinematics after every step; rays and names lead to the link.
#[test]
fn links_are_bodies_of_the_world() {
    let mut world = World::default();
    let id = world.add_multibody(with_shapes(pendulum(2))).unwrap();
    let tip = world.multibody(id).unwrap().link("rod 1").unwrap();
    let body = world.multibody(id).unwrap().link_body(tip).unwrap().unwrap();
    assert_eq!(world.find_body("arm/rod 1"), Some(body));
    assert_eq!(world.owner_of(body).unwrap(), ColliderOwner::Link(tip));
    for name in SIMULATORS {
        let mut simulator = make(name);
        for _ in 0..20 {
            let before = world.body(body).unwrap().position();
            simulator.step(&mut world, 1e-3).unwrap();
            let expected = world.multibody(id).unwrap().link_motion(tip).unwrap();
            let found = world.body(body).unwrap();
            assert!((found.pose().translation - expected.x).length() < 1e-14, "{name}");
            assert!((found.velocity_at(expected.x) - expected.v).length() < 1e-13, "{name}");
            assert_eq!(found.angular_velocity(), expected.omega, "{name}");
            let (mean, now) = ((found.position() - before) / 1e-3, found.velocity_at(found.position()));
            assert!((mean - now).length() < 0.02, "{name}: {mean} {now}");
            assert!(world.moved().contains(&body), "{name}");
        }
    }
    let pose = world.multibody(id).unwrap().link_pose(tip).unwrap();
    let target = pose.point(-0.5 * DVec3::Z);
    let ray = Ray::new(target + 2.0 * DVec3::Y, -DVec3::Y).unwrap();
    let pipeline = QueryPipeline::of(&world).unwrap();
    let hit = pipeline.cast_ray(&world, &ray, 10.0, &QueryFilter::default()).unwrap().unwrap();
    assert_eq!(world.owner_of(hit.body).unwrap(), ColliderOwner::Link(tip));
    assert_eq!(world.shape_owner(hit.shape).unwrap(), ColliderOwner::Link(tip));
}

/// A bat that turns at a constant rate strikes a ball: in every simulator the ball flies off, and an event names the link.
#[test]
fn a_link_strikes_a_ball() {
    for name in WITH_CONTACTS {
        let mut world = World::weightless();
        let bat = Link::new("bat", None, RevoluteJoint { axis: DVec3::Z }).with_mass(
            1.0,
            DVec3::X,
            DMat3::from_diagonal(DVec3::splat(0.1)),
        );
        let mut mechanism = Mechanism::new(LinkTree::new(vec![bat]).unwrap());
        mechanism.set_state(&[0.0], &[2.0]).unwrap();
        let shape = Shape::cuboid(DVec3::new(1.0, 0.05, 0.1)).unwrap();
        let part = ShapePart { pose: Pose::at(DVec3::X), ..shape.into() };
        let multibody = Multibody::new(mechanism).named("machine").with_part("bat", part).unwrap();
        let id = world.add_multibody(multibody).unwrap();
        let ball = world
            .add_body(Body::dynamic().at(1.5, 0.4, 0.0).with_shape(Shape::sphere(0.1).unwrap()))
            .unwrap();
        let mut simulator = make(name);
        let mut struck = name == "penalty" || name == "sequential"; // They report no contacts.
        for _ in 0..300 {
            simulator.step(&mut world, 1e-3).unwrap();
            for event in world.events() {
                if let Event::ContactBegan { bodies, .. } | Event::Collision { bodies, .. } = event {
                    let owners = bodies.map(|body| world.owner_of(body).unwrap());
                    struck |= owners.contains(&ColliderOwner::Link(LinkId { multibody: id, index: 0 }));
                }
            }
        }
        assert!(struck, "{name}: no event names the link");
        let speed = world.body(ball).unwrap().velocity();
        assert!(speed.y > 2.0, "{name}: the ball flies at {speed}");
        // Contact acts one way: the bat turns on as it did.
        assert_close(world.multibody(id).unwrap().velocities("bat").unwrap(), &[2.0], 1e-12, name);
    }
}

/// Δ(K + U) is the sum of all works; dampers, servos and limits have their own.
#[test]
fn the_ledger_accounts_for_joints() {
    for seed in 0..6 {
        let mut world = World::default();
        world.add_multibody(Multibody::new(random_mechanism(seed, 4))).unwrap();
        world.open_energy_ledger(LedgerSettings::default()).unwrap();
        let start = world.readout().energy();
        for _ in 0..200 {
            FreeMotion::default().step(&mut world, 1e-3).unwrap();
        }
        let ledger = world.energy_ledger().unwrap();
        let change = world.readout().energy() - start;
        assert!((ledger.sum().total - change).abs() < 1e-9 * (1.0 + start.abs()), "seed {seed}");
        assert!(ledger.work(WorkCategory::Damping).total < 0.0);
    }
    // A damped pendulum: the damper takes all, to the error of the trapezoidal rule.
    let mut world = World::default();
    let mut mechanism = pendulum(1);
    mechanism.add_element(Element::Damper { axis: 0, coefficient: 0.5 }).unwrap();
    world.add_multibody(Multibody::new(mechanism)).unwrap();
    world.open_energy_ledger(LedgerSettings::default()).unwrap();
    let start = world.readout().energy();
    for _ in 0..2000 {
        FreeMotion::default().step(&mut world, 1e-3).unwrap();
        assert!(world.events().is_empty());
    }
    let (ledger, change) = (world.energy_ledger().unwrap(), world.readout().energy() - start);
    let damping = ledger.work(WorkCategory::Damping).total;
    assert!(change < -1.0 && (damping - change).abs() < 1e-5 * change.abs(), "{damping} {change}");
}

/// Gravity of the world acts, and a change of it as well; a servo holds an arm against it at τ = m g l cos φ.
#[test]
fn gravity_and_motors_act() {
    let mut world = World::weightless();
    let mut mechanism = pendulum(1);
    let servo = Servo {
        axis: 0,
        stiffness: 1000.0,
        damping: 60.0,
        max_force: 100.0,
        position: std::f64::consts::FRAC_PI_2,
        velocity: 0.0,
    };
    mechanism.add_servo(servo).unwrap();
    let id = world.add_multibody(Multibody::new(mechanism)).unwrap();
    let mut simulator = FreeMotion::default();
    for _ in 0..100 {
        simulator.step(&mut world, 1e-2).unwrap();
    }
    assert_close(
        world.multibody(id).unwrap().all_positions(),
        &[std::f64::consts::FRAC_PI_2],
        1e-12,
        "still",
    );
    world.set_gravity(DVec3::new(0.0, 0.0, -9.81)).unwrap();
    for _ in 0..300 {
        simulator.step(&mut world, 1e-2).unwrap();
    }
    let q = world.multibody(id).unwrap().all_positions()[0];
    let torque = 1000.0 * (std::f64::consts::FRAC_PI_2 - q);
    assert!((torque - 9.81 * 0.5 * q.sin()).abs() < 1e-6, "{torque}");
    world.multibody_mut(id).unwrap().set_target("rod 0", 0.0, 0.0).unwrap();
    for _ in 0..300 {
        simulator.step(&mut world, 1e-2).unwrap();
    }
    assert!(world.multibody(id).unwrap().all_positions()[0].abs() < 1e-6);
    // A servo that is too stiff for the iteration at this step is integrated in parts.
    world
        .multibody_mut(id)
        .unwrap()
        .modify(|mechanism| {
            mechanism
                .set_servo(0, Servo { stiffness: 1e6, damping: 1e3, max_force: 1e6, position: 0.3, ..servo })
        })
        .unwrap();
    for _ in 0..100 {
        simulator.step(&mut world, 1e-2).unwrap();
    }
    assert!((world.multibody(id).unwrap().all_positions()[0] - 0.3).abs() < 1e-5);
}

/// Bad numbers, unknown names and stale ids are typed errors, and the world stays as it was.
#[test]
fn bad_input_leaves_the_world_as_it_was() {
    let mut world = World::default();
    let id = world.add_multibody(with_shapes(pendulum(2))).unwrap();
    let mut simulator = FreeMotion::default();
    simulator.step(&mut world, 1e-3).unwrap();
    let before = bits(&world, id);
    let body = world.find_body("arm/rod 0").unwrap();
    let motion = *world.body(body).unwrap().motion();
    {
        let mut arm = world.multibody_mut(id).unwrap();
        assert!(matches!(arm.set_positions("rod 0", &[f64::NAN]), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_positions("elbow", &[0.0]), Err(Error::UnknownMultibodyJoint { .. })));
        assert!(matches!(arm.set_positions(2, &[0.0]), Err(Error::UnknownMultibodyJoint { .. })));
        assert!(matches!(arm.set_velocities(0, &[0.0, 1.0]), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_velocities(0, &[f64::INFINITY]), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_forces(0, &[f64::NAN]), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_command(0, 1.0), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_target(0, 1.0, 0.0), Err(Error::Parameter { .. })));
        assert!(matches!(arm.set_state(&[0.0], &[0.0, 0.0]), Err(Error::Mechanism { .. })));
        let refused = arm.modify(|mechanism| {
            mechanism.set_state(&[9.0, 9.0], &[9.0, 9.0])?;
            mechanism.add_limit(Limit { axis: 7, range: [0.0, 1.0], restitution: 0.0 })
        });
        assert!(matches!(refused, Err(Error::Mechanism { source: MechanismError::UnknownAxis { .. }, .. })));
    }
    for refused in [
        world.remove_body(body),
        world.body_mut(body).unwrap().set_pose(Pose::IDENTITY),
        world.body_mut(body).unwrap().set_velocity(DVec3::X),
        world.body_mut(body).unwrap().set_status(rattleback_dynamics::Status::Fixed),
        world.body_mut(body).unwrap().move_to(Pose::IDENTITY, 1.0),
        world.body_mut(body).unwrap().set_path(None),
    ] {
        assert!(matches!(refused, Err(Error::OwnedBody { .. })), "{refused:?}");
    }
    assert_eq!(bits(&world, id), before);
    assert_eq!(*world.body(body).unwrap().motion(), motion);
    assert!(matches!(
        Multibody::new(pendulum(1)).with_part("wrist", rod_shape()),
        Err(Error::UnknownLinkName { .. })
    ));
    // A part that no body may have: nothing of the multibody stays behind.
    let bodies = world.bodies().len();
    let bad = ShapePart { pose: Pose::at(DVec3::NAN), ..rod_shape() };
    let twice = with_shapes(pendulum(2)).with_part("rod 1", bad).unwrap();
    assert!(world.add_multibody(twice).is_err());
    assert_eq!((world.bodies().len(), world.multibody_count()), (bodies, 1));

    let link = world.multibody(id).unwrap().link("rod 0").unwrap();
    world.remove_multibody(id).unwrap();
    assert_eq!(world.bodies().len(), 0);
    assert!(matches!(world.multibody(id), Err(Error::UnknownMultibody(_))));
    assert!(matches!(world.multibody_mut(id), Err(Error::UnknownMultibody(_))));
    assert!(matches!(world.remove_multibody(id), Err(Error::UnknownMultibody(_))));
    let next = world.add_multibody(with_shapes(pendulum(2))).unwrap();
    assert_ne!(next, id);
    assert!(matches!(world.multibody(next).unwrap().link_pose(link), Err(Error::UnknownLink(_))));
}

/// A step that fails, in a multibody or in the simulator, puts all multibodies back to the last bit, history of the method included.
#[test]
fn a_failed_step_is_taken_back() {
    let mut world = World::default();
    let first = world.add_multibody(with_shapes(pendulum(3))).unwrap();
    let mut mechanism = pendulum(1);
    mechanism.add_element(Element::HardSpring { axis: 0, coefficient: 1e-3, at: 0.0 }).unwrap();
    mechanism.set_state(&[1.0], &[0.0]).unwrap();
    let second = world.add_multibody(Multibody::new(mechanism)).unwrap();
    let mut simulator = make("realtime");
    for _ in 0..5 {
        simulator.step(&mut world, 1e-3).unwrap();
    }
    let tip = world.find_body("arm/rod 2").unwrap();
    let (snapshot, motion) = (world.snapshot().unwrap(), *world.body(tip).unwrap().motion());
    // Far too long a step for a gas spring at its wall.
    let error = simulator.step(&mut world, 1e6).unwrap_err();
    assert!(matches!(error, Error::MultibodyStep { .. }), "{error}");
    assert_eq!(*world.body(tip).unwrap().motion(), motion);
    let mut other = World::restore(&snapshot, &Registry::default()).unwrap();
    for _ in 0..20 {
        FreeMotion::default().step(&mut world, 1e-3).unwrap();
        FreeMotion::default().step(&mut other, 1e-3).unwrap();
    }
    for id in [first, second] {
        assert_eq!(bits(&world, id), bits(&other, id));
    }
    // Joints are refused by `impulse`, after the multibodies have moved.
    let ball =
        world.add_body(Body::dynamic().at(9.0, 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let hinge = rattleback_dynamics::joint::Revolute::default();
    world.add_joint(rattleback_dynamics::JointFrames::to_world(ball), hinge).unwrap();
    let mut same = world.clone();
    assert!(make("impulse").step(&mut world, 1e-3).is_err());
    let motions = |world: &World| world.iter_bodies().map(|body| *body.motion()).collect::<Vec<_>>();
    assert_eq!((motions(&world), bits(&world, first)), (motions(&same), bits(&same, first)));
    for _ in 0..5 {
        make("realtime").step(&mut world, 1e-3).unwrap();
        make("realtime").step(&mut same, 1e-3).unwrap();
    }
    assert_eq!((motions(&world), bits(&world, first)), (motions(&same), bits(&same, first)));
}

/// Multibodies move by any method of the library, and damaged snapshots of them are refused.
#[test]
fn methods_and_damage() {
    for method in [
        Method::RungeKutta4,
        Method::AdaptiveRungeKutta4 { tolerance: 1e-9 },
        Method::Library { name: "adams-bashforth-2".into() },
    ] {
        let mut mechanism = pendulum(2);
        if mechanism.set_method(&method).is_err() {
            continue;
        }
        let mut world = World::default();
        let id = world.add_multibody(with_shapes(mechanism)).unwrap();
        for _ in 0..10 {
            FreeMotion::default().step(&mut world, 1e-3).unwrap();
        }
        let bytes = world.snapshot().unwrap();
        let mut other = World::restore(&bytes, &Registry::default()).unwrap();
        for _ in 0..10 {
            FreeMotion::default().step(&mut world, 1e-3).unwrap();
            FreeMotion::default().step(&mut other, 1e-3).unwrap();
        }
        assert_eq!(bits(&world, id), bits(&other, id), "{method:?}");
        let mut random = Random::new(3);
        for _ in 0..50 {
            let mut damaged = bytes.clone();
            let place = (random.unit() * damaged.len() as f64) as usize;
            damaged[place] ^= 1 << (random.unit() * 8.0) as u32;
            assert!(World::restore(&damaged, &Registry::default()).is_err());
        }
    }
}
