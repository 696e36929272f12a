//! A body as the user sees it: in the frame it was modelled in.

use super::body::{BodyRecord, Status};
use super::{BodyId, CollisionGroups, Path, ShapeId, World};
use crate::error::{Error, parameter};
use crate::rigid::{Inertia, Motion, Wrench};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{Aabb, MassProperties, Pose};

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

    /// The path of an kinematic body and the pose it starts from.
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

    /// Factor on uniform gravity.
    pub const fn gravity_scale(&self) -> f64 {
        self.record.gravity_scale
    }

    /// Whether it never turns.
    pub const fn is_rotation_locked(&self) -> bool {
        self.record.rotation_locked
    }

    /// The number that the program has given it.
    pub const fn user_data(&self) -> u128 {
        self.record.user_data
    }

    /// Force and torque that were added and not cleared yet, N and N m, about the centre of mass.
    pub const fn applied(&self) -> Wrench {
        self.record.applied
    }

    /// Counts changes of its shapes.
    pub(crate) const fn shape_revision(&self) -> u32 {
        self.record.shape_revision
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

    /// Moves the body frame. An kinematic body's path starts anew from here.
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
        if self.world.bodies.record(self.id)?.rotation_locked && angular_velocity != DVec3::ZERO {
            return Err(parameter(
                "angular velocity",
                "zero of a body whose rotations are locked",
                angular_velocity,
            ));
        }
        self.world.bodies.motion_of_mut(self.id)?.omega = angular_velocity;
        Ok(())
    }

    /// Changes the velocities as an impulse in N·s at a world point would.
    pub fn apply_impulse(&mut self, impulse: DVec3, point: DVec3) -> Result<(), Error> {
        finite("impulse", impulse)?;
        finite("point of an impulse", point)?;
        self.dynamic("an impulse")?;
        let inertia = *self.world.bodies.inertia_of(self.id).ok_or(Error::UnknownBody(self.id))?;
        let motion = self.world.bodies.motion_of_mut(self.id)?;
        motion.v += impulse * inertia.inverse_mass;
        motion.omega += inertia.angular_velocity(motion.q, (point - motion.x).cross(impulse));
        Ok(())
    }

    /// Changes the angular velocity as an angular impulse in N·m·s would.
    ///
    /// ```
    /// # use rattleback_dynamics::{Body, World};
    /// # use rattleback_geometry::Shape;
    /// # use glam::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(1.0)?).mass(5.0))?; // I = 2/5 m r² = 2
    /// world.body_mut(ball)?.apply_torque_impulse(DVec3::Z)?;
    /// assert!((world.body(ball)?.angular_velocity().z - 0.5).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A number that is not finite, or a body that is not dynamic.
    pub fn apply_torque_impulse(&mut self, impulse: DVec3) -> Result<(), Error> {
        finite("angular impulse", impulse)?;
        self.dynamic("an angular impulse")?;
        let inertia = *self.world.bodies.inertia_of(self.id).ok_or(Error::UnknownBody(self.id))?;
        let motion = self.world.bodies.motion_of_mut(self.id)?;
        motion.omega += inertia.angular_velocity(motion.q, impulse);
        Ok(())
    }

    /// Adds a force through the centre of mass, N, that acts in every step until [`clear_forces`](Self::clear_forces).
    ///
    /// ```
    /// # use rattleback_dynamics::{Body, FreeMotion, Simulator, World};
    /// # use rattleback_geometry::Shape;
    /// # use glam::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::weightless();
    /// let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?).mass(2.0))?;
    /// world.body_mut(ball)?.add_force(6.0 * DVec3::X)?;
    /// FreeMotion::default().step(&mut world, 1.0)?;
    /// assert!((world.body(ball)?.velocity().x - 3.0).abs() < 1e-12);
    /// world.body_mut(ball)?.clear_forces()?;
    /// FreeMotion::default().step(&mut world, 1.0)?;
    /// assert!((world.body(ball)?.velocity().x - 3.0).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add_force(&mut self, force: DVec3) -> Result<(), Error> {
        self.add_wrench(Wrench { force, torque: DVec3::ZERO })
    }

    /// Adds a torque, N m, that acts in every step until [`clear_forces`](Self::clear_forces).
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add_torque(&mut self, torque: DVec3) -> Result<(), Error> {
        self.add_wrench(Wrench { force: DVec3::ZERO, torque })
    }

    /// Adds a force at a point of the world as it is now: force and torque about the centre of mass stay as they are until
    /// [`clear_forces`](Self::clear_forces), wherever the body goes.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add_force_at(&mut self, force: DVec3, point: DVec3) -> Result<(), Error> {
        finite("point of a force", point)?;
        let arm = point - self.world.body(self.id)?.center_of_mass();
        self.add_wrench(Wrench { force, torque: arm.cross(force) })
    }

    /// Ends the forces and torques that were added.
    ///
    /// # Errors
    /// No such body.
    pub fn clear_forces(&mut self) -> Result<(), Error> {
        self.world.bodies.record_mut(self.id)?.applied = Wrench::default();
        self.world.bodies.refresh_special(self.id);
        Ok(())
    }

    fn add_wrench(&mut self, wrench: Wrench) -> Result<(), Error> {
        finite("force", wrench.force)?;
        finite("torque", wrench.torque)?;
        self.world.bodies.record_mut(self.id)?.applied += wrench;
        self.world.bodies.refresh_special(self.id);
        Ok(())
    }

    /// Sets the factor on uniform gravity: 0 floats, 1 falls as everything does.
    ///
    /// # Errors
    /// A factor that is not finite.
    pub fn set_gravity_scale(&mut self, scale: f64) -> Result<(), Error> {
        if !scale.is_finite() {
            return Err(parameter("gravity scale", "finite", scale));
        }
        self.world.bodies.record_mut(self.id)?.gravity_scale = scale;
        self.world.bodies.refresh_special(self.id);
        Ok(())
    }

    /// Stops the body turning and keeps it so, or lets it turn again.
    ///
    /// # Errors
    /// No such body.
    pub fn lock_rotations(&mut self, locked: bool) -> Result<(), Error> {
        self.world.bodies.record_mut(self.id)?.rotation_locked = locked;
        self.world.bodies.refresh_inertia(self.id);
        if locked {
            self.world.bodies.motion_of_mut(self.id)?.omega = DVec3::ZERO;
        }
        Ok(())
    }

    /// Sets the number that the world keeps for the program.
    ///
    /// # Errors
    /// No such body.
    pub fn set_user_data(&mut self, data: u128) -> Result<(), Error> {
        self.world.bodies.record_mut(self.id)?.user_data = data;
        Ok(())
    }

    /// Sets whether a simulator may put the body to sleep when it rests.
    ///
    /// # Errors
    /// No such body.
    pub fn set_can_sleep(&mut self, can_sleep: bool) -> Result<(), Error> {
        self.world.bodies.record_mut(self.id)?.can_sleep = can_sleep;
        Ok(())
    }

    /// Lets a kinematic body move to a pose, where it arrives after `dt` seconds (usually the length of the next step) and stays. It pushes what is in
    /// its way with the velocity that follows.
    ///
    /// ```
    /// # use rattleback_dynamics::simulator::Realtime;
    /// # use rattleback_dynamics::{Body, Simulator, Status, World};
    /// # use rattleback_geometry::{Pose, Shape};
    /// # use glam::{DQuat, DVec3};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let lift = world.add_body(Body::new(Status::Kinematic).with_shape(Shape::cuboid(DVec3::splat(0.5))?))?;
    /// let mut simulator = Realtime::default();
    /// for step in 1..=60 {
    ///     let height = f64::from(step) / 60.0;
    ///     world.body_mut(lift)?.move_to(Pose::new(DQuat::IDENTITY, height * DVec3::Z), 1.0 / 60.0)?;
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    /// }
    /// assert!((world.body(lift)?.position().z - 1.0).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A body that is not kinematic, a pose that is none, or a time that is not positive.
    pub fn move_to(&mut self, pose: Pose, dt: f64) -> Result<(), Error> {
        let record = self.world.bodies.record(self.id)?;
        if record.status != Status::Kinematic {
            let (body, status) = (self.id, record.status);
            return Err(Error::WrongStatus {
                body,
                status,
                operation: "moving to a pose",
                needed: "a kinematic body",
            });
        }
        if !(dt.is_finite() && dt > 0.0) {
            return Err(parameter("time to move", "finite and > 0", dt));
        }
        let (time, here) = (self.world.time, self.world.body(self.id)?.pose());
        self.set_path(Some(Path::Keyframes(vec![(time, here), (time + dt, pose)])))
    }

    /// Sets mass, centre of mass and inertia in the body frame. The frame stays where it is and moves as it did; joints stay at their places.
    ///
    /// # Errors
    /// Mass properties that no body has.
    pub fn set_mass_properties(&mut self, properties: MassProperties) -> Result<(), Error> {
        let name = self.world.bodies.record(self.id)?.name.clone();
        let refuse = |reason: String| Error::Mass { name: name.clone(), reason };
        let given = MassProperties::new(properties.mass, properties.center_of_mass, properties.inertia)
            .map_err(|error| refuse(error.to_string()))?;
        let principal = given.principal();
        let inverse_moments = principal.moments.recip();
        if !(inverse_moments.is_finite() && (1.0 / given.mass).is_finite()) {
            return Err(refuse("inertia vanishes about an axis; give it extent or mass properties".into()));
        }
        let frame = Pose::new(principal.rotation, given.center_of_mass);
        let (pose, velocity) = {
            let body = self.world.body(self.id)?;
            let pose = body.pose();
            (pose, body.velocity_at(pose.point(given.center_of_mass)))
        };
        let record = self.world.bodies.record_mut(self.id)?;
        let shift = frame.inverse() * record.body_from_principal;
        record.body_from_principal = frame;
        record.mass = given.mass;
        record.inertia.inverse_mass = 1.0 / given.mass;
        (record.inertia.moments, record.inertia.inverse_moments) = (principal.moments, inverse_moments);
        record.shape_revision = record.shape_revision.wrapping_add(1);
        self.world.bodies.refresh_inertia(self.id);
        let placed = pose * frame;
        let motion = self.world.bodies.motion_of_mut(self.id)?;
        (motion.x, motion.q, motion.v) = (placed.translation, placed.rotation.normalize(), velocity);
        self.world.move_joint_frames(self.id, &shift);
        Ok(())
    }

    /// Finds mass, centre of mass and inertia anew from the volumes of the solid shapes, all of this density, kg/m³.
    ///
    /// # Errors
    /// A density that is not positive, or shapes without volume.
    pub fn set_density(&mut self, density: f64) -> Result<(), Error> {
        let record = self.world.bodies.record(self.id)?;
        let shapes = record.shapes.iter().filter_map(|id| self.world.shapes.get(*id));
        let masses: Vec<MassProperties> = shapes
            .filter(|attached| !attached.sensor)
            .map(|attached| Ok(attached.shape.mass_properties(density)?.transformed(&attached.pose)))
            .collect::<Result<_, Error>>()?;
        let refuse = |reason: String| Error::Mass { name: record.name.clone(), reason };
        let total = MassProperties::combine(&masses).map_err(|error| refuse(error.to_string()))?;
        self.set_mass_properties(total)
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

    /// Gives an kinematic body a path that starts from where it is at time 0 of the world.
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

    fn dynamic(&self, operation: &'static str) -> Result<(), Error> {
        let status = self.world.bodies.record(self.id)?.status;
        if status == Status::Dynamic {
            return Ok(());
        }
        Err(Error::WrongStatus { body: self.id, status, operation, needed: "a dynamic body" })
    }

    fn movable(&self, operation: &'static str) -> Result<(), Error> {
        let status = self.world.bodies.record(self.id)?.status;
        if matches!(status, Status::Dynamic | Status::Kinematic) {
            return Ok(());
        }
        Err(Error::WrongStatus { body: self.id, status, operation, needed: "a dynamic or kinematic body" })
    }
}

fn finite(what: &'static str, v: DVec3) -> Result<(), Error> {
    if v.is_finite() { Ok(()) } else { Err(parameter(what, "finite", v)) }
}
