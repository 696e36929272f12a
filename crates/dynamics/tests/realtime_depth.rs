//! Overlap of the bodies of random piles under `realtime`, measured from their poses by exact distances
//! instead of the simulator's contacts: missed contacts count as well.

use glam::{DQuat, DVec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, BodyId, Simulator, World};
use rattleback_geometry::contact::distance;
use rattleback_geometry::{Pose, Shape};

const DT: f64 = 1.0 / 60.0;
/// Bodies along each side of a layer, and number of layers.
const SIDE: usize = 4;
const LAYERS: usize = 5;

/// Uniform between two numbers.
fn within(random: &mut Pcg64, [least, most]: [f64; 2]) -> f64 {
    least + (most - least) * (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Uniform in the cube of side 2.
fn vector(random: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| within(random, [-1.0, 1.0])))
}

/// A convex hull, a box, a capsule or a sphere within a radius of its centre.
fn shape(random: &mut Pcg64, kind: usize, radius: f64) -> Shape {
    match kind {
        0 => {
            let count = within(random, [8.0, 33.0]) as usize;
            let points: Vec<DVec3> =
                (0..count).map(|_| radius * vector(random).try_normalize().unwrap_or(DVec3::X)).collect();
            Shape::convex_hull(&points).unwrap()
        }
        1 => Shape::cuboid(radius / 3_f64.sqrt() * (0.8 + 0.2 * vector(random))).unwrap(),
        2 => Shape::capsule(0.5 * radius, radius).unwrap(),
        _ => Shape::sphere(radius).unwrap(),
    }
}

/// A bin of plane walls with bodies of one kind, or of all (`kind` 4), thrown into it ⇒ world and largest
/// radius.
fn pile(seed: u64, kind: usize) -> (World, f64) {
    let random = &mut Pcg64::new(seed.into(), 17);
    let mut world = World::default();
    let radius = within(random, [0.1, 1.0]);
    let half = 1.1 * radius * SIDE as f64;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    for n in [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y] {
        let wall = Body::fixed().position(-half * n).with_shape(Shape::half_space(n).unwrap());
        world.add_body(wall).unwrap();
    }
    let place = |k: usize| 2.2 * radius * (k as f64 + 0.5) - half;
    for layer in 0..LAYERS {
        for (i, j) in (0..SIDE * SIDE).map(|k| (k / SIDE, k % SIDE)) {
            let at = DVec3::new(place(i), place(j), 2.2 * radius * (layer as f64 + 0.5));
            let turn = DQuat::from_scaled_axis(3.0 * vector(random));
            let kind = if kind == 4 { (i + j + layer) % 4 } else { kind };
            let (shape, v) = (shape(random, kind, radius), 2.0 * vector(random) - 3.0 * DVec3::Z);
            let id = world.add_body(Body::dynamic().pose(Pose::new(turn, at)).with_shape(shape)).unwrap();
            let mut body = world.body_mut(id).unwrap();
            body.set_velocity(v).unwrap();
            body.set_angular_velocity(3.0 * vector(random)).unwrap();
        }
    }
    (world, radius)
}

/// Overlap depths of all overlapping pairs, m.
fn overlaps(world: &World) -> Vec<f64> {
    let parts: Vec<(BodyId, Pose, &Shape)> = world
        .iter_bodies()
        .flat_map(|body| {
            body.shapes().iter().map(move |id| (body.id(), body.pose(), *id)).collect::<Vec<_>>()
        })
        .map(|(body, pose, id)| {
            let part = world.shape(id).unwrap();
            (body, pose * part.pose, &part.shape)
        })
        .collect();
    let bounded = |shape: &Shape| !matches!(shape, Shape::HalfSpace(_));
    let mut depths = Vec::new();
    for (k, (body, pose, shape)) in parts.iter().enumerate() {
        for (other, other_pose, other_shape) in &parts[..k] {
            if body == other || !(bounded(shape) || bounded(other_shape)) {
                continue;
            }
            let (box_a, box_b) = (shape.aabb(pose), other_shape.aabb(other_pose));
            if let (Some(a), Some(b)) = (box_a, box_b)
                && (a.min().cmpgt(b.max()).any() || b.min().cmpgt(a.max()).any())
            {
                continue;
            }
            let gap = distance(shape, other_shape, &pose.relative(other_pose)).unwrap().distance;
            if gap < 0.0 {
                depths.push(-gap);
            }
        }
    }
    depths
}

/// Settled piles are hardly deeper than the compliance of the contacts under load (0.09 mm for each body
/// above, whatever its size), no body stays wedged in another, and overlaps stay small during the fall.
#[test]
fn random_piles_do_not_sink_into_themselves() {
    for (kind, seed) in (0..5).flat_map(|kind| (0..4).map(move |seed| (kind, seed))) {
        let (mut world, radius) = pile(100 * kind as u64 + seed, kind);
        let settings = RealtimeSettings { sleep: false, ..RealtimeSettings::default() };
        let mut simulator = Realtime::new(settings).unwrap();
        for step in 0..300 {
            simulator.step(&mut world, DT).unwrap();
            if step % 20 == 19 {
                let deepest = overlaps(&world).into_iter().fold(0.0, f64::max);
                assert!(
                    deepest < 0.2 * radius,
                    "kind {kind}, seed {seed}, step {step}: {deepest} of {radius}"
                );
            }
        }
        let depths = overlaps(&world);
        let mean = depths.iter().sum::<f64>() / depths.len().max(1) as f64;
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        assert!(mean < 6e-4 && deepest < 8e-3, "kind {kind}, seed {seed}: mean {mean}, deepest {deepest}");
    }
}
