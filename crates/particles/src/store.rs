//! Particles in contiguous arrays, with stable ids.
//!
//! A particle is a point mass with a radius for collisions: y = (p, v), ẏ = (v, F/m). Removal moves the last
//! particle into the gap, so that arrays stay dense; an id names a slot with a generation and survives that.

use std::fmt;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::ParticleError;

/// Stable name of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ParticleId {
    slot: u32,
    generation: u32,
}

impl fmt::Display for ParticleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "particle {}v{}", self.slot, self.generation)
    }
}

/// Description of a particle to be added.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Particle {
    /// Centre, m.
    pub position: DVec3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Mass, kg.
    pub mass: f64,
    /// Radius for collisions, m; 0 for a point.
    pub radius: f64,
    /// Electric charge, C.
    pub charge: f64,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Coefficients of static and of dynamic friction.
    pub friction: [f64; 2],
    /// Age at which it is removed, s; infinite if it stays.
    pub lifespan: f64,
    /// Does not move; other particles and bodies collide with it.
    pub pinned: bool,
}

impl Default for Particle {
    /// A point of 1 kg at rest in the origin, restitution ½, friction 0, which stays for ever.
    fn default() -> Self {
        Self {
            position: DVec3::ZERO,
            velocity: DVec3::ZERO,
            mass: 1.0,
            radius: 0.0,
            charge: 0.0,
            restitution: 0.5,
            friction: [0.0; 2],
            lifespan: f64::INFINITY,
            pinned: false,
        }
    }
}

impl Particle {
    /// Checks every number of the description.
    pub(crate) fn check(&self) -> Result<(), ParticleError> {
        if !(self.mass.is_finite() && self.mass > 0.0) {
            return Err(ParticleError::InvalidMass { mass: self.mass });
        }
        if !(self.radius.is_finite() && self.radius >= 0.0) {
            return Err(ParticleError::InvalidRadius { radius: self.radius });
        }
        let finite = |name, v: DVec3| {
            crate::error::check(name, v.length(), v.is_finite(), "finite, with a finite length")
        };
        finite("position", self.position)?;
        finite("velocity", self.velocity)?;
        crate::error::check("charge", self.charge, true, "finite")?;
        let e = self.restitution;
        crate::error::check("restitution", e, (0.0..=1.0).contains(&e), "0 to 1")?;
        for mu in self.friction {
            crate::error::check("friction", mu, mu >= 0.0, "≥ 0")?;
        }
        if !(self.lifespan > 0.0) {
            let (name, allowed) = ("lifespan", "greater than zero");
            return Err(ParticleError::InvalidCoefficient { name, value: self.lifespan, allowed });
        }
        Ok(())
    }
}

/// What a particle is besides its state of motion, read by collisions and emitters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Coefficients of static and of dynamic friction.
    pub friction: [f64; 2],
    /// Electric charge, C.
    pub charge: f64,
    /// Age, s.
    pub age: f64,
    /// Age of removal, s.
    pub lifespan: f64,
    /// Emitter it came from, `u32::MAX` for none.
    pub emitter: u32,
    /// Number of times the particle may still split.
    pub splits_left: u32,
    /// Intervals until it may split again.
    pub split_wait: u32,
    /// Does not move.
    pub pinned: bool,
}

/// Particles in dense arrays.
///
/// ```
/// use rattleback_particles::{Particle, Particles};
/// let mut particles = Particles::default();
/// let ids = [1.0, 2.0].map(|mass| particles.add(&Particle { mass, ..Particle::default() }).unwrap());
/// particles.remove(ids[0])?;
/// assert_eq!(particles.mass()[particles.index(ids[1])?], 2.0);
/// assert!(particles.index(ids[0]).is_err());
/// # Ok::<(), rattleback_particles::ParticleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    pub(crate) position: Vec<DVec3>,
    pub(crate) velocity: Vec<DVec3>,
    pub(crate) mass: Vec<f64>,
    pub(crate) radius: Vec<f64>,
    pub(crate) traits: Vec<Traits>,
    /// Slot of each particle.
    slot: Vec<u32>,
    /// Generation and index of each slot; the index of a free slot is the next free one.
    slots: Vec<(u32, u32)>,
    /// First free slot, `NONE` if there is none.
    free: u32,
    limit: usize,
}

const NONE: u32 = u32::MAX;
/// Bit of the generation that says that a slot is free.
const FREE: u32 = 1 << 31;

impl Default for Particles {
    fn default() -> Self {
        Self::with_limit(4_000_000)
    }
}

impl Particles {
    /// No particles yet, and never more than `limit` (at most 2³¹).
    pub fn with_limit(limit: usize) -> Self {
        Self {
            position: Vec::new(),
            velocity: Vec::new(),
            mass: Vec::new(),
            radius: Vec::new(),
            traits: Vec::new(),
            slot: Vec::new(),
            slots: Vec::new(),
            free: NONE,
            limit: limit.min(1 << 31),
        }
    }

    /// Adds a particle ⇒ its id.
    ///
    /// # Errors
    /// A number of the description is out of range, or the limit is reached.
    pub fn add(&mut self, particle: &Particle) -> Result<ParticleId, ParticleError> {
        particle.check()?;
        if self.len() >= self.limit {
            let (count, limit) = (self.len() as u64 + 1, self.limit as u64);
            return Err(ParticleError::TooManyParticles { count, limit });
        }
        let index = self.len() as u32;
        let slot = if self.free == NONE {
            self.slots.push((0, index));
            self.slots.len() as u32 - 1
        } else {
            let slot = self.free;
            let (generation, next) = self.slots[slot as usize];
            self.free = next;
            self.slots[slot as usize] = ((generation & !FREE).wrapping_add(1) & !FREE, index);
            slot
        };
        self.position.push(particle.position);
        self.velocity.push(particle.velocity);
        self.mass.push(particle.mass);
        self.radius.push(particle.radius);
        self.slot.push(slot);
        self.traits.push(Traits {
            restitution: particle.restitution,
            friction: particle.friction,
            charge: particle.charge,
            age: 0.0,
            lifespan: particle.lifespan,
            emitter: NONE,
            splits_left: 0,
            split_wait: 0,
            pinned: particle.pinned,
        });
        Ok(self.id(index as usize))
    }

    /// Removes a particle; the last one takes its index.
    ///
    /// # Errors
    /// There is no such particle.
    pub fn remove(&mut self, id: ParticleId) -> Result<(), ParticleError> {
        let index = self.index(id)?;
        self.position.swap_remove(index);
        self.velocity.swap_remove(index);
        self.mass.swap_remove(index);
        self.radius.swap_remove(index);
        self.traits.swap_remove(index);
        self.slot.swap_remove(index);
        if let Some(&moved) = self.slot.get(index) {
            self.slots[moved as usize].1 = index as u32;
        }
        self.slots[id.slot as usize] = (id.generation | FREE, self.free);
        self.free = id.slot;
        Ok(())
    }

    /// id ⇒ present index in the arrays.
    ///
    /// # Errors
    /// There is no such particle.
    pub fn index(&self, id: ParticleId) -> Result<usize, ParticleError> {
        match self.slots.get(id.slot as usize) {
            Some(&(generation, index)) if generation == id.generation => Ok(index as usize),
            _ => Err(ParticleError::NoSuchParticle { particle: id }),
        }
    }

    /// Index in the arrays, below `len` ⇒ id.
    ///
    /// # Panics
    /// If there is no such index.
    pub fn id(&self, index: usize) -> ParticleId {
        let slot = self.slot[index];
        ParticleId { slot, generation: self.slots[slot as usize].0 }
    }

    /// Number of particles.
    pub const fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Number of particles that may still be added.
    pub const fn room(&self) -> usize {
        self.limit - self.len()
    }

    /// Positions, m.
    pub fn position(&self) -> &[DVec3] {
        &self.position
    }

    /// Velocities, m/s.
    pub fn velocity(&self) -> &[DVec3] {
        &self.velocity
    }

    /// Masses, kg.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Radii, m.
    pub fn radius(&self) -> &[f64] {
        &self.radius
    }

    /// Coefficients, charges, ages.
    pub fn traits(&self) -> &[Traits] {
        &self.traits
    }

    /// Sets position and velocity of a particle.
    ///
    /// # Errors
    /// There is no such particle, or a number is not finite.
    pub fn set_state(
        &mut self,
        id: ParticleId,
        position: DVec3,
        velocity: DVec3,
    ) -> Result<(), ParticleError> {
        let index = self.index(id)?;
        for (what, v) in [("position", position), ("velocity", velocity)] {
            if !v.is_finite() {
                return Err(ParticleError::NonFiniteState { what, particle: id, time: f64::NAN });
            }
        }
        self.position[index] = position;
        self.velocity[index] = velocity;
        Ok(())
    }

    /// 1/m in kg⁻¹, 0 for pinned particles.
    #[inline]
    pub fn inverse_mass(&self, index: usize) -> f64 {
        if self.traits[index].pinned { 0.0 } else { 1.0 / self.mass[index] }
    }

    /// Σ m v of the particles that are not pinned, kg m/s.
    pub fn momentum(&self) -> DVec3 {
        let moving = (0..self.len()).filter(|&i| !self.traits[i].pinned);
        moving.map(|i| self.mass[i] * self.velocity[i]).sum()
    }

    /// Σ p × m v about the origin, of the particles that are not pinned, kg m²/s.
    pub fn angular_momentum(&self) -> DVec3 {
        let moving = (0..self.len()).filter(|&i| !self.traits[i].pinned);
        moving.map(|i| self.position[i].cross(self.mass[i] * self.velocity[i])).sum()
    }

    /// Σ ½ m v², J.
    pub fn kinetic_energy(&self) -> f64 {
        (0..self.len()).map(|i| 0.5 * self.mass[i] * self.velocity[i].length_squared()).sum()
    }

    /// The first particle with a position or velocity that is not finite.
    pub(crate) fn check_finite(&self, time: f64) -> Result<(), ParticleError> {
        for (what, values) in [("position", &self.position), ("velocity", &self.velocity)] {
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                return Err(ParticleError::NonFiniteState { what, particle: self.id(index), time });
            }
        }
        Ok(())
    }
}
