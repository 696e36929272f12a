//! What an integrator of rigid bodies gets to work with.

use super::StepResult;
use crate::force::Loads;
use crate::motion::{Inertia, Motion};
use crate::registry::Description;
use crate::world::{Bodies, SnapshotError, Status, World};

/// The dynamic bodies of a world and the forces on them, for the length of a step.
#[derive(Debug)]
pub struct Flow<'w> {
    world: &'w mut World,
    loads: &'w mut Loads,
    sick: &'w mut Vec<usize>,
    threads: u32,
}

impl<'w> Flow<'w> {
    pub(crate) const fn new(
        world: &'w mut World,
        loads: &'w mut Loads,
        sick: &'w mut Vec<usize>,
        threads: u32,
    ) -> Self {
        Self { world, loads, sick, threads }
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

    /// States of the dynamic bodies to change, and their inertias.
    pub fn dynamic_mut(&mut self) -> (&mut [Motion], &[Inertia]) {
        self.world.bodies_mut().dynamic_mut()
    }

    /// Evaluates all forces at time t for the present states.
    pub fn gather_loads(&mut self, t: f64) -> &Loads {
        self.world.gather_loads(t, self.loads);
        self.loads
    }

    /// Evaluates all forces; ⇒ (states to change, inertias, loads).
    pub fn gather_and_move(&mut self, t: f64) -> (&mut [Motion], &[Inertia], &Loads) {
        self.world.gather_loads(t, self.loads);
        let (motion, inertia) = self.world.bodies_mut().dynamic_mut();
        (motion, inertia, self.loads)
    }

    /// Names dynamic bodies on which the loads gathered last are not finite. They are quarantined after the step; the
    /// integrator treats them as it likes meanwhile.
    pub fn report_sick(&mut self, places: impl IntoIterator<Item = usize>) {
        self.sick.extend(places);
    }

    /// Moves the dynamic bodies by `advance`, which sees some of them at a time, in one walk through memory. For integrators
    /// that promise so by [`in_blocks`](BodyIntegrator::in_blocks).
    pub fn move_in_blocks(&mut self, advance: impl Fn(&mut [Motion], &[Inertia]) + Sync) {
        self.world.move_in_blocks(self.threads as usize, advance);
    }

    /// Whether every force is the same at all positions, velocities and times.
    pub fn loads_are_uniform(&self) -> bool {
        self.world.forces_are_uniform()
    }

    /// Adds to the counters of the step.
    pub const fn count_substeps(&mut self, accepted: u64, rejected: u64) {
        let counters = self.world.counters_mut();
        counters.substeps += accepted;
        counters.rejected += rejected;
    }
}

/// A method that carries all dynamic bodies over a step.
pub trait BodyIntegrator: Send + std::fmt::Debug {
    /// Type name and settings, so that the registry can make it again.
    fn description(&self) -> Description;

    /// Moves the dynamic bodies from t to t + h. After an error the caller restores them.
    fn advance(&mut self, flow: &mut Flow<'_>, h: f64) -> StepResult;

    /// Whether the coming step never fails and moves everything by [`Flow::move_in_blocks`], so that no copy of all states need
    /// be kept to undo it.
    fn in_blocks(&self, _flow: &Flow<'_>) -> bool {
        false
    }

    /// Forgets earlier steps: someone else has changed the world since.
    fn reset(&mut self) {}

    /// What it remembers from earlier steps; empty for most.
    fn memory(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Puts back what [`memory`](Self::memory) gave.
    fn recall(&mut self, _memory: &[u8]) -> Result<(), SnapshotError> {
        Ok(())
    }
}
