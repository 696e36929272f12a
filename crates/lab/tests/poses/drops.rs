//! Estimates by drops.

use super::{brick, random_hull, sharp};
use glam::{DQuat, DVec3};
use rattleback_dynamics::Registry;
use rattleback_geometry::Pose;
use rattleback_lab::contact::Random;
use rattleback_lab::poses::{
    DISTURBANCE, DropRecord, DropSettings, Estimate, GENERATION, Landscape, Method, Part, PartOptions,
    PoseStudy, Stop, StudySettings, quasi_static,
};

fn run(part: &Part, settings: &StudySettings, method: Method, drops: usize) -> (Estimate, Vec<DropRecord>) {
    run_with(part, settings, method, drops, 2)
}

fn run_with(
    part: &Part,
    settings: &StudySettings,
    method: Method,
    drops: usize,
    threads: usize,
) -> (Estimate, Vec<DropRecord>) {
    let (landscape, registry) = (Landscape::of(part, 0.02).unwrap(), Registry::default());
    let study = PoseStudy::new(part, &landscape, settings, &registry).unwrap();
    let mut records = Vec::new();
    let estimate = study.run(method, Stop::Drops(drops), threads, &mut records, |_, _| true).unwrap();
    (estimate, records)
}

/// E-T5: a fair cube, 2000 independent drops: each face 1/6 ± 0.033 (4σ); nothing is left unsettled.
#[test]
fn a_fair_cube_is_fair() {
    let cube = brick(0.016, 0.016, 0.016);
    let (estimate, _) = run(&cube, &StudySettings::default(), Method::Uniform, 2000);
    assert_eq!((estimate.unsettled, estimate.failed), (0, 0));
    for p in &estimate.p {
        assert!((p - 1.0 / 6.0).abs() < 0.033, "{:?}", estimate.p);
    }
}

/// E-T5: the flat faces of a box 1×2×3 get more drops than their solid angles, with 99 % confidence.
#[test]
fn drops_prefer_flat_faces_to_their_solid_angles() {
    let part = brick(0.01, 0.02, 0.03);
    let settings = StudySettings { confidence: 0.98, ..StudySettings::default() };
    let (estimate, records) = run(&part, &settings, Method::Uniform, 1500);
    let flat = records.iter().filter(|r| matches!(r.pose, Some(0 | 1))).count() as f64;
    let (low, _) = rattleback_lab::poses::wilson(flat, estimate.drops as f64, 0.98);
    let plain = quasi_static(&part, &sharp(&part));
    assert!(low > plain[0] + plain[1], "{low} {}", plain[0] + plain[1]);
}

/// E-T7: each chain begins with 20 uniform starts; later starts are within 1.5° of an earlier result of the same chain. The same seed gives the same table, whatever the
/// number of threads, and a run that was cut off anywhere continues to it.
#[test]
fn chains_start_from_earlier_results() {
    let part = brick(0.01, 0.02, 0.03);
    let settings = StudySettings { chains: 5, ..StudySettings::default() };
    let (estimate, records) = run(&part, &settings, Method::Bootstrap, 300);
    for record in &records {
        let block = record.index / GENERATION;
        let (chain, generation) = (block % 5, block / 5);
        match record.from {
            None => assert_eq!(generation, 0),
            Some(earlier) => {
                let from = earlier / GENERATION;
                assert!(from % 5 == chain && from / 5 < generation);
                let q = DQuat::from_array(record.start);
                let turned = q.angle_between(DQuat::from_array(records[earlier].end));
                assert!(turned <= DISTURBANCE + 1e-7, "{turned}");
            }
        }
    }
    assert!(records.iter().filter(|r| r.from.is_none()).count() == 5 * GENERATION);
    assert!(estimate.interval.is_some());
    assert_eq!(run_with(&part, &settings, Method::Bootstrap, 300, 1), (estimate.clone(), records.clone()));
    // Continued after a cut in the middle of a round.
    let (landscape, registry) = (Landscape::of(&part, 0.02).unwrap(), Registry::default());
    let study = PoseStudy::new(&part, &landscape, &settings, &registry).unwrap();
    let mut cut = records[..137].to_vec();
    let again = study.run(Method::Bootstrap, Stop::Drops(300), 2, &mut cut, |_, _| true).unwrap();
    assert_eq!((again, cut), (estimate, records));
}

/// A part that its energy traps in a pose comes to rest in it: the same drops with and without the early end.
#[test]
fn trapped_parts_come_to_rest_where_predicted() {
    let mut random = Random::new(12, 1);
    let (mut compared, mut different) = (0, 0);
    for case in 0..6 {
        let soup = random_hull(&mut random);
        let scaled: Vec<DVec3> = soup.vertices.iter().map(|p| *p * 0.012).collect();
        let soup = rattleback_geometry::convex_hull(&scaled).unwrap().soup().clone();
        let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
        let settings = |trap| StudySettings {
            seed: case,
            drop: DropSettings { trap, ..DropSettings::default() },
            ..StudySettings::default()
        };
        let (_, early) = run(&part, &settings(true), Method::Uniform, 40);
        let (_, late) = run(&part, &settings(false), Method::Uniform, 40);
        for (a, b) in early.iter().zip(&late) {
            if let (Some(a), Some(b)) = (a.pose, b.pose) {
                compared += 1;
                different += u32::from(a != b);
            }
        }
    }
    assert!(compared > 200 && different == 0, "{different} of {compared}");
}

/// Two samples of counts ⇒ whether they may be of one distribution (χ² with 4σ).
fn same_distribution(a: &[f64], b: &[f64]) -> bool {
    let (na, nb): (f64, f64) = (a.iter().sum(), b.iter().sum());
    let (mut chi2, mut freedom) = (0.0, -1.0);
    for (x, y) in a.iter().zip(b) {
        let p = (x + y) / (na + nb);
        if p * na.min(nb) < 5.0 {
            continue;
        }
        freedom += 1.0;
        chi2 += (x - na * p).powi(2) / (na * p) + (y - nb * p).powi(2) / (nb * p);
    }
    let freedom: f64 = f64::max(freedom, 1.0);
    chi2 < freedom + 4.0 * (2.0 * freedom).sqrt() + 4.0
}

fn counts(records: &[DropRecord], poses: usize) -> Vec<f64> {
    let mut counts = vec![0.0; poses];
    for pose in records.iter().filter_map(|r| r.pose) {
        counts[pose] += 1.0;
    }
    counts
}

/// The dynamic estimate depends neither on the time step nor on the frame of the mesh (χ²).
#[test]
fn drops_do_not_depend_on_step_or_frame() {
    let part = brick(0.01, 0.016, 0.02);
    let base = StudySettings::default();
    let (_, plain) = run(&part, &base, Method::Uniform, 600);
    let fine = StudySettings {
        drop: DropSettings { dt: 0.0023, ..DropSettings::default() },
        seed: 2,
        ..base.clone()
    };
    let (_, stepped) = run(&part, &fine, Method::Uniform, 600);
    assert!(same_distribution(&counts(&plain, 6), &counts(&stepped, 6)));
    let mut turned = part.surface().to_soup();
    let pose = Pose::new(DQuat::from_scaled_axis(DVec3::new(0.3, 0.7, -1.1)), DVec3::new(0.1, -0.2, 0.05));
    turned.vertices.iter_mut().for_each(|p| *p = pose.point(*p));
    let turned = Part::from_soup(&turned, &PartOptions::default()).unwrap();
    let (_, moved) = run(&turned, &StudySettings { seed: 3, ..base }, Method::Uniform, 600);
    let pairs = |c: Vec<f64>| vec![c[0] + c[1], c[2] + c[3], c[4] + c[5]];
    assert!(same_distribution(&pairs(counts(&plain, 6)), &pairs(counts(&moved, 6))));
}

/// Transition counts are equal per pose; the stationary distribution of a cube is uniform; a drop from almost no height leaves each part in its pose,
/// which is reported as one class per pose.
#[test]
fn transitions_have_a_stationary_distribution_or_say_that_they_have_none() {
    let cube = brick(0.016, 0.016, 0.016);
    let (estimate, records) = run(&cube, &StudySettings::default(), Method::Transition, 600);
    for pose in 0..6 {
        assert_eq!(records.iter().filter(|r| r.from == Some(pose)).count(), 100);
    }
    for ((low, high), p) in estimate.interval.as_ref().unwrap().iter().zip(&estimate.p) {
        assert!(*low <= *p && *p <= *high);
        assert!(low - 0.06 < 1.0 / 6.0 && 1.0 / 6.0 < high + 0.06, "{estimate:?}");
    }
    let low = StudySettings {
        drop: DropSettings { height: 1e-4, speed: 0.0, ..DropSettings::default() },
        ..StudySettings::default()
    };
    let (estimate, _) = run(&cube, &low, Method::Transition, 60);
    assert_eq!(estimate.closed_classes, Some(6));
    assert_eq!(estimate.interval, None);
}

/// `Stop::Precision` stops as soon as all intervals are narrow enough.
#[test]
fn a_wanted_precision_ends_the_drops() {
    let part = brick(0.01, 0.02, 0.03);
    let (landscape, registry, settings) =
        (Landscape::of(&part, 0.02).unwrap(), Registry::default(), StudySettings::default());
    let study = PoseStudy::new(&part, &landscape, &settings, &registry).unwrap();
    let stop = Stop::Precision { delta: 0.05, most: 5000 };
    let mut records = Vec::new();
    let estimate = study.run(Method::Uniform, stop, 2, &mut records, |_, _| true).unwrap();
    assert!(estimate.half_width().unwrap() <= 0.05 && records.len() < 600, "{}", records.len());
}
