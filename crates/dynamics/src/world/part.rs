//! Parts of a world that other crates add: particle systems, deformable bodies.
//!
//! A part has a state of its own and moves by its own equations. What the world and the simulators need of it: a step, an undo, the
//! motion of the elements that have shapes, their response to impulses, and its state as bytes. An element with shapes is represented among
//! the bodies by a kinematic one, as a link of a multibody is: pairs, contacts, filters, events and queries include it, and
//! [`World::shape_owner`] names it.

use super::multibody::DrivenBody;
use super::{Body, BodyId, ElementId, HandleMap, PartId, ShapePart, SnapshotError, Status, World};
use crate::error::Error;
use crate::registry::Description;
use crate::rigid::Motion;
use crate::simulator::StepContext;
use crate::solver::ImpulseResponse;
use glam::DVec3;
use rattleback_geometry::Pose;
use std::any::Any;

/// What kind of matter a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// Particles: points with mass that move independently but for forces and collisions.
    ParticleSystem,
    /// A deformable body: cloth, hair, a soft body.
    Deformable,
    /// Anything else.
    Other,
}

/// Pose of an element, with the velocity of its origin, m/s, and its angular velocity, rad/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementMotion {
    /// From the frame of the element to the world.
    pub pose: Pose,
    /// Velocity of the origin, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub angular_velocity: DVec3,
}

/// A part of a world, defined outside this crate.
///
/// Register its type in [`Registry::parts`](crate::Registry::parts), so that snapshots can make it again. `docs/api.md` has an example.
pub trait WorldPart: Any + std::fmt::Debug + Send + Sync {
    /// Type name and properties, so that the registry can make it again.
    fn description(&self) -> Description;

    /// What kind of matter it is.
    fn kind(&self) -> PartKind {
        PartKind::Other
    }

    /// A copy, for a copy of the world.
    fn clone_part(&self) -> Box<dyn WorldPart>;

    /// Moves it to the end of a step, before the simulator moves the bodies. The context gives start and length of the step, the world
    /// as it is, and takes impulses on bodies ([`StepContext::apply_impulse`]), events and work.
    ///
    /// # Errors
    /// Why the step failed; the whole step is then undone.
    fn advance(&mut self, step: &mut StepContext<'_>) -> Result<(), Error>;

    /// Puts it back to the state before the last [`advance`](Self::advance), bit for bit: the step of the world failed.
    fn roll_back(&mut self);

    /// Motion of an element at its present state; `None` if there is no such element.
    fn element(&self, index: u32) -> Option<ElementMotion>;

    /// Response of an element to impulses; `None` if there is no such element.
    fn response(&mut self, index: u32) -> Option<Box<dyn ImpulseResponse + '_>>;

    /// State that is not among its properties, as bytes, for snapshots.
    fn save_state(&self) -> Vec<u8>;

    /// Puts back what [`save_state`](Self::save_state) gave.
    ///
    /// # Errors
    /// Bytes that are not such a state.
    fn restore_state(&mut self, state: &[u8]) -> Result<(), SnapshotError>;
}

/// A part with the bodies of its elements.
#[derive(Debug)]
pub(super) struct PartRecord {
    pub name: Option<String>,
    pub part: Box<dyn WorldPart>,
    pub elements: Vec<DrivenBody>,
}

impl Clone for PartRecord {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), part: self.part.clone_part(), elements: self.elements.clone() }
    }
}

impl PartRecord {
    /// Motion of the element that a body represents.
    fn motion_of(&self, element: &DrivenBody) -> ElementMotion {
        self.part.element(element.index).unwrap_or_default()
    }

    /// Puts the bodies of the elements where the elements are.
    fn place(&self, world_bodies: &mut super::Bodies) {
        for element in &self.elements {
            let Ok(body) = world_bodies.record_mut(element.body) else { continue };
            let ElementMotion { pose, velocity, angular_velocity } = self.motion_of(element);
            let motion = Motion::of_frame(&pose, velocity, angular_velocity, &body.body_from_principal);
            body.path_start = pose;
            if let Ok(present) = world_bodies.motion_of_mut(element.body) {
                *present = motion;
            }
        }
    }
}

impl World {
    /// Adds a part ⇒ its id.
    pub fn add_part(&mut self, name: Option<&str>, part: Box<dyn WorldPart>) -> PartId {
        self.spoil_ledger();
        self.parts.insert(PartRecord { name: name.map(String::from), part, elements: Vec::new() })
    }

    /// Takes a part and the bodies of its elements out of the world.
    ///
    /// # Errors
    /// There is no such part.
    pub fn remove_part(&mut self, id: PartId) -> Result<Box<dyn WorldPart>, Error> {
        let record = self.parts.remove(id).ok_or(Error::UnknownPart(id))?;
        for element in &record.elements {
            self.bodies.record_mut(element.body)?.element = None;
            self.remove_body(element.body)?;
        }
        self.spoil_ledger();
        Ok(record.part)
    }

    /// Gives an element of a part a shape to collide with ⇒ the kinematic body that represents it. The pose of the shape is in the frame
    /// of the element.
    ///
    /// # Errors
    /// No such part or element, or a shape that a body refuses.
    pub fn add_element_shape(&mut self, id: ElementId, shape: impl Into<ShapePart>) -> Result<BodyId, Error> {
        let record = self.parts.get(id.part).ok_or(Error::UnknownPart(id.part))?;
        let motion = record.part.element(id.index).ok_or(Error::UnknownElement(id))?;
        let label = record.name.as_ref().map(|name| format!("{name}/{}", id.index));
        let body = Body::new(Status::Kinematic).pose(motion.pose).with_part(shape.into());
        let body = self.add_body(label.into_iter().fold(body, Body::named))?;
        self.bodies.record_mut(body)?.element = Some(id);
        let Self { parts, bodies, .. } = self;
        let record = parts.get_mut(id.part).ok_or(Error::UnknownPart(id.part))?;
        record.elements.push(DrivenBody::new(id.index, body));
        record.place(bodies);
        Ok(body)
    }

    /// Id ⇒ part.
    ///
    /// # Errors
    /// There is no such part.
    pub fn part(&self, id: PartId) -> Result<&dyn WorldPart, Error> {
        self.parts.get(id).map(|record| &*record.part).ok_or(Error::UnknownPart(id))
    }

    /// Id ⇒ part of a known type; `None` if it is of another.
    pub fn part_as<P: WorldPart>(&self, id: PartId) -> Option<&P> {
        (self.part(id).ok()? as &dyn Any).downcast_ref()
    }

    /// Changes a part of a known type between steps; the bodies of its elements follow.
    ///
    /// # Errors
    /// There is no such part, or it is of another type.
    pub fn change_part<P: WorldPart, T>(
        &mut self,
        id: PartId,
        change: impl FnOnce(&mut P) -> T,
    ) -> Result<T, Error> {
        let record = self.parts.get_mut(id).ok_or(Error::UnknownPart(id))?;
        let part: &mut dyn Any = &mut *record.part;
        let result = change(part.downcast_mut().ok_or(Error::UnknownPart(id))?);
        self.follow_part_change(id);
        self.spoil_ledger();
        Ok(result)
    }

    /// All parts with their names, in the order of their slots.
    pub fn iter_parts(&self) -> impl Iterator<Item = (PartId, Option<&str>, &dyn WorldPart)> + '_ {
        self.parts.iter().map(|(id, record)| (id, record.name.as_deref(), &*record.part))
    }

    /// Places the bodies of a part that was changed between steps, and notes the change.
    pub(super) fn follow_part_change(&mut self, id: PartId) {
        let Self { parts, bodies, change_log, .. } = self;
        let Some(record) = parts.get(id) else { return };
        record.place(bodies);
        for element in &record.elements {
            change_log.note(element.body);
        }
    }

    /// Puts all parts and the bodies of their elements back to the beginning of the step.
    pub(crate) fn roll_back_parts(&mut self) {
        for (_, record) in self.parts.iter_mut() {
            record.part.roll_back();
            for element in &mut record.elements {
                element.roll_back(&mut self.bodies);
            }
        }
    }

    /// At the end of a step: the bodies of elements where the elements are.
    pub(super) fn end_parts(&mut self) {
        let Self { parts, bodies, .. } = self;
        for (_, record) in parts.iter_mut() {
            record.elements.iter_mut().for_each(|element| element.release(bodies));
            record.place(bodies);
        }
    }
}

impl StepContext<'_> {
    /// Moves all parts to the end of the step and gives the bodies of their elements their paths.
    pub(crate) fn advance_parts(&mut self) -> Result<(), Error> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let mut parts: HandleMap<PartId, PartRecord> = std::mem::take(&mut self.unsaved_world_mut().parts);
        let mut result = Ok(());
        let mut advanced = 0;
        for (_, record) in parts.iter_mut() {
            for element in &mut record.elements {
                element.save(&self.bodies);
            }
            result = record.part.advance(self);
            advanced += 1;
            if result.is_err() {
                break;
            }
        }
        let times = [self.start(), self.end_time(), self.dt()];
        if result.is_err() {
            // Those after it have not moved; the world takes nothing back from them.
            for (_, record) in parts.iter_mut().take(advanced) {
                record.part.roll_back();
            }
        }
        let world = self.unsaved_world_mut();
        if result.is_ok() {
            for (_, record) in parts.iter_mut() {
                for place in 0..record.elements.len() {
                    let to = record.motion_of(&record.elements[place]).pose;
                    if record.elements[place].set_path(&mut world.bodies, to, times) {
                        world.multibodies.driven.push(record.elements[place].body);
                    }
                }
            }
        }
        world.parts = parts;
        for index in 0..world.multibodies.driven.len() {
            world.follow_path(world.multibodies.driven[index]);
        }
        result
    }
}
