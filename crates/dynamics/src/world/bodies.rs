//! All bodies of a world: records in stable slots, states side by side by status.
//!
//! A step of the dynamic bodies walks one contiguous array and contains no static ones; changing the status of a body
//! moves its state from one set to another.

use super::body::{BodyRecord, BodySet, Status};
use super::{BodyId, HandleMap, ShapeId};
use crate::error::Error;
use crate::rigid::{Inertia, Motion, Wrench};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// All bodies of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bodies {
    pub(super) records: HandleMap<BodyId, BodyRecord>,
    pub(super) sets: [BodySet; 4],
    /// Bodies with a gravity scale or with forces of their own, in the order in which they got them.
    pub(super) special: Vec<BodyId>,
}

impl Bodies {
    pub(super) fn insert(&mut self, mut record: BodyRecord, motion: Motion) -> BodyId {
        let inertia = effective_inertia(&record);
        let id = self.records.next_handle();
        record.index = self.sets[record.status.place()].push(id, motion, inertia);
        if record.is_special() {
            self.special.push(id);
        }
        self.records.insert(record)
    }

    pub(super) fn remove(&mut self, id: BodyId) -> Result<BodyRecord, Error> {
        let record = self.records.remove(id).ok_or(Error::UnknownBody(id))?;
        self.special.retain(|special| *special != id);
        self.take_state(&record);
        Ok(record)
    }

    fn take_state(&mut self, record: &BodyRecord) -> Motion {
        let (motion, moved) = self.sets[record.status.place()].take(record.index);
        if let Some(moved) = moved.and_then(|id| self.records.get_mut(id)) {
            moved.index = record.index;
        }
        motion
    }

    pub(super) fn set_status(&mut self, id: BodyId, status: Status) -> Result<(), Error> {
        let record = self.record(id)?.clone();
        if record.status == status {
            return Ok(());
        }
        let mut motion = self.take_state(&record);
        if matches!(status, Status::Fixed | Status::Disabled) {
            motion.v = glam::DVec3::ZERO;
            motion.omega = glam::DVec3::ZERO;
        }
        let moved = BodyRecord { status, ..record };
        let index = self.sets[status.place()].push(id, motion, effective_inertia(&moved));
        if let Some(record) = self.records.get_mut(id) {
            record.status = status;
            record.index = index;
        }
        Ok(())
    }

    /// Brings the list of bodies with loads of their own up to date with one of them.
    pub(super) fn refresh_special(&mut self, id: BodyId) {
        self.special.retain(|special| *special != id);
        if self.records.get(id).is_some_and(BodyRecord::is_special) {
            self.special.push(id);
        }
    }

    /// Whether no body has a gravity scale or forces of its own.
    pub(crate) const fn are_plain(&self) -> bool {
        self.special.is_empty()
    }

    /// Dynamic bodies with a gravity scale other than 1: place, and scale.
    pub(crate) fn scaled(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.special.iter().filter_map(|id| {
            let record = self.records.get(*id)?;
            (record.status == Status::Dynamic && record.gravity_scale != 1.0)
                .then_some((record.index as usize, record.gravity_scale))
        })
    }

    /// Dynamic bodies with forces of their own: place, force and torque.
    pub(crate) fn applied(&self) -> impl Iterator<Item = (usize, Wrench)> + '_ {
        self.special.iter().filter_map(|id| {
            let record = self.records.get(*id)?;
            (record.status == Status::Dynamic && record.applied != Wrench::default())
                .then_some((record.index as usize, record.applied))
        })
    }

    /// Body ⇒ factor on uniform gravity.
    pub fn gravity_scale_of(&self, id: BodyId) -> f64 {
        if self.are_plain() { 1.0 } else { self.records.get(id).map_or(1.0, |record| record.gravity_scale) }
    }

    /// Puts a changed inertia to use.
    pub(super) fn refresh_inertia(&mut self, id: BodyId) {
        if let Some(record) = self.records.get(id) {
            self.sets[record.status.place()].inertia[record.index as usize] = effective_inertia(record);
        }
    }

    pub(super) fn record(&self, id: BodyId) -> Result<&BodyRecord, Error> {
        self.records.get(id).ok_or(Error::UnknownBody(id))
    }

    pub(super) fn record_mut(&mut self, id: BodyId) -> Result<&mut BodyRecord, Error> {
        self.records.get_mut(id).ok_or(Error::UnknownBody(id))
    }

    /// Number of bodies of this status.
    pub fn count(&self, status: Status) -> usize {
        self.sets[status.place()].ids.len()
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.sets.iter().map(|set| set.ids.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ids of all bodies of this status, in the order of [`motion`](Self::motion).
    pub fn ids(&self, status: Status) -> &[BodyId] {
        &self.sets[status.place()].ids
    }

    /// States of all bodies of this status.
    pub fn motion(&self, status: Status) -> &[Motion] {
        &self.sets[status.place()].motion
    }

    /// Inertias of all bodies of this status.
    pub fn inertia(&self, status: Status) -> &[Inertia] {
        &self.sets[status.place()].inertia
    }

    /// States of the dynamic bodies to change, and their inertias.
    pub fn dynamic_mut(&mut self) -> (&mut [Motion], &[Inertia]) {
        let set = &mut self.sets[Status::Dynamic.place()];
        (&mut set.motion, &set.inertia)
    }

    /// Body ⇒ (status, place among the bodies of that status).
    pub fn locate(&self, id: BodyId) -> Option<(Status, usize)> {
        self.records.get(id).map(|record| (record.status, record.index as usize))
    }

    /// Body ⇒ state.
    pub fn motion_of(&self, id: BodyId) -> Option<&Motion> {
        self.locate(id).map(|(status, index)| &self.sets[status.place()].motion[index])
    }

    /// Body ⇒ inertia: nothing yields unless it is dynamic.
    pub fn inertia_of(&self, id: BodyId) -> Option<&Inertia> {
        self.locate(id).map(|(status, index)| &self.sets[status.place()].inertia[index])
    }

    pub(super) fn motion_of_mut(&mut self, id: BodyId) -> Result<&mut Motion, Error> {
        let (status, index) = self.locate(id).ok_or(Error::UnknownBody(id))?;
        Ok(&mut self.sets[status.place()].motion[index])
    }

    /// (body, its state) ⇒ pose of its body frame.
    pub fn pose_of(&self, id: BodyId, motion: &Motion) -> Pose {
        self.records
            .get(id)
            .map_or_else(|| motion.pose(), |record| motion.pose() * record.body_from_principal.inverse())
    }

    /// Body ⇒ its shapes.
    pub fn shape_ids(&self, id: BodyId) -> &[ShapeId] {
        self.records.get(id).map_or(&[], |record| &record.shapes)
    }

    /// Body ⇒ electric charge, C.
    pub fn charge_of(&self, id: BodyId) -> f64 {
        self.records.get(id).map_or(0.0, |record| record.charge)
    }

    /// Whether records and sets point at each other: what a snapshot from outside must satisfy.
    pub(super) fn is_consistent(&self) -> bool {
        self.records.is_consistent()
            && self.records.iter().count() == self.len()
            && self
                .sets
                .iter()
                .all(|set| set.motion.len() == set.ids.len() && set.inertia.len() == set.ids.len())
            && self.special.iter().all(|id| self.records.get(*id).is_some_and(BodyRecord::is_special))
            && Status::ALL.iter().all(|status| {
                self.ids(*status).iter().enumerate().all(|(i, id)| self.locate(*id) == Some((*status, i)))
            })
    }
}

impl BodyRecord {
    /// Whether it has a gravity scale or forces of its own.
    fn is_special(&self) -> bool {
        self.gravity_scale != 1.0 || self.applied != Wrench::default()
    }
}

/// Only dynamic bodies yield to forces, and those whose rotations are locked to no torque.
fn effective_inertia(record: &BodyRecord) -> Inertia {
    match record.status {
        Status::Dynamic if record.rotation_locked => {
            Inertia { inverse_moments: glam::DVec3::ZERO, ..record.inertia }
        }
        Status::Dynamic => record.inertia,
        _ => Inertia::default(),
    }
}
