//! First contacts against oracles.

use glam::DVec3;
use rattleback_geometry::hierarchy::Scratch;
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::{Pose, Shape, generate};
use rattleback_particles::collision::{
    BvhKind, Feature, ParticleTree, swept_particle_shape, swept_particle_triangle, swept_particles,
};
use rattleback_particles::step::InsidePolicy;
use rattleback_particles::{Particle, ParticleError, ParticleSystem, RigidObstacle};

use crate::random::Random;

/// T-COL-01: a sphere passes a sphere at rest.
#[test]
fn sphere_against_sphere() {
    let b = (DVec3::new(3.0, 0.6, 0.0), DVec3::ZERO, 0.5);
    let hit = swept_particles((DVec3::ZERO, DVec3::X * 4.0, 0.5), b).unwrap();
    // The normal of the source points from b to a; ours from A to B.
    assert!((hit.time - 0.55).abs() < 1e-12 && (hit.normal - DVec3::new(0.8, 0.6, 0.0)).length() < 1e-12);
}

/// T-COL-02: candidates of the tree and the exact test find what all pairs find.
#[test]
fn moving_spheres_equal_all_pairs() {
    let mut random = Random::new(2);
    let n = 2000;
    let start: Vec<DVec3> = (0..n).map(|_| random.vector(0.0, 10.0)).collect();
    let end: Vec<DVec3> = start.iter().map(|p| *p + random.vector(-0.5, 0.5)).collect();
    let radius: Vec<f64> = (0..n).map(|_| random.range(0.02, 0.2)).collect();
    let hit = |i: usize, j: usize| {
        swept_particles((start[i], end[i] - start[i], radius[i]), (start[j], end[j] - start[j], radius[j]))
    };
    let mut tree = ParticleTree::default();
    tree.update((&start, &end, &radius), BvhKind::Aabb, 1, false).unwrap();
    let mut found = Vec::new();
    for i in 0..n {
        tree.near(i, |j| {
            if j > i && hit(i, j).is_some() {
                found.push((i, j));
            }
        });
    }
    found.sort_unstable();
    let mut expected = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            if let Some(hit) = hit(i, j) {
                expected.push((i, j));
                if hit.time > 0.0 {
                    let at = |k: usize| start[k].lerp(end[k], hit.time);
                    assert!((at(i).distance(at(j)) - radius[i] - radius[j]).abs() < 1e-12);
                }
            }
        }
    }
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

fn reference_triangle() -> Triangle {
    Triangle::from([DVec3::ZERO, DVec3::X, DVec3::Y])
}

/// T-COL-03: times of impact on face, edge and corner.
#[test]
fn sphere_against_triangle_table() {
    for (x, y, time, feature) in [
        (0.25, 0.25, 0.375, Feature::Face),
        (-0.3, 0.5, 0.4, Feature::Edge(2)),
        (-0.3, -0.3, 0.433856217, Feature::Vertex(0)),
    ] {
        let (start, d) = (DVec3::new(x, y, 2.0), DVec3::Z * -4.0);
        let hit = swept_particle_triangle(start, d, 0.5, &reference_triangle()).unwrap();
        assert!((hit.time - time).abs() < 1e-9 && hit.feature == feature, "{hit:?}");
        if feature == Feature::Edge(2) {
            assert!((hit.normal - DVec3::new(-0.6, 0.0, 0.8)).length() < 1e-9);
        }
    }
}

/// First time at which the distance from a triangle falls to r, by samples and bisection.
fn sampled_time(c: DVec3, d: DVec3, r: f64, triangle: &Triangle, samples: u32) -> Option<f64> {
    let gap = |s: f64| triangle.distance(c + s * d) - r;
    (1..=samples).find_map(|k| {
        let (mut low, mut high) = (f64::from(k - 1) / f64::from(samples), f64::from(k) / f64::from(samples));
        if gap(low) <= 0.0 || gap(high) > 0.0 {
            return None;
        }
        while high - low > 1e-13 {
            let middle = f64::midpoint(low, high);
            if gap(middle) > 0.0 { low = middle } else { high = middle }
        }
        Some(high)
    })
}

fn random_triangles(samples: u32) {
    let mut random = Random::new(3);
    let mut hits = 0;
    for _ in 0..samples {
        let triangle = Triangle::from([0; 3].map(|_| random.vector(-1.0, 1.0)));
        let (c, r) = (random.vector(-2.0, 2.0), random.range(0.01, 0.5));
        let d = -1.5 * c + random.vector(-1.0, 1.0);
        if triangle.distance(c) <= r {
            continue;
        }
        let hit = swept_particle_triangle(c, d, r, &triangle);
        match (sampled_time(c, d, r, &triangle, 2000), hit) {
            (Some(time), Some(hit)) => {
                hits += 1;
                assert!((hit.time - time).abs() < 1e-8 || hit.time < time, "{} against {time}", hit.time);
                assert!((triangle.distance(c + hit.time * d) - r).abs() < 1e-8);
            }
            (Some(time), None) => panic!("missed a hit at {time}"),
            // Between two samples: shallower than they can tell.
            (None, Some(hit)) => assert!((triangle.distance(c + hit.time * d) - r).abs() < 1e-8),
            (None, None) => {}
        }
    }
    assert!(hits > samples / 20);
}

/// T-COL-03: random spheres against random triangles.
#[test]
fn random_spheres_against_triangles() {
    random_triangles(1000);
}

/// T-COL-03 with the full sample.
#[test]
#[ignore = "two minutes: cargo test --release -p rattleback-particles --test suite -- --ignored full_sample"]
fn random_spheres_against_triangles_full_sample() {
    random_triangles(100_000);
}

/// Spheres against every kind of shape: at the reported time the distance is the radius, and before it is larger.
#[test]
fn random_spheres_against_shapes() {
    let mut random = Random::new(4);
    let shapes = [
        Shape::sphere(0.7).unwrap(),
        Shape::cuboid(DVec3::new(0.6, 0.4, 0.8)).unwrap(),
        Shape::cylinder(0.5, 1.0).unwrap(),
        Shape::capsule(0.3, 1.0).unwrap(),
        Shape::cone(0.6, 1.2).unwrap(),
        Shape::ellipsoid(DVec3::new(0.9, 0.5, 0.3)).unwrap(),
        Shape::half_space(DVec3::Z).unwrap(),
        Shape::mesh(generate::torus(0.7, 0.3, 24, 16).unwrap()).unwrap(),
        Shape::compound(vec![
            (Pose::at(DVec3::X * 0.6), Shape::sphere(0.4).unwrap()),
            (Pose::at(DVec3::X * -0.6), Shape::cuboid(DVec3::splat(0.3)).unwrap()),
        ])
        .unwrap(),
    ];
    let mut scratch = Scratch::default();
    for shape in &shapes {
        let mut hits = 0;
        for _ in 0..400 {
            let (c, r) = (random.vector(-2.0, 2.0), random.range(0.01, 0.3));
            let d = -1.5 * c + random.vector(-1.0, 1.0);
            let gap = |s: f64| shape.closest_point(c + s * d).unwrap().distance - r;
            if gap(0.0) <= 0.0 {
                continue;
            }
            let first = (1..=400).map(|k| f64::from(k) / 400.0).find(|s| gap(*s) <= 0.0);
            match swept_particle_shape(c, d, r, shape, &mut scratch) {
                Some(hit) => {
                    hits += 1;
                    assert!(gap(hit.time).abs() < 1e-8, "{:?}: gap {}", shape.kind(), gap(hit.time));
                    let earlier = (0..100).map(|k| 0.999 * hit.time * f64::from(k) / 100.0);
                    assert!(earlier.into_iter().all(|s| gap(s) > -1e-9), "{:?} touched before", shape.kind());
                }
                None => assert!(first.is_none(), "{:?}: missed a hit at {first:?}", shape.kind()),
            }
        }
        assert!(hits > 20, "{:?}", shape.kind());
    }
}

/// T-COL-04: a refitted tree finds the pairs of a new one, with any number of particles per leaf.
#[test]
fn refitted_tree_equals_rebuilt_tree() {
    let mut random = Random::new(14);
    let n = 300;
    let mut position: Vec<DVec3> = (0..n).map(|_| random.vector(0.0, 4.0)).collect();
    let radius: Vec<f64> = (0..n).map(|_| random.range(0.02, 0.15)).collect();
    let mut kept = ParticleTree::default();
    for _ in 0..100 {
        let before = position.clone();
        for p in &mut position {
            *p += random.vector(-0.1, 0.1);
        }
        kept.update((&before, &position, &radius), BvhKind::Aabb, 1, false).unwrap();
        let pairs = |tree: &mut ParticleTree| {
            let mut pairs = Vec::new();
            for i in 0..n {
                tree.near(i, |j| pairs.push((i, j)));
            }
            pairs.sort_unstable();
            pairs
        };
        let expected = pairs(&mut kept);
        for leaf in [1, 4, 16] {
            let mut fresh = ParticleTree::default();
            fresh.update((&before, &position, &radius), BvhKind::Aabb, leaf, true).unwrap();
            assert_eq!(pairs(&mut fresh), expected);
        }
    }
    assert!(kept.refits > 90, "{} refits, {} builds", kept.refits, kept.builds);
    let refused = kept.update((&position, &position, &radius), BvhKind::Obb, 1, false);
    assert!(matches!(refused, Err(ParticleError::UnsupportedBvh { .. })));
}

/// T-COL-05: particles in a torus and in a hollow box are found by the winding number's answer, and every policy
/// leaves none inside within 60 intervals.
#[test]
fn particles_inside_bodies_get_out() {
    let torus = generate::torus(1.0, 0.4, 32, 16).unwrap();
    let hollow = {
        let soup = generate::cuboid_with_hole(DVec3::new(1.0, 1.0, 0.6), 0.4, 0.4).unwrap();
        rattleback_geometry::TriangleMesh::from_soup(&soup).unwrap()
    };
    for (name, mesh) in [("torus", torus), ("box with a hole", hollow)] {
        for policy in [InsidePolicy::Remove, InsidePolicy::ProjectToSurface, InsidePolicy::SpringOut] {
            let mut random = Random::new(15);
            let mut system = ParticleSystem::default();
            system.settings.inside_policy = policy;
            system.settings.collisions.internal = false;
            let mut inside = 0;
            for _ in 0..1000 {
                let position = random.vector(-1.2, 1.2);
                inside += u64::from(mesh.contains(position));
                system.particles.add(&Particle { position, ..Particle::default() }).unwrap();
            }
            let mut body = RigidObstacle::fixed(Shape::mesh(mesh.clone()).unwrap(), Pose::IDENTITY).unwrap();
            system.step(1.0 / 60.0, &mut [&mut body]).unwrap();
            let statistics = system.statistics();
            assert_eq!(statistics.removed_inside + statistics.repaired_inside, inside, "{name}, {policy:?}");
            for _ in 0..59 {
                system.step(1.0 / 60.0, &mut [&mut body]).unwrap();
            }
            let left = system.particles.position().iter().filter(|p| {
                let near =
                    rattleback_geometry::Shape::mesh(mesh.clone()).unwrap().closest_point(**p).unwrap();
                near.distance < -1e-6
            });
            assert_eq!(left.count(), 0, "{name}, {policy:?}");
        }
    }
}
