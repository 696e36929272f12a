//! Epochs: which world it is, how often it has been stepped, and by which simulator last.
//!
//! A simulator mirrors the bodies of a world in arrays of its own and trusts them from step to step. The change log lists what was changed
//! between steps; an epoch covers the rest: that another simulator has stepped the world meanwhile, or that it is another world, such as
//! one restored from a snapshot.
//!
//! Simulators are numbered by the world in the order of their first steps. Numbers and counts are part of a snapshot, the identity of a world
//! is not: a restored world is another one for every living simulator, and the same one for a simulator that was restored with it.

use super::World;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// Identities given so far in this process; 0 is none.
static IDENTITIES: AtomicU64 = AtomicU64::new(0);

/// Identity of a world in memory. A copy is another world.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity(u64);

impl Default for Identity {
    fn default() -> Self {
        Self(IDENTITIES.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Simulators that have stepped a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Steppers {
    /// How many there were.
    count: u64,
    /// Number of the last, from 1; 0 if the world was never stepped.
    last: u64,
    /// Whether others than the present one have stepped the world.
    #[serde(skip)]
    others: bool,
}

/// A moment in the history of a world: identity of the world, number of the simulator that stepped it last, steps taken.
///
/// Two equal epochs of a world with equal [revisions](World::revision) name the same state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// 0 where it is not known yet: in a simulator that was restored.
    #[serde(skip)]
    world: u64,
    stepper: u64,
    step: u64,
}

impl Epoch {
    /// Whether both are of the same world in memory.
    pub const fn is_same_world(&self, other: &Self) -> bool {
        self.world == other.world
    }

    /// Steps taken since the world began.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Number of the simulator that stepped last, from 1 in the order of first steps; 0 if the world was never stepped.
    pub const fn stepper(&self) -> u64 {
        self.stepper
    }
}

/// What a simulator finds at the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// The world as its own last step left it, but for what the change log lists.
    Unbroken,
    /// The same world, stepped by another simulator since: states of bodies are others.
    SteppedByOthers,
    /// Another world, or the first step of this simulator.
    OtherWorld,
}

impl World {
    /// Identity, last simulator and step count: what a mirror of the world compares with to find out whether it is up to date.
    pub const fn epoch(&self) -> Epoch {
        Epoch { world: self.identity.0, stepper: self.steppers.last, step: self.counters.steps }
    }

    /// Epoch after a simulator's last step ⇒ what has happened since.
    pub(super) fn continuity(&mut self, own: &Epoch) -> Continuity {
        let other_world = own.stepper == 0 || (own.world != 0 && own.world != self.identity.0);
        self.steppers.others = self.steppers.count > u64::from(!other_world);
        if other_world {
            Continuity::OtherWorld
        } else if own.step == self.counters.steps && own.stepper == self.steppers.last {
            Continuity::Unbroken
        } else {
            Continuity::SteppedByOthers
        }
    }

    /// Whether others than the simulator whose step it is have stepped this world: bodies may overlap as far as those let them.
    pub(crate) const fn was_stepped_by_others(&self) -> bool {
        self.steppers.others
    }

    /// Marks the step that has just ended as taken by the simulator with this epoch ⇒ its new epoch.
    pub(crate) fn sign_step(&mut self, own: &Epoch) -> Epoch {
        self.steppers.last = if own.stepper == 0 || (own.world != 0 && own.world != self.identity.0) {
            self.steppers.count += 1;
            self.steppers.count
        } else {
            own.stepper
        };
        self.epoch()
    }
}
