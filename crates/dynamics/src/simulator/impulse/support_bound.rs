//! Sharper bounds for hopping bodies: the support function along a rotating direction, vertex by vertex.
//!
//! A block that rocks on its corners has one corner going up while another comes down. The bound of
//! `motion_bound` combines the speed of the faster one with the gap of the nearer one, and needs many
//! measurements of a gap that does not close. Here every vertex rᵢ is followed on its own. Along a fixed
//! direction d it lies δᵢ behind the support point, moves at bᵢ = (v + ω × rᵢ)·d, and its acceleration is at
//! most g·d + |rᵢ| (α_max + ω_max²). So the body advances along d by no more than
//!
//!   maxᵢ (bᵢ s − δᵢ) + A s²,  A = ½ g·d + ½ r (α_max + ω_max²).
//!
//! For any convex body this is h(d + s u) − h(d) + v·d s + A s², with h its support function about the centre
//! of mass and u = d × ω, because (ω × r)·d = r·(d × ω). In this form it covers curved bodies too: h is c·w +
//! r |w across the axis| + ½ height |w along the axis| for a cylinder about c, and c·w + |S w| for an
//! ellipsoid of semi-axes S, with the 1-norm instead for a box of half extents S. The lowest point of a coin
//! that rolls or rattles is far slower than its rim, and so is this bound: spin about an axis of symmetry
//! does not move the surface, so what counts is the motion of the axis a, at a rate w = |ω × a| and in
//! precession about the angular momentum, which bends its path by w (I₃/I₁) ω₃ at most.
//!
//! Two bodies that rotate together, a domino that slides down the next, hardly move relative to each other,
//! though both advance along a direction that is fixed in the world. So where the nearest feature of one is a
//! face, the normal is fixed to the frame of that body. There it does not advance itself, and the other one
//! moves with v₁ − v₂ − ω₂ × (x₁ − x₂) and rotates with ω₁ − ω₂. The acceleration of its points in that frame
//! is at most c = r₁ (α₁ + ω₁²) + q (α₂ + ω₂²) + 2 ω₂ u, where q bounds their distance from x₂ and u their
//! speed, and u grows by c s: c (1 − 2 ω₂ s) is known.
//!
//! The sum G(s) of two such bounds is convex. From a time at which it is below the gap, the chord to a time
//! at which it is above lies over G, and so reaches the gap too early rather than too late: a few secant
//! steps come close to the true time, from below.

use super::ballistic_body::{BallisticBody, MotionKind};
use super::convex_part::ConvexPart;
use super::motion_bound::LandingRule;
use super::tuning::{APEX_STEPS, FRAME_ROTATION_LIMIT, SECANT_STEPS, SECANT_TOLERANCE};
use crate::rigid::Motion;
use glam::DVec3;
use rattleback_geometry::Pose;

/// Support function of a part, in the frame of its body.
#[derive(Clone, Debug)]
pub(super) enum SupportShape {
    /// Sphere about the centre of rotation: rotation does not move its surface.
    Ball,
    /// Convex hull of these vertices, or of balls of one radius about them.
    Corners(Vec<DVec3>),
    /// Box in its own frame.
    Box { pose: Pose, half_extents: DVec3 },
    /// Cylinder along z of its own frame.
    Cylinder { pose: Pose, radius: f64, half_height: f64 },
    /// Ellipsoid in its own frame.
    Ellipsoid { pose: Pose, semi_axes: DVec3 },
    /// Any other shape: no sharper bound than that of `motion_bound`.
    Other,
}

impl SupportShape {
    /// Whether `corner_bound` applies.
    pub fn has_vertices(&self) -> bool {
        matches!(self, Self::Ball | Self::Corners(_) | Self::Box { .. })
    }
}

/// Bound on the displacement of a part along a direction within a time s: h(d + s u) − h(d) + b s + A s².
#[derive(Clone, Debug, Default)]
pub(super) struct SupportBound {
    a: f64,
    b: f64,
    /// Slope of the bound at s = 0, m/s.
    rate: f64,
    corners: Vec<Corner>,
    curve: SupportCurve,
    /// The curve at s = 0.
    start: f64,
}

/// Lag δ, m, and speed, m/s, of a vertex.
type Corner = (f64, f64);

/// Support function of a curved body or box along d + s u, in the frame of the shape.
#[derive(Clone, Copy, Debug, Default)]
enum SupportCurve {
    #[default]
    None,
    Cylinder {
        d: DVec3,
        u: DVec3,
        radius: f64,
        half_height: f64,
    },
    /// d and u already scaled by the half extents.
    Box {
        d: DVec3,
        u: DVec3,
    },
    /// d and u already scaled by the semi-axes.
    Ellipsoid {
        d: DVec3,
        u: DVec3,
    },
}

impl SupportCurve {
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

    /// Right-sided derivative at s.
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

impl SupportBound {
    fn at(&self, s: f64) -> f64 {
        let turned = if self.corners.is_empty() {
            self.curve.at(s) - self.start
        } else {
            self.corners.iter().map(|(lag, rate)| rate * s - lag).fold(f64::NEG_INFINITY, f64::max)
        };
        turned + (self.a * s + self.b) * s
    }

    /// Derivative of the bound at s, m/s.
    fn slope(&self, s: f64) -> f64 {
        let turning = if self.corners.is_empty() {
            self.curve.slope(s)
        } else {
            let support = |best: (f64, f64), corner: &Corner| {
                let next = (corner.1 * s - corner.0, corner.1);
                if next > best { next } else { best }
            };
            self.corners.iter().fold((f64::NEG_INFINITY, 0.0), support).1
        };
        turning + 2.0 * self.a * s + self.b
    }

    /// Bound of a part that does not move.
    pub fn set_static(&mut self) {
        self.corners.clear();
        (self.a, self.b, self.rate, self.curve, self.start) = (0.0, 0.0, 0.0, SupportCurve::None, 0.0);
    }

    /// (body, part, direction, present state, longest time of interest) ⇒ its bound in the world frame. False
    /// if it is no sharper than that of `motion_bound`.
    pub fn in_world(
        &mut self,
        body: &BallisticBody,
        part: &ConvexPart,
        d: DVec3,
        now: &Motion,
        longest: f64,
    ) -> bool {
        self.corners.clear();
        (self.a, self.b, self.curve) = (0.0, 0.0, SupportCurve::None);
        match body.kind {
            MotionKind::Static | MotionKind::Resting => {}
            MotionKind::Kinematic => {
                let bound = body.bounds(part, d, now)[1];
                (self.a, self.b) = (bound.a, bound.b);
            }
            MotionKind::Ballistic => {
                self.a = 0.5 * body.gravity.dot(d);
                if !matches!(part.support, SupportShape::Ball) {
                    self.a += 0.5 * part.radius * body.max_point_acceleration(part.axis, now);
                }
                self.b = now.v.dot(d);
                if !self.add_rotation(part, d, now, body.visible_spin(part.axis, now), longest) {
                    return false;
                }
            }
        }
        self.begin()
    }

    /// (body and other body, part, direction, both states, longest time of interest) ⇒ the bound of the part
    /// in the frame of the other body, to which the direction is fixed. False if it is of no use.
    pub fn relative_to(
        &mut self,
        [body, other]: [&BallisticBody; 2],
        part: &ConvexPart,
        d: DVec3,
        [now, its]: [&Motion; 2],
        longest: f64,
    ) -> bool {
        self.corners.clear();
        self.curve = SupportCurve::None;
        let (fastest, max_acceleration) = other.spin_bounds();
        let rotation = 2.0 * fastest * longest;
        if rotation > FRAME_ROTATION_LIMIT {
            return false;
        }
        let flies = body.kind == MotionKind::Ballistic;
        let (apart, drift) = (now.x - its.x, now.v - its.v);
        let add_rotation = body.visible_spin(part.axis, now) - its.omega;
        let v = drift - its.omega.cross(apart);
        let radius = if matches!(part.support, SupportShape::Ball) { 0.0 } else { part.radius };
        let own =
            if flies { radius * body.max_point_acceleration(part.axis, now) } else { other.gravity.length() };
        let reach = apart.length() + drift.length() * longest + radius;
        let speed = v.length() + radius * add_rotation.length();
        self.a = 0.5 * (own + reach * max_acceleration + 2.0 * fastest * speed) / (1.0 - rotation);
        self.b = v.dot(d);
        self.add_rotation(part, d, now, add_rotation, longest) && self.begin()
    }

    /// Adds the effect of a rotation ω of the part: h(d + s u) − h(d), u = d × ω.
    fn add_rotation(
        &mut self,
        part: &ConvexPart,
        d: DVec3,
        now: &Motion,
        omega: DVec3,
        longest: f64,
    ) -> bool {
        let local = now.q.conjugate() * d;
        let u = local.cross(now.q.conjugate() * omega);
        match &part.support {
            SupportShape::Ball => {}
            SupportShape::Corners(corners) => self.add_corners(corners, local, u, longest),
            SupportShape::Cylinder { pose, radius, half_height } => {
                self.b += pose.translation.dot(u);
                let [d, u] = [local, u].map(|w| pose.inverse_vector(w));
                self.curve = SupportCurve::Cylinder { d, u, radius: *radius, half_height: *half_height };
            }
            SupportShape::Box { pose, half_extents } => {
                self.b += pose.translation.dot(u);
                let [d, u] = [local, u].map(|w| *half_extents * pose.inverse_vector(w));
                self.curve = SupportCurve::Box { d, u };
            }
            SupportShape::Ellipsoid { pose, semi_axes } => {
                self.b += pose.translation.dot(u);
                let [d, u] = [local, u].map(|w| *semi_axes * pose.inverse_vector(w));
                self.curve = SupportCurve::Ellipsoid { d, u };
            }
            SupportShape::Other => return false,
        }
        true
    }

    /// Evaluates the bound at s = 0 ⇒ whether it is finite.
    fn begin(&mut self) -> bool {
        self.start = self.curve.at(0.0);
        self.rate = self.b + self.corners.first().map_or_else(|| self.curve.slope(0.0), |first| first.1);
        self.a.is_finite() && self.rate.is_finite()
    }

    /// Stores the vertices that can become the support point before the longest time, the present one first.
    fn add_corners(&mut self, corners: &[DVec3], d: DVec3, u: DVec3, longest: f64) {
        let support = corners
            .iter()
            .map(|corner| (corner.dot(d), u.dot(*corner)))
            .fold((f64::NEG_INFINITY, 0.0), |best, next| if next > best { next } else { best });
        self.corners.push((0.0, support.1));
        for corner in corners {
            let (lag, rate) = (support.0 - corner.dot(d), u.dot(*corner));
            if (rate - support.1) * longest > lag {
                self.corners.push((lag, rate));
            }
        }
    }
}

/// (parts, bodies, both states, normal, index of the body with a face, longest time of interest, whether the gap
/// is below ε) ⇒ both bounds along the normal, in the frame of the body with the face if that one is ballistic,
/// and the time up to which they hold, s. None if they are no sharper than those of `motion_bound`.
///
/// A frame that rotates too fast for the longest time is used for a shorter one if the gap is below ε. In the
/// world frame the gap would be compared with the speed of the corners of the face, up to 1e-11 s at a time for
/// 1e-9 m, while the other body follows the face.
#[allow(clippy::too_many_arguments)]
pub(super) fn support_bounds(
    bounds: &mut [SupportBound; 2],
    parts: [&ConvexPart; 2],
    bodies: [&BallisticBody; 2],
    motion: [&Motion; 2],
    normal: DVec3,
    face: Option<u8>,
    longest: f64,
    is_near: bool,
) -> Option<f64> {
    let [first, second] = bounds;
    let follows = |face: &u8| {
        let owner = usize::from(*face == 1);
        bodies[owner].kind == MotionKind::Ballistic && bodies[1 - owner].kind != MotionKind::Kinematic
    };
    let frame_time = |owner: usize| {
        let shorter = (1.0 - 1e-9) * 0.5 * FRAME_ROTATION_LIMIT / bodies[owner].spin_bounds().0;
        if is_near { longest.min(shorter) } else { longest }
    };
    match face.filter(follows) {
        Some(0) => {
            let time = frame_time(0);
            let turned = ([bodies[1], bodies[0]], [motion[1], motion[0]]);
            if second.relative_to(turned.0, parts[1], -normal, turned.1, time) {
                first.set_static();
                return Some(time);
            }
        }
        Some(1) => {
            let time = frame_time(1);
            if first.relative_to(bodies, parts[0], normal, motion, time) {
                second.set_static();
                return Some(time);
            }
        }
        _ => {}
    }
    (first.in_world(bodies[0], parts[0], normal, motion[0], longest)
        && second.in_world(bodies[1], parts[1], -normal, motion[1], longest))
    .then_some(longest)
}

/// (both bounds, gap, landing rule, a safe time, latest time of interest) ⇒ a later time that is still safe,
/// s.
///
/// The gap that is left then is chosen as in
/// [`MotionBound::landing_time`](super::motion_bound::MotionBound::landing_time). The apex of a hop is the
/// minimum of the convex function G.
pub(super) fn landing_time(
    bounds: &[SupportBound; 2],
    d: f64,
    landing: LandingRule,
    [early, latest]: [f64; 2],
) -> f64 {
    if early >= latest {
        return early;
    }
    let (rate, a) = (bounds[0].rate + bounds[1].rate, bounds[0].a + bounds[1].a);
    if !(d < landing.epsilon && a > 0.0 && rate < -landing.still) {
        return latest_time_before(bounds, d - landing.least_gap(d), early, latest).max(early);
    }
    let apex_time = apex_time(bounds, rate, a, latest);
    if apex_time >= latest {
        return latest;
    }
    latest_time_before(bounds, landing.descent(d, a, rate), apex_time, latest).max(early)
}

/// (both bounds, their rate < 0 and A > 0, latest time of interest) ⇒ approximate time of the apex, s.
fn apex_time(bounds: &[SupportBound; 2], rate: f64, a: f64, latest: f64) -> f64 {
    let slope = |s: f64| bounds[0].slope(s) + bounds[1].slope(s);
    // The slope grows at a rate of at least 2A.
    let (mut left, mut right) = ((0.0, rate), ((-0.5 * rate / a).min(latest), 0.0));
    right.1 = slope(right.0);
    if right.1 <= 0.0 {
        left = right;
    } else {
        for _ in 0..APEX_STEPS {
            let middle = left.0 + (0.25 + 0.5 * left.1 / (left.1 - right.1)) * (right.0 - left.0);
            let there = (middle, slope(middle));
            if there.1 < 0.0 { left = there } else { right = there }
        }
    }
    left.0
}

/// (both bounds, displacement that is allowed, a time, latest time of interest) ⇒ a later time until which it
/// is not exceeded; the same time if it already is.
fn latest_time_before(bounds: &[SupportBound; 2], allowed: f64, from: f64, latest: f64) -> f64 {
    let over = |s: f64| bounds[0].at(s) + bounds[1].at(s) - allowed;
    let (mut left, mut right) = ((from, over(from)), (latest, over(latest)));
    if left.1 >= 0.0 {
        return from;
    }
    if right.1 <= 0.0 {
        return latest;
    }
    for _ in 0..SECANT_STEPS {
        let chord = left.0 + left.1 / (left.1 - right.1) * (right.0 - left.0);
        left = (chord, over(chord).min(0.0));
        if right.0 - left.0 < SECANT_TOLERANCE * left.0 {
            break;
        }
        let middle = 0.5 * (left.0 + right.0);
        let there = (middle, over(middle));
        if there.1 < 0.0 { left = there } else { right = there }
    }
    left.0
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rigid::Inertia;
    use crate::world::{Body, World};
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::Shape;
    use rattleback_geometry::closest::{ConvexShape, Support};

    /// (shape, moments of inertia, motion) ⇒ a body in ballistic motion, and its shape.
    pub(in super::super) fn thrown(
        shape: &Shape,
        moments: DVec3,
        motion: Motion,
    ) -> (BallisticBody, ConvexPart) {
        let inertia = Inertia {
            inverse_mass: 1.0,
            moments,
            inverse_moments: moments.recip(),
            linear_damping: 0.0,
            angular_damping: 0.0,
        };
        let mut world = World::default();
        let id = world.add_body(Body::dynamic().with_shape(shape.clone())).unwrap();
        let part = ConvexPart::whole(shape.clone(), world.body(id).unwrap().shapes()[0]);
        let mut body = BallisticBody::new(id, MotionKind::Ballistic, 0, 0.0, motion, inertia);
        body.gravity = -9.81 * DVec3::Z;
        (body, part)
    }

    fn body(kind: usize) -> (DVec3, Shape) {
        match kind {
            0 => (DVec3::new(0.02, 0.02, 0.035), Shape::cylinder(0.3, 0.1).unwrap()),
            1 => (DVec3::new(0.02, 0.03, 0.04), Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
            _ => (DVec3::new(0.02, 0.03, 0.04), Shape::ellipsoid(DVec3::new(0.3, 0.2, 0.1)).unwrap()),
        }
    }

    proptest! {
        /// No vertex and no rim exceeds its bound in free flight, at sampled times.
        #[test]
        fn no_point_exceeds_its_support_bound(
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
            let (mut body, part) = thrown(&shape, moments, motion);
            let mut support_bounds = SupportBound::default();
            let longest = 0.2;
            prop_assert!(support_bounds.in_world(&body, &part, d, &motion, longest));
            let support = |now: &Motion| {
                let local = now.q.conjugate() * d;
                now.x.dot(d) + ConvexShape::try_from(&shape).unwrap().farthest(local, 0).0.dot(local)
            };
            let start = support(&motion);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                prop_assert!(support(&body.at(s)) - start <= support_bounds.at(s) + 1e-9, "{s} {:?}", support_bounds);
            }
        }

        /// The same in the frame of another body that rotates as well.
        #[test]
        fn no_point_exceeds_its_support_bound_in_a_rotating_frame(
            attitude in prop::array::uniform3(-3.0..3.0f64), omega in prop::array::uniform3(-9.0..9.0f64),
            v in prop::array::uniform3(-1.0..1.0f64), d in prop::array::uniform3(-1.0..1.0f64),
            x in prop::array::uniform3(-0.5..0.5f64), add_rotation in prop::array::uniform3(-4.0..4.0f64), kind in 0..3usize,
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
            let its = Motion { x: DVec3::ZERO, v: DVec3::ZERO, omega: DVec3::from_array(add_rotation), ..motion };
            let (moments, shape) = body(kind);
            let (mut body, part) = thrown(&shape, moments, motion);
            let (mut other, _) = thrown(&shape, moments, its);
            let mut support_bounds = SupportBound::default();
            let longest = 0.03;
            prop_assume!(support_bounds.relative_to([&body, &other], &part, d, [&motion, &its], longest));
            let fixed = its.q.conjugate() * d;
            let mut support = |s: f64| {
                let (now, frame) = (body.at(s), other.at(s));
                let d = frame.q * fixed;
                let local = now.q.conjugate() * d;
                (now.x - frame.x).dot(d) + ConvexShape::try_from(&shape).unwrap().farthest(local, 0).0.dot(local)
            };
            let start = support(0.0);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                prop_assert!(support(s) - start <= support_bounds.at(s) + 1e-9, "{s} {:?}", support_bounds);
            }
        }
    }
}
