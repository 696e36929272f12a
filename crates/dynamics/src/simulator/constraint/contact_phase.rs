//! Contact phases: bodies that roll, pivot or slide on each other while the same points touch.
//!
//! A time step with contacts fixed at their initial positions is of first order: the contact point c(t) of a
//! rolling body moves over its surface, and forces, arms and the velocity that has to vanish there move with
//! it. While contacts only persist, their forces are therefore evaluated at every stage of a Runge–Kutta
//! method (Dormand–Prince, order 5(4)). With u = J(q) v the relative velocity at the contact points,
//!
//!   M v̇ = f + Jᵀ F,   u̇ = J v̇ + J̇ v = 0 for n, and for t and k where there is no slip;
//!
//! where there is, F_τ = −μ F_n u_τ/|u_τ| and the equation for n remains. With β = v̇* + ω̇*×(c − x) + ω×(ċ −
//! v) on either side, J̇ v is in β_B − β_A and ṅ·u. ċ and ṅ depend on the curvature of both surfaces; they are
//! central differences of contacts found at poses displaced along the present velocities, which holds for any
//! shape.
//!
//! Each step is projected to the initial gaps and to admissible velocities along M⁻¹ Jᵀ. A phase ends before
//! a force would pull, a contact begins or ceases to slip, another point touches, or the equations have no
//! solution with a pushing force (Painlevé); the rest of the interval is a time step with impulses.

use super::motion_rate::{MotionRate, combine, dormand_prince_error};
use super::tuning::{
    KINEMATIC_PROBE_TIME, MAX_PHASE_CONTACTS, MAX_PHASE_STEPS, OVERLAP_SLOP, PHASE_END_RESOLUTION,
    PHASE_PROBE, PHASE_SEARCH_MARGIN, PHASE_TOLERANCE,
};
use crate::collision::WorldMirror;
use crate::collision::{ContactKey, ManifoldPoint};
use crate::rigid::Motion;
use crate::solver::Trajectory;
use crate::world::Status;
use glam::{DQuat, DVec3};
use rattleback_numerics::integrator::tableau::DORMAND_PRINCE;

/// Stages of Dormand and Prince's pair.
const STAGES: usize = 7;

/// Friction state of a contact during a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ContactMode {
    /// No slip.
    Rolling,
    /// Slip, with this initial velocity, m/s.
    Sliding(DVec3),
    /// No friction.
    Frictionless,
}

/// A contact point in a phase.
#[derive(Clone, Copy, Debug)]
struct PhaseContact {
    key: ContactKey,
    pair: [u32; 2],
    bodies: [usize; 2],
    /// Index among the manifold points of the island.
    point: usize,
    /// Initial gap, which is kept, m.
    initial_gap: f64,
    tolerance: f64,
    size: f64,
    friction: f64,
    mode: ContactMode,
    gap: f64,
    position: DVec3,
    normal: DVec3,
    /// ċ, m/s, and ṅ, 1/s.
    position_rate: DVec3,
    normal_rate: DVec3,
    /// Force on the second body, N.
    force: DVec3,
    /// Impulse on the second body over the accepted steps, N s.
    impulse: DVec3,
}

/// One unknown force component: its direction (`column`), and the direction in which the relative
/// acceleration vanishes (`row`).
#[derive(Clone, Copy, Debug)]
struct ForceUnknown {
    contact: usize,
    row: DVec3,
    column: DVec3,
    /// Accelerations v̇ and ω̇ of both bodies per unit force.
    response: [[DVec3; 2]; 2],
}

/// The interval in which a phase takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseInterval<'s> {
    /// Ballistic trajectories of all bodies.
    pub free: &'s [Trajectory],
    /// Begin, s.
    pub begin: f64,
    /// Length, s.
    pub time: f64,
    /// Slip speed up to which a contact sticks, m/s.
    pub stick_speed: f64,
}

/// Integrator of contact phases, with reusable storage.
#[derive(Debug, Default)]
pub(super) struct ContactPhase {
    contacts: Vec<PhaseContact>,
    /// Dynamic bodies with contacts.
    bodies: Vec<usize>,
    /// States of all bodies; those of the phase are the trial state.
    motion: Vec<Motion>,
    accelerations: Vec<[DVec3; 2]>,
    start: Vec<Motion>,
    trial: Vec<Motion>,
    rates: [Vec<MotionRate>; STAGES],
    /// Forces at each stage.
    forces: [Vec<DVec3>; STAGES],
    unknowns: Vec<ForceUnknown>,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    right: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    found_points: Vec<ManifoldPoint>,
    /// After each step: time since the beginning, s, and the states of the bodies of the phase.
    pub nodes: Vec<(f64, Vec<Motion>)>,
}

impl ContactPhase {
    /// Bodies of the last phase.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// (index of the manifold point, impulse on the second body, N s) of the last phase.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        self.contacts.iter().map(|contact| (contact.point, contact.impulse))
    }

    /// Integrates the bodies in contact while their contacts persist ⇒ the time covered, s; `None` if no
    /// phase begins here.
    pub fn run(
        &mut self,
        mirror: &mut WorldMirror,
        now: &[Motion],
        points: &[ManifoldPoint],
        span: PhaseInterval<'_>,
    ) -> Option<f64> {
        self.begin(mirror, now, points, span)?;
        self.evaluate_stage(mirror, span, 0.0, 0)?;
        if self.project_velocities(mirror) {
            self.evaluate_stage(mirror, span, 0.0, 0)?;
        }
        let (mut elapsed, mut h) = (0.0, span.time);
        self.nodes.clear();
        self.push_node(0.0);
        while elapsed < span.time {
            let last = h >= (span.time - elapsed) * (1.0 - 1e-9);
            h = if last { span.time - elapsed } else { h };
            self.start.clear();
            self.start.extend(self.bodies.iter().map(|body| self.motion[*body]));
            let first = self.contacts.clone();
            let Some(error) = self.try_step(mirror, span, elapsed, h) else {
                self.restore_start(&first);
                h *= 0.5;
                if h < PHASE_END_RESOLUTION * span.time {
                    break;
                }
                continue;
            };
            let shrink = 0.9 * (PHASE_TOLERANCE / error).powf(0.2);
            if (error > PHASE_TOLERANCE || error.is_nan()) && h > span.time / MAX_PHASE_STEPS {
                self.restore_start(&first);
                h *= if shrink.is_finite() { shrink.clamp(0.1, 0.9) } else { 0.1 };
                continue;
            }
            for (index, contact) in self.contacts.iter_mut().enumerate() {
                let mean: DVec3 = DORMAND_PRINCE.high[..STAGES - 1]
                    .iter()
                    .zip(&self.forces)
                    .map(|(b, forces)| *b * forces[index])
                    .sum();
                contact.impulse += h * mean;
            }
            elapsed = if last { span.time } else { elapsed + h };
            self.push_node(elapsed);
            self.rates.swap(0, STAGES - 1);
            self.forces.swap(0, STAGES - 1);
            h *= if shrink.is_finite() { shrink.clamp(0.3, 4.0) } else { 4.0 };
        }
        (elapsed > 0.0).then_some(elapsed)
    }

    fn push_node(&mut self, time: f64) {
        let states = self.bodies.iter().map(|body| self.motion[*body]).collect();
        self.nodes.push((time, states));
    }

    /// Restores the state before a rejected step.
    fn restore_start(&mut self, contacts: &[PhaseContact]) {
        for (body, motion) in self.bodies.iter().zip(&self.start) {
            self.motion[*body] = *motion;
        }
        self.contacts.copy_from_slice(contacts);
    }

    /// Selects the contacts and their friction states; `None` if no phase begins here.
    fn begin(
        &mut self,
        mirror: &WorldMirror,
        now: &[Motion],
        points: &[ManifoldPoint],
        span: PhaseInterval<'_>,
    ) -> Option<()> {
        self.contacts.clear();
        self.bodies.clear();
        let touching = points.iter().filter(|point| point.is_touching()).count();
        if touching == 0 || touching > MAX_PHASE_CONTACTS {
            return None;
        }
        let mut turn = 0.0_f64;
        for (index, point) in points.iter().enumerate().filter(|(_, point)| point.is_touching()) {
            let u = point.relative_velocity(now);
            let slip = u.y.hypot(u.z);
            let bodies = point.bodies.map(|body| body as usize);
            let speed = bodies.iter().map(|body| now[*body].v.length() + now[*body].omega.length());
            // A point that separates or overlaps does not persist.
            if u.x > 1e-6 * (1.0 + speed.sum::<f64>()) || point.gap < -1.5 * OVERLAP_SLOP * point.tolerance {
                return None;
            }
            let slides = slip > span.stick_speed;
            let friction = if slides { point.kinetic_friction } else { point.static_friction };
            for body in bodies {
                turn = turn.max(now[body].omega.length());
                if mirror.bodies[body].is_dynamic() && !self.bodies.contains(&body) {
                    self.bodies.push(body);
                }
            }
            self.contacts.push(PhaseContact {
                key: point.key,
                pair: point.pair,
                bodies,
                point: index,
                initial_gap: point.gap,
                tolerance: point.tolerance,
                size: mirror.pairs.get(&point.pair)?.size,
                friction,
                mode: match (friction > 0.0, slides) {
                    (false, _) => ContactMode::Frictionless,
                    (true, false) => ContactMode::Rolling,
                    (true, true) => ContactMode::Sliding(point.frame.y_axis * u.y + point.frame.z_axis * u.z),
                },
                gap: point.gap,
                position: point.position,
                normal: point.normal(),
                position_rate: DVec3::ZERO,
                normal_rate: DVec3::ZERO,
                force: DVec3::ZERO,
                impulse: DVec3::ZERO,
            });
        }
        // Bodies that press on each other must lose their overlaps, which a phase would keep.
        let overlaps = |contact: &PhaseContact| contact.initial_gap < -contact.tolerance;
        if self.bodies.len() > 1 && self.contacts.iter().any(overlaps) {
            return None;
        }
        // Without slip and rotation, contacts and forces are constant.
        let slides = self.contacts.iter().any(|contact| matches!(contact.mode, ContactMode::Sliding(_)));
        if turn * span.time < 1e-6 && !slides {
            return None;
        }
        self.motion.clear();
        self.motion.extend_from_slice(now);
        Some(())
    }

    /// A step from `start` ⇒ its local error; `None` if the contacts do not persist. The first stage has been
    /// evaluated; the last one is at the end of the step, after the projection, and is the first of the next.
    fn try_step(
        &mut self,
        mirror: &mut WorldMirror,
        span: PhaseInterval<'_>,
        elapsed: f64,
        h: f64,
    ) -> Option<f64> {
        self.trial.clone_from(&self.start);
        for stage in 1..STAGES {
            combine(&self.start, &self.rates, &DORMAND_PRINCE.a[stage], h, &mut self.trial);
            self.set_states(mirror, span, elapsed + DORMAND_PRINCE.c[stage] * h);
            if stage == STAGES - 1 {
                self.project_positions(mirror)?;
                self.project_velocities(mirror);
            }
            self.evaluate_stage(mirror, span, elapsed + DORMAND_PRINCE.c[stage] * h, stage)?;
            for (rate, motion) in self.rates[stage].iter_mut().zip(&self.trial) {
                rate.q *= motion.q.length();
            }
        }
        Some(dormand_prince_error(&self.start, &self.rates, h))
    }

    /// Makes `trial` the trial state, with kinematic bodies at the same time.
    fn set_states(&mut self, mirror: &WorldMirror, span: PhaseInterval<'_>, elapsed: f64) {
        for (body, motion) in self.bodies.iter().zip(&self.trial) {
            self.motion[*body] = Motion { q: motion.q.normalize(), ..*motion };
        }
        for contact in &self.contacts {
            for body in contact.bodies {
                if mirror.bodies[body].status == Status::Kinematic {
                    self.motion[body] =
                        mirror.bodies[body].kinematic_state(span.begin + elapsed, &self.motion[body]);
                }
            }
        }
    }

    /// Locates all contacts at the trial state; `None` if one has vanished, or another point overlaps.
    fn locate_contacts(&mut self, mirror: &mut WorldMirror) -> Option<()> {
        for first in 0..self.contacts.len() {
            let PhaseContact { pair: key, size, .. } = self.contacts[first];
            if self.contacts[..first].iter().any(|contact| contact.pair == key) {
                continue;
            }
            let WorldMirror { colliders, pairs, .. } = &mut *mirror;
            let pair = pairs.get_mut(&key)?;
            pair.find(colliders, &self.motion, PHASE_SEARCH_MARGIN * size).ok()?;
            self.found_points.clear();
            pair.push_points(colliders, &self.motion, 0.0, &mut self.found_points);
            let alone = self.contacts.iter().filter(|contact| contact.pair == key).count() == 1
                && self.found_points.len() == 1;
            for contact in self.contacts.iter_mut().filter(|contact| contact.pair == key) {
                let near = |point: &&ManifoldPoint| alone || point.key == contact.key;
                let place = self.found_points.iter().position(|point| near(&point))?;
                let found = self.found_points.swap_remove(place);
                (contact.position, contact.normal, contact.gap) = (found.position, found.normal(), found.gap);
            }
            let tolerance = self.contacts[first].tolerance;
            if self.found_points.iter().any(|point| point.gap < -tolerance) {
                return None;
            }
        }
        Some(())
    }

    /// ċ and ṅ of every contact, by central differences; `None` if one vanishes at a displaced pose.
    fn differentiate_contacts(&mut self, mirror: &mut WorldMirror) -> Option<()> {
        let size = self.contacts.iter().map(|contact| contact.size).fold(f64::INFINITY, f64::min);
        let bodies = self.contacts.iter().flat_map(|contact| contact.bodies);
        let speed = |body: usize| self.motion[body].v.length() / size + self.motion[body].omega.length();
        let fastest = bodies.map(speed).fold(0.0, f64::max);
        if fastest == 0.0 {
            return Some(());
        }
        let step = PHASE_PROBE / fastest;
        let (now, here) = (self.motion.clone(), self.contacts.clone());
        let mut displaced = [here.clone(), here.clone()];
        for (there, k) in displaced.iter_mut().zip([-step, step]) {
            for body in here.iter().flat_map(|contact| contact.bodies) {
                let motion = &now[body];
                let turn = DQuat::from_scaled_axis(k * motion.omega);
                self.motion[body] =
                    Motion { x: motion.x + k * motion.v, q: (turn * motion.q).normalize(), ..*motion };
            }
            self.locate_contacts(mirror)?;
            there.copy_from_slice(&self.contacts);
        }
        self.motion = now;
        self.contacts = here;
        for (index, contact) in self.contacts.iter_mut().enumerate() {
            let [before, after] = [&displaced[0][index], &displaced[1][index]];
            contact.position_rate = (after.position - before.position) / (2.0 * step);
            contact.normal_rate = (after.normal - before.normal) / (2.0 * step);
        }
        Some(())
    }

    /// Trial state ⇒ rates and forces of a stage; `None` if the contacts do not persist.
    fn evaluate_stage(
        &mut self,
        mirror: &mut WorldMirror,
        span: PhaseInterval<'_>,
        elapsed: f64,
        stage: usize,
    ) -> Option<()> {
        self.locate_contacts(mirror)?;
        self.differentiate_contacts(mirror)?;
        self.accelerations.clear();
        self.accelerations.resize(self.motion.len(), [DVec3::ZERO; 2]);
        for body in self.contacts.iter().flat_map(|contact| contact.bodies) {
            self.accelerations[body] = acceleration(mirror, span, elapsed, body, &self.motion[body]);
        }
        self.assemble(mirror, span.stick_speed)?;
        let n = self.unknowns.len();
        self.right.clear();
        for unknown in &self.unknowns {
            let contact = &self.contacts[unknown.contact];
            let [a, b] = contact.bodies.map(|body| {
                let (motion, [linear, angular]) = (&self.motion[body], self.accelerations[body]);
                linear
                    + angular.cross(contact.position - motion.x)
                    + motion.omega.cross(contact.position_rate - motion.v)
            });
            let mut known = unknown.row.dot(b - a);
            if unknown.row == contact.normal {
                let [a, b] = contact.bodies.map(|body| self.motion[body].velocity_at(contact.position));
                known += contact.normal_rate.dot(b - a);
            }
            self.right.push(-known);
        }
        self.solve(n)?;
        self.store_contact_forces()?;
        let forces = &mut self.forces[stage];
        forces.clear();
        forces.extend(self.contacts.iter().map(|contact| contact.force));
        for (unknown, force) in self.unknowns.iter().zip(&self.solution) {
            for (side, body) in self.contacts[unknown.contact].bodies.into_iter().enumerate() {
                let [linear, angular] = unknown.response[side];
                self.accelerations[body][0] += *force * linear;
                self.accelerations[body][1] += *force * angular;
            }
        }
        let rates = &mut self.rates[stage];
        rates.clear();
        rates.extend(
            self.bodies.iter().map(|body| MotionRate::new(&self.motion[*body], self.accelerations[*body])),
        );
        Some(())
    }

    /// Forces of the contacts from the unknowns; `None` if one pulls or leaves the friction cone.
    fn store_contact_forces(&mut self) -> Option<()> {
        for contact in &mut self.contacts {
            contact.force = DVec3::ZERO;
        }
        for (unknown, force) in self.unknowns.iter().zip(&self.solution) {
            self.contacts[unknown.contact].force += *force * unknown.column;
        }
        let most = self.contacts.iter().map(|contact| contact.force.length()).fold(0.0, f64::max);
        for contact in &self.contacts {
            let normal = contact.force.dot(contact.normal);
            let tangent = (contact.force - normal * contact.normal).length();
            if normal < -1e-9 * most
                || normal.is_nan()
                || contact.mode == ContactMode::Rolling
                    && tangent > contact.friction * normal.max(0.0) + 1e-9 * most
            {
                return None;
            }
        }
        Some(())
    }

    /// Sets up the unknown forces and their matrix; `None` if a slip has ended or reversed.
    fn assemble(&mut self, mirror: &WorldMirror, stick_speed: f64) -> Option<()> {
        self.unknowns.clear();
        for index in 0..self.contacts.len() {
            let contact = self.contacts[index];
            let n = contact.normal;
            match contact.mode {
                ContactMode::Frictionless => self.add_unknown(mirror, index, n, n),
                ContactMode::Rolling => {
                    let t = n.any_orthonormal_vector();
                    for axis in [n, t, n.cross(t)] {
                        self.add_unknown(mirror, index, axis, axis);
                    }
                }
                ContactMode::Sliding(first) => {
                    let [a, b] = contact.bodies.map(|body| self.motion[body].velocity_at(contact.position));
                    let u = b - a;
                    let slip = u - u.dot(n) * n;
                    if slip.length() <= stick_speed || slip.dot(first) <= 0.0 {
                        return None;
                    }
                    self.add_unknown(mirror, index, n, n - contact.friction * slip.normalize());
                }
            }
        }
        self.fill_matrix();
        // Painlevé: a pushing force that does not separate its own bodies; only an impulse solves it.
        let n = self.unknowns.len();
        (0..n).all(|i| self.matrix[i * n + i] > 0.0).then_some(())
    }

    fn add_unknown(&mut self, mirror: &WorldMirror, index: usize, row: DVec3, column: DVec3) {
        let contact = &self.contacts[index];
        let mut response = [[DVec3::ZERO; 2]; 2];
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let body = contact.bodies[side];
            if mirror.bodies[body].is_dynamic() {
                let (inertia, motion) = (&mirror.bodies[body].inertia, &self.motion[body]);
                let torque = (contact.position - motion.x).cross(sign * column);
                response[side] =
                    [sign * inertia.inverse_mass * column, inertia.angular_velocity(motion.q, torque)];
            }
        }
        self.unknowns.push(ForceUnknown { contact: index, row, column, response });
    }

    /// Fills the matrix: entry (i, j) is the acceleration along row i per unit of force j.
    fn fill_matrix(&mut self) {
        let n = self.unknowns.len();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for (i, one) in self.unknowns.iter().enumerate() {
            let contact = &self.contacts[one.contact];
            for (j, other) in self.unknowns.iter().enumerate() {
                let mut sum = 0.0;
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let body = contact.bodies[side];
                    let arm = contact.position - self.motion[body].x;
                    for (opposite, shared) in self.contacts[other.contact].bodies.iter().enumerate() {
                        if *shared == body {
                            let [v, omega] = other.response[opposite];
                            sum += sign * one.row.dot(v + omega.cross(arm));
                        }
                    }
                }
                self.matrix[i * n + j] = sum;
            }
        }
    }

    /// Solves A x = b. Redundant points make A singular, so it is regularised, with iterative refinement of
    /// the residual; `None` if that does not converge.
    fn solve(&mut self, n: usize) -> Option<()> {
        let trace: f64 = (0..n).map(|i| self.matrix[i * n + i]).sum();
        self.factors.clone_from(&self.matrix);
        for i in 0..n {
            self.factors[i * n + i] += 1e-9 * trace / n as f64;
        }
        factor(&mut self.factors, n, &mut self.order)?;
        self.solution.clear();
        self.solution.resize(n, 0.0);
        let size = self.right.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for _ in 0..4 {
            self.residual.clear();
            for i in 0..n {
                let row = &self.matrix[i * n..(i + 1) * n];
                let product: f64 = row.iter().zip(&self.solution).map(|(a, x)| a * x).sum();
                self.residual.push(self.right[i] - product);
            }
            let off = self.residual.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if off <= 1e-13 * size {
                return Some(());
            }
            substitute(&self.factors, n, &self.order, &mut self.residual);
            for (x, more) in self.solution.iter_mut().zip(&self.residual) {
                *x += more;
            }
        }
        let row = |i: usize| &self.matrix[i * n..(i + 1) * n];
        let off =
            |i: usize| self.right[i] - row(i).iter().zip(&self.solution).map(|(a, x)| a * x).sum::<f64>();
        (0..n).all(|i| off(i).abs() <= 1e-9 * size).then_some(())
    }

    /// Projects velocities: no slip at rolling contacts, no normal velocity at any ⇒ whether they changed.
    fn project_velocities(&mut self, mirror: &WorldMirror) -> bool {
        let saved = std::mem::take(&mut self.unknowns);
        for index in 0..self.contacts.len() {
            let PhaseContact { normal: n, mode, .. } = self.contacts[index];
            self.add_unknown(mirror, index, n, n);
            if mode == ContactMode::Rolling {
                let t = n.any_orthonormal_vector();
                self.add_unknown(mirror, index, t, t);
                self.add_unknown(mirror, index, n.cross(t), n.cross(t));
            }
        }
        self.right.clear();
        for unknown in &self.unknowns {
            let contact = &self.contacts[unknown.contact];
            let [a, b] = contact.bodies.map(|body| self.motion[body].velocity_at(contact.position));
            self.right.push(-unknown.row.dot(b - a));
        }
        let n = self.unknowns.len();
        let off = self.right.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        self.fill_matrix();
        let moved = off > 1e-15 && self.solve(n).is_some();
        if moved {
            for (unknown, p) in self.unknowns.iter().zip(&self.solution) {
                for (side, body) in self.contacts[unknown.contact].bodies.into_iter().enumerate() {
                    let [linear, angular] = unknown.response[side];
                    self.motion[body].v += *p * linear;
                    self.motion[body].omega += *p * angular;
                }
            }
        }
        self.unknowns = saved;
        moved
    }

    /// Projects positions to the initial gaps; `None` if that fails.
    fn project_positions(&mut self, mirror: &mut WorldMirror) -> Option<()> {
        for _ in 0..4 {
            self.locate_contacts(mirror)?;
            let off =
                |contact: &PhaseContact| (contact.gap - contact.initial_gap).abs() > 1e-4 * contact.tolerance;
            if !self.contacts.iter().any(off) {
                return Some(());
            }
            let saved = std::mem::take(&mut self.unknowns);
            self.right.clear();
            for index in 0..self.contacts.len() {
                let PhaseContact { normal: n, gap, initial_gap, .. } = self.contacts[index];
                self.add_unknown(mirror, index, n, n);
                self.right.push(initial_gap - gap);
            }
            self.fill_matrix();
            let solved = self.solve(self.unknowns.len());
            for (unknown, p) in self.unknowns.iter().zip(&self.solution).filter(|_| solved.is_some()) {
                for (side, body) in self.contacts[unknown.contact].bodies.into_iter().enumerate() {
                    let [linear, angular] = unknown.response[side];
                    let motion = &mut self.motion[body];
                    motion.x += *p * linear;
                    motion.q = (DQuat::from_scaled_axis(*p * angular) * motion.q).normalize();
                }
            }
            self.unknowns = saved;
            solved?;
        }
        self.locate_contacts(mirror)
    }
}

/// v̇ and ω̇ of a body without contacts: I ω̇ = τ − ω × I ω; those of its path for a kinematic body.
fn acceleration(
    mirror: &WorldMirror,
    span: PhaseInterval<'_>,
    elapsed: f64,
    body: usize,
    motion: &Motion,
) -> [DVec3; 2] {
    let trajectory = span.free[body];
    let body = &mirror.bodies[body];
    match trajectory {
        Trajectory::Ballistic { acceleration, torque } => {
            let gyroscopic = motion.omega.cross(body.inertia.angular_momentum(motion.q, motion.omega));
            [
                acceleration - body.inertia.linear_damping * motion.v,
                body.inertia.angular_velocity(motion.q, torque - gyroscopic)
                    - body.inertia.angular_damping * motion.omega,
            ]
        }
        Trajectory::Kinematic => {
            let at = |time: f64| body.kinematic_state(span.begin + elapsed + time, motion);
            let (before, after) = (at(-KINEMATIC_PROBE_TIME), at(KINEMATIC_PROBE_TIME));
            [
                (after.v - before.v) / (2.0 * KINEMATIC_PROBE_TIME),
                (after.omega - before.omega) / (2.0 * KINEMATIC_PROBE_TIME),
            ]
        }
        _ => [DVec3::ZERO; 2],
    }
}

/// A ⇒ L U with partial pivoting; `None` if it is singular.
fn factor(a: &mut [f64], n: usize, order: &mut Vec<usize>) -> Option<()> {
    order.clear();
    order.extend(0..n);
    for column in 0..n {
        let largest = |row: &usize| a[row * n + column].abs();
        let pivot = (column..n).max_by(|x, y| largest(x).total_cmp(&largest(y)))?;
        if !(a[pivot * n + column].abs() > 0.0 && a[pivot * n + column].is_finite()) {
            return None;
        }
        if pivot != column {
            order.swap(pivot, column);
            for k in 0..n {
                a.swap(pivot * n + k, column * n + k);
            }
        }
        for row in column + 1..n {
            let share = a[row * n + column] / a[column * n + column];
            a[row * n + column] = share;
            for k in column + 1..n {
                a[row * n + k] -= share * a[column * n + k];
            }
        }
    }
    Some(())
}

/// x ← A⁻¹ x.
fn substitute(factors: &[f64], n: usize, order: &[usize], x: &mut Vec<f64>) {
    let mut y: Vec<f64> = order.iter().map(|row| x[*row]).collect();
    for i in 0..n {
        for k in 0..i {
            y[i] -= factors[i * n + k] * y[k];
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            y[i] -= factors[i * n + k] * y[k];
        }
        y[i] /= factors[i * n + i];
    }
    *x = y;
}
