//! The energy ledger against closed forms.

use glam::{DQuat, DVec3};
use rattleback_dynamics::force::{Drag, Spring};
use rattleback_dynamics::joint::{Revolute, Spherical};
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::world::{LedgerSettings, WorkCategory, WorkSource};
use rattleback_dynamics::{
    Body, Event, FreeMotion, JointFrames, Material, Path, Properties, Registry, Signal, Simulator, World,
};
use rattleback_geometry::Shape;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A world whose ledger is open.
fn accounted(mut world: World) -> World {
    world.open_energy_ledger(LedgerSettings::default()).unwrap();
    world
}

fn simulator(name: &str) -> Box<dyn Simulator> {
    Registry::default().simulators.make(name, &Properties::new()).unwrap()
}

fn total(world: &World, category: WorkCategory) -> f64 {
    world.energy_ledger().unwrap().work(category).total
}

/// Runs for some seconds ⇒ change of energy; the ledger has to sum to it, and nothing may gain.
fn run(world: &mut World, simulator: &mut dyn Simulator, dt: f64, seconds: f64) -> f64 {
    let (change, gains) = run_noting(world, simulator, dt, seconds);
    assert!(gains.is_empty(), "{} gains, {:?}", gains.len(), gains[0]);
    change
}

/// The same with the reported gains of energy.
fn run_noting(world: &mut World, simulator: &mut dyn Simulator, dt: f64, seconds: f64) -> (f64, Vec<Event>) {
    let booked =
        |world: &World| world.energy_ledger().unwrap().sum().total - total(world, WorkCategory::External);
    let (start, before) = (world.readout().energy(), booked(world));
    let mut gains = Vec::new();
    for _ in 0..(seconds / dt).round() as u64 {
        simulator.step(world, dt).unwrap();
        let gained = |event: &&Event| matches!(event, Event::EnergyGained { .. });
        gains.extend(world.events().iter().filter(gained).cloned());
    }
    let change = world.readout().energy() - start;
    for (category, work) in world.energy_ledger().unwrap().iter().filter(|(_, work)| work.total != 0.0) {
        // Shown where a test fails.
        println!("{}: {}", category.name(), work.total);
    }
    let sum = booked(world) - before;
    let scale = start.abs() + change.abs() + 1.0;
    assert!((sum - change).abs() < 1e-10 * scale, "{sum} {change}");
    (change, gains)
}

fn close(got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "{got} instead of {expected}");
}

/// Tries (simulator, tolerance) one after the other, so that all that fail are named.
fn each(cases: &[(&str, f64)], check: impl Fn(&str, f64)) {
    let fails = |case: &&(&str, f64)| catch_unwind(AssertUnwindSafe(|| check(case.0, case.1))).is_err();
    let failed: Vec<_> = cases.iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

fn ball() -> Body {
    Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).mass(2.0)
}

fn material(world: &mut World, restitution: f64, friction: f64) -> rattleback_dynamics::MaterialId {
    world
        .add_material(Material {
            restitution,
            static_friction: friction,
            kinetic_friction: friction,
            ..Material::default()
        })
        .unwrap()
}

/// v = v₀ e^(−k t/m): W = −½ m v₀² (1 − e^(−2 k t/m)).
#[test]
fn drag() {
    let mut world = accounted(World::weightless());
    world.add_body(ball().velocity(DVec3::new(3.0, 0.0, 4.0))).unwrap();
    world.add_force(Drag { linear: 0.6.into(), ..Drag::default() }).unwrap();
    let change = run(&mut world, &mut FreeMotion::default(), 1e-3, 2.0);
    let expected = -25.0 * (1.0 - (-2.0 * 0.6 * 2.0 / 2.0_f64).exp());
    close(total(&world, WorkCategory::Force), expected, 1e-6);
    close(change, expected, 1e-6);
}

/// v = v₀ e^(−c t), and the same for the spin; exact whatever the step.
#[test]
fn damping() {
    for name in ["free-motion", "impulse", "realtime"] {
        let mut world = accounted(World::weightless());
        let body = ball().velocity(DVec3::X * 3.0).angular_velocity(DVec3::Y * 5.0).damping(0.7, 0.3);
        world.add_body(body).unwrap();
        let spin = 0.5 * 0.4 * 2.0 * 0.01 * 25.0;
        run(&mut world, &mut *simulator(name), 0.1, 2.0);
        let expected = -9.0 * (1.0 - (-2.8_f64).exp()) - spin * (1.0 - (-1.2_f64).exp());
        close(total(&world, WorkCategory::Damping), expected, 1e-12);
        assert!(total(&world, WorkCategory::Integrator).abs() < 1e-12);
    }
}

/// A spring whose end is carried to and fro: what the hand does is the work of the force, and the rest is small.
#[test]
fn a_driven_spring() {
    let mut world = accounted(World::default());
    let weight = world.add_body(ball().at(0.0, 0.0, 0.755)).unwrap();
    let anchor =
        Signal::Harmonic { mean: DVec3::Z * 2.0, amplitude: DVec3::Z * 0.1, frequency: 0.7, phase: 0.2 };
    world
        .add_force(Spring {
            body_b: Some(weight),
            anchor_a: anchor,
            rest_length: 1.0.into(),
            stiffness: 80.0.into(),
            damping: 0.5.into(),
            ..Spring::default()
        })
        .unwrap();
    let change = run(&mut world, &mut FreeMotion::default(), 1e-3, 3.0);
    assert!(change.abs() > 0.1);
    close(total(&world, WorkCategory::Force), change, 1e-3);
}

#[test]
fn changes_from_outside() {
    let mut world = accounted(World::default());
    let body = world.add_body(ball()).unwrap();
    run(&mut world, &mut FreeMotion::default(), 0.01, 0.1);
    let v = world.body(body).unwrap().velocity();
    world.body_mut(body).unwrap().set_velocity(v + DVec3::X * 2.0).unwrap();
    world.add_body(ball().at(0.0, 0.0, 3.0)).unwrap();
    run(&mut world, &mut FreeMotion::default(), 0.01, 0.1);
    close(total(&world, WorkCategory::External), 4.0 + 2.0 * 9.81 * 3.0, 1e-12);
    assert!(total(&world, WorkCategory::Integrator).abs() < 1e-12);
}

/// Forward Euler gains energy, and nothing but the integrator is to blame.
#[test]
fn an_integrator_that_gains_energy_is_reported() {
    let mut world = accounted(World::weightless());
    let weight = world.add_body(ball().at(1.0, 0.0, 0.0)).unwrap();
    let spring = Spring { body_b: Some(weight), stiffness: 50.0.into(), ..Spring::default() };
    world.add_force(spring).unwrap();
    let mut simulator = FreeMotion::by_name("explicit-euler", &Registry::default()).unwrap();
    let mut gained = 0.0;
    for _ in 0..100 {
        simulator.step(&mut world, 0.01).unwrap();
        for event in world.events() {
            let Event::EnergyGained { gained: joules, category, source, .. } = event else {
                panic!("{event:?}")
            };
            assert_eq!((*category, *source), (WorkCategory::Integrator, WorkSource::Body(weight)));
            gained += joules;
        }
    }
    let energy = world.readout().energy();
    assert!(energy > 26.0 && gained > 0.9 * (energy - 25.0), "{energy} {gained}");
}

/// A restored world goes on with the same entries, bit for bit.
#[test]
fn ledgers_are_part_of_snapshots() {
    let mut world = accounted(World::default());
    world.add_force(Drag { quadratic: 0.1.into(), ..Drag::default() }).unwrap();
    let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap());
    world.add_body(floor).unwrap();
    for k in 0..4 {
        let body = Body::dynamic().with_shape(Shape::cuboid(DVec3::splat(0.1)).unwrap());
        world.add_body(body.at(0.3 * f64::from(k), 0.0, 0.5 + 0.1 * f64::from(k))).unwrap();
    }
    let mut simulator = simulator("impulse");
    for _ in 0..40 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    let bytes = world.snapshot_with(&*simulator).unwrap();
    let (mut again, mut resumed) = World::restore_with(&bytes, &Registry::default()).unwrap();
    for _ in 0..40 {
        simulator.step(&mut world, 0.01).unwrap();
        resumed.step(&mut again, 0.01).unwrap();
    }
    let entries = |world: &World| world.energy_ledger().unwrap().iter().collect::<Vec<_>>();
    assert_eq!(entries(&world), entries(&again));
    assert!(total(&world, WorkCategory::Contact) < 0.0);
}

/// (simulator, tolerance of its bounces)
const BOUNCING: [(&str, f64); 3] = [("impulse", 1e-3), ("constraint", 1e-6), ("realtime", 1e-2)];

/// A bounce takes (1 − e²) of the kinetic energy.
#[test]
fn bounces() {
    each(&BOUNCING, |name, tolerance| {
        for e in [0.3, 0.8] {
            let mut world = accounted(World::default());
            let hard = material(&mut world, e, 0.0);
            let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap());
            world.add_body(floor.material(hard)).unwrap();
            world.add_body(ball().at(0.0, 0.0, 1.1).material(hard)).unwrap();
            run(&mut world, &mut *simulator(name), 1.0 / 240.0, 0.5);
            let expected = -(1.0 - e * e) * 2.0 * 9.81;
            close(total(&world, WorkCategory::Contact), expected, tolerance);
            assert!(total(&world, WorkCategory::Integrator).abs() < 2e-3 * expected.abs());
        }
    });
}

const SLIDING: [(&str, f64); 5] =
    [("impulse", 0.03), ("constraint", 2e-3), ("realtime", 1e-2), ("penalty", 2e-2), ("sequential", 3e-2)];

/// A block that slides down: friction does −μ m g cos α over its way.
#[test]
fn sliding_blocks() {
    let (alpha, mu) = (0.4_f64, 0.2);
    each(&SLIDING, |name, tolerance| {
        let mut world = accounted(World::default());
        let rough = material(&mut world, 0.0, mu);
        let (sin, cos) = alpha.sin_cos();
        let slope = Body::fixed().with_shape(Shape::half_space(DVec3::new(sin, 0.0, cos)).unwrap());
        world.add_body(slope.material(rough)).unwrap();
        let half = DVec3::new(0.2, 0.15, 0.05);
        let place = DVec3::new(sin, 0.0, cos) * (0.05 + 1e-6);
        let block = Body::dynamic()
            .with_shape(Shape::cuboid(half).unwrap())
            .mass(3.0)
            .at(place.x, place.y, place.z)
            .orientation(DQuat::from_rotation_y(alpha))
            .material(rough);
        let block = world.add_body(block).unwrap();
        let (_, gains) = run_noting(&mut world, &mut *simulator(name), 1.0 / 240.0, 1.0);
        // Slow collisions of `impulse` lift a block that begins to slide, and the ledger reports it.
        assert!(gains.is_empty() || name == "impulse", "{gains:?}");
        let way = (world.body(block).unwrap().position() - place).length();
        let expected = -mu * 3.0 * 9.81 * cos * way;
        close(total(&world, WorkCategory::Friction), expected, tolerance);
        let contact = total(&world, WorkCategory::Contact);
        assert!(contact.abs() < 2.0 * tolerance * expected.abs(), "{name}: {contact}");
    });
}

/// A million collisions on several threads: the same entries, bit for bit.
#[test]
fn threads_do_not_show() {
    let entries = |threads: i64| {
        let mut world = accounted(World::default());
        let rough = material(&mut world, 0.6, 0.4);
        let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap());
        world.add_body(floor.material(rough)).unwrap();
        for k in 0..24 {
            let place = DVec3::new(0.5 * f64::from(k % 6), 0.5 * f64::from(k / 6), 0.3 + 0.05 * f64::from(k));
            let shape = Shape::cuboid(DVec3::new(0.1, 0.12, 0.14)).unwrap();
            let spin = DVec3::new(1.0, -2.0, 0.5) * f64::from(k % 5);
            let body = Body::dynamic().with_shape(shape).at(place.x, place.y, place.z);
            world.add_body(body.angular_velocity(spin).material(rough)).unwrap();
        }
        let settings = ImpulseSettings { threads, ..ImpulseSettings::default() };
        let mut simulator = Impulse::new(settings).unwrap();
        for _ in 0..60 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        world.energy_ledger().unwrap().iter().map(|(_, work)| work.total.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(entries(1), entries(3));
}

/// A motor with a torque that does not reach its speed turns a flywheel: τ times the angle, which is all its kinetic energy.
#[test]
fn motors() {
    each(&[("constraint", 1e-6), ("realtime", 1e-2)], |name, tolerance| {
        let mut world = accounted(World::weightless());
        let wheel = Body::dynamic().with_shape(Shape::cylinder(0.2, 0.05).unwrap()).mass(4.0);
        let wheel = world.add_body(wheel).unwrap();
        let motor = Revolute { speed: 1e3.into(), max_torque: 0.5, ..Revolute::default() };
        let joint = world.add_joint(JointFrames::to_world(wheel).along(DVec3::Z), motor).unwrap();
        run(&mut world, &mut *simulator(name), 1.0 / 240.0, 1.0);
        let turned = world.joint(joint).unwrap().angle();
        assert!(turned > 1.0, "{name}: {turned}");
        close(total(&world, WorkCategory::Motor), 0.5 * turned, tolerance);
        close(world.readout().kinetic_energy, 0.5 * turned, tolerance);
        let (joint, error) = (total(&world, WorkCategory::Joint), total(&world, WorkCategory::Integrator));
        assert!(joint.abs() < tolerance && error.abs() < tolerance, "{name}: {joint} {error}");
    });
}

/// A joint without friction does no work.
#[test]
fn pendulums() {
    each(&[("constraint", 1e-9), ("realtime", 1e-3)], |name, tolerance| {
        let mut world = accounted(World::default());
        let bob = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).mass(2.0).at(1.0, 0.0, 0.0);
        let bob = world.add_body(bob.velocity(DVec3::Y).angular_velocity(DVec3::Z)).unwrap();
        world.add_joint(JointFrames::to_world(bob).at(DVec3::ZERO), Spherical::default()).unwrap();
        run(&mut world, &mut *simulator(name), 1.0 / 240.0, 3.0);
        let scale = 2.0 * 9.81;
        for category in [WorkCategory::Joint, WorkCategory::Motor, WorkCategory::Contact] {
            let work = total(&world, category);
            assert!(work.abs() < tolerance * scale, "{name}, {category:?}: {work}");
        }
    });
}

/// A platform that lifts a body does m g h.
#[test]
fn platforms() {
    let cases = [
        ("impulse", 0.02),
        ("constraint", 1e-3),
        ("realtime", 1e-2),
        ("penalty", 1e-2),
        ("sequential", 2e-2),
    ];
    each(&cases, |name, tolerance| {
        let mut world = accounted(World::default());
        let dull = material(&mut world, 0.0, 0.5);
        let path = Path::Steady { velocity: DVec3::Z * 0.5, angular_velocity: DVec3::ZERO };
        let slab = Shape::cuboid(DVec3::new(1.0, 1.0, 0.1)).unwrap();
        world.add_body(Body::kinematic(path).with_shape(slab).material(dull)).unwrap();
        let cargo = Body::dynamic().with_shape(Shape::cuboid(DVec3::splat(0.2)).unwrap()).mass(5.0);
        let cargo = cargo.at(0.0, 0.0, 0.3 + 1e-6).velocity(DVec3::Z * 0.5).material(dull);
        let cargo = world.add_body(cargo).unwrap();
        run(&mut world, &mut *simulator(name), 1.0 / 240.0, 2.0);
        let height = world.body(cargo).unwrap().position().z - 0.3;
        close(height, 1.0, 0.01);
        close(total(&world, WorkCategory::Kinematic), 5.0 * 9.81 * height, tolerance);
        let error = total(&world, WorkCategory::Integrator);
        assert!(error.abs() < tolerance * 5.0 * 9.81, "{name}: {error}");
    });
}

/// Whatever happens, the ledger sums to the change of energy, and every gain is reported.
#[test]
fn random_heaps_balance() {
    let cases =
        [("impulse", 1e-6), ("constraint", 1e-6), ("realtime", 0.1), ("penalty", 0.1), ("sequential", 0.1)];
    each(&cases, |name, tolerance| {
        let mut world = accounted(World::default());
        let rough = material(&mut world, 0.4, 0.5);
        let floor = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap());
        world.add_body(floor.material(rough)).unwrap();
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for k in 0..12 {
            let half = DVec3::new(0.08 + 0.05 * random(), 0.08 + 0.05 * random(), 0.08);
            let shape =
                if k % 3 == 0 { Shape::sphere(0.1 + 0.02 * random()) } else { Shape::cuboid(half) }.unwrap();
            let place = DVec3::new(0.3 * f64::from(k % 2), 0.1 * random(), 0.25 + 0.3 * f64::from(k / 2));
            let spin = DVec3::new(random(), random(), random()) * 3.0;
            let body = Body::dynamic().with_shape(shape).at(place.x, place.y, place.z).angular_velocity(spin);
            world.add_body(body.material(rough).mass(0.5 + random())).unwrap();
        }
        let change = run(&mut world, &mut *simulator(name), 1.0 / 240.0, 1.5);
        let lost = total(&world, WorkCategory::Contact) + total(&world, WorkCategory::Friction);
        assert!(change < 0.0 && (lost / change - 1.0).abs() < tolerance, "{name}: {lost} of {change}");
    });
}
