//! Worst errors of the nearest-point searches against brute force and against parry, over many poses per
//! pair: `cargo run --release -p rattleback-geometry --example closest_oracle -- 100000`

#[path = "../tests/closest_oracle/mod.rs"]
mod closest_oracle;
#[path = "../tests/pair_kind/mod.rs"]
mod pair_kind;
#[path = "../tests/random/mod.rs"]
mod random;

use closest_oracle::{PAIRS, parry_pose, parry_shape, worst_errors};
use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::closest::{ConvexShape, GjkCache, Support, signed_distance};
use rattleback_geometry::{Pose, Shape, ShapeError};

const KINDS: [&str; 7] = ["sphere", "box", "cylinder", "capsule", "cone", "ellipsoid", "hull"];
const PLACES: [&str; 6] = ["anywhere", "touching", "aligned", "1e6 m away", "of 1e-4 m", "stretched 1:1000"];

fn shape(kind: usize, random: &mut Random, size: f64, stretch: f64) -> Result<Shape, ShapeError> {
    let mut side = || size * random.between(0.3, 1.0);
    let (x, y, z) = (side(), side(), side() * stretch);
    match kind {
        0 => Shape::sphere(x),
        1 => Shape::cuboid(DVec3::new(x, y, z)),
        2 => Shape::cylinder(x, z),
        3 => Shape::capsule(x, z),
        4 => Shape::cone(x, z),
        5 => Shape::ellipsoid(DVec3::new(x, y, z)),
        _ => {
            let points: Vec<DVec3> = (0..12).map(|_| random.on_sphere() * DVec3::new(x, y, z)).collect();
            Shape::convex_hull(&points)
        }
    }
}

fn pose(place: usize, random: &mut Random, size: f64) -> Pose {
    let quarter = |random: &mut Random| (random.bits() % 4) as f64 * std::f64::consts::FRAC_PI_2;
    match place {
        2 => {
            let turn = DQuat::from_rotation_x(quarter(random)) * DQuat::from_rotation_z(quarter(random));
            let axis = DVec3::AXES[(random.bits() % 3) as usize];
            Pose::new(turn, random.between(2.0, 4.0) * axis)
        }
        3 => Pose::new(random.rotation(), 1e6 * random.on_sphere()),
        _ => Pose::new(random.rotation(), random.between(0.5, 4.0) * size * random.on_sphere()),
    }
}

/// Worst errors of one pair of kinds: gap between the proved bounds of the distance, asymmetry, common
/// motion, parry.
#[derive(Default)]
struct Bounds {
    apart: usize,
    proved: f64,
    swapped: f64,
    moved: f64,
    parry: f64,
}

/// Any answer with normal n and points p is proved from both sides: the points lie in the shapes, so the
/// distance is at most
/// |p_B − p_A|; the planes across n through the farthest points part the shapes, so it is at least s_B(−n)·n − s_A(n)·n.
fn prove(worst: &mut Bounds, a: &Shape, b: &Shape, pose: &Pose, random: &mut Random) -> Option<()> {
    let [ca, cb] = [ConvexShape::try_from(a).ok()?, ConvexShape::try_from(b).ok()?];
    let ours = signed_distance(&ca, &cb, pose, &mut GjkCache::default()).ok()?;
    let reach_a = ca.farthest(ours.normal, 0).0.dot(ours.normal) + ca.radius();
    let lowest_b =
        pose.point(cb.farthest(pose.inverse_vector(-ours.normal), 0).0).dot(ours.normal) - cb.radius();
    let size = a.aabb(&Pose::IDENTITY)?.diagonal() + b.aabb(&Pose::IDENTITY)?.diagonal();
    let unit = size.max(ours.distance.abs());
    if ours.distance <= 0.0 {
        return None;
    }
    let at_most = ours.point_a.distance(ours.point_b);
    worst.apart += 1;
    worst.proved = worst.proved.max((at_most - (lowest_b - reach_a)).abs() / unit);
    let back = signed_distance(&cb, &ca, &pose.inverse(), &mut GjkCache::default()).ok()?;
    worst.swapped = worst.swapped.max((back.distance - ours.distance).abs() / unit);
    let common = random.pose(10.0);
    let again = common.relative(&(common * *pose));
    let moved = signed_distance(&ca, &cb, &again, &mut GjkCache::default()).ok()?;
    worst.moved = worst.moved.max((moved.distance - ours.distance).abs() / unit);
    let ((pa, place_a), (pb, place_b)) = (parry_shape(a)?, parry_shape(b)?);
    let (pose_a, pose_b) = (parry_pose(&place_a), parry_pose(&(*pose * place_b)));
    let theirs = parry3d_f64::query::distance(&pose_a, &*pa, &pose_b, &*pb).ok()?;
    worst.parry = worst.parry.max((theirs.distance - ours.distance).abs() / unit);
    Some(())
}

fn all_kinds(poses: usize) {
    println!(
        "distances of all pairs of kinds, {poses} poses each, errors in units of the larger of distance and size"
    );
    println!("{:<24}{:>10}{:>12}{:>12}{:>12}{:>12}", "pair", "apart", "bounds", "swapped", "moved", "parry");
    let mut random = Random(5);
    for (i, first) in KINDS.iter().enumerate() {
        for (j, second) in KINDS.iter().enumerate().skip(i) {
            let mut worst = Bounds::default();
            for k in 0..poses {
                let place = k % PLACES.len();
                let size = if place == 4 { 1e-4 } else { 1.0 };
                let stretch = if place == 5 { 1e-3 } else { 1.0 };
                let made = [i, j].map(|kind| shape(kind, &mut random, size, stretch));
                let [Ok(a), Ok(b)] = made else { continue };
                let mut pose = pose(place, &mut random, size);
                if place == 1 {
                    // Brought to within a millionth of each other.
                    let shapes = [ConvexShape::try_from(&a), ConvexShape::try_from(&b)];
                    let [Ok(ca), Ok(cb)] = shapes else { continue };
                    if let Ok(gap) = signed_distance(&ca, &cb, &pose, &mut GjkCache::default()) {
                        pose.translation -= (gap.distance - 1e-6) * gap.normal;
                    }
                }
                prove(&mut worst, &a, &b, &pose, &mut random);
            }
            let name = format!("{first}, {second}");
            println!(
                "{name:<24}{:>10}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}",
                worst.apart, worst.proved, worst.swapped, worst.moved, worst.parry
            );
        }
    }
    println!("places: {}", PLACES.join(", "));
}

fn main() {
    let poses = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    println!("{poses} poses per pair; errors in units of the larger of distance and size of the pair");
    println!(
        "{:<26}{:>8}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "pair", "apart", "deep", "distance", "depth", "witness", "swapped", "moved", "parry"
    );
    for pair in PAIRS {
        let worst = worst_errors(pair, poses, 1);
        println!(
            "{:<26}{:>8}{:>8}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}",
            pair.name,
            worst.apart,
            worst.deep,
            worst.distance,
            worst.depth,
            worst.witness,
            worst.swapped,
            worst.moved,
            worst.parry
        );
    }
    all_kinds(poses);
}
