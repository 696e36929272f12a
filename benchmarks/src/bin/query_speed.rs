//! How fast single queries are, side by side with parry3d in f64 and f32 on the same poses in the same run.
//!
//! `cargo run --release --bin query_speed [-- --only NAME] [--rounds N]`
//!
//! Queries go in batches of some fifty, and batches of the three libraries alternate, so that a busy machine slows all of them
//! alike. Times are nanoseconds per query. The least is the sum of every batch's least time over the rounds, which leaves out
//! what others took away; the median is that of whole rounds. Ratios above 1 mean that ours is faster. Whole answers are
//! looked at: of a query that is compiled in place and only asked whether it succeeded, hardly anything would be computed.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use glam::{DQuat, DVec3};
use rattleback_benchmarks::Random;
use rattleback_geometry::closest::{
    ConvexShape, FeatureMap, GjkCache, LinCannyCache, Support, VClipCache, gjk, lin_canny, signed_distance,
    vclip,
};
use rattleback_geometry::hierarchy::{BuildSettings, MeshTree, Scratch, WideTree};
use rattleback_geometry::primitive::{FromInside, Ray, Triangle, closest_triangle_triangle};
use rattleback_geometry::swept::{Advancement, Motion, cast_linear, cast_shapes};
use rattleback_geometry::{Aabb, ConvexPolyhedron, Cuboid, Pose, Shape, TriangleMesh, convex_hull, generate};

/// Queries per round of the small ones.
const QUERIES: usize = 1000;
/// Queries that are timed together.
const BATCH: usize = 50;

/// The same shapes, poses and rays for one peer.
macro_rules! peer {
    ($name:ident, $library:ident, $real:ty) => {
        mod $name {
            use super::{DVec3, Pose, TriangleMesh, black_box};
            use $library::math::{Pose as PeerPose, Vector};
            use $library::partitioning::{Bvh, BvhBuildStrategy};
            use $library::query::details::{
                closest_points_support_map_support_map_with_params as closest,
                contact_support_map_support_map_with_params as contact,
            };
            use $library::query::gjk::{GJKResult, VoronoiSimplex};
            use $library::query::{Ray, RayCast, ShapeCastOptions, cast_shapes};
            use $library::shape::Shape;
            pub use $library::shape::{Ball, ConvexPolyhedron, Cuboid, SupportMap, TriMesh, Triangle};

            rattleback_benchmarks::peer_numbers!($library, $real);

            pub fn poses(poses: &[Pose]) -> Vec<PeerPose> {
                poses.iter().map(pose).collect()
            }

            pub fn ball(radius: f64) -> Ball {
                Ball::new(radius as $real)
            }

            pub fn cuboid(half_extents: DVec3) -> Cuboid {
                Cuboid::new(vector(half_extents))
            }

            pub fn hull(points: &[DVec3]) -> ConvexPolyhedron {
                let points: Vec<_> = points.iter().map(|&p| vector(p)).collect();
                ConvexPolyhedron::from_convex_hull(&points).expect("the points span a volume")
            }

            pub fn triangle(corners: [DVec3; 3]) -> Triangle {
                Triangle::from(corners.map(vector))
            }

            pub fn mesh(mesh: &TriangleMesh) -> TriMesh {
                let points = mesh.vertices().iter().map(|&p| vector(p)).collect();
                TriMesh::new(points, mesh.triangles().to_vec()).expect("generated meshes are sound")
            }

            pub fn rays(rays: &[(DVec3, DVec3)]) -> Vec<Ray> {
                rays.iter().map(|&(o, d)| Ray::new(vector(o), vector(d.normalize()))).collect()
            }

            pub fn distances<G: SupportMap>(
                a: &G,
                b: &G,
                poses: &[PeerPose],
                coherent: bool,
                direction: &mut Option<Vector>,
            ) {
                let mut simplex = VoronoiSimplex::new();
                for pose in poses {
                    let answer = closest(black_box(pose), a, b, <$real>::MAX, &mut simplex, *direction);
                    if let GJKResult::ClosestPoints(_, _, normal) = answer
                        && coherent
                    {
                        *direction = Some(normal);
                    }
                    black_box(answer);
                }
            }

            pub fn depths<G: SupportMap>(
                a: &G,
                b: &G,
                poses: &[PeerPose],
                coherent: bool,
                direction: &mut Option<Vector>,
            ) {
                let mut simplex = VoronoiSimplex::new();
                for pose in poses {
                    let answer = contact(black_box(pose), a, b, <$real>::MAX, &mut simplex, *direction);
                    if let GJKResult::ClosestPoints(_, _, normal) = answer
                        && coherent
                    {
                        *direction = Some(normal);
                    }
                    black_box(answer);
                }
            }

            pub fn triangle_distances(pairs: &[[Triangle; 2]]) {
                let mut simplex = VoronoiSimplex::new();
                for [a, b] in pairs {
                    let identity = PeerPose::identity();
                    black_box(closest(&identity, black_box(a), b, <$real>::MAX, &mut simplex, None));
                }
            }

            pub fn cast_rays(shape: &dyn RayCast, rays: &[Ray]) {
                for ray in rays {
                    black_box(shape.cast_local_ray_and_get_normal(black_box(ray), <$real>::MAX, true));
                }
            }

            pub fn cast(a: &dyn Shape, b: &dyn Shape, ways: &[(PeerPose, Vector)]) {
                let options = ShapeCastOptions {
                    max_time_of_impact: 1.0,
                    target_distance: 5e-7,
                    stop_at_penetration: true,
                    compute_impact_geometry_on_penetration: false,
                };
                for (pose, way) in ways {
                    let still = (PeerPose::identity(), Vector::ZERO);
                    let _ = black_box(cast_shapes(black_box(pose), *way, a, &still.0, still.1, b, options));
                }
            }

            pub fn boxes(mesh: &TriMesh) -> Vec<$library::bounding_volume::Aabb> {
                mesh.triangles().map(|triangle| triangle.compute_local_aabb()).collect()
            }

            pub fn build(boxes: &[$library::bounding_volume::Aabb]) {
                black_box(Bvh::from_leaves(BvhBuildStrategy::Binned, boxes).leaf_count());
            }
        }
    };
}

peer!(double, parry3d_f64, f64);
peer!(single, parry3d, f32);

/// Which queries to run and how often.
struct Run {
    only: Option<String>,
    rounds: usize,
}

impl Run {
    fn selects(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    /// Runs three programs by turns and prints a row; returns our least time. A program is given which of its `count` inputs
    /// to take; an input stands for `weight` queries.
    fn compare(
        &self,
        name: &str,
        [count, weight]: [usize; 2],
        mut ours: impl FnMut(Range<usize>),
        mut theirs64: impl FnMut(Range<usize>),
        mut theirs32: impl FnMut(Range<usize>),
    ) -> f64 {
        if !self.selects(name) {
            return f64::NAN;
        }
        let batches = count.div_ceil(BATCH);
        let mut least = [const { Vec::new() }; 3].map(|_: Vec<f64>| vec![f64::INFINITY; batches]);
        let mut totals = [const { Vec::new() }; 3];
        for _ in 0..self.rounds {
            totals.iter_mut().for_each(|totals: &mut Vec<f64>| totals.push(0.0));
            for batch in 0..batches {
                let range = batch * BATCH..count.min((batch + 1) * BATCH);
                let programs: [&mut dyn FnMut(Range<usize>); 3] = [&mut ours, &mut theirs64, &mut theirs32];
                for (i, program) in programs.into_iter().enumerate() {
                    let start = Instant::now();
                    program(range.clone());
                    let time = 1e9 * start.elapsed().as_secs_f64() / (count * weight) as f64;
                    least[i][batch] = least[i][batch].min(time);
                    if let Some(total) = totals[i].last_mut() {
                        *total += time;
                    }
                }
            }
        }
        let least = least.map(|batches| batches.iter().sum::<f64>());
        let medians = totals.map(|mut totals| {
            totals.sort_by(f64::total_cmp);
            totals[totals.len() / 2]
        });
        let [own, double, single] = [0, 1, 2].map(|i| (least[i], medians[i]));
        println!(
            "{name:<38}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>8.2}{:>7.2}{:>8.2}{:>7.2}",
            own.0,
            own.1,
            double.0,
            double.1,
            single.0,
            single.1,
            double.0 / own.0,
            double.1 / own.1,
            single.0 / own.0,
            single.1 / own.1
        );
        own.0
    }
}

/// Random poses at least `gap` apart, or overlapping at least that much if `gap` is negative.
fn random_poses<S: Support>(a: &S, b: &S, gap: f64, reach: f64) -> Vec<Pose> {
    let mut random = Random(3);
    let mut poses = Vec::new();
    while poses.len() < QUERIES {
        let pose = random.pose(reach);
        let distance = signed_distance(a, b, &pose, &mut GjkCache::default()).map_or(0.0, |s| s.distance);
        if (distance - gap) * gap.signum() > 0.0 {
            poses.push(pose);
        }
    }
    poses
}

/// One shape turning past the other, or in it, `degrees` per query.
fn turning(degrees: f64, distance: f64) -> Vec<Pose> {
    let axis = DVec3::new(0.3, 1.0, 0.2).normalize();
    (0..QUERIES)
        .map(|i| {
            let angle = (degrees * i as f64).to_radians();
            let sway = DVec3::new(0.0, 0.2 * angle.sin(), 0.2 * angle.cos());
            Pose::new(DQuat::from_axis_angle(axis, angle), DVec3::X * distance + sway)
        })
        .collect()
}

/// Distance and depth of one kind of pair.
fn pairs<S: Support, D: double::SupportMap, F: single::SupportMap>(
    run: &Run,
    name: &str,
    [a, b]: [&S; 2],
    [a64, b64]: [&D; 2],
    [a32, b32]: [&F; 2],
) {
    let distance = |title: &str, poses: &[Pose], coherent: bool| {
        let (poses64, poses32) = (double::poses(poses), single::poses(poses));
        let mut cache = GjkCache::default();
        let ours = |range: Range<usize>| {
            for pose in &poses[range] {
                if !coherent {
                    cache = GjkCache::default();
                }
                let _ = black_box(gjk(a, b, black_box(pose), &mut cache));
            }
        };
        let mut direction64 = None;
        let theirs64 =
            |range: Range<usize>| double::distances(a64, b64, &poses64[range], coherent, &mut direction64);
        let mut direction32 = None;
        let theirs32 =
            |range: Range<usize>| single::distances(a32, b32, &poses32[range], coherent, &mut direction32);
        run.compare(&format!("distance {title} {name}"), [poses.len(), 1], ours, theirs64, theirs32);
    };
    distance("cold", &random_poses(a, b, 0.05, 3.0), false);
    distance("0.1°", &turning(0.1, 2.5), true);
    distance("1°", &turning(1.0, 2.5), true);
    let depth = |title: &str, poses: &[Pose], coherent: bool| {
        let (poses64, poses32) = (double::poses(poses), single::poses(poses));
        let mut cache = GjkCache::default();
        let ours = |range: Range<usize>| {
            for pose in &poses[range] {
                if !coherent {
                    cache = GjkCache::default();
                }
                let _ = black_box(signed_distance(a, b, black_box(pose), &mut cache));
            }
        };
        let mut direction64 = None;
        let theirs64 =
            |range: Range<usize>| double::depths(a64, b64, &poses64[range], coherent, &mut direction64);
        let mut direction32 = None;
        let theirs32 =
            |range: Range<usize>| single::depths(a32, b32, &poses32[range], coherent, &mut direction32);
        run.compare(&format!("depth {title} {name}"), [poses.len(), 1], ours, theirs64, theirs32);
    };
    depth("cold", &random_poses(a, b, -0.01, 1.5), false);
    depth("0.1°", &turning(0.1, 0.9), true);
    depth("1°", &turning(1.0, 0.9), true);
}

/// V-Clip and Lin–Canny on balls of ever more features, and how much slower the largest are. With twice as many features along
/// a line the same motion crosses twice as many: what grows at 1° are the steps from feature to feature (0.1 a query of 42
/// vertices, 0.7 of 642), not the cost of one. "Alike" keeps the motion the same fraction of a feature, a thirtieth of an edge.
fn walks(run: &Run) {
    for (name, first, shrinking) in [("0.1°", 0.1, 1.0), ("1°", 1.0, 1.0), ("alike", 1.0, 0.5)] {
        let mut times = Vec::new();
        for level in [2, 3, 4] {
            let degrees = first * f64::powi(shrinking, level as i32 - 2);
            let points = generate::icosphere(level).expect("allowed level").vertices().to_vec();
            let hull = convex_hull(&points).expect("a ball has volume");
            let (hull64, hull32) = (double::hull(&points), single::hull(&points));
            let map = FeatureMap::new(&hull).expect("hulls have features");
            let poses = turning(degrees, 2.5);
            let (poses64, poses32) = (double::poses(&poses), single::poses(&poses));
            let (mut clip_cache, mut walk_cache) = (VClipCache::default(), LinCannyCache::default());
            let clip = |range: Range<usize>| {
                for pose in &poses[range] {
                    let _ = black_box(vclip(&map, &map, black_box(pose), &mut clip_cache));
                }
            };
            let walk = |range: Range<usize>| {
                for pose in &poses[range] {
                    let _ = black_box(lin_canny(&map, &map, black_box(pose), &mut walk_cache));
                }
            };
            let (mut direction64, mut direction32) = (None, None);
            let mut theirs64 = |range: Range<usize>| {
                double::distances(&hull64, &hull64, &poses64[range], true, &mut direction64);
            };
            let mut theirs32 = |range: Range<usize>| {
                single::distances(&hull32, &hull32, &poses32[range], true, &mut direction32);
            };
            let count = points.len();
            times.push(run.compare(
                &format!("vclip {name} {count} vertices"),
                [poses.len(), 1],
                clip,
                &mut theirs64,
                &mut theirs32,
            ));
            run.compare(
                &format!("lin-canny {name} {count} vertices"),
                [poses.len(), 1],
                walk,
                &mut theirs64,
                &mut theirs32,
            );
        }
        if times[0].is_finite() {
            let growth = 100.0 * (times[2] / times[0] - 1.0);
            println!("vclip {name}, 16 times the features: {growth:.0} % slower");
        }
    }
}

fn triangles(run: &Run) {
    let mut random = Random(5);
    let corners: Vec<[[DVec3; 3]; 2]> = (0..QUERIES)
        .map(|_| {
            let apart = 3.0 * random.on_sphere();
            [[(); 3].map(|()| random.vector()), [(); 3].map(|()| apart + random.vector())]
        })
        .collect();
    let own: Vec<[Triangle; 2]> = corners.iter().map(|pair| pair.map(Triangle::from)).collect();
    let pairs64: Vec<_> = corners.iter().map(|pair| pair.map(double::triangle)).collect();
    let pairs32: Vec<_> = corners.iter().map(|pair| pair.map(single::triangle)).collect();
    let ours = |range: Range<usize>| {
        for [a, b] in &own[range] {
            black_box(closest_triangle_triangle(black_box(a), b));
        }
    };
    let theirs64 = |range: Range<usize>| double::triangle_distances(&pairs64[range]);
    let theirs32 = |range: Range<usize>| single::triangle_distances(&pairs32[range]);
    run.compare("triangle distance", [own.len(), 1], ours, theirs64, theirs32);
}

fn rays(run: &Run, points: &[DVec3]) {
    let mut random = Random(7);
    let pairs: Vec<(DVec3, DVec3)> = (0..10 * QUERIES)
        .map(|_| {
            let origin = 3.0 * random.on_sphere();
            (origin, 1.2 * random.vector() - origin)
        })
        .collect();
    let own: Vec<Ray> = pairs.iter().filter_map(|&(o, d)| Ray::new(o, d).ok()).collect();
    let (rays64, rays32) = (double::rays(&pairs), single::rays(&pairs));
    let half = DVec3::new(0.5, 0.7, 0.6);
    let shapes: [(&str, Shape, Box<dyn Fn(Range<usize>)>, Box<dyn Fn(Range<usize>)>); 3] = [
        (
            "ray ball",
            Shape::sphere(1.0).expect("allowed size"),
            Box::new(|range| double::cast_rays(&double::ball(1.0), &rays64[range])),
            Box::new(|range| single::cast_rays(&single::ball(1.0), &rays32[range])),
        ),
        (
            "ray box",
            Shape::cuboid(half).expect("allowed size"),
            Box::new(|range| double::cast_rays(&double::cuboid(half), &rays64[range])),
            Box::new(|range| single::cast_rays(&single::cuboid(half), &rays32[range])),
        ),
        (
            "ray hull of 42",
            Shape::convex_hull(points).expect("the points span a volume"),
            {
                let hull = double::hull(points);
                let rays64 = &rays64;
                Box::new(move |range| double::cast_rays(&hull, &rays64[range]))
            },
            {
                let hull = single::hull(points);
                let rays32 = &rays32;
                Box::new(move |range| single::cast_rays(&hull, &rays32[range]))
            },
        ),
    ];
    for (name, shape, theirs64, theirs32) in shapes {
        let ours = |range: Range<usize>| {
            for ray in &own[range] {
                black_box(shape.cast_ray(black_box(ray), f64::MAX, FromInside::Origin));
            }
        };
        run.compare(name, [own.len(), 1], ours, theirs64, theirs32);
    }
    let meshes = [
        ("ray sphere mesh", generate::icosphere(7).expect("allowed level")),
        ("ray torus mesh", generate::torus(1.0, 0.4, 200, 100).expect("allowed sizes")),
    ];
    for (name, mesh) in meshes {
        if !run.selects(name) {
            continue;
        }
        let tree = MeshTree::build(&mesh, &BuildSettings::default()).expect("generated meshes are sound");
        let (mesh64, mesh32) = (double::mesh(&mesh), single::mesh(&mesh));
        let mut scratch = Scratch::default();
        let ours = |range: Range<usize>| {
            for ray in &own[range] {
                black_box(tree.cast_ray(black_box(ray), f64::INFINITY, &mut scratch));
            }
        };
        let theirs64 = |range: Range<usize>| double::cast_rays(&mesh64, &rays64[range]);
        let theirs32 = |range: Range<usize>| single::cast_rays(&mesh32, &rays32[range]);
        run.compare(name, [own.len(), 1], ours, theirs64, theirs32);
    }
}

/// Half of the ways lead past the other shape.
fn casts(run: &Run, points: &[DVec3]) {
    let mut random = Random(9);
    let ways: Vec<(Pose, DVec3)> = (0..QUERIES)
        .map(|_| {
            let start = Pose::new(random.pose(1.0).rotation, 4.0 * random.on_sphere());
            (start, 2.0 * (2.0 * random.vector() - start.translation))
        })
        .collect();
    let ways64: Vec<_> = ways.iter().map(|(p, v)| (double::pose(p), double::vector(*v))).collect();
    let ways32: Vec<_> = ways.iter().map(|(p, v)| (single::pose(p), single::vector(*v))).collect();
    let half = DVec3::new(0.5, 0.7, 0.6);
    let still = Motion::resting(Pose::IDENTITY).expect("rest is a motion");
    let motions: Vec<Motion> = ways
        .iter()
        .filter_map(|(start, way)| Motion::new(*start, DVec3::ZERO, *way, DVec3::ZERO).ok())
        .collect();
    let [ball, cuboid, hull] = [Shape::sphere(0.7), Shape::cuboid(half), Shape::convex_hull(points)]
        .map(|s| s.expect("sizes are allowed"));
    let (ball64, cuboid64, hull64) = (double::ball(0.7), double::cuboid(half), double::hull(points));
    let (ball32, cuboid32, hull32) = (single::ball(0.7), single::cuboid(half), single::hull(points));
    let cases: [(&str, [&Shape; 2], Box<dyn Fn(Range<usize>)>, Box<dyn Fn(Range<usize>)>); 4] = [
        (
            "cast balls",
            [&ball, &ball],
            Box::new(|range| double::cast(&ball64, &ball64, &ways64[range])),
            Box::new(|range| single::cast(&ball32, &ball32, &ways32[range])),
        ),
        (
            "cast ball at box",
            [&ball, &cuboid],
            Box::new(|range| double::cast(&ball64, &cuboid64, &ways64[range])),
            Box::new(|range| single::cast(&ball32, &cuboid32, &ways32[range])),
        ),
        (
            "cast boxes",
            [&cuboid, &cuboid],
            Box::new(|range| double::cast(&cuboid64, &cuboid64, &ways64[range])),
            Box::new(|range| single::cast(&cuboid32, &cuboid32, &ways32[range])),
        ),
        (
            "cast hulls of 42",
            [&hull, &hull],
            Box::new(|range| double::cast(&hull64, &hull64, &ways64[range])),
            Box::new(|range| single::cast(&hull32, &hull32, &ways32[range])),
        ),
    ];
    for (name, [a, b], theirs64, theirs32) in cases {
        let any = |range: Range<usize>| {
            for motion in &motions[range] {
                let _ = black_box(cast_shapes(a, black_box(motion), b, &still, &Advancement::default()));
            }
        };
        run.compare(&format!("{name}, any motion"), [motions.len(), 1], any, &theirs64, &theirs32);
        let [convex_a, convex_b] = [a, b].map(|shape| ConvexShape::try_from(shape).expect("all are convex"));
        let linear = |range: Range<usize>| {
            for motion in &motions[range] {
                let settings = Advancement::default();
                let _ = black_box(cast_linear(&convex_a, black_box(motion), &convex_b, &still, &settings));
            }
        };
        run.compare(&format!("{name}, linear"), [motions.len(), 1], linear, theirs64, theirs32);
    }
}

fn builds(run: &Run) {
    let meshes = [
        ("build over sphere mesh", generate::icosphere(7).expect("allowed level")),
        ("build over torus mesh", generate::torus(1.0, 0.4, 200, 100).expect("allowed sizes")),
    ];
    for (name, mesh) in meshes {
        if !run.selects(name) {
            continue;
        }
        let boxes: Vec<Aabb> = (0..mesh.triangles().len())
            .map(|i| Aabb::from_points(mesh.triangle(i)).expect("triangles are finite"))
            .collect();
        let (boxes64, boxes32) = (double::boxes(&double::mesh(&mesh)), single::boxes(&single::mesh(&mesh)));
        let ours = |_| {
            black_box(WideTree::build(&boxes, &BuildSettings::default()).is_ok());
        };
        let theirs64 = |_| double::build(&boxes64);
        let theirs32 = |_| single::build(&boxes32);
        // Per box.
        run.compare(name, [1, boxes.len()], ours, theirs64, theirs32);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|i| arguments.get(i + 1));
    let rounds = value("--rounds").and_then(|text| text.parse().ok()).unwrap_or(31_usize).max(1);
    let run = Run { only: value("--only").cloned(), rounds };
    println!(
        "{:<38}{:>18}{:>18}{:>18}{:>15}{:>15}",
        "nanoseconds, least and median", "ours", "parry3d-f64", "parry3d", "f64/ours", "f32/ours"
    );
    let sizes = [DVec3::new(0.5, 0.7, 0.6), DVec3::new(0.8, 0.4, 0.5)];
    let [a, b] = sizes.map(|size| Cuboid::new(size).expect("allowed size"));
    let ([a64, b64], [a32, b32]) = (sizes.map(double::cuboid), sizes.map(single::cuboid));
    pairs(&run, "boxes", [&a, &b], [&a64, &b64], [&a32, &b32]);
    let mut random = Random(1);
    let mut points = Vec::new();
    for count in [12, 42] {
        let clouds = [(); 2].map(|()| (0..count).map(|_| random.on_sphere()).collect::<Vec<_>>());
        let hulls: [ConvexPolyhedron; 2] =
            [0, 1].map(|i| convex_hull(&clouds[i]).expect("the points span a volume"));
        let ([a64, b64], [a32, b32]) =
            ([0, 1].map(|i| double::hull(&clouds[i])), [0, 1].map(|i| single::hull(&clouds[i])));
        let name = format!("hulls of {count}");
        pairs(&run, &name, [&hulls[0], &hulls[1]], [&a64, &b64], [&a32, &b32]);
        points.clone_from(&clouds[0]);
    }
    walks(&run);
    triangles(&run);
    rays(&run, &points);
    casts(&run, &points);
    builds(&run);
}
