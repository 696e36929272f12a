//! How long estimates take.

use glam::DVec3;
use rattleback_dynamics::Registry;
use rattleback_geometry::{PolygonSoup, convex_hull, generate};
use rattleback_lab::contact::Random;
use rattleback_lab::poses::{
    Disturbance, Landscape, Method, Part, PartOptions, PoseStudy, SOURCE_ANGLE, Stop, StudySettings,
    perturbed,
};
use std::time::Instant;

/// A hull of about so many facets, 2 cm large.
fn pebble(facets: usize, stretch: DVec3) -> PolygonSoup {
    let mut random = Random::new(20, facets as u64);
    let points: Vec<DVec3> = (0..facets / 2 + 2).map(|_| 0.01 * stretch * random.direction()).collect();
    convex_hull(&points).unwrap().soup().clone()
}

/// A ring with a square cut through it, not convex.
fn ring(facets: u32) -> PolygonSoup {
    let around = (facets / 50).max(8);
    let mut soup = generate::torus(0.01, 0.004, around, 25).unwrap().to_soup();
    // An ellipse, flattened, so that it has a few poses instead of rolling ones.
    soup.vertices.iter_mut().for_each(|p| *p *= DVec3::new(1.0, 0.7, 0.8));
    soup
}

/// Targets: 2000 drops of a part of 50 facets within 5 s on 2 cores, 60 s if it is not convex and has 5000; quasi-static within 1 ms for 50 facets and
/// 1 s for 10⁵.
#[test]
#[ignore = "a measurement: cargo test --release -p rattleback-lab --test suite poses::speed -- --ignored --nocapture"]
fn estimates_are_fast() {
    let stretch = DVec3::new(1.0, 0.8, 0.5);
    for facets in [50, 1000, 100_000] {
        let soup = pebble(facets, stretch);
        let best = (0..if facets > 10_000 { 2 } else { 20 })
            .map(|_| {
                let start = Instant::now();
                let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
                let built = start.elapsed().as_secs_f64();
                let landscape = Landscape::of(&part, 0.02).unwrap();
                let still = start.elapsed().as_secs_f64();
                let cone = perturbed(&part, &landscape, Disturbance::Cone, SOURCE_ANGLE).unwrap();
                assert!(!cone.is_empty());
                (still, built, start.elapsed().as_secs_f64(), landscape.poses.len(), part.hull().face_count())
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        println!(
            "{} faces: mesh and hull {:.3} ms, with {} poses and quasi-static {:.3} ms, with the cone {:.3} ms",
            best.4,
            1e3 * best.1,
            best.3,
            1e3 * best.0,
            1e3 * best.2
        );
    }
    let registry = Registry::default();
    let settings = StudySettings::default();
    for (name, soup) in [("50 facets", pebble(50, stretch)), ("5000 facets, not convex", ring(5000))] {
        let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
        let landscape = Landscape::of(&part, 0.02).unwrap();
        let study = PoseStudy::new(&part, &landscape, &settings, &registry).unwrap();
        for method in [Method::Uniform, Method::Bootstrap] {
            let mut seconds = Vec::new();
            for threads in [1, 2] {
                let start = Instant::now();
                let found =
                    study.run(method, Stop::Drops(2000), threads, &mut Vec::new(), |_, _| true).unwrap();
                seconds.push(start.elapsed().as_secs_f64());
                assert!(found.failed == 0);
                println!(
                    "2000 drops of {name} ({} poses), {}, {threads} thread(s): {:.3} s, {} unsettled",
                    found.p.len(),
                    method.name(),
                    seconds[seconds.len() - 1],
                    found.unsettled
                );
            }
            println!("  2 threads are {:.2}x as fast", seconds[0] / seconds[1]);
        }
    }
}
