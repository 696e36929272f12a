//! Splitting: a particle releases children around itself.
//!
//! A particle of depth s splits s times at most; every time it and its c children go on with depth s − 1. After all
//! splits one particle has become (1 + c)^s. Children start on a ring across the velocity of the parent, outside of
//! it and of each other.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::ChildMass;
use super::sample::{Varied, deviated};
use crate::step::ParticleSystem;
use crate::{Particle, ParticleError};

impl ParticleSystem {
    /// Splits every particle whose time has come.
    pub(super) fn split_particles(&mut self) -> Result<(), ParticleError> {
        let existing = self.particles.len();
        for i in 0..existing {
            let traits = &mut self.particles.traits[i];
            if traits.splits_left == 0 {
                continue;
            }
            let Some(emitter) = self.emitters.get(traits.emitter as usize) else { continue };
            let Some(split) = emitter.config.split else { continue };
            if traits.age < split.age - 1e-12 {
                continue;
            }
            if traits.split_wait > 0 {
                traits.split_wait -= 1;
                continue;
            }
            traits.splits_left -= 1;
            traits.split_wait = split.delay.saturating_sub(1);
            self.split(i, split)?;
        }
        Ok(())
    }

    fn split(&mut self, i: usize, split: super::SplitConfig) -> Result<(), ParticleError> {
        let parent = self.particles.traits[i];
        let (p, v) = (self.particles.position[i], self.particles.velocity[i]);
        let (mass, radius) = (self.particles.mass[i], self.particles.radius[i]);
        let c = f64::from(split.number);
        let child_radius = radius * split.size;
        let child_mass = match split.mass {
            ChildMass::ByVolume => mass * split.size.powi(3),
            ChildMass::Inherit => mass,
            ChildMass::Conserve => mass / (c + 1.0),
        };
        let direction = v.normalize_or(DVec3::Z);
        let (across, other) = direction.any_orthonormal_pair();
        let apart = if split.number > 1 { child_radius / (PI / c).sin() } else { 0.0 };
        let ring = (radius + child_radius).max(apart) * (1.0 + 1e-9);
        let emitter = parent.emitter as usize;
        let mut random = self.emitters[emitter].random.clone();
        let mut momentum = mass * v;
        for k in 0..split.number {
            if self.particles.room() == 0 {
                self.statistics_mut().blocked += u64::from(split.number - k);
                break;
            }
            let angle = TAU * f64::from(k) / c;
            let turned = deviated(direction, split.direction, &mut random);
            let rest = Varied::new(parent.lifespan, split.lifespan).sample(&mut random);
            let child = Particle {
                position: p + ring * (angle.cos() * across + angle.sin() * other),
                velocity: split.velocity * v.length() * turned,
                mass: child_mass,
                radius: child_radius,
                charge: parent.charge,
                restitution: parent.restitution,
                friction: parent.friction,
                lifespan: if rest.is_finite() { rest.max(parent.age + 1e-9) } else { parent.lifespan },
                pinned: false,
            };
            momentum -= child_mass * child.velocity;
            let id = self.particles.add(&child)?;
            let index = self.particles.index(id)?;
            let traits = &mut self.particles.traits[index];
            traits.emitter = parent.emitter;
            traits.age = parent.age;
            traits.splits_left = parent.splits_left;
            traits.split_wait = parent.split_wait;
            self.statistics_mut().split += 1;
            self.emitters[emitter].alive += 1;
        }
        if split.mass == ChildMass::Conserve {
            self.particles.mass[i] = child_mass;
            self.particles.velocity[i] = momentum / child_mass;
        }
        self.emitters[emitter].random = random;
        Ok(())
    }
}
