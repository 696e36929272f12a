//! Coins: their contacts, which side is up in the end, and the motion of a single coin compared with theory.
//!
//! What a coin of radius r does on a plane is classified by the velocity u = v + ω × ρ of its lowest point ρ: it *slides* where u is of the
//! order of v, and *rolls* where u is nearly zero though the point of contact moves on. A coin whose centre stays put while its tilt a goes
//! round at Ω turns about the line from its centre to the contact; its angular momentum, of which the part I ω cos a, I = ¼ m r², goes round,
//! obeys m g r cos a = I ω cos a Ω with ω = Ω sin a, so Ω² sin a = 4 g / r.

use crate::playback::Playback;
use glam::{DQuat, DVec3};
use rattleback_dynamics::world::{BodyRef, Event};
use rattleback_dynamics::{BodyId, Simulator};
use rattleback_scene::{Scene, built_ins};
use std::collections::BTreeSet;

const G: f64 = 9.81;
const RADIUS: f64 = 0.01213;
const HALF_THICKNESS: f64 = 0.000_875;

/// Statistics of coins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Colliding,
    Sliding,
    Rolling,
    RestingOnPlate,
    RestingOnCoin,
}

/// Which way a coin lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Heads,
    Tails,
    Rim,
}

fn side(coin: &BodyRef<'_>) -> Side {
    let up = (coin.orientation() * DVec3::Z).z;
    // Flat, or leaning on others: a rim is within 10 degrees of upright.
    if up.abs() < 10f64.to_radians().sin() {
        Side::Rim
    } else if up > 0.0 {
        Side::Heads
    } else {
        Side::Tails
    }
}

/// The lowest point of a coin, from its centre.
fn lowest(coin: &BodyRef<'_>) -> DVec3 {
    let axis = coin.orientation() * DVec3::Z;
    let rim = (axis.z * axis - DVec3::Z).normalize_or_zero();
    RADIUS * rim - HALF_THICKNESS * axis.z.signum() * axis
}

/// Motion of a coin in contact with the plate, if it can be classified.
fn motion(coin: &BodyRef<'_>) -> Option<Mode> {
    let arm = lowest(coin);
    let u = (coin.velocity() + coin.angular_velocity().cross(arm)).truncate().length();
    let going = coin.velocity().truncate().length();
    if going > 0.1 && u > 0.5 * going {
        Some(Mode::Sliding)
    } else if going > 0.1 && u < 0.1 * going {
        Some(Mode::Rolling)
    } else {
        None
    }
}

fn modes(play: &Playback, plate: BodyId, seen: &mut BTreeSet<Mode>) {
    let fast = |event: &Event| matches!(event, Event::Collision { slow: false, .. });
    if play.built.world.events().iter().any(fast) {
        seen.insert(Mode::Colliding);
    }
    let touching = play.impulse.contacts(&play.built.world);
    for id in play.free_bodies() {
        let coin = play.built.world.body(id).unwrap();
        let with = |touch: &&rattleback_dynamics::simulator::ContactPoint| touch.bodies.contains(&id);
        let on_plate = touching.iter().filter(with).any(|touch| touch.bodies.contains(&plate));
        let on_coin = touching.iter().filter(with).any(|touch| !touch.bodies.contains(&plate));
        if play.impulse.resting().any(|body| body == id) {
            if on_coin {
                seen.insert(Mode::RestingOnCoin);
            } else if on_plate {
                seen.insert(Mode::RestingOnPlate);
            }
        } else if on_plate && !on_coin && coin.position().z + lowest(&coin).z < 5e-5 {
            seen.extend(motion(&coin));
        }
    }
}

/// D6: over five seeds coins collide, slide, roll, and rest on the plate and on each other; after ten seconds all lie, none stands on its rim.
#[test]
fn coins_collide_slide_roll_and_come_to_rest() {
    let mut seen = BTreeSet::new();
    for seed in 1..=5 {
        let mut play = Playback::quiet("coins", &[("seed = 3", &format!("seed = {seed}"))]);
        let plate = play.built.world.find_body("plate").unwrap();
        let mut resting_since = 0.0;
        play.advance(10.0, |play| {
            modes(play, plate, &mut seen);
            if play.impulse.resting().count() < 8 {
                resting_since = play.built.world.time();
            }
        });
        let coins: Vec<_> = play.free_bodies().iter().map(|id| play.built.world.body(*id).unwrap()).collect();
        let sides: Vec<Side> = coins.iter().map(side).collect();
        println!("seed {seed}: at rest from {resting_since:.2} s, {sides:?}, {:?}", play.impulse.counters());
        assert!(resting_since < 9.0, "seed {seed}: {resting_since}");
        assert!(sides.iter().all(|side| *side != Side::Rim), "{sides:?}");
        assert!(play.impulse.smallest_gap() > 0.0 && play.impulse.counters().overlaps == 0);
    }
    let all = [Mode::Colliding, Mode::Sliding, Mode::Rolling, Mode::RestingOnPlate, Mode::RestingOnCoin];
    assert!(all.iter().all(|mode| seen.contains(mode)), "{seen:?}");
}

/// The plate with one coin on it: (tilt of its axis about −x, velocity, angular velocity).
fn one_coin(tilt: f64, velocity: DVec3, omega: DVec3) -> Playback {
    let text = built_ins().iter().find(|scene| scene.name == "coins").unwrap().text;
    let head = &text[..text.find("[[body]]\nname = \"east\"").unwrap()];
    let head = head.replace(", \"east.z\", \"north.z\", \"toss-1.z\"", "");
    let axis = DQuat::from_rotation_x(-tilt) * DVec3::Z;
    let height = RADIUS * tilt.sin() + HALF_THICKNESS * tilt.cos() + 8e-6;
    let degrees = omega.map(f64::to_degrees);
    assert!(axis.y > 0.0);
    let coin = format!(
        "[[body]]\nname = 'coin'\nposition = [0, 0, {height}]\norientation = {{ axis = [-1, 0, 0], angle = {} }}\n\
         velocity = {:?}\nangular_velocity = {:?}\nmass = 0.00567\n\
         shape = {{ type = 'cylinder', radius = {RADIUS}, height = {} }}\n",
        tilt.to_degrees(),
        velocity.to_array(),
        degrees.to_array(),
        2.0 * HALF_THICKNESS,
    );
    Playback::of(&Scene::parse(&format!("{head}{coin}"), "one coin").unwrap())
}

/// D6: a coin that rattles down about a centre that stays put goes round at Ω² sin a = 4 g / r, ever faster.
#[test]
fn a_rattling_coin_goes_round_as_fast_as_its_tilt_says() {
    let tilt: f64 = 0.35;
    let rate = (4.0 * G / (RADIUS * tilt.sin())).sqrt();
    // About the line from the centre to the lowest point.
    let towards = DVec3::new(0.0, tilt.cos(), -tilt.sin());
    let mut play = one_coin(tilt, DVec3::ZERO, rate * tilt.sin() * towards);
    let (mut track, mut turned, mut last) = (Vec::new(), 0.0, None);
    play.sample_every(usize::MAX);
    play.advance(1.2, |play| {
        let axis = play.body("coin").orientation() * DVec3::Z;
        let now = axis.truncate().to_angle();
        let step: f64 = last.map_or(0.0, |before| now - before);
        turned += step - std::f64::consts::TAU * (step / std::f64::consts::TAU).round();
        last = Some(now);
        track.push((play.built.world.time(), turned, axis.z.clamp(-1.0, 1.0).acos()));
    });
    let mut rates = Vec::new();
    for window in track.chunks(100).filter(|window| window.len() == 100) {
        let (first, end) = (window[0], window[99]);
        let omega = ((end.1 - first.1) / (end.0 - first.0)).abs();
        let mean_tilt = window.iter().map(|sample| sample.2).sum::<f64>() / 100.0;
        println!(
            "{:.3} s: {omega:.1} rad/s at {mean_tilt:.4}, {:.3}",
            end.0,
            omega * omega * mean_tilt.sin() * RADIUS / (4.0 * G)
        );
        if mean_tilt > 0.03 {
            rates.push((omega, omega * omega * mean_tilt.sin() * RADIUS / (4.0 * G)));
        }
    }
    assert!(rates.len() >= 4, "{rates:?}");
    assert!(rates.iter().all(|(_, ratio)| (ratio - 1.0).abs() < 0.15), "{rates:?}");
    assert!(rates.windows(2).all(|pair| pair[1].0 > pair[0].0), "{rates:?}");
    play.finish();
}

/// D6: the path of a coin that rolls, leaning a little, bends more and more until it falls; it does if it is slower than √(g r / 3), 0.2 m/s
/// (faster, upright rolling is stable).
#[test]
fn the_path_of_a_rolling_coin_bends_ever_more() {
    let (lean, v) = (4f64.to_radians(), 0.15);
    let tilt = std::f64::consts::FRAC_PI_2 - lean;
    // It rolls along +x: no slip at the lowest point.
    let arm = RADIUS * DVec3::new(0.0, tilt.cos(), -tilt.sin());
    let axis = DQuat::from_rotation_x(-tilt) * DVec3::Z;
    let spin = -v * DVec3::X.dot(axis.cross(arm / (RADIUS * RADIUS)));
    let mut play = one_coin(tilt, v * DVec3::X, spin * axis);
    let mut headings = Vec::new();
    play.sample_every(usize::MAX);
    play.advance(3.0, |play| {
        let coin = play.body("coin");
        let lean = (coin.orientation() * DVec3::Z).z.abs().asin();
        headings.push((coin.velocity().truncate(), lean));
    });
    let curvature = |samples: &[(glam::DVec2, f64)]| {
        let turn: f64 = samples.windows(2).map(|pair| pair[0].0.angle_to(pair[1].0)).sum();
        let way: f64 = samples.iter().map(|(v, _)| 1e-3 * v.length()).sum();
        (turn / way).abs()
    };
    // It wobbles as it rolls: what counts is a whole second.
    let bends: Vec<f64> = headings.chunks(1000).map(curvature).collect();
    println!(
        "curvatures {bends:?}, in quarters {:?}",
        headings.chunks(250).map(curvature).collect::<Vec<_>>()
    );
    assert!(bends.windows(2).all(|pair| pair[1] > pair[0]), "{bends:?}");
    play.finish();
}
