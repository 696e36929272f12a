//! A step: sub-steps, islands, and the event loop of an island from impact to impact.

use super::Constraint;
use super::interval::ContactInterval;
use super::joint_reaction::JointReactions;
use super::landing::touching_pairs;
use super::simultaneous_impact::{ConstraintNote, SimultaneousImpact};
use super::time_of_impact::{PairSeparation, TrajectorySet, first_impact};
use super::tuning::{
    MAX_BROAD_PHASE_PASSES, MAX_CONTACT_PHASES, MAX_IMPACTS_LARGE_ISLAND, MAX_INTERVAL_CUTS,
    MAX_PIECES_OF_BODY, MAX_SLIP_ENDS, MAX_TURN, NEWTON_BACKOFF, OVERLAP_SLOP, PHASE_ENERGY_GAIN, REST_SPEED,
};
use crate::collision::MirrorBody;
use crate::collision::{ManifoldPoint, gather};
use crate::error::Error;
use crate::island::{ContactIsland, islands};
use crate::rigid::Motion;
use crate::simulator::ContactPoint;
use crate::solver::{Trajectory, evaluate};
use crate::world::{Event, ShapeId, Status, World};
use glam::DVec3;
use std::collections::BTreeSet;

/// A sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubStep {
    /// Begin, s.
    pub begin: f64,
    /// Length, s.
    pub h: f64,
    /// Approach speed above which a point is an impact, m/s.
    pub contact_speed: f64,
}

/// An interval of a sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepInterval {
    /// Begin, s.
    pub begin: f64,
    /// Length, s.
    pub time: f64,
    /// Whether it is a piece of a large island.
    pub approximate: bool,
}

impl Constraint {
    /// Advances the bodies of the world by dt; the caller advances its clock.
    ///
    /// # Errors
    /// If the broad phase refuses a collider.
    pub(super) fn advance(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.mirror.sync(world)?;
        self.joint_reactions.reset(&self.mirror);
        let energy = self.keeps_ledger.then(|| world.readout().energy());
        self.stabilize_joints(world, dt);
        self.account_stabilization(world, energy);
        let (events, works) = (self.events.len(), self.works.len());
        let start: Vec<Motion> = world.bodies().motion(Status::Dynamic).to_vec();
        let warm_start = self.warm_start.clone();
        loop {
            let substeps = self.substeps.max(1);
            let h = dt / substeps as f64;
            let mut error = 0.0_f64;
            for k in 0..substeps {
                error = error.max(self.sub_step(world, world.time() + k as f64 * h, h)?);
            }
            let tolerance = self.settings.error_tolerance;
            if tolerance == 0.0 || error <= tolerance || substeps >= 1 << 20 {
                world.counters_mut().substeps += substeps as u64;
                break;
            }
            // Rejected: again with sub-steps of half the length.
            world.counters_mut().rejected += substeps as u64;
            self.substeps = 2 * substeps;
            self.accepted = 0;
            self.warm_start.clone_from(&warm_start);
            self.events.truncate(events);
            self.works.truncate(works);
            self.notes.clear();
            self.joint_reactions.reset(&self.mirror);
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&start);
        }
        self.accepted = (self.accepted + 1).min(4);
        if self.settings.error_tolerance > 0.0 && self.accepted >= 4 {
            self.substeps = (self.substeps / 2).max(self.settings.substeps.max(1) as usize);
            self.accepted = 0;
        }
        self.report_touching(world.time() + dt);
        Ok(())
    }

    /// States of all bodies at a time, from the world.
    pub(super) fn states(&self, world: &World, time: f64) -> Vec<Motion> {
        let state = |body: &MirrorBody| {
            let present = world.bodies().motion(body.status)[body.slot];
            if body.status == Status::Kinematic { body.kinematic_state(time, &present) } else { present }
        };
        self.mirror.bodies.iter().map(state).collect()
    }

    /// One sub-step ⇒ estimate of the position error from loads that change within it, m.
    fn sub_step(&mut self, world: &mut World, begin: f64, h: f64) -> Result<f64, Error> {
        self.newton_backoff = self.newton_backoff.saturating_sub(1);
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(begin, &mut loads);
        let start = self.states(world, begin);
        let uniform = loads.uniform_acceleration();
        let free: Vec<Trajectory> = self
            .mirror
            .bodies
            .iter()
            .map(|body| match body.status {
                Status::Dynamic => {
                    Trajectory::ballistic(loads.wrench(body.slot), uniform, body.inertia.inverse_mass)
                }
                Status::Kinematic => Trajectory::Kinematic,
                Status::Fixed | Status::Disabled => Trajectory::Still,
            })
            .collect();
        let speed = match self.settings.contact_speed {
            0.0 => (2.0 * uniform.length() * h).max(1e-4),
            given => given,
        };
        let mut expected: Vec<Motion> = (0..start.len())
            .map(|body| evaluate(&self.mirror, body, &start[body], free[body], begin, h))
            .collect();
        let reactions_before = self.joint_reactions.clone();
        let all = 0..self.mirror.mechanisms.len();
        self.integrate_mechanisms(world, all, &start, (&free, &mut free.clone()), &mut expected, (begin, h));
        let margin = 2.0 * uniform.length() * h * h + 1e-3;
        self.mirror.update_pairs(world, &start, &expected, margin)?;
        let warm_start = self.warm_start.clone();
        let (events, notes, works) = (self.events.len(), self.notes.len(), self.works.len());
        let mut end = Vec::new();
        let without_contacts = self.joint_reactions.clone();
        for _ in 0..MAX_BROAD_PHASE_PASSES {
            self.joint_reactions.clone_from(&without_contacts);
            self.warm_start.clone_from(&warm_start);
            self.events.truncate(events);
            self.notes.truncate(notes);
            self.works.truncate(works);
            self.next_warm_start.clear();
            self.contacts.clear();
            end.clone_from(&expected);
            self.contact_free.clear();
            self.contact_free.extend(self.mirror.mechanism_of.iter().map(Option::is_none));
            for island in islands(&self.mirror) {
                if !island.pairs.is_empty() {
                    // Its mechanisms are integrated again, from impact to impact.
                    self.joint_reactions
                        .restore(&reactions_before, self.mirror.joints_of(&island.mechanisms));
                }
                let sub_step = SubStep { begin, h, contact_speed: speed };
                let posted = self.works.len();
                match self.piece_count(&island, &start, &free, h) {
                    Some(pieces) => {
                        self.advance_large_island(
                            world,
                            &island,
                            (&start, &free),
                            &mut end,
                            sub_step,
                            pieces,
                        );
                    }
                    None if self.stays_at_rest(world, &island, (&start, &free), &mut end, sub_step) => {}
                    None => self.advance_island(world, &island, &start, &free, &mut end, sub_step),
                }
                if Self::is_refined(world, &island) {
                    self.limit_energy(&island, (&start, &free), &mut end);
                }
                self.account_island(world, &island, (&start, &end, &free), posted, h);
            }
            if !self.mirror.extend_bounds(world, &start, &end)? {
                break;
            }
        }
        std::mem::swap(&mut self.warm_start, &mut self.next_warm_start);
        self.write_states(world, &end);
        self.ends = end;
        let error =
            if world.forces_are_uniform() { 0.0 } else { self.correct_velocities(world, &free, begin, h) };
        self.loads = loads;
        Ok(error)
    }

    /// Writes the states of the dynamic bodies to the world.
    fn write_states(&self, world: &mut World, end: &[Motion]) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for (body, end) in self.mirror.bodies.iter().zip(end) {
            if body.is_dynamic() {
                motion[body.slot] = *end;
            }
        }
    }

    /// v += h/2 (a₁ − a₀) for bodies without contacts and joints: the trapezoidal rule for loads that change
    /// ⇒ estimate of the position error, m.
    fn correct_velocities(&mut self, world: &mut World, free: &[Trajectory], begin: f64, h: f64) -> f64 {
        let mut loads = crate::force::ForceAccumulator::default();
        world.gather_loads(begin + h, &mut loads);
        let uniform = loads.uniform_acceleration();
        let mut worst = 0.0_f64;
        let motion = world.bodies_mut().dynamic_mut().0;
        for (index, body) in self.mirror.bodies.iter().enumerate() {
            let Trajectory::Ballistic { acceleration, torque } = free[index] else { continue };
            let wrench = loads.wrench(body.slot);
            let change = uniform + body.inertia.inverse_mass * wrench.force - acceleration;
            worst = worst.max(h * h / 6.0 * change.length());
            if self.contact_free[index] {
                let state = &mut motion[body.slot];
                state.v += 0.5 * h * change;
                state.omega += body.inertia.angular_velocity(state.q, 0.5 * h * (wrench.torque - torque));
            }
        }
        worst
    }

    /// Advances an island over a sub-step, from impact to impact.
    fn advance_island(
        &mut self,
        world: &mut World,
        island: &ContactIsland,
        start: &[Motion],
        free: &[Trajectory],
        end: &mut [Motion],
        SubStep { begin, h, contact_speed }: SubStep,
    ) {
        if island.pairs.is_empty() {
            return;
        }
        let mut now = start.to_vec();
        let (mut elapsed, mut rounds, mut impacts, mut phases, mut slip_ends, mut pieces) =
            (0.0, 0, 0, 0, 0, 0);
        let exact = !self.is_large(island);
        let refined = exact && Self::is_refined(world, island);
        let may_rest = exact && Self::may_rest(world, island);
        let limit = self.settings.collision_limit as usize;
        let max_impacts = if exact { 4 * limit + 16 } else { limit.min(MAX_IMPACTS_LARGE_ISLAND) };
        loop {
            let mut points = Vec::new();
            gather(&mut self.mirror, &island.pairs, &now, h - elapsed, self.settings.touch_gap, &mut points);
            let sub_step = SubStep { begin, h, contact_speed };
            rounds +=
                self.resolve_impacts(world, island, (&mut now, &points), sub_step, (begin + elapsed, rounds));
            let separations = self.pair_separations(island.pairs.iter(), &points, &now, contact_speed, exact);
            let reactions_before = (!island.mechanisms.is_empty()).then(|| self.joint_reactions.clone());
            // Points that approach fast are impacts to come, not contacts; those that slow down become
            // contacts.
            let is_fast = |point: &ManifoldPoint| {
                !point.is_touching() && point.relative_velocity(&now).x < -contact_speed
            };
            let left = h - elapsed;
            let interval = StepInterval { begin: begin + elapsed, time: left, approximate: false };
            if may_rest && self.come_to_rest(island, (&now, &points), free, end, interval) {
                return;
            }
            if impacts <= max_impacts {
                points.retain(|point| !is_fast(point));
                if refined {
                    // Pairs apart are advanced to the time at which they touch, however slowly they approach.
                    let touching = touching_pairs(&points);
                    points.retain(|point| touching.binary_search(&point.pair).is_ok());
                    if self.separates((&now, &points), free, (begin + elapsed, left)) {
                        points.clear();
                    }
                }
            }
            if refined {
                self.slow_landing(&mut now, (&points, free), left, contact_speed);
            }
            if exact && phases < MAX_CONTACT_PHASES && impacts <= max_impacts {
                let phase =
                    self.advance_contact_phase(island, (&now, &points, &separations), free, end, interval);
                if let Some((time, ends_with_impact)) = phase {
                    phases += 1;
                    if ends_with_impact {
                        impacts += 1;
                        self.counters.impacts += 1;
                    } else if time >= left {
                        return;
                    }
                    elapsed += time;
                    self.continue_from(island, end, &mut now, begin + elapsed);
                    continue;
                }
            }
            let left = if refined && pieces < MAX_PIECES_OF_BODY {
                Self::resolved_time(island, (&now, &points), free, left)
                    .max(h / MAX_PIECES_OF_BODY as f64)
                    .min(left)
            } else {
                left
            };
            let interval = StepInterval { time: left, ..interval };
            let full = self.solve_interval(world, island, (&now, &points), free, end, interval);
            let impact = if impacts > max_impacts {
                None
            } else {
                self.first_impact(&now, &full, &separations, begin + elapsed, left)
            };
            let slip_end =
                if exact && slip_ends < MAX_SLIP_ENDS { self.slip_end(&now, &points, left) } else { None };
            let slip_end = slip_end.filter(|end| impact.is_none_or(|impact| *end < impact));
            let Some(time) = slip_end.or(impact).filter(|time| *time < left) else {
                self.store_forces(&points, left);
                self.account_forces(&points, &now, end);
                if !points.is_empty() {
                    self.mark_contact(&points);
                    if refined {
                        self.limit_energy(island, (&now, free), end);
                    }
                }
                if elapsed + left < h {
                    pieces += 1;
                    elapsed += left;
                    self.continue_from(island, end, &mut now, begin + elapsed);
                    continue;
                }
                return;
            };
            if slip_end.is_some() {
                slip_ends += 1;
            } else {
                impacts += 1;
                self.counters.impacts += 1;
            }
            if let Some(reactions_before) = &reactions_before {
                self.joint_reactions.clone_from(reactions_before);
            }
            let shorter = StepInterval { time, ..interval };
            let known = (island, &separations[..]);
            let time = self.solve_until_impact(
                world,
                known,
                (&now, &points, free),
                end,
                shorter,
                (exact, reactions_before),
            );
            if time > 0.0 {
                self.store_forces(&points, time);
                self.account_forces(&points, &now, end);
                self.mark_contact(&points);
                if refined {
                    self.limit_energy(island, (&now, free), end);
                }
            } else {
                for &body in &island.bodies {
                    end[body] = now[body];
                }
            }
            elapsed += time;
            self.continue_from(island, end, &mut now, begin + elapsed);
            for &body in &island.bodies {
                self.contact_free[body] = false;
            }
        }
    }

    /// Time over which an interval resolves the motion of a body in contact, s. Contacts are fixed over an interval, so
    /// the body may turn by a small angle only; and a rocking point rises and returns in 2 u_n/a, which the end of an interval must
    /// not hide.
    fn resolved_time(
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        left: f64,
    ) -> f64 {
        let normal_speed =
            points.iter().map(|point| point.relative_velocity(now).x.abs()).fold(0.0, f64::max);
        let mut time = left;
        for &body in island.bodies.iter().filter(|_| !points.is_empty()) {
            let omega = now[body].omega.length();
            if omega * time > MAX_TURN {
                time = MAX_TURN / omega;
            }
            if let Trajectory::Ballistic { acceleration, .. } = free[body]
                && normal_speed > REST_SPEED
                && acceleration.length() * time > normal_speed
            {
                time = normal_speed / acceleration.length();
            }
        }
        time
    }

    /// Time at which the first sliding contact comes to stick within the interval just solved, s. Kinetic
    /// friction decelerates the slip uniformly, so a contact whose friction is the fraction s < 1 of its
    /// maximum has stopped after that fraction of the interval, and sticks from then on.
    fn slip_end(&self, now: &[Motion], points: &[ManifoldPoint], time: f64) -> Option<f64> {
        let fraction = |(point, p): (&ManifoldPoint, &DVec3)| {
            let u = point.relative_velocity(now);
            let max = point.kinetic_friction * p.x;
            let friction = p.y.hypot(p.z);
            let stops = u.y.hypot(u.z) > self.settings.stick_speed && friction < 0.999 * max;
            (stops && friction > 1e-3 * max).then(|| friction / max)
        };
        let fractions = points.iter().zip(&self.forces.impulse).filter_map(fraction);
        fractions.min_by(f64::total_cmp).map(|fraction| fraction * time)
    }

    /// Integrates a contact phase up to its end or the first impact ⇒ time covered, s, and whether it ends
    /// with an impact; `None` if no phase begins here.
    fn advance_contact_phase(
        &mut self,
        island: &ContactIsland,
        (now, points, separations): (&[Motion], &[ManifoldPoint], &[PairSeparation]),
        free: &[Trajectory],
        end: &mut [Motion],
        interval: StepInterval,
    ) -> Option<(f64, bool)> {
        if points.iter().any(|point| point.levers != [0.0; 2]) {
            return None;
        }
        let (trajectories, mut time) =
            self.integrate_contact_phase(island, (now, points), free, end, interval)?;
        // Near Painlevé's region the equations of a phase are ill-conditioned; its energy shows where they fail.
        let balance = self.energy_balance(island, (now, free), end);
        if island.bodies.len() == 1 && balance.is_some_and(|balance| balance.gains(PHASE_ENERGY_GAIN)) {
            for &body in &island.bodies {
                end[body] = now[body];
            }
            return None;
        }
        let impact = self.first_impact(now, &trajectories, separations, interval.begin, time);
        let impact = impact.filter(|impact| *impact < time);
        if let Some(impact) = impact {
            if impact > 0.0 {
                time = self
                    .integrate_contact_phase(
                        island,
                        (now, points),
                        free,
                        end,
                        StepInterval { time: impact, ..interval },
                    )?
                    .1;
            } else {
                time = 0.0;
                for &body in &island.bodies {
                    end[body] = now[body];
                }
            }
        }
        if time > 0.0 {
            self.store_forces(points, time);
            self.account_forces(points, now, end);
            self.mark_contact(points);
        }
        Some((time, impact.is_some_and(|impact| time >= impact)))
    }

    /// Solves an interval that ends with an impact ⇒ its length, s. Over a shorter interval forces and
    /// trajectories differ: if these have an earlier impact, the interval is shortened again.
    fn solve_until_impact(
        &mut self,
        world: &mut World,
        (island, separations): (&ContactIsland, &[PairSeparation]),
        (now, points, free): (&[Motion], &[ManifoldPoint], &[Trajectory]),
        end: &mut [Motion],
        mut interval: StepInterval,
        (exact, reactions_before): (bool, Option<JointReactions>),
    ) -> f64 {
        for attempt in 1..=MAX_INTERVAL_CUTS {
            if interval.time == 0.0 {
                break;
            }
            let trajectories = self.solve_interval(world, island, (now, points), free, end, interval);
            if !exact || attempt == MAX_INTERVAL_CUTS {
                break;
            }
            match self.first_impact(now, &trajectories, separations, interval.begin, interval.time) {
                Some(earlier) if earlier > 0.0 && earlier < interval.time => interval.time = earlier,
                _ => break,
            }
            if let Some(reactions_before) = &reactions_before {
                self.joint_reactions.clone_from(reactions_before);
            }
        }
        interval.time
    }

    /// Resolves the impacts at an instant ⇒ number of rounds; `rounds` are the earlier ones of the sub-step.
    pub(super) fn resolve_impacts(
        &mut self,
        world: &World,
        island: &ContactIsland,
        (now, points): (&mut [Motion], &[ManifoldPoint]),
        SubStep { h, contact_speed, .. }: SubStep,
        (time, rounds): (f64, usize),
    ) -> usize {
        let row_targets = self.impulsive_rows(world, &island.mechanisms, now, time);
        let mut impact = SimultaneousImpact {
            settings: &self.settings,
            time,
            contact_speed,
            rounds,
            dt: h,
            row_targets: &row_targets,
            reactions: &mut self.joint_reactions,
            events: &mut self.events,
            works: self.keeps_ledger.then_some(&mut self.works),
            notes: &mut self.notes,
        };
        let more = impact.resolve(&self.mirror, now, points, &mut self.forces);
        self.counters.collision_rounds += more as u64;
        more
    }

    /// Solves an interval ⇒ trajectories of all bodies; end states of the island go to `end`.
    pub(super) fn solve_interval(
        &mut self,
        world: &mut World,
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        end: &mut [Motion],
        StepInterval { begin, time, approximate }: StepInterval,
    ) -> Vec<Trajectory> {
        let mut trajectories = free.to_vec();
        let mechanisms = &island.mechanisms;
        self.integrate_mechanisms(
            world,
            mechanisms.iter().copied(),
            now,
            (free, &mut trajectories),
            end,
            (begin, time),
        );
        let row_targets = if points.is_empty() {
            Vec::new()
        } else {
            self.interval_rows(world, mechanisms, now, (begin, time))
        };
        let interval = ContactInterval {
            settings: &self.settings,
            mirror: &self.mirror,
            world,
            mechanisms,
            row_targets: &row_targets,
            warm_start: &self.warm_start,
            begin,
            time,
            approximate,
            newton_steps: self.newton_step_budget(island),
            overlap_slop: if Self::is_refined(world, island) { OVERLAP_SLOP } else { 1.0 },
        };
        let report =
            interval.solve(&island.bodies, now, points, &mut self.forces, (free, &mut trajectories), end);
        self.project_mechanisms(world, mechanisms, &row_targets, (now, &trajectories), end, (begin, time));
        self.counters.newton_steps += report.steps as u64;
        self.counters.solves += 1;
        if report.unbounded {
            self.notes.push(ConstraintNote::ContactAsCollision { time: begin, contacts: points.len() });
        }
        if !report.converged && !approximate && self.is_large(island) {
            self.newton_backoff = NEWTON_BACKOFF;
        }
        if !report.converged {
            self.counters.not_converged += 1;
            self.notes.push(ConstraintNote::NotConverged { time: begin, residual: report.residual });
        }
        self.counters.worst_residual = self.counters.worst_residual.max(report.residual);
        trajectories
    }

    /// Time of the first impact of some pairs on these trajectories, since `begin`, s.
    pub(super) fn first_impact(
        &mut self,
        now: &[Motion],
        trajectories: &[Trajectory],
        separations: &[PairSeparation],
        begin: f64,
        left: f64,
    ) -> Option<f64> {
        self.scratch.clear();
        self.scratch.extend_from_slice(now);
        let set = TrajectorySet { begin, start: now, trajectories };
        let touch_gap = self.settings.touch_gap;
        first_impact(
            &mut self.mirror,
            set,
            separations,
            left,
            touch_gap,
            &mut self.scratch,
            &mut self.counters.separation_queries,
        )
    }

    /// Separations of some pairs at the beginning of an interval.
    pub(super) fn pair_separations<'p>(
        &self,
        pairs: impl Iterator<Item = &'p [u32; 2]>,
        points: &[ManifoldPoint],
        now: &[Motion],
        contact_speed: f64,
        exact: bool,
    ) -> Vec<PairSeparation> {
        let mut approaching: Vec<[u32; 2]> = points
            .iter()
            .filter(|point| !point.is_touching() && (exact || point.restitution > 0.0))
            .filter(|point| point.relative_velocity(now).x < -contact_speed)
            .map(|point| point.pair)
            .collect();
        approaching.sort_unstable();
        let separation = |pair: &[u32; 2]| {
            let found = self.mirror.pairs.get(pair).and_then(|pair| pair.found.deepest());
            PairSeparation {
                pair: *pair,
                separation: found.map_or(f64::INFINITY, |(_, point)| point.separation),
                fast: approaching.binary_search(pair).is_ok(),
            }
        };
        pairs.map(separation).collect()
    }

    /// Stores the mean forces of a completed interval, for the warm start and as contacts.
    pub(super) fn store_forces(&mut self, points: &[ManifoldPoint], time: f64) {
        for (point, p) in points.iter().zip(&self.forces.impulse) {
            let force = point.frame * *p / time;
            self.next_warm_start.insert(point.key, [force, point.position]);
            self.warm_start.insert(point.key, [force, point.position]);
            if *p != DVec3::ZERO || point.is_touching() {
                let bodies = point.bodies.map(|body| self.mirror.bodies[body as usize].id);
                let contact = ContactPoint {
                    bodies,
                    shapes: point.key.0,
                    point: point.position,
                    normal: point.normal(),
                    gap: point.gap,
                    force,
                };
                self.contacts.insert(point.key, contact);
            }
        }
    }

    /// Marks bodies with contact impulses as not free.
    pub(super) fn mark_contact(&mut self, points: &[ManifoldPoint]) {
        for (point, p) in points.iter().zip(&self.forces.impulse) {
            if *p != DVec3::ZERO {
                for body in point.bodies {
                    self.contact_free[body as usize] = false;
                }
            }
        }
    }

    /// Reports the shapes that began and ceased to touch in this step.
    fn report_touching(&mut self, time: f64) {
        let mut touching: BTreeSet<[ShapeId; 2]> =
            self.contacts.values().map(|contact| contact.shapes).collect();
        let sensed = self.mirror.pairs.values_mut().filter(|pair| pair.sensor && pair.near);
        for pair in sensed {
            let ends = &self.ends;
            if ends.len() == self.mirror.bodies.len()
                && pair.separation(&self.mirror.colliders, ends, 0.0) < 0.0
            {
                touching.insert(pair.shapes);
            }
        }
        let owner = |shapes: &[ShapeId; 2]| {
            let of = |shape: ShapeId| {
                let collider = self.mirror.colliders.iter().find(|collider| collider.id == shape)?;
                Some(self.mirror.bodies[collider.body as usize].id)
            };
            Some([of(shapes[0])?, of(shapes[1])?])
        };
        for shapes in touching.difference(&self.touching) {
            if let Some(bodies) = owner(shapes) {
                self.events.push(Event::ContactBegan { time, bodies, shapes: *shapes });
            }
        }
        for shapes in self.touching.difference(&touching) {
            if let Some(bodies) = owner(shapes) {
                self.events.push(Event::ContactEnded { time, bodies, shapes: *shapes });
            }
        }
        self.touching = touching;
    }
}
