//! How fast contact manifolds are, side by side with parry3d in f64 and f32, same shapes, poses and margin.
//!
//! `cargo run --release --bin manifold_speed [rounds]`
//!
//! Cold: every pose is new, nothing is remembered. Exact: each of many pairs moves a little from query to query and keeps
//! its cache; ours computes every manifold, Parry has no such mode. Coherent: manifolds are kept while the normal has tilted
//! by less than 1°, no point has slipped by more than 1 mm and none began or ended to touch, in all three libraries (those
//! numbers are Parry's; ours has one more condition, an error of at most 1 mm). Rounds of the libraries alternate, so that a busy
//! machine slows all of them alike. Times are nanoseconds per query.
//! `manifold_speed count <pair> <library> <cold|exact|coherent> <repeats>` runs one of them alone, for
//! `valgrind --tool=callgrind`.

use std::hint::black_box;

use glam::{DQuat, DVec3};
use rattleback_benchmarks::{Random, Times, timed};
use rattleback_geometry::contact::{CachedContact, Piece, PieceCache, Recycling, collide_pieces};
use rattleback_geometry::{Pose, Shape, convex_hull, generate};

const MARGIN: f64 = 0.02;
const PAIRS: usize = 64;
const STEPS: usize = 40;

/// A pair of shapes and its poses: `PAIRS` starting poses near touching, each followed by `STEPS` small motions.
struct Case {
    name: &'static str,
    a: Shape,
    b: Shape,
    poses: Vec<Vec<Pose>>,
}

/// Starts that overlap by a few hundredths of the size, about half of them resting flat.
fn case(name: &'static str, a: Shape, b: Shape, seed: u64) -> Case {
    let mut random = Random(seed);
    let (piece_a, piece_b) = (Piece::try_from(&a).expect("convex"), Piece::try_from(&b).expect("convex"));
    let poses = (0..PAIRS)
        .map(|i| {
            let flat = DQuat::from_rotation_z(3.0 * random.next());
            let any = DQuat::from_scaled_axis(3.0 * random.vector());
            let turn = if i % 2 == 0 { DQuat::from_scaled_axis(1e-4 * random.vector()) * flat } else { any };
            let way = if i % 2 == 0 { DVec3::Z } else { random.vector().normalize() };
            // Down along the way until it overlaps by a little.
            let mut height = 4.0;
            for _ in 0..60 {
                let pose = Pose::new(turn, height * way);
                let gap = rattleback_geometry::contact::distance_pieces(
                    &piece_a,
                    &piece_b,
                    &pose,
                    &mut PieceCache::default(),
                );
                height -= 0.5 * (gap.map_or(0.0, |nearest| nearest.distance) + 0.01);
            }
            let (drift, spin) = (1e-3 * random.vector(), 1e-3 * random.vector());
            (0..STEPS)
                .map(|step| {
                    let t = step as f64;
                    let place = height * way + (0.3 * t).sin() * drift;
                    Pose::new(DQuat::from_scaled_axis((0.2 * t).sin() * spin) * turn, place)
                })
                .collect()
        })
        .collect();
    Case { name, a, b, poses }
}

/// What is kept from query to query.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Cold,
    Exact,
    Coherent,
}

fn ours(case: &Case, how: How) -> usize {
    let (a, b) = (Piece::try_from(&case.a).expect("convex"), Piece::try_from(&case.b).expect("convex"));
    let mut points = 0;
    for run in &case.poses {
        let (mut cache, mut contact) = (PieceCache::default(), CachedContact::default());
        for pose in run {
            if how == How::Coherent {
                let found = contact.update(&a, &b, black_box(pose), MARGIN, &Recycling::REAL_TIME);
                points += found.ok().flatten().map_or(0, |manifold| manifold.points().len());
                continue;
            }
            if how == How::Cold {
                cache = PieceCache::default();
            }
            let found = collide_pieces(&a, &b, black_box(pose), MARGIN, &mut cache);
            points += found.ok().flatten().map_or(0, |manifold| manifold.points().len());
        }
    }
    points
}

macro_rules! peer {
    ($name:ident, $library:ident, $real:ty) => {
        mod $name {
            use super::{Case, DVec3, MARGIN, black_box};
            use $library::math::{Pose, Vector};
            use $library::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
            use $library::shape::SharedShape;

            rattleback_benchmarks::peer_numbers!($library, $real);

            fn shape(shape: &rattleback_geometry::Shape) -> (SharedShape, rattleback_geometry::Pose) {
                use rattleback_geometry::{Pose, Shape};
                let turn = glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
                let upright = Pose::new(turn, DVec3::ZERO);
                match shape {
                    Shape::Cuboid(c) => {
                        let h = vector(c.half_extents());
                        (SharedShape::cuboid(h.x, h.y, h.z), Pose::IDENTITY)
                    }
                    Shape::Capsule(c) => {
                        (SharedShape::capsule_y(0.5 * c.height() as $real, c.radius() as $real), upright)
                    }
                    Shape::Cylinder(c) => {
                        (SharedShape::cylinder(0.5 * c.height() as $real, c.radius() as $real), upright)
                    }
                    Shape::HalfSpace(h) => (SharedShape::halfspace(vector(h.normal())), Pose::IDENTITY),
                    Shape::Convex(hull) => {
                        let points: Vec<Vector> = hull.vertices().iter().map(|&p| vector(p)).collect();
                        (SharedShape::convex_hull(&points).expect("a hull"), Pose::IDENTITY)
                    }
                    _ => unreachable!("not in the benchmark"),
                }
            }

            pub struct Peer {
                a: SharedShape,
                b: SharedShape,
                poses: Vec<Vec<Pose>>,
            }

            impl Peer {
                pub fn new(case: &Case) -> Self {
                    let ((a, from_a), (b, from_b)) = (shape(&case.a), shape(&case.b));
                    let convert =
                        |b_in_a: &rattleback_geometry::Pose| pose(&(from_a.inverse() * (*b_in_a * from_b)));
                    let poses = case.poses.iter().map(|run| run.iter().map(convert).collect()).collect();
                    Self { a, b, poses }
                }

                pub fn run(&self, coherent: bool) -> usize {
                    let mut points = 0;
                    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
                    let mut workspace = None;
                    for run in &self.poses {
                        manifolds.clear();
                        workspace = None;
                        for pose in run {
                            if !coherent {
                                manifolds.clear();
                                workspace = None;
                            }
                            let _ = DefaultQueryDispatcher.contact_manifolds(
                                black_box(pose),
                                &*self.a,
                                &*self.b,
                                MARGIN as $real,
                                &mut manifolds,
                                &mut workspace,
                            );
                            points += manifolds.iter().map(|m| m.points.len()).sum::<usize>();
                        }
                    }
                    let _ = &workspace;
                    points
                }
            }
        }
    };
}

peer!(double, parry3d_f64, f64);
peer!(single, parry3d, f32);

/// The pairs, made when asked for.
fn cases() -> Vec<(&'static str, Box<dyn Fn(&'static str) -> Case>)> {
    let cube = || Shape::cuboid(DVec3::new(1.0, 0.8, 0.6)).expect("sizes");
    let ball = |level| {
        let points = generate::icosphere(level).expect("level");
        Shape::convex(convex_hull(points.vertices()).expect("hull")).expect("convex")
    };
    let other = || Shape::cuboid(DVec3::new(0.5, 0.7, 0.9)).expect("sizes");
    let ground = || Shape::half_space(DVec3::Z).expect("normal");
    let capsule = || Shape::capsule(0.4, 1.6).expect("sizes");
    let cylinder = || Shape::cylinder(0.6, 1.4).expect("sizes");
    vec![
        ("box-box", Box::new(move |name| case(name, cube(), other(), 1))),
        ("hull12-hull12", Box::new(move |name| case(name, ball(1), ball(1), 2))),
        ("hull42-hull42", Box::new(move |name| case(name, ball(2), ball(2), 3))),
        ("half-space-hull42", Box::new(move |name| case(name, ground(), ball(2), 4))),
        ("box-capsule", Box::new(move |name| case(name, cube(), capsule(), 5))),
        ("box-cylinder", Box::new(move |name| case(name, cube(), cylinder(), 6))),
        ("hull42-capsule", Box::new(move |name| case(name, ball(2), capsule(), 7))),
        ("box-hull42", Box::new(move |name| case(name, cube(), ball(2), 8))),
    ]
}

/// One library, one pair, again and again.
fn count(pair: &str, library: &str, how: How, repeats: usize) {
    let Some((name, make)) = cases().into_iter().find(|(name, _)| *name == pair) else { return };
    let case = make(name);
    let coherent = how == How::Coherent;
    let mut points = 0;
    let (double, single) = (double::Peer::new(&case), single::Peer::new(&case));
    for _ in 0..repeats {
        points = match library {
            "f64" => double.run(coherent),
            "f32" => single.run(coherent),
            _ => ours(&case, how),
        };
    }
    println!("{points} points in {} queries, {repeats} times", PAIRS * STEPS);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, pair, library, how, repeats] = words.as_slice()
        && word == "count"
    {
        let how = match how.as_str() {
            "exact" => How::Exact,
            "coherent" => How::Coherent,
            _ => How::Cold,
        };
        return count(pair, library, how, repeats.parse().unwrap_or(1));
    }
    let rounds: usize = words.first().and_then(|text| text.parse().ok()).unwrap_or(15).max(1);
    println!("nanoseconds per query, minimum and median of {rounds} rounds; ratios over ours");
    for (name, make) in cases() {
        compare(&make(name), rounds);
    }
}

/// Rows of one pair.
fn compare(case: &Case, rounds: usize) {
    let (double, single) = (double::Peer::new(case), single::Peer::new(case));
    for how in [How::Cold, How::Exact, How::Coherent] {
        let coherent = how == How::Coherent;
        let mut times = [(); 3].map(|()| Times::default());
        let mut points = [0; 3];
        for _ in 0..rounds {
            points[0] = timed(&mut times[0], || ours(case, how));
            points[1] = timed(&mut times[1], || double.run(coherent));
            points[2] = timed(&mut times[2], || single.run(coherent));
        }
        let nanoseconds = |times: &Times| times.summary().map(|t| t * 1e6 / (PAIRS * STEPS) as f64);
        let rows = times.each_ref().map(nanoseconds);
        let (least, middle) = (rows.map(|row| row[0]), rows.map(|row| row[1]));
        println!(
            "{:<18} {:<8} ours {:6.0} {:6.0}   parry f64 {:6.0} {:6.0} ×{:5.2} {:5.2}   parry f32 {:6.0} {:6.0} ×{:5.2} {:5.2}   points {points:?}",
            case.name,
            match how {
                How::Cold => "cold",
                How::Exact => "exact",
                How::Coherent => "coherent",
            },
            least[0],
            middle[0],
            least[1],
            middle[1],
            least[1] / least[0],
            middle[1] / middle[0],
            least[2],
            middle[2],
            least[2] / least[0],
            middle[2] / middle[0],
        );
    }
}
