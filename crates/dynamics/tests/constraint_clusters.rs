//! Constraint simulator: simultaneous impacts, large islands, and moving contacts.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::simulator::{Constraint, ConstraintSettings};
use rattleback_dynamics::{Body, BodyId, Event, Material, Path, ShapePart, Simulator, World};
use rattleback_geometry::{MassProperties, Pose, Shape};

const G: f64 = 9.81;

fn surface(world: &mut World, restitution: f64, mu: f64) {
    let material = Material { restitution, ..Material::with_friction(mu) };
    world.set_material(world.default_material(), material).unwrap();
}

fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

/// A plank of 1 kg and 2 m hits two stops on the same side of its centre, at 1 m and 0.5 m, with −1 m/s and
/// −0.01 m/s there, e = 1 ⇒ impulses by position, and the velocities of the plank at both stops afterwards.
fn plank_on_two_stops(impulses: &str) -> (Vec<(f64, f64)>, [f64; 2]) {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    let moments = DMat3::from_diagonal(DVec3::new(1e-3, 1.0 / 3.0, 1.0 / 3.0));
    let mut plank = Body::dynamic()
        .mass_properties(MassProperties::new(1.0, DVec3::ZERO, moments).unwrap())
        // u = v + w x along z, and ω_y = −w.
        .velocity(0.98 * DVec3::Z)
        .angular_velocity(1.98 * DVec3::Y);
    for x in [1.0, 0.5] {
        plank = plank.with_part(ShapePart { pose: Pose::at(x * DVec3::X), ..ShapePart::from(sphere(0.01)) });
        world.add_body(Body::fixed().at(x, 0.0, -0.02).with_shape(sphere(0.01))).unwrap();
    }
    let id = world.add_body(plank).unwrap();
    let settings = ConstraintSettings { impulses: impulses.into(), ..ConstraintSettings::default() };
    Constraint::new(settings).unwrap().step(&mut world, 1e-9).unwrap();
    let body = world.body(id).unwrap();
    // Impulse on the plank, positive upwards.
    let mut found: Vec<(f64, f64)> = world
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::Collision { bodies, point, impulse, .. } => {
                Some((point.x, if bodies[1] == id { impulse.z } else { -impulse.z }))
            }
            _ => None,
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    (found, [1.0, 0.5].map(|x| body.velocity_at(DVec3::new(x, 0.0, 0.0)).z))
}

/// MUL-4, by complementarity: only the first stop has an impulse, P = (0.5, 0), and the points separate with
/// (1, 1.24) m/s.
#[test]
fn complementarity_impulses_do_not_pull() {
    let (impulses, u) = plank_on_two_stops("complementarity");
    assert_eq!(impulses.len(), 1);
    assert!((impulses[0].0 - 1.0).abs() < 1e-6 && (impulses[0].1 - 0.5).abs() < 1e-10, "{impulses:?}");
    assert!((u[0] - 1.0).abs() < 1e-8 && (u[1] - 1.24).abs() < 1e-8, "{u:?}");
}

/// MUL-4, by linear equations: K = (1 + 3·1, 1 + 3·½; ·, 1 + 3·¼), K P = (2, 0.02) ⇒ P = (4.6, −6.56): the
/// second stop pulls, and both points separate with their approach speeds.
#[test]
fn linear_impulses_may_pull() {
    let (impulses, u) = plank_on_two_stops("linear");
    assert_eq!(impulses.len(), 2);
    assert!((impulses[0].1 - 4.6).abs() < 1e-8 && (impulses[1].1 + 6.56).abs() < 1e-8, "{impulses:?}");
    assert!((u[0] - 1.0).abs() < 1e-8 && (u[1] - 0.01).abs() < 1e-8, "{u:?}");
}

/// A triangular lattice of touching balls that move towards their centre, created in a given order ⇒ their
/// ids by number.
fn lattice(world: &mut World, order: &[usize]) -> Vec<BodyId> {
    let mut ids = vec![None; order.len()];
    for &k in order {
        let (i, j) = ((k % 5) as f64, (k / 5) as f64);
        // Triangular lattice with touching neighbours.
        let at = DVec3::new(i + 0.5 * (j % 2.0), j * 0.75_f64.sqrt(), 0.0) * 0.2;
        let centre = DVec3::new(0.45, 0.3, 0.0);
        let swirl = DVec3::new(0.3 * (k as f64).sin(), 0.2 * (k as f64).cos(), 0.1 * (2.0 * k as f64).sin());
        let body = Body::dynamic()
            .position(at)
            .with_shape(sphere(0.1))
            .mass(1.0 + 0.1 * k as f64)
            .velocity(centre - at + swirl)
            .angular_velocity(5.0 * swirl);
        ids[k] = Some(world.add_body(body).unwrap());
    }
    ids.into_iter().flatten().collect()
}

/// MUL-5: the result of simultaneous impacts depends neither on the order of the bodies nor on another,
/// separate group.
#[test]
fn simultaneous_impacts_do_not_depend_on_order_or_other_groups() {
    let run = |order: &[usize], other_group: bool| {
        let mut world = World::weightless();
        surface(&mut world, 0.6, 0.0);
        let ids = lattice(&mut world, order);
        if other_group {
            for (x, v) in [(50.0, 1.0), (50.2, -1.0)] {
                let ball = Body::dynamic().at(x, 0.0, 0.0).with_shape(sphere(0.1));
                world.add_body(ball.velocity(v * DVec3::X)).unwrap();
            }
        }
        Constraint::default().step(&mut world, 1e-4).unwrap();
        assert!(world.events().iter().filter(|event| matches!(event, Event::Collision { .. })).count() > 20);
        ids.iter().map(|id| world.body(*id).unwrap().velocity()).collect::<Vec<_>>()
    };
    let forward: Vec<usize> = (0..20).collect();
    let mixed: Vec<usize> = (0..20).map(|k| (7 * k + 3) % 20).collect();
    let first = run(&forward, false);
    for other in [run(&mixed, false), run(&forward, true)] {
        for (a, b) in first.iter().zip(&other) {
            assert!((*a - *b).length() < 1e-10, "{a} {b}");
        }
    }
}

/// MUL-6: twenty bodies and some forty simultaneous impacts with friction conserve momentum and angular
/// momentum and create no energy.
#[test]
fn simultaneous_impacts_conserve_momentum() {
    for (e, mu) in [(0.0, 0.0), (1.0, 0.0), (0.5, 0.4), (1.0, 0.8)] {
        let mut world = World::weightless();
        surface(&mut world, e, mu);
        lattice(&mut world, &(0..20).collect::<Vec<_>>());
        let before = world.readout();
        Constraint::default().step(&mut world, 1e-6).unwrap();
        let after = world.readout();
        let scale = before.angular_momentum.length() + before.momentum.length();
        assert!((after.momentum - before.momentum).length() < 1e-11 * scale, "{e} {mu}");
        assert!((after.angular_momentum - before.angular_momentum).length() < 1e-9 * scale, "{e} {mu}");
        assert!(after.kinetic_energy <= before.kinetic_energy * (1.0 + 1e-9), "{e} {mu}");
        let collisions =
            world.events().iter().filter(|event| matches!(event, Event::Collision { .. })).count();
        assert!(collisions >= 30, "{collisions}");
    }
}

/// Large islands are advanced in pieces. 27 cubes fall into a bin of 0.9 m: no overlap exceeds a hundredth of
/// a cube, no cube leaves the bin, energy does not grow by more than 1 % in a step (position correction), and
/// without restitution at most 1 % of it is left as kinetic energy after two seconds.
#[test]
fn falling_heaps_are_stable() {
    for e in [0.0, 0.5] {
        let mut world = World::default();
        surface(&mut world, e, 0.5);
        let mut bin = Body::fixed();
        let far = 0.45 + 0.25;
        for (half, at) in [
            (DVec3::new(1.0, 1.0, 0.5), -0.5 * DVec3::Z),
            (DVec3::new(0.25, 1.0, 2.0), far * DVec3::X),
            (DVec3::new(0.25, 1.0, 2.0), -far * DVec3::X),
            (DVec3::new(1.0, 0.25, 2.0), far * DVec3::Y),
            (DVec3::new(1.0, 0.25, 2.0), -far * DVec3::Y),
        ] {
            bin = bin
                .with_part(ShapePart { pose: Pose::at(at), ..ShapePart::from(Shape::cuboid(half).unwrap()) });
        }
        world.add_body(bin).unwrap();
        let mut ids = Vec::new();
        for k in 0..27 {
            let (i, j, l) = (f64::from(k % 2), f64::from(k / 2 % 2), f64::from(k / 4));
            let turn = DQuat::from_scaled_axis(DVec3::new(f64::from(k), 0.3 * f64::from(k), 0.7));
            let at = DVec3::new(0.4 * i - 0.2, 0.4 * j - 0.2, 0.2 + 0.36 * l);
            let body = Body::dynamic().position(at).orientation(turn).mass(8.0);
            ids.push(world.add_body(body.with_shape(Shape::cuboid(DVec3::splat(0.1)).unwrap())).unwrap());
        }
        let energy = |world: &World| {
            let high: f64 = ids.iter().map(|id| 8.0 * G * world.body(*id).unwrap().position().z).sum();
            world.readout().kinetic_energy + high
        };
        let first = energy(&world);
        let (mut last, mut bounced) = (first, 0);
        let mut simulator = Constraint::default();
        for _ in 0..48 {
            simulator.step(&mut world, 1.0 / 24.0).unwrap();
            let now = energy(&world);
            assert!(now < last + 0.01 * first, "{e}: {last} {now}");
            last = now;
            let overlap = simulator.contacts().map(|contact| -contact.gap).fold(0.0, f64::max);
            assert!(overlap < 2e-3, "{e}: {overlap}");
            bounced += world.events().iter().filter(|event| matches!(event, Event::Collision { .. })).count();
            for id in &ids {
                let at = world.body(*id).unwrap().position();
                assert!(at.x.abs() < 0.36 && at.y.abs() < 0.36 && at.z > 0.09, "{e}: {at}");
            }
        }
        println!("{e}: {first} {last} {} {bounced}", world.readout().kinetic_energy);
        assert!(e > 0.0 || world.readout().kinetic_energy < 0.01 * first);
        assert!(e == 0.0 || bounced > 20, "{bounced}");
    }
}

/// MC-7: a ball rests off centre on a block on a frictionless floor: the ball presses with its weight, and
/// the floor forces balance both weights and their moment.
#[test]
fn a_ball_off_centre_on_a_block_is_in_equilibrium() {
    let mut world = World::default();
    surface(&mut world, 0.0, 0.0);
    let floor = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let half = DVec3::new(0.5, 0.3, 0.1);
    let block = world
        .add_body(Body::dynamic().at(0.0, 0.0, 0.1).with_shape(Shape::cuboid(half).unwrap()).mass(3.0))
        .unwrap();
    let ball = world.add_body(Body::dynamic().at(0.3, 0.1, 0.25).with_shape(sphere(0.05)).mass(2.0)).unwrap();
    let mut simulator = Constraint::default();
    for _ in 0..24 {
        simulator.step(&mut world, 1.0 / 24.0).unwrap();
    }
    let of = |a: BodyId, b: BodyId| {
        let between = move |bodies: [BodyId; 2]| bodies.contains(&a) && bodies.contains(&b);
        simulator
            .contacts()
            .filter(move |contact| between(contact.bodies))
            .map(|contact| (contact.point, contact.force.z.abs()))
    };
    let pressed: f64 = of(ball, block).map(|(_, force)| force).sum();
    let carried: f64 = of(floor, block).map(|(_, force)| force).sum();
    let moment: DVec3 = of(floor, block).map(|(point, force)| force * point).sum();
    assert!((pressed - 2.0 * G).abs() < 1e-9 && (carried - 5.0 * G).abs() < 1e-9, "{pressed} {carried}");
    assert!((moment.x - 2.0 * G * 0.3).abs() < 1e-8 && (moment.y - 2.0 * G * 0.1).abs() < 1e-8, "{moment}");
}

/// CF-2, as a mean over a step: a body slides outward with U on a plane that turns with Ω about an axis in
/// it, without gravity; the contact force tends to 2 m Ω U for small steps.
#[test]
fn mean_force_on_a_turning_plane_is_the_coriolis_force() {
    let found = |dt: f64| {
        let mut world = World::weightless();
        surface(&mut world, 0.0, 0.0);
        let (omega, u, radius) = (0.7, 1.3, 0.01);
        // The plane is the top of a plate that turns about y through the origin, downwards where x > 0 is
        // moved away from.
        let path = Path::Steady { velocity: DVec3::ZERO, angular_velocity: -omega * DVec3::Y };
        let plate = Shape::cuboid(DVec3::new(2.0, 1.0, 0.1)).unwrap();
        let under = ShapePart { pose: Pose::at(DVec3::new(0.0, 0.0, -0.1)), ..ShapePart::from(plate) };
        world.add_body(Body::kinematic(path).with_part(under)).unwrap();
        let x = 0.5;
        // A frictionless ball does not turn with the plate; its centre is what moves.
        let ball = Body::dynamic().at(x, 0.0, radius).with_shape(sphere(radius)).mass(2.0);
        let turning = (-omega * DVec3::Y).cross(DVec3::new(x, 0.0, radius));
        world.add_body(ball.velocity(u * DVec3::X + turning)).unwrap();
        // The approach that a step adds is not a collision.
        let settings = ConstraintSettings { contact_speed: 0.1, ..ConstraintSettings::default() };
        let mut simulator = Constraint::new(settings).unwrap();
        simulator.step(&mut world, dt).unwrap();
        simulator.step(&mut world, dt).unwrap();
        let force: f64 = simulator.contacts().map(|contact| contact.force.length()).sum();
        // The centre is above the plane by r, which reduces the force by m Ω² r.
        force / 2.0 - 2.0 * omega * u + omega * omega * radius
    };
    let (coarse, fine) = (found(2e-4), found(1e-4));
    assert!(fine.abs() < 2e-3, "{coarse} {fine}");
}
