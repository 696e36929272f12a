//! Trees of boxes, oriented boxes, spheres, hulls and mixtures: what they hold, and that all find the same.

use crate::random;
use crate::torus;

use std::ops::ControlFlow;
use std::time::Instant;

use glam::DVec3;
use random::Random;
use rattleback_geometry::hierarchy::{
    BoxFit, BoxTree, BuildOrder, BuildSettings, Descent, HierarchyError, MeshTree, PairCost, SatMode,
    Scratch, SphereFit, SplitRule, SweepBound, Volume, VolumeKind, VolumePlan, VolumeTree,
    VolumeTreeSettings, swept_box,
};
use rattleback_geometry::{Aabb, Pose, TriangleMesh, generate};

const KINDS: [VolumeKind; 8] = [
    VolumeKind::Aabb,
    VolumeKind::Obb(BoxFit::Hull),
    VolumeKind::Obb(BoxFit::Triangles),
    VolumeKind::Obb(BoxFit::Corners),
    VolumeKind::Sphere(SphereFit::Ritter),
    VolumeKind::Sphere(SphereFit::RitterEigen),
    VolumeKind::Sphere(SphereFit::Smallest),
    VolumeKind::Hull,
];

/// Every kind everywhere, and two mixtures.
fn plans() -> Vec<VolumePlan> {
    let mut plans: Vec<VolumePlan> = KINDS.map(VolumePlan::Uniform).to_vec();
    plans.push(VolumeTreeSettings::default().plan);
    plans.push(VolumePlan::Hybrid {
        upper: VolumeKind::Sphere(SphereFit::Ritter),
        lower: VolumeKind::Hull,
        from_depth: 3,
    });
    plans
}

fn soup(count: u32, size: f64, random: &mut Random) -> TriangleMesh {
    let vertices = (0..count)
        .flat_map(|_| {
            let center = random.in_cube();
            [0; 3].map(|_| center + size * random.in_cube())
        })
        .collect();
    TriangleMesh::new(vertices, (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap()
}

fn fixtures() -> Vec<TriangleMesh> {
    let mut random = Random(31);
    let cube = TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE).unwrap()).unwrap();
    let rod = generate::cylinder(0.01, 10.0, 24).unwrap().transformed(&random.pose(2.0)).unwrap();
    let single =
        TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::new(0.3, 1.0, 2.0)], vec![[0, 1, 2]]).unwrap();
    vec![cube, generate::torus(1.0, 0.4, 50, 20).unwrap(), soup(200, 0.2, &mut random), rod, single]
}

/// BVH-3: every triangle lies inside all volumes above it, for every kind, rule and order of building. BVH-4,
/// first half: the leaves partition the triangles.
#[test]
fn bvh_3_containment_bvh_4_partition() {
    for mesh in fixtures() {
        let count = mesh.triangles().len();
        let tolerance = 1e-12 * mesh.bounds().diagonal();
        for (k, plan) in plans().into_iter().enumerate() {
            let split = [SplitRule::Mean, SplitRule::Median, SplitRule::Middle][k % 3];
            let order = if k % 4 == 3 { BuildOrder::BottomUp } else { BuildOrder::TopDown };
            let settings = VolumeTreeSettings {
                plan,
                split,
                order,
                max_leaf: 1 + k % 2,
                ..VolumeTreeSettings::default()
            };
            let tree = VolumeTree::build(&mesh, &settings).unwrap();
            let mut seen = vec![0; count];
            tree.for_each_node(|_, volume, below, leaf| {
                // A hull's own test takes its time; large ones are sampled.
                let stride = if matches!(volume, Volume::Hull(_)) { 1 + below.len() / 20 } else { 1 };
                let corners: Vec<DVec3> =
                    below.iter().step_by(stride).flat_map(|&i| mesh.triangle(i as usize)).collect();
                for p in corners {
                    assert!(volume.contains(p, tolerance), "{plan:?} {volume:?} {p}");
                }
                if leaf {
                    for &i in below {
                        seen[i as usize] += 1;
                    }
                }
            });
            assert!(seen.iter().all(|&times| times == 1), "{plan:?}");
        }
    }
}

/// BVH-4: on an evenly cut sphere the depth is at most 4 log₂ n + 10, for the textbook rules and for the
/// surface-area rule.
#[test]
fn bvh_4_depth() {
    for level in [1, 4, 6] {
        let mesh = generate::icosphere(level).unwrap();
        let n = mesh.triangles().len() as f64;
        for split in [SplitRule::Mean, SplitRule::Median, SplitRule::Middle] {
            let plan = VolumePlan::Uniform(VolumeKind::Aabb);
            let settings = VolumeTreeSettings { plan, split, ..VolumeTreeSettings::default() };
            let mut depth = 0;
            VolumeTree::build(&mesh, &settings).unwrap().for_each_node(|d, _, _, _| depth = depth.max(d));
            assert!(depth as f64 <= 4.0 * n.log2() + 10.0);
        }
    }
    let mesh = generate::icosphere(7).unwrap();
    let boxes: Vec<Aabb> =
        (0..mesh.triangles().len()).map(|i| Aabb::from_points(mesh.triangle(i)).unwrap()).collect();
    let mut depth = 0;
    BoxTree::build(&boxes, &BuildSettings { max_leaf: 1, threads: 2 })
        .unwrap()
        .for_each_node(|d, _, _| depth = depth.max(d));
    assert!(depth as f64 <= 4.0 * (boxes.len() as f64).log2() + 10.0, "{depth}");
}

fn root(mesh: &TriangleMesh, kind: VolumeKind) -> Volume {
    let settings = VolumeTreeSettings {
        plan: VolumePlan::Uniform(kind),
        max_leaf: usize::MAX >> 40,
        ..VolumeTreeSettings::default()
    };
    let mut found = None;
    VolumeTree::build(mesh, &settings).unwrap().for_each_node(|_, volume, _, _| found = Some(volume.clone()));
    found.unwrap()
}

/// BVH-5, T-3: the oriented box of a oriented box is that box. BVH-6: 10⁵ tiny triangles inside, off centre
/// along a skew line, change it by less than 10⁻⁹ if it is fitted to the hull, by more than 1 % if it is
/// fitted to the corners.
#[test]
fn bvh_5_bvh_6_what_lies_inside_does_not_count() {
    let mut random = Random(32);
    let pose = random.pose(3.0);
    let half = DVec3::new(1.0, 2.0, 3.0);
    let solid = TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap();
    let turned = solid.transformed(&pose).unwrap();
    let mut crowded = solid.to_soup();
    for _ in 0..100_000 {
        let s = random.between(0.0, 1.0);
        let center = DVec3::new(-0.3, 0.2, -1.0).lerp(DVec3::new(0.8, 1.7, 2.0), s);
        let first = crowded.vertices.len() as u32;
        crowded.vertices.extend([0; 3].map(|_| center + 1e-3 * random.in_cube()));
        crowded.push_face(&[first, first + 1, first + 2]);
    }
    let crowded = TriangleMesh::from_soup(&crowded).unwrap().transformed(&pose).unwrap();
    for fit in [BoxFit::Hull, BoxFit::Triangles, BoxFit::Corners] {
        let Volume::Obb(clean) = root(&turned, VolumeKind::Obb(fit)) else {
            panic!("an oriented box was asked for")
        };
        assert!((clean.volume() / 48.0 - 1.0).abs() < 1e-9 || fit == BoxFit::Corners);
        if fit != BoxFit::Corners {
            let mut found = clean.half_extents().to_array();
            found.sort_by(f64::total_cmp);
            assert!(DVec3::from_array(found).abs_diff_eq(half, 1e-9));
            for axis in clean.axes() {
                assert!(pose.inverse_vector(axis).abs().max_element() > 1.0 - 1e-15);
            }
        }
        let Volume::Obb(skewed) = root(&crowded, VolumeKind::Obb(fit)) else {
            panic!("an oriented box was asked for")
        };
        let change = (skewed.volume() / clean.volume() - 1.0).abs();
        match fit {
            BoxFit::Hull => assert!(change < 1e-9 && skewed.center().abs_diff_eq(clean.center(), 1e-9)),
            BoxFit::Corners => assert!(change > 0.01, "{change}"),
            BoxFit::Triangles => {}
        }
    }
}

/// The tighter spheres are never larger than Ritter's.
#[test]
fn tighter_spheres() {
    let mut random = Random(33);
    for _ in 0..100 {
        let mesh = random.crumpled_mesh();
        let [ritter, eigen, smallest] =
            [SphereFit::Ritter, SphereFit::RitterEigen, SphereFit::Smallest].map(|fit| {
                let Volume::Sphere(sphere) = root(&mesh, VolumeKind::Sphere(fit)) else {
                    panic!("a sphere was asked for")
                };
                sphere.radius()
            });
        assert!(smallest <= eigen * (1.0 + 1e-12) && eigen <= ritter);
    }
}

/// T-4: over 10³ random needles the oriented box has less than half the volume of the aligned one on average.
#[test]
fn t_4_needles() {
    let mut random = Random(34);
    let needle = generate::cylinder(0.02, 2.0, 6).unwrap();
    let mut sum = 0.0;
    for _ in 0..1000 {
        let mesh = needle.transformed(&random.pose(1.0)).unwrap();
        let Volume::Obb(fitted) = root(&mesh, VolumeKind::Obb(BoxFit::Hull)) else {
            panic!("an oriented box was asked for")
        };
        let ratio = fitted.volume() / mesh.bounds().volume();
        assert!(ratio < 1.0 + 1e-9);
        sum += ratio;
    }
    assert!(sum / 1000.0 < 0.5, "{}", sum / 1000.0);
}

fn crossings(a: &VolumeTree, b: &VolumeTree, pose: &Pose, descent: Descent) -> (Vec<(u32, u32)>, PairCost) {
    let mut pairs = Vec::new();
    let cost = a.crossing_pairs(b, pose, descent, &mut Scratch::default(), |i, j| {
        pairs.push((i, j));
        ControlFlow::Continue(())
    });
    pairs.sort_unstable();
    (pairs, cost)
}

/// T-1: every kind of tree finds the published numbers of crossing triangles; T-10: oriented boxes need fewer
/// tests than aligned ones or spheres where the surfaces are close.
#[test]
fn t_1_torus_counts_t_10_tests_needed() {
    let mesh = torus::torus();
    let thinner = |p: &DVec3| {
        let ring = DVec3::new(p.x, 0.0, p.z).normalize();
        ring + 0.97 * (p - ring)
    };
    let thin =
        TriangleMesh::new(mesh.vertices().iter().map(thinner).collect(), mesh.triangles().to_vec()).unwrap();
    let mut tests = Vec::new();
    for (k, plan) in plans().into_iter().enumerate() {
        let order = if k == 0 { BuildOrder::BottomUp } else { BuildOrder::TopDown };
        let settings = VolumeTreeSettings { plan, order, ..VolumeTreeSettings::default() };
        let mut tree = VolumeTree::build(&mesh, &settings).unwrap();
        assert_eq!(tree.node_count(), 9999);
        tree.sat_mode = if k % 2 == 0 { SatMode::Full15 } else { SatMode::FaceOnly };
        let descent = if k % 3 == 0 { Descent::Both } else { Descent::Larger };
        for (dx, expected) in torus::COUNTS {
            let (pairs, cost) = crossings(&tree, &tree, &torus::pose(dx), descent);
            assert_eq!(pairs.len(), expected, "{plan:?} dx = {dx}");
            if expected == 0 {
                assert_eq!(cost.triangle_tests, 0);
            }
        }
        // A thinner torus inside: parallel surfaces all over, close together.
        tree.sat_mode = SatMode::Full15;
        let inner = VolumeTree::build(&thin, &settings).unwrap();
        let (pairs, cost) = crossings(&tree, &inner, &Pose::IDENTITY, Descent::Larger);
        assert!(pairs.is_empty());
        tests.push(cost.volume_tests);
    }
    let [aligned, oriented, sphere] = [tests[0], tests[1], tests[4]];
    assert!(oriented < aligned && oriented < sphere, "{tests:?}");
}

/// INT-1: for every kind, pairs equal those of the mesh hierarchy (itself held against brute force) on 200
/// random poses of two meshes of about 500 triangles; descending into the larger node takes fewer tests than
/// descending into both.
#[test]
fn int_1_all_kinds_agree() {
    let mut random = Random(35);
    let a = soup(500, 0.15, &mut random);
    let b = generate::torus(0.6, 0.2, 25, 10).unwrap();
    let build = BuildSettings::default();
    let (mesh_a, mesh_b) = (MeshTree::build(&a, &build).unwrap(), MeshTree::build(&b, &build).unwrap());
    let trees: Vec<[VolumeTree; 2]> = plans()
        .into_iter()
        .map(|plan| {
            let settings = VolumeTreeSettings { plan, ..VolumeTreeSettings::default() };
            [&a, &b].map(|mesh| VolumeTree::build(mesh, &settings).unwrap())
        })
        .collect();
    let (mut larger, mut both) = (0, 0);
    for round in 0..200 {
        let pose = random.pose(0.8);
        let mut expected = Vec::new();
        mesh_a.crossing_pairs(&mesh_b, &pose, &mut Scratch::default(), |i, j| {
            expected.push((i, j));
            ControlFlow::Continue(())
        });
        expected.sort_unstable();
        let [tree_a, tree_b] = &trees[round % trees.len()];
        let (pairs, cost) = crossings(tree_a, tree_b, &pose, Descent::Larger);
        assert_eq!(pairs, expected);
        larger += cost.volume_tests;
        let (pairs, cost) = crossings(tree_a, tree_b, &pose, Descent::Both);
        assert_eq!(pairs, expected);
        both += cost.volume_tests;
        // Mixed kinds in one query.
        let (pairs, _) = crossings(tree_a, &trees[(round + 3) % trees.len()][1], &pose, Descent::Larger);
        assert_eq!(pairs, expected);
    }
    assert!(larger < both, "{larger} {both}");
}

/// BVH-1: if the top volumes are disjoint, one volume is moved (the root's) and no triangle.
#[test]
fn bvh_1_nothing_is_moved_needlessly() {
    let mesh = generate::icosphere(3).unwrap();
    for plan in plans() {
        let settings = VolumeTreeSettings { plan, ..VolumeTreeSettings::default() };
        let tree = VolumeTree::build(&mesh, &settings).unwrap();
        let (_, cost) = crossings(&tree, &tree, &Pose::at(DVec3::X * 4.0), Descent::Larger);
        assert_eq!(cost.volume_transforms - 1, 0, "{plan:?}");
        assert_eq!((cost.triangle_transforms, cost.triangle_tests), (0, 0));
    }
}

/// BVH-9: refitting 10⁵ triangles is at least five times faster than building anew; afterwards each leaf
/// holds its triangle throughout the interval.
#[test]
fn bvh_9_refit() {
    let mesh = generate::torus(1.0, 0.4, 250, 200).unwrap();
    let count = mesh.triangles().len();
    assert_eq!(count, 100_000);
    let boxes = |start: &Pose, end: &Pose, bound| -> Vec<Aabb> {
        (0..count).map(|i| swept_box(&mesh.triangle(i), start, end, bound).unwrap()).collect()
    };
    let mut random = Random(36);
    let settings = BuildSettings { max_leaf: 1, threads: 1 };
    let mut tree =
        BoxTree::build(&boxes(&Pose::IDENTITY, &Pose::IDENTITY, SweepBound::Chord), &settings).unwrap();
    let (start, end) = (random.pose(1.0), random.pose(1.0));
    let pivot = DVec3::new(0.1, 0.2, 0.3);
    for bound in [SweepBound::Chord, SweepBound::RotationSphere { pivot }] {
        let moved = boxes(&start, &end, bound);
        tree.refit(&moved).unwrap();
        let mut path: Vec<Aabb> = Vec::new();
        tree.for_each_node(|depth, around, leaf| {
            path.truncate(depth);
            path.push(*around);
            for &i in leaf {
                for s in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    for p in mesh.triangle(i as usize) {
                        let p = match bound {
                            SweepBound::Chord => start.point(p).lerp(end.point(p), s),
                            // Any turn about the moving pivot.
                            SweepBound::RotationSphere { pivot } => {
                                let turn = start.rotation.slerp(end.rotation, s);
                                start.point(pivot).lerp(end.point(pivot), s) + turn * (p - pivot)
                            }
                        };
                        assert!(path.iter().all(|b| b.distance(p) < 1e-12));
                    }
                }
            }
        });
    }
    let moved = boxes(&start, &end, SweepBound::Chord);
    let fastest = |task: &mut dyn FnMut()| {
        (0..7)
            .map(|_| {
                let start = Instant::now();
                task();
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min)
    };
    let rebuild = fastest(&mut || tree = BoxTree::build(&moved, &settings).unwrap());
    let refit = fastest(&mut || tree.refit(&moved).unwrap());
    assert!(rebuild > 5.0 * refit, "rebuild {rebuild} s, refit {refit} s");
}

/// INT-2: pairs of 1000 boxes equal brute force, without (i, i) and duplicates, for any number of threads.
#[test]
fn int_2_self_pairs() {
    let mut random = Random(37);
    let boxes: Vec<Aabb> = (0..1000)
        .map(|_| Aabb::from_center(random.in_cube(), 0.1 * random.in_cube().abs()).unwrap())
        .collect();
    let mut expected = Vec::new();
    for i in 0..1000u32 {
        for j in i + 1..1000 {
            if boxes[i as usize].overlaps(&boxes[j as usize]) {
                expected.push((i, j));
            }
        }
    }
    let (mut scratch, mut pairs) = (Scratch::default(), Vec::new());
    for max_leaf in [1, 4, 16] {
        let tree = BoxTree::build(&boxes, &BuildSettings { max_leaf, threads: 1 }).unwrap();
        for threads in [1, 2, 5] {
            tree.self_pairs(threads, &mut scratch, &mut pairs).unwrap();
            assert_eq!(pairs, expected);
        }
        assert!(tree.self_pairs(0, &mut scratch, &mut pairs).is_err());
        // Against another tree.
        let other = BoxTree::build(&boxes[..100], &BuildSettings::default()).unwrap();
        let mut found = Vec::new();
        tree.pairs(&other, &mut scratch, |i, j| {
            found.push((i, j));
            ControlFlow::Continue(())
        });
        let brute = (0..1000u32)
            .flat_map(|i| (0..100u32).map(move |j| (i, j)))
            .filter(|&(i, j)| boxes[i as usize].overlaps(&boxes[j as usize]));
        found.sort_unstable();
        assert!(found.iter().copied().eq(brute));
    }
}

/// Coinciding midpoints stay in one leaf, or are halved if set so; settings out of range are refused; refits
/// fit.
#[test]
fn degenerate_and_wrong_input() {
    let corners = |k: f64| [0.0, 2.0, 4.0].map(|a: f64| DVec3::new((a + k).cos(), (a + k).sin(), 0.0));
    // Regular triangles about one centre: the midpoints agree up to rounding.
    let vertices: Vec<DVec3> = [corners(0.0); 50].concat();
    let mesh = TriangleMesh::new(vertices, (0..50).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap();
    let mut settings = VolumeTreeSettings::default();
    assert_eq!(VolumeTree::build(&mesh, &settings).unwrap().node_count(), 1);
    settings.halve_indivisible = true;
    assert_eq!(VolumeTree::build(&mesh, &settings).unwrap().node_count(), 99);
    for plan in plans() {
        let settings = VolumeTreeSettings { plan, halve_indivisible: true, ..VolumeTreeSettings::default() };
        let tree = VolumeTree::build(&mesh, &settings).unwrap();
        let (pairs, _) = crossings(&tree, &tree, &Pose::IDENTITY, Descent::Larger);
        assert_eq!(pairs.len(), 2500, "{plan:?}");
    }
    for wrong in [
        VolumeTreeSettings { max_leaf: 0, ..settings },
        VolumeTreeSettings { max_depth: 0, ..settings },
        VolumeTreeSettings { max_depth: 65, ..settings },
    ] {
        assert!(matches!(VolumeTree::build(&mesh, &wrong), Err(HierarchyError::Parameter { .. })));
    }
    let mut tree = VolumeTree::build(&mesh, &settings).unwrap();
    let moved = mesh.transformed(&Pose::at(DVec3::ONE)).unwrap();
    tree.refit(&moved).unwrap();
    tree.for_each_node(|_, volume, below, _| {
        assert!(moved.triangle(below[0] as usize).iter().all(|&p| volume.contains(p, 1e-12)));
    });
    assert!(tree.refit(&generate::icosphere(1).unwrap()).is_err());
}
