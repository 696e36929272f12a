//! Emitters.

use glam::DVec3;
use rand_pcg::Pcg64;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::emitter::{
    ColorEvolution, ColorTimes, EmitterConfig, PRESETS, Source, SplitConfig, TrailConfig, Varied, preset,
};
use rattleback_particles::{Particle, ParticleError, ParticleSystem, Particles, RigidObstacle};

fn system_with(config: EmitterConfig) -> ParticleSystem {
    let mut system = ParticleSystem::default();
    system.settings.collisions.internal = false;
    system.add_emitter(config).unwrap();
    system
}

/// T-EMI-01: delay 3, rate 4, 30 intervals: releases at 0, 3, …, 27.
#[test]
fn delay_and_rate() {
    let mut system = system_with(EmitterConfig { delay: 3, rate: 4, ..EmitterConfig::default() });
    for interval in 0..30 {
        system.step(0.1, &mut []).unwrap();
        assert_eq!(system.statistics().emitted, if interval % 3 == 0 { 4 } else { 0 });
    }
    assert_eq!(system.emitters()[0].emitted(), 40);
}

/// T-EMI-02: maximum emission in all, or of those alive.
#[test]
fn maximum_emission() {
    let base = EmitterConfig {
        maximum: 100,
        age: Varied::fixed(0.5),
        velocity: Varied::fixed(5.0),
        ..EmitterConfig::default()
    };
    let mut once = system_with(base.clone());
    let mut again = system_with(EmitterConfig { spawn: true, ..base });
    let mut most = 0;
    for _ in 0..200 {
        once.step(0.02, &mut []).unwrap();
        again.step(0.02, &mut []).unwrap();
        most = most.max(again.particles.len());
    }
    assert_eq!(once.emitters()[0].emitted(), 100);
    assert!(once.particles.is_empty());
    assert!(again.emitters()[0].emitted() > 300 && most == 100, "{most}");
}

/// T-EMI-03: 4 ± 2 stays within, with mean 4 and standard deviation 0.657719.
#[test]
fn truncated_normal() {
    let mut random = Pcg64::new(3, 1);
    let values: Vec<f64> = (0..100_000).map(|_| Varied::new(4.0, 2.0).sample(&mut random)).collect();
    assert!(values.iter().all(|v| (2.0..=6.0).contains(v)));
    let mean = values.iter().sum::<f64>() / 1e5;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
    assert!((mean - 4.0).abs() < 0.01 && (deviation - 0.657719).abs() < 0.01, "{mean} {deviation}");
}

/// T-EMI-04: an emitter of 1 m has room for six particles of 0.2 m; nothing overlaps; a body blocks what it covers.
#[test]
fn room_of_an_emitter() {
    let config = EmitterConfig {
        size: Varied::new(0.15, 0.05),
        rate: 50,
        velocity: Varied::fixed(30.0),
        age: Varied::fixed(0.05),
        ..EmitterConfig::default()
    };
    let mut system = system_with(config.clone());
    for _ in 0..1000 {
        system.step(0.02, &mut []).unwrap();
        assert_eq!(system.statistics().emitted, 6);
        let n = system.particles.len();
        for i in 0..n {
            for j in i + 1..n {
                let (p, r) = (system.particles.position(), system.particles.radius());
                assert!(p[i].distance(p[j]) >= r[i] + r[j]);
            }
        }
    }
    let mut covered = system_with(config);
    let shape = Shape::cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap();
    let mut body = RigidObstacle::fixed(shape, Pose::at(DVec3::X * 0.5)).unwrap();
    covered.step(0.02, &mut [&mut body]).unwrap();
    let left = covered.particles.position();
    assert!(!left.is_empty() && left.len() < 6 && left.iter().all(|p| p.x < 0.0));
}

/// T-EMI-05: c = 2 and depth 3 make 27 of one; sizes and speeds by their fractions; a late split is refused.
#[test]
fn splitting() {
    let split = SplitConfig {
        number: 2,
        age: 0.1,
        delay: 2,
        depth: 3,
        velocity: 0.5,
        direction: 0.3,
        size: 0.8,
        lifespan: 0.0,
        mass: rattleback_particles::emitter::ChildMass::ByVolume,
    };
    let config = EmitterConfig {
        rate: 1,
        maximum: 1,
        age: Varied::fixed(10.0),
        split: Some(split),
        ..EmitterConfig::default()
    };
    let mut system = system_with(config.clone());
    let mut counts = Vec::new();
    for _ in 0..60 {
        system.step(0.02, &mut []).unwrap();
        counts.push(system.particles.len());
    }
    counts.dedup();
    assert_eq!(counts, [1, 3, 9, 27]);
    let speed = |i: usize| system.particles.velocity()[i].length();
    let radius = system.particles.radius();
    for i in 0..27 {
        let generation = (radius[i] / radius[0]).ln() / 0.8_f64.ln();
        assert!((generation - generation.round()).abs() < 1e-9 && generation < 3.5);
        assert!((speed(i) - 0.5_f64.powf(generation.round())).abs() < 1e-9);
        assert!((system.particles.mass()[i] - 1e-3 * 0.512_f64.powf(generation.round())).abs() < 1e-12);
    }
    let late = SplitConfig { age: 10.0, ..split };
    let refused = ParticleSystem::default().add_emitter(EmitterConfig { split: Some(late), ..config });
    assert!(matches!(refused, Err(ParticleError::EmitterConfig { field: "split age", .. })));
}

/// T-EMI-06: relative colour times 0, 2, 4, 7 change at 0, 2, 6, 13 s.
#[test]
fn colours() {
    let gray = |g: f64, t: f64| [g, g, g, t];
    let steps = vec![gray(1.0, 0.0), gray(0.6, 2.0), gray(0.3, 4.0), gray(0.0, 7.0)];
    let mut colors = ColorEvolution { steps, ..ColorEvolution::default() };
    for (age, expected) in
        [(0.0, 1.0), (1.99, 1.0), (2.0, 0.6), (5.99, 0.6), (6.0, 0.3), (12.99, 0.3), (13.0, 0.0)]
    {
        assert_eq!(colors.at(age), [expected; 3], "at {age} s");
    }
    colors.interpolate = true;
    assert!((colors.at(1.0)[0] - 0.8).abs() < 1e-12);
    colors.times = ColorTimes::Absolute;
    assert!((colors.at(7.0)[0]).abs() < 1e-12);
}

/// T-EMI-07: the seed decides.
#[test]
fn seeds() {
    let run = |seed: u64| {
        let mut system = system_with(EmitterConfig { seed, ..preset("smoke").unwrap() });
        for _ in 0..100 {
            system.step(1.0 / 60.0, &mut []).unwrap();
        }
        system.particles
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// T-EMI-08: a spherical emitter emits outwards, evenly.
#[test]
fn spherical_emitter() {
    let config = EmitterConfig {
        source: Source::Spherical { center: DVec3::X, radius: 1.0 },
        size: Varied::fixed(0.02),
        rate: 600,
        direction_deviation: 0.1,
        ..EmitterConfig::default()
    };
    let mut system = system_with(config);
    system.step(1e-3, &mut []).unwrap();
    let (p, v) = (system.particles.position(), system.particles.velocity());
    assert_eq!(p.len(), 600);
    let sum: DVec3 = v.iter().map(|v| v.normalize()).sum();
    assert!(sum.length() / 600.0 < 0.05);
    for (p, v) in p.iter().zip(v) {
        assert!((*p - DVec3::X).angle_between(*v) <= 0.1 + 1e-9);
    }
}

/// Particles of a surface emitter lie on the surface and leave along its normal; trails do not collide.
#[test]
fn surface_emitter_and_trails() {
    let mesh = std::sync::Arc::new(rattleback_geometry::generate::torus(1.0, 0.3, 24, 12).unwrap());
    let config = EmitterConfig {
        source: Source::Surface { mesh: mesh.clone(), pose: Pose::IDENTITY, faces: Vec::new() },
        size: Varied::fixed(0.02),
        trail: Some(TrailConfig { age: 0.05 }),
        rate: 50,
        maximum: 50,
        ..EmitterConfig::default()
    };
    let mut system = system_with(config);
    system.step(0.01, &mut []).unwrap();
    let torus = Shape::mesh(mesh.as_ref().clone()).unwrap();
    for (p, v) in system.particles.position().iter().zip(system.particles.velocity()) {
        let near = torus.closest_point(*p).unwrap();
        assert!(near.distance.abs() < 1e-9 && v.length() > 0.99);
    }
    assert!(system.particles.len() > 30);
    for _ in 0..20 {
        system.step(0.01, &mut []).unwrap();
    }
    let marks = system.trails().len();
    assert!(marks > 4 * system.particles.len() && marks <= 6 * system.particles.len(), "{marks}");
}

/// Every preset runs, emits and stays finite; rain falls at 8 m/s, smoke rises at 1 m/s.
#[test]
fn presets_run() {
    for name in PRESETS {
        let mut system = system_with(preset(name).unwrap());
        for _ in 0..180 {
            system.step(1.0 / 60.0, &mut []).unwrap();
        }
        assert!(system.emitters()[0].emitted() > 50, "{name}");
        let mean: DVec3 =
            system.particles.velocity().iter().sum::<DVec3>() / system.particles.len().max(1) as f64;
        match name {
            "rain" => assert!((mean.z + 8.0).abs() < 0.1, "{mean}"),
            "smoke" => assert!((0.5..1.1).contains(&mean.z), "{mean}"),
            _ => {}
        }
    }
    assert!(preset("lava").is_none());
}

/// An emitter that asks for 10⁹ particles gets what the system may hold, and says what it blocked.
#[test]
fn greedy_emitter() {
    let config = EmitterConfig { rate: 1_000_000_000, emitter_size: 1e4, ..EmitterConfig::default() };
    let mut system = ParticleSystem::default();
    system.particles = Particles::with_limit(1000);
    system.settings.collisions.internal = false;
    system.particles.add(&Particle::default()).unwrap();
    system.add_emitter(config).unwrap();
    for _ in 0..3 {
        system.step(0.01, &mut []).unwrap();
    }
    assert!(system.particles.len() <= 1000 && system.particles.len() > 900);
    assert!(system.statistics().blocked > 900_000_000);
}
