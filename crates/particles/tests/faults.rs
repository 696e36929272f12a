//! Bad input is refused with its name, and leaves everything as it was.

use glam::DVec3;
use rattleback_particles::force::{
    ForceView, Gravity, PairForce, PairLaw, Spring, SpringLaw, Springs, Truncation, UnaryForce,
};
use rattleback_particles::{CellGrid, Particle, ParticleError, ParticleSystem, Particles};

#[test]
fn bad_particles_are_refused() {
    let mut particles = Particles::default();
    let base = Particle::default();
    let bad = [
        Particle { mass: 0.0, ..base },
        Particle { mass: f64::NAN, ..base },
        Particle { mass: f64::INFINITY, ..base },
        Particle { radius: -1.0, ..base },
        Particle { position: DVec3::NAN, ..base },
        Particle { velocity: DVec3::INFINITY, ..base },
        Particle { restitution: 1.5, ..base },
        Particle { friction: [-0.1, 0.0], ..base },
        Particle { lifespan: 0.0, ..base },
        Particle { charge: f64::NAN, ..base },
    ];
    for particle in &bad {
        assert!(particles.add(particle).is_err(), "{particle:?}");
    }
    assert!(particles.is_empty());
    let mut few = Particles::with_limit(1);
    few.add(&base).unwrap();
    assert!(matches!(few.add(&base), Err(ParticleError::TooManyParticles { limit: 1, .. })));
}

#[derive(Debug)]
struct NotANumber;

impl UnaryForce for NotANumber {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        for (k, force) in force.iter_mut().enumerate() {
            if view.index(first + k) == 7 {
                *force = DVec3::NAN;
            }
        }
    }
}

/// A force that is NaN names its particle; positions and time stay.
#[test]
fn non_finite_forces_leave_the_system_alone() {
    for internal in [true, false] {
        let mut system = ParticleSystem::default();
        system.settings.collisions.internal = internal;
        system.forces.add(Gravity::default());
        for k in 0..10 {
            let position = DVec3::X * f64::from(k);
            system.particles.add(&Particle { position, ..Particle::default() }).unwrap();
        }
        system.step(0.01, &mut []).unwrap();
        let before = system.particles.clone();
        system.forces.add(NotANumber);
        let error = system.step(0.01, &mut []).unwrap_err();
        assert!(matches!(error, ParticleError::NonFiniteState { particle, .. } if particle == before.id(7)));
        assert_eq!(system.particles, before);
        assert_eq!(system.time(), 0.01);
    }
}

#[test]
fn bad_steps_and_topology_are_refused() {
    let mut system = ParticleSystem::default();
    let id = system.particles.add(&Particle::default()).unwrap();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(system.step(dt, &mut []), Err(ParticleError::Step(_))));
    }
    let law = SpringLaw::Coefficients { stiffness: 1.0, damping: 0.0 };
    let spring = Spring { particles: [id; 2], rest_length: 1.0, law };
    let refused = Springs::default().add(&system.particles, spring);
    assert!(matches!(refused, Err(ParticleError::BadTopology { .. })));
}

/// All particles in one place: an unsoftened pair force says so, collisions do not hang.
#[test]
fn coincident_particles() {
    let mut system = ParticleSystem::default();
    for _ in 0..40 {
        system.particles.add(&Particle { radius: 0.1, ..Particle::default() }).unwrap();
    }
    system.forces.add(Gravity::default());
    system.step(0.01, &mut []).unwrap();
    assert!(system.particles.position().iter().all(|p| p.is_finite()));
    let law = PairLaw::Coulomb { constant: 1.0 };
    system.forces.add_joint(PairForce::new(law, 1.0, 0.0, Truncation::Sharp).unwrap());
    assert!(matches!(system.step(0.01, &mut []), Err(ParticleError::CoincidentParticles { .. })));
}

/// An outlier costs no memory; particles beyond any grid are refused.
#[test]
fn far_particles() {
    let mut grid = CellGrid::default();
    let points = [DVec3::ZERO, DVec3::splat(1e5)];
    grid.build(&points, 0.1).unwrap();
    let too_far = grid.build(&[DVec3::ZERO, DVec3::splat(1e12)], 0.1);
    assert!(matches!(too_far, Err(ParticleError::TooFarApart { .. })));
    assert!(grid.build(&[DVec3::NAN], 0.1).is_err());
    assert!(grid.build(&points, 0.0).is_err());
}
