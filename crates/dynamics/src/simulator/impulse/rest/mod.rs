//! Rest: bodies are put to rest when their contacts provably hold them in equilibrium.
//!
//! Microcollisions keep a body hopping within a part of ε, which is costly for stacks of more than a few
//! bodies. So a body is put to rest when two conditions hold:
//!
//! 1. It is still (`detector`): at this instant, or on average over 3, 12 or 48 times the duration τ of a
//!    free fall through ε, no point of its surface is faster than 0.3 √(2gε).
//! 2. Its contacts can stop and support it: let its weight act for a time T = 12τ on the body with its (mean)
//!    velocity. There are impulses inside the friction cones after which nothing is left (`equilibrium`),
//!    neither of the momentum it had nor of the momentum that its weight has added. This is tested for all
//!    bodies that support each other together. A moving neighbour counts as a load, the mean of its impulses,
//!    as long as it presses and does not support.
//!
//! The second condition keeps slowly rolling bodies rolling: the contact of a ball cannot take away the
//! momentum of rolling. It does not keep sliding bodies sliding: friction can stop them, only not at once. On a
//! slope α a body with the speed v has v²/(2g (μ cos α − sin α)) to go, many ε for a v of 0.3 √(2gε) if the
//! slope is near the angle of friction. So a body that slides on a contact patch, disturbed by nothing else, is
//! not put to rest before its slip has ended.
//!
//! Bodies with too many events in a step are frozen, reported as stalled, and tested for equilibrium at the
//! next step.
//!
//! A body at rest stays so as long as possible: an impulse that its contacts can absorb, by the same test,
//! does not move it; one that they cannot absorb wakes it, with all resting bodies it is in contact with. The
//! test is repeated from time to time while other bodies hop on it.

mod cone_projection;
mod detector;
mod equilibrium;
mod relaxation;

use super::ballistic_body::{BallisticBody, MotionKind};
use super::partition::Partition;
use super::tuning::{
    AVERAGING_SPANS, HARD_COLLISION, REFUSAL_TIME, REST_GROUP_LIMIT, REST_RESIDUAL, STAY_RESIDUAL,
    STOPPING_TIME, SUPPORT_COSINE, SUPPORT_GAP,
};
use crate::error::Error;
use crate::rigid::Motion;
use crate::world::World;
use detector::HopScale;
pub(super) use detector::RestDetector;
use equilibrium::{LoadedBody, SupportPoint, is_in_equilibrium};
use glam::DVec3;
use rattleback_geometry::contact::collide_pieces;

/// Bodies that support each other, and the contact points between them and the rest of the world.
#[derive(Debug, Default)]
struct SupportGroup {
    members: Vec<u32>,
    bodies: Vec<LoadedBody>,
    supports: Vec<SupportPoint>,
    /// Time for which the loads have acted, s.
    span: f64,
}

impl Partition {
    /// Updates the rest detector after a slow collision, and tries to put the body to rest if it is still and
    /// does not slide.
    pub fn update_rest(&mut self, world: &World, index: u32, t: f64, slides: bool) -> Result<(), Error> {
        let hop_scale = self.hop_scale();
        let radius = self.radius(index);
        let body = &mut self.bodies[index as usize];
        if body.kind != MotionKind::Ballistic {
            return Ok(());
        }
        let now = body.at(t);
        body.detector.update(t, &now, radius, hop_scale);
        // Bodies in contact are tested together, so one refusal holds for all of them for a while.
        let recently_refused = t - body.detector.refused_at < REFUSAL_TIME * hop_scale.time;
        if !slides
            && !recently_refused
            && body.detector.still_velocity(t, &now, radius, hop_scale).is_some()
            && world.body(body.id)?.can_sleep()
        {
            self.try_rest(index, t)?;
        }
        Ok(())
    }

    /// Speed and duration of a free fall through ε.
    fn hop_scale(&self) -> HopScale {
        HopScale { speed: self.fall_speed(), time: self.fall_time() }
    }

    /// Largest distance of the surface of a body from its centre of mass, m.
    fn radius(&self, index: u32) -> f64 {
        let parts = self.bodies[index as usize].parts.clone();
        self.parts[parts].iter().map(|part| part.radius).fold(0.0, f64::max)
    }

    /// Velocities of a body that rests or is still; none if it moves.
    fn still_velocity(&mut self, index: u32, t: f64) -> Option<(DVec3, DVec3)> {
        let (hop_scale, radius) = (self.hop_scale(), self.radius(index));
        let body = &mut self.bodies[index as usize];
        let now = body.at(t);
        if body.kind == MotionKind::Resting {
            return Some((DVec3::ZERO, DVec3::ZERO));
        }
        body.detector.still_velocity(t, &now, radius, hop_scale)
    }

    /// Tests a body and all that supports it for equilibrium, and puts them to rest if they pass.
    fn try_rest(&mut self, index: u32, t: f64) -> Result<(), Error> {
        let span = STOPPING_TIME * self.fall_time();
        // First with all still bodies; if that fails, with hopping neighbours as loads, so that a pile comes
        // to rest from the ground up.
        for joining in [true, false] {
            let Some(mut group) = self.support_group(index, t, span, joining)? else { continue };
            if is_in_equilibrium(
                &mut group.bodies,
                &mut group.supports,
                self.gravity_norm * span,
                REST_RESIDUAL,
            ) {
                return self.put_to_rest(&group, t);
            }
            for member in &group.members {
                self.bodies[*member as usize].detector.refused_at = t;
            }
            if !group.members[1..].iter().any(|member| self.bodies[*member as usize].is_movable()) {
                break;
            }
        }
        self.bodies[index as usize].detector.refused_at = t;
        Ok(())
    }

    /// Puts all movable members of a group to rest.
    fn put_to_rest(&mut self, group: &SupportGroup, t: f64) -> Result<(), Error> {
        self.record_forces(group, t);
        let fresh: Vec<u32> = group
            .members
            .iter()
            .copied()
            .filter(|member| self.bodies[*member as usize].is_movable())
            .collect();
        for member in &fresh {
            self.stop(*member, t);
            self.bodies[*member as usize].detector.proved_at = t;
        }
        self.counters.rested += fresh.len() as u64;
        self.motion_changed(&fresh, t)
    }

    /// Stops a body where it is.
    fn stop(&mut self, index: u32, t: f64) {
        let body = &mut self.bodies[index as usize];
        let now = body.at(t);
        body.kind = MotionKind::Resting;
        body.restart_trajectory(t, Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..now });
        self.record_stop(index, &now);
    }

    /// Freezes stalled bodies until the next step, when they are tested for equilibrium.
    pub fn freeze_stalled(&mut self, stalled: &[u32], t: f64) -> Result<(), Error> {
        for index in stalled {
            self.stop(*index, t);
            self.bodies[*index as usize].detector.frozen = true;
        }
        self.motion_changed(stalled, t)
    }

    /// Releases the frozen bodies that are not in equilibrium.
    pub fn release_frozen(&mut self, t: f64) -> Result<(), Error> {
        for index in 0..self.bodies.len() as u32 {
            let body = &mut self.bodies[index as usize];
            if body.detector.frozen {
                (body.detector.frozen, body.detector.proved_at) = (false, f64::NEG_INFINITY);
                self.recheck_rest(index, t)?;
            }
        }
        Ok(())
    }

    /// Tests again whether the contacts of a resting body support what hops on it; wakes it if not.
    pub fn recheck_rest(&mut self, index: u32, t: f64) -> Result<(), Error> {
        if t - self.bodies[index as usize].detector.proved_at < AVERAGING_SPANS[1] * self.fall_time() {
            return Ok(());
        }
        self.bodies[index as usize].detector.proved_at = t;
        let span = STOPPING_TIME * self.fall_time();
        let loaded_body = match self.support_group(index, t, span, false)? {
            Some(mut group) => {
                let loaded_body = is_in_equilibrium(
                    &mut group.bodies,
                    &mut group.supports,
                    self.gravity_norm * span,
                    STAY_RESIDUAL,
                );
                if loaded_body {
                    self.record_forces(&group, t);
                }
                loaded_body
            }
            None => false,
        };
        if loaded_body { Ok(()) } else { self.wake_connected(index, t) }
    }

    /// Whether the contacts of a resting body can absorb an impulse at a point, so that it does not move.
    pub fn can_absorb(
        &mut self,
        index: u32,
        t: f64,
        p: DVec3,
        point: DVec3,
        speed: f64,
    ) -> Result<bool, Error> {
        if speed > HARD_COLLISION * self.fall_speed() {
            return Ok(false);
        }
        if self.bodies[index as usize].detector.frozen {
            return Ok(true);
        }
        // Slow and downwards: hops of a body that rests on it.
        if speed < self.fall_speed() && p.dot(self.gravity) > 0.7 * p.length() * self.gravity_norm {
            return Ok(true);
        }
        let tau = self.fall_time();
        let Some(mut group) = self.support_group(index, t, tau, true)? else { return Ok(false) };
        let arm = point - self.bodies[index as usize].at(t).x;
        let struck = &mut group.bodies[0];
        struck.v += struck.inverse_mass * p;
        struck.omega += struck.inverse_inertia * arm.cross(p);
        let hop_scale = self.gravity_norm * tau + struck.inverse_mass * p.length();
        Ok(is_in_equilibrium(&mut group.bodies, &mut group.supports, hop_scale, STAY_RESIDUAL))
    }

    /// Stores the forces of an equilibrium as the mean forces of the contacts.
    fn record_forces(&mut self, group: &SupportGroup, t: f64) {
        for support in &group.supports {
            let pair = &mut self.pairs[support.pair as usize];
            pair.force = DVec3::ZERO;
            pair.impulse = DVec3::ZERO;
            pair.sum_start = t;
        }
        for support in &group.supports {
            self.pairs[support.pair as usize].force += support.force / group.span;
        }
    }

    /// Wakes a resting body, and all resting bodies connected to it by contacts.
    pub fn wake_connected(&mut self, index: u32, t: f64) -> Result<(), Error> {
        if self.bodies[index as usize].kind != MotionKind::Resting {
            return Ok(());
        }
        let mut awake = vec![index];
        let mut next = 0;
        self.wake(index, t);
        while let Some(one) = awake.get(next).copied() {
            next += 1;
            for pair in self.bodies[one as usize].pairs.clone() {
                let other = self.partner(pair, one);
                if !self.pairs[pair as usize].deferred
                    && self.bodies[other as usize].kind == MotionKind::Resting
                    && self.measure_gap(pair, t)?.distance < SUPPORT_GAP * self.epsilon
                {
                    self.wake(other, t);
                    awake.push(other);
                }
            }
        }
        self.counters.woken += awake.len() as u64;
        self.motion_changed(&awake, t)
    }

    /// Makes a resting body ballistic.
    fn wake(&mut self, index: u32, t: f64) {
        let body = &mut self.bodies[index as usize];
        body.kind = MotionKind::Ballistic;
        let motion = body.start;
        body.restart_trajectory(t, motion);
        body.detector = RestDetector::from(t, &motion);
    }

    /// The other body of a pair.
    fn partner(&self, pair: u32, body: u32) -> u32 {
        let [a, b] = self.pairs[pair as usize].bodies;
        if a == body { b } else { a }
    }

    /// All resting bodies in contact with each other from one body on, with all still ones if `joining`,
    /// after their weight has acted for a time; none if one of them cannot be at rest.
    fn support_group(
        &mut self,
        start: u32,
        t: f64,
        span: f64,
        joining: bool,
    ) -> Result<Option<SupportGroup>, Error> {
        let mut group = SupportGroup { members: vec![start], span, ..SupportGroup::default() };
        let mut next = 0;
        while let Some(member) = group.members.get(next).copied() {
            let Some(still_velocity) = self.still_velocity(member, t) else { return Ok(None) };
            group.bodies.push(self.loaded_body(member, t, span, still_velocity));
            for pair in self.bodies[member as usize].pairs.clone() {
                let deferred = self.pairs[pair as usize].deferred;
                if deferred || group.supports.iter().any(|support| support.pair == pair) {
                    continue;
                }
                let gap = self.measure_gap(pair, t)?;
                if gap.distance >= SUPPORT_GAP * self.epsilon {
                    continue;
                }
                let other = self.partner(pair, member);
                let still = group.members.contains(&other)
                    || self.bodies[other as usize].kind == MotionKind::Resting
                    || (joining && self.still_velocity(other, t).is_some());
                let neighbor = &self.bodies[other as usize];
                let stationary = match neighbor.kind {
                    MotionKind::Static => true,
                    MotionKind::Kinematic => {
                        if !neighbor
                            .kinematic
                            .as_ref()
                            .is_some_and(super::kinematic_bound::KinematicPath::is_static)
                        {
                            return Ok(None);
                        }
                        true
                    }
                    MotionKind::Ballistic if !still => {
                        if !self.add_load(pair, member, &mut group, next, t) {
                            return Ok(None);
                        }
                        continue;
                    }
                    MotionKind::Ballistic | MotionKind::Resting => false,
                };
                if !stationary && !group.members.contains(&other) {
                    if group.members.len() >= REST_GROUP_LIMIT {
                        return Ok(None);
                    }
                    group.members.push(other);
                }
                self.add_support_points(pair, &mut group, t)?;
            }
            next += 1;
        }
        for support in &mut group.supports {
            let bodies = self.pairs[support.pair as usize].bodies;
            support.bodies = bodies.map(|body| group.members.iter().position(|member| *member == body));
        }
        // From the ground up.
        let gravity = self.gravity;
        let height = |support: &SupportPoint| -gravity.dot(support.position);
        group.supports.sort_by(|a, b| height(a).total_cmp(&height(b)));
        Ok(Some(group))
    }

    /// A member after its weight has acted for a time.
    fn loaded_body(&mut self, member: u32, t: f64, span: f64, (v, omega): (DVec3, DVec3)) -> LoadedBody {
        let radius = self.radius(member);
        let body = &mut self.bodies[member as usize];
        let now = body.at(t);
        let (inverse_mass, inverse_inertia) = BallisticBody::inverse_mass_and_inertia(&body.inertia, &now);
        LoadedBody { inverse_mass, inverse_inertia, radius, v: v + span * self.gravity, omega }
    }

    /// Adds the mean force of a hopping neighbour to a member; false if the neighbour supports the member.
    fn add_load(&mut self, pair: u32, member: u32, group: &mut SupportGroup, place: usize, t: f64) -> bool {
        let record = &self.pairs[pair as usize];
        let (span, window) = (t - record.sum_start, AVERAGING_SPANS[1] * self.fall_time());
        // A few impulses are no mean: the previous mean counts as one window.
        let force = (record.impulse + window * record.force) / (span + window);
        let sign = if record.bodies[1] == member { 1.0 } else { -1.0 };
        let force = sign * force;
        if force.dot(self.gravity) < SUPPORT_COSINE * force.length() * self.gravity_norm {
            return false;
        }
        let normal_point = record.point;
        let body = &mut self.bodies[member as usize];
        let arm = normal_point - body.at(t).x;
        let body = &mut group.bodies[place];
        let impulse = group.span * force;
        body.v += body.inverse_mass * impulse;
        body.omega += body.inverse_inertia * arm.cross(impulse);
        true
    }

    /// Adds the contact points of a pair.
    fn add_support_points(&mut self, index: u32, group: &mut SupportGroup, t: f64) -> Result<(), Error> {
        let pair = &mut self.pairs[index as usize];
        let motion = pair.bodies.map(|body| self.bodies[body as usize].at(t));
        let parts = pair.parts.map(|part| &self.parts[part as usize]);
        let (a, b) = (motion[0].pose() * parts[0].pose, motion[1].pose() * parts[1].pose);
        let geometry = |source| super::ImpulseError::Geometry { source };
        let pieces = (parts[0].piece().map_err(geometry)?, parts[1].piece().map_err(geometry)?);
        let manifold = collide_pieces(
            &pieces.0,
            &pieces.1,
            &a.relative(&b),
            SUPPORT_GAP * self.epsilon,
            &mut pair.cache,
        )
        .map_err(geometry)?;
        let Some(manifold) = manifold else { return Ok(()) };
        for point in manifold.points() {
            let place = a.point(0.5 * (point.point_a + point.point_b));
            group.supports.push(SupportPoint {
                bodies: [None; 2],
                arms: [place - motion[0].x, place - motion[1].x],
                normal: a.vector(manifold.normal),
                friction: pair.static_friction,
                levers: pair.rolling_levers,
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: index,
                position: place,
            });
        }
        Ok(())
    }
}
