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
use super::course::Course;
use super::roster::Actor;
use crate::contact::{Collision, CollisionSettings, Contactor, Restitution, resolve};
use crate::motion::Motion;
use crate::world::{Event, Status, World};
use glam::{DQuat, DVec3};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A manifold whose bodies may collide in this step.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    contact: u32,
    courses: [u32; 2],
    normal: DVec3,
    /// Arms of A and B, and gap, at the beginning of the step.
    points: [(DVec3, DVec3, f64); 4],
    count: usize,
    e: f64,
    mu: f64,
    /// Number of impacts of its bodies so far: queue entries of another version are stale.
    version: u32,
    /// Whether it has collided in this step.
    hit: bool,
    /// Whether it exceeded the limit of impacts, so that the solver has to handle it.
    rattles: bool,
}

/// A predicted impact in the event queue.
#[derive(Clone, Copy, Debug)]
struct Hit {
    time: f64,
    candidate: u32,
    version: u32,
    /// Whether the time was refined with exact poses.
    exact: bool,
}

impl PartialEq for Hit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Hit {}
impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .total_cmp(&other.time)
            .then(self.candidate.cmp(&other.candidate))
            .then(self.version.cmp(&other.version))
    }
}

/// The point of an impact; the mean of several points that touch at once.
#[derive(Clone, Copy, Debug)]
struct Touch {
    normal: DVec3,
    point: DVec3,
    gap: f64,
    /// Time until the gap vanishes, s; negative if it has vanished already.
    wait: f64,
    /// States of A and B.
    states: [Motion; 2],
}

const MOST_HITS: usize = 1024;
const MOST_HITS_EACH: usize = 3;
const ROUNDS: usize = 12;
const NO_GAP: f64 = 1e-10;
const AT_ONCE: f64 = 1e-5;
const FEATURES: f64 = 1e-2;
const LOOK_EVERY: f64 = 0.25;
const MOST_LOOKS: f64 = 16.0;
const STANDSTILL: f64 = 1e-6;

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct Bounces {
    courses: Vec<Course>,
    candidates: Vec<Candidate>,
    /// Candidates of one contact, before they are added to the others.
    made: Vec<Candidate>,
    agenda: BinaryHeap<Reverse<Hit>>,
    /// Candidates by body.
    of_course: Vec<Vec<u32>>,
    by_actor: std::collections::HashMap<u32, u32>,
    /// Bodies with impacts: index, translation and rotation vector to be added to the result of the solver,
    /// state at the end of the step without solver.
    pub bends: Vec<(u32, DVec3, DVec3, Motion)>,
}

impl Realtime {
    /// Resolves the impacts of this step, and excludes their contacts from the solver where it has nothing to
    /// do.
    pub(super) fn bounce(&mut self, world: &mut World, dt: f64) {
        self.bounces.clear();
        let stamp = world.counters().steps + 1;
        let g = self.loads.uniform_acceleration();
        for index in 0..self.table.summaries.len() {
            let summary = &self.table.summaries[index];
            if summary.bouncy && summary.stamp == stamp {
                self.propose(world, summary.contact, g);
            }
        }
        if self.bounces.candidates.is_empty() {
            return;
        }
        let threshold = self.settings.bounce_threshold;
        for index in 0..self.bounces.candidates.len() {
            if !self.bounces.plan(index, 0.0, dt, threshold) {
                self.look_for_turning(index, 0.0, dt);
            }
        }
        let start = world.time();
        let mut left = MOST_HITS.max(MOST_HITS_EACH * self.bounces.candidates.len());
        while let Some(Reverse(hit)) = self.bounces.agenda.pop() {
            let candidate = self.bounces.candidates[hit.candidate as usize];
            if candidate.version != hit.version {
                continue;
            }
            if left == 0 {
                self.bounces.candidates[hit.candidate as usize].rattles = true;
                continue;
            }
            left -= 1;
            let Some((time, touch)) = self.time_impact(&candidate, hit.time, dt) else { continue };
            // With the refined time another pair may be first.
            let later =
                self.bounces.agenda.peek().is_some_and(|Reverse(next)| next.time < time && hit.time < time);
            if later && !hit.exact {
                self.bounces.agenda.push(Reverse(Hit { time, exact: true, ..hit }));
                continue;
            }
            let Some(impulse) =
                self.bounces.strike(hit.candidate as usize, time, &touch, self.settings.law())
            else {
                continue;
            };
            let bodies = candidate.courses.map(|course| self.bounces.courses[course as usize].actor);
            if let (Some(a), Some(b)) = (self.roster.actor(bodies[0]), self.roster.actor(bodies[1])) {
                self.events.push(Event::Collision {
                    time: start + time,
                    bodies: [a.id, b.id],
                    point: touch.point,
                    normal: touch.normal,
                    impulse,
                    slow: false,
                });
            }
            self.plan_around(candidate.courses, time, dt);
        }
        self.leave_out(stamp, dt);
        let motion = world.bodies_mut().dynamic_mut().0;
        for course in
            self.bounces.courses.iter().filter(|course| course.hit && course.status == Status::Dynamic)
        {
            let body = &mut motion[course.place as usize];
            (body.v, body.omega) = (course.v, course.omega);
            self.bounces.bends.push((course.place, course.moved, course.turned, course.at(dt)));
        }
    }

    /// Lists sleeping bodies that will be hit in this step.
    pub(super) fn list_struck(&mut self, world: &World, stamp: u64) {
        let asleep = |slot: u32| self.roster.actor(slot).is_some_and(|actor| actor.asleep);
        let fall = self.loads.uniform_acceleration().length() * self.dt * self.dt;
        let mut made = std::mem::take(&mut self.bounces.made);
        for summary in &self.table.summaries {
            if !summary.bouncy || summary.near || summary.stamp != stamp {
                continue;
            }
            let Some(sleeper) = summary.actors.into_iter().find(|slot| asleep(*slot)) else { continue };
            let Some(contact) = self.table.contact(summary) else { continue };
            let [Some(a), Some(b)] = contact.actors.map(|slot| self.roster.actor(slot)) else { continue };
            let (Some(motion_a), Some(motion_b)) = (a.motion(world), b.motion(world)) else { continue };
            made.clear();
            candidates(contact, summary.contact, [(a, motion_a), (b, motion_b)], &mut made);
            let comes = |candidate: &Candidate| {
                candidate.points[..candidate.count].iter().any(|(ra, rb, gap)| {
                    let u = motion_b.v + motion_b.omega.cross(*rb) - motion_a.v - motion_a.omega.cross(*ra);
                    gap + self.dt * candidate.normal.dot(u) < fall
                })
            };
            if made.iter().any(comes) {
                self.sleepers.push(sleeper);
            }
        }
        made.clear();
        self.bounces.made = made;
    }

    fn propose(&mut self, world: &World, index: u32, g: DVec3) {
        let Some(Some(contact)) = self.table.contacts.get(index as usize) else { return };
        let [Some(a), Some(b)] = contact.actors.map(|slot| self.roster.actor(slot)) else { return };
        let (Some(motion_a), Some(motion_b)) = (a.motion(world), b.motion(world)) else { return };
        let sides = [(a, motion_a), (b, motion_b)];
        let mut made = std::mem::take(&mut self.bounces.made);
        candidates(contact, index, sides, &mut made);
        for mut candidate in made.drain(..) {
            for (k, (actor, motion)) in sides.iter().enumerate() {
                let slot = contact.actors[k];
                candidate.courses[k] = self.bounces.course(slot, || {
                    let inertia = world.bodies().inertia_of(actor.id).copied().unwrap_or_default();
                    let (mut a, mut torque) = (g, DVec3::ZERO);
                    if actor.status == Status::Dynamic {
                        let wrench = self.loads.wrench(actor.place as usize);
                        a += wrench.force * inertia.inverse_mass;
                        torque = wrench.torque;
                    }
                    let course = Course::new((slot, actor.status, actor.place), motion, &inertia, a, torque);
                    Course { reach: actor.reach, supported: actor.pushed, ..course }
                });
            }
            let number = self.bounces.candidates.len() as u32;
            for course in candidate.courses {
                self.bounces.of_course[course as usize].push(number);
            }
            self.bounces.candidates.push(candidate);
        }
        self.bounces.made = made;
    }

    /// Queues an impact that the parabolas of a pair do not show because its bodies rotate.
    fn look_for_turning(&mut self, index: usize, now: f64, dt: f64) {
        let candidate = self.bounces.candidates[index];
        let courses = candidate.courses.map(|course| &self.bounces.courses[course as usize]);
        let bulge: f64 = courses.iter().map(|course| course.bulge(dt - now)).sum();
        let near = (0..candidate.count).any(|k| {
            let [s, u, a] = self.bounces.parabola(&candidate, k);
            [now, dt].into_iter().any(|t| s + t * (u + 0.5 * a * t) < bulge)
        });
        if !near || bulge == 0.0 {
            return;
        }
        let turning = courses.iter().map(|course| course.omega.length()).fold(0.0, f64::max) * (dt - now);
        let looks = (turning / LOOK_EVERY).ceil().clamp(1.0, MOST_LOOKS);
        for look in 1..=looks as usize {
            let time = now + (dt - now) * look as f64 / looks;
            let touch = self.touch(&candidate, time, self.bounces.travel(&candidate, dt));
            if touch.is_some_and(|touch| touch.gap <= 0.0) {
                let version = candidate.version;
                let hit = Hit { time, candidate: index as u32, version, exact: false };
                self.bounces.agenda.push(Reverse(hit));
                return;
            }
        }
    }

    /// Point of a pair whose gap vanishes first, as seen from a time within the step.
    fn touch(&self, candidate: &Candidate, time: f64, margin: f64) -> Option<Touch> {
        let contact = self.table.contacts.get(candidate.contact as usize)?.as_ref()?;
        let parts = [self.roster.part(contact.parts[0])?, self.roster.part(contact.parts[1])?];
        let courses = candidate.courses.map(|course| &self.bounces.courses[course as usize]);
        let states = courses.map(|course| course.at(time));
        let a = courses[1].a - courses[0].a;
        let size = parts[0].radius.min(parts[1].radius);
        let mut best: Option<(Touch, f64)> = None;
        let mut group = None;
        contact.probe(
            [(parts[0], &states[0].pose()), (parts[1], &states[1].pose())],
            margin,
            |number, normal, point, gap| {
                let [u, v] = states.map(|state| state.v + state.omega.cross(point - state.x));
                let (slope, a) = (normal.dot(v - u), normal.dot(a));
                let wait = wait(gap, slope, a);
                if !wait.is_finite() {
                    return;
                }
                let touch = Touch { normal, point, gap, wait, states };
                match &mut best {
                    // Points that touch at once within the tolerance are replaced by their mean.
                    Some((first, count))
                        if group == Some(number) && (gap - first.gap).abs() <= AT_ONCE * size =>
                    {
                        first.point += (point - first.point) / (*count + 1.0);
                        *count += 1.0;
                    }
                    Some((first, _)) if first.wait <= wait => {}
                    _ => {
                        best = Some((touch, 1.0));
                        group = Some(number);
                    }
                }
            },
        );
        best.map(|(touch, _)| touch)
    }

    /// Exact time and point of impact of a pair near a predicted time; `None` if not in this step.
    fn time_impact(&self, candidate: &Candidate, about: f64, dt: f64) -> Option<(f64, Touch)> {
        let contact = self.table.contacts.get(candidate.contact as usize)?.as_ref()?;
        let [a, b] = contact.parts.map(|part| self.roster.part(part).map_or(0.0, |part| part.radius));
        let size = a.min(b);
        let since = candidate.courses.map(|course| self.bounces.courses[course as usize].since);
        let earliest = since[0].max(since[1]);
        let mut time = about.clamp(earliest, dt);
        let mut touch = self.touch(candidate, time, self.bounces.travel(candidate, dt))?;
        let mut margin = f64::INFINITY;
        for _ in 0..ROUNDS {
            if touch.gap.abs() <= NO_GAP * size || (touch.gap < 0.0 && time <= earliest) {
                // With a large margin manifold reduction may drop some of the touching features.
                if margin > FEATURES * size
                    && let Some(sharper) = self.touch(candidate, time, FEATURES * size)
                {
                    touch = sharper;
                }
                break;
            }
            let next = (time + touch.wait).max(earliest);
            if next > dt {
                return None;
            }
            if next == time {
                break;
            }
            time = next;
            margin = FEATURES * size + 2.0 * touch.gap.abs();
            touch = self.touch(candidate, time, margin)?;
        }
        Some((time, touch))
    }

    /// Predicts the impacts of two bodies again after they collided.
    fn plan_around(&mut self, courses: [u32; 2], now: f64, dt: f64) {
        for course in courses {
            if !self.bounces.courses[course as usize].hit {
                continue;
            }
            let near = std::mem::take(&mut self.bounces.of_course[course as usize]);
            for candidate in &near {
                let index = *candidate as usize;
                self.bounces.candidates[index].version += 1;
                if !self.bounces.plan(index, now, dt, self.settings.bounce_threshold) {
                    self.look_for_turning(index, now, dt);
                }
            }
            self.bounces.of_course[course as usize] = near;
        }
    }

    /// Excludes contacts from the solver that are impacts, of this step or a later one, or stay separated.
    fn leave_out(&mut self, stamp: u64, dt: f64) {
        let (margin, threshold) = (0.1 * self.settings.foresight, self.settings.bounce_threshold);
        // The manifolds of a contact are consecutive.
        let mut rest = &self.bounces.candidates[..];
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|candidate| candidate.contact == first.contact).count();
            let (manifolds, others) = rest.split_at(count);
            rest = others;
            let clear = |candidate: &Candidate| {
                !candidate.rattles
                    && if candidate.hit {
                        self.bounces.is_apart_after(candidate, dt, threshold)
                    } else {
                        self.bounces.stays_clear(candidate, dt, margin, threshold)
                    }
            };
            if manifolds.iter().all(clear)
                && let Some(contact) = &mut self.table.contacts[first.contact as usize]
            {
                contact.answered = stamp;
            }
        }
    }
}

/// The manifolds of a contact as candidates, bodies not assigned yet.
fn candidates(contact: &Contact, index: u32, sides: [(&Actor, &Motion); 2], made: &mut Vec<Candidate>) {
    let axes =
        sides.map(|(actor, motion)| if actor.status == Status::Fixed { DQuat::IDENTITY } else { motion.q });
    for patch in contact.patches() {
        let normal = (axes[0] * patch.head.vector(0)).normalize_or_zero();
        let apart = patch.head.vector(3);
        let mut points = [(DVec3::ZERO, DVec3::ZERO, 0.0); 4];
        for (point, row) in points.iter_mut().zip(&patch.points[..patch.count as usize]) {
            let (ra, rb) = (axes[0] * row.vector(0), axes[1] * row.vector(3));
            let gap = apart + rb - ra;
            *point = (ra + 0.5 * gap, rb - 0.5 * gap, normal.dot(gap));
        }
        made.push(Candidate {
            contact: index,
            courses: [0; 2],
            normal,
            points,
            count: patch.count as usize,
            e: contact.material.restitution,
            mu: contact.material.kinetic_friction,
            version: 0,
            hit: false,
            rattles: false,
        });
    }
}

impl Bounces {
    fn clear(&mut self) {
        self.courses.clear();
        self.candidates.clear();
        self.agenda.clear();
        self.of_course.iter_mut().for_each(Vec::clear);
        self.by_actor.clear();
        self.bends.clear();
    }

    fn course(&mut self, slot: u32, make: impl FnOnce() -> Course) -> u32 {
        if let Some(known) = self.by_actor.get(&slot) {
            return *known;
        }
        let number = self.courses.len() as u32;
        self.by_actor.insert(slot, number);
        if self.of_course.len() <= number as usize {
            self.of_course.push(Vec::new());
        }
        self.courses.push(make());
        number
    }

    /// Gap of a point as s + u t + ½ a t², t from the beginning of the step ⇒ [s, u, a].
    fn parabola(&self, candidate: &Candidate, k: usize) -> [f64; 3] {
        let [a, b] = candidate.courses.map(|course| &self.courses[course as usize]);
        let (ra, rb, gap) = candidate.points[k];
        let n = candidate.normal;
        let s = gap + n.dot(b.moved + b.turned.cross(rb) - a.moved - a.turned.cross(ra));
        let u = n.dot(b.v + b.omega.cross(rb) - a.v - a.omega.cross(ra));
        [s, u, n.dot(b.a - a.a)]
    }

    /// Bound on the approach of a pair in a step, m.
    fn travel(&self, candidate: &Candidate, dt: f64) -> f64 {
        let [a, b] = candidate.courses.map(|course| &self.courses[course as usize]);
        dt * ((b.v - a.v).length() + a.swing() + b.swing() + (b.a - a.a).length() * dt)
    }

    /// Approach speed up to which a pair does not bounce, m/s: the speed that loads add in a step to bodies
    /// that rest on each other. The loads of a supported body are carried by its contacts and may act on this
    /// one, whatever the other body does.
    fn slow(&self, candidate: &Candidate, dt: f64, threshold: f64) -> f64 {
        let [a, b] = candidate.courses.map(|course| &self.courses[course as usize]);
        let n = candidate.normal;
        let borne = |course: &Course| if course.supported { n.dot(course.a).abs() } else { 0.0 };
        let load = n.dot(b.a - a.a).abs().max(borne(a)).max(borne(b));
        threshold * load * dt + STANDSTILL
    }

    /// Whether the solver can skip a pair without impact: all of its points separate, or stay farther apart
    /// than `margin`, or approach so fast that they bounce.
    fn stays_clear(&self, candidate: &Candidate, dt: f64, margin: f64, threshold: f64) -> bool {
        let slow = self.slow(candidate, dt, threshold);
        (0..candidate.count).all(|k| {
            let [s, u, a] = self.parabola(candidate, k);
            let least = u - 0.5 * a.abs() * dt;
            let end = first_root(s, u, a, 0.0).min(dt);
            least > 0.0 || (s > margin && s + dt * least > margin) || -(u + a * end) > slow
        })
    }

    /// Whether every point of a pair with an impact ends the step separated or separating, or approaches so
    /// fast that it bounces. A slow approach within the step is left to the solver: excluded from it, a body
    /// at rest would sink by ½ g dt² in every step.
    fn is_apart_after(&self, candidate: &Candidate, dt: f64, threshold: f64) -> bool {
        let slow = self.slow(candidate, dt, threshold);
        (0..candidate.count).all(|k| {
            let [s, u, a] = self.parabola(candidate, k);
            let end = first_root(s, u, a, 0.0).min(dt);
            u + a * dt >= 0.0 || s + dt * (u + 0.5 * a * dt) >= 0.0 || -(u + a * end) > slow
        })
    }

    /// Queues the next predicted impact of a candidate after `now` ⇒ whether there is one.
    fn plan(&mut self, index: usize, now: f64, dt: f64, threshold: f64) -> bool {
        let candidate = self.candidates[index];
        let slow = self.slow(&candidate, dt, threshold);
        let mut time = f64::INFINITY;
        for k in 0..candidate.count {
            let [s, u, a] = self.parabola(&candidate, k);
            let t = first_root(s, u, a, now);
            if t <= dt && -(u + a * t) > slow {
                time = time.min(t);
            }
        }
        if time.is_finite() {
            let (candidate, version) = (index as u32, candidate.version);
            self.agenda.push(Reverse(Hit { time, candidate, version, exact: false }));
        }
        time.is_finite()
    }

    /// Resolves an impact ⇒ its impulse, N·s.
    fn strike(&mut self, index: usize, t: f64, touch: &Touch, restitution: Restitution) -> Option<DVec3> {
        let candidate = self.candidates[index];
        let sides = [0, 1].map(|k| {
            let (course, state) = (&self.courses[candidate.courses[k] as usize], &touch.states[k]);
            Contactor {
                inverse_mass: course.inertia.inverse_mass,
                inverse_inertia: course.inverse_inertia(state.q),
                r: touch.point - state.x,
                v: state.v,
                omega: state.omega,
            }
        });
        let (collision, frame) = Collision::between(&sides[0], &sides[1], touch.normal).ok()?;
        let settings = CollisionSettings {
            restitution,
            e: candidate.e,
            mu: candidate.mu,
            ..CollisionSettings::default()
        };
        let impulse = frame * resolve(&collision, &settings).ok()?.impulse;
        if !impulse.is_finite() {
            return None;
        }
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let course = &mut self.courses[candidate.courses[k] as usize];
            if course.inertia.inverse_mass == 0.0 {
                continue;
            }
            let after = sides[k].after(sign * impulse);
            course.bend(t, &touch.states[k], after.v, after.omega);
        }
        self.candidates[index].hit = true;
        Some(impulse)
    }
}

/// Time until a gap s + u t + ½ a t² vanishes while falling, s: negative if it has vanished, infinite if it
/// never does.
fn wait(s: f64, u: f64, a: f64) -> f64 {
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
