//! Several simulators take turns on one world, and worlds are restored under living simulators.
//!
//! A simulator mirrors the world in arrays of its own. If another one has moved bodies meanwhile, those mirrors are stale: positions,
//! velocities, bounding boxes, distance bounds, sleep flags. Each test compares turns with what both simulators do alone.

use glam::DVec3;
use rattleback_dynamics::joint::{Mount, Revolute};
use rattleback_dynamics::{Body, BodyId, Material, Properties, Registry, Simulator, Status, World};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::{ContactCache, Contacts, collide};

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

/// Boxes and spheres that fall onto each other.
fn heap() -> World {
    let mut world = World::default();
    ground(&mut world, 0.5);
    for i in 0..8 {
        let shape = if i % 2 == 0 { Shape::sphere(0.25) } else { Shape::cuboid(DVec3::new(0.25, 0.2, 0.15)) };
        let (x, y) = (0.1 * f64::from(i * 7 % 5) - 0.2, 0.1 * f64::from(i * 3 % 4) - 0.15);
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
        let mount = last.map_or_else(|| Mount::to_world(id), |last| Mount::between(last, id));
        let hinge = mount.at(DVec3::new(x - 0.25, 0.0, 0.0)).along(DVec3::Y);
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
            if (fixed(one.body) && fixed(other.body)) || !world.may_touch(*a, *b).unwrap() {
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
    /// Deepest overlap at the end of a turn, m.
    overlap: f64,
    /// Largest rise of the energy above its minimum so far, J.
    gain: f64,
    /// Largest distance of a body from where it was at first, m.
    travel: f64,
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
        }
        record.overlap = record.overlap.max(overlap(world));
    }
    assert_eq!(world.bodies().count(Status::Dynamic), ids.len(), "a body was taken out");
    for (id, start) in ids.iter().zip(&starts) {
        record.travel = record.travel.max((world.body(*id).unwrap().position() - *start).length());
    }
    record
}

/// Every two simulators in turns against each alone, in both orders.
fn compare(scene: fn() -> World, names: &[&str], seconds: f64, check: impl Fn(&str, Record, Record, &World)) {
    let alone: Vec<Record> = names.iter().map(|name| run(&mut scene(), &mut [make(name)], seconds)).collect();
    for (i, first) in names.iter().enumerate() {
        for (j, second) in names.iter().enumerate() {
            if i == j {
                continue;
            }
            let mut world = scene();
            let both = run(&mut world, &mut [make(first), make(second)], seconds);
            let worse = Record {
                overlap: alone[i].overlap.max(alone[j].overlap),
                gain: alone[i].gain.max(alone[j].gain),
                travel: alone[i].travel.max(alone[j].travel),
            };
            check(&format!("{first} and {second}"), both, worse, &world);
        }
    }
}

#[test]
fn heap_in_turns_neither_sinks_nor_gains_energy() {
    compare(heap, &WITH_CONTACTS, 4.0, |names, both, worse, world| {
        println!("{names}: {both:?} alone {worse:?}");
        assert!(both.overlap <= 1.2 * worse.overlap + 1e-4, "{names}: {both:?} alone {worse:?}");
        assert!(
            both.gain <= 1.2 * worse.gain + 1e-2 * 9.81 * 200.0 * 0.01,
            "{names}: {both:?} alone {worse:?}"
        );
        assert!(
            world.iter_bodies().all(|body| body.position().z > -0.01),
            "{names}: fell through the ground"
        );
    });
}

#[test]
fn tower_in_turns_stands() {
    compare(tower, &WITH_CONTACTS, 4.0, |names, both, worse, _| {
        println!("{names}: {both:?} alone {worse:?}");
        assert!(both.overlap <= 1.2 * worse.overlap + 1e-4, "{names}: {both:?} alone {worse:?}");
        assert!(both.travel < 0.02, "{names}: {both:?} alone {worse:?}");
    });
}

#[test]
fn linkage_in_turns_keeps_its_energy() {
    compare(linkage, &WITH_JOINTS, 3.0, |names, both, worse, world| {
        println!("{names}: {both:?} alone {worse:?}");
        assert!(both.gain <= 1.2 * worse.gain + 1.0, "{names}: {both:?} alone {worse:?}");
        let lengths = world.bodies().ids(Status::Dynamic).windows(2).map(|pair| {
            (world.body(pair[0]).unwrap().position() - world.body(pair[1]).unwrap().position()).length()
        });
        assert!(lengths.into_iter().all(|length| length < 0.51), "{names}: links come apart");
    });
}

#[test]
fn ball_in_turns_rolls_on() {
    compare(rolling_ball, &WITH_CONTACTS, 3.0, |names, both, worse, world| {
        println!("{names}: {both:?} alone {worse:?}");
        let ball = world.body(world.bodies().ids(Status::Dynamic)[0]).unwrap();
        assert!((ball.position().z - 0.2).abs() < 2e-3, "{names}: {}", ball.position());
        assert!((ball.position().x - 3.0).abs() < 0.05, "{names}: {}", ball.position());
    });
}
