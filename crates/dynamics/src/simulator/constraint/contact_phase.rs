//! Contact phases: bodies that roll, pivot or slide on each other while the same points touch.
//!
//! A time step with contacts fixed where they were at its beginning is of the first order: the point of contact of a rolling body moves over its
//! surface, c(t), and forces, arms and the velocity that is to vanish there move with it. So while contacts only persist, their forces are found
//! at every stage of a Runge–Kutta method instead. With u = J(q) v the relative velocity at the points of contact,
//!
//!   M v̇ = f + Jᵀ F,   u̇ = J v̇ + J̇ v = 0 for n, and for t and k where there is no slip;
//!
//! where there is, F_τ = −μ F_n u_τ/|u_τ| and the equation for n remains. With β = v̇* + ω̇*×(c − x) + ω×(ċ − v) on either side,
//! J̇ v is in β_B − β_A and ṅ·u. ċ and ṅ depend on the curvature of both surfaces; they are differences of contacts found a little earlier and
//! later on the present velocities, which holds for any shape.
//!
//! Each step is put back to where gaps and velocities are as they should be, along M⁻¹ Jᵀ. A phase ends before a force would have to pull, a
//! contact begins or ends to slip, another point comes to touch, or the equations have no solution with a push (Painlevé): whatever happens
//! then is left to the impulses of a time step.

use super::dormand_prince::{self as method, RESULT, STAGES, TIMES};
use super::fehlberg::Rate;
use super::force::Course;
use super::roster::Roster;
use super::touch::{Name, Touch, slop};
use crate::motion::Motion;
use crate::world::Status;
use glam::{DQuat, DVec3};

/// How far bodies move for a look at a contact earlier or later, in parts of the smaller body, or turn, in rad.
const GLANCE: f64 = 3e-5;
/// Contacts are looked for within this, in parts of the smaller body.
const MARGIN: f64 = 0.02;
/// Time between two looks at an animated body, for its acceleration, s.
const MOMENT: f64 = 1e-5;
/// Most points in a phase; more are left to the time step.
const MOST_CONTACTS: usize = 8;
/// Local error of a step: m, rad, and parts of velocities.
const TOLERANCE: f64 = 1e-9;
/// A phase is cut into at most so many steps by its error, and its end is found to within this part of the interval.
const MOST_STEPS: f64 = 64.0;
const RESOLUTION: f64 = 1.0 / 16.0;

/// What a contact does during a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// There is no slip.
    Rolls,
    /// There is, at the beginning this one.
    Slides(DVec3),
    /// Without friction slip does not matter.
    Smooth,
}

/// A point of contact in a phase.
#[derive(Clone, Copy, Debug)]
struct Point {
    name: Name,
    pair: [u32; 2],
    actors: [usize; 2],
    /// Place among the touches of the island.
    touch: usize,
    /// Gap that is kept, m.
    gap_kept: f64,
    tolerance: f64,
    size: f64,
    friction: f64,
    mode: Mode,
    gap: f64,
    place: DVec3,
    normal: DVec3,
    /// ċ and ṅ.
    place_rate: DVec3,
    normal_rate: DVec3,
    /// On the second body, N.
    force: DVec3,
    /// Over the steps that are done, N s.
    impulse: DVec3,
}

/// One unknown force: a direction of it, and the direction along which the acceleration is to vanish.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    point: usize,
    row: DVec3,
    column: DVec3,
    /// What a unit of it does to the velocities of both bodies.
    response: [[DVec3; 2]; 2],
}

/// An interval that a phase may cover.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'s> {
    pub free: &'s [Course],
    pub begin: f64,
    pub time: f64,
    pub stick_speed: f64,
}

/// Room for phases.
#[derive(Debug, Default)]
pub(super) struct ContactPhase {
    points: Vec<Point>,
    /// Bodies that the contacts move.
    bodies: Vec<usize>,
    /// States of all bodies, those of the phase as they are looked at now.
    motion: Vec<Motion>,
    accelerations: Vec<[DVec3; 2]>,
    start: Vec<Motion>,
    trial: Vec<Motion>,
    rates: [Vec<Rate>; STAGES],
    /// Forces at each stage.
    forces: [Vec<DVec3>; STAGES],
    unknowns: Vec<Unknown>,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    right: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    looked: Vec<Touch>,
    /// States after each step: (time since the beginning, of each body).
    pub nodes: Vec<(f64, Vec<Motion>)>,
}

impl ContactPhase {
    /// Bodies of the last phase.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// (place among the touches, impulse on the second body) of the last phase.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        self.points.iter().map(|point| (point.touch, point.impulse))
    }

    /// Carries the bodies in contact over as much of an interval as their contacts persist ⇒ how long that is; nothing if no phase begins here.
    pub fn run(
        &mut self,
        roster: &mut Roster,
        now: &[Motion],
        touches: &[Touch],
        span: Span<'_>,
    ) -> Option<f64> {
        self.take(roster, now, touches, span)?;
        self.rate(roster, span, 0.0, 0)?;
        if self.settle_velocities(roster) {
            self.rate(roster, span, 0.0, 0)?;
        }
        let (mut gone, mut h) = (0.0, span.time);
        self.nodes.clear();
        self.keep_node(0.0);
        while gone < span.time {
            let last = h >= (span.time - gone) * (1.0 - 1e-9);
            h = if last { span.time - gone } else { h };
            self.start.clear();
            self.start.extend(self.bodies.iter().map(|body| self.motion[*body]));
            let first = self.points.clone();
            let Some(error) = self.attempt(roster, span, gone, h) else {
                self.go_back(&first);
                h *= 0.5;
                if h < RESOLUTION * span.time {
                    break;
                }
                continue;
            };
            let shrink = 0.9 * (TOLERANCE / error).powf(0.2);
            if (error > TOLERANCE || error.is_nan()) && h > span.time / MOST_STEPS {
                self.go_back(&first);
                h *= if shrink.is_finite() { shrink.clamp(0.1, 0.9) } else { 0.1 };
                continue;
            }
            for (index, point) in self.points.iter_mut().enumerate() {
                let mean: DVec3 = RESULT.iter().zip(&self.forces).map(|(b, forces)| *b * forces[index]).sum();
                point.impulse += h * mean;
            }
            gone = if last { span.time } else { gone + h };
            self.keep_node(gone);
            self.rates.swap(0, STAGES - 1);
            self.forces.swap(0, STAGES - 1);
            h *= if shrink.is_finite() { shrink.clamp(0.3, 4.0) } else { 4.0 };
        }
        (gone > 0.0).then_some(gone)
    }

    fn keep_node(&mut self, time: f64) {
        let states = self.bodies.iter().map(|body| self.motion[*body]).collect();
        self.nodes.push((time, states));
    }

    /// Puts back what an attempt has moved.
    fn go_back(&mut self, points: &[Point]) {
        for (body, motion) in self.bodies.iter().zip(&self.start) {
            self.motion[*body] = *motion;
        }
        self.points.copy_from_slice(points);
    }

    /// Chooses the points and what they do; nothing if some are not for a phase.
    fn take(&mut self, roster: &Roster, now: &[Motion], touches: &[Touch], span: Span<'_>) -> Option<()> {
        self.points.clear();
        self.bodies.clear();
        let touching = touches.iter().filter(|touch| touch.touches()).count();
        if touching == 0 || touching > MOST_CONTACTS {
            return None;
        }
        let mut turn = 0.0_f64;
        for (index, touch) in touches.iter().enumerate().filter(|(_, touch)| touch.touches()) {
            let u = touch.relative_velocity(now);
            let slip = u.y.hypot(u.z);
            let actors = touch.actors.map(|actor| actor as usize);
            let speed = actors.iter().map(|actor| now[*actor].v.length() + now[*actor].omega.length());
            // A contact that is left, or is overlapped in, is none that persists.
            if u.x > 1e-6 * (1.0 + speed.sum::<f64>()) || touch.gap < -1.5 * slop(touch.tolerance) {
                return None;
            }
            let slides = slip > span.stick_speed;
            let friction = if slides { touch.kinetic_friction } else { touch.static_friction };
            for actor in actors {
                turn = turn.max(now[actor].omega.length());
                if roster.actors[actor].is_dynamic() && !self.bodies.contains(&actor) {
                    self.bodies.push(actor);
                }
            }
            self.points.push(Point {
                name: touch.name,
                pair: touch.pair,
                actors,
                touch: index,
                gap_kept: touch.gap,
                tolerance: touch.tolerance,
                size: roster.pairs.get(&touch.pair)?.size,
                friction,
                mode: match (friction > 0.0, slides) {
                    (false, _) => Mode::Smooth,
                    (true, false) => Mode::Rolls,
                    (true, true) => Mode::Slides(touch.frame.y_axis * u.y + touch.frame.z_axis * u.z),
                },
                gap: touch.gap,
                place: touch.point,
                normal: touch.normal(),
                place_rate: DVec3::ZERO,
                normal_rate: DVec3::ZERO,
                force: DVec3::ZERO,
                impulse: DVec3::ZERO,
            });
        }
        // What neither slides nor turns has contacts and forces that stay as they are.
        let slides = self.points.iter().any(|point| matches!(point.mode, Mode::Slides(_)));
        if turn * span.time < 1e-6 && !slides {
            return None;
        }
        self.motion.clear();
        self.motion.extend_from_slice(now);
        Some(())
    }

    /// A step from where the bodies are ⇒ its error; nothing if the contacts do not persist. The first stage has been done, and the last one is
    /// at the end, where the bodies stand then.
    fn attempt(&mut self, roster: &mut Roster, span: Span<'_>, gone: f64, h: f64) -> Option<f64> {
        self.trial.clone_from(&self.start);
        for stage in 1..STAGES {
            method::stage(&self.start, &self.rates, stage, h, &mut self.trial);
            self.place(roster, span, gone + TIMES[stage] * h);
            if stage == STAGES - 1 {
                self.settle_places(roster)?;
                self.settle_velocities(roster);
            }
            self.rate(roster, span, gone + TIMES[stage] * h, stage)?;
            for (rate, motion) in self.rates[stage].iter_mut().zip(&self.trial) {
                rate.q *= motion.q.length();
            }
        }
        Some(method::error(&self.start, &self.rates, h))
    }

    /// Puts the bodies where they are in `trial`, and animated ones where they are then.
    fn place(&mut self, roster: &Roster, span: Span<'_>, gone: f64) {
        for (body, motion) in self.bodies.iter().zip(&self.trial) {
            self.motion[*body] = Motion { q: motion.q.normalize(), ..*motion };
        }
        for point in &self.points {
            for actor in point.actors {
                if roster.actors[actor].status == Status::Animated {
                    self.motion[actor] =
                        roster.actors[actor].scripted(span.begin + gone, &self.motion[actor]);
                }
            }
        }
    }

    /// Finds every point where the bodies are now; nothing if one is not there any more, or another one has come.
    fn find_points(&mut self, roster: &mut Roster) -> Option<()> {
        for first in 0..self.points.len() {
            let Point { pair: key, size, .. } = self.points[first];
            if self.points[..first].iter().any(|point| point.pair == key) {
                continue;
            }
            let Roster { parts, pairs, .. } = &mut *roster;
            let pair = pairs.get_mut(&key)?;
            pair.find(parts, &self.motion, MARGIN * size).ok()?;
            self.looked.clear();
            pair.touches(parts, &self.motion, 0.0, &mut self.looked);
            let alone =
                self.points.iter().filter(|point| point.pair == key).count() == 1 && self.looked.len() == 1;
            for point in self.points.iter_mut().filter(|point| point.pair == key) {
                let near = |touch: &&Touch| alone || touch.name == point.name;
                let place = self.looked.iter().position(|touch| near(&touch))?;
                let found = self.looked.swap_remove(place);
                (point.place, point.normal, point.gap) = (found.point, found.normal(), found.gap);
            }
            let tolerance = self.points[first].tolerance;
            if self.looked.iter().any(|touch| touch.gap < -tolerance) {
                return None;
            }
        }
        Some(())
    }

    /// ċ and ṅ of every point.
    fn find_rates(&mut self, roster: &mut Roster) -> Option<()> {
        let size = self.points.iter().map(|point| point.size).fold(f64::INFINITY, f64::min);
        let actors = self.points.iter().flat_map(|point| point.actors);
        let speed = |actor: usize| self.motion[actor].v.length() / size + self.motion[actor].omega.length();
        let fastest = actors.map(speed).fold(0.0, f64::max);
        if fastest == 0.0 {
            return Some(());
        }
        let step = GLANCE / fastest;
        let (now, here) = (self.motion.clone(), self.points.clone());
        let mut looks = [here.clone(), here.clone()];
        for (look, k) in looks.iter_mut().zip([-step, step]) {
            for actor in here.iter().flat_map(|point| point.actors) {
                let motion = &now[actor];
                let turn = DQuat::from_scaled_axis(k * motion.omega);
                self.motion[actor] =
                    Motion { x: motion.x + k * motion.v, q: (turn * motion.q).normalize(), ..*motion };
            }
            self.find_points(roster)?;
            look.copy_from_slice(&self.points);
        }
        self.motion = now;
        self.points = here;
        for (index, point) in self.points.iter_mut().enumerate() {
            let [before, after] = [&looks[0][index], &looks[1][index]];
            point.place_rate = (after.place - before.place) / (2.0 * step);
            point.normal_rate = (after.normal - before.normal) / (2.0 * step);
        }
        Some(())
    }

    /// Accelerations of the bodies as they stand ⇒ a stage; nothing if the contacts do not persist.
    fn rate(&mut self, roster: &mut Roster, span: Span<'_>, gone: f64, stage: usize) -> Option<()> {
        self.find_points(roster)?;
        self.find_rates(roster)?;
        self.accelerations.clear();
        self.accelerations.resize(self.motion.len(), [DVec3::ZERO; 2]);
        for actor in self.points.iter().flat_map(|point| point.actors) {
            self.accelerations[actor] = acceleration(roster, span, gone, actor, &self.motion[actor]);
        }
        self.pose(roster, span.stick_speed)?;
        let n = self.unknowns.len();
        self.right.clear();
        for unknown in &self.unknowns {
            let point = &self.points[unknown.point];
            let [a, b] = point.actors.map(|actor| {
                let (motion, [linear, angular]) = (&self.motion[actor], self.accelerations[actor]);
                linear
                    + angular.cross(point.place - motion.x)
                    + motion.omega.cross(point.place_rate - motion.v)
            });
            let mut known = unknown.row.dot(b - a);
            if unknown.row == point.normal {
                let [a, b] = point.actors.map(|actor| self.motion[actor].velocity_at(point.place));
                known += point.normal_rate.dot(b - a);
            }
            self.right.push(-known);
        }
        self.solve(n)?;
        self.take_forces()?;
        let forces = &mut self.forces[stage];
        forces.clear();
        forces.extend(self.points.iter().map(|point| point.force));
        for (unknown, force) in self.unknowns.iter().zip(&self.solution) {
            for (side, actor) in self.points[unknown.point].actors.into_iter().enumerate() {
                let [linear, angular] = unknown.response[side];
                self.accelerations[actor][0] += *force * linear;
                self.accelerations[actor][1] += *force * angular;
            }
        }
        let rates = &mut self.rates[stage];
        rates.clear();
        rates
            .extend(self.bodies.iter().map(|body| Rate::new(&self.motion[*body], self.accelerations[*body])));
        Some(())
    }

    /// Forces of the points from the unknowns; nothing if one pulls, or holds more than friction can.
    fn take_forces(&mut self) -> Option<()> {
        for point in &mut self.points {
            point.force = DVec3::ZERO;
        }
        for (unknown, force) in self.unknowns.iter().zip(&self.solution) {
            self.points[unknown.point].force += *force * unknown.column;
        }
        let most = self.points.iter().map(|point| point.force.length()).fold(0.0, f64::max);
        for point in &self.points {
            let normal = point.force.dot(point.normal);
            let tangent = (point.force - normal * point.normal).length();
            if normal < -1e-9 * most
                || normal.is_nan()
                || point.mode == Mode::Rolls && tangent > point.friction * normal.max(0.0) + 1e-9 * most
            {
                return None;
            }
        }
        Some(())
    }

    /// Which forces there are, and their matrix; nothing if a slip has ended.
    fn pose(&mut self, roster: &Roster, stick_speed: f64) -> Option<()> {
        self.unknowns.clear();
        for index in 0..self.points.len() {
            let point = self.points[index];
            let n = point.normal;
            match point.mode {
                Mode::Smooth => self.add_unknown(roster, index, n, n),
                Mode::Rolls => {
                    let t = n.any_orthonormal_vector();
                    for axis in [n, t, n.cross(t)] {
                        self.add_unknown(roster, index, axis, axis);
                    }
                }
                Mode::Slides(first) => {
                    let [a, b] = point.actors.map(|actor| self.motion[actor].velocity_at(point.place));
                    let u = b - a;
                    let slip = u - u.dot(n) * n;
                    if slip.length() <= stick_speed || slip.dot(first) <= 0.0 {
                        return None;
                    }
                    self.add_unknown(roster, index, n, n - point.friction * slip.normalize());
                }
            }
        }
        self.fill_matrix();
        // A push that does not push its own bodies apart has no answer but an impulse.
        let n = self.unknowns.len();
        (0..n).all(|i| self.matrix[i * n + i] > 0.0).then_some(())
    }

    fn add_unknown(&mut self, roster: &Roster, index: usize, row: DVec3, column: DVec3) {
        let point = &self.points[index];
        let mut response = [[DVec3::ZERO; 2]; 2];
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let actor = point.actors[side];
            if roster.actors[actor].is_dynamic() {
                let (inertia, motion) = (&roster.actors[actor].inertia, &self.motion[actor]);
                let torque = (point.place - motion.x).cross(sign * column);
                response[side] =
                    [sign * inertia.inverse_mass * column, inertia.angular_velocity(motion.q, torque)];
            }
        }
        self.unknowns.push(Unknown { point: index, row, column, response });
    }

    fn fill_matrix(&mut self) {
        let n = self.unknowns.len();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for (i, one) in self.unknowns.iter().enumerate() {
            let place = &self.points[one.point];
            for (j, other) in self.unknowns.iter().enumerate() {
                let mut sum = 0.0;
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let actor = place.actors[side];
                    let arm = place.place - self.motion[actor].x;
                    for (opposite, shared) in self.points[other.point].actors.iter().enumerate() {
                        if *shared == actor {
                            let [v, omega] = other.response[opposite];
                            sum += sign * one.row.dot(v + omega.cross(arm));
                        }
                    }
                }
                self.matrix[i * n + j] = sum;
            }
        }
    }

    /// A x = b into `solution`. Points that repeat each other make A singular: it is solved a little softened, and what that misses is solved for
    /// again. Nothing if it stays off.
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

    /// The nearest velocities that leave no slip where there was none and neither open nor close a gap ⇒ whether they are others.
    fn settle_velocities(&mut self, roster: &Roster) -> bool {
        let kept = std::mem::take(&mut self.unknowns);
        for index in 0..self.points.len() {
            let Point { normal: n, mode, .. } = self.points[index];
            self.add_unknown(roster, index, n, n);
            if mode == Mode::Rolls {
                let t = n.any_orthonormal_vector();
                self.add_unknown(roster, index, t, t);
                self.add_unknown(roster, index, n.cross(t), n.cross(t));
            }
        }
        self.right.clear();
        for unknown in &self.unknowns {
            let point = &self.points[unknown.point];
            let [a, b] = point.actors.map(|actor| self.motion[actor].velocity_at(point.place));
            self.right.push(-unknown.row.dot(b - a));
        }
        let n = self.unknowns.len();
        let off = self.right.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        self.fill_matrix();
        let moved = off > 1e-15 && self.solve(n).is_some();
        if moved {
            for (unknown, p) in self.unknowns.iter().zip(&self.solution) {
                for (side, actor) in self.points[unknown.point].actors.into_iter().enumerate() {
                    let [linear, angular] = unknown.response[side];
                    self.motion[actor].v += *p * linear;
                    self.motion[actor].omega += *p * angular;
                }
            }
        }
        self.unknowns = kept;
        moved
    }

    /// The nearest places where gaps are what they were.
    fn settle_places(&mut self, roster: &mut Roster) -> Option<()> {
        for _ in 0..4 {
            self.find_points(roster)?;
            let off = |point: &Point| (point.gap - point.gap_kept).abs() > 1e-4 * point.tolerance;
            if !self.points.iter().any(off) {
                return Some(());
            }
            let kept = std::mem::take(&mut self.unknowns);
            self.right.clear();
            for index in 0..self.points.len() {
                let Point { normal: n, gap, gap_kept, .. } = self.points[index];
                self.add_unknown(roster, index, n, n);
                self.right.push(gap_kept - gap);
            }
            self.fill_matrix();
            let solved = self.solve(self.unknowns.len());
            for (unknown, p) in self.unknowns.iter().zip(&self.solution).filter(|_| solved.is_some()) {
                for (side, actor) in self.points[unknown.point].actors.into_iter().enumerate() {
                    let [linear, angular] = unknown.response[side];
                    let motion = &mut self.motion[actor];
                    motion.x += *p * linear;
                    motion.q = (DQuat::from_scaled_axis(*p * angular) * motion.q).normalize();
                }
            }
            self.unknowns = kept;
            solved?;
        }
        self.find_points(roster)
    }
}

/// v̇ and ω̇ of a body without contacts: I ω̇ = τ − ω × I ω; along its path if it has one.
fn acceleration(roster: &Roster, span: Span<'_>, gone: f64, actor: usize, motion: &Motion) -> [DVec3; 2] {
    let body = &roster.actors[actor];
    match span.free[actor] {
        Course::Free { acceleration, torque } => {
            let gyroscopic = motion.omega.cross(body.inertia.angular_momentum(motion.q, motion.omega));
            [
                acceleration - body.inertia.linear_damping * motion.v,
                body.inertia.angular_velocity(motion.q, torque - gyroscopic)
                    - body.inertia.angular_damping * motion.omega,
            ]
        }
        Course::Scripted => {
            let at = |time: f64| body.scripted(span.begin + gone + time, motion);
            let (before, after) = (at(-MOMENT), at(MOMENT));
            [(after.v - before.v) / (2.0 * MOMENT), (after.omega - before.omega) / (2.0 * MOMENT)]
        }
        _ => [DVec3::ZERO; 2],
    }
}

/// A ⇒ L U with rows exchanged; nothing if it is singular.
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
