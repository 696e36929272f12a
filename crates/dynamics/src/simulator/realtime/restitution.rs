//! Impacts with restitution, resolved in order of time within the step.
//!
//! The gap of two bodies at a contact point, with arms r, is (see `impact_body`)
//!
//!   s(t) = s₀ + n·[(c + v̂ t + ½ a t²)_B + (c′ + ω t)_B × r_B − the same of A],
//!
//! a parabola whose first falling root predicts the time of impact. There the poses are computed exactly and
//! the manifold is recomputed, and Newton's iteration moves the time to where the gap vanishes, so that an
//! impact happens with the exact pose, lever arms and velocities. Impacts are resolved one after the other in
//! the order of time, each by the full collision law (restitution by `restitution_law`, Coulomb friction): a
//! row of touching spheres passes an impulse on, no bounce depends on its phase within the step, and none
//! creates energy.
//!
//! # Impact or contact
//!
//! The solver stops a speculative contact within a sub-step h by braking the approach to s/h *beforehand*: of
//! a body that is to bounce it would remove the momentum that the impact in the next step should reverse. A
//! contact with restitution is therefore left to the solver only if its approach is slower than the speed
//! that gravity adds in a step (`bounce_threshold`): such bodies rest on each other. A faster approach is an
//! impact. If it happens after this step, no constraint is needed in this step.

use super::Realtime;
use super::contact::Contact;
use super::impact_body::ImpactBody;
use super::sim_bodies::SimBody;
use super::tuning::{
    FEATURE_MARGIN, IMPACT_GAP, IMPACT_ITERATIONS, MAX_IMPACTS, MAX_IMPACTS_OF_PAIR,
    MAX_IMPACTS_PER_CANDIDATE, MAX_ROTATION_SAMPLES, MIN_IMPACT_SPEED, RESTING_SPEED_ROUNDING,
    ROTATION_SAMPLE_ANGLE, SEPARATED_GAP, SIMULTANEOUS_GAP,
};
use crate::impact::{Collision, CollisionSettings, Restitution, resolve_passive};
use crate::rigid::Motion;
use crate::solver::{ImpulseResponse, RigidResponse};
use crate::world::{Event, Status, World};
use glam::{DQuat, DVec3};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A manifold whose bodies may collide in this step.
#[derive(Clone, Copy, Debug)]
struct ImpactCandidate {
    contact: u32,
    impact_bodies: [u32; 2],
    normal: DVec3,
    /// Arms of A and B, and gap, at the beginning of the step.
    points: [(DVec3, DVec3, f64); 4],
    count: usize,
    e: f64,
    mu: f64,
    /// Number of impacts of its bodies so far: queue entries of another version are stale.
    version: u32,
    /// Whether it has collided in this step.
    collided: bool,
    /// Number of impacts that were refined, resolved or not.
    attempts: usize,
    /// Whether it exceeded the limit of impacts or is too slow for one, so that the solver has to handle it.
    left_to_solver: bool,
}

/// A predicted impact in the event queue.
#[derive(Clone, Copy, Debug)]
struct ImpactEvent {
    time: f64,
    candidate: u32,
    version: u32,
    /// Whether the time was refined with exact poses.
    exact: bool,
}

impl PartialEq for ImpactEvent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for ImpactEvent {}
impl PartialOrd for ImpactEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ImpactEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .total_cmp(&other.time)
            .then(self.candidate.cmp(&other.candidate))
            .then(self.version.cmp(&other.version))
    }
}

/// The point of an impact; the mean of several points that touch at once.
#[derive(Clone, Copy, Debug)]
struct ImpactPoint {
    normal: DVec3,
    point: DVec3,
    gap: f64,
    /// Time until the gap vanishes, s; negative if it has vanished already.
    delay: f64,
    /// States of A and B.
    states: [Motion; 2],
}

impl ImpactPoint {
    /// Speed at which the bodies approach each other along the normal, m/s.
    fn approach_speed(&self) -> f64 {
        let [u, v] = self.states.map(|state| state.v + state.omega.cross(self.point - state.x));
        self.normal.dot(u - v)
    }
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct ImpactStage {
    impact_bodies: Vec<ImpactBody>,
    candidates: Vec<ImpactCandidate>,
    /// Candidates of one contact, before they are added to the others.
    new_candidates: Vec<ImpactCandidate>,
    event_queue: BinaryHeap<Reverse<ImpactEvent>>,
    /// Candidates by body.
    candidates_of: Vec<Vec<u32>>,
    by_slot: std::collections::HashMap<u32, u32>,
    /// Bodies with impacts: index, translation and rotation vector to be added to the result of the solver,
    /// state at the end of the step without solver.
    pub outcomes: Vec<(u32, DVec3, DVec3, Motion)>,
}

impl Realtime {
    /// Resolves the impacts of this step, and excludes their contacts from the solver where it has nothing to
    /// do.
    pub(super) fn resolve_impacts(&mut self, world: &mut World, dt: f64) {
        self.impacts.clear();
        let stamp = world.counters().steps + 1;
        let g = self.loads.uniform_acceleration();
        for index in 0..self.contact_graph.bouncy().len() {
            let slot = self.contact_graph.bouncy()[index] as usize;
            self.add_candidates(world, self.contact_graph.pairs[slot].contact, g);
        }
        if self.impacts.candidates.is_empty() {
            return;
        }
        let threshold = self.settings.bounce_threshold;
        for index in 0..self.impacts.candidates.len() {
            if !self.impacts.predict(index, 0.0, dt, threshold) {
                self.predict_rotating(index, 0.0, dt);
            }
        }
        let start = world.time();
        let mut remaining = MAX_IMPACTS.max(MAX_IMPACTS_PER_CANDIDATE * self.impacts.candidates.len());
        while let Some(Reverse(event)) = self.impacts.event_queue.pop() {
            let candidate = self.impacts.candidates[event.candidate as usize];
            if candidate.version != event.version {
                continue;
            }
            // A pair that rattles must not use up the impacts of all others: unresolved, they would pass through
            // each other.
            let attempts = candidate.attempts + 1;
            self.impacts.candidates[event.candidate as usize].attempts = attempts;
            if attempts > MAX_IMPACTS_OF_PAIR || (remaining == 0 && attempts > MAX_IMPACTS_PER_CANDIDATE) {
                self.impacts.candidates[event.candidate as usize].left_to_solver = true;
                continue;
            }
            remaining = remaining.saturating_sub(1);
            let Some((time, impact_point)) = self.refine_impact(&candidate, event.time, dt) else { continue };
            // With the refined time another pair may be first.
            let later = self
                .impacts
                .event_queue
                .peek()
                .is_some_and(|Reverse(next)| next.time < time && event.time < time);
            if later && !event.exact {
                self.impacts.event_queue.push(Reverse(ImpactEvent { time, exact: true, ..event }));
                continue;
            }
            // Predictions by samples of a rotation do not contain the speed: a body that rolls or rocks on
            // another under its weight does not bounce.
            let load_speed = self.impacts.resting_speed(&candidate, dt, threshold) - MIN_IMPACT_SPEED;
            if impact_point.approach_speed() < (1.0 - RESTING_SPEED_ROUNDING) * load_speed {
                self.impacts.candidates[event.candidate as usize].left_to_solver = true;
                continue;
            }
            let Some(impulse) = self.impacts.resolve_impact(
                event.candidate as usize,
                time,
                &impact_point,
                self.settings.restitution_law,
            ) else {
                continue;
            };
            let slots = candidate
                .impact_bodies
                .map(|impact_body| self.impacts.impact_bodies[impact_body as usize].slot);
            if let (Some(a), Some(b)) = (self.sim_bodies.body(slots[0]), self.sim_bodies.body(slots[1])) {
                self.events.push(Event::Collision {
                    time: start + time,
                    bodies: [a.id, b.id],
                    point: impact_point.point,
                    normal: impact_point.normal,
                    impulse,
                    slow: false,
                });
            }
            self.predict_again(candidate.impact_bodies, time, dt);
        }
        self.exclude_from_solver(stamp, dt);
        let motion = world.bodies_mut().dynamic_mut().0;
        for impact_body in self
            .impacts
            .impact_bodies
            .iter()
            .filter(|impact_body| impact_body.collided && impact_body.status == Status::Dynamic)
        {
            let body = &mut motion[impact_body.index as usize];
            (body.v, body.omega) = (impact_body.v, impact_body.omega);
            self.impacts.outcomes.push((
                impact_body.index,
                impact_body.offset,
                impact_body.rotation_offset,
                impact_body.state_at(dt),
            ));
        }
    }

    /// Lists sleeping bodies that will be hit in this step.
    pub(super) fn find_struck_sleeping(&mut self, world: &World) {
        let asleep = |slot: u32| self.sim_bodies.body(slot).is_some_and(|sim_body| sim_body.asleep);
        let fall = self.loads.uniform_acceleration().length() * self.dt * self.dt;
        let mut new_candidates = std::mem::take(&mut self.impacts.new_candidates);
        for slot in self.contact_graph.bouncy() {
            let pair = &self.contact_graph.pairs[*slot as usize];
            if pair.near {
                continue;
            }
            let Some(sleeping) = pair.bodies.into_iter().find(|slot| asleep(*slot)) else { continue };
            let Some(contact) = self.contact_graph.contact(pair) else { continue };
            let [Some(a), Some(b)] = contact.bodies.map(|slot| self.sim_bodies.body(slot)) else { continue };
            let (Some(motion_a), Some(motion_b)) = (a.motion(world), b.motion(world)) else { continue };
            new_candidates.clear();
            candidates(contact, pair.contact, [(a, motion_a), (b, motion_b)], &mut new_candidates);
            let is_struck = |candidate: &ImpactCandidate| {
                candidate.points[..candidate.count].iter().any(|(ra, rb, gap)| {
                    let u = motion_b.v + motion_b.omega.cross(*rb) - motion_a.v - motion_a.omega.cross(*ra);
                    gap + self.dt * candidate.normal.dot(u) < fall
                })
            };
            if new_candidates.iter().any(is_struck) {
                self.touched_sleeping.push(sleeping);
            }
        }
        new_candidates.clear();
        self.impacts.new_candidates = new_candidates;
    }

    /// Adds the manifolds of a contact as candidates.
    fn add_candidates(&mut self, world: &World, index: u32, g: DVec3) {
        let Some(Some(contact)) = self.contact_graph.contacts.get(index as usize) else { return };
        let [Some(a), Some(b)] = contact.bodies.map(|slot| self.sim_bodies.body(slot)) else { return };
        let (Some(motion_a), Some(motion_b)) = (a.motion(world), b.motion(world)) else { return };
        let sides = [(a, motion_a), (b, motion_b)];
        let mut new_candidates = std::mem::take(&mut self.impacts.new_candidates);
        candidates(contact, index, sides, &mut new_candidates);
        for mut candidate in new_candidates.drain(..) {
            for (k, (sim_body, motion)) in sides.iter().enumerate() {
                let slot = contact.bodies[k];
                candidate.impact_bodies[k] = self.impacts.body_index(slot, || {
                    let inertia = world.bodies().inertia_of(sim_body.id).copied().unwrap_or_default();
                    let (mut a, mut torque) = (g, DVec3::ZERO);
                    if sim_body.status == Status::Dynamic {
                        let wrench = self.loads.wrench(sim_body.index as usize);
                        a += wrench.force * inertia.inverse_mass;
                        torque = wrench.torque;
                    }
                    let impact_body =
                        ImpactBody::new((slot, sim_body.status, sim_body.index), motion, &inertia, a, torque);
                    ImpactBody { reach: sim_body.reach, supported: sim_body.constrained, ..impact_body }
                });
            }
            let index = self.impacts.candidates.len() as u32;
            for impact_body in candidate.impact_bodies {
                self.impacts.candidates_of[impact_body as usize].push(index);
            }
            self.impacts.candidates.push(candidate);
        }
        self.impacts.new_candidates = new_candidates;
    }

    /// Queues an impact that the parabolas of a pair do not show because its bodies rotate.
    fn predict_rotating(&mut self, index: usize, now: f64, dt: f64) {
        let candidate = self.impacts.candidates[index];
        let impact_bodies =
            candidate.impact_bodies.map(|impact_body| &self.impacts.impact_bodies[impact_body as usize]);
        let rotation_error: f64 =
            impact_bodies.iter().map(|impact_body| impact_body.rotation_error(dt - now)).sum();
        let near = (0..candidate.count).any(|k| {
            let [s, u, a] = self.impacts.gap_parabola(&candidate, k);
            [now, dt].into_iter().any(|t| s + t * (u + 0.5 * a * t) < rotation_error)
        });
        if !near || rotation_error == 0.0 {
            return;
        }
        let rotation = impact_bodies.iter().map(|impact_body| impact_body.omega.length()).fold(0.0, f64::max)
            * (dt - now);
        let samples = (rotation / ROTATION_SAMPLE_ANGLE).ceil().clamp(1.0, MAX_ROTATION_SAMPLES);
        for sample in 1..=samples as usize {
            let time = now + (dt - now) * sample as f64 / samples;
            let impact_point = self.next_point(&candidate, time, self.impacts.approach_bound(&candidate, dt));
            if impact_point.is_some_and(|impact_point| impact_point.gap <= 0.0) {
                let version = candidate.version;
                let event = ImpactEvent { time, candidate: index as u32, version, exact: false };
                self.impacts.event_queue.push(Reverse(event));
                return;
            }
        }
    }

    /// Point of a pair whose gap vanishes first, as seen from a time within the step.
    fn next_point(&self, candidate: &ImpactCandidate, time: f64, margin: f64) -> Option<ImpactPoint> {
        let contact = self.contact_graph.contacts.get(candidate.contact as usize)?.as_ref()?;
        let colliders = [
            self.sim_bodies.collider(contact.colliders[0])?,
            self.sim_bodies.collider(contact.colliders[1])?,
        ];
        let impact_bodies =
            candidate.impact_bodies.map(|impact_body| &self.impacts.impact_bodies[impact_body as usize]);
        let states = impact_bodies.map(|impact_body| impact_body.state_at(time));
        let a = impact_bodies[1].a - impact_bodies[0].a;
        let size = colliders[0].radius.min(colliders[1].radius);
        let mut best: Option<(ImpactPoint, f64)> = None;
        let mut best_manifold = None;
        contact.visit_points(
            [(colliders[0], &states[0].pose()), (colliders[1], &states[1].pose())],
            margin,
            |index, normal, point, gap| {
                let [u, v] = states.map(|state| state.v + state.omega.cross(point - state.x));
                let (slope, a) = (normal.dot(v - u), normal.dot(a));
                let delay = time_to_contact(gap, slope, a);
                if !delay.is_finite() {
                    return;
                }
                let impact_point = ImpactPoint { normal, point, gap, delay, states };
                match &mut best {
                    // Points that touch at once within the tolerance are replaced by their mean.
                    Some((first, count))
                        if best_manifold == Some(index)
                            && (gap - first.gap).abs() <= SIMULTANEOUS_GAP * size =>
                    {
                        first.point += (point - first.point) / (*count + 1.0);
                        *count += 1.0;
                    }
                    Some((first, _)) if first.delay <= delay => {}
                    _ => {
                        best = Some((impact_point, 1.0));
                        best_manifold = Some(index);
                    }
                }
            },
        );
        best.map(|(impact_point, _)| impact_point)
    }

    /// Exact time and point of impact of a pair near a predicted time; `None` if not in this step.
    fn refine_impact(
        &self,
        candidate: &ImpactCandidate,
        predicted: f64,
        dt: f64,
    ) -> Option<(f64, ImpactPoint)> {
        let contact = self.contact_graph.contacts.get(candidate.contact as usize)?.as_ref()?;
        let [a, b] = contact
            .colliders
            .map(|collider| self.sim_bodies.collider(collider).map_or(0.0, |collider| collider.radius));
        let size = a.min(b);
        let last_impact = candidate
            .impact_bodies
            .map(|impact_body| self.impacts.impact_bodies[impact_body as usize].last_impact);
        let earliest = last_impact[0].max(last_impact[1]);
        let mut time = predicted.clamp(earliest, dt);
        let mut impact_point =
            self.next_point(candidate, time, self.impacts.approach_bound(candidate, dt))?;
        let mut margin = f64::INFINITY;
        for _ in 0..IMPACT_ITERATIONS {
            if impact_point.gap.abs() <= IMPACT_GAP * size || (impact_point.gap < 0.0 && time <= earliest) {
                // With a large margin manifold reduction may drop some of the touching features.
                if margin > FEATURE_MARGIN * size
                    && let Some(touching) = self.next_point(candidate, time, FEATURE_MARGIN * size)
                {
                    impact_point = touching;
                }
                break;
            }
            let next = (time + impact_point.delay).max(earliest);
            if next > dt {
                return None;
            }
            if next == time {
                break;
            }
            time = next;
            margin = FEATURE_MARGIN * size + 2.0 * impact_point.gap.abs();
            impact_point = self.next_point(candidate, time, margin)?;
        }
        Some((time, impact_point))
    }

    /// Predicts the impacts of two bodies again after they collided.
    fn predict_again(&mut self, impact_bodies: [u32; 2], now: f64, dt: f64) {
        for impact_body in impact_bodies {
            if !self.impacts.impact_bodies[impact_body as usize].collided {
                continue;
            }
            let affected = std::mem::take(&mut self.impacts.candidates_of[impact_body as usize]);
            for candidate in &affected {
                let index = *candidate as usize;
                self.impacts.candidates[index].version += 1;
                if !self.impacts.predict(index, now, dt, self.settings.bounce_threshold) {
                    self.predict_rotating(index, now, dt);
                }
            }
            self.impacts.candidates_of[impact_body as usize] = affected;
        }
    }

    /// Excludes contacts from the solver that are impacts, of this step or a later one, or stay separated.
    fn exclude_from_solver(&mut self, stamp: u64, dt: f64) {
        let (margin, threshold) = (SEPARATED_GAP * self.settings.foresight, self.settings.bounce_threshold);
        // The manifolds of a contact are consecutive.
        let mut rest = &self.impacts.candidates[..];
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|candidate| candidate.contact == first.contact).count();
            let (manifolds, others) = rest.split_at(count);
            rest = others;
            let clear = |candidate: &ImpactCandidate| {
                !candidate.left_to_solver
                    && if candidate.collided {
                        self.impacts.separates_after_impact(candidate, dt, threshold)
                    } else {
                        self.impacts.separates_without_impact(candidate, dt, margin, threshold)
                    }
            };
            let is_clear = manifolds.iter().all(clear);
            let has_collided = manifolds.iter().any(|candidate| candidate.collided);
            if let Some(contact) = &mut self.contact_graph.contacts[first.contact as usize] {
                if is_clear {
                    contact.impact_step = stamp;
                }
                if has_collided {
                    contact.collision_step = stamp;
                }
            }
        }
    }
}

/// The manifolds of a contact as candidates, bodies not assigned yet.
fn candidates(
    contact: &Contact,
    index: u32,
    sides: [(&SimBody, &Motion); 2],
    new_candidates: &mut Vec<ImpactCandidate>,
) {
    let axes = sides
        .map(|(sim_body, motion)| if sim_body.status == Status::Fixed { DQuat::IDENTITY } else { motion.q });
    for manifold in contact.manifolds() {
        let normal = (axes[0] * manifold.normal()).normalize_or_zero();
        let offset = manifold.offset();
        let mut points = [(DVec3::ZERO, DVec3::ZERO, 0.0); 4];
        for (point, from) in points.iter_mut().zip(manifold.points()) {
            let (ra, rb) = (axes[0] * from.anchor_a(), axes[1] * from.anchor_b());
            let gap = offset + rb - ra;
            *point = (ra + 0.5 * gap, rb - 0.5 * gap, normal.dot(gap));
        }
        new_candidates.push(ImpactCandidate {
            contact: index,
            impact_bodies: [0; 2],
            normal,
            points,
            count: manifold.count as usize,
            e: contact.material.restitution,
            mu: contact.material.kinetic_friction,
            version: 0,
            collided: false,
            attempts: 0,
            left_to_solver: false,
        });
    }
}

impl ImpactStage {
    fn clear(&mut self) {
        self.impact_bodies.clear();
        self.candidates.clear();
        self.event_queue.clear();
        self.candidates_of.iter_mut().for_each(Vec::clear);
        self.by_slot.clear();
        self.outcomes.clear();
    }

    /// Index of the impact body of a slot, created on first use.
    fn body_index(&mut self, slot: u32, make: impl FnOnce() -> ImpactBody) -> u32 {
        if let Some(known) = self.by_slot.get(&slot) {
            return *known;
        }
        let index = self.impact_bodies.len() as u32;
        self.by_slot.insert(slot, index);
        if self.candidates_of.len() <= index as usize {
            self.candidates_of.push(Vec::new());
        }
        self.impact_bodies.push(make());
        index
    }

    /// Gap of a point as s + u t + ½ a t², t from the beginning of the step ⇒ [s, u, a].
    fn gap_parabola(&self, candidate: &ImpactCandidate, k: usize) -> [f64; 3] {
        let [a, b] = candidate.impact_bodies.map(|impact_body| &self.impact_bodies[impact_body as usize]);
        let (ra, rb, gap) = candidate.points[k];
        let n = candidate.normal;
        let s = gap + n.dot(b.offset + b.rotation_offset.cross(rb) - a.offset - a.rotation_offset.cross(ra));
        let u = n.dot(b.v + b.omega.cross(rb) - a.v - a.omega.cross(ra));
        [s, u, n.dot(b.a - a.a)]
    }

    /// Bound on the approach of a pair in a step, m.
    fn approach_bound(&self, candidate: &ImpactCandidate, dt: f64) -> f64 {
        let [a, b] = candidate.impact_bodies.map(|impact_body| &self.impact_bodies[impact_body as usize]);
        dt * ((b.v - a.v).length() + a.rotation_speed() + b.rotation_speed() + (b.a - a.a).length() * dt)
    }

    /// Approach speed up to which a pair does not bounce, m/s: the speed that loads add in a step to bodies
    /// that rest on each other. The loads of a supported body are carried by its contacts and may act on this
    /// one, whatever the other body does.
    fn resting_speed(&self, candidate: &ImpactCandidate, dt: f64, threshold: f64) -> f64 {
        let [a, b] = candidate.impact_bodies.map(|impact_body| &self.impact_bodies[impact_body as usize]);
        let n = candidate.normal;
        let borne =
            |impact_body: &ImpactBody| if impact_body.supported { n.dot(impact_body.a).abs() } else { 0.0 };
        let load = n.dot(b.a - a.a).abs().max(borne(a)).max(borne(b));
        threshold * load * dt + MIN_IMPACT_SPEED
    }

    /// Whether the solver can skip a pair without impact: all of its points separate, or stay farther apart
    /// than `margin`, or approach so fast that they bounce.
    fn separates_without_impact(
        &self,
        candidate: &ImpactCandidate,
        dt: f64,
        margin: f64,
        threshold: f64,
    ) -> bool {
        let resting_speed = self.resting_speed(candidate, dt, threshold);
        (0..candidate.count).all(|k| {
            let [s, u, a] = self.gap_parabola(candidate, k);
            let least = u - 0.5 * a.abs() * dt;
            let end = first_root(s, u, a, 0.0).min(dt);
            least > 0.0 || (s > margin && s + dt * least > margin) || -(u + a * end) > resting_speed
        })
    }

    /// Whether every point of a pair with an impact ends the step separated or separating, or approaches so
    /// fast that it bounces. A slow approach within the step is left to the solver: excluded from it, a body
    /// at rest would sink by ½ g dt² in every step.
    fn separates_after_impact(&self, candidate: &ImpactCandidate, dt: f64, threshold: f64) -> bool {
        let resting_speed = self.resting_speed(candidate, dt, threshold);
        (0..candidate.count).all(|k| {
            let [s, u, a] = self.gap_parabola(candidate, k);
            let end = first_root(s, u, a, 0.0).min(dt);
            u + a * dt >= 0.0 || s + dt * (u + 0.5 * a * dt) >= 0.0 || -(u + a * end) > resting_speed
        })
    }

    /// Queues the next predicted impact of a candidate after `now` ⇒ whether there is one.
    fn predict(&mut self, index: usize, now: f64, dt: f64, threshold: f64) -> bool {
        let candidate = self.candidates[index];
        let resting_speed = self.resting_speed(&candidate, dt, threshold);
        let mut time = f64::INFINITY;
        for k in 0..candidate.count {
            let [s, u, a] = self.gap_parabola(&candidate, k);
            let t = first_root(s, u, a, now);
            if t <= dt && -(u + a * t) > resting_speed {
                time = time.min(t);
            }
        }
        if time.is_finite() {
            let (candidate, version) = (index as u32, candidate.version);
            self.event_queue.push(Reverse(ImpactEvent { time, candidate, version, exact: false }));
        }
        time.is_finite()
    }

    /// Resolves an impact ⇒ its impulse, N·s.
    fn resolve_impact(
        &mut self,
        index: usize,
        t: f64,
        impact_point: &ImpactPoint,
        restitution: Restitution,
    ) -> Option<DVec3> {
        let candidate = self.candidates[index];
        let sides = [0, 1].map(|k| {
            let (impact_body, state) =
                (&self.impact_bodies[candidate.impact_bodies[k] as usize], &impact_point.states[k]);
            RigidResponse::new(&impact_body.inertia, state)
        });
        let (collision, frame) =
            Collision::at(&sides[0], &sides[1], impact_point.point, impact_point.normal).ok()?;
        let settings = CollisionSettings {
            restitution,
            e: candidate.e,
            mu: candidate.mu,
            ..CollisionSettings::default()
        };
        let impulse = frame * resolve_passive(&collision, &settings).ok()?.impulse;
        if !impulse.is_finite() {
            return None;
        }
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let impact_body = &mut self.impact_bodies[candidate.impact_bodies[k] as usize];
            if impact_body.inertia.inverse_mass == 0.0 {
                continue;
            }
            let mut after = sides[k];
            after.apply_impulse(impact_point.point, sign * impulse);
            impact_body.apply_impact(t, &impact_point.states[k], after.v, after.omega);
        }
        self.candidates[index].collided = true;
        Some(impulse)
    }
}

/// Time until a gap s + u t + ½ a t² vanishes while falling, s: negative if it has vanished, infinite if it
/// never does.
fn time_to_contact(s: f64, u: f64, a: f64) -> f64 {
    if s > 0.0 {
        return first_root(s, u, a, 0.0);
    }
    if u < 0.0 { (-s / u).min(0.0) } else { f64::INFINITY }
}

/// First t ≥ now at which s + u t + ½ a t² ≤ 0 while falling; infinite if there is none.
fn first_root(s: f64, u: f64, a: f64, now: f64) -> f64 {
    let (value, slope) = (s + now * (u + 0.5 * a * now), u + a * now);
    if value <= 0.0 {
        return if slope < 0.0 { now } else { f64::INFINITY };
    }
    // From now on: value + slope t + ½ a t² = 0.
    let discriminant = slope * slope - 2.0 * a * value;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    // The root at which the parabola falls, in the form without cancellation.
    let t = if slope < 0.0 { 2.0 * value / (root - slope) } else { -(slope + root) / a };
    if t >= 0.0 { now + t } else { f64::INFINITY }
}
