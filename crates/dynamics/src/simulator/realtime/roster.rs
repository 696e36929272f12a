//! Who takes part: the bodies of the world and the parts they are made of, kept up to date by the world's journal.

use super::apart::Path;
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{AttachedShape, BodyId, Handle, ShapeId, Status, World};
use glam::DVec3;
use rattleback_geometry::space::{Mobility, ProxyId, Space, SpaceError, everywhere};
use rattleback_geometry::{Aabb, Pose, Shape};

/// No such thing.
pub(super) const NONE: u32 = u32::MAX;
/// In place of a mover: the body is carried over the present step outside the sweeps.
pub(super) const EXACT: u32 = NONE - 2;

/// One shape of a body.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub shape: Shape,
    /// Shape → principal frame.
    pub place: Pose,
    pub id: ShapeId,
    /// Slot of its body.
    pub actor: u32,
    pub proxy: ProxyId,
    pub sensor: bool,
    /// Resists only what comes against this direction of the principal frame.
    pub one_way: Option<DVec3>,
    /// Its middle, in the principal frame.
    pub middle: DVec3,
    /// Largest distance of a point from the middle; infinite for a half-space.
    pub radius: f64,
    /// Half of the sides of the box around it in its own frame; infinite for a half-space.
    pub half: DVec3,
    /// Half of its smallest extent: moving less than that in a step it cannot pass through anything unseen.
    pub core: f64,
}

/// One body.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Actor {
    pub id: BodyId,
    pub status: Status,
    /// Place among the bodies of its status.
    pub place: u32,
    pub parts: Vec<u32>,
    /// The body's count of changes of its shapes.
    pub shape_revision: u32,
    pub can_sleep: bool,
    pub asleep: bool,
    /// With whom it sleeps.
    pub island: u32,
    /// How long it has kept still, s.
    pub still: f32,
    /// Where it has been near since then.
    pub anchor: Pose,
    /// Whether contacts or joints pushed it in the last step; else it flew.
    pub pushed: bool,
    /// Place in its solver during the present step.
    pub mover: u32,
    /// Whether it takes part in an island with large ratios of mass during the present step.
    pub delicate: bool,
    /// Whether a joint of it is solved in the present step.
    pub joined: bool,
    /// Largest distance of its surface from the centre of mass.
    pub reach: f64,
    pub core: f64,
    /// The same moment of inertia about every axis: it never wobbles.
    pub round: bool,
}

impl Part {
    /// (shape, body → principal frame, its name, slot of its body, place in the space) ⇒ part.
    pub fn new(attached: &AttachedShape, principal: &Pose, id: ShapeId, actor: u32, proxy: ProxyId) -> Self {
        let one_way = attached.one_way.map(|way| principal.vector(way));
        let (shape, place) = (attached.shape.clone(), *principal * attached.pose);
        Self { sensor: attached.sensor, one_way, ..Self::plain(shape, place, id, actor, proxy) }
    }

    /// A shape with two sides, that resists.
    pub fn plain(shape: Shape, place: Pose, id: ShapeId, actor: u32, proxy: ProxyId) -> Self {
        let own = shape.aabb(&Pose::IDENTITY);
        let middle = own.map_or(DVec3::ZERO, |bounds| bounds.center());
        let radius = shape.rotation_radius(middle).unwrap_or(f64::INFINITY);
        let half = own.map_or(DVec3::INFINITY, |bounds| bounds.half_extents());
        let core = half.min_element();
        let (sensor, one_way) = (false, None);
        Self {
            middle: place.point(middle),
            shape,
            place,
            id,
            actor,
            proxy,
            sensor,
            one_way,
            radius,
            half,
            core,
        }
    }

    /// A box around it, enlarged on all sides by a margin, and by where it goes in the next step if that is farther. A body that comes
    /// fast, or turns fast, has to be seen before it touches, or its impact cannot be answered at its time.
    #[inline]
    pub fn box_of_step(&self, motion: &Motion, a: DVec3, dt: f64, margin: f64) -> Option<Aabb> {
        let tight = self.shape.aabb(&(motion.pose() * self.place))?;
        let swing = (motion.omega.length() * dt).min(1.0) * self.radius;
        let room = if swing > margin { margin + swing } else { margin };
        let roomy = if room > 0.0 { tight.enlarged(room).unwrap_or(tight) } else { tight };
        let travel = self.velocity(motion) * dt + a * (0.5 * dt * dt);
        let far = travel.length_squared() > margin * margin;
        Some(if far { roomy.swept(travel).unwrap_or(tight) } else { roomy })
    }

    /// Velocity of its middle.
    #[inline]
    pub fn velocity(&self, motion: &Motion) -> DVec3 {
        motion.v + motion.omega.cross(motion.q * self.middle)
    }
}

impl Actor {
    /// Its state.
    #[inline]
    pub fn motion<'w>(&self, world: &'w World) -> Option<&'w Motion> {
        world.bodies().motion(self.status).get(self.place as usize)
    }
}

/// In a word what a contact has to know of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    /// Fixed, or gone.
    #[default]
    Fixed,
    /// Animated, and standing still at present.
    Still,
    Asleep,
    Awake,
    /// Moved by its path.
    Driven,
}

impl Life {
    /// Whether its contacts have to be looked at.
    pub const fn stirs(self) -> bool {
        matches!(self, Self::Awake | Self::Driven)
    }

    /// Whether forces may move it.
    pub const fn is_dynamic(self) -> bool {
        matches!(self, Self::Awake | Self::Asleep)
    }
}

/// All of them, by slot.
#[derive(Debug, Default)]
pub(super) struct Roster {
    pub actors: Vec<Option<Actor>>,
    /// The same in a word each: side by side, since contacts ask often.
    pub lives: Vec<Life>,
    /// How they went in the last step.
    pub paths: Vec<Path>,
    /// Parts by the slot of their proxy.
    pub parts: Vec<Option<Part>>,
    pub revision: Option<u64>,
    /// Bodies whose status a step itself has changed.
    pub pending: Vec<BodyId>,
    /// Bodies to be woken, filled by `sync`.
    pub disturbed: Vec<u32>,
    /// Dynamic bodies that have come since they were last counted.
    pub newcomers: Vec<BodyId>,
    /// Whether a fixed body has gone, so that another may have taken its place.
    fixed_went: bool,
    /// How many bodies of each status there were when last looked at.
    pub counts: [usize; 4],
}

impl Roster {
    #[inline]
    pub fn actor(&self, slot: u32) -> Option<&Actor> {
        self.actors.get(slot as usize).and_then(Option::as_ref)
    }

    #[inline]
    pub fn actor_mut(&mut self, slot: u32) -> Option<&mut Actor> {
        self.actors.get_mut(slot as usize).and_then(Option::as_mut)
    }

    #[inline]
    pub fn part(&self, slot: u32) -> Option<&Part> {
        self.parts.get(slot as usize).and_then(Option::as_ref)
    }

    /// Notes which animated bodies move at present.
    pub fn note_driven(&mut self, world: &World) {
        for (id, motion) in
            world.bodies().ids(Status::Animated).iter().zip(world.bodies().motion(Status::Animated))
        {
            if let Some(life) = self.lives.get_mut(id.slot() as usize) {
                let moves = motion.v != DVec3::ZERO || motion.omega != DVec3::ZERO;
                *life = if moves { Life::Driven } else { Life::Still };
            }
        }
    }

    /// Whether more has changed in the world than can be told.
    pub fn has_lost_track(&self, world: &World) -> bool {
        let Some(revision) = self.revision else { return false };
        // A world of the same revision and other numbers is another world.
        let other = revision == world.revision() && self.pending.is_empty() && self.counts != counts(world);
        other || world.changed_since(revision).is_none()
    }

    /// Has the states of all bodies that can move taken over by the next `sync`: another simulator has moved them.
    pub fn retake_states(&mut self, world: &World) {
        for status in [Status::Dynamic, Status::Animated] {
            self.pending.extend_from_slice(world.bodies().ids(status));
        }
    }

    /// Takes over what changed in the world since the last time.
    pub fn sync(&mut self, world: &World, space: &mut dyn Space, dt: f64) -> Result<(), Error> {
        self.disturbed.clear();
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
            for slot in 0..self.actors.len() as u32 {
                if self.actor(slot).is_some_and(|actor| world.bodies().locate(actor.id).is_none()) {
                    self.dismiss(slot, space)?;
                }
            }
        }
        for id in &changed {
            self.take_on(world, *id, space, dt)?;
        }
        // Removals move other bodies into the place that became free.
        let fixed = std::mem::take(&mut self.fixed_went).then_some(Status::Fixed);
        for status in [Status::Dynamic, Status::Animated].into_iter().chain(fixed) {
            for (place, id) in world.bodies().ids(status).iter().enumerate() {
                if let Some(actor) = self.actor_mut(id.slot()) {
                    actor.place = place as u32;
                }
            }
        }
        if everything || changed.len() > 1000 {
            space.build();
        }
        self.revision = Some(revision);
        self.counts = counts(world);
        Ok(())
    }

    /// Brings one body up to date.
    fn take_on(&mut self, world: &World, id: BodyId, space: &mut dyn Space, dt: f64) -> Result<(), Error> {
        let slot = id.slot();
        let Ok(body) = world.body(id) else {
            return if self.actor(slot).is_some_and(|actor| actor.id == id) {
                self.dismiss(slot, space)
            } else {
                Ok(())
            };
        };
        let status = body.status();
        let same = self.actor(slot).is_some_and(|actor| {
            actor.id == id && actor.status == status && actor.shape_revision == body.shape_revision()
        });
        if !same {
            if self.actor(slot).is_some() {
                self.dismiss(slot, space)?;
            }
            if status == Status::Inactive {
                return Ok(());
            }
            self.enlist(world, id, space)?;
        }
        let Some((_, place)) = world.bodies().locate(id) else { return Ok(()) };
        let round = is_round(body.inertia().moments);
        let Some(actor) = self.actors.get_mut(slot as usize).and_then(Option::as_mut) else { return Ok(()) };
        actor.place = place as u32;
        actor.round = round;
        actor.can_sleep = body.can_sleep();
        actor.still = 0.0;
        self.disturbed.push(slot);
        self.paths[slot as usize] = Path::UNKNOWN;
        actor.pushed = false;
        actor.anchor = body.motion().pose();
        for index in actor.parts.clone() {
            if let Some(part) = self.part(index)
                && let Some(bounds) = part.box_of_step(body.motion(), DVec3::ZERO, dt, 0.0)
            {
                set_box(space, part, &bounds)?;
            }
        }
        Ok(())
    }

    fn enlist(&mut self, world: &World, id: BodyId, space: &mut dyn Space) -> Result<(), Error> {
        let body = world.body(id)?;
        let slot = id.slot();
        let principal = body.body_from_principal().inverse();
        let mobility = if body.status() == Status::Fixed { Mobility::Fixed } else { Mobility::Moving };
        let pose = body.motion().pose();
        let mut actor = Actor {
            id,
            status: body.status(),
            place: NONE,
            parts: Vec::with_capacity(body.shapes().len()),
            shape_revision: body.shape_revision(),
            can_sleep: body.can_sleep(),
            asleep: false,
            island: NONE,
            still: 0.0,
            anchor: pose,
            pushed: false,
            mover: NONE,
            delicate: false,
            joined: false,
            reach: 0.0,
            core: f64::INFINITY,
            round: true,
        };
        for shape_id in body.shapes() {
            let attached = world.shape(*shape_id)?;
            let place = principal * attached.pose;
            let bounds = attached.shape.aabb(&(pose * place)).unwrap_or_else(everywhere);
            let proxy = space.insert(&bounds, mobility, 0).map_err(refuse)?;
            let index = proxy.index() as usize;
            if self.parts.len() <= index {
                self.parts.resize_with(index + 1, || None);
            }
            self.parts[index] = Some(Part::new(attached, &principal, *shape_id, slot, proxy));
            actor.parts.push(index as u32);
        }
        if self.actors.len() <= slot as usize {
            self.actors.resize_with(slot as usize + 1, || None);
            self.lives.resize(slot as usize + 1, Life::Fixed);
            self.paths.resize(slot as usize + 1, Path::REST);
        }
        self.lives[slot as usize] = match actor.status {
            Status::Dynamic => Life::Awake,
            Status::Animated => Life::Still,
            Status::Fixed | Status::Inactive => Life::Fixed,
        };
        if actor.status == Status::Dynamic {
            self.newcomers.push(id);
        }
        self.actors[slot as usize] = Some(actor);
        self.measure(slot);
        Ok(())
    }

    /// Finds out how far a body reaches and how thin it is.
    pub fn measure(&mut self, slot: u32) {
        let Self { actors, parts, .. } = self;
        let Some(actor) = actors.get_mut(slot as usize).and_then(Option::as_mut) else { return };
        for part in actor.parts.iter().filter_map(|index| parts[*index as usize].as_ref()) {
            actor.reach = actor.reach.max(part.middle.length() + part.radius);
            if !part.sensor {
                actor.core = actor.core.min(part.core);
            }
        }
    }

    pub fn dismiss(&mut self, slot: u32, space: &mut dyn Space) -> Result<(), Error> {
        let Some(actor) = self.actors[slot as usize].take() else { return Ok(()) };
        self.lives[slot as usize] = Life::Fixed;
        self.fixed_went |= actor.status == Status::Fixed;
        for index in actor.parts {
            if let Some(part) = self.parts[index as usize].take() {
                space.remove(part.proxy).map_err(refuse)?;
            }
        }
        Ok(())
    }
}

/// Gives a part its box at a pose, enlarged on all sides.
pub(super) fn place_box(space: &mut dyn Space, part: &Part, pose: &Pose, margin: f64) -> Result<(), Error> {
    let Some(bounds) = part.shape.aabb(&(*pose * part.place)) else { return Ok(()) };
    let bounds = if margin > 0.0 { bounds.enlarged(margin).unwrap_or(bounds) } else { bounds };
    set_box(space, part, &bounds)
}

/// Whoever gets farther than a space can tell may meet anybody.
pub(super) fn set_box(space: &mut dyn Space, part: &Part, bounds: &Aabb) -> Result<(), Error> {
    match space.update(part.proxy, bounds) {
        Err(SpaceError::Enormous { .. }) => space.update(part.proxy, &everywhere()).map_err(refuse),
        other => other.map_err(refuse),
    }
}

pub(super) fn refuse(source: SpaceError) -> Error {
    super::RealtimeError::Space { source }.into()
}

fn counts(world: &World) -> [usize; 4] {
    Status::ALL.map(|status| world.bodies().count(status))
}

pub(super) fn is_round(moments: DVec3) -> bool {
    moments.max_element() - moments.min_element() <= 1e-9 * moments.max_element()
}
