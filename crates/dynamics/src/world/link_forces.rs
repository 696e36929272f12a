//! Forces of a world on the links of its multibodies.
//!
//! Forces act on dynamic bodies, and links are none. So they are shown the *loaded bodies*: a copy of the bodies of the world in which every link
//! that has a mass is dynamic, with the mass, centre of mass and motion of the link, after all other dynamic bodies. A wrench (f, τ) about the centre of
//! mass c of a link is (f, τ + (c − o) × f) about its origin o.
//!
//! The integrator of a multibody evaluates them at every state it visits. Rigid bodies are then where they were at the beginning of the step, moved on by
//! their velocities; in their own step they feel the forces between them and links from where the links end. Forces between the two are
//! therefore of first order in the length of the step, all others of the order of the integrator.
//!
//! Accelerations that are the same for every body are part of the gravity of a multibody and left out here.

use super::body::{BodyRecord, Status};
use super::multibody::MultibodyRecord;
use super::{Bodies, BodyId, ForceRecord, HandleMap, MultibodyId, World};
use crate::force::{ForceAccumulator, ForceContext, Targets};
use crate::multibody::{Link, LinkForces, SpatialForce, Vector, Workspace};
use crate::rigid::{Inertia, Motion, Wrench};
use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;

/// Where a link stands among the dynamic ones of the loaded bodies.
#[derive(Clone, Copy, Debug)]
struct LoadedLink {
    multibody: MultibodyId,
    link: u32,
    index: u32,
    center: DVec3,
    /// Force and torque given to its link body, and where they act in the link's frame.
    applied: Wrench,
    applied_at: DVec3,
}

/// The bodies of a world with its links among the dynamic ones.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedBodies {
    bodies: Bodies,
    links: Vec<LoadedLink>,
    loads: ForceAccumulator,
    /// Revision of the world and number of multibodies that it was copied from.
    copied: Option<(u64, usize)>,
}

impl World {
    /// Whether any force but uniform ones acts, so that links must be loaded.
    pub(super) fn loads_links(&self) -> bool {
        !self.multibodies.records.is_empty()
            && (!self.bodies.are_plain() || self.forces.iter().any(|(_, record)| !is_everywhere(record)))
    }

    /// Brings the loaded bodies up to date with the world and its multibodies.
    pub(super) fn update_loaded_bodies(&mut self) {
        let mut loaded = std::mem::take(&mut self.multibodies.loaded);
        let now = (self.change_log.revision(), self.multibody_count());
        if loaded.copied != Some(now) {
            loaded.copy(&self.bodies, &self.multibodies.records);
            loaded.copied = Some(now);
        }
        loaded.follow(&self.bodies, &self.multibodies.records);
        self.multibodies.loaded = loaded;
    }
}

impl World {
    /// Evaluates the forces on the links of a multibody at its present state.
    pub(super) fn load_multibody(&mut self, id: MultibodyId) {
        let loads = self.loads_links();
        if loads {
            self.update_loaded_bodies();
        }
        let mut multibodies = std::mem::take(&mut self.multibodies);
        if let Some(record) = multibodies.records.get_mut(id) {
            if loads {
                let clocks = [record.mechanism.time(), self.time];
                record.mechanism.load_links(&mut *multibodies.loaded.forces(self, id, clocks));
            } else {
                record.mechanism.unload_links();
            }
        }
        self.multibodies = multibodies;
    }
}

/// Whether a force is part of the gravity of multibodies.
pub(super) fn is_everywhere(record: &ForceRecord) -> bool {
    record.targets == Targets::All && (record.force.is_uniform() || record.force.type_name() == "gravity")
}

impl LoadedBodies {
    /// Copies the bodies and adds the links.
    fn copy(&mut self, bodies: &Bodies, multibodies: &HandleMap<MultibodyId, MultibodyRecord>) {
        self.bodies.clone_from(bodies);
        self.links.clear();
        for (multibody, record) in multibodies.iter() {
            for (index, link) in record.mechanism.tree().links().iter().enumerate() {
                if link.mass == 0.0 {
                    continue;
                }
                let body = record.links.iter().find(|own| own.index as usize == index).map(|own| own.body);
                self.add_link(multibody, index, link, body);
            }
        }
    }

    fn add_link(&mut self, multibody: MultibodyId, index: usize, link: &Link, body: Option<BodyId>) {
        let mut loaded = LoadedLink {
            multibody,
            link: index as u32,
            index: self.bodies.count(Status::Dynamic) as u32,
            center: link.center_of_mass,
            applied: Wrench::default(),
            applied_at: DVec3::ZERO,
        };
        let own = body.and_then(|body| self.bodies.note_applied(body, &mut loaded));
        let record = own.unwrap_or_else(|| empty_record(link));
        self.bodies.put_link(body, weighed(record, link));
        self.links.push(loaded);
    }

    /// States of all bodies as they are now.
    fn follow(&mut self, bodies: &Bodies, multibodies: &HandleMap<MultibodyId, MultibodyRecord>) {
        self.bodies.copy_states(bodies);
        for (id, record) in multibodies.iter() {
            self.place(id, record.mechanism.observed());
        }
    }

    /// Puts the links of a multibody where they are.
    fn place(&mut self, multibody: MultibodyId, links: &Workspace<f64>) {
        let states = self.bodies.dynamic_mut().0;
        for loaded in self.links.iter().filter(|loaded| loaded.multibody == multibody) {
            let link = loaded.link as usize;
            let (rotation, twist) = (links.rotation(link, 0), links.velocity(link));
            let (arm, omega) = (rotation * loaded.center, twist.angular.lane(0));
            states[loaded.index as usize] = Motion {
                x: links.origin(link, 0) + arm,
                q: DQuat::from_mat3(&rotation).normalize(),
                v: twist.linear.lane(0) + omega.cross(arm),
                omega,
            };
        }
    }

    /// Loads on the dynamic bodies of the world, links having their part in the forces between bodies.
    pub fn gather(&mut self, world: &World, t: f64, loads: &mut ForceAccumulator) {
        self.follow(&world.bodies, &world.multibodies.records);
        loads.clear(self.bodies.count(Status::Dynamic));
        for (_, record) in world.forces.iter() {
            record.force.apply(&ForceContext::new(t, &self.bodies, &world.shapes, &record.targets), loads);
        }
        loads.truncate(world.bodies.count(Status::Dynamic));
    }

    /// Forces on the links of a multibody; the clock of its mechanism stands at `clock` when that of the world stands at `start`.
    pub fn forces<'a>(
        &'a mut self,
        world: &'a World,
        multibody: MultibodyId,
        [clock, start]: [f64; 2],
    ) -> Box<LinkForces<'a>> {
        Box::new(move |t, links, forces| {
            let t = start + (t - clock);
            self.bodies.move_on(&world.bodies, t - world.time);
            self.place(multibody, links);
            self.loads.clear(self.bodies.count(Status::Dynamic));
            for (_, record) in world.forces.iter() {
                let scope = ForceContext::new(t, &self.bodies, &world.shapes, &record.targets);
                record.force.apply(&scope, &mut self.loads);
            }
            for loaded in self.links.iter().filter(|loaded| loaded.multibody == multibody) {
                let link = loaded.link as usize;
                let rotation = links.rotation(link, 0);
                let at = |wrench: Wrench, point: DVec3| SpatialForce {
                    torque: Vector::splat(wrench.torque + (rotation * point).cross(wrench.force)),
                    force: Vector::splat(wrench.force),
                };
                forces[link] += at(self.loads.wrench(loaded.index as usize), loaded.center);
                forces[link] += at(loaded.applied, loaded.applied_at);
            }
        })
    }
}

/// A body for a link without shapes.
fn empty_record(link: &Link) -> BodyRecord {
    BodyRecord {
        status: Status::Dynamic,
        index: 0,
        name: Some(link.name.clone()),
        can_sleep: false,
        groups: super::CollisionGroups::default(),
        charge: 0.0,
        body_from_principal: Pose::IDENTITY,
        mass: 0.0,
        inertia: Inertia::default(),
        shapes: Vec::new(),
        shape_revision: 0,
        gravity_scale: 1.0,
        rotation_locked: false,
        user_data: 0,
        applied: Wrench::default(),
        link: None,
        element: None,
        path: None,
        path_start: Pose::IDENTITY,
    }
}

/// The record of a dynamic body with the mass of a link. Forces ask for masses only: the moments are those about the link's axes.
fn weighed(record: BodyRecord, link: &Link) -> BodyRecord {
    let moments = DVec3::new(link.inertia.x_axis.x, link.inertia.y_axis.y, link.inertia.z_axis.z);
    BodyRecord {
        status: Status::Dynamic,
        body_from_principal: Pose::at(link.center_of_mass),
        mass: link.mass,
        inertia: Inertia {
            inverse_mass: link.mass.recip(),
            moments,
            inverse_moments: moments.recip(),
            ..Inertia::default()
        },
        applied: Wrench::default(),
        path: None,
        ..record
    }
}

impl Bodies {
    /// Notes what acts on a link body ⇒ its record.
    fn note_applied(&mut self, body: BodyId, loaded: &mut LoadedLink) -> Option<BodyRecord> {
        let record = self.record(body).ok()?.clone();
        loaded.applied = record.applied;
        loaded.applied_at = record.body_from_principal.translation;
        Some(record)
    }

    /// Adds a dynamic body for a link, in the place of its link body if it has one.
    fn put_link(&mut self, body: Option<BodyId>, record: BodyRecord) {
        let Some(id) = body else {
            self.insert(record, Motion::default());
            return;
        };
        if let Ok(own) = self.record_mut(id) {
            let (status, index) = (own.status, own.index);
            *own = BodyRecord { status, index, ..record };
        }
        self.refresh_special(id);
        // It was found a moment ago.
        let _ = self.set_status(id, Status::Dynamic);
    }

    /// Takes over the states of bodies that are in both; those of links stay.
    fn copy_states(&mut self, from: &Self) {
        let count = from.count(Status::Dynamic);
        self.dynamic_mut().0[..count].copy_from_slice(from.motion(Status::Dynamic));
        for (id, motion) in from.ids(Status::Kinematic).iter().zip(from.motion(Status::Kinematic)) {
            if let Some((Status::Kinematic, index)) = self.locate(*id) {
                self.sets[Status::Kinematic.place()].motion[index] = *motion;
            }
        }
    }

    /// States of the dynamic bodies that are in both after a time, at constant velocity.
    fn move_on(&mut self, from: &Self, time: f64) {
        let count = from.count(Status::Dynamic);
        for (own, then) in self.dynamic_mut().0[..count].iter_mut().zip(from.motion(Status::Dynamic)) {
            *own = *then;
            own.x += then.v * time;
            if then.omega != DVec3::ZERO {
                own.q = (DQuat::from_scaled_axis(then.omega * time) * then.q).normalize();
            }
        }
    }
}
