//! Several simulators take turns on one world, and worlds are restored under living simulators.
//!
//! A simulator mirrors the world in arrays of its own. If another one has moved bodies meanwhile, those mirrors are stale: positions,
//! velocities, bounding boxes, distance bounds, sleep flags. Each test compares turns with what both simulators do alone.

use glam::DVec3;
use rattleback_dynamics::joint::{JointFrames, Revolute};
use rattleback_dynamics::query::{QueryFilter, QueryPipeline};
use rattleback_dynamics::{Body, BodyId, Material, Properties, Registry, Simulator, Status, World};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::{ContactCache, Contacts, collide};
use rattleback_geometry::primitive::Ray;

const DT: f64 = 1.0 / 60.0;
/// Steps of a turn.
const TURN: usize = 10;

const WITH_CONTACTS: [&str; 5] = ["realtime", "impulse", "constraint", "penalty", "sequential"];
const WITH_JOINTS: [&str; 3] = ["realtime", "constraint", "sequential"];

fn make(name: &str) -> Box<dyn Simulator> {
    Registry::default().simulators.make(name, &Properties::new()).unwrap()
}

fn ground(world: &mut World, friction: f64) -> BodyId {
    let material = Material { restitution: 0.0, ..Material::with_friction(friction) };
    world.set_material(world.default_material(), material).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap()
}

/// Boxes and spheres that fall onto each other; variants differ in their offsets.
fn heap(variant: u32) -> World {
    let mut world = World::default();
    ground(&mut world, 0.5);
    for i in 0..8 {
        let shape = if i % 2 == 0 { Shape::sphere(0.25) } else { Shape::cuboid(DVec3::new(0.25, 0.2, 0.15)) };
        let k = i + 3 * variant;
        let (x, y) = (0.1 * f64::from(k * 7 % 5) - 0.2, 0.1 * f64::from(k * 3 % 4) - 0.15);
        let body =
            Body::dynamic().at(x, y, 0.4 + 0.6 * f64::from(i)).with_shape(shape.unwrap()).density(500.0);
        world.add_body(body).unwrap();
    }
    world
}

/// Five cubes on top of each other.
fn tower() -> World {
    let mut world = World::default();
    ground(&mut world, 0.6);
    for i in 0..5 {
        let cube = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        world.add_body(Body::dynamic().at(0.0, 0.0, 0.25 + 0.5 * f64::from(i)).with_shape(cube)).unwrap();
    }
    world
}

/// A pendulum of three links.
fn linkage() -> World {
    let mut world = World::default();
    let mut last = None;
    for i in 0..3 {
        let link = Shape::cuboid(DVec3::new(0.25, 0.03, 0.03)).unwrap();
        let x = 0.25 + 0.5 * f64::from(i);
        let id = world.add_body(Body::dynamic().at(x, 0.0, 0.0).with_shape(link)).unwrap();
        let joint_frames =
            last.map_or_else(|| JointFrames::to_world(id), |last| JointFrames::between(last, id));
        let hinge = joint_frames.at(DVec3::new(x - 0.25, 0.0, 0.0)).along(DVec3::Y);
        world.add_joint(hinge, Revolute::default()).unwrap();
        last = Some(id);
    }
    world
}

/// A ball that rolls without slip at 1 m/s.
fn rolling_ball() -> World {
    let mut world = World::default();
    ground(&mut world, 0.5);
    let ball = Body::dynamic().at(0.0, 0.0, 0.2).with_shape(Shape::sphere(0.2).unwrap());
    world.add_body(ball.velocity(DVec3::X).angular_velocity(DVec3::Y / 0.2)).unwrap();
    world
}

/// Deepest overlap of two bodies that may touch, m.
fn overlap(world: &World) -> f64 {
    let placed: Vec<_> = world
        .iter_shapes()
        .map(|(id, attached)| (id, attached, world.body(attached.body).unwrap().pose() * attached.pose))
        .collect();
    let mut deepest = 0.0_f64;
    for (k, (a, one, pose_a)) in placed.iter().enumerate() {
        for (b, other, pose_b) in &placed[k + 1..] {
            let fixed = |id| world.body(id).unwrap().status() == Status::Fixed;
            if (fixed(one.body) && fixed(other.body)) || !world.can_collide(*a, *b).unwrap() {
                continue;
            }
            let (mut cache, mut found) = (ContactCache::default(), Contacts::default());
            collide(&one.shape, &other.shape, &pose_a.relative(pose_b), 0.0, &mut cache, &mut found).unwrap();
            if let Some((_, point)) = found.deepest() {
                deepest = deepest.max(-point.separation);
            }
        }
    }
    deepest
}

/// What a run has shown.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Deepest overlap after a step, m.
    overlap: f64,
    /// Largest rise of the energy above its minimum so far, J.
    gain: f64,
    /// Largest distance of a body from where it was at first, m.
    travel: f64,
    /// Largest distance of the anchors of a joint at the end of a turn, m.
    drift: f64,
}

/// Lets simulators take turns over so many seconds.
fn run(world: &mut World, simulators: &mut [Box<dyn Simulator>], seconds: f64) -> Record {
    let mut record = Record::default();
    let mut lowest = world.readout().energy();
    let ids = world.bodies().ids(Status::Dynamic).to_vec();
    let starts: Vec<_> = ids.iter().map(|id| world.body(*id).unwrap().position()).collect();
    let turns = (seconds / (DT * TURN as f64)) as usize;
    for turn in 0..turns {
        let k = turn % simulators.len();
        for _ in 0..TURN {
            simulators[k].step(world, DT).unwrap();
            let energy = world.readout().energy();
            record.gain = record.gain.max(energy - lowest);
            lowest = lowest.min(energy);
            // After every step: the deepest overlap of an impact lasts for one.
            record.overlap = record.overlap.max(overlap(world));
        }
        for (id, _) in world.iter_joints() {
            record.drift = record.drift.max(world.joint_motion(id).unwrap().translation.length());
        }
    }
    assert_eq!(world.bodies().count(Status::Dynamic), ids.len(), "a body was taken out");
    for (id, start) in ids.iter().zip(&starts) {
        record.travel = record.travel.max((world.body(*id).unwrap().position() - *start).length());
    }
    record
}

/// Energy that lifts a stack of all bodies out of such an overlap between any two: what one simulator lets sink, another may lift.
fn lift(world: &World, overlap: f64) -> f64 {
    let masses: Vec<f64> = {
        let dynamic = world.bodies().ids(Status::Dynamic);
        dynamic.iter().map(|id| world.body(*id).unwrap().mass()).collect()
    };
    9.81 * masses.iter().sum::<f64>() * masses.len() as f64 * (overlap + 1e-4)
}

/// The largest of all values of some runs.
fn worst(runs: impl Iterator<Item = Record>) -> Record {
    runs.fold(Record::default(), |one, other| Record {
        overlap: one.overlap.max(other.overlap),
        gain: one.gain.max(other.gain),
        travel: one.travel.max(other.travel),
        drift: one.drift.max(other.drift),
    })
}

/// Every two simulators in turns against each alone, in both orders. Where a scene is chaotic, the worst of several variants is compared:
/// a single run proves nothing about the depth of its impacts.
fn compare(
    (scene, variants): (impl Fn(u32) -> World, u32),
    names: &[&str],
    seconds: f64,
    check: impl Fn(&str, Record, Record, &World),
) {
    let run_all = |names: &[&str], last: &mut World| {
        worst((0..variants).map(|variant| {
            let mut simulators: Vec<_> = names.iter().map(|name| make(name)).collect();
            *last = scene(variant);
            run(last, &mut simulators, seconds)
        }))
    };
    let mut world = World::default();
    let alone: Vec<Record> = names.iter().map(|name| run_all(&[name], &mut world)).collect();
    for (i, first) in names.iter().enumerate() {
        for (j, second) in names.iter().enumerate() {
            if i == j {
                continue;
            }
            let both = run_all(&[first, second], &mut world);
            let worse = worst([alone[i], alone[j]].into_iter());
            check(&format!("{first} and {second}"), both, worse, &world);
        }
    }
}

#[test]
fn heap_in_turns_neither_sinks_nor_gains_energy() {
    compare((heap, 6), &WITH_CONTACTS, 4.0, |names, both, worse, world| {
        assert!(both.overlap <= 1.2 * worse.overlap + 1e-4, "{names}: {both:?} alone {worse:?}");
        let lift = lift(world, worse.overlap);
        assert!(both.gain <= worse.gain + lift, "{names}: {both:?} alone {worse:?}, lift {lift}");
        let above = world.iter_bodies().all(|body| body.position().z > -0.01);
        assert!(above, "{names}: fell through the ground");
    });
}

#[test]
fn tower_in_turns_stands() {
    compare((|_| tower(), 1), &WITH_CONTACTS, 4.0, |names, both, worse, world| {
        assert!(both.overlap <= 1.2 * worse.overlap + 1e-4, "{names}: {both:?} alone {worse:?}");
        let lift = lift(world, worse.overlap);
        assert!(both.gain <= worse.gain + lift, "{names}: {both:?} alone {worse:?}, lift {lift}");
        // `sequential` alone lets the tower fall.
        assert!(both.travel <= worse.travel.max(0.02), "{names}: {both:?} alone {worse:?}");
    });
}

#[test]
fn linkage_in_turns_keeps_its_energy() {
    compare((|_| linkage(), 1), &WITH_JOINTS, 3.0, |names, both, worse, _| {
        // `sequential` alone lets joints open by centimetres, and what closes them does work on the links: a third of m g l = 24 J at most.
        let loose = names.contains("sequential");
        assert!(
            both.gain <= worse.gain + if loose { 13.0 } else { 0.01 },
            "{names}: {both:?} alone {worse:?}"
        );
        let limit = if loose { 2.0 } else { 1.2 } * worse.drift + 1e-3;
        assert!(both.drift <= limit, "{names}: {both:?} alone {worse:?}");
    });
}

#[test]
fn ball_in_turns_rolls_on() {
    compare((|_| rolling_ball(), 1), &WITH_CONTACTS, 3.0, |names, _, _, world| {
        let ball = world.body(world.bodies().ids(Status::Dynamic)[0]).unwrap();
        assert!((ball.position().z - 0.2).abs() < 2e-3, "{names}: {}", ball.position());
        assert!((ball.position().x - 3.0).abs() < 0.05, "{names}: {}", ball.position());
    });
}

/// What hits a thin wall right after a turn began is stopped by it, although the new simulator has seen it last far away.
#[test]
fn fast_ball_does_not_pass_a_wall_after_a_turn() {
    for (first, second) in [("impulse", "realtime"), ("realtime", "impulse"), ("realtime", "constraint")] {
        let mut world = World::weightless();
        world.set_material(world.default_material(), Material::with_friction(0.0)).unwrap();
        let wall = Shape::cuboid(DVec3::new(0.01, 2.0, 2.0)).unwrap();
        world.add_body(Body::fixed().at(10.0, 0.0, 0.0).with_shape(wall)).unwrap();
        let ball = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).velocity(30.0 * DVec3::X);
        let ball = world.add_body(ball).unwrap();
        let mut simulators = [make(second), make(first)];
        simulators[0].step(&mut world, DT).unwrap();
        for _ in 0..18 {
            simulators[1].step(&mut world, DT).unwrap();
        }
        for _ in 0..10 {
            simulators[0].step(&mut world, DT).unwrap();
        }
        let x = world.body(ball).unwrap().position().x;
        assert!(x < 10.0, "{first} then {second}: {x}");
    }
}

/// A living simulator goes on with a world that was put back to an earlier state: it does what a new one would do.
#[test]
fn restored_world_goes_on_under_a_living_simulator() {
    let registry = Registry::default();
    for name in WITH_CONTACTS {
        let (mut world, mut simulator) = (heap(0), make(name));
        for _ in 0..30 {
            simulator.step(&mut world, DT).unwrap();
        }
        let bytes = world.snapshot().unwrap();
        for _ in 0..30 {
            simulator.step(&mut world, DT).unwrap();
        }
        let mut back = World::restore(&bytes, &registry).unwrap();
        let (mut same, mut fresh) = (World::restore(&bytes, &registry).unwrap(), make(name));
        for _ in 0..60 {
            simulator.step(&mut back, DT).unwrap();
            fresh.step(&mut same, DT).unwrap();
        }
        let states = |world: &World| world.bodies().motion(Status::Dynamic).to_vec();
        assert!(states(&back) == states(&same), "{name}");
    }
}

/// World and both simulators are saved in the middle of a turn and go on with the same bits.
#[test]
fn turns_restored_from_a_snapshot_have_the_same_bits() {
    let registry = Registry::default();
    for (first, second) in [("realtime", "impulse"), ("constraint", "realtime"), ("penalty", "sequential")] {
        let mut world = heap(0);
        let mut simulators = [make(first), make(second)];
        run(&mut world, &mut simulators, 1.0);
        for _ in 0..3 {
            simulators[1].step(&mut world, DT).unwrap();
        }
        let bytes = world.snapshot().unwrap();
        let mut restored = World::restore(&bytes, &registry).unwrap();
        let mut others = [make(first), make(second)];
        for (other, simulator) in others.iter_mut().zip(&simulators) {
            other.restore_state(&simulator.save_state()).unwrap();
        }
        run(&mut world, &mut simulators, 1.0);
        run(&mut restored, &mut others, 1.0);
        let states = |world: &World| world.bodies().motion(Status::Dynamic).to_vec();
        assert!(states(&world) == states(&restored), "{first} and {second}");
        assert!(world.snapshot().unwrap() == restored.snapshot().unwrap(), "{first} and {second}");
    }
}

/// A copy of a world is another one: what happens in it stays there, and an index of the original is not of the copy.
#[test]
fn copy_of_a_world_is_its_own() {
    let (mut world, mut simulator) = (heap(0), make("realtime"));
    for _ in 0..20 {
        simulator.step(&mut world, DT).unwrap();
    }
    let mut copy = world.clone();
    assert!(copy.snapshot().unwrap() == world.snapshot().unwrap());
    let index = QueryPipeline::of(&world).unwrap();
    let ray = Ray::new(DVec3::new(0.0, 0.0, 9.0), -DVec3::Z).unwrap();
    let filter = QueryFilter::default();
    assert!(index.cast_ray(&world, &ray, 20.0, &filter).is_ok());
    assert!(index.cast_ray(&copy, &ray, 20.0, &filter).is_err(), "an index of another world");
    let before = world.bodies().motion(Status::Dynamic).to_vec();
    for _ in 0..20 {
        simulator.step(&mut copy, DT).unwrap();
    }
    assert_eq!(world.bodies().motion(Status::Dynamic), &before[..]);
    for _ in 0..20 {
        simulator.step(&mut world, DT).unwrap();
    }
    assert!(overlap(&world) < 0.05);
}
