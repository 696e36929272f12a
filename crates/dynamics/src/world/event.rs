//! What a step has to tell besides new poses.

use super::BodyId;
use serde::{Deserialize, Serialize};

/// Something that happened during the last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Event {
    /// A body's state turned non-finite; it was put back to its last good state and made inactive.
    Quarantined {
        /// Which body.
        body: BodyId,
        /// Time after the step, s.
        time: f64,
    },
    /// A body left the bounds of the world and was made inactive.
    LeftBounds {
        /// Which body.
        body: BodyId,
        /// Time after the step, s.
        time: f64,
    },
}

/// What a step cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Steps taken since the world began.
    pub steps: u64,
    /// Sub-steps accepted in the last step.
    pub substeps: u64,
    /// Sub-steps tried and thrown away in the last step.
    pub rejected: u64,
    /// Evaluations of all forces in the last step.
    pub force_evaluations: u64,
}
