//! Impulse-based, event-driven simulation: every contact is a sequence of collisions, each of one pair of
//! bodies. After B. Mirtich, *Impulse-based dynamic simulation of rigid body systems* (1996).
//!
//! - Between collisions every body follows a closed form of time, a trajectory (`ballistic_body`). Nothing is
//!   integrated, and a body is evaluated only at the events of its pairs.
//! - Each pair of convex parts has an event in the queue (`event_queue`), at a time before which it provably
//!   cannot collide: the gap d along the normal against bounds A s² + B s on the displacement of each part
//!   (`motion_bound`, `corner_bound`, `support_bound`, `kinematic_bound`). The time of impact is therefore approached from
//!   one side and never passed; the gap left at each measurement is at least σ min(d, ε).
//! - Pairs are created for parts whose fat AABBs overlap (`broad_phase`, `pair_updates`); an AABB is updated
//!   only when its body may have left it. Pairs of busy bodies that are not very near are deferred until one
//!   of the two has travelled far enough (`travel_deadline`).
//! - At an event the gap is measured. If it is below ε and closing, the pair collides: the impact law gives
//!   one impulse (`impact_response`), and the events of both bodies are rescheduled. Otherwise the pair gets
//!   its next event.
//! - Bodies at rest would collide for ever in ever smaller hops. Slow collisions (microcollisions) therefore
//!   keep the energy of a hop, act at all points of a contact patch at once (`contact_patch`) and create no
//!   energy (`hop_energy`); and bodies that have stopped and whose contacts provably hold them in equilibrium
//!   are put to rest until something disturbs them (`rest`).
//! - Independent groups of bodies can run on several threads, each in a partition of its own (`timewarp`,
//!   `partitioning`, `repartition`). Partitions whose AABBs turn out to have overlapped in a step are rolled
//!   back (`checkpoint`) and run again as one, so that the result does not depend on the number of threads by
//!   a single bit.
//!
//! Forces other than uniform gravity act as kicks at both ends of a step, as do linear and angular damping
//! (`kick`).

mod ballistic_body;
mod bracketing;
mod broad_phase;
mod build;
mod checkpoint;
mod collision_work;
mod contact_patch;
mod convex_part;
mod corner_bound;
mod counters;
mod cylinder_distance;
mod hop_energy;
mod impact_response;
mod kick;
mod kinematic_bound;
mod motion_bound;
mod observer;
mod pair;
mod pair_updates;
mod partition;
mod partitioning;
mod patch_solution;
mod repartition;
mod rest;
mod settings;
mod slide_hop;
mod state;
mod support_bound;
mod timewarp;
mod travel_deadline;
mod tuning;

pub use counters::ImpulseCounters;
pub use observer::CollisionInfo;
pub use settings::ImpulseSettings;

use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::impact::CollisionError;
use crate::property::{Component, ComponentType};
use crate::registry::Description;
use crate::simulator::{Capabilities, ContactPoint, Feature, Simulator, StepContext};
use crate::world::{BodyId, Continuity, Epoch, SnapshotError, World};
use observer::CollisionObserver;
use partition::Partition;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::space::{SpaceCounters, SpaceError};
use state::ImpulseState;
use timewarp::{PartitionSet, StepInput};

/// Why a step of the event-driven simulator failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ImpulseError {
    /// Two bodies overlap at the time their pair is created.
    #[error(
        "{} and {} overlap by {depth:e} m at t = {time} s; bodies may touch, but must not overlap",
        labels[0],
        labels[1]
    )]
    Overlap {
        /// The two bodies.
        bodies: [BodyId; 2],
        /// Their names, or their ids if they have none.
        labels: [String; 2],
        /// Penetration depth, m.
        depth: f64,
        /// Time of the simulation, s.
        time: f64,
    },
    /// The distance of two convex parts could not be computed.
    #[error("the distance of two shapes could not be computed: {source}")]
    Geometry {
        /// Reason.
        source: ClosestError,
    },
    /// A convex part could not be inserted into the broad phase.
    #[error("broad phase: {source}")]
    Space {
        /// Reason.
        source: SpaceError,
    },
    /// A collision could not be resolved.
    #[error("a collision of {} and {} at t = {time} s could not be resolved: {source}", labels[0], labels[1])]
    Collision {
        /// The two bodies.
        bodies: [BodyId; 2],
        /// Their names, or their ids if they have none.
        labels: [String; 2],
        /// Time of the simulation, s.
        time: f64,
        /// Reason.
        source: CollisionError,
    },
}

impl ImpulseError {
    fn overlap(bodies: [BodyId; 2], depth: f64, time: f64) -> Self {
        Self::Overlap { bodies, labels: bodies.map(|body| body.to_string()), depth, time }
    }

    fn collision(bodies: [BodyId; 2], time: f64, source: CollisionError) -> Self {
        Self::Collision { bodies, labels: bodies.map(|body| body.to_string()), time, source }
    }

    /// The same error with the names of the bodies in a world as labels.
    fn named(mut self, world: &World) -> Self {
        if let Self::Overlap { bodies, labels, .. } | Self::Collision { bodies, labels, .. } = &mut self {
            for (body, label) in bodies.iter().zip(labels) {
                if let Some(name) = world.body(*body).ok().and_then(|body| body.name().map(String::from)) {
                    *label = format!("body `{name}`");
                }
            }
        }
        self
    }
}

/// Event-driven simulator.
///
/// ```
/// use rattleback_dynamics::simulator::Impulse;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 1.0).with_shape(Shape::sphere(0.1)?))?;
/// let mut simulator = Impulse::default();
/// for _ in 0..120 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// assert!((world.body(ball)?.position().z - 0.1).abs() < 2e-4);
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Impulse {
    settings: ImpulseSettings,
    partition_set: PartitionSet,
    loads: ForceAccumulator,
    /// State restored from a snapshot, applied at the next step, when there is a world.
    pending_state: Option<ImpulseState>,
    /// Revision of the world that the partitions were built from; none if they have to be rebuilt.
    revision: Option<u64>,
    epoch: Epoch,
}

impl Impulse {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// A value that is not a number, out of its range, or an unknown law, search or space: the rules of scene
    /// files.
    pub fn new(settings: ImpulseSettings) -> Result<Self, Error> {
        Ok(Self { settings: settings.checked()?, ..Self::default() })
    }

    /// Settings in use.
    pub const fn settings(&self) -> &ImpulseSettings {
        &self.settings
    }

    /// Totals since the simulator was created.
    pub const fn counters(&self) -> &ImpulseCounters {
        &self.partition_set.counters
    }

    /// Counters of the broad phase for moving parts, since the bodies were last partitioned.
    pub fn space_counters(&self) -> SpaceCounters {
        let mut all = SpaceCounters::default();
        for partition in &self.partition_set.partitions {
            all += partition.broad_phase.counters();
        }
        all
    }

    /// Width ε of the collision shell in use, m.
    pub fn collision_epsilon(&self) -> f64 {
        self.partition_set.partitions.first().map_or(0.0, |partition| partition.epsilon)
    }

    /// Smallest gap measured since the partitions were built from the world, m.
    pub const fn smallest_gap(&self) -> f64 {
        self.partition_set.smallest_gap
    }

    /// Number of pairs of parts with overlapping fat AABBs at present.
    pub fn close_pairs(&self) -> usize {
        self.partition_set
            .partitions
            .iter()
            .flat_map(|partition| &partition.alive)
            .filter(|alive| **alive)
            .count()
    }

    /// Bodies at rest at present.
    pub fn resting(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.partition_set.resting().into_iter()
    }

    /// Registers a callback for every collision, slow ones included, at its time within the step; it replaces
    /// the previous one. So that collisions arrive in the order of time, steps run on one thread while a
    /// callback is registered, whatever `threads` is.
    pub fn on_collision(&mut self, observer: impl FnMut(&CollisionInfo<'_>) + Send + Sync + 'static) {
        self.partition_set.observer = CollisionObserver::new(observer);
    }

    /// Contact forces of all pairs in contact, averaged over the last window.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactPoint> + '_ {
        self.partition_set.forces().into_iter()
    }

    fn run_step(&mut self, world: &mut World, dt: f64, continuity: Continuity) -> Result<(), Error> {
        let (start, end) = (world.time(), world.time() + dt);
        world.gather_loads(start, &mut self.loads);
        let gravity = self.loads.uniform_acceleration();
        if let Some(state) = self.pending_state.take() {
            self.revision = state.revision;
            state.load(&mut self.partition_set, world, &self.settings)?;
        }
        if continuity != Continuity::Unbroken {
            self.revision = None;
        }
        let stale = self.revision != Some(world.revision()) || self.partition_set.is_stale(world, gravity);
        // Links of multibodies have another path in every step.
        let follows =
            world.driven().is_empty() || (!stale && self.partition_set.follow_links(world, start)?);
        if stale || !follows {
            self.partition_set.build(world, &self.settings, gravity)?;
        }
        self.partition_set.repartition_if_due(&self.settings, dt)?;
        let undisturbed =
            world.forces_are_uniform() && !self.partition_set.partitions.iter().any(Partition::any_damping);
        let (settings, loads) = (&self.settings, &self.loads);
        self.partition_set.run(&StepInput { world, settings, loads, undisturbed, start, end })?;
        self.write(world, end);
        if !undisturbed {
            world.gather_loads(end, &mut self.loads);
            for partition in &mut self.partition_set.partitions {
                partition.kick_all(&self.loads, end, 0.5 * dt)?;
            }
            self.write(world, end);
        }
        Ok(())
    }

    /// Writes the states at the end of the step to the world.
    fn write(&mut self, world: &mut World, end: f64) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for body in self.partition_set.partitions.iter_mut().flat_map(|partition| &mut partition.bodies) {
            if body.is_dynamic()
                && let Some(place) = motion.get_mut(body.dynamic_index)
            {
                *place = body.at(end);
            }
        }
    }
}

impl Simulator for Impulse {
    fn description(&self) -> Description {
        Description { type_name: ImpulseSettings::TYPE_NAME.into(), properties: self.settings.properties() }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require(ImpulseSettings::TYPE_NAME, self.capabilities())?;
        let continuity = step.continuity();
        if let Err(error) = self.run_step(step.world_mut(), dt, continuity) {
            self.revision = None;
            return Err(match error {
                Error::Impulse(error) => error.named(&step).into(),
                other => other,
            });
        }
        self.post_work(step.world_mut());
        step.world_mut().report(&mut self.partition_set.events);
        for rejected in self.partition_set.rejected.drain(..) {
            step.pair_filter().note(rejected.bodies, rejected.shapes, rejected.why);
        }
        self.epoch = step.finish_with(|world| Simulator::contacts(self, world));
        self.revision = Some(world.revision());
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        self.contact_forces().collect()
    }

    fn sleeping_bodies(&self, _world: &World) -> Vec<BodyId> {
        self.resting().collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WITH_CONTACTS.and(&[
            Feature::RollingFriction,
            Feature::SpinningFriction,
            Feature::CollisionEvents,
            Feature::Sleeping,
            Feature::LockedRotations,
        ])
    }

    fn save_state(&self) -> Vec<u8> {
        // A restored state that no step has applied yet is still the state.
        let bytes = match &self.pending_state {
            Some(pending) => postcard::to_allocvec(pending),
            None => {
                postcard::to_allocvec(&ImpulseState::save(&self.partition_set, self.revision, self.epoch))
            }
        };
        bytes.unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: ImpulseState =
            postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("state of the simulator"))?;
        self.epoch = state.epoch;
        self.pending_state = Some(state);
        Ok(())
    }
}
