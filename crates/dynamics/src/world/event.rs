//! Events of a step.

use super::{BodyId, JointId, LinkId, ShapeId, WorkCategory, WorkSource};
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
        /// Time, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
        /// Position, m.
        point: DVec3,
        /// Unit normal from the first body to the second.
        normal: DVec3,
        /// On the second body, N s.
        impulse: DVec3,
        /// One of the many slow collisions by which a body rests on another.
        slow: bool,
    },
    /// Two shapes began to touch; one of them may be a sensor.
    ContactBegan {
        /// Time, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
        /// Their shapes.
        shapes: [ShapeId; 2],
    },
    /// Two shapes separated, or one of them was removed.
    ContactEnded {
        /// Time, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
        /// Their shapes.
        shapes: [ShapeId; 2],
    },
    /// A body fell asleep: it is at rest and not simulated until it is disturbed.
    Slept {
        /// Time, s.
        time: f64,
        /// Which body.
        body: BodyId,
    },
    /// A body woke up.
    Woke {
        /// Time, s.
        time: f64,
        /// Which body.
        body: BodyId,
    },
    /// The collisions of two bodies exceeded the limit of a step: they are frozen for its rest.
    Stalled {
        /// Time, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
    },
    /// A joint exceeded its break thresholds and was removed.
    JointBroke {
        /// Time after the step, s.
        time: f64,
        /// The joint.
        joint: JointId,
        /// The bodies it connected; `None` is the world.
        bodies: [Option<BodyId>; 2],
    },
    /// Positions or velocities violated joints, and were projected to the nearest consistent state.
    JointsInconsistent {
        /// Time, s.
        time: f64,
        /// The joints.
        joints: Vec<JointId>,
        /// Remaining violation, m or rad; 0 if a consistent state was found.
        apart: f64,
    },
    /// Constraint rows of joints are linearly dependent; the split of the reaction is indeterminate.
    JointsRedundant {
        /// Time, s.
        time: f64,
        /// The joints of the mechanism.
        joints: Vec<JointId>,
        /// Constraint rows of all its joints.
        rows: usize,
        /// Rank: number of independent rows.
        rank: usize,
    },
    /// A new pair of shapes cannot collide.
    Filtered {
        /// Time after the step, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
        /// Their shapes, in the same order.
        shapes: [ShapeId; 2],
        /// Why not.
        why: Rejection,
    },
    /// A scene without motors, driven bodies or driving forces has gained energy; needs an
    /// [energy ledger](super::EnergyLedger).
    EnergyGained {
        /// Time after the step, s.
        time: f64,
        /// Gain over the lowest energy so far, J.
        gained: f64,
        /// Category with the largest share.
        category: WorkCategory,
        /// The contact, joint, body or force with the largest single contribution.
        source: WorkSource,
        /// Position, m, if known.
        point: Option<DVec3>,
    },
    /// A joint of a multibody reached its limit with speed.
    JointLimit {
        /// Time, s.
        time: f64,
        /// The link whose joint it is.
        link: LinkId,
        /// Which of the joint's velocities.
        axis: usize,
        /// Whether it is the upper limit.
        upper: bool,
        /// Speed of arrival, rad/s or m/s.
        speed: f64,
    },
    /// The normal force between two shapes exceeded a
    /// [threshold](super::World::set_contact_force_threshold).
    ContactForce {
        /// Time after the step, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
        /// Their shapes, in the same order.
        shapes: [ShapeId; 2],
        /// Sum of the normal forces of their contact points, mean of the step, N.
        force: f64,
    },
}

/// Counters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Steps taken since the world began.
    pub steps: u64,
    /// Sub-steps accepted in the last step.
    pub substeps: u64,
    /// Sub-steps rejected in the last step.
    pub rejected: u64,
    /// Evaluations of all forces in the last step.
    pub force_evaluations: u64,
}
