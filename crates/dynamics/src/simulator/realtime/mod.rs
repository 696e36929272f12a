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
//! 4. Bodies without contact fly exactly. Mechanisms, rolling and sliding bodies and small islands with high
//!    mass ratio are integrated or solved separately (`mechanism`, `rolling`, `sliding`, `direct`). All others
//!    are solved together in sub-steps (`solver`, `contact_kernel`, `joint_kernel`), eight constraints at a
//!    time, colour by colour.
//! 5. Fast bodies are stopped at their first contact (`continuous`).
//! 6. Islands that have been still long enough fall asleep (`sleep`).
//!
//! State is in double precision; the solver works in single precision on velocities and on displacements
//! within a step.

mod body_degree;
mod column;
mod contact;
mod contact_block;
mod contact_graph;
mod contact_kernel;
mod continuous;
mod direct;
mod finalize;
mod gyroscopic;
mod impact_body;
mod joint_constraint;
mod joint_energy;
mod joint_graph;
mod joint_groups;
mod joint_kernel;
mod joint_tree;
mod joint_tree_rows;
mod lanes;
mod manifold_constraint;
mod mechanism;
mod overlap_limit;
mod restitution;
mod rolling;
mod saved_state;
mod separation_bound;
mod settings;
mod sim_bodies;
mod sleep;
mod sliding;
mod softness;
mod solver;
mod solver_body;
mod step;
mod tuning;
mod work;

pub use settings::RealtimeSettings;

use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::property::{Component, ComponentType};
use crate::registry::Description;
use crate::simulator::{
    Capabilities, ContactPoint, Feature, JointReaction, Simulator, StageTimes, StepContext,
};
use crate::world::{BodyId, Epoch, Event, Handle, JointId, SnapshotError, Status, World};
use contact_graph::ContactGraph;
use continuous::ContinuousStage;
use direct::DirectSolver;
use joint_constraint::JointConstraints;
use joint_groups::JointGroups;
use mechanism::Mechanisms;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{PairChanges, Space, SpaceError};
use restitution::ImpactStage;
use rolling::RollingStage;
use saved_state::SavedState;
use separation_bound::StepDisplacement;
use serde::{Deserialize, Serialize};
use sim_bodies::SimBodies;
use sleep::Islands;
use sliding::SlidingStage;
use solver::SubstepSolver;
use std::ops::Range;
use step::GatheredBody;
use work::WorkAccount;

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
    sim_bodies: SimBodies,
    contact_graph: ContactGraph,
    islands: Islands,
    /// The solver of all islands, and the solver of islands with high mass ratio.
    solvers: [SubstepSolver; 2],
    /// Their sub-steps in the last step.
    substeps: [usize; 2],
    joints: JointConstraints,
    mechanisms: Mechanisms,
    joint_groups: JointGroups,
    rolling: RollingStage,
    sliding: SlidingStage,
    direct: DirectSolver,
    broken: Vec<JointId>,
    /// Indices of joints with an awake body, in the present step.
    active: Vec<u32>,
    /// Dynamic bodies that enter the solvers.
    gathered: Vec<GatheredBody>,
    /// Index ranges of bodies that fly freely in the present step.
    flight_ranges: Vec<Range<usize>>,
    /// Bodies that are read back from the solvers.
    solved_bodies: Vec<finalize::SolvedBody>,
    /// By collider: its new bounding box.
    next_bounds: Vec<Option<Aabb>>,
    impacts: ImpactStage,
    work_account: WorkAccount,
    continuous: ContinuousStage,
    loads: ForceAccumulator,
    events: Vec<Event>,
    counters: RealtimeCounters,
    times: StageTimes,
    /// Length of the last step, s.
    dt: f64,
    /// Indices of bodies with non-finite state or loads.
    non_finite: Vec<usize>,
    /// Slots of sleeping bodies that are touched in the present step.
    touched_sleeping: Vec<u32>,
    /// Slots of pairs that need a contact for the first time.
    new_contacts: Vec<u32>,
    /// Slots of bodies in islands with high mass ratio.
    high_mass_ratio: Vec<u32>,
    /// By root of an island: whether it has a high mass ratio.
    marked_roots: Vec<bool>,
    /// The same for islands with contacts.
    contact_roots: Vec<bool>,
    /// Slots of the bodies whose rotation is integrated in every sub-step.
    gyroscopic_slots: Vec<u32>,
    /// A saved state to be restored in the next step.
    pending_restore: Option<SavedState>,
    /// Pairs that the broad phase had reported before a restored state was saved.
    reported_pairs: Option<Vec<[u32; 2]>>,
    epoch: Epoch,
}

impl Default for Realtime {
    fn default() -> Self {
        Self::of(RealtimeSettings::default())
    }
}

impl Realtime {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// Returns an error if a setting is out of range or names an unknown broad phase.
    pub fn new(settings: RealtimeSettings) -> Result<Self, Error> {
        Ok(Self::of(settings.checked()?))
    }

    fn of(settings: RealtimeSettings) -> Self {
        Self {
            space: settings.space.create(),
            settings,
            changes: PairChanges::default(),
            sim_bodies: SimBodies::default(),
            contact_graph: ContactGraph::default(),
            islands: Islands::default(),
            solvers: Default::default(),
            substeps: [1; 2],
            joints: JointConstraints::default(),
            mechanisms: Mechanisms::default(),
            joint_groups: JointGroups::default(),
            rolling: RollingStage::default(),
            sliding: SlidingStage::default(),
            direct: DirectSolver::default(),
            broken: Vec::new(),
            active: Vec::new(),
            gathered: Vec::new(),
            flight_ranges: Vec::new(),
            solved_bodies: Vec::new(),
            next_bounds: Vec::new(),
            impacts: ImpactStage::default(),
            work_account: WorkAccount::default(),
            continuous: ContinuousStage::default(),
            loads: ForceAccumulator::default(),
            events: Vec::new(),
            counters: RealtimeCounters::default(),
            times: StageTimes::default(),
            dt: 0.0,
            non_finite: Vec::new(),
            touched_sleeping: Vec::new(),
            new_contacts: Vec::new(),
            high_mass_ratio: Vec::new(),
            marked_roots: Vec::new(),
            contact_roots: Vec::new(),
            gyroscopic_slots: Vec::new(),
            pending_restore: None,
            reported_pairs: None,
            epoch: Epoch::default(),
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
        self.sim_bodies.body(body.slot()).is_some_and(|sim_body| sim_body.id == body && sim_body.asleep)
    }

    /// Sub-steps of the default length per second, 1/s: force = stored impulse × rate.
    fn impulse_rate(&self) -> f64 {
        self.substeps[0] as f64 / self.dt
    }

    /// Contact points, with the forces of the last step.
    pub fn contact_points<'s>(&'s self, world: &'s World) -> impl Iterator<Item = ContactPoint> + 's {
        self.contact_graph
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
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        let continuity = step.continuity();
        self.events.clear();
        if let Err(error) = self.advance(step.world_mut(), dt, continuity) {
            self.sim_bodies.displacements.fill(StepDisplacement::UNKNOWN);
            return Err(error);
        }
        step.world_mut().report(&mut self.events);
        for index in &self.non_finite {
            let body = step.bodies().ids(Status::Dynamic)[*index];
            step.quarantine(body);
        }
        step.end();
        let mut broken = std::mem::take(&mut self.broken);
        self.joints.broken(&step, self.impulse_rate(), &mut broken);
        for joint in broken.drain(..) {
            step.break_joint(joint);
        }
        self.broken = broken;
        self.epoch = step.finish_with(|world| Simulator::contacts(self, world));
        for event in world.events() {
            if let Event::Quarantined { body, .. } | Event::LeftBounds { body, .. } = event {
                self.sim_bodies.pending.push(*body);
            }
        }
        Ok(())
    }

    fn contacts(&self, world: &World) -> Vec<ContactPoint> {
        self.contact_points(world).collect()
    }

    fn stage_times(&self) -> Option<StageTimes> {
        Some(self.times)
    }

    fn sleeping_bodies(&self, world: &World) -> Vec<BodyId> {
        world.bodies().ids(Status::Dynamic).iter().copied().filter(|body| self.is_asleep(*body)).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WITH_CONTACTS.and(&[
            Feature::SleepByCall,
            Feature::RollingFriction,
            Feature::SpinningFriction,
            Feature::OneWayShapes,
            Feature::Sensors,
            Feature::ContactEvents,
            Feature::CollisionEvents,
            Feature::Sleeping,
            Feature::SleepEvents,
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakTorque,
            Feature::BreakDrift,
            Feature::JointReactions,
            Feature::LockedRotations,
        ])
    }

    fn joint_reaction(&self, _world: &World, joint: JointId) -> Option<JointReaction> {
        let index = self.joints.all.binary_search_by_key(&joint, |joint| joint.id).ok()?;
        let joint = &self.joints.all[index];
        let rate = self.impulse_rate();
        Some(JointReaction { force: joint.linear.as_dvec3() * rate, torque: joint.angular.as_dvec3() * rate })
    }

    fn save_state(&self) -> Vec<u8> {
        // Writing to a growing vector cannot fail.
        let written = match &self.pending_restore {
            Some(memory) => postcard::to_allocvec(memory),
            None => postcard::to_allocvec(&self.saved_state()),
        };
        written.unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.pending_restore = if bytes.is_empty() {
            None
        } else {
            let malformed = |_| SnapshotError::Malformed("state of the real-time simulator");
            Some(postcard::from_bytes(bytes).map_err(malformed)?)
        };
        self.epoch =
            self.pending_restore.as_ref().map_or_else(Epoch::default, |saved: &SavedState| saved.epoch);
        Ok(())
    }
}
