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
use super::bond::state;
use super::lanes::{LANES, Row};
use super::roster::Actor;
use crate::joint::{Effect, JointFrame, JointState, Rows};
use crate::motion::Motion;
use crate::world::{BodyId, Status, WorkCategory, WorkEntry, WorkSource, World};
use glam::{DQuat, DVec3};

/// Work on a body in the solver, J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MoverWork {
    /// y at the beginning of the sub-step.
    start: Row,
    /// kick·y of the velocity of the drift, J.
    moved: f64,
    pub contact: f64,
    pub joint: f64,
}

fn dot(a: &Row, b: &Row, lanes: std::ops::Range<usize>) -> f64 {
    lanes.filter(|i| i % 4 != 3).map(|i| f64::from(a.0[i]) * f64::from(b.0[i])).sum()
}

impl MoverWork {
    /// Begins a sub-step.
    pub const fn begin(&mut self, y: &Row) {
        self.start = *y;
    }

    /// Records the velocities of the drift.
    pub fn moves(&mut self, kick: &Row, y: &Row) {
        self.moved = dot(kick, y, 0..4);
    }

    /// Ends a sub-step: present velocities, velocities after the kick, change by joints.
    pub fn end(&mut self, y: &Row, kicked: &Row, bonded: &Row, kick: &Row) {
        let mean = Row(std::array::from_fn(|i| 0.5 * (self.start.0[i] + y.0[i])));
        let pushed = Row(std::array::from_fn(|i| y.0[i] - kicked.0[i] - bonded.0[i]));
        let mended = dot(kick, y, 0..4) - self.moved;
        self.contact += dot(&pushed, &mean, 0..LANES);
        self.joint += dot(bonded, &mean, 0..LANES);
        if bonded.0 == [0.0; LANES] {
            self.contact += mended;
        } else {
            self.joint += mended;
        }
    }
}

/// Work between the stages of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub open: bool,
    /// K − F·x at the beginning of a stage, J.
    mark: f64,
    /// Work of contacts between the stages, J.
    contact: f64,
}

/// Work of one manifold, J.
struct Grip {
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
        let energy = |(place, (motion, inertia)): (usize, (&Motion, &crate::motion::Inertia))| {
            let force = g * inertia.mass() + self.loads.wrench(place).force;
            inertia.kinetic_energy(motion) - force.dot(motion.x)
        };
        motion.iter().zip(inertia).enumerate().map(energy).sum()
    }

    /// Begins a step.
    pub(super) fn begin_account(&mut self, world: &World) {
        self.account = Account { open: world.keeps_ledger(), ..Account::default() };
        for solver in &mut self.solvers {
            solver.accounts = self.account.open;
        }
    }

    /// Begins a stage that may change states.
    pub(super) fn begin_stage(&mut self, world: &World) {
        if self.account.open {
            self.account.mark = self.stage_energy(world);
        }
    }

    /// Ends a stage: its work counts as work of contacts.
    pub(super) fn end_stage(&mut self, world: &World) {
        if self.account.open {
            self.account.contact += self.stage_energy(world) - self.account.mark;
        }
    }

    /// Adds the work of the step to the ledger.
    pub(super) fn post_work(&self, world: &mut World) {
        if !self.account.open {
            return;
        }
        let (mut contact, mut joint) = (self.account.contact, 0.0);
        for seat in &self.seats {
            if let Some(work) = self.solvers[usize::from(seat.delicate)].work(seat.mover) {
                contact += work.contact;
                joint += work.joint;
            }
        }
        let (mut friction, mut kinematic, mut most) = (0.0, 0.0, None::<Grip>);
        for grip in self.grips(world) {
            friction += grip.friction;
            kinematic += grip.kinematic;
            if most.as_ref().is_none_or(|most| grip.sum > most.sum) {
                most = Some(grip);
            }
        }
        let (motor, driver) = self.motors(world);
        let place = most.map(|grip| (WorkSource::Pair(grip.bodies), Some(grip.point)));
        let (pair, point) = place.unwrap_or((WorkSource::World, None));
        let first = self.active.first().and_then(|place| self.bonds.all.get(*place as usize));
        let held = first.map_or(WorkSource::World, |bond| WorkSource::Joint(bond.id));
        for (category, source, point, joules) in [
            (WorkCategory::Contact, pair, point, contact - friction - kinematic),
            (WorkCategory::Friction, pair, point, friction),
            (WorkCategory::Kinematic, pair, point, kinematic),
            (WorkCategory::Joint, held, None, joint - motor),
            (WorkCategory::Motor, driver, None, motor),
        ] {
            if joules != 0.0 {
                world.add_work(WorkEntry { category, source, point, joules });
            }
        }
    }

    /// A body with the mean velocities of the step and the pose at its beginning.
    fn mean(&self, world: &World, actor: &Actor) -> Option<Motion> {
        let now = *world.bodies().motion_of(actor.id)?;
        if actor.status != Status::Dynamic {
            return Some(now);
        }
        let then = self.before.get(actor.place as usize)?;
        Some(Motion { v: 0.5 * (then.v + now.v), omega: 0.5 * (then.omega + now.omega), ..*then })
    }

    /// Manifolds in the solver, with the work of their impulses.
    fn grips<'s>(&'s self, world: &'s World) -> impl Iterator<Item = Grip> + 's {
        let stamp = world.counters().steps + 1;
        let contacts = self.table.near(stamp).filter_map(|(_, summary)| self.table.contact(summary));
        contacts.filter(move |contact| contact.answered != stamp).flat_map(move |contact| {
            let [a, b] = contact.actors.map(|slot| self.roster.actor(slot));
            let sides =
                a.zip(b).and_then(|(a, b)| Some([(a, self.mean(world, a)?), (b, self.mean(world, b)?)]));
            contact.patches().filter_map(move |patch| {
                let [(a, one), (b, other)] = sides?;
                let delicate = a.delicate || b.delicate;
                let substeps = self.substeps[usize::from(delicate)] as f64;
                let axes = |actor: &Actor, motion: &Motion| {
                    if actor.status == Status::Fixed { DQuat::IDENTITY } else { motion.q }
                };
                let normal = axes(a, &one) * patch.head.vector(0);
                let points = &patch.points[..patch.count as usize];
                let (mut push, mut middle) = (0.0, DVec3::ZERO);
                for row in points {
                    let place = if b.status == Status::Fixed {
                        one.x + axes(a, &one) * row.vector(0)
                    } else {
                        other.x + axes(b, &other) * row.vector(3)
                    };
                    push += f64::from(row.0[6]);
                    middle += f64::from(row.0[6]) * place;
                }
                if push <= 0.0 {
                    return None;
                }
                let point = middle / push;
                let grip = substeps * (axes(a, &one) * patch.grip.vector(0));
                let push = substeps * push * normal;
                let [ua, ub] = [one.velocity_at(point), other.velocity_at(point)];
                let friction = grip.dot(ub - ua);
                let mut kinematic = 0.0;
                if a.status != Status::Dynamic {
                    kinematic += (push + grip).dot(ua);
                }
                if b.status != Status::Dynamic {
                    kinematic -= (push + grip).dot(ub);
                }
                let sum = friction + push.dot(ub - ua);
                Some(Grip { bodies: [a.id, b.id], point, friction, kinematic, sum })
            })
        })
    }

    /// (work of motors and springs of joints in J, joint with the largest).
    fn motors(&self, world: &World) -> (f64, WorkSource) {
        let (mut sum, mut most) = (0.0, (0.0, WorkSource::World));
        let mut rows = Rows::default();
        for bond in self.active.iter().filter_map(|place| self.bonds.all.get(*place as usize)) {
            let Some(impulses) = &bond.rows else { continue };
            let Ok(record) = world.joint(bond.id) else { continue };
            let (Some(end), Some(begin)) = (state(world, record, self.dt), self.joint_before(world, record))
            else {
                continue;
            };
            let delicate =
                bond.actors.iter().any(|slot| self.roster.actor(*slot).is_some_and(|actor| actor.delicate));
            let substeps = self.substeps[usize::from(delicate)] as f64;
            rows.clear();
            record.kind().rows(&begin, &mut rows);
            let mut work = 0.0;
            for row in rows.as_slice() {
                let drives = match row.effect {
                    Effect::Spring { .. } => true,
                    Effect::Drive { speed, .. } => speed != 0.0,
                    Effect::Hold | Effect::Limit => false,
                };
                let impulse = impulses.get(row.key as usize).filter(|_| drives);
                let rate = 0.5 * (begin.rate(row) + end.rate(row));
                work += substeps * impulse.map_or(0.0, |impulse| f64::from(*impulse)) * rate;
            }
            sum += work;
            if work.abs() > most.0 {
                most = (work.abs(), WorkSource::Joint(bond.id));
            }
        }
        (sum, most.1)
    }

    /// Frames of a joint at the beginning of the step.
    fn joint_before(&self, world: &World, record: &crate::joint::JointRecord) -> Option<JointState> {
        let frame = |k: usize| {
            let Some(id) = record.bodies[k] else { return Some(JointFrame::fixed(&record.frames[k])) };
            let motion = match world.bodies().locate(id)? {
                (Status::Dynamic, place) => self.before.get(place)?,
                _ => world.bodies().motion_of(id)?,
            };
            Some(JointFrame::on(motion, &record.frames[k]))
        };
        let frames = [frame(0)?, frame(1)?];
        Some(JointState { time: world.time(), dt: self.dt, frames, turned: record.turned })
    }
}
