//! Convex decomposition against volumes, solid angles and sampled points.

use crate::meshes::distance_to_triangle;
use crate::random;

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

use glam::DVec3;
use proptest::prelude::*;
use random::Random;
use rattleback_geometry::decomposition::{
    ApproximateSettings, Decomposition, DecompositionError, DecompositionSettings, approximate_decomposition,
    decompose, decompose_polyhedron, decompose_soup, dihedral_angles, split_faces,
};
use rattleback_geometry::{
    ConvexPolyhedron, MassProperties, MeshError, PolygonSoup, Polyhedron, Pose, TriangleMesh, generate,
};

fn settings() -> DecompositionSettings {
    DecompositionSettings::default()
}

/// Counter-clockwise outline ⇒ prism from z = 0 to `height`, polygonal ends.
fn prism_soup(outline: &[(f64, f64)], height: f64) -> PolygonSoup {
    let count = outline.len() as u32;
    let level = |z: f64| outline.iter().map(move |&(x, y)| DVec3::new(x, y, z));
    let mut soup = PolygonSoup::new(level(0.0).chain(level(height)).collect());
    soup.push_face(&(0..count).rev().collect::<Vec<_>>());
    soup.push_face(&(count..2 * count).collect::<Vec<_>>());
    for i in 0..count {
        let j = (i + 1) % count;
        soup.push_face(&[i, j, count + j, count + i]);
    }
    soup
}

fn prism(outline: &[(f64, f64)], height: f64) -> TriangleMesh {
    TriangleMesh::from_soup(&prism_soup(outline, height)).unwrap()
}

const L: [(f64, f64); 6] = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)];

fn star(points: u32, inner: f64) -> TriangleMesh {
    let corner = |i: u32| {
        let angle = TAU * f64::from(i) / f64::from(2 * points);
        let radius = if i.is_multiple_of(2) { 1.0 } else { inner };
        (radius * angle.cos(), radius * angle.sin())
    };
    prism(&(0..2 * points).map(corner).collect::<Vec<_>>(), 0.5)
}

/// Cells of a grid ⇒ their union; None unless it bounds one solid.
fn cells_union(cells: &[[i32; 3]]) -> Option<TriangleMesh> {
    let mut index = HashMap::new();
    let mut soup = PolygonSoup::default();
    for &cell in cells {
        for axis in 0..3 {
            for (step, far) in [(-1, 0), (1, 1)] {
                let mut next = cell;
                next[axis] += step;
                if cells.contains(&next) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut corners: Vec<u32> = [(0, 0), (1, 0), (1, 1), (0, 1)]
                    .iter()
                    .map(|&(a, b)| {
                        let mut p = cell;
                        p[axis] += far;
                        p[u] += a;
                        p[v] += b;
                        *index.entry(p).or_insert_with(|| {
                            soup.vertices.push(DVec3::from_array(p.map(f64::from)));
                            soup.vertices.len() as u32 - 1
                        })
                    })
                    .collect();
                if far == 0 {
                    corners.reverse();
                }
                soup.push_face(&corners);
            }
        }
    }
    let mesh = TriangleMesh::from_soup(&soup).ok()?;
    (mesh.is_solid() && mesh.report().ok()?.components == 1).then_some(mesh)
}

/// Union of random blocks on a small grid, each touching or overlapping another.
fn random_blocks(random: &mut Random, count: usize) -> TriangleMesh {
    loop {
        let mut cells = Vec::new();
        for _ in 0..count {
            let low: [i32; 3] = std::array::from_fn(|_| (random.bits() % 4) as i32);
            let size: [i32; 3] = std::array::from_fn(|_| 1 + (random.bits() % 3) as i32);
            for i in 0..size[0] * size[1] * size[2] {
                let cell =
                    [low[0] + i % size[0], low[1] + i / size[0] % size[1], low[2] + i / (size[0] * size[1])];
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
        if let Some(mesh) = cells_union(&cells) {
            return mesh;
        }
    }
}

/// How far outside a convex part a point lies: below 0 inside.
fn height_over(part: &ConvexPolyhedron, p: DVec3) -> f64 {
    part.normals().iter().zip(part.offsets()).map(|(n, d)| n.dot(p) - d).fold(f64::NEG_INFINITY, f64::max)
}

/// CVX-1: the parts are convex, fill the solid exactly, and overlap nowhere.
fn check(mesh: &TriangleMesh, result: &Decomposition, samples: usize) {
    for part in &result.unresolved {
        println!("unresolved: {:?} {:?}", part.reflex_edges, part.mesh.solid_error());
    }
    assert!(result.unresolved.is_empty(), "{} parts unresolved", result.unresolved.len());
    let volume = mesh.integrals().unwrap().t1;
    let size = mesh.bounds().diagonal();
    let sum: f64 = result.parts.iter().map(|part| part.integrals().t1).sum();
    assert!((sum / volume - 1.0).abs() < 1e-10, "volume {sum} of {volume}");
    for part in &result.parts {
        for angle in dihedral_angles(part) {
            assert!(angle <= PI + 1e-7, "angle {angle}");
        }
        assert!(ConvexPolyhedron::new(part.polyhedron().clone()).is_ok());
    }
    let whole = mesh.mass_properties(3.0).unwrap();
    let masses: Vec<MassProperties> =
        result.parts.iter().map(|part| part.mass_properties(3.0).unwrap()).collect();
    let combined = MassProperties::combine(&masses).unwrap();
    assert!((combined.mass / whole.mass - 1.0).abs() < 1e-9);
    assert!(combined.center_of_mass.abs_diff_eq(whole.center_of_mass, 1e-9 * size));
    assert!(
        (combined.inertia - whole.inertia).abs_diff_eq(glam::DMat3::ZERO, 1e-9 * whole.mass * size * size)
    );
    let mut random = Random(1);
    for _ in 0..samples {
        let p = mesh.bounds().center() + 1.02 * mesh.bounds().half_extents() * random.in_cube();
        let heights: Vec<f64> = result.parts.iter().map(|part| height_over(part, p)).collect();
        if heights.iter().any(|h| h.abs() < 1e-6 * size) {
            continue;
        }
        let holders = heights.iter().filter(|h| **h < 0.0).count();
        assert_eq!(holders, usize::from(mesh.contains(p)), "{p} lies in {holders} parts");
    }
}

fn decomposed(mesh: &TriangleMesh, samples: usize) -> Decomposition {
    let result = decompose(mesh, &settings()).unwrap();
    check(mesh, &result, samples);
    result
}

/// CVX-2: how many parts well-known shapes fall into.
#[test]
fn well_known_shapes_fall_into_the_expected_parts() {
    let cube = Polyhedron::new(&generate::cuboid(DVec3::ONE).unwrap()).unwrap();
    let one = decompose_polyhedron(&cube, &settings()).unwrap();
    assert_eq!(one.parts.len(), 1);
    assert_eq!((one.parts[0].vertices().len(), one.parts[0].face_count()), (8, 6));
    assert!(cube.vertices().iter().all(|p| one.parts[0].vertices().contains(p)));
    assert_eq!(decomposed(&generate::icosahedron().unwrap(), 1000).parts.len(), 1);
    assert_eq!(decomposed(&prism(&L, 1.0), 100_000).parts.len(), 2);
    let u = [(0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (2.0, 3.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)];
    assert_eq!(decomposed(&prism(&u, 1.0), 5000).parts.len(), 3);
    let plus = [
        (1.0, 0.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (3.0, 1.0),
        (3.0, 2.0),
        (2.0, 2.0),
        (2.0, 3.0),
        (1.0, 3.0),
        (1.0, 2.0),
        (0.0, 2.0),
        (0.0, 1.0),
        (1.0, 1.0),
    ];
    let parts = decomposed(&prism(&plus, 1.0), 5000).parts.len();
    assert!((3..=5).contains(&parts), "{parts}");
    let ring = generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5).unwrap();
    let result = decompose_soup(&ring, &settings()).unwrap();
    check(&TriangleMesh::from_soup(&ring).unwrap(), &result, 5000);
    println!("ring: {} parts, {} cuts", result.parts.len(), result.report.cuts);
    assert!((4..=8).contains(&result.parts.len()));
    // The first cut opens the ring without adding a part.
    assert!(result.report.cuts >= result.parts.len());
}

/// Every angle of a part is one of the solid's own or at least the limit of the last round.
fn check_new_angles(mesh: &TriangleMesh, result: &Decomposition) {
    let merged = Polyhedron::merged(&mesh.to_soup(), 1e-9).unwrap();
    let own = dihedral_angles(&merged);
    let limit = result.report.min_dihedral;
    assert!(result.report.smallest_new_angle >= limit);
    for angle in result.parts.iter().flat_map(|part| dihedral_angles(part)) {
        assert!(angle >= limit - 1e-9 || own.iter().any(|a| (a - angle).abs() < 1e-7), "{angle} < {limit}");
    }
}

/// CVX-3: a star, a T and random unions of boxes.
#[test]
fn stars_and_unions_of_boxes_are_cut_well() {
    let five = star(5, 0.4);
    let t = [(0.0, 2.0), (1.0, 2.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (3.0, 2.0), (3.0, 3.0), (0.0, 3.0)];
    let mut random = Random(3);
    let mut meshes = vec![five, star(9, 0.6), prism(&t, 0.7)];
    meshes.extend((0..6).map(|_| random_blocks(&mut random, 5)));
    for mesh in &meshes {
        let result = decomposed(mesh, 2000);
        check_new_angles(mesh, &result);
        println!(
            "{} faces: {} parts, {} cuts, {} rounds",
            mesh.triangles().len(),
            result.parts.len(),
            result.report.cuts,
            result.report.rounds
        );
    }
}

/// CVX-4: with too strict a limit nothing is cut until it is lowered.
#[test]
fn limits_are_lowered_when_nothing_can_be_cut() {
    let strict_angle = DecompositionSettings { min_dihedral: 170f64.to_radians(), ..settings() };
    let mesh = prism(&L, 1.0);
    let result = decompose(&mesh, &strict_angle).unwrap();
    check(&mesh, &result, 1000);
    assert_eq!((result.parts.len(), result.report.rounds), (2, 1));
    let stuck = decompose(&mesh, &DecompositionSettings { max_rounds: 0, ..strict_angle }).unwrap();
    assert!(stuck.parts.is_empty());
    assert_eq!(stuck.unresolved.len(), 1);
    assert_eq!(stuck.unresolved[0].reflex_edges.len(), 1);
    assert_eq!(stuck.unresolved[0].reflex_edges[0].map(|p| (p.x, p.y)), [(1.0, 1.0); 2]);
    assert!(stuck.unresolved[0].mesh.is_solid());
    let error = decompose(&mesh, &DecompositionSettings { max_rounds: 0, strict: true, ..strict_angle });
    assert_eq!(error, Err(DecompositionError::Unresolved { edges: 1 }));
}

/// CVX-5: what cannot be cut is refused, each with its own error.
#[test]
fn unsound_input_gives_typed_errors() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let tetrahedron = generate::tetrahedron(corners);
    let mut bow_tie = tetrahedron.clone();
    bow_tie.vertices.extend([-DVec3::X, -DVec3::Y, -DVec3::Z]);
    for face in generate::tetrahedron([DVec3::ZERO, -DVec3::X, -DVec3::Y, -DVec3::Z]).faces() {
        bow_tie.push_face(&[face[0], face[1], face[2]].map(|v| if v == 0 { 0 } else { v + 3 }));
    }
    assert_eq!(
        decompose_soup(&bow_tie, &settings()),
        Err(DecompositionError::Mesh(MeshError::NonManifoldVertex { vertex: 0 }))
    );
    let cube = generate::cuboid(DVec3::ONE).unwrap();
    let mut open = PolygonSoup::new(cube.vertices.clone());
    cube.faces().skip(1).for_each(|face| open.push_face(face));
    assert!(matches!(
        decompose_soup(&open, &settings()),
        Err(DecompositionError::Mesh(MeshError::Open { .. }))
    ));
    let ring = generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5).unwrap();
    let mut with_hole = PolygonSoup::new(ring.vertices.clone());
    ring.faces().enumerate().filter(|(i, _)| i % 4 != 2).for_each(|(_, face)| with_hole.push_face(face));
    with_hole.push_face(&[4, 5, 6, 7, 4, 12, 15, 14, 13, 12]);
    let hole = with_hole.face_count() - 1;
    assert_eq!(decompose_soup(&with_hole, &settings()), Err(DecompositionError::FaceWithHole { face: hole }));
    let bent = prism_soup(&L, 1.0);
    assert_eq!(decompose_soup(&bent, &settings()), Err(DecompositionError::NonConvexFace { face: 0 }));
    let split = decompose_soup(&split_faces(&bent).unwrap(), &settings()).unwrap();
    assert_eq!(split.parts.len(), 2);

    let solid = TriangleMesh::from_soup(&cube).unwrap();
    let small = |at: DVec3| {
        let vertices = solid.vertices().iter().map(|&p| 0.5 * p + at).collect();
        TriangleMesh::new(vertices, solid.triangles().to_vec()).unwrap()
    };
    let hollow = TriangleMesh::joined([&solid, &small(DVec3::ZERO).reversed()]).unwrap();
    assert!(matches!(decompose(&hollow, &settings()), Err(DecompositionError::InteriorVoid { .. })));
    for at in [DVec3::ZERO, DVec3::new(0.9, 0.1, 0.05)] {
        let overlapping = TriangleMesh::joined([&solid, &small(at)]).unwrap();
        assert!(matches!(
            decompose(&overlapping, &settings()),
            Err(DecompositionError::SelfIntersecting { .. })
        ));
    }
    let apart = TriangleMesh::joined([&solid, &small(DVec3::splat(3.0))]).unwrap();
    assert_eq!(decompose(&apart, &settings()).unwrap().parts.len(), 2);
    assert!(matches!(
        approximate_decomposition(&hollow, &ApproximateSettings::default()),
        Err(DecompositionError::InteriorVoid { .. })
    ));
    for max_error in [0.0, f64::NAN, f64::INFINITY] {
        let bad = ApproximateSettings { max_error, ..ApproximateSettings::default() };
        assert!(matches!(approximate_decomposition(&solid, &bad), Err(DecompositionError::Parameter { .. })));
    }
    for bad in [
        DecompositionSettings { min_dihedral: f64::NAN, ..settings() },
        DecompositionSettings { min_distance: -1.0, ..settings() },
        DecompositionSettings { relaxation: 2.0, ..settings() },
        DecompositionSettings { max_candidates: 0, ..settings() },
    ] {
        assert!(matches!(decompose(&solid, &bad), Err(DecompositionError::Parameter { .. })));
    }
}

/// CVX-6: dihedral angles of a regular tetrahedron, a cube and the inner corner of an L.
#[test]
fn dihedral_angles_match_closed_forms() {
    let regular =
        [DVec3::ONE, DVec3::new(1.0, -1.0, -1.0), DVec3::new(-1.0, 1.0, -1.0), DVec3::new(-1.0, -1.0, 1.0)];
    let tetrahedron = Polyhedron::new(&generate::tetrahedron(regular)).unwrap();
    for angle in dihedral_angles(&tetrahedron) {
        assert!((angle - (1.0 / 3.0_f64).acos()).abs() < 1e-12);
        assert!((angle.to_degrees() - 70.528779).abs() < 1e-6);
    }
    let cube = Polyhedron::new(&generate::cuboid(DVec3::ONE).unwrap()).unwrap();
    assert!(dihedral_angles(&cube).iter().all(|angle| (angle - PI / 2.0).abs() < 1e-12));
    let bent = Polyhedron::new(&prism_soup(&L, 1.0)).unwrap();
    let inner: Vec<f64> = dihedral_angles(&bent).into_iter().filter(|angle| *angle > PI).collect();
    assert!(inner.len() == 1 && (inner[0] - 1.5 * PI).abs() < 1e-12);
}

/// A coarse torus and a cup, moved to an odd pose so that nothing lies on an axis.
#[test]
fn curved_solids_with_dents_and_holes_are_cut_exactly() {
    let pose = Random(11).pose(5.0);
    let cup = [(0.0, 0.0), (1.0, 0.0), (1.2, 2.0), (0.9, 2.0), (0.7, 0.4), (0.0, 0.3)];
    for mesh in [
        generate::torus(1.0, 0.35, 8, 5).unwrap(),
        generate::torus(1.0, 0.4, 12, 8).unwrap(),
        generate::revolved(&cup, 7).unwrap(),
    ] {
        let mesh = mesh.transformed(&pose).unwrap();
        let start = std::time::Instant::now();
        let result = decomposed(&mesh, 2000);
        println!(
            "{} faces: {} parts, {} cuts, {} rounds, {:?}",
            mesh.triangles().len(),
            result.parts.len(),
            result.report.cuts,
            result.report.rounds,
            start.elapsed()
        );
    }
}

/// Spheres with every vertex pushed in or out: dents and ridges in all directions, no two faces in one plane.
#[test]
fn spiky_spheres_are_cut_exactly() {
    let mut random = Random(5);
    let sphere = generate::icosphere(2).unwrap();
    for _ in 0..12 {
        let vertices = sphere.vertices().iter().map(|&p| p * random.between(0.75, 1.25)).collect();
        let mesh = TriangleMesh::new(vertices, sphere.triangles().to_vec()).unwrap();
        let result = decomposed(&mesh, 300);
        assert!(result.parts.len() > 10 && result.report.rounds <= 2, "{:?}", result.report);
    }
}

/// Parts cover the solid, overlap nowhere, and protrude no farther than reported.
fn check_approximate(mesh: &TriangleMesh, settings: &ApproximateSettings, samples: usize) -> usize {
    let start = std::time::Instant::now();
    let result = approximate_decomposition(mesh, settings).unwrap();
    let took = start.elapsed();
    let size = mesh.bounds().diagonal();
    println!(
        "{} faces: {} parts, error {:.4} of the diagonal, volume + {:.1} %, {took:.1?}",
        mesh.triangles().len(),
        result.parts.len(),
        result.error_bound / size,
        100.0 * (result.parts_volume / result.volume - 1.0)
    );
    assert!(result.within_limit && result.error_bound <= settings.max_error * size);
    assert!(result.parts_volume >= result.volume * (1.0 - 1e-9));
    for v in mesh.vertices() {
        assert!(result.parts.iter().any(|part| height_over(part, *v) < 1e-8 * size), "{v} left out");
    }
    let mut random = Random(2);
    for _ in 0..samples {
        let p = mesh.bounds().center() + mesh.bounds().half_extents() * random.in_cube();
        let heights: Vec<f64> = result.parts.iter().map(|part| height_over(part, p)).collect();
        assert!(heights.iter().filter(|h| **h < -1e-8 * size).count() <= 1, "{p} lies in two parts");
        let covered = heights.iter().any(|h| *h < 1e-8 * size);
        let inside = mesh.contains(p);
        assert!(covered || !inside, "{p} left out");
        if covered && !inside {
            let nearest = (0..mesh.triangles().len())
                .map(|f| distance_to_triangle(mesh.triangle(f), p))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest <= result.error_bound + 1e-9 * size, "{p}: {nearest} > {}", result.error_bound);
        }
    }
    result.parts.len()
}

#[test]
fn approximate_parts_cover_the_solid_within_their_bound() {
    let within = |max_error| ApproximateSettings { max_error, ..ApproximateSettings::default() };
    // One cut along the inner wall is exact.
    assert_eq!(check_approximate(&prism(&L, 1.0), &within(0.03), 2000), 2);
    assert_eq!(check_approximate(&generate::icosphere(4).unwrap(), &within(0.05), 500), 1);
    check_approximate(&star(5, 0.4), &within(0.03), 2000);
    let ring = TriangleMesh::from_soup(&generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5).unwrap()).unwrap();
    check_approximate(&ring, &within(0.03), 2000);
    check_approximate(&generate::torus(1.0, 0.4, 24, 12).unwrap(), &within(0.04), 2000);
    let mut random = Random(12);
    check_approximate(&random_blocks(&mut random, 5), &within(0.03), 1000);
    let cup = [(0.0, 0.0), (1.0, 0.0), (1.2, 2.0), (0.9, 2.0), (0.7, 0.4), (0.0, 0.3)];
    check_approximate(&generate::revolved(&cup, 24).unwrap(), &within(0.05), 1000);
}

/// Thousands of faces take seconds.
#[test]
fn approximation_of_large_meshes_is_fast() {
    let bumpy = generate::icosphere(5).unwrap();
    let push = |p: DVec3| p * (1.0 + 0.25 * (5.0 * p.x).sin() * (4.0 * p.y).cos() * (3.0 * p.z + 1.0).sin());
    let mesh =
        TriangleMesh::new(bumpy.vertices().iter().map(|&p| push(p)).collect(), bumpy.triangles().to_vec())
            .unwrap();
    let limited = ApproximateSettings { max_error: 0.03, max_parts: 40, ..ApproximateSettings::default() };
    check_approximate(&mesh, &limited, 200);
}

/// A random simple outline: star-shaped about the origin.
fn random_outline(random: &mut Random, corners: u32) -> Vec<(f64, f64)> {
    (0..corners)
        .map(|i| {
            let angle = TAU * (f64::from(i) + random.between(0.1, 0.9)) / f64::from(corners);
            let radius = random.between(0.3, 1.0);
            (radius * angle.cos(), radius * angle.sin())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Extrusions of random outlines, in any pose and size.
    #[test]
    fn random_extrusions_are_cut_exactly(seed in 0..100_000u64, corners in 5..16u32, exponent in -3..4) {
        let mut random = Random(seed);
        let scale = 10f64.powi(exponent);
        let outline: Vec<(f64, f64)> =
            random_outline(&mut random, corners).iter().map(|(x, y)| (scale * x, scale * y)).collect();
        let pose = Pose::new(random.rotation(), scale * random.in_cube());
        let mesh = prism(&outline, 0.7 * scale).transformed(&pose).unwrap();
        decomposed(&mesh, 300);
    }

    /// Random triangles over random points, crumpled meshes that go through themselves, flat and tiny ones: a
    /// result or a typed error.
    #[test]
    fn anything_gives_parts_or_an_error(
        points in prop::collection::vec(prop::array::uniform3(prop_oneof![-1.0..1.0f64, Just(0.0), Just(0.5), Just(1e-12)]), 4..10),
        corners in prop::collection::vec(prop::array::uniform3(0..10u32), 1..20),
        seed in 0..1000u64,
        flatten in prop_oneof![Just(1.0), Just(1e-7), Just(1e-11), Just(0.0)],
    ) {
        let count = points.len() as u32;
        let vertices: Vec<DVec3> = points.into_iter().map(DVec3::from_array).collect();
        let triangles: Vec<[u32; 3]> = corners.into_iter().map(|t| t.map(|c| c % count)).collect();
        let _ = decompose_soup(&PolygonSoup::from_triangles(vertices, &triangles), &settings());
        let crumpled = Random(seed).crumpled_mesh();
        let squashed = crumpled.vertices().iter().map(|&p| p * DVec3::new(1.0, 1.0, flatten)).collect();
        let mesh = TriangleMesh::new(squashed, crumpled.triangles().to_vec()).unwrap();
        let limited = DecompositionSettings { max_parts: 60, max_rounds: 1, check_self_intersection: false, ..settings() };
        let coarse = ApproximateSettings { max_error: 0.1, max_parts: 6, planes_per_axis: 2 };
        if let Ok(result) = approximate_decomposition(&mesh, &coarse) {
            prop_assert!(result.parts.len() <= 6 && result.error_bound.is_finite());
        }
        if let Ok(result) = decompose(&mesh, &limited) {
            prop_assert!(result.parts.len() + result.unresolved.len() <= 61);
        }
    }
}
