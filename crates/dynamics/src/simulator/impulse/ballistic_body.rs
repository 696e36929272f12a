//! Bodies of the event-driven simulator and their trajectories.
//!
//! Between two impulses the trajectory of a body is a closed form of time, so nothing is integrated: a
//! parabola and a torque-free rotation for a dynamic body, the prescribed path for a kinematic one, a
//! constant for the rest. States are evaluated only at the times of events. A rotation longer than one series
//! covers is cut into segments of fixed length after the last impulse, and the attitude at the start of the
//! last segment is cached; so the state depends on the time alone, and costs the same however long the
//! flight.
//!
//! Every body has an odometer: an upper bound on the distance that any point of its surface has travelled
//! along any direction (as far as rotation moves the surface at all). A statement of the kind "valid until
//! the odometer has grown by R", about a fat AABB or about a gap, holds through any number of collisions
//! (`travel_deadline`).

use super::collision_work::CollisionWork;
use super::convex_part::ConvexPart;
use super::kinematic_bound::KinematicPath;
use super::motion_bound::{MotionBound, SpinBound};
use super::rest::RestDetector;
use super::travel_deadline::Deadline;
use crate::impact::ContactBody;
use crate::rigid::{Inertia, Motion, longest_piece, rotate_freely};
use crate::world::BodyId;
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;
use std::ops::Range;

/// What determines the trajectory of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum MotionKind {
    /// The body never moves.
    Static,
    /// A prescribed path; impulses have no effect.
    Kinematic,
    /// Gravity and collisions.
    Ballistic,
    /// At rest: its contacts hold it in equilibrium. An impulse that they cannot absorb makes it ballistic.
    Resting,
}

/// A body with its trajectory since its last impulse.
#[derive(Clone, Debug)]
pub(super) struct BallisticBody {
    pub id: BodyId,
    pub kind: MotionKind,
    /// Index among the dynamic bodies of the world, if it is one.
    pub dynamic_index: usize,
    /// Start of the present trajectory, s, and the state there.
    pub start_time: f64,
    pub start: Motion,
    pub inertia: Inertia,
    pub gravity: DVec3,
    spin: SpinBound,
    momentum: DVec3,
    /// Length of the segments of a long rotation, s; number of the last segment evaluated, and the attitude
    /// at its start.
    segment: f64,
    segment_start: (f64, DQuat),
    /// Odometer at `start_time`, m, and the bound on its growth from then on.
    pub odometer: f64,
    pub speed_bound: MotionBound,
    /// Odometer reading up to which its fat AABBs are valid, and readings at which deferred pairs have to be
    /// measured, m.
    pub aabb_limit: f64,
    pub deadlines: BinaryHeap<Deadline>,
    /// Time of its last collision, s.
    pub last_collision: f64,
    /// Time and result of the last evaluation.
    cached_time: f64,
    cached: Motion,
    pub parts: Range<usize>,
    /// Frame of the user → frame it rotates about.
    pub frame: Pose,
    /// Largest lever of its parts and its diameter, m.
    lever: f64,
    pub diameter: f64,
    /// Axis of its only part, see [`ConvexPart::axis`].
    axis: Option<DVec3>,
    /// Number of restarts of the trajectory since the bodies were last partitioned: an estimate of its work.
    pub restarts: u32,
    /// Indices of its pairs; not kept for stationary bodies.
    pub pairs: Vec<u32>,
    pub kinematic: Option<KinematicPath>,
    /// Whether it is a link of a multibody, whose path is that of the present step.
    pub is_link: bool,
    pub detector: RestDetector,
    /// Work of its collisions in the present step.
    pub work: CollisionWork,
}

impl BallisticBody {
    pub fn new(
        id: BodyId,
        kind: MotionKind,
        dynamic_index: usize,
        time: f64,
        motion: Motion,
        inertia: Inertia,
    ) -> Self {
        let mut body = Self {
            id,
            kind,
            dynamic_index,
            start_time: time,
            start: motion,
            inertia,
            gravity: DVec3::ZERO,
            spin: SpinBound::default(),
            momentum: DVec3::ZERO,
            segment: f64::INFINITY,
            segment_start: (0.0, motion.q),
            odometer: 0.0,
            speed_bound: MotionBound::default(),
            aabb_limit: 0.0,
            deadlines: BinaryHeap::new(),
            last_collision: f64::NEG_INFINITY,
            lever: 0.0,
            diameter: 0.0,
            axis: None,
            cached_time: time,
            cached: motion,
            parts: 0..0,
            frame: Pose::IDENTITY,
            restarts: 0,
            pairs: Vec::new(),
            kinematic: None,
            is_link: false,
            detector: RestDetector::from(time, &motion),
            work: CollisionWork::default(),
        };
        body.restart_trajectory(time, motion);
        body
    }

    /// Starts a new trajectory from a state.
    pub fn restart_trajectory(&mut self, time: f64, motion: Motion) {
        self.odometer = self.odometer_at(time);
        self.start_time = time;
        self.start = motion;
        self.cached_time = time;
        self.cached = motion;
        self.restarts = self.restarts.saturating_add(1);
        if self.kind == MotionKind::Ballistic {
            self.momentum = self.inertia.angular_momentum(motion.q, motion.omega);
            self.spin = SpinBound::of(&self.inertia, &motion);
            self.segment = longest_piece(motion.q, self.momentum, self.inertia.inverse_moments);
            self.segment_start = (0.0, motion.q);
        }
        self.speed_bound = self.speed_bound_from(&motion);
    }

    /// Sets the range of its convex parts and what follows from them.
    pub fn set_parts(&mut self, parts: &[ConvexPart], range: Range<usize>) {
        let own = &parts[range.clone()];
        self.parts = range;
        self.lever = own.iter().map(|part| part.lever).fold(0.0, f64::max);
        self.diameter = own.iter().map(|part| 2.0 * part.radius).fold(0.0, f64::max);
        self.axis = if let [only] = own { only.axis } else { None };
        self.speed_bound = self.speed_bound_from(&self.start);
    }

    fn speed_bound_from(&self, motion: &Motion) -> MotionBound {
        match self.kind {
            MotionKind::Static | MotionKind::Resting => MotionBound::default(),
            MotionKind::Ballistic => MotionBound {
                a: 0.5 * self.gravity.length(),
                b: motion.v.length() + self.lever * self.max_visible_spin(self.axis, motion),
            },
            MotionKind::Kinematic => MotionBound {
                a: 0.0,
                b: self.kinematic.as_ref().map_or(0.0, |path| path.max_surface_speed(self.lever)),
            },
        }
    }

    /// Odometer at a time not before the start of the trajectory, m.
    pub fn odometer_at(&self, t: f64) -> f64 {
        let s = (t - self.start_time).max(0.0);
        self.odometer + (self.speed_bound.a * s + self.speed_bound.b) * s
    }

    /// Smallest odometer reading at which something has to be done, m.
    pub fn next_deadline(&self) -> f64 {
        self.deadlines.peek().map_or(self.aabb_limit, |deadline| deadline.reading.min(self.aabb_limit))
    }

    /// Part of the speed bound that is due to rotation, m/s.
    pub fn rotation_speed(&self) -> f64 {
        if self.kind == MotionKind::Ballistic {
            (self.speed_bound.b - self.start.v.length()).max(0.0)
        } else {
            0.0
        }
    }

    /// Bound on the growth of the odometer from time t on.
    pub fn speed_bound_at(&self, t: f64) -> MotionBound {
        MotionBound {
            a: self.speed_bound.a,
            b: self.speed_bound.b + 2.0 * self.speed_bound.a * (t - self.start_time).max(0.0),
        }
    }

    /// Whether impulses can move it, once it is awake.
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind, MotionKind::Ballistic | MotionKind::Resting)
    }

    /// Whether impulses move it now.
    pub fn is_movable(&self) -> bool {
        self.kind == MotionKind::Ballistic
    }

    /// Whether its pose changes without further impulses.
    pub fn is_moving(&self) -> bool {
        matches!(self.kind, MotionKind::Ballistic | MotionKind::Kinematic) && !self.is_stationary()
    }

    /// Whether its pose never changes. (The velocity of its surface may be prescribed.)
    pub fn is_stationary(&self) -> bool {
        match self.kind {
            MotionKind::Static => true,
            MotionKind::Kinematic => self.speed_bound.b == 0.0,
            MotionKind::Ballistic | MotionKind::Resting => false,
        }
    }

    /// State at time t.
    pub fn at(&mut self, t: f64) -> Motion {
        if t != self.cached_time {
            self.cached_time = t;
            self.cached = self.evaluate(t);
        }
        self.cached
    }

    /// Attitude of a ballistic body at a time h after the start of its trajectory.
    fn attitude(&mut self, h: f64) -> DQuat {
        let turned = |q: DQuat, h: f64| rotate_freely(q, self.momentum, self.inertia.inverse_moments, h);
        let number = (h / self.segment).floor();
        // Rotation too fast to follow segment by segment: the series itself subdivides.
        if !(number > 0.0 && number < 1e6) {
            return turned(self.start.q, h);
        }
        let (mut passed, mut q) =
            if self.segment_start.0 <= number { self.segment_start } else { (0.0, self.start.q) };
        while passed < number {
            q = turned(q, self.segment);
            passed += 1.0;
        }
        let end = turned(q, h - number * self.segment);
        self.segment_start = (passed, q);
        end
    }

    /// State at time t, without the cache.
    fn evaluate(&mut self, t: f64) -> Motion {
        match self.kind {
            MotionKind::Static | MotionKind::Resting => self.start,
            MotionKind::Kinematic => self.kinematic.as_ref().map_or(self.start, |path| {
                let point = path.path.at(&path.start, t);
                Motion {
                    x: point.pose.translation,
                    q: point.pose.rotation,
                    v: point.velocity,
                    omega: point.angular_velocity,
                }
            }),
            MotionKind::Ballistic => {
                let h = t - self.start_time;
                let q = self.attitude(h);
                Motion {
                    x: self.start.x + h * (self.start.v + 0.5 * h * self.gravity),
                    q,
                    v: self.start.v + h * self.gravity,
                    omega: self.inertia.angular_velocity(q, self.momentum),
                }
            }
        }
    }

    /// (part, direction, present state) ⇒ two bounds on the displacement of the support point of the part
    /// along the direction.
    #[inline]
    pub fn bounds(&self, part: &ConvexPart, d: DVec3, now: &Motion) -> [MotionBound; 2] {
        match self.kind {
            MotionKind::Static | MotionKind::Resting => [MotionBound::default(); 2],
            MotionKind::Ballistic => {
                let a = 0.5 * self.gravity.dot(d);
                let along = now.v.dot(d);
                let turning = now.omega.cross(d).length();
                [
                    MotionBound { a, b: along + part.lever * self.max_visible_spin(part.axis, now) },
                    MotionBound {
                        a: a + 0.5 * part.lever * self.spin.max_acceleration,
                        b: along + part.lever * turning,
                    },
                ]
            }
            MotionKind::Kinematic => self
                .kinematic
                .as_ref()
                .map_or([MotionBound::default(); 2], |path| path.bounds(part.lever, d, now.v, now.omega)),
        }
    }

    /// Largest angular speed, rad/s, that can move the surface of a part. If the part and the inertia are
    /// both symmetric about one axis, spin about it does not move the surface, and the magnitude of the rest
    /// of ω is constant in free flight.
    #[inline]
    fn max_visible_spin(&self, axis: Option<DVec3>, now: &Motion) -> f64 {
        let Some(axis) = axis.filter(|axis| self.symmetry(*axis).is_some()) else {
            return self.spin.max_speed;
        };
        let axis = now.q * axis;
        let across = now.omega - now.omega.dot(axis) * axis;
        // Moments that are equal only within rounding let it grow a little.
        (across.length() + 1e-8 * now.omega.length()).min(self.spin.max_speed)
    }

    /// Axis of the body ⇒ I₃/I₁ if the inertia is symmetric about it.
    #[inline]
    fn symmetry(&self, axis: DVec3) -> Option<f64> {
        let i = self.inertia.moments;
        let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a;
        let k = axis.abs().max_position();
        let (first, second) = (i[(k + 1) % 3], i[(k + 2) % 3]);
        (axis.abs()[k] >= 1.0 - 1e-12 && alike(first, second)).then(|| i[k] / first)
    }

    /// (axis of a part, present state) ⇒ ω without the spin about an axis of symmetry.
    pub fn visible_spin(&self, axis: Option<DVec3>, now: &Motion) -> DVec3 {
        let Some(axis) = axis.filter(|axis| self.symmetry(*axis).is_some()) else { return now.omega };
        let axis = now.q * axis;
        now.omega - now.omega.dot(axis) * axis
    }

    /// Bounds on |ω| and on |ω̇| + ω² until the next impulse.
    pub fn spin_bounds(&self) -> (f64, f64) {
        (self.spin.max_speed, self.spin.max_acceleration + self.spin.max_speed.powi(2))
    }

    /// Bound on the third derivative of a unit vector fixed to the body, 1/s³.
    pub fn rotation_jerk(&self) -> f64 {
        self.spin.max_jerk
    }

    /// Angular acceleration of a ballistic body in a state, rad/s²: α = I⁻¹ (L × ω).
    pub fn angular_acceleration(&self, now: &Motion) -> DVec3 {
        self.inertia.angular_velocity(now.q, self.momentum.cross(now.omega))
    }

    /// (axis of a part, present state) ⇒ bound on the acceleration of the points of a part due to rotation,
    /// per unit of radius: α_max + ω_max², without the spin about an axis of symmetry if there is one.
    pub fn max_point_acceleration(&self, axis: Option<DVec3>, now: &Motion) -> f64 {
        let round = axis.and_then(|axis| self.symmetry(axis).map(|ratio| (now.q * axis, ratio)));
        round.map_or_else(
            || self.spin.max_acceleration + self.spin.max_speed.powi(2),
            |(axis, ratio)| {
                // The axis moves at the rate w and precesses about the angular momentum; both rates are
                // constant.
                let along = now.omega.dot(axis);
                let w = (now.omega - along * axis).length() + 1e-8 * now.omega.length();
                w * (w + ratio * along.abs())
            },
        )
    }

    /// Result of the last call of [`at`](Self::at).
    pub fn last_motion(&self) -> Motion {
        self.cached
    }

    /// Inverse mass, inverse inertia and velocities at a contact point; infinite mass for a body that
    /// impulses do not move.
    pub fn contact_body(&self, now: &Motion, point: DVec3) -> ContactBody {
        let (inverse_mass, inverse_inertia) = if self.is_movable() {
            Self::inverse_mass_and_inertia(&self.inertia, now)
        } else {
            (0.0, DMat3::ZERO)
        };
        ContactBody { inverse_mass, inverse_inertia, r: point - now.x, v: now.v, omega: now.omega }
    }

    /// 1/m and I⁻¹ in the world frame.
    pub fn inverse_mass_and_inertia(inertia: &Inertia, now: &Motion) -> (f64, DMat3) {
        (inertia.inverse_mass, inertia.inverse_world_tensor(now.q))
    }
}
