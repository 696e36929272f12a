//! Snapshots are bit-exact, also in another process, and survive damage.

use glam::DVec3;
use proptest::prelude::*;
use rattleback_dynamics::force::{Buoyancy, Drag, Spring, WindPolyhedron};
use rattleback_dynamics::{Body, Material, Path, Properties, Registry, Simulator, Value, World};
use rattleback_geometry::{Shape, generate};

/// A world with a bit of everything.
fn busy_world() -> World {
    let mut world = smooth_world();
    world.add_force(Buoyancy { drag: 10.0, ..Buoyancy::default() }).unwrap();
    world.add_force(WindPolyhedron::default()).unwrap();
    world
}

/// Without forces that begin abruptly, which extrapolation cannot digest.
fn smooth_world() -> World {
    let mut world = World::default();
    let rubber = world.add_named_material("rubber", Material::bouncy(0.8)).unwrap();
    let mut last = None;
    for i in 0..20 {
        let shape = match i % 5 {
            0 => Shape::sphere(0.2),
            1 => Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)),
            2 => Shape::cone(0.2, 0.5),
            3 => Shape::mesh(generate::icosphere(2).unwrap()),
            _ => Shape::convex_hull(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]),
        };
        let body = Body::dynamic()
            .named(format!("body {i}"))
            .at(f64::from(i) * 0.7, (f64::from(i) * 0.3).sin(), 1.0)
            .angular_velocity(DVec3::new(1.0, 0.3 * f64::from(i), -2.0))
            .with_shape(shape.unwrap())
            .material(rubber)
            .damping(0.01, 0.02);
        let id = world.add_body(body).unwrap();
        if let Some(last) = last {
            let spring =
                Spring { body_a: Some(last), body_b: Some(id), rest_length: 0.5.into(), ..Spring::default() };
            world.add_force(Spring { damping: 0.5.into(), ..spring }).unwrap();
        }
        last = Some(id);
    }
    let shaker = Path::Harmonic { amplitude: DVec3::Z, swing: DVec3::X, frequency: 1.0, phase: 0.2 };
    world.add_body(Body::kinematic(shaker).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let gone = world.add_body(Body::fixed()).unwrap();
    world.remove_body(gone).unwrap();
    world.add_force(Drag { linear: 0.1.into(), ..Drag::default() }).unwrap();
    world
}

fn simulator(integrator: &str, control: Option<&str>) -> Box<dyn Simulator> {
    let mut given = Properties::from([("integrator".to_owned(), Value::Text(integrator.into()))]);
    if let Some(control) = control {
        given.insert("control".into(), Value::Text(control.into()));
        given.insert("absolute_tolerance".into(), Value::Real(1e-5));
    }
    Registry::default().simulators.make("free-motion", &given).unwrap()
}

fn run(world: &mut World, simulator: &mut dyn Simulator, steps: u32) {
    for _ in 0..steps {
        simulator.step(world, 0.01).unwrap();
    }
}

/// ENG-9 and more: stop, save, restore, go on ⇒ the same bytes as never having stopped. For every integrator, also those
/// that remember something; and the next body gets the same id.
#[test]
fn restored_runs_are_bit_identical() {
    let registry = Registry::default();
    let cases: Vec<(String, Option<&str>)> = registry
        .integrators
        .iter()
        .map(|entry| (entry.name.clone(), None))
        .chain([("runge-kutta-4".into(), Some("adaptive")), ("heun".into(), Some("sub-steps"))])
        .collect();
    for (name, control) in cases {
        let mut world = if name == "bulirsch-stoer" { smooth_world() } else { busy_world() };
        let mut straight = simulator(&name, control);
        run(&mut world, &mut *straight, 15);
        let saved = world.snapshot_with(&*straight).unwrap();
        run(&mut world, &mut *straight, 15);

        let (mut copy, mut resumed) = World::restore_with(&saved, &registry).unwrap();
        assert_eq!(copy.snapshot_with(&*resumed).unwrap(), saved, "{name}");
        run(&mut copy, &mut *resumed, 15);
        for world in [&mut world, &mut copy] {
            world.add_body(Body::fixed().named("late")).unwrap();
        }
        assert!(
            copy.snapshot_with(&*resumed).unwrap() == world.snapshot_with(&*straight).unwrap(),
            "{name} {control:?}"
        );
    }
}

/// The same in another process: this test starts itself a second time, which goes on from the file and saves its end.
#[test]
fn restored_runs_are_bit_identical_across_processes() {
    let registry = Registry::default();
    if let Ok(path) = std::env::var("RATTLEBACK_SNAPSHOT_TO_CONTINUE") {
        let (mut world, mut simulator) =
            World::restore_with(&std::fs::read(&path).unwrap(), &registry).unwrap();
        run(&mut world, &mut *simulator, 50);
        std::fs::write(&path, world.snapshot_with(&*simulator).unwrap()).unwrap();
        return;
    }
    let mut world = busy_world();
    let mut straight = simulator("basic-verlet", None);
    run(&mut world, &mut *straight, 50);
    let path = std::env::temp_dir().join(format!("rattleback-snapshot-{}.bin", std::process::id()));
    std::fs::write(&path, world.snapshot_with(&*straight).unwrap()).unwrap();
    run(&mut world, &mut *straight, 50);
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "snapshot::restored_runs_are_bit_identical_across_processes", "--nocapture"])
        .env("RATTLEBACK_SNAPSHOT_TO_CONTINUE", &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let continued = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(continued == world.snapshot_with(&*straight).unwrap());
}

/// the same input gives the same bits.
#[test]
fn two_runs_of_one_world_are_bit_identical() {
    let end = || {
        let mut world = busy_world();
        run(&mut world, &mut *simulator("splitting", None), 200);
        world.snapshot().unwrap()
    };
    assert!(end() == end());
}

#[test]
fn snapshots_are_compact_and_versioned() {
    let mut world = World::weightless();
    for i in 0..1000 {
        world
            .add_body(Body::dynamic().at(f64::from(i), 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap()))
            .unwrap();
    }
    let bytes = world.snapshot().unwrap();
    // State 104, inertia twice 72, record and shape the rest.
    assert!(bytes.len() < 1000 * 560, "{} bytes per body", bytes.len() / 1000);
    let mut newer = bytes.clone();
    newer[8] = 77;
    let error = World::restore(&newer, &Registry::default()).unwrap_err().to_string();
    assert!(error.contains("version 77"), "{error}");
}

/// Gives forged contents a fitting checksum.
fn reseal(bytes: &mut [u8]) {
    let sum = crc32fast::hash(&bytes[14..]);
    bytes[10..14].copy_from_slice(&sum.to_le_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Damaged, truncated or forged snapshots: an error, or a world that can be stepped. Never a panic.
    #[test]
    fn damaged_snapshots_do_no_harm(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
        forge in any::<bool>(),
    ) {
        thread_local!(static BYTES: Vec<u8> = busy_world().snapshot().unwrap());
        let mut bytes = BYTES.with(Clone::clone);
        for (place, value) in places {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        if forge && bytes.len() > 18 {
            reseal(&mut bytes);
        }
        if let Ok(mut world) = World::restore(&bytes, &Registry::default()) {
            let _ = simulator("splitting", None).step(&mut world, 0.01);
            let _ = world.readout();
        }
    }
}

mod realtime {
    use super::{DVec3, reseal, run};
    use proptest::prelude::*;
    use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
    use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
    use rattleback_dynamics::{Body, BodyId, Material, Path, Registry, World};
    use rattleback_geometry::{Shape, TriangleMesh, generate};

    fn floor(world: &mut World) -> BodyId {
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap()
    }

    /// Every kind of shape falls on a plane, a mesh and a turning plate.
    fn pile() -> World {
        let mut world = World::default();
        floor(&mut world);
        let bump = Shape::mesh(generate::icosphere(2).unwrap()).unwrap();
        world.add_body(Body::fixed().at(1.0, 1.0, -0.5).with_shape(bump.clone())).unwrap();
        let plate = Path::Steady { velocity: DVec3::ZERO, angular_velocity: DVec3::Z };
        let shape = Shape::cuboid(DVec3::new(1.0, 1.0, 0.1)).unwrap();
        world.add_body(Body::kinematic(plate).at(3.0, 1.0, 0.5).with_shape(shape)).unwrap();
        let rubber = world.add_material(Material::bouncy(0.5)).unwrap();
        let corners = [DVec3::ZERO, 0.5 * DVec3::X, 0.5 * DVec3::Y, 0.5 * DVec3::Z, DVec3::splat(0.3)];
        for k in 0..48 {
            let shape = match k % 6 {
                0 => Shape::sphere(0.2),
                1 => Shape::capsule(0.15, 0.3),
                2 => Shape::convex_hull(&corners),
                3 => Shape::cylinder(0.2, 0.4),
                4 => Shape::mesh(
                    TriangleMesh::from_soup(&generate::cuboid(DVec3::splat(0.2)).unwrap()).unwrap(),
                ),
                _ => Shape::cuboid(DVec3::new(0.2, 0.25, 0.15)),
            };
            let at =
                DVec3::new(f64::from(k % 5) * 0.7, f64::from(k / 5 % 3) * 0.7, 1.5 + 0.4 * f64::from(k / 15));
            let body = Body::dynamic().position(at).with_shape(shape.unwrap());
            world.add_body(if k % 7 == 0 { body.material(rubber) } else { body }).unwrap();
        }
        world
    }

    /// Dolls of six limbs with limits, springs and friction, chains that are swept and one that is solved exactly.
    fn joints() -> World {
        let mut world = World::default();
        floor(&mut world);
        for doll in 0..4 {
            let mut last = None;
            for k in 0..6 {
                let at = DVec3::new(1.5 * f64::from(doll), 0.4 * f64::from(k), 1.0 + 0.2 * f64::from(doll));
                let shape = Shape::cuboid(DVec3::new(0.1, 0.15, 0.1)).unwrap();
                let limb = world.add_body(Body::dynamic().position(at).with_shape(shape)).unwrap();
                if let Some(last) = last {
                    let joint_frames =
                        JointFrames::between(last, limb).at(at - 0.2 * DVec3::Y).along(DVec3::X);
                    if k % 2 == 0 {
                        let hinge = Revolute {
                            limited: true,
                            min: -0.5,
                            max: 0.5,
                            friction: 0.5,
                            ..Revolute::default()
                        };
                        world.add_joint(joint_frames, hinge).unwrap();
                    } else {
                        let ball =
                            Spherical { cone: 0.6, frequency: 1.0, friction: 0.2, ..Spherical::default() };
                        world.add_joint(joint_frames, ball).unwrap();
                    }
                }
                last = Some(limb);
            }
        }
        let mut last = None;
        for k in 0..24 {
            let at = DVec3::new(-2.0 - 0.3 * f64::from(k), 0.0, 8.0);
            let link =
                world.add_body(Body::dynamic().position(at).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
            let joint_frames =
                last.map_or_else(|| JointFrames::to_world(link), |last| JointFrames::between(last, link));
            world.add_joint(joint_frames.at(at + 0.15 * DVec3::X), Spherical::default()).unwrap();
            last = Some(link);
        }
        world
    }

    /// Stacks that sleep, and a ball that comes late to wake one of them.
    fn sleeping_bodies() -> World {
        let mut world = World::default();
        floor(&mut world);
        for stack in 0..6 {
            for k in 0..4 {
                let at = DVec3::new(2.0 * f64::from(stack), 0.0, 0.25 + 0.5 * f64::from(k));
                let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
                world.add_body(Body::dynamic().position(at).with_shape(shape)).unwrap();
            }
        }
        let shot = Body::dynamic().at(-30.0, 0.0, 0.8).velocity(DVec3::new(13.0, 0.0, 10.0));
        world.add_body(shot.with_shape(Shape::sphere(0.2).unwrap())).unwrap();
        world
    }

    fn goes_on_alike(name: &str, mut world: World, settings: RealtimeSettings, meddle: impl Fn(&mut World)) {
        let registry = Registry::default();
        let mut straight = Realtime::new(settings).unwrap();
        run(&mut world, &mut straight, 150);
        meddle(&mut world);
        let saved = world.snapshot_with(&straight).unwrap();
        let (mut copy, mut resumed) = World::restore_with(&saved, &registry).unwrap();
        assert!(copy.snapshot_with(&*resumed).unwrap() == saved, "{name}: written again");
        for step in 0..150 {
            run(&mut world, &mut straight, 1);
            run(&mut copy, &mut *resumed, 1);
            assert_eq!(copy.events(), world.events(), "{name}, step {step}");
            assert!(copy.snapshot().unwrap() == world.snapshot().unwrap(), "{name}: world after step {step}");
        }
        assert!(
            copy.snapshot_with(&*resumed).unwrap() == world.snapshot_with(&straight).unwrap(),
            "{name}: memory"
        );
    }

    /// ENG-9: impulses, contacts, islands and timers of sleep are saved, too.
    #[test]
    fn restored_runs_go_on_bit_for_bit() {
        let settings = RealtimeSettings::default;
        goes_on_alike("pile", pile(), settings(), |_| {});
        goes_on_alike("joints", joints(), settings(), |_| {});
        goes_on_alike("sleeping_bodies", sleeping_bodies(), settings(), |_| {});
        goes_on_alike("two threads", pile(), RealtimeSettings { threads: 2, ..settings() }, |_| {});
    }

    /// Also with bodies and joints that came, went or were pushed between the last step and the snapshot.
    #[test]
    fn changes_just_before_a_snapshot_are_kept() {
        let meddle = |world: &mut World| {
            let ids: Vec<BodyId> = world.bodies().ids(rattleback_dynamics::Status::Dynamic).to_vec();
            world.remove_body(ids[3]).unwrap();
            world.body_mut(ids[5]).unwrap().set_velocity(DVec3::Z).unwrap();
            let joint = world.iter_joints().next().map(|(id, _)| id);
            if let Some(joint) = joint {
                world.remove_joint(joint).unwrap();
            }
            let late = Body::dynamic().at(0.0, 0.0, 3.0).with_shape(Shape::sphere(0.3).unwrap());
            world.add_body(late).unwrap();
        };
        goes_on_alike("pile", pile(), RealtimeSettings::default(), meddle);
        goes_on_alike("joints", joints(), RealtimeSettings::default(), meddle);
    }

    /// In whatever space pairs are found, but for hashes: whom they think near depends on what was in a cell before.
    #[test]
    fn every_space_goes_on_alike() {
        use rattleback_geometry::space::SpaceKind;
        for space in SpaceKind::ALL.into_iter().filter(|kind| !kind.name().starts_with("spatial-hash")) {
            let settings = RealtimeSettings { space, ..RealtimeSettings::default() };
            goes_on_alike(space.name(), sleeping_bodies(), settings, |_| {});
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        /// A forged memory: an error, or a world that can be stepped. Never a panic.
        #[test]
        fn forged_memories_do_no_harm(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            joined in any::<bool>(),
        ) {
            thread_local!(static BYTES: [(usize, Vec<u8>); 2] = [pile(), joints()].map(|mut world| {
                let mut simulator = Realtime::default();
                run(&mut world, &mut simulator, 60);
                (world.snapshot().unwrap().len(), world.snapshot_with(&simulator).unwrap())
            }));
            let (start, mut bytes) = BYTES.with(|bytes| bytes[usize::from(joined)].clone());
            for (place, value) in places {
                // The memory stands at the end.
                let at = start + place.index(bytes.len() - start);
                bytes[at] = value;
            }
            reseal(&mut bytes);
            if let Ok((mut world, mut simulator)) = World::restore_with(&bytes, &Registry::default()) {
                for _ in 0..3 {
                    let _ = simulator.step(&mut world, 0.01);
                }
            }
        }
    }
}
