//! Work of contacts and joints, for the energy ledger.
//!
//! An impulse p at a contact does p·(u⁻ + u⁺)/2, u the relative velocity there before and after everything that acts in the same interval.
//! Free flight under constant loads is exact, so what is left of an island's energy over a sub-step, with E = K − F·x for the loads F at
//! its beginning, is the work of its joints; in an island without joints, that of putting contacts right.

use super::Constraint;
use super::force::Course;
use super::island::Island;
use super::roster::Roster;
use super::touch::Touch;
use crate::motion::Motion;
use crate::world::{WorkCategory, WorkEntry, WorkSource, World};
use glam::DVec3;
use rattleback_geometry::swept::rotation_vector;

/// Posts the work of an impulse, in the frame of the contact, between the velocities of two states.
pub(in crate::simulator) fn add_contact_work(
    works: &mut Vec<WorkEntry>,
    roster: &Roster,
    (touch, p): (&Touch, DVec3),
    (before, after): (&[Motion], &[Motion]),
) {
    if p == DVec3::ZERO {
        return;
    }
    let impulse = touch.frame * p;
    let mean = touch.actors.map(|actor| {
        let (before, after) = (&before[actor as usize], &after[actor as usize]);
        let mean = Motion { v: before.v + after.v, omega: before.omega + after.omega, ..*before };
        0.5 * mean.velocity_at(touch.point)
    });
    let u = touch.frame.transpose() * (mean[1] - mean[0]);
    let mut kinematic = 0.0;
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        if !roster.actors[touch.actors[side] as usize].is_dynamic() {
            kinematic += sign * impulse.dot(mean[side]);
        }
    }
    let source = WorkSource::Pair(touch.actors.map(|actor| roster.actors[actor as usize].id));
    let point = Some(touch.point);
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
    /// Begins the account of a step.
    pub(super) fn begin_account(&mut self, world: &World) {
        self.works.clear();
        self.accounts = world.keeps_ledger();
    }

    /// Posts what it took to put bodies where their joints hold, from this energy.
    pub(super) fn account_settling(&mut self, world: &World, energy: Option<f64>) {
        let Some(energy) = energy else { return };
        let source = self.roster.bonds.first().map_or(WorkSource::World, |bond| WorkSource::Joint(bond.id));
        let joules = world.readout().energy() - energy;
        if joules != 0.0 {
            self.works.push(WorkEntry { category: WorkCategory::Joint, source, point: None, joules });
        }
    }

    /// Posts the work of the forces of an interval that is done.
    pub(super) fn account_forces(&mut self, touches: &[Touch], now: &[Motion], end: &[Motion]) {
        if self.accounts {
            for (touch, p) in touches.iter().zip(&self.forces.impulse) {
                add_contact_work(&mut self.works, &self.roster, (touch, *p), (now, end));
            }
        }
    }

    /// Posts what an island has gained over a sub-step h besides the works from `first` on.
    pub(super) fn account_island(
        &mut self,
        world: &World,
        island: &Island,
        (start, end, free): (&[Motion], &[Motion], &[Course]),
        first: usize,
        h: f64,
    ) {
        if !self.accounts || (island.assemblies.is_empty() && island.pairs.is_empty()) {
            return;
        }
        let mut gained = 0.0;
        for &actor in &island.actors {
            let (inertia, from, to) = (&self.roster.actors[actor].inertia, &start[actor], &end[actor]);
            let [then, now] = [from, to].map(|motion| {
                let linear = 0.5 * inertia.mass() * motion.v.length_squared();
                [linear, inertia.kinetic_energy(motion) - linear]
            });
            for (k, c) in [inertia.linear_damping, inertia.angular_damping].into_iter().enumerate() {
                gained += now[k] - then[k];
                gained -= (-c * h).exp_m1() * then[k] - (c * h).exp_m1() * now[k];
            }
            if let Course::Free { acceleration, torque } = free[actor] {
                gained -= inertia.mass() * acceleration.dot(to.x - from.x);
                if torque != DVec3::ZERO {
                    gained -= torque.dot(rotation_vector(from.q, to.q));
                }
            }
        }
        let left = gained - self.works[first..].iter().map(|work| work.joules).sum::<f64>();
        let joints = || self.roster.bonds_of(&island.assemblies).map(|bond| self.roster.bonds[bond].id);
        let adds = |id| world.joint(id).is_ok_and(|record| record.kind().can_add_energy());
        let (category, source) = match (joints().find(|id| adds(*id)), joints().next()) {
            (Some(motor), _) => (WorkCategory::Motor, WorkSource::Joint(motor)),
            (None, Some(joint)) => (WorkCategory::Joint, WorkSource::Joint(joint)),
            (None, None) => {
                let body = island.actors.first().map(|actor| self.roster.actors[*actor].id);
                (WorkCategory::Contact, body.map_or(WorkSource::World, WorkSource::Body))
            }
        };
        self.works.push(WorkEntry { category, source, point: None, joules: left });
    }

    /// Posts the work of the step.
    pub(super) fn post_work(&mut self, world: &mut World) {
        for entry in self.works.drain(..) {
            world.add_work(entry);
        }
    }
}
