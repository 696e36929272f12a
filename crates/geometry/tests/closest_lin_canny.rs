//! Closest features by walking between Voronoi regions. Numbers in brackets are the acceptance tests of the
//! impulse spec.

use crate::closest_oracle;
use crate::random;

use closest_oracle::{
    PAIRS, any_feature, cases, cuboid_hull, least_overlap, placed, random_hull, sphere_hull,
};
use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::closest::{
    ClosestError, Feature, FeatureMap, GjkCache, LinCannyCache, Separation, Walk, lin_canny, signed_distance,
};
use rattleback_geometry::{Pose, convex_hull};

/// Least slack of the planes of a feature's region at p: how deep p lies inside. Built from the polyhedron
/// alone.
fn slack(map: &FeatureMap, feature: Feature, p: DVec3) -> f64 {
    let polyhedron = map.polyhedron();
    let vertex = |v: u32| polyhedron.vertices()[v as usize];
    match feature {
        Feature::Vertex(v) => polyhedron
            .vertex_neighbors(v as usize)
            .iter()
            .map(|&other| (p - vertex(v)).dot((vertex(v) - vertex(other)).normalize()))
            .fold(f64::INFINITY, f64::min),
        Feature::Edge(e) => {
            let edge = polyhedron.edges()[e as usize];
            let [tail, head] = edge.vertices.map(vertex);
            let d = (head - tail).normalize();
            let into = |face: u32, along: DVec3| polyhedron.normals()[face as usize].cross(along);
            let faces = [into(edge.faces[0], d), into(edge.faces[1], -d)];
            let ends = (p - tail).dot(d).min((head - p).dot(d));
            faces.into_iter().map(|m| (tail - p).dot(m)).fold(ends, f64::min)
        }
        Feature::Face(f) => {
            let (corners, n) = (polyhedron.face(f as usize), polyhedron.normals()[f as usize]);
            let sides = (0..corners.len()).map(|i| {
                let (a, b) = (vertex(corners[i]), vertex(corners[(i + 1) % corners.len()]));
                (p - a).dot(n.cross(b - a).normalize())
            });
            sides.fold((p - vertex(corners[0])).dot(n), f64::min)
        }
    }
}

fn check_apart(
    maps: [&FeatureMap; 2],
    pose: &Pose,
    features: [Feature; 2],
    found: &Separation,
    expected: f64,
) {
    let unit = expected.abs().max(1.0);
    assert!((found.distance - expected).abs() < 1e-10 * unit, "{} instead of {expected}", found.distance);
    let slack_a = slack(maps[0], features[0], found.point_b);
    let slack_b = slack(maps[1], features[1], pose.inverse_point(found.point_a));
    assert!(slack_a.min(slack_b) >= -1e-9 * unit, "{features:?}: {slack_a} {slack_b}");
}

/// Test 5 [17.5]: disjoint hulls, boxes and wedges from random features and warm: distance within 1e-10, both
/// points in the other's region. Test 6 [17.6]: parallel faces, collinear edges, stacked boxes among the
/// pairs.
#[test]
fn disjoint_pairs_against_trying_everything() {
    let mut cycles = 0;
    for pair in PAIRS {
        let mut random = Random(41);
        for _ in 0..cases(1000) {
            let maps = (pair.make)(&mut random).map(|hull| FeatureMap::new(&hull).unwrap());
            let [a, b] = &maps;
            let mut pose = (pair.pose)(&mut random);
            let mut cache =
                LinCannyCache::starting_at([any_feature(&mut random, a), any_feature(&mut random, b)]);
            for _ in 0..2 {
                let expected = closest_oracle::signed_distance(a.polyhedron(), b.polyhedron(), &pose);
                match lin_canny(a, b, &pose, &mut cache).unwrap() {
                    Walk::Apart { separation, features } => {
                        check_apart([a, b], &pose, features, &separation, expected.max(0.0));
                        assert!(expected > -1e-12, "apart at depth {expected}");
                    }
                    Walk::Penetrating { .. } => {
                        assert!(expected < 1e-12, "penetrates at distance {expected}");
                    }
                }
                pose.translation += 0.01 * pose.translation.length() * random.in_cube();
            }
            assert_eq!(cache.exhaustive, 0, "{}", pair.name);
            cycles += cache.cycles;
        }
    }
    println!("{cycles} walks handed over");
}

/// Test 7 [17.7]: overlapping pairs are always found, without trying everything.
#[test]
fn overlapping_pairs_are_always_penetrating() {
    let mut random = Random(43);
    let (mut found, mut cycles) = (0, 0);
    while found < cases(20_000) {
        let count = 4 + (random.bits() % 20) as usize;
        let hull = |random: &mut Random| FeatureMap::new(&random_hull(random, count, DVec3::ONE)).unwrap();
        let maps = [hull(&mut random), hull(&mut random)];
        let [a, b] = &maps;
        let solid = placed(a.polyhedron(), &Pose::IDENTITY);
        for _ in 0..50 {
            let pose = random.pose(0.7);
            if least_overlap(&solid, &placed(b.polyhedron(), &pose)).0 <= 1e-12 {
                continue;
            }
            let mut cache =
                LinCannyCache::starting_at([any_feature(&mut random, a), any_feature(&mut random, b)]);
            let walk = lin_canny(a, b, &pose, &mut cache).unwrap();
            assert!(matches!(walk, Walk::Penetrating { .. }), "{walk:?}");
            assert_eq!(cache.exhaustive, 0);
            (found, cycles) = (found + 1, cycles + cache.cycles);
        }
    }
    println!("{cycles} of {found} walks handed over");
}

/// Test 8 [17.8], N2: a sphere turning next to a cube: 16 times the facets cost less than twice the steps at
/// 1° per call, and steps grow with the angle.
#[test]
fn steps_hardly_grow_with_the_number_of_facets() {
    let cube = FeatureMap::new(&cuboid_hull(DVec3::ONE)).unwrap();
    let mut at_one_degree = Vec::new();
    for level in [3, 4, 5] {
        let sphere = FeatureMap::new(&sphere_hull(level)).unwrap();
        let mut means = Vec::new();
        for degrees in [1.0, 10.0, 20.0] {
            let (mut cache, mut steps) = (LinCannyCache::default(), 0);
            for call in 0..720 {
                let angle = (degrees * f64::from(call)).to_radians();
                // Tilted, so that facets pass the cube one after another rather than row by row.
                let turn = DQuat::from_rotation_z(angle) * DQuat::from_rotation_x(0.3);
                let walk = lin_canny(&cube, &sphere, &Pose::new(turn, 2.5 * DVec3::X), &mut cache).unwrap();
                assert!(matches!(walk, Walk::Apart { .. }));
                steps += if call == 0 { 0 } else { cache.steps };
            }
            means.push(f64::from(steps) / 719.0);
        }
        println!("{} facets: {means:?} steps at 1, 10, 20°", sphere.polyhedron().face_count());
        assert!(means[0] < means[1] && means[1] < means[2]);
        at_one_degree.push(means[0]);
    }
    // Steps are tests of a pair: one per replacement and one that finds nothing to replace. Replacements
    // alone must grow fourfold, as the number of edges passed per degree grows with the root of the number of
    // facets.
    assert!((1.0 + at_one_degree[2]) / (1.0 + at_one_degree[0]) < 2.0, "{at_one_degree:?}");
}

/// Test 9 [17.9]: bodies of several convex pieces are as far apart as their nearest pieces.
#[test]
fn pieces_are_as_near_as_the_nearest_two() {
    let mut random = Random(47);
    for _ in 0..20 {
        let mut pieces = |count: usize| -> Vec<FeatureMap> {
            (0..count)
                .map(|_| {
                    let center = random.in_cube();
                    let points: Vec<DVec3> = (0..8).map(|_| center + 0.3 * random.in_cube()).collect();
                    FeatureMap::new(&convex_hull(&points).unwrap()).unwrap()
                })
                .collect()
        };
        let (body_a, body_b) = (pieces(3), pieces(4));
        let pose = Pose::new(random.rotation(), 4.0 * random.on_sphere());
        let (mut least, mut expected) = (f64::INFINITY, f64::INFINITY);
        for a in &body_a {
            for b in &body_b {
                let walk = lin_canny(a, b, &pose, &mut LinCannyCache::default()).unwrap();
                let Walk::Apart { separation, .. } = walk else { panic!("4 m apart") };
                least = least.min(separation.distance);
                expected =
                    expected.min(closest_oracle::signed_distance(a.polyhedron(), b.polyhedron(), &pose));
            }
        }
        assert!((least - expected).abs() < 1e-12);
    }
}

/// Agrees with GJK on larger hulls along a random walk, warm.
#[test]
fn agrees_with_gjk_on_larger_hulls() {
    let mut random = Random(53);
    for _ in 0..20 {
        let maps = [(); 2].map(|()| FeatureMap::new(&random_hull(&mut random, 200, DVec3::ONE)).unwrap());
        let [a, b] = &maps;
        let (mut cache, mut gjk_cache) = (LinCannyCache::default(), GjkCache::default());
        let mut pose = random.pose(3.0);
        for _ in 0..200 {
            let turn = DQuat::from_scaled_axis(0.05 * random.in_cube());
            pose = Pose::new((turn * pose.rotation).normalize(), pose.translation + 0.05 * random.in_cube());
            let gjk = signed_distance(a.polyhedron(), b.polyhedron(), &pose, &mut gjk_cache).unwrap();
            match lin_canny(a, b, &pose, &mut cache).unwrap() {
                Walk::Apart { separation, .. } => assert!((separation.distance - gjk.distance).abs() < 1e-12),
                Walk::Penetrating { .. } => assert!(gjk.distance < 1e-12),
            }
        }
    }
}

/// Bad poses are refused; caches of another pair do no harm.
#[test]
fn refuses_poses_that_are_not_finite() {
    let map = FeatureMap::new(&sphere_hull(2)).unwrap();
    let mut cache = LinCannyCache::starting_at([Feature::Face(9999), Feature::Edge(9999)]);
    let nowhere = Pose::at(DVec3::splat(f64::NAN));
    assert_eq!(lin_canny(&map, &map, &nowhere, &mut cache), Err(ClosestError::InvalidPose));
    assert!(lin_canny(&map, &map, &Pose::at(3.0 * DVec3::X), &mut cache).is_ok());
}
