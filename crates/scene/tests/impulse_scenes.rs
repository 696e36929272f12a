//! The twelve scenes of pure impulses: each shows what it must, and nothing ever overlaps.
//!
//! Overlap is looked for twice: by the simulator's own smallest gap, and by brute force, the distance of all shapes of
//! different bodies from each other at sampled times.

use crate::playback;
use crate::rolling_stone;

use glam::{DQuat, DVec3};
use playback::Playback;
use rattleback_dynamics::Event;
use rattleback_scene::{Scene, built_ins};
use rolling_stone::RollingStone;
use std::f64::consts::PI;

const G: f64 = 9.81;

/// Least squares of y over x ⇒ (slope, value at 0).
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (sx, sy) = points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / n, sum.1 + y / n));
    let (num, den) = points
        .iter()
        .fold((0.0, 0.0), |sum, (x, y)| (sum.0 + (x - sx) * (y - sy), sum.1 + (x - sx) * (x - sx)));
    (num / den, sy - num / den * sx)
}

/// All twelve are there, run by this simulator, and have the ε of the common rule: five thousandths of the smallest
/// dimension of a moving body, at most a millimetre.
#[test]
fn the_twelve_have_the_epsilon_of_the_common_rule() {
    for (name, epsilon) in [
        ("balls-in-dish", 2e-4),
        ("block-drop", 5e-4),
        ("block-on-ramp", 2.5e-4),
        ("bowling", 1e-3),
        ("chain-of-balls", 2.86e-4),
        ("chute", 9e-5),
        ("coins", 8.75e-6),
        ("dominos", 3.75e-5),
        ("exploding-text", 1.5e-4),
        ("platter", 2.54e-4),
        ("pool-break", 2.8575e-4),
        ("rattleback", 1.5e-4),
    ] {
        assert!(built_ins().iter().any(|scene| scene.name == name));
        let mut play = Playback::open(name);
        play.advance(play.built.dt, |_| ());
        assert!((play.impulse.collision_epsilon() / epsilon - 1.0).abs() < 1e-9, "{name}");
    }
}

/// D1: the wave runs from one to the next, and all end shingled on the table, at rest.
#[test]
fn dominos_topple_in_order() {
    let mut play = Playback::open("dominos");
    let names: Vec<String> =
        std::iter::once("first".into()).chain((0..6).map(|k| format!("domino[{k}]"))).collect();
    play.advance(1.1, |_| ());
    let mut fastest: f64 = 0.0;
    play.advance(0.1, |play| {
        for name in &names {
            fastest = fastest.max(play.body(name).velocity().length());
        }
    });
    let contacts: Vec<f64> =
        names.windows(2).map(|pair| play.first_contact(&pair[0], &pair[1]).expect("they touch")).collect();
    assert!(contacts.windows(2).all(|pair| pair[0] < pair[1]), "{contacts:?}");
    let tilts: Vec<f64> = names
        .iter()
        .map(|name| (play.body(name).orientation() * DVec3::Z).angle_between(DVec3::Z).to_degrees())
        .collect();
    println!("dominos: contacts {contacts:.3?} tilts {tilts:.2?} fastest {fastest:.4}");
    assert!(tilts.iter().all(|tilt| *tilt > 50.0) && tilts[6] > 80.0, "{tilts:?}");
    assert!(fastest < (2.0 * G * 3.75e-5).sqrt(), "{fastest}");
    play.finish();
}

/// D1 without friction: only vertical forces from outside, so that the horizontal momentum stays zero, while the feet
/// slip back farther than with friction.
#[test]
fn dominos_without_friction_keep_their_momentum() {
    let mut rough = Playback::open("dominos");
    let mut smooth = Playback::variant("dominos", &[("_friction = 0.35", "_friction = 0")]);
    let mut scale: f64 = 0.0;
    let mut most: f64 = 0.0;
    smooth.advance(0.25, |play| {
        let momentum = play.built.world.readout().momentum;
        most = most.max(momentum.truncate().length());
        scale = scale.max(0.012 * play.body("first").velocity().length());
    });
    rough.advance(0.25, |_| ());
    println!("dominos μ = 0: momentum {most:e} of {scale:e}");
    assert!(most < 1e-9 * scale, "{most} of {scale}");
    let foot = |play: &Playback| {
        let first = play.body("first");
        (first.position() + first.orientation() * DVec3::new(3.75e-3, 0.0, -24e-3)).x
    };
    println!("dominos: foot of the first at {:.5}, without friction {:.5}", foot(&rough), foot(&smooth));
    assert!(foot(&smooth) < foot(&rough) - 1e-3);
    rough.finish();
    smooth.finish();
}

/// D2: both blocks bounce at least twice and end as a stack, at rest.
#[test]
fn dropped_blocks_end_as_a_stack() {
    let mut play = Playback::open("block-drop");
    let (mut reversals, mut last) = ([0, 0], [0.0; 2]);
    play.advance(0.7, |play| {
        for (k, name) in ["lower", "upper"].into_iter().enumerate() {
            let v = play.body(name).velocity().z;
            reversals[k] += usize::from(last[k] < 0.0 && v > 0.0);
            last[k] = v;
        }
    });
    let before = *play.impulse.counters();
    let mut fastest: f64 = 0.0;
    play.advance(0.1, |play| {
        fastest =
            fastest.max(play.body("lower").velocity().length()).max(play.body("upper").velocity().length());
    });
    let after = play.impulse.counters();
    let heights = ["lower", "upper"].map(|name| play.body(name).position().z);
    println!("block drop: reversals {reversals:?} heights {heights:.6?} fastest {fastest:.2e} {after:?}");
    assert!(reversals.iter().all(|count| *count >= 2), "{reversals:?}");
    assert!((heights[0] - 0.05).abs() < 1.5e-3 && (heights[1] - 0.15).abs() < 1.5e-3, "{heights:?}");
    assert!(fastest < (2.0 * G * 5e-4f64).sqrt());
    let (slow, all) = (after.microcollisions - before.microcollisions, after.collisions - before.collisions);
    assert!(10 * slow >= 9 * all, "{slow} of {all}");
    play.finish();
}

/// D2, stress: ten blocks, where hopping alone would stall at four.
#[test]
fn ten_dropped_blocks_end_as_a_stack() {
    let mut play = Playback::variant(
        "block-drop",
        &[
            ("\"upper.z\"", "\"upper[8].z\""),
            (
                "position = [0.005, 0, 0.25]",
                "repeat = { count = 9, spacing = [0, 0, 0.12] }\nposition = [0.002, 0, 0.25]",
            ),
        ],
    );
    play.advance(4.0, |_| ());
    let top = play.body("upper[8]").position().z;
    println!("ten blocks: top at {top:.6}, {:?}", play.impulse.counters());
    assert!((top - 0.95).abs() < 10.0 * 5e-4);
    play.finish();
}

/// D3, N7: v = v₀ − g (μ cos 30° − sin 30°) t, a stop after 1.99917 s and 5.47772 m, and no creep.
#[test]
fn the_block_on_the_ramp_stops_where_coulomb_says() {
    let down = DQuat::from_rotation_y(PI / 6.0) * DVec3::X;
    let mut play = Playback::open("block-on-ramp");
    let start = play.body("block").position().dot(down);
    let mut track = Vec::new();
    play.advance(5.0, |play| {
        let block = play.body("block");
        track.push((play.built.world.time(), block.velocity().dot(down), block.position().dot(down) - start));
    });
    let sliding: Vec<(f64, f64)> =
        track.iter().filter(|(t, ..)| (0.05..1.9).contains(t)).map(|(t, v, _)| (*t, *v)).collect();
    let (slope, v0) = line(&sliding);
    let residual = (sliding.iter().map(|(t, v)| (v0 + slope * t - v).powi(2)).sum::<f64>()
        / sliding.len() as f64)
        .sqrt();
    let (time, distance) = (-v0 / slope, track[track.len() - 1].2);
    let at = |time: f64| track.iter().find(|(t, ..)| *t >= time).unwrap().2;
    let creep = (distance - at(2.1)) / 2.9;
    println!("ramp: stops at {time:.5} s after {distance:.5} m, creep {creep:e} m/s, residual {residual:.4}");
    assert!((time / 1.99917 - 1.0).abs() < 2e-3, "{time}");
    assert!((distance / 5.47772 - 1.0).abs() < 2e-3, "{distance}");
    assert!(creep.abs() < 1e-4 && residual < 0.02 * 5.48);
    play.finish();
}

/// D3, impulse test 34: with μ = 0.5 < tan 30° a block let go at rest slides at g (sin 30° − μ cos 30°).
#[test]
fn a_block_on_a_smoother_ramp_never_stops() {
    let down = DQuat::from_rotation_y(PI / 6.0) * DVec3::X;
    let still = ("velocity = [4.745819212739, 0, -2.74]", "");
    let mut play = Playback::variant("block-on-ramp", &[("_friction = 0.9", "_friction = 0.5"), still]);
    play.advance(2.0, |_| ());
    let speed = play.body("block").velocity().dot(down);
    let expected = 2.0 * G * (0.5 - 0.5 * 0.75f64.sqrt());
    println!("ramp μ = 0.5: {speed:.4} m/s after 2 s, expected {expected:.4}");
    assert!((speed / expected - 1.0).abs() < 0.05);
    play.finish();
}

/// D4: the far ball leaves with most of the speed, the others stay.
#[test]
fn only_the_far_ball_leaves_the_chain() {
    let mut play = Playback::open("chain-of-balls");
    let mut before = 0.0;
    let mut after = None;
    play.advance(1.0, |play| {
        let speeds =
            ["striker", "ball[0]", "ball[1]", "ball[2]", "ball[3]"].map(|name| play.body(name).velocity().x);
        if after.is_none() && speeds[4] > 0.3 {
            after = Some(speeds);
        } else if after.is_none() && speeds[0] > 0.5 {
            before = speeds[0];
        }
    });
    let after = after.unwrap();
    println!("chain: striker {before:.4}, after {after:.4?}");
    assert!(after[4] >= 0.8 * before, "{after:?}");
    assert!(after[..4].iter().all(|speed| speed.abs() <= 0.15 * before), "{after:?}");
    // It climbs the ramp and comes back.
    let mut lowest: f64 = 1.0;
    play.advance(1.5, |play| lowest = lowest.min(play.body("ball[3]").velocity().x));
    assert!(lowest < -0.2, "{lowest}");
    play.finish();
}

/// D4, ideal: no gravity, no friction: v₀ ((1 + e)/2)⁴, and the striker goes on with v₀ (1 − e)/2.
#[test]
fn the_ideal_chain_multiplies_restitution() {
    let mut play = Playback::variant(
        "chain-of-balls",
        &[("_friction = 0.2", "_friction = 0"), ("time_step", "gravity = \"none\"\ntime_step")],
    );
    play.advance(0.4, |_| ());
    let far = play.body("ball[3]").velocity().x;
    println!("ideal chain: {far:.9}, expected {:.9}", 0.975f64.powi(4));
    assert!((far - 0.975f64.powi(4)).abs() < 1e-6, "{far}");
    play.finish();
}

/// D5: one ball in the middle and six around it: 12 contacts between balls, 7 with the dish.
///
/// Fails since slow collisions average to Coulomb's force: balls that roll against each other jam in nine of ten seeds,
/// where `constraint` reaches it in every seed. The law of slow collisions between two moving bodies is at fault.
#[test]
#[ignore = "balls jam under `impulse` before they reach the hexagon; `constraint` shows that they should not"]
fn balls_in_the_dish_become_a_hexagon() {
    let good = (1..=10).filter(|seed| hexagon(*seed)).count();
    println!("dish: {good} of 10 seeds");
    assert!(good >= 8, "{good}");
}

/// Whether seven balls end as one in the middle and six around it.
fn hexagon(seed: u32) -> bool {
    let mut play = Playback::variant("balls-in-dish", &[("seed = 1\n", &format!("seed = {seed}\n"))]);
    play.sample_every(200);
    let names = ["ball[0]", "ball[1]", "middle[0]", "middle[1]", "middle[2]", "late[0]", "late[1]"];
    let (mut lowest, mut highest_rise) = (f64::INFINITY, 0.0f64);
    let mut graph = (0, 0);
    // They have come to an end of bouncing after 3 s at the earliest, and have 12 s.
    while play.built.world.time() < 12.0 && !(graph == (12, 7) && play.built.world.time() > 3.0) {
        play.advance(0.1, |play| {
            let energy = play.built.world.readout().energy();
            highest_rise = highest_rise.max(energy - lowest);
            lowest = lowest.min(energy);
        });
        let gaps = play.gaps(4e-4);
        let with_dish = gaps.iter().filter(|(a, b)| a == "dish" || b == "dish").count();
        graph = (gaps.len() - with_dish, with_dish);
    }
    let mut places = names.map(|name| play.body(name).position());
    places.sort_by(|a, b| a.truncate().length().total_cmp(&b.truncate().length()));
    let radii = places.map(|place| place.truncate().length());
    println!(
        "dish: {graph:?} at {:.1} s, radii {radii:.4?}, energy rises by at most {highest_rise:.2e} J, {:?}",
        play.built.world.time(),
        play.impulse.counters()
    );
    // The middle ball may be 0.3 r off the axis; the six are measured from it, for off the axis they are off alike.
    let round =
        radii[0] < 0.3 * 0.02 && places[1..].iter().all(|p| (p.distance(places[0]) / 0.04 - 1.0).abs() < 0.1);
    let mut angles: Vec<f64> =
        places[1..].iter().map(|p| (p - places[0]).y.atan2((p - places[0]).x).to_degrees()).collect();
    angles.sort_by(f64::total_cmp);
    let even = angles.windows(2).all(|pair| (pair[1] - pair[0] - 60.0).abs() < 8.0);
    // A microcollision may lift a ball by a part of ε.
    assert!(highest_rise < 7.0 * 0.1 * G * 4e-4, "{highest_rise}");
    play.finish();
    graph == (12, 7) && round && even
}

/// D7: the rack has 30 contacts; the break keeps the momentum but for what the cloth takes; checks peak at the break.
#[test]
fn the_break_keeps_the_momentum() {
    let mut play = Playback::open("pool-break");
    let rack = play.gaps(1.01 * 2.8575e-4).into_iter().filter(|(a, b)| a != "cloth" && b != "cloth").count();
    assert_eq!(rack, 30);
    let mut rates = Vec::new();
    let (mut first, mut after) = (None, None);
    for _ in 0..300 {
        let checks = play.impulse.counters().checks;
        play.advance(0.01, |play| {
            let time = play.built.world.time();
            first = first.or_else(|| play.first_contact("cue", "row-1"));
            if after.is_none() && first.is_some_and(|first| time > first + 5e-3) {
                after = Some((time, play.built.world.readout().momentum));
            }
        });
        rates.push((play.impulse.counters().checks - checks) as f64 / 0.01);
    }
    let (time, momentum) = after.unwrap();
    // The cue ball slides for all of that time, the others for at most 5 ms more than it took; friction ≤ μ m g each.
    // What flies up has pushed the cloth down, which adds to the weight.
    let cloth = 0.2 * (0.17 * G * (time + 15.0 * 5e-3) + momentum.z.abs());
    println!("pool: momentum {momentum} at {time:.4} s of 1.36, cloth may take {cloth:.4}");
    assert!(momentum.x <= 1.36 + 1e-9 && momentum.x >= 1.36 - cloth, "{momentum}");
    assert!(momentum.y.abs() < 0.5 * cloth, "{momentum}");
    let peak = rates.iter().copied().fold(0.0, f64::max);
    let plateau = rates[200..].iter().sum::<f64>() / 100.0;
    println!("pool: peak {peak:.0}, plateau {plateau:.0} checks a second");
    assert!(peak >= 5.0 * plateau && (750.0..12_000.0).contains(&plateau), "{peak} {plateau}");
    play.finish();
}

fn two_balls(spin: f64, velocity: f64) -> Playback {
    let text = format!(
        "time_step = 0.001\n[simulator]\ntype = 'impulse'\ncollision_epsilon = 2.8575e-4\n\
         [materials.ball]\nrestitution = 1\nstatic_friction = 0\nkinetic_friction = 0\n\
         [materials.cloth]\nstatic_friction = 0.2\nkinetic_friction = 0.2\n\
         [[mixing.pair]]\nmaterials = ['ball', 'cloth']\nrestitution = 0.5\nstatic_friction = 0.2\nkinetic_friction = 0.2\n\
         [[body]]\nname = 'cloth'\nstatus = 'static'\nmaterial = 'cloth'\nshape = {{ type = 'half-space' }}\n\
         [[body]]\nname = 'cue'\nmaterial = 'ball'\nmass = 0.17\nposition = [-0.06, 0, 0.0287]\nvelocity = [{velocity}, 0, 0]\n\
         angular_velocity = [0, {spin}, 0]\nshape = {{ type = 'sphere', radius = 0.028575 }}\n\
         [[body]]\nname = 'object'\nmaterial = 'ball'\nmass = 0.17\nposition = [0, 0, 0.0287]\n\
         shape = {{ type = 'sphere', radius = 0.028575 }}\n"
    );
    Playback::of(&Scene::parse(&text, "two balls").unwrap())
}

/// D7, spin: a rolling cue ball that hits another head-on follows with 2/7 of its speed, the other rolls off with 5/7;
/// with backspin ω it comes back with 2/7 r ω.
#[test]
fn follow_and_draw() {
    let mut play = two_balls(1.0 / 0.028575, 1.0);
    play.advance(1.5, |_| ());
    let speeds = ["cue", "object"].map(|name| play.body(name).velocity().x);
    println!("follow: {speeds:.4?}, expected 0.2857 and 0.7143");
    assert!((speeds[0] * 3.5 - 1.0).abs() < 0.03 && (speeds[1] * 1.4 - 1.0).abs() < 0.03, "{speeds:?}");
    play.finish();
    let mut play = two_balls(-40.0, 1.0);
    play.advance(1.5, |_| ());
    let speed = play.body("cue").velocity().x;
    let expected = -2.0 / 7.0 * 0.028575 * 40.0;
    println!("draw: {speed:.4}, expected {expected:.4}");
    assert!((speed / expected - 1.0).abs() < 0.03, "{speed} {expected}");
    play.finish();
}

/// D8: pins stand until the ball comes; it then fells some.
#[test]
fn the_bowling_ball_fells_pins() {
    let mut play = Playback::open("bowling");
    let pins = [
        "pin-1", "pin-2[0]", "pin-2[1]", "pin-3[0]", "pin-3[1]", "pin-3[2]", "pin-4[0]", "pin-4[1]",
        "pin-4[2]", "pin-4[3]",
    ];
    let tilt = |play: &Playback, name: &str| {
        let pin = play.body(name);
        let left = pin.position().z < -0.05;
        if left { 90.0 } else { (pin.orientation() * DVec3::Z).angle_between(DVec3::Z).to_degrees() }
    };
    play.advance(2.0, |_| ());
    assert!(pins.iter().all(|name| tilt(&play, name) < 0.5));
    play.advance(3.0, |_| ());
    let felled = pins.iter().filter(|name| tilt(&play, name) > 30.0).count();
    println!("bowling: {felled} pins, {:?}", play.impulse.counters());
    assert!(felled >= 3, "{felled}");
    play.finish();
}

/// D8: a throw and its mirror image: the first blows are mirror images too, so that neither side of the rack is favoured.
#[test]
fn the_rack_has_no_favourite_side() {
    let blows = |x: &str| {
        let place = format!("position = [{x}, 0.2, 0.13]");
        let mut play = Playback::quiet("bowling", &[("position = [0.08, 0.2, 0.13]", &place)]);
        let mut blows = Vec::new();
        play.advance(3.0, |play| {
            let lane = play.built.world.find_body("lane").unwrap();
            for event in play.built.world.events() {
                let Event::Collision { time, point, bodies, .. } = event else { continue };
                if !bodies.contains(&lane) {
                    blows.push((*time, *point));
                }
            }
        });
        blows
    };
    let (right, left) = (blows("0.12"), blows("-0.12"));
    assert!(right.len() >= 3 && right.len() == left.len(), "{right:?} {left:?}");
    for (right, left) in right.iter().zip(&left) {
        let mirrored = DVec3::new(-left.1.x, left.1.y, left.1.z);
        assert!((right.0 - left.0).abs() < 1e-5 && right.1.distance(mirrored) < 1e-4, "{right:?} {left:?}");
    }
}

/// D8: the ball slides until it rolls at 5/7 of its speed; a hook bends by μ g times the sideways part of its slip.
#[test]
fn the_bowling_ball_slides_then_rolls() {
    let lane = |velocity: &str, spin: &str| {
        let text = built_ins().iter().find(|scene| scene.name == "bowling").unwrap().text;
        let without_pins = &text[..text.find("[[body]]\nname = \"pin-1\"").unwrap()];
        let text = without_pins
            .replace("velocity = [0, 7.6, 0]", &format!("velocity = {velocity}\nangular_velocity = {spin}"))
            .replace(", \"pin-1.z\"", "")
            .replace("0.13]", "0.1088]");
        Playback::of(&Scene::parse(&text, "lane").unwrap())
    };
    let mut play = lane("[0, 7.6, 0]", "[0, 0, 0]");
    play.advance(2.4, |_| ());
    let speed = play.body("ball").velocity().y;
    println!("bowling: rolls at {speed:.4} m/s, expected {:.4}", 7.6 * 5.0 / 7.0);
    assert!((speed / (7.6 * 5.0 / 7.0) - 1.0).abs() < 0.02);
    play.finish();

    let (sine, cosine) = 2f64.to_radians().sin_cos();
    let mut play = lane(&format!("[{}, {}, 0]", 7.6 * sine, 7.6 * cosine), "[0, -12, 0]");
    let v0 = play.body("ball").velocity();
    let slip = DVec3::new(v0.x + 12.0 * 0.1085, v0.y, 0.0);
    play.advance(1.2, |_| ());
    let sideways = (play.body("ball").velocity().x - v0.x) / 1.2;
    let expected = -0.12 * G * slip.x / slip.length();
    println!("hook: {sideways:.4} m/s² sideways, expected {expected:.4}");
    assert!((sideways / expected - 1.0).abs() < 0.05, "{sideways} {expected}");
    play.finish();
}

/// D9: a rolling ball goes round at 2Ω/7 on a circle of radius 7 v / (2Ω); started at the platter's own no-slip rate it stays.
#[test]
fn the_ball_on_the_platter_goes_round() {
    let mut play = Playback::open("platter");
    let (mut angles, mut places) = (Vec::new(), Vec::new());
    let mut turned = 0.0;
    let mut last = PI / 2.0;
    play.advance(3.5 * PI, |play| {
        let v = play.body("ball").velocity();
        let angle = v.y.atan2(v.x);
        turned += (angle - last + 3.0 * PI).rem_euclid(2.0 * PI) - PI;
        last = angle;
        angles.push((play.built.world.time(), turned));
        places.push(play.body("ball").position().truncate());
    });
    let rate = line(&angles).0;
    let centre = places.iter().sum::<glam::DVec2>() / places.len() as f64;
    let radius = places.iter().map(|place| place.distance(centre)).sum::<f64>() / places.len() as f64;
    let drift = play.body("ball").velocity().length() / 0.1 - 1.0;
    println!(
        "platter: rate {rate:.5} expected {:.5}, radius {radius:.5} expected 0.175, drift a turn {drift:.4}",
        4.0 / 7.0
    );
    assert!((rate / (4.0 / 7.0) - 1.0).abs() < 0.01, "{rate}");
    assert!((radius - 0.175).abs() < 0.02, "{radius}");
    assert!(drift.abs() < 0.2, "{drift}");
    play.finish();

    let still = [("velocity = [0, 0.1, 0]", "velocity = [0, 0, 0]"), ("11.811023622", "15.748031496")];
    let mut play = Playback::variant("platter", &still);
    let mut farthest: f64 = 0.0;
    play.advance(11.0, |play| {
        let place = play.body("ball").position().truncate();
        farthest = farthest.max(place.distance(glam::DVec2::new(0.2, 0.0)));
    });
    println!("platter: the still ball wanders {farthest:e} m");
    assert!(farthest < 0.01, "{farthest}");
    play.finish();
}

/// The scene with every spin about z turned round, or reflected in the plane y = 0 with the place of the mass.
fn stones(reverse: bool, mirror: bool) -> Playback {
    let mass = ("position = [0.070710678, 0.014142136, 0]", "position = [0.070710678, -0.014142136, 0]");
    let mut play = Playback::variant("rattleback", if mirror { std::slice::from_ref(&mass) } else { &[] });
    for name in ["loaded", "balanced"] {
        let id = play.built.world.find_body(name).unwrap();
        let original = Playback::open("rattleback");
        let body = original.body(name);
        let (mut pose, mut v, mut omega) = (body.pose(), body.velocity(), body.angular_velocity());
        if reverse {
            omega.z = -omega.z;
        }
        if mirror {
            pose.translation.y = -pose.translation.y;
            pose.rotation =
                DQuat::from_xyzw(-pose.rotation.x, pose.rotation.y, -pose.rotation.z, pose.rotation.w);
            v.y = -v.y;
            omega = DVec3::new(-omega.x, omega.y, -omega.z);
        }
        let mut body = play.built.world.body_mut(id).unwrap();
        body.set_pose(pose).unwrap();
        body.set_velocity(v).unwrap();
        body.set_angular_velocity(omega).unwrap();
    }
    play
}

/// Ten seconds ⇒ (when the mean spin over 50 ms first changed its sign, mean spin over the last second), of both stones.
fn spins(play: &mut Playback) -> [(Option<f64>, f64); 2] {
    let mut seen: [Vec<f64>; 2] = Default::default();
    play.advance(10.0, |play| {
        for (list, name) in seen.iter_mut().zip(["loaded", "balanced"]) {
            list.push(play.body(name).angular_velocity().z);
        }
    });
    seen.map(|list| {
        let mean = |range: &[f64]| range.iter().sum::<f64>() / range.len() as f64;
        let sign = list[0].signum();
        let crossing = list.windows(50).position(|window| mean(window) * sign < 0.0);
        (crossing.map(|step| (step + 25) as f64 * 1e-3), mean(&list[list.len() - 1000..]))
    })
}

/// D10: from −5 rad/s the loaded stone turns back at 3.645 s (ideal rolling), from +5 it does not; a mass on the other
/// side mirrors that; the balanced one never turns back.
#[test]
fn the_rattleback_turns_back_from_one_side_only() {
    let mut play = Playback::open("rattleback");
    let [loaded, balanced] = spins(&mut play);
    println!("rattleback −5: loaded {loaded:?} balanced {balanced:?}");
    assert!((loaded.0.unwrap() / 3.645 - 1.0).abs() < 0.1 && loaded.1 > 0.5, "{loaded:?}");
    assert!(balanced.0.is_none(), "{balanced:?}");
    play.finish();

    let mut play = stones(true, false);
    let [loaded, balanced] = spins(&mut play);
    println!("rattleback +5: loaded {loaded:?} balanced {balanced:?}");
    assert!(loaded.0.is_none() && balanced.0.is_none(), "{loaded:?} {balanced:?}");
    play.finish();

    let mut play = stones(false, true);
    let [loaded, _] = spins(&mut play);
    println!("mirrored from +5: loaded {loaded:?}");
    assert!((loaded.0.unwrap() / 3.645 - 1.0).abs() < 0.1 && loaded.1 < -0.5, "{loaded:?}");
    play.finish();

    let mut play = stones(true, true);
    let [loaded, _] = spins(&mut play);
    println!("mirrored from −5: loaded {loaded:?}");
    assert!(loaded.0.is_none(), "{loaded:?}");
    play.finish();
}

/// D10 (e): ideal rolling gives the published course of the spin, by an integration of its own.
#[test]
fn ideal_rolling_turns_back_at_3_645_s() {
    let load = DVec3::new(0.10, 0.02, 0.0) * 0.5f64.sqrt();
    let mut stone = RollingStone::new(load, -5.0);
    let energy = stone.energy();
    let (mut crossing, mut seen) = (None, Vec::new());
    for step in 1..=32_500 {
        stone.step(2e-4);
        if crossing.is_none() && stone.spin() > 0.0 {
            crossing = Some(f64::from(step) * 2e-4);
        }
        if [6250, 11_250, 16_250, 23_750, 32_500].contains(&step) {
            seen.push(stone.spin());
        }
    }
    println!(
        "ideal rolling: {seen:.3?}, turns back at {crossing:?}, energy {:e}",
        stone.energy() / energy - 1.0
    );
    assert!((stone.energy() / energy - 1.0).abs() < 1e-9);
    assert!((crossing.unwrap() / 3.645 - 1.0).abs() < 0.01);
    for (spin, published) in seen.iter().zip([-4.99, -4.47, -1.63, 3.96, 5.00]) {
        assert!((spin - published).abs() < 0.05, "{seen:?}");
    }
}

/// D11: caps slide out of the tray, and none crosses a wall.
#[test]
fn caps_leave_the_chute_by_its_opening() {
    let mut play = Playback::open("chute");
    play.sample_every(25);
    play.advance(1.0, |play| {
        for k in 0..6 {
            assert!(play.body(&format!("cap[{k}]")).position().is_finite());
        }
    });
    let out = (0..6).filter(|k| play.body(&format!("cap[{k}]")).position().z < 0.03).count();
    println!("chute: {out} caps on the floor, {:?}", play.impulse.counters());
    assert!(out >= 1, "{out}");
    play.finish();
}

/// D12: 26 bodies; with e = 1 and μ = 0 energy is conserved and no body leaves the box.
#[test]
fn exploding_text_keeps_its_energy() {
    let mut play = Playback::variant(
        "exploding-text",
        &[("restitution = 0.5", "restitution = 1"), ("_friction = 0.3", "_friction = 0")],
    );
    play.sample_every(25);
    let energy = |play: &Playback| play.built.world.readout().kinetic_energy;
    let start = energy(&play);
    let free: Vec<_> = play.free_bodies();
    assert_eq!(free.len(), 26);
    play.advance(4.0, |_| ());
    let change = energy(&play) / start - 1.0;
    println!("text: energy changes by {change:e}, {:?}", play.impulse.counters());
    assert!(change.abs() < 1e-6, "{change}");
    for id in free {
        let place = play.built.world.body(id).unwrap().center_of_mass().abs();
        assert!(place.x < 1.0 && place.y < 0.6 && place.z < 0.6, "{place}");
    }
    play.finish();
}

/// D12: played backwards from its record, the text comes together at its first poses, bit for bit.
#[test]
fn exploding_text_plays_backwards() {
    let mut play = Playback::quiet("exploding-text", &[]);
    let poses =
        |play: &Playback| -> Vec<_> { play.built.world.iter_bodies().map(|body| body.pose()).collect() };
    let first = poses(&play);
    let mut record = vec![play.built.world.snapshot().unwrap()];
    for _ in 0..10 {
        play.advance(0.1, |_| ());
        record.push(play.built.world.snapshot().unwrap());
    }
    assert_ne!(poses(&play), first);
    for snapshot in record.iter().rev() {
        play.built.world =
            rattleback_dynamics::World::restore(snapshot, &rattleback_dynamics::Registry::default()).unwrap();
    }
    assert_eq!(poses(&play), first);
}

/// D6: coins fall, roll and collide without overlapping; a single coin let go slanted comes to rest flat on the plate.
#[test]
fn coins_stay_apart_and_come_to_rest_flat() {
    let mut play = Playback::open("coins");
    play.advance(0.15, |_| ());
    play.finish();

    let text = built_ins().iter().find(|scene| scene.name == "coins").unwrap().text;
    let head = &text[..text.find("[[body]]\nname = \"east\"").unwrap()];
    let head = head.replace(", \"east.z\", \"north.z\", \"toss-1.z\"", "");
    let coin = "[[body]]\nname = 'coin'\nposition = [0, 0, 0.008]\norientation = { axis = [1, 0, 0], angle = 25 }\n\
                mass = 0.00567\nshape = { type = 'cylinder', radius = 0.01213, height = 0.00175 }\n";
    let mut play = Playback::of(&Scene::parse(&(head + coin), "one coin").unwrap());
    play.advance(0.6, |_| ());
    let coin = play.body("coin");
    let tilt = (coin.orientation() * DVec3::Z).angle_between(DVec3::Z);
    println!("coin: tilt {tilt:e}, height {:.6}, {:?}", coin.position().z, play.impulse.counters());
    assert!(tilt < 1e-2 && (coin.position().z - 0.000875).abs() < 2e-5, "{tilt}");
    play.finish();
}
