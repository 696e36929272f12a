//! Contact models of single pairs, changed while the world runs.

use glam::DVec3;
use rattleback_dynamics::simulator::{Feature, Penalty, Realtime, unsupported};
use rattleback_dynamics::world::{ContactModel, Handle};
use rattleback_dynamics::{Body, BodyId, Registry, ShapeId, Simulator, World};
use rattleback_geometry::Shape;

const G: f64 = 9.81;

/// A floor and two balls of 2 kg, far apart ⇒ balls and the pairs of their shapes with the floor.
fn world() -> (World, [BodyId; 2], [[ShapeId; 2]; 2]) {
    let mut world = World::default();
    let floor = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let ball = |x: f64| Body::dynamic().at(x, 0.0, 0.5).with_shape(Shape::sphere(0.5).unwrap()).mass(2.0);
    let balls = [0.0, 5.0].map(|x| world.add_body(ball(x)).unwrap());
    let shape = |world: &World, body: BodyId| world.body(body).unwrap().shapes()[0];
    let pairs = balls.map(|ball| [shape(&world, floor), shape(&world, ball)]);
    (world, balls, pairs)
}

fn run(world: &mut World, simulator: &mut dyn Simulator, seconds: f64) {
    for _ in 0..(seconds * 240.0) as usize {
        simulator.step(world, 1.0 / 240.0).unwrap();
    }
}

fn sunk(world: &World, ball: BodyId) -> f64 {
    0.5 - world.body(ball).unwrap().position().z
}

/// In one world, one pair is compliant and sinks by m g/k, the other rigid and does not. They are exchanged while the world runs: the one
/// that was soft stays where it is, the other sinks, and no energy appears at the exchange.
#[test]
fn pairs_are_handed_from_one_model_to_another() {
    let (mut world, balls, pairs) = world();
    let soft = ContactModel::Compliant { stiffness: 4000.0, damping: 200.0 };
    world.set_contact_model(pairs[0][0], pairs[0][1], soft).unwrap();
    world.set_contact_model(pairs[1][1], pairs[1][0], ContactModel::Rigid).unwrap();
    let mut simulator = Penalty::default();
    run(&mut world, &mut simulator, 3.0);
    let depth = 2.0 * G / 4000.0;
    assert!((sunk(&world, balls[0]) - depth).abs() < 1e-6, "{}", sunk(&world, balls[0]));
    assert!(sunk(&world, balls[1]).abs() < 1e-9, "{}", sunk(&world, balls[1]));

    world.set_contact_model(pairs[0][0], pairs[0][1], ContactModel::Rigid).unwrap();
    world.set_contact_model(pairs[1][0], pairs[1][1], soft).unwrap();
    for _ in 0..20 {
        simulator.step(&mut world, 1.0 / 240.0).unwrap();
        let speed = world.body(balls[0]).unwrap().velocity().length();
        assert!(speed < 1e-6, "{speed}");
    }
    run(&mut world, &mut simulator, 3.0);
    assert!((sunk(&world, balls[0]) - depth).abs() < 1e-6, "{}", sunk(&world, balls[0]));
    assert!((sunk(&world, balls[1]) - depth).abs() < 1e-6, "{}", sunk(&world, balls[1]));

    // Handed to and fro in every few steps, the balls stay between both positions of rest and gain nothing.
    let energy = world.readout().kinetic_energy;
    for round in 0..100 {
        for pair in &pairs {
            let model = if round % 2 == 0 { ContactModel::Simulator } else { soft };
            world.set_contact_model(pair[0], pair[1], model).unwrap();
        }
        run(&mut world, &mut simulator, 0.05);
        assert!(world.readout().kinetic_energy < energy + 0.5 * 2.0 * G * depth, "round {round}");
        assert!(
            balls.iter().all(|ball| (-1e-3..2.0 * depth).contains(&sunk(&world, *ball))),
            "round {round}"
        );
    }
}

/// A ball on a compliant floor without damping oscillates at ω = √(k/m) about its sunk position; at small steps the implicit method loses
/// a small part of it.
#[test]
fn a_compliant_contact_is_an_oscillator() {
    let (mut world, balls, pairs) = world();
    let stiffness = 2000.0;
    let model = ContactModel::Compliant { stiffness, damping: 0.0 };
    world.set_contact_model(pairs[0][0], pairs[0][1], model).unwrap();
    let mut simulator = Penalty::default();
    let (mut time, mut lowest) = (0.0, (0.0, 0.0));
    while time < 0.35 {
        simulator.step(&mut world, 1e-4).unwrap();
        time += 1e-4;
        let depth = sunk(&world, balls[0]);
        if depth > lowest.1 {
            lowest = (time, depth);
        }
    }
    let (half_period, depth) = (std::f64::consts::PI * (2.0 / stiffness).sqrt(), 2.0 * 2.0 * G / stiffness);
    assert!((lowest.0 - half_period).abs() < 0.01 * half_period, "{} {half_period}", lowest.0);
    assert!((lowest.1 - depth).abs() < 0.01 * depth, "{} {depth}", lowest.1);
}

/// Models are part of a snapshot; simulators without them are reported; nonsense is refused and changes nothing.
#[test]
fn models_are_saved_checked_and_reported() {
    let (mut world, balls, pairs) = world();
    let soft = ContactModel::Compliant { stiffness: 4000.0, damping: 20.0 };
    world.set_contact_model(pairs[0][0], pairs[0][1], soft).unwrap();
    let mut simulator = Penalty::default();
    run(&mut world, &mut simulator, 0.1);
    let bytes = world.snapshot_with(&simulator).unwrap();
    let (mut copy, mut twin) = World::restore_with(&bytes, &Registry::default()).unwrap();
    assert_eq!(copy.contact_model(pairs[0][1], pairs[0][0]), soft);
    run(&mut world, &mut simulator, 0.2);
    run(&mut copy, &mut *twin, 0.2);
    assert_eq!(world.body(balls[0]).unwrap().motion(), copy.body(balls[0]).unwrap().motion());

    assert!(unsupported(&world, simulator.capabilities()).is_empty());
    let ignored = unsupported(&world, Realtime::default().capabilities());
    assert!(ignored.iter().any(|warning| warning.feature == Feature::ContactModels), "{ignored:?}");

    for (stiffness, damping) in [(0.0, 1.0), (f64::NAN, 1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, f64::INFINITY)]
    {
        let model = ContactModel::Compliant { stiffness, damping };
        assert!(world.set_contact_model(pairs[0][0], pairs[0][1], model).is_err());
    }
    let unknown = ShapeId::from_parts(99, 0);
    assert!(world.set_contact_model(unknown, pairs[0][0], soft).is_err());
    assert_eq!(world.contact_model(pairs[0][0], pairs[0][1]), soft);
    world.remove_body(balls[0]).unwrap();
    assert_eq!(world.iter_contact_models().count(), 0);
}
