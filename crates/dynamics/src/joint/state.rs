//! Where the two frames of a joint are.

use super::row::{Effect, Row};
use crate::rigid::Motion;
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;

/// One frame, and the body that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFrame {
    /// Anchor, m.
    pub origin: DVec3,
    /// Orientation of the frame.
    pub rotation: DQuat,
    /// The body's centre of mass, m.
    pub center: DVec3,
    /// Velocity of the centre of mass, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub omega: DVec3,
}

impl JointFrame {
    /// A frame of the world.
    pub const fn fixed(pose: &Pose) -> Self {
        Self {
            origin: pose.translation,
            rotation: pose.rotation,
            center: pose.translation,
            velocity: DVec3::ZERO,
            omega: DVec3::ZERO,
        }
    }

    /// A frame in principal coordinates of a body.
    pub fn on(motion: &Motion, place: &Pose) -> Self {
        let pose = motion.pose() * *place;
        Self {
            origin: pose.translation,
            rotation: pose.rotation,
            center: motion.x,
            velocity: motion.v,
            omega: motion.omega,
        }
    }

    /// Its axes x, y, z.
    pub fn axes(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }
}

/// How frame B of a joint stands and moves in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointMotion {
    /// Anchor B, in axes of A, m.
    pub translation: DVec3,
    /// Rotation of B in A, the short way.
    pub rotation: DQuat,
    /// Velocity of B's material at anchor B against A's at the same point, in axes of A, m/s.
    pub velocity: DVec3,
    /// In axes of A, rad/s; z is the speed of a hinge.
    pub angular_velocity: DVec3,
}

/// What the rows of a joint depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointState {
    /// s.
    pub time: f64,
    /// Length of the step, s.
    pub dt: f64,
    /// Frames of A and B.
    pub frames: [JointFrame; 2],
    /// How far body A and body B have turned about their own axes z since the joint was made, and B about A's, rad.
    pub turned: [f64; 3],
}

impl JointState {
    /// Anchor B as seen from anchor A.
    pub fn offset(&self) -> DVec3 {
        self.frames[1].origin - self.frames[0].origin
    }

    /// Rotation of B in A, the short way.
    pub fn rotation(&self) -> DQuat {
        let q = self.frames[0].rotation.conjugate() * self.frames[1].rotation;
        if q.w < 0.0 { -q } else { q }
    }

    /// Ċ of a row.
    pub fn rate(&self, row: &Row) -> f64 {
        let [a, b] = &self.frames;
        row.linear.dot(b.velocity - a.velocity) + row.angular[1].dot(b.omega) - row.angular[0].dot(a.omega)
    }

    /// Motion of B's anchor along an axis that turns with A.
    pub fn along(&self, key: u8, axis: DVec3, error: f64) -> Row {
        let [a, b] = &self.frames;
        let angular = [(b.origin - a.center).cross(axis), (b.origin - b.center).cross(axis)];
        Row { key, linear: axis, angular, error, effect: Effect::Lock }
    }

    /// Rotation of B against A about an axis.
    pub const fn about(&self, key: u8, axis: DVec3, error: f64) -> Row {
        Row { key, linear: DVec3::ZERO, angular: [axis; 2], error, effect: Effect::Lock }
    }
}

/// Rotation about z in a small or large rotation, −π to π.
pub(super) fn twist(q: DQuat) -> f64 {
    let angle = 2.0 * q.z.atan2(q.w);
    if angle > std::f64::consts::PI {
        angle - std::f64::consts::TAU
    } else if angle < -std::f64::consts::PI {
        angle + std::f64::consts::TAU
    } else {
        angle
    }
}
