//! Impacts at one instant: single ones, and groups that share bodies.
//!
//! A single impact follows the restitution law of the settings, as in every simulator ([`crate::impact`]). A
//! group is one problem,
//!
//!   M (v⁺ − v⁻) = Jᵀ P,   0 ≤ P_n ⟂ u⁺_n + e u⁻_n ≥ 0,   Coulomb friction,
//!
//! so that impulses only push, and no point separates more slowly than restitution requires. Where
//! restitution would create energy, e is reduced by a common factor. (Linear mode has u⁺_n = −e u⁻_n for all
//! points instead, after Coutinho.) Joint rows, J v⁺ = 0, are part of the problem. Points at rest do not take
//! part; those that an impulse makes approach are impacts of the next round. Points wedged by friction may have no
//! solution that dissipates energy; the fastest of them is then resolved alone.

use super::force_solver::{ContactTarget, ForceSolver, RowTarget};
use super::joint_reaction::JointReactions;
use super::settings::ConstraintSettings;
use super::tuning::{MAX_FRICTION_ROUNDS, RESTING_CONTACTS_JOIN_AFTER};
use super::work::add_contact_work;
use crate::collision::ManifoldPoint;
use crate::collision::WorldMirror;
use crate::impact::{Collision, CollisionSettings, Law, resolve, resolve_passive};
use crate::rigid::Motion;
use crate::solver::RigidResponse;
use crate::world::{BodyId, Event, WorkEntry};
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// An unusual decision of the solver.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstraintNote {
    /// The collision limit of a sub-step was exceeded; restitution is zero for the rest of it.
    ForcedInelastic {
        /// Time, s.
        time: f64,
        /// Bodies of one of the collisions beyond the limit.
        bodies: [BodyId; 2],
    },
    /// Restitution would have created energy and was reduced.
    EnergyClamped {
        /// Time, s.
        time: f64,
        /// The bodies.
        bodies: [BodyId; 2],
    },
    /// No finite contact force exists (Painlevé); an impulse was used instead.
    ContactAsCollision {
        /// Time, s.
        time: f64,
        /// Contact points in the problem.
        contacts: usize,
    },
    /// The residual of the contact conditions exceeds the tolerance.
    NotConverged {
        /// Time, s.
        time: f64,
        /// Residual, m/s.
        residual: f64,
    },
}

/// The impacts of an island at one instant.
pub(super) struct SimultaneousImpact<'s> {
    pub settings: &'s ConstraintSettings,
    /// Time, s.
    pub time: f64,
    /// Approach speed above which a touching point is an impact, m/s.
    pub contact_speed: f64,
    /// Earlier rounds in this sub-step.
    pub rounds: usize,
    /// Length of the sub-step, s.
    pub dt: f64,
    /// Joint rows of the island.
    pub row_targets: &'s [RowTarget],
    pub reactions: &'s mut JointReactions,
    pub events: &'s mut Vec<Event>,
    /// Work of the impacts, if the world keeps an energy ledger.
    pub works: Option<&'s mut Vec<WorkEntry>>,
    pub notes: &'s mut Vec<ConstraintNote>,
}

impl SimultaneousImpact<'_> {
    /// Applies impulses until no touching point approaches fast ⇒ number of rounds.
    pub fn resolve(
        &mut self,
        mirror: &WorldMirror,
        motion: &mut [Motion],
        points: &[ManifoldPoint],
        forces: &mut ForceSolver,
    ) -> usize {
        let limit = self.settings.collision_limit as usize;
        let mut rounds = 0;
        loop {
            let collides = |point: &ManifoldPoint| {
                point.is_touching() && point.relative_velocity(motion).x < -self.contact_speed
            };
            let colliding: Vec<ManifoldPoint> = points.iter().copied().filter(collides).collect();
            let Some(first) = colliding.first() else { return rounds };
            rounds += 1;
            let total = self.rounds + rounds;
            let forced = total > limit;
            if total == limit + 1 {
                let bodies = first.bodies.map(|body| mirror.bodies[body as usize].id);
                self.notes.push(ConstraintNote::ForcedInelastic { time: self.time, bodies });
            }
            let all: Vec<ManifoldPoint> = if forced || rounds > RESTING_CONTACTS_JOIN_AFTER {
                points.iter().copied().filter(ManifoldPoint::is_touching).collect()
            } else {
                colliding
            };
            for group in impact_groups(mirror, &all) {
                self.resolve_group(mirror, motion, &group, forces, forced);
            }
            if total > 2 * limit + 16 {
                return rounds;
            }
        }
    }

    /// Applies the impulses of a group, with events and work.
    fn resolve_group(
        &mut self,
        mirror: &WorldMirror,
        motion: &mut [Motion],
        group: &[ManifoldPoint],
        forces: &mut ForceSolver,
        forced: bool,
    ) {
        let row_targets = self.rows_of(mirror, group);
        let impulses = match group {
            [single] if row_targets.is_empty() => self.single(mirror, motion, single, forced),
            _ if self.settings.impulses == "linear" => {
                linear_equations(mirror, motion, group, &row_targets, forces, forced)
            }
            _ => self.complementarity(mirror, motion, group, &row_targets, forces, forced),
        };
        let before = self.works.as_ref().map(|_| motion.to_vec());
        self.apply_joint_impulses(mirror, motion, &row_targets, forces);
        for (point, p) in group.iter().zip(&impulses) {
            let impulse = point.frame * *p;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let body = point.bodies[side] as usize;
                let inertia = &mirror.bodies[body].inertia;
                if mirror.bodies[body].is_dynamic() {
                    let body = &mut motion[body];
                    body.v += sign * inertia.inverse_mass * impulse;
                    let arm = point.position - body.x;
                    body.omega += inertia.angular_velocity(body.q, sign * arm.cross(impulse));
                }
            }
            if impulse != DVec3::ZERO {
                let bodies = point.bodies.map(|body| mirror.bodies[body as usize].id);
                let (time, point, normal) = (self.time, point.position, point.normal());
                self.events.push(Event::Collision { time, bodies, point, normal, impulse, slow: false });
            }
        }
        if let (Some(works), Some(before)) = (&mut self.works, &before) {
            for (point, p) in group.iter().zip(&impulses) {
                add_contact_work(works, mirror, (point, *p), (before, motion));
            }
        }
    }

    /// Joint rows of the mechanisms that a group strikes.
    fn rows_of(&self, mirror: &WorldMirror, group: &[ManifoldPoint]) -> Vec<RowTarget> {
        if self.row_targets.is_empty() {
            return Vec::new();
        }
        let mechanism_of = |body: Option<u32>| body.and_then(|body| mirror.mechanism_of[body as usize]);
        let struck: Vec<u32> =
            group.iter().flat_map(|point| point.bodies).filter_map(|body| mechanism_of(Some(body))).collect();
        let takes_part = |target: &&RowTarget| {
            let bodies = mirror.joints[target.constraint.joint].bodies;
            bodies.into_iter().filter_map(mechanism_of).any(|mechanism| struck.contains(&mechanism))
        };
        self.row_targets.iter().filter(takes_part).copied().collect()
    }

    /// Applies the joint impulses of the last solution.
    fn apply_joint_impulses(
        &mut self,
        mirror: &WorldMirror,
        motion: &mut [Motion],
        row_targets: &[RowTarget],
        forces: &ForceSolver,
    ) {
        if row_targets.is_empty() {
            return;
        }
        let impulses = forces.row_impulses();
        self.reactions.record_impulses(
            mirror,
            motion,
            self.dt,
            row_targets.iter().zip(impulses).map(|(target, p)| (&target.constraint, *p)),
        );
        for (target, p) in row_targets.iter().zip(impulses) {
            for (side, body) in mirror.joints[target.constraint.joint].bodies.into_iter().enumerate() {
                let Some(body) = body.map(|body| body as usize) else { continue };
                let inertia = &mirror.bodies[body].inertia;
                if mirror.bodies[body].is_dynamic() {
                    let [linear, angular] = target.constraint.side(side);
                    let body = &mut motion[body];
                    body.v += inertia.inverse_mass * *p * linear;
                    body.omega += inertia.angular_velocity(body.q, *p * angular);
                }
            }
        }
    }

    /// Impulse of a single impact, by the restitution law of the settings.
    fn single(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        point: &ManifoldPoint,
        forced: bool,
    ) -> Vec<DVec3> {
        let [a, b] = point.bodies.map(|body| {
            let body = body as usize;
            RigidResponse::new(&mirror.bodies[body].inertia, &motion[body])
        });
        let settings = CollisionSettings {
            restitution: self.settings.restitution_law,
            e: if forced { 0.0 } else { point.restitution },
            mu: point.kinetic_friction,
            law: Law::Integrated,
        };
        let Ok((collision, world)) = Collision::at(&a, &b, point.position, point.normal()) else {
            return vec![DVec3::ZERO];
        };
        let Ok(mut outcome) = resolve(&collision, &settings) else { return vec![DVec3::ZERO] };
        if self.settings.clamp_energy
            && outcome.work > 1e-14 * collision.u.length_squared() / collision.k.z_axis.z
        {
            // Possible with Newton's and Poisson's law, not with Stronge's.
            let bodies = point.bodies.map(|body| mirror.bodies[body as usize].id);
            self.notes.push(ConstraintNote::EnergyClamped { time: self.time, bodies });
            outcome = resolve_passive(&collision, &settings).unwrap_or(outcome);
        }
        vec![point.frame.transpose() * (world * outcome.impulse)]
    }

    /// Impulses of impacts that share bodies, by complementarity.
    fn complementarity(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        group: &[ManifoldPoint],
        row_targets: &[RowTarget],
        forces: &mut ForceSolver,
        forced: bool,
    ) -> Vec<DVec3> {
        let settings = BlockSettings { tolerance: 1e-13, ..BlockSettings::default() };
        let before: Vec<DVec3> = group.iter().map(|point| point.relative_velocity(motion)).collect();
        let targets: Vec<f64> = group
            .iter()
            .zip(&before)
            .map(|(point, u)| if forced { 0.0 } else { -point.restitution * u.x.min(0.0) })
            .collect();
        let mut solve = |share: f64| {
            forces.assemble(mirror, motion, motion, group, |index, point| ContactTarget {
                normal: share * targets[index],
                friction: point.kinetic_friction,
                stiffness: Stiffness::Rigid,
            });
            forces.add_rows(mirror, motion, motion, row_targets);
            forces.impulse.clear();
            forces.impulse.resize(group.len(), DVec3::ZERO);
            forces.solve(&settings);
            let energy: f64 = kinetic_change(mirror, motion, forces);
            (forces.impulse.clone(), energy)
        };
        let (impulses, energy) = solve(1.0);
        let scale =
            |impulses: &[DVec3]| -> f64 { before.iter().zip(impulses).map(|(u, p)| (u.x * p.x).abs()).sum() };
        if !self.settings.clamp_energy || energy <= 1e-11 * scale(&impulses) {
            return impulses;
        }
        let bodies = group[0].bodies.map(|body| mirror.bodies[body as usize].id);
        self.notes.push(ConstraintNote::EnergyClamped { time: self.time, bodies });
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..45 {
            let middle = 0.5 * (low + high);
            if solve(middle).1 > 0.0 { high = middle } else { low = middle }
        }
        let (impulses, energy) = solve(low);
        let gains = energy.is_nan() || energy > 1e-11 * scale(&impulses);
        if gains && row_targets.is_empty() {
            self.fastest_alone(mirror, motion, group, forced)
        } else {
            impulses
        }
    }

    /// Impulse of the fastest impact of a group alone; the others follow in the next round. For problems without a
    /// dissipative solution, or whose solution was not found: points wedged by friction.
    fn fastest_alone(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        group: &[ManifoldPoint],
        forced: bool,
    ) -> Vec<DVec3> {
        let approach = |point: &ManifoldPoint| -point.relative_velocity(motion).x;
        let fastest = (0..group.len()).max_by(|i, j| approach(&group[*i]).total_cmp(&approach(&group[*j])));
        let mut impulses = vec![DVec3::ZERO; group.len()];
        if let Some(index) = fastest {
            impulses[index] = self.single(mirror, motion, &group[index], forced)[0];
        }
        impulses
    }
}

/// Impulses of impacts that share bodies, by linear equations: u⁺_n = −e u⁻_n for all of them, with either
/// sign. Friction is bounded by the normal impulses of the previous round.
fn linear_equations(
    mirror: &WorldMirror,
    motion: &[Motion],
    group: &[ManifoldPoint],
    row_targets: &[RowTarget],
    forces: &mut ForceSolver,
    forced: bool,
) -> Vec<DVec3> {
    let settings = BlockSettings { tolerance: 1e-13, ..BlockSettings::default() };
    let mut found = vec![DVec3::ZERO; group.len()];
    for round in 0..MAX_FRICTION_ROUNDS {
        forces.assemble(mirror, motion, motion, group, |_, point| ContactTarget {
            normal: if forced { 0.0 } else { -point.restitution * point.relative_velocity(motion).x },
            friction: 0.0,
            stiffness: Stiffness::Rigid,
        });
        forces.add_rows(mirror, motion, motion, row_targets);
        let max_friction: Vec<f64> =
            group.iter().zip(&found).map(|(point, p)| point.kinetic_friction * p.x.abs()).collect();
        let begin = forces.make_bilateral(&max_friction);
        forces.impulse.clear();
        forces.solve(&settings);
        let impulses = forces.row_impulses()[begin..].chunks_exact(3).map(DVec3::from_slice);
        let before = std::mem::replace(&mut found, impulses.collect());
        let change = found.iter().zip(&before).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        let size = found.iter().map(|p| p.length()).fold(0.0, f64::max);
        let frictionless = group.iter().all(|point| point.kinetic_friction == 0.0);
        if round > 0 && change <= 1e-12 * size || frictionless {
            break;
        }
    }
    found
}

/// Change of kinetic energy by a solution, J.
fn kinetic_change(mirror: &WorldMirror, motion: &[Motion], forces: &ForceSolver) -> f64 {
    forces
        .velocities()
        .map(|(body, [v, omega])| {
            let inertia = &mirror.bodies[body].inertia;
            let after = Motion { v, omega, ..motion[body] };
            inertia.kinetic_energy(&after) - inertia.kinetic_energy(&motion[body])
        })
        .sum()
}

/// Groups of points that share dynamic bodies, directly or through others.
pub(super) fn impact_groups(mirror: &WorldMirror, points: &[ManifoldPoint]) -> Vec<Vec<ManifoldPoint>> {
    let edges = points.iter().map(|point| point.bodies);
    let root = crate::island::roots(mirror, edges);
    let mut found: Vec<(usize, Vec<ManifoldPoint>)> = Vec::new();
    for point in points {
        let dynamic = point.bodies.iter().find(|body| mirror.bodies[**body as usize].is_dynamic());
        let Some(body) = dynamic else { continue };
        let group = root[*body as usize];
        match found.iter_mut().find(|(other, _)| *other == group) {
            Some((_, members)) => members.push(*point),
            None => found.push((group, vec![*point])),
        }
    }
    found.into_iter().map(|(_, members)| members).collect()
}
