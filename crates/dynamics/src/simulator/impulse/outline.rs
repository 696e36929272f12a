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
//! The sum G(s) of two such advances is convex. From a time at which it is below the gap, the chord to a time at which
//! it is above lies over G, and so meets the gap too early rather than too late: a few chords come close to the true time, from
//! below.

use super::actor::{Actor, Role};
use super::part::Part;
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

    /// The slope to the right of 0.
    fn slope(self) -> f64 {
        fn of_length(d: DVec3, u: DVec3) -> f64 {
            let length = d.length();
            if length > 0.0 { d.dot(u) / length } else { u.length() }
        }
        match self {
            Self::None => 0.0,
            Self::Cylinder { d, u, radius, half_height } => {
                let flat = DVec3::new(1.0, 1.0, 0.0);
                radius * of_length(flat * d, flat * u) + half_height * of_length(DVec3::Z * d, DVec3::Z * u)
            }
            Self::Box { d, u } => {
                let sides = DVec3::select(d.cmpeq(DVec3::ZERO), u.abs(), d.signum() * u);
                sides.element_sum()
            }
            Self::Ellipsoid { d, u } => of_length(d, u),
        }
    }
}

/// Chords drawn; each brings the answer nearer to the true time by a good part.
const CHORDS: usize = 5;

impl Advance {
    fn at(&self, s: f64) -> f64 {
        let turned = if self.corners.is_empty() {
            self.curve.at(s) - self.start
        } else {
            self.corners.iter().map(|(lag, rate)| rate * s - lag).fold(f64::NEG_INFINITY, f64::max)
        };
        turned + (self.a * s + self.b) * s
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
                let hardest = actor.hardest_turn(part.axis, now);
                self.a = 0.5 * actor.gravity.dot(d) + 0.5 * part.radius * hardest;
                self.b = now.v.dot(d);
                let local = now.q.conjugate() * d;
                let u = local.cross(now.q.conjugate() * now.omega);
                match &part.outline {
                    Outline::Ball => self.a = 0.5 * actor.gravity.dot(d),
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
            }
        }
        self.start = self.curve.at(0.0);
        self.rate = self.b + self.corners.first().map_or_else(|| self.curve.slope(), |first| first.1);
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

/// (both advances, way that may be covered, a time known to be early enough, latest time wanted) ⇒ a time that is still early
/// enough, and mostly much later.
///
/// A way below zero says that they first part, and may come nearer again than they are by no more than that.
pub(super) fn later(advances: &[Advance; 2], way: f64, early: f64, latest: f64) -> f64 {
    if early >= latest {
        return early;
    }
    let over = |s: f64| advances[0].at(s) + advances[1].at(s) - way;
    let (rate, a) = (advances[0].rate + advances[1].rate, advances[0].a + advances[1].a);
    let mut left = early;
    if way < 0.0 {
        if !(rate < 0.0 && a > 0.0) {
            return early;
        }
        left = left.max((-0.5 * rate / a).min(latest));
    }
    let mut below = over(left);
    if below >= 0.0 {
        return early;
    }
    let mut right = latest;
    let mut above = over(right);
    if above <= 0.0 {
        return latest;
    }
    for _ in 0..CHORDS {
        left += below / (below - above) * (right - left);
        below = over(left).min(0.0);
        let middle = 0.5 * (left + right);
        let half = over(middle);
        if half < 0.0 {
            (left, below) = (middle, half);
        } else {
            (right, above) = (middle, half);
        }
    }
    left
}

/// (both advances, gap, ε, σ) ⇒ the way that may be covered: see [`Bound::landing_time`](super::reach::Bound::landing_time).
pub(super) fn way_to_landing(advances: &[Advance; 2], d: f64, epsilon: f64, sigma: f64) -> f64 {
    let least = sigma * d.min(epsilon);
    let (rate, a) = (advances[0].rate + advances[1].rate, advances[0].a + advances[1].a);
    if !(d < sigma * epsilon && a > 0.0 && rate < 0.0) {
        return d - least;
    }
    let rise = 0.25 * rate * rate / a;
    d - (d + 0.1 * rise).min(sigma * epsilon).max(least)
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
            let (moments, shape) = match kind {
                0 => (DVec3::new(0.02, 0.02, 0.035), Shape::cylinder(0.3, 0.1).unwrap()),
                1 => (DVec3::new(0.02, 0.03, 0.04), Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
                _ => (DVec3::new(0.02, 0.03, 0.04), Shape::ellipsoid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
            };
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
    }
}
