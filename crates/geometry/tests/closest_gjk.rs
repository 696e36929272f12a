//! Distances of convex shapes that are apart.

use crate::closest_oracle;
use crate::random;

use std::sync::Arc;

use closest_oracle::{PAIRS, cuboid_hull, parry_pose, parry_shape, random_hull, sphere_hull, worst_errors};
use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::closest::{
    ClosestError, ConvexShape, Gjk, GjkCache, Separation, Support, gjk, signed_distance,
};
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::{Capsule, Cone, Cuboid, Cylinder, Ellipsoid, Pose, Shape, Sphere, SupportShape};

fn cases(default: usize) -> usize {
    std::env::var("CLOSEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn distance<A: Support, B: Support>(a: &A, b: &B, pose: &Pose) -> f64 {
    signed_distance(a, b, pose, &mut GjkCache::default()).unwrap().distance
}

/// GJK-1: against brute force, 1e-9 required and 1e-13 reached; symmetric, and independent of the place of
/// the pair.
#[test]
fn agrees_with_trying_everything() {
    for pair in PAIRS {
        let worst = worst_errors(pair, cases(1000), 3);
        assert!(worst.distance < 1e-13, "{}: {worst:?}", pair.name);
        assert!(worst.depth < 1e-13, "{}: {worst:?}", pair.name);
        assert!(worst.witness < 1e-12, "{}: {worst:?}", pair.name);
        assert!(worst.swapped < 1e-13, "{}: {worst:?}", pair.name);
        // Ten metres from the origin, the relative pose itself is only good to 1e-15 m: for 1e-4 m that is
        // 1e-11.
        assert!(worst.moved < 1e-9, "{}: {worst:?}", pair.name);
    }
}

/// GJK-2: the cubes of VC-2.
#[test]
fn unit_cubes() {
    let cube = Cuboid::new(DVec3::splat(0.5)).unwrap();
    let eighth = std::f64::consts::FRAC_PI_4;
    let root = 2.0_f64.sqrt();
    let turned_y = Pose::new(DQuat::from_rotation_y(eighth), 3.0 * DVec3::X);
    let turned_z = Pose::new(DQuat::from_rotation_z(eighth), DVec3::ZERO);
    for (pose, expected) in [
        (Pose::at(DVec3::new(2.0, 0.0, 0.0)), 1.0),
        (Pose::at(DVec3::new(2.0, 0.3, 0.2)), 1.0),
        (Pose::new(DQuat::from_rotation_z(eighth), 2.0 * DVec3::X), 1.5 - root / 2.0),
        (turned_z.relative(&turned_y), 3.0 - root),
        (Pose::at(DVec3::splat(2.0)), 3.0_f64.sqrt()),
        (Pose::at(DVec3::splat(0.9)), -0.1),
    ] {
        assert!((distance(&cube, &cube, &pose) - expected).abs() < 1e-12, "{expected}");
    }
}

/// GJK-3: spheres exactly, spheres given as ellipsoids to 1e-8 and better.
#[test]
fn two_spheres_three_apart() {
    let pose = Pose::at(DVec3::new(1.0, 2.0, 2.0));
    let (sphere, round) = (Sphere::new(1.0).unwrap(), Ellipsoid::new(DVec3::ONE).unwrap());
    assert_eq!(distance(&sphere, &sphere, &pose), 1.0);
    assert!((distance(&round, &round, &pose) - 1.0).abs() < 1e-14);
    assert!((distance(&sphere, &round, &pose) - 1.0).abs() < 1e-14);
}

fn any_shape(random: &mut Random, stretch: f64) -> Shape {
    let mut length = || (stretch.ln() * random.between(-1.0, 0.0)).exp();
    let (r, h) = (length(), length());
    let sizes = DVec3::new(r, h, length());
    match random.bits() % 7 {
        0 => Shape::sphere(r).unwrap(),
        1 => Shape::cuboid(sizes).unwrap(),
        2 => Shape::cylinder(r, h).unwrap(),
        3 => Shape::capsule(r, h).unwrap(),
        4 => Shape::cone(r, h).unwrap(),
        5 => Shape::ellipsoid(sizes).unwrap(),
        _ => closest_oracle::convex(random_hull(random, 20, sizes)),
    }
}

/// How far the answer is from proved: the points must lie in the shapes and be `distance` apart, and no
/// point of either shape may reach over the planes through them. Together this makes the points nearest.
fn unproved(a: &Shape, b: &Shape, pose: &Pose, answer: &Separation) -> f64 {
    let reach_a = a.support(answer.normal).unwrap().dot(answer.normal);
    let inward = pose.inverse_vector(-answer.normal);
    let reach_b = -pose.point(b.support(inward).unwrap()).dot(answer.normal);
    let gap = -(reach_a + reach_b);
    let length = (answer.point_b - answer.point_a).length();
    let outside_a = outside(a, answer.point_a);
    let outside_b = outside(b, pose.inverse_point(answer.point_b));
    (answer.distance - gap).abs().max((length - answer.distance).abs()).max(outside_a).max(outside_b)
}

/// How far outside a point is, by the shape's own reach along many directions.
fn outside(shape: &Shape, p: DVec3) -> f64 {
    if shape.contains(p) {
        return 0.0;
    }
    let mut random = Random(1);
    let directions = (0..60).map(|_| random.on_sphere());
    directions.map(|d| d.dot(p) - shape.support(d).unwrap().dot(d)).fold(0.0, f64::max)
}

/// GJK-3 continued: every answer on every pair of kinds is certified by bounds from both sides; parry's
/// distances as a second opinion.
#[test]
fn curved_shapes_come_with_a_proof() {
    for (stretch, allowed) in [(4.0, 1e-11), (1000.0, 1e-11)] {
        let mut random = Random(17);
        let (mut apart, mut worst, mut worst_parry) = (0, 0.0_f64, 0.0_f64);
        for _ in 0..cases(4000) {
            let (a, b) = (any_shape(&mut random, stretch), any_shape(&mut random, stretch));
            let pose = random.pose(2.0);
            let (ca, cb) = (ConvexShape::try_from(&a).unwrap(), ConvexShape::try_from(&b).unwrap());
            let answer = signed_distance(&ca, &cb, &pose, &mut GjkCache::default()).unwrap();
            if answer.distance <= 0.0 {
                continue;
            }
            apart += 1;
            let error = unproved(&a, &b, &pose, &answer) / answer.distance.max(1.0);
            assert!(error < allowed, "{a:?} {b:?} {pose:?}: {error:e} {answer:?}");
            worst = worst.max(error);
            if let (Some((pa, turn_a)), Some((pb, turn_b))) = (parry_shape(&a), parry_shape(&b)) {
                let (at_a, at_b) = (parry_pose(&turn_a), parry_pose(&(pose * turn_b)));
                let theirs = parry3d_f64::query::distance(&at_a, pa.as_ref(), &at_b, pb.as_ref()).unwrap();
                worst_parry = worst_parry.max((theirs.distance - answer.distance).abs());
            }
        }
        println!(
            "stretched {stretch}: {apart} apart, worst {worst:e}, parry differs by up to {worst_parry:e}"
        );
        assert!(apart > cases(4000) / 4);
        assert!(worst_parry < 1e-4);
    }
}

/// GJK-4: points, segments and triangles have no inside; crossing ones are 0 apart, with a normal across
/// both.
#[test]
fn flat_bodies() {
    let cross = ([-DVec3::X, DVec3::X], [-DVec3::Y, DVec3::Y]);
    let above = Pose::at(DVec3::new(0.2, 0.3, 0.5));
    assert_eq!(distance(&cross.0, &cross.1, &above), 0.5);
    let touching = signed_distance(&cross.0, &cross.1, &Pose::IDENTITY, &mut GjkCache::default()).unwrap();
    assert_eq!((touching.distance, touching.normal.z.abs()), (0.0, 1.0));
    assert_eq!(distance(&DVec3::X, &DVec3::Y, &Pose::IDENTITY), 2.0_f64.sqrt());
    assert_eq!(distance(&DVec3::X, &DVec3::X, &Pose::IDENTITY), 0.0);
    let triangle = Triangle::from([DVec3::ZERO, DVec3::X, DVec3::Y]);
    assert_eq!(distance(&triangle, &DVec3::new(0.2, 0.2, -3.0), &Pose::IDENTITY), 3.0);
    assert_eq!(distance(&triangle, &triangle, &Pose::IDENTITY), 0.0);
    assert_eq!(distance(&triangle, &triangle, &Pose::at(DVec3::new(0.1, 0.1, 0.0))), 0.0);
    let needle = Triangle::from([DVec3::ZERO, DVec3::X, 2.0 * DVec3::X]);
    assert_eq!(distance(&needle, &triangle, &Pose::at(DVec3::Z)), 1.0);
    let point = Triangle::from([DVec3::Z; 3]);
    assert_eq!(distance(&point, &triangle, &Pose::IDENTITY), 1.0);
}

/// Spheres and capsules are cores and radii: exact, overlapping or not, concentric too.
#[test]
fn rounded_shapes_are_exact() {
    let (sphere, capsule) = (Sphere::new(0.5).unwrap(), Capsule::new(0.25, 2.0).unwrap());
    let search = |pose: Pose| signed_distance(&capsule, &sphere, &pose, &mut GjkCache::default()).unwrap();
    assert_eq!(search(Pose::at(DVec3::new(2.0, 0.0, 0.7))).distance, 1.25);
    let overlapping = search(Pose::at(DVec3::new(0.5, 0.0, 0.7)));
    assert_eq!((overlapping.distance, overlapping.normal), (-0.25, DVec3::X));
    assert_eq!(overlapping.point_a, DVec3::new(0.25, 0.0, 0.7));
    assert_eq!(overlapping.point_b, DVec3::new(0.0, 0.0, 0.7));
    let on_axis = search(Pose::at(DVec3::new(0.0, 0.0, 0.7)));
    assert_eq!((on_axis.distance, on_axis.normal.z), (-0.75, 0.0));
    let concentric = signed_distance(&sphere, &sphere, &Pose::IDENTITY, &mut GjkCache::default()).unwrap();
    assert_eq!((concentric.distance, concentric.normal.length()), (-1.0, 1.0));
}

/// A cone's side, a cylinder's rim and an ellipsoid's tip against closed forms.
#[test]
fn closed_forms_of_curved_shapes() {
    let cone = Cone::new(1.0, 1.0).unwrap();
    // The side is the line from (r, z) = (1, −1/4) to (0, 3/4); the point (1, 3/4) lies 1/√2 off it.
    let d = distance(&cone, &DVec3::new(1.0, 0.0, 0.75), &Pose::IDENTITY);
    assert!((d - 0.5_f64.sqrt()).abs() < 1e-15);
    let cylinder = Cylinder::new(1.0, 2.0).unwrap();
    let d = distance(&cylinder, &DVec3::new(3.0, 3.0, 3.0), &Pose::IDENTITY);
    assert!((d - (18.0_f64.sqrt() - 1.0).hypot(2.0)).abs() < 1e-14);
    let ellipsoid = Ellipsoid::new(DVec3::new(3.0, 2.0, 1.0)).unwrap();
    assert!((distance(&ellipsoid, &(5.0 * DVec3::X), &Pose::IDENTITY) - 2.0).abs() < 1e-14);
    assert!((distance(&ellipsoid, &(5.0 * DVec3::Z), &Pose::IDENTITY) - 4.0).abs() < 1e-14);
}

/// A query that moved little takes one or two iterations, and gives the same answer as one from scratch.
#[test]
fn coherent_queries_take_one_or_two_iterations() {
    let mut random = Random(23);
    let (a, b) = (random_hull(&mut random, 60, DVec3::ONE), random_hull(&mut random, 60, DVec3::ONE));
    let (mut cache, mut iterations, mut queries) = (GjkCache::default(), 0, 0);
    for frame in 0..2000 {
        let angle = 0.001 * frame as f64;
        let pose = Pose::new(DQuat::from_rotation_y(angle), DVec3::new(2.5, 0.1 * angle, 0.2));
        let warm = gjk(&a, &b, &pose, &mut cache).unwrap();
        let Gjk::Apart(warm) = warm else { panic!("apart by construction") };
        assert!((warm.distance - distance(&a, &b, &pose)).abs() < 1e-14);
        if frame > 0 {
            (iterations, queries) = (iterations + cache.iterations, queries + 1);
        }
    }
    // `iterations` counts corners added; the one support query that ends a search adds none.
    assert!(f64::from(iterations) / f64::from(queries) < 0.5, "{iterations} in {queries}");
}

#[derive(Debug)]
struct Broken;

impl SupportShape for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn support(&self, _direction: DVec3) -> DVec3 {
        DVec3::NAN
    }
}

/// Bad poses and bad shapes give errors; caches of other pairs do no harm; nothing hangs.
#[test]
fn bad_input_is_refused() {
    let cube = Cuboid::new(DVec3::ONE).unwrap();
    let mut cache = GjkCache::default();
    for pose in [
        Pose::at(DVec3::NAN),
        Pose::at(DVec3::splat(f64::INFINITY)),
        Pose::at(DVec3::splat(1e60)),
        Pose::new(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DVec3::ZERO),
        Pose::new(DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0), DVec3::ZERO),
    ] {
        assert_eq!(signed_distance(&cube, &cube, &pose, &mut cache), Err(ClosestError::InvalidPose));
    }
    let broken: Arc<dyn SupportShape> = Arc::new(Broken);
    let pose = Pose::at(3.0 * DVec3::X);
    assert_eq!(signed_distance(&broken, &cube, &pose, &mut cache), Err(ClosestError::InvalidPoint));
    assert_eq!(signed_distance(&cube, &broken, &pose, &mut cache), Err(ClosestError::InvalidPoint));
    assert_eq!(signed_distance(&DVec3::NAN, &cube, &pose, &mut cache), Err(ClosestError::InvalidPoint));
    let sphere = sphere_hull(4);
    signed_distance(&sphere, &sphere, &pose, &mut cache).unwrap();
    let small = cuboid_hull(DVec3::ONE);
    let after = signed_distance(&small, &small, &Pose::at(4.0 * DVec3::X), &mut cache).unwrap();
    assert_eq!(after.distance, 2.0);
}

/// From 1e-45 to 1e45 m, answers scale with the shapes.
#[test]
fn answers_scale() {
    for exponent in [-45, -20, 0, 20, 45] {
        let scale = 10f64.powi(exponent);
        let a = Cuboid::new(scale * DVec3::ONE).unwrap();
        let turn = DQuat::from_rotation_z(0.3);
        for x in [3.0, 1.2] {
            let pose = Pose::new(turn, scale * DVec3::new(x, 0.1, 0.2));
            let unscaled = Pose::new(turn, DVec3::new(x, 0.1, 0.2));
            let expected =
                distance(&Cuboid::new(DVec3::ONE).unwrap(), &Cuboid::new(DVec3::ONE).unwrap(), &unscaled);
            let found = distance(&a, &a, &pose) / scale;
            assert!((found - expected).abs() < 1e-13, "{exponent}: {found} {expected}");
        }
    }
}
