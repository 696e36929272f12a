//! Steps per second of ballistic particles with drag and collisions with a plane.
//!
//! `cargo run --release -p rattleback-particles --example particle_speed [count] [steps]`

use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::force::{Drag, Gravity};
use rattleback_particles::step::Method;
use rattleback_particles::{Particle, ParticleError, ParticleSystem, RigidObstacle};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u32>());
    let count = arguments.next().transpose()?.unwrap_or(1_000_000);
    let steps = arguments.next().transpose()?.unwrap_or(60);
    for threads in [1, 2] {
        let mut system = fountain(count)?;
        system.settings.threads = threads;
        let mut floor = RigidObstacle::fixed(Shape::half_space(DVec3::Z)?, Pose::IDENTITY)?;
        let (mut collisions, mut slowest) = (0, 0.0_f64);
        let start = Instant::now();
        for _ in 0..steps {
            let step = Instant::now();
            system.step(1.0 / 60.0, &mut [&mut floor])?;
            slowest = slowest.max(step.elapsed().as_secs_f64());
            collisions += system.statistics().collisions + system.statistics().contacts;
        }
        let rate = f64::from(steps) / start.elapsed().as_secs_f64();
        println!(
            "{count} particles, {threads} threads: {rate:.1} steps/s, slowest step {:.1} ms, {:.1} ns per particle, {} collisions",
            1e3 * slowest,
            1e9 / rate / f64::from(count),
            collisions
        );
    }
    Ok(())
}

/// Particles thrown upwards from a square.
fn fountain(count: u32) -> Result<ParticleSystem, ParticleError> {
    let mut system = ParticleSystem::default();
    system.settings.method = Method::SymplecticEuler;
    system.settings.collisions.internal = false;
    system.forces.add(Gravity::default());
    system.forces.add(Drag { coefficient: 1e-4, wind: DVec3::X });
    let side = f64::from(count).sqrt().ceil();
    for k in 0..count {
        let (x, y) = (f64::from(k) % side, (f64::from(k) / side).floor());
        // Speeds that differ without a pattern, so that collisions are spread over time.
        let phase = (f64::from(k) * 0.618_033_988_749).fract();
        let drop = Particle {
            position: DVec3::new(0.05 * x, 0.05 * y, 0.1 + phase),
            velocity: DVec3::new(0.0, 0.0, 4.0 * phase),
            mass: 1e-3,
            radius: 0.01,
            ..Particle::default()
        };
        system.particles.add(&drop)?;
    }
    Ok(system)
}
