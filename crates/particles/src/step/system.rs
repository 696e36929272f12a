//! The particle system.

use std::collections::BTreeSet;

use glam::DVec3;
use rattleback_geometry::hierarchy::Scratch;
use rattleback_numerics::{StepError, UnionFind};

use super::collide::{Partner, Trajectories};
use super::inside::{particles_inside, spring_out};
use super::integrate::Integration;
use super::{InsidePolicy, StepSettings};
use crate::collision::ParticleTree;
use crate::emitter::{Emitter, Trail};
use crate::force::{ForceView, Forces};
use crate::{Obstacle, ParticleError, ParticleId, Particles, Reaction};

/// What happened in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepEvent {
    /// A collision of two particles.
    Collision {
        /// A.
        a: ParticleId,
        /// B.
        b: ParticleId,
        /// Time, s.
        time: f64,
        /// Midpoint of the centres, m.
        point: DVec3,
        /// From A to B.
        normal: DVec3,
        /// Impulse on B, N s.
        impulse: DVec3,
    },
    /// A collision with a body.
    BodyCollision {
        /// Index of the body.
        body: usize,
        /// The particle.
        particle: ParticleId,
        /// Time, s.
        time: f64,
        /// Touched point of the body, m.
        point: DVec3,
        /// From the body to the particle.
        normal: DVec3,
        /// Impulse on the particle, N s.
        impulse: DVec3,
    },
    /// A particle was found inside a body.
    InsideBody {
        /// The particle.
        particle: ParticleId,
        /// Index of the body.
        body: usize,
    },
    /// From this pass on collisions were inelastic.
    InelasticOverride,
}

/// Counters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepStatistics {
    /// Evaluations of all forces.
    pub evaluations: u64,
    /// Builds and refits of the tree.
    pub tree_updates: u64,
    /// Pairs of particles whose boxes overlap.
    pub candidate_pairs: u64,
    /// Collisions that were solved.
    pub collisions: u64,
    /// Contacts that were solved.
    pub contacts: u64,
    /// Passes of the collision loop.
    pub iterations: u32,
    /// Collisions were made inelastic to end the loop.
    pub inelastic_override: bool,
    /// Collisions left at the end; their particles were stopped.
    pub unresolved_collisions: u64,
    /// Clusters with a singular system or contact forces that do not satisfy all conditions.
    pub singular_clusters: u64,
    /// Particles removed from inside bodies.
    pub removed_inside: u64,
    /// Particles moved out of bodies.
    pub repaired_inside: u64,
    /// Particles released by emitters.
    pub emitted: u64,
    /// Particles not released for lack of room.
    pub blocked: u64,
    /// Particles that reached their age.
    pub expired: u64,
    /// Particles that came from splits.
    pub split: u64,
}

/// Particles with forces, emitters and collisions.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Pose, Shape};
/// use rattleback_particles::force::Gravity;
/// use rattleback_particles::{Particle, ParticleSystem, RigidObstacle};
///
/// let mut system = ParticleSystem::default();
/// system.forces.add(Gravity::default());
/// let drop = Particle { position: DVec3::Z, restitution: 0.5, ..Particle::default() };
/// let drop = system.particles.add(&drop)?;
/// let mut floor = RigidObstacle::fixed(Shape::half_space(DVec3::Z)?, Pose::IDENTITY)?;
/// for _ in 0..120 {
///     system.step(1.0 / 60.0, &mut [&mut floor])?;
/// }
/// let height = system.particles.position()[system.particles.index(drop)?].z;
/// assert!(height.abs() < 1e-9); // at rest on the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ParticleSystem {
    /// The particles.
    pub particles: Particles,
    /// Forces on them.
    pub forces: Forces,
    /// Settings of the step.
    pub settings: StepSettings,
    /// Emitters, in the order of their numbers.
    pub(crate) emitters: Vec<Emitter>,
    /// Particles without dynamics left behind by others.
    pub(crate) trails: Vec<Trail>,
    pub(super) time: f64,
    pub(super) pending: Vec<Reaction>,
    pub(super) events: Vec<StepEvent>,
    pub(super) statistics: StepStatistics,
    pub(super) integration: Integration,
    pub(super) start: Trajectories,
    pub(super) tree: ParticleTree,
    pub(super) connections: UnionFind,
    pub(super) scratch: Scratch,
    /// Particles that must not collide with a body because they are being pulled out of it.
    pub(super) leaving: Vec<(u32, u32)>,
    /// Contact forces of bodies on particles that act until the end of the interval: particle, body, point, force.
    pub(super) supports: Vec<(u32, u32, DVec3, DVec3)>,
    /// Pairs that are in contact in this interval.
    pub(super) settled: BTreeSet<(Partner, u32)>,
    pub(crate) removals: Vec<ParticleId>,
}

impl ParticleSystem {
    /// Time, s.
    pub const fn time(&self) -> f64 {
        self.time
    }

    /// Events of the last step, in the order of time within each pass.
    pub fn events(&self) -> &[StepEvent] {
        &self.events
    }

    /// Counters of the last step.
    pub const fn statistics(&self) -> StepStatistics {
        self.statistics
    }

    pub(crate) const fn statistics_mut(&mut self) -> &mut StepStatistics {
        &mut self.statistics
    }

    /// Impulses that bodies are still to receive, in the order of the bodies.
    pub fn pending_reactions(&self) -> &[Reaction] {
        &self.pending
    }

    /// Potential energy of all forces, J.
    pub fn potential_energy(&mut self) -> f64 {
        self.forces.potential_energy(&ForceView::all(&self.particles, self.time))
    }

    /// Advances the system by dt among bodies that are at their poses of the end of the interval.
    ///
    /// # Errors
    /// The step is not positive, a setting out of range, or a force or state not finite. The particles are then as
    /// they were.
    pub fn step(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) -> Result<(), ParticleError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::InvalidStep { step: dt }.into());
        }
        self.settings.check()?;
        self.particles.check_finite(self.time)?;
        self.statistics = StepStatistics::default();
        self.events.clear();
        self.start.save(&self.particles);
        self.integration.evaluations = 0;
        let (builds, refits) = (self.tree.builds, self.tree.refits);
        self.repair_inside(dt, obstacles);
        if let Err(error) = self.move_and_collide(dt, obstacles) {
            self.start.restore(&mut self.particles);
            self.removals.clear();
            return Err(error);
        }
        self.time += dt;
        let gone = std::mem::take(&mut self.removals);
        for id in &gone {
            // Removed once even if it was inside several bodies.
            let _ = self.particles.remove(*id);
        }
        self.removals = gone;
        self.removals.clear();
        self.statistics.evaluations = self.integration.evaluations;
        self.statistics.tree_updates = self.tree.builds + self.tree.refits - builds - refits;
        self.age_and_emit(dt, obstacles)
    }

    /// Integrates and resolves collisions; bodies receive what is pending once nothing can fail any more.
    fn move_and_collide(
        &mut self,
        dt: f64,
        obstacles: &mut [&mut dyn Obstacle],
    ) -> Result<(), ParticleError> {
        let pairs = self.settings.collisions.internal || self.settings.collisions.external;
        if !pairs && !self.forces.couple_particles() {
            return self.step_independent(dt, obstacles);
        }
        let Self { particles, forces, integration, settings, start, .. } = self;
        let mut end = start.take_end(particles);
        let outcome = integration.step(
            settings.method,
            particles,
            forces,
            (self.time, dt),
            (&mut end.0, &mut end.1),
            None,
            None,
            settings.threads,
        );
        self.particles.position.copy_from_slice(&end.0);
        self.particles.velocity.copy_from_slice(&end.1);
        self.start.give_back(end);
        outcome?;
        self.particles.check_finite(self.time + dt)?;
        self.apply_pending(obstacles);
        self.resolve_collisions(dt, obstacles)
    }

    /// Bodies receive the reactions of the interval before.
    pub(super) fn apply_pending(&mut self, obstacles: &mut [&mut dyn Obstacle]) {
        for (reaction, obstacle) in self.pending.iter().zip(obstacles.iter_mut()) {
            reaction.apply(&mut **obstacle);
        }
        self.pending.clear();
        self.pending.resize(obstacles.len(), Reaction::default());
    }

    /// Applies the policy to particles inside bodies.
    fn repair_inside(&mut self, dt: f64, obstacles: &[&mut dyn Obstacle]) {
        self.leaving.clear();
        let policy = self.settings.inside_policy;
        if policy == InsidePolicy::Ignore || !self.settings.collisions.bodies {
            return;
        }
        let mut found = Vec::new();
        particles_inside(&self.particles, obstacles, |i, body, depth, normal| {
            found.push((i, body, depth, normal));
        });
        for (i, body, depth, normal) in found {
            if self.particles.traits[i].pinned {
                continue;
            }
            let particle = self.particles.id(i);
            self.events.push(StepEvent::InsideBody { particle, body });
            match policy {
                InsidePolicy::Remove => {
                    self.removals.push(particle);
                    self.statistics.removed_inside += 1;
                    self.leaving.push((i as u32, body as u32));
                }
                InsidePolicy::ProjectToSurface => {
                    self.particles.position[i] += (depth + self.particles.radius[i]) * normal;
                    self.statistics.repaired_inside += 1;
                }
                InsidePolicy::SpringOut => {
                    let center = self.particles.position[i];
                    let body_speed = obstacles[body].velocity_at(center).dot(normal);
                    let speed = self.particles.velocity[i].dot(normal) - body_speed;
                    let (shift, after) = spring_out(depth + self.particles.radius[i], speed, dt);
                    self.particles.position[i] += shift * normal;
                    self.particles.velocity[i] += (after - speed) * normal;
                    self.statistics.repaired_inside += 1;
                    self.leaving.push((i as u32, body as u32));
                }
                InsidePolicy::Ignore => {}
            }
        }
        self.leaving.sort_unstable();
    }
}
