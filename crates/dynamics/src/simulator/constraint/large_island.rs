//! Large moving islands: short pieces of a sub-step instead of impacts at their times.
//!
//! In a heap some pair comes to touch all the time, and returning to the time of each impact would never end.
//! A sub-step is therefore divided into pieces of equal length δ in which no pair approaches by more than a
//! fraction of its size. In each piece all near points get forces in one problem, with u_n ≥ −gap/δ at its
//! end, so that approaching points touch just when their gap is closed. The times of the first few fast
//! impacts with restitution are located all the same. All others rebound at the end of their piece: 0 ≤ P_n ⟂
//! u⁺_n − e |u⁻_n| ≥ 0 with u⁻ from its beginning; of the velocities v + s Δv that result, the largest s ≤ 1
//! is taken at which the kinetic energy is not above that of free flight.

use super::Constraint;
use super::force_solver::ContactTarget;
use super::step::{StepInterval, SubStep};
use super::tuning::{
    BACKOFF_NEWTON_STEPS, LARGE_ISLAND_NEWTON_STEPS, MAX_LOCATED_REBOUNDS, MAX_PIECE_TRAVEL, MAX_PIECES,
    MIN_PIECES, NEARLY_AT_REST_SPEED, REBOUND_SWEEPS, REBOUND_UPDATES,
};
use crate::collision::{ManifoldPoint, gather};
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::Trajectory;
use crate::world::{Event, World};
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};
use std::collections::BTreeMap;

impl Constraint {
    /// Whether no body of an island has more than two neighbours: rows and stacks. Neighbours are pairs whose bounds overlap before the
    /// motion of the sub-step; a fast row sweeps over bodies that it does not reach.
    fn is_chain(&self, island: &ContactIsland) -> bool {
        let mut neighbors: BTreeMap<u32, u32> = BTreeMap::new();
        for pair in island.pairs.iter().filter_map(|key| self.mirror.pairs.get(key)) {
            if self.mirror.overlaps_at_start(pair) {
                for body in pair.bodies {
                    *neighbors.entry(body).or_default() += 1;
                }
            }
        }
        island.bodies.iter().all(|body| neighbors.get(&(*body as u32)).is_none_or(|count| *count <= 2))
    }

    /// Whether an island has more bodies than are advanced from impact to impact.
    pub(super) fn is_large(&self, island: &ContactIsland) -> bool {
        let (bodies, limit) = (island.bodies.len(), self.settings.exact_bodies as usize);
        // Rows and stacks have few pairs, and few impacts in a sub-step.
        bodies > limit && !(bodies <= 2 * limit && self.is_chain(island))
    }

    /// Most Newton steps for the forces of an island. A resting one needs few; a heap that is not quite at
    /// rest may need any number, and is advanced in pieces for a while if it takes too many.
    pub(super) fn newton_step_budget(&self, island: &ContactIsland) -> usize {
        match (self.is_large(island), self.newton_backoff) {
            (false, _) => usize::MAX,
            (true, 0) => LARGE_ISLAND_NEWTON_STEPS,
            (true, _) => BACKOFF_NEWTON_STEPS,
        }
    }

    /// Number of pieces of a sub-step; `None` if the island is advanced from impact to impact.
    pub(super) fn piece_count(
        &self,
        island: &ContactIsland,
        start: &[Motion],
        free: &[Trajectory],
        h: f64,
    ) -> Option<usize> {
        let speed = |body: &usize| {
            let Motion { v, omega, .. } = &start[*body];
            v.abs().max_element().max(omega.abs().max_element())
        };
        let fastest = island.bodies.iter().map(speed).fold(0.0, f64::max);
        if !self.is_large(island) || fastest < NEARLY_AT_REST_SPEED && self.newton_backoff == 0 {
            return None;
        }
        let gained = |body: u32| match free[body as usize] {
            Trajectory::Ballistic { acceleration, .. } => h * acceleration,
            _ => DVec3::ZERO,
        };
        let mut pieces = MIN_PIECES;
        for pair in island.pairs.iter().filter_map(|key| self.mirror.pairs.get(key)) {
            let [a, b] = pair.bodies;
            let swing = |body: u32| {
                let speed = start[body as usize].omega.length();
                let arm = self.mirror.bodies[body as usize].radius.min(2.0 * pair.size);
                if speed > 0.0 { speed * arm } else { 0.0 }
            };
            let relative = start[b as usize].v + 0.5 * gained(b) - start[a as usize].v - 0.5 * gained(a);
            let travel = h * (relative.length() + swing(a) + swing(b));
            pieces = pieces.max(travel / (MAX_PIECE_TRAVEL * pair.size));
        }
        (pieces <= MAX_PIECES).then_some(pieces.ceil() as usize)
    }

    /// Advances an island over a sub-step, piece by piece.
    pub(super) fn advance_large_island(
        &mut self,
        world: &mut World,
        island: &ContactIsland,
        (start, free): (&[Motion], &[Trajectory]),
        end: &mut [Motion],
        sub_step: SubStep,
        pieces: usize,
    ) {
        let SubStep { begin, h, contact_speed } = sub_step;
        let mut now = start.to_vec();
        let mut points = Vec::new();
        let (mut elapsed, mut rounds, mut events) = (0.0, 0, 0);
        for piece in 0..pieces {
            let until = h * (piece + 1) as f64 / pieces as f64;
            while elapsed < until {
                let (from, time) = (begin + elapsed, until - elapsed);
                let interval = StepInterval { begin: from, time, approximate: true };
                gather(&mut self.mirror, &island.pairs, &now, time, self.settings.touch_gap, &mut points);
                rounds += self.resolve_impacts(world, island, (&mut now, &points), sub_step, (from, rounds));
                let reactions_before = (!island.mechanisms.is_empty()).then(|| self.joint_reactions.clone());
                let bouncing = |point: &ManifoldPoint| {
                    !point.is_touching()
                        && point.restitution > 0.0
                        && point.relative_velocity(&now).x < -contact_speed
                };
                let impact = if events < MAX_LOCATED_REBOUNDS && points.iter().any(bouncing) {
                    events += 1;
                    let (approaching, others): (Vec<ManifoldPoint>, Vec<ManifoldPoint>) =
                        points.iter().partition(|t| bouncing(t));
                    let trajectories =
                        self.solve_interval(world, island, (&now, &others), free, end, interval);
                    let mut pairs: Vec<[u32; 2]> = approaching.iter().map(|point| point.pair).collect();
                    pairs.dedup();
                    let separations =
                        self.pair_separations(pairs.iter(), &approaching, &now, contact_speed, true);
                    self.first_impact(&now, &trajectories, &separations, from, time)
                        .filter(|found| *found < time)
                } else {
                    None
                };
                if let Some(reactions_before) = reactions_before.filter(|_| impact.is_some()) {
                    self.joint_reactions = reactions_before;
                }
                let time = impact.unwrap_or(time);
                if impact.is_some() {
                    self.counters.impacts += 1;
                    points.retain(|point| !bouncing(point));
                }
                if time > 0.0 {
                    self.solve_interval(
                        world,
                        island,
                        (&now, &points),
                        free,
                        end,
                        StepInterval { time, ..interval },
                    );
                    self.store_forces(&points, time);
                    self.account_forces(&points, &now, end);
                    self.mark_contact(&points);
                    let finished = (from + time, time);
                    self.apply_restitution(
                        world,
                        island,
                        (&now, &points, free),
                        end,
                        finished,
                        contact_speed,
                    );
                }
                elapsed = if impact.is_some() { elapsed + time } else { until };
                self.continue_from(island, end, &mut now, begin + elapsed);
            }
        }
    }

    /// Makes the end states of an island the present ones, with kinematic bodies at the same time.
    pub(super) fn continue_from(
        &self,
        island: &ContactIsland,
        end: &[Motion],
        now: &mut [Motion],
        time: f64,
    ) {
        for &body in &island.bodies {
            now[body] = end[body];
        }
        let kinematic = |mechanism: &usize| self.mirror.mechanisms[*mechanism].kinematic.iter();
        for &body in island.others.iter().chain(island.mechanisms.iter().flat_map(kinematic)) {
            now[body] = self.mirror.bodies[body].kinematic_state(time, &now[body]);
        }
    }

    /// Reports fast impacts within a piece as collisions, and rebounds those with restitution.
    fn apply_restitution(
        &mut self,
        world: &World,
        island: &ContactIsland,
        (now, points, free): (&[Motion], &[ManifoldPoint], &[Trajectory]),
        end: &mut [Motion],
        (when, time): (f64, f64),
        contact_speed: f64,
    ) {
        let approach = |point: &ManifoldPoint| -point.relative_velocity(now).x;
        let was_fast = |point: &ManifoldPoint| approach(point) > contact_speed;
        let bounces = |point: &ManifoldPoint| point.restitution > 0.0 && was_fast(point);
        let loaded = points.iter().zip(&self.forces.impulse).filter(|(_, p)| p.x > 0.0);
        let (pushed, mut impulses): (Vec<ManifoldPoint>, Vec<DVec3>) = loaded.unzip();
        if pushed.iter().any(bounces) {
            // Arms as at the beginning of the piece, where the points were found.
            let arrive = |(now, end): (&Motion, &Motion)| Motion { v: end.v, omega: end.omega, ..*now };
            let arrived: Vec<Motion> = now.iter().zip(&*end).map(arrive).collect();
            self.forces.assemble(&self.mirror, &arrived, &arrived, &pushed, |_, point| ContactTarget {
                normal: if bounces(point) {
                    point.restitution * approach(point)
                } else {
                    point.relative_velocity(&arrived).x.min(0.0)
                },
                friction: point.kinetic_friction,
                stiffness: Stiffness::Rigid,
            });
            let row_targets = self.impulsive_rows(world, &island.mechanisms, &arrived, when);
            self.forces.add_rows(&self.mirror, &arrived, &arrived, &row_targets);
            let updates = if row_targets.is_empty() { 0 } else { REBOUND_UPDATES };
            self.forces.impulse.clear();
            self.forces.solve(&BlockSettings {
                tolerance: 1e-6,
                updates,
                sweeps: REBOUND_SWEEPS,
                restart: false,
                ..BlockSettings::default()
            });
            let share = self.energy_bounded_fraction(island, now, free, &arrived, time);
            for (body, [v, omega]) in self.forces.velocities() {
                end[body].v += share * (v - end[body].v);
                end[body].omega += share * (omega - end[body].omega);
            }
            for (impulse, more) in impulses.iter_mut().zip(&self.forces.impulse) {
                *impulse += share * *more;
            }
        }
        for (point, p) in pushed.iter().zip(impulses).filter(|(point, _)| was_fast(point)) {
            let bodies = point.bodies.map(|body| self.mirror.bodies[body as usize].id);
            let (time, point, normal, impulse) = (when, point.position, point.normal(), point.frame * p);
            self.events.push(Event::Collision { time, bodies, point, normal, impulse, slow: false });
        }
    }

    /// Largest fraction of a rebound after which the kinetic energy is not above that of free flight; 1 where
    /// a moving kinematic body can do work.
    fn energy_bounded_fraction(
        &self,
        island: &ContactIsland,
        now: &[Motion],
        free: &[Trajectory],
        arrived: &[Motion],
        time: f64,
    ) -> f64 {
        let moves = |body: &usize| now[*body].v != DVec3::ZERO || now[*body].omega != DVec3::ZERO;
        if island.others.iter().any(moves) {
            return 1.0;
        }
        let energy = |body: usize, v: DVec3, omega: DVec3| {
            self.mirror.bodies[body].inertia.kinetic_energy(&Motion { v, omega, ..now[body] })
        };
        // T(s) = T₀ + linear·s + square·s², bounded by T₀ + room.
        let (mut room, mut linear, mut square) = (0.0, 0.0, 0.0);
        for (body, [v, omega]) in self.forces.velocities() {
            let Motion { v: v_0, omega: omega_0, .. } = arrived[body];
            let acceleration = match free[body] {
                Trajectory::Ballistic { acceleration, .. } => acceleration,
                _ => DVec3::ZERO,
            };
            let at_first = energy(body, v_0, omega_0);
            let quadratic = energy(body, v - v_0, omega - omega_0);
            room += energy(body, now[body].v + time * acceleration, now[body].omega) - at_first;
            linear += energy(body, v, omega) - at_first - quadratic;
            square += quadratic;
        }
        if linear + square <= room || square <= 0.0 {
            return 1.0;
        }
        let root = (linear * linear + 4.0 * square * room.max(0.0)).sqrt();
        ((root - linear) / (2.0 * square)).clamp(0.0, 1.0)
    }
}
