//! Shapes of living bodies: adding, removing, replacing, and their surfaces.
//!
//! The mass of a body stays as it is when its shapes change; [`BodyMut::set_density`](super::BodyMut::set_density) and
//! [`BodyMut::set_mass_properties`](super::BodyMut::set_mass_properties) bring it up to date.

use super::{AttachedShape, BodyId, CollisionGroups, MaterialId, ShapeId, ShapePart, World};
use crate::error::{Error, parameter};
use rattleback_geometry::{Pose, Shape};

impl World {
    /// (body, shape) ⇒ id of the shape, now attached to the body.
    ///
    /// ```
    /// use rattleback_dynamics::{Body, ShapePart, World};
    /// use rattleback_geometry::{Pose, Shape};
    /// use glam::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let body = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?))?;
    /// let place = Pose::new(glam::DQuat::IDENTITY, DVec3::X);
    /// let arm = world.attach_shape(body, ShapePart { pose: place, ..Shape::cuboid(DVec3::splat(0.05))?.into() })?;
    /// assert_eq!(world.body(body)?.shapes().len(), 2);
    /// world.detach_shape(arm)?;
    /// assert_eq!(world.body(body)?.shapes().len(), 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// No such body or material, or a pose that is none.
    pub fn attach_shape(&mut self, body: BodyId, part: impl Into<ShapePart>) -> Result<ShapeId, Error> {
        let part = part.into();
        part.check()?;
        if let Some(material) = part.material {
            self.material(material)?;
        }
        let groups = self.bodies.record(body)?.groups;
        let shape = self.shapes.insert(AttachedShape::new(body, part, self.default_material, groups));
        self.bodies.record_mut(body)?.shapes.push(shape);
        self.note_shapes(body)?;
        Ok(shape)
    }

    /// Takes a shape off its body.
    ///
    /// # Errors
    /// No such shape.
    pub fn detach_shape(&mut self, id: ShapeId) -> Result<AttachedShape, Error> {
        let attached = self.shapes.remove(id).ok_or(Error::UnknownShape(id))?;
        self.forget_contact_models(id);
        self.bodies.record_mut(attached.body)?.shapes.retain(|shape| *shape != id);
        self.note_shapes(attached.body)?;
        Ok(attached)
    }

    /// Gives an attached shape another geometry; its id, place and surface stay.
    ///
    /// # Errors
    /// No such shape.
    pub fn replace_shape(&mut self, id: ShapeId, geometry: Shape) -> Result<(), Error> {
        self.change_shape(id, |attached| attached.replace(geometry))
    }

    /// Moves a shape to another place in the frame of its body.
    ///
    /// # Errors
    /// No such shape, or a pose that is none.
    pub fn set_shape_pose(&mut self, id: ShapeId, pose: Pose) -> Result<(), Error> {
        if !pose.is_valid() {
            return Err(parameter("pose of a shape", "finite, with a unit quaternion", pose));
        }
        self.change_shape(id, |attached| attached.pose = pose)
    }

    /// Gives a shape another surface: friction and restitution are those of the material.
    ///
    /// # Errors
    /// No such shape or material.
    pub fn set_shape_material(&mut self, id: ShapeId, material: MaterialId) -> Result<(), Error> {
        self.material(material)?;
        self.change_shape(id, |attached| attached.material = material)
    }

    /// Changes what a shape may touch.
    ///
    /// # Errors
    /// No such shape.
    pub fn set_shape_groups(&mut self, id: ShapeId, groups: CollisionGroups) -> Result<(), Error> {
        self.change_shape(id, |attached| attached.groups = groups)
    }

    /// Makes a shape a sensor, which reports contacts and resists none, or a solid again.
    ///
    /// # Errors
    /// No such shape.
    pub fn set_shape_sensor(&mut self, id: ShapeId, sensor: bool) -> Result<(), Error> {
        self.change_shape(id, |attached| attached.sensor = sensor)
    }

    fn change_shape(&mut self, id: ShapeId, change: impl FnOnce(&mut AttachedShape)) -> Result<(), Error> {
        let attached = self.shapes.get_mut(id).ok_or(Error::UnknownShape(id))?;
        change(attached);
        let body = attached.body;
        self.note_shapes(body)
    }

    fn note_shapes(&mut self, body: BodyId) -> Result<(), Error> {
        let record = self.bodies.record_mut(body)?;
        record.shape_revision = record.shape_revision.wrapping_add(1);
        self.change_log.note(body);
        Ok(())
    }
}
