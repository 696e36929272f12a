//! What must be seen in the scenes with machines and stacks.

use glam::DVec3;
use rattleback_dynamics::{Event, Registry, World};
use rattleback_scene::{Scene, Stage};

fn build(name: &str) -> Stage {
    Scene::built_in(name).unwrap().build(&Registry::default()).unwrap()
}

fn place(world: &World, name: &str) -> DVec3 {
    world.body(world.find_body(name).unwrap()).unwrap().position()
}

/// Runs a scene to its end, or for some seconds, and looks at every step.
fn run(stage: &mut Stage, seconds: f64, mut look: impl FnMut(&World)) {
    while stage.world.time() < seconds - 1e-9 {
        stage.simulator.step(&mut stage.world, stage.dt).unwrap();
        look(&stage.world);
    }
}

/// Everything stays where it was built, but for what soft contacts give.
fn stands(name: &str, seconds: f64, tolerance: f64) {
    let mut stage = build(name);
    let before: Vec<_> = stage.world.iter_bodies().map(|body| (body.id(), body.position())).collect();
    run(&mut stage, seconds, |_| {});
    for (id, position) in before {
        let body = stage.world.body(id).unwrap();
        let moved = (body.position() - position).length();
        assert!(moved < tolerance, "{name}: {} moved by {moved} m", body.name().unwrap_or_default());
    }
}

#[test]
fn card_house_stands() {
    stands("card-house", 8.0, 0.02);
}

#[test]
fn arch_stands() {
    stands("arch", 10.0, 0.02);
}

#[test]
fn chain_swings_and_holds() {
    let mut stage = build("chain");
    let start = stage.world.readout().energy();
    run(&mut stage, 4.0, |world| {
        let (link, ball) = (world.find_body("ball").unwrap(), place(world, "ball"));
        assert!(world.body(link).unwrap().velocity().is_finite() && ball.length() < 99.51);
    });
    assert!(place(&stage.world, "ball").z < -50.0);
    assert!((stage.world.readout().energy() - start).abs() < 0.01 * 100.0 * 9.81 * 50.0);
}

#[test]
fn bridge_carries_its_crates() {
    let mut stage = build("bridge");
    let mut broken = 0;
    run(&mut stage, 8.0, |world| {
        broken += world.events().iter().filter(|event| matches!(event, Event::JointBroke { .. })).count();
    });
    assert_eq!(broken, 0);
    assert!(place(&stage.world, "plank[15]").z > -4.0);
}

#[test]
fn car_gets_over_the_bars() {
    let mut stage = build("car");
    run(&mut stage, 10.0, |_| {});
    let car = place(&stage.world, "chassis");
    assert!(car.y > 12.0 && car.x.abs() < 2.0 && car.z > 0.3, "{car}");
}

#[test]
fn quadruped_walks_upright() {
    let mut stage = build("quadruped");
    run(&mut stage, 8.0, |_| {});
    let torso = place(&stage.world, "torso");
    assert!(torso.x.abs() > 1.0 && torso.z > 0.5, "{torso}");
}

#[test]
fn top_goes_round() {
    let mut stage = build("spinning-top");
    let (mut turned, mut last) = (0.0, 0.0_f64);
    run(&mut stage, 6.3, |world| {
        let at = world.body(world.find_body("top").unwrap()).unwrap().center_of_mass();
        let azimuth = at.y.atan2(at.x);
        turned +=
            (azimuth - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
        last = azimuth;
    });
    assert!((turned / stage.world.time() / 0.991645 - 1.0).abs() < 0.01, "{}", turned / stage.world.time());
}

#[test]
fn tower_stands_until_the_ball_comes() {
    let mut stage = build("jenga");
    run(&mut stage, 0.5, |_| {});
    assert!((place(&stage.world, "across[8]").z - (0.225 + 0.3 * 2.0)).abs() < 0.01);
    run(&mut stage, 6.0, |_| {});
}
