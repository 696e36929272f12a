//! How fast the mesh hierarchy is, side by side with parry3d in f64 and f32 on the same meshes in the same run.
//!
//! `cargo run --release --bin hierarchy_speed`
//!
//! Rounds of the three libraries alternate, so that a busy machine slows all of them alike. Times are in milliseconds.

use std::time::Instant;

use glam::{DQuat, DVec3};
use rattleback_benchmarks::{Random, compare};
use rattleback_geometry::hierarchy::{
    BuildSettings, ObbContacts, MeshTree, ObbScratch, ObbTree, ObbTreeSettings, Ray, Report, Scratch, WideTree,
};
use rattleback_geometry::{Aabb, Pose, TriangleMesh, generate};

const ROUNDS: usize = 11;

/// The same meshes, rays and poses for one peer.
macro_rules! peer {
    ($name:ident, $library:ident, $real:ty) => {
        mod $name {
            use super::{DVec3, Pose, TriangleMesh};
            use $library::math::{Pose as PeerPose, Vector};
            use $library::partitioning::{Bvh, BvhBuildStrategy};
            use $library::query::{Ray, RayCast, intersection_test};
            use $library::shape::{Shape, TriMesh};

            rattleback_benchmarks::peer_numbers!($library, $real);

            pub fn points(mesh: &TriangleMesh) -> Vec<Vector> {
                mesh.vertices().iter().map(|&p| vector(p)).collect()
            }

            pub fn mesh(points: &[Vector], triangles: &[[u32; 3]]) -> TriMesh {
                TriMesh::new(points.to_vec(), triangles.to_vec()).expect("generated meshes are sound")
            }

            pub fn boxes(mesh: &TriMesh) -> Vec<$library::bounding_volume::Aabb> {
                mesh.triangles().map(|triangle| triangle.compute_local_aabb()).collect()
            }

            pub fn build(boxes: &[$library::bounding_volume::Aabb]) -> usize {
                Bvh::from_leaves(BvhBuildStrategy::Binned, boxes).leaf_count() as usize
            }

            pub fn rays(rays: &[(DVec3, DVec3)]) -> Vec<Ray> {
                rays.iter().map(|&(o, d)| Ray::new(vector(o), vector(d))).collect()
            }

            pub fn cast(mesh: &TriMesh, rays: &[Ray]) -> usize {
                rays.iter().filter(|ray| mesh.cast_local_ray(ray, <$real>::MAX, false).is_some()).count()
            }

            pub fn poses(poses: &[Pose]) -> Vec<PeerPose> {
                poses.iter().map(pose).collect()
            }

            pub fn overlap_tests(a: &TriMesh, b: &TriMesh, poses: &[PeerPose]) -> usize {
                let overlaps = |pose: &&PeerPose| {
                    intersection_test(&PeerPose::identity(), a, pose, b).is_ok_and(|found| found.intersecting)
                };
                poses.iter().filter(overlaps).count()
            }
        }
    };
}

peer!(double, parry3d_f64, f64);
peer!(single, parry3d, f32);

fn builds(title: &str, mesh: &TriangleMesh) {
    let boxes: Vec<Aabb> = (0..mesh.triangles().len())
        .map(|i| Aabb::from_points(mesh.triangle(i)).expect("triangles are finite"))
        .collect();
    let (points64, points32) = (double::points(mesh), single::points(mesh));
    let boxes64 = double::boxes(&double::mesh(&points64, mesh.triangles()));
    let boxes32 = single::boxes(&single::mesh(&points32, mesh.triangles()));
    let wide = |threads| {
        WideTree::build(&boxes, &BuildSettings { threads, ..Default::default() })
            .map_or(0, |t| t.item_count())
    };
    compare(
        &format!("hierarchy over {} boxes, {title}", boxes.len()),
        ROUNDS,
        vec![
            ("rattleback", Box::new(|| wide(1))),
            ("rattleback, 2 threads", Box::new(|| wide(2))),
            ("parry3d-f64", Box::new(|| double::build(&boxes64))),
            ("parry3d", Box::new(|| single::build(&boxes32))),
        ],
    );
    let ours = || MeshTree::build(mesh, &BuildSettings::default()).map_or(0, |t| t.triangle_count());
    compare(
        &format!("mesh of {} triangles ready for queries, {title}", boxes.len()),
        ROUNDS,
        vec![
            ("rattleback", Box::new(ours)),
            ("parry3d-f64", Box::new(|| double::mesh(&points64, mesh.triangles()).num_triangles())),
            ("parry3d", Box::new(|| single::mesh(&points32, mesh.triangles()).num_triangles())),
        ],
    );
}

fn rays(title: &str, mesh: &TriangleMesh) {
    let mut random = Random(7);
    let pairs: Vec<(DVec3, DVec3)> = (0..100_000)
        .map(|_| {
            let origin = 3.0 * random.vector();
            (origin, random.vector() - origin)
        })
        .collect();
    let tree = MeshTree::build(mesh, &BuildSettings::default()).expect("generated meshes are sound");
    let own: Vec<Ray> = pairs.iter().filter_map(|&(o, d)| Ray::new(o, d).ok()).collect();
    let mut scratch = Scratch::default();
    let mesh64 = double::mesh(&double::points(mesh), mesh.triangles());
    let mesh32 = single::mesh(&single::points(mesh), mesh.triangles());
    let (rays64, rays32) = (double::rays(&pairs), single::rays(&pairs));
    compare(
        &format!("closest hit of 100000 rays, {title}"),
        ROUNDS,
        vec![
            (
                "rattleback",
                Box::new(|| {
                    own.iter().filter(|ray| tree.cast_ray(ray, f64::INFINITY, &mut scratch).is_some()).count()
                }),
            ),
            ("parry3d-f64", Box::new(|| double::cast(&mesh64, &rays64))),
            ("parry3d", Box::new(|| single::cast(&mesh32, &rays32))),
        ],
    );
}

fn overlap_tests(title: &str, mesh: &TriangleMesh, reach: f64) {
    let mut random = Random(8);
    let poses: Vec<Pose> = (0..200)
        .map(|_| {
            let axis = random.vector().normalize_or_zero();
            Pose::new(DQuat::from_axis_angle(axis, 3.0 * random.next()).normalize(), reach * random.vector())
        })
        .collect();
    let tree = MeshTree::build(mesh, &BuildSettings::default()).expect("generated meshes are sound");
    let mut scratch = Scratch::default();
    let mesh64 = double::mesh(&double::points(mesh), mesh.triangles());
    let mesh32 = single::mesh(&single::points(mesh), mesh.triangles());
    let (poses64, poses32) = (double::poses(&poses), single::poses(&poses));
    compare(
        &format!("first contact of two meshes in 200 poses, {title}"),
        ROUNDS,
        vec![
            (
                "rattleback",
                Box::new(|| {
                    poses
                        .iter()
                        .filter(|pose| tree.first_crossing(&tree, pose, &mut scratch).is_some())
                        .count()
                }),
            ),
            ("parry3d-f64", Box::new(|| double::overlap_tests(&mesh64, &mesh64, &poses64))),
            ("parry3d", Box::new(|| single::overlap_tests(&mesh32, &mesh32, &poses32))),
        ],
    );
}

/// The four ways to report of the oriented-box tree on two tori moving through each other, and two cubes.
fn reports(mesh: &TriangleMesh) {
    let tree = ObbTree::build(mesh, &ObbTreeSettings::default()).expect("generated meshes are sound");
    let (mut scratch, mut contacts) = (ObbScratch::default(), ObbContacts::default());
    let axis = DVec3::new(1.0, 2.0, 3.0).normalize();
    let poses: Vec<Pose> = [2.5, 2.0, 1.5, 1.0, 0.5, 0.0]
        .map(|dx| Pose::new(DQuat::from_axis_angle(axis, 37f64.to_radians()), DVec3::new(dx, 0.113, 0.057)))
        .to_vec();
    let modes = [
        ("1 all pairs", Report::ALL_PAIRS),
        ("2 all points", Report::ALL_POINTS),
        ("3 first pair", Report::FIRST_PAIR),
        ("4 first point", Report::FIRST_POINTS),
    ];
    println!("oriented boxes, two tori of {} triangles, {} bytes", mesh.triangles().len(), tree.memory());
    for (name, report) in modes {
        let (mut fastest, mut pairs) = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            pairs = 0;
            for pose in &poses {
                tree.collide(&tree, pose, report, &mut scratch, &mut contacts);
                pairs += contacts.pairs.len();
            }
            fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let each = fastest / poses.len() as f64;
        println!("  mode {name:<14} {each:8.4} ms a query, {:7.1} pairs a ms", pairs as f64 / fastest);
    }
    let soup = generate::cuboid(DVec3::ONE).expect("allowed size");
    let cube = TriangleMesh::from_soup(&soup).expect("generated meshes are sound");
    let tree = ObbTree::build(&cube, &ObbTreeSettings::default()).expect("generated meshes are sound");
    let mut random = Random(9);
    let (count, mut fastest) = (200, f64::INFINITY);
    for _ in 0..20 * ROUNDS {
        let start = Instant::now();
        for _ in 0..count {
            let turn = DQuat::from_axis_angle(random.vector().normalize_or(DVec3::Z), 3.0 * random.next());
            // About to touch, or just touching.
            let pose = Pose::new(turn, 2.4 * random.vector().normalize_or(DVec3::X));
            tree.collide(&tree, &pose, Report::ALL_POINTS, &mut scratch, &mut contacts);
        }
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    println!("  two cubes, mode 2: {:.0} queries a second", f64::from(count) / fastest);
}

fn main() {
    let sphere = generate::icosphere(7).expect("allowed level");
    let torus = generate::torus(1.0, 0.4, 200, 100).expect("allowed sizes");
    builds("icosphere", &sphere);
    builds("torus", &torus);
    rays("icosphere", &sphere);
    rays("torus", &torus);
    let small = generate::torus(1.0, 0.4, 50, 50).expect("allowed sizes");
    overlap_tests("torus of 5000 triangles", &small, 1.4);
    reports(&small);
}
