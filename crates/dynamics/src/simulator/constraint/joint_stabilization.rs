//! Joints in a step: projection of inconsistent initial states, integration of mechanisms, and the joint rows
//! of impacts and intervals.
//!
//! A spring row over an interval h is implicit: with p = −h (k (C + h u) + c u) the multiplier is p = −ρ (u −
//! u₀), ρ = h (h k + c), u₀ = −h k C/ρ, where k = ω²/K, c = 2 ζ ω/K and K = J M⁻¹ Jᵀ.

use super::Constraint;
use super::force_solver::RowTarget;
use super::joint_equations::{UNBOUNDED, UNILATERAL};
use super::joint_rows::{ConstraintRow, RowContext};
use super::mechanism_integrator::IntegrationSpan;
use super::tuning::{LIMIT_REACHED, MAX_RANKED_ROWS, SILENT_POSITION_ERROR, SILENT_VELOCITY_ERROR};
use crate::collision::WorldMirror;
use crate::joint::Effect;
use crate::rigid::Motion;
use crate::solver::Trajectory;
use crate::world::{Event, JointId, World};
use glam::{DQuat, DVec3};
use rattleback_numerics::lcp::blocks::rank_of_equalities;

impl Constraint {
    /// At the beginning of a step: reports redundant rows after a rebuild, and projects mechanisms whose
    /// state violates their joints onto the nearest state that satisfies them, or comes closest if none does;
    /// the joints are named in an event.
    pub(super) fn stabilize_joints(&mut self, world: &mut World, dt: f64) {
        if self.mirror.mechanisms.is_empty() {
            return;
        }
        if std::mem::take(&mut self.mirror.rebuilt) {
            self.report_redundant_rows(world);
        }
        let time = world.time();
        let states = self.states(world, time);
        let context = RowContext { time, dt, bias: false };
        let equations = &mut self.mechanism_integrator.equations;
        let any_limit = |constraint: &ConstraintRow| constraint.row.effect == Effect::Limit;
        for mechanism in &self.mirror.mechanisms {
            equations.reset(&self.mirror, mechanism, &states);
            equations.evaluate_rows(world, &self.mirror, mechanism, context);
            let inconsistent = inconsistent_joints(equations.rows.iter(), &self.mirror);
            if inconsistent.is_empty() {
                continue;
            }
            equations.project_positions(world, &self.mirror, mechanism, context, any_limit);
            let reached =
                |constraint: &ConstraintRow| any_limit(constraint) && constraint.row.error <= LIMIT_REACHED;
            equations.project_velocities(world, &self.mirror, mechanism, context, reached);
            let motion = world.bodies_mut().dynamic_mut().0;
            for body in &mechanism.bodies {
                if equations.motion[*body].is_finite() {
                    motion[self.mirror.bodies[*body].slot] = equations.motion[*body];
                }
            }
            let left = equations.rows.iter().filter(|constraint| {
                constraint.is_locked() && constraint.row.error.abs() > SILENT_POSITION_ERROR
            });
            let apart = left.clone().map(|constraint| constraint.row.error.abs()).fold(0.0, f64::max);
            let contradict: Vec<JointId> = joints(left, &self.mirror);
            let joints = if contradict.is_empty() { inconsistent } else { contradict };
            if self.reported_joints.insert((apart > 0.0, joints.clone())) {
                self.events.push(Event::JointsInconsistent { time, joints, apart });
            }
        }
    }

    /// Reports mechanisms whose locked rows are linearly dependent: the split of their reactions is
    /// indeterminate.
    fn report_redundant_rows(&mut self, world: &World) {
        let time = world.time();
        let states = self.states(world, time);
        let equations = &mut self.mechanism_integrator.equations;
        let mirror = &self.mirror;
        for mechanism in &mirror.mechanisms {
            equations.reset(mirror, mechanism, &states);
            equations.evaluate_rows(world, mirror, mechanism, RowContext { time, dt: 0.0, bias: false });
            let locked: Vec<usize> =
                (0..equations.rows.len()).filter(|row| equations.rows[*row].is_locked()).collect();
            if locked.len() > MAX_RANKED_ROWS {
                continue;
            }
            equations.assemble(mirror, mechanism, |_, _| [DVec3::ZERO; 2]);
            for row in &locked {
                equations.add_row(mirror, *row, 0.0, UNBOUNDED, |_| [DVec3::ZERO; 2]);
            }
            let Ok(found) = rank_of_equalities(equations.problem()) else { continue };
            if found.rank == locked.len() {
                continue;
            }
            let dependent = found.dependent.iter().map(|row| &equations.rows[equations.row_of(*row)]);
            let joints = joints(dependent, mirror);
            let (rows, rank) = (locked.len(), found.rank);
            if self.reported_joints.insert((false, joints.clone())) {
                self.events.push(Event::JointsRedundant { time, joints, rows, rank });
            }
        }
    }

    /// Integrates some mechanisms over an interval, without contacts.
    pub(super) fn integrate_mechanisms(
        &mut self,
        world: &mut World,
        mechanisms: impl Iterator<Item = usize>,
        now: &[Motion],
        (free, trajectories): (&[Trajectory], &mut [Trajectory]),
        end: &mut [Motion],
        (begin, time): (f64, f64),
    ) {
        let mut dense_outputs = std::mem::take(&mut self.mirror.dense_outputs);
        for index in mechanisms {
            let mirror = &self.mirror;
            let mechanism = &mirror.mechanisms[index];
            let tolerance = self.settings.joint_tolerance;
            let span = IntegrationSpan { mirror, mechanism, trajectories: free, begin, time, tolerance };
            self.mechanism_integrator.integrate(
                world,
                &span,
                now,
                end,
                &mut dense_outputs,
                &mut self.joint_reactions,
            );
            for body in &mechanism.bodies {
                trajectories[*body] = Trajectory::Integrated;
            }
        }
        self.mirror.dense_outputs = dense_outputs;
    }

    /// Projects the end states of mechanisms that had contact forces in an interval, and records their
    /// reactions.
    pub(super) fn project_mechanisms(
        &mut self,
        world: &World,
        mechanisms: &[usize],
        row_targets: &[RowTarget],
        (now, trajectories): (&[Motion], &[Trajectory]),
        end: &mut [Motion],
        (begin, time): (f64, f64),
    ) {
        let mirror = &self.mirror;
        let in_contact = |mechanism: &usize| {
            !matches!(trajectories[mirror.mechanisms[*mechanism].bodies[0]], Trajectory::Integrated)
        };
        for index in mechanisms.iter().copied().filter(in_contact) {
            let mechanism = &mirror.mechanisms[index];
            let tolerance = self.settings.joint_tolerance;
            let span = IntegrationSpan { mirror, mechanism, trajectories, begin, time, tolerance };
            self.mechanism_integrator.project_end(world, &span, end);
            let in_mechanism = |target: &RowTarget| mechanism.joints.contains(&target.constraint.joint);
            let rows = row_targets
                .iter()
                .zip(&self.forces.stored_row_impulses)
                .filter(|(target, _)| in_mechanism(target));
            self.joint_reactions.record_forces(
                mirror,
                now,
                rows.map(|(target, p)| (&target.constraint, *p / time)),
            );
        }
    }

    /// Joint rows that transmit impulses at an instant: locked directions and limits that are reached.
    pub(super) fn impulsive_rows(
        &self,
        world: &World,
        mechanisms: &[usize],
        now: &[Motion],
        time: f64,
    ) -> Vec<RowTarget> {
        let context = RowContext { time, dt: 0.0, bias: false };
        let mut rows = Vec::new();
        for joint in mechanisms.iter().flat_map(|mechanism| &self.mirror.mechanisms[*mechanism].joints) {
            self.mirror.joints[*joint].evaluate_rows(*joint, world, now, context, &mut rows);
        }
        let target = |constraint: &ConstraintRow| match constraint.row.effect {
            Effect::Lock => {
                Some(RowTarget { constraint: *constraint, value: 0.0, bounds: UNBOUNDED, softness: None })
            }
            Effect::Limit if constraint.row.error <= LIMIT_REACHED => {
                Some(RowTarget { constraint: *constraint, value: 0.0, bounds: UNILATERAL, softness: None })
            }
            _ => None,
        };
        rows.iter().filter_map(target).collect()
    }

    /// Joint rows over an interval with their target velocities at its end. Locked directions are evaluated
    /// at the predicted end pose.
    pub(super) fn interval_rows(
        &self,
        world: &World,
        mechanisms: &[usize],
        now: &[Motion],
        (begin, time): (f64, f64),
    ) -> Vec<RowTarget> {
        let mirror = &self.mirror;
        let mut later = now.to_vec();
        for &body in mechanisms.iter().flat_map(|mechanism| &mirror.mechanisms[*mechanism].bodies) {
            later[body].x += time * now[body].v;
            later[body].q = (DQuat::from_scaled_axis(time * now[body].omega) * now[body].q).normalize();
        }
        for &body in mechanisms.iter().flat_map(|mechanism| &mirror.mechanisms[*mechanism].kinematic) {
            later[body] = mirror.bodies[body].kinematic_state(begin + time, &now[body]);
        }
        let context = RowContext { time: begin, dt: time, bias: false };
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        for &joint in mechanisms.iter().flat_map(|mechanism| &mirror.mechanisms[*mechanism].joints) {
            rows.clear();
            mirror.joints[joint].evaluate_rows(
                joint,
                world,
                &later,
                RowContext { time: begin + time, ..context },
                &mut rows,
            );
            let locked = rows.iter().filter(|constraint| constraint.is_locked());
            targets.extend(locked.map(|constraint| RowTarget {
                constraint: *constraint,
                value: 0.0,
                bounds: UNBOUNDED,
                softness: None,
            }));
            rows.clear();
            mirror.joints[joint].evaluate_rows(joint, world, now, context, &mut rows);
            targets.extend(rows.iter().filter_map(|constraint| interval_row(constraint, mirror, now, time)));
        }
        targets
    }
}

/// Target of a limit, motor or spring over an interval; `None` for a locked direction.
fn interval_row(
    constraint: &ConstraintRow,
    mirror: &WorldMirror,
    now: &[Motion],
    time: f64,
) -> Option<RowTarget> {
    match constraint.row.effect {
        Effect::Lock => None,
        Effect::Limit => {
            let value =
                if constraint.row.error <= LIMIT_REACHED { 0.0 } else { -constraint.row.error / time };
            Some(RowTarget { constraint: *constraint, value, bounds: UNILATERAL, softness: None })
        }
        Effect::Motor { speed, max_force: most } => {
            let bounds = [-most * time, most * time];
            Some(RowTarget { constraint: *constraint, value: speed, bounds, softness: None })
        }
        Effect::Spring { frequency, damping_ratio, max_force: most } => {
            let inverse_mass = inverse_mass(constraint, mirror, now);
            let omega = std::f64::consts::TAU * frequency;
            let (k, c) = (omega * omega / inverse_mass, 2.0 * damping_ratio * omega / inverse_mass);
            let rho = time * (time * k + c);
            (inverse_mass > 0.0 && rho > 0.0 && rho.is_finite()).then(|| RowTarget {
                constraint: *constraint,
                value: -time * k * constraint.row.error / rho,
                bounds: [-most * time, most * time],
                softness: Some(rho),
            })
        }
    }
}

/// J M⁻¹ Jᵀ.
fn inverse_mass(constraint: &ConstraintRow, mirror: &WorldMirror, motion: &[Motion]) -> f64 {
    let mut sum = 0.0;
    for (side, body) in mirror.joints[constraint.joint].bodies.iter().enumerate() {
        let Some(body) = body.map(|body| body as usize) else { continue };
        let inertia = &mirror.bodies[body].inertia;
        let [linear, angular] = constraint.side(side);
        sum += inertia.inverse_mass * linear.length_squared()
            + angular.dot(inertia.angular_velocity(motion[body].q, angular));
    }
    sum
}

/// Joints whose error is too large to be corrected without an event.
fn inconsistent_joints<'s>(
    rows: impl Iterator<Item = &'s ConstraintRow>,
    mirror: &WorldMirror,
) -> Vec<JointId> {
    let violated = rows.filter(|constraint| match constraint.row.effect {
        Effect::Lock => {
            constraint.row.error.abs() > SILENT_POSITION_ERROR
                || constraint.rate.abs() > SILENT_VELOCITY_ERROR
        }
        Effect::Limit => constraint.row.error < -SILENT_POSITION_ERROR,
        _ => false,
    });
    joints(violated, mirror)
}

/// The joints of some rows, each once.
fn joints<'s>(rows: impl Iterator<Item = &'s ConstraintRow>, mirror: &WorldMirror) -> Vec<JointId> {
    let mut joints: Vec<JointId> = rows.map(|constraint| mirror.joints[constraint.joint].id).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}
