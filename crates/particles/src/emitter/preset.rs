//! Emitters by name: smoke, fire, vapour, exhaust, rain, sprinkler, jet, grenade, fireworks.
//!
//! Sizes in m, masses in kg, for intervals of 1/60 s. A force F against drag k gives a terminal speed F/k: smoke
//! rises at 1 m/s, rain falls at 8 m/s. A sprinkler's drops rise to v²/2g = 1.8 m.

use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;

use super::{ChildMass, ColorEvolution, EmitterConfig, EmitterForce, Source, SplitConfig, Varied};

/// Names that [`preset`] takes.
pub const PRESETS: [&str; 9] =
    ["smoke", "fire", "vapour", "exhaust", "rain", "sprinkler", "jet", "grenade", "fireworks"];

const GRAVITY: EmitterForce = EmitterForce::Gravity(DVec3::new(0.0, 0.0, -9.81));

fn up(force: f64) -> EmitterForce {
    EmitterForce::Uniform(DVec3::new(0.0, 0.0, force))
}

/// One child per split, nearly as large and as fast as its parent.
fn puff(age: f64, delay: u32, depth: u32) -> SplitConfig {
    SplitConfig {
        number: 1,
        age,
        delay,
        depth,
        velocity: 0.95,
        direction: 6.0_f64.to_radians(),
        size: 0.9,
        lifespan: 0.0,
        mass: ChildMass::ByVolume,
    }
}

/// Name ⇒ parameters; none if there is no preset of that name.
pub fn preset(name: &str) -> Option<EmitterConfig> {
    let smoke = EmitterConfig {
        size: Varied::new(0.05, 0.02),
        mass: Varied::fixed(1e-3),
        velocity: Varied::new(0.5, 0.1),
        direction_deviation: 5.0_f64.to_radians(),
        rate: 16,
        delay: 2,
        age: Varied::new(8.0, 1.0),
        forces: vec![up(2e-3), EmitterForce::Drag(2e-3)],
        split: Some(puff(1.0, 60, 3)),
        colors: ColorEvolution { steps: vec![[0.6, 0.6, 0.6, 0.0]], ..ColorEvolution::default() },
        ..EmitterConfig::default()
    };
    Some(match name {
        "smoke" => smoke,
        "fire" => EmitterConfig {
            velocity: Varied::new(0.8, 0.2),
            direction_deviation: 8.0_f64.to_radians(),
            rate: 25,
            age: Varied::new(5.0, 1.0),
            forces: vec![up(3e-3), EmitterForce::Drag(3e-3)],
            colors: ColorEvolution {
                steps: vec![
                    [1.0, 1.0, 0.0, 0.0],
                    [1.0, 0.5, 0.0, 0.4],
                    [0.25, 0.25, 0.25, 0.6],
                    [0.0, 0.0, 0.0, 1.0],
                ],
                ..ColorEvolution::default()
            },
            ..smoke
        },
        "vapour" => EmitterConfig {
            size: Varied::new(0.01, 0.004),
            mass: Varied::fixed(1e-5),
            velocity: Varied::new(0.1, 0.03),
            emitter_size: 0.08,
            rate: 4,
            age: Varied::new(3.0, 0.5),
            forces: vec![up(6e-6), EmitterForce::Drag(3e-5)],
            colors: ColorEvolution { steps: vec![[0.9, 0.9, 0.95, 0.0]], ..ColorEvolution::default() },
            ..smoke
        },
        "exhaust" => EmitterConfig {
            source: Source::Planar {
                pose: Pose::new(DQuat::from_rotation_x(std::f64::consts::PI), DVec3::ZERO),
            },
            velocity: Varied::new(20.0, 2.0),
            rate: 36,
            delay: 1,
            age: Varied::new(3.0, 0.5),
            forces: vec![EmitterForce::Drag(1e-3)],
            split: Some(puff(0.2, 20, 3)),
            colors: ColorEvolution {
                steps: vec![[1.0, 0.9, 0.6, 0.0], [1.0, 0.5, 0.1, 0.2], [0.5, 0.5, 0.5, 0.4]],
                ..ColorEvolution::default()
            },
            ..smoke
        },
        "rain" => EmitterConfig {
            source: Source::Planar {
                pose: Pose::new(DQuat::from_rotation_x(std::f64::consts::PI), DVec3::new(0.0, 0.0, 20.0)),
            },
            size: Varied::fixed(0.01),
            mass: Varied::fixed(1e-4),
            velocity: Varied::fixed(8.0),
            direction_deviation: 1.0_f64.to_radians(),
            rate: 100,
            emitter_size: 20.0,
            age: Varied::fixed(5.0),
            forces: vec![up(-1e-3), EmitterForce::Drag(1.25e-4)],
            colors: ColorEvolution { steps: vec![[0.5, 0.6, 0.9, 0.0]], ..ColorEvolution::default() },
            ..EmitterConfig::default()
        },
        "sprinkler" => EmitterConfig {
            size: Varied::new(0.02, 0.005),
            mass: Varied::fixed(5e-3),
            velocity: Varied::new(6.0, 0.3),
            direction_deviation: 15.0_f64.to_radians(),
            age: Varied::fixed(4.0),
            forces: vec![GRAVITY],
            colors: ColorEvolution { steps: vec![[0.5, 0.7, 1.0, 0.0]], ..ColorEvolution::default() },
            ..EmitterConfig::default()
        },
        "jet" => EmitterConfig {
            size: Varied::fixed(0.04),
            mass: Varied::fixed(0.05),
            velocity: Varied::new(20.0, 0.2),
            direction_deviation: 1.0_f64.to_radians(),
            age: Varied::fixed(3.0),
            forces: vec![GRAVITY],
            colors: ColorEvolution { steps: vec![[0.5, 0.7, 1.0, 0.0]], ..ColorEvolution::default() },
            ..EmitterConfig::default()
        },
        "grenade" => EmitterConfig {
            size: Varied::new(0.03, 0.01),
            mass: Varied::fixed(1e-3),
            velocity: Varied::new(8.0, 4.0),
            direction_deviation: 80.0_f64.to_radians(),
            rate: 200,
            maximum: 200,
            emitter_size: 2.0,
            age: Varied::new(1.5, 0.5),
            split: Some(SplitConfig { number: 2, ..puff(0.1, 6, 3) }),
            colors: ColorEvolution {
                steps: vec![[1.0, 0.9, 0.4, 0.0], [0.9, 0.4, 0.1, 0.3], [0.2, 0.2, 0.2, 0.4]],
                ..ColorEvolution::default()
            },
            ..EmitterConfig::default()
        },
        "fireworks" => EmitterConfig {
            source: Source::Spherical { center: DVec3::new(0.0, 0.0, 20.0), radius: 0.2 },
            size: Varied::fixed(0.015),
            mass: Varied::fixed(2e-3),
            velocity: Varied::new(6.0, 1.0),
            direction_deviation: 5.0_f64.to_radians(),
            rate: 300,
            maximum: 300,
            age: Varied::new(2.5, 0.5),
            forces: vec![GRAVITY, EmitterForce::Drag(1e-3)],
            split: Some(puff(0.5, 1, 2)),
            colors: ColorEvolution {
                steps: vec![[1.0, 1.0, 0.8, 0.0], [1.0, 0.3, 0.1, 0.8], [0.3, 0.1, 0.1, 0.8]],
                ..ColorEvolution::default()
            },
            ..EmitterConfig::default()
        },
        _ => return None,
    })
}
