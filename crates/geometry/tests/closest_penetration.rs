//! Depths of convex shapes that overlap. Polyhedra are compared with trying everything in `closest_gjk`.

use crate::closest_oracle;
use crate::random;

use closest_oracle::{cuboid_hull, least_overlap, placed};
use glam::DVec3;
use random::Random;
use rattleback_geometry::closest::{ConvexShape, GjkCache, signed_distance};
use rattleback_geometry::{Cuboid, Cylinder, Ellipsoid, Pose, Shape, Sphere};

fn cases(default: usize) -> usize {
    std::env::var("CLOSEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// GJK-5: overlapping boxes against the fifteen axes, 1e-8 required and 1e-13 reached.
#[test]
fn boxes_against_fifteen_axes() {
    let mut random = Random(29);
    let mut overlapping = 0;
    while overlapping < cases(1000) {
        let sizes = [(); 2].map(|()| DVec3::splat(0.6) + 0.4 * random.in_cube());
        let [a, b] = sizes.map(|size| Cuboid::new(size).unwrap());
        let pose = random.pose(1.0);
        let solids = (placed(&cuboid_hull(sizes[0]), &Pose::IDENTITY), placed(&cuboid_hull(sizes[1]), &pose));
        let (depth, _) = least_overlap(&solids.0, &solids.1);
        if depth <= 0.0 {
            continue;
        }
        overlapping += 1;
        let answer = signed_distance(&a, &b, &pose, &mut GjkCache::default()).unwrap();
        assert!((answer.distance + depth).abs() < 1e-13, "{} instead of {depth}", -answer.distance);
        // Moved apart along the normal by the depth, the boxes touch.
        let apart = Pose::new(pose.rotation, pose.translation + depth * answer.normal);
        let touching = signed_distance(&a, &b, &apart, &mut GjkCache::default()).unwrap();
        assert!(touching.distance.abs() < 1e-13);
    }
}

/// Spheres written as ellipsoids overlap by r₁ + r₂ − distance, to 1e-6 and better.
#[test]
fn round_ellipsoids_overlap_like_spheres() {
    let mut random = Random(31);
    let round = Ellipsoid::new(DVec3::ONE).unwrap();
    let mut worst = 0.0_f64;
    for _ in 0..cases(300) {
        let offset = random.on_sphere() * random.between(0.05, 1.99);
        let pose = Pose::new(random.rotation(), offset);
        let answer = signed_distance(&round, &round, &pose, &mut GjkCache::default()).unwrap();
        let error = (answer.distance - (offset.length() - 2.0)).abs();
        worst = worst.max(error);
        assert!(error < 1e-6, "{error:e} at {offset}");
    }
    println!("worst {worst:e}");
}

/// Crossed cylinders of radius r whose axes are d apart overlap by 2r − d; a sphere in a box by the nearest
/// side.
#[test]
fn closed_forms() {
    let cylinder = Cylinder::new(0.5, 10.0).unwrap();
    for d in [0.1, 0.5, 0.9] {
        let pose = Pose::new(glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), d * DVec3::X);
        let answer = signed_distance(&cylinder, &cylinder, &pose, &mut GjkCache::default()).unwrap();
        assert!((answer.distance - (d - 1.0)).abs() < 1e-9, "{d}: {}", answer.distance);
        assert!(answer.normal.x > 1.0 - 1e-8);
    }
    let cube = Cuboid::new(DVec3::new(1.0, 2.0, 3.0)).unwrap();
    let sphere = Sphere::new(0.25).unwrap();
    let pose = Pose::at(DVec3::new(0.5, 1.0, 0.0));
    let answer = signed_distance(&cube, &sphere, &pose, &mut GjkCache::default()).unwrap();
    assert!((answer.distance + 0.75).abs() < 1e-15);
    assert_eq!(answer.normal, DVec3::X);
    assert!(answer.point_a.abs_diff_eq(DVec3::new(1.0, 1.0, 0.0), 1e-15));
    assert!(answer.point_b.abs_diff_eq(DVec3::new(0.25, 1.0, 0.0), 1e-15));
}

/// On all kinds of shapes: moving apart along the normal by the depth separates, and no direction of
/// thousands does with less.
#[test]
fn no_direction_separates_with_less() {
    let mut random = Random(37);
    let mut directions: Vec<DVec3> = (0..2000).map(|_| random.on_sphere()).collect();
    directions.extend(DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]));
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..cases(400) {
        let shapes = [(); 2].map(|()| {
            let size = DVec3::splat(0.6) + 0.4 * random.in_cube();
            match random.bits() % 5 {
                0 => Shape::cuboid(size),
                1 => Shape::cylinder(size.x, size.y),
                2 => Shape::cone(size.x, size.y),
                3 => Shape::ellipsoid(size),
                _ => Shape::capsule(size.x, size.y),
            }
            .unwrap()
        });
        let pose = random.pose(0.5);
        let [a, b] = [0, 1].map(|i| ConvexShape::try_from(&shapes[i]).unwrap());
        let answer = signed_distance(&a, &b, &pose, &mut GjkCache::default()).unwrap();
        let overlap = |n: DVec3| {
            let reach_b = pose.point(shapes[1].support(pose.inverse_vector(-n)).unwrap()).dot(n);
            shapes[0].support(n).unwrap().dot(n) - reach_b
        };
        worst.0 = worst.0.max((overlap(answer.normal) + answer.distance).abs());
        // Points of curved shapes move by the root of what the depth moves.
        let gap = answer.point_b - answer.point_a - answer.distance * answer.normal;
        worst.1 = worst.1.max(gap.length());
        assert!(gap.length() < 1e-5, "{shapes:?} {pose:?}: {answer:?} points off by {gap}");
        // Downhill from the best of the directions: the least overlap there is, found without a polytope.
        let mut least =
            directions.iter().map(|&n| (overlap(n), n)).min_by(|p, q| p.0.total_cmp(&q.0)).unwrap();
        let mut step = 0.05;
        while step > 1e-7 {
            let tries = (0..12).map(|_| (least.1 + step * random.in_cube()).normalize());
            let next = tries.map(|n| (overlap(n), n)).min_by(|p, q| p.0.total_cmp(&q.0)).unwrap();
            if next.0 < least.0 { least = next } else { step *= 0.6 }
        }
        assert!(-answer.distance <= least.0 + 1e-6, "{shapes:?} {pose:?}: {answer:?} but {least:?}");
    }
    println!("worst reach {:e}, witness {:e}", worst.0, worst.1);
    assert!(worst.0 < 1e-10);
}

/// GJK-4: a body in its own place overlaps itself by its least width, for any kind, however flat.
#[test]
fn identical_bodies_overlap_by_their_width() {
    let long = DVec3::new(1.0, 0.5, 1e-3);
    for (shape, width) in [
        (Shape::sphere(0.5), 1.0),
        (Shape::cuboid(long), 2e-3),
        (Shape::cylinder(0.5, 3.0), 1.0),
        (Shape::cylinder(0.5, 1e-3), 1e-3),
        (Shape::capsule(0.25, 2.0), 0.5),
        (Shape::cone(1.0, 1e-3), 1e-3),
        (Shape::ellipsoid(long), 2e-3),
        (Shape::ellipsoid(DVec3::ONE), 2.0),
    ] {
        let shape = shape.unwrap();
        let convex = ConvexShape::try_from(&shape).unwrap();
        for nudge in [0.0, 1e-300, 1e-17, 1e-9] {
            let pose = Pose::at(nudge * DVec3::new(0.3, 0.5, 0.8));
            let answer = signed_distance(&convex, &convex, &pose, &mut GjkCache::default()).unwrap();
            assert!((answer.distance + width).abs() < 1e-6 * width + 2.0 * nudge, "{shape:?}: {answer:?}");
            assert!((answer.normal.length() - 1.0).abs() < 1e-12);
        }
    }
}
