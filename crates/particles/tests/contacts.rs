//! Contact forces.

use glam::DVec3;
use rattleback_geometry::primitive::ContactFrame;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::contact::{ClusterContact, ContactPartner, contact_forces, contact_system};
use rattleback_particles::force::Gravity;
use rattleback_particles::step::Method;
use rattleback_particles::{Particle, ParticleSystem, RigidObstacle};

use crate::random::Random;

fn frame(normal: DVec3) -> [DVec3; 3] {
    let frame = ContactFrame::new(normal).unwrap();
    [frame.normal, frame.tangent, frame.binormal]
}

/// T-CON-01: forces in a stack of N are (N − j + 1) m g.
#[test]
fn stack_forces() {
    for n in 1..=10 {
        let (mass, g) = (0.7, 9.81);
        let contact = |j: usize| ClusterContact {
            a: if j == 0 {
                let inverse_mass = glam::DMat3::ZERO;
                ContactPartner::Body { acceleration: DVec3::ZERO, inverse_mass }
            } else {
                ContactPartner::Particle(j - 1)
            },
            b: j,
            frame: frame(DVec3::Z),
            relative_velocity: DVec3::ZERO,
            normal_rate_term: 0.0,
            friction: [0.0; 2],
        };
        let contacts: Vec<_> = (0..n).map(contact).collect();
        let acceleration = vec![DVec3::Z * -g; n];
        let (forces, solved) = contact_forces(&vec![1.0 / mass; n], &acceleration, &contacts, 1e-3).unwrap();
        assert!(solved);
        for (j, force) in forces.iter().enumerate() {
            let expected = (n - j) as f64 * mass * g;
            assert!((force.z - expected).abs() < 1e-9 * expected, "{n}: {force}");
        }
    }
}

/// T-CON-02: a particle on an incline holds for tan α ≤ μ_s, and slides with g (sin α − μ_d cos α) beyond.
#[test]
fn incline_holds_and_slides() {
    for internal in [true, false] {
        for (tan, slides) in [(0.45, false), (0.6, true)] {
            let alpha = f64::atan(tan);
            let normal = DVec3::new(alpha.sin(), 0.0, alpha.cos());
            let plane = Shape::half_space(normal).unwrap();
            let mut floor =
                RigidObstacle::fixed(plane, Pose::IDENTITY).unwrap().with_surface(0.0, [0.5, 0.3]);
            let mut system = ParticleSystem::default();
            system.settings.collisions.internal = internal;
            system.forces.add(Gravity::default());
            let block = Particle {
                position: 0.1 * normal,
                radius: 0.1,
                restitution: 0.0,
                friction: [0.5, 0.3],
                ..Particle::default()
            };
            system.particles.add(&block).unwrap();
            // Friction is still static in the first step; acceleration is measured over the second half of a second.
            let mut early = 0.0;
            for step in 0..500 {
                system.step(2e-3, &mut [&mut floor]).unwrap();
                if step == 249 {
                    early = system.particles.velocity()[0].length();
                }
            }
            let speed = 2.0 * (system.particles.velocity()[0].length() - early);
            if slides {
                let expected = 9.81 * (alpha.sin() - 0.3 * alpha.cos());
                assert!((speed / expected - 1.0).abs() < 1e-3, "{speed} against {expected}");
            } else {
                assert!(speed < 1e-3, "{speed}");
            }
            let gap = system.particles.position()[0].dot(normal) - 0.1;
            assert!(gap.abs() < 1e-6, "{gap}");
        }
    }
}

/// T-CON-03: a point on a smooth sphere leaves it at arccos(2/3), with √(2 g R/3).
#[test]
fn slide_off_a_sphere() {
    let mut system = ParticleSystem::default();
    system.settings.method = Method::RungeKutta4;
    system.forces.add(Gravity::default());
    system.particles.add(&Particle { radius: 1.0, pinned: true, ..Particle::default() }).unwrap();
    let tilt = 0.01_f64;
    let position = DVec3::new(tilt.sin(), 0.0, tilt.cos());
    // On the sphere it would have slid from the top with this speed.
    let speed = (2.0 * 9.81 * (1.0 - tilt.cos())).sqrt();
    let velocity = speed * DVec3::new(tilt.cos(), 0.0, -tilt.sin());
    system.particles.add(&Particle { position, velocity, restitution: 0.0, ..Particle::default() }).unwrap();
    let mut last_contact = (0.0, 0.0);
    for _ in 0..3000 {
        let before = system.particles.velocity()[1];
        system.step(1e-3, &mut []).unwrap();
        let (p, v) = (system.particles.position()[1], system.particles.velocity()[1]);
        // Anything but free fall means that the sphere has pushed.
        if (v - before - DVec3::new(0.0, 0.0, -9.81e-3)).length() > 1e-9 {
            last_contact = ((p.z / p.length()).acos().to_degrees(), v.length());
        }
        if p.length() > 1.2 {
            break;
        }
    }
    let (angle, speed) = last_contact;
    assert!((angle - 48.1897).abs() < 0.5, "{angle}°");
    assert!((speed / 2.557342 - 1.0).abs() < 0.01, "{speed} m/s");
}

/// T-CON-04: A is ∂a/∂F by finite differences, symmetric and positive semidefinite.
#[test]
fn matrix_is_the_derivative_of_accelerations() {
    let mut random = Random::new(4);
    for _ in 0..50 {
        let n = 5;
        let inverse_mass: Vec<f64> = (0..n).map(|_| random.range(0.1, 3.0)).collect();
        let acceleration: Vec<DVec3> = (0..n).map(|_| random.vector(-1.0, 1.0)).collect();
        let contacts: Vec<ClusterContact> = (1..n)
            .map(|b| ClusterContact {
                a: ContactPartner::Particle(random.range(0.0, b as f64) as usize),
                b,
                frame: frame(random.direction()),
                relative_velocity: DVec3::ZERO,
                normal_rate_term: 0.0,
                friction: [0.0; 2],
            })
            .collect();
        let (matrix, b) = contact_system(&inverse_mass, &acceleration, &contacts);
        let relative = |forces: &[DVec3], c: &ClusterContact, axis: usize| {
            let mut a = acceleration.clone();
            for (contact, force) in contacts.iter().zip(forces) {
                a[contact.b] += inverse_mass[contact.b] * *force;
                if let ContactPartner::Particle(q) = contact.a {
                    a[q] -= inverse_mass[q] * *force;
                }
            }
            let ContactPartner::Particle(q) = c.a else { unreachable!() };
            (a[c.b] - a[q]).dot(c.frame[axis])
        };
        let zero = vec![DVec3::ZERO; contacts.len()];
        for (i, c) in contacts.iter().enumerate() {
            for x in 0..3 {
                assert!((relative(&zero, c, x) - b[3 * i + x]).abs() < 1e-12);
                for (j, other) in contacts.iter().enumerate() {
                    for y in 0..3 {
                        let mut forces = zero.clone();
                        forces[j] = other.frame[y];
                        let slope = relative(&forces, c, x) - b[3 * i + x];
                        assert!((slope - matrix[(3 * i + x, 3 * j + y)]).abs() < 1e-8);
                    }
                }
            }
        }
        assert!(matrix.asymmetry().0 < 1e-14);
        for _ in 0..20 {
            let z: Vec<f64> = (0..matrix.n()).map(|_| random.range(-1.0, 1.0)).collect();
            let w = matrix.affine(&z, &vec![0.0; z.len()]);
            assert!(z.iter().zip(&w).map(|(z, w)| z * w).sum::<f64>() >= -1e-12);
        }
    }
}
