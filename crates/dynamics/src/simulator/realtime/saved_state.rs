//! Saved state of the simulator: a run restored from a snapshot continues bit for bit.
//!
//! Shapes, masses and joints are part of the world. Saved here are sleeping islands and still times, the
//! pairs and their order, their manifolds with impulses, the caches of the narrow phase, impulses of joints,
//! and the enlarged bounding boxes that decide when pairs begin and end. The pairs that the broad phase had
//! reported are saved for comparison with those that a new one finds.

use super::contact::{Contact, SavedContact};
use super::contact_graph::{ContactGraph, ContactPair};
use super::manifold_constraint::ManifoldConstraint;
use super::separation_bound::StepDisplacement;
use super::sim_bodies::{Activity, NONE, SimBodies, SimBody, SimCollider, has_equal_moments};
use super::sleep::SavedIslands;
use super::{Realtime, RealtimeCounters};
use crate::world::{BodyId, BodyRef, CombinedMaterial, Epoch, Handle, JointId, ShapeId, Status, World};
use glam::{DVec3, Vec3};
use rattleback_geometry::space::{Mobility, Pair, PairChanges, Space};
use rattleback_geometry::{Aabb, Pose, Shape};
use serde::{Deserialize, Serialize};

/// Saved body.
#[derive(Debug, Serialize, Deserialize)]
struct SavedBody {
    id: BodyId,
    status: Status,
    colliders: Vec<u32>,
    shape_revision: u32,
    asleep: bool,
    island: u32,
    still_time: f32,
    still_pose: Pose,
    constrained: bool,
    high_mass_ratio: bool,
    displacement: StepDisplacement,
}

/// Saved collider, with its boxes in the broad phase.
#[derive(Debug, Serialize, Deserialize)]
struct SavedCollider {
    id: ShapeId,
    body: u32,
    mobility: bool,
    bounds: Aabb,
    enlarged: Aabb,
}

/// Saved impulses of a joint.
#[derive(Debug, Serialize, Deserialize)]
struct SavedJoint {
    id: JointId,
    linear: Vec3,
    angular: Vec3,
    rows: Option<Vec<f32>>,
}

/// State of the simulator between two steps. The order of the fields is the serialised layout.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedState {
    pub epoch: Epoch,
    revision: Option<u64>,
    joint_revision: Option<u64>,
    counts: [usize; 4],
    pending: Vec<BodyId>,
    added: Vec<BodyId>,
    bodies: Vec<Option<SavedBody>>,
    colliders: Vec<Option<SavedCollider>>,
    /// Unused proxy slots in the order of their reuse, last first.
    free_colliders: Vec<u32>,
    /// Pairs that the broad phase had reported.
    reported_pairs: Vec<[u32; 2]>,
    /// Pairs by slot, unused ones included.
    pairs: Vec<ContactPair>,
    free_pairs: Vec<u32>,
    contacts: Vec<Option<SavedContact>>,
    free_contacts: Vec<u32>,
    islands: SavedIslands,
    joints: Vec<SavedJoint>,
    substeps: [usize; 2],
    dt: f64,
    high_mass_ratio: Vec<u32>,
    counters: RealtimeCounters,
}

impl Realtime {
    /// Simulator ⇒ state to be saved.
    pub(super) fn saved_state(&self) -> SavedState {
        let save_body = |sim_body: &SimBody| SavedBody {
            id: sim_body.id,
            status: sim_body.status,
            colliders: sim_body.colliders.clone(),
            shape_revision: sim_body.shape_revision,
            asleep: sim_body.asleep,
            island: sim_body.island,
            still_time: sim_body.still_time,
            still_pose: sim_body.still_pose,
            constrained: sim_body.constrained,
            high_mass_ratio: sim_body.high_mass_ratio,
            displacement: self.sim_bodies.displacements[sim_body.id.slot() as usize],
        };
        let save_collider = |collider: &SimCollider| {
            let bounds = self.space.bounds(collider.proxy).ok()?;
            let enlarged = self.space.enlarged(collider.proxy).ok()?;
            let mobility = self.space.proxies().is_moving(collider.proxy.index());
            Some(SavedCollider { id: collider.id, body: collider.body, mobility, bounds, enlarged })
        };
        let joints = self.joints.all.iter().map(|joint| SavedJoint {
            id: joint.id,
            linear: joint.linear,
            angular: joint.angular,
            rows: joint.rows.as_ref().map(|rows| rows.to_vec()),
        });
        let reported_pairs = self.space.pairs().iter().map(|pair| [pair.a.index(), pair.b.index()]).collect();
        SavedState {
            epoch: self.epoch,
            revision: self.sim_bodies.revision,
            joint_revision: self.joints.revision,
            counts: self.sim_bodies.counts,
            pending: self.sim_bodies.pending.clone(),
            added: self.sim_bodies.added.clone(),
            bodies: self.sim_bodies.bodies.iter().map(|slot| slot.as_ref().map(save_body)).collect(),
            colliders: self
                .sim_bodies
                .colliders
                .iter()
                .map(|slot| slot.as_ref().and_then(save_collider))
                .collect(),
            free_colliders: self.space.proxies().free().to_vec(),
            reported_pairs,
            pairs: self.contact_graph.pairs.clone(),
            contacts: self
                .contact_graph
                .contacts
                .iter()
                .map(|slot| slot.as_ref().map(Contact::saved))
                .collect(),
            free_pairs: self.contact_graph.free_pairs.clone(),
            free_contacts: self.contact_graph.free_contacts.clone(),
            islands: self.islands.saved(),
            joints: joints.collect(),
            substeps: self.substeps,
            dt: self.dt,
            high_mass_ratio: self.high_mass_ratio.clone(),
            counters: self.counters,
        }
    }

    /// Restores a saved state of this world; starts from the world alone if the two do not fit.
    pub(super) fn restore(&mut self, saved: SavedState, world: &World) {
        self.reset();
        if saved.fits() && self.try_restore(saved, world).is_none() {
            self.reset();
        }
    }

    /// `None` if something does not fit after all; the simulator is then partially restored.
    fn try_restore(&mut self, saved: SavedState, world: &World) -> Option<()> {
        self.sim_bodies = saved.sim_bodies(world, &mut *self.space)?;
        self.sim_bodies.revision = saved.revision;
        self.sim_bodies.counts = saved.counts;
        self.sim_bodies.pending = saved.pending;
        self.sim_bodies.added = saved.added;
        self.contact_graph = ContactGraph::default();
        for pair in saved.pairs {
            self.contact_graph.restore_pair(pair);
        }
        for slot in saved.contacts {
            let contact = match slot {
                Some(contact) => Some(contact.restored(&self.sim_bodies, &self.settings)?),
                None => None,
            };
            self.contact_graph.contacts.push(contact);
        }
        (self.contact_graph.free_pairs, self.contact_graph.free_contacts) =
            (saved.free_pairs, saved.free_contacts);
        self.islands.restore(saved.islands);
        self.joints.sync(world);
        self.joints.revision = saved.joint_revision;
        for saved_joint in &saved.joints {
            let Ok(index) = self.joints.all.binary_search_by_key(&saved_joint.id, |joint| joint.id) else {
                continue;
            };
            let joint = &mut self.joints.all[index];
            (joint.linear, joint.angular) = (saved_joint.linear, saved_joint.angular);
            if let (Some(rows), Some(kept)) = (&mut joint.rows, &saved_joint.rows)
                && rows.len() == kept.len()
            {
                rows.copy_from_slice(kept);
            }
        }
        self.substeps = saved.substeps;
        self.dt = saved.dt;
        self.high_mass_ratio = saved.high_mass_ratio;
        self.counters = saved.counters;
        self.reported_pairs = Some(saved.reported_pairs);
        Some(())
    }

    /// After a restore: changes of the pairs since the save, as the old broad phase would have reported them.
    pub(super) fn pair_changes_since_save(&self, reported_pairs: &[[u32; 2]], changes: &mut PairChanges) {
        let now = self.space.pairs();
        let key = |pair: &Pair| [pair.a.index(), pair.b.index()];
        changes.clear();
        changes.appeared.extend(now.iter().filter(|pair| reported_pairs.binary_search(&key(pair)).is_err()));
        let proxies = self.space.proxies();
        let gone = reported_pairs.iter().filter(|pair| now.binary_search_by_key(*pair, key).is_err());
        changes.vanished.extend(gone.map(|[a, b]| Pair { a: proxies.id(*a), b: proxies.id(*b) }));
    }
}

impl SavedState {
    /// Whether all indices in it are valid.
    fn fits(&self) -> bool {
        let (body_count, collider_count) = (self.bodies.len(), self.colliders.len());
        let (contact_count, pair_count) = (self.contacts.len(), self.pairs.len());
        let exists = |slot: u32| self.colliders.get(slot as usize).is_some_and(Option::is_some);
        let body_fits = |(slot, sim_body): (usize, &SavedBody)| {
            sim_body.id.slot() as usize == slot
                && sim_body.still_time.is_finite()
                && (sim_body.island == NONE || self.islands.has(sim_body.island))
                && sim_body.asleep == (sim_body.island != NONE)
                && sim_body.colliders.iter().all(|collider| exists(*collider))
        };
        let collider_fits =
            |collider: &SavedCollider| self.bodies.get(collider.body as usize).is_some_and(Option::is_some);
        let each_once = |list: &[u32], count: usize, free: &dyn Fn(usize) -> bool| {
            let mut seen = vec![false; count];
            list.iter().all(|slot| {
                let slot = *slot as usize;
                slot < count && free(slot) && !std::mem::replace(&mut seen[slot], true)
            })
        };
        let known = |slot: &u32| (*slot as usize) < body_count;
        let unused = self.colliders.iter().filter(|collider| collider.is_none()).count();
        self.bodies
            .iter()
            .enumerate()
            .filter_map(|(slot, sim_body)| Some((slot, sim_body.as_ref()?)))
            .all(body_fits)
            && self.colliders.iter().flatten().all(collider_fits)
            && self.free_colliders.len() == unused
            && each_once(&self.free_colliders, collider_count, &|slot| self.colliders[slot].is_none())
            && each_once(&self.free_contacts, contact_count, &|slot| self.contacts[slot].is_none())
            && each_once(&self.free_pairs, pair_count, &|slot| self.pairs[slot].is_free())
            && self.contacts_fit()
            && self.reported_pairs.is_sorted()
            && self.reported_pairs.iter().flatten().all(|collider| exists(*collider))
            && self.islands.is_consistent()
            && self.islands.members().all(|slot| known(&slot))
            && self.high_mass_ratio.iter().all(known)
            && self.substeps.iter().all(|count| (1..=1_000_000).contains(count))
            && self.dt.is_finite()
    }

    /// Whether every pair is of existing colliders and has a contact of its own.
    fn contacts_fit(&self) -> bool {
        let body_of = |slot: u32| {
            self.colliders.get(slot as usize).and_then(Option::as_ref).map(|collider| collider.body)
        };
        let mut taken = vec![false; self.contacts.len()];
        let fits = |pair: &ContactPair| {
            if pair.is_free() {
                return pair.contact == NONE;
            }
            let contact = self.contacts.get(pair.contact as usize).and_then(Option::as_ref);
            let own_contact = match contact {
                Some(contact) => {
                    contact.colliders() == pair.colliders
                        && !std::mem::replace(&mut taken[pair.contact as usize], true)
                }
                None => pair.contact == NONE,
            };
            own_contact && !pair.needs_contact && pair.colliders.map(body_of) == pair.bodies.map(Some)
        };
        self.pairs.iter().all(fits)
    }

    /// Mirror of the bodies, with the same colliders in the same proxy slots.
    fn sim_bodies(&self, world: &World, space: &mut dyn Space) -> Option<SimBodies> {
        let mut sim_bodies = SimBodies::default();
        for (slot, saved) in self.bodies.iter().enumerate() {
            sim_bodies.bodies.push(None);
            sim_bodies.activities.push(Activity::Static);
            sim_bodies
                .displacements
                .push(saved.as_ref().map_or(StepDisplacement::REST, |saved| saved.displacement));
            let Some(saved) = saved else { continue };
            let body = world.body(saved.id).ok();
            sim_bodies.activities[slot] = match saved.status {
                Status::Dynamic if saved.asleep => Activity::Asleep,
                Status::Dynamic => Activity::Awake,
                Status::Kinematic => Activity::KinematicAtRest,
                Status::Fixed | Status::Disabled => Activity::Static,
            };
            sim_bodies.bodies[slot] = Some(SimBody {
                id: saved.id,
                status: saved.status,
                index: world.bodies().locate(saved.id).map_or(NONE, |(_, index)| index as u32),
                colliders: saved.colliders.clone(),
                shape_revision: saved.shape_revision,
                can_sleep: body.as_ref().is_none_or(BodyRef::can_sleep),
                asleep: saved.asleep,
                island: saved.island,
                still_time: saved.still_time,
                still_pose: saved.still_pose,
                constrained: saved.constrained,
                solver_index: NONE,
                high_mass_ratio: saved.high_mass_ratio,
                jointed: false,
                nutates: false,
                reach: 0.0,
                half_thickness: f64::INFINITY,
                equal_moments: body.as_ref().is_none_or(|body| has_equal_moments(body.inertia().moments)),
            });
        }
        let nowhere = Aabb::new(DVec3::ZERO, DVec3::ZERO).ok()?;
        for (slot, saved) in self.colliders.iter().enumerate() {
            let proxy = match saved {
                Some(collider) => {
                    let mobility = if collider.mobility { Mobility::Moving } else { Mobility::Fixed };
                    space.insert_enlarged(&collider.bounds, &collider.enlarged, mobility, 0).ok()?
                }
                None => space.insert(&nowhere, Mobility::Fixed, 0).ok()?,
            };
            if proxy.index() as usize != slot {
                return None;
            }
            sim_bodies.colliders.push(saved.as_ref().and_then(|saved| {
                // A body that was removed meanwhile is dropped in the next synchronisation; until then a
                // placeholder keeps its slot.
                Some(match (world.shape(saved.id), self.bodies[saved.body as usize].as_ref()) {
                    (Ok(attached), Some(sim_body)) if attached.body == sim_body.id => {
                        let principal = world.body(sim_body.id).ok()?.body_from_principal().inverse();
                        SimCollider::new(attached, &principal, saved.id, saved.body, proxy)
                    }
                    _ => {
                        let shape = Shape::sphere(1.0).ok()?;
                        let collider = SimCollider::plain(shape, Pose::IDENTITY, saved.id, saved.body, proxy);
                        SimCollider { sensor: true, ..collider }
                    }
                })
            }));
        }
        for slot in &self.free_colliders {
            let id = space.proxies().id(*slot);
            space.remove(id).ok()?;
        }
        space.build();
        space.step(1, &mut PairChanges::default());
        for slot in 0..sim_bodies.bodies.len() {
            sim_bodies.update_extents(slot as u32);
        }
        Some(sim_bodies)
    }
}

/// Whether the numbers of points are in range.
pub(super) fn are_valid_manifolds(manifolds: &[ManifoldConstraint]) -> bool {
    manifolds.iter().all(|manifold| manifold.count as usize <= manifold.points.len())
}

/// Whether a material holds only finite, non-negative numbers in range.
pub(super) fn is_valid_material(material: &CombinedMaterial) -> bool {
    [
        material.restitution,
        material.static_friction,
        material.kinetic_friction,
        material.rolling_friction,
        material.spinning_friction,
    ]
    .iter()
    .all(|number| (0.0..=1e6).contains(number))
}
