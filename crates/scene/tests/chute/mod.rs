//! The part feeder: how often it jams, and how far apart parts leave it, by the width of its opening.

use crate::playback::Playback;
use std::fmt::Write;

/// Caps below this height have left the tray, m.
const OUT: f64 = 0.03;
const SEEDS: u32 = 8;

/// What came of one filling.
struct Run {
    /// When caps left, s.
    exits: Vec<f64>,
    /// Whether one is left in the tray, at rest.
    jammed: bool,
}

/// (opening, mm; seed) ⇒ five seconds of it. The slanted walls keep their direction, and are made long enough to reach the sides.
fn fill(opening: f64, seed: u32) -> Run {
    let y = 50.656854 + 0.5 * opening - 15.0;
    let [left, right] = [1.0, -1.0].map(|side: f64| format!("position = [67.171573, {}, 21]", side * y));
    let mut play = Playback::quiet(
        "chute",
        &[
            ("half_extents = [43, 2, 25]", "half_extents = [49, 2, 25]"),
            ("position = [71.414214, 46.414214, 21]", &left),
            ("position = [71.414214, -46.414214, 21]", &right),
            ("seed = 1", &format!("seed = {seed}")),
        ],
    );
    let caps = play.free_bodies();
    let mut left = vec![None; caps.len()];
    play.advance(5.0, |play| {
        for (cap, left) in caps.iter().zip(&mut left) {
            if left.is_none() && play.built.world.body(*cap).unwrap().position().z < OUT {
                *left = Some(play.built.world.time());
            }
        }
    });
    assert!(play.impulse.smallest_gap() > 0.0 && play.impulse.counters().overlaps == 0);
    let stuck = |cap: &_| {
        let cap = play.built.world.body(*cap).unwrap();
        cap.position().z >= OUT && cap.velocity().length() < 0.01
    };
    let jammed = caps.iter().any(stuck);
    let mut exits: Vec<f64> = left.into_iter().flatten().collect();
    exits.sort_by(f64::total_cmp);
    Run { exits, jammed }
}

/// D11: jams and the times between two exits; an opening of 15 mm, less than a cap is wide, jams more often than one of 45 mm.
#[test]
fn a_narrow_opening_jams_more_often() {
    let mut jams = [0; 2];
    let mut report = String::new();
    for (jams, opening) in jams.iter_mut().zip([15.0, 45.0]) {
        let mut between = Vec::new();
        let mut out = 0;
        for seed in 1..=SEEDS {
            let run = fill(opening, seed);
            *jams += u32::from(run.jammed);
            out += run.exits.len();
            between.extend(run.exits.windows(2).map(|pair| pair[1] - pair[0]));
        }
        let mean = between.iter().sum::<f64>() / between.len().max(1) as f64;
        writeln!(
            report,
            "opening {opening} mm: {jams} of {SEEDS} jam, {out} caps out, {mean:.3} s between two"
        )
        .unwrap();
    }
    println!("{report}");
    assert!(jams[0] > jams[1], "{report}");
}
