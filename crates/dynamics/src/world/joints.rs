//! Joints of a world.

use super::{BodyId, Event, HandleMap, JointId, World};
use crate::error::Error;
use crate::filter::Exclusion;
use crate::joint::{BreakThresholds, Joint, JointFrame, JointFrames, JointMotion, JointRecord, JointState};
use crate::property::{self, Value};
use glam::DQuat;
use rattleback_geometry::Pose;
use std::any::Any;

/// All joints, and how often they have changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joints {
    pub records: HandleMap<JointId, JointRecord>,
    /// A number that changes whenever a joint comes, goes or is set anew.
    pub revision: u64,
    /// Joints whose angle is counted over whole turns, and the revision for which they were listed.
    pub turning: Option<(u64, Vec<JointId>)>,
}

impl World {
    /// (where, what) ⇒ id of the new joint; refused without a trace if something is wrong with it. Its bodies wake up, and do not
    /// touch each other any more unless the joint frames allow it.
    pub fn add_joint(
        &mut self,
        joint_frames: JointFrames,
        joint: impl Joint + 'static,
    ) -> Result<JointId, Error> {
        self.add_boxed_joint(joint_frames, Box::new(joint))
    }

    /// The same for a joint made by a registry.
    pub fn add_boxed_joint(
        &mut self,
        joint_frames: JointFrames,
        joint: Box<dyn Joint>,
    ) -> Result<JointId, Error> {
        property::check(&*joint)?;
        let record = joint_frames.fix(joint, |id| {
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

    /// Id ⇒ joint of a known kind.
    ///
    /// # Errors
    /// No such joint, or one of another kind.
    pub fn joint_as<J: Joint>(&self, id: JointId) -> Result<&J, Error> {
        let joint: &dyn Any = &*self.joint(id)?.joint;
        joint.downcast_ref().ok_or_else(|| wrong_kind::<J>(self.joints.records.get(id)))
    }

    /// Changes a joint of a known kind; refused without a trace if its settings do not fit afterwards. Its bodies wake up.
    ///
    /// ```
    /// use rattleback_dynamics::joint::{JointFrames, Revolute};
    /// use rattleback_dynamics::{Body, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let wheel = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.3)?))?;
    /// let hinge = world.add_joint(JointFrames::to_world(wheel), Revolute::default())?;
    /// world.change_joint::<Revolute>(hinge, |hinge| (hinge.speed, hinge.max_torque) = (2.0.into(), 50.0))?;
    /// assert_eq!(world.joint_as::<Revolute>(hinge)?.max_torque, 50.0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// No such joint, one of another kind, or settings that do not fit.
    pub fn change_joint<J: Joint + Clone>(
        &mut self,
        id: JointId,
        change: impl FnOnce(&mut J),
    ) -> Result<(), Error> {
        let mut changed = self.joint_as::<J>(id)?.clone();
        change(&mut changed);
        property::check(&changed)?;
        changed.check()?;
        let record = self.joints.records.get_mut(id).ok_or(Error::UnknownJoint(id))?;
        record.joint = Box::new(changed);
        let bodies = record.bodies;
        self.note_joint(bodies);
        Ok(())
    }

    /// Id ⇒ how frame B of a joint stands and moves in frame A.
    ///
    /// # Errors
    /// No such joint.
    pub fn joint_motion(&self, id: JointId) -> Result<JointMotion, Error> {
        let record = self.joint(id)?;
        let frame = |k: usize| match record.bodies[k] {
            None => Ok::<_, Error>(JointFrame::fixed(&record.frames[k])),
            Some(body) => Ok(JointFrame::on(self.body(body)?.motion(), &record.frames[k])),
        };
        let frames: [JointFrame; 2] = [frame(0)?, frame(1)?];
        let state = JointState { time: self.time, dt: 0.0, frames, turned: record.turned };
        let [a, b] = &frames;
        let own = a.rotation.conjugate();
        let at = |frame: &JointFrame| frame.velocity + frame.omega.cross(b.origin - frame.center);
        Ok(JointMotion {
            translation: own * state.offset(),
            rotation: state.rotation(),
            velocity: own * (at(b) - at(a)),
            angular_velocity: own * (b.omega - a.omega),
        })
    }

    /// Keeps the joints of a body where they are although its principal frame is another: `shift` leads from the old frame to the new.
    pub(super) fn move_joint_frames(&mut self, body: BodyId, shift: &Pose) {
        let mut moved = false;
        for (_, record) in self.joints.records.iter_mut() {
            for k in 0..2 {
                if record.bodies[k] == Some(body) {
                    let frame = *shift * record.frames[k];
                    record.frames[k] = Pose::new(frame.rotation.normalize(), frame.translation);
                    moved = true;
                }
            }
        }
        if moved {
            self.joints.revision = self.joints.revision.wrapping_add(1);
        }
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

    /// Removes a joint that broke and adds the event.
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
        let Joints { records, revision, turning } = &mut self.joints;
        if turning.as_ref().is_none_or(|(listed, _)| listed != revision) {
            let ids = records.iter().filter(|(_, record)| record.joint.counts_turns()).map(|(id, _)| id);
            *turning = Some((*revision, ids.collect()));
        }
        for id in turning.iter().flat_map(|(_, ids)| ids) {
            let Some(record) = records.get_mut(*id) else { continue };
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
            self.change_log.note(body);
        }
    }

    /// Changes when a joint breaks.
    pub fn set_joint_breaking(&mut self, id: JointId, breaking: BreakThresholds) -> Result<(), Error> {
        breaking.check()?;
        self.joints.records.get_mut(id).ok_or(Error::UnknownJoint(id))?.breaking = breaking;
        self.joints.revision = self.joints.revision.wrapping_add(1);
        Ok(())
    }
}

fn wrong_kind<J: Joint>(record: Option<&JointRecord>) -> Error {
    let kind = record.map_or("none", |record| record.joint.type_name());
    Error::Parameter { what: "kind of a joint", allowed: std::any::type_name::<J>(), value: kind.into() }
}
