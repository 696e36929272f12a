//! Sharper bounds for bodies that hop: what each corner does, instead of the fastest that any could do.
//!
//! A block that rocks on its corners has one corner on the way up while another comes down. The bound of `reach` takes the
//! fastest of both for the nearest, and has to look many times at a gap that does not close. Here every corner rᵢ is followed on its
//! own. Along a fixed direction d it lies δᵢ behind the foremost one, moves at bᵢ = (v + ω × rᵢ)·d, and its acceleration is at
//! most g·d + |rᵢ| (α_max + ω_max²). So the body advances along d by no more than
//!
//! maxᵢ (bᵢ s − δᵢ) + A s²,  A = ½ g·d + ½ r (α_max + ω_max²).
//!
//! For any convex body this is h(d + s u) − h(d) + v·d s + A s², with h its support function about the centre of mass and
//! u = d × ω, because (ω × r)·d = r·(d × ω). Written like that it serves round bodies too: h is c·w + r |w across the axis| +
//! ½ height |w along the axis| for a cylinder about c, and c·w + |S w| for an ellipsoid of semi-axes S, with |·| the sum of sizes for
//! a box of half extents S. The lowest point of a coin
//! that rolls or rattles moves far slower than its rim, and here it does: the spin about its own axis shows nowhere, so what counts
//! is how its axis a moves, at a rate w = |ω × a| and round the angular momentum, which bends its way by w (I₃/I₁) ω₃ at most.
//!
//! Two bodies that turn together, a domino that slides down the next, hardly move against each other, though both advance along
//! a direction that is fixed in the world. So where one shows a face it is its frame that the normal is fixed to. There it does not advance
//! itself, and the other one moves with v₁ − v₂ − ω₂ × (x₁ − x₂) and turns with ω₁ − ω₂. The acceleration of its points in that frame is
//! at most c = r₁ (α₁ + ω₁²) + q (α₂ + ω₂²) + 2 ω₂ u, where q bounds their distance from x₂ and u their speed, and u grows by c s:
//! c (1 − 2 ω₂ s) is known.
//!
//! The sum G(s) of two such advances is convex. From a time at which it is below the gap, the chord to a time at which
//! it is above lies over G, and so meets the gap too early rather than too late: a few chords come close to the true time, from
//! below.

use super::actor::{Actor, Role};
use super::part::Part;
use super::reach::Landing;
use crate::motion::Motion;
use glam::DVec3;
use rattleback_geometry::Pose;

/// What of a part can come foremost, in the frame of its body.
#[derive(Clone, Debug)]
pub(super) enum Outline {
    /// Turning does not show.
    Ball,
    /// The hull of these.
    Corners(Vec<DVec3>),
    /// A box in its own frame.
    Box { place: Pose, half_extents: DVec3 },
    /// A cylinder along z of its own frame.
    Cylinder { place: Pose, radius: f64, half_height: f64 },
    /// An ellipsoid in its own frame.
    Ellipsoid { place: Pose, semi_axes: DVec3 },
    /// Anything else.
    Other,
}

/// How far a body gets along a direction in a time s: h(d + s u) − h(d) + b s + A s².
#[derive(Clone, Debug, Default)]
pub(super) struct Advance {
    a: f64,
    b: f64,
    /// How fast it begins.
    rate: f64,
    corners: Vec<Corner>,
    curve: Curve,
    /// The curve at 0.
    start: f64,
}

/// δ and the rate of a corner.
type Corner = (f64, f64);

/// The support function of a round body along d + s u, all in the frame of the shape.
#[derive(Clone, Copy, Debug, Default)]
enum Curve {
    #[default]
    None,
    Cylinder {
        d: DVec3,
        u: DVec3,
        radius: f64,
        half_height: f64,
    },
    /// d and u already stretched by the half extents.
    Box {
        d: DVec3,
        u: DVec3,
    },
    /// d and u already stretched by the semi-axes.
    Ellipsoid {
        d: DVec3,
        u: DVec3,
    },
}

impl Curve {
    fn at(self, s: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Cylinder { d, u, radius, half_height } => {
                let w = d + s * u;
                radius * w.truncate().length() + half_height * w.z.abs()
            }
            Self::Box { d, u } => (d + s * u).abs().element_sum(),
            Self::Ellipsoid { d, u } => (d + s * u).length(),
        }
    }

    /// The slope to the right of s.
    fn slope(self, s: f64) -> f64 {
        fn of_length(d: DVec3, u: DVec3) -> f64 {
            let length = d.length();
            if length > 0.0 { d.dot(u) / length } else { u.length() }
        }
        match self {
            Self::None => 0.0,
            Self::Cylinder { d, u, radius, half_height } => {
                let flat = DVec3::new(1.0, 1.0, 0.0);
                let d = d + s * u;
                radius * of_length(flat * d, flat * u) + half_height * of_length(DVec3::Z * d, DVec3::Z * u)
            }
            Self::Box { d, u } => {
                let d = d + s * u;
                let sides = DVec3::select(d.cmpeq(DVec3::ZERO), u.abs(), d.signum() * u);
                sides.element_sum()
            }
            Self::Ellipsoid { d, u } => of_length(d + s * u, u),
        }
    }
}

/// Chords drawn; each brings the answer nearer to the true time by a good part. Nearer than this part of the time is near enough.
const CHORDS: usize = 7;
const NEAR: f64 = 0.01;
/// Looks at the slope to find the top of a hop.
const SLOPES: usize = 4;
/// Twice the angle, in rad, by which the other body may turn at most while its frame is used.
const MOST_HASTE: f64 = 0.5;

impl Advance {
    fn at(&self, s: f64) -> f64 {
        let turned = if self.corners.is_empty() {
            self.curve.at(s) - self.start
        } else {
            self.corners.iter().map(|(lag, rate)| rate * s - lag).fold(f64::NEG_INFINITY, f64::max)
        };
        turned + (self.a * s + self.b) * s
    }

    /// How fast it advances after a time s.
    fn slope(&self, s: f64) -> f64 {
        let turning = if self.corners.is_empty() {
            self.curve.slope(s)
        } else {
            let foremost = |best: (f64, f64), corner: &Corner| {
                let next = (corner.1 * s - corner.0, corner.1);
                if next > best { next } else { best }
            };
            self.corners.iter().fold((f64::NEG_INFINITY, 0.0), foremost).1
        };
        turning + 2.0 * self.a * s + self.b
    }

    /// Not at all.
    pub fn stand(&mut self) {
        self.corners.clear();
        (self.a, self.b, self.rate, self.curve, self.start) = (0.0, 0.0, 0.0, Curve::None, 0.0);
    }

    /// (body, part, direction, the body now, longest time of interest) ⇒ its advance. False if nothing better is known
    /// than `reach` knows.
    pub fn of(&mut self, actor: &Actor, part: &Part, d: DVec3, now: &Motion, longest: f64) -> bool {
        self.corners.clear();
        (self.a, self.b, self.curve) = (0.0, 0.0, Curve::None);
        match actor.role {
            Role::Fixed | Role::Resting => {}
            Role::Scripted => {
                let bound = actor.bounds(part, d, now)[1];
                (self.a, self.b) = (bound.a, bound.b);
            }
            Role::Flying => {
                self.a = 0.5 * actor.gravity.dot(d);
                if !matches!(part.outline, Outline::Ball) {
                    self.a += 0.5 * part.radius * actor.hardest_turn(part.axis, now);
                }
                self.b = now.v.dot(d);
                if !self.turn(part, d, now, actor.showing_turn(part.axis, now), longest) {
                    return false;
                }
            }
        }
        self.begin()
    }

    /// (body and part, direction, the other body, both now, longest time of interest) ⇒ the advance of the part in the frame of
    /// the other body, to which the direction is fixed. False if that is of no use.
    pub fn against(
        &mut self,
        [actor, other]: [&Actor; 2],
        part: &Part,
        d: DVec3,
        [now, its]: [&Motion; 2],
        longest: f64,
    ) -> bool {
        self.corners.clear();
        self.curve = Curve::None;
        let (fastest, hardest) = other.fastest_and_hardest();
        let haste = 2.0 * fastest * longest;
        if haste > MOST_HASTE {
            return false;
        }
        let flies = actor.role == Role::Flying;
        let (apart, drift) = (now.x - its.x, now.v - its.v);
        let turn = actor.showing_turn(part.axis, now) - its.omega;
        let v = drift - its.omega.cross(apart);
        let radius = if matches!(part.outline, Outline::Ball) { 0.0 } else { part.radius };
        let own = if flies { radius * actor.hardest_turn(part.axis, now) } else { other.gravity.length() };
        let way = apart.length() + drift.length() * longest + radius;
        let speed = v.length() + radius * turn.length();
        self.a = 0.5 * (own + way * hardest + 2.0 * fastest * speed) / (1.0 - haste);
        self.b = v.dot(d);
        self.turn(part, d, now, turn, longest) && self.begin()
    }

    /// What turning at ω does to a part: adds h(d + s u) − h(d), u = d × ω.
    fn turn(&mut self, part: &Part, d: DVec3, now: &Motion, omega: DVec3, longest: f64) -> bool {
        let local = now.q.conjugate() * d;
        let u = local.cross(now.q.conjugate() * omega);
        match &part.outline {
            Outline::Ball => {}
            Outline::Corners(corners) => self.follow_corners(corners, local, u, longest),
            Outline::Cylinder { place, radius, half_height } => {
                self.b += place.translation.dot(u);
                let [d, u] = [local, u].map(|w| place.inverse_vector(w));
                self.curve = Curve::Cylinder { d, u, radius: *radius, half_height: *half_height };
            }
            Outline::Box { place, half_extents } => {
                self.b += place.translation.dot(u);
                let [d, u] = [local, u].map(|w| *half_extents * place.inverse_vector(w));
                self.curve = Curve::Box { d, u };
            }
            Outline::Ellipsoid { place, semi_axes } => {
                self.b += place.translation.dot(u);
                let [d, u] = [local, u].map(|w| *semi_axes * place.inverse_vector(w));
                self.curve = Curve::Ellipsoid { d, u };
            }
            Outline::Other => return false,
        }
        true
    }

    fn begin(&mut self) -> bool {
        self.start = self.curve.at(0.0);
        self.rate = self.b + self.corners.first().map_or_else(|| self.curve.slope(0.0), |first| first.1);
        self.a.is_finite() && self.rate.is_finite()
    }

    /// Corners that can come foremost before the longest time, the foremost first.
    fn follow_corners(&mut self, corners: &[DVec3], d: DVec3, u: DVec3, longest: f64) {
        let foremost = corners
            .iter()
            .map(|corner| (corner.dot(d), u.dot(*corner)))
            .fold((f64::NEG_INFINITY, 0.0), |best, next| if next > best { next } else { best });
        self.corners.push((0.0, foremost.1));
        for corner in corners {
            let (lag, rate) = (foremost.0 - corner.dot(d), u.dot(*corner));
            if (rate - foremost.1) * longest > lag {
                self.corners.push((lag, rate));
            }
        }
    }
}

/// (parts, bodies, both now, normal, which shows a face, longest time of interest) ⇒ both advances along the normal: in the frame of the
/// one that shows a face if that one flies. False if nothing better is known than `reach` knows.
pub(super) fn advance(
    advances: &mut [Advance; 2],
    parts: [&Part; 2],
    actors: [&Actor; 2],
    motion: [&Motion; 2],
    normal: DVec3,
    face: Option<u8>,
    longest: f64,
) -> bool {
    let [first, second] = advances;
    let follows = |face: &u8| {
        let owner = usize::from(*face == 1);
        actors[owner].role == Role::Flying && actors[1 - owner].role != Role::Scripted
    };
    match face.filter(follows) {
        Some(0)
            if second.against([actors[1], actors[0]], parts[1], -normal, [motion[1], motion[0]], longest) =>
        {
            first.stand();
            true
        }
        Some(1) if first.against(actors, parts[0], normal, motion, longest) => {
            second.stand();
            true
        }
        _ => {
            first.of(actors[0], parts[0], normal, motion[0], longest)
                && second.of(actors[1], parts[1], -normal, motion[1], longest)
        }
    }
}

/// (both advances, gap, landing, a time known to be early enough, latest time wanted) ⇒ a time that is still early enough, and
/// mostly much later.
///
/// The gap that is left then is chosen as in [`Bound::landing_time`](super::reach::Bound::landing_time). Bodies that part and
/// come back do so over a hop whose top is where the convex G has its least value.
pub(super) fn landing_time(
    advances: &[Advance; 2],
    d: f64,
    landing: Landing,
    [early, latest]: [f64; 2],
) -> f64 {
    if early >= latest {
        return early;
    }
    let (rate, a) = (advances[0].rate + advances[1].rate, advances[0].a + advances[1].a);
    if !(d < landing.epsilon && a > 0.0 && rate < 0.0) {
        return later(advances, d - landing.least(d), early, latest).max(early);
    }
    let top = top(advances, rate, a, latest);
    if top >= latest {
        return latest;
    }
    later(advances, landing.way(d, a, rate), top, latest).max(early)
}

/// (both advances, their rate < 0 and A > 0, latest time wanted) ⇒ about when they are farthest apart.
fn top(advances: &[Advance; 2], rate: f64, a: f64, latest: f64) -> f64 {
    let slope = |s: f64| advances[0].slope(s) + advances[1].slope(s);
    // The slope grows by at least 2A.
    let (mut left, mut right) = ((0.0, rate), ((-0.5 * rate / a).min(latest), 0.0));
    right.1 = slope(right.0);
    if right.1 <= 0.0 {
        left = right;
    } else {
        for _ in 0..SLOPES {
            let middle = left.0 + (0.25 + 0.5 * left.1 / (left.1 - right.1)) * (right.0 - left.0);
            let there = (middle, slope(middle));
            if there.1 < 0.0 { left = there } else { right = there }
        }
    }
    left.0
}

/// (both advances, way that may be covered, a time, latest time wanted) ⇒ a later time until which it is not covered; the
/// same if it is already.
fn later(advances: &[Advance; 2], way: f64, from: f64, latest: f64) -> f64 {
    let over = |s: f64| advances[0].at(s) + advances[1].at(s) - way;
    let (mut left, mut right) = ((from, over(from)), (latest, over(latest)));
    if left.1 >= 0.0 {
        return from;
    }
    if right.1 <= 0.0 {
        return latest;
    }
    for _ in 0..CHORDS {
        let chord = left.0 + left.1 / (left.1 - right.1) * (right.0 - left.0);
        left = (chord, over(chord).min(0.0));
        if right.0 - left.0 < NEAR * left.0 {
            break;
        }
        let middle = 0.5 * (left.0 + right.0);
        let there = (middle, over(middle));
        if there.1 < 0.0 { left = there } else { right = there }
    }
    left.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Inertia;
    use crate::world::{Body, World};
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::Shape;
    use rattleback_geometry::closest::{ConvexShape, Support};

    fn thrown(shape: &Shape, moments: DVec3, motion: Motion) -> (Actor, Part) {
        let inertia = Inertia {
            inverse_mass: 1.0,
            moments,
            inverse_moments: moments.recip(),
            linear_damping: 0.0,
            angular_damping: 0.0,
        };
        let mut world = World::default();
        let id = world.add_body(Body::dynamic().with_shape(shape.clone())).unwrap();
        let part = Part::whole(shape.clone(), world.body(id).unwrap().shapes()[0]);
        let mut actor = Actor::new(id, Role::Flying, 0, 0.0, motion, inertia);
        actor.gravity = -9.81 * DVec3::Z;
        (actor, part)
    }

    fn body(kind: usize) -> (DVec3, Shape) {
        match kind {
            0 => (DVec3::new(0.02, 0.02, 0.035), Shape::cylinder(0.3, 0.1).unwrap()),
            1 => (DVec3::new(0.02, 0.03, 0.04), Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
            _ => (DVec3::new(0.02, 0.03, 0.04), Shape::ellipsoid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
        }
    }

    proptest! {
        /// No corner and no rim outruns its advance in free flight, looked at from time to time.
        #[test]
        fn nothing_outruns_its_advance(
            attitude in prop::array::uniform3(-3.0..3.0f64), omega in prop::array::uniform3(-9.0..9.0f64),
            v in prop::array::uniform3(-1.0..1.0f64), d in prop::array::uniform3(-1.0..1.0f64), kind in 0..3usize,
        ) {
            let d = DVec3::from_array(d);
            prop_assume!(d.length() > 0.1);
            let d = d.normalize();
            let motion = Motion {
                x: DVec3::ZERO,
                q: DQuat::from_scaled_axis(DVec3::from_array(attitude)),
                v: DVec3::from_array(v),
                omega: DVec3::from_array(omega),
            };
            let (moments, shape) = body(kind);
            let (mut actor, part) = thrown(&shape, moments, motion);
            let mut advance = Advance::default();
            let longest = 0.2;
            prop_assert!(advance.of(&actor, &part, d, &motion, longest));
            let foremost = |now: &Motion| {
                let local = now.q.conjugate() * d;
                now.x.dot(d) + ConvexShape::try_from(&shape).unwrap().farthest(local, 0).0.dot(local)
            };
            let start = foremost(&motion);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                prop_assert!(foremost(&actor.at(s)) - start <= advance.at(s) + 1e-9, "{s} {:?}", advance);
            }
        }

        /// Seen from another body that turns as well, no corner and no rim outruns its advance either.
        #[test]
        fn nothing_outruns_its_advance_against_another(
            attitude in prop::array::uniform3(-3.0..3.0f64), omega in prop::array::uniform3(-9.0..9.0f64),
            v in prop::array::uniform3(-1.0..1.0f64), d in prop::array::uniform3(-1.0..1.0f64),
            x in prop::array::uniform3(-0.5..0.5f64), turn in prop::array::uniform3(-4.0..4.0f64), kind in 0..3usize,
        ) {
            let d = DVec3::from_array(d);
            prop_assume!(d.length() > 0.1);
            let d = d.normalize();
            let motion = Motion {
                x: DVec3::from_array(x),
                q: DQuat::from_scaled_axis(DVec3::from_array(attitude)),
                v: DVec3::from_array(v),
                omega: DVec3::from_array(omega),
            };
            let its = Motion { x: DVec3::ZERO, v: DVec3::ZERO, omega: DVec3::from_array(turn), ..motion };
            let (moments, shape) = body(kind);
            let (mut actor, part) = thrown(&shape, moments, motion);
            let (mut other, _) = thrown(&shape, moments, its);
            let mut advance = Advance::default();
            let longest = 0.03;
            prop_assume!(advance.against([&actor, &other], &part, d, [&motion, &its], longest));
            let fixed = its.q.conjugate() * d;
            let mut foremost = |s: f64| {
                let (now, frame) = (actor.at(s), other.at(s));
                let d = frame.q * fixed;
                let local = now.q.conjugate() * d;
                (now.x - frame.x).dot(d) + ConvexShape::try_from(&shape).unwrap().farthest(local, 0).0.dot(local)
            };
            let start = foremost(0.0);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                prop_assert!(foremost(s) - start <= advance.at(s) + 1e-9, "{s} {:?}", advance);
            }
        }
    }
}
