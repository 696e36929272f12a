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
use super::step::{StepInterval, SubStep};
use super::tuning::{REST_GAP, REST_OVERLAP, REST_RESIDUAL, REST_SPEED, ROLLING_FRICTION_ROUNDS};
use crate::collision::{ManifoldPoint, gather};
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use crate::world::World;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

impl Constraint {
    /// Whether rest is looked for: in islands without joints, in worlds that no other simulator has left with overlaps.
    pub(super) fn may_rest(world: &World, island: &ContactIsland) -> bool {
        island.mechanisms.is_empty() && !world.was_stepped_by_others()
    }

    /// Whether an island that is still at the beginning of a sub-step is at rest over all of it; its end states and
    /// forces are then written. A world of resting bodies costs one contact problem per island.
    pub(super) fn stays_at_rest(
        &mut self,
        world: &World,
        island: &ContactIsland,
        (start, free): (&[Motion], &[Trajectory]),
        end: &mut [Motion],
        SubStep { begin, h, .. }: SubStep,
    ) -> bool {
        let is_still = |body: &usize| start[*body].v == DVec3::ZERO && start[*body].omega == DVec3::ZERO;
        if island.pairs.is_empty()
            || self.is_large(island)
            || !Self::may_rest(world, island)
            || !island.bodies.iter().all(is_still)
        {
            return false;
        }
        let mut points = Vec::new();
        gather(&mut self.mirror, &island.pairs, start, h, self.settings.touch_gap, &mut points);
        let interval = StepInterval { begin, time: h, approximate: false };
        self.come_to_rest(island, (start, &points), free, end, interval)
    }

    /// Stops an island that is at rest over an interval, and stores its forces ⇒ whether it is.
    pub(super) fn come_to_rest(
        &mut self,
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        end: &mut [Motion],
        interval: StepInterval,
    ) -> bool {
        if !self.is_at_rest(island, (now, points), free, end, interval) {
            return false;
        }
        for &body in &island.bodies {
            end[body] = Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..now[body] };
        }
        self.store_forces(points, interval.time);
        self.account_forces(points, now, end);
        self.mark_contact(points);
        true
    }

    /// Whether an island is at rest over an interval. If it is, the impulses are left in `forces`, one per point. The end
    /// states of the island become those without contacts.
    fn is_at_rest(
        &mut self,
        island: &ContactIsland,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        ends: &mut [Motion],
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
        for &body in &island.bodies {
            ends[body] = evaluate(&self.mirror, body, &now[body], free[body], begin, time);
        }
        let settings =
            BlockSettings { tolerance: self.settings.solver_tolerance, ..BlockSettings::default() };
        let forces = &mut self.forces;
        forces.assemble(&self.mirror, now, ends, points, |_, point| ContactTarget {
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
