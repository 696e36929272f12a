//! x

use serde::{Deserialize, Serialize};

/// What the event loop has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpulseCounters {
    /// Measured gaps.
    pub checks: u64,
    /// Collisions of every kind.
    pub collisions: u64,
    /// Slow ones among them.
    pub microcollisions: u64,
    /// Slow ones that were simply turned back.
    pub reversed: u64,
    /// Appointments at which the gap was not positive: always 0 unless a shape lies about itself.
    pub overlaps: u64,
    /// Pairs that were found near each other.
    pub pairs_made: u64,
    /// Bodies put to rest.
    pub rested: u64,
    /// Resting bodies disturbed.
    pub woken: u64,
    /// Pairs that stalled.
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
