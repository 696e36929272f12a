//! Closest features by clipping against Voronoi regions.

use crate::closest_oracle;
use crate::random;

use closest_oracle::{any_feature, cases, cuboid_hull, random_hull, sphere_hull};
use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::closest::{
    ClosestError, Feature, FeatureMap, GjkCache, VClipCache, Walk, signed_distance, vclip,
};
use rattleback_geometry::{ConvexPolyhedron, Pose, convex_hull};

/// Whether the nearest point of `feature` lies in the feature and not on its border.
fn lowest_dimension(polyhedron: &ConvexPolyhedron, feature: Feature, p: DVec3, size: f64) -> bool {
    let far = |v: u32| polyhedron.vertices()[v as usize].distance(p) > 1e-14 * size;
    match feature {
        Feature::Vertex(v) => polyhedron.vertices()[v as usize].distance(p) <= 1e-12 * size,
        Feature::Edge(e) => polyhedron.edges()[e as usize].vertices.into_iter().all(far),
        Feature::Face(f) => polyhedron.face(f as usize).iter().copied().all(far),
    }
}

/// One pair from one start: signed distance expected, answer checked; the steps taken.
fn check(
    a: &FeatureMap,
    b: &FeatureMap,
    pose: &Pose,
    start: [Feature; 2],
    expected: f64,
    allowed: f64,
) -> u32 {
    let mut cache = VClipCache::starting_at(start);
    match vclip(a, b, pose, &mut cache).unwrap() {
        Walk::Apart { separation, .. } => {
            let error = (separation.distance - expected).abs();
            assert!(error <= allowed, "{start:?}: {} instead of {expected}", separation.distance);
            let gap = separation.point_b - separation.point_a - separation.distance * separation.normal;
            assert!(gap.length() <= 10.0 * allowed, "normal off by {gap}");
        }
        Walk::Penetrating { .. } => {
            assert!(expected <= allowed, "{start:?}: penetrates at distance {expected}");
        }
    }
    assert_eq!(cache.cycles, 0, "walked in a circle from {start:?}");
    cache.steps
}

/// VC-1: classification always right, distance within 1e-12 of the size, from any start.
#[test]
fn agrees_with_trying_everything() {
    let mut random = Random(5);
    let (mut steps, mut most) = (0, 0);
    let count = cases(10_000);
    for i in 0..count {
        let hull = |random: &mut Random| {
            let corners = if i % 20 == 0 { 200 } else { 20 };
            let corners = 4 + (random.bits() % (corners - 3)) as usize;
            if random.bits().is_multiple_of(8) {
                cuboid_hull(DVec3::splat(0.6) + 0.4 * random.in_cube())
            } else {
                random_hull(random, corners, DVec3::ONE)
            }
        };
        let maps = [(); 2].map(|()| FeatureMap::new(&hull(&mut random)).unwrap());
        let [a, b] = &maps;
        let pose = random.pose(2.0);
        let expected = if i % 20 == 0 {
            signed_distance(a.polyhedron(), b.polyhedron(), &pose, &mut GjkCache::default()).unwrap().distance
        } else {
            closest_oracle::signed_distance(a.polyhedron(), b.polyhedron(), &pose)
        };
        let start = [any_feature(&mut random, a), any_feature(&mut random, b)];
        let taken = check(a, b, &pose, start, expected, 2e-12);
        (steps, most) = (steps + u64::from(taken), most.max(taken));
    }
    println!("mean {} most {most} steps", steps as f64 / count as f64);
}

/// VC-1 continued: where faces and edges share planes and lines.
#[test]
fn agrees_in_aligned_poses() {
    for pair in closest_oracle::PAIRS {
        let mut random = Random(7);
        for _ in 0..cases(300) {
            let maps = (pair.make)(&mut random).map(|hull| FeatureMap::new(&hull).unwrap());
            let pose = (pair.pose)(&mut random);
            let [a, b] = &maps;
            let expected = closest_oracle::signed_distance(a.polyhedron(), b.polyhedron(), &pose);
            let start = [any_feature(&mut random, a), any_feature(&mut random, b)];
            check(a, b, &pose, start, expected, 2e-12 * expected.abs().max(1.0));
        }
    }
}

/// VC-2: unit cubes from all vertex–face and face–vertex starts, against closed forms.
#[test]
fn unit_cubes_from_every_start() {
    let cube = FeatureMap::new(&cuboid_hull(DVec3::splat(0.5))).unwrap();
    let eighth = std::f64::consts::FRAC_PI_4;
    let (about_y, about_z) = (DQuat::from_rotation_y(eighth), DQuat::from_rotation_z(eighth));
    let root = 2.0_f64.sqrt();
    let at = |x: f64, y: f64, z: f64| Pose::at(DVec3::new(x, y, z));
    let scenes = [
        (Pose::IDENTITY, at(2.0, 0.0, 0.0), 1.0),
        (Pose::IDENTITY, at(2.0, 0.3, 0.2), 1.0),
        (Pose::IDENTITY, Pose::new(about_z, 2.0 * DVec3::X), 1.5 - root / 2.0),
        (Pose::new(about_z, DVec3::ZERO), Pose::new(about_y, 3.0 * DVec3::X), 3.0 - root),
        (Pose::IDENTITY, at(2.0, 2.0, 2.0), 3.0_f64.sqrt()),
        (Pose::IDENTITY, at(0.9, 0.9, 0.9), -0.1),
    ];
    for (pose_a, pose_b, expected) in scenes {
        for vertex in 0..8 {
            for face in 0..6 {
                let pose = pose_a.relative(&pose_b);
                let start = [Feature::Vertex(vertex), Feature::Face(face)];
                check(&cube, &cube, &pose, start, expected, 1e-12);
                check(&cube, &cube, &pose, [start[1], start[0]], expected, 1e-12);
            }
        }
    }
}

/// VC-3: a small tetrahedron beyond and inside a thin slab, from every wrong face.
#[test]
fn escapes_local_minima() {
    let slab = FeatureMap::new(&cuboid_hull(DVec3::new(1.0, 1.0, 0.05))).unwrap();
    let corners = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ZERO].map(|p| 0.02 * p);
    let tetrahedron = FeatureMap::new(&convex_hull(&corners).unwrap()).unwrap();
    for (height, expected) in [(0.25, 0.2), (-0.25, 0.18), (-0.01, -0.04), (0.055, 0.005)] {
        for face in 0..6 {
            for vertex in 0..4 {
                let start = [Feature::Face(face), Feature::Vertex(vertex)];
                let pose = Pose::at(DVec3::new(0.3, -0.2, height));
                check(&slab, &tetrahedron, &pose, start, expected, 1e-12);
            }
        }
    }
}

/// VC-4: some 500 vertices turning by a degree per call: at most three steps on average.
#[test]
fn few_steps_while_turning_slowly() {
    let mut random = Random(11);
    let points: Vec<DVec3> = (0..500).map(|_| random.on_sphere()).collect();
    let hull = FeatureMap::new(&convex_hull(&points).unwrap()).unwrap();
    let mut cache = VClipCache::default();
    let mut steps = 0;
    for frame in 0..720 {
        let angle = (frame as f64).to_radians();
        let pose = Pose::new(DQuat::from_rotation_y(angle), DVec3::new(2.5, 0.0, 0.0));
        let first = frame == 0;
        vclip(&hull, &hull, &pose, &mut cache).unwrap();
        steps += if first { 0 } else { cache.steps };
    }
    let mean = f64::from(steps) / 719.0;
    assert!(mean <= 3.0, "{mean} steps per call");
}

/// VC-5: agrees with GJK within 1e-9 of the size, warm-started along random walks, and features are of the
/// lowest dimension that holds the points.
#[test]
fn agrees_with_gjk_and_names_lowest_features() {
    let mut random = Random(13);
    for _ in 0..cases(10_000) / 100 {
        let maps = [(); 2].map(|()| FeatureMap::new(&random_hull(&mut random, 40, DVec3::ONE)).unwrap());
        let [a, b] = &maps;
        let (mut clip_cache, mut gjk_cache) = (VClipCache::default(), GjkCache::default());
        let mut pose = random.pose(3.0);
        for _ in 0..100 {
            let turn = DQuat::from_scaled_axis(0.05 * random.in_cube());
            pose = Pose::new((turn * pose.rotation).normalize(), pose.translation + 0.05 * random.in_cube());
            let gjk = signed_distance(a.polyhedron(), b.polyhedron(), &pose, &mut gjk_cache).unwrap();
            match vclip(a, b, &pose, &mut clip_cache).unwrap() {
                Walk::Apart { separation, features } => {
                    assert!((separation.distance - gjk.distance).abs() < 1e-9);
                    let local = pose.inverse_point(separation.point_b);
                    assert!(lowest_dimension(a.polyhedron(), features[0], separation.point_a, 1.0));
                    assert!(lowest_dimension(b.polyhedron(), features[1], local, 1.0));
                }
                Walk::Penetrating { .. } => assert!(gjk.distance < 1e-12),
            }
        }
    }
}

/// Coplanar triangles are merged before walking, whatever the caller passes.
#[test]
fn triangulated_cubes_are_merged() {
    use rattleback_geometry::{Polyhedron, TriangleMesh, generate};
    let soup = generate::cuboid(DVec3::splat(0.5)).unwrap();
    let triangles = TriangleMesh::from_soup(&soup).unwrap().to_soup();
    let cut = ConvexPolyhedron::new(Polyhedron::new(&triangles).unwrap()).unwrap();
    assert_eq!(cut.face_count(), 12);
    assert_eq!(FeatureMap::new(&cut).unwrap().polyhedron().face_count(), 6);
}

/// Bad poses are refused; caches of another pair do no harm.
#[test]
fn refuses_poses_that_are_not_finite() {
    let map = FeatureMap::new(&sphere_hull(2)).unwrap();
    let mut cache = VClipCache::starting_at([Feature::Face(9999), Feature::Edge(9999)]);
    let far = Pose::at(DVec3::splat(f64::NAN));
    assert_eq!(vclip(&map, &map, &far, &mut cache), Err(ClosestError::InvalidPose));
    assert!(vclip(&map, &map, &Pose::at(3.0 * DVec3::X), &mut cache).is_ok());
}
