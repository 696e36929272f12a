//! Micro-actuators: nothing is fed by symmetric actuation, reversed phases reverse the feed, one impact moves a slider as far as Coulomb's law says.

use rattleback_dynamics::Registry;
use rattleback_lab::micro::{ActuatorArray, Feed, MicroError, Stepper, Tiling, Tips, designs, measure};

fn feeds(all: &[ActuatorArray], runs: usize) -> Vec<Feed> {
    measure(all, runs, 1, 2, &Registry::default(), |_| ()).unwrap()
}

/// A small array, for quick runs.
fn small() -> ActuatorArray {
    ActuatorArray { columns: 20.0, rows: 20.0, duration: 0.04, ..ActuatorArray::default() }
}

fn reversals(array: &ActuatorArray, runs: usize) {
    // The mirror image of a script with the phase χ of its second harmonic has χ + 180°, that of a column phase the opposite one.
    let script =
        |second_phase: f64| ActuatorArray { tips: Tips::Both, second: 0.5, second_phase, ..array.clone() };
    let wave = |column_phase: f64| ActuatorArray { tips: Tips::Both, column_phase, ..array.clone() };
    let symmetric = ActuatorArray { tips: Tips::Both, ..array.clone() };
    let checkered = ActuatorArray { tiling: Tiling::Checkered, ..symmetric.clone() };
    let found = feeds(&[symmetric, checkered, script(90.0), script(-90.0), wave(90.0), wave(-90.0)], runs);
    for feed in &found {
        println!("{:?} ± {:?}, {} failed", feed.mean, feed.deviation, feed.failed);
        assert_eq!(feed.failed, 0);
        // Nothing is fed across in any case.
        assert!(feed.mean[1].abs() < 3.0 * feed.deviation[1], "{feed:?}");
    }
    for feed in &found[..2] {
        assert!(feed.mean[0].abs() < 2.0 * feed.deviation[0], "symmetric: {feed:?}");
    }
    let opposite = |a: &Feed, b: &Feed| {
        let sigma = a.deviation[0].hypot(b.deviation[0]);
        assert!((a.mean[0] + b.mean[0]).abs() < 3.0 * sigma, "{a:?} {b:?}");
        assert!(a.mean[0] * b.mean[0] < 0.0, "{a:?} {b:?}");
        (a.mean[0] - b.mean[0]).abs() / sigma
    };
    assert!(opposite(&found[2], &found[3]) > 3.0);
    // A wave of tilts feeds little; the sample decides how clearly its sign shows.
    let wave = opposite(&found[4], &found[5]);
    println!("waves differ by {wave} σ");
}

#[test]
fn symmetric_actuation_feeds_nothing_and_reversed_phases_feed_back() {
    reversals(&small(), 8);
}

/// The same with all plates and more runs.
#[test]
#[ignore = "some minutes: cargo test --release -p rattleback-lab --test suite micro:: -- --ignored --nocapture"]
fn large_arrays_are_symmetric_too() {
    reversals(&ActuatorArray::default(), 32);
}

/// Tips on one side throw a part to the other, whatever the tiling, and more tilt feeds faster.
#[test]
fn tips_on_one_side_feed_away_from_them() {
    let of = |tilt: f64, tiling| ActuatorArray { tilt, tiling, ..small() };
    let found = feeds(&[of(1.0, Tiling::Uniform), of(2.0, Tiling::Uniform), of(2.0, Tiling::Brick)], 6);
    for feed in &found {
        assert!(feed.mean[0] < -3.0 * feed.deviation[0], "{feed:?}");
    }
    assert!(found[1].mean[0] < found[0].mean[0], "{found:?}");
}

/// One jaw hits the slider once: v_x = min(v_t, μ (1 + e) v_n), then friction of the base stops it.
#[test]
fn a_single_impact_moves_the_slider_as_far_as_coulomb_says() {
    let base = Stepper { jaws: 1.0, duration: 0.03, ..Stepper::default() };
    let texts = ["friction=0.1..1/4", "restitution=0.3..0.9/3", "angle=40..130/4"].map(String::from);
    let all = designs(&base, &texts).unwrap();
    let found = measure(&all, 1, 1, 2, &Registry::default(), |_| ()).unwrap();
    for (design, feed) in all.iter().zip(&found) {
        let (step, expected) = (feed.mean[0] * design.duration, design.single_step().unwrap());
        let tolerance = 0.02 * expected.abs() + 1e-3 * design.amplitude;
        assert!((step - expected).abs() < tolerance, "{step} {expected} {design:?}");
    }
}

/// Across the slider there is no step; beyond 90° the mirror image of one.
#[test]
fn the_angle_of_the_jaws_chooses_the_direction() {
    let found = |angle: f64| {
        let design = Stepper { angle, duration: 0.02, ..Stepper::default() };
        measure(&[design], 4, 1, 2, &Registry::default(), |_| ()).unwrap()[0].mean[0]
    };
    assert!(found(90.0).abs() < 1e-9);
    let (forward, back) = (found(50.0), found(130.0));
    assert!(forward > 1e-3 && (forward + back).abs() < 1e-3 * forward, "{forward} {back}");
}

/// Without a length of its own in the laws, a slider a thousand times as large in √1000 times the time moves √1000 times as fast.
#[test]
fn steppers_of_any_size_are_similar() {
    let of = |scale: f64| {
        let base = Stepper { jaws: 1.0, duration: 0.02, ..Stepper::default() };
        let design = Stepper {
            length: scale * base.length,
            width: scale * base.width,
            height: scale * base.height,
            amplitude: scale * base.amplitude,
            gap: scale * base.gap,
            frequency: base.frequency / scale.sqrt(),
            duration: base.duration * scale.sqrt(),
            ..base
        };
        measure(&[design], 2, 1, 1, &Registry::default(), |_| ()).unwrap()[0].mean[0] / scale.sqrt()
    };
    let (small, large) = (of(1.0), of(1000.0));
    assert!((small / large - 1.0).abs() < 1e-3, "{small} {large}");
}

#[test]
fn feeds_do_not_depend_on_threads_and_bad_designs_are_refused() {
    let designs = [ActuatorArray { duration: 0.01, ..small() }];
    let of = |threads| measure(&designs, 3, 7, threads, &Registry::default(), |_| ()).unwrap();
    assert_eq!(of(1), of(3));
    let refused = |design: ActuatorArray| {
        measure(&[design], 1, 1, 1, &Registry::default(), |_| ()).unwrap_err().to_string()
    };
    assert!(refused(ActuatorArray { part_x: 0.1, ..small() }).contains("larger array"));
    assert!(refused(ActuatorArray { part_x: 1e-4, ..small() }).contains("two pitches"));
    assert!(refused(ActuatorArray { tilt: 30.0, depth: 1e-5, ..small() }).contains("torsion bars"));
    assert!(refused(ActuatorArray { frequency: f64::NAN, ..small() }).contains("frequency must be from"));
    let far = Stepper { gap: 1e-3, ..Stepper::default() };
    let error = measure(&[far], 1, 1, 1, &Registry::default(), |_| ()).unwrap_err();
    assert!(matches!(error, MicroError::Geometry(_)), "{error}");
}
