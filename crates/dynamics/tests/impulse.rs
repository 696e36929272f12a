//! The event-driven simulator against closed forms, conservation laws and independent measurements.

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use rattleback_dynamics::simulator::impulse::ImpulseError;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{
    Body, BodyId, Error, Event, Material, MaterialId, Properties, Registry, Simulator, Value, World,
};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
use rattleback_geometry::space::SpaceKind;

const G: f64 = 9.81;

fn surface(world: &mut World, restitution: f64, friction: f64) -> MaterialId {
    world.add_material(Material { restitution, ..Material::with_friction(friction) }).unwrap()
}

fn floor(world: &mut World, normal: DVec3, material: MaterialId) -> BodyId {
    world.add_body(Body::fixed().with_shape(Shape::half_space(normal).unwrap()).material(material)).unwrap()
}

fn ball(radius: f64) -> Body {
    Body::dynamic().with_shape(Shape::sphere(radius).unwrap())
}

fn block(half: DVec3) -> Body {
    Body::dynamic().with_shape(Shape::cuboid(half).unwrap())
}

fn with(settings: ImpulseSettings) -> Impulse {
    Impulse::new(settings).unwrap()
}

fn run(world: &mut World, simulator: &mut Impulse, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        simulator.step(world, dt).unwrap();
    }
}

/// Smallest distance of any two shapes, computed afresh for every pair.
fn nearest(world: &World) -> f64 {
    let shapes: Vec<_> = world.iter_shapes().map(|(_, attached)| attached).collect();
    let mut least = f64::INFINITY;
    for (i, a) in shapes.iter().enumerate() {
        for b in &shapes[..i] {
            if a.body == b.body || matches!((&a.shape, &b.shape), (Shape::HalfSpace(_), Shape::HalfSpace(_)))
            {
                continue;
            }
            let pose = |shape: &rattleback_dynamics::world::AttachedShape| {
                world.body(shape.body).unwrap().pose() * shape.pose
            };
            let near = distance_pieces(
                &Piece::try_from(&a.shape).unwrap(),
                &Piece::try_from(&b.shape).unwrap(),
                &pose(a).relative(&pose(b)),
                &mut PieceCache::default(),
            );
            least = least.min(near.unwrap().distance);
        }
    }
    least
}

/// A ball with e = 1 keeps its energy over a hundred seconds of bouncing, to rounding.
#[test]
fn an_elastic_ball_bounces_forever() {
    let mut world = World::default();
    let hard = surface(&mut world, 1.0, 0.3);
    floor(&mut world, DVec3::Z, hard);
    let id = world.add_body(ball(0.1).at(0.0, 0.0, 1.0).material(hard)).unwrap();
    let before = world.readout().energy();
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 100.0, 1.0 / 60.0);
    assert!((world.readout().energy() / before - 1.0).abs() < 1e-9);
    assert!(world.body(id).unwrap().angular_velocity().length() < 1e-12);
}

/// Newton's cradle: five balls a small gap apart, the first at 1 m/s; only the last one leaves, with the
/// whole momentum.
#[test]
fn newtons_cradle_transmits_all_momentum() {
    let mut world = World::weightless();
    let hard = surface(&mut world, 1.0, 0.0);
    let epsilon = 1e-4;
    let ids: Vec<_> = (0..5)
        .map(|k| {
            let x = if k == 0 { -1.0 } else { f64::from(k) * (0.1 + 0.9 * epsilon) };
            let v = if k == 0 { DVec3::X } else { DVec3::ZERO };
            world.add_body(ball(0.05).at(x, 0.0, 0.0).mass(1.0).velocity(v).material(hard)).unwrap()
        })
        .collect();
    let mut simulator = with(ImpulseSettings { collision_epsilon: epsilon, ..ImpulseSettings::default() });
    run(&mut world, &mut simulator, 2.0, 1.0 / 60.0);
    let speed = |id: BodyId| world.body(id).unwrap().velocity().x;
    assert!(speed(ids[4]) > 0.999_999_999);
    assert!(ids[..4].iter().all(|id| speed(*id).abs() < 1e-9));
}

/// Impulse test 11: a bullet of 5 mm never passes a wall of 1 mm, at any speed; sampling at 1/60 s misses the
/// collision.
#[test]
fn no_bullet_tunnels_at_any_speed() {
    for speed in [10.0, 1e3, 1e6] {
        for (search, must_hit) in [("one-sided", true), ("bracketing", speed < 100.0)] {
            let mut world = World::weightless();
            let soft = surface(&mut world, 0.5, 0.1);
            let wall = Shape::cuboid(DVec3::new(0.0005, 1.0, 1.0)).unwrap();
            world.add_body(Body::fixed().with_shape(wall).material(soft)).unwrap();
            let bullet = ball(0.005).at(-0.3, 0.0, 0.0).velocity(speed * DVec3::X).material(soft);
            let id = world.add_body(bullet).unwrap();
            let mut simulator = with(ImpulseSettings {
                collision_epsilon: 1e-4,
                search: search.into(),
                sampling: if speed < 100.0 { 1e-4 } else { 1.0 / 60.0 },
                ..ImpulseSettings::default()
            });
            run(&mut world, &mut simulator, 0.1, 1.0 / 60.0);
            let stopped = world.body(id).unwrap().velocity().x < 0.0;
            assert_eq!(stopped, must_hit, "{search} at {speed} m/s");
            if search == "one-sided" {
                assert!(simulator.smallest_gap() > 0.0);
            }
        }
    }
}

/// Impulse test 14: the gap of two bodies that approach at 1 m/s from 100 m is measured at most three times
/// before they touch.
#[test]
fn far_bodies_are_measured_three_times_at_most() {
    let mut world = World::weightless();
    for side in [-1.0, 1.0] {
        let body = block(DVec3::splat(0.5)).at(50.0 * side, 0.0, 0.0).velocity(-0.5 * side * DVec3::X);
        world.add_body(body).unwrap();
    }
    let mut simulator = Impulse::default();
    simulator.step(&mut world, 120.0).unwrap();
    let counters = simulator.counters();
    assert!(counters.collisions >= 1 && counters.checks <= 3 + 2 * counters.collisions, "{counters:?}");
}

/// Impulse test 30 with N14: a ball with backspin bounces along a floor according to the closed form, bounce
/// by bounce.
#[test]
fn a_ball_with_backspin_follows_its_closed_form() {
    let (radius, mu, e) = (0.1, 0.3, 0.6);
    let mut world = World::default();
    let rubber = surface(&mut world, e, mu);
    floor(&mut world, DVec3::Z, rubber);
    let (v, omega) = (DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, -60.0, 0.0));
    let body = ball(radius).mass(1.0).at(0.0, 0.0, 1.1).velocity(v).angular_velocity(omega).material(rubber);
    let id = world.add_body(body).unwrap();
    let mut simulator =
        with(ImpulseSettings { collision_epsilon: 1e-6, rest: false, ..ImpulseSettings::default() });
    // By hand: p_z = (1 + e)|u_z|, friction μ p_z against the slip, or what stops it: (2/7) of the slip.
    let (mut vx, mut spin, mut down) = (v.x, omega.y, (2.0 * G * 1.0f64).sqrt());
    let mut bounces = 0;
    let mut stuck = false;
    for _ in 0..600_000 {
        simulator.step(&mut world, 1e-3).unwrap();
        for event in world.events() {
            let Event::Collision { slow: false, .. } = event else { continue };
            let slip = vx - spin * radius;
            let p = (mu * (1.0 + e) * down).min(2.0 / 7.0 * slip.abs()) * slip.signum();
            stuck |= 2.0 / 7.0 * slip.abs() <= mu * (1.0 + e) * down;
            vx -= p;
            spin += p * radius / (0.4 * radius * radius);
            down *= e;
            bounces += 1;
            let now = world.body(id).unwrap();
            assert!((now.velocity().x - vx).abs() < 1e-4, "bounce {bounces}: {} {vx}", now.velocity().x);
            assert!((now.angular_velocity().y - spin).abs() < 1e-2);
        }
        if bounces >= 8 {
            break;
        }
    }
    assert!(bounces >= 8 && stuck);
}

fn ramp(
    friction: f64,
    speed: f64,
    half: DVec3,
    settings: ImpulseSettings,
) -> (World, BodyId, DVec3, Impulse) {
    let mut world = World::default();
    let slope = 30f64.to_radians();
    let (normal, down) =
        (DVec3::new(slope.sin(), 0.0, slope.cos()), DVec3::new(slope.cos(), 0.0, -slope.sin()));
    let rough = surface(&mut world, 0.2, friction);
    floor(&mut world, normal, rough);
    let body = block(half)
        .mass(1.0)
        .position(normal * (half.z + 0.5e-3))
        .orientation(DQuat::from_rotation_y(slope))
        .velocity(speed * down)
        .material(rough);
    let id = world.add_body(body).unwrap();
    (world, id, down, with(settings))
}

/// N7 and impulse test 33: 30° ramp, μ = 0.9, 5.48 m/s: stops after 5.4777 m at 1.9992 s, within 0.2 %, and
/// does not creep.
#[test]
fn a_block_on_a_ramp_stops_at_coulombs_distance_and_stays() {
    let half = DVec3::new(0.05, 0.05, 0.025);
    let settings = ImpulseSettings { collision_epsilon: 0.25e-3, ..ImpulseSettings::default() };
    let (mut world, id, down, mut simulator) = ramp(0.9, 5.48, half, settings);
    let along = |world: &World| world.body(id).unwrap().position().dot(down);
    let start = along(&world);
    let mut samples = Vec::new();
    for k in 0..5000 {
        simulator.step(&mut world, 1e-3).unwrap();
        if (50..1900).contains(&k) {
            samples.push((world.time(), world.body(id).unwrap().velocity().dot(down)));
        }
        if k == 2499 {
            samples.push((f64::NAN, along(&world)));
        }
    }
    let (_, resting) = samples.pop().unwrap();
    // Least squares: v = a + b t, which is zero at −a/b.
    let n = samples.len() as f64;
    let (st, sv) = samples.iter().fold((0.0, 0.0), |(st, sv), (t, v)| (st + t, sv + v));
    let (mt, mv) = (st / n, sv / n);
    let slope = samples.iter().map(|(t, v)| (t - mt) * (v - mv)).sum::<f64>()
        / samples.iter().map(|(t, _)| (t - mt).powi(2)).sum::<f64>();
    let stop = mt - mv / slope;
    assert!((stop / 1.99917 - 1.0).abs() < 2e-3, "stops at {stop} s");
    let way = along(&world) - start;
    assert!((way / 5.47772 - 1.0).abs() < 2e-3, "stops after {way} m");
    let creep = (along(&world) - resting) / 2.5;
    assert!(creep.abs() < 1e-4, "creeps at {creep} m/s");
    assert!(simulator.smallest_gap() > 0.0 && nearest(&world) > 0.0);
}

/// Impulse test 33: without rest the published method creeps at some 10 mm/s. Hops against the acceleration
/// of the gap do not, with any settings.
#[test]
fn without_rest_a_block_does_not_creep() {
    let creep = |reversing: bool| {
        let settings = ImpulseSettings {
            collision_epsilon: 1e-3,
            rest: false,
            reversing,
            least_hop: 0.0,
            ..ImpulseSettings::default()
        };
        let (mut world, id, down, mut simulator) = ramp(0.9, 0.5, DVec3::new(0.1, 0.1, 0.02), settings);
        run(&mut world, &mut simulator, 1.0, 0.01);
        let before = world.body(id).unwrap().position().dot(down);
        run(&mut world, &mut simulator, 2.0, 0.01);
        (world.body(id).unwrap().position().dot(down) - before) / 2.0
    };
    let (with_reversing, without) = (creep(true), creep(false));
    assert!(with_reversing.abs() < 1e-6 && without.abs() < 1e-6, "{with_reversing} {without}");
}

/// Impulse test 34: μ = 0.5 < tan 30° never holds; the block accelerates at g (sin − μ cos) = 0.6571 m/s².
#[test]
fn a_slippery_ramp_never_holds() {
    let settings = ImpulseSettings { collision_epsilon: 1e-3, ..ImpulseSettings::default() };
    let (mut world, id, down, mut simulator) = ramp(0.5, 0.0, DVec3::new(0.1, 0.1, 0.05), settings);
    run(&mut world, &mut simulator, 2.0, 0.01);
    let v = world.body(id).unwrap().velocity().dot(down);
    assert!((v / 1.3142 - 1.0).abs() < 0.05, "{v}");
    assert_eq!(simulator.resting().count(), 0);
}

fn tower(count: u32, world: &mut World) -> Vec<BodyId> {
    let wood = surface(world, 0.1, 0.5);
    floor(world, DVec3::Z, wood);
    (0..count)
        .map(|k| {
            let body = block(DVec3::splat(0.05)).mass(1.0).material(wood);
            let (x, y) = (0.003 * f64::from(k * 7 % 3), 0.002 * f64::from(k * 5 % 3));
            world.add_body(body.at(x, y, 0.0505 + 0.101 * f64::from(k))).unwrap()
        })
        .collect()
}

/// A tower of ten comes to rest, and stays for 60 s, with nothing overlapping.
#[test]
fn a_tower_of_ten_rests_for_a_minute() {
    let mut world = World::default();
    let ids = tower(10, &mut world);
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 5.0, 1.0 / 60.0);
    assert_eq!(simulator.resting().count(), 10);
    let before: Vec<_> = ids.iter().map(|id| world.body(*id).unwrap().pose()).collect();
    let collisions = simulator.counters().collisions;
    run(&mut world, &mut simulator, 55.0, 1.0 / 60.0);
    let after: Vec<_> = ids.iter().map(|id| world.body(*id).unwrap().pose()).collect();
    assert_eq!(before, after);
    assert_eq!(simulator.counters().collisions, collisions);
    assert!(nearest(&world) > 0.0 && simulator.smallest_gap() > 0.0);
    // The floor carries ten weights.
    let force: DVec3 = simulator
        .contact_forces()
        .filter(|contact| contact.bodies.contains(&ids[0]) && contact.point.z < 0.01)
        .map(|contact| contact.force)
        .sum();
    assert!((force.z.abs() / (10.0 * G) - 1.0).abs() < 0.02, "{force}");
}

/// A resting tower falls when a body hits it hard, and a resting ball rolls when another touches it gently.
#[test]
fn resting_bodies_wake_when_disturbed() {
    let mut world = World::default();
    let ids = tower(4, &mut world);
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 2.0, 1.0 / 60.0);
    assert_eq!(simulator.resting().count(), 4);
    let stone = ball(0.04).mass(2.0).at(-0.5, 0.0, 0.36).velocity(DVec3::new(5.0, 0.0, 0.0));
    world.add_body(stone).unwrap();
    run(&mut world, &mut simulator, 2.0, 1.0 / 60.0);
    assert!(world.body(ids[3]).unwrap().position().z < 0.3, "the tower still stands");

    let mut world = World::default();
    let felt = surface(&mut world, 0.9, 0.2);
    floor(&mut world, DVec3::Z, felt);
    let target = world.add_body(ball(0.03).at(0.0, 0.0, 0.0301).mass(0.2).material(felt)).unwrap();
    run(&mut world, &mut simulator, 1.0, 1.0 / 60.0);
    assert_eq!(simulator.resting().count(), 1);
    let rolling = Body::dynamic()
        .with_shape(Shape::sphere(0.03).unwrap())
        .mass(0.2)
        .at(-0.1, 0.0, 0.0301)
        .velocity(DVec3::new(0.1, 0.0, 0.0))
        .angular_velocity(DVec3::new(0.0, 0.1 / 0.03, 0.0))
        .material(felt);
    world.add_body(rolling).unwrap();
    run(&mut world, &mut simulator, 2.0, 1.0 / 60.0);
    assert!(world.body(target).unwrap().position().x > 0.02, "the ball did not roll");
}

/// Impulse test 31: a tilted box settles; the mean force on the floor is mg, with and without rest.
#[test]
fn mean_force_below_a_resting_box_is_its_weight() {
    for rest in [false, true] {
        let mut world = World::default();
        let wood = surface(&mut world, 0.0, 0.5);
        floor(&mut world, DVec3::Z, wood);
        let tilt = DQuat::from_axis_angle(DVec3::new(0.6, 0.8, 0.0), 0.01);
        let body = block(DVec3::new(0.1, 0.1, 0.05)).mass(1.0).orientation(tilt).at(0.0, 0.0, 0.055);
        let id = world.add_body(body.material(wood)).unwrap();
        let mut simulator = with(ImpulseSettings {
            collision_epsilon: 1e-3,
            rest,
            force_window: 1.0,
            ..ImpulseSettings::default()
        });
        run(&mut world, &mut simulator, 4.0, 0.01);
        let force: DVec3 = simulator.contact_forces().map(|contact| contact.force).sum();
        assert!((force.z.abs() / G - 1.0).abs() < 0.01, "rest {rest}: {force}");
        let height = world.body(id).unwrap().position().z;
        assert!((0.05..0.0515).contains(&height), "{height}");
        assert!(simulator.counters().checks < 4 * 5000);
    }
}

/// Impulse test 35: twice the mass, the same collisions at the same times.
#[test]
fn mass_alone_does_not_change_the_motion() {
    let heights = [1.0, 2.0].map(|mass| {
        let mut world = World::default();
        let wood = surface(&mut world, 0.4, 0.5);
        floor(&mut world, DVec3::Z, wood);
        let tilt = DQuat::from_axis_angle(DVec3::new(0.6, 0.8, 0.0), 0.3);
        let body = block(DVec3::new(0.1, 0.08, 0.05)).mass(mass).orientation(tilt).at(0.0, 0.0, 0.3);
        let id = world.add_body(body.material(wood)).unwrap();
        let mut simulator = Impulse::default();
        run(&mut world, &mut simulator, 0.6, 0.01);
        (world.body(id).unwrap().position(), simulator.counters().collisions)
    });
    assert_eq!(heights[0].1, heights[1].1);
    assert!((heights[0].0 - heights[1].0).length() < 1e-6);
}

/// Impulse test 36: without microcollisions a resting box collides ever more often; the stall limit ends the
/// step.
#[test]
fn without_microcollisions_every_step_ends() {
    let mut world = World::default();
    let wood = surface(&mut world, 0.3, 0.5);
    floor(&mut world, DVec3::Z, wood);
    world.add_body(block(DVec3::new(0.1, 0.1, 0.05)).at(0.0, 0.0, 0.055).material(wood)).unwrap();
    let mut simulator = with(ImpulseSettings {
        microcollisions: false,
        stall_limit: 2000,
        stall_time: 1e-3,
        ..ImpulseSettings::default()
    });
    run(&mut world, &mut simulator, 0.6, 0.01);
    assert!(world.time() > 0.59 && simulator.smallest_gap() > 0.0);
}

/// Impulse test 18: standard and coherent hashing find the same pairs, hence the same trajectories, bit for
/// bit.
#[test]
fn both_hashes_give_the_same_bits() {
    let end = [SpaceKind::SpatialHash, SpaceKind::StandardSpatialHash].map(|space| {
        let mut world = World::default();
        let ids = tower(4, &mut world);
        let mut simulator = with(ImpulseSettings { space, ..ImpulseSettings::default() });
        run(&mut world, &mut simulator, 0.3, 1.0 / 60.0);
        ids.iter().map(|id| *world.body(*id).unwrap().motion()).collect::<Vec<_>>()
    });
    assert_eq!(end[0], end[1]);
}

/// A run continued from a snapshot is the same bit for bit.
#[test]
fn a_restored_run_is_the_same_bit_for_bit() {
    let mut world = World::default();
    let ids = tower(4, &mut world);
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 0.2, 1.0 / 60.0);
    let (snapshot, memory) = (world.snapshot().unwrap(), simulator.save_state());
    let mut again = World::restore(&snapshot, &rattleback_dynamics::Registry::default()).unwrap();
    let mut resumed = Impulse::default();
    resumed.restore_state(&memory).unwrap();
    for _ in 0..120 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        resumed.step(&mut again, 1.0 / 60.0).unwrap();
    }
    for id in ids {
        assert_eq!(world.body(id).unwrap().motion(), again.body(id).unwrap().motion());
    }
    assert!(Impulse::default().restore_state(&[1, 2, 3]).is_err());
}

/// Bodies that overlap initially are refused, and the world is unchanged.
#[test]
fn overlap_is_refused() {
    let mut world = World::default();
    world.add_body(ball(0.1).at(0.0, 0.0, 1.0)).unwrap();
    world.add_body(ball(0.1).at(0.05, 0.0, 1.0)).unwrap();
    let before = world.snapshot().unwrap();
    let error = Impulse::default().step(&mut world, 0.01).unwrap_err();
    assert!(matches!(error, Error::Impulse(ImpulseError::Overlap { .. })), "{error}");
    assert!((world.time(), world.snapshot().unwrap().len()) == (0.0, before.len()));
}

/// An unknown law, search or space is refused by name.
#[test]
fn unknown_names_are_refused() {
    for (name, value) in [("restitution_law", "hertz"), ("search", "guess"), ("space", "octree")] {
        let given = Properties::from([(name.to_string(), Value::Text(value.into()))]);
        let refused = Registry::default().simulators.make("impulse", &given).unwrap_err().to_string();
        assert!(refused.contains("one of") && refused.contains(name), "{refused}");
    }
    let settings = ImpulseSettings { search: "guess".into(), ..ImpulseSettings::default() };
    assert!(Impulse::new(settings).unwrap_err().to_string().contains("one of"));
}

/// A body at an absurd speed does not affect the others.
#[test]
fn a_runaway_body_does_not_affect_others() {
    let mut world = World::default();
    world.add_body(ball(0.1).velocity(1e15 * DVec3::X)).unwrap();
    let calm = world.add_body(ball(0.1).at(0.0, 5.0, 1.0)).unwrap();
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 0.2, 0.05);
    let fallen = 1.0 - world.body(calm).unwrap().position().z;
    assert!((fallen - 0.5 * G * 0.04).abs() < 1e-9);
}

/// Kind, rotation vector, velocity, angular velocity.
type Thrown = (u8, [f64; 3], [f64; 3], [f64; 3]);

fn pile() -> impl Strategy<Value = Vec<Thrown>> {
    let vector = |size: f64| prop::array::uniform3(-size..size);
    prop::collection::vec((0..5u8, vector(1.0), vector(2.0), vector(8.0)), 3..8)
}

fn shape(kind: u8) -> Shape {
    match kind {
        0 => Shape::sphere(0.1),
        1 => Shape::cuboid(DVec3::new(0.1, 0.06, 0.15)),
        2 => Shape::cylinder(0.08, 0.2),
        3 => Shape::capsule(0.06, 0.2),
        _ => Shape::ellipsoid(DVec3::new(0.15, 0.1, 0.07)),
    }
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Any bodies dropped on a floor: nothing ever overlaps, by an independent measurement at every frame,
    /// and the energy never grows by more than microcollisions add.
    #[test]
    fn nothing_ever_overlaps(bodies in pile(), e in 0.0..1.0f64, mu in 0.0..1.0f64) {
        let mut world = World::default();
        let stuff = surface(&mut world, e, mu);
        floor(&mut world, DVec3::Z, stuff);
        let mut count = 0.0;
        for (kind, axis, v, omega) in &bodies {
            let turn = DQuat::from_scaled_axis(DVec3::from_array(*axis));
            let body = Body::dynamic()
                .with_shape(shape(*kind))
                .density(500.0)
                .at(0.0, 0.05 * axis[0], 0.4 + 0.4 * count)
                .orientation(turn)
                .velocity(DVec3::from_array(*v) * 0.3)
                .angular_velocity(DVec3::from_array(*omega))
                .material(stuff);
            world.add_body(body).unwrap();
            count += 1.0;
        }
        let mut simulator = Impulse::default();
        let mut energy = world.readout().energy();
        let mass: f64 = world.iter_bodies().map(|body| body.mass()).sum();
        for _ in 0..90 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
            prop_assert!(nearest(&world) > 0.0);
            let now = world.readout().energy();
            let lift = 5.0 * mass * G * simulator.collision_epsilon();
            prop_assert!(now <= energy + lift, "{energy} -> {now}, at most {lift} more");
            energy = energy.min(now).max(now - lift);
        }
        prop_assert!(simulator.smallest_gap() > 0.0);
        prop_assert_eq!(simulator.counters().overlaps, 0);
    }
}

/// Rolling friction of lever b: (I + m r²) ω̇ = −b m g, so a ball that rolls slows down at 5 g b / (7 r), stops and stays.
#[test]
fn rolling_friction_decelerates_a_ball_by_its_lever() {
    let (r, b, v0) = (0.05, 1e-3, 0.4);
    let mut world = World::default();
    let material = Material { restitution: 0.2, rolling_friction: b, ..Material::with_friction(0.5) };
    let material = world.add_material(material).unwrap();
    floor(&mut world, DVec3::Z, material);
    let start = ball(r).at(0.0, 0.0, r + 4e-5).velocity(DVec3::new(v0, 0.0, 0.0));
    let rolling =
        world.add_body(start.angular_velocity(DVec3::new(0.0, v0 / r, 0.0)).material(material)).unwrap();
    let mut simulator = Impulse::default();
    let a = 5.0 * G * b / (7.0 * r);
    run(&mut world, &mut simulator, 2.0, 1e-2);
    let v = world.body(rolling).unwrap().velocity().x;
    assert!((v - (v0 - 2.0 * a)).abs() < 0.02 * v0, "{v} for {}", v0 - 2.0 * a);
    run(&mut world, &mut simulator, 3.0, 1e-2);
    let x = world.body(rolling).unwrap().position().x;
    assert!((x / (0.5 * v0 * v0 / a) - 1.0).abs() < 0.03, "{x} for {}", 0.5 * v0 * v0 / a);
    assert!(simulator.resting().any(|body| body == rolling));
}

/// Spinning friction of lever c: I ω̇ = −c m g about the normal, with I = 2 m r² / 5.
#[test]
fn spinning_friction_decelerates_a_top_by_its_lever() {
    let (r, c, w0) = (0.05, 2e-4, 4.0);
    let mut world = World::default();
    let material = Material { restitution: 0.2, spinning_friction: c, ..Material::with_friction(0.5) };
    let material = world.add_material(material).unwrap();
    floor(&mut world, DVec3::Z, material);
    let start = ball(r).at(0.0, 0.0, r + 4e-5).angular_velocity(w0 * DVec3::Z).material(material);
    let top = world.add_body(start).unwrap();
    let mut simulator = with(ImpulseSettings { rest: false, ..ImpulseSettings::default() });
    run(&mut world, &mut simulator, 1.0, 1e-2);
    let expected = w0 - 2.5 * G * c / (r * r);
    let w = world.body(top).unwrap().angular_velocity().z;
    assert!((w - expected).abs() < 0.02 * w0, "{w} for {expected}");
}

/// A prism that falls flat is hit in the middle of its base, not at one of its corners: it does not begin to turn.
#[test]
fn a_flat_prism_lands_without_turning() {
    let mut world = World::default();
    let hard = surface(&mut world, 0.5, 0.4);
    floor(&mut world, DVec3::Z, hard);
    let corner = |k: i32| {
        let angle = std::f64::consts::TAU * f64::from(k % 9) / 9.0;
        DVec3::new(0.1 * angle.cos(), 0.1 * angle.sin(), 0.05 * f64::from(2 * (k / 9) - 1))
    };
    let shape = Shape::convex_hull(&(0..18).map(corner).collect::<Vec<_>>()).unwrap();
    let prism = world.add_body(Body::dynamic().with_shape(shape).at(0.0, 0.0, 0.3).material(hard)).unwrap();
    let mut simulator = Impulse::default();
    run(&mut world, &mut simulator, 0.4, 1e-2);
    let body = world.body(prism).unwrap();
    assert!(simulator.counters().collisions > 0 && body.velocity().z.abs() > 0.01);
    assert!(body.angular_velocity().length() < 1e-9, "{}", body.angular_velocity());
}
