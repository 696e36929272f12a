//! Constraint simulator: rigid bodies whose contacts and joints are conditions, satisfied to rounding.
//!
//! A step is divided into sub-steps. A sub-step, stage by stage:
//!
//! 0. Bodies connected by joints form mechanisms (`mechanism`, `joint_rows`). A mechanism without contacts is
//!    integrated with its joints in the equations of motion (`mechanism_integrator`, `joint_equations`); one
//!    with contacts adds its joint rows to theirs (`joint_stabilization`).
//! 1. ForceAccumulator are gathered; swept bounds of all colliders give the near pairs (`world_mirror`), near pairs and
//!    joints the islands (`island`). Islands are independent within the sub-step.
//! 2. Touching points of an island that approach faster than the contact speed are impacts: a single one by
//!    the restitution law of the settings, several as one complementarity problem (`simultaneous_impact`).
//!    After too many rounds restitution is zero.
//! 3. All other points get contact forces over the rest of the sub-step, in one problem (`force_solver`,
//!    `interval`); while contacts only persist, they are integrated with their forces at every stage
//!    (`contact_phase`, `island_phase`).
//! 4. The trajectories that result are searched for the first impact of a pair that did not touch
//!    (`time_of_impact`). If there is one, that island alone returns to its time and continues with 2;
//!    otherwise its sub-step is complete.
//!
//! Large moving islands are not advanced from impact to impact: their sub-step is divided into short pieces
//! (`large_island`).
//!
//! D. Baraff, "Fast contact force computation for nonpenetrating rigid bodies", SIGGRAPH 1994; M. G.
//! Coutinho, *Guide to dynamic simulations of rigid bodies and particle systems* (2013); contact forces by
//! [`rattleback_numerics::lcp::blocks`].

mod contact_phase;
pub(in crate::simulator) mod force_solver;
mod instantaneous_forces;
mod interval;
mod island_phase;
mod joint_equations;
mod joint_reaction;
mod joint_rows;
mod joint_stabilization;
mod landing;
mod large_island;
mod mechanism_integrator;
mod motion_rate;
mod passivity;
mod resting;
mod settings;
mod simultaneous_impact;
mod single_impact;
mod state;
mod step;
mod time_of_impact;
mod tuning;
pub(in crate::simulator) mod work;

pub use instantaneous_forces::InstantaneousForces;
pub use joint_reaction::JointLoad;
pub use settings::ConstraintSettings;
pub use simultaneous_impact::ConstraintNote;
pub use single_impact::{DirectionalImpact, ImpactError, ImpactOutcome, TangentState};

use crate::collision::WorldMirror;
use crate::collision::{ContactKey, WarmStartCache};
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::property::{Component, ComponentType};
use crate::registry::Description;
use crate::rigid::Motion;
use crate::simulator::{Capabilities, ContactPoint, Feature, Simulator, StepContext};
use crate::world::{Continuity, Epoch, Event, JointId, ShapeId, SnapshotError, WorkEntry, World};
use contact_phase::ContactPhase;
use force_solver::ForceSolver;
use joint_reaction::JointReactions;
use mechanism_integrator::MechanismIntegrator;
use state::ConstraintState;
use std::collections::{BTreeMap, BTreeSet};

/// Counters of the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConstraintCounters {
    /// Times an island returned to the time of an impact.
    pub impacts: u64,
    /// Separation queries in the searches for these times.
    pub separation_queries: u64,
    /// Rounds of impacts.
    pub collision_rounds: u64,
    /// Contact force problems solved.
    pub solves: u64,
    /// Newton steps or pivots in them.
    pub newton_steps: u64,
    /// Problems whose residual exceeds their tolerance.
    pub not_converged: u64,
    /// Largest residual, m/s.
    pub worst_residual: f64,
}

/// Constraint simulator: contacts and joints hold to rounding.
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
    mirror: WorldMirror,
    forces: ForceSolver,
    mechanism_integrator: MechanismIntegrator,
    phase: ContactPhase,
    joint_reactions: JointReactions,
    /// Joints already reported as redundant or inconsistent, so that each event is sent once.
    reported_joints: BTreeSet<(bool, Vec<JointId>)>,
    loads: ForceAccumulator,
    /// Warm start: forces of the last interval of each point; and those of the present sub-step, which
    /// replace them at its end.
    warm_start: WarmStartCache,
    next_warm_start: WarmStartCache,
    contacts: BTreeMap<ContactKey, ContactPoint>,
    touching: BTreeSet<[ShapeId; 2]>,
    /// By body: whether no contact or joint has acted on it in this sub-step.
    contact_free: Vec<bool>,
    /// Sub-steps per step at present, and steps accepted since that changed.
    substeps: usize,
    accepted: usize,
    /// Sub-steps until large islands are solved exactly again.
    newton_backoff: u64,
    scratch: Vec<Motion>,
    ends: Vec<Motion>,
    events: Vec<Event>,
    /// Work of contacts and joints in the step, if the world keeps an energy ledger.
    works: Vec<WorkEntry>,
    keeps_ledger: bool,
    notes: Vec<ConstraintNote>,
    counters: ConstraintCounters,
    epoch: Epoch,
}

impl Default for Constraint {
    fn default() -> Self {
        Self::of(ConstraintSettings::default())
    }
}

impl Constraint {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// If a number is out of its range or a name is unknown.
    pub fn new(settings: ConstraintSettings) -> Result<Self, Error> {
        Ok(Self::of(settings.checked()?))
    }

    fn of(settings: ConstraintSettings) -> Self {
        Self {
            substeps: settings.substeps.max(1) as usize,
            mirror: WorldMirror::new(settings.space),
            settings,
            forces: ForceSolver::default(),
            mechanism_integrator: MechanismIntegrator::default(),
            phase: ContactPhase::default(),
            joint_reactions: JointReactions::default(),
            reported_joints: BTreeSet::new(),
            loads: ForceAccumulator::default(),
            warm_start: WarmStartCache::new(),
            next_warm_start: WarmStartCache::new(),
            contacts: BTreeMap::new(),
            touching: BTreeSet::new(),
            contact_free: Vec::new(),
            accepted: 0,
            newton_backoff: 0,
            scratch: Vec::new(),
            ends: Vec::new(),
            events: Vec::new(),
            works: Vec::new(),
            keeps_ledger: false,
            notes: Vec::new(),
            counters: ConstraintCounters::default(),
            epoch: Epoch::default(),
        }
    }

    /// The settings.
    pub const fn settings(&self) -> &ConstraintSettings {
        &self.settings
    }

    /// Counters of the last step.
    pub const fn counters(&self) -> &ConstraintCounters {
        &self.counters
    }

    /// Unusual decisions of the solver in the last step.
    pub fn notes(&self) -> &[ConstraintNote] {
        &self.notes
    }

    /// Contact points at the end of the last step, with their mean forces over its last interval.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactPoint> {
        self.contacts.values()
    }

    /// Reactions of the joints in the last step, in the order of their ids.
    pub fn joint_reactions(&self) -> &[JointLoad] {
        &self.joint_reactions.reactions
    }

    /// Sub-steps with which the next step begins.
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
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require(ConstraintSettings::TYPE_NAME, self.capabilities())?;
        match step.continuity() {
            Continuity::Unbroken => {}
            Continuity::SteppedByOthers => self.drop_body_states(),
            Continuity::OtherWorld => self.reset(),
        }
        let stepped = step.world_mut();
        stepped.follow_joints();
        self.events.clear();
        self.begin_ledger(stepped);
        self.notes.clear();
        self.counters = ConstraintCounters::default();
        self.advance(stepped, dt)?;
        stepped.report(&mut self.events);
        self.post_work(stepped);
        step.end();
        for joint in self.joint_reactions.overloaded(&step) {
            step.break_joint(joint);
        }
        self.epoch = step.finish_with(|world| Simulator::contacts(self, world));
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        self.contacts.values().copied().collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WITH_CONTACTS.and(&[
            Feature::RollingFriction,
            Feature::SpinningFriction,
            Feature::Sensors,
            Feature::ContactEvents,
            Feature::CollisionEvents,
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakTorque,
            Feature::JointReactions,
        ])
    }

    fn joint_reaction(&self, _world: &World, joint: JointId) -> Option<crate::simulator::JointReaction> {
        let reaction = self.joint_reactions().iter().find(|reaction| reaction.joint == joint)?;
        Some(crate::simulator::JointReaction { force: reaction.force, torque: reaction.torque })
    }

    fn save_state(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state()).unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state = match bytes {
            [] => ConstraintState::initial(self.settings.substeps.max(1) as u64),
            bytes => postcard::from_bytes(bytes)
                .map_err(|_| SnapshotError::Malformed("state of the constraint simulator"))?,
        };
        self.restore_state(state);
        Ok(())
    }
}
