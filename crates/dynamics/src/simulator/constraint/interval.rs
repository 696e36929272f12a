//! One interval of an island with contacts: velocities at its end, and trajectories to them.
//!
//! 1. Velocities v at the end by [`ForceSolver`], with contact impulses and joint rows.
//! 2. Positions from the mean velocity w = ½ (v₀ + v), exact for constant accelerations. Where w would leave
//!    a gap smaller than allowed (after a landing, by drift, or because bodies turn while they touch) or a
//!    joint open, the nearest w that does not, in the metric of M, replaces it: Newton's method on gaps and
//!    joint errors at the end of the interval. It moves the bodies and does not change v.

use super::force_solver::{ContactTarget, ForceReport, ForceSolver, RowTarget};
use super::joint_equations::UNBOUNDED;
use super::joint_rows::{ConstraintRow, RowContext};
use super::settings::ConstraintSettings;
use super::tuning::{
    APPROXIMATE_SWEEPS, APPROXIMATE_TOLERANCE, MAX_PIVOTED_CONTACTS, MAX_TRAJECTORY_PROJECTIONS,
    OVERLAP_RECOVERY, ROLLING_FRICTION_ROUNDS, TOLERANCE_PER_SPEED, TRAJECTORY_JOINT_TOLERANCE,
};
use crate::collision::WorldMirror;
use crate::collision::{ManifoldPoint, WarmStartCache};
use crate::island::JointIsland;
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use crate::world::World;
use glam::{DQuat, DVec3};
use rattleback_geometry::swept::rotation_vector;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// An interval of an island, and what its forces depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactInterval<'s> {
    pub settings: &'s ConstraintSettings,
    pub mirror: &'s WorldMirror,
    pub world: &'s World,
    /// Mechanisms of the island, by index in the mirror, and their joint rows.
    pub mechanisms: &'s [usize],
    pub row_targets: &'s [RowTarget],
    /// Forces with which the solver starts.
    pub warm_start: &'s WarmStartCache,
    /// Begin, s.
    pub begin: f64,
    /// Length, s.
    pub time: f64,
    /// Whether it is a piece of a large island, for which an approximate solution is enough.
    pub approximate: bool,
    /// Most Newton steps.
    pub newton_steps: usize,
    /// Overlap that is left as it is, in touching tolerances.
    pub overlap_slop: f64,
}

impl ContactInterval<'_> {
    /// Largest component of a velocity, m/s or rad/s.
    fn fastest(island: &[usize], start: &[Motion]) -> f64 {
        let speed = |body: &usize| {
            let Motion { v, omega, .. } = &start[*body];
            v.abs().max_element().max(omega.abs().max_element())
        };
        island.iter().map(speed).fold(0.0, f64::max)
    }

    /// Pieces of a large island get Gauss–Seidel sweeps only, because their contacts change in the next
    /// piece; joint rows need multiplier updates.
    fn block_settings(&self, whole: BlockSettings, sweeps: usize) -> BlockSettings {
        if !self.approximate {
            return BlockSettings { all_steps: self.newton_steps, ..whole };
        }
        let updates = if self.row_targets.is_empty() { 0 } else { 6 };
        let tolerance = whole.tolerance.max(APPROXIMATE_TOLERANCE);
        BlockSettings { tolerance, updates, steps: 8, sweeps, restart: false, ..whole }
    }

    fn mechanisms(&self) -> impl Iterator<Item = &JointIsland> + '_ {
        self.mechanisms.iter().map(|index| &self.mirror.mechanisms[*index])
    }

    /// Computes trajectories and end states of the island. `free` are its ballistic trajectories,
    /// `trajectories` the same with mechanisms integrated as if without contacts. Impulses are left in
    /// `forces`.
    pub fn solve(
        &self,
        island: &[usize],
        start: &[Motion],
        points: &[ManifoldPoint],
        forces: &mut ForceSolver,
        (free, trajectories): (&[Trajectory], &mut [Trajectory]),
        end: &mut [Motion],
    ) -> ForceReport {
        let Self { settings, mirror, warm_start, begin, time, .. } = *self;
        for &body in island.iter().filter(|body| trajectories[**body] != Trajectory::Integrated) {
            end[body] = evaluate(mirror, body, &start[body], trajectories[body], begin, time);
        }
        if points.is_empty() {
            forces.impulse.clear();
            return ForceReport { converged: true, ..ForceReport::default() };
        }
        let tolerance =
            settings.solver_tolerance * (1.0 + TOLERANCE_PER_SPEED * Self::fastest(island, start));
        let whole = BlockSettings { tolerance, ..BlockSettings::default() };
        let block_settings = self.block_settings(whole, APPROXIMATE_SWEEPS[0]);
        let whole = BlockSettings { tolerance: 1e-9, updates: 20, steps: 15, ..BlockSettings::default() };
        let position_settings = self.block_settings(whole, APPROXIMATE_SWEEPS[1]);
        let slip = |point: &ManifoldPoint| {
            let u = point.relative_velocity(start);
            u.y.hypot(u.z)
        };
        let slides = |point: &ManifoldPoint| slip(point) > settings.stick_speed;
        // Joint rows are part of the equations, so v* is that of bodies without joints.
        let mut unconstrained = end.to_vec();
        for &body in self.mechanisms().flat_map(|mechanism| &mechanism.bodies) {
            unconstrained[body] = evaluate(mirror, body, &start[body], free[body], begin, time);
        }
        forces.assemble(mirror, start, &unconstrained, points, |_, point| ContactTarget {
            // Touching points keep their gaps: those of four corners within the tolerance need not lie in a
            // plane.
            normal: if point.is_touching() { 0.0 } else { -point.gap / time },
            friction: if slides(point) { point.kinetic_friction } else { point.static_friction },
            stiffness: Stiffness::Rigid,
        });
        forces.add_rows(mirror, start, &unconstrained, self.row_targets);
        forces.warm_start(warm_start, points, time);
        let by_pivots = |forces: &mut ForceSolver| {
            forces.solve_by_pivots(points.iter().map(slides).collect(), &block_settings)
        };
        let report = if settings.solver == "baraff" {
            by_pivots(forces)
        } else {
            let report = forces.solve(&block_settings);
            // Newton's method stalls on some stacks with large mass ratios; pivoting does not.
            let pivotable =
                !self.approximate && self.row_targets.is_empty() && points.len() <= MAX_PIVOTED_CONTACTS;
            if report.converged || !pivotable { report } else { by_pivots(forces) }
        };
        let report = self.resist_rolling(start, points, forces, &block_settings, report);
        forces.store_row_impulses();
        self.constrain_trajectories(start, points, forces, (trajectories, end), &position_settings);
        report
    }

    /// Solves again with rolling and spinning friction, whose bounds follow from the normal impulses of the last solution.
    fn resist_rolling(
        &self,
        start: &[Motion],
        points: &[ManifoldPoint],
        forces: &mut ForceSolver,
        settings: &BlockSettings,
        mut report: ForceReport,
    ) -> ForceReport {
        if points.iter().all(|point| point.levers == [0.0; 2]) {
            return report;
        }
        for _ in 0..ROLLING_FRICTION_ROUNDS {
            let loads: Vec<f64> = forces.impulse.iter().map(|p| p.x).collect();
            forces.truncate_rows(self.row_targets.len());
            if !forces.add_rolling_friction(start, points, &loads) {
                break;
            }
            report = forces.solve(settings);
        }
        report
    }

    /// Uniform trajectories for the bodies with contact impulses, and their end states.
    fn constrain_trajectories(
        &self,
        start: &[Motion],
        points: &[ManifoldPoint],
        forces: &mut ForceSolver,
        (trajectories, end): (&mut [Trajectory], &mut [Motion]),
        settings: &BlockSettings,
    ) {
        let mirror = self.mirror;
        let mut pushed = vec![false; start.len()];
        self.mark_pushed(points, &forces.impulse, &mut pushed);
        let mut mean = start.to_vec();
        let solved: Vec<(usize, [DVec3; 2])> = forces.velocities().collect();
        for (body, [v, omega]) in &solved {
            let (body, from) = (*body, &start[*body]);
            if pushed[body] {
                (mean[body].v, mean[body].omega) = (0.5 * (from.v + *v), 0.5 * (from.omega + *omega));
            } else {
                mean[body].v = (end[body].x - from.x) / self.time;
                mean[body].omega = rotation_vector(from.q, end[body].q) / self.time;
            }
        }
        let impulses = std::mem::take(&mut forces.impulse);
        let projections =
            if self.approximate && self.row_targets.is_empty() { 1 } else { MAX_TRAJECTORY_PROJECTIONS };
        for _ in 0..projections {
            let row_targets = self.joint_row_targets(start, &mean, &pushed);
            let violated = self.violates_gaps(start, points, &mean);
            if !violated
                && row_targets
                    .iter()
                    .all(|target| target.constraint.row.error.abs() <= TRAJECTORY_JOINT_TOLERANCE)
            {
                break;
            }
            let normal = self.gap_velocities(start, points, &mean);
            forces.assemble(mirror, &mean, &mean, points, |index, _| ContactTarget {
                normal: normal[index],
                friction: 0.0,
                stiffness: Stiffness::Rigid,
            });
            forces.add_rows(mirror, &mean, &mean, &row_targets);
            forces.impulse.clear();
            forces.solve(settings);
            self.mark_pushed(points, &forces.impulse, &mut pushed);
            for (body, [v, omega]) in forces.velocities().collect::<Vec<_>>() {
                (mean[body].v, mean[body].omega) = (v, omega);
            }
        }
        forces.impulse = impulses;
        for (body, [v, omega]) in solved {
            if pushed[body] {
                trajectories[body] = Trajectory::Uniform { v: mean[body].v, omega: mean[body].omega };
                let moved = evaluate(mirror, body, &start[body], trajectories[body], self.begin, self.time);
                end[body] = Motion { v, omega, ..moved };
            }
        }
    }

    /// Whether a gap at the end is smaller than allowed.
    fn violates_gaps(&self, start: &[Motion], points: &[ManifoldPoint], mean: &[Motion]) -> bool {
        points.iter().any(|point| {
            let (gap, least) = self.gap(start, point, mean);
            gap < least - 0.01 * point.tolerance
        })
    }

    /// Mean normal velocities at which every gap at the end is the least allowed.
    fn gap_velocities(&self, start: &[Motion], points: &[ManifoldPoint], mean: &[Motion]) -> Vec<f64> {
        let least_velocity = |point: &ManifoldPoint| {
            let (gap, least) = self.gap(start, point, mean);
            point.relative_velocity(mean).x + (least - gap) / self.time
        };
        points.iter().map(least_velocity).collect()
    }

    /// Gap at the end at the contact, and the least allowed, m: an overlap has to
    /// shrink by a fraction of its depth.
    fn gap(&self, start: &[Motion], point: &ManifoldPoint, mean: &[Motion]) -> (f64, f64) {
        let n = point.normal();
        // Along the normal. The surface of a curved body stays where a material point rises: the contact point moves over it.
        let approach = |side: usize| {
            let (from, by) = (&start[point.bodies[side] as usize], &mean[point.bodies[side] as usize]);
            let arm = point.position - from.x;
            let turned = DQuat::from_scaled_axis(self.time * by.omega) * arm - arm;
            let sign = if side == 0 { n } else { -n };
            let by_turning = sign.dot(turned);
            let curved = self.mirror.colliders[point.pair[side] as usize].curved;
            let by_rolling = if curved { self.time * sign.dot(by.omega.cross(arm)) } else { by_turning };
            self.time * sign.dot(by.v) + by_turning.max(by_rolling)
        };
        let gap = point.gap - approach(0) - approach(1);
        let excess = point.gap + self.overlap_slop * point.tolerance;
        // Without slop the whole overlap is removed, with it the part beyond.
        let (removed, fraction) =
            if self.overlap_slop > 1.0 { (excess, 1.0) } else { (point.gap, OVERLAP_RECOVERY) };
        let least = if excess < 0.0 { point.gap - fraction * removed } else { point.gap.min(0.0) };
        (gap, least)
    }

    /// Locked rows of the pushed mechanisms at the end poses, with the mean velocities that make their errors
    /// vanish.
    fn joint_row_targets(&self, start: &[Motion], mean: &[Motion], pushed: &[bool]) -> Vec<RowTarget> {
        let mut targets = Vec::new();
        let (mut rows, mut ends) = (Vec::<ConstraintRow>::new(), Vec::new());
        for mechanism in self.mechanisms().filter(|mechanism| pushed[mechanism.bodies[0]]) {
            ends.clear();
            ends.extend_from_slice(mean);
            for &body in &mechanism.bodies {
                let trajectory = Trajectory::Uniform { v: mean[body].v, omega: mean[body].omega };
                let moved = evaluate(self.mirror, body, &start[body], trajectory, self.begin, self.time);
                ends[body] = Motion { v: mean[body].v, omega: mean[body].omega, ..moved };
            }
            for &body in &mechanism.kinematic {
                ends[body] = self.mirror.bodies[body].kinematic_state(self.begin + self.time, &start[body]);
            }
            let context = RowContext { time: self.begin + self.time, dt: self.time, bias: false };
            rows.clear();
            for &joint in &mechanism.joints {
                self.mirror.joints[joint].evaluate_rows(joint, self.world, &ends, context, &mut rows);
            }
            targets.extend(rows.iter().filter(|constraint| constraint.is_locked()).map(|constraint| {
                let present: f64 =
                    [0, 1].into_iter().map(|side| self.side_rate(constraint, side, mean)).sum();
                RowTarget {
                    constraint: *constraint,
                    value: present - constraint.row.error / self.time,
                    bounds: UNBOUNDED,
                    softness: None,
                }
            }));
        }
        targets
    }

    /// Contribution of the body of one side to Ċ.
    fn side_rate(&self, constraint: &ConstraintRow, side: usize, motion: &[Motion]) -> f64 {
        let Some(body) = self.mirror.joints[constraint.joint].bodies[side] else { return 0.0 };
        let ([linear, angular], motion) = (constraint.side(side), &motion[body as usize]);
        linear.dot(motion.v) + angular.dot(motion.omega)
    }

    /// Marks bodies with contact impulses, and all bodies of their mechanisms.
    fn mark_pushed(&self, points: &[ManifoldPoint], impulse: &[DVec3], pushed: &mut [bool]) {
        for (point, p) in points.iter().zip(impulse) {
            if *p != DVec3::ZERO {
                for body in point.bodies {
                    pushed[body as usize] = true;
                }
            }
        }
        for mechanism in self.mechanisms() {
            if mechanism.bodies.iter().any(|body| pushed[*body]) {
                for body in &mechanism.bodies {
                    pushed[*body] = true;
                }
            }
        }
    }
}
