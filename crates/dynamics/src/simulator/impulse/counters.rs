//! Counters of the event-driven simulator.

use serde::{Deserialize, Serialize};

/// Totals of the event loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpulseCounters {
    /// Measured gaps.
    pub checks: u64,
    /// Collisions of every kind.
    pub collisions: u64,
    /// Slow collisions among them.
    pub microcollisions: u64,
    /// Slow collisions resolved by reversing the relative velocity.
    pub reversed: u64,
    /// Events at which the gap was not positive; 0 unless the distance of a shape is wrong.
    pub overlaps: u64,
    /// Pairs created.
    pub pairs_made: u64,
    /// Bodies put to rest.
    pub rested: u64,
    /// Bodies woken.
    pub woken: u64,
    /// Stalls: pairs with too many events within one stall time.
    pub stalled: u64,
}

impl std::ops::AddAssign for ImpulseCounters {
    fn add_assign(&mut self, other: Self) {
        self.checks += other.checks;
        self.collisions += other.collisions;
        self.microcollisions += other.microcollisions;
        self.reversed += other.reversed;
        self.overlaps += other.overlaps;
        self.pairs_made += other.pairs_made;
        self.rested += other.rested;
        self.woken += other.woken;
        self.stalled += other.stalled;
    }
}
