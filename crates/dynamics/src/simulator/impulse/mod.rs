//! Event-driven simulation after Mirtich: all contact is collisions, one pair of bodies at a time.
//!
//! - Between collisions every body is a closed form of time (`actor`): nothing is integrated, and a body is looked at only
//!   when a pair it belongs to has an appointment.
//! - A pair of convex parts has an appointment (`heap`) at a time by which it provably cannot have met: gap d along the
//!   normal against the bounds A s² + B s on how far each part can get (`reach`, `script`). So a collision is approached
//!   from one side and never passed; the gap left at each look is at least σ min(d, ε).
//! - Pairs are made of parts whose boxes overlap (`neighbors`); the boxes are roomy, and are only moved when a body may have
//!   left them. Pairs of busy bodies that are not very near doze until one of the two has got on far enough (`alarm`).
//! - At an appointment the gap is measured. Below ε and closing, it is a collision: the contact law answers with one impulse
//!   (`response`), and the appointments of both bodies are made anew. Else the pair gets its next appointment.
//! - Bodies at rest would collide forever in ever smaller hops. Slow collisions (microcollisions) therefore keep the energy of hops, act at all
//!   points of a contact patch at once (`patch`), and create no energy (`hop`); and bodies that have stopped and can be proved to
//!   be carried by their contacts stand still until something disturbs them (`rest`).
//!
//! - Groups of bodies that have nothing to do with each other are played on several threads at the same time, if that is asked for: each on
//!   a stage of its own (`company`, `groups`, `recast`). Those whose boxes turn out to have met in a step are put back and play it again as one
//!   (`draft`), so that the number of threads does not show in a single bit.
//!
//! Forces other than uniform gravity act as kicks at both ends of a step, as do linear and angular damping.

mod actor;
mod alarm;
mod bracketing;
mod company;
mod draft;
mod enlist;
mod groups;
mod heap;
mod hop;
mod kick;
mod memory;
mod neighbors;
mod observer;
mod outline;
mod pair;
mod part;
mod patch;
mod reach;
mod recast;
mod response;
mod rest;
mod rims;
mod script;
mod settings;
mod stage;
mod work;

pub use observer::Moment;
pub use settings::ImpulseSettings;
pub use stage::ImpulseCounters;

use crate::contact::CollisionError;
use crate::error::Error;
use crate::force::Loads;
use crate::motion::Motion;
use crate::property::{Component, ComponentType};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::simulator::{
    Capabilities, Feature, Simulator, TouchPoint, check_step, refuse_joints, refuse_one_way,
};
use crate::world::{BodyId, Continuity, Epoch, SnapshotError, Status, World};
use company::{Act, Company};
use glam::DVec3;
use memory::Memory;
use observer::Observer;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::space::{SpaceCounters, SpaceError};
use stage::Stage;

/// Why the event loop cannot go on.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ImpulseError {
    /// Two bodies overlap where they were put.
    #[error(
        "{} and {} overlap by {depth:e} m at t = {time} s; bodies may touch, but must not overlap",
        labels[0],
        labels[1]
    )]
    Overlap {
        /// Which.
        bodies: [BodyId; 2],
        /// What they are called.
        labels: [String; 2],
        /// How deep, m.
        depth: f64,
        /// When, s.
        time: f64,
    },
    /// The distance of two parts cannot be told.
    #[error("a gap could not be measured: {source}")]
    Geometry {
        /// Why.
        source: ClosestError,
    },
    /// A part could not be put into the space.
    #[error("broad phase: {source}")]
    Space {
        /// Why.
        source: SpaceError,
    },
    /// A collision could not be resolved.
    #[error("a collision of {} and {} at t = {time} s could not be resolved: {source}", labels[0], labels[1])]
    Collision {
        /// Which.
        bodies: [BodyId; 2],
        /// What they are called.
        labels: [String; 2],
        /// When, s.
        time: f64,
        /// Why.
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

    /// The same with the names that bodies have in a world.
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

/// Average contact force between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// Who.
    pub bodies: [BodyId; 2],
    /// On the second body, N.
    pub force: DVec3,
    /// Where they were last nearest.
    pub point: DVec3,
    /// From the first to the second.
    pub normal: DVec3,
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
    company: Company,
    loads: Loads,
    before: Vec<Motion>,
    /// What a snapshot remembered, until there is a world to put it into.
    recalled: Option<Memory>,
    /// The revision of the world the stage was made of; none if it has to be made anew.
    revision: Option<u64>,
    epoch: Epoch,
}

impl Impulse {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// A value that a file may not give either: not a number, out of its range, or the name of no law, search or space.
    pub fn new(settings: ImpulseSettings) -> Result<Self, Error> {
        Ok(Self { settings: settings.checked()?, ..Self::default() })
    }

    /// Settings in use.
    pub const fn settings(&self) -> &ImpulseSettings {
        &self.settings
    }

    /// What has been done since the simulator was made.
    pub const fn counters(&self) -> &ImpulseCounters {
        &self.company.counters
    }

    /// What the broad phase has done for everything that moves, since it was last dealt out to threads.
    pub fn space_counters(&self) -> SpaceCounters {
        let mut all = SpaceCounters::default();
        for stage in &self.company.stages {
            all += stage.neighbors.counters();
        }
        all
    }

    /// ε in use, m.
    pub fn collision_epsilon(&self) -> f64 {
        self.company.stages.first().map_or(0.0, |stage| stage.epsilon)
    }

    /// The smallest gap ever measured since the world was taken on, m.
    pub const fn smallest_gap(&self) -> f64 {
        self.company.smallest_gap
    }

    /// Pairs near each other at present.
    pub fn close_pairs(&self) -> usize {
        self.company.stages.iter().flat_map(|stage| &stage.alive).filter(|alive| **alive).count()
    }

    /// Bodies at rest at present.
    pub fn resting(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.company.resting().into_iter()
    }

    /// Shows every collision, slow ones too, to somebody at the moment it happens; only one can watch at a time. So that they come in
    /// the order of time, everything is played on one thread while somebody watches, whatever the settings say.
    pub fn observe(&mut self, observer: impl FnMut(&Moment<'_>) + Send + Sync + 'static) {
        self.company.observer = Observer::new(observer);
    }

    /// Average forces of all pairs that touch, over the last window.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        self.company.forces().into_iter()
    }

    fn advance(&mut self, world: &mut World, dt: f64, continuity: Continuity) -> Result<(), Error> {
        let (start, end) = (world.time(), world.time() + dt);
        world.gather_loads(start, &mut self.loads);
        let gravity = self.loads.uniform_acceleration();
        if let Some(memory) = self.recalled.take() {
            self.revision = memory.revision;
            memory.restore(&mut self.company, world, &self.settings)?;
        }
        if continuity != Continuity::Unbroken {
            self.revision = None;
        }
        if self.revision != Some(world.revision()) || self.company.is_stale(world, gravity) {
            self.company.enlist(world, &self.settings, gravity)?;
        }
        self.company.arrange(&self.settings, dt)?;
        let undisturbed = world.forces_are_uniform() && !self.company.stages.iter().any(Stage::any_damping);
        let (settings, loads) = (&self.settings, &self.loads);
        self.company.perform(&Act { world, settings, loads, undisturbed, start, end })?;
        self.write(world, end);
        if !undisturbed {
            world.gather_loads(end, &mut self.loads);
            for stage in &mut self.company.stages {
                stage.kick_all(&self.loads, end, 0.5 * dt)?;
            }
            self.write(world, end);
        }
        Ok(())
    }

    /// Hands the states at the end of the step to the world.
    fn write(&mut self, world: &mut World, end: f64) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for actor in self.company.stages.iter_mut().flat_map(|stage| &mut stage.actors) {
            if actor.is_free()
                && let Some(place) = motion.get_mut(actor.place)
            {
                *place = actor.at(end);
            }
        }
    }
}

impl Simulator for Impulse {
    fn description(&self) -> Description {
        Description { type_name: ImpulseSettings::TYPE_NAME.into(), properties: self.settings.properties() }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        check_step(dt)?;
        refuse_joints("impulse", world)?;
        refuse_one_way("impulse", world)?;
        let continuity = world.begin_step(&self.epoch);
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        if let Err(error) = self.advance(world, dt, continuity) {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            self.revision = None;
            return Err(match error {
                Error::Impulse(error) => error.named(world).into(),
                other => other,
            });
        }
        let end = world.time() + dt;
        self.post_work(world);
        world.report(&mut self.company.events);
        for rejected in self.company.rejected.drain(..) {
            world.pair_filter().note(rejected.bodies, rejected.shapes, rejected.why);
        }
        world.end_step(end, Some(&self.before));
        self.revision = Some(world.revision());
        world.sign_step(&mut self.epoch);
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<TouchPoint> {
        let touch = |contact: ContactForce| TouchPoint {
            bodies: contact.bodies,
            normal: contact.normal,
            point: contact.point,
            // Nothing ever overlaps, and what touches is nearer than anybody can see.
            gap: 0.0,
            force: contact.force.dot(contact.normal),
        };
        self.contact_forces().map(touch).collect()
    }

    fn sleepers(&self, _world: &World) -> Vec<BodyId> {
        self.resting().collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::Contacts,
            Feature::Restitution,
            Feature::Friction,
            Feature::RollingFriction,
            Feature::SpinningFriction,
            Feature::CollisionEvents,
            Feature::Sleeping,
            Feature::KinematicBodies,
            Feature::GravityScale,
            Feature::LockedRotations,
            Feature::EnergyLedger,
        ])
    }

    fn memory(&self) -> Vec<u8> {
        postcard::to_allocvec(&Memory::of(&self.company, self.revision, self.epoch)).unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        let memory: Memory =
            postcard::from_bytes(memory).map_err(|_| SnapshotError::Malformed("memory of the simulator"))?;
        self.epoch = memory.epoch;
        self.recalled = Some(memory);
        Ok(())
    }
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let specs = ImpulseSettings::type_specs().to_vec();
    simulators.register(Entry::new(ImpulseSettings::TYPE_NAME, ImpulseSettings::DOC, specs, |given| {
        let settings = ImpulseSettings::with(given).map_err(|error| error.to_string())?;
        let simulator = Impulse::new(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
