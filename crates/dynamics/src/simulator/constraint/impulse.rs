//! Collisions at one instant: single ones, and groups that share bodies.
//!
//! A single one follows the law of restitution that the settings name, as in every simulator ([`crate::contact`]).
//! A group is solved as one: M (v⁺ − v⁻) = Jᵀ P with 0 ≤ P_n ⟂ u⁺_n + e u⁻_n ≥ 0 and Coulomb friction, so that nobody is pulled and nobody
//! comes out slower than restitution says. What restitution would create of energy is taken back by reducing e.
//! (A linear mode keeps u⁺_n = −e u⁻_n for everybody instead, as the source has it.)
//! Joints hand impulses on at the same instant: their rows, J v⁺ = 0, are solved with the rest.
//! Bodies at rest against each other are no collision; if the impulse makes them approach, they are in the next round.

use super::force::{Forces, TieWish, Wish};
use super::load::JointLoads;
use super::roster::Roster;
use super::settings::ConstraintSettings;
use super::touch::Touch;
use super::work::add_contact_work;
use crate::contact::{Collision, CollisionSettings, Contactor, Law, resolve};
use crate::motion::Motion;
use crate::world::{BodyId, Event, WorkEntry};
use glam::{DMat3, DVec3};
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Something worth telling that a step did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstraintNote {
    /// Bodies collided so often that they were not allowed to bounce any more in this sub-step.
    ForcedInelastic {
        /// When, s.
        time: f64,
        /// Whom the last collision concerned.
        bodies: [BodyId; 2],
    },
    /// Restitution would have created energy and was reduced.
    EnergyClamped {
        /// When, s.
        time: f64,
        /// Between whom.
        bodies: [BodyId; 2],
    },
    /// No finite contact force exists (Painlevé); an impulse was used instead.
    ContactAsCollision {
        /// When, s.
        time: f64,
        /// Contacts that were solved together.
        contacts: usize,
    },
    /// Contact forces miss their conditions by more than the tolerance.
    NotConverged {
        /// When, s.
        time: f64,
        /// By how much, m/s.
        residual: f64,
    },
}

/// Rounds in which friction and normal impulses of linear equations settle.
const MOST_ROUNDS: usize = 40;
/// Rounds after which contacts at rest take part in collisions.
const PATIENCE: usize = 8;

/// What happens at one instant.
pub(super) struct Instant<'s> {
    pub settings: &'s ConstraintSettings,
    pub time: f64,
    pub contact_speed: f64,
    /// Rounds of collisions that this sub-step has seen.
    pub rounds: usize,
    /// Length of the step, s.
    pub dt: f64,
    /// Rows of all joints of the island.
    pub ties: &'s [TieWish],
    pub loads: &'s mut JointLoads,
    pub events: &'s mut Vec<Event>,
    /// Work of collisions, if it is accounted for.
    pub works: Option<&'s mut Vec<WorkEntry>>,
    pub notes: &'s mut Vec<ConstraintNote>,
}

impl Instant<'_> {
    /// Resolves all collisions among the points ⇒ rounds it took; velocities change.
    pub fn resolve(
        &mut self,
        roster: &Roster,
        motion: &mut [Motion],
        touches: &[Touch],
        forces: &mut Forces,
    ) -> usize {
        let limit = self.settings.collision_limit as usize;
        let mut rounds = 0;
        loop {
            let collides =
                |touch: &Touch| touch.touches() && touch.relative_velocity(motion).x < -self.contact_speed;
            let colliding: Vec<Touch> = touches.iter().copied().filter(collides).collect();
            let Some(first) = colliding.first() else { return rounds };
            rounds += 1;
            let total = self.rounds + rounds;
            let forced = total > limit;
            if total == limit + 1 {
                let bodies = first.actors.map(|actor| roster.actors[actor as usize].id);
                self.notes.push(ConstraintNote::ForcedInelastic { time: self.time, bodies });
            }
            let all: Vec<Touch> = if forced || rounds > PATIENCE {
                touches.iter().copied().filter(Touch::touches).collect()
            } else {
                colliding
            };
            for group in groups(roster, &all) {
                self.collide(roster, motion, &group, forces, forced);
            }
            if total > 2 * limit + 16 {
                return rounds;
            }
        }
    }

    fn collide(
        &mut self,
        roster: &Roster,
        motion: &mut [Motion],
        group: &[Touch],
        forces: &mut Forces,
        forced: bool,
    ) {
        let ties = self.ties_of(roster, group);
        let impulses = match group {
            [single] if ties.is_empty() => self.single(roster, motion, single, forced),
            _ if self.settings.impulses == "linear" => linearly(roster, motion, group, &ties, forces, forced),
            _ => self.together(roster, motion, group, &ties, forces, forced),
        };
        let before = self.works.as_ref().map(|_| motion.to_vec());
        self.hand_on(roster, motion, &ties, forces);
        for (touch, p) in group.iter().zip(&impulses) {
            let impulse = touch.frame * *p;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let actor = touch.actors[side] as usize;
                let inertia = &roster.actors[actor].inertia;
                if roster.actors[actor].is_dynamic() {
                    let body = &mut motion[actor];
                    body.v += sign * inertia.inverse_mass * impulse;
                    let arm = touch.point - body.x;
                    body.omega += inertia.angular_velocity(body.q, sign * arm.cross(impulse));
                }
            }
            if impulse != DVec3::ZERO {
                let bodies = touch.actors.map(|actor| roster.actors[actor as usize].id);
                let (time, point, normal) = (self.time, touch.point, touch.normal());
                self.events.push(Event::Collision { time, bodies, point, normal, impulse, slow: false });
            }
        }
        if let (Some(works), Some(before)) = (&mut self.works, &before) {
            for (touch, p) in group.iter().zip(&impulses) {
                add_contact_work(works, roster, (touch, *p), (before, motion));
            }
        }
    }

    /// Rows of the joints that have a part in some collisions.
    fn ties_of(&self, roster: &Roster, group: &[Touch]) -> Vec<TieWish> {
        if self.ties.is_empty() {
            return Vec::new();
        }
        let assembly_of = |actor: Option<u32>| actor.and_then(|actor| roster.assembly_of[actor as usize]);
        let struck: Vec<u32> = group
            .iter()
            .flat_map(|touch| touch.actors)
            .filter_map(|actor| assembly_of(Some(actor)))
            .collect();
        let takes_part = |wish: &&TieWish| {
            let actors = roster.bonds[wish.tied.bond].actors;
            actors.into_iter().filter_map(assembly_of).any(|assembly| struck.contains(&assembly))
        };
        self.ties.iter().filter(takes_part).copied().collect()
    }

    /// Lets the impulses of joints act that were found last.
    fn hand_on(&mut self, roster: &Roster, motion: &mut [Motion], ties: &[TieWish], forces: &Forces) {
        if ties.is_empty() {
            return;
        }
        let impulses = forces.tie_impulses();
        self.loads.strike(
            roster,
            motion,
            self.dt,
            ties.iter().zip(impulses).map(|(wish, p)| (&wish.tied, *p)),
        );
        for (wish, p) in ties.iter().zip(impulses) {
            for (side, actor) in roster.bonds[wish.tied.bond].actors.into_iter().enumerate() {
                let Some(actor) = actor.map(|actor| actor as usize) else { continue };
                let inertia = &roster.actors[actor].inertia;
                if roster.actors[actor].is_dynamic() {
                    let [linear, angular] = wish.tied.side(side);
                    let body = &mut motion[actor];
                    body.v += inertia.inverse_mass * *p * linear;
                    body.omega += inertia.angular_velocity(body.q, *p * angular);
                }
            }
        }
    }

    /// One collision, by the law of a single one.
    fn single(&mut self, roster: &Roster, motion: &[Motion], touch: &Touch, forced: bool) -> Vec<DVec3> {
        let [a, b] = [0, 1].map(|side| contactor(roster, motion, touch, side));
        let settings = CollisionSettings {
            restitution: self.settings.law(),
            e: if forced { 0.0 } else { touch.restitution },
            mu: touch.kinetic_friction,
            law: Law::Integrated,
        };
        let Ok((collision, world)) = Collision::between(&a, &b, touch.normal()) else {
            return vec![DVec3::ZERO];
        };
        let by = |e: f64| resolve(&collision, &CollisionSettings { e, ..settings });
        let Ok(mut outcome) = by(settings.e) else { return vec![DVec3::ZERO] };
        if self.settings.clamp_energy
            && outcome.work > 1e-14 * collision.u.length_squared() / collision.k.z_axis.z
        {
            // Newton's law, and Poisson's, can do that; Stronge's cannot.
            let bodies = touch.actors.map(|actor| roster.actors[actor as usize].id);
            self.notes.push(ConstraintNote::EnergyClamped { time: self.time, bodies });
            let (mut low, mut high) = (0.0, settings.e);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if by(middle).is_ok_and(|outcome| outcome.work > 0.0) { high = middle } else { low = middle }
            }
            outcome = by(low).unwrap_or(outcome);
        }
        vec![touch.frame.transpose() * (world * outcome.impulse)]
    }

    /// Collisions that share bodies.
    fn together(
        &mut self,
        roster: &Roster,
        motion: &[Motion],
        group: &[Touch],
        ties: &[TieWish],
        forces: &mut Forces,
        forced: bool,
    ) -> Vec<DVec3> {
        let settings = BlockSettings { tolerance: 1e-13, ..BlockSettings::default() };
        let before: Vec<DVec3> = group.iter().map(|touch| touch.relative_velocity(motion)).collect();
        let wishes: Vec<f64> = group
            .iter()
            .zip(&before)
            .map(|(touch, u)| if forced { 0.0 } else { -touch.restitution * u.x.min(0.0) })
            .collect();
        let mut solve = |share: f64| {
            forces.pose(roster, motion, motion, group, |index, touch| Wish {
                normal: share * wishes[index],
                friction: touch.kinetic_friction,
                stiffness: Stiffness::Rigid,
            });
            forces.tie(roster, motion, motion, ties);
            forces.impulse.clear();
            forces.impulse.resize(group.len(), DVec3::ZERO);
            forces.solve(&settings);
            let energy: f64 = kinetic_change(roster, motion, forces);
            (forces.impulse.clone(), energy)
        };
        let (impulses, energy) = solve(1.0);
        let scale: f64 = before.iter().zip(&impulses).map(|(u, p)| (u.x * p.x).abs()).sum();
        if !self.settings.clamp_energy || energy <= 1e-11 * scale {
            return impulses;
        }
        let bodies = group[0].actors.map(|actor| roster.actors[actor as usize].id);
        self.notes.push(ConstraintNote::EnergyClamped { time: self.time, bodies });
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..45 {
            let middle = 0.5 * (low + high);
            if solve(middle).1 > 0.0 { high = middle } else { low = middle }
        }
        solve(low).0
    }
}

/// Collisions that share bodies, as a system of linear equations: u⁺_n = −e u⁻_n for all of them, by pulls if it has to be. Friction is bounded by the
/// normal impulses of the round before.
fn linearly(
    roster: &Roster,
    motion: &[Motion],
    group: &[Touch],
    ties: &[TieWish],
    forces: &mut Forces,
    forced: bool,
) -> Vec<DVec3> {
    let settings = BlockSettings { tolerance: 1e-13, ..BlockSettings::default() };
    let mut found = vec![DVec3::ZERO; group.len()];
    for round in 0..MOST_ROUNDS {
        forces.pose(roster, motion, motion, group, |_, touch| Wish {
            normal: if forced { 0.0 } else { -touch.restitution * touch.relative_velocity(motion).x },
            friction: 0.0,
            stiffness: Stiffness::Rigid,
        });
        forces.tie(roster, motion, motion, ties);
        let most: Vec<f64> =
            group.iter().zip(&found).map(|(touch, p)| touch.kinetic_friction * p.x.abs()).collect();
        let begin = forces.hold(&most);
        forces.impulse.clear();
        forces.solve(&settings);
        let impulses = forces.tie_impulses()[begin..].chunks_exact(3).map(DVec3::from_slice);
        let before = std::mem::replace(&mut found, impulses.collect());
        let change = found.iter().zip(&before).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        let size = found.iter().map(|p| p.length()).fold(0.0, f64::max);
        let frictionless = group.iter().all(|touch| touch.kinetic_friction == 0.0);
        if round > 0 && change <= 1e-12 * size || frictionless {
            break;
        }
    }
    found
}

/// ΔT of the bodies in a solution.
fn kinetic_change(roster: &Roster, motion: &[Motion], forces: &Forces) -> f64 {
    forces
        .solved()
        .map(|(actor, [v, omega])| {
            let inertia = &roster.actors[actor].inertia;
            let after = Motion { v, omega, ..motion[actor] };
            inertia.kinetic_energy(&after) - inertia.kinetic_energy(&motion[actor])
        })
        .sum()
}

fn contactor(roster: &Roster, motion: &[Motion], touch: &Touch, side: usize) -> Contactor {
    let actor = touch.actors[side] as usize;
    let body = &motion[actor];
    let inertia = &roster.actors[actor].inertia;
    let axes = DMat3::from_quat(body.q);
    Contactor {
        inverse_mass: inertia.inverse_mass,
        inverse_inertia: axes * DMat3::from_diagonal(inertia.inverse_moments) * axes.transpose(),
        r: touch.point - body.x,
        v: body.v,
        omega: body.omega,
    }
}

/// Points that share dynamic bodies, directly or over others.
pub(super) fn groups(roster: &Roster, touches: &[Touch]) -> Vec<Vec<Touch>> {
    let edges = touches.iter().map(|touch| touch.actors);
    let root = super::island::roots(roster, edges);
    let mut found: Vec<(usize, Vec<Touch>)> = Vec::new();
    for touch in touches {
        let dynamic = touch.actors.iter().find(|actor| roster.actors[**actor as usize].is_dynamic());
        let Some(actor) = dynamic else { continue };
        let group = root[*actor as usize];
        match found.iter_mut().find(|(other, _)| *other == group) {
            Some((_, members)) => members.push(*touch),
            None => found.push((group, vec![*touch])),
        }
    }
    found.into_iter().map(|(_, members)| members).collect()
}
