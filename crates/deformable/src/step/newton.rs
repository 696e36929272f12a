//! Newton's method on the incremental potential, kept free of intersections.
//!
//! 1. Every vertex goes on by h v, shortened where it would hit something.
//! 2. H p = −∇P with H positive definite: elements projected, contacts, friction and attachments as couplings. Conjugate gradients.
//! 3. p is shortened to a time that is proved to be free of contact, then halved until P does not grow.
//! 4. Until no vertex moves faster than the tolerance. Pinned vertices and driven bodies are moved towards their targets as
//!    part of p, and wait where something is in their way.
//!
//! Impulses on rigid bodies are those of the contacts, friction and attachments at the end: what a body receives, its
//! partners lose to rounding. Whatever the number of iterations, no iterate passes through a surface.

use glam::{DMat3, DVec3};

use super::incremental::{Problem, anchor, relative};
use super::{Method, StepReport, Workspace};
use crate::conjugate_gradients::Operator;
use crate::contact::barrier::barrier;
use crate::contact::intersections;
use crate::dual::outer;
use crate::element::Curvature;
use crate::forces::{Anchor, Attachment};
use crate::matrix::Couplings;
use crate::system::State;
use crate::{DeformableError, DeformableSystem, RigidStatus};

/// Halvings of the line search at most.
const MAX_HALVINGS: usize = 30;

/// Unknowns of an attachment with their weights: Σ w x = x_v − anchor + constant.
fn attachment_entries(state: &State, a: &Attachment) -> Vec<(u32, f64)> {
    let mut entries = vec![(a.vertex, 1.0)];
    match a.anchor {
        Anchor::Point(_) => {}
        Anchor::Vertex(v) => entries.push((v, -1.0)),
        Anchor::Body(index, local) => {
            let first = state.bodies[index as usize].first;
            entries.push((first, -1.0));
            for (k, c) in local.to_array().into_iter().enumerate() {
                entries.push((first + 1 + k as u32, -c));
            }
        }
    }
    entries
}

/// Attachments as couplings, times a factor.
pub(super) fn attachment_couplings(state: &State, scale: f64, out: &mut Couplings) {
    out.clear();
    for a in &state.attachments {
        let matrix = DMat3::from_diagonal(DVec3::splat(scale * a.stiffness));
        out.push(attachment_entries(state, a).into_iter(), matrix);
    }
}

impl DeformableSystem {
    /// Refuses to start from surfaces that intersect.
    fn verify(&mut self) -> Result<(), DeformableError> {
        if self.state.verified || self.state.settings.contact_distance == 0.0 {
            return Ok(());
        }
        let at = self.surface_positions();
        let found = intersections(&at, &self.surface.edges, &self.surface.triangles);
        if let Some(first) = found.first() {
            return Err(DeformableError::Intersecting {
                count: found.len(),
                edge: first.edge,
                triangle: first.triangle,
            });
        }
        for plane in &self.state.planes {
            for &p in &self.surface.corners {
                let inside = self.point_mass[p as usize].is_finite();
                if inside && !(plane.normal.dot(at[p as usize]) > plane.offset) {
                    let reason = "a surface point is not in front of a plane";
                    return Err(DeformableError::BadTopology { element: p as usize, reason });
                }
            }
        }
        self.state.verified = true;
        Ok(())
    }

    pub(super) fn newton_step(&mut self, h: f64) -> Result<StepReport, DeformableError> {
        self.verify()?;
        Self::choose_altitudes(&mut self.state);
        let mut work = std::mem::take(&mut self.work);
        let mut candidates = std::mem::take(&mut self.candidates);
        let second_order = self.state.settings.method == Method::NewtonBdf2
            && work.before.as_ref().is_some_and(|b| b.2 == h && b.0.len() == self.state.model.len());
        let s = if second_order { 2.0 / 3.0 * h } else { h };
        self.begin(&mut work, h, second_order);
        let problem = Problem::new(self, h, s);
        let report = problem.minimize(&mut work, &mut candidates);
        let impulses = problem.impulses(&work);
        let excess = problem.excess(&work);
        self.candidates = candidates;
        // Velocities of the formula that the potential belongs to.
        let model = &self.state.model;
        let mut v = std::mem::take(&mut work.force);
        for i in 0..model.len() {
            v[i] = match &work.before {
                Some((before, ..)) if second_order && !model.pinned[i] => {
                    (3.0 * work.x[i] - 4.0 * work.start[i] + before[i]) / (2.0 * h)
                }
                _ => (work.x[i] - work.start[i]) / h,
            };
            if !model.pinned[i] && !self.state.axis[i] {
                v[i] -= excess[self.state.group[i] as usize];
            }
        }
        let (mut x0, mut v0, _) = work.before.take().unwrap_or_default();
        x0.clone_from(&model.position);
        v0.clone_from(&model.velocity);
        let accepted = self.accept(&work.x, &v);
        work.before = accepted.is_ok().then_some((x0, v0, h));
        work.force = v;
        self.work = work;
        accepted?;
        for (body, [impulse, moment]) in self.state.bodies.iter_mut().zip(impulses) {
            (body.impulse, body.moment) = (impulse, moment);
        }
        Ok(report)
    }

    /// Start, prediction, damped elements and drag of a step.
    fn begin(&self, work: &mut Workspace, h: f64, second_order: bool) {
        let (state, model) = (&self.state, &self.state.model);
        let n = model.len();
        work.start.clone_from(&model.position);
        work.x.clone_from(&model.position);
        work.lists.load(model, &state.affines, &model.position, h);
        work.force.clear();
        work.force.resize(n, DVec3::ZERO);
        work.drag.clear();
        if let Some(air) = &state.air {
            work.drag.resize(n, DMat3::ZERO);
            for &t in &model.triangles {
                let at = t.map(|i| model.position[i as usize]);
                let (drag, lift) = air.on_triangle(at, t.map(|i| model.velocity[i as usize]));
                for i in t {
                    work.drag[i as usize] += drag * (1.0 / 3.0);
                    work.force[i as usize] += lift / 3.0;
                }
            }
        }
        let s = if second_order { 2.0 / 3.0 * h } else { h };
        work.predicted.clear();
        for i in 0..n {
            let (x, v) = (model.position[i], model.velocity[i]);
            let mut predicted = match &work.before {
                Some((x0, v0, _)) if second_order => (4.0 * x - x0[i]) / 3.0 + s * (4.0 * v - v0[i]) / 3.0,
                _ => x + h * v,
            };
            if !state.axis[i] {
                predicted += s * s * (state.settings.gravity + work.force[i] / model.mass[i]);
            }
            work.predicted.push(predicted);
        }
    }
}

impl Problem<'_> {
    /// Minimises the potential ⇒ `work.x`, with its contacts.
    fn minimize(
        &self,
        work: &mut Workspace,
        candidates: &mut crate::contact::candidates::Candidates,
    ) -> StepReport {
        let (state, model, settings) = (self.state, &self.state.model, &self.state.settings);
        let n = model.len();
        let mut report = StepReport { smallest_distance: f64::INFINITY, ..StepReport::default() };
        // 1. The first displacement.
        let mut direction = std::mem::take(&mut work.direction);
        direction.clear();
        direction.extend((0..n).map(|i| {
            if model.pinned[i] { state.target[i] - model.position[i] } else { self.h * model.velocity[i] }
        }));
        let mut points = std::mem::take(&mut work.points);
        let mut moved = std::mem::take(&mut work.points_trial);
        self.place(&work.x, &mut points);
        work.points_start.clone_from(&points);
        self.search(candidates, &points, &direction, (&work.points_start, &mut moved));
        let mut contacts = std::mem::take(&mut work.contacts);
        self.contacts(candidates, &points, &mut work.found, &mut contacts);
        let mut friction = std::mem::take(&mut work.friction);
        self.friction(&contacts, &mut friction);
        work.friction = friction;
        self.shorten(candidates, &points, &mut direction, &mut moved);
        self.place(&direction, &mut moved);
        let mut times = std::mem::take(&mut work.times);
        let free = self.time_of_impact(candidates, &points, &moved, &mut times);
        let mut trial = std::mem::take(&mut work.trial);
        trial.clear();
        trial.extend(work.x.iter().zip(&direction).map(|(x, p)| *x + free * *p));
        std::mem::swap(&mut work.x, &mut trial);
        self.place(&work.x, &mut points);
        self.contacts(candidates, &points, &mut work.found, &mut contacts);
        if contacts.iter().any(|c| !(c.distance > 0.0)) {
            // Rounding may bring a distance to zero only if it was at rounding before.
            work.x.clone_from(&work.start);
            self.place(&work.x, &mut points);
            self.contacts(candidates, &points, &mut work.found, &mut contacts);
        }
        let mut value = {
            let x = std::mem::take(&mut work.x);
            let value = self.value(work, &x, &points, &contacts);
            work.x = x;
            value
        };
        let mut trial_contacts = std::mem::take(&mut work.trial_contacts);
        for _ in 0..settings.max_iterations {
            report.iterations += 1;
            // 2. The direction.
            let rank_one = self.assemble(work, &points, &contacts);
            direction.clear();
            direction.resize(n, DVec3::ZERO);
            let mut waiting = false;
            for i in 0..n {
                if model.pinned[i] {
                    direction[i] = state.target[i] - work.x[i];
                    waiting |= direction[i].length_squared() > 0.0;
                }
            }
            for g in &mut work.gradient {
                *g = -*g;
            }
            let operator = Operator {
                matrix: &work.matrix,
                couplings: &work.couplings,
                fixed: &model.pinned,
                rank_one: &rank_one,
            };
            let limit = (3 * n).clamp(100, 10_000);
            let tolerance = settings.linear_tolerance;
            let solved = work.solver.solve(
                settings.threads,
                &operator,
                &work.gradient,
                &mut direction,
                tolerance,
                limit,
            );
            report.linear_iterations += solved.iterations;
            if direction.iter().any(|p| !p.is_finite()) {
                break;
            }
            let longest = direction.iter().map(|p| p.length_squared()).fold(0.0, f64::max).sqrt();
            report.residual = longest / self.h;
            report.converged = report.residual <= settings.tolerance;
            // 3. As far as it is free and not uphill.
            self.place(&direction, &mut moved);
            let ahead: Vec<DVec3> = points.iter().zip(&moved).map(|(x, p)| *x + *p).collect();
            if self.contact_on() && !candidates.contains(&ahead) {
                self.search(candidates, &points, &direction, (&work.points_start, &mut moved));
                self.place(&direction, &mut moved);
            }
            let mut t = self.time_of_impact(candidates, &points, &moved, &mut times);
            let slope: f64 = -work
                .gradient
                .iter()
                .zip(&direction)
                .zip(&model.pinned)
                .filter(|(_, p)| !**p)
                .map(|((g, p), _)| g.dot(*p))
                .sum::<f64>();
            let mut halvings = 0;
            loop {
                trial.clear();
                trial.extend(work.x.iter().zip(&direction).map(|(x, p)| *x + t * *p));
                let mut at = std::mem::take(&mut moved);
                self.place(&trial, &mut at);
                self.contacts(candidates, &at, &mut work.found, &mut trial_contacts);
                let new = self.value(work, &trial, &at, &trial_contacts);
                moved = at;
                // Differences below rounding of P decide nothing.
                let slack = 1e-12 * value.abs() + 1e-300;
                let downhill = new <= value + 1e-4 * t * slope.min(0.0) + slack;
                if new.is_finite() && (downhill || (waiting && halvings == 0)) {
                    value = new;
                    std::mem::swap(&mut work.x, &mut trial);
                    std::mem::swap(&mut points, &mut moved);
                    std::mem::swap(&mut contacts, &mut trial_contacts);
                    break;
                }
                halvings += 1;
                if halvings > MAX_HALVINGS {
                    break;
                }
                t *= 0.5;
            }
            if halvings > MAX_HALVINGS || (report.converged && t == 1.0) {
                break;
            }
            report.converged = false;
        }
        report.targets_reached = (0..n).all(|i| {
            !model.pinned[i]
                || work.x[i] == state.target[i]
                || work.x[i].distance(state.target[i]) <= 1e-12 * (1.0 + state.target[i].length())
        });
        report.candidates = candidates.pairs.len();
        report.contacts = contacts.len();
        report.smallest_distance =
            contacts.iter().map(|c| c.distance + c.floor).fold(f64::INFINITY, f64::min);
        work.contacts = contacts;
        work.trial_contacts = trial_contacts;
        work.direction = direction;
        work.points = points;
        work.points_trial = moved;
        work.trial = trial;
        work.times = times;
        report
    }

    /// Candidates for the way of all points along a displacement of the unknowns.
    fn search(
        &self,
        candidates: &mut crate::contact::candidates::Candidates,
        at: &[DVec3],
        direction: &[DVec3],
        (start, moved): (&[DVec3], &mut Vec<DVec3>),
    ) {
        if !self.contact_on() {
            return;
        }
        let settings = &self.state.settings;
        self.place(direction, moved);
        // The way of the next iterations is about as uncertain as gravity and a fraction of this one.
        let longest = moved.iter().map(|p| p.length_squared()).fold(0.0, f64::max).sqrt();
        let range = settings.contact_distance;
        let margin = range + settings.gravity.length() * self.h * self.h + 0.1 * longest;
        let ends: Vec<DVec3> = at.iter().zip(&*moved).map(|(x, p)| *x + *p).collect();
        candidates.search(settings.threads, self.surface, [at, &ends], margin, range);
        self.limit(candidates, start);
    }

    /// Gradient and matrix at `work.x` ⇒ rank-one terms.
    fn assemble(
        &self,
        work: &mut Workspace,
        at: &[DVec3],
        contacts: &[crate::contact::barrier::Contact],
    ) -> Vec<(Vec<DVec3>, f64)> {
        let (state, model) = (self.state, &self.state.model);
        let n = model.len();
        let h2 = self.s * self.s;
        work.gradient.clear();
        work.gradient.extend((0..n).map(|i| model.mass[i] * (work.x[i] - work.predicted[i])));
        work.matrix.value.fill(DMat3::ZERO);
        for i in 0..n {
            let mut d = DMat3::from_diagonal(DVec3::splat(model.mass[i]));
            if let Some(air) = &state.air {
                let c = work.drag[i] * (h2 / self.h);
                d += c;
                work.gradient[i] += c * (work.x[i] - work.start[i] - self.h * air.velocity);
            }
            work.matrix.value[work.matrix.diagonal[i] as usize] = d;
        }
        let factor = (h2, Curvature::Projected);
        let (gradient, matrix) = (&mut work.gradient, &mut work.matrix.value);
        work.lists.assemble(&work.plans, state.settings.threads, &work.x, factor, gradient, matrix);
        let couplings = &mut work.couplings;
        attachment_couplings(state, h2, couplings);
        for a in &state.attachments {
            let f = h2 * a.stiffness * (work.x[a.vertex as usize] - anchor(state, a, &work.x));
            for (v, w) in attachment_entries(state, a) {
                gradient[v as usize] += w * f;
            }
        }
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for c in contacts {
            let [_, first, second] = barrier(c.distance, c.range);
            self.entries(&c.points, &c.weights, &mut entries);
            for &(v, w) in &entries {
                gradient[v as usize] += c.scale * first * w * c.normal;
            }
            couplings.push(entries.iter().copied(), outer(c.normal, c.normal) * (c.scale * second));
        }
        for f in &work.friction {
            let (_, g, matrix) = f.evaluate(relative(f, at, &work.points_start));
            self.entries(&f.points, &f.weights, &mut entries);
            for &(v, w) in &entries {
                gradient[v as usize] += w * g;
            }
            couplings.push(entries.iter().copied(), matrix);
        }
        couplings.index(n);
        state
            .pressures
            .iter()
            .map(|p| {
                let (by_volume, curvature) = p.gradient(&work.x, h2, &mut work.gradient);
                (by_volume, h2 * curvature)
            })
            .filter(|(_, c)| *c > 0.0)
            .collect()
    }

    /// Unknowns of four weighted surface points, each once; those of fixed bodies are left out.
    fn entries(&self, points: &[u32; 4], weights: &[f64; 4], out: &mut Vec<(u32, f64)>) {
        out.clear();
        for (&p, &weight) in points.iter().zip(weights) {
            if weight == 0.0 || self.surface.fixed[p as usize] {
                continue;
            }
            self.unknowns(p, |v, w| match out.iter_mut().find(|e| e.0 == v) {
                Some(entry) => entry.1 += weight * w,
                None => out.push((v, weight * w)),
            });
        }
    }

    /// Velocity of each group that its forces at the end do not account for: the residual of the iteration.
    ///
    /// Forces of elements sum to zero over a group, so that Σ ∂P/∂x is inertia plus contacts, friction, drag, attachments and gas. Taken
    /// from the velocities of a group without pinned vertices, momentum is that of the forces to rounding. Residuals
    /// above ten times the tolerance (or the stick speed) are left.
    fn excess(&self, work: &Workspace) -> Vec<DVec3> {
        let (state, model) = (self.state, &self.state.model);
        let groups = state.friction.len();
        let (mut sum, mut mass, mut pinned) =
            (vec![DVec3::ZERO; groups], vec![0.0; groups], vec![false; groups]);
        for i in (0..model.len()).filter(|&i| !state.axis[i]) {
            let group = state.group[i] as usize;
            sum[group] += model.mass[i] * (work.x[i] - work.predicted[i]);
            mass[group] += model.mass[i];
            pinned[group] |= model.pinned[i];
            if let Some(air) = &state.air {
                let d = work.x[i] - work.start[i] - self.h * air.velocity;
                sum[group] += self.s * self.s / self.h * (work.drag[i] * d);
            }
        }
        let mut add = |points: &[u32; 4], weights: &[f64; 4], gradient: DVec3| {
            for (&p, &w) in points.iter().zip(weights) {
                sum[self.surface.group[p as usize] as usize] += w * gradient;
            }
        };
        for c in &work.contacts {
            add(&c.points, &c.weights, c.scale * barrier(c.distance, c.range)[1] * c.normal);
        }
        for f in &work.friction {
            add(&f.points, &f.weights, f.evaluate(relative(f, &work.points, &work.points_start)).1);
        }
        for a in &state.attachments {
            let f = self.s * self.s * a.stiffness * (work.x[a.vertex as usize] - anchor(state, a, &work.x));
            sum[state.group[a.vertex as usize] as usize] += f;
            match a.anchor {
                Anchor::Point(_) => {}
                Anchor::Vertex(v) => sum[state.group[v as usize] as usize] -= f,
                Anchor::Body(b, _) => sum[state.group[state.bodies[b as usize].first as usize] as usize] -= f,
            }
        }
        // A large residual is no momentum to be corrected but a step that is far from its solution.
        let limit = 10.0 * state.settings.tolerance.max(state.settings.stick_speed);
        (0..groups)
            .map(|g| {
                let excess = sum[g] / (self.s * mass[g]);
                if !pinned[g] && excess.length() <= limit { excess } else { DVec3::ZERO }
            })
            .collect()
    }

    /// [impulse, moment about the origin] on each rigid body at the end of the step.
    fn impulses(&self, work: &Workspace) -> Vec<[DVec3; 2]> {
        let bodies = &self.state.bodies;
        let mut out = vec![[DVec3::ZERO; 2]; bodies.len()];
        let index = |p: u32| {
            bodies.iter().position(|b| match self.points[p as usize] {
                crate::system::SurfacePoint::Rigid(first, _) => first == b.first,
                crate::system::SurfacePoint::Vertex(_) => false,
            })
        };
        if bodies.is_empty() {
            return out;
        }
        // P has the unit of energy times s², and velocities change by s/m times force.
        let mut add = |points: &[u32; 4], weights: &[f64; 4], gradient: DVec3| {
            for (&p, &w) in points.iter().zip(weights) {
                if w != 0.0
                    && let Some(k) = index(p)
                {
                    let impulse = -w / self.s * gradient;
                    out[k][0] += impulse;
                    out[k][1] += work.points[p as usize].cross(impulse);
                }
            }
        };
        for c in &work.contacts {
            add(&c.points, &c.weights, c.scale * barrier(c.distance, c.range)[1] * c.normal);
        }
        for f in &work.friction {
            add(&f.points, &f.weights, f.evaluate(relative(f, &work.points, &work.points_start)).1);
        }
        for a in &self.state.attachments {
            if let Anchor::Body(k, _) = a.anchor {
                let at = anchor(self.state, a, &work.x);
                let impulse = self.s * a.stiffness * (work.x[a.vertex as usize] - at);
                out[k as usize][0] += impulse;
                out[k as usize][1] += at.cross(impulse);
            }
        }
        for (out, body) in out.iter_mut().zip(bodies) {
            if body.status == RigidStatus::Fixed && !out[0].is_finite() {
                *out = [DVec3::ZERO; 2];
            }
        }
        out
    }
}
