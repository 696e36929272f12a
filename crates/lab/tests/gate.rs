//! Gates: rows sum to 1, no gate gives the identity, a mirrored gate the mirrored matrix.

use glam::DVec3;
use rattleback_dynamics::Registry;
use rattleback_geometry::generate;
use rattleback_lab::gate::{Gate, GateTrack, TrackSettings, Transport};
use rattleback_lab::poses::{Landscape, Part, PartOptions, chi_squared, chi_squared_tail};

/// 20 × 14 × 8 mm.
fn brick() -> (Part, Landscape) {
    let soup = generate::cuboid(DVec3::new(0.010, 0.007, 0.004)).unwrap();
    let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
    let landscape = Landscape::of(&part, 0.02).unwrap();
    (part, landscape)
}

fn settings(part: &Part) -> TrackSettings {
    TrackSettings { longest: 4.0, ..TrackSettings::for_size(part.size()) }
}

#[test]
fn a_gate_that_does_nothing_gives_the_identity() {
    let (part, landscape) = brick();
    let registry = Registry::default();
    for (transport, headings) in [
        (Transport::Conveyor { speed: 0.2 }, 4),
        (Transport::Gravity { incline: 25.0 }, 1),
        (Transport::Vibratory { amplitude: 0.0003, frequency: 50.0, angle: 30.0 }, 1),
    ] {
        let settings = TrackSettings { transport, headings, longest: 10.0, ..settings(&part) };
        for gate in [Gate::None, Gate::Bar { clearance: 0.05, angle: 20.0 }] {
            let track = GateTrack::new(&part, &landscape, gate, &settings, &registry).unwrap();
            let matrix = track.matrix(6, 2).unwrap();
            for (i, row) in matrix.shares().iter().enumerate() {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert_eq!(row[i], 1.0, "{transport:?} {gate}: state {i}: {row:?}");
            }
        }
    }
}

/// A bar below the flattest pose lets nothing through; one between the heights of two poses lets the lower pass untouched.
#[test]
fn a_bar_passes_what_fits_under_it() {
    let (part, landscape) = brick();
    let (registry, settings) = (Registry::default(), settings(&part));
    let heights: Vec<f64> = landscape.poses.iter().map(|pose| 2.0 * pose.height).collect();
    let track = |clearance| {
        let gate = Gate::Bar { clearance, angle: 0.0 };
        GateTrack::new(&part, &landscape, gate, &settings, &registry).unwrap().matrix(5, 2).unwrap()
    };
    let states = landscape.poses.len();
    for (i, row) in track(0.004).shares().iter().enumerate() {
        assert_eq!(row[..states].iter().sum::<f64>(), 0.0, "state {i}: {row:?}");
    }
    for (i, row) in track(0.011).shares().iter().enumerate() {
        if heights[i] < 0.010 {
            assert_eq!(row[i], 1.0, "state {i}: {row:?}");
        } else {
            assert!(row[i] < 1.0, "a part of {} m cannot pass as it is: {row:?}", heights[i]);
        }
    }
}

/// χ² of the matrix of a fence and of that of its mirror image with left and right of all states exchanged; the same for any number of threads.
#[test]
fn a_mirrored_gate_gives_the_mirrored_matrix() {
    let (part, landscape) = brick();
    let registry = Registry::default();
    let settings = TrackSettings { headings: 4, ..settings(&part) };
    let gate = Gate::Fence { angle: 45.0, reach: 0.055 };
    let trials = 30;
    let matrix = |gate: Gate, threads| {
        GateTrack::new(&part, &landscape, gate, &settings, &registry)
            .unwrap()
            .matrix(trials, threads)
            .unwrap()
    };
    let (one, other) = (matrix(gate, 2), matrix(gate.mirrored(), 2));
    assert_eq!(matrix(gate, 1), one);
    // The brick equals its mirror image in any plane of its axes. Poses are told apart by their height only, since a mirror exchanges opposite faces, and
    // headings by whether the part lies along the track or across.
    let merged = |counts: &[Vec<f64>]| {
        let class = |state: usize| {
            let height = landscape.poses[state / 4].height;
            let kind = [0.004, 0.007, 0.010].iter().position(|h: &f64| (h - height).abs() < 1e-6).unwrap();
            2 * kind + state % 4 % 2
        };
        let mut sums = vec![vec![0.0; 8]; 6];
        for (i, row) in counts.iter().enumerate() {
            for (j, n) in row.iter().enumerate() {
                sums[class(i)][if j < counts.len() { class(j) } else { 6 + j - counts.len() }] += n;
            }
        }
        sums
    };
    let (mut sum, mut freedom) = (0.0, 0);
    for (a, b) in merged(&one.counts).iter().zip(&merged(&other.counts)) {
        let (chi, degrees) = chi_squared(a, b);
        sum += chi;
        freedom += degrees;
    }
    let p = chi_squared_tail(sum, freedom);
    assert!(p > 1e-3, "χ² = {sum} of {freedom} degrees, p = {p}; {one:?} {other:?}");
    // The fence does something.
    assert!(one.shares().iter().enumerate().any(|(i, row)| row[i] < 0.9), "{one:?}");
}

#[test]
fn bad_gates_are_refused() {
    use rattleback_lab::gate::parse_gates;
    let refused = |text: &str| parse_gates(text).unwrap_err().to_string();
    assert!(refused("bar").contains("bar needs `clearance`"));
    assert!(refused("bar:clearence=1").contains("did you mean `clearance`"));
    assert!(refused("bar:clearance=x").contains("is no number"));
    assert!(refused("bar:clearance=-1").contains("must be above 0"));
    assert!(refused("bar:clearance=0.1..0.2/20000").contains("is no number and no range"));
    assert!(refused("fence:angle=1,reach=0.1").contains("from 5° to 90°"));
    let (part, landscape) = brick();
    let registry = Registry::default();
    let settings = TrackSettings { simulator: "realtim".into(), ..settings(&part) };
    let error = GateTrack::new(&part, &landscape, Gate::None, &settings, &registry).err().unwrap();
    assert!(error.to_string().contains("realtim"), "{error}");
}
