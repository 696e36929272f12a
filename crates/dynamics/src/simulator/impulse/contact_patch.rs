//! Microcollisions at all points of a contact patch at once.
//!
//! A body that rests or slides on a face touches at several points within ε. Impulses at one corner at a time
//! make it rock: each corner rebounds alone, friction acts at whichever corner is in contact, and in the long
//! run these kicks rotate and displace the body. Coulomb friction acts at all points together, so a
//! microcollision does, too. With D the matrix of velocities caused by impulses p at the points, u⁻ the
//! velocities before, and a the accelerations of the points in free flight:
//!
//! 1. **Stop.** p₀ ends the approach without any rebound: u₁ = u⁻ + D p₀ with u₁ₙ ≥ 0, p₀ₙ ≥ 0, p₀ₙ u₁ₙ = 0
//!    and Coulomb's law for u₁ at every point. (At the end of a hop, friction of a sliding point acts along
//!    its velocity a third of the hop earlier: `slide_hop`.) Its work is W₀ = ½ p₀·(u⁻ + u₁) ≤ 0.
//! 2. **Hop.** f are the contact forces: the same problem for a instead of u⁻, with sliding points keeping the
//!    mean direction of their slip within the hop (`slide_hop`). The impulse s f separates all points together, against the
//!    acceleration that closes them: u⁺ = u₁ + s D f. Over a hop of the duration 2s the velocity of a point
//!    that does not slide goes from −s a to s a, zero on average: nothing creeps, whatever the slope. And all
//!    points return at the same time, as fast as they left: nothing rocks.
//!
//! s is as large as a hop of the wanted speed requires, but W(s) = W₀ + s f·u₁ + ½ s² f·D f ≤ 0 always: the
//! hop is paid for by what the stop dissipated, or by what friction takes from a sliding body (or, where
//! there is neither, by its motion: `hop_energy`). p₀ + s f lies in the friction cones, because these are
//! convex. At rest s stays constant, W = 0, and the mean of p₀ + s f over the time 2s is f.
//!
//! Two movable bodies are pressed together by their neighbours, with unknown loads at the points. Their hop separates
//! all points at the same speed, and W may reach an allowance, as in a collision at one point (`impact_response`).
//!
//! In most cases both problems have a closed form (`patch_solution`). Otherwise they are
//! solved by block Gauss–Seidel sweeps: a point that can stick takes −K⁻¹u of its own block K; otherwise it takes its
//! normal part, then a gradient step of the friction power, projected to the disc of radius μ pₙ, whose fixed
//! points satisfy Coulomb's law.

use super::hop_energy::{affordable_hop_speed, limit_energy};
use super::pair::PairGap;
use super::partition::Partition;
use super::patch_solution::{PatchBody, PatchResponse, Twist, Vectors};
use super::slide_hop::{end_node_velocity, mean_slip_direction};
use super::support_bound::SupportShape;
use super::tuning::{
    PATCH_CONVERGED, PATCH_FAILED, PATCH_NORMAL_COSINE, PATCH_PRESSED, PATCH_SLIP, PATCH_SWEEPS, PATCH_TURN,
};
use crate::error::Error;
use crate::impact::{ContactBody, contact_frame};
use glam::{DMat2, DMat3, DVec2, DVec3};
use rattleback_geometry::contact::{MAX_POINTS, collide_pieces};

/// Points of a contact patch with everything a collision depends on, in the contact frame (z along the
/// normal).
#[derive(Debug)]
pub(super) struct ContactPatch {
    count: usize,
    /// World ← contact frame.
    frame: DMat3,
    /// From both centres of mass to the points, m, world frame.
    arms: [[DVec3; 2]; MAX_POINTS],
    /// Response of both bodies.
    response: PatchResponse,
    /// Velocities before, m/s, and accelerations in free flight, m/s²; for both the field of a rigid body.
    velocity: Vectors,
    acceleration: Vectors,
    velocity_field: Twist,
    acceleration_field: Twist,
    friction: f64,
    /// |g|, m/s².
    gravity_norm: f64,
}

/// Acceleration that closes all points alike.
const TOGETHER: Vectors = [DVec3::NEG_Z; MAX_POINTS];

/// Result of a collision at a patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchImpulse {
    /// Both bodies after the collision.
    pub after: [ContactBody; 2],
    /// Sum of the impulses on the second body, N s.
    pub impulse: DVec3,
    /// From the centre of mass of the second body to the centre of pressure, m.
    pub lever: DVec3,
    /// Whether all points slide on.
    pub slides: bool,
}

impl Partition {
    /// Contact patch of a pair in a microcollision; none if it touches in one point.
    pub fn contact_patch(
        &mut self,
        index: u32,
        t: f64,
        gap: &PairGap,
        bodies: &[ContactBody; 2],
    ) -> Result<Option<ContactPatch>, Error> {
        let pair = &mut self.pairs[index as usize];
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        if parts.iter().any(|part| part.has_point_contact()) {
            return Ok(None);
        }
        // Manifolds of other shapes cost more than they save where both bodies move.
        let shared = pair.bodies.iter().all(|body| self.bodies[*body as usize].is_movable());
        if shared && !parts.iter().all(|part| matches!(part.support, SupportShape::Box { .. })) {
            return Ok(None);
        }
        let motion = pair.bodies.map(|body| self.bodies[body as usize].at(t));
        let (a, b) = (motion[0].pose() * parts[0].pose, motion[1].pose() * parts[1].pose);
        let geometry = |source| super::ImpulseError::Geometry { source };
        let pieces = (parts[0].piece().map_err(geometry)?, parts[1].piece().map_err(geometry)?);
        let manifold = collide_pieces(&pieces.0, &pieces.1, &a.relative(&b), self.epsilon, &mut pair.cache)
            .map_err(geometry)?;
        let Some(manifold) = manifold else { return Ok(None) };
        let Ok(frame) = contact_frame(gap.normal) else { return Ok(None) };
        if a.vector(manifold.normal).dot(gap.normal) < PATCH_NORMAL_COSINE {
            return Ok(None);
        }
        let mut arms = [[DVec3::ZERO; 2]; MAX_POINTS];
        let mut count = 0;
        let is_movable = pair.bodies.map(|body| self.bodies[body as usize].is_movable());
        for point in manifold.points().iter().filter(|point| point.separation < self.epsilon) {
            let place = a.point(match is_movable {
                [true, false] => point.point_a,
                [false, true] => point.point_b,
                _ => 0.5 * (point.point_a + point.point_b),
            });
            arms[count] = [place - motion[0].x, place - motion[1].x];
            count += 1;
        }
        // A cylinder that rolls on its rim or side has a single contact point, which moves round.
        let fewest = if parts.iter().any(|part| part.has_curved_side()) { 3 } else { 2 };
        if count < fewest {
            return Ok(None);
        }
        let friction = pair.friction;
        let free = pair.bodies.map(|body| {
            let body = &self.bodies[body as usize];
            if body.is_movable() {
                let now = body.last_motion();
                let momentum = body.inertia.angular_momentum(now.q, now.omega);
                (body.gravity, body.inertia.angular_velocity(now.q, -now.omega.cross(momentum)))
            } else {
                (DVec3::ZERO, DVec3::ZERO)
            }
        });
        Ok(Some(ContactPatch::new(bodies, &arms[..count], frame, [friction, self.gravity_norm], free)))
    }
}

impl ContactPatch {
    /// (bodies, arms of the points, frame, μ and |g|, linear and angular acceleration of both in free flight)
    /// ⇒ the patch.
    fn new(
        bodies: &[ContactBody; 2],
        points: &[[DVec3; 2]],
        frame: DMat3,
        [friction, gravity_norm]: [f64; 2],
        free: [(DVec3, DVec3); 2],
    ) -> Self {
        let contact = frame.transpose();
        let count = points.len();
        let mean = [0, 1].map(|k| points.iter().map(|arms| arms[k]).sum::<DVec3>() / count as f64);
        let response = PatchResponse {
            count,
            points: std::array::from_fn(|i| {
                points.get(i).map_or(DVec3::ZERO, |arms| contact * (arms[1] - mean[1]))
            }),
            bodies: [0, 1].map(|k| {
                let body = &bodies[k];
                if body.inverse_mass == 0.0 {
                    return PatchBody::default();
                }
                PatchBody {
                    inverse_mass: body.inverse_mass,
                    inverse_inertia: contact * body.inverse_inertia * frame,
                    center: -(contact * mean[k]),
                }
            }),
            friction,
        };
        let [a, b] = [0, 1].map(|k| (bodies[k].v + bodies[k].omega.cross(mean[k]), bodies[k].omega));
        let velocity_field = Twist { linear: contact * (b.0 - a.0), angular: contact * (b.1 - a.1) };
        let [a, b] = [0, 1].map(|k| (free[k].0 + free[k].1.cross(mean[k]), free[k].1));
        let acceleration_field = Twist { linear: contact * (b.0 - a.0), angular: contact * (b.1 - a.1) };
        let mut patch = Self {
            count,
            frame,
            arms: [[DVec3::ZERO; 2]; MAX_POINTS],
            response,
            velocity: [DVec3::ZERO; MAX_POINTS],
            acceleration: [DVec3::ZERO; MAX_POINTS],
            velocity_field,
            acceleration_field,
            friction,
            gravity_norm,
        };
        for (i, arms) in points.iter().enumerate() {
            patch.arms[i] = *arms;
            let [a, b] = [0, 1].map(|k| {
                let (body, r, (linear, angular)) = (&bodies[k], arms[k], free[k]);
                let turning = body.omega.cross(r);
                (body.v + turning, linear + angular.cross(r) + body.omega.cross(turning))
            });
            patch.velocity[i] = contact * (b.0 - a.0);
            patch.acceleration[i] = contact * (b.1 - a.1);
        }
        patch
    }

    /// (bodies before, duration of the hop that ends here if nothing else acted on them, wanted rebound speed as
    /// a function of the fastest approach, energy that may be created, J, if both bodies are movable) ⇒ the result; none
    /// if the sweeps fail.
    pub fn collide(
        &self,
        bodies: &[ContactBody; 2],
        last_hop: Option<f64>,
        rebound: impl Fn(f64) -> f64,
        allowance: Option<f64>,
    ) -> Option<PatchImpulse> {
        let n = self.count;
        let shared = allowance.is_some();
        let last_hop = last_hop.filter(|_| !shared);
        let dot = |a: &Vectors, b: &Vectors| (0..n).map(|i| a[i].dot(b[i])).sum::<f64>();
        let approach = self.velocity[..n].iter().map(|u| -u.z).fold(0.0, f64::max);
        let slip_limit = PATCH_SLIP * self.velocity[..n].iter().map(|u| u.length()).fold(0.0, f64::max);
        let pressed = self.acceleration[..n].iter().all(|a| a.z < -PATCH_PRESSED * self.gravity_norm);
        let (mut stop, mut after) = self.solve(&self.velocity, &self.velocity_field, None)?;
        if let Some(duration) = last_hop.filter(|_| pressed)
            && let Some(turned) = self.stop_turning(&after, duration, slip_limit)
        {
            (stop, after) = turned;
        }
        let stopped = 0.5 * (dot(&stop, &self.velocity) + dot(&stop, &after));
        let spent = (stopped - allowance.unwrap_or(0.0)).min(0.0);
        let wanted = rebound(approach);
        // First the hop of the wanted speed; if it costs too much, the force of the shorter one that is left.
        let mut guess =
            wanted / self.acceleration[..n].iter().map(|a| -a.z).fold(f64::MIN_POSITIVE, f64::max);
        for is_last in [false, true] {
            let slides = self.slides(&after, last_hop.map(|_| 2.0 * guess), slip_limit);
            let hop = if shared {
                self.solve(&TOGETHER, &Twist { linear: -DVec3::Z, angular: DVec3::ZERO }, Some(&slides))
            } else if pressed {
                self.solve(&self.acceleration, &self.acceleration_field, Some(&slides))
            } else {
                None
            };
            let is_last =
                is_last || hop.is_none() || last_hop.is_none() || slides.iter().all(Option::is_none);
            let (force, lift): (Vectors, Vectors) = match hop {
                Some((force, left)) => {
                    let closing = if shared { &TOGETHER } else { &self.acceleration };
                    (force, std::array::from_fn(|i| left[i] - closing[i]))
                }
                // No acceleration closes the gap but the load of neighbours: rebound along the stopping impulse.
                None => (stop, std::array::from_fn(|i| after[i] - self.velocity[i])),
            };
            let (b, a) = (dot(&force, &after), 0.5 * dot(&force, &lift));
            let rise = lift[..n].iter().map(|u| u.z).fold(0.0, f64::max);
            if !(a > 0.0 && rise > 0.0 && stopped.is_finite()) {
                return None;
            }
            // W₀ + b s + a s² ≤ 0, or the allowance.
            let root = (b * b - 4.0 * a * spent).max(0.0).sqrt();
            let most = if b > 0.0 { -2.0 * spent / (b + root) } else { 0.5 * (root - b) / a };
            let affordable = affordable_hop_speed(bodies, self.friction) / rise;
            let s = (wanted / rise).min(most.max(affordable));
            if stopped > 0.0 || !s.is_finite() {
                return None;
            }
            if !is_last && s < 0.95 * guess {
                guess = s;
                continue;
            }
            let total: Vectors = std::array::from_fn(|i| stop[i] + s * force[i]);
            let mut answer = self.apply(bodies, &total);
            answer.slides = slides[..n].iter().all(Option::is_some);
            if s > most {
                limit_energy(bodies, &mut answer.after);
            }
            return Some(answer);
        }
        None
    }

    /// (velocities after the stop, duration of the hop to come, speed below which a point sticks) ⇒ mean
    /// direction of slip of the points that slide; the present one where the motion to come is unknown,
    /// because other contacts or neighbours act on the bodies as well.
    fn slides(&self, after: &Vectors, duration: Option<f64>, slip_limit: f64) -> [Option<DVec2>; MAX_POINTS] {
        std::array::from_fn(|i| {
            let (slip, a) = (after[i].truncate(), self.acceleration[i]);
            (i < self.count && slip.length() > slip_limit).then(|| match duration {
                Some(duration) => mean_slip_direction(slip, a.truncate(), self.friction * -a.z, duration),
                None => slip.normalize(),
            })
        })
    }

    /// (velocities after a stop by Coulomb's law, duration of the hop that ends, speed below which a point
    /// sticks) ⇒ impulses and velocities of a stop with friction along the velocities at the node of the hop;
    /// none if these have the same direction, or if a point does not slide on.
    fn stop_turning(&self, after: &Vectors, duration: f64, slip_limit: f64) -> Option<(Vectors, Vectors)> {
        let n = self.count;
        let mut found: Option<(Vectors, Vectors)> = None;
        // Directions depend on the result; the second time they are right to the third order of the angle.
        for _ in 0..2 {
            let end = found.as_ref().map_or(after, |found| &found.1);
            let mut slides = [None; MAX_POINTS];
            let mut turn = 0.0f64;
            for i in 0..n {
                let (slip, a) = (end[i].truncate(), self.acceleration[i].truncate());
                if slip.length() <= slip_limit {
                    return None;
                }
                let node = end_node_velocity(self.velocity[i].truncate(), slip, a, duration);
                let (direction, last) = (node.try_normalize()?, slip.normalize());
                turn = turn.max(last.perp_dot(direction).abs());
                if last.dot(direction) <= 0.0 {
                    return None;
                }
                slides[i] = Some(direction);
            }
            if turn < PATCH_TURN {
                break;
            }
            found = Some(self.solve(&self.velocity, &self.velocity_field, Some(&slides))?);
        }
        let (stop, end) = found?;
        let power = |i: usize| stop[i].truncate().dot(end[i].truncate());
        (0..n).all(|i| power(i) <= 0.0).then_some((stop, end))
    }

    /// (velocities without contact, their rigid field) ⇒ impulses that end all approach, and the velocities with them.
    /// Points with a mean direction of slip have friction −μ pₙ times that, others follow Coulomb's law. None if the
    /// sweeps do not converge.
    fn solve(
        &self,
        free: &Vectors,
        field: &Twist,
        slides: Option<&[Option<DVec2>; MAX_POINTS]>,
    ) -> Option<(Vectors, Vectors)> {
        let direct = self.response.solve(free, field, slides);
        direct.or_else(|| self.sweep(free, slides))
    }

    /// D, the velocity of a point per impulse at another, 1/kg, and the inverses of its diagonal.
    fn blocks(&self) -> ([[DMat3; MAX_POINTS]; MAX_POINTS], [DMat3; MAX_POINTS]) {
        let mut blocks = [[DMat3::ZERO; MAX_POINTS]; MAX_POINTS];
        let mut inverses = [DMat3::ZERO; MAX_POINTS];
        let points = &self.response.points;
        for i in 0..self.count {
            for j in 0..=i {
                let column = |axis: DVec3| self.response.respond(axis, points[j].cross(axis)).at(points[i]);
                let block = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
                blocks[i][j] = block;
                blocks[j][i] = block.transpose();
            }
            inverses[i] = blocks[i][i].inverse();
        }
        (blocks, inverses)
    }

    /// [`solve`](Self::solve) by sweeps.
    fn sweep(
        &self,
        free: &Vectors,
        slides: Option<&[Option<DVec2>; MAX_POINTS]>,
    ) -> Option<(Vectors, Vectors)> {
        let (blocks, inverses) = self.blocks();
        let n = self.count;
        let (mut u, mut p) = (*free, [DVec3::ZERO; MAX_POINTS]);
        let scale = free[..n].iter().map(|u| u.length()).fold(0.0, f64::max);
        let mut change = f64::INFINITY;
        for _ in 0..PATCH_SWEEPS {
            change = 0.0;
            for i in 0..n {
                let wanted = match slides.and_then(|slides| slides[i]) {
                    Some(direction) => self.sliding_impulse(&blocks[i][i], p[i], u[i], direction),
                    None => self.sticking_impulse(&blocks[i][i], &inverses[i], p[i], u[i]),
                };
                let step = wanted - p[i];
                p[i] = wanted;
                for (u, row) in u.iter_mut().zip(&blocks).take(n) {
                    *u += row[i] * step;
                }
                change = change.max((blocks[i][i] * step).length());
            }
            if change <= PATCH_CONVERGED * scale {
                break;
            }
        }
        (change <= PATCH_FAILED * scale).then_some((p, u))
    }

    /// Impulse of a point that sticks if it can.
    fn sticking_impulse(&self, k: &DMat3, inverse: &DMat3, p: DVec3, u: DVec3) -> DVec3 {
        let free = p - *inverse * u;
        if free.z >= 0.0 && free.truncate().length() <= self.friction * free.z {
            return free;
        }
        let normal = (p.z - u.z / k.z_axis.z).max(0.0);
        let slip = u.truncate() + k.z_axis.truncate() * (normal - p.z);
        let m = DMat2::from_cols(k.x_axis.truncate(), k.y_axis.truncate());
        // Largest eigenvalue of the 2×2 tangential block: a safe step length.
        let (half, product) = (0.5 * (m.x_axis.x + m.y_axis.y), m.determinant());
        let largest = half + (half * half - product).max(0.0).sqrt();
        let tangent = p.truncate() - slip / largest;
        tangent.clamp_length_max(self.friction * normal).extend(normal)
    }

    /// Impulse of a point that slides along a direction, at most of length 1.
    fn sliding_impulse(&self, k: &DMat3, p: DVec3, u: DVec3, direction: DVec2) -> DVec3 {
        let line = (-self.friction * direction).extend(1.0);
        let slope = k.z_axis.dot(line);
        // Where friction alone presses the bodies together, the normal direction determines the step.
        let slope = if slope > 0.1 * k.z_axis.z { slope } else { k.z_axis.z };
        (p.z - u.z / slope).max(0.0) * line
    }

    /// Applies the impulses of all points to both bodies.
    fn apply(&self, bodies: &[ContactBody; 2], impulses: &Vectors) -> PatchImpulse {
        let mut after = *bodies;
        let (mut sum, mut normal_sum, mut center) = (DVec3::ZERO, 0.0, DVec3::ZERO);
        for (impulse, arms) in impulses.iter().zip(&self.arms).take(self.count) {
            let p = self.frame * *impulse;
            for (k, sign) in [(0, -1.0), (1, 1.0)] {
                let body = ContactBody { r: arms[k], ..after[k] }.after(sign * p);
                (after[k].v, after[k].omega) = (body.v, body.omega);
            }
            center += impulse.z * arms[1];
            normal_sum += impulse.z;
            sum += p;
        }
        let lever = if normal_sum > 0.0 { center / normal_sum } else { bodies[1].r };
        PatchImpulse { after, impulse: sum, lever, slides: false }
    }
}
