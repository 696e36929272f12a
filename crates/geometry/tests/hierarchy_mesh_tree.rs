//! The mesh hierarchy answers as a loop over all triangles would.

use crate::random;
use crate::torus;

use std::ops::ControlFlow;

use glam::DVec3;
use random::Random;
use rattleback_geometry::hierarchy::{BuildSettings, HierarchyError, MeshTree, Neighbors, Ray, Scratch};
use rattleback_geometry::{Aabb, BoundingSphere, Pose, TriangleMesh, generate};

/// Meshes with and without trouble: closed, open, slivers, coinciding centroids, triangles without area.
fn meshes(random: &mut Random) -> Vec<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let take = |mesh: TriangleMesh| (mesh.vertices().to_vec(), mesh.triangles().to_vec());
    let mut soup = |size: f64, count: u32| {
        let vertices = (0..count).flat_map(|_| {
            let c = random.in_cube();
            [c + size * random.in_cube(), c + size * random.in_cube(), c + size * random.in_cube()]
        });
        let vertices: Vec<DVec3> = vertices.collect();
        (vertices, (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect::<Vec<_>>())
    };
    let scattered = soup(0.2, 300);
    let large = soup(1.0, 60);
    let (mut slivers, sliver_triangles) = soup(0.5, 200);
    for corners in slivers.chunks_mut(3) {
        corners[2] = corners[0] + 0.3 * (corners[1] - corners[0]) + 1e-9 * (corners[2] - corners[0]);
    }
    // Every triangle around the same centroid, each twice.
    let (mut centered, centered_triangles) = soup(1.0, 80);
    for corners in centered.chunks_mut(3) {
        let c = (corners[0] + corners[1] + corners[2]) / 3.0;
        for p in corners {
            *p -= c;
        }
    }
    let twice: Vec<_> = centered_triangles.iter().flat_map(|&t| [t, t]).collect();
    let flat = (vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X, DVec3::Y], vec![[0, 1, 2], [0, 0, 0], [0, 1, 3]]);
    vec![
        take(random.crumpled_mesh()),
        take(generate::torus(1.0, 0.4, 20, 12).unwrap()),
        scattered,
        large,
        (slivers, sliver_triangles),
        (centered, twice),
        flat,
        (vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]),
    ]
}

fn corners(mesh: &(Vec<DVec3>, Vec<[u32; 3]>), i: usize) -> [DVec3; 3] {
    mesh.1[i].map(|v| mesh.0[v as usize])
}

fn each(found: &mut Vec<u32>) -> impl FnMut(u32) -> ControlFlow<()> + '_ {
    |i| {
        found.push(i);
        ControlFlow::Continue(())
    }
}

/// Closest point of a triangle by projection onto the plane and the three edges, by barycentric coordinates.
fn distance_by_projection(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let on_edge = |a: DVec3, b: DVec3| {
        let e = b - a;
        let s = if e == DVec3::ZERO { 0.0 } else { ((p - a).dot(e) / e.length_squared()).clamp(0.0, 1.0) };
        p.distance(a + s * e)
    };
    let mut best = on_edge(a, b).min(on_edge(b, c)).min(on_edge(c, a));
    let (e, f, r) = (b - a, c - a, p - a);
    let (ee, ef, ff) = (e.length_squared(), e.dot(f), f.length_squared());
    let determinant = ee * ff - ef * ef;
    if determinant > 1e-12 * ee * ff {
        let (s, t) =
            ((ff * e.dot(r) - ef * f.dot(r)) / determinant, (ee * f.dot(r) - ef * e.dot(r)) / determinant);
        if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
            best = best.min(p.distance(a + s * e + t * f));
        }
    }
    best
}

/// A tree over one triangle has nothing to leave out: brute force with the same leaf test.
fn alone(mesh: &(Vec<DVec3>, Vec<[u32; 3]>)) -> Vec<MeshTree> {
    (0..mesh.1.len())
        .map(|i| {
            MeshTree::from_triangles(&corners(mesh, i), &[[0, 1, 2]], &BuildSettings::default()).unwrap()
        })
        .collect()
}

/// A-27, first half: rays, points, boxes and spheres, over 10³ random queries each.
#[test]
fn a_27_queries_equal_brute_force() {
    let mut random = Random(21);
    let mut scratch = Scratch::default();
    for mesh in meshes(&mut random) {
        let singles = alone(&mesh);
        let count = mesh.1.len() as u32;
        for round in 0..150 {
            let settings = BuildSettings { max_leaf: 1 + round % 8, threads: 1 };
            let tree = MeshTree::from_triangles(&mesh.0, &mesh.1, &settings).unwrap();
            let origin = if round % 5 == 0 { 1e4 * random.in_cube() } else { 3.0 * random.in_cube() };
            // Towards a vertex, along an axis, or anywhere.
            let direction = match round % 3 {
                0 => mesh.0[random.bits() as usize % mesh.0.len()] - origin,
                1 => DVec3::AXES[round / 3 % 3] * if round % 2 == 0 { 1.0 } else { -0.1 },
                _ => random.in_cube() - origin,
            };
            let ray = Ray::new(origin, direction).unwrap();
            let brute: Vec<_> = (0..count)
                .filter_map(|i| {
                    singles[i as usize].cast_ray(&ray, f64::INFINITY, &mut scratch).map(|hit| (hit.t, i))
                })
                .collect();
            let nearest = brute.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let got = tree.cast_ray(&ray, f64::INFINITY, &mut scratch);
            assert_eq!(got.map(|hit| (hit.t, hit.triangle)), nearest);
            assert_eq!(tree.ray_blocked(&ray, f64::INFINITY, &mut scratch), nearest.is_some());
            let mut hits = Vec::new();
            tree.ray_hits(&ray, f64::INFINITY, &mut scratch, &mut hits);
            let mut all = brute.clone();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            assert_eq!(hits.iter().map(|hit| (hit.t, hit.triangle)).collect::<Vec<_>>(), all);

            let p = origin;
            let distance = |i: u32| distance_by_projection(p, corners(&mesh, i as usize));
            let expected = (0..count).map(distance).fold(f64::INFINITY, f64::min);
            let nearest = tree.nearest_point(p, f64::INFINITY, &mut scratch).unwrap();
            assert!((nearest.distance - expected).abs() <= 1e-12 * expected.max(1.0));
            assert!((distance(nearest.triangle) - expected).abs() <= 1e-12 * expected.max(1.0));
            assert!(tree.nearest_point(p, expected * (1.0 - 1e-9) - 1e-9, &mut scratch).is_none());

            let center = random.in_cube();
            let sphere = BoundingSphere::new(center, random.between(0.0, 0.8)).unwrap();
            let mut found = Vec::new();
            tree.triangles_in_sphere(&sphere, &mut scratch, each(&mut found));
            found.sort_unstable();
            let expected: Vec<u32> = (0..count)
                .filter(|&i| distance_by_projection(center, corners(&mesh, i as usize)) <= sphere.radius())
                .collect();
            assert_eq!(found, expected);

            let query = Aabb::from_center(center, random.in_cube().abs()).unwrap();
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            tree.triangles_in_box(&query, &mut scratch, each(&mut found));
            found.sort_unstable();
            for i in 0..count {
                singles[i as usize].triangles_in_box(&query, &mut scratch, |_| {
                    expected.push(i);
                    ControlFlow::Continue(())
                });
            }
            assert_eq!(found, expected);
        }
    }
}

/// A-27, second half: a sphere of 1 % of the mesh's size on a track of 35 564 faces visits less than 5 % as
/// many nodes.
#[test]
fn a_27_few_nodes_are_visited() {
    // A winding road: 17 782 quads of two triangles each.
    let (length, width) = (8891u32, 2u32);
    let vertices: Vec<DVec3> = (0..=length)
        .flat_map(|i| {
            let s = f64::from(i) / f64::from(length) * std::f64::consts::TAU;
            let center = DVec3::new(s.cos(), s.sin(), 0.1 * (3.0 * s).sin()) * (1.0 + 0.3 * (5.0 * s).cos());
            (0..=width).map(move |j| center * (1.0 + 0.02 * (f64::from(j) - 1.0)))
        })
        .collect();
    let triangles: Vec<[u32; 3]> = (0..length)
        .flat_map(|i| (0..width).map(move |j| i * (width + 1) + j))
        .flat_map(|v| [[v, v + width + 1, v + width + 2], [v, v + width + 2, v + 1]])
        .collect();
    assert_eq!(triangles.len(), 35_564);
    let tree = MeshTree::from_triangles(&vertices, &triangles, &BuildSettings::default()).unwrap();
    let size = tree.bounds().diagonal();
    let mut random = Random(22);
    let (mut scratch, mut worst) = (Scratch::default(), 0);
    for _ in 0..1000 {
        let center = vertices[random.bits() as usize % vertices.len()] + 0.005 * size * random.in_cube();
        let sphere = BoundingSphere::new(center, 0.005 * size).unwrap();
        let visits = tree.triangles_in_sphere(&sphere, &mut scratch, |_| ControlFlow::Continue(()));
        worst = worst.max(visits.nodes);
    }
    // A node holds four boxes.
    assert!(4 * worst < triangles.len() / 20, "{worst} nodes");
}

/// T-1: the two tori cross in exactly the published numbers of triangle pairs.
#[test]
fn t_1_torus_counts() {
    let mesh = torus::torus();
    let mut scratch = Scratch::default();
    for max_leaf in [1, 4] {
        let tree = MeshTree::build(&mesh, &BuildSettings { max_leaf, threads: 1 }).unwrap();
        for (dx, expected) in torus::COUNTS {
            let pose = torus::pose(dx);
            let mut count = 0;
            tree.crossing_pairs(&tree, &pose, &mut scratch, |_, _| {
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(count, expected, "dx = {dx}");
            assert_eq!(tree.first_crossing(&tree, &pose, &mut scratch).is_some(), expected > 0);
        }
    }
}

/// INT-1, T-7: pairs of meshes in random poses, against each triangle alone; scales may differ by 10⁶.
#[test]
fn int_1_pairs_equal_brute_force() {
    let mut random = Random(23);
    let mut scratch = Scratch::default();
    let meshes = meshes(&mut random);
    for round in 0..60 {
        let a = &meshes[round % meshes.len()];
        let mut b = meshes[(round / 3 + 1) % meshes.len()].clone();
        let scale = if round % 4 == 0 { 1e-6 } else { 1.0 };
        for p in &mut b.0 {
            *p *= scale;
        }
        // Close by: a vertex of B lands on a vertex of A in every other round.
        let rotation = random.rotation();
        let target = a.0[random.bits() as usize % a.0.len()];
        let offset = if round % 2 == 0 { DVec3::ZERO } else { 0.3 * random.in_cube() };
        let pose = Pose::new(rotation, target - rotation * b.0[0] + offset);
        let settings = BuildSettings::default();
        let tree_a = MeshTree::from_triangles(&a.0, &a.1, &settings).unwrap();
        let tree_b = MeshTree::from_triangles(&b.0, &b.1, &settings).unwrap();
        let mut found = Vec::new();
        tree_a.crossing_pairs(&tree_b, &pose, &mut scratch, |i, j| {
            found.push((i, j));
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        let (singles_a, singles_b) = (alone(a), alone(&b));
        let mut expected = Vec::new();
        for (i, one) in singles_a.iter().enumerate() {
            for (j, other) in singles_b.iter().enumerate() {
                if one.first_crossing(other, &pose, &mut scratch).is_some() {
                    expected.push((i as u32, j as u32));
                }
            }
        }
        assert_eq!(found, expected, "round {round}");
    }
}

/// A mesh crosses itself exactly where two of its triangles share a point.
#[test]
fn self_crossings_equal_brute_force() {
    let mut random = Random(24);
    let mut scratch = Scratch::default();
    for mesh in meshes(&mut random) {
        let singles = alone(&mesh);
        let tree = MeshTree::from_triangles(&mesh.0, &mesh.1, &BuildSettings::default()).unwrap();
        for neighbors in [Neighbors::Skip, Neighbors::Report] {
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            tree.self_crossings(neighbors, &mut scratch, |i, j| {
                found.push((i, j));
                ControlFlow::Continue(())
            });
            found.sort_unstable();
            for j in 0..mesh.1.len() {
                for i in 0..j {
                    let adjacent = mesh.1[i].iter().any(|v| mesh.1[j].contains(v));
                    let counts = neighbors == Neighbors::Report || !adjacent;
                    let pose = Pose::IDENTITY;
                    if counts && singles[i].first_crossing(&singles[j], &pose, &mut scratch).is_some() {
                        expected.push((i as u32, j as u32));
                    }
                }
            }
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
    // An embedded torus does not cross itself.
    let tree = MeshTree::build(&torus::torus(), &BuildSettings::default()).unwrap();
    let mut crossings = 0;
    tree.self_crossings(Neighbors::Skip, &mut scratch, |_, _| {
        crossings += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(crossings, 0);
}

/// No ray from inside a closed mesh gets out through the seams, even when aimed at them.
#[test]
fn seams_are_tight() {
    let mesh = generate::icosphere(5).unwrap();
    let tree = MeshTree::build(&mesh, &BuildSettings::default()).unwrap();
    let mut random = Random(25);
    let mut scratch = Scratch::default();
    for _ in 0..20_000 {
        let origin = 0.5 * random.in_cube();
        let [a, b, _] = mesh.triangle(random.bits() as usize % mesh.triangles().len());
        let target = a.lerp(b, random.between(0.0, 1.0));
        let ray = Ray::new(origin, target - origin).unwrap();
        let hit = tree.cast_ray(&ray, f64::INFINITY, &mut scratch).unwrap();
        assert!((hit.t - origin.distance(target)).abs() < 1e-9 && !hit.front);
    }
}

/// After a refit the tree answers as one built anew.
#[test]
fn refit_equals_rebuild() {
    let mut random = Random(26);
    let mesh = generate::icosphere(3).unwrap();
    let mut tree = MeshTree::build(&mesh, &BuildSettings::default()).unwrap();
    for round in 0..20 {
        let shift = random.in_cube() * 10f64.powi(round - 10);
        let moved: Vec<DVec3> = mesh.vertices().iter().map(|&p| p + 0.1 * random.in_cube() + shift).collect();
        tree.refit(&moved).unwrap();
        let fresh = MeshTree::from_triangles(&moved, mesh.triangles(), &BuildSettings::default()).unwrap();
        for _ in 0..100 {
            let origin = shift + 3.0 * random.in_cube();
            let ray = Ray::new(origin, shift + random.in_cube() - origin).unwrap();
            let [old, new] =
                [&tree, &fresh].map(|tree| tree.cast_ray(&ray, f64::INFINITY, &mut Scratch::default()));
            assert_eq!(old, new);
            let [old, new] =
                [&tree, &fresh].map(|t| t.nearest_point(origin, f64::INFINITY, &mut Scratch::default()));
            assert_eq!(old, new);
        }
    }
    assert!(tree.refit(&[DVec3::ZERO]).is_err());
}

/// Coordinates as large and as small as allowed work as well as ordinary ones.
#[test]
fn extreme_sizes() {
    let mesh = generate::icosphere(2).unwrap();
    let mut scratch = Scratch::default();
    for (scale, offset) in [(1e49, 0.0), (1e-40, 0.0), (1.0, 1e6), (1e-3, 1e3), (1e3, 1e15)] {
        let vertices: Vec<DVec3> = mesh.vertices().iter().map(|&p| p * scale + offset).collect();
        let tree = MeshTree::from_triangles(&vertices, mesh.triangles(), &BuildSettings::default()).unwrap();
        let center = DVec3::splat(offset);
        let start = center + DVec3::new(3.0, 0.2, 0.1) * scale;
        let hit = tree.cast_ray(&Ray::new(start, -DVec3::X).unwrap(), f64::INFINITY, &mut scratch).unwrap();
        assert!((hit.t / scale - 2.0).abs() < 0.1, "{scale} {offset}: {}", hit.t);
        let nearest = tree.nearest_point(start, f64::INFINITY, &mut scratch).unwrap();
        assert!((nearest.distance / scale - 2.0).abs() < 0.1, "{scale} {offset}: {}", nearest.distance);
    }
}

/// T-20: nothing, NaN and wrong indices are refused; NaN queries find nothing.
#[test]
fn t_20_bad_input() {
    let settings = BuildSettings::default();
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
    assert_eq!(MeshTree::from_triangles(&corners, &[], &settings), Err(HierarchyError::Empty));
    assert_eq!(
        MeshTree::from_triangles(&corners, &[[0, 1, 3]], &settings),
        Err(HierarchyError::NoSuchVertex { triangle: 0, vertex: 3, count: 3 })
    );
    let nan = [DVec3::ZERO, DVec3::X, DVec3::NAN];
    assert!(matches!(
        MeshTree::from_triangles(&nan, &[[0, 1, 2]], &settings),
        Err(HierarchyError::NonFinite { index: 2, .. })
    ));
    let tree = MeshTree::from_triangles(&corners, &[[0, 1, 2]], &settings).unwrap();
    let mut scratch = Scratch::default();
    assert_eq!(tree.nearest_point(DVec3::NAN, f64::INFINITY, &mut scratch), None);
    let broken = Pose::new(glam::DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0), DVec3::ZERO);
    assert_eq!(tree.first_crossing(&tree, &broken, &mut scratch), None);
    let down = Ray::new(DVec3::new(0.2, 0.2, 1.0), -DVec3::Z).unwrap();
    assert!(tree.cast_ray(&down, -1.0, &mut scratch).is_none());
    assert!(tree.cast_ray(&down, 0.99, &mut scratch).is_none());
    assert!(tree.cast_ray(&down, 1.0, &mut scratch).is_some_and(|hit| hit.t == 1.0 && hit.front));
}

/// INT-1: a cube inside another one overlaps it though no triangles cross; points inside agree with the solid
/// angle.
#[test]
fn int_1_containment() {
    let cube = |half: f64| TriangleMesh::from_soup(&generate::cuboid(DVec3::splat(half)).unwrap()).unwrap();
    let settings = BuildSettings::default();
    let (small, large) =
        (MeshTree::build(&cube(0.5), &settings).unwrap(), MeshTree::build(&cube(1.5), &settings).unwrap());
    let mut scratch = Scratch::default();
    assert_eq!(small.first_crossing(&large, &Pose::IDENTITY, &mut scratch), None);
    assert!(small.solids_overlap(&large, &Pose::IDENTITY, &mut scratch));
    assert!(large.solids_overlap(&small, &Pose::IDENTITY, &mut scratch));
    assert!(!large.solids_overlap(&small, &Pose::at(DVec3::X * 2.1), &mut scratch));
    let mut random = Random(27);
    let mesh = generate::torus(1.0, 0.4, 30, 16).unwrap();
    let tree = MeshTree::build(&mesh, &settings).unwrap();
    for _ in 0..5000 {
        let p = 1.5 * random.in_cube();
        assert_eq!(tree.contains(p, &mut scratch), mesh.contains(p));
    }
}
