//! The event-driven simulator with lasting contacts: rest, bounded steps, touching bodies, settings, restored
//! runs.

use glam::{DQuat, DVec3};
use rattleback_dynamics::rigid::Motion;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Body, BodyId, Event, Material, MaterialId, Registry, Simulator, World};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};

/// Pseudo-random numbers in 0..1 from a counter.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0))
    }
}

fn ground(world: &mut World, restitution: f64, friction: f64) -> MaterialId {
    let material = world.add_material(Material { restitution, ..Material::with_friction(friction) }).unwrap();
    world
        .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(material))
        .unwrap();
    material
}

fn block(half: DVec3) -> Body {
    Body::dynamic().with_shape(Shape::cuboid(half).unwrap())
}

fn states(world: &World) -> Vec<Motion> {
    world.iter_bodies().map(|body| *body.motion()).collect()
}

/// Smallest distance of any two shapes of different bodies.
fn nearest(world: &World) -> f64 {
    let shapes: Vec<_> = world.iter_shapes().map(|(_, attached)| attached).collect();
    let mut least = f64::INFINITY;
    for (i, a) in shapes.iter().enumerate() {
        for b in shapes[..i].iter().filter(|b| b.body != a.body) {
            let pose = |shape: &rattleback_dynamics::world::AttachedShape| {
                world.body(shape.body).unwrap().pose() * shape.pose
            };
            let pieces = (Piece::try_from(&a.shape).unwrap(), Piece::try_from(&b.shape).unwrap());
            let near = distance_pieces(
                &pieces.0,
                &pieces.1,
                &pose(a).relative(&pose(b)),
                &mut PieceCache::default(),
            );
            least = least.min(near.unwrap().distance);
        }
    }
    least
}

/// Thrown bricks come to rest, after few collisions.
#[test]
fn thrown_bricks_come_to_rest() {
    let mut collisions = 0;
    for seed in 0..60 {
        let (mut world, mut random) = (World::default(), Random(seed));
        let material = ground(&mut world, random.range(0.0, 0.6), 0.3);
        let brick = block(DVec3::new(0.03, 0.02, 0.01))
            .at(0.0, 0.0, random.range(0.05, 0.3))
            .orientation(DQuat::from_scaled_axis(3.0 * random.vector()))
            .velocity(random.vector())
            .angular_velocity(20.0 * random.vector());
        world.add_body(brick.material(material)).unwrap();
        let mut simulator = Impulse::default();
        let dt = [1.0 / 60.0, 1.0 / 240.0, 1e-3][seed as usize % 3];
        while simulator.resting().count() == 0 {
            simulator.step(&mut world, dt).unwrap();
            assert!(world.time() < 5.0, "brick {seed} never rests");
        }
        collisions += simulator.counters().collisions;
        assert!(simulator.smallest_gap() > 0.0 && nearest(&world) > 0.0);
    }
    assert!(collisions < 60 * 1000, "{collisions}");
}

/// (variant, seed) ⇒ a stack of ten.
fn stack(how: &str, seed: u64) -> World {
    let (mut world, mut random) = (World::default(), Random(seed));
    let material = ground(&mut world, random.range(0.0, 0.5), random.range(0.2, 0.9));
    let (size, gap) = (random.range(0.02, 0.2), [0.0, 1e-6, 1e-4, 1e-3][seed as usize % 4]);
    let mut z = gap;
    for k in 0..10 {
        let mut extents = DVec3::splat(size);
        let (mut aside, mut turn, mut mass) = (DVec3::ZERO, 0.0, 1.0);
        match how {
            "random" => {
                extents *= DVec3::new(random.range(0.7, 1.3), random.range(0.7, 1.3), random.range(0.5, 1.2));
                (aside, turn) = (0.1 * size * random.vector(), 6.3 * random.unit());
                mass = extents.element_product() / size.powi(3);
            }
            // Shared corners and edges: every other one is half as wide and set to one side.
            "edges" if k % 2 == 1 => {
                extents.x *= 0.5;
                aside.x = 0.5 * size;
            }
            "heavy" if k == 9 => mass = 1000.0,
            "growing" => mass = 1000f64.powf(f64::from(k) / 9.0),
            "shrinking" => mass = 1000f64.powf(1.0 - f64::from(k) / 9.0),
            _ => {}
        }
        z += extents.z;
        let body = block(extents).mass(mass).orientation(DQuat::from_rotation_z(turn));
        world.add_body(body.at(aside.x, aside.y, z).material(material)).unwrap();
        z += extents.z + gap;
    }
    world
}

/// Stacks of ten, aligned or not, with equal masses or not, rest within two seconds.
#[test]
fn stacks_of_ten_come_to_rest() {
    for how in ["aligned", "random", "heavy", "growing", "shrinking"] {
        for seed in 0..8 {
            let mut world = stack(how, seed);
            let mut simulator = Impulse::default();
            let dt = [1.0 / 60.0, 1.0 / 240.0, 1e-3][seed as usize % 3];
            while simulator.resting().count() < 10 {
                simulator.step(&mut world, dt).unwrap();
                assert!(world.time() < 2.0, "{how} {seed}: {} rest", simulator.resting().count());
            }
            assert!(
                states(&world).iter().all(|motion| motion.v == DVec3::ZERO && motion.omega == DVec3::ZERO)
            );
            assert!(nearest(&world) > -1e-9, "{how} {seed}: {}", nearest(&world));
        }
    }
}

/// A step ends after a bounded number of events and reports what stalled, and the rest of the world is
/// unaffected; on any number of threads.
#[test]
fn a_stalled_stack_ends_its_step() {
    let ball = || Body::dynamic().with_shape(Shape::sphere(0.05).unwrap()).at(5.0, 0.0, 1.0);
    let run = |threads: i64| {
        let mut world = stack("growing", 3);
        let id = world.add_body(ball()).unwrap();
        let settings = ImpulseSettings {
            rest: false,
            stall_limit: 50,
            stall_time: 1e-2,
            threads,
            ..ImpulseSettings::default()
        };
        let mut simulator = Impulse::new(settings).unwrap();
        let mut stalled = Vec::new();
        for step in 1..=60 {
            let before = simulator.counters().checks;
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
            // Eleven pairs or so, 50 events in 10 ms each, and measurements of all pairs of a body after
            // each.
            assert!(simulator.counters().checks - before < 20_000);
            let (t, motion) = (world.time(), *world.body(id).unwrap().motion());
            if step == 20 {
                // Half-way down, unaffected by the stack.
                assert!((motion.x.z - (1.0 - 0.5 * 9.81 * t * t)).abs() < 1e-12, "{motion:?}");
            }
            for event in world.events() {
                if let Event::Stalled { bodies, .. } = event {
                    stalled.push(*bodies);
                }
            }
        }
        assert!(!stalled.is_empty() && !stalled.iter().any(|bodies| bodies.contains(&id)));
        assert!(nearest(&world) > -1e-9);
        (states(&world), stalled, *world.body(id).unwrap().motion())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

/// Bodies that touch exactly, in any direction, are accepted; overlapping ones are refused by name.
#[test]
fn touching_is_allowed_and_overlap_is_refused_by_name() {
    let mut world = World::default();
    let material = ground(&mut world, 0.3, 0.5);
    let turn = DQuat::from_rotation_z(0.7);
    let half = DVec3::new(0.1, 0.05, 0.03);
    for k in 0..4 {
        let x = 0.2 * f64::from(k);
        world
            .add_body(
                block(half).position(turn * DVec3::new(x, 0.0, 0.03)).orientation(turn).material(material),
            )
            .unwrap();
        let ball = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap());
        world.add_body(ball.at(x, 2.0, 0.1).material(material)).unwrap();
    }
    let mut simulator = Impulse::default();
    for _ in 0..60 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    assert_eq!(simulator.resting().count(), 8);
    assert!(nearest(&world) > -1e-9);

    let mut world = World::default();
    world.add_body(block(half).named("crate")).unwrap();
    world.add_body(block(half).at(0.19, 0.0, 0.0)).unwrap();
    let error = Impulse::default().step(&mut world, 0.01).unwrap_err().to_string();
    assert!(error.contains("`crate`") && error.contains("body 1v0"), "{error}");
}

/// With any settings nothing sinks: without microcollisions, without a least hop, without restitution,
/// without rest.
#[test]
fn nothing_sinks() {
    let usual = ImpulseSettings::default;
    for settings in [
        ImpulseSettings { microcollisions: false, ..usual() },
        ImpulseSettings { microcollisions: false, rest: false, ..usual() },
        ImpulseSettings {
            least_hop: 0.0,
            boosted_restitution: 0.0,
            reversing: false,
            rest: false,
            ..usual()
        },
        ImpulseSettings { microcollisions: false, rest: false, stall_limit: 10, ..usual() },
    ] {
        for e in [0.0, 0.5] {
            let mut world = World::default();
            let material = ground(&mut world, e, 0.4);
            let tilt = DQuat::from_scaled_axis(DVec3::new(0.01, 0.02, 0.3));
            let bodies: [BodyId; 3] = [
                block(DVec3::new(0.1, 0.08, 0.05)).orientation(tilt).at(0.0, 0.0, 0.06),
                block(DVec3::splat(0.05)).at(1.0, 0.0, 0.0501).velocity(DVec3::X),
                Body::dynamic()
                    .with_shape(Shape::sphere(0.05).unwrap())
                    .at(0.0, 1.0, 0.06)
                    .velocity(DVec3::X),
            ]
            .map(|body| world.add_body(body.material(material)).unwrap());
            let mut simulator = Impulse::new(settings.clone()).unwrap();
            for _ in 0..60 {
                simulator.step(&mut world, 1.0 / 60.0).unwrap();
                // Without a rebound of their own, bodies that slide end at a gap of zero to rounding.
                assert!(nearest(&world) > -1e-9, "{settings:?}, e = {e}: {}", nearest(&world));
            }
            assert!(bodies.iter().all(|id| world.body(*id).unwrap().position().z < 0.2));
        }
    }
}

/// The typed API refuses the same values as scene files.
#[test]
fn the_typed_api_checks_settings() {
    let usual = ImpulseSettings::default;
    for settings in [
        ImpulseSettings { collision_epsilon: f64::NAN, ..usual() },
        ImpulseSettings { collision_epsilon: -1.0, ..usual() },
        ImpulseSettings { threads: 0, ..usual() },
        ImpulseSettings { landing_margin: 1.0, ..usual() },
        ImpulseSettings { stall_limit: 0, ..usual() },
        ImpulseSettings { stall_time: f64::INFINITY, ..usual() },
        ImpulseSettings { force_window: 0.0, ..usual() },
    ] {
        assert!(Impulse::new(settings.clone()).is_err(), "{settings:?}");
    }
}

/// A heap of random bodies, continued from a random time and on another number of threads, is the same bit
/// for bit.
#[test]
fn restored_heaps_are_the_same_bit_for_bit() {
    for seed in 0..12 {
        let (mut world, mut random) = (World::default(), Random(seed));
        let material = ground(&mut world, random.range(0.0, 0.7), random.range(0.1, 0.9));
        for k in 0..8 {
            let shape = match k % 4 {
                0 => Shape::cuboid(DVec3::new(0.1, 0.07, random.range(0.02, 0.1))).unwrap(),
                1 => Shape::sphere(random.range(0.03, 0.1)).unwrap(),
                2 => Shape::cylinder(0.06, random.range(0.02, 0.2)).unwrap(),
                _ => Shape::convex_hull(&(0..8).map(|_| 0.1 * random.vector()).collect::<Vec<_>>()).unwrap(),
            };
            let place = 0.1 * random.vector() + (0.3 + 0.6 * f64::from(k)) * DVec3::Z;
            let turn = DQuat::from_scaled_axis(3.0 * random.vector());
            let body = Body::dynamic().with_shape(shape).position(place).orientation(turn);
            world.add_body(body.angular_velocity(5.0 * random.vector()).material(material)).unwrap();
        }
        let with = |threads| Impulse::new(ImpulseSettings { threads, ..ImpulseSettings::default() }).unwrap();
        let mut simulator = with(1);
        for _ in 0..10 + (110.0 * random.unit()) as u32 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        let mut again = World::restore(&world.snapshot().unwrap(), &Registry::default()).unwrap();
        let mut resumed = with([1, 2, 4][seed as usize % 3]);
        resumed.restore_state(&simulator.save_state()).unwrap();
        for step in 0..60 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
            resumed.step(&mut again, 1.0 / 60.0).unwrap();
            assert_eq!(states(&world), states(&again), "heap {seed}, {step} steps later");
        }
        assert_eq!(simulator.counters(), resumed.counters());
    }
}

/// A ball that rolls in contact within rounding, with any normal velocity within rounding, rolls on: another
/// simulator may have left it so. (With 4e-30 m/s upwards it stalled.)
#[test]
fn rolling_ball_in_contact_within_rounding_does_not_stall() {
    let mut random = Random(11);
    for k in 0..120 {
        let (radius, speed) = (0.01 * 100f64.powf(random.unit()), 0.01 * 1000f64.powf(random.unit()));
        let gap = if k % 3 == 0 { 0.0 } else { 1e-14 * 1e5f64.powf(random.unit()) };
        let normal = match k % 4 {
            0 => 0.0,
            1 => 1e-30 * random.range(-10.0, 10.0),
            2 => 1e-18 * 1e12f64.powf(random.unit()),
            _ => -1e-18 * 1e12f64.powf(random.unit()),
        };
        let slip = 1e-12 * random.range(-1.0, 1.0);
        let mut world = World::default();
        let (restitution, friction) = (random.range(0.0, 0.9), random.range(0.1, 0.8));
        let material = ground(&mut world, restitution, friction);
        let ball = Body::dynamic()
            .with_shape(Shape::sphere(radius).unwrap())
            .material(material)
            .at(0.0, 0.0, radius + gap)
            .velocity(DVec3::new(speed, 0.0, normal))
            .angular_velocity(DVec3::Y * ((speed + slip) / radius));
        let ball = world.add_body(ball).unwrap();
        let mut simulator = Impulse::default();
        for _ in 0..15 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        assert_eq!(simulator.counters().stalled, 0, "r = {radius}, v = {speed}, gap {gap:e}, {normal:e} m/s");
        let x = world.body(ball).unwrap().position().x;
        assert!((x / (0.25 * speed) - 1.0).abs() < 1e-3, "r = {radius}, v = {speed}, gap {gap:e}: {x}");
    }
}
