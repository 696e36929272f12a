//! Particles that neither forces nor collisions couple: every particle by itself, in parallel.
//!
//! A particle bounces from body to body until the end of the interval. Bodies answer only in the next interval, so
//! particles do not influence each other; reactions are added up over blocks of fixed size, in their order.

use glam::DVec3;
use rattleback_geometry::hierarchy::Scratch;
use rattleback_geometry::{Pose, Shape};

use super::collide::{ends_outside, flags_of};
use super::{Method, ObstacleMotion, ParticleSystem};
use crate::collision::swept_particle_shape;
use crate::force::ForceView;
use crate::impulse::{ClusterCollision, ClusterPartner, FrictionModel, solve_cluster};
use crate::{Obstacle, ParticleError, Reaction, parallel};

/// Particles per block.
const BLOCK: usize = 512;

/// Counters and reactions of a block.
#[derive(Clone, Debug, Default)]
struct BlockReport {
    reactions: Vec<Reaction>,
    collisions: u64,
    contacts: u64,
    unresolved: u64,
    iterations: u32,
    /// First particle whose force or state is not finite.
    non_finite: Option<usize>,
}

/// What the blocks read of a body.
struct Body<'a> {
    obstacle: &'a dyn Obstacle,
    pose: Pose,
    start: Pose,
    bounds: Option<(DVec3, DVec3)>,
}

/// State of a particle within the interval.
#[derive(Clone, Copy)]
struct Flight {
    p: DVec3,
    v: DVec3,
    /// Constant force of contacts, N.
    support: DVec3,
}

impl ParticleSystem {
    /// Integrates all particles and resolves their collisions with bodies.
    pub(super) fn step_independent(
        &mut self,
        dt: f64,
        obstacles: &mut [&mut dyn Obstacle],
    ) -> Result<(), ParticleError> {
        let n = self.particles.len();
        let mut position = std::mem::take(&mut self.particles.position);
        let mut velocity = std::mem::take(&mut self.particles.velocity);
        let mut reports = vec![BlockReport::default(); n.div_ceil(BLOCK)];
        // Particles keep their place while the arrays are being written; forces see copies of their block.
        let bounds: Vec<u32> = (0..=reports.len()).map(|k| (k * BLOCK).min(n) as u32).collect();
        // Reactions that are due now, so that bodies have their velocities of this interval.
        self.apply_pending(obstacles);
        let bodies: Vec<Body<'_>> = if self.settings.collisions.bodies {
            obstacles.iter().map(|o| Body::new(&**o)).collect()
        } else {
            Vec::new()
        };
        let system = &*self;
        parallel::fill_blocks(
            system.settings.threads,
            &bounds,
            (&mut position, &mut velocity, &mut reports),
            |block, p, v, report| system.advance_block(block * BLOCK, dt, &bodies, p, v, report),
        );
        drop(bodies);
        self.particles.position = position;
        self.particles.velocity = velocity;
        if let Some(index) = reports.iter().find_map(|report| report.non_finite) {
            let particle = self.particles.id(index);
            return Err(ParticleError::NonFiniteState { what: "force", particle, time: self.time });
        }
        self.integration.evaluations += if self.settings.method == Method::SymplecticEuler { 1 } else { 2 };
        for report in &reports {
            for (sum, reaction) in self.pending.iter_mut().zip(&report.reactions) {
                *sum = *sum + *reaction;
            }
            self.statistics.collisions += report.collisions;
            self.statistics.contacts += report.contacts;
            self.statistics.unresolved_collisions += report.unresolved;
            self.statistics.iterations = self.statistics.iterations.max(report.iterations);
        }
        if self.settings.immediate_reaction {
            self.apply_pending(obstacles);
        }
        Ok(())
    }

    /// Moves the particles of a block over the interval.
    fn advance_block(
        &self,
        first: usize,
        dt: f64,
        bodies: &[Body<'_>],
        p: &mut [DVec3],
        v: &mut [DVec3],
        report: &mut BlockReport,
    ) {
        report.reactions.resize(bodies.len(), Reaction::default());
        let n = p.len();
        let mut force = [DVec3::ZERO; BLOCK];
        let view = ForceView::from(&self.particles, self.time, p, v, first);
        self.forces.unary(&view, 0, &mut force[..n]);
        let second_order = self.settings.method != Method::SymplecticEuler;
        let mut end_p = [DVec3::ZERO; BLOCK];
        let mut end_v = [DVec3::ZERO; BLOCK];
        for k in 0..n {
            let w = self.particles.inverse_mass(first + k);
            end_v[k] = v[k] + (w * dt) * force[k];
            let shift = if second_order { 0.5 * (v[k] + end_v[k]) } else { end_v[k] };
            end_p[k] = if w == 0.0 { p[k] } else { p[k] + dt * shift };
        }
        if second_order {
            let mut later = [DVec3::ZERO; BLOCK];
            let view = ForceView::from(&self.particles, self.time + dt, &end_p[..n], &end_v[..n], first);
            self.forces.unary(&view, 0, &mut later[..n]);
            for k in 0..n {
                let w = self.particles.inverse_mass(first + k);
                end_v[k] = v[k] + (0.5 * w * dt) * (force[k] + later[k]);
            }
        }
        let mut scratch = Scratch::default();
        for k in 0..n {
            let index = first + k;
            if !(end_p[k].is_finite() && end_v[k].is_finite()) {
                report.non_finite = report.non_finite.or(Some(index));
                continue;
            }
            if self.particles.traits[index].pinned {
                continue;
            }
            let r = self.particles.radius[index];
            let collides =
                flags_of(&self.emitters, self.settings.collisions, self.particles.traits[index].emitter)
                    .bodies;
            let near = collides && bodies.iter().any(|body| body.may_touch(p[k], end_p[k], r));
            if near {
                let from = Flight { p: p[k], v: v[k], support: force[k] };
                let flight = self.bounce(index, dt, from, (end_p[k], end_v[k]), bodies, report, &mut scratch);
                p[k] = flight.p;
                v[k] = flight.v;
            } else {
                p[k] = end_p[k];
                v[k] = end_v[k];
            }
        }
    }

    /// A particle whose chord comes near a body ⇒ its state at the end of the interval.
    #[allow(clippy::too_many_arguments, reason = "the parts of one flight")]
    fn bounce(
        &self,
        index: usize,
        dt: f64,
        from: Flight,
        end: (DVec3, DVec3),
        bodies: &[Body<'_>],
        report: &mut BlockReport,
        scratch: &mut Scratch,
    ) -> Flight {
        let (traits, r) = (&self.particles.traits[index], self.particles.radius[index]);
        let w = self.particles.inverse_mass(index);
        let settings = &self.settings;
        let mut time = 0.0;
        let (mut p, mut v, mut force) = (from.p, from.v, from.support);
        let (mut end_p, mut end_v) = end;
        // The body that the particle touches since this time.
        let mut settled = None;
        let limit = settings.max_collision_iterations;
        for pass in 0.. {
            let mut first: Option<(f64, usize, DVec3, DVec3)> = None;
            for (body, b) in bodies.iter().enumerate() {
                if !b.may_touch(p, end_p, r)
                    || self.leaving.binary_search(&(index as u32, body as u32)).is_ok()
                {
                    continue;
                }
                if let Some((s, normal, point)) = b.hit(settings.obstacle_motion, time, p, end_p, r, scratch)
                    && first.is_none_or(|(known, ..)| s < known)
                    && !(s < 1e-6
                        && settled == Some(body)
                        && ends_outside(b.obstacle.shape(), b.pose.inverse_point(end_p), r))
                {
                    first = Some((s, body, normal, point));
                }
            }
            let Some((s, body, normal, point)) = first else { break };
            report.iterations = report.iterations.max(pass + 1);
            let v_c = v.lerp(end_v, s);
            p = p.lerp(end_p, s);
            time += s * (1.0 - time);
            let rest = (1.0 - time) * dt;
            if pass >= limit.saturating_add(settings.max_inelastic_iterations) {
                report.unresolved += 1;
                (end_p, end_v) = (p, v_c);
                break;
            }
            let obstacle = bodies[body].obstacle;
            let v_body = obstacle.velocity_at(point);
            let u = v_c - v_body;
            let a_n = (w * force - obstacle.acceleration_at(point)).dot(normal);
            let threshold =
                settings.contact_velocity_threshold.unwrap_or_else(|| (2.0 * a_n.abs() * dt).max(1e-3));
            let contact = u.dot(normal) > -threshold;
            let e = settings.restitution_combine.of(traits.restitution, obstacle.restitution());
            let e = if contact || pass >= limit { 0.0 } else { e };
            let friction = [0, 1].map(|k: usize| f64::midpoint(traits.friction[k], obstacle.friction()[k]));
            let mu = if contact { 0.0 } else { friction[1] };
            let friction_model = if settings.isotropic_friction {
                FrictionModel::Isotropic(mu)
            } else {
                FrictionModel::Directional([mu; 2])
            };
            let inverse_mass = self.body_inverse_mass(obstacle, point);
            let impulse = single_impulse(w, v_c, v_body, inverse_mass, normal, e, friction_model);
            v = v_c + w * impulse;
            report.reactions[body].add(point, -impulse);
            if contact {
                report.contacts += 1;
                // A single contact: the normal force cancels the approaching acceleration, friction what it can.
                // The body stays at its pose of the end of the interval whatever acts on it.
                settled = Some(body);
                let a_n = (w * force).dot(normal);
                let f_n = (-a_n / w).max(0.0);
                let slip = v - v_body - (v - v_body).dot(normal) * normal;
                let a_t = w * force - a_n * normal;
                let friction = if slip.length() > settings.slip_velocity_threshold {
                    -friction[1] * f_n * slip.normalize_or_zero()
                } else {
                    (-a_t / w).clamp_length_max(friction[0] * f_n)
                };
                let support = f_n * normal + friction;
                report.reactions[body].add(point, -rest * support);
                force += support;
            } else {
                report.collisions += 1;
            }
            // The rest of the interval under the force of its start, which a contact has made that of the surface.
            end_v = v + (w * rest) * force;
            end_p = p + (0.5 * rest) * (v + end_v);
        }
        Flight { p: end_p, v: end_v, support: force }
    }
}

/// Impulse on a particle that hits a body, N s.
fn single_impulse(
    w: f64,
    v: DVec3,
    v_body: DVec3,
    inverse_mass: glam::DMat3,
    normal: DVec3,
    restitution: f64,
    friction: FrictionModel,
) -> DVec3 {
    let u = v - v_body;
    if !(u.dot(normal) < 0.0) {
        return DVec3::ZERO;
    }
    if inverse_mass == glam::DMat3::ZERO {
        // Closed form against a body that does not give way.
        let ([n, t, k], bounds) = friction.frame(normal, u);
        let p_n = -(1.0 + restitution) * u.dot(n) / w;
        let tangential = |axis: DVec3, bound: f64| (-u.dot(axis) / w).clamp(-bound * p_n, bound * p_n);
        return p_n * n + tangential(t, bounds[0]) * t + tangential(k, bounds[1]) * k;
    }
    let a = ClusterPartner::Body { velocity: v_body, inverse_mass };
    let collision = ClusterCollision { a, b: 0, normal, restitution, friction };
    solve_cluster(&[w], &[v], &[collision]).impulse[0]
}

impl<'a> Body<'a> {
    fn new(obstacle: &'a dyn Obstacle) -> Self {
        let (pose, start) = (obstacle.pose(), obstacle.start_pose());
        let bounds = obstacle.shape().aabb(&pose).map(|bounds| (bounds.min(), bounds.max()));
        Self { obstacle, pose, start, bounds }
    }

    /// Whether the path may touch the body: by boxes, or by its plane.
    #[inline]
    fn may_touch(&self, p: DVec3, q: DVec3, r: f64) -> bool {
        if let Shape::HalfSpace(plane) = self.obstacle.shape() {
            let (n, at) = (self.pose.vector(plane.normal()), self.pose.translation);
            return n.dot(q - at) < r || self.start != self.pose;
        }
        let Some((low, high)) = self.bounds else { return true };
        // A body that moves sweeps more than its box at the end; the exact test is left to decide.
        self.start != self.pose || !((p.min(q) - r).cmpgt(high).any() || (p.max(q) + r).cmplt(low).any())
    }

    /// First contact with the body on the rest of a chord: s on it, normal, point.
    fn hit(
        &self,
        motion: ObstacleMotion,
        time: f64,
        p: DVec3,
        q: DVec3,
        r: f64,
        scratch: &mut Scratch,
    ) -> Option<(f64, DVec3, DVec3)> {
        let origin = match motion {
            ObstacleMotion::AtEnd => self.pose,
            ObstacleMotion::Swept => Pose::new(
                self.start.rotation.slerp(self.pose.rotation, time),
                self.start.translation.lerp(self.pose.translation, time),
            ),
        };
        let (c, d) = (origin.inverse_point(p), self.pose.inverse_point(q));
        let hit = swept_particle_shape(c, d - c, r, self.obstacle.shape(), scratch)?;
        let closing = -(d - c).dot(hit.normal);
        if closing <= 1e-14 * (1.0 + c.abs().max_element()) {
            return None;
        }
        Some((hit.time, self.pose.vector(hit.normal), self.pose.point(hit.point)))
    }
}
