//! A contact phase of an island within its sub-step: sets up
//! [`ContactPhase`](super::contact_phase::ContactPhase), and turns its result into trajectories and impulses.

use super::Constraint;
use super::contact_phase::PhaseInterval;
use super::force_solver::ContactTarget;
use super::step::StepInterval;
use super::tuning::CLOSING_SPEED;
use crate::collision::ManifoldPoint;
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

impl Constraint {
    /// Integrates an island while its contacts persist ⇒ trajectories, and the time covered, s; `None` if no
    /// phase begins here. Impulses are left in `forces`, end states in `end`.
    pub(super) fn integrate_contact_phase(
        &mut self,
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        end: &mut [Motion],
        interval: StepInterval,
    ) -> Option<(Vec<Trajectory>, f64)> {
        if !island.mechanisms.is_empty() || points.is_empty() {
            return None;
        }
        let closed = self.stop_approach(now, points);
        let now = closed.as_deref().unwrap_or(now);
        let StepInterval { begin, time, .. } = interval;
        let phase = PhaseInterval { free, begin, time, stick_speed: self.settings.stick_speed };
        let time = self.phase.run(&mut self.mirror, now, points, phase)?;
        let mut trajectories = free.to_vec();
        for (place, &body) in self.phase.bodies().iter().enumerate() {
            let dense_output = &mut self.mirror.dense_outputs[body];
            for (node, (when, states)) in self.phase.nodes.iter().enumerate() {
                if node == 0 {
                    dense_output.restart(begin, states[place]);
                } else {
                    dense_output.push(begin + when, states[place]);
                }
            }
            trajectories[body] = Trajectory::Integrated;
        }
        for &body in &island.bodies {
            end[body] = evaluate(&self.mirror, body, &now[body], trajectories[body], begin, time);
        }
        let closing = if closed.is_some() { std::mem::take(&mut self.forces.impulse) } else { Vec::new() };
        self.forces.impulse.clear();
        self.forces.impulse.resize(points.len(), DVec3::ZERO);
        for (point, impulse) in self.phase.impulses() {
            self.forces.impulse[point] = points[point].frame.transpose() * impulse;
        }
        let touching = (0..points.len()).filter(|point| points[*point].is_touching());
        for (point, p) in touching.zip(closing) {
            self.forces.impulse[point] += p;
        }
        self.counters.solves += 1;
        Some((trajectories, time))
    }

    /// Velocities after an inelastic impulse at the touching points, which approach more slowly than a
    /// collision; `None` if none approaches.
    fn stop_approach(&mut self, now: &[Motion], points: &[ManifoldPoint]) -> Option<Vec<Motion>> {
        let touching: Vec<ManifoldPoint> =
            points.iter().copied().filter(ManifoldPoint::is_touching).collect();
        let closes = |point: &ManifoldPoint| point.relative_velocity(now).x < -CLOSING_SPEED;
        if !touching.iter().any(closes) {
            return None;
        }
        let stick_speed = self.settings.stick_speed;
        self.forces.assemble(&self.mirror, now, now, &touching, |_, point| {
            let u = point.relative_velocity(now);
            let slides = u.y.hypot(u.z) > stick_speed;
            ContactTarget {
                normal: 0.0,
                friction: if slides { point.kinetic_friction } else { point.static_friction },
                stiffness: Stiffness::Rigid,
            }
        });
        self.forces.impulse.clear();
        self.forces.solve(&BlockSettings::default());
        let mut closed = now.to_vec();
        for (body, [v, omega]) in self.forces.velocities() {
            (closed[body].v, closed[body].omega) = (v, omega);
        }
        Some(closed)
    }
}
