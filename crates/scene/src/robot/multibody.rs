//! Robot ⇒ multibody of a world.
//!
//! Everything that a [`Mechanism`](rattleback_dynamics::multibody::Mechanism) can have comes along: springs, dampers, dry friction, limits,
//! couplings, loops, armatures. An actuator whose law is a force has a command; one that follows a position or a velocity becomes a servo with the
//! target 0: with the length g q of the actuator, g its gear, joint force = g (k (u − g q) − d g q̇) = k g² (u/g − q) − d g² q̇.

use super::actuator::ActuatorLaw;
use super::model::RobotModel;
use super::scene::{material_name, within_limits};
use rattleback_dynamics::multibody::{Link, LinkTree, Servo};
use rattleback_dynamics::{Body, Error, Material, Multibody, ShapePart, World};
use rattleback_geometry::Pose;

impl RobotModel {
    /// The same robot, its base elsewhere: links on the world and shapes that belong to it are moved.
    #[must_use]
    pub fn placed(mut self, base: &Pose) -> Self {
        if *base == Pose::IDENTITY {
            return self;
        }
        let moved = |link: &Link| {
            let mut link = link.clone();
            if link.parent.is_none() {
                (link.joint_position, link.joint_rotation) = crate::build::base_frame(base, &link);
            }
            link
        };
        // Only the frames have changed, to others that are valid as well.
        if let Ok(tree) = LinkTree::new(self.tree.links().iter().map(moved).collect()) {
            self.tree = tree;
        }
        for collider in self.colliders.iter_mut().filter(|collider| collider.link.is_none()) {
            collider.pose = *base * collider.pose;
        }
        self
    }

    /// Multibody with the names and shapes of the file, in the pose of the file; positions outside of their limits are put on them. Materials for
    /// the friction coefficients of shapes, and a static body with the shapes that do not belong to a link, are added to the world.
    ///
    /// # Errors
    /// Numbers that a mechanism, a material or a body refuses.
    pub fn to_multibody(&self, world: &mut World) -> Result<Multibody, Error> {
        let mut mechanism = self.mechanism().map_err(Error::Multibody)?;
        for actuator in &self.actuators {
            let axis = self.tree.velocities_of(self.joints[actuator.joint].link).start;
            let gear2 = actuator.gear * actuator.gear;
            let (stiffness, damping) = match actuator.law {
                ActuatorLaw::Position { stiffness, damping } => (stiffness * gear2, damping * gear2),
                ActuatorLaw::Velocity { damping } => (0.0, damping * gear2),
                ActuatorLaw::Force | ActuatorLaw::General => continue,
            };
            let (max_force, position, velocity) = (f64::INFINITY, 0.0, 0.0);
            let servo = Servo { axis, stiffness, damping, max_force, position, velocity };
            mechanism.add_servo(servo).map_err(Error::Multibody)?;
        }
        let v = mechanism.velocities().to_vec();
        mechanism.set_state(&within_limits(self).0, &v).map_err(Error::Multibody)?;
        if mechanism.has_constraints() {
            mechanism.assemble().map_err(Error::Multibody)?;
        }
        let mut multibody = Multibody::new(mechanism);
        if !self.name.is_empty() {
            multibody = multibody.named(&self.name);
        }
        for joint in &self.joints {
            let link = &self.tree.links()[joint.link].name;
            multibody = multibody.with_joint_name(link, &joint.name)?;
        }
        let mut fixed = Body::fixed().named(format!("{} (fixed parts)", self.name));
        let mut has_fixed = false;
        for collider in &self.colliders {
            let material =
                collider.friction.map(|friction| friction_material(world, friction)).transpose()?;
            let part = ShapePart { pose: collider.pose, material, ..collider.shape.clone().into() };
            if let Some(link) = collider.link {
                multibody = multibody.with_part(&self.tree.links()[link].name, part)?;
            } else {
                (fixed, has_fixed) = (fixed.with_part(part), true);
            }
        }
        if has_fixed {
            world.add_body(fixed)?;
        }
        Ok(multibody)
    }
}

/// A material with this friction, the same for all shapes that have it.
fn friction_material(world: &mut World, friction: f64) -> Result<rattleback_dynamics::MaterialId, Error> {
    let name = material_name(friction);
    match world.find_material(&name) {
        Some(id) => Ok(id),
        None => world.add_named_material(&name, Material::with_friction(friction)),
    }
}
