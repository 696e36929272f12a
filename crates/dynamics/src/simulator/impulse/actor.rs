//! Who takes part, and where everybody is at any time.
//!
//! Nothing is integrated: between two impulses a body is a closed form of time (a parabola and a torque-free rotation from the
//! moment it was last touched), a scripted body is its path, and the rest do not move. A body is therefore only worked out at
//! the moments somebody asks about it. A rotation that is longer than one series covers is cut at fixed times after the last
//! touch, and the attitude at the last of these is kept, so that the answer depends on the time alone and costs the same however
//! long the flight.
//!
//! Every actor has an odometer: a number that grows at least as fast as any point of its surface can get on in any direction
//! (as far as turning shows). Whatever holds until the reading has grown by so much, a box around a part or a gap between two
//! bodies, holds through any number of collisions (`alarm`).

use super::alarm::Mark;
use super::part::Part;
use super::reach::{Bound, Spin};
use super::rest::Watch;
use super::script::Script;
use super::work::CollisionWork;
use crate::contact::Contactor;
use crate::motion::{Inertia, Motion, longest_piece, rotate_freely};
use crate::world::BodyId;
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;
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
    /// Pieces a long rotation is cut into, s; and the last cut somebody asked beyond, as its number and the attitude there.
    piece: f64,
    cut: (f64, DQuat),
    /// Reading of the odometer when it was last touched, and how it grows from then on.
    pub odometer: f64,
    pub pace: Bound,
    /// Reading until which its boxes hold, and readings at which pairs of it have to be looked at.
    pub box_until: f64,
    pub marks: BinaryHeap<Mark>,
    /// When it last collided.
    pub last_hit: f64,
    /// The last time somebody asked, and the answer.
    asked: f64,
    answer: Motion,
    pub parts: Range<usize>,
    /// Frame of the user → the frame it turns about.
    pub frame: Pose,
    /// Largest lever of its parts, and its diameter.
    lever: f64,
    pub size: f64,
    /// The axis of its only part, see [`Part::axis`].
    axis: Option<DVec3>,
    /// How often it was touched since somebody began to count.
    pub touches: u32,
    /// Pairs it is in; nobody asks for those of firm ones.
    pub pairs: Vec<u32>,
    pub script: Option<Script>,
    pub watch: Watch,
    /// Work of its collisions in the present step.
    pub work: CollisionWork,
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
            piece: f64::INFINITY,
            cut: (0.0, motion.q),
            odometer: 0.0,
            pace: Bound::default(),
            box_until: 0.0,
            marks: BinaryHeap::new(),
            last_hit: f64::NEG_INFINITY,
            lever: 0.0,
            size: 0.0,
            axis: None,
            asked: time,
            answer: motion,
            parts: 0..0,
            frame: Pose::IDENTITY,
            touches: 0,
            pairs: Vec::new(),
            script: None,
            watch: Watch::from(time, &motion),
            work: CollisionWork::default(),
        };
        actor.set_out(time, motion);
        actor
    }

    /// From now on it moves on from here.
    pub fn set_out(&mut self, time: f64, motion: Motion) {
        self.odometer = self.reading(time);
        self.since = time;
        self.start = motion;
        self.asked = time;
        self.answer = motion;
        self.touches = self.touches.saturating_add(1);
        if self.role == Role::Flying {
            self.momentum = self.inertia.angular_momentum(motion.q, motion.omega);
            self.spin = Spin::of(&self.inertia, &motion);
            self.piece = longest_piece(motion.q, self.momentum, self.inertia.inverse_moments);
            self.cut = (0.0, motion.q);
        }
        self.pace = self.pace_from(&motion);
    }

    /// Takes on its parts.
    pub fn assemble(&mut self, parts: &[Part], range: Range<usize>) {
        let own = &parts[range.clone()];
        self.parts = range;
        self.lever = own.iter().map(|part| part.lever).fold(0.0, f64::max);
        self.size = own.iter().map(|part| 2.0 * part.radius).fold(0.0, f64::max);
        self.axis = if let [only] = own { only.axis } else { None };
        self.pace = self.pace_from(&self.start);
    }

    fn pace_from(&self, motion: &Motion) -> Bound {
        match self.role {
            Role::Fixed | Role::Resting => Bound::default(),
            Role::Flying => Bound {
                a: 0.5 * self.gravity.length(),
                b: motion.v.length() + self.lever * self.fastest_turn(self.axis, motion),
            },
            Role::Scripted => {
                Bound { a: 0.0, b: self.script.as_ref().map_or(0.0, |script| script.pace(self.lever)) }
            }
        }
    }

    /// The odometer at a time not before the last touch.
    pub fn reading(&self, t: f64) -> f64 {
        let s = (t - self.since).max(0.0);
        self.odometer + (self.pace.a * s + self.pace.b) * s
    }

    /// The reading at which something has to be done next.
    pub fn next_mark(&self) -> f64 {
        self.marks.peek().map_or(self.box_until, |mark| mark.reading.min(self.box_until))
    }

    /// The share of its pace that is turning.
    pub fn turning_pace(&self) -> f64 {
        if self.role == Role::Flying { (self.pace.b - self.start.v.length()).max(0.0) } else { 0.0 }
    }

    /// How fast the odometer grows at a time.
    pub fn pace_at(&self, t: f64) -> Bound {
        Bound { a: self.pace.a, b: self.pace.b + 2.0 * self.pace.a * (t - self.since).max(0.0) }
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
        matches!(self.role, Role::Flying | Role::Scripted) && !self.is_firm()
    }

    /// Whether it will never be anywhere else, whatever happens. (Its surface may move.)
    pub fn is_firm(&self) -> bool {
        match self.role {
            Role::Fixed => true,
            Role::Scripted => self.pace.b == 0.0,
            Role::Flying | Role::Resting => false,
        }
    }

    /// Where it is at time t.
    pub fn at(&mut self, t: f64) -> Motion {
        if t != self.asked {
            self.asked = t;
            self.answer = self.look(t);
        }
        self.answer
    }

    /// The attitude of a flying body a time h after it was touched.
    fn attitude(&mut self, h: f64) -> DQuat {
        let turned = |q: DQuat, h: f64| rotate_freely(q, self.momentum, self.inertia.inverse_moments, h);
        let number = (h / self.piece).floor();
        // Whoever turns too fast to follow piece by piece is left to the cuts of the series itself.
        if !(number > 0.0 && number < 1e6) {
            return turned(self.start.q, h);
        }
        let (mut passed, mut q) = if self.cut.0 <= number { self.cut } else { (0.0, self.start.q) };
        while passed < number {
            q = turned(q, self.piece);
            passed += 1.0;
        }
        let end = turned(q, h - number * self.piece);
        self.cut = (passed, q);
        end
    }

    fn look(&mut self, t: f64) -> Motion {
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
                    Bound { a, b: along + part.lever * self.fastest_turn(part.axis, now) },
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
    fn fastest_turn(&self, axis: Option<DVec3>, now: &Motion) -> f64 {
        let Some(axis) = axis.filter(|axis| self.symmetry(*axis).is_some()) else { return self.spin.fastest };
        let axis = now.q * axis;
        let across = now.omega - now.omega.dot(axis) * axis;
        // Not quite equal moments let it grow a little.
        (across.length() + 1e-8 * now.omega.length()).min(self.spin.fastest)
    }

    /// An axis of the body ⇒ I₃/I₁ if its inertia is the same all around that.
    #[inline]
    fn symmetry(&self, axis: DVec3) -> Option<f64> {
        let i = self.inertia.moments;
        let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a;
        let k = axis.abs().max_position();
        let (first, second) = (i[(k + 1) % 3], i[(k + 2) % 3]);
        (axis.abs()[k] >= 1.0 - 1e-12 && alike(first, second)).then(|| i[k] / first)
    }

    /// (axis of a part, the body now) ⇒ ω as far as it shows on the part: without the spin about an axis of symmetry.
    pub fn showing_turn(&self, axis: Option<DVec3>, now: &Motion) -> DVec3 {
        let Some(axis) = axis.filter(|axis| self.symmetry(*axis).is_some()) else { return now.omega };
        let axis = now.q * axis;
        now.omega - now.omega.dot(axis) * axis
    }

    /// Bounds on |ω| and on |ω̇| + ω² until it is touched.
    pub fn fastest_and_hardest(&self) -> (f64, f64) {
        (self.spin.fastest, self.spin.hardest + self.spin.fastest.powi(2))
    }

    /// (axis of a part, the body now) ⇒ a bound on how fast the turning of a part that is round about the axis changes the velocity
    /// of its points, per radius: α_max + ω_max², without the spin that does not show if there is an axis of symmetry.
    pub fn hardest_turn(&self, axis: Option<DVec3>, now: &Motion) -> f64 {
        let round = axis.and_then(|axis| self.symmetry(axis).map(|ratio| (now.q * axis, ratio)));
        round.map_or_else(
            || self.spin.hardest + self.spin.fastest.powi(2),
            |(axis, ratio)| {
                // The axis wanders at w and goes round the angular momentum; both keep their size.
                let along = now.omega.dot(axis);
                let w = (now.omega - along * axis).length() + 1e-8 * now.omega.length();
                w * (w + ratio * along.abs())
            },
        )
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
