//! Sequential simulator: relaxation, joints, friction, restitution, shock propagation.

use glam::DVec3;
use rattleback_dynamics::joint::{BreakThresholds, JointFrames, Revolute, Spherical};
use rattleback_dynamics::simulator::sequential::Relaxation;
use rattleback_dynamics::simulator::{Sequential, SequentialSettings};
use rattleback_dynamics::{Body, BodyId, Event, Material, Properties, Registry, Simulator, Value, World};
use rattleback_geometry::{Pose, Shape};

fn ball(world: &mut World, at: DVec3, velocity: DVec3) -> BodyId {
    let shape = Shape::sphere(0.2).unwrap();
    world.add_body(Body::dynamic().position(at).velocity(velocity).mass(1.0).with_shape(shape)).unwrap()
}

fn simulator(settings: SequentialSettings) -> Sequential {
    Sequential::new(settings).unwrap()
}

/// with f = ββ_ij/k, (1 − ββ_ij/k)^k of a velocity error remains, and of a position error the same if
/// the anchors are the mass centres.
#[test]
fn relaxation_leaves_its_fraction_of_an_error() {
    for (beta, table) in [
        (0.8, [(1, 0.2), (4, 0.4096), (10, 0.434_388), (20, 0.442_002)]),
        (0.4, [(1, 0.6), (4, 0.6561), (10, 0.664_833), (20, 0.667_608)]),
    ] {
        for (iterations, printed) in table {
            let expected = (1.0 - beta / f64::from(iterations)).powi(iterations);
            assert!((expected - printed).abs() < 1e-6);
            let mut world = World::weightless();
            let a = ball(&mut world, DVec3::ZERO, DVec3::ZERO);
            let b = ball(&mut world, DVec3::ZERO, DVec3::X);
            world.add_joint(JointFrames::between(a, b).at(DVec3::ZERO), Spherical::default()).unwrap();
            let settings = SequentialSettings {
                iterations: iterations.into(),
                joint_beta: beta,
                relaxation: Relaxation::Fraction,
                ..SequentialSettings::default()
            };
            let h = 0.01;
            simulator(settings.clone()).step(&mut world, h).unwrap();
            let (a, b) = (world.body(a).unwrap(), world.body(b).unwrap());
            let left = (b.velocity() - a.velocity()).x;
            assert!((left - expected).abs() < 1e-12, "{iterations} {beta}: {left}");
            let mut world = World::weightless();
            let a = ball(&mut world, DVec3::ZERO, DVec3::ZERO);
            let b = ball(&mut world, 0.1 * DVec3::X, DVec3::ZERO);
            let joint_frames = JointFrames::between(a, b).frames(Pose::IDENTITY, Pose::IDENTITY);
            world.add_joint(joint_frames, Spherical::default()).unwrap();
            simulator(settings).step(&mut world, h).unwrap();
            let place = |id| world.body(id).unwrap().position().x;
            assert!((place(b) - place(a) - 0.1 * expected).abs() < 1e-13, "{iterations} {beta}");
        }
    }
}

/// a motor between two free balls gives each half its speed, without angular momentum.
#[test]
fn a_motor_between_free_bodies_turns_both() {
    let mut world = World::weightless();
    let a = ball(&mut world, DVec3::ZERO, DVec3::ZERO);
    let b = ball(&mut world, 2.0 * DVec3::Z, DVec3::ZERO);
    let motor = Revolute { speed: 3.1412.into(), max_torque: 1e6, ..Revolute::default() };
    world.add_joint(JointFrames::between(a, b).at(DVec3::Z).along(DVec3::Z), motor).unwrap();
    let mut simulator = simulator(SequentialSettings { iterations: 20, ..SequentialSettings::default() });
    for _ in 0..60 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    let spin = |id| world.body(id).unwrap().angular_velocity().z;
    assert!((spin(a) + 1.5706).abs() < 0.005 * 1.5706 && (spin(b) - 1.5706).abs() < 0.005 * 1.5706);
    assert!(world.readout().angular_momentum.length() < 1e-12);
}

/// 1 kg on a joint with a break threshold of 15 N or 9 N; as a force, and as the corresponding drift.
#[test]
fn joints_break_at_their_thresholds() {
    let h = 1.0 / 60.0;
    for (limit, breaks) in [(15.0, false), (9.0, true)] {
        let by_force = BreakThresholds { force: limit, ..BreakThresholds::default() };
        let by_drift = BreakThresholds { drift: limit * h * h, ..BreakThresholds::default() };
        for breaking in [by_force, by_drift] {
            let mut world = World::default();
            let hanging = ball(&mut world, DVec3::ZERO, DVec3::ZERO);
            world
                .add_joint(
                    JointFrames::to_world(hanging).at(DVec3::ZERO).breaking(breaking),
                    Spherical::default(),
                )
                .unwrap();
            let mut simulator =
                simulator(SequentialSettings { joint_beta: 1.0, ..SequentialSettings::default() });
            let mut broken = Vec::new();
            for step in 0..60 {
                simulator.step(&mut world, h).unwrap();
                let breaks = world.events().iter().filter(|event| matches!(event, Event::JointBroke { .. }));
                broken.extend(breaks.map(|_| step));
            }
            assert_eq!(broken.len(), usize::from(breaks), "{breaking:?}");
            assert!(broken.iter().all(|step| *step < 2));
        }
    }
}

/// a chain of ten links hangs for ten seconds with anchor errors below a millimetre; a pendulum has its
/// period within 0.5 %.
#[test]
fn chains_hold_and_pendulums_have_their_period() {
    let mut world = World::default();
    let mut anchors: Vec<(Option<BodyId>, BodyId)> = Vec::new();
    for k in 0..10 {
        let link = ball(&mut world, DVec3::new(0.0, 0.0, -0.25 - 0.5 * f64::from(k)), DVec3::ZERO);
        let last = anchors.last().map(|(_, last)| *last);
        let joint_frames =
            last.map_or_else(|| JointFrames::to_world(link), |last| JointFrames::between(last, link));
        world
            .add_joint(joint_frames.at(DVec3::new(0.0, 0.0, -0.5 * f64::from(k))), Spherical::default())
            .unwrap();
        anchors.push((last, link));
    }
    let settings = SequentialSettings { iterations: 60, joint_beta: 1.0, ..SequentialSettings::default() };
    let mut simulator = simulator(settings.clone());
    for _ in 0..2400 {
        simulator.step(&mut world, 1.0 / 240.0).unwrap();
    }
    for (last, link) in anchors {
        let end = |id: BodyId, up: f64| world.body(id).unwrap().pose().point(DVec3::Z * up);
        let from = last.map_or(DVec3::ZERO, |last| end(last, -0.25));
        assert!(from.distance(end(link, 0.25)) < 1e-3);
    }

    let mut world = World::default();
    let (length, tilt) = (1.0_f64, 0.05_f64);
    let bob = ball(&mut world, length * DVec3::new(tilt.sin(), 0.0, -tilt.cos()), DVec3::ZERO);
    world.add_joint(JointFrames::to_world(bob).at(DVec3::ZERO), Spherical::default()).unwrap();
    let mut simulator = self::simulator(settings);
    let (mut crossings, mut last) = (Vec::new(), 1.0);
    while crossings.len() < 9 && world.time() < 20.0 {
        let before = world.body(bob).unwrap().position().x;
        simulator.step(&mut world, 1.0 / 1000.0).unwrap();
        let x = world.body(bob).unwrap().position().x;
        if before * x < 0.0 && last != x.signum() {
            crossings.push(world.time() - 1e-3 * x / (x - before));
            last = x.signum();
        }
    }
    let period = (crossings[8] - crossings[0]) / 4.0;
    // I/m = l² + 2/5 r²; the period grows by θ²/16 for the amplitude θ.
    let inertia = length * length + 0.4 * 0.2 * 0.2;
    let expected = std::f64::consts::TAU * (inertia / (9.81 * length)).sqrt() * (1.0 + tilt * tilt / 16.0);
    assert!((period / expected - 1.0).abs() < 5e-3, "{period} {expected}");
}

/// a box rests on a slope if tan θ < μ_s, and else slides with g (sin θ − μ_d cos θ).
#[test]
fn boxes_rest_and_slide_on_slopes() {
    for (mu, slides) in [(0.7, false), (0.3, true)] {
        let theta = 0.5_f64;
        let mut world = World::weightless();
        world.set_gravity(9.81 * DVec3::new(theta.sin(), 0.0, -theta.cos())).unwrap();
        let rough = world.add_material(Material::with_friction(mu)).unwrap();
        let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(rough);
        world.add_body(floor).unwrap();
        let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        let id =
            world.add_body(Body::dynamic().at(0.0, 0.0, 0.25).with_shape(shape).material(rough)).unwrap();
        let mut simulator = simulator(SequentialSettings { iterations: 30, ..SequentialSettings::default() });
        for _ in 0..960 {
            simulator.step(&mut world, 1.0 / 480.0).unwrap();
        }
        let body = world.body(id).unwrap();
        if slides {
            let expected = 9.81 * (theta.sin() - mu * theta.cos()) * world.time();
            assert!((body.velocity().x / expected - 1.0).abs() < 0.01, "{} {expected}", body.velocity());
        } else {
            assert!(body.position().x < 2e-3, "{}", body.position());
        }
    }
}

/// A ball rebounds to e² of its height; five boxes stand, with some drift, because there is no warm start.
#[test]
fn balls_rebound_and_boxes_stand() {
    let mut world = World::default();
    let rubber = world.add_material(Material::bouncy(0.5)).unwrap();
    let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(rubber);
    world.add_body(floor).unwrap();
    let shape = Shape::sphere(0.1).unwrap();
    let id = world.add_body(Body::dynamic().at(5.0, 0.0, 1.1).with_shape(shape).material(rubber)).unwrap();
    let boxes: Vec<_> = (0..5)
        .map(|k| {
            let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
            world.add_body(Body::dynamic().at(0.0, 0.0, 0.25 + 0.5 * f64::from(k)).with_shape(shape)).unwrap()
        })
        .collect();
    let settings = SequentialSettings { iterations: 30, contact_beta: 1.0, ..SequentialSettings::default() };
    let mut simulator = simulator(settings);
    let mut apex = 0.0_f64;
    let mut hit = false;
    for _ in 0..1200 {
        simulator.step(&mut world, 1.0 / 240.0).unwrap();
        let body = world.body(id).unwrap();
        hit |= body.velocity().z > 0.0;
        if hit && world.time() < 1.2 {
            apex = apex.max(body.position().z - 0.1);
        }
    }
    assert!((apex - 0.25).abs() < 0.02, "{apex}");
    for (k, id) in boxes.iter().enumerate() {
        let p = world.body(*id).unwrap().position();
        assert!((p.z - (0.25 + 0.5 * k as f64)).abs() < 5e-3 && p.truncate().length() < 0.1, "{k} {p}");
    }
}

/// Positions of the lower face centres of half-metre boxes ⇒ a world with a floor, and the boxes.
fn boxes_at(places: &[DVec3]) -> (World, Vec<BodyId>) {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let add = |place: &DVec3| {
        let at = *place + DVec3::Z * 0.25;
        let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        world.add_body(Body::dynamic().at(at.x, at.y, at.z).with_shape(shape)).unwrap()
    };
    let ids = places.iter().map(add).collect();
    (world, ids)
}

/// Largest horizontal and downward displacement of the boxes after a time, m.
fn displacement(places: &[DVec3], settings: SequentialSettings, seconds: f64) -> (f64, f64) {
    let (mut world, ids) = boxes_at(places);
    let mut simulator = simulator(settings);
    for _ in 0..(60.0 * seconds) as usize {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    let moved = |k: usize| world.body(ids[k]).unwrap().position() - DVec3::Z * 0.25 - places[k];
    let most = |f: &dyn Fn(DVec3) -> f64| (0..ids.len()).map(|k| f(moved(k))).fold(0.0, f64::max);
    (most(&|d| d.truncate().length()), most(&|d| -d.z))
}

fn tower(levels: u32) -> Vec<DVec3> {
    (0..levels).map(|k| DVec3::Z * 0.5 * f64::from(k)).collect()
}

/// ten boxes stand for a minute, and a pyramid of ten rows for ten seconds; overlaps stay below 1 % of
/// the size. With shock propagation half of the iterations give a smaller error.
#[test]
fn stacks_stand_by_shock_propagation() {
    let settings = |iterations, shock| SequentialSettings {
        iterations,
        shock,
        contact_beta: 1.0,
        ..SequentialSettings::default()
    };
    let (aside, down) = displacement(&tower(10), settings(40, true), 60.0);
    println!("tower: {:.2} mm aside, {:.2} mm down", 1e3 * aside, 1e3 * down);
    assert!(aside < 0.01 && down < 10.0 * 0.005, "{aside} {down}");
    let rows = (0..10).flat_map(|row| (0..10 - row).map(move |k| (f64::from(row), f64::from(k))));
    let pyramid: Vec<_> =
        rows.map(|(row, k)| DVec3::new(0.52 * (k + 0.5 * row - 4.5), 0.0, 0.5 * row)).collect();
    let (aside, down) = displacement(&pyramid, settings(40, true), 10.0);
    println!("pyramid: {:.2} mm aside, {:.2} mm down", 1e3 * aside, 1e3 * down);
    assert!(aside < 0.01 && down < 10.0 * 0.005, "{aside} {down}");
    let (plain, shock) = (
        displacement(&tower(10), settings(80, false), 2.0),
        displacement(&tower(10), settings(40, true), 2.0),
    );
    println!("80 iterations: {plain:?} m; 40 with shock propagation: {shock:?} m");
    assert!(shock.1 < plain.1, "{shock:?} {plain:?}");
}

#[test]
fn unknown_names_are_refused() {
    let given = Properties::from([("relaxation".to_string(), Value::Text("quick".into()))]);
    let refused = Registry::default().simulators.make("sequential", &given).unwrap_err().to_string();
    assert!(refused.contains("remaining"), "{refused}");
}
