//! How a body moves during an interval, s from 0 to 1.
//!
//! Its centre moves on a straight line, c(s) = c₀ + s v, and it turns about it at a constant rate,
//! q(s) = exp(s ω/2) q₀, v and ω being the whole displacement and rotation vector of the interval in the
//! outer frame. The rotation vector between two poses is taken on the shorter arc: from the quaternion of q₁
//! q₀*, α = 2 atan2(|xyz|, |w|). The linear form q(s) = normalize(q₀ + s/2 ω q₀) turns by 2 atan(α s/2) only.

use glam::{DQuat, DVec3};

use crate::Pose;
use crate::primitive::PrimitiveError;

/// Interpolation of the rotation between start and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// At a constant rate, ending where it should.
    #[default]
    Exact,
    /// One explicit step of the quaternion's rate, normalised: falls short of large turns. For comparison.
    LinearQuaternion,
}

/// A rigid motion over s ∈ [0, 1].
///
/// ```
/// use glam::{DQuat, DVec3};
/// use rattleback_geometry::{Pose, swept::Motion};
/// let quarter = Pose::new(DQuat::from_rotation_z(1.0), DVec3::X);
/// let motion = Motion::between(Pose::IDENTITY, quarter, DVec3::ZERO)?;
/// assert!(motion.pose(0.5).rotation.angle_between(DQuat::from_rotation_z(0.5)) < 1e-7);
/// # Ok::<(), rattleback_geometry::primitive::PrimitiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    start: Pose,
    center: DVec3,
    displacement: DVec3,
    turn: DVec3,
    interpolation: Interpolation,
}

impl Motion {
    /// Start pose, centre of rotation in the body's frame, displacement of that centre and rotation vector
    /// (outer frame, whole interval) ⇒ motion.
    pub fn new(start: Pose, center: DVec3, displacement: DVec3, turn: DVec3) -> Result<Self, PrimitiveError> {
        let finite = center.is_finite() && displacement.is_finite() && turn.is_finite();
        if !(start.is_valid() && finite) {
            return Err(PrimitiveError::NonFinite { what: "motion" });
        }
        Ok(Self { start, center, displacement, turn, interpolation: Interpolation::Exact })
    }

    /// The same from velocities held for a duration.
    pub fn from_velocity(
        start: Pose,
        center: DVec3,
        velocity: DVec3,
        angular_velocity: DVec3,
        duration: f64,
    ) -> Result<Self, PrimitiveError> {
        Self::new(start, center, duration * velocity, duration * angular_velocity)
    }

    /// The motion between two poses, turning on the shorter arc about `center` (body frame).
    pub fn between(start: Pose, end: Pose, center: DVec3) -> Result<Self, PrimitiveError> {
        let displacement = end.point(center) - start.point(center);
        Self::new(start, center, displacement, rotation_vector(start.rotation, end.rotation))
    }

    /// A body at rest.
    pub fn resting(pose: Pose) -> Result<Self, PrimitiveError> {
        Self::new(pose, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO)
    }

    /// The same motion with another interpolation of the rotation.
    #[must_use]
    pub const fn with_interpolation(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Pose at s = 0.
    #[inline]
    pub const fn start(&self) -> Pose {
        self.start
    }

    /// Pose at s.
    pub fn pose(&self, s: f64) -> Pose {
        if self.turn == DVec3::ZERO {
            return Pose::new(self.start.rotation, self.start.translation + s * self.displacement);
        }
        let rotation = match self.interpolation {
            Interpolation::Exact => DQuat::from_scaled_axis(s * self.turn) * self.start.rotation,
            Interpolation::LinearQuaternion => {
                let rate = (0.5 * s) * self.turn;
                let q = self.start.rotation;
                (q + DQuat::from_xyzw(rate.x, rate.y, rate.z, 0.0) * q).normalize()
            }
        };
        let center = self.start.point(self.center) + s * self.displacement;
        Pose::new(rotation, center - rotation * self.center)
    }

    /// Centre of rotation in the body's frame.
    #[inline]
    pub const fn center(&self) -> DVec3 {
        self.center
    }

    /// Displacement of the centre over the whole interval.
    #[inline]
    pub const fn displacement(&self) -> DVec3 {
        self.displacement
    }

    /// Rotation vector of the whole interval, outer frame.
    #[inline]
    pub const fn turn(&self) -> DVec3 {
        self.turn
    }

    /// The same path for a part fixed to the body at `place`.
    #[must_use]
    pub fn of_part(&self, place: &Pose) -> Self {
        Self { start: self.start * *place, center: place.inverse_point(self.center), ..*self }
    }

    /// The piece of the motion between two values of s, as a motion of its own. Exact interpolation only.
    #[must_use]
    pub fn piece(&self, from: f64, to: f64) -> Self {
        let length = to - from;
        Self {
            start: self.pose(from),
            displacement: length * self.displacement,
            turn: length * self.turn,
            ..*self
        }
    }
}

/// Rotation vector of the shorter way from one orientation to another, outer frame.
pub fn rotation_vector(from: DQuat, to: DQuat) -> DVec3 {
    let difference = to * from.conjugate();
    let difference = if difference.w < 0.0 { -difference } else { difference };
    let sine = difference.xyz().length();
    if sine == 0.0 {
        return DVec3::ZERO;
    }
    (2.0 * sine.atan2(difference.w) / sine) * difference.xyz()
}

/// (angle turned, largest radius, how far a chord may cut the arc) ⇒ number of equal pieces so that straight
/// paths of points stay that near to the true arcs: N = ⌈angle/(2 acos(1 − tolerance/radius))⌉, at least 1.
pub fn chord_pieces(angle: f64, radius: f64, tolerance: f64) -> Result<u32, PrimitiveError> {
    if !(tolerance > 0.0) {
        let (what, allowed) = ("chord tolerance", "positive");
        return Err(PrimitiveError::OutOfRange { what, value: tolerance, allowed });
    }
    if !(angle.is_finite() && radius.is_finite()) {
        return Err(PrimitiveError::NonFinite { what: "angle or radius" });
    }
    let cosine = (1.0 - tolerance / radius.abs()).max(-1.0);
    let pieces = (angle.abs() / (2.0 * cosine.acos())).ceil();
    let pieces = if radius == 0.0 { 1.0 } else { pieces };
    if !(pieces <= 1e6) {
        let (what, allowed) = ("number of pieces", "at most a million: allow a larger chord error");
        return Err(PrimitiveError::OutOfRange { what, value: pieces, allowed });
    }
    Ok((pieces as u32).max(1))
}
