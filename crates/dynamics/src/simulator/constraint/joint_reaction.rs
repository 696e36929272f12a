//! Joint reactions: forces and impulses of the locked directions, and overload of joints that can break.

use super::joint_rows::ConstraintRow;
use crate::collision::WorldMirror;
use crate::rigid::Motion;
use crate::world::{JointId, World};
use glam::DVec3;

/// Reaction of a joint on its body B (the opposite acts on A), about its anchor on B, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLoad {
    /// The joint.
    pub joint: JointId,
    /// Force at the end of the step, N.
    pub force: DVec3,
    /// Torque at the end of the step, N m.
    pub torque: DVec3,
    /// Sum of the impulses of all impacts in the step, N s.
    pub impulse: DVec3,
    /// Sum of the angular impulses of all impacts in the step, N m s.
    pub angular_impulse: DVec3,
}

/// Reactions of all joints, in the order of the mirror.
#[derive(Clone, Debug, Default)]
pub(super) struct JointReactions {
    pub reactions: Vec<JointLoad>,
    /// Largest force, N, and torque, N m, of each joint in the step.
    peaks: Vec<[f64; 2]>,
}

impl JointReactions {
    /// Sets all reactions of a step to zero.
    pub fn reset(&mut self, mirror: &WorldMirror) {
        let zero = DVec3::ZERO;
        let none =
            |joint| JointLoad { joint, force: zero, torque: zero, impulse: zero, angular_impulse: zero };
        self.reactions.clear();
        self.reactions.extend(mirror.joints.iter().map(|joint| none(joint.id)));
        self.peaks.clear();
        self.peaks.resize(mirror.joints.len(), [0.0; 2]);
    }

    /// Restores the reactions of some joints from an earlier copy, for motion that is computed again.
    pub fn restore(&mut self, before: &Self, joints: impl Iterator<Item = usize>) {
        for joint in joints {
            self.reactions[joint] = before.reactions[joint];
            self.peaks[joint] = before.peaks[joint];
        }
    }

    /// Stores the forces of rows as the present reactions; joints without rows among them keep theirs.
    pub fn record_forces<'s>(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        rows: impl Iterator<Item = (&'s ConstraintRow, f64)> + Clone,
    ) {
        for (constraint, _) in rows.clone().filter(|(constraint, _)| constraint.is_locked()) {
            let reaction = &mut self.reactions[constraint.joint];
            (reaction.force, reaction.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        for (constraint, lambda) in rows.clone().filter(|(constraint, _)| constraint.is_locked()) {
            let [force, torque] = constraint.wrench(motion, mirror);
            self.reactions[constraint.joint].force += lambda * force;
            self.reactions[constraint.joint].torque += lambda * torque;
        }
        for (constraint, _) in rows.filter(|(constraint, _)| constraint.is_locked()) {
            let (reaction, peak) = (&self.reactions[constraint.joint], &mut self.peaks[constraint.joint]);
            *peak = [peak[0].max(reaction.force.length()), peak[1].max(reaction.torque.length())];
        }
    }

    /// Adds the impulses of an impact. Against break thresholds they count as mean forces over the step `dt`.
    pub fn record_impulses<'s>(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        dt: f64,
        rows: impl Iterator<Item = (&'s ConstraintRow, f64)>,
    ) {
        let mut struck = Vec::new();
        for (constraint, p) in rows.filter(|(constraint, _)| constraint.is_locked()) {
            let [force, torque] = constraint.wrench(motion, mirror);
            self.reactions[constraint.joint].impulse += p * force;
            self.reactions[constraint.joint].angular_impulse += p * torque;
            if struck.last() != Some(&constraint.joint) {
                struck.push(constraint.joint);
            }
        }
        for joint in struck {
            let (reaction, peak) = (&self.reactions[joint], &mut self.peaks[joint]);
            let (force, torque) = (reaction.impulse.length() / dt, reaction.angular_impulse.length() / dt);
            *peak = [peak[0].max(force), peak[1].max(torque)];
        }
    }

    /// Joints whose largest force or torque in the step exceeds their break threshold.
    pub fn overloaded(&self, world: &World) -> Vec<JointId> {
        let breaks = |(reaction, [force, torque]): &(&JointLoad, &[f64; 2])| {
            world.joint(reaction.joint).is_ok_and(|record| {
                let breaking = record.breaking();
                *force > breaking.force || *torque > breaking.torque
            })
        };
        self.reactions.iter().zip(&self.peaks).filter(breaks).map(|(reaction, _)| reaction.joint).collect()
    }
}
