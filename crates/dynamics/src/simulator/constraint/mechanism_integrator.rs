//! Integration of a mechanism without contacts, as a differential-algebraic equation of index 1 with
//! projection.
//!
//! ForceAccumulator and joints together determine the accelerations, M v̇ = f + Jᵀ λ with J v̇ = −J̇ v (`joint_equations`),
//! the index-1 form of the equations of motion with constraints C(q) = 0. They are integrated by Fehlberg's
//! pair of order 8(7) with error control. The exact solution keeps C = 0 and J v = 0, the numerical one
//! drifts from them by its local error; each accepted step is therefore projected back, first q and then v,
//! in the metric of M (E. Hairer & G. Wanner, *Solving ordinary differential equations II*, §VII.2). The
//! projection preserves the order, because its displacement is of the size of the local error.
//!
//! A spring row has λ = −k C − c Ċ with k = m ω², c = 2 ζ m ω and m = 1/(J M⁻¹ Jᵀ). A motor (or dry friction)
//! holds its target speed with the multiplier that takes; if that exceeds its maximum, or the speed is not
//! reached within the interval, it applies its maximum. A limit that is reached ends the step at the time of
//! the root of its clearance: an impulse through all joints removes the velocity into it, and from then on it
//! is active as long as it pushes.

use super::joint_equations::{JointEquations, UNBOUNDED, UNILATERAL};
use super::joint_reaction::JointReactions;
use super::joint_rows::{ConstraintRow, RowContext};
use super::motion_rate::{MotionRate, combine, fehlberg_error};
use super::tuning::{KINEMATIC_PROBE_TIME, LIMIT_TOLERANCE, MAX_INTEGRATOR_STEPS, MAX_LIMIT_HITS};
use crate::collision::WorldMirror;
use crate::force::ForceAccumulator;
use crate::island::JointIsland;
use crate::joint::Effect;
use crate::rigid::Motion;
use crate::solver::DenseOutput;
use crate::solver::Trajectory;
use crate::world::{Status, World};
use glam::DVec3;
use rattleback_numerics::integrator::tableau::FEHLBERG;

/// Stages of Fehlberg's pair.
const STAGES: usize = 13;

/// State of a motor within an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MotorState {
    /// Holds its target speed.
    Tracking,
    /// Applies its maximum with this sign.
    Saturated(f64),
}

/// A mechanism and the interval over which it is integrated.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntegrationSpan<'s> {
    pub mirror: &'s WorldMirror,
    pub mechanism: &'s JointIsland,
    /// Ballistic trajectories of all bodies, for loads that do not change.
    pub trajectories: &'s [Trajectory],
    /// Begin, s.
    pub begin: f64,
    /// Length, s.
    pub time: f64,
    /// Local error of a step, m or rad.
    pub tolerance: f64,
}

impl IntegrationSpan<'_> {
    /// Row context at a time since the beginning.
    fn context(&self, time: f64, bias: bool) -> RowContext {
        RowContext { time: self.begin + time, dt: self.time, bias }
    }

    /// v̇ and ω̇ of a body without joints: I ω̇ = τ − ω × I ω.
    fn acceleration(&self, body: usize, motion: &Motion, loads: Option<&ForceAccumulator>) -> [DVec3; 2] {
        let trajectory = self.trajectories[body];
        let body = &self.mirror.bodies[body];
        let (acceleration, torque) = match (loads, trajectory) {
            (None, Trajectory::Ballistic { acceleration, torque }) => (acceleration, torque),
            (None, _) => (DVec3::ZERO, DVec3::ZERO),
            (Some(loads), _) => {
                let wrench = loads.wrench(body.slot);
                (loads.uniform_acceleration() + body.inertia.inverse_mass * wrench.force, wrench.torque)
            }
        };
        let gyroscopic = motion.omega.cross(body.inertia.angular_momentum(motion.q, motion.omega));
        [
            acceleration - body.inertia.linear_damping * motion.v,
            body.inertia.angular_velocity(motion.q, torque - gyroscopic)
                - body.inertia.angular_damping * motion.omega,
        ]
    }
}

/// Integrator of mechanisms, with reusable storage.
#[derive(Debug, Default)]
pub(super) struct MechanismIntegrator {
    pub equations: JointEquations,
    rates: [Vec<MotionRate>; STAGES],
    start: Vec<Motion>,
    trial: Vec<Motion>,
    loads: ForceAccumulator,
    /// Active limits, by joint and row key.
    active_limits: Vec<(usize, u8)>,
    motors: Vec<((usize, u8), MotorState)>,
    /// Accepted steps.
    pub steps: u64,
}

/// Identity of a row from step to step: joint and key.
fn row_key(constraint: &ConstraintRow) -> (usize, u8) {
    (constraint.joint, constraint.row.key)
}

impl MechanismIntegrator {
    /// Integrates a mechanism over the span; end states go to `end`, its steps to `dense_outputs`, its
    /// reactions to `reactions`.
    pub fn integrate(
        &mut self,
        world: &mut World,
        span: &IntegrationSpan<'_>,
        from: &[Motion],
        end: &mut [Motion],
        dense_outputs: &mut [DenseOutput],
        reactions: &mut JointReactions,
    ) {
        let IntegrationSpan { mirror, mechanism, begin, time, .. } = *span;
        let uniform = world.forces_are_uniform();
        // Forces read the states of the world, so it takes those of the mechanism at every stage and is
        // restored at the end.
        let saved = (!uniform).then(|| world.bodies().motion(Status::Dynamic).to_vec());
        self.equations.reset(mirror, mechanism, from);
        self.equations.place_kinematic(mirror, mechanism, begin);
        self.gather_loads(world, span, 0.0, uniform);
        self.initialize(world, span, reactions, uniform);
        self.start.clear();
        self.start.extend(mechanism.bodies.iter().map(|body| self.equations.motion[*body]));
        self.trial.clone_from(&self.start);
        for (body, motion) in mechanism.bodies.iter().zip(&self.start) {
            dense_outputs[*body].restart(begin, *motion);
        }
        self.evaluate_stage(world, span, 0, 0.0, uniform);
        reactions.record_forces(mirror, &self.equations.motion, self.equations.impulses());
        let (mut elapsed, mut h, mut hits) = (0.0, time, 0);
        while elapsed < time {
            let last = h >= (time - elapsed) * (1.0 - 1e-9);
            h = if last { time - elapsed } else { h };
            let error = self.try_step(world, span, elapsed, h, uniform);
            let shrink = 0.9 * (span.tolerance / error).powf(0.125);
            if (error > span.tolerance || error.is_nan()) && h > time / MAX_INTEGRATOR_STEPS {
                h *= if shrink.is_finite() { shrink.clamp(0.1, 0.9) } else { 0.1 };
                continue;
            }
            if !error.is_finite() {
                // The world quarantines bodies whose state is not finite.
                self.start.clone_from(&self.trial);
                break;
            }
            self.project(world, span, elapsed + h);
            let crossed = if hits < MAX_LIMIT_HITS { self.crossed_limit() } else { None };
            let mut done = last;
            if let Some(limit) = crossed {
                h = self.locate_limit(world, span, (elapsed, h), limit, uniform);
                done = false;
                hits += 1;
                self.active_limits.push(limit);
                self.equations.place_kinematic(mirror, mechanism, begin + elapsed + h);
                let context = span.context(elapsed + h, false);
                let active = std::mem::take(&mut self.active_limits);
                self.equations.project_velocities(world, mirror, mechanism, context, |constraint| {
                    active.contains(&row_key(constraint))
                });
                self.active_limits = active;
                reactions.record_impulses(mirror, &self.equations.motion, time, self.equations.impulses());
            }
            elapsed = if done { time } else { elapsed + h };
            self.steps += 1;
            for (place, body) in mechanism.bodies.iter().enumerate() {
                self.start[place] = self.equations.motion[*body];
                dense_outputs[*body].push(begin + elapsed, self.start[place]);
            }
            self.release_limits();
            self.evaluate_stage(world, span, 0, elapsed, uniform);
            reactions.record_forces(mirror, &self.equations.motion, self.equations.impulses());
            h *= if shrink.is_finite() { shrink.clamp(0.3, 4.0) } else { 4.0 };
            h = h.max(time / MAX_INTEGRATOR_STEPS);
        }
        for (body, motion) in mechanism.bodies.iter().zip(&self.start) {
            end[*body] = *motion;
        }
        if let Some(saved) = saved {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&saved);
        }
    }

    /// Determines the active limits and the states of the motors, and projects the initial velocities onto
    /// the joints.
    fn initialize(
        &mut self,
        world: &World,
        span: &IntegrationSpan<'_>,
        reactions: &mut JointReactions,
        uniform: bool,
    ) {
        let IntegrationSpan { mirror, mechanism, time, .. } = *span;
        let forces = (!uniform).then_some(&self.loads);
        let equations = &mut self.equations;
        equations.evaluate_rows(world, mirror, mechanism, span.context(0.0, false));
        self.active_limits.clear();
        self.motors.clear();
        let at_limit = |constraint: &&ConstraintRow| {
            constraint.row.effect == Effect::Limit
                && constraint.row.error <= LIMIT_TOLERANCE
                && constraint.rate <= LIMIT_TOLERANCE
        };
        self.active_limits.extend(equations.rows.iter().filter(at_limit).map(row_key));
        let violates = |constraint: &ConstraintRow| match constraint.row.effect {
            Effect::Lock => constraint.rate.abs() > 1e-10,
            Effect::Limit => constraint.row.error <= LIMIT_TOLERANCE && constraint.rate < -1e-12,
            Effect::Motor { .. } => constraint.rate.abs() > 1e-12,
            Effect::Spring { .. } => false,
        };
        let inconsistent = equations.rows.iter().any(violates);
        for round in 0..2 {
            if inconsistent {
                // In the first round velocities are those at the end of the interval, because a motor works
                // against all other loads in it.
                equations.assemble(mirror, mechanism, |body, motion| {
                    let [v, omega] = span.acceleration(body, motion, forces);
                    let time = if round == 0 { time } else { 0.0 };
                    [motion.v + time * v, motion.omega + time * omega]
                });
            }
            for row in 0..equations.rows.len() {
                let constraint = equations.rows[row];
                let (value, bounds) = match constraint.row.effect {
                    Effect::Lock => (0.0, UNBOUNDED),
                    Effect::Limit if self.active_limits.contains(&row_key(&constraint)) => (0.0, UNILATERAL),
                    Effect::Motor { speed, max_force: most } => {
                        if round == 0 {
                            self.motors.push((row_key(&constraint), MotorState::Tracking));
                        }
                        let saturated = self.motors.iter().any(|(key, motor)| {
                            *key == row_key(&constraint) && *motor != MotorState::Tracking
                        });
                        if saturated {
                            continue;
                        }
                        (speed, [-most * time, most * time])
                    }
                    _ => continue,
                };
                if inconsistent {
                    let motion = std::mem::take(&mut equations.motion);
                    equations
                        .add_row(mirror, row, value, bounds, |body| [motion[body].v, motion[body].omega]);
                    equations.motion = motion;
                }
            }
            if !inconsistent {
                return;
            }
            equations.solve();
            // Motors that cannot reach their speed within the interval are saturated.
            for (constraint, p) in equations.impulses().filter(|_| round == 0) {
                let Effect::Motor { max_force: most, .. } = constraint.row.effect else { continue };
                if p.abs() >= most * time {
                    for (_, motor) in self.motors.iter_mut().filter(|(key, _)| *key == row_key(constraint)) {
                        *motor = MotorState::Saturated(p.signum());
                    }
                }
            }
        }
        equations.store_velocities(mechanism);
        reactions.record_impulses(mirror, &equations.motion, time, equations.impulses());
    }

    /// Evaluates the loads at the trial state, unless they are uniform.
    fn gather_loads(&mut self, world: &mut World, span: &IntegrationSpan<'_>, elapsed: f64, uniform: bool) {
        if !uniform {
            let motion = world.bodies_mut().dynamic_mut().0;
            for body in &span.mechanism.bodies {
                motion[span.mirror.bodies[*body].slot] = self.equations.motion[*body];
            }
            world.gather_loads(span.begin + elapsed, &mut self.loads);
        }
    }

    /// Trial state ⇒ rates of a stage.
    fn evaluate_stage(
        &mut self,
        world: &mut World,
        span: &IntegrationSpan<'_>,
        stage: usize,
        elapsed: f64,
        uniform: bool,
    ) {
        let IntegrationSpan { mirror, mechanism, begin, .. } = *span;
        self.gather_loads(world, span, elapsed, uniform);
        let loads = (!uniform).then_some(&self.loads);
        let equations = &mut self.equations;
        equations.evaluate_rows(world, mirror, mechanism, span.context(elapsed, true));
        equations.assemble(mirror, mechanism, |body, motion| span.acceleration(body, motion, loads));
        for row in 0..equations.rows.len() {
            let constraint = equations.rows[row];
            let bounds = match constraint.row.effect {
                Effect::Lock => UNBOUNDED,
                Effect::Limit if self.active_limits.contains(&row_key(&constraint)) => UNILATERAL,
                Effect::Limit => continue,
                Effect::Spring { frequency, damping_ratio, max_force: most } => {
                    let k = equations.inverse_mass(mirror, row);
                    let omega = std::f64::consts::TAU * frequency;
                    let pull =
                        omega * omega * constraint.row.error + 2.0 * damping_ratio * omega * constraint.rate;
                    if k > 0.0 {
                        equations.apply_row_force(mirror, row, (-pull / k).clamp(-most, most));
                    }
                    continue;
                }
                Effect::Motor { max_force: most, .. } => {
                    match self.motors.iter().find(|(key, _)| *key == row_key(&constraint)) {
                        Some((_, MotorState::Saturated(sign))) => {
                            equations.apply_row_force(mirror, row, sign * most);
                            continue;
                        }
                        _ => [-most, most],
                    }
                }
            };
            let motion = std::mem::take(&mut equations.motion);
            equations.add_row(mirror, row, -constraint.bias, bounds, |body| {
                let at = |time: f64| mirror.bodies[body].kinematic_state(time, &motion[body]);
                let (before, after) =
                    (at(begin + elapsed - KINEMATIC_PROBE_TIME), at(begin + elapsed + KINEMATIC_PROBE_TIME));
                [
                    (after.v - before.v) / (2.0 * KINEMATIC_PROBE_TIME),
                    (after.omega - before.omega) / (2.0 * KINEMATIC_PROBE_TIME),
                ]
            });
            equations.motion = motion;
        }
        equations.solve();
        let rates = &mut self.rates[stage];
        rates.clear();
        let states = mechanism.bodies.iter().zip(equations.solution());
        rates.extend(states.map(|(body, found)| MotionRate::new(&equations.motion[*body], *found)));
    }

    /// A step from `start` to `trial` ⇒ its local error; the first stage has been evaluated.
    fn try_step(
        &mut self,
        world: &mut World,
        span: &IntegrationSpan<'_>,
        elapsed: f64,
        h: f64,
        uniform: bool,
    ) -> f64 {
        for stage in 1..STAGES {
            combine(&self.start, &self.rates, &FEHLBERG.a[stage], h, &mut self.trial);
            self.set_states(span, elapsed + FEHLBERG.c[stage] * h);
            self.evaluate_stage(world, span, stage, elapsed + FEHLBERG.c[stage] * h, uniform);
            // The rate was evaluated at the normalised quaternion; q̇ scales with |q|.
            for (rate, motion) in self.rates[stage].iter_mut().zip(&self.trial) {
                rate.q *= motion.q.length();
            }
        }
        combine(&self.start, &self.rates, &FEHLBERG.high, h, &mut self.trial);
        let error = fehlberg_error(&self.start, &self.rates, h);
        if self.trial.iter().all(Motion::is_finite) { error } else { f64::INFINITY }
    }

    /// Makes `trial` the trial state of the equations, with normalised quaternions.
    fn set_states(&mut self, span: &IntegrationSpan<'_>, elapsed: f64) {
        for (body, motion) in span.mechanism.bodies.iter().zip(&self.trial) {
            self.equations.motion[*body] = Motion { q: motion.q.normalize(), ..*motion };
        }
        self.equations.place_kinematic(span.mirror, span.mechanism, span.begin + elapsed);
    }

    /// Projects positions and velocities onto the constraint manifold.
    fn project(&mut self, world: &World, span: &IntegrationSpan<'_>, elapsed: f64) {
        self.set_states(span, elapsed);
        let IntegrationSpan { mirror, mechanism, .. } = *span;
        let (context, active) = (span.context(elapsed, false), &self.active_limits);
        let limited = |constraint: &ConstraintRow| active.contains(&row_key(constraint));
        self.equations.project_positions(world, mirror, mechanism, context, limited);
        self.equations.project_velocities(world, mirror, mechanism, context, |constraint| {
            limited(constraint) && constraint.row.error <= LIMIT_TOLERANCE
        });
    }

    /// The limit that is violated most among those that were not active.
    fn crossed_limit(&self) -> Option<(usize, u8)> {
        let past = |constraint: &&ConstraintRow| {
            constraint.row.effect == Effect::Limit
                && constraint.row.error < -LIMIT_TOLERANCE
                && !self.active_limits.contains(&row_key(constraint))
        };
        self.equations
            .rows
            .iter()
            .filter(past)
            .min_by(|a, b| a.row.error.total_cmp(&b.row.error))
            .map(row_key)
    }

    /// Clearance of a limit at the trial state, m or rad; infinite without a row for it.
    fn clearance(&self, limit: (usize, u8)) -> f64 {
        self.equations
            .rows
            .iter()
            .find(|constraint| row_key(constraint) == limit)
            .map_or(f64::INFINITY, |constraint| constraint.row.error)
    }

    /// Root of the clearance of a limit within a step that crosses it ⇒ length of the shortened step, whose
    /// end is the trial state.
    fn locate_limit(
        &mut self,
        world: &mut World,
        span: &IntegrationSpan<'_>,
        (elapsed, whole): (f64, f64),
        limit: (usize, u8),
        uniform: bool,
    ) -> f64 {
        let (mut low, mut high) = ((0.0, f64::INFINITY), (whole, self.clearance(limit)));
        let mut h = whole;
        for evaluation in 0..60 {
            let secant = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
            let middle = 0.5 * (low.0 + high.0);
            h = if evaluation % 3 == 2 || !(secant > low.0 && secant < high.0) { middle } else { secant };
            self.try_step(world, span, elapsed, h, uniform);
            self.project(world, span, elapsed + h);
            let clearance = self.clearance(limit);
            if clearance.abs() <= 0.1 * LIMIT_TOLERANCE || high.0 - low.0 < 1e-15 * whole {
                break;
            }
            if clearance > 0.0 { low = (h, clearance) } else { high = (h, clearance) }
        }
        h
    }

    /// Deactivates limits that have been left.
    fn release_limits(&mut self) {
        let rows = &self.equations.rows;
        self.active_limits.retain(|limit| {
            rows.iter().any(|constraint| {
                row_key(constraint) == *limit
                    && constraint.row.error <= 10.0 * LIMIT_TOLERANCE
                    && constraint.rate <= 1e-6
            })
        });
    }

    /// Projects a mechanism that contacts have moved onto its joints, at the end of the span.
    pub fn project_end(&mut self, world: &World, span: &IntegrationSpan<'_>, motion: &mut [Motion]) {
        let IntegrationSpan { mirror, mechanism, begin, time, .. } = *span;
        self.equations.reset(mirror, mechanism, motion);
        self.equations.place_kinematic(mirror, mechanism, begin + time);
        let context = span.context(time, false);
        self.equations.project_positions(world, mirror, mechanism, context, |constraint| {
            constraint.row.effect == Effect::Limit
        });
        self.equations.project_velocities(world, mirror, mechanism, context, |_| false);
        for body in &mechanism.bodies {
            motion[*body] = self.equations.motion[*body];
        }
    }
}
