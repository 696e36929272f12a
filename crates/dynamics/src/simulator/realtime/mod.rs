//! Real-time simulation: soft constraints in sub-steps, for games, animation and robotics.
//!
//! A step, stage by stage:
//!
//! 1. Changes of the world are mirrored (`sim_bodies`); the broad phase begins and ends pairs
//!    (`contact_graph`).
//! 2. The narrow phase updates the contacts of awake bodies: most only measure their gaps, the others
//!    recompute their manifolds (`contact`).
//! 3. Impacts with restitution are resolved by the exact collision law, each at its time within the step
//!    (`restitution`).
//! 4. Bodies without contact fly exactly. Mechanisms, rolling bodies and small islands with high mass ratio
//!    are integrated or solved separately (`mechanism`, `rolling`, `direct`). All others are solved together
//!    in sub-steps (`solver`, `contact_kernel`, `joint_kernel`), eight constraints at a time, colour by
//!    colour.
//! 5. Fast bodies are stopped at their first contact (`continuous`).
//! 6. Islands that have been still long enough fall asleep (`sleep`).
//!
//! State is in double precision; the solver works in single precision on velocities and on displacements
//! within a step.

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
use crate::simulator::{Simulator, StageTimes, check_step};
use crate::world::{BodyId, Event, Handle, JointId, SnapshotError, Status, World};
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

/// Why a step of the real-time simulator failed.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum RealtimeError {
    /// A collider could not be inserted into the broad phase.
    #[error("broad phase: {source}")]
    Space {
        /// Error of the broad phase.
        source: SpaceError,
    },
}

/// A contact point of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchPoint {
    /// The bodies.
    pub bodies: [BodyId; 2],
    /// Unit normal, from the first body to the second.
    pub normal: DVec3,
    /// Position, m.
    pub point: DVec3,
    /// Gap, m; negative is the penetration depth.
    pub gap: f64,
    /// Normal force, N.
    pub force: f64,
}

/// Counters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealtimeCounters {
    /// Pairs with overlapping bounding boxes.
    pub contacts: usize,
    /// Manifolds in the solver.
    pub manifolds: usize,
    /// Joints with an awake body.
    pub joints: usize,
    /// Bodies in the solver; the others flew freely or slept.
    pub solved: usize,
    /// Sleeping bodies.
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
    /// The solver of all islands, and the solver of islands with high mass ratio.
    solvers: [Solver; 2],
    /// Their sub-steps in the last step.
    substeps: [usize; 2],
    bonds: Bonds,
    mechanisms: Mechanisms,
    rolling: Rolling,
    direct: Direct,
    broken: Vec<JointId>,
    /// Indices of joints with an awake body, in the present step.
    active: Vec<u32>,
    /// Dynamic bodies that enter the solvers.
    entrants: Vec<Entrant>,
    /// Index ranges of bodies that fly freely in the present step.
    flights: Vec<Range<usize>>,
    /// Bodies that are read back from the solvers.
    seats: Vec<finish::Seat>,
    /// By collider: its new bounding box.
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
    /// Indices of bodies with non-finite state or loads.
    sick: Vec<usize>,
    sick_bodies: Vec<BodyId>,
    /// Slots of sleeping bodies that are touched in the present step.
    sleepers: Vec<u32>,
    /// Slots of pairs that need a contact for the first time.
    newly_near: Vec<u32>,
    /// Slots of bodies in islands with high mass ratio.
    delicate: Vec<u32>,
    /// By root of an island: whether it has a high mass ratio.
    marked: Vec<bool>,
    /// A saved state to be restored in the next step.
    recalled: Option<Memory>,
    /// Pairs that the broad phase had reported before a restored state was saved.
    told: Option<Vec<[u32; 2]>>,
}

impl Default for Realtime {
    fn default() -> Self {
        Self::with_space(RealtimeSettings::default(), SpaceKind::default())
    }
}

impl Realtime {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// Returns an error if a setting is out of range or names an unknown broad phase.
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
        }
    }

    /// The settings.
    pub const fn settings(&self) -> &RealtimeSettings {
        &self.settings
    }

    /// Counters of the last step.
    pub const fn counters(&self) -> &RealtimeCounters {
        &self.counters
    }

    /// Whether a body is asleep.
    pub fn is_asleep(&self, body: BodyId) -> bool {
        self.roster.actor(body.slot()).is_some_and(|actor| actor.id == body && actor.asleep)
    }

    /// Quarantines the bodies with non-finite state. The step may have removed others already and thereby
    /// changed indices; so they are located by id.
    fn quarantine(&mut self, world: &mut World, time: f64) {
        let sick = std::mem::take(&mut self.sick_bodies);
        let located = |id: &BodyId| match world.bodies().locate(*id) {
            Some((Status::Dynamic, place)) => Some(place),
            _ => None,
        };
        let mut places: Vec<usize> = sick.iter().filter_map(located).collect();
        world.quarantine(&mut places, time);
    }

    /// Removes the joints whose reactions exceeded their break thresholds.
    fn break_joints(&mut self, world: &mut World, time: f64) {
        let (roster, substeps, dt) = (&self.roster, self.substeps, self.dt);
        let rate = |bond: &bond::Bond| {
            let delicate =
                bond.actors.iter().any(|slot| roster.actor(*slot).is_some_and(|actor| actor.delicate));
            substeps[usize::from(delicate)] as f64 / dt
        };
        self.bonds.broken(world, rate, &mut self.broken);
        for joint in self.broken.drain(..) {
            world.break_joint(joint, time);
        }
    }

    /// Contact points, with the forces of the last step.
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
        world.begin_step();
        self.events.clear();
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        if let Err(error) = self.advance(world, dt) {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            self.roster.paths.fill(Path::UNKNOWN);
            return Err(error);
        }
        let end = world.time() + dt;
        world.report(&mut self.events);
        // Before removals change the indices.
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

    fn memory(&self) -> Vec<u8> {
        // Writing to a growing vector cannot fail.
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
