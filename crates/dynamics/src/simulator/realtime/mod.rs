//! Real-time simulation: soft constraints in sub-steps, for games, animation and robots.
//!
//! A step, stage by stage:
//!
//! 1. What changed in the world is taken over (`roster`); boxes that came near or parted begin and end contacts (`contact`).
//! 2. Contacts of bodies that are awake are looked at: most only measure their gaps, the others make their manifolds anew.
//! 3. Bodies about to hit each other bounce now, by the exact collision law, each at its own time within the step (`bounce`).
//! 4. Bodies that touch nothing fly exactly. Mechanisms, rolling bodies and small islands with large ratios of mass are integrated or
//!    solved by themselves (`mechanism`, `rolling`, `direct`). All others are solved together in sub-steps (`solver`, `kernel`), eight contacts at a
//!    time, colour by colour.
//! 5. Fast bodies are stopped where they would have passed through something (`sweep`).
//! 6. Bodies that kept still long enough, with all they touch, fall asleep (`sleep`).
//!
//! State is in double precision; the solver works in single precision on velocities and on motion within a step.

mod apart;
mod block;
mod bond;
mod bond_kernel;
mod bond_set;
mod bounce;
mod contact;
mod course;
mod crowd;
mod direct;
mod finish;
mod kernel;
mod lanes;
mod mechanism;
mod memory;
mod rolling;
mod roster;
mod settings;
mod sleep;
mod solver;
mod spinner;
mod step;
mod sweep;
mod tree;
mod work;

pub use settings::RealtimeSettings;

use crate::error::Error;
use crate::force::Loads;
use crate::motion::Motion;
use crate::property::{Component, ComponentType};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::simulator::{Capabilities, Feature, JointReaction, Simulator, StageTimes, check_step};
use crate::world::{BodyId, Epoch, Event, Handle, JointId, SnapshotError, Status, World};
use apart::Path;
use bond::Bonds;
use bounce::Bounces;
use contact::Table;
use direct::Direct;
use glam::DVec3;
use mechanism::Mechanisms;
use memory::Memory;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{PairChanges, Space, SpaceError, SpaceKind};
use rolling::Rolling;
use roster::Roster;
use serde::{Deserialize, Serialize};
use sleep::Islands;
use solver::Solver;
use std::ops::Range;
use step::Entrant;
use sweep::Sweeps;
use work::Account;

/// Why the simulator cannot go on.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum RealtimeError {
    /// A part could not be put into the space.
    #[error("broad phase: {source}")]
    Space {
        /// Why.
        source: SpaceError,
    },
}

/// One point in which two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchPoint {
    /// Who.
    pub bodies: [BodyId; 2],
    /// From the first to the second.
    pub normal: DVec3,
    /// Where, m.
    pub point: DVec3,
    /// Negative is how deep, m.
    pub gap: f64,
    /// Along the normal, N.
    pub force: f64,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealtimeCounters {
    /// Pairs whose boxes are near.
    pub contacts: usize,
    /// Manifolds that were solved.
    pub manifolds: usize,
    /// Joints that were solved.
    pub joints: usize,
    /// Bodies that were solved, others flew or slept.
    pub solved: usize,
    /// Bodies asleep.
    pub asleep: usize,
}

/// Real-time simulator.
///
/// ```
/// use rattleback_dynamics::simulator::Realtime;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 1.0).with_shape(Shape::sphere(0.1)?))?;
/// let mut simulator = Realtime::default();
/// for _ in 0..120 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// assert!((world.body(ball)?.position().z - 0.1).abs() < 1e-4);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Realtime {
    settings: RealtimeSettings,
    space: Box<dyn Space>,
    changes: PairChanges,
    roster: Roster,
    table: Table,
    islands: Islands,
    /// One for everybody, one for islands with large ratios of mass.
    solvers: [Solver; 2],
    /// Their sub-steps in the last step.
    substeps: [usize; 2],
    bonds: Bonds,
    mechanisms: Mechanisms,
    rolling: Rolling,
    direct: Direct,
    broken: Vec<JointId>,
    /// Joints with a body awake, by place, in the present step.
    active: Vec<u32>,
    /// Dynamic bodies in solvers.
    entrants: Vec<Entrant>,
    /// Places of bodies that fly side by side in the present step.
    flights: Vec<Range<usize>>,
    /// Bodies that come back from a solver.
    seats: Vec<finish::Seat>,
    /// By part: the box it needs from now on.
    boxes: Vec<Option<Aabb>>,
    bounces: Bounces,
    account: Account,
    sweeps: Sweeps,
    loads: Loads,
    before: Vec<Motion>,
    events: Vec<Event>,
    counters: RealtimeCounters,
    times: StageTimes,
    /// Length of the last step, s.
    dt: f64,
    /// Places of bodies that cannot be calculated with.
    sick: Vec<usize>,
    sick_bodies: Vec<BodyId>,
    /// Slots of bodies asleep that were touched in the present step.
    sleepers: Vec<u32>,
    /// Slots of pairs that have come near for the first time in the present step.
    newly_near: Vec<u32>,
    /// Slots of bodies in islands with large ratios of mass.
    delicate: Vec<u32>,
    /// By root of an island: whether it is one.
    marked: Vec<bool>,
    /// A state to be taken up in the next step.
    recalled: Option<Memory>,
    /// Pairs that had been told of before a state was taken up.
    told: Option<Vec<[u32; 2]>>,
    epoch: Epoch,
}

impl Default for Realtime {
    fn default() -> Self {
        Self::with_space(RealtimeSettings::default(), SpaceKind::default())
    }
}

impl Realtime {
    /// Settings ⇒ simulator; refuses a space that there is none of.
    pub fn new(settings: RealtimeSettings) -> Result<Self, Error> {
        let settings = settings.checked()?;
        let kind = settings.space_kind()?;
        Ok(Self::with_space(settings, kind))
    }

    fn with_space(settings: RealtimeSettings, kind: SpaceKind) -> Self {
        Self {
            settings,
            space: kind.create(),
            changes: PairChanges::default(),
            roster: Roster::default(),
            table: Table::default(),
            islands: Islands::default(),
            solvers: Default::default(),
            substeps: [1; 2],
            bonds: Bonds::default(),
            mechanisms: Mechanisms::default(),
            rolling: Rolling::default(),
            direct: Direct::default(),
            broken: Vec::new(),
            active: Vec::new(),
            entrants: Vec::new(),
            flights: Vec::new(),
            seats: Vec::new(),
            boxes: Vec::new(),
            bounces: Bounces::default(),
            account: Account::default(),
            sweeps: Sweeps::default(),
            loads: Loads::default(),
            before: Vec::new(),
            events: Vec::new(),
            counters: RealtimeCounters::default(),
            times: StageTimes::default(),
            dt: 0.0,
            sick: Vec::new(),
            sick_bodies: Vec::new(),
            sleepers: Vec::new(),
            newly_near: Vec::new(),
            delicate: Vec::new(),
            marked: Vec::new(),
            recalled: None,
            told: None,
            epoch: Epoch::default(),
        }
    }

    /// Settings in use.
    pub const fn settings(&self) -> &RealtimeSettings {
        &self.settings
    }

    /// What the last step did.
    pub const fn counters(&self) -> &RealtimeCounters {
        &self.counters
    }

    /// Whether a body sleeps.
    pub fn is_asleep(&self, body: BodyId) -> bool {
        self.roster.actor(body.slot()).is_some_and(|actor| actor.id == body && actor.asleep)
    }

    /// Takes the bodies out that could not be calculated with. The step may have taken out others already, which then moved
    /// the rest to other places; so they go by name.
    fn quarantine(&mut self, world: &mut World, time: f64) {
        let sick = std::mem::take(&mut self.sick_bodies);
        let located = |id: &BodyId| match world.bodies().locate(*id) {
            Some((Status::Dynamic, place)) => Some(place),
            _ => None,
        };
        let mut places: Vec<usize> = sick.iter().filter_map(located).collect();
        world.quarantine(&mut places, time);
    }

    /// Takes out the joints that bore too much.
    fn break_joints(&mut self, world: &mut World, time: f64) {
        let mut broken = std::mem::take(&mut self.broken);
        self.bonds.broken(world, |bond| self.impulse_rate(bond), &mut broken);
        for joint in broken.drain(..) {
            world.break_joint(joint, time);
        }
        self.broken = broken;
    }

    /// Sub-steps in a second for a joint: its impulse times that is its force.
    fn impulse_rate(&self, bond: &bond::Bond) -> f64 {
        let delicate = |slot: &u32| self.roster.actor(*slot).is_some_and(|actor| actor.delicate);
        self.substeps[usize::from(bond.actors.iter().any(delicate))] as f64 / self.dt
    }

    /// Where bodies touch, with the forces of the last step.
    pub fn touch_points<'s>(&'s self, world: &'s World) -> impl Iterator<Item = TouchPoint> + 's {
        self.table
            .iter()
            .filter(|contact| contact.touching)
            .flat_map(move |contact| self.points_of(world, contact))
    }
}

impl Simulator for Realtime {
    fn description(&self) -> Description {
        Description { type_name: RealtimeSettings::TYPE_NAME.into(), properties: self.settings.properties() }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        check_step(dt)?;
        let continuity = world.begin_step(&self.epoch);
        self.events.clear();
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        if let Err(error) = self.advance(world, dt, continuity) {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            self.roster.paths.fill(Path::UNKNOWN);
            return Err(error);
        }
        let end = world.time() + dt;
        world.report(&mut self.events);
        // Before anybody changes places.
        self.sick_bodies.clear();
        self.sick_bodies.extend(self.sick.iter().map(|place| world.bodies().ids(Status::Dynamic)[*place]));
        let motion = world.bodies_mut().dynamic_mut().0;
        for place in &self.sick {
            motion[*place] = self.before[*place];
        }
        world.end_step(end, Some(&self.before));
        self.quarantine(world, end);
        world.follow_joints();
        self.break_joints(world, end);
        for event in world.events() {
            if let Event::Quarantined { body, .. } | Event::LeftBounds { body, .. } = event {
                self.roster.pending.push(*body);
            }
        }
        world.sign_step(&mut self.epoch);
        Ok(())
    }

    fn contacts(&self, world: &World) -> Vec<TouchPoint> {
        self.touch_points(world).collect()
    }

    fn stage_times(&self) -> Option<StageTimes> {
        Some(self.times)
    }

    fn sleepers(&self, world: &World) -> Vec<BodyId> {
        world.bodies().ids(Status::Dynamic).iter().copied().filter(|body| self.is_asleep(*body)).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::Contacts,
            Feature::Restitution,
            Feature::Friction,
            Feature::RollingFriction,
            Feature::SpinningFriction,
            Feature::OneWayShapes,
            Feature::Sensors,
            Feature::ContactEvents,
            Feature::CollisionEvents,
            Feature::Sleeping,
            Feature::SleepEvents,
            Feature::KinematicBodies,
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakTorque,
            Feature::BreakDrift,
            Feature::JointReactions,
            Feature::GravityScale,
            Feature::LockedRotations,
            Feature::EnergyLedger,
        ])
    }

    fn joint_reaction(&self, _world: &World, joint: JointId) -> Option<JointReaction> {
        let place = self.bonds.all.binary_search_by_key(&joint, |bond| bond.id).ok()?;
        let bond = &self.bonds.all[place];
        let rate = self.impulse_rate(bond);
        Some(JointReaction { force: bond.linear.as_dvec3() * rate, torque: bond.angular.as_dvec3() * rate })
    }

    fn memory(&self) -> Vec<u8> {
        // A vector of bytes grows as long as there is memory.
        let written = match &self.recalled {
            Some(memory) => postcard::to_allocvec(memory),
            None => postcard::to_allocvec(&self.remember()),
        };
        written.unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        self.recalled = if memory.is_empty() {
            None
        } else {
            let malformed = |_| SnapshotError::Malformed("memory of the real-time simulator");
            Some(postcard::from_bytes(memory).map_err(malformed)?)
        };
        self.epoch = self.recalled.as_ref().map_or_else(Epoch::default, |memory: &Memory| memory.epoch);
        Ok(())
    }
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let specs = RealtimeSettings::type_specs().to_vec();
    simulators.register(Entry::new(RealtimeSettings::TYPE_NAME, RealtimeSettings::DOC, specs, |given| {
        let settings = RealtimeSettings::with(given).map_err(|error| error.to_string())?;
        let simulator = Realtime::new(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
