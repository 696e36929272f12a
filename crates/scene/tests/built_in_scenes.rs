//! Every built-in scene runs, and behaves as described.

use glam::{DQuat, DVec3};
use rattleback_dynamics::world::{BodyRef, Event};
use rattleback_dynamics::{Registry, Status};
use rattleback_scene::{BuiltScene, Scene, built_ins};
use std::f64::consts::{PI, TAU};

fn build(name: &str) -> BuiltScene {
    match Scene::built_in(name).and_then(|scene| scene.build(&Registry::default())) {
        Ok(built) => built,
        Err(error) => panic!("{error}"),
    }
}

fn run(built: &mut BuiltScene, seconds: f64) {
    let steps = (seconds / built.dt).round() as usize;
    for _ in 0..steps {
        built.simulator.step(&mut built.world, built.dt).unwrap();
        let usual = |event: &&Event| {
            matches!(event, Event::Collision { .. } | Event::ContactBegan { .. } | Event::ContactEnded { .. })
                || matches!(event, Event::Slept { .. } | Event::Woke { .. })
        };
        let strange = built.world.events().iter().find(|event| !usual(event));
        assert!(strange.is_none(), "{strange:?}");
    }
}

fn body<'w>(built: &'w BuiltScene, name: &str) -> BodyRef<'w> {
    built.world.body(built.world.find_body(name).unwrap_or_else(|| panic!("no body {name}"))).unwrap()
}

/// Names are unique and sorted, every scene builds, has a title and a description, can be written and read, and takes ten steps.
#[test]
fn every_scene_builds_runs_and_describes_itself() {
    assert!(built_ins().windows(2).all(|pair| pair[0].name < pair[1].name));
    for scene in built_ins() {
        let parsed = Scene::built_in(scene.name).unwrap();
        let mut built = parsed.build(&Registry::default()).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            !built.title.is_empty() && !built.description.is_empty() && !built.plot.is_empty(),
            "{}",
            scene.name
        );
        assert!(built.duration / built.dt <= 40_000.0, "{}", scene.name);
        let steps = 10.0 * built.dt;
        run(&mut built, steps);

        let written = parsed.to_toml();
        let again = Scene::parse(&written, "written").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.to_toml(), written);
        let mut copy = again.build(&Registry::default()).unwrap();
        run(&mut copy, steps);
        assert_eq!(copy.world.snapshot().unwrap(), built.world.snapshot().unwrap(), "{}", scene.name);
    }
}

/// ω about the middle axis changes sign again and again, while energy and angular momentum stay.
#[test]
fn tennis_racket_flips() {
    let mut built = build("tennis-racket");
    let before = built.world.readout();
    let (mut flips, mut sign) = (0, 1.0);
    for _ in 0..(built.duration / built.dt) as usize {
        let dt = built.dt;
        run(&mut built, dt);
        let racket = body(&built, "racket");
        let omega = racket.orientation().conjugate() * racket.angular_velocity();
        if omega.y * sign < -5.0 {
            flips += 1;
            sign = -sign;
        }
    }
    let after = built.world.readout();
    assert!(flips >= 4, "{flips} flips");
    assert!((after.energy() / before.energy() - 1.0).abs() < 1e-12);
    assert!(
        (after.angular_momentum - before.angular_momentum).length()
            < 1e-12 * before.angular_momentum.length()
    );
}

/// x = v₀ t + g t²/2 for every stone; at t = 2 v sin α / g it is back at its height, v² sin 2α / g away.
#[test]
fn free_fall_is_a_parabola() {
    let mut built = build("free-fall");
    run(&mut built, 1.5);
    let t = built.world.time();
    for (angle, y) in [(15.0, -2.0), (30.0, -1.0), (45.0, 0.0), (60.0, 1.0), (75.0, 2.0)] {
        let (sine, cosine) = f64::to_radians(angle).sin_cos();
        let expected = DVec3::new(20.0 * cosine * t, y, 20.0 * sine * t - 0.5 * 9.81 * t * t);
        let stone = body(&built, &format!("stone-{angle}"));
        assert!((stone.center_of_mass() - expected).length() < 1e-10);
    }
    assert_eq!(body(&built, "ground").status(), Status::Fixed);
}

/// T-FRC-03: the period of two masses of 10¹² kg at 10 m is 17.2003329 s.
#[test]
fn binary_closes_its_circle_in_one_period() {
    let mut built = build("binary");
    run(&mut built, 17.2);
    let one = body(&built, "one");
    // What is left of the turn after 1720 steps of 0.01 s, at ω = 2π/T.
    let turn = TAU * 17.2 / 17.2003329;
    let expected = 5.0 * DVec3::new(turn.cos(), turn.sin(), 0.0);
    assert!((one.position() - expected).length() < 2e-5, "{}", one.position() - expected);
    assert!((body(&built, "two").position() + one.position()).length() < 1e-9);
}

/// After a third of the period of 6.32591398 (Chenciner and Montgomery) every body is where another one was; after all of
/// it, every body is back.
#[test]
fn figure_eight_is_a_choreography() {
    let mut built = build("figure-eight");
    let positions = |built: &BuiltScene, late: f64| {
        ["a", "b", "c"].map(|name| {
            let body = body(built, name);
            body.position() + body.velocity() * late
        })
    };
    let start = positions(&built, 0.0);
    run(&mut built, 2.11);
    let third = positions(&built, 6.32591398 / 3.0 - built.world.time());
    for place in third {
        assert!(start.iter().any(|other| place.distance(*other) < 1e-4), "{third:?}");
    }
    assert!(third[0].distance(start[0]) > 0.5);
    run(&mut built, 4.215);
    let whole = positions(&built, 6.32591398 - built.world.time());
    assert!(whole.iter().zip(&start).all(|(now, then)| now.distance(*then) < 1e-5), "{whole:?}");
}

/// Each normal mode swings at 2 √(k/m) sin(jπ/18).
#[test]
fn spring_chain_swings_in_its_modes() {
    let mut built = build("spring-chain");
    run(&mut built, 1.234);
    let t = built.world.time();
    let omega = |j: f64| 2.0 * (200.0f64 / 0.1).sqrt() * (j * PI / 18.0).sin();
    for i in 1..=8 {
        let s = f64::from(i);
        let mode = |j: f64, a: f64| a * (j * PI * s / 9.0).sin() * (omega(j) * t).cos();
        let expected = 0.2 * s + mode(1.0, 0.04) + mode(3.0, 0.02);
        let bead = body(&built, &format!("bead-{i}"));
        assert!((bead.position() - DVec3::X * expected).length() < 2e-4, "bead {i}");
    }
}

/// Closed forms of the damped oscillator with ω₀ = 5 for ζ = 0.2, 1 and 3.
#[test]
fn damped_springs_follow_their_closed_forms() {
    let mut built = build("damped-springs");
    run(&mut built, 0.8);
    let t = built.world.time();
    let omega = 5.0 * (1.0f64 - 0.04).sqrt();
    let swinging = (-t).exp() * ((omega * t).cos() + (omega * t).sin() / omega);
    let critical = (1.0 + 5.0 * t) * (-5.0 * t).exp();
    let root = 8f64.sqrt();
    let (fast, slow) = (-5.0 * (3.0 + root), -5.0 * (3.0 - root));
    let creeping = (fast * (slow * t).exp() - slow * (fast * t).exp()) / (fast - slow);
    for (name, expected) in
        [("swinging", swinging), ("critical", critical), ("critical-heavy", critical), ("creeping", creeping)]
    {
        let x = body(&built, name).position().x;
        assert!((x - expected).abs() < 2e-4, "{name}: {x} instead of {expected}");
    }
}

/// Energy stays, and the bounce turns into a swing many times wider than it started.
#[test]
fn spring_pendulum_trades_bouncing_for_swinging() {
    let mut built = build("spring-pendulum");
    let energy = built.world.readout().energy();
    let mut widest: f64 = 0.0;
    for _ in 0..300 {
        run(&mut built, 0.1);
        widest = widest.max(body(&built, "weight").position().x.abs());
    }
    assert!(widest > 0.15, "{widest}");
    // The largest part of the energy that moves about: the bounce of 0.15 m, k a²/2 = 0.44 J.
    assert!((built.world.readout().energy() - energy).abs() < 1e-3 * 0.44);
}

/// Total energy and momentum stay while potential energy turns into heat.
#[test]
fn argon_condenses() {
    let mut built = build("argon");
    let before = built.world.readout();
    run(&mut built, 4e-12);
    let after = built.world.readout();
    assert!(after.potential_energy < before.potential_energy);
    assert!(after.kinetic_energy > 1.5 * before.kinetic_energy);
    assert!((after.energy() - before.energy()).abs() < 1e-3 * (after.kinetic_energy - before.kinetic_energy));
    assert!(
        (after.momentum - before.momentum).length()
            < 1e-10 * (before.kinetic_energy * 2.0 * 64.0 * 6.634e-26).sqrt()
    );
}

/// A regular tetrahedron with edges d³ = 4 K q²/k.
#[test]
fn ions_form_a_tetrahedron() {
    let mut built = build("ions");
    run(&mut built, 10.0);
    let corners = ["one", "two", "three", "four"].map(|name| body(&built, name).position());
    let edge = (4.0 * 8.9875e9 * 1e-12f64).cbrt();
    for i in 0..4 {
        for j in 0..i {
            assert!((corners[i].distance(corners[j]) / edge - 1.0).abs() < 1e-3);
        }
    }
}

/// Swirl means angular momentum about the axis; lift above gravity means going up.
#[test]
fn vortex_swirls_and_lifts() {
    let mut built = build("vortex");
    assert_eq!(built.world.iter_bodies().filter(|body| body.status() == Status::Dynamic).count(), 30);
    let height = |built: &BuiltScene| {
        let bodies = built.world.iter_bodies().filter(|body| body.status() == Status::Dynamic);
        bodies.map(|body| body.center_of_mass().z).sum::<f64>() / 30.0
    };
    let before = height(&built);
    run(&mut built, 1.5);
    assert!(height(&built) > before + 1.0);
    assert!(built.world.readout().angular_momentum.z > 0.0);
}

/// The whirlwind has contacts: no body passes through the ground at z = −0.5 m, and bodies collide with each other. An impact at some m/s
/// overlaps for a step or two.
#[test]
fn vortex_bodies_collide() {
    let mut built = build("vortex");
    let ground = built.world.find_body("ground").unwrap();
    let (mut between_bodies, mut lowest) = (false, f64::INFINITY);
    while built.world.time() < built.duration {
        built.simulator.step(&mut built.world, built.dt).unwrap();
        let contacts = built.simulator.contacts(&built.world);
        between_bodies |= contacts.iter().any(|contact| !contact.bodies.contains(&ground));
        for body in built.world.iter_bodies().filter(|body| body.status() == Status::Dynamic) {
            lowest = lowest.min(body.aabb().unwrap().min().z);
        }
    }
    assert!(between_bodies);
    assert!(lowest > -0.55, "{lowest}");
}

/// v(t) = u (1 − e^(−k t/m)) with u = 12, k = 0.2.
#[test]
fn wind_takes_along_by_mass() {
    let mut built = build("wind-tunnel");
    run(&mut built, 2.0);
    let t = built.world.time();
    for (name, mass) in [("light", 0.1), ("middle", 0.3), ("heavy", 1.0)] {
        let expected = 12.0 * (1.0 - (-0.2 * t / mass).exp());
        let v = body(&built, name).velocity();
        assert!((v - DVec3::X * expected).length() < 1e-4, "{name}: {v} instead of {expected}");
    }
    assert!(body(&built, "gusty").velocity().y.abs() > 1e-3);
    assert_eq!(body(&built, "light").velocity().y, 0.0);
}

/// relative densities 0.25, 0.5 and 0.9 float at immersions 0.652704, 1 and 1.608400 within 1 %; a box at its
/// relative density times its height.
#[test]
fn raft_floats_where_archimedes_says() {
    let mut built = build("raft");
    run(&mut built, 20.0);
    for (name, immersion) in [("cork", 0.652704), ("wood", 1.0), ("ice", 1.608400)] {
        let got = 1.0 - body(&built, name).position().z;
        assert!((got / immersion - 1.0).abs() < 0.01, "{name}: {got} instead of {immersion}");
    }
    let raft = body(&built, "raft");
    assert!((raft.position().z - (0.25 - 0.6 * 0.5)).abs() < 0.005, "{}", raft.position());
    assert!((raft.orientation() * DVec3::Z).z > 0.999);
    assert!((body(&built, "cone").orientation() * DVec3::Z).z > 0.99);
}

/// Every path follows its formula.
#[test]
fn shaker_follows_every_path() {
    let mut built = build("shaker");
    assert!(built.world.iter_bodies().all(|body| body.status() == Status::Kinematic));
    run(&mut built, 2.55);
    let t = built.world.time();
    assert!((body(&built, "conveyor").position() - DVec3::new(0.25 * t, -2.0, 0.0)).length() < 1e-12);
    let turned = DQuat::from_rotation_z(0.5 * PI * t);
    assert!(body(&built, "turntable").orientation().dot(turned).abs() > 1.0 - 1e-12);
    let phase = (TAU * 5.0 * t).sin();
    assert!((body(&built, "bowl").position().z - 0.02 * phase).abs() < 1e-12);
    let swung = DQuat::from_rotation_z(f64::to_radians(3.0) * phase);
    assert!(body(&built, "bowl").orientation().dot(swung).abs() > 1.0 - 1e-12);
    let share = (t - 2.0) / 2.0;
    let arm = DVec3::new(-2.0, 1.0 - share, 1.0 + 0.5 * share);
    assert!((body(&built, "arm").position() - arm).length() < 1e-12);
    assert!((body(&built, "lift").position().z - 1.5 * (t - 1.0) / 2.0).abs() < 1e-12);
    assert!((body(&built, "piston").position().x - (2.0 + 0.3 * (TAU * t + 0.5 * PI).sin())).abs() < 1e-12);
}

/// One hundred thousand boxes of different sizes; energy, momentum and angular momentum stay.
#[test]
fn swarm_conserves_everything() {
    let mut built = build("swarm");
    let before = built.world.readout();
    let masses: Vec<f64> = built.world.iter_bodies().map(|body| body.mass()).collect();
    assert_eq!(masses.len(), 100_000);
    let (small, large) = masses.iter().fold((f64::MAX, 0f64), |(a, b), m| (a.min(*m), b.max(*m)));
    // Scales from 0.4 to 1.6: masses within 4³ = 64 of each other, and with so many boxes nearly that.
    assert!(large / small > 60.0 && large / small <= 64.0, "{}", large / small);
    run(&mut built, 0.2);
    let after = built.world.readout();
    assert_eq!(built.world.moved().len(), 100_000);
    assert!((after.energy() / before.energy() - 1.0).abs() < 1e-12);
    assert!((after.momentum - before.momentum).length() < 1e-9 * before.momentum.length());
    assert!(
        (after.angular_momentum - before.angular_momentum).length() < 1e-9 * before.angular_momentum.length()
    );
}

/// RB-3: in the body, ω circles the figure axis at (I₃ − I₁)/I₁ · ω₃, to 1e-6.
#[test]
fn symmetric_top_precesses() {
    let mut built = build("symmetric-top");
    run(&mut built, 0.1);
    let plate = body(&built, "plate");
    let omega = plate.orientation().conjugate() * plate.angular_velocity();
    let (r, h) = (0.15f64, 0.02f64);
    let (i1, i3) = ((3.0 * r * r + h * h) / 12.0, r * r / 2.0);
    let expected = (i3 - i1) / i1 * 12.0;
    let rate = omega.y.atan2(omega.x) / built.world.time();
    // ω starts along x; after 0.1 s it has gone through about 1.2 rad.
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} instead of {expected}");
    assert!((omega.z - 12.0).abs() < 1e-12);
}

/// A wall in bond stands until the ball hits it, and no brick leaves the world.
#[test]
fn brick_wall_stands_until_it_is_hit() {
    let mut built = build("brick-wall");
    let top = |built: &BuiltScene| body(built, "stretcher[49]").position();
    let before = top(&built);
    run(&mut built, 0.4);
    assert!((top(&built) - before).length() < 0.03, "{} {before}", top(&built));
    run(&mut built, 5.0);
    assert!(body(&built, "ball").velocity().length() < 15.0);
    for brick in built.world.iter_bodies().filter(|body| body.status() == Status::Dynamic) {
        assert!(brick.position().z > 0.1 && brick.position().length() < 200.0, "{}", brick.position());
    }
}

/// A thousand kilograms on nine boxes of one.
#[test]
fn heavy_top_stands() {
    let mut built = build("heavy-top");
    run(&mut built, 10.0);
    let heavy = body(&built, "heavy").position();
    assert!((heavy.z - 9.5).abs() < 0.05 && heavy.truncate().length() < 0.02, "{heavy}");
}

/// One in, one out, within one step.
#[test]
fn cradle_passes_the_blow_on() {
    let mut built = build("cradle");
    run(&mut built, 1.0);
    assert!((body(&built, "ball[3]").velocity().x - 1.0).abs() < 1e-6);
    assert!(body(&built, "striker").velocity().length() < 1e-6);
}
