//! The step: going back, bouncing, termination, reactions, threads.

use glam::DVec3;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::force::{Drag, Gravity, Spring, SpringLaw, Springs};
use rattleback_particles::step::Method;
use rattleback_particles::{Obstacle, Particle, ParticleSystem, RigidObstacle};

use crate::random::Random;

/// O1–O2 on a spring, O3 hits O2; O4 far away.
fn spring_scene(q: u32) -> ParticleSystem {
    let mut system = ParticleSystem::default();
    system.settings.method = Method::RungeKutta4;
    let offset = 0.013 * f64::from(q);
    let ids = [(0.0, 0.3, 1.0), (1.15, 0.0, 1.0), (2.0 + offset, -3.0, 1.5), (50.0, 0.7, 1.0)].map(
        |(x, v, mass)| {
            let (position, velocity) = (DVec3::X * x, DVec3::X * v);
            let ball =
                Particle { position, velocity, mass, radius: 0.1, restitution: 0.8, ..Particle::default() };
            system.particles.add(&ball).unwrap()
        },
    );
    let mut springs = Springs::default();
    let law = SpringLaw::Coefficients { stiffness: 40.0, damping: 0.0 };
    springs.add(&system.particles, Spring { particles: [ids[0], ids[1]], rest_length: 1.0, law }).unwrap();
    system.forces.add_joint(springs);
    system
}

fn run_spring_scene(q: u32, steps_per_second: u32) -> [f64; 4] {
    let mut system = spring_scene(q);
    for _ in 0..steps_per_second / 2 {
        system.step(1.0 / f64::from(steps_per_second), &mut []).unwrap();
    }
    [0, 1, 2, 3].map(|i| system.particles.position()[i].x)
}

/// T-STEP-01: the spring partner goes back with the particle that collides: errors fall as dt², with the reference's
/// size; a particle that is not coupled keeps its bits.
#[test]
fn coupled_particles_go_back_together() {
    let mut errors = [0.0; 3];
    let rates = [50, 100, 400];
    for q in 0..20 {
        let exact = run_spring_scene(q, 50_000);
        for (error, rate) in errors.iter_mut().zip(rates) {
            let at = run_spring_scene(q, rate);
            *error += (0..3).map(|i| (at[i] - exact[i]).abs()).fold(0.0, f64::max) / 20.0;
        }
    }
    for (error, reference) in errors.iter().zip([1.78e-4, 4.34e-5, 2.89e-6]) {
        assert!((reference / 1.5..reference * 1.5).contains(error), "{errors:?}");
    }
    let ratio = errors[0] / errors[2];
    assert!((40.0..90.0).contains(&ratio), "{ratio}");
    let mut alone = ParticleSystem::default();
    alone.settings.method = Method::RungeKutta4;
    let lone = Particle { position: DVec3::X * 50.0, velocity: DVec3::X * 0.7, ..Particle::default() };
    alone.particles.add(&lone).unwrap();
    let mut all = spring_scene(0);
    let mut collided = false;
    for _ in 0..25 {
        alone.step(0.02, &mut []).unwrap();
        all.step(0.02, &mut []).unwrap();
        collided |= all.statistics().collisions > 0;
        assert_eq!(alone.particles.position()[0], all.particles.position()[3]);
    }
    assert!(collided);
}

fn shrinking_cage(count: u32, steps: u32) {
    let mut random = Random::new(2);
    let mut system = ParticleSystem::default();
    let side = f64::from(count).cbrt().ceil() as u32;
    for k in 0..count {
        let cell = DVec3::new(f64::from(k % side), f64::from(k / side % side), f64::from(k / side / side));
        let ball = Particle {
            position: 0.22 * (cell - 0.5 * f64::from(side - 1)),
            velocity: random.vector(-1.0, 1.0),
            radius: 0.1,
            restitution: 1.0,
            ..Particle::default()
        };
        system.particles.add(&ball).unwrap();
    }
    let half = 0.11 * f64::from(side) + 0.02;
    let dt = 1.0 / 60.0;
    let mut walls: Vec<RigidObstacle> = Vec::new();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for sign in [-1.0, 1.0] {
            let plane = Shape::half_space(-sign * axis).unwrap();
            let mut wall = RigidObstacle::fixed(plane, Pose::at(sign * half * axis))
                .unwrap()
                .with_surface(1.0, [0.0; 2]);
            wall.set_motion(-sign * 0.05 * axis, DVec3::ZERO);
            walls.push(wall);
        }
    }
    let mut flagged = false;
    for _ in 0..steps {
        for wall in &mut walls {
            wall.advance(dt);
        }
        let mut obstacles: Vec<&mut dyn Obstacle> =
            walls.iter_mut().map(|w| w as &mut dyn Obstacle).collect();
        system.step(dt, &mut obstacles).unwrap();
        let statistics = system.statistics();
        let limit = system.settings.max_collision_iterations + system.settings.max_inelastic_iterations;
        assert!(statistics.iterations <= limit + 1);
        let p = system.particles.position();
        assert!(p.iter().all(|p| p.is_finite()));
        // Overlaps may last longer than the interval that flagged them.
        flagged |= statistics.unresolved_collisions > 0;
        if !flagged {
            for i in 0..p.len() {
                for j in i + 1..p.len() {
                    assert!(p[i].distance(p[j]) > 0.2 - 1e-7, "overlap of {}", 0.2 - p[i].distance(p[j]));
                }
            }
        }
    }
}

/// T-STEP-02: particles in a shrinking cage with e = 1: the loop ends, and what overlaps is flagged.
#[test]
fn shrinking_cage_terminates() {
    shrinking_cage(64, 8);
}

/// T-STEP-02 with 1000 particles.
#[test]
#[ignore = "minutes: cargo test --release -p rattleback-particles --test suite -- --ignored cage"]
fn shrinking_cage_of_a_thousand_terminates() {
    shrinking_cage(1000, 8);
}

/// T-STEP-03: a ball bounces to 0.64ⁿ of its height and comes to rest in contact.
#[test]
fn bouncing_ball_comes_to_rest() {
    for internal in [true, false] {
        let mut system = ParticleSystem::default();
        system.settings.collisions.internal = internal;
        system.settings.contact_velocity_threshold = Some(0.02);
        system.forces.add(Gravity::default());
        let ball = Particle { position: DVec3::Z, restitution: 0.8, ..Particle::default() };
        system.particles.add(&ball).unwrap();
        let plane = Shape::half_space(DVec3::Z).unwrap();
        let mut floor = RigidObstacle::fixed(plane, Pose::IDENTITY).unwrap().with_surface(0.8, [0.0; 2]);
        let dt = 1e-3;
        let mut apexes = Vec::new();
        let mut before = [1.0, 1.0];
        for _ in 0..8000 {
            system.step(dt, &mut [&mut floor]).unwrap();
            let z = system.particles.position()[0].z;
            if before[1] > before[0] && before[1] > z {
                apexes.push(before[1]);
            }
            before = [before[1], z];
        }
        for (n, apex) in apexes.iter().take(6).enumerate() {
            let expected = 0.64_f64.powf(n as f64 + 1.0);
            assert!((apex / expected - 1.0).abs() < 0.01, "bounce {n}: {apex} against {expected}");
        }
        assert!(apexes.len() >= 6);
        assert!(system.statistics().contacts > 0, "ends in contact");
        assert!(
            system.particles.position()[0].z.abs() < 1e-6 && system.particles.velocity()[0].length() < 1e-6
        );
    }
}

/// T-PRB-02: particles hit a free box: momentum of particles, body and accumulator together stays, and the body moves
/// only from the next interval on.
#[test]
fn momentum_with_a_free_box() {
    for internal in [false, true] {
        let mut random = Random::new(22);
        let mut system = ParticleSystem::default();
        system.settings.collisions.internal = internal;
        for k in 0..1000 {
            let cell = DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100));
            let rain = Particle {
                position: 0.05 * (cell - 4.5) + DVec3::Z * 0.9,
                velocity: DVec3::Z * -6.0 + random.vector(-0.2, 0.2),
                mass: 0.01,
                radius: 0.01,
                friction: [0.3, 0.3],
                ..Particle::default()
            };
            system.particles.add(&rain).unwrap();
        }
        let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
        let mut cube = RigidObstacle::free(shape, Pose::IDENTITY, 5.0).unwrap().with_surface(0.4, [0.3; 2]);
        let total = |system: &ParticleSystem, cube: &RigidObstacle| {
            let pending: DVec3 = system.pending_reactions().iter().map(|r| r.impulse).sum();
            system.particles.momentum() + cube.mass() * cube.velocity() + pending
        };
        let start = total(&system, &cube);
        let mut hit_before = false;
        for _ in 0..60 {
            let speed = cube.velocity();
            system.step(1.0 / 120.0, &mut [&mut cube]).unwrap();
            if !hit_before {
                assert_eq!(cube.velocity(), speed, "the body answers in the next interval");
            }
            hit_before |= system.statistics().collisions > 0;
            let drift = (total(&system, &cube) - start).length() / start.length();
            assert!(drift < 1e-10, "{drift}");
            cube.advance(1.0 / 120.0);
        }
        assert!(cube.velocity().z < -0.1, "{}", cube.velocity());
    }
}

/// Bits of a system of independent particles do not depend on the number of threads.
#[test]
fn threads_do_not_change_bits() {
    let run = |threads: usize| {
        let mut random = Random::new(31);
        let mut system = ParticleSystem::default();
        system.settings.threads = threads;
        system.settings.collisions.internal = false;
        system.forces.add(Gravity::default());
        system.forces.add(Drag { coefficient: 0.1, wind: DVec3::X });
        for _ in 0..5000 {
            let (position, velocity) = (random.vector(-1.0, 1.0) + DVec3::Z * 1.5, random.vector(-1.0, 1.0));
            let drop = Particle { position, velocity, radius: 0.01, ..Particle::default() };
            system.particles.add(&drop).unwrap();
        }
        let plane = Shape::half_space(DVec3::Z).unwrap();
        let mut floor = RigidObstacle::fixed(plane, Pose::IDENTITY).unwrap();
        let cube = Shape::cuboid(DVec3::splat(0.3)).unwrap();
        let mut cube = RigidObstacle::free(cube, Pose::at(DVec3::Z * 0.3), 1000.0).unwrap();
        for _ in 0..60 {
            system.step(1.0 / 60.0, &mut [&mut floor, &mut cube]).unwrap();
        }
        (system.particles, cube.velocity())
    };
    let one = run(1);
    for threads in [2, 4] {
        assert_eq!(run(threads), one);
    }
}
