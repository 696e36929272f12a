//! A given force at a given point of a body.

use super::{Force, ForceAccumulator, ForceContext};
use crate::component;
use crate::property::Allowed;
use crate::rigid::Wrench;
use crate::signal::Signal;
use glam::DVec3;

component! {
    /// A force, and optionally a torque, fixed in the world or in the body.
    pub struct PointForce as "point-force" {
        /// The force.
        force: Signal<DVec3> = DVec3::ZERO, "N", Allowed::Finite;
        /// A torque on top of it.
        torque: Signal<DVec3> = DVec3::ZERO, "N·m", Allowed::Finite;
        /// Where the force acts: a point of the body frame.
        point: DVec3 = DVec3::ZERO, "m", Allowed::Finite;
        /// Whether force and torque turn with the body or keep their direction in the world.
        frame: String = "world", "", Allowed::OneOf(&["world", "body"]);
    }
}

impl Force for PointForce {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let (force, torque) = (self.force.at(scope.time), self.torque.at(scope.time));
        let turns_with_body = self.frame == "body";
        for body in scope.targets() {
            let pose = scope.bodies.pose_of(body.id, body.motion);
            let (force, torque) =
                if turns_with_body { (pose.vector(force), pose.vector(torque)) } else { (force, torque) };
            let mut wrench = Wrench::at(force, pose.point(self.point), body.motion.x);
            wrench.torque += torque;
            loads.add(body.index, wrench);
        }
    }
}
