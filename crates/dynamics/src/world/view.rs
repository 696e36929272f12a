//! A body as the user sees it: in the frame it was modelled in.

use super::body::{BodyRecord, Status};
use super::{BodyId, CollisionGroups, Path, ShapeId, World};
use crate::error::{Error, parameter};
use crate::motion::{Inertia, Motion};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{Aabb, Pose};

/// A body to look at.
#[derive(Clone, Copy, Debug)]
pub struct BodyRef<'w> {
    world: &'w World,
    id: BodyId,
    record: &'w BodyRecord,
    motion: &'w Motion,
}

impl<'w> BodyRef<'w> {
    pub(super) fn new(world: &'w World, id: BodyId) -> Result<Self, Error> {
        let record = world.bodies.record(id)?;
        let motion = world.bodies.motion_of(id).ok_or(Error::UnknownBody(id))?;
        Ok(Self { world, id, record, motion })
    }

    /// Its id.
    pub const fn id(&self) -> BodyId {
        self.id
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&'w str> {
        self.record.name.as_deref()
    }

    /// What may move it.
    pub const fn status(&self) -> Status {
        self.record.status
    }

    /// Where its body frame is.
    pub fn pose(&self) -> Pose {
        self.motion.pose() * self.record.body_from_principal.inverse()
    }

    /// Origin of its body frame, m.
    pub fn position(&self) -> DVec3 {
        self.pose().translation
    }

    /// Attitude of its body frame.
    pub fn orientation(&self) -> DQuat {
        self.pose().rotation
    }

    /// Centre of mass in the world, m.
    pub const fn center_of_mass(&self) -> DVec3 {
        self.motion.x
    }

    /// Velocity of the centre of mass, m/s.
    pub const fn velocity(&self) -> DVec3 {
        self.motion.v
    }

    /// Angular velocity in the world frame, rad/s.
    pub const fn angular_velocity(&self) -> DVec3 {
        self.motion.omega
    }

    /// Velocity of its material at a world point, m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.motion.velocity_at(point)
    }

    /// State of its principal frame.
    pub const fn motion(&self) -> &'w Motion {
        self.motion
    }

    /// Mass in kg: what it weighs when forces move it; 0 if that is not known.
    pub const fn mass(&self) -> f64 {
        self.record.mass
    }

    /// Principal moments, inverses and damping.
    pub const fn inertia(&self) -> &'w Inertia {
        &self.record.inertia
    }

    /// Inertia tensor about the centre of mass along the world axes, kg·m².
    pub fn world_inertia(&self) -> DMat3 {
        self.record.inertia.world_tensor(self.motion.q)
    }

    /// Principal frame → body frame.
    pub const fn body_from_principal(&self) -> &'w Pose {
        &self.record.body_from_principal
    }

    /// The path of an animated body and the pose it starts from.
    pub fn path(&self) -> Option<(&'w Path, Pose)> {
        self.record.path.as_ref().map(|path| (path, self.record.path_start))
    }

    /// m v, kg·m/s; zero unless dynamic.
    pub fn momentum(&self) -> DVec3 {
        self.only_dynamic(self.record.mass * self.motion.v)
    }

    /// Angular momentum about a world point, kg·m²/s; zero unless dynamic.
    pub fn angular_momentum_about(&self, point: DVec3) -> DVec3 {
        let spin = self.record.inertia.angular_momentum(self.motion.q, self.motion.omega);
        self.only_dynamic(spin + (self.motion.x - point).cross(self.record.mass * self.motion.v))
    }

    /// ½ m v² + ½ ω·L, J; zero unless dynamic.
    pub fn kinetic_energy(&self) -> f64 {
        if self.record.status == Status::Dynamic {
            self.record.inertia.kinetic_energy(self.motion)
        } else {
            0.0
        }
    }

    fn only_dynamic(&self, v: DVec3) -> DVec3 {
        if self.record.status == Status::Dynamic { v } else { DVec3::ZERO }
    }

    /// Its shapes.
    pub fn shapes(&self) -> &'w [ShapeId] {
        &self.record.shapes
    }

    /// Collision groups it gives to shapes without their own.
    pub const fn groups(&self) -> CollisionGroups {
        self.record.groups
    }

    /// Whether a simulator may put it to sleep.
    pub const fn can_sleep(&self) -> bool {
        self.record.can_sleep
    }

    /// Electric charge, C.
    pub const fn charge(&self) -> f64 {
        self.record.charge
    }

    /// Smallest box around all its bounded shapes; nothing if it has none.
    pub fn aabb(&self) -> Option<Aabb> {
        let pose = self.pose();
        self.record
            .shapes
            .iter()
            .filter_map(|id| self.world.shapes.get(*id))
            .filter_map(|attached| attached.shape.aabb(&(pose * attached.pose)))
            .reduce(|a, b| a.union(&b))
    }

    pub(super) fn touches(&self, bounds: &Aabb) -> bool {
        self.aabb().map_or_else(|| bounds.contains(self.motion.x), |aabb| aabb.overlaps(bounds))
    }
}

/// A body to change between steps. Every change is checked first; a refused one leaves everything as it was.
#[derive(Debug)]
pub struct BodyMut<'w> {
    world: &'w mut World,
    id: BodyId,
}

impl<'w> BodyMut<'w> {
    pub(super) const fn new(world: &'w mut World, id: BodyId) -> Self {
        Self { world, id }
    }

    /// Moves the body frame. An animated body's path starts anew from here.
    pub fn set_pose(&mut self, pose: Pose) -> Result<(), Error> {
        if !pose.is_valid() {
            return Err(parameter("pose", "finite, with a unit quaternion", pose));
        }
        let record = self.world.bodies.record_mut(self.id)?;
        record.path_start = pose;
        let principal = pose * record.body_from_principal;
        let motion = self.world.bodies.motion_of_mut(self.id)?;
        motion.x = principal.translation;
        motion.q = principal.rotation.normalize();
        Ok(())
    }

    /// Sets the velocity of the centre of mass, m/s.
    pub fn set_velocity(&mut self, velocity: DVec3) -> Result<(), Error> {
        self.movable("setting a velocity")?;
        finite("velocity", velocity)?;
        self.world.bodies.motion_of_mut(self.id)?.v = velocity;
        Ok(())
    }

    /// Sets the angular velocity in the world frame, rad/s.
    pub fn set_angular_velocity(&mut self, angular_velocity: DVec3) -> Result<(), Error> {
        self.movable("setting an angular velocity")?;
        finite("angular velocity", angular_velocity)?;
        self.world.bodies.motion_of_mut(self.id)?.omega = angular_velocity;
        Ok(())
    }

    /// Changes the velocities as an impulse in N·s at a world point would.
    pub fn apply_impulse(&mut self, impulse: DVec3, point: DVec3) -> Result<(), Error> {
        finite("impulse", impulse)?;
        finite("point of an impulse", point)?;
        let record = self.world.bodies.record(self.id)?;
        if record.status != Status::Dynamic {
            return Err(Error::WrongStatus {
                body: self.id,
                status: record.status,
                operation: "an impulse",
                needed: "a dynamic body",
            });
        }
        let inertia = record.inertia;
        let motion = self.world.bodies.motion_of_mut(self.id)?;
        motion.v += impulse * inertia.inverse_mass;
        motion.omega += inertia.angular_velocity(motion.q, (point - motion.x).cross(impulse));
        Ok(())
    }

    /// Changes what may move the body. A body becomes dynamic only if its mass is known.
    pub fn set_status(&mut self, status: Status) -> Result<(), Error> {
        let record = self.world.bodies.record(self.id)?;
        if status == Status::Dynamic && record.mass <= 0.0 {
            return Err(Error::Mass {
                name: record.name.clone(),
                reason: "its mass is not known, so it cannot become dynamic".into(),
            });
        }
        self.world.bodies.set_status(self.id, status)
    }

    /// Gives an animated body a path that starts from where it is at time 0 of the world.
    pub fn set_path(&mut self, path: Option<Path>) -> Result<(), Error> {
        if let Some(path) = &path
            && let Err(fault) = path.check()
        {
            return Err(parameter("path", fault, path));
        }
        let pose = self.world.body(self.id)?.pose();
        let record = self.world.bodies.record_mut(self.id)?;
        record.path = path;
        record.path_start = pose;
        self.world.follow_path(self.id);
        Ok(())
    }

    /// Sets c in v(t + h) = v(t) e^(−c h), for linear and angular velocity, 1/s.
    pub fn set_damping(&mut self, linear: f64, angular: f64) -> Result<(), Error> {
        for damping in [linear, angular] {
            if !(damping.is_finite() && damping >= 0.0) {
                return Err(parameter("damping", "finite and ≥ 0", damping));
            }
        }
        let record = self.world.bodies.record_mut(self.id)?;
        record.inertia.linear_damping = linear;
        record.inertia.angular_damping = angular;
        self.world.bodies.refresh_inertia(self.id);
        Ok(())
    }

    /// Scales the mass, and the inertia with it, to this many kg.
    pub fn set_mass(&mut self, mass: f64) -> Result<(), Error> {
        let record = self.world.bodies.record_mut(self.id)?;
        let scale = mass / record.mass;
        let moments = record.inertia.moments * scale;
        let inverse_moments = moments.recip();
        if !(mass.is_finite() && mass > 0.0 && moments.is_finite() && inverse_moments.is_finite()) {
            return Err(parameter("mass", "finite and > 0, of a body whose mass is known", mass));
        }
        record.mass = mass;
        record.inertia.inverse_mass = 1.0 / mass;
        record.inertia.moments = moments;
        record.inertia.inverse_moments = inverse_moments;
        self.world.bodies.refresh_inertia(self.id);
        Ok(())
    }

    /// Sets the electric charge, C.
    pub fn set_charge(&mut self, charge: f64) -> Result<(), Error> {
        if !charge.is_finite() {
            return Err(parameter("charge", "finite", charge));
        }
        self.world.bodies.record_mut(self.id)?.charge = charge;
        Ok(())
    }

    fn movable(&self, operation: &'static str) -> Result<(), Error> {
        let status = self.world.bodies.record(self.id)?.status;
        if matches!(status, Status::Dynamic | Status::Animated) {
            return Ok(());
        }
        Err(Error::WrongStatus { body: self.id, status, operation, needed: "a dynamic or animated body" })
    }
}

fn finite(what: &'static str, v: DVec3) -> Result<(), Error> {
    if v.is_finite() { Ok(()) } else { Err(parameter(what, "finite", v)) }
}
