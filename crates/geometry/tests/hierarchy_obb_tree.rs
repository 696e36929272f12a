//! Trees of oriented boxes: their shape, their four ways to report, and the contacts they find.

use crate::random;
use crate::torus;

use std::ops::ControlFlow;

use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::hierarchy::{
    BoxFit, BuildSettings, ContactFeature, MeshTree, ObbContacts, ObbScratch, ObbTree, ObbTreeSettings,
    Report, Scratch,
};
use rattleback_geometry::{Pose, TriangleMesh, generate};

/// All combinations of the options.
fn variants() -> Vec<ObbTreeSettings> {
    let mut all = Vec::new();
    for fit in [BoxFit::Hull, BoxFit::Triangles] {
        for bits in 0..8 {
            all.push(ObbTreeSettings {
                fit,
                leaf_boxes: bits & 1 == 0,
                quaternions: bits & 2 != 0,
                skip_leaf_test: bits & 4 != 0,
            });
        }
    }
    all
}

fn collide(a: &ObbTree, b: &ObbTree, pose: &Pose, report: Report) -> ObbContacts {
    let mut contacts = ObbContacts::default();
    a.collide(b, pose, report, &mut ObbScratch::default(), &mut contacts);
    contacts
}

/// T-1: every variant finds exactly the published numbers. T-2: 2N − 1 or N − 1 boxes, each triangle below
/// one, inside all boxes above it within 10⁻⁹; depth at most 4 log₂ N. Memory: at most 6 MB, 3 MB for the
/// small form.
#[test]
fn t_1_counts_t_2_shape_of_the_tree() {
    let mesh = torus::torus();
    for settings in variants() {
        let tree = ObbTree::build(&mesh, &settings).unwrap();
        assert_eq!(tree.node_count(), if settings.leaf_boxes { 9999 } else { 4999 });
        let limit = if settings.leaf_boxes { 6_000_000 } else { 3_000_000 };
        assert!(tree.memory() <= limit, "{} bytes", tree.memory());
        let mut seen = vec![0; 5000];
        let mut path = Vec::new();
        tree.for_each_box(|depth, axes, center, half, own| {
            assert!((depth as f64) <= 4.0 * 5000f64.log2());
            path.truncate(depth);
            path.push((axes, center, half));
            for &triangle in own {
                seen[triangle as usize] += 1;
                for p in mesh.triangle(triangle as usize) {
                    for (axes, center, half) in &path {
                        assert!((axes.transpose() * (p - center)).abs().cmple(*half + 1e-9).all());
                    }
                }
            }
        });
        assert!(seen.iter().all(|&times| times == 1));
        for (dx, expected) in torus::COUNTS {
            let found = collide(&tree, &tree, &torus::pose(dx), Report::ALL_PAIRS);
            assert_eq!(found.pairs.len(), expected, "{settings:?} dx = {dx}");
            assert_eq!(found.cost.volume_transforms, 1);
        }
    }
}

/// T-7: pairs equal those of the mesh hierarchy (itself held against brute force) on random poses of torus,
/// bumpy sphere and soup, also between trees of different variants.
#[test]
fn t_7_pairs_in_random_poses() {
    let mut random = Random(41);
    let vertices: Vec<DVec3> = (0..400)
        .flat_map(|_| {
            let center = random.in_cube();
            [0; 3].map(|_| center + 0.2 * random.in_cube())
        })
        .collect();
    let soup =
        TriangleMesh::new(vertices, (0..400).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap();
    let meshes = [generate::torus(1.0, 0.4, 24, 12).unwrap(), random.crumpled_mesh(), soup];
    let variants = variants();
    let trees: Vec<Vec<ObbTree>> = meshes
        .iter()
        .map(|mesh| variants.iter().map(|settings| ObbTree::build(mesh, settings).unwrap()).collect())
        .collect();
    let wide: Vec<MeshTree> =
        meshes.iter().map(|mesh| MeshTree::build(mesh, &BuildSettings::default()).unwrap()).collect();
    for round in 0..1000 {
        let (a, b) = (round % 3, round / 3 % 3);
        let center = |k: usize| meshes[k].bounds().center();
        let mut pose = random.pose(1.5);
        pose.translation += center(a) - pose.vector(center(b));
        let (tree_a, tree_b) = (&trees[a][round % variants.len()], &trees[b][round / 7 % variants.len()]);
        let mut expected = Vec::new();
        wide[a].crossing_pairs(&wide[b], &pose, &mut Scratch::default(), |i, j| {
            expected.push((i, j));
            ControlFlow::Continue(())
        });
        expected.sort_unstable();
        let mut found = collide(tree_a, tree_b, &pose, Report::ALL_PAIRS);
        found.pairs.sort_unstable();
        assert_eq!(found.pairs, expected);
        // T-8: the first pair is one of all; reports with points see the same pairs.
        let first = collide(tree_a, tree_b, &pose, Report::FIRST_PAIR);
        assert_eq!(first.pairs.len(), expected.len().min(1));
        assert!(first.pairs.iter().all(|pair| expected.contains(pair)));
        let first = collide(tree_a, tree_b, &pose, Report::FIRST_POINTS);
        assert_eq!(first.pairs.len(), expected.len().min(1));
    }
}

/// T-8: contact points lie on or behind both surfaces within their depth, normals are unit vectors from A to
/// B.
#[test]
fn t_8_points_of_two_spheres() {
    let mesh = generate::icosphere(4).unwrap();
    let tree = ObbTree::build(&mesh, &ObbTreeSettings::default()).unwrap();
    let surface = MeshTree::build(&mesh, &BuildSettings::default()).unwrap();
    let mut random = Random(42);
    for _ in 0..50 {
        let direction = random.on_sphere();
        let pose = Pose::new(random.rotation(), 1.97 * direction);
        let all = collide(&tree, &tree, &pose, Report::ALL_POINTS);
        assert!(!all.pairs.is_empty() && !all.points.is_empty());
        for contact in &all.points {
            assert!((contact.normal.length() - 1.0).abs() < 1e-12);
            assert!(contact.normal.dot(direction) > 0.5, "{direction} {contact:?}");
            let mut scratch = Scratch::default();
            for p in [contact.point, pose.inverse_point(contact.point)] {
                let away = surface.nearest_point(p, f64::INFINITY, &mut scratch).unwrap().distance;
                assert!(away <= contact.depth + 1e-12 && contact.depth < 0.05, "{away} {contact:?}");
            }
        }
    }
}

fn solid(half: DVec3) -> TriangleMesh {
    TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap()
}

/// T-9: a tetrahedron's apex in a box's face makes one contact, at the apex, along the face normal.
#[test]
fn t_9_corner_in_a_face() {
    let plate = ObbTree::build(&solid(DVec3::new(2.0, 2.0, 0.5)), &ObbTreeSettings::default()).unwrap();
    let apex = DVec3::new(0.3, 0.1, 0.49);
    let corners = [
        apex,
        apex + DVec3::new(1.0, 0.0, 2.0),
        apex + DVec3::new(-0.7, 0.8, 2.0),
        apex + DVec3::new(-0.5, -0.9, 2.0),
    ];
    let spike = TriangleMesh::from_soup(&generate::tetrahedron(corners)).unwrap();
    let spike = ObbTree::build(&spike, &ObbTreeSettings::default()).unwrap();
    let found = collide(&plate, &spike, &Pose::IDENTITY, Report::ALL_POINTS);
    assert_eq!(found.points.len(), 1, "{:?}", found.points);
    let contact = found.points[0];
    assert_eq!(contact.feature, ContactFeature::CornerOfB);
    assert!(contact.normal.abs_diff_eq(DVec3::Z, 1e-9) && contact.point.abs_diff_eq(apex, 1e-12));
    assert!((contact.depth - 0.01).abs() < 1e-12);
    // The other way round the normal turns.
    let found = collide(&spike, &plate, &Pose::IDENTITY, Report::ALL_POINTS);
    assert_eq!(found.points.len(), 1);
    assert_eq!(found.points[0].feature, ContactFeature::CornerOfA);
    assert!(found.points[0].normal.abs_diff_eq(-DVec3::Z, 1e-9));
}

/// T-9: two bars crossing edge to edge make one contact, along the product of the edges.
#[test]
fn t_9_crossing_edges() {
    let bar = ObbTree::build(&solid(DVec3::new(2.0, 0.5, 0.5)), &ObbTreeSettings::default()).unwrap();
    let quarter = std::f64::consts::FRAC_PI_4;
    // Both stand on an edge; the upper one lies across and 0.05 too low.
    let lower = Pose::new(DQuat::from_rotation_x(quarter), DVec3::ZERO);
    let height = 2f64.sqrt() - 0.05;
    let upper = Pose::new(
        DQuat::from_rotation_z(1.1) * DQuat::from_rotation_x(quarter),
        DVec3::new(0.1, 0.05, height),
    );
    let found = collide(&bar, &bar, &lower.relative(&upper), Report::ALL_POINTS);
    assert_eq!(found.points.len(), 1, "{:?}", found.points);
    let contact = found.points[0];
    assert!(matches!(contact.feature, ContactFeature::Edges(..)));
    assert!(lower.vector(contact.normal).abs_diff_eq(DVec3::Z, 1e-9), "{}", lower.vector(contact.normal));
    assert!((contact.depth - 0.05).abs() < 1e-9);
    let z = lower.point(contact.point).z;
    assert!((z - (0.5f64.sqrt() - 0.025)).abs() < 1e-9, "{z}");
}

/// T-9: one box standing on another makes four points at the corners of the smaller one.
#[test]
fn t_9_face_on_face() {
    let table = ObbTree::build(&solid(DVec3::new(2.0, 2.0, 0.5)), &ObbTreeSettings::default()).unwrap();
    let cube = ObbTree::build(&solid(DVec3::splat(0.5)), &ObbTreeSettings::default()).unwrap();
    let pose = Pose::new(DQuat::from_rotation_z(0.3), DVec3::new(0.21, 0.13, 0.999));
    let found = collide(&table, &cube, &pose, Report::ALL_POINTS);
    assert!((4..=8).contains(&found.points.len()), "{:?}", found.points);
    for contact in &found.points {
        assert!(contact.normal.abs_diff_eq(DVec3::Z, 1e-9), "{contact:?}");
        assert!((contact.depth - 1e-3).abs() < 1e-9);
    }
}

/// T-20: duplicates, single triangles, triangles without area and broken poses have a defined answer.
#[test]
fn t_20_degenerate_input() {
    let corners = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::Y,
        2.0 * DVec3::X,
        DVec3::new(0.2, 0.2, -1.0),
        DVec3::new(0.3, 0.2, 1.0),
    ];
    for settings in variants() {
        let build = |triangles: Vec<[u32; 3]>| {
            ObbTree::build(&TriangleMesh::new(corners.clone(), triangles).unwrap(), &settings).unwrap()
        };
        let (single, twice) = (build(vec![[0, 1, 2]]), build(vec![[0, 1, 2]; 20]));
        let (line, across) = (build(vec![[0, 1, 3]; 3]), build(vec![[4, 5, 1]]));
        assert_eq!(collide(&single, &twice, &Pose::IDENTITY, Report::ALL_POINTS).pairs.len(), 20);
        assert_eq!(collide(&single, &across, &Pose::IDENTITY, Report::ALL_POINTS).pairs.len(), 1);
        assert_eq!(collide(&single, &line, &Pose::IDENTITY, Report::ALL_POINTS).pairs.len(), 3);
        assert_eq!(collide(&single, &line, &Pose::at(DVec3::Z), Report::ALL_POINTS).pairs.len(), 0);
        let broken = Pose::at(DVec3::NAN);
        assert!(collide(&single, &single, &broken, Report::ALL_POINTS).pairs.is_empty());
    }
}
