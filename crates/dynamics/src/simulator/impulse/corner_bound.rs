//! Bounds of second order on the motion of vertices, for bodies that rotate.
//!
//! Between impulses the path of a vertex is smooth, and hops are short: over a time s its displacement along a
//! direction d is b s + a s² + c s³ with b and 2a its speed and acceleration now, which are known, and |6c| at most
//! the largest third derivative of its path. So the support point of a polyhedron, with its vertices rᵢ from the
//! centre of mass, δᵢ behind the support point now, advances along d by no more than
//!
//!   G(s) = maxᵢ (bᵢ s + aᵢ s² − δᵢ) + C s³.
//!
//! `support_bound` has the largest possible acceleration in place of the present one. That is too much by ω² r, which for
//! a tumbling body exceeds g: gaps would be measured many times within a hop, and hops would end early. C s³ is of the
//! size r (ω s)³, and negligible.
//!
//! **In the world.** With u = d × ω, because (ω × r)·d = r·(d × ω), and likewise for the acceleration,
//!
//!   bᵢ = v·d + rᵢ·u,   2aᵢ = g·d + rᵢ·(d × α + (ω·d) ω − ω² d),   6C = r (ω³ + 3 ω α + α̇),
//!
//! where α is the angular acceleration of torque-free rotation, and ω, α, α̇ in C are maxima on the polhode: with
//! k = max |I_i − I_j| / I_k, α ≤ k ω² and α̇ ≤ √2 k² ω³.
//!
//! **In the frame of body 2**, to which d is fixed if its face is the nearest feature: with p = x₁ − x₂, V = v₁ − v₂ −
//! ω₂ × p, Ω = ω₁ − ω₂ and A = a₁ − a₂ − α₂ × p − ω₂ × (ω₂ × p) − 2 ω₂ × V,
//!
//!   bᵢ = V·d + rᵢ·(d × Ω),
//!   2aᵢ = A·d + rᵢ·(d × (α₁ − α₂) + (ω₁·d) ω₁ − ω₁² d − (ω₂·d) ω₂ + ω₂² d − 2 (Ω·d) ω₂ + 2 (ω₂·Ω) d).
//!
//! The position there is R₂ᵀ P, P = x₁ + r − x₂, and its third derivative at most |R₂‴||P| + 3 |R₂″||P′| + 3 |R₂′||P″| +
//! |P‴|.
//!
//! A vertex that moves away and comes back, b < 0 < a, covers a distance at the larger root of the quadratic: that
//! is the end of a hop. All others cover it at the smaller one. C s³ ≤ C T s² for s ≤ T makes the bound quadratic.

use super::ballistic_body::{BallisticBody, MotionKind};
use super::convex_part::ConvexPart;
use super::motion_bound::LandingRule;
use super::support_bound::SupportShape;
use super::tuning::CORNER_PAIRS;
use crate::rigid::Motion;
use glam::DVec3;

/// Lag δ of a vertex, m, its speed b, m/s, and half its acceleration a, m/s².
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    lag: f64,
    b: f64,
    a: f64,
}

/// Bound on the displacement of a part along a direction.
#[derive(Clone, Debug, Default)]
pub(super) struct CornerBound {
    /// Vertices that can become the support point in time, the present one first.
    corners: Vec<Corner>,
    /// C, m/s³.
    cubic: f64,
}

/// Linear functions of the position r of a vertex: rate b₀ + u·r, half acceleration a₀ + w·r.
#[derive(Clone, Copy)]
struct VertexMotion {
    b: f64,
    u: DVec3,
    a: f64,
    w: DVec3,
}

impl CornerBound {
    fn set_static(&mut self) {
        self.corners.clear();
        self.corners.push(Corner::default());
        self.cubic = 0.0;
    }

    /// (body, part, direction, present state, longest time of interest) ⇒ whether its bound in the world frame is known.
    fn in_world(
        &mut self,
        body: &BallisticBody,
        part: &ConvexPart,
        d: DVec3,
        now: &Motion,
        longest: f64,
    ) -> bool {
        match body.kind {
            MotionKind::Static | MotionKind::Resting => self.set_static(),
            MotionKind::Kinematic => {
                let bound = body.bounds(part, d, now)[1];
                self.corners.clear();
                self.corners.push(Corner { lag: 0.0, b: bound.b, a: bound.a });
                self.cubic = 0.0;
            }
            MotionKind::Ballistic => {
                let motion = VertexMotion {
                    b: now.v.dot(d),
                    u: d.cross(now.omega),
                    a: 0.5 * body.gravity.dot(d),
                    w: 0.5 * (d.cross(body.angular_acceleration(now)) + centripetal(now.omega, d)),
                };
                let radius = if matches!(part.support, SupportShape::Ball) { 0.0 } else { part.radius };
                self.cubic = radius * body.rotation_jerk() / 6.0;
                return self.add_vertices(part, d, now, &motion, longest);
            }
        }
        self.is_finite()
    }

    /// (body and other body, part, direction, both states, longest time of interest) ⇒ whether the bound of the part
    /// in the frame of the other body, to which the direction is fixed, is known.
    fn relative_to(
        &mut self,
        [body, other]: [&BallisticBody; 2],
        part: &ConvexPart,
        d: DVec3,
        [now, its]: [&Motion; 2],
        longest: f64,
    ) -> bool {
        let flies = body.kind == MotionKind::Ballistic;
        let (p, drift) = (now.x - its.x, now.v - its.v);
        let (own_spin, own_alpha) =
            if flies { (now.omega, body.angular_acceleration(now)) } else { (DVec3::ZERO, DVec3::ZERO) };
        let (spin, alpha) = (its.omega, other.angular_acceleration(its));
        let relative = own_spin - spin;
        let v = drift - spin.cross(p);
        let linear = if flies { DVec3::ZERO } else { -other.gravity };
        let acceleration = linear - alpha.cross(p) - spin.cross(spin.cross(p)) - 2.0 * spin.cross(v);
        let w = d.cross(own_alpha - alpha) + centripetal(own_spin, d)
            - centripetal(spin, d)
            - 2.0 * (relative.dot(d) * spin - spin.dot(relative) * d);
        let motion =
            VertexMotion { b: v.dot(d), u: d.cross(relative), a: 0.5 * acceleration.dot(d), w: 0.5 * w };
        let radius = if matches!(part.support, SupportShape::Ball) { 0.0 } else { part.radius };
        let (own_speed, own_acceleration) = if flies { body.spin_bounds() } else { (0.0, 0.0) };
        let (its_speed, its_acceleration) = other.spin_bounds();
        // Bounds on P, P′, P″ and P‴.
        let third = if flies { radius * body.rotation_jerk() } else { 0.0 };
        let second = linear.length() + radius * own_acceleration;
        let first = drift.length() + radius * own_speed + longest * linear.length();
        let place = p.length() + radius + longest * first;
        self.cubic = (other.rotation_jerk() * place
            + 3.0 * its_acceleration * first
            + 3.0 * its_speed * second
            + third)
            / 6.0;
        self.add_vertices(part, d, now, &motion, longest)
    }

    /// Stores the vertices that can become the support point before the longest time ⇒ whether the bound is finite.
    fn add_vertices(
        &mut self,
        part: &ConvexPart,
        d: DVec3,
        now: &Motion,
        motion: &VertexMotion,
        longest: f64,
    ) -> bool {
        let body = now.q.conjugate();
        let [d, u, w] = [d, motion.u, motion.w].map(|x| body * x);
        let mut support = (f64::NEG_INFINITY, Corner::default());
        each_vertex(&part.support, |r| {
            let height = r.dot(d);
            if height >= support.0 {
                let corner = Corner { lag: 0.0, b: motion.b + r.dot(u), a: motion.a + r.dot(w) };
                if height > support.0 || corner.b > support.1.b {
                    support = (height, corner);
                }
            }
        });
        let (height, support) = support;
        self.corners.clear();
        self.corners.push(support);
        // No vertex gains more than this on another one.
        let most = 2.0 * part.radius * (u.length() + longest * w.length()) * longest;
        each_vertex(&part.support, |r| {
            let lag = height - r.dot(d);
            if lag >= most {
                return;
            }
            let corner = Corner { lag, b: motion.b + r.dot(u), a: motion.a + r.dot(w) };
            let gain = (corner.b - support.b).max(0.0) + (corner.a - support.a).max(0.0) * longest;
            if gain * longest > lag {
                self.corners.push(corner);
            }
        });
        self.is_finite()
    }

    fn is_finite(&self) -> bool {
        self.cubic.is_finite()
            && self.corners.iter().all(|corner| (corner.lag + corner.b + corner.a).is_finite())
    }

    /// The bound at s.
    #[cfg(test)]
    pub(super) fn at(&self, s: f64) -> f64 {
        let of = |corner: &Corner| (corner.a * s + corner.b) * s - corner.lag;
        self.corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max) + self.cubic * s * s * s
    }
}

/// Visits the vertices of a shape that has some, in the frame of its body.
fn each_vertex(shape: &SupportShape, mut visit: impl FnMut(DVec3)) {
    match shape {
        SupportShape::Ball => visit(DVec3::ZERO),
        SupportShape::Corners(corners) => corners.iter().copied().for_each(visit),
        SupportShape::Box { pose, half_extents } => {
            let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| pose.vector(*half_extents * axis));
            for x in [x, -x] {
                for y in [y, -y] {
                    for z in [z, -z] {
                        visit(pose.translation + x + y + z);
                    }
                }
            }
        }
        SupportShape::Cylinder { .. } | SupportShape::Ellipsoid { .. } | SupportShape::Other => {}
    }
}

/// (ω, d) ⇒ w with (ω × (ω × r))·d = r·w.
fn centripetal(omega: DVec3, d: DVec3) -> DVec3 {
    omega.dot(d) * omega - omega.length_squared() * d
}

/// (parts, bodies, both states, normal, index of the body with a face, longest time of interest) ⇒ whether both bounds
/// along the normal are known; in the frame of the body with the face if that one is ballistic.
pub(super) fn corner_bounds(
    bounds: &mut [CornerBound; 2],
    parts: [&ConvexPart; 2],
    bodies: [&BallisticBody; 2],
    motion: [&Motion; 2],
    normal: DVec3,
    face: Option<u8>,
    longest: f64,
) -> bool {
    if bodies.iter().zip(parts).any(|(body, part)| body.is_movable() && !part.support.has_vertices()) {
        return false;
    }
    let [first, second] = bounds;
    let follows = |face: &u8| {
        let owner = usize::from(*face == 1);
        bodies[owner].kind == MotionKind::Ballistic && bodies[1 - owner].kind != MotionKind::Kinematic
    };
    let known = match face.filter(follows) {
        Some(0) => {
            first.set_static();
            let turned = ([bodies[1], bodies[0]], [motion[1], motion[0]]);
            second.relative_to(turned.0, parts[1], -normal, turned.1, longest)
        }
        Some(_) => {
            second.set_static();
            first.relative_to(bodies, parts[0], normal, motion, longest)
        }
        None => {
            first.in_world(bodies[0], parts[0], normal, motion[0], longest)
                && second.in_world(bodies[1], parts[1], -normal, motion[1], longest)
        }
    };
    // Every pair of vertices has a root of its own.
    known && first.corners.len() * second.corners.len() <= CORNER_PAIRS
}

/// (both bounds, gap, landing rule, a safe time, latest time of interest) ⇒ a later time that is still safe, s.
///
/// The gap that is left then is chosen as in
/// [`MotionBound::landing_time`](super::motion_bound::MotionBound::landing_time).
pub(super) fn landing_time(
    bounds: &[CornerBound; 2],
    d: f64,
    landing: LandingRule,
    [early, latest]: [f64; 2],
) -> f64 {
    let [Some(first), Some(second)] = bounds.each_ref().map(|bound| bound.corners.first()) else {
        return early;
    };
    if early >= latest {
        return early;
    }
    let (b, a, cubic) = (first.b + second.b, first.a + second.a, bounds[0].cubic + bounds[1].cubic);
    let hops = d < landing.epsilon && a > 0.0 && b < -landing.still;
    let allowed = if hops { landing.descent(d, a, b) } else { d - landing.least_gap(d) };
    // Without the cubic term the time is too late at most; up to there the term is at most quadratic.
    let longest = covering_time(bounds, allowed, 0.0).min(latest);
    covering_time(bounds, allowed, cubic * longest).min(longest).max(early)
}

/// (both bounds, a distance, extra half acceleration) ⇒ time at which it is covered, s.
fn covering_time(bounds: &[CornerBound; 2], allowed: f64, extra: f64) -> f64 {
    let mut earliest = f64::INFINITY;
    for first in &bounds[0].corners {
        for second in &bounds[1].corners {
            let distance = allowed + first.lag + second.lag;
            earliest = earliest.min(root(first.a + second.a + extra, first.b + second.b, distance));
        }
    }
    earliest
}

/// s > 0 with a s² + b s = c: the larger root if b < 0, the smaller one else. With c < 0 the time of the minimum if that is
/// not reached.
fn root(a: f64, b: f64, c: f64) -> f64 {
    let discriminant = b * b + 4.0 * a * c;
    if b < 0.0 {
        if a > 0.0 { 0.5 * (discriminant.max(0.0).sqrt() - b) / a } else { f64::INFINITY }
    } else if c <= 0.0 {
        0.0
    } else if discriminant < 0.0 {
        f64::INFINITY
    } else {
        let denominator = b + discriminant.sqrt();
        if denominator > 0.0 { 2.0 * c / denominator } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::super::support_bound::tests::thrown;
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::Shape;
    use rattleback_geometry::closest::{ConvexShape, Support};

    fn shape(kind: usize) -> Shape {
        let hull = [[0.3, 0.0, -0.1], [-0.2, 0.2, -0.1], [-0.1, -0.3, -0.1], [0.0, 0.1, 0.25]];
        match kind {
            0 => Shape::capsule(0.1, 0.4).unwrap(),
            1 => Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap(),
            _ => Shape::convex_hull(&hull.map(DVec3::from_array)).unwrap(),
        }
    }

    fn support(shape: &Shape, q: DQuat, d: DVec3) -> f64 {
        let (local, shape) = (q.conjugate() * d, ConvexShape::try_from(shape).unwrap());
        shape.farthest(local, 0).0.dot(local)
    }

    fn state(x: [f64; 3], attitude: [f64; 3], v: [f64; 3], omega: [f64; 3]) -> Motion {
        Motion {
            x: DVec3::from_array(x),
            q: DQuat::from_scaled_axis(DVec3::from_array(attitude)),
            v: DVec3::from_array(v),
            omega: DVec3::from_array(omega),
        }
    }

    const MOMENTS: DVec3 = DVec3::new(0.02, 0.03, 0.04);

    proptest! {
        /// No vertex exceeds its bound in free flight, and the bound is exact to the third order of time.
        #[test]
        fn no_vertex_exceeds_its_bound(
            attitude in prop::array::uniform3(-3.0..3.0f64), omega in prop::array::uniform3(-9.0..9.0f64),
            v in prop::array::uniform3(-1.0..1.0f64), d in prop::array::uniform3(-1.0..1.0f64), kind in 0..3usize,
        ) {
            let d = DVec3::from_array(d);
            prop_assume!(d.length() > 0.1);
            let d = d.normalize();
            let (shape, motion) = (shape(kind), state([0.0; 3], attitude, v, omega));
            let (mut body, part) = thrown(&shape, MOMENTS, motion);
            let mut bound = CornerBound::default();
            let longest = 0.1;
            prop_assert!(bound.in_world(&body, &part, d, &motion, longest));
            let start = support(&shape, motion.q, d);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                let now = body.at(s);
                let moved = now.x.dot(d) + support(&shape, now.q, d) - start;
                prop_assert!(moved <= bound.at(s) + 1e-12, "{s}: {moved} > {}", bound.at(s));
                prop_assert!(bound.at(s) - moved <= 2.0 * bound.cubic * s.powi(3) + 1e-12);
            }
        }

        /// The same in the frame of another body that rotates as well, or flies by.
        #[test]
        fn no_vertex_exceeds_its_bound_in_a_rotating_frame(
            attitude in prop::array::uniform3(-3.0..3.0f64), omega in prop::array::uniform3(-9.0..9.0f64),
            v in prop::array::uniform3(-1.0..1.0f64), d in prop::array::uniform3(-1.0..1.0f64),
            x in prop::array::uniform3(-0.5..0.5f64), spin in prop::array::uniform3(-4.0..4.0f64), kind in 0..3usize,
            resting in any::<bool>(),
        ) {
            let d = DVec3::from_array(d);
            prop_assume!(d.length() > 0.1);
            let d = d.normalize();
            let shape = shape(kind);
            let motion = if resting {
                state(x, attitude, [0.0; 3], [0.0; 3])
            } else {
                state(x, attitude, v, omega)
            };
            let its = state([0.0; 3], [0.3, -0.2, 0.1], v, spin);
            let (mut body, part) = thrown(&shape, MOMENTS, motion);
            if resting {
                body.kind = MotionKind::Resting;
            }
            let (mut other, _) = thrown(&shape, MOMENTS, its);
            let mut bound = CornerBound::default();
            let longest = 0.05;
            prop_assert!(bound.relative_to([&body, &other], &part, d, [&motion, &its], longest));
            let fixed = its.q.conjugate() * d;
            let mut advance = |s: f64| {
                let (now, frame) = (body.at(s), other.at(s));
                let d = frame.q * fixed;
                (now.x - frame.x).dot(d) + support(&shape, now.q, d)
            };
            let start = advance(0.0);
            for k in 1..=40 {
                let s = longest * f64::from(k) / 40.0;
                let moved = advance(s) - start;
                prop_assert!(moved <= bound.at(s) + 1e-12, "{s}: {moved} > {}", bound.at(s));
                prop_assert!(bound.at(s) - moved <= 2.0 * bound.cubic * s.powi(3) + 1e-12);
            }
        }
    }

    /// A hop ends at its larger root, an approach at its only one.
    #[test]
    fn distances_are_covered_at_the_right_root() {
        assert!((root(5.0, -1.0, 0.0) - 0.2).abs() < 1e-15);
        assert!((root(5.0, -1.0, 0.4) - 0.4).abs() < 1e-15);
        assert!((root(5.0, 1.0, 0.4) - 0.2).abs() < 1e-15);
        assert_eq!(root(5.0, -1.0, -1.0), 0.1);
        assert_eq!(root(-5.0, -1.0, 0.1), f64::INFINITY);
        assert_eq!(root(-5.0, 1.0, 0.1), f64::INFINITY);
        assert_eq!(root(0.0, 0.0, 0.1), f64::INFINITY);
        assert_eq!(root(1.0, 1.0, 0.0), 0.0);
    }
}
