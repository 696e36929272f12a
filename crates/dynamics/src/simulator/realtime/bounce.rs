//! Bounces: bodies with restitution that hit each other during the step.
//!
//! Until it is hit, a body flies: v(t) = v̂ + a t and x(t) = x₀ + c + v̂ t + ½ a t², with t from the beginning of the step and c = 0 at
//! first. A hit at τ changes the velocity by Δ; to keep the same form, v̂ ← v̂ + Δ and c ← c − Δ τ, so that the path bends at τ. Turning
//! likewise. The gap of two bodies in a point r of each is then
//!
//!   s(t) = s₀ + n·[(c + v̂ t + ½ a t²)_B + (c′ + ω̂ t)_B × r_B − the same of A],
//!
//! a parabola, whose first root is when they hit. Hits are answered one after the other in the order of time, each by the full
//! collision law (Stronge's restitution, Coulomb friction), so a row of touching balls passes a blow on, no bounce depends on where
//! in a step it happens, and none creates energy. Approaches too slow to bounce are left to the solver.

use super::Realtime;
use super::contact::Contact;
use super::roster::Actor;
use crate::contact::{Collision, CollisionSettings, Contactor, resolve};
use crate::motion::{Inertia, Motion};
use crate::world::{Event, Status, World};
use glam::{DMat3, DQuat, DVec3};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A body that may be hit.
#[derive(Clone, Copy, Debug)]
struct Flyer {
    actor: u32,
    status: Status,
    place: u32,
    v: DVec3,
    omega: DVec3,
    a: DVec3,
    /// What the bends of its path have moved and turned it by.
    moved: DVec3,
    turned: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    hit: bool,
}

/// Two bodies that may hit each other, in up to four points.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    contact: u32,
    flyers: [u32; 2],
    normal: DVec3,
    /// Arms of A and B, gap.
    points: [(DVec3, DVec3, f64); 4],
    count: usize,
    e: f64,
    mu: f64,
    /// How often its bodies have been hit: what is on the agenda of an earlier time is void.
    version: u32,
}

/// An appointment.
#[derive(Clone, Copy, Debug)]
struct Hit {
    time: f64,
    candidate: u32,
    version: u32,
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

/// Most hits of a candidate in a step, on average: a ball that rattles in a gap is left to the solver then.
const MOST_HITS: usize = 16;

/// Memory of the stage.
#[derive(Debug, Default)]
pub(super) struct Bounces {
    flyers: Vec<Flyer>,
    candidates: Vec<Candidate>,
    /// Of one contact, on their way to the others.
    made: Vec<Candidate>,
    agenda: BinaryHeap<Reverse<Hit>>,
    /// Candidates of each flyer.
    of_flyer: Vec<Vec<u32>>,
    by_actor: std::collections::HashMap<u32, u32>,
    /// Bends to be put in at the end of the step: body, translation, rotation vector.
    pub bends: Vec<(u32, DVec3, DVec3)>,
}

impl Realtime {
    /// Lets everybody bounce who will in this step. Contacts that were answered are left out of the solver.
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
        for index in 0..self.bounces.candidates.len() {
            self.bounces.plan(index, 0.0, dt, self.settings.bounce_threshold);
            if self.bounces.stays_away(index, dt, 0.1 * self.settings.foresight)
                && let Some(contact) =
                    &mut self.table.contacts[self.bounces.candidates[index].contact as usize]
                && contact.others.is_empty()
            {
                contact.answered = stamp;
            }
        }
        let start = world.time();
        let mut left = MOST_HITS * self.bounces.candidates.len();
        while let Some(Reverse(hit)) = self.bounces.agenda.pop() {
            let candidate = self.bounces.candidates[hit.candidate as usize];
            if candidate.version != hit.version {
                continue;
            }
            if left == 0 {
                break;
            }
            left -= 1;
            let Some((point, impulse)) = self.bounces.strike(hit.candidate as usize, hit.time, dt) else {
                continue;
            };
            let bodies = candidate.flyers.map(|flyer| self.bounces.flyers[flyer as usize].actor);
            if let Some(contact) = &mut self.table.contacts[candidate.contact as usize] {
                contact.answered = stamp;
            }
            if let (Some(a), Some(b)) = (self.roster.actor(bodies[0]), self.roster.actor(bodies[1])) {
                self.events.push(Event::Collision {
                    time: start + hit.time,
                    bodies: [a.id, b.id],
                    point,
                    normal: candidate.normal,
                    impulse,
                    slow: false,
                });
            }
            self.bounces.plan_around(candidate.flyers, hit.time, dt, self.settings.bounce_threshold);
        }
        let motion = world.bodies_mut().dynamic_mut().0;
        for flyer in self.bounces.flyers.iter().filter(|flyer| flyer.hit && flyer.status == Status::Dynamic) {
            let body = &mut motion[flyer.place as usize];
            (body.v, body.omega) = (flyer.v, flyer.omega);
            self.bounces.bends.push((flyer.place, flyer.moved, flyer.turned));
        }
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
                let inertia = world.bodies().inertia_of(actor.id).copied().unwrap_or_default();
                let wrench = if actor.status == Status::Dynamic {
                    self.loads.wrench(actor.place as usize).force
                } else {
                    DVec3::ZERO
                };
                candidate.flyers[k] =
                    self.bounces.flyer(contact.actors[k], actor, motion, &inertia, g, wrench);
            }
            let number = self.bounces.candidates.len() as u32;
            for flyer in candidate.flyers {
                self.bounces.of_flyer[flyer as usize].push(number);
            }
            self.bounces.candidates.push(candidate);
        }
        self.bounces.made = made;
    }
}

/// The manifolds of a contact as candidates, without flyers yet.
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
            flyers: [0; 2],
            normal,
            points,
            count: patch.count as usize,
            e: contact.material.restitution,
            mu: contact.material.kinetic_friction,
            version: 0,
        });
    }
}

impl Bounces {
    fn clear(&mut self) {
        self.flyers.clear();
        self.candidates.clear();
        self.agenda.clear();
        self.of_flyer.iter_mut().for_each(Vec::clear);
        self.by_actor.clear();
        self.bends.clear();
    }

    fn flyer(
        &mut self,
        slot: u32,
        actor: &Actor,
        motion: &Motion,
        inertia: &Inertia,
        g: DVec3,
        force: DVec3,
    ) -> u32 {
        if let Some(known) = self.by_actor.get(&slot) {
            return *known;
        }
        let number = self.flyers.len() as u32;
        self.by_actor.insert(slot, number);
        if self.of_flyer.len() <= number as usize {
            self.of_flyer.push(Vec::new());
        }
        let dynamic = actor.status == Status::Dynamic;
        let r = DMat3::from_quat(motion.q);
        self.flyers.push(Flyer {
            actor: slot,
            status: actor.status,
            place: actor.place,
            v: motion.v,
            omega: motion.omega,
            a: if dynamic { g + force * inertia.inverse_mass } else { DVec3::ZERO },
            moved: DVec3::ZERO,
            turned: DVec3::ZERO,
            inverse_mass: inertia.inverse_mass,
            inverse_inertia: r * DMat3::from_diagonal(inertia.inverse_moments) * r.transpose(),
            hit: false,
        });
        number
    }

    /// Gap of a point as s + u t + ½ a t², t from the beginning of the step.
    fn parabola(&self, candidate: &Candidate, k: usize) -> [f64; 3] {
        let [a, b] = candidate.flyers.map(|flyer| &self.flyers[flyer as usize]);
        let (ra, rb, gap) = candidate.points[k];
        let n = candidate.normal;
        let s = gap + n.dot(b.moved + b.turned.cross(rb) - a.moved - a.turned.cross(ra));
        let u = n.dot(b.v + b.omega.cross(rb) - a.v - a.omega.cross(ra));
        [s, u, n.dot(b.a - a.a)]
    }

    /// Whether all points part, or come no nearer than `margin` in this step, if nobody is hit.
    fn stays_away(&self, index: usize, dt: f64, margin: f64) -> bool {
        let candidate = &self.candidates[index];
        (0..candidate.count).all(|k| {
            let [s, u, a] = self.parabola(candidate, k);
            let least = u - 0.5 * a.abs() * dt;
            least > 0.0 || (s > margin && s + dt * least > margin)
        })
    }

    /// Puts the next hit of a candidate after `now` on the agenda.
    fn plan(&mut self, index: usize, now: f64, dt: f64, threshold: f64) {
        let candidate = self.candidates[index];
        let mut time = f64::INFINITY;
        for k in 0..candidate.count {
            let [s, u, a] = self.parabola(&candidate, k);
            let t = first_root(s, u, a, now);
            let slow = threshold * a.abs() * dt + 1e-6;
            if t <= dt && -(u + a * t) > slow {
                time = time.min(t);
            }
        }
        if time.is_finite() {
            self.agenda.push(Reverse(Hit { time, candidate: index as u32, version: candidate.version }));
        }
    }

    /// Plans anew what may happen to two bodies after they were hit.
    fn plan_around(&mut self, flyers: [u32; 2], now: f64, dt: f64, threshold: f64) {
        for flyer in flyers {
            if !self.flyers[flyer as usize].hit {
                continue;
            }
            let near = std::mem::take(&mut self.of_flyer[flyer as usize]);
            for candidate in &near {
                self.candidates[*candidate as usize].version += 1;
                self.plan(*candidate as usize, now, dt, threshold);
            }
            self.of_flyer[flyer as usize] = near;
        }
    }

    /// Lets two bodies hit each other ⇒ where (from the first one's place in the world) and with what impulse.
    fn strike(&mut self, index: usize, t: f64, dt: f64) -> Option<(DVec3, DVec3)> {
        let candidate = self.candidates[index];
        let gaps: [f64; 4] = std::array::from_fn(|k| {
            let [s, u, a] = self.parabola(&candidate, k);
            if k < candidate.count && u + a * t < 0.0 { s + t * (u + 0.5 * a * t) } else { f64::INFINITY }
        });
        let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let fastest = (0..candidate.count).map(|k| -self.parabola(&candidate, k)[1]).fold(0.0, f64::max);
        // Points that hit at the same time as far as anybody can tell are hit in their middle.
        let limit = least.max(0.0) + 1e-3 * fastest * dt;
        let (mut ra, mut rb, mut count) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for (k, gap) in gaps.iter().enumerate() {
            if *gap <= limit {
                ra += candidate.points[k].0;
                rb += candidate.points[k].1;
                count += 1.0;
            }
        }
        if count == 0.0 {
            return None;
        }
        let [a, b] = candidate.flyers.map(|flyer| self.flyers[flyer as usize]);
        let contactor = |flyer: &Flyer, r: DVec3| Contactor {
            inverse_mass: flyer.inverse_mass,
            inverse_inertia: flyer.inverse_inertia,
            r,
            v: flyer.v + flyer.a * t,
            omega: flyer.omega,
        };
        let (one, other) = (contactor(&a, ra / count), contactor(&b, rb / count));
        let (collision, frame) = Collision::between(&one, &other, candidate.normal).ok()?;
        let settings = CollisionSettings { e: candidate.e, mu: candidate.mu, ..CollisionSettings::default() };
        let impulse = frame * resolve(&collision, &settings).ok()?.impulse;
        if !impulse.is_finite() {
            return None;
        }
        for (flyer, before, after) in [
            (candidate.flyers[0], one, one.after(-impulse)),
            (candidate.flyers[1], other, other.after(impulse)),
        ] {
            let flyer = &mut self.flyers[flyer as usize];
            if flyer.inverse_mass == 0.0 {
                continue;
            }
            let (dv, dw) = (after.v - before.v, after.omega - before.omega);
            flyer.v += dv;
            flyer.omega += dw;
            flyer.moved -= dv * t;
            flyer.turned -= dw * t;
            flyer.hit = true;
        }
        Some((ra / count, impulse))
    }
}

/// The first t ≥ now at which s + u t + ½ a t² ≤ 0 while falling; infinite if there is none.
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
    // The root at which the parabola falls, in the form that does not cancel.
    let t = if slope < 0.0 { 2.0 * value / (root - slope) } else { -(slope + root) / a };
    if t >= 0.0 { now + t } else { f64::INFINITY }
}
