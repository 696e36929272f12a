//! Mechanisms: few bodies on passive joints without contact, such as pendulums, tops, gyroscopes and
//! linkages.
//!
//! Joints that do no work must not change the energy over any time. Iteratively solved joints cannot
//! guarantee that: they are compliant, their rows and rotations are first order within a sub-step, and
//! velocities are in single precision. Groups of jointed bodies are therefore taken out of the sweeps while
//! only their joints and external loads act on them, and are integrated in double precision by a symplectic
//! method (`rattle`), with as many pieces as their fastest motion needs.
//!
//! A mechanism returns to the sweeps for any step in which one of its bodies touches something, or a joint
//! limit may be reached; motors, springs, friction, gears and joints to kinematic bodies are always left to
//! the sweeps. So are mechanisms of more than [`MECHANISM_MAX_ROWS`] rows: the cost grows with the third
//! power.

mod constraint_rows;
mod rattle;

use super::Realtime;
use super::contact::Contact;
use super::gyroscopic::nutation_rate;
use super::joint_constraint::{JointConstraint, state};
use super::sim_bodies::{Activity, EXACT, NONE, SimBodies};
use super::tuning::{
    JOINT_CORRECTION_FACTOR, MECHANISM_MAX_PIECES, MECHANISM_MAX_ROWS, MECHANISM_MOST_PIECES,
    MECHANISM_PIECE_ANGLE, MECHANISM_WORK_TOLERANCE,
};
use crate::force::ForceAccumulator;
use crate::joint::Rows;
use crate::rigid::Motion;
use crate::world::{Status, World};
use constraint_rows::{ExtraRows, MechanismJoint, MechanismJoints, MechanismSide, extra_rows};
use rattle::{MechanismBody, RattleIntegrator};
use rattleback_numerics::team::each;

/// A group of bodies connected by joints.
#[derive(Debug, Default)]
struct Mechanism {
    /// Joints, by index.
    joint_indices: Vec<u32>,
    /// Slots of the bodies.
    slots: Vec<u32>,
    /// Pairs within the margin in the present step, by slot in the contact graph.
    contacts: Vec<u32>,
    equations: MechanismJoints,
    rattle: RattleIntegrator,
    /// The bodies at the beginning of the step.
    start: Vec<MechanismBody>,
    scratch: Rows,
    /// Whether the present step succeeded.
    integrated: bool,
}

/// All mechanisms of a world.
#[allow(clippy::struct_field_names)]
#[derive(Debug, Default)]
pub(super) struct Mechanisms {
    mechanisms: Vec<Mechanism>,
    /// By slot: its mechanism, or [`NONE`].
    mechanism_of: Vec<u32>,
}

impl Realtime {
    /// Integrates mechanisms over the step ⇒ whether there are any; their bodies are marked as [`EXACT`], the
    /// new states are kept here.
    pub(super) fn run_mechanisms(&mut self, world: &World, dt: f64) -> bool {
        self.find_mechanisms(world);
        if self.mechanisms.mechanisms.is_empty() {
            return false;
        }
        let threads = self.threads();
        let Self { mechanisms, sim_bodies, contact_graph, joints, loads, settings, .. } = self;
        let Mechanisms { mechanisms, mechanism_of, .. } = mechanisms;
        for mechanism in mechanisms.iter_mut() {
            mechanism.contacts.clear();
        }
        for (index, pair) in contact_graph.near() {
            for slot in pair.bodies {
                let mechanism = mechanism_of.get(slot as usize).copied().unwrap_or(NONE);
                if let Some(mechanism) = mechanisms.get_mut(mechanism as usize) {
                    mechanism.contacts.push(index as u32);
                }
            }
        }
        let max_speed = f64::from(JOINT_CORRECTION_FACTOR) * settings.push_speed;
        let contact = |index: u32| contact_graph.contact(&contact_graph.pairs[index as usize]);
        let (bodies_now, all) = (&*sim_bodies, &joints.all);
        each(threads.min(mechanisms.len()), mechanisms, |_, mechanism| {
            let free = mechanism
                .contacts
                .iter()
                .all(|index| contact(*index).is_some_and(|contact| !contact.is_bouncy()));
            mechanism.integrated = free
                && mechanism.gather(world, bodies_now, all, loads, dt)
                && mechanism.run(dt, max_speed)
                && mechanism.contacts.iter().all(|index| {
                    contact(*index).is_some_and(|contact| mechanism.stays_separated(contact, bodies_now))
                });
        });
        let mut any = false;
        let share = 1.0 / settings.substeps.max(1) as f64;
        for mechanism in mechanisms.iter_mut().filter(|mechanism| mechanism.integrated) {
            any = true;
            for slot in &mechanism.slots {
                if let Some(sim_body) = sim_bodies.body_mut(*slot) {
                    sim_body.solver_index = EXACT;
                }
            }
            mechanism.store_impulses(&mut joints.all, share);
        }
        any
    }

    /// Writes the states of mechanisms to the world.
    pub(super) fn write_mechanisms(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for mechanism in self.mechanisms.mechanisms.iter().filter(|mechanism| mechanism.integrated) {
            for body in &mechanism.rattle.bodies {
                motion[body.index as usize] = body.motion;
            }
        }
    }

    /// Finds the mechanisms, if joints or bodies have changed.
    fn find_mechanisms(&mut self, world: &World) {
        let Self { mechanisms, sim_bodies, joints, joint_groups, islands, .. } = self;
        if !joint_groups.find(world, sim_bodies, joints, islands) {
            for mechanism in &mut mechanisms.mechanisms {
                mechanism.integrated = false;
            }
            return;
        }
        mechanisms.mechanisms.clear();
        mechanisms.mechanism_of.clear();
        mechanisms.mechanism_of.resize(sim_bodies.bodies.len(), NONE);
        let mut scratch = Rows::default();
        let mut is_passive = |joint: &JointConstraint| {
            let state = world.joint(joint.id).ok().and_then(|record| state(world, record, 0.0));
            state.is_some_and(|state| extra_rows(world, joint.id, &state, &mut scratch) != ExtraRows::Other)
        };
        for group in joint_groups.iter().filter(|group| !group.moved) {
            let group_joints = || group.joints.iter().map(|index| &joints.all[*index as usize]);
            let rows: usize =
                group_joints().map(|joint| (joint.locks.bits().count_ones() as usize).max(1)).sum();
            if rows > MECHANISM_MAX_ROWS || !group_joints().all(&mut is_passive) {
                continue;
            }
            for slot in &group.slots {
                mechanisms.mechanism_of[*slot as usize] = mechanisms.mechanisms.len() as u32;
            }
            mechanisms.mechanisms.push(Mechanism {
                joint_indices: group.joints.clone(),
                slots: group.slots.clone(),
                ..Mechanism::default()
            });
        }
    }
}

impl Mechanisms {
    /// Whether the mechanism of a body was integrated in the present step.
    pub(super) fn are_integrated(&self, slot: u32) -> bool {
        let mechanism = self.mechanism_of.get(slot as usize).copied().unwrap_or(NONE);
        self.mechanisms.get(mechanism as usize).is_some_and(|mechanism| mechanism.integrated)
    }
}

impl Mechanism {
    /// Reads bodies and joints ⇒ whether nothing else acts.
    fn gather(
        &mut self,
        world: &World,
        sim_bodies: &SimBodies,
        all: &[JointConstraint],
        loads: &ForceAccumulator,
        dt: f64,
    ) -> bool {
        self.rattle.bodies.clear();
        self.equations.joints.clear();
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        for slot in &self.slots {
            let Some(sim_body) = sim_bodies.body(*slot) else { return false };
            let index = sim_body.index as usize;
            if sim_bodies.activities[*slot as usize] != Activity::Awake || index >= motion.len() {
                return false;
            }
            let wrench = loads.wrench(index);
            let acceleration = loads.uniform_acceleration() + wrench.force * inertia[index].inverse_mass;
            if !(acceleration.is_finite() && wrench.torque.is_finite() && motion[index].is_finite()) {
                return false;
            }
            let body = MechanismBody::new(
                sim_body.index,
                motion[index],
                inertia[index],
                acceleration,
                wrench.torque,
            );
            self.rattle.bodies.push(body);
        }
        for joint in &self.joint_indices {
            let joint = &all[*joint as usize];
            let Ok(record) = world.joint(joint.id) else { return false };
            let Some(state) = state(world, record, dt) else { return false };
            let rod = match extra_rows(world, joint.id, &state, &mut self.scratch) {
                ExtraRows::Nothing => None,
                ExtraRows::Rod(length) => Some(length),
                ExtraRows::Limit | ExtraRows::Other => return false,
            };
            let sides = [0, 1].map(|k| {
                let body = self.slots.iter().position(|slot| *slot == joint.bodies[k]);
                body.map_or(MechanismSide::Immovable(state.frames[k]), |body| {
                    MechanismSide::On(body as u32, record.frames[k])
                })
            });
            // Kinematic sides are left to the sweeps.
            let is_immovable = |k: usize| match sides[k] {
                MechanismSide::On(..) => true,
                MechanismSide::Immovable(_) => {
                    sim_bodies.body(joint.bodies[k]).is_none_or(|sim_body| sim_body.status == Status::Fixed)
                }
            };
            if !(is_immovable(0) && is_immovable(1)) {
                return false;
            }
            self.equations.joints.push(MechanismJoint { sides, locks: joint.locks, rod });
        }
        true
    }

    /// Integrates the bodies over the step, in more pieces if the joints appear to do work ⇒ whether the
    /// joints held.
    ///
    /// A link may accelerate strongly within a step that began slowly. ForceAccumulator are constant over the step, so
    /// their work is Σ F·Δx, and the rest of ΔE is the work of the joints: zero, if the pieces are short
    /// enough. (Torques and damping do work of another kind; there the rotation rate alone decides.)
    fn run(&mut self, dt: f64, max_speed: f64) -> bool {
        let mut pieces = self.pieces(dt);
        self.start.clone_from(&self.rattle.bodies);
        let conservative = self.start.iter().all(MechanismBody::is_conservative);
        while pieces <= MECHANISM_MOST_PIECES {
            self.rattle.bodies.clone_from(&self.start);
            if self.rattle.run(&self.equations, dt, pieces, max_speed) {
                let mut work = 0.0;
                let mut scale = 0.0;
                for (before, now) in self.start.iter().zip(&self.rattle.bodies) {
                    let mass = before.inertia.mass();
                    let [from, to] = [before, now].map(|body| body.inertia.kinetic_energy(&body.motion));
                    work += to - from - mass * before.acceleration.dot(now.motion.x - before.motion.x);
                    scale += from
                        + to
                        + mass * before.acceleration.length() * dt * dt * before.acceleration.length();
                }
                // Joints that correct an error, or have to stop a motion first, do real work.
                let disturbed = self.rattle.disturbance > 1e-6 * scale;
                if !conservative
                    || disturbed
                    || work.abs() <= MECHANISM_WORK_TOLERANCE * dt * scale
                    || 2 * pieces > MECHANISM_MOST_PIECES
                {
                    return true;
                }
            }
            pieces *= 2;
        }
        false
    }

    /// Number of pieces of a step: none rotates arms, or nutates, by more than [`MECHANISM_PIECE_ANGLE`].
    ///
    /// A body rotates the arms of its joints with the component of ω orthogonal to them and nutates with ν.
    /// From rest it swings with at most √(a l/(k² + l²)), a the acceleration by loads, l an arm and k the
    /// smallest radius of gyration.
    fn pieces(&self, dt: f64) -> usize {
        let mut max_rate = 0.0_f64;
        for (index, MechanismBody { motion, inertia, acceleration, .. }) in
            self.rattle.bodies.iter().enumerate()
        {
            let nutation = nutation_rate(motion, inertia);
            max_rate = max_rate.max(nutation);
            let gyration = inertia.moments.min_element() * inertia.inverse_mass;
            for joint in &self.equations.joints {
                for side in &joint.sides {
                    let MechanismSide::On(body, local_frame) = side else { continue };
                    if *body as usize != index {
                        continue;
                    }
                    let arm = local_frame.translation;
                    let length = arm.length();
                    let rotation = motion.omega.cross(motion.q * arm.normalize_or_zero()).length();
                    let swing = acceleration.length() * length / (gyration + length * length).max(1e-300);
                    max_rate = max_rate.max((rotation * rotation + swing).sqrt());
                }
            }
        }
        (dt * max_rate / MECHANISM_PIECE_ANGLE).ceil().clamp(1.0, MECHANISM_MAX_PIECES) as usize
    }

    /// Whether an open contact stays open; the other body must be static.
    fn stays_separated(&self, contact: &Contact, sim_bodies: &SimBodies) -> bool {
        let mut motions: [Option<Motion>; 2] = [None; 2];
        for (slot, motion) in contact.bodies.iter().zip(&mut motions) {
            match self.slots.iter().position(|own| own == slot) {
                Some(body) => *motion = Some(self.rattle.bodies[body].motion),
                None if sim_bodies.body(*slot).is_some_and(|sim_body| sim_body.status == Status::Fixed) => {}
                None => return false,
            }
        }
        contact.gap_at(&motions) > 0.0
    }

    /// Stores the impulses as the sweeps do: those of one sub-step, `share` of a step.
    fn store_impulses(&self, all: &mut [JointConstraint], share: f64) {
        for index in &self.joint_indices {
            let joint = &mut all[*index as usize];
            (joint.linear, joint.angular) = (glam::Vec3::ZERO, glam::Vec3::ZERO);
        }
        for (row, impulse) in self.rattle.impulses() {
            let joint = &mut all[self.joint_indices[row.joint as usize] as usize];
            let impulse = (impulse * share) as f32;
            match row.key {
                key @ 0..=2 => joint.linear[key as usize] = impulse,
                key @ 3..=5 => joint.angular[key as usize - 3] = impulse,
                _ => {
                    if let Some(rows) = &mut joint.rows {
                        rows[0] = impulse;
                    }
                }
            }
        }
    }
}
