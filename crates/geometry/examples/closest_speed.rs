//! Time per nearest-point query, ours and parry's on the same poses in the same run:
//! `cargo run --release -p rattleback-geometry --example closest_speed`

#[path = "../tests/closest_oracle/mod.rs"]
mod closest_oracle;
#[path = "../tests/pair_kind/mod.rs"]
mod pair_kind;
#[path = "../tests/random/mod.rs"]
mod random;

use std::hint::black_box;
use std::time::Instant;

use closest_oracle::{parry_hull, parry_pose, parry_vector, random_hull, sphere_hull};
use glam::{DQuat, DVec3};
use parry3d_f64::math as parry_math;
use parry3d_f64::query::details::{
    closest_points_support_map_support_map_with_params as parry_closest,
    contact_support_map_support_map_with_params as parry_contact,
};
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{Cuboid as ParryCuboid, SupportMap};
use random::Random;
use rattleback_geometry::closest::{
    FeatureMap, GjkCache, LinCannyCache, Support, VClipCache, gjk, lin_canny, signed_distance, vclip,
};
use rattleback_geometry::{ConvexPolyhedron, Cuboid, Pose};

/// (least, median) nanoseconds per pose of two programs, alternating, so that both see the same noise.
fn time(poses: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [(f64, f64); 2] {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(61_usize).max(1);
    let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    for _ in 0..rounds {
        let programs: [&mut dyn FnMut(); 2] = [&mut ours, &mut theirs];
        for (program, times) in programs.into_iter().zip(&mut times) {
            let start = Instant::now();
            program();
            times.push(1e9 * start.elapsed().as_secs_f64() / poses as f64);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[rounds / 2])
    })
}

fn row(name: &str, [ours, theirs]: [(f64, f64); 2]) {
    println!(
        "{name:<44}{:>8.0}{:>8.0}{:>10.0}{:>8.0}{:>8.2}",
        ours.0,
        ours.1,
        theirs.0,
        theirs.1,
        theirs.1 / ours.1
    );
}

/// Random poses at least `gap` apart and at most `reach` off, or overlapping if `gap` is negative.
fn random_poses<S: Support>(a: &S, b: &S, gap: f64, reach: f64) -> Vec<Pose> {
    let mut random = Random(3);
    let mut poses = Vec::new();
    while poses.len() < 1000 {
        let pose = random.pose(reach);
        let distance = signed_distance(a, b, &pose, &mut GjkCache::default()).map_or(0.0, |s| s.distance);
        if (distance - gap) * gap.signum() > 0.0 {
            poses.push(pose);
        }
    }
    poses
}

/// One shape turning past the other, `degrees` per query.
fn turning(degrees: f64, distance: f64) -> Vec<Pose> {
    let axis = DVec3::new(0.3, 1.0, 0.2).normalize();
    (0..1000)
        .map(|i| {
            let angle = (degrees * f64::from(i)).to_radians();
            let sway = DVec3::new(0.0, 0.2 * angle.sin(), 0.2 * angle.cos());
            Pose::new(DQuat::from_axis_angle(axis, angle), DVec3::X * distance + sway)
        })
        .collect()
}

fn pairs<S: Support, P: SupportMap>(name: &str, [a, b]: [&S; 2], [pa, pb]: [&P; 2], distance: f64) {
    let cold = random_poses(a, b, 0.05, 3.0);
    let their_cold: Vec<_> = cold.iter().map(parry_pose).collect();
    let mut simplex = VoronoiSimplex::new();
    let ours = || {
        for pose in &cold {
            black_box(gjk(a, b, black_box(pose), &mut GjkCache::default()).is_ok());
        }
    };
    let theirs = || {
        for pose in &their_cold {
            black_box(parry_closest(black_box(pose), pa, pb, f64::MAX, &mut simplex, None));
        }
    };
    row(&format!("{name}, GJK, random poses, cold"), time(cold.len(), ours, theirs));
    for degrees in [0.1, 1.0] {
        let poses = turning(degrees, distance);
        let their_poses: Vec<_> = poses.iter().map(parry_pose).collect();
        let mut cache = GjkCache::default();
        let ours = || {
            for pose in &poses {
                black_box(gjk(a, b, black_box(pose), &mut cache).is_ok());
            }
        };
        let mut direction: Option<parry_math::Vector> = None;
        let theirs = || {
            for pose in &their_poses {
                let answer = parry_closest(black_box(pose), pa, pb, f64::MAX, &mut simplex, direction);
                if let GJKResult::ClosestPoints(_, _, normal) = answer {
                    direction = Some(normal);
                }
                black_box(answer);
            }
        };
        row(&format!("{name}, GJK, {degrees}° per query"), time(poses.len(), ours, theirs));
    }
    let deep = random_poses(a, b, -0.01, 1.5);
    let their_deep: Vec<_> = deep.iter().map(parry_pose).collect();
    let ours = || {
        for pose in &deep {
            black_box(signed_distance(a, b, black_box(pose), &mut GjkCache::default()).is_ok());
        }
    };
    let theirs = || {
        for pose in &their_deep {
            black_box(parry_contact(black_box(pose), pa, pb, f64::MAX, &mut simplex, None));
        }
    };
    row(&format!("{name}, depth, random poses, cold"), time(deep.len(), ours, theirs));
}

fn walks(name: &str, hull: &ConvexPolyhedron, degrees: f64) {
    let (Ok(map), Some(theirs)) = (FeatureMap::new(hull), parry_hull(hull)) else { return };
    let poses = turning(degrees, 2.5);
    let their_poses: Vec<_> = poses.iter().map(parry_pose).collect();
    let (mut clip_cache, mut walk_cache) = (VClipCache::default(), LinCannyCache::default());
    let clip = || {
        for pose in &poses {
            black_box(vclip(&map, &map, black_box(pose), &mut clip_cache).is_ok());
        }
    };
    let walk = || {
        for pose in &poses {
            black_box(lin_canny(&map, &map, black_box(pose), &mut walk_cache).is_ok());
        }
    };
    let (mut simplex, mut direction) = (VoronoiSimplex::new(), Some(parry_vector(DVec3::X)));
    let mut parry = || {
        for pose in &their_poses {
            let answer = parry_closest(black_box(pose), &theirs, &theirs, f64::MAX, &mut simplex, direction);
            if let GJKResult::ClosestPoints(_, _, normal) = answer {
                direction = Some(normal);
            }
            black_box(answer);
        }
    };
    row(&format!("{name}, V-Clip, {degrees}° per query"), time(poses.len(), clip, &mut parry));
    row(&format!("{name}, Lin-Canny, {degrees}° per query"), time(poses.len(), walk, &mut parry));
}

fn main() {
    println!("{:<44}{:>16}{:>18}", "nanoseconds per query", "ours", "parry");
    println!("{:<44}{:>8}{:>8}{:>10}{:>8}{:>8}", "", "least", "median", "least", "median", "ratio");
    let cubes = [DVec3::new(0.5, 0.7, 0.6), DVec3::new(0.8, 0.4, 0.5)];
    if let [Ok(a), Ok(b)] = cubes.map(Cuboid::new) {
        let [pa, pb] = cubes.map(|h| ParryCuboid::new(parry_vector(h)));
        pairs("boxes", [&a, &b], [&pa, &pb], 2.5);
    }
    let mut random = Random(1);
    for count in [12, 42] {
        let hulls = [(); 2].map(|()| {
            let points: Vec<DVec3> = (0..count).map(|_| random.on_sphere()).collect();
            rattleback_geometry::convex_hull(&points)
                .unwrap_or_else(|_| random_hull(&mut random, count, DVec3::ONE))
        });
        if let [Some(pa), Some(pb)] = [parry_hull(&hulls[0]), parry_hull(&hulls[1])] {
            pairs(&format!("hulls of {count} vertices"), [&hulls[0], &hulls[1]], [&pa, &pb], 2.5);
        }
    }
    for level in [2, 3, 4] {
        let hull = sphere_hull(level);
        let name = format!("spheres of {} vertices", hull.vertices().len());
        walks(&name, &hull, 0.1);
        walks(&name, &hull, 1.0);
    }
}
