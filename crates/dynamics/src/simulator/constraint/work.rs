//! Work of contacts and joints for the energy ledger.
//!
//! An impulse p at a contact does the work p·(u⁻ + u⁺)/2, where u⁻ and u⁺ are the relative velocities before
//! and after everything that acts in the same interval. Free flight under constant loads is exact, so the
//! rest of the energy change of an island over a sub-step, with E = K − F·x for the loads F at its beginning,
//! is the work of its joints; in an island without joints, that of position correction.

use super::Constraint;
use crate::collision::ManifoldPoint;
use crate::collision::WorldMirror;
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::Trajectory;
use crate::world::{WorkCategory, WorkEntry, WorkSource, World};
use glam::DVec3;
use rattleback_geometry::swept::rotation_vector;

/// Posts the work of an impulse, given in the contact frame, between two states.
pub(in crate::simulator) fn add_contact_work(
    works: &mut Vec<WorkEntry>,
    mirror: &WorldMirror,
    (point, p): (&ManifoldPoint, DVec3),
    (before, after): (&[Motion], &[Motion]),
) {
    if p == DVec3::ZERO {
        return;
    }
    let impulse = point.frame * p;
    let mean = point.bodies.map(|body| {
        let (before, after) = (&before[body as usize], &after[body as usize]);
        let mean = Motion { v: before.v + after.v, omega: before.omega + after.omega, ..*before };
        0.5 * mean.velocity_at(point.position)
    });
    let u = point.frame.transpose() * (mean[1] - mean[0]);
    let mut kinematic = 0.0;
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        if !mirror.bodies[point.bodies[side] as usize].is_dynamic() {
            kinematic += sign * impulse.dot(mean[side]);
        }
    }
    let source = WorkSource::Pair(point.bodies.map(|body| mirror.bodies[body as usize].id));
    let point = Some(point.position);
    for (category, joules) in [
        (WorkCategory::Contact, p.x * u.x),
        (WorkCategory::Friction, p.y * u.y + p.z * u.z),
        (WorkCategory::Kinematic, kinematic),
    ] {
        if joules != 0.0 {
            works.push(WorkEntry { category, source, point, joules });
        }
    }
}

impl Constraint {
    /// Begins the ledger of a step.
    pub(super) fn begin_ledger(&mut self, world: &World) {
        self.works.clear();
        self.keeps_ledger = world.keeps_ledger();
    }

    /// Posts the energy change of the projection onto the joints, from the energy before it, J.
    pub(super) fn account_stabilization(&mut self, world: &World, energy: Option<f64>) {
        let Some(energy) = energy else { return };
        let source =
            self.mirror.joints.first().map_or(WorkSource::World, |joint| WorkSource::Joint(joint.id));
        let joules = world.readout().energy() - energy;
        if joules != 0.0 {
            self.works.push(WorkEntry { category: WorkCategory::Joint, source, point: None, joules });
        }
    }

    /// Posts the work of the contact forces of a completed interval.
    pub(super) fn account_forces(&mut self, points: &[ManifoldPoint], now: &[Motion], end: &[Motion]) {
        if self.keeps_ledger {
            for (point, p) in points.iter().zip(&self.forces.impulse) {
                add_contact_work(&mut self.works, &self.mirror, (point, *p), (now, end));
            }
        }
    }

    /// Posts the energy change of an island over a sub-step h that the entries from `first` on do not account
    /// for.
    pub(super) fn account_island(
        &mut self,
        world: &World,
        island: &ContactIsland,
        (start, end, free): (&[Motion], &[Motion], &[Trajectory]),
        first: usize,
        h: f64,
    ) {
        if !self.keeps_ledger || (island.mechanisms.is_empty() && island.pairs.is_empty()) {
            return;
        }
        let mut gained = 0.0;
        for &body in &island.bodies {
            let (inertia, from, to) = (&self.mirror.bodies[body].inertia, &start[body], &end[body]);
            let [then, now] = [from, to].map(|motion| {
                let linear = 0.5 * inertia.mass() * motion.v.length_squared();
                [linear, inertia.kinetic_energy(motion) - linear]
            });
            for (k, c) in [inertia.linear_damping, inertia.angular_damping].into_iter().enumerate() {
                gained += now[k] - then[k];
                gained -= (-c * h).exp_m1() * then[k] - (c * h).exp_m1() * now[k];
            }
            if let Trajectory::Ballistic { acceleration, torque } = free[body] {
                gained -= inertia.mass() * acceleration.dot(to.x - from.x);
                if torque != DVec3::ZERO {
                    gained -= torque.dot(rotation_vector(from.q, to.q));
                }
            }
        }
        let left = gained - self.works[first..].iter().map(|work| work.joules).sum::<f64>();
        let joints = || self.mirror.joints_of(&island.mechanisms).map(|joint| self.mirror.joints[joint].id);
        let adds = |id| world.joint(id).is_ok_and(|record| record.kind().can_add_energy());
        let (category, source) = match (joints().find(|id| adds(*id)), joints().next()) {
            (Some(motor), _) => (WorkCategory::Motor, WorkSource::Joint(motor)),
            (None, Some(joint)) => (WorkCategory::Joint, WorkSource::Joint(joint)),
            (None, None) => {
                let body = island.bodies.first().map(|body| self.mirror.bodies[*body].id);
                (WorkCategory::Contact, body.map_or(WorkSource::World, WorkSource::Body))
            }
        };
        self.works.push(WorkEntry { category, source, point: None, joules: left });
    }

    /// Moves the entries of the step to the ledger of the world.
    pub(super) fn post_work(&mut self, world: &mut World) {
        for entry in self.works.drain(..) {
            world.add_work(entry);
        }
    }
}
