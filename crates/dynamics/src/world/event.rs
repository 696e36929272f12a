//! What a step has to tell besides new poses.

use super::{BodyId, JointId, ShapeId, WorkCategory, WorkSource};
use crate::filter::Rejection;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Something that happened during the last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Event {
    /// A body's state turned non-finite; it was put back to its last good state and disabled.
    Quarantined {
        /// Which body.
        body: BodyId,
        /// Time after the step, s.
        time: f64,
    },
    /// A body left the bounds of the world and was disabled.
    LeftBounds {
        /// Which body.
        body: BodyId,
        /// Time after the step, s.
        time: f64,
    },
    /// Two bodies collided.
    Collision {
        /// When, s.
        time: f64,
        /// Who.
        bodies: [BodyId; 2],
        /// Where, m.
        point: DVec3,
        /// From the first to the second.
        normal: DVec3,
        /// On the second body, N s.
        impulse: DVec3,
        /// One of the many slow collisions by which a body rests on another.
        slow: bool,
    },
    /// Two shapes began to touch; one of them may be a sensor.
    ContactBegan {
        /// When, s.
        time: f64,
        /// Who.
        bodies: [BodyId; 2],
        /// With which shapes.
        shapes: [ShapeId; 2],
    },
    /// Two shapes touch no more, or one of them is gone.
    ContactEnded {
        /// When, s.
        time: f64,
        /// Who.
        bodies: [BodyId; 2],
        /// With which shapes.
        shapes: [ShapeId; 2],
    },
    /// A body fell asleep: it rests and costs nothing until something disturbs it.
    Slept {
        /// When, s.
        time: f64,
        /// Which body.
        body: BodyId,
    },
    /// A body woke up.
    Woke {
        /// When, s.
        time: f64,
        /// Which body.
        body: BodyId,
    },
    /// Two bodies collide so often that time hardly passes.
    Stalled {
        /// When, s.
        time: f64,
        /// Who.
        bodies: [BodyId; 2],
    },
    /// A joint was loaded or drawn apart beyond what it bears, and is gone.
    JointBroke {
        /// Time after the step, s.
        time: f64,
        /// Which it was.
        joint: JointId,
        /// What it held together; none is the world.
        bodies: [Option<BodyId>; 2],
    },
    /// Bodies did not fit their joints, in place or in velocity, and were put to the nearest state that does.
    JointsInconsistent {
        /// When, s.
        time: f64,
        /// Which joints.
        joints: Vec<JointId>,
        /// By how much they contradict each other, m or rad: 0 if a state that fits was found.
        apart: f64,
    },
    /// Joints say again what others say: how they share loads is anybody's choice.
    JointsRedundant {
        /// When, s.
        time: f64,
        /// Which joints have a part in that.
        joints: Vec<JointId>,
        /// Rows of all joints of the assembly.
        rows: usize,
        /// How many of them are independent.
        rank: usize,
    },
    /// Two shapes came close that may not touch.
    Filtered {
        /// Time after the step, s.
        time: f64,
        /// Whose shapes.
        bodies: [BodyId; 2],
        /// Which, in the same order.
        shapes: [ShapeId; 2],
        /// Who forbids it.
        why: Rejection,
    },
    /// A scene without motors, driven bodies or driving forces has gained energy; told where an
    /// [energy ledger](super::EnergyLedger) is kept.
    EnergyGained {
        /// Time after the step, s.
        time: f64,
        /// How much, above what there was before, J.
        gained: f64,
        /// What has given most of it.
        category: WorkCategory,
        /// The contact, joint, body or force that gave most at once.
        source: WorkSource,
        /// Where, m, if that is known.
        point: Option<DVec3>,
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
