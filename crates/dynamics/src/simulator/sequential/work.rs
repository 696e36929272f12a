//! Work of contacts and joints for the energy ledger.
//!
//! With Δp the momentum that all iterations over the contacts (or joints) have added to a body, their work on
//! it is Δp·(v⁻ + v⁺)/2 with the velocities at both ends of the step, and likewise for its rotation; a
//! position correction Δx does the work −F·Δx against the loads F.

use super::Sequential;
use super::contact_constraint::PointContact;
use super::joint_constraint::AnchorJoint;
use super::solver_body::SequentialBody;
use crate::rigid::Motion;
use crate::world::{WorkCategory, WorkEntry, WorkSource, World};
use glam::DVec3;

/// Stage of the solver that changed the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SolverStage {
    Joints,
    Contacts,
    /// Positions from the new velocities; no work.
    Positions,
}

/// Changes of velocity, angular velocity and position of every body.
type Changes = Vec<[DVec3; 3]>;

/// Changes of each body by joints and by contacts since the beginning of the solution.
#[derive(Clone, Debug)]
pub(super) struct StageChanges {
    last: Vec<Motion>,
    joints: Changes,
    contacts: Changes,
}

impl StageChanges {
    pub fn new(bodies: &[SequentialBody]) -> Self {
        let none = vec![[DVec3::ZERO; 3]; bodies.len()];
        let last = bodies.iter().map(|body| body.motion).collect();
        Self { last, joints: none.clone(), contacts: none }
    }

    /// Adds the changes since the last call to those of a stage.
    pub fn record(&mut self, stage: SolverStage, bodies: &[SequentialBody]) {
        for (index, (body, last)) in bodies.iter().zip(&mut self.last).enumerate() {
            let changes = match stage {
                SolverStage::Joints => Some(&mut self.joints[index]),
                SolverStage::Contacts => Some(&mut self.contacts[index]),
                SolverStage::Positions => None,
            };
            if let Some([v, omega, x]) = changes {
                *v += body.motion.v - last.v;
                *omega += body.motion.omega - last.omega;
                *x += body.motion.x - last.x;
            }
            *last = body.motion;
        }
    }
}

impl Sequential {
    /// Posts the work of the step; bodies are in their end states.
    pub(super) fn post_work(
        &mut self,
        world: &mut World,
        bodies: &[SequentialBody],
        joints: &[AnchorJoint],
        contacts: &[PointContact],
    ) {
        let Some(account) = self.account.take() else { return };
        let g = self.loads.uniform_acceleration();
        let initial_states = world.initial_states();
        let mean = |place: usize| {
            let now = bodies[place].motion;
            let then = initial_states.get(place).unwrap_or(&now);
            Motion { v: 0.5 * (then.v + now.v), omega: 0.5 * (then.omega + now.omega), ..now }
        };
        let work = |changes: &Changes| -> f64 {
            let on = |(place, [v, omega, x]): (usize, &[DVec3; 3])| {
                let (inertia, mean) = (&bodies[place].inertia, mean(place));
                let force = g * inertia.mass() + self.loads.wrench(place).force;
                inertia.mass() * v.dot(mean.v) + inertia.angular_momentum(mean.q, *omega).dot(mean.omega)
                    - force.dot(*x)
            };
            changes.iter().enumerate().take(initial_states.len()).map(on).sum()
        };
        let (mut friction, mut kinematic, mut most) =
            (0.0, 0.0, (f64::NEG_INFINITY, WorkSource::World, None));
        for contact in contacts.iter().filter(|contact| contact.normal_impulse > 0.0) {
            let u = contact.bodies.map(|body| mean(body).velocity_at(contact.point));
            let (tangential, normal) = (
                contact.friction_impulse.dot(u[1] - u[0]),
                contact.normal_impulse * contact.normal.dot(u[1] - u[0]),
            );
            friction += tangential;
            let impulse = contact.normal_impulse * contact.normal + contact.friction_impulse;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if !bodies[contact.bodies[side]].movable {
                    kinematic += sign * impulse.dot(u[side]);
                }
            }
            if let ([Some(a), Some(b)], true) = (
                contact.bodies.map(|body| self.mirror.bodies.get(body).map(|body| body.id)),
                tangential + normal > most.0,
            ) {
                most = (tangential + normal, WorkSource::Pair([a, b]), Some(contact.point));
            }
        }
        let contact = work(&account.contacts) - friction - kinematic;
        // Impulses are not separated by joint row: all work is attributed to the first motor, else to the
        // first joint.
        let motor = joints
            .iter()
            .find(|joint| world.joint(joint.id).is_ok_and(|record| record.kind().can_add_energy()));
        let (category, joint) = match (motor, joints.first()) {
            (Some(motor), _) => (WorkCategory::Motor, WorkSource::Joint(motor.id)),
            (None, first) => {
                (WorkCategory::Joint, first.map_or(WorkSource::World, |joint| WorkSource::Joint(joint.id)))
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
