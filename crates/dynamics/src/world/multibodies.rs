//! Multibodies of a world: coming and going, and a step of theirs.
//!
//! A step of a world moves the multibodies first, so that link bodies have their paths through the step when the simulator runs. The stages:
//! save the states → integrate each multibody under the forces of the world → give the link bodies their paths; then the simulator moves the
//! rigid bodies; at the end the link bodies get the poses and velocities of forward kinematics. A failure in any stage puts everything back.

use super::ledger::{WorkEntry, WorkSource};
use super::link_forces::{LoadedBodies, is_everywhere};
use super::multibody::{DrivenBody, LinkId, Multibody, MultibodyRecord, label};
use super::view_multibody::{MultibodyMut, MultibodyRef};
use super::{Body, BodyId, ColliderOwner, Event, HandleMap, MultibodyId, Status, World};
use crate::error::Error;
use crate::force::{ForceAccumulator, ForceContext};
use crate::multibody::{DynamicsError, LimitHit, LinkForces, Mechanism, MechanismState};
use glam::DVec3;

/// Most parts into which a step is divided for a multibody whose forces are too stiff for it.
const MOST_SUBSTEPS: u32 = 256;

/// All multibodies.
#[derive(Clone, Debug, Default)]
pub(super) struct Multibodies {
    pub records: HandleMap<MultibodyId, MultibodyRecord>,
    /// Link bodies that got another path at the beginning of the present step.
    pub driven: Vec<BodyId>,
    pub loads: ForceAccumulator,
    pub loaded: LoadedBodies,
}

impl World {
    /// Multibody ⇒ its id; refused without a trace if something is wrong with it. Couplings and loops must hold:
    /// [`Mechanism::assemble`] puts the state on them.
    ///
    /// # Errors
    /// Shapes, materials or poses that a body refuses, or accelerations that cannot be computed.
    pub fn add_multibody(&mut self, multibody: Multibody) -> Result<MultibodyId, Error> {
        let Multibody { name, mechanism, joint_names, parts, material, groups } = multibody;
        let mut record = MultibodyRecord::new(name, joint_names, mechanism);
        let gravity = self.multibody_gravity(self.time);
        set_gravity(&mut record.mechanism, gravity);
        let id = self.multibodies.records.next_handle();
        record.refresh().map_err(|source| Error::Mechanism { multibody: id, source: source.into() })?;
        let mut added = Vec::new();
        for link in 0..record.mechanism.tree().links().len() {
            let own: Vec<_> = parts.iter().filter(|(owner, _)| *owner == link).collect();
            if own.is_empty() {
                continue;
            }
            let link_name = &record.mechanism.tree().links()[link].name;
            let name =
                record.name.as_ref().map_or_else(|| link_name.clone(), |name| format!("{name}/{link_name}"));
            let mut body = Body::new(Status::Kinematic).named(name).pose(record.link_pose(link));
            for (_, part) in own {
                body = body.with_part(part.clone());
            }
            body = material.into_iter().fold(body, Body::material);
            body = groups.into_iter().fold(body, Body::groups);
            match self.add_body(body) {
                Ok(body) => added.push((link as u32, body)),
                Err(error) => {
                    for (_, body) in added.into_iter().rev() {
                        // It came a moment ago.
                        let _ = self.remove_body(body);
                    }
                    return Err(error);
                }
            }
        }
        for (link, body) in &added {
            self.bodies.record_mut(*body)?.link = Some(LinkId { multibody: id, index: *link });
        }
        record.links = added.into_iter().map(|(link, body)| DrivenBody::new(link, body)).collect();
        record.place_links(&mut self.bodies);
        self.multibodies.records.insert(record);
        self.spoil_ledger();
        if let Err(error) = self.follow_multibody_change(id) {
            // It came a moment ago.
            let _ = self.remove_multibody(id);
            return Err(error);
        }
        Ok(id)
    }

    /// Takes a multibody and its link bodies out of the world.
    ///
    /// # Errors
    /// There is no such multibody.
    pub fn remove_multibody(&mut self, id: MultibodyId) -> Result<Mechanism, Error> {
        let record = self.multibodies.records.remove(id).ok_or(Error::UnknownMultibody(id))?;
        for link in &record.links {
            self.bodies.record_mut(link.body)?.link = None;
            self.remove_body(link.body)?;
        }
        self.spoil_ledger();
        Ok(record.mechanism)
    }

    /// Id ⇒ read-only view.
    ///
    /// # Errors
    /// There is no such multibody.
    pub fn multibody(&self, id: MultibodyId) -> Result<MultibodyRef<'_>, Error> {
        let record = self.multibodies.records.get(id).ok_or(Error::UnknownMultibody(id))?;
        Ok(MultibodyRef { id, record })
    }

    /// Id ⇒ view for changes between steps.
    ///
    /// # Errors
    /// There is no such multibody.
    pub fn multibody_mut(&mut self, id: MultibodyId) -> Result<MultibodyMut<'_>, Error> {
        self.multibody(id)?;
        Ok(MultibodyMut { id, world: self })
    }

    /// All multibodies in the order of their slots.
    pub fn iter_multibodies(&self) -> impl Iterator<Item = MultibodyRef<'_>> + '_ {
        self.multibodies.records.iter().map(|(id, record)| MultibodyRef { id, record })
    }

    /// Name ⇒ id of the first multibody called so.
    pub fn find_multibody(&self, name: &str) -> Option<MultibodyId> {
        self.iter_multibodies().find(|multibody| multibody.name() == Some(name)).map(|multibody| multibody.id)
    }

    /// How many multibodies there are.
    pub fn multibody_count(&self) -> usize {
        self.multibodies.records.len()
    }

    /// Link bodies that got another path at the beginning of the present step.
    pub(crate) fn driven(&self) -> &[BodyId] {
        &self.multibodies.driven
    }

    /// Refuses what would part a body from the link or element that it represents.
    pub(super) fn refuse_link_body(&self, body: BodyId, operation: &'static str) -> Result<(), Error> {
        match self.owner_of(body)? {
            ColliderOwner::Body(_) => Ok(()),
            owner => Err(Error::OwnedBody { body, owner, operation }),
        }
    }

    /// Acceleration that the forces on the whole world which are the same everywhere give at a time, m/s².
    pub(super) fn multibody_gravity(&mut self, t: f64) -> DVec3 {
        let mut loads = std::mem::take(&mut self.multibodies.loads);
        let gravity = self.gravity_at(t, &mut loads);
        self.multibodies.loads = loads;
        gravity
    }

    fn gravity_at(&self, t: f64, loads: &mut ForceAccumulator) -> DVec3 {
        loads.clear(self.bodies.count(Status::Dynamic));
        for (_, record) in self.forces.iter() {
            if is_everywhere(record) {
                let scope = ForceContext::new(t, &self.bodies, &self.shapes, &record.targets);
                record.force.apply(&scope, loads);
            }
        }
        loads.uniform_acceleration()
    }

    /// Σ over all multibodies: kinetic and potential energy, J, and mass, kg.
    pub(super) fn multibody_energy(&self) -> [f64; 3] {
        let mut sum = [0.0; 3];
        if self.multibody_count() == 0 {
            return sum;
        }
        let gravity = self.gravity_at(self.time, &mut ForceAccumulator::default());
        for (_, record) in self.multibodies.records.iter() {
            sum[0] += record.readout.kinetic_energy;
            sum[1] += record.readout.potential_energy(gravity);
            sum[2] += record.readout.mass;
        }
        sum
    }

    /// Whether anything drives a joint.
    pub(super) fn has_driven_multibody(&self) -> bool {
        self.multibodies.records.iter().any(|(_, record)| record.mechanism.is_driven())
    }

    /// Moves all multibodies from `start` by `dt` and gives link bodies their paths.
    pub(crate) fn begin_multibodies(&mut self, start: f64, dt: f64) -> Result<(), Error> {
        self.multibodies.driven.clear();
        if self.multibodies.records.is_empty() {
            return Ok(());
        }
        let gravity = self.multibody_gravity(start + 0.5 * dt);
        let mut failure = None;
        let loads = self.loads_links();
        if loads {
            self.update_loaded_bodies();
        }
        let mut multibodies = std::mem::take(&mut self.multibodies);
        let Multibodies { records, loaded, .. } = &mut multibodies;
        for (id, record) in records.iter_mut() {
            record.mechanism.save_to(&mut record.before);
            record.readout_before = record.readout;
            record.accelerations_before.copy_from_slice(&record.accelerations);
            record.hits.clear();
            if failure.is_some() {
                continue;
            }
            set_gravity(&mut record.mechanism, gravity);
            let MultibodyRecord { mechanism, before, hits, .. } = record;
            let clocks = [before.time, start];
            let done = if loads {
                let mut forces = loaded.forces(self, id, clocks);
                record.link_power[0] = mechanism.load_links(&mut *forces);
                let done = advance(mechanism, before, hits, dt, Some(&mut *forces));
                record.link_power[1] = mechanism.load_links(&mut *forces);
                done
            } else {
                mechanism.unload_links();
                record.link_power = [0.0; 2];
                advance(mechanism, before, hits, dt, None)
            };
            failure = done.and_then(|()| record.refresh()).err().map(|source| Error::MultibodyStep {
                multibody: id,
                time: start,
                dt,
                source,
            });
        }
        self.multibodies = multibodies;
        for (_, record) in self.multibodies.records.iter_mut() {
            record.links.iter_mut().for_each(|link| link.save(&self.bodies));
        }
        if let Some(error) = failure {
            self.roll_back_multibodies();
            return Err(error);
        }
        let end = start + dt;
        let Self { multibodies, bodies, .. } = self;
        for (_, record) in multibodies.records.iter_mut() {
            for place in 0..record.links.len() {
                let to = record.link_pose(record.links[place].index as usize);
                if record.links[place].set_path(bodies, to, [start, end, dt]) {
                    multibodies.driven.push(record.links[place].body);
                }
            }
        }
        for index in 0..self.multibodies.driven.len() {
            self.follow_path(self.multibodies.driven[index]);
        }
        Ok(())
    }

    /// At the end of a step: link bodies where forward kinematics has them, and the work done in the joints.
    pub(super) fn end_multibodies(&mut self, h: f64) {
        let mut multibodies = std::mem::take(&mut self.multibodies);
        for (id, record) in multibodies.records.iter_mut() {
            let start = self.time - h;
            for hit in &record.hits {
                self.events.push(limit_event(id, record, hit, start));
            }
            record.links.iter_mut().for_each(|link| link.release(&mut self.bodies));
            record.place_links(&mut self.bodies);
            if self.keeps_ledger() {
                for (category, joules) in record.work(h) {
                    let source = WorkSource::Multibody(id);
                    self.add_work(WorkEntry { category, source, point: None, joules });
                }
            }
        }
        self.multibodies = multibodies;
    }

    /// Puts all multibodies and their link bodies back to the beginning of the step.
    pub(crate) fn roll_back_multibodies(&mut self) {
        let Self { multibodies, bodies, .. } = self;
        for (_, record) in multibodies.records.iter_mut() {
            record.mechanism.load_from(&record.before);
            // The same was computed at the end of the last step.
            let _ = record.refresh();
            record.accelerations.copy_from_slice(&record.accelerations_before);
            record.links.iter_mut().for_each(|link| link.roll_back(bodies));
        }
        multibodies.driven.clear();
    }

    /// Evaluates a multibody whose state was changed.
    pub(super) fn refresh_multibody(&mut self, id: MultibodyId) -> Result<(), Error> {
        let record = self.multibodies.records.get_mut(id).ok_or(Error::UnknownMultibody(id))?;
        record.refresh().map_err(|source| Error::Mechanism { multibody: id, source: source.into() })
    }

    /// Evaluates a multibody that was changed between steps, and lists its links as changed.
    pub(super) fn follow_multibody_change(&mut self, id: MultibodyId) -> Result<(), Error> {
        self.load_multibody(id);
        self.refresh_multibody(id)?;
        let record = self.multibodies.records.get(id).ok_or(Error::UnknownMultibody(id))?;
        record.place_links(&mut self.bodies);
        for link in &record.links {
            self.change_log.note(link.body);
        }
        self.spoil_ledger();
        Ok(())
    }

    /// Name for messages: that of the multibody, or its id.
    pub fn multibody_label(&self, id: MultibodyId) -> String {
        let name = self.multibodies.records.get(id).and_then(|record| record.name.clone());
        name.unwrap_or_else(|| label(id))
    }
}

/// Replaces gravity only if it is another: a replaced one makes the method begin anew.
fn set_gravity(mechanism: &mut Mechanism, gravity: DVec3) {
    if mechanism.gravity() != gravity {
        mechanism.set_gravity(gravity);
    }
}

/// A limit that was reached in a step that began at `start`.
fn limit_event(multibody: MultibodyId, record: &MultibodyRecord, hit: &LimitHit, start: f64) -> Event {
    let tree = record.mechanism.tree();
    let link = tree.link_of_velocity(hit.axis).unwrap_or_default();
    Event::JointLimit {
        time: start + (hit.time - record.before.time),
        link: LinkId { multibody, index: link as u32 },
        axis: hit.axis - tree.velocities_of(link).start,
        upper: hit.upper,
        speed: hit.speed,
    }
}

/// A step of a mechanism, in 2, 4, 8, … parts if the iteration does not converge; notes limits that are reached.
fn advance(
    mechanism: &mut Mechanism,
    before: &MechanismState,
    hits: &mut Vec<LimitHit>,
    dt: f64,
    mut forces: Option<&mut LinkForces<'_>>,
) -> Result<(), DynamicsError> {
    let mut parts = 1;
    loop {
        let h = dt / f64::from(parts);
        let mut part = |_| {
            match &mut forces {
                Some(forces) => mechanism.step_under(h, forces)?,
                None => mechanism.step(h)?,
            };
            hits.extend_from_slice(mechanism.limit_hits());
            Ok(())
        };
        match (0..parts).try_for_each(&mut part) {
            Err(DynamicsError::NotConverged { .. }) if parts < MOST_SUBSTEPS => {
                mechanism.load_from(before);
                hits.clear();
                parts *= 2;
            }
            done => return done,
        }
    }
}
