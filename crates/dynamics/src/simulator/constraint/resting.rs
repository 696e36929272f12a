//! Rest: a body that its contacts stop within a sub-step and hold against its loads.
//!
//! With v* the velocities of a slow body at the end of an interval without contacts, and every point within some touching
//! tolerances taken as closed, the body is at rest if the contact problem
//!
//!   M (v − v*) = Jᵀ p,   0 ≤ p_n ⟂ u_n ≥ 0,   |p_τ| ≤ μ p_n, opposite to the slip where u_τ ≠ 0,
//!
//! has a solution with v = 0: impulses within their cones both remove its momentum and carry its loads. Its
//! pose is then kept bit for bit. Without this, points whose gaps differ by less than the touching tolerance open and
//! close in turn, and the body walks by fractions of that tolerance.
//!
//! A body that nothing stops (rolling without rolling friction, spinning on a point, tipping over an edge) has v ≠ 0 and is
//! not at rest, however slow it is.

use super::Constraint;
use super::force_solver::ContactTarget;
use super::step::StepInterval;
use super::tuning::{REST_GAP, REST_OVERLAP, REST_RESIDUAL, REST_SPEED, ROLLING_FRICTION_ROUNDS};
use crate::collision::ManifoldPoint;
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

impl Constraint {
    /// Whether an island is at rest over an interval. If it is, the impulses are left in `forces`, one per point.
    pub(super) fn is_at_rest(
        &mut self,
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        StepInterval { begin, time, .. }: StepInterval,
    ) -> bool {
        let speed = |body: usize, [v, omega]: [DVec3; 2]| {
            v.length() + self.mirror.bodies[body].radius * omega.length()
        };
        let is_slow = |body: &usize| speed(*body, [now[*body].v, now[*body].omega]) < REST_SPEED;
        let is_still = |body: &usize| {
            let motion = &now[*body];
            motion.v == DVec3::ZERO && motion.omega == DVec3::ZERO
        };
        let is_deep = |point: &ManifoldPoint| point.gap < -REST_OVERLAP * point.tolerance;
        if points.is_empty()
            || points.iter().any(is_deep)
            || !island.bodies.iter().all(is_slow)
            || !island.others.iter().all(is_still)
        {
            return false;
        }
        let mut ends = now.to_vec();
        for &body in &island.bodies {
            ends[body] = evaluate(&self.mirror, body, &now[body], free[body], begin, time);
        }
        let settings =
            BlockSettings { tolerance: self.settings.solver_tolerance, ..BlockSettings::default() };
        let forces = &mut self.forces;
        forces.assemble(&self.mirror, now, &ends, points, |_, point| ContactTarget {
            normal: if point.gap <= REST_GAP * point.tolerance { 0.0 } else { -point.gap / time },
            friction: point.static_friction,
            stiffness: Stiffness::Rigid,
        });
        forces.warm_start(&self.warm_start, points, time);
        forces.solve(&settings);
        if points.iter().any(|point| point.levers != [0.0; 2]) {
            for _ in 0..ROLLING_FRICTION_ROUNDS {
                let loads: Vec<f64> = forces.impulse.iter().map(|p| p.x).collect();
                forces.truncate_rows(0);
                forces.add_rolling_friction(now, points, &loads);
                forces.solve(&settings);
            }
        }
        forces.velocities().all(|(body, velocity)| speed(body, velocity) < REST_RESIDUAL)
    }
}
