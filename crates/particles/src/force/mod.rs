//! Forces on particles.
//!
//! All forces of a system are summed from one state before any particle moves, else action and reaction would
//! belong to different states. A [`UnaryForce`] depends on one particle only and is evaluated in parallel; a
//! [`JointForce`] couples particles and reports which, because coupled particles are moved back together
//! when one of them collides.

mod field;
mod grab;
mod pair;
mod region;
mod spring;
mod unary;

pub use field::{Falloff, FieldForce};
pub use grab::Grab;
pub use pair::{COULOMB_CONSTANT, GRAVITATIONAL_CONSTANT, PairForce, PairLaw, Truncation};
pub use region::{Region, RegionCells};
pub use spring::{Spring, SpringLaw, Springs};
pub use unary::{Drag, ElectricField, Gravity, UniformForce};

use std::fmt::Debug;

use glam::DVec3;

use crate::{ParticleError, ParticleId, Particles, parallel};

/// State at which forces are evaluated: all particles of a system, or some of them.
#[derive(Clone, Copy, Debug)]
pub struct ForceView<'a> {
    /// Time, s.
    pub time: f64,
    /// Positions at this state, m.
    pub position: &'a [DVec3],
    /// Velocities at this state, m/s.
    pub velocity: &'a [DVec3],
    particles: &'a Particles,
    subset: Subset<'a>,
}

/// Which particles of a system are in view.
#[derive(Clone, Copy, Debug)]
enum Subset<'a> {
    /// Those from an index on.
    From(usize),
    /// Some: index in the system of each particle of the view, and place in the view of each of the system
    /// (`u32::MAX`: absent).
    List(&'a [u32], &'a [u32]),
}

impl<'a> ForceView<'a> {
    /// All particles, at positions and velocities of their own.
    pub fn all(particles: &'a Particles, time: f64) -> Self {
        let (position, velocity) = (particles.position(), particles.velocity());
        Self { time, position, velocity, particles, subset: Subset::From(0) }
    }

    /// All particles at another state.
    pub(crate) fn at(
        particles: &'a Particles,
        time: f64,
        position: &'a [DVec3],
        velocity: &'a [DVec3],
    ) -> Self {
        Self { time, position, velocity, particles, subset: Subset::From(0) }
    }

    /// The particles from an index on, at another state.
    pub(crate) fn from(
        particles: &'a Particles,
        time: f64,
        position: &'a [DVec3],
        velocity: &'a [DVec3],
        first: usize,
    ) -> Self {
        Self { time, position, velocity, particles, subset: Subset::From(first) }
    }

    /// Some particles at another state: their indices, and the inverse of that list.
    pub(crate) fn of(
        particles: &'a Particles,
        time: f64,
        position: &'a [DVec3],
        velocity: &'a [DVec3],
        subset: (&'a [u32], &'a [u32]),
    ) -> Self {
        Self { time, position, velocity, particles, subset: Subset::List(subset.0, subset.1) }
    }

    /// Number of particles in view.
    pub const fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether no particle is in view.
    pub const fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Place in the view ⇒ index in the system.
    #[inline]
    pub fn index(&self, place: usize) -> usize {
        match self.subset {
            Subset::From(first) => first + place,
            Subset::List(indices, _) => indices[place] as usize,
        }
    }

    /// Place in the view of a particle; none if it is not in view.
    pub fn place(&self, id: ParticleId) -> Option<usize> {
        let index = self.particles.index(id).ok()?;
        let place = match self.subset {
            Subset::From(first) => index.checked_sub(first)?,
            Subset::List(_, places) => places[index] as usize,
        };
        (place < self.len()).then_some(place)
    }

    /// The particles, for everything that is not position and velocity.
    pub const fn particles(&self) -> &'a Particles {
        self.particles
    }

    /// Mass, kg.
    #[inline]
    pub fn mass(&self, place: usize) -> f64 {
        self.particles.mass[self.index(place)]
    }
}

/// A force that depends on one particle only.
pub trait UnaryForce: Debug + Send + Sync {
    /// Adds the forces on the particles `first..first + force.len()` of the view, N.
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]);

    /// Potential energy of a particle, J; 0 if the force has none.
    fn potential_energy(&self, _view: &ForceView<'_>, _place: usize) -> f64 {
        0.0
    }
}

/// A force between particles.
pub trait JointForce: Debug + Send + Sync {
    /// Adds the forces on all particles of the view, N.
    ///
    /// # Errors
    /// Particles in one place for which the law has no value.
    fn accumulate(&mut self, view: &ForceView<'_>, force: &mut [DVec3]) -> Result<(), ParticleError>;

    /// Potential energy, J.
    fn potential_energy(&mut self, _view: &ForceView<'_>) -> f64 {
        0.0
    }

    /// Calls `connect` for every two indices of the system that the force couples; the view has all particles.
    fn connections(&mut self, view: &ForceView<'_>, connect: &mut dyn FnMut(usize, usize));
}

/// Which particles a unary force acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// All of the system.
    #[default]
    All,
    /// Those of one emitter.
    Emitter(u32),
}

/// The forces of a particle system.
#[derive(Debug, Default)]
pub struct Forces {
    unary: Vec<(Targets, Box<dyn UnaryForce>)>,
    joint: Vec<Box<dyn JointForce>>,
}

impl Forces {
    /// Adds a force on single particles.
    pub fn add(&mut self, force: impl UnaryForce + 'static) {
        self.unary.push((Targets::All, Box::new(force)));
    }

    /// Adds a force on the particles of an emitter.
    pub fn add_for_emitter(&mut self, emitter: u32, force: Box<dyn UnaryForce>) {
        self.unary.push((Targets::Emitter(emitter), force));
    }

    /// Adds a force between particles ⇒ its index.
    pub fn add_joint(&mut self, force: impl JointForce + 'static) -> usize {
        self.joint.push(Box::new(force));
        self.joint.len() - 1
    }

    /// Whether some force couples particles.
    pub fn couple_particles(&self) -> bool {
        !self.joint.is_empty()
    }

    /// Forces on single particles for a part of the view, overwriting.
    pub(crate) fn unary(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        force.fill(DVec3::ZERO);
        for (targets, unary) in &self.unary {
            match *targets {
                Targets::All => unary.accumulate(view, first, force),
                Targets::Emitter(emitter) => {
                    for (k, force) in force.iter_mut().enumerate() {
                        if view.particles.traits[view.index(first + k)].emitter == emitter {
                            unary.accumulate(view, first + k, std::slice::from_mut(force));
                        }
                    }
                }
            }
        }
    }

    /// All forces on all particles of the view, overwriting.
    ///
    /// # Errors
    /// A force is not defined or not finite at this state.
    pub fn evaluate(
        &mut self,
        view: &ForceView<'_>,
        threads: usize,
        force: &mut [DVec3],
    ) -> Result<(), ParticleError> {
        parallel::fill(threads, force, |first, part| self.unary(view, first, part));
        for joint in &mut self.joint {
            joint.accumulate(view, force)?;
        }
        match force.iter().position(|f| !f.is_finite()) {
            None => Ok(()),
            Some(place) => Err(ParticleError::NonFiniteState {
                what: "force",
                particle: view.particles.id(view.index(place)),
                time: view.time,
            }),
        }
    }

    /// Potential energy of all forces that have one, J.
    pub fn potential_energy(&mut self, view: &ForceView<'_>) -> f64 {
        let mut energy = 0.0;
        for (targets, unary) in &self.unary {
            for place in 0..view.len() {
                let emitter = view.particles.traits[view.index(place)].emitter;
                if *targets == Targets::All || *targets == Targets::Emitter(emitter) {
                    energy += unary.potential_energy(view, place);
                }
            }
        }
        energy + self.joint.iter_mut().map(|joint| joint.potential_energy(view)).sum::<f64>()
    }

    /// Calls `connect` for every two particles that a force couples.
    pub(crate) fn connections(&mut self, view: &ForceView<'_>, connect: &mut dyn FnMut(usize, usize)) {
        for joint in &mut self.joint {
            joint.connections(view, connect);
        }
    }
}
