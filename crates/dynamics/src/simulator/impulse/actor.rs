//! Who takes part, and where everybody is at any time.
//!
//! Nothing is integrated: between two impulses a body is a closed form of time (a parabola and a torque-free rotation from the
//! moment it was last touched), a scripted body is its path, and the rest do not move. A body is therefore only worked out at
//! the moments somebody asks about it.

use super::part::Part;
use super::reach::{Bound, Spin};
use super::rest::Watch;
use super::script::Script;
use crate::contact::Contactor;
use crate::motion::{Inertia, Motion, rotate_freely};
use crate::world::BodyId;
use glam::{DMat3, DVec3};
use rattleback_geometry::Aabb;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Nothing.
    Fixed,
    /// Its path, whatever happens to it.
    Scripted,
    /// Gravity and collisions.
    Flying,
    /// Nothing for now: its contacts have been proved able to carry it.
    Resting,
}

/// A body.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub id: BodyId,
    pub role: Role,
    /// Place among the world's dynamic bodies, if it is one.
    pub place: usize,
    /// When it was last touched, and how it moved then.
    pub since: f64,
    pub start: Motion,
    pub inertia: Inertia,
    pub gravity: DVec3,
    spin: Spin,
    momentum: DVec3,
    /// The last time somebody asked, and the answer.
    asked: f64,
    answer: Motion,
    pub parts: Range<usize>,
    /// Pairs it is in.
    pub pairs: Vec<u32>,
    pub script: Option<Script>,
    pub watch: Watch,
}

impl Actor {
    pub fn new(id: BodyId, role: Role, place: usize, time: f64, motion: Motion, inertia: Inertia) -> Self {
        let mut actor = Self {
            id,
            role,
            place,
            since: time,
            start: motion,
            inertia,
            gravity: DVec3::ZERO,
            spin: Spin::default(),
            momentum: DVec3::ZERO,
            asked: time,
            answer: motion,
            parts: 0..0,
            pairs: Vec::new(),
            script: None,
            watch: Watch::from(time, &motion),
        };
        actor.set_out(time, motion);
        actor
    }

    /// From now on it moves on from here.
    pub fn set_out(&mut self, time: f64, motion: Motion) {
        self.since = time;
        self.start = motion;
        self.asked = time;
        self.answer = motion;
        if self.role == Role::Flying {
            self.momentum = self.inertia.angular_momentum(motion.q, motion.omega);
            self.spin = Spin::of(&self.inertia, &motion);
        }
    }

    /// Whether impulses move it, once it is awake.
    pub fn is_free(&self) -> bool {
        matches!(self.role, Role::Flying | Role::Resting)
    }

    /// Whether impulses move it now.
    pub fn yields(&self) -> bool {
        self.role == Role::Flying
    }

    /// Whether it can be anywhere else later, without being touched.
    pub fn moves(&self) -> bool {
        matches!(self.role, Role::Flying | Role::Scripted)
    }

    /// Where it is at time t.
    pub fn at(&mut self, t: f64) -> Motion {
        if t != self.asked {
            self.asked = t;
            self.answer = self.look(t);
        }
        self.answer
    }

    fn look(&self, t: f64) -> Motion {
        match self.role {
            Role::Fixed | Role::Resting => self.start,
            Role::Scripted => self.script.as_ref().map_or(self.start, |script| {
                let point = script.path.at(&script.start, t);
                Motion {
                    x: point.pose.translation,
                    q: point.pose.rotation,
                    v: point.velocity,
                    omega: point.angular_velocity,
                }
            }),
            Role::Flying => {
                let h = t - self.since;
                let q = rotate_freely(self.start.q, self.momentum, self.inertia.inverse_moments, h);
                Motion {
                    x: self.start.x + h * (self.start.v + 0.5 * h * self.gravity),
                    q,
                    v: self.start.v + h * self.gravity,
                    omega: self.inertia.angular_velocity(q, self.momentum),
                }
            }
        }
    }

    /// (part, direction, the body now) ⇒ two bounds on how much farther the part can get along the direction.
    #[inline]
    pub fn bounds(&self, part: &Part, d: DVec3, now: &Motion) -> [Bound; 2] {
        match self.role {
            Role::Fixed | Role::Resting => [Bound::default(); 2],
            Role::Flying => {
                let a = 0.5 * self.gravity.dot(d);
                let along = now.v.dot(d);
                let turning = now.omega.cross(d).length();
                [
                    Bound { a, b: along + part.lever * self.fastest_turn(part, now) },
                    Bound { a: a + 0.5 * part.lever * self.spin.hardest, b: along + part.lever * turning },
                ]
            }
            Role::Scripted => self
                .script
                .as_ref()
                .map_or([Bound::default(); 2], |script| script.bounds(part.lever, d, now.v, now.omega)),
        }
    }

    /// The fastest that turning can ever show on a part. If both the part and the body's inertia are symmetric about one
    /// axis, spin about it does not show, and the rest of ω keeps its size in free flight.
    #[inline]
    fn fastest_turn(&self, part: &Part, now: &Motion) -> f64 {
        let Some(axis) = part.axis else { return self.spin.fastest };
        let i = self.inertia.moments;
        let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a;
        let k = axis.abs().max_position();
        if axis.abs()[k] < 1.0 - 1e-12 || !alike(i[(k + 1) % 3], i[(k + 2) % 3]) {
            return self.spin.fastest;
        }
        let axis = now.q * axis;
        let across = now.omega - now.omega.dot(axis) * axis;
        // Not quite equal moments let it grow a little.
        (across.length() + 1e-8 * now.omega.length()).min(self.spin.fastest)
    }

    /// (part, window) ⇒ box that the part does not leave for so long from the time of `now` on; None if it has no end.
    pub fn swept(&self, part: &Part, now: &Motion, window: f64) -> Option<Aabb> {
        let bounds = part.aabb(&now.pose())?;
        if !self.moves() {
            return Some(bounds);
        }
        let reach = |d: DVec3| {
            let [first, second] = self.bounds(part, d, now);
            first.most(window).min(second.most(window)).min(1e30)
        };
        let up = DVec3::new(reach(DVec3::X), reach(DVec3::Y), reach(DVec3::Z));
        let down = DVec3::new(reach(-DVec3::X), reach(-DVec3::Y), reach(-DVec3::Z));
        Aabb::new(bounds.min() - down, bounds.max() + up).ok()
    }

    /// The last answer of [`at`](Self::at).
    pub fn recent(&self) -> Motion {
        self.answer
    }

    /// The body at a contact point now: what an impulse there has to overcome.
    pub fn contactor(&self, now: &Motion, point: DVec3) -> Contactor {
        let (inverse_mass, inverse_inertia) =
            if self.yields() { Self::mobility_of(&self.inertia, now) } else { (0.0, DMat3::ZERO) };
        Contactor { inverse_mass, inverse_inertia, r: point - now.x, v: now.v, omega: now.omega }
    }

    /// 1/m and I⁻¹ in the world.
    pub fn mobility_of(inertia: &Inertia, now: &Motion) -> (f64, DMat3) {
        let r = DMat3::from_quat(now.q);
        (inertia.inverse_mass, r * DMat3::from_diagonal(inertia.inverse_moments) * r.transpose())
    }
}
