//! Bounding volumes: all six pairs, at rest and moving.

use crate::random;

use glam::DVec3;
use random::Random;
use rattleback_geometry::closest::{Gjk, GjkCache, gjk};
use rattleback_geometry::primitive::{BoundingVolume, Ray, Triangle};
use rattleback_geometry::{Aabb, BoundingSphere, Cuboid, OrientedBox, Pose, Sphere};

fn volume(random: &mut Random, kind: u64) -> BoundingVolume {
    let center = 1.5 * random.in_cube();
    let half = DVec3::new(random.between(0.05, 1.0), random.between(0.05, 1.0), random.between(0.05, 1.0));
    match kind {
        0 => BoundingSphere::new(center, half.x).unwrap().into(),
        1 => Aabb::from_center(center, half).unwrap().into(),
        _ => OrientedBox::new(Pose::new(random.rotation(), center), half).unwrap().into(),
    }
}

fn moved(volume: &BoundingVolume, by: DVec3) -> BoundingVolume {
    match volume {
        BoundingVolume::Aligned(bounds) => Aabb::new(bounds.min() + by, bounds.max() + by).unwrap().into(),
        other => other.transformed(&Pose::at(by)).unwrap(),
    }
}

/// Distance by support functions; 0 when they overlap.
fn distance(a: &BoundingVolume, b: &BoundingVolume) -> f64 {
    enum Solid {
        Sphere(Sphere),
        Box(Cuboid),
    }
    let solid = |v: &BoundingVolume| match v {
        BoundingVolume::Sphere(s) => (Solid::Sphere(Sphere::new(s.radius()).unwrap()), Pose::at(s.center())),
        BoundingVolume::Aligned(b) => {
            (Solid::Box(Cuboid::new(b.half_extents()).unwrap()), Pose::at(b.center()))
        }
        BoundingVolume::Oriented(b) => (Solid::Box(Cuboid::new(b.half_extents()).unwrap()), b.pose()),
    };
    let ((a, pose_a), (b, pose_b)) = (solid(a), solid(b));
    let place = pose_a.relative(&pose_b);
    let mut cache = GjkCache::default();
    let answer = match (&a, &b) {
        (Solid::Sphere(a), Solid::Sphere(b)) => gjk(a, b, &place, &mut cache),
        (Solid::Sphere(a), Solid::Box(b)) => gjk(a, b, &place, &mut cache),
        (Solid::Box(a), Solid::Sphere(b)) => gjk(a, b, &place, &mut cache),
        (Solid::Box(a), Solid::Box(b)) => gjk(a, b, &place, &mut cache),
    };
    match answer.unwrap() {
        Gjk::Apart(separation) => separation.distance.max(0.0),
        Gjk::Overlapping => 0.0,
    }
}

/// every pair at rest against nearest points by support functions; every pair in motion against
/// bisection of that distance, 1e-9, never late, symmetric.
#[test]
fn a_16_all_pairs_at_rest_and_moving() {
    let mut random = Random(16);
    let (mut hits, mut misses, mut worst) = (0, 0, 0.0_f64);
    for case in 0..18_000 {
        let (a, b) = (volume(&mut random, case % 3), volume(&mut random, case / 3 % 3));
        let gap = distance(&a, &b);
        let (touch, back) = (a.overlaps(&b), b.overlaps(&a));
        assert_eq!(touch, back);
        if gap > 1e-9 {
            assert!(!touch, "{a:?} {b:?} {gap}");
        } else if distance(&moved(&a, 1e-9 * random.on_sphere()), &b) == 0.0 && gap == 0.0 {
            assert!(touch, "{a:?} {b:?}");
        }
        let displacement = 4.0 * random.in_cube();
        let got = a.entry_time(&b, displacement);
        let reverse = b.entry_time(&a, -displacement);
        // The distance is convex in s: a ternary search finds its least value, bisection its first zero.
        let at = |s: f64| distance(&moved(&a, s * displacement), &b);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let (s, t) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            let (ds, dt) = (at(s), at(t));
            if ds == 0.0 || ds <= dt {
                high = t;
            } else {
                low = s;
            }
            if ds == 0.0 {
                high = s;
                break;
            }
        }
        if at(high) > 1e-7 {
            assert_eq!((got, reverse), (None, None), "{a:?} {b:?} {displacement}");
            misses += 1;
            continue;
        }
        if at(high) > 0.0 {
            continue; // Only grazes.
        }
        let (mut low, mut high) = (0.0, high);
        if at(0.0) > 0.0 {
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if at(middle) > 0.0 { low = middle } else { high = middle }
            }
        } else {
            high = 0.0;
        }
        let (got, reverse) = (got.expect("a hit"), reverse.expect("a hit"));
        let speed = displacement.length();
        // Grazing contacts are ill-conditioned in time but not in distance.
        assert!(at(got) < 1e-9 && at(reverse) < 1e-9, "{a:?} {b:?} {displacement}");
        assert!(got <= high + 1e-9 / speed.max(0.1), "late: {got} {high}");
        worst = worst.max((got - high).abs());
        hits += 1;
    }
    println!("{hits} hits, {misses} misses, largest difference in time {worst:e}");
    assert!(hits > 2_500 && misses > 2_500);
}

/// Points, rays and triangles of a oriented box agree with those of the box turned back; projections hold the
/// volume.
#[test]
fn volumes_turn_with_their_frames() {
    let mut random = Random(17);
    for _ in 0..10_000 {
        let half = DVec3::new(0.3, 0.7, 1.1);
        let pose = random.pose(2.0);
        let turned = BoundingVolume::from(OrientedBox::new(pose, half).unwrap());
        let aligned = BoundingVolume::from(Aabb::new(-half, half).unwrap());
        let p = 2.0 * random.in_cube();
        let ray = Ray::new(p, random.on_sphere()).unwrap();
        let (here, there) = (aligned.cast_ray(&ray, 5.0), turned.cast_ray(&ray.transformed(&pose), 5.0));
        assert_eq!(here.is_some(), there.is_some());
        if let (Some(a), Some(b)) = (here, there) {
            assert!((a - b).abs() < 1e-12);
        }
        let q = turned.closest_point(pose.point(p));
        assert!(q.distance(pose.point(aligned.closest_point(p))) < 1e-14 * 10.0);
        let triangle = Triangle::new(p, random.in_cube(), 3.0 * random.in_cube());
        let intersecting = turned.overlaps_triangle(&triangle.transformed(&pose));
        assert_eq!(intersecting, aligned.overlaps_triangle(&triangle));
        let axis = random.on_sphere();
        let [low, high] = turned.project(axis);
        assert!((low - 1e-12..=high + 1e-12).contains(&q.dot(axis)));
        let sphere = BoundingVolume::from(BoundingSphere::new(DVec3::ZERO, 0.7).unwrap());
        let passing = ray.distance(DVec3::ZERO);
        if (passing - 0.7).abs() > 1e-12 {
            assert_eq!(sphere.cast_ray(&ray, 5.0).is_some(), passing < 0.7);
        }
    }
    let bad = Pose::at(DVec3::NAN);
    assert!(BoundingVolume::from(Aabb::new(-DVec3::ONE, DVec3::ONE).unwrap()).transformed(&bad).is_err());
}
