//! Hulls against brute force, with every kind of awkward input.

use crate::random;

use std::collections::BTreeSet;
use std::time::Instant;

use glam::DVec3;
use proptest::prelude::*;
use random::Random;
use rattleback_geometry::{
    ConvexPolyhedron, HullError, MeshError, Polyhedron, VolumeIntegrals, convex_hull, convex_hull_with,
    generate,
};

fn counts(hull: &ConvexPolyhedron) -> (usize, usize, usize) {
    (hull.vertices().len(), hull.edges().len(), hull.face_count())
}

fn assert_is_hull_of(hull: &ConvexPolyhedron, points: &[DVec3], tolerance: f64) {
    let (v, e, f) = counts(hull);
    assert_eq!(v + f, e + 2, "Euler");
    for (normal, offset) in hull.normals().iter().zip(hull.offsets()) {
        for p in points {
            assert!(
                normal.dot(*p) <= offset + tolerance,
                "point {p} lies {} outside",
                normal.dot(*p) - offset
            );
        }
    }
    for (i, p) in hull.vertices().iter().enumerate() {
        assert!(points.contains(p), "vertices come from the input");
        // The mean normal of its faces sees a vertex as the only farthest point.
        let direction: DVec3 = hull
            .vertex_edges(i)
            .iter()
            .flat_map(|&edge| hull.edges()[edge as usize].faces)
            .map(|face| hull.normals()[face as usize])
            .sum();
        for (j, q) in hull.vertices().iter().enumerate() {
            assert!(i == j || q.dot(direction) < p.dot(direction), "vertex {i} is not extreme");
        }
    }
}

fn cube_grid(n: usize) -> Vec<DVec3> {
    let step = 1.0 / (n - 1) as f64;
    let at = |i: usize| DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64) * step;
    (0..n * n * n).map(at).collect()
}

#[test]
fn grid_of_a_cube_has_eight_corners_wherever_it_stands() {
    let mut random = Random(5);
    let grid = cube_grid(10);
    assert_eq!(counts(&convex_hull(&grid).unwrap()), (8, 12, 6));
    for round in 0..50 {
        let pose = random.pose(if round % 2 == 0 { 1.0 } else { 1000.0 });
        let scale = 10.0_f64.powi(round % 13 - 6);
        let points: Vec<DVec3> = grid.iter().map(|&p| scale * pose.point(p)).collect();
        let hull = convex_hull(&points).unwrap();
        assert_eq!(counts(&hull), (8, 12, 6), "{pose:?} × {scale}");
        assert!((hull.integrals().t1 / scale.powi(3) - 1.0).abs() < 1e-9);
    }
}

/// BVH-8: a cube with 1000 points inside and 600 on its faces has 6 facets, 8 vertices and its exact volume.
#[test]
fn bvh_8_interior_and_face_points_vanish() {
    let mut random = Random(6);
    let mut points: Vec<DVec3> = (0..1000).map(|_| 0.999 * random.in_cube()).collect();
    for i in 0..600 {
        let mut p = random.in_cube();
        p[i % 3] = if i % 2 == 0 { 1.0 } else { -1.0 };
        points.push(p);
    }
    points.extend(generate::cuboid(DVec3::ONE).unwrap().vertices);
    let hull = convex_hull(&points).unwrap();
    assert_eq!(counts(&hull), (8, 12, 6));
    assert!((hull.integrals().t1 - 8.0).abs() < 1e-14);
}

/// BVH-8: points in general position on a sphere: F = 2n − 4, E = 3n − 6.
#[test]
fn bvh_8_every_point_of_a_sphere_is_a_vertex() {
    let mut random = Random(7);
    for n in [4, 10, 100, 2000] {
        let points: Vec<DVec3> = (0..n).map(|_| random.on_sphere()).collect();
        let hull = convex_hull(&points).unwrap();
        assert_eq!(counts(&hull), (n, 3 * n - 6, 2 * n - 4));
        if n <= 100 {
            assert_is_hull_of(&hull, &points, 1e-12);
        }
    }
}

#[test]
fn hundred_thousand_points_take_well_under_a_second() {
    let mut random = Random(8);
    let points: Vec<DVec3> = (0..100_000).map(|_| random.on_sphere()).collect();
    let start = Instant::now();
    let hull = convex_hull(&points).unwrap();
    let took = start.elapsed().as_secs_f64();
    println!("hull of 100 000 points on a sphere: {took:.3} s");
    assert_eq!(hull.vertices().len(), 100_000);
    assert!((hull.integrals().t1 / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 1e-3);
    // Generous for a busy machine; the benchmark has the real number.
    assert!(took < 2.0, "{took} s");
}

#[test]
fn flat_and_poor_input_is_named() {
    let line = |i: usize| DVec3::new(0.1, 0.7, -0.3) * i as f64 + 5.0;
    let plane = |i: usize| DVec3::new((i % 5) as f64, (i / 5) as f64, 0.3 * (i % 5) as f64);
    let of =
        |point: &dyn Fn(usize) -> DVec3, n| convex_hull(&(0..n).map(point).collect::<Vec<_>>()).unwrap_err();
    assert_eq!(of(&|_| DVec3::ONE, 9), HullError::Degenerate { rank: 0 });
    assert_eq!(of(&line, 20), HullError::Degenerate { rank: 1 });
    assert_eq!(of(&plane, 25), HullError::Degenerate { rank: 2 });
    assert_eq!(of(&line, 3), HullError::TooFewPoints { count: 3 });
    assert_eq!(of(&|i| if i == 3 { DVec3::NAN } else { line(i) }, 5), HullError::NonFinite { point: 3 });
    assert_eq!(
        of(&|i| if i == 4 { DVec3::splat(1e60) } else { line(i) }, 5),
        HullError::TooLarge { point: 4 }
    );
    assert!(matches!(convex_hull_with(&cube_grid(2), f64::NAN), Err(HullError::Tolerance { .. })));
}

/// A single-precision cylinder needs a looser tolerance to get its flat ends back.
#[test]
fn tolerance_merges_single_precision_noise() {
    let mesh = generate::cylinder(1.0, 2.0, 32).unwrap();
    let rough: Vec<DVec3> = mesh.vertices().iter().map(|p| p.as_vec3().as_dvec3() * 0.1).collect();
    let tilt = glam::Quat::from_rotation_x(0.3);
    let rough: Vec<DVec3> = rough.iter().map(|p| (tilt * p.as_vec3()).as_dvec3()).collect();
    assert_eq!(counts(&convex_hull_with(&rough, 1e-6).unwrap()), (64, 96, 34));
}

#[test]
fn convexity_is_checked() {
    let torus = generate::torus(2.0, 0.5, 12, 8).unwrap();
    let torus = Polyhedron::new(&torus.to_soup()).unwrap();
    assert_eq!(ConvexPolyhedron::new(torus), Err(MeshError::NotSimple));
    let mut dented = generate::icosphere(2).unwrap().to_soup();
    dented.vertices[3] *= 0.5;
    let dented = ConvexPolyhedron::new(Polyhedron::new(&dented).unwrap());
    assert!(matches!(dented, Err(MeshError::NotConvex { .. })));
    let sphere = Polyhedron::new(&generate::icosphere(3).unwrap().to_soup()).unwrap();
    assert!(ConvexPolyhedron::new(sphere).is_ok());
}

/// Distinct planes through three points with all points on one side, in whole numbers: the facets. A point in
/// three or more of them is a vertex.
fn brute_force(points: &BTreeSet<[i64; 3]>) -> (usize, usize) {
    let points: Vec<[i64; 3]> = points.iter().copied().collect();
    let minus = |a: [i64; 3], b: [i64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let dot = |a: [i64; 3], b: [i64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let mut facets = BTreeSet::new();
    for i in 0..points.len() {
        for j in 0..points.len() {
            for k in 0..points.len() {
                let (e, f) = (minus(points[j], points[i]), minus(points[k], points[i]));
                let n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
                let offset = dot(n, points[i]);
                if n != [0; 3] && points.iter().all(|&p| dot(n, p) <= offset) {
                    facets.insert(
                        (0..points.len()).filter(|&l| dot(n, points[l]) == offset).collect::<Vec<_>>(),
                    );
                }
            }
        }
    }
    let vertices = (0..points.len()).filter(|i| facets.iter().filter(|f| f.contains(i)).count() >= 3).count();
    (vertices, facets.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Small whole coordinates: duplicates, lines and planes everywhere.
    #[test]
    fn lattice_points_agree_with_whole_number_brute_force(
        points in prop::collection::vec(prop::array::uniform3(0i64..4), 4..22),
    ) {
        let distinct: BTreeSet<[i64; 3]> = points.iter().copied().collect();
        let floats: Vec<DVec3> = points.iter().map(|p| DVec3::from_array(p.map(|x| x as f64 * 0.1))).collect();
        match convex_hull(&floats) {
            Ok(hull) => {
                let (vertices, facets) = brute_force(&distinct);
                prop_assert_eq!((hull.vertices().len(), hull.face_count()), (vertices, facets));
                assert_is_hull_of(&hull, &floats, 1e-14);
            }
            Err(HullError::Degenerate { rank }) => {
                let first = *distinct.iter().next().unwrap();
                let of = |p: &[i64; 3]| DVec3::from_array(std::array::from_fn(|i| (p[i] - first[i]) as f64));
                let volume = distinct.iter().any(|a| distinct.iter().any(|b| distinct.iter().any(|c| {
                    of(a).dot(of(b).cross(of(c))) != 0.0
                })));
                let area = distinct.iter().any(|a| distinct.iter().any(|b| of(a).cross(of(b)) != DVec3::ZERO));
                prop_assert!(!volume);
                prop_assert_eq!(rank, if area { 2 } else { usize::from(distinct.len() > 1) });
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn random_points_lie_inside_their_hull(
        points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 8..120), stretch in -6..1i32,
    ) {
        // Down to a millionth as thick as it is wide.
        let squash = DVec3::new(1.0, 1.0, 10.0_f64.powi(stretch));
        let points: Vec<DVec3> = points.iter().map(|&p| DVec3::from_array(p) * squash).collect();
        let hull = convex_hull(&points).unwrap();
        assert_is_hull_of(&hull, &points, 1e-11);
        // Every support query finds the farthest of all points, from wherever it starts.
        for d in [DVec3::X, DVec3::new(0.3, -0.2, 0.5), DVec3::NEG_Z] {
            let best = points.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max);
            for start in [0, hull.vertices().len() as u32 / 2, u32::MAX] {
                let found = hull.vertices()[hull.support_vertex(d, start) as usize].dot(d);
                prop_assert!((found - best).abs() < 1e-12);
            }
        }
    }

    /// Adding points within the hull changes nothing; the volume equals the sum over the triangulated
    /// surface.
    #[test]
    fn hull_of_hull_is_itself(points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 6..60)) {
        let points: Vec<DVec3> = points.iter().map(|&p| DVec3::from_array(p)).collect();
        let hull = convex_hull(&points).unwrap();
        let mut more = hull.vertices().to_vec();
        more.extend(hull.faces().map(|face| {
            face.iter().map(|&i| hull.vertices()[i as usize]).sum::<DVec3>() / face.len() as f64
        }));
        let again = convex_hull(&more).unwrap();
        prop_assert_eq!(again.vertices(), hull.vertices());
        let mesh = hull.to_triangle_mesh().unwrap();
        let volume = VolumeIntegrals::of_triangles(mesh.vertices(), mesh.triangles()).t1;
        prop_assert!((volume - hull.integrals().t1).abs() < 1e-13);
    }
}

/// Three places that span a needle, and one of them five times: no volume, however the needle's plane is
/// rounded.
#[test]
fn a_needle_and_copies_of_its_tip_have_no_hull() {
    let tip = DVec3::new(-1.0 / 37.0, -1.0 / 32.0, 32.0 / 37.0);
    let mut points = vec![tip, DVec3::X * 7.217_749_953_269_826e-9];
    points.extend([DVec3::ZERO; 5]);
    assert!(matches!(convex_hull(&points), Err(HullError::Degenerate { .. })));
    points.rotate_left(1);
    assert!(matches!(convex_hull(&points), Err(HullError::Degenerate { .. })));
}
