//! Mirror of the world's bodies and colliders in contiguous arrays, synchronised by the world's change log.

use super::body_degree::BodyDegree;
use super::separation_bound::StepDisplacement;
use super::tuning::REBUILD_CHANGES;
use crate::error::Error;
use crate::rigid::Motion;
use crate::world::{AttachedShape, BodyId, Handle, ShapeId, Status, World};
use glam::DVec3;
use rattleback_geometry::space::{Mobility, ProxyId, Space, SpaceError, everywhere};
use rattleback_geometry::{Aabb, Pose, Shape};

/// Null index.
pub(super) const NONE: u32 = u32::MAX;
/// In place of a solver index: the body is integrated over the present step outside the sweeps.
pub(super) const EXACT: u32 = NONE - 2;

/// One collider of a body.
#[derive(Clone, Debug)]
pub(super) struct SimCollider {
    pub shape: Shape,
    /// Shape → principal frame of the body.
    pub local_pose: Pose,
    /// Whether that is the identity and its box is centred on the origin: the rule for bodies of one shape.
    pub centered: bool,
    pub id: ShapeId,
    /// Slot of its body.
    pub body: u32,
    pub proxy: ProxyId,
    pub sensor: bool,
    /// One-sided collider: resists only what approaches against this direction of the principal frame.
    pub one_way: Option<DVec3>,
    /// Centre of its bounding box, in the principal frame.
    pub center: DVec3,
    /// Largest distance of a point from the centre, m; infinite for a half-space.
    pub radius: f64,
    /// Half extents of its bounding box in its own frame, m; infinite for a half-space.
    pub half_extents: DVec3,
    /// Half of its smallest extent, m: moving less than that in a step it cannot pass through anything.
    pub half_thickness: f64,
}

/// One body of the simulator.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct SimBody {
    pub id: BodyId,
    pub status: Status,
    /// Index among the bodies of its status.
    pub index: u32,
    pub colliders: Vec<u32>,
    /// [`BodyRef::shape_revision`](crate::world::BodyRef::shape_revision) at the last synchronisation.
    pub shape_revision: u32,
    pub can_sleep: bool,
    pub asleep: bool,
    /// Its sleeping island, or [`NONE`].
    pub island: u32,
    /// Time for which it has been still, s.
    pub still_time: f32,
    /// Pose near which it has stayed since then.
    pub still_pose: Pose,
    /// Whether contacts or joints acted on it in the last step; else it flew freely.
    pub constrained: bool,
    /// Index in its solver during the present step.
    pub solver_index: u32,
    /// Whether its island has a high mass ratio in the present step, and is solved with more sub-steps.
    pub high_mass_ratio: bool,
    /// Whether a joint of it is solved in the present step.
    pub jointed: bool,
    /// Whether its free rotation is integrated in every sub-step of the present step (`gyroscopic`).
    pub nutates: bool,
    /// Largest distance of its surface from the centre of mass, m; smallest half extent of its colliders, m.
    pub reach: f64,
    pub half_thickness: f64,
    /// The same moment of inertia about every axis: free rotation keeps ω constant.
    pub equal_moments: bool,
}

impl SimCollider {
    /// (shape, body → principal frame, id, slot of its body, proxy in the broad phase) ⇒ collider.
    pub fn new(attached: &AttachedShape, principal: &Pose, id: ShapeId, body: u32, proxy: ProxyId) -> Self {
        let one_way = attached.one_way.map(|direction| principal.vector(direction));
        let (shape, local_pose) = (attached.shape.clone(), *principal * attached.pose);
        Self { sensor: attached.sensor, one_way, ..Self::plain(shape, local_pose, id, body, proxy) }
    }

    /// A two-sided collider that is not a sensor.
    pub fn plain(shape: Shape, local_pose: Pose, id: ShapeId, body: u32, proxy: ProxyId) -> Self {
        let local_bounds = shape.aabb(&Pose::IDENTITY);
        let center = local_bounds.map_or(DVec3::ZERO, |bounds| bounds.center());
        let radius = shape.rotation_radius(center).unwrap_or(f64::INFINITY);
        let half_extents = local_bounds.map_or(DVec3::INFINITY, |bounds| bounds.half_extents());
        let half_thickness = half_extents.min_element();
        let (sensor, one_way) = (false, None);
        let center_in_body = local_pose.point(center);
        Self {
            center: center_in_body,
            centered: local_pose == Pose::IDENTITY && center_in_body == DVec3::ZERO,
            shape,
            local_pose,
            id,
            body,
            proxy,
            sensor,
            one_way,
            radius,
            half_extents,
            half_thickness,
        }
    }

    /// Bounding box for the next step: enlarged on all sides by a margin, and by the displacement of the next
    /// step if that is larger. Fast bodies must be found before they touch, so that impacts are resolved at
    /// their time.
    #[inline]
    pub fn step_bounds(&self, motion: &Motion, a: DVec3, dt: f64, margin: f64) -> Option<Aabb> {
        let pose = if self.centered { motion.pose() } else { motion.pose() * self.local_pose };
        let tight = self.shape.aabb(&pose)?;
        let rotation_travel = (motion.omega.length() * dt).min(1.0) * self.radius;
        let enlargement = if rotation_travel > margin { margin + rotation_travel } else { margin };
        let displacement = self.velocity(motion) * dt + a * (0.5 * dt * dt);
        let (mut min, mut max) = (tight.min(), tight.max());
        if enlargement > 0.0 {
            (min, max) = (min - enlargement, max + enlargement);
        }
        if displacement.length_squared() > margin * margin {
            (min, max) = (min + displacement.min(DVec3::ZERO), max + displacement.max(DVec3::ZERO));
        }
        Some(Aabb::new(min, max).unwrap_or(tight))
    }

    /// Velocity of its centre.
    #[inline]
    pub fn velocity(&self, motion: &Motion) -> DVec3 {
        if self.centered { motion.v } else { motion.v + motion.omega.cross(motion.q * self.center) }
    }
}

impl SimBody {
    /// Its state.
    #[inline]
    pub fn motion<'w>(&self, world: &'w World) -> Option<&'w Motion> {
        world.bodies().motion(self.status).get(self.index as usize)
    }
}

/// Activity of a body, packed for the pair loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Activity {
    /// Static, or removed.
    #[default]
    Static,
    /// Kinematic, at rest at present.
    KinematicAtRest,
    Asleep,
    Awake,
    /// Kinematic, moving.
    KinematicMoving,
}

impl Activity {
    /// Whether its contacts have to be updated.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Awake | Self::KinematicMoving)
    }

    /// Whether forces may move it.
    pub const fn is_dynamic(self) -> bool {
        matches!(self, Self::Awake | Self::Asleep)
    }
}

/// All bodies and colliders.
#[derive(Debug, Default)]
pub(super) struct SimBodies {
    pub bodies: Vec<Option<SimBody>>,
    /// By slot: activity, contiguous for the pair loop.
    pub activities: Vec<Activity>,
    /// By slot: displacement in the last step.
    pub displacements: Vec<StepDisplacement>,
    /// By slot: place in the graph of the contacts of the present step.
    pub degrees: Vec<BodyDegree>,
    /// Colliders, by slot of their proxy.
    pub colliders: Vec<Option<SimCollider>>,
    pub revision: Option<u64>,
    /// Bodies whose status the step itself has changed.
    pub pending: Vec<BodyId>,
    /// Slots of bodies to be woken, filled by `sync`.
    pub to_wake: Vec<u32>,
    /// Dynamic bodies added since the last check of the overlap limit.
    pub added: Vec<BodyId>,
    /// Whether a static body was removed, so that another may have taken its index.
    static_removed: bool,
    /// Number of bodies of each status at the last synchronisation.
    pub counts: [usize; 4],
}

impl SimBodies {
    #[inline]
    pub fn body(&self, slot: u32) -> Option<&SimBody> {
        self.bodies.get(slot as usize).and_then(Option::as_ref)
    }

    #[inline]
    pub fn body_mut(&mut self, slot: u32) -> Option<&mut SimBody> {
        self.bodies.get_mut(slot as usize).and_then(Option::as_mut)
    }

    #[inline]
    pub fn collider(&self, slot: u32) -> Option<&SimCollider> {
        self.colliders.get(slot as usize).and_then(Option::as_ref)
    }

    /// Updates the activity of kinematic bodies.
    pub fn update_kinematic(&mut self, world: &World) {
        for (id, motion) in
            world.bodies().ids(Status::Kinematic).iter().zip(world.bodies().motion(Status::Kinematic))
        {
            if let Some(activity) = self.activities.get_mut(id.slot() as usize) {
                let is_moving = motion.v != DVec3::ZERO || motion.omega != DVec3::ZERO;
                *activity = if is_moving { Activity::KinematicMoving } else { Activity::KinematicAtRest };
            }
        }
    }

    /// Whether the change log does not reach back to the last synchronisation.
    pub fn must_rebuild(&self, world: &World) -> bool {
        let Some(revision) = self.revision else { return false };
        // The same revision with other counts is a different world.
        let other = revision == world.revision() && self.pending.is_empty() && self.counts != counts(world);
        other || world.changed_since(revision).is_none()
    }

    /// Marks all bodies that can move for the next `sync`, after another simulator has moved them.
    pub fn resync_states(&mut self, world: &World) {
        for status in [Status::Dynamic, Status::Kinematic] {
            self.pending.extend_from_slice(world.bodies().ids(status));
        }
    }

    /// Synchronises with the changes of the world since the last step.
    pub fn sync(&mut self, world: &World, space: &mut dyn Space, dt: f64) -> Result<(), Error> {
        self.to_wake.clear();
        let revision = world.revision();
        if self.revision == Some(revision) && self.pending.is_empty() {
            return Ok(());
        }
        let known = self.revision.and_then(|revision| world.changed_since(revision));
        let everything = known.is_none();
        let mut changed: Vec<BodyId> = match known {
            Some(list) => list.to_vec(),
            None => world.iter_bodies().map(|body| body.id()).collect(),
        };
        changed.append(&mut self.pending);
        changed.sort_unstable();
        changed.dedup();
        if everything {
            for slot in 0..self.bodies.len() as u32 {
                if self.body(slot).is_some_and(|sim_body| world.bodies().locate(sim_body.id).is_none()) {
                    self.remove_body(slot, space)?;
                }
            }
        }
        for id in &changed {
            self.sync_body(world, *id, space, dt)?;
        }
        // Removals move other bodies to the index that became free.
        let fixed = std::mem::take(&mut self.static_removed).then_some(Status::Fixed);
        for status in [Status::Dynamic, Status::Kinematic].into_iter().chain(fixed) {
            for (index, id) in world.bodies().ids(status).iter().enumerate() {
                if let Some(sim_body) = self.body_mut(id.slot()) {
                    sim_body.index = index as u32;
                }
            }
        }
        if everything || changed.len() > REBUILD_CHANGES {
            space.build();
        }
        self.revision = Some(revision);
        self.counts = counts(world);
        Ok(())
    }

    /// Synchronises one body.
    fn sync_body(&mut self, world: &World, id: BodyId, space: &mut dyn Space, dt: f64) -> Result<(), Error> {
        let slot = id.slot();
        let Ok(body) = world.body(id) else {
            return if self.body(slot).is_some_and(|sim_body| sim_body.id == id) {
                self.remove_body(slot, space)
            } else {
                Ok(())
            };
        };
        let status = body.status();
        let same = self.body(slot).is_some_and(|sim_body| {
            sim_body.id == id && sim_body.status == status && sim_body.shape_revision == body.shape_revision()
        });
        if !same {
            if self.body(slot).is_some() {
                self.remove_body(slot, space)?;
            }
            if status == Status::Disabled {
                return Ok(());
            }
            self.add_body(world, id, space)?;
        }
        let Some((_, index)) = world.bodies().locate(id) else { return Ok(()) };
        let equal_moments = has_equal_moments(body.inertia().moments);
        let Some(sim_body) = self.bodies.get_mut(slot as usize).and_then(Option::as_mut) else {
            return Ok(());
        };
        sim_body.index = index as u32;
        sim_body.equal_moments = equal_moments;
        sim_body.can_sleep = body.can_sleep();
        sim_body.still_time = 0.0;
        self.to_wake.push(slot);
        self.displacements[slot as usize] = StepDisplacement::UNKNOWN;
        sim_body.constrained = false;
        sim_body.still_pose = body.motion().pose();
        for index in sim_body.colliders.clone() {
            if let Some(collider) = self.collider(index)
                && let Some(bounds) = collider.step_bounds(body.motion(), DVec3::ZERO, dt, 0.0)
            {
                update_bounds(space, collider, &bounds)?;
            }
        }
        Ok(())
    }

    /// Adds a body with its colliders.
    fn add_body(&mut self, world: &World, id: BodyId, space: &mut dyn Space) -> Result<(), Error> {
        let body = world.body(id)?;
        let slot = id.slot();
        let principal = body.body_from_principal().inverse();
        let mobility = if body.status() == Status::Fixed { Mobility::Fixed } else { Mobility::Moving };
        let pose = body.motion().pose();
        let mut sim_body = SimBody {
            id,
            status: body.status(),
            index: NONE,
            colliders: Vec::with_capacity(body.shapes().len()),
            shape_revision: body.shape_revision(),
            can_sleep: body.can_sleep(),
            asleep: false,
            island: NONE,
            still_time: 0.0,
            still_pose: pose,
            constrained: false,
            solver_index: NONE,
            high_mass_ratio: false,
            jointed: false,
            nutates: false,
            reach: 0.0,
            half_thickness: f64::INFINITY,
            equal_moments: true,
        };
        for shape_id in body.shapes() {
            let attached = world.shape(*shape_id)?;
            attached.shape.prepare_contacts();
            let local_pose = principal * attached.pose;
            let bounds = attached.shape.aabb(&(pose * local_pose)).unwrap_or_else(everywhere);
            let proxy = space.insert(&bounds, mobility, 0).map_err(broad_phase_error)?;
            let index = proxy.index() as usize;
            if self.colliders.len() <= index {
                self.colliders.resize_with(index + 1, || None);
            }
            self.colliders[index] = Some(SimCollider::new(attached, &principal, *shape_id, slot, proxy));
            sim_body.colliders.push(index as u32);
        }
        if self.bodies.len() <= slot as usize {
            self.bodies.resize_with(slot as usize + 1, || None);
            self.activities.resize(slot as usize + 1, Activity::Static);
            self.displacements.resize(slot as usize + 1, StepDisplacement::REST);
        }
        self.activities[slot as usize] = match sim_body.status {
            Status::Dynamic => Activity::Awake,
            Status::Kinematic => Activity::KinematicAtRest,
            Status::Fixed | Status::Disabled => Activity::Static,
        };
        if sim_body.status == Status::Dynamic {
            self.added.push(id);
        }
        self.bodies[slot as usize] = Some(sim_body);
        self.update_extents(slot);
        Ok(())
    }

    /// Computes the extents of a body from its colliders.
    pub fn update_extents(&mut self, slot: u32) {
        let Self { bodies, colliders, .. } = self;
        let Some(sim_body) = bodies.get_mut(slot as usize).and_then(Option::as_mut) else { return };
        for collider in sim_body.colliders.iter().filter_map(|index| colliders[*index as usize].as_ref()) {
            sim_body.reach = sim_body.reach.max(collider.center.length() + collider.radius);
            if !collider.sensor {
                sim_body.half_thickness = sim_body.half_thickness.min(collider.half_thickness);
            }
        }
    }

    /// Removes a body with its colliders.
    pub fn remove_body(&mut self, slot: u32, space: &mut dyn Space) -> Result<(), Error> {
        let Some(sim_body) = self.bodies[slot as usize].take() else { return Ok(()) };
        self.activities[slot as usize] = Activity::Static;
        self.static_removed |= sim_body.status == Status::Fixed;
        for index in sim_body.colliders {
            if let Some(collider) = self.colliders[index as usize].take() {
                space.remove(collider.proxy).map_err(broad_phase_error)?;
            }
        }
        Ok(())
    }
}

/// Sets the bounding box of a collider at a pose, enlarged on all sides by a margin, m.
pub(super) fn update_bounds_at(
    space: &mut dyn Space,
    collider: &SimCollider,
    pose: &Pose,
    margin: f64,
) -> Result<(), Error> {
    let Some(bounds) = collider.shape.aabb(&(*pose * collider.local_pose)) else { return Ok(()) };
    let bounds = if margin > 0.0 { bounds.enlarged(margin).unwrap_or(bounds) } else { bounds };
    update_bounds(space, collider, &bounds)
}

/// Sets the bounding box of a collider; one beyond the range of the broad phase is treated as everywhere.
pub(super) fn update_bounds(
    space: &mut dyn Space,
    collider: &SimCollider,
    bounds: &Aabb,
) -> Result<(), Error> {
    match space.update(collider.proxy, bounds) {
        Err(SpaceError::Enormous { .. }) => {
            space.update(collider.proxy, &everywhere()).map_err(broad_phase_error)
        }
        other => other.map_err(broad_phase_error),
    }
}

/// Error of the broad phase as an error of the simulator.
pub(super) fn broad_phase_error(source: SpaceError) -> Error {
    super::RealtimeError::Space { source }.into()
}

/// Number of bodies of each status.
fn counts(world: &World) -> [usize; 4] {
    Status::ALL.map(|status| world.bodies().count(status))
}

/// Whether the three principal moments of inertia agree.
pub(super) fn has_equal_moments(moments: DVec3) -> bool {
    moments.max_element() - moments.min_element() <= 1e-9 * moments.max_element()
}
