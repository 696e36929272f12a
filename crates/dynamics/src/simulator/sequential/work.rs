//! Work of contacts and joints, for the energy ledger.
//!
//! With Δp what all passes over the contacts (or joints) have added to the momentum of a body, their work on it is Δp·(v⁻ + v⁺)/2 with the
//! velocities at both ends of the step, and likewise for its rotation; moving bodies apart by Δx costs −F·Δx against the loads F.

use super::contact::Touch;
use super::discrepancy::Mass;
use super::link::Link;
use super::{Cast, Sequential};
use crate::motion::Motion;
use crate::world::{WorkCategory, WorkEntry, WorkSource, World};
use glam::DVec3;

/// What has changed bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Joints,
    Contacts,
    /// New places from new velocities; no work of either.
    Flight,
}

/// Changes of velocity, angular velocity and place of every body.
type Changes = Vec<[DVec3; 3]>;

/// What joints and contacts have done to each body since the beginning of the solution.
#[derive(Clone, Debug)]
pub(super) struct Account {
    last: Vec<Motion>,
    joints: Changes,
    contacts: Changes,
}

impl Account {
    pub fn new(masses: &[Mass]) -> Self {
        let none = vec![[DVec3::ZERO; 3]; masses.len()];
        let last = masses.iter().map(|mass| mass.motion).collect();
        Self { last, joints: none.clone(), contacts: none }
    }

    pub fn note(&mut self, part: Part, masses: &[Mass]) {
        for (index, (mass, last)) in masses.iter().zip(&mut self.last).enumerate() {
            let changes = match part {
                Part::Joints => Some(&mut self.joints[index]),
                Part::Contacts => Some(&mut self.contacts[index]),
                Part::Flight => None,
            };
            if let Some([v, omega, x]) = changes {
                *v += mass.motion.v - last.v;
                *omega += mass.motion.omega - last.omega;
                *x += mass.motion.x - last.x;
            }
            *last = mass.motion;
        }
    }
}

impl Sequential {
    /// Posts the work of the step, with the bodies as they are at its end.
    pub(super) fn post_work(&mut self, world: &mut World, cast: &Cast, links: &[Link], touches: &[Touch]) {
        let Some(account) = self.account.take() else { return };
        let g = self.loads.uniform_acceleration();
        let mean = |place: usize| {
            let now = cast.masses[place].motion;
            let then = self.before.get(place).unwrap_or(&now);
            Motion { v: 0.5 * (then.v + now.v), omega: 0.5 * (then.omega + now.omega), ..now }
        };
        let work = |changes: &Changes| -> f64 {
            let on = |(place, [v, omega, x]): (usize, &[DVec3; 3])| {
                let (inertia, mean) = (&cast.masses[place].inertia, mean(place));
                let force = g * inertia.mass() + self.loads.wrench(place).force;
                inertia.mass() * v.dot(mean.v) + inertia.angular_momentum(mean.q, *omega).dot(mean.omega)
                    - force.dot(*x)
            };
            changes.iter().enumerate().take(self.before.len()).map(on).sum()
        };
        let (mut friction, mut kinematic, mut most) =
            (0.0, 0.0, (f64::NEG_INFINITY, WorkSource::World, None));
        for touch in touches.iter().filter(|touch| touch.load > 0.0) {
            let u = touch.bodies.map(|body| mean(body).velocity_at(touch.point));
            let (grip, push) = (touch.grip.dot(u[1] - u[0]), touch.load * touch.normal.dot(u[1] - u[0]));
            friction += grip;
            let impulse = touch.load * touch.normal + touch.grip;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if !cast.masses[touch.bodies[side]].movable {
                    kinematic += sign * impulse.dot(u[side]);
                }
            }
            if let ([Some(a), Some(b)], true) =
                (touch.bodies.map(|body| cast.ids[body]), grip + push > most.0)
            {
                most = (grip + push, WorkSource::Pair([a, b]), Some(touch.point));
            }
        }
        let contact = work(&account.contacts) - friction - kinematic;
        // Impulses of a joint are not told apart by row.
        let motor =
            links.iter().find(|link| world.joint(link.id).is_ok_and(|record| record.kind().can_add_energy()));
        let (category, joint) = match (motor, links.first()) {
            (Some(motor), _) => (WorkCategory::Motor, WorkSource::Joint(motor.id)),
            (None, first) => {
                (WorkCategory::Joint, first.map_or(WorkSource::World, |link| WorkSource::Joint(link.id)))
            }
        };
        let joints = work(&account.joints);
        for (category, source, point, joules) in [
            (WorkCategory::Contact, most.1, most.2, contact),
            (WorkCategory::Friction, most.1, most.2, friction),
            (WorkCategory::Kinematic, most.1, most.2, kinematic),
            (category, joint, None, joints),
        ] {
            if joules != 0.0 {
                world.add_work(WorkEntry { category, source, point, joules });
            }
        }
    }
}
