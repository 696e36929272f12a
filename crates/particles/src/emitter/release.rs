//! Release of particles, ageing and trails.

use glam::DVec3;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::place::{places, room};
use super::sample::deviated;
use super::{EmitterConfig, Source};
use crate::step::ParticleSystem;
use crate::{CellGrid, Obstacle, Particle, ParticleError};

/// A mark left by a particle; takes no part in dynamics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trail {
    /// Where it was left, m.
    pub position: DVec3,
    /// Red, green, blue.
    pub color: [f64; 3],
    /// Age, s.
    pub age: f64,
    /// Age at which it vanishes, s.
    pub lifespan: f64,
}

/// Trail particles of a system at most.
const MAX_TRAILS: usize = 1_000_000;

/// An emitter and what it has done so far.
#[derive(Clone, Debug)]
pub struct Emitter {
    pub(super) config: EmitterConfig,
    pub(super) random: Pcg64,
    /// Intervals so far.
    interval: u64,
    /// Particles released so far.
    emitted: u64,
    /// Particles of this emitter that live.
    pub(super) alive: u64,
}

impl Emitter {
    /// Its parameters.
    pub const fn config(&self) -> &EmitterConfig {
        &self.config
    }

    /// Particles released so far.
    pub const fn emitted(&self) -> u64 {
        self.emitted
    }
}

impl ParticleSystem {
    /// Adds an emitter ⇒ its number.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn add_emitter(&mut self, config: EmitterConfig) -> Result<u32, ParticleError> {
        config.check()?;
        let number = self.emitters.len() as u32;
        for force in &config.forces {
            self.forces.add_for_emitter(number, force.boxed());
        }
        // Streams of their own, so that emitters of equal seeds differ.
        let random = Pcg64::new(u128::from(config.seed), u128::from(number) << 1 | 1);
        self.emitters.push(Emitter { config, random, interval: 0, emitted: 0, alive: 0 });
        Ok(number)
    }

    /// The emitters.
    pub fn emitters(&self) -> &[Emitter] {
        &self.emitters
    }

    /// Marks left by particles.
    pub fn trails(&self) -> &[Trail] {
        &self.trails
    }

    /// Present colour of a particle; white if it has no emitter.
    ///
    /// # Panics
    /// If there is no such index.
    pub fn color(&self, index: usize) -> [f64; 3] {
        let traits = &self.particles.traits[index];
        self.emitters.get(traits.emitter as usize).map_or([1.0; 3], |e| e.config.colors.at(traits.age))
    }

    /// Particles age, expire and split, then emitters release new ones.
    pub(crate) fn age_and_emit(
        &mut self,
        dt: f64,
        obstacles: &[&mut dyn Obstacle],
    ) -> Result<(), ParticleError> {
        for trail in &mut self.trails {
            trail.age += dt;
        }
        self.trails.retain(|trail| trail.age < trail.lifespan);
        for i in 0..self.particles.len() {
            let traits = &mut self.particles.traits[i];
            traits.age += dt;
            // A little early, so that the sum of many steps does not miss its age by rounding.
            if traits.age >= traits.lifespan - 1e-9 * dt {
                self.removals.push(self.particles.id(i));
            }
        }
        let mut removals = std::mem::take(&mut self.removals);
        for &id in &removals {
            let emitter = self.particles.traits[self.particles.index(id)?].emitter;
            if let Some(emitter) = self.emitters.get_mut(emitter as usize) {
                emitter.alive = emitter.alive.saturating_sub(1);
            }
            self.particles.remove(id)?;
            self.statistics_mut().expired += 1;
        }
        removals.clear();
        self.removals = removals;
        if self.emitters.is_empty() {
            return Ok(());
        }
        self.count_alive();
        self.split_particles()?;
        self.leave_trails();
        for k in 0..self.emitters.len() {
            self.release(k, dt, obstacles)?;
        }
        Ok(())
    }

    /// Particles may have been removed by calls or bodies.
    fn count_alive(&mut self) {
        for emitter in &mut self.emitters {
            emitter.alive = 0;
        }
        for traits in &self.particles.traits {
            if let Some(emitter) = self.emitters.get_mut(traits.emitter as usize) {
                emitter.alive += 1;
            }
        }
    }

    fn leave_trails(&mut self) {
        for i in 0..self.particles.len() {
            let traits = &self.particles.traits[i];
            let Some(emitter) = self.emitters.get(traits.emitter as usize) else { continue };
            if let Some(trail) = emitter.config.trail
                && self.trails.len() < MAX_TRAILS
            {
                let color = emitter.config.colors.at(traits.age);
                let position = self.particles.position[i];
                self.trails.push(Trail { position, color, age: 0.0, lifespan: trail.age });
            }
        }
    }

    /// One interval of an emitter.
    fn release(
        &mut self,
        number: usize,
        dt: f64,
        obstacles: &[&mut dyn Obstacle],
    ) -> Result<(), ParticleError> {
        let time = self.time() - dt;
        let emitter = &mut self.emitters[number];
        let interval = emitter.interval;
        emitter.interval += 1;
        let [from, to] = emitter.config.window;
        if !interval.is_multiple_of(u64::from(emitter.config.delay)) || time < from - 1e-9 * dt || time >= to
        {
            return Ok(());
        }
        let used = if emitter.config.spawn { emitter.alive } else { emitter.emitted };
        let wanted = emitter.config.rate.min(emitter.config.maximum.saturating_sub(used));
        let free = self.particles.room() as u64;
        let mut random = emitter.random.clone();
        let config = emitter.config.clone();
        let largest = config.size.mean + config.size.deviation;
        let count = room(&config, wanted.min(free), largest);
        self.statistics_mut().blocked += wanted - count;
        if count == 0 {
            return Ok(());
        }
        let mut sites = Vec::with_capacity(count as usize);
        places(&config, count, largest, &mut random, |place| sites.push(place));
        let (grid, most) = self.occupied(0.5 * largest + config.clearance)?;
        let mut fresh: Vec<(DVec3, f64)> = Vec::new();
        let check_fresh = matches!(config.source, Source::Surface { .. });
        for (position, normal) in sites {
            let radius = 0.5 * config.size.sample(&mut random);
            let direction = match (&config.source, config.direction) {
                (Source::Planar { pose } | Source::Surface { pose, .. }, Some(d)) => {
                    pose.vector(d).normalize_or(normal)
                }
                (Source::Spherical { .. }, Some(d)) => d.normalize_or(normal),
                (_, None) => normal,
            };
            let direction = deviated(direction, config.direction_deviation, &mut random);
            let particle = Particle {
                position,
                velocity: config.velocity.sample(&mut random) * direction,
                mass: config.mass.sample(&mut random),
                radius,
                charge: config.charge.sample(&mut random),
                restitution: config.restitution,
                friction: config.friction.map(|mu| mu.sample(&mut random).max(0.0)),
                lifespan: if config.resilience { config.age.sample(&mut random) } else { f64::INFINITY },
                pinned: false,
            };
            let reach = radius + config.clearance;
            let blocked = self.is_occupied(&grid, most, position, reach)
                || (check_fresh && fresh.iter().any(|(p, r)| p.distance(position) < r + reach))
                || covered(obstacles, position, reach);
            if blocked {
                self.statistics_mut().blocked += 1;
                continue;
            }
            if check_fresh {
                fresh.push((position, radius));
            }
            let id = self.particles.add(&particle)?;
            let index = self.particles.index(id)?;
            let traits = &mut self.particles.traits[index];
            traits.emitter = number as u32;
            if let Some(split) = config.split {
                traits.splits_left = split.depth;
            }
            self.statistics_mut().emitted += 1;
            self.emitters[number].emitted += 1;
            self.emitters[number].alive += 1;
        }
        self.emitters[number].random = random;
        Ok(())
    }

    /// A grid over the particles that new ones of a radius could overlap ⇒ with their largest radius.
    fn occupied(&self, radius: f64) -> Result<(CellGrid, f64), ParticleError> {
        let most = self.particles.radius.iter().fold(0.0_f64, |most, r| most.max(*r));
        let mut grid = CellGrid::default();
        grid.build(&self.particles.position, (most + radius).max(1e-9))?;
        Ok((grid, most))
    }

    /// Whether a sphere overlaps a particle.
    fn is_occupied(&self, grid: &CellGrid, most: f64, p: DVec3, reach: f64) -> bool {
        let mut occupied = false;
        let existing = &self.particles.position[..grid.order().len()];
        grid.points_within(existing, p, reach + most, |j| {
            occupied |= existing[j].distance(p) < reach + self.particles.radius[j];
        });
        occupied
    }
}

/// Whether a sphere overlaps a body.
fn covered(obstacles: &[&mut dyn Obstacle], p: DVec3, reach: f64) -> bool {
    obstacles.iter().any(|obstacle| {
        let pose = obstacle.pose();
        let near = obstacle.shape().closest_point(pose.inverse_point(p));
        near.is_some_and(|near| near.distance < reach)
    })
}
