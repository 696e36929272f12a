//! Interface between the free-motion simulator and its integrators.

use super::StepResult;
use crate::force::ForceAccumulator;
use crate::registry::Description;
use crate::rigid::{Inertia, Motion};
use crate::world::{Bodies, SnapshotError, Status, World};

/// The dynamic bodies of a world and their loads during a step.
#[derive(Debug)]
pub struct IntegrationContext<'w> {
    world: &'w mut World,
    loads: &'w mut ForceAccumulator,
    non_finite: &'w mut Vec<usize>,
    threads: u32,
}

impl<'w> IntegrationContext<'w> {
    pub(crate) const fn new(
        world: &'w mut World,
        loads: &'w mut ForceAccumulator,
        non_finite: &'w mut Vec<usize>,
        threads: u32,
    ) -> Self {
        Self { world, loads, non_finite, threads }
    }

    /// Time at the beginning of the step, s.
    pub const fn time(&self) -> f64 {
        self.world.time()
    }

    /// Number of dynamic bodies.
    pub fn count(&self) -> usize {
        self.world.bodies().count(Status::Dynamic)
    }

    /// All bodies.
    pub const fn bodies(&self) -> &Bodies {
        self.world.bodies()
    }

    /// Mutable states of the dynamic bodies, and their inertias.
    pub fn dynamic_mut(&mut self) -> (&mut [Motion], &[Inertia]) {
        self.world.bodies_mut().dynamic_mut()
    }

    /// Evaluates all forces at time t, s, for the present states.
    pub fn gather_loads(&mut self, t: f64) -> &ForceAccumulator {
        self.world.gather_loads(t, self.loads);
        self.loads
    }

    /// Evaluates all forces at time t, s ⇒ (mutable states, inertias, loads).
    pub fn gather_and_move(&mut self, t: f64) -> (&mut [Motion], &[Inertia], &ForceAccumulator) {
        self.world.gather_loads(t, self.loads);
        let (motion, inertia) = self.world.bodies_mut().dynamic_mut();
        (motion, inertia, self.loads)
    }

    /// Reports dynamic bodies, by index, whose loads or states are not finite. They are quarantined after the
    /// step; until then the integrator may give them any state.
    pub fn report_non_finite(&mut self, places: impl IntoIterator<Item = usize>) {
        self.non_finite.extend(places);
    }

    /// Moves the dynamic bodies by `advance`, which is called for one block of them at a time, so that each
    /// is loaded into the cache once. For integrators whose [`in_blocks`](BodyIntegrator::in_blocks) returns
    /// true.
    pub fn move_in_blocks(&mut self, advance: impl Fn(&mut [Motion], &[Inertia]) + Sync) {
        self.world.move_in_blocks(self.threads as usize, advance);
    }

    /// Whether all forces are independent of position, velocity and time.
    pub fn loads_are_uniform(&self) -> bool {
        self.world.forces_are_uniform()
    }

    /// Adds accepted and rejected sub-steps to the counters of the step.
    pub const fn count_substeps(&mut self, accepted: u64, rejected: u64) {
        let counters = self.world.counters_mut();
        counters.substeps += accepted;
        counters.rejected += rejected;
    }
}

/// A method that advances all dynamic bodies over a step.
pub trait BodyIntegrator: Send + std::fmt::Debug {
    /// Type name and settings, from which the registry can create it again.
    fn description(&self) -> Description;

    /// Moves the dynamic bodies from t to t + h.
    ///
    /// # Errors
    /// If the step fails; the caller restores the bodies then.
    fn advance(&mut self, context: &mut IntegrationContext<'_>, h: f64) -> StepResult;

    /// Whether the next step cannot fail and moves all bodies by [`IntegrationContext::move_in_blocks`]; then
    /// no copy of their states is kept to restore them.
    fn in_blocks(&self, _flow: &IntegrationContext<'_>) -> bool {
        false
    }

    /// Discards the history of earlier steps, because the world has changed since.
    fn reset(&mut self) {}

    /// History of earlier steps, serialised; empty for most methods.
    fn save_state(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores the result of [`save_state`](Self::save_state).
    ///
    /// # Errors
    /// If the bytes are malformed.
    fn restore_state(&mut self, _bytes: &[u8]) -> Result<(), SnapshotError> {
        Ok(())
    }
}
