//! What joints bear.

use super::bond::Tied;
use super::roster::Roster;
use crate::motion::Motion;
use crate::world::{JointId, World};
use glam::DVec3;

/// What a joint does to its body B (to A the opposite), at its anchor on B, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLoad {
    /// Which joint.
    pub joint: JointId,
    /// At the end of the step, N.
    pub force: DVec3,
    /// At the end of the step, N m.
    pub torque: DVec3,
    /// Of all collisions of the step, N s.
    pub impulse: DVec3,
    /// Of all collisions of the step, N m s.
    pub angular_impulse: DVec3,
}

/// Loads of all joints, in the order of the roster, and the largest of the step.
#[derive(Clone, Debug, Default)]
pub(super) struct JointLoads {
    pub loads: Vec<JointLoad>,
    peaks: Vec<[f64; 2]>,
}

impl JointLoads {
    /// Nothing has happened yet.
    pub fn restart(&mut self, roster: &Roster) {
        let zero = DVec3::ZERO;
        let none =
            |joint| JointLoad { joint, force: zero, torque: zero, impulse: zero, angular_impulse: zero };
        self.loads.clear();
        self.loads.extend(roster.bonds.iter().map(|bond| none(bond.id)));
        self.peaks.clear();
        self.peaks.resize(roster.bonds.len(), [0.0; 2]);
    }

    /// Makes the loads of some joints what they were: what bore them did not happen after all.
    pub fn take_back(&mut self, before: &Self, bonds: impl Iterator<Item = usize>) {
        for bond in bonds {
            self.loads[bond] = before.loads[bond];
            self.peaks[bond] = before.peaks[bond];
        }
    }

    /// Forces of rows that act now; those of joints of which there are none are left as they are.
    pub fn note<'s>(
        &mut self,
        roster: &Roster,
        motion: &[Motion],
        rows: impl Iterator<Item = (&'s Tied, f64)> + Clone,
    ) {
        for (tied, _) in rows.clone().filter(|(tied, _)| tied.is_hold()) {
            let load = &mut self.loads[tied.bond];
            (load.force, load.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        for (tied, lambda) in rows.clone().filter(|(tied, _)| tied.is_hold()) {
            let [force, torque] = tied.wrench(motion, roster);
            self.loads[tied.bond].force += lambda * force;
            self.loads[tied.bond].torque += lambda * torque;
        }
        for (tied, _) in rows.filter(|(tied, _)| tied.is_hold()) {
            let (load, peak) = (&self.loads[tied.bond], &mut self.peaks[tied.bond]);
            *peak = [peak[0].max(load.force.length()), peak[1].max(load.torque.length())];
        }
    }

    /// Impulses of a collision; for breaking they count as forces over the whole step.
    pub fn strike<'s>(
        &mut self,
        roster: &Roster,
        motion: &[Motion],
        dt: f64,
        rows: impl Iterator<Item = (&'s Tied, f64)>,
    ) {
        let mut touched = Vec::new();
        for (tied, p) in rows.filter(|(tied, _)| tied.is_hold()) {
            let [force, torque] = tied.wrench(motion, roster);
            self.loads[tied.bond].impulse += p * force;
            self.loads[tied.bond].angular_impulse += p * torque;
            if touched.last() != Some(&tied.bond) {
                touched.push(tied.bond);
            }
        }
        for bond in touched {
            let (load, peak) = (&self.loads[bond], &mut self.peaks[bond]);
            let (force, torque) = (load.impulse.length() / dt, load.angular_impulse.length() / dt);
            *peak = [peak[0].max(force), peak[1].max(torque)];
        }
    }

    /// Joints that have borne more than they can.
    pub fn broken(&self, world: &World) -> Vec<JointId> {
        let bears = |(load, [force, torque]): &(&JointLoad, &[f64; 2])| {
            world.joint(load.joint).is_ok_and(|record| {
                let breaking = record.breaking();
                *force > breaking.force || *torque > breaking.torque
            })
        };
        self.loads.iter().zip(&self.peaks).filter(bears).map(|(load, _)| load.joint).collect()
    }
}
