//! Where a joint sits, and when it breaks.

use super::Joint;
use crate::error::{Error, parameter};
use crate::world::BodyId;
use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// When a joint breaks: as soon as one of these is passed. Infinite means never.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakThresholds {
    /// Force of its locks, N.
    pub force: f64,
    /// Torque of its locks, N m.
    pub torque: f64,
    /// Distance by which its anchors have been drawn apart, m.
    pub drift: f64,
}

impl Default for BreakThresholds {
    fn default() -> Self {
        Self { force: f64::INFINITY, torque: f64::INFINITY, drift: f64::INFINITY }
    }
}

impl BreakThresholds {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let ok = [self.force, self.torque, self.drift].iter().all(|threshold| *threshold > 0.0);
        if ok { Ok(()) } else { Err(parameter("breaking threshold", "> 0", self)) }
    }

    /// Whether it never breaks.
    pub fn is_never(&self) -> bool {
        [self.force, self.torque, self.drift].iter().all(|threshold| threshold.is_infinite())
    }
}

/// Where frames stand when a joint is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Both at the same pose in the world.
    Together(Pose),
    /// Each in the frame of its body.
    Apart([Pose; 2]),
}

/// The bodies of a joint and its frames.
#[derive(Clone, Debug)]
pub struct JointFrames {
    bodies: [Option<BodyId>; 2],
    place: Place,
    name: Option<String>,
    collide: bool,
    breaking: BreakThresholds,
}

impl JointFrames {
    /// Between two bodies, with both frames at the origin of the world unless given.
    pub const fn between(a: BodyId, b: BodyId) -> Self {
        Self::new([Some(a), Some(b)])
    }

    /// Between the world (A) and a body (B).
    pub const fn to_world(body: BodyId) -> Self {
        Self::new([None, Some(body)])
    }

    const fn new(bodies: [Option<BodyId>; 2]) -> Self {
        let never = BreakThresholds { force: f64::INFINITY, torque: f64::INFINITY, drift: f64::INFINITY };
        Self { bodies, place: Place::Together(Pose::IDENTITY), name: None, collide: false, breaking: never }
    }

    /// Both anchors at this point of the world.
    #[must_use]
    pub fn at(mut self, point: DVec3) -> Self {
        self.place = Place::Together(Pose::new(self.pose().rotation, point));
        self
    }

    /// The axis z of both frames points this way in the world.
    #[must_use]
    pub fn along(mut self, axis: DVec3) -> Self {
        // A direction that is none is refused when the joint is made.
        let rotation =
            axis.try_normalize().map_or(DQuat::NAN, |axis| DQuat::from_rotation_arc(DVec3::Z, axis));
        self.place = Place::Together(Pose::new(rotation, self.pose().translation));
        self
    }

    /// Both frames stand like this in the world.
    #[must_use]
    pub const fn oriented(mut self, rotation: DQuat) -> Self {
        self.place = Place::Together(Pose::new(rotation, self.pose().translation));
        self
    }

    /// Each frame as it stands in its body (A in the world if A is the world); they need not coincide.
    #[must_use]
    pub const fn frames(mut self, a: Pose, b: Pose) -> Self {
        self.place = Place::Apart([a, b]);
        self
    }

    /// What to call it.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether the two bodies may still touch; by default they may not.
    #[must_use]
    pub const fn colliding(mut self, collide: bool) -> Self {
        self.collide = collide;
        self
    }

    /// When it breaks.
    #[must_use]
    pub const fn breaking(mut self, breaking: BreakThresholds) -> Self {
        self.breaking = breaking;
        self
    }

    const fn pose(&self) -> Pose {
        match self.place {
            Place::Together(pose) => pose,
            Place::Apart([a, _]) => a,
        }
    }

    /// (where a body is, none if it does not exist) ⇒ the joint as it is kept.
    pub(crate) fn fix(
        self,
        joint: Box<dyn Joint>,
        pose_of: impl Fn(BodyId) -> Result<(Pose, Pose), Error>,
    ) -> Result<JointRecord, Error> {
        joint.check()?;
        self.breaking.check()?;
        if self.bodies[0] == self.bodies[1] {
            return Err(parameter(
                "joint",
                "between two different bodies, or a body and the world",
                self.bodies,
            ));
        }
        let mut frames = [Pose::IDENTITY; 2];
        for k in 0..2 {
            // The pose of the body in the world, and of its principal frame in the body.
            let (body, principal) = match self.bodies[k] {
                Some(id) => pose_of(id)?,
                None => (Pose::IDENTITY, Pose::IDENTITY),
            };
            let in_body = match self.place {
                Place::Together(pose) => body.inverse() * pose,
                Place::Apart(frames) => frames[k],
            };
            let frame = principal.inverse() * in_body;
            if !frame.rotation.is_finite()
                || !frame.translation.is_finite()
                || frame.rotation.length_squared() < 1e-12
            {
                return Err(parameter(
                    "frame of a joint",
                    "a finite point and a direction that is not zero",
                    frame,
                ));
            }
            frames[k] = Pose::new(frame.rotation.normalize(), frame.translation);
        }
        Ok(JointRecord {
            name: self.name,
            bodies: self.bodies,
            frames,
            collide: self.collide,
            breaking: self.breaking,
            turned: [0.0; 3],
            last: None,
            joint,
        })
    }
}

/// A joint in a world.
#[derive(Clone, Debug)]
pub struct JointRecord {
    pub(crate) name: Option<String>,
    pub(crate) bodies: [Option<BodyId>; 2],
    /// In principal coordinates of the bodies, or of the world.
    pub(crate) frames: [Pose; 2],
    pub(crate) collide: bool,
    pub(crate) breaking: BreakThresholds,
    /// See [`JointState`](super::JointState).
    pub(crate) turned: [f64; 3],
    /// Orientations of both frames when `turned` was last brought up to date.
    pub(crate) last: Option<[DQuat; 2]>,
    pub(crate) joint: Box<dyn Joint>,
}

impl JointRecord {
    /// What it is called.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A and B; none is the world.
    pub const fn bodies(&self) -> [Option<BodyId>; 2] {
        self.bodies
    }

    /// What kind it is, and its settings.
    pub fn kind(&self) -> &dyn Joint {
        &*self.joint
    }

    /// When it breaks.
    pub const fn breaking(&self) -> BreakThresholds {
        self.breaking
    }

    /// Whether its bodies may touch.
    pub const fn can_collide(&self) -> bool {
        self.collide
    }

    /// Frames of A and B, in principal coordinates of the bodies, or of the world.
    pub const fn frames(&self) -> [Pose; 2] {
        self.frames
    }

    /// How far B has turned about A's axis z since the joint was made, over any number of turns, rad.
    pub const fn angle(&self) -> f64 {
        self.turned[2]
    }

    /// Brings the angles up to date; a frame may have turned by less than half a turn since the last time.
    pub(crate) fn follow(&mut self, rotations: [DQuat; 2]) {
        self.turned = self.turned_at(rotations);
        self.last = Some(rotations);
    }

    /// The angles if both frames stood like this.
    pub(crate) fn turned_at(&self, rotations: [DQuat; 2]) -> [f64; 3] {
        let about_own = |now: DQuat, then: DQuat| super::state::twist(short(then.conjugate() * now));
        let between = |q: [DQuat; 2]| super::state::twist(short(q[0].conjugate() * q[1]));
        let mut turned = self.turned;
        match self.last {
            Some(last) => {
                for k in 0..2 {
                    turned[k] += about_own(rotations[k], last[k]);
                }
                let step = between(rotations) - turned[2];
                turned[2] += step - std::f64::consts::TAU * (step / std::f64::consts::TAU).round();
            }
            None => turned[2] = between(rotations),
        }
        turned
    }
}

fn short(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}
