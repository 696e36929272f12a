//! How fast contact with meshes is, side by side with parry3d in f64 and f32 on the same shapes and poses in the same run.
//!
//! `cargo run --release --bin mesh_contact_speed`
//!
//! Rounds of the three libraries alternate, so that a busy machine slows all of them alike. Times are in milliseconds; the
//! answers count manifold points, or pairs that intersect. Parry's meshes carry the flags that fix inner edges, as ours do.

use std::hint::black_box;
use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use rattleback_benchmarks::{Random, compare};
use rattleback_geometry::contact::{ContactCache, Contacts, collide, intersects};
use rattleback_geometry::{HeightField, Pose, Shape, TriangleMesh, convex_hull, generate};

const ROUNDS: usize = 15;
const STEPS: usize = 60;
const RUNS: usize = 20;
const MARGIN: f64 = 0.01;

/// A mesh, a convex body and runs of poses of the body over the mesh.
struct Case {
    mesh: Arc<TriangleMesh>,
    surface: Shape,
    body: Shape,
    runs: Vec<Vec<Pose>>,
}

macro_rules! peer {
    ($name:ident, $library:ident, $real:ty) => {
        mod $name {
            use super::{Case, MARGIN, Shape, TriangleMesh, black_box};
            use $library::math::{Pose, Vector};
            use $library::query::{
                ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, intersection_test,
            };
            use $library::shape::{SharedShape, TriMesh, TriMeshFlags};

            rattleback_benchmarks::peer_numbers!($library, $real);

            pub fn mesh(mesh: &TriangleMesh) -> TriMesh {
                let points = mesh.vertices().iter().map(|&p| vector(p)).collect();
                TriMesh::with_flags(points, mesh.triangles().to_vec(), TriMeshFlags::FIX_INTERNAL_EDGES)
                    .expect("sound")
            }

            fn body(shape: &Shape) -> SharedShape {
                match shape {
                    Shape::Sphere(ball) => SharedShape::ball(ball.radius() as $real),
                    Shape::Cuboid(cuboid) => {
                        let h = vector(cuboid.half_extents());
                        SharedShape::cuboid(h.x, h.y, h.z)
                    }
                    Shape::Convex(hull) => {
                        let points: Vec<Vector> = hull.vertices().iter().map(|&p| vector(p)).collect();
                        SharedShape::convex_hull(&points).expect("a hull")
                    }
                    _ => unreachable!("not in the benchmark"),
                }
            }

            pub fn task(case: &Case) -> impl FnMut() -> usize + use<> {
                let (mesh, body) = (mesh(&case.mesh), body(&case.body));
                let runs: Vec<Vec<Pose>> =
                    case.runs.iter().map(|run| run.iter().map(pose).collect()).collect();
                move || {
                    let mut points = 0;
                    for run in &runs {
                        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
                        let mut workspace = None;
                        for pose in run {
                            let _ = DefaultQueryDispatcher.contact_manifolds(
                                black_box(pose),
                                &mesh,
                                &*body.0,
                                MARGIN as $real,
                                &mut manifolds,
                                &mut workspace,
                            );
                            points += manifolds.iter().map(|manifold| manifold.points.len()).sum::<usize>();
                        }
                    }
                    points
                }
            }

            pub fn overlap_tests(a: &TriMesh, b: &TriMesh, poses: &[Pose]) -> usize {
                let overlaps = |pose: &&Pose| {
                    intersection_test(&Pose::identity(), a, pose, b).is_ok_and(|found| found.intersecting)
                };
                poses.iter().filter(overlaps).count()
            }
        }
    };
}

peer!(double, parry3d_f64, f64);
peer!(single, parry3d, f32);

fn ours(case: &Case) -> impl FnMut() -> usize + use<> {
    let (surface, body, runs) = (case.surface.clone(), case.body.clone(), case.runs.clone());
    let mut contacts = Contacts::default();
    move || {
        let mut points = 0;
        for run in &runs {
            let mut cache = ContactCache::default();
            for pose in run {
                if collide(&surface, &body, black_box(pose), MARGIN, &mut cache, &mut contacts).is_ok() {
                    points += contacts.point_count();
                }
            }
        }
        points
    }
}

/// Bodies that slide over rolling hills, a little way at a time.
fn slides(
    title: &str,
    mesh: &Arc<TriangleMesh>,
    surface: &Shape,
    height: impl Fn(DVec2) -> f64,
    body: Shape,
    size: f64,
) {
    let mut random = Random(5);
    let runs = (0..RUNS)
        .map(|_| {
            let (start, way) = (0.6 * random.vector().truncate(), 0.002 * random.vector().truncate());
            let turn = DQuat::from_scaled_axis(3.0 * random.vector());
            let low = body.extent_along(turn.conjugate() * DVec3::Z).map_or(size, |[low, _]| -low);
            (0..STEPS)
                .map(|i| {
                    let at = start + way * i as f64;
                    Pose::new(turn, at.extend(height(at) + low - 0.003))
                })
                .collect()
        })
        .collect();
    let case = Case { mesh: mesh.clone(), surface: surface.clone(), body, runs };
    compare(
        title,
        ROUNDS,
        vec![
            ("ours", Box::new(ours(&case))),
            ("parry3d-f64", Box::new(double::task(&case))),
            ("parry3d f32", Box::new(single::task(&case))),
        ],
    );
}

fn overlap_tests(title: &str, mesh: &TriangleMesh, reach: f64) {
    let mut random = Random(9);
    let poses: Vec<Pose> = (0..200)
        .map(|_| Pose::new(DQuat::from_scaled_axis(3.0 * random.vector()), reach * random.vector()))
        .collect();
    let shape = Shape::Mesh(Arc::new(mesh.clone()));
    let (mesh64, mesh32) = (double::mesh(mesh), single::mesh(mesh));
    let (poses64, poses32): (Vec<_>, Vec<_>) =
        poses.iter().map(|p| (double::pose(p), single::pose(p))).unzip();
    compare(
        title,
        ROUNDS,
        vec![
            (
                "ours",
                Box::new(|| {
                    poses.iter().filter(|pose| intersects(&shape, &shape, pose).unwrap_or(false)).count()
                }),
            ),
            ("parry3d-f64", Box::new(|| double::overlap_tests(&mesh64, &mesh64, &poses64))),
            ("parry3d f32", Box::new(|| single::overlap_tests(&mesh32, &mesh32, &poses32))),
        ],
    );
}

fn main() {
    let height = |p: DVec2| 0.1 * (3.0 * p.x).sin() * (2.0 * p.y).cos();
    for n in [32usize, 128] {
        let spacing = 2.0 / (n as f64 - 1.0);
        let heights =
            (0..n * n).map(|i| height(DVec2::new((i % n) as f64, (i / n) as f64) * spacing - 1.0)).collect();
        let field = HeightField::new(n, n, DVec2::splat(spacing), heights).expect("sound");
        let mesh = Arc::new(field.surface().expect("sound"));
        let surface = Shape::Mesh(mesh.clone());
        let hull: Vec<DVec3> =
            generate::icosphere(2).expect("sound").vertices().iter().map(|&p| 0.1 * p).collect();
        let bodies = [
            ("ball", Shape::sphere(0.1).expect("sound")),
            ("box", Shape::cuboid(DVec3::new(0.1, 0.08, 0.06)).expect("sound")),
            ("hull of 42", Shape::Convex(Arc::new(convex_hull(&hull).expect("sound")))),
        ];
        for (name, body) in bodies {
            let title = format!("{name} over {} triangles, {} poses", mesh.triangles().len(), RUNS * STEPS);
            slides(&title, &mesh, &surface, height, body, 0.1);
        }
    }
    let torus = generate::torus(1.0, 0.4, 50, 50).expect("sound");
    overlap_tests("tori of 5000 triangles, intersection test, 200 poses near", &torus, 1.5);
    overlap_tests("tori of 5000 triangles, intersection test, 200 poses far", &torus, 3.0);
}
