//! Views of a multibody: its joints by place or name.

use super::multibody::{JointKey, LinkId, MultibodyRecord, find_link};
use super::{BodyId, MultibodyId, World};
use crate::error::Error;
use crate::multibody::{LinkTree, Mechanism, MechanismReadout, Servo};
use crate::rigid::Motion;
use rattleback_geometry::Pose;

/// A multibody to look at.
#[derive(Clone, Copy, Debug)]
pub struct MultibodyRef<'w> {
    pub(super) id: MultibodyId,
    pub(super) record: &'w MultibodyRecord,
}

impl<'w> MultibodyRef<'w> {
    /// Its id.
    pub const fn id(&self) -> MultibodyId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> Option<&'w str> {
        self.record.name.as_deref()
    }

    /// Tree of links; the joint of link i is joint i.
    pub fn tree(&self) -> &'w LinkTree {
        self.record.mechanism.tree()
    }

    /// Everything in its joints, and its state.
    pub const fn mechanism(&self) -> &'w Mechanism {
        &self.record.mechanism
    }

    /// Names of the joints, by place.
    pub fn joint_names(&self) -> &'w [String] {
        &self.record.joint_names
    }

    /// Joint ⇒ its place, which is that of its link.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn joint<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<usize, Error> {
        self.record.joint(self.id, joint.into())
    }

    /// Positions q of all joints; rad, m, and quaternions x, y, z, w.
    pub fn all_positions(&self) -> &'w [f64] {
        self.record.mechanism.positions()
    }

    /// Velocities q̇ of all joints, rad/s or m/s.
    pub fn all_velocities(&self) -> &'w [f64] {
        self.record.mechanism.velocities()
    }

    /// Accelerations q̈ of all joints, rad/s² or m/s², at the present state.
    pub fn all_accelerations(&self) -> &'w [f64] {
        &self.record.accelerations
    }

    /// Forces τ on all joints from outside, N·m or N.
    pub fn all_forces(&self) -> &'w [f64] {
        self.record.mechanism.forces()
    }

    /// Positions of a joint.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn positions<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<&'w [f64], Error> {
        Ok(&self.all_positions()[self.tree().positions_of(self.joint(joint)?)])
    }

    /// Velocities of a joint.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn velocities<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<&'w [f64], Error> {
        Ok(&self.all_velocities()[self.tree().velocities_of(self.joint(joint)?)])
    }

    /// Accelerations of a joint at the present state.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn accelerations<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<&'w [f64], Error> {
        Ok(&self.all_accelerations()[self.tree().velocities_of(self.joint(joint)?)])
    }

    /// Forces on a joint from outside.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn forces<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<&'w [f64], Error> {
        Ok(&self.all_forces()[self.tree().velocities_of(self.joint(joint)?)])
    }

    /// Energy, momentum and power now.
    pub const fn readout(&self) -> &'w MechanismReadout {
        &self.record.readout
    }

    /// Kinetic energy, J.
    pub const fn kinetic_energy(&self) -> f64 {
        self.record.readout.kinetic_energy
    }

    /// Energy of gravity and springs, J; that of gravity is 0 at the origin of the world.
    pub fn potential_energy(&self) -> f64 {
        self.record.readout.potential_energy(self.record.mechanism.gravity())
    }

    /// Name ⇒ link.
    ///
    /// # Errors
    /// There is no such link.
    pub fn link(&self, name: &str) -> Result<LinkId, Error> {
        Ok(LinkId { multibody: self.id, index: find_link(self.tree(), name)? as u32 })
    }

    fn check(&self, link: LinkId) -> Result<usize, Error> {
        let index = link.index as usize;
        if link.multibody == self.id && index < self.tree().links().len() {
            Ok(index)
        } else {
            Err(Error::UnknownLink(link))
        }
    }

    /// Link ⇒ pose of its frame.
    ///
    /// # Errors
    /// A link of another multibody, or none.
    pub fn link_pose(&self, link: LinkId) -> Result<Pose, Error> {
        Ok(self.record.link_pose(self.check(link)?))
    }

    /// Link ⇒ pose of its frame, velocity of its origin, m/s, and angular velocity in the world frame, rad/s.
    ///
    /// # Errors
    /// A link of another multibody, or none.
    pub fn link_motion(&self, link: LinkId) -> Result<Motion, Error> {
        Ok(self.record.link_motion(self.check(link)?, &Pose::IDENTITY))
    }

    /// Link ⇒ the kinematic body that represents it; none for a link without shapes.
    ///
    /// # Errors
    /// A link of another multibody, or none.
    pub fn link_body(&self, link: LinkId) -> Result<Option<BodyId>, Error> {
        let index = self.check(link)? as u32;
        Ok(self.record.links.iter().find(|own| own.index == index).map(|own| own.body))
    }

    /// Links with shapes, and the bodies that represent them.
    pub fn link_bodies(&self) -> impl Iterator<Item = (LinkId, BodyId)> + 'w {
        let id = self.id;
        self.record.links.iter().map(move |own| (LinkId { multibody: id, index: own.index }, own.body))
    }
}

/// A multibody to change between steps. Every change is refused without a trace if a number does not fit.
#[derive(Debug)]
pub struct MultibodyMut<'w> {
    pub(super) id: MultibodyId,
    pub(super) world: &'w mut World,
}

impl MultibodyMut<'_> {
    /// The same to look at.
    ///
    /// # Errors
    /// None while the view lives.
    pub fn view(&self) -> Result<MultibodyRef<'_>, Error> {
        self.world.multibody(self.id)
    }

    /// Changes a copy of the mechanism, and takes it over if everything went well and accelerations can be computed.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Mechanism) -> Result<(), crate::multibody::MechanismError>,
    ) -> Result<(), Error> {
        let id = self.id;
        let record = self.world.multibodies.records.get_mut(id).ok_or(Error::UnknownMultibody(id))?;
        let before = record.mechanism.clone();
        let outcome = change(&mut record.mechanism)
            .map_err(|source| Error::Mechanism { multibody: id, source })
            .and_then(|()| self.world.follow_multibody_change(id));
        if outcome.is_err()
            && let Some(record) = self.world.multibodies.records.get_mut(id)
        {
            record.mechanism = before;
            // It could be computed before the change.
            let _ = record.refresh();
        }
        outcome
    }

    fn places<'k>(&self, joint: impl Into<JointKey<'k>>) -> Result<[std::ops::Range<usize>; 2], Error> {
        let multibody = self.view()?;
        let joint = multibody.joint(joint)?;
        Ok([multibody.tree().positions_of(joint), multibody.tree().velocities_of(joint)])
    }

    /// Replaces positions and velocities of all joints. Couplings and loops are then put together ([`Mechanism::assemble`]).
    ///
    /// # Errors
    /// Another number of numbers than there are joints, one that is not finite, or couplings and loops that cannot hold.
    pub fn set_state(&mut self, q: &[f64], v: &[f64]) -> Result<(), Error> {
        self.change(|mechanism| {
            mechanism.set_state(q, v)?;
            if mechanism.has_constraints() { mechanism.assemble().map(|_| ()) } else { Ok(()) }
        })
    }

    /// Replaces the positions of a joint.
    ///
    /// # Errors
    /// No such joint, or what [`set_state`](Self::set_state) refuses.
    pub fn set_positions<'k>(&mut self, joint: impl Into<JointKey<'k>>, given: &[f64]) -> Result<(), Error> {
        let [places, _] = self.places(joint)?;
        let (mut q, v) = self.state()?;
        put(&mut q[places], given, "positions of a joint")?;
        self.set_state(&q, &v)
    }

    /// Replaces the velocities of a joint.
    ///
    /// # Errors
    /// No such joint, or what [`set_state`](Self::set_state) refuses.
    pub fn set_velocities<'k>(&mut self, joint: impl Into<JointKey<'k>>, given: &[f64]) -> Result<(), Error> {
        let [_, places] = self.places(joint)?;
        let (q, mut v) = self.state()?;
        put(&mut v[places], given, "velocities of a joint")?;
        self.set_state(&q, &v)
    }

    fn state(&self) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let multibody = self.view()?;
        Ok((multibody.all_positions().to_vec(), multibody.all_velocities().to_vec()))
    }

    /// Replaces the forces on a joint from outside, N·m or N, which act until they are replaced.
    ///
    /// # Errors
    /// No such joint, another number of forces than it has velocities, or one that is not finite.
    pub fn set_forces<'k>(&mut self, joint: impl Into<JointKey<'k>>, given: &[f64]) -> Result<(), Error> {
        let [_, places] = self.places(joint)?;
        let mut forces = self.view()?.all_forces().to_vec();
        put(&mut forces[places], given, "forces on a joint")?;
        self.change(|mechanism| {
            mechanism.forces_mut().copy_from_slice(&forces);
            Ok(())
        })
    }

    /// Replaces the command of an actuator, by its place in [`Mechanism::actuators`].
    ///
    /// # Errors
    /// No such actuator, or a command that is not finite.
    pub fn set_command(&mut self, actuator: usize, command: f64) -> Result<(), Error> {
        let count = self.view()?.mechanism().actuators().len();
        if actuator >= count {
            return Err(crate::error::parameter("actuator", "one of the mechanism", actuator));
        }
        put(&mut [0.0], &[command], "command of an actuator")?;
        self.change(|mechanism| {
            mechanism.commands_mut()[actuator] = command;
            Ok(())
        })
    }

    /// Replaces what the servo of a joint follows: position, rad or m, and velocity, rad/s or m/s.
    ///
    /// # Errors
    /// No such joint, a joint without a servo, or a target that is not finite.
    pub fn set_target<'k>(
        &mut self,
        joint: impl Into<JointKey<'k>>,
        position: f64,
        velocity: f64,
    ) -> Result<(), Error> {
        let [_, places] = self.places(joint)?;
        let multibody = self.view()?;
        let servos = multibody.mechanism().servos();
        let place = servos.iter().position(|servo| places.contains(&servo.axis));
        let Some(place) = place else {
            return Err(crate::error::parameter("joint", "one with a servo", places.start));
        };
        let servo = Servo { position, velocity, ..servos[place] };
        self.change(|mechanism| mechanism.set_servo(place, servo))
    }

    /// Changes anything in the joints: springs, limits, actuators, method. Its gravity is that of the world.
    ///
    /// # Errors
    /// What the change refuses; nothing is changed then.
    pub fn modify(
        &mut self,
        change: impl FnOnce(&mut Mechanism) -> Result<(), crate::multibody::MechanismError>,
    ) -> Result<(), Error> {
        self.change(change)
    }
}

/// Copies numbers that are finite and as many.
fn put(places: &mut [f64], given: &[f64], what: &'static str) -> Result<(), Error> {
    if places.len() != given.len() {
        return Err(crate::error::parameter(what, "as many numbers as the joint has", given));
    }
    if !given.iter().all(|x| x.is_finite()) {
        return Err(crate::error::parameter(what, "finite", given));
    }
    places.copy_from_slice(given);
    Ok(())
}
