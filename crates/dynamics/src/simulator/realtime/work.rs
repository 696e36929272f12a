//! Work of contacts, joints and motors, for the energy ledger.
//!
//! In a sub-step a body comes from y₀ to y₁ = y₀ + kick + c + b, with c the change by contacts and b the
//! change by joints in coordinates of unit mass. Their work on it is c·(y₀ + y₁)/2 and b·(y₀ + y₁)/2; with
//! that of the kick they sum to ΔK. Bodies drift with the velocity y* before the relaxation, which includes
//! the correction of overlap and drift: against the loads that costs kick·(y₁ − y*), and counts as work of
//! the correcting constraints.
//!
//! Impulses of single rows are known for the last sub-step only. The split of contact work into normal force,
//! friction and kinematic bodies, and of joint work into locks and motors, is therefore computed as if all
//! sub-steps were like the last one; the sums are exact.
//!
//! Impacts, continuous collision and sleeping change states between the stages of a step. Their work is the
//! change of K − F·x, F the loads at the beginning of the step.

use super::Realtime;
use super::joint_constraint::state;
use super::lanes::LANES;
use super::sim_bodies::SimBody;
use super::solver_body::{BodyRow, Kick, is_padding};
use crate::joint::{Effect, JointFrame, JointState, Rows};
use crate::rigid::Motion;
use crate::world::{BodyId, Status, WorkCategory, WorkEntry, WorkSource, World};
use glam::{DQuat, DVec3};

/// Work on a body in the solver, J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BodyWork {
    /// y at the beginning of the sub-step.
    start: BodyRow,
    /// kick·y of the velocity of the drift, J.
    drift_work: f64,
    pub contact: f64,
    pub joint: f64,
}

/// Sum of products over some lanes, without padding.
fn dot(a: &BodyRow, b: &BodyRow, lanes: std::ops::Range<usize>) -> f64 {
    lanes.filter(|i| !is_padding(*i)).map(|i| f64::from(a.lanes()[i]) * f64::from(b.lanes()[i])).sum()
}

impl BodyWork {
    /// Begins a sub-step.
    pub const fn begin(&mut self, y: &BodyRow) {
        self.start = *y;
    }

    /// Records the velocities of the drift.
    pub fn record_drift(&mut self, kick: &Kick, y: &BodyRow) {
        self.drift_work = dot(kick.row(), y, 0..4);
    }

    /// Ends a sub-step: present velocities, velocities after the kick, change by joints.
    pub fn end(&mut self, y: &BodyRow, kicked: &BodyRow, joint_change: &BodyRow, kick: &Kick) {
        let mean = std::array::from_fn(|i| 0.5 * (self.start.lanes()[i] + y.lanes()[i]));
        let contact_change =
            std::array::from_fn(|i| y.lanes()[i] - kicked.lanes()[i] - joint_change.lanes()[i]);
        let (mean, contact_change) = (BodyRow::from_lanes(mean), BodyRow::from_lanes(contact_change));
        let correction = dot(kick.row(), y, 0..4) - self.drift_work;
        self.contact += dot(&contact_change, &mean, 0..LANES);
        self.joint += dot(joint_change, &mean, 0..LANES);
        if *joint_change.lanes() == [0.0; LANES] {
            self.contact += correction;
        } else {
            self.joint += correction;
        }
    }
}

/// Work between the stages of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkAccount {
    pub is_open: bool,
    /// K − F·x at the beginning of a stage, J.
    mark: f64,
    /// Work of contacts between the stages, J.
    contact: f64,
    /// Energy taken from jointed bodies after they were solved (`joint_energy`), J, negative.
    pub joint: f64,
}

/// Work of one manifold, J.
struct ManifoldWork {
    bodies: [BodyId; 2],
    point: DVec3,
    friction: f64,
    kinematic: f64,
    sum: f64,
}

impl Realtime {
    /// K − F·x of all bodies, J.
    fn stage_energy(&self, world: &World) -> f64 {
        let g = self.loads.uniform_acceleration();
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let energy = |(index, (motion, inertia)): (usize, (&Motion, &crate::rigid::Inertia))| {
            let force = g * inertia.mass() + self.loads.wrench(index).force;
            inertia.kinetic_energy(motion) - force.dot(motion.x)
        };
        motion.iter().zip(inertia).enumerate().map(energy).sum()
    }

    /// Begins a step.
    pub(super) fn begin_work(&mut self, world: &World) {
        self.work_account = WorkAccount { is_open: world.keeps_ledger(), ..WorkAccount::default() };
        for solver in &mut self.solvers {
            solver.records_work = self.work_account.is_open;
        }
    }

    /// Begins a stage that may change states.
    pub(super) fn begin_stage(&mut self, world: &World) {
        if self.work_account.is_open {
            self.work_account.mark = self.stage_energy(world);
        }
    }

    /// Ends a stage: its work counts as work of contacts.
    pub(super) fn end_stage(&mut self, world: &World) {
        if self.work_account.is_open {
            self.work_account.contact += self.stage_energy(world) - self.work_account.mark;
        }
    }

    /// Adds the work of the step to the ledger.
    pub(super) fn post_work(&self, world: &mut World) {
        if !self.work_account.is_open {
            return;
        }
        let (mut contact, mut joint) = (self.work_account.contact, self.work_account.joint);
        for solved_body in &self.solved_bodies {
            if let Some(work) =
                self.solvers[usize::from(solved_body.high_mass_ratio)].work(solved_body.solver_index)
            {
                contact += work.contact;
                joint += work.joint;
            }
        }
        let (mut friction, mut kinematic, mut largest) = (0.0, 0.0, None::<ManifoldWork>);
        for work in self.manifold_works(world) {
            friction += work.friction;
            kinematic += work.kinematic;
            if largest.as_ref().is_none_or(|largest| work.sum > largest.sum) {
                largest = Some(work);
            }
        }
        let (motor, motor_joint) = self.motors(world);
        let largest = largest.map(|work| (WorkSource::Pair(work.bodies), Some(work.point)));
        let (pair, point) = largest.unwrap_or((WorkSource::World, None));
        let first = self.active.first().and_then(|index| self.joints.all.get(*index as usize));
        let locked = first.map_or(WorkSource::World, |joint| WorkSource::Joint(joint.id));
        for (category, source, point, joules) in [
            (WorkCategory::Contact, pair, point, contact - friction - kinematic),
            (WorkCategory::Friction, pair, point, friction),
            (WorkCategory::Kinematic, pair, point, kinematic),
            (WorkCategory::Joint, locked, None, joint - motor),
            (WorkCategory::Motor, motor_joint, None, motor),
        ] {
            if joules != 0.0 {
                world.add_work(WorkEntry { category, source, point, joules });
            }
        }
    }

    /// Manifolds in the solver, with the work of their impulses.
    fn manifold_works<'s>(&'s self, world: &'s World) -> impl Iterator<Item = ManifoldWork> + 's {
        let stamp = world.counters().steps + 1;
        let contacts = self.contact_graph.near().filter_map(|(_, pair)| self.contact_graph.contact(pair));
        contacts.filter(move |contact| contact.impact_step != stamp).flat_map(move |contact| {
            let [a, b] = contact.bodies.map(|slot| self.sim_bodies.body(slot));
            let sides = a.zip(b).and_then(|(a, b)| Some([(a, mean(world, a)?), (b, mean(world, b)?)]));
            contact.manifolds().filter_map(move |manifold| {
                let [(a, one), (b, other)] = sides?;
                let substeps = self.substeps[0] as f64;
                let axes = |sim_body: &SimBody, motion: &Motion| {
                    if sim_body.status == Status::Fixed { DQuat::IDENTITY } else { motion.q }
                };
                let normal = axes(a, &one) * manifold.normal();
                let (mut normal_impulse, mut center) = (0.0, DVec3::ZERO);
                for point in manifold.points() {
                    let position = if b.status == Status::Fixed {
                        one.x + axes(a, &one) * point.anchor_a()
                    } else {
                        other.x + axes(b, &other) * point.anchor_b()
                    };
                    normal_impulse += f64::from(point.impulse());
                    center += f64::from(point.impulse()) * position;
                }
                if normal_impulse <= 0.0 {
                    return None;
                }
                let point = center / normal_impulse;
                let friction_impulse = substeps * (axes(a, &one) * manifold.friction_impulse());
                let normal_impulse = substeps * normal_impulse * normal;
                let [ua, ub] = [one.velocity_at(point), other.velocity_at(point)];
                let friction = friction_impulse.dot(ub - ua);
                let mut kinematic = 0.0;
                if a.status != Status::Dynamic {
                    kinematic += (normal_impulse + friction_impulse).dot(ua);
                }
                if b.status != Status::Dynamic {
                    kinematic -= (normal_impulse + friction_impulse).dot(ub);
                }
                let sum = friction + normal_impulse.dot(ub - ua);
                Some(ManifoldWork { bodies: [a.id, b.id], point, friction, kinematic, sum })
            })
        })
    }

    /// (work of motors and springs of joints in J, joint with the largest).
    fn motors(&self, world: &World) -> (f64, WorkSource) {
        let (mut sum, mut largest) = (0.0, (0.0, WorkSource::World));
        let mut rows = Rows::default();
        for joint in self.active.iter().filter_map(|index| self.joints.all.get(*index as usize)) {
            let Some(impulses) = &joint.rows else { continue };
            let Ok(record) = world.joint(joint.id) else { continue };
            let (Some(end), Some(begin)) = (state(world, record, self.dt), self.joint_before(world, record))
            else {
                continue;
            };
            let substeps = self.substeps[0] as f64;
            rows.clear();
            record.kind().rows(&begin, &mut rows);
            let mut work = 0.0;
            for row in rows.as_slice() {
                let drives = match row.effect {
                    Effect::Spring { .. } => true,
                    Effect::Motor { speed, .. } => speed != 0.0,
                    Effect::Lock | Effect::Limit => false,
                };
                let impulse = impulses.get(row.key as usize).filter(|_| drives);
                let rate = 0.5 * (begin.rate(row) + end.rate(row));
                work += substeps * impulse.map_or(0.0, |impulse| f64::from(*impulse)) * rate;
            }
            sum += work;
            if work.abs() > largest.0 {
                largest = (work.abs(), WorkSource::Joint(joint.id));
            }
        }
        (sum, largest.1)
    }

    /// Frames of a joint at the beginning of the step.
    fn joint_before(&self, world: &World, record: &crate::joint::JointRecord) -> Option<JointState> {
        let frame = |k: usize| {
            let Some(id) = record.bodies[k] else { return Some(JointFrame::fixed(&record.frames[k])) };
            let motion = match world.bodies().locate(id)? {
                (Status::Dynamic, index) => world.initial_states().get(index)?,
                _ => world.bodies().motion_of(id)?,
            };
            Some(JointFrame::on(motion, &record.frames[k]))
        };
        let frames = [frame(0)?, frame(1)?];
        Some(JointState { time: world.time(), dt: self.dt, frames, turned: record.turned })
    }
}

/// A body with the mean velocities of the step and the pose at its beginning.
fn mean(world: &World, sim_body: &SimBody) -> Option<Motion> {
    let now = *world.bodies().motion_of(sim_body.id)?;
    if sim_body.status != Status::Dynamic {
        return Some(now);
    }
    let then = world.initial_states().get(sim_body.index as usize)?;
    Some(Motion { v: 0.5 * (then.v + now.v), omega: 0.5 * (then.omega + now.omega), ..*then })
}
