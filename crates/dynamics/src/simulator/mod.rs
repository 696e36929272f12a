//! Simulators: what moves a world through time. One folder each.

mod capabilities;
pub mod constraint;
mod contact_point;
mod context;
pub mod free;
pub mod impulse;
pub mod penalty;
pub mod realtime;
pub mod sequential;
mod stage_times;

pub use capabilities::{Capabilities, Feature, JointReaction, Warning, WorldItem, unsupported};
pub use constraint::{Constraint, ConstraintSettings};
pub use contact_point::ContactPoint;
pub use context::StepContext;
pub use free::{BodyIntegrator, FreeMotion, IntegrationContext};
pub use impulse::{Impulse, ImpulseSettings};
pub use penalty::{Penalty, PenaltySettings};
pub use realtime::{Realtime, RealtimeSettings};
pub use sequential::{Sequential, SequentialSettings};
pub use stage_times::StageTimes;

use crate::error::Error;
use crate::property::ComponentType;
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::world::{BodyId, JointId, SnapshotError, World};

/// Something that moves a world.
///
/// A step either succeeds, or leaves clock and bodies as they were and returns why; events and counters are those of the attempt.
pub trait Simulator: Send + std::fmt::Debug {
    /// Type name and settings, so that the registry can make it again.
    fn description(&self) -> Description;

    /// Moves the world by `dt` seconds.
    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error>;

    /// Where bodies touch, with the forces of the last step; empty for simulators without contacts.
    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        Vec::new()
    }

    /// Where one body touches others, with the forces of the last step.
    fn contacts_of(&self, world: &World, body: BodyId) -> Vec<ContactPoint> {
        let mut contacts = self.contacts(world);
        contacts.retain(|contact| contact.bodies.contains(&body));
        contacts
    }

    /// What a joint does to its second body in the last step; nothing if that is not known.
    fn joint_reaction(&self, _world: &World, _joint: JointId) -> Option<JointReaction> {
        None
    }

    /// What it does with what a world may hold; see [`unsupported`]. The default claims everything.
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    /// Bodies that rest and cost nothing until something disturbs them.
    fn sleeping_bodies(&self, _world: &World) -> Vec<BodyId> {
        Vec::new()
    }

    /// Where the time of the last step went; nothing if it does not look at the clock.
    fn stage_times(&self) -> Option<StageTimes> {
        None
    }

    /// State kept from earlier steps that is needed to go on bit for bit; empty for most.
    fn save_state(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Puts back what [`save_state`](Self::save_state) gave.
    fn restore_state(&mut self, _bytes: &[u8]) -> Result<(), SnapshotError> {
        Ok(())
    }
}

/// Registers the built-in integrators of rigid bodies.
pub(crate) fn register_integrators(
    integrators: &mut Catalogue<Box<dyn BodyIntegrator>>,
) -> Result<(), RegistryError> {
    free::register_integrators(integrators)
}

/// Registers the built-in simulators.
pub(crate) fn register_simulators(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    register(simulators, Constraint::new)?;
    free::register_simulator(simulators)?;
    register(simulators, Impulse::new)?;
    register(simulators, Penalty::new)?;
    register(simulators, Realtime::new)?;
    register(simulators, Sequential::new)
}

/// Registers a simulator that is made from settings of type S.
fn register<S: ComponentType, M: Simulator + 'static>(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
    make: fn(S) -> Result<M, Error>,
) -> Result<(), RegistryError> {
    simulators.register(Entry::new(S::TYPE_NAME, S::DOC, S::type_specs().to_vec(), move |given| {
        let settings = S::with(given).map_err(|error| error.to_string())?;
        let simulator = make(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
