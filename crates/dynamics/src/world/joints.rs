//! Joints of a world.

use super::{BodyId, Event, HandleMap, JointId, World};
use crate::error::Error;
use crate::filter::Exclusion;
use crate::joint::{Breaking, Joint, JointRecord, Mount};
use crate::property::{self, Value};
use glam::DQuat;

/// All joints, and how often they have changed.
#[derive(Debug, Default)]
pub(crate) struct Joints {
    pub records: HandleMap<JointId, JointRecord>,
    /// A number that changes whenever a joint comes, goes or is set anew.
    pub revision: u64,
}

impl World {
    /// (where, what) ⇒ id of the new joint; refused without a trace if something is wrong with it. Its bodies wake up, and do not
    /// touch each other any more unless the mount says so.
    pub fn add_joint(&mut self, mount: Mount, joint: impl Joint + 'static) -> Result<JointId, Error> {
        self.add_boxed_joint(mount, Box::new(joint))
    }

    /// The same for a joint made by a registry.
    pub fn add_boxed_joint(&mut self, mount: Mount, joint: Box<dyn Joint>) -> Result<JointId, Error> {
        property::check(&*joint)?;
        let record = mount.fix(joint, |id| {
            let body = self.body(id)?;
            Ok((body.pose(), *body.body_from_principal()))
        })?;
        if let ([Some(a), Some(b)], false) = (record.bodies, record.collide) {
            self.pair_filter.exclude(a, b, Exclusion::Joint);
        }
        self.note_joint(record.bodies);
        Ok(self.joints.records.insert(record))
    }

    /// Takes a joint out; its bodies wake up and may touch each other again.
    pub fn remove_joint(&mut self, id: JointId) -> Result<Box<dyn Joint>, Error> {
        let record = self.joints.records.remove(id).ok_or(Error::UnknownJoint(id))?;
        if let ([Some(a), Some(b)], false) = (record.bodies, record.collide) {
            self.pair_filter.include(a, b, Exclusion::Joint);
        }
        self.note_joint(record.bodies);
        Ok(record.joint)
    }

    /// Id ⇒ joint.
    pub fn joint(&self, id: JointId) -> Result<&JointRecord, Error> {
        self.joints.records.get(id).ok_or(Error::UnknownJoint(id))
    }

    /// Name ⇒ id of the first joint called so.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.iter_joints().find(|(_, record)| record.name() == Some(name)).map(|(id, _)| id)
    }

    /// All joints in the order of their slots.
    pub fn iter_joints(&self) -> impl Iterator<Item = (JointId, &JointRecord)> + '_ {
        self.joints.records.iter()
    }

    /// How many joints there are.
    pub fn joint_count(&self) -> usize {
        self.joints.records.len()
    }

    /// Sets a property of a joint by name; refused without a trace if the value does not fit. Its bodies wake up.
    pub fn set_joint_property(&mut self, id: JointId, name: &str, value: Value) -> Result<(), Error> {
        let record = self.joints.records.get_mut(id).ok_or(Error::UnknownJoint(id))?;
        let before = record.joint.get(name)?;
        record.joint.set(name, value)?;
        if let Err(error) = record.joint.check() {
            record.joint.set(name, before)?;
            return Err(error);
        }
        let bodies = record.bodies;
        self.note_joint(bodies);
        Ok(())
    }

    /// Takes out the joints of a body that goes.
    pub(super) fn remove_joints_of(&mut self, body: BodyId) {
        let of_body: Vec<JointId> = self
            .iter_joints()
            .filter(|(_, record)| record.bodies.contains(&Some(body)))
            .map(|(id, _)| id)
            .collect();
        for id in of_body {
            // It was listed a moment ago.
            let _ = self.remove_joint(id);
        }
    }

    /// Takes out a joint that broke, and says so.
    pub(crate) fn break_joint(&mut self, id: JointId, time: f64) {
        let Ok(record) = self.joint(id) else { return };
        let bodies = record.bodies;
        if self.remove_joint(id).is_ok() {
            self.events.push(Event::JointBroke { time, joint: id, bodies });
        }
    }

    /// Brings the angles of all joints up to date with the poses of their bodies.
    pub(crate) fn follow_joints(&mut self) {
        let bodies = &self.bodies;
        for (_, record) in self.joints.records.iter_mut().filter(|(_, record)| record.joint.counts_turns()) {
            let rotation = |k: usize| -> Option<DQuat> {
                let own = record.frames[k].rotation;
                record.bodies[k].map_or(Some(own), |id| Some(bodies.motion_of(id)?.q * own))
            };
            if let (Some(a), Some(b)) = (rotation(0), rotation(1)) {
                record.follow([a, b]);
            }
        }
    }

    pub(crate) const fn joints(&self) -> &Joints {
        &self.joints
    }

    fn note_joint(&mut self, bodies: [Option<BodyId>; 2]) {
        self.joints.revision = self.joints.revision.wrapping_add(1);
        for body in bodies.into_iter().flatten() {
            self.journal.note(body);
        }
    }

    /// Changes when a joint breaks.
    pub fn set_joint_breaking(&mut self, id: JointId, breaking: Breaking) -> Result<(), Error> {
        breaking.check()?;
        self.joints.records.get_mut(id).ok_or(Error::UnknownJoint(id))?.breaking = breaking;
        self.joints.revision = self.joints.revision.wrapping_add(1);
        Ok(())
    }
}
