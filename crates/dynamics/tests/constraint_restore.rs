//! A restored world continues bit for bit under the simulators that keep pairs: saved in flight, during
//! landing, and at rest.

use glam::{DQuat, DVec3};
use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
use rattleback_dynamics::{Body, BodyId, Material, Properties, Registry, Simulator, World};
use rattleback_geometry::{Shape, TriangleMesh, generate};

/// Numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

fn shape(random: &mut Random) -> Shape {
    let size = DVec3::splat(0.08) + 0.12 * random.vector();
    let points: Vec<DVec3> = (0..9).map(|_| 0.4 * random.vector() - 0.2).collect();
    match (7.0 * random.next()) as u32 {
        0 => Shape::sphere(size.x),
        1 => Shape::capsule(size.x, size.y),
        2 => Shape::cylinder(size.x, size.y),
        3 => Shape::convex_hull(&points),
        4 => Shape::ellipsoid(size),
        5 => Shape::mesh(TriangleMesh::from_soup(&generate::cuboid(size).unwrap()).unwrap()),
        _ => Shape::cuboid(size),
    }
    .unwrap_or_else(|_| Shape::sphere(0.1).unwrap())
}

/// Bodies of various shapes above a floor with a bump, optionally with joints.
fn scene(random: &mut Random, count: usize, joints: bool) -> World {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let bump = Shape::cuboid(DVec3::new(0.3, 0.3, 0.1)).unwrap();
    world.add_body(Body::fixed().at(0.2, 0.2, 0.0).with_shape(bump)).unwrap();
    let rubber = world.add_material(Material::bouncy(0.5)).unwrap();
    let mut last: Option<BodyId> = None;
    for k in 0..count {
        let at = DVec3::new(0.5 * (k % 3) as f64, 0.5 * (k / 3 % 3) as f64, 0.6 + 0.5 * (k / 9) as f64);
        let at = at + 0.05 * random.vector();
        let turn = DQuat::from_scaled_axis(3.0 * random.vector());
        let body = Body::dynamic().position(at).orientation(turn).with_shape(shape(random));
        let id = world.add_body(if k % 4 == 0 { body.material(rubber) } else { body }).unwrap();
        if let Some(last) = last.filter(|_| joints && k % 3 != 0) {
            let joint_frames = JointFrames::between(last, id).at(at - 0.25 * DVec3::X).along(DVec3::Z);
            if k % 2 == 0 {
                world.add_joint(joint_frames, Revolute::default()).unwrap();
            } else {
                world.add_joint(joint_frames, Spherical::default()).unwrap();
            }
        }
        last = Some(id);
    }
    world
}

fn assert_continues_alike(simulator: &str, mut world: World, dt: f64, before: usize, after: usize) {
    let registry = Registry::default();
    let mut straight: Box<dyn Simulator> = registry.simulators.make(simulator, &Properties::new()).unwrap();
    for _ in 0..before {
        straight.step(&mut world, dt).unwrap();
    }
    let saved = world.snapshot_with(&*straight).unwrap();
    let (mut copy, mut resumed) = World::restore_with(&saved, &registry).unwrap();
    assert!(copy.snapshot_with(&*resumed).unwrap() == saved, "{simulator}: second snapshot");
    for step in 0..after {
        straight.step(&mut world, dt).unwrap();
        resumed.step(&mut copy, dt).unwrap();
        assert_eq!(copy.events(), world.events(), "{simulator}, {before} + {step}");
        let same = copy.snapshot().unwrap() == world.snapshot().unwrap();
        assert!(same, "{simulator}: world after {before} + {step}");
    }
    assert!(copy.snapshot_with(&*resumed).unwrap() == world.snapshot_with(&*straight).unwrap());
}

/// Small islands, large islands and mechanisms; saved in flight, during landing, and at rest.
#[test]
fn restored_worlds_continue_bit_for_bit() {
    let mut random = Random(3);
    for (count, joints) in [(4, false), (20, false), (6, true), (14, true)] {
        for before in [1, 12, 25, 60] {
            let world = scene(&mut random, count, joints);
            assert_continues_alike("constraint", world, 1.0 / 60.0, before, 25);
        }
    }
    for before in [5, 40] {
        assert_continues_alike("penalty", scene(&mut random, 12, false), 1.0 / 60.0, before, 30);
        assert_continues_alike("sequential", scene(&mut random, 12, false), 1.0 / 60.0, before, 30);
    }
}
