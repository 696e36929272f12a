//! Constraint-based simulation: bodies are rigid, contacts are conditions, and both hold to rounding.
//!
//! A step, sub-step by sub-step:
//!
//! 0. Bodies that joints hold together form assemblies (`assembly`, `bond`). As long as nothing touches them they fly by themselves, with all
//!    their joints holding exactly (`flight`, `linkage`); if something does, their joints are part of its equations (`jointed`).
//! 1. Forces are gathered; boxes around where everybody would go tell who may meet (`roster`). Bodies that may meet each other,
//!    directly or over others, form islands (`island`); whatever happens in one concerns no other body.
//! 2. The points of an island that touch and approach faster than contact allows are collisions: single ones by trying the nine ways
//!    in which friction can act (`impact`), groups as one complementarity problem (`impulse`). After too many rounds nobody bounces.
//! 3. All other points get forces for the rest of the sub-step, all together (`force`, `lead`).
//! 4. On the courses that result, the first meeting of bodies that did not touch is looked for (`meeting`). If there is one, the island,
//!    and only it, goes back to that time and on from 2; else the sub-step is over.
//!
//! Islands of many bodies in motion do not go back: they take the sub-step in short pieces, with forces for all points within reach in each (`crowd`).
//!
//! After D. Baraff (1989–1994) and M. G. Coutinho, *Guide to dynamic simulations of rigid bodies and particle systems* (2013), with
//! the solver of [`rattleback_numerics::lcp::blocks`].

mod assembly;
mod bond;
mod contact_phase;
mod crowd;
mod dormand_prince;
mod fehlberg;
mod flight;
pub(in crate::simulator) mod force;
mod impact;
mod impulse;
pub(in crate::simulator) mod island;
mod jointed;
mod lead;
mod linkage;
mod load;
mod meeting;
mod present;
mod rolling;
pub(in crate::simulator) mod roster;
pub(in crate::simulator) mod roster_state;
mod settings;
mod state;
mod step;
pub(in crate::simulator) mod touch;
mod track;
pub(in crate::simulator) mod work;

pub use impact::{DirectionalImpact, ImpactError, ImpactOutcome, TangentState};
pub use impulse::ConstraintNote;
pub use load::JointLoad;
pub use present::ContactBalance;
pub use settings::ConstraintSettings;

use crate::error::Error;
use crate::force::Loads;
use crate::motion::Motion;
use crate::property::{Component, ComponentType};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::simulator::{
    Capabilities, Feature, JointReaction, Simulator, TouchPoint, check_step, refuse_locked_rotations,
    refuse_one_way,
};
use crate::world::{
    BodyId, Continuity, Epoch, Event, JointId, ShapeId, SnapshotError, Status, WorkEntry, World,
};
use contact_phase::ContactPhase;
use flight::Flight;
use force::Forces;
use glam::DVec3;
use load::JointLoads;
use rattleback_geometry::space::{SpaceError, SpaceKind};
use roster::Roster;
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use touch::{Memory, Name};

/// Why the simulator cannot go on.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ConstraintError {
    /// A part could not be put into the space.
    #[error("broad phase: {source}")]
    Space {
        /// Why.
        source: SpaceError,
    },
}

/// One point in which two bodies touch, and the force there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// Who.
    pub bodies: [BodyId; 2],
    /// With which shapes.
    pub shapes: [ShapeId; 2],
    /// Where, m.
    pub point: DVec3,
    /// From the first to the second.
    pub normal: DVec3,
    /// Negative is how deep, m.
    pub gap: f64,
    /// On the second body, N.
    pub force: DVec3,
}

impl ContactForce {
    /// What every simulator can tell of a contact.
    pub fn touch_point(&self) -> TouchPoint {
        let Self { bodies, point, normal, gap, force, .. } = *self;
        TouchPoint { bodies, normal, point, gap, force: force.dot(normal) }
    }
}

/// What the last step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConstraintCounters {
    /// Times an island went back to a meeting.
    pub meetings: u64,
    /// Separations measured for that.
    pub looks: u64,
    /// Rounds of collisions.
    pub collision_rounds: u64,
    /// Problems of contact forces.
    pub solves: u64,
    /// Newton steps or pivots for them.
    pub newton_steps: u64,
    /// Problems that missed their tolerance.
    pub not_converged: u64,
    /// Worst of all, m/s.
    pub worst_residual: f64,
}

/// Constraint-based simulator.
///
/// ```
/// use rattleback_dynamics::simulator::Constraint;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let cube = world.add_body(Body::dynamic().at(0.0, 0.0, 0.5).with_shape(Shape::cuboid(DVec3::splat(0.5))?))?;
/// let mut simulator = Constraint::default();
/// for _ in 0..24 {
///     simulator.step(&mut world, 1.0 / 24.0)?;
/// }
/// let weight: f64 = simulator.contacts().map(|contact| contact.force.z.abs()).sum();
/// assert!((weight - 9810.0).abs() < 1e-5 && world.body(cube)?.velocity().length() < 1e-10);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Constraint {
    settings: ConstraintSettings,
    roster: Roster,
    forces: Forces,
    flight: Flight,
    phase: ContactPhase,
    joint_loads: JointLoads,
    /// Joints of which it has been told that they are redundant, amiss, or contradict each other.
    warned: BTreeSet<(bool, Vec<JointId>)>,
    loads: Loads,
    /// Forces as they were last, and those of the present sub-step, which are all that will be remembered.
    memory: Memory,
    fresh: Memory,
    contacts: BTreeMap<Name, ContactForce>,
    touching: BTreeSet<[ShapeId; 2]>,
    /// By actor: whether nothing has pushed it in this sub-step.
    contact_free: Vec<bool>,
    /// Sub-steps at present, and steps since their number changed.
    substeps: usize,
    accepted: usize,
    /// Sub-steps until a crowd that did not come to rest is tried again.
    restless: u64,
    scratch: Vec<Motion>,
    ends: Vec<Motion>,
    before: Vec<Motion>,
    events: Vec<Event>,
    /// Work of contacts and joints in the step, if it is accounted for.
    works: Vec<WorkEntry>,
    accounts: bool,
    notes: Vec<ConstraintNote>,
    counters: ConstraintCounters,
    epoch: Epoch,
}

impl Default for Constraint {
    fn default() -> Self {
        Self::with_space(ConstraintSettings::default(), SpaceKind::default())
    }
}

impl Constraint {
    /// Settings ⇒ simulator; refuses names that there are none of.
    pub fn new(settings: ConstraintSettings) -> Result<Self, Error> {
        let settings = settings.checked()?;
        let kind = settings.space_kind()?;
        Ok(Self::with_space(settings, kind))
    }

    fn with_space(settings: ConstraintSettings, kind: SpaceKind) -> Self {
        Self {
            substeps: settings.substeps.max(1) as usize,
            settings,
            roster: Roster::new(kind),
            forces: Forces::default(),
            flight: Flight::default(),
            phase: ContactPhase::default(),
            joint_loads: JointLoads::default(),
            warned: BTreeSet::new(),
            loads: Loads::default(),
            memory: Memory::new(),
            fresh: Memory::new(),
            contacts: BTreeMap::new(),
            touching: BTreeSet::new(),
            contact_free: Vec::new(),
            accepted: 0,
            restless: 0,
            scratch: Vec::new(),
            ends: Vec::new(),
            before: Vec::new(),
            events: Vec::new(),
            works: Vec::new(),
            accounts: false,
            notes: Vec::new(),
            counters: ConstraintCounters::default(),
            epoch: Epoch::default(),
        }
    }

    /// Settings in use.
    pub const fn settings(&self) -> &ConstraintSettings {
        &self.settings
    }

    /// What the last step did.
    pub const fn counters(&self) -> &ConstraintCounters {
        &self.counters
    }

    /// What was worth telling in the last step.
    pub fn notes(&self) -> &[ConstraintNote] {
        &self.notes
    }

    /// Where bodies touched at the end of the last step, with the forces over its last interval.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactForce> {
        self.contacts.values()
    }

    /// What the joints of the world bear, in the order of their slots.
    pub fn joint_loads(&self) -> &[JointLoad] {
        &self.joint_loads.loads
    }

    /// Sub-steps the next step begins with.
    pub const fn substeps(&self) -> usize {
        self.substeps
    }
}

impl Simulator for Constraint {
    fn description(&self) -> Description {
        Description {
            type_name: ConstraintSettings::TYPE_NAME.into(),
            properties: self.settings.properties(),
        }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        check_step(dt)?;
        refuse_one_way("constraint", world)?;
        refuse_locked_rotations("constraint", world)?;
        match world.begin_step(&self.epoch) {
            Continuity::Unbroken => {}
            Continuity::SteppedByOthers => self.retake_states(),
            Continuity::OtherWorld => self.start_over(),
        }
        world.follow_joints();
        self.events.clear();
        self.begin_account(world);
        self.notes.clear();
        self.counters = ConstraintCounters::default();
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        if let Err(error) = self.advance(world, dt) {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            return Err(error);
        }
        let end = world.time() + dt;
        world.report(&mut self.events);
        self.post_work(world);
        world.end_step(end, Some(&self.before));
        world.follow_joints();
        for joint in self.joint_loads.broken(world) {
            world.break_joint(joint, end);
        }
        world.sign_step(&mut self.epoch);
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<TouchPoint> {
        self.contacts.values().map(ContactForce::touch_point).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::Contacts,
            Feature::Restitution,
            Feature::Friction,
            Feature::Sensors,
            Feature::ContactEvents,
            Feature::CollisionEvents,
            Feature::KinematicBodies,
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakTorque,
            Feature::JointReactions,
            Feature::GravityScale,
            Feature::EnergyLedger,
        ])
    }

    fn joint_reaction(&self, _world: &World, joint: JointId) -> Option<JointReaction> {
        let load = self.joint_loads().iter().find(|load| load.joint == joint)?;
        Some(JointReaction { force: load.force, torque: load.torque })
    }

    fn memory(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state()).unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        let state = match memory {
            [] => State::fresh(self.settings.substeps.max(1) as u64),
            bytes => postcard::from_bytes(bytes)
                .map_err(|_| SnapshotError::Malformed("memory of the constraint simulator"))?,
        };
        self.take_up(state);
        Ok(())
    }
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let specs = ConstraintSettings::type_specs().to_vec();
    simulators.register(Entry::new(ConstraintSettings::TYPE_NAME, ConstraintSettings::DOC, specs, |given| {
        let settings = ConstraintSettings::with(given).map_err(|error| error.to_string())?;
        let simulator = Constraint::new(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
