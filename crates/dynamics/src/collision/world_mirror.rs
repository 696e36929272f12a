//! Mirror of the world in contiguous arrays: bodies, colliders, joints, and the near pairs of colliders.
//!
//! When the revision of the world has changed, the bodies in its change log are updated in place; if bodies,
//! shapes or joints were added or removed, everything is rebuilt. Warm start forces are kept elsewhere, by
//! shape, and outlast a rebuild.

use crate::collision::MirrorState;
use crate::error::Error;
use crate::island::{JointIsland, mechanisms};
use crate::joint::Locks;
use crate::rigid::{Inertia, Motion};
use crate::solver::DenseOutput;
use crate::world::{BodyId, BodyRef, CombinedMaterial, ContactModel, JointId, Path, ShapeId, Status, World};
use glam::DVec3;
use rattleback_geometry::contact::{ContactCache, Contacts};
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, Space, SpaceKind};
use rattleback_geometry::{Aabb, Pose, Shape};
use std::collections::BTreeMap;

/// A body.
#[derive(Clone, Debug)]
pub(crate) struct MirrorBody {
    pub id: BodyId,
    pub status: Status,
    /// Index among the bodies of its status in the world.
    pub slot: usize,
    pub inertia: Inertia,
    /// Of a kinematic body: path, its start pose, and the principal frame in the body frame.
    pub path: Option<(Path, Pose, Pose)>,
    /// Radius of a sphere about the centre of mass that contains all colliders, m; infinite with a
    /// half-space.
    pub radius: f64,
    /// [`BodyRef::shape_revision`] at the last update.
    shape_revision: u32,
}

impl MirrorBody {
    /// Whether impulses move it.
    pub fn is_dynamic(&self) -> bool {
        self.status == Status::Dynamic
    }

    /// State of a kinematic body at a time; `present` for any other.
    pub fn kinematic_state(&self, time: f64, present: &Motion) -> Motion {
        let Some((path, start, frame)) = &self.path else { return *present };
        let point = path.at(start, time);
        Motion::of_frame(&point.pose, point.velocity, point.angular_velocity, frame)
    }
}

/// A joint with at least one dynamic body.
#[derive(Clone, Debug)]
pub(crate) struct MirrorJoint {
    pub id: JointId,
    /// A and B, by index in the mirror; `None` is the world.
    pub bodies: [Option<u32>; 2],
    /// Joint frames in the principal frames of the bodies.
    pub frames: [Pose; 2],
    pub locks: Locks,
    /// Whether the joint defines rows besides its locks.
    pub has_rows: bool,
}

/// A shape attached to a body.
#[derive(Clone, Debug)]
pub(crate) struct MirrorCollider {
    pub id: ShapeId,
    pub body: u32,
    pub shape: Shape,
    /// Pose in the principal frame of the body.
    pub local_pose: Pose,
    pub sensor: bool,
    /// Whether its surface is curved, so that a contact point moves over it as it rolls.
    pub curved: bool,
    proxy: ProxyId,
    /// Half the longest side of its bounds, m; infinite for a half-space.
    size: f64,
    /// Bounds reported to the broad phase last; `None` for a shape without bounds.
    pub(crate) reported_bounds: Option<Aabb>,
    /// Bounds at the beginning of the sub-step; `None` for a shape without bounds.
    start_bounds: Option<Aabb>,
}

/// A pair of colliders that the broad phase reports.
#[derive(Clone, Debug)]
pub(crate) struct ColliderPair {
    pub colliders: [u32; 2],
    pub bodies: [u32; 2],
    pub shapes: [ShapeId; 2],
    pub material: CombinedMaterial,
    pub model: ContactModel,
    pub sensor: bool,
    /// Half length of the smaller collider, at most 1000 m.
    pub size: f64,
    pub cache: ContactCache,
    pub found: Contacts,
    /// Whether the swept bounds of this sub-step overlap. The broad phase also reports pairs of enlarged
    /// bounds, which depend on earlier steps; only near pairs count, so that islands depend on the present
    /// state alone.
    pub near: bool,
}

impl ColliderPair {
    /// Whether it can have contact forces in this sub-step.
    pub fn can_push(&self) -> bool {
        self.near && !self.sensor
    }
}

/// Contiguous copy of the world, with its broad phase.
#[derive(Debug)]
pub(crate) struct WorldMirror {
    kind: SpaceKind,
    pub(crate) revision: Option<u64>,
    /// Set by a rebuild; cleared by the stage that reports redundant joints.
    pub rebuilt: bool,
    counts: [usize; 4],
    joint_revision: u64,
    pub bodies: Vec<MirrorBody>,
    pub colliders: Vec<MirrorCollider>,
    /// Joints with at least one dynamic body, their mechanisms, and the mechanism of each body.
    pub joints: Vec<MirrorJoint>,
    pub mechanisms: Vec<JointIsland>,
    pub mechanism_of: Vec<Option<u32>>,
    /// By body: its integrated trajectory in a mechanism or contact phase.
    pub dense_outputs: Vec<DenseOutput>,
    /// By the indices of their colliders, the smaller first.
    pub pairs: BTreeMap<[u32; 2], ColliderPair>,
    space: Box<dyn Space>,
    /// Collider of each proxy of the broad phase.
    collider_of_proxy: Vec<u32>,
    changes: PairChanges,
    /// State from a snapshot, until the first pairs after it have been found.
    pub(crate) restored: Option<MirrorState>,
}

impl WorldMirror {
    pub fn new(kind: SpaceKind) -> Self {
        Self {
            kind,
            revision: None,
            rebuilt: true,
            counts: [0; 4],
            joint_revision: 0,
            bodies: Vec::new(),
            colliders: Vec::new(),
            joints: Vec::new(),
            mechanisms: Vec::new(),
            mechanism_of: Vec::new(),
            dense_outputs: Vec::new(),
            pairs: BTreeMap::new(),
            space: kind.create(),
            collider_of_proxy: Vec::new(),
            changes: PairChanges::default(),
            restored: None,
        }
    }

    /// Back to the state before the first world.
    pub fn clear(&mut self) {
        *self = Self::new(self.kind);
    }

    /// Updates or rebuilds the mirror if the revision of the world has changed.
    ///
    /// # Errors
    /// If the broad phase refuses a collider.
    pub fn sync(&mut self, world: &World) -> Result<(), Error> {
        let counts = [Status::Dynamic, Status::Kinematic, Status::Fixed, Status::Disabled]
            .map(|status| world.bodies().count(status));
        if self.revision == Some(world.revision()) && self.counts == counts {
            self.follow_links(world);
            return Ok(());
        }
        if self.refresh(world, counts) {
            return Ok(());
        }
        let restored = self.restored.take().filter(|state| state.revision == Some(world.revision()));
        let rebuilt = restored.as_ref().is_none_or(|state| state.rebuilt);
        let joint_revision = world.joints().revision;
        let empty = Self { rebuilt, counts, joint_revision, restored, ..Self::new(self.kind) };
        *self = Self { revision: Some(world.revision()), ..empty };
        for status in [Status::Dynamic, Status::Kinematic, Status::Fixed] {
            for (slot, id) in world.bodies().ids(status).iter().enumerate() {
                self.add_body(world, *id, status, slot)?;
            }
        }
        self.add_joints(world);
        self.space.build();
        Ok(())
    }

    /// Updates the paths of links, which are others in every step.
    fn follow_links(&mut self, world: &World) {
        for id in world.driven() {
            if let (Some((Status::Kinematic, slot)), Ok(body)) = (world.bodies().locate(*id), world.body(*id))
                && let Some(mirrored) = self.bodies.get_mut(self.counts[0] + slot)
            {
                mirrored.path = path_of(&body);
            }
        }
    }

    /// Updates inertia and path of the changed bodies ⇒ whether that suffices: no body, shape or joint was added
    /// or removed. The narrow phase starts without caches, as after a restore.
    fn refresh(&mut self, world: &World, counts: [usize; 4]) -> bool {
        let Some(changed) = self.revision.and_then(|revision| world.changed_since(revision)) else {
            return false;
        };
        let same_structure = self.restored.is_none()
            && self.counts == counts
            && self.joint_revision == world.joints().revision;
        // Dynamic bodies come first, in the order of the world, then kinematic ones.
        let index_of = |id: &BodyId| match world.bodies().locate(*id) {
            Some((Status::Dynamic, slot)) => Some(slot),
            Some((Status::Kinematic, slot)) => Some(counts[0] + slot),
            _ => None,
        };
        let same = |id: &BodyId| {
            let mirrored = index_of(id).and_then(|index| self.bodies.get(index));
            let body = world.body(*id).ok();
            mirrored.zip(body).is_some_and(|(mirrored, body)| {
                mirrored.id == *id
                    && mirrored.status == body.status()
                    && mirrored.shape_revision == body.shape_revision()
            })
        };
        if !(same_structure && changed.iter().all(same)) {
            return false;
        }
        for id in changed {
            if let (Some(index), Ok(body)) = (index_of(id), world.body(*id)) {
                let mirrored = &mut self.bodies[index];
                (mirrored.inertia, mirrored.path) = (inertia_of(world, &body), path_of(&body));
            }
        }
        self.follow_links(world);
        for pair in self.pairs.values_mut() {
            (pair.cache, pair.found) = (ContactCache::default(), Contacts::default());
        }
        (self.revision, self.rebuilt) = (Some(world.revision()), true);
        true
    }

    /// Adds the joints whose bodies are in the mirror, at least one of them dynamic.
    fn add_joints(&mut self, world: &World) {
        let index_of: BTreeMap<BodyId, u32> =
            self.bodies.iter().enumerate().map(|(index, body)| (body.id, index as u32)).collect();
        for (id, record) in world.iter_joints() {
            let known = record.bodies().map(|body| body.map(|body| index_of.get(&body).copied()));
            // Joints of a disabled body are disabled with it.
            if known.contains(&Some(None)) {
                continue;
            }
            let bodies = known.map(Option::flatten);
            let moves = |body: &u32| self.bodies[*body as usize].is_dynamic();
            if bodies.iter().flatten().any(moves) {
                let (locks, has_rows) = (record.kind().locks(), record.kind().has_rows());
                self.joints.push(MirrorJoint { id, bodies, frames: record.frames, locks, has_rows });
            }
        }
        (self.mechanisms, self.mechanism_of) = mechanisms(&self.bodies, &self.joints);
        self.dense_outputs.resize_with(self.bodies.len(), DenseOutput::default);
    }

    fn add_body(&mut self, world: &World, id: BodyId, status: Status, slot: usize) -> Result<(), Error> {
        let body = world.body(id)?;
        let frame = *body.body_from_principal();
        let mobility = if status == Status::Fixed { Mobility::Fixed } else { Mobility::Moving };
        let mut enclosing = 0.0_f64;
        for shape_id in body.shapes() {
            let attached = world.shape(*shape_id)?;
            let local_pose = frame.inverse() * attached.pose;
            let bounds = attached.shape.aabb(&(body.motion().pose() * local_pose));
            let proxy = self.space.insert_or_everywhere(bounds.as_ref(), mobility, 0)?;
            let index = proxy.index() as usize;
            if self.collider_of_proxy.len() <= index {
                self.collider_of_proxy.resize(index + 1, u32::MAX);
            }
            self.collider_of_proxy[index] = self.colliders.len() as u32;
            let radius = attached.shape.rotation_radius(DVec3::ZERO).unwrap_or(f64::INFINITY);
            let reported_bounds = bounds.filter(|_| mobility == Mobility::Fixed);
            let own = attached.shape.aabb(&Pose::IDENTITY);
            let size = own.map_or(f64::INFINITY, |bounds| bounds.half_extents().max_element());
            enclosing = enclosing.max(local_pose.translation.length() + radius);
            self.colliders.push(MirrorCollider {
                id: *shape_id,
                body: self.bodies.len() as u32,
                shape: attached.shape.clone(),
                local_pose,
                sensor: attached.sensor,
                curved: attached.shape.is_curved(),
                proxy,
                size,
                reported_bounds,
                start_bounds: bounds,
            });
        }
        self.bodies.push(MirrorBody {
            id,
            status,
            slot,
            inertia: inertia_of(world, &body),
            path: path_of(&body),
            radius: enclosing,
            shape_revision: body.shape_revision(),
        });
        Ok(())
    }

    /// Joints of some mechanisms, by index.
    pub fn joints_of<'s>(&'s self, mechanisms: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        mechanisms.iter().flat_map(|mechanism| &self.mechanisms[*mechanism].joints).copied()
    }

    /// Bounds of a collider while its body moves from one state to another, enlarged by a margin.
    fn swept(
        collider: &MirrorCollider,
        body: &MirrorBody,
        from: &Motion,
        to: &Motion,
        margin: f64,
    ) -> Option<Aabb> {
        let poses = [from, to].map(|motion| motion.pose() * collider.local_pose);
        let turn = 2.0 * (from.q.conjugate() * to.q).xyz().length().min(1.0).asin();
        swept_aabb(&collider.shape, poses, body.radius, turn, margin)
    }

    /// Reports the swept bounds of all colliders from `from` to `to` to the broad phase, and updates the
    /// pairs.
    ///
    /// # Errors
    /// If the broad phase refuses bounds.
    pub fn update_pairs(
        &mut self,
        world: &World,
        from: &[Motion],
        to: &[Motion],
        margin: f64,
    ) -> Result<(), Error> {
        for index in 0..self.colliders.len() {
            let collider = &self.colliders[index];
            let body = &self.bodies[collider.body as usize];
            if body.status == Status::Fixed {
                continue;
            }
            let (from, to) = (&from[collider.body as usize], &to[collider.body as usize]);
            // The world quarantines bodies whose state is not finite at the end of the step.
            if !(from.is_finite() && to.is_finite()) {
                continue;
            }
            let start_bounds = collider.shape.aabb(&(from.pose() * collider.local_pose));
            let swept = Self::swept(collider, body, from, to, margin);
            self.colliders[index].start_bounds = start_bounds;
            if let Some(bounds) = swept {
                self.report_bounds(index, bounds)?;
            }
        }
        self.step_broad_phase(world)
    }

    /// Whether the bounds of a pair overlap at the beginning of the sub-step, before any motion.
    pub fn overlaps_at_start(&self, pair: &ColliderPair) -> bool {
        let [a, b] = pair.colliders.map(|collider| self.colliders[collider as usize].start_bounds);
        a.zip(b).is_none_or(|(a, b)| a.overlaps(&b))
    }

    /// Enlarges the reported bounds of colliders that left them ⇒ whether there are new near pairs.
    ///
    /// # Errors
    /// If the broad phase refuses bounds.
    pub fn extend_bounds(&mut self, world: &World, from: &[Motion], to: &[Motion]) -> Result<bool, Error> {
        let mut left = false;
        for index in 0..self.colliders.len() {
            let collider = &self.colliders[index];
            let body = &self.bodies[collider.body as usize];
            let Some(reported_bounds) = collider.reported_bounds.filter(|_| body.status != Status::Fixed)
            else {
                continue;
            };
            let (from, to) = (&from[collider.body as usize], &to[collider.body as usize]);
            if !(from.is_finite() && to.is_finite()) {
                continue;
            }
            let Some(bounds) = Self::swept(collider, body, from, to, 0.0) else { continue };
            if !reported_bounds.contains_box(&bounds) {
                self.report_bounds(index, reported_bounds.union(&bounds))?;
                left = true;
            }
        }
        if !left {
            return Ok(false);
        }
        let near = |mirror: &Self| mirror.pairs.values().filter(|pair| pair.near).count();
        let before = near(self);
        self.step_broad_phase(world)?;
        Ok(near(self) > before)
    }

    fn report_bounds(&mut self, index: usize, bounds: Aabb) -> Result<(), Error> {
        let collider = &mut self.colliders[index];
        collider.reported_bounds = Some(bounds);
        self.space.update_or_everywhere(collider.proxy, Some(&bounds))?;
        Ok(())
    }

    fn step_broad_phase(&mut self, world: &World) -> Result<(), Error> {
        self.space.step(1, &mut self.changes);
        let key = |collider_of_proxy: &[u32], a: ProxyId, b: ProxyId| {
            let colliders = [collider_of_proxy[a.index() as usize], collider_of_proxy[b.index() as usize]];
            [colliders[0].min(colliders[1]), colliders[0].max(colliders[1])]
        };
        for pair in &self.changes.vanished {
            self.pairs.remove(&key(&self.collider_of_proxy, pair.a, pair.b));
        }
        for pair in &self.changes.appeared {
            let colliders = key(&self.collider_of_proxy, pair.a, pair.b);
            let [a, b] = colliders.map(|collider| &self.colliders[collider as usize]);
            let movable = [a, b].iter().any(|collider| self.bodies[collider.body as usize].is_dynamic());
            if a.body == b.body || !movable || !world.filter_pair(a.id, b.id)? {
                continue;
            }
            let restored = self.restored.as_ref().and_then(|state| state.cache(colliders));
            let cache = restored.map(|cache| ContactCache::restored(cache, &a.shape, &b.shape));
            self.pairs.insert(
                colliders,
                ColliderPair {
                    colliders,
                    bodies: [a.body, b.body],
                    shapes: [a.id, b.id],
                    material: world.combined_material(a.id, b.id)?,
                    model: world.contact_model(a.id, b.id),
                    sensor: a.sensor || b.sensor,
                    size: a.size.min(b.size).min(1e3),
                    cache: cache.unwrap_or_default(),
                    found: Contacts::default(),
                    near: true,
                },
            );
        }
        self.restored = None;
        for pair in self.pairs.values_mut() {
            let [a, b] = pair.colliders.map(|collider| self.colliders[collider as usize].reported_bounds);
            let near = a.zip(b).is_none_or(|(a, b)| a.overlaps(&b));
            if pair.near && !near {
                // A broad phase without enlarged bounds would have removed the pair and its cache.
                (pair.cache, pair.found) = (ContactCache::default(), Contacts::default());
            }
            pair.near = near;
            // Materials can change without a new revision of the world.
            pair.material = world.combined_material(pair.shapes[0], pair.shapes[1])?;
            pair.model = world.contact_model(pair.shapes[0], pair.shapes[1]);
        }
        Ok(())
    }
}

/// (shape, its poses at both ends, largest distance of its points from the centre of rotation, m, angle of rotation, rad, margin, m) ⇒
/// bounds of the shape on its way; `None` if it has none.
pub(crate) fn swept_aabb(
    shape: &Shape,
    [from, to]: [Pose; 2],
    reach: f64,
    turn: f64,
    margin: f64,
) -> Option<Aabb> {
    let both = shape.aabb(&from)?.union(&shape.aabb(&to)?);
    // Sagitta: largest distance of an arc from its chord; beyond half a turn, the diameter.
    let bulge = if turn >= std::f64::consts::PI {
        2.0 * reach
    } else if turn > 0.0 {
        reach * (1.0 - (0.5 * turn).cos())
    } else {
        0.0
    };
    both.enlarged(margin + bulge).ok()
}

/// Inertia with which a body responds to forces at present; that of an immovable one unless it is dynamic.
fn inertia_of(world: &World, body: &BodyRef<'_>) -> Inertia {
    world.bodies().inertia_of(body.id()).copied().unwrap_or_default()
}

/// Of a kinematic body: path, its start pose, and the principal frame in the body frame.
fn path_of(body: &BodyRef<'_>) -> Option<(Path, Pose, Pose)> {
    let (path, start) = body.path().filter(|_| body.status() == Status::Kinematic)?;
    Some((path.clone(), start, *body.body_from_principal()))
}
