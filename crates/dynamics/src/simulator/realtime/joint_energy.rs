//! Passivity of joints that are solved iteratively.
//!
//! Rows of first order, softness and single precision may create energy: chains that swing fast gain some in every step, and with links whose moments of inertia are
//! small for their length the gain feeds itself. What may change the energy of a group of jointed bodies in a step is known: its loads, by Σ F·Δx + τ·Δθ, and
//! its springs, by what they have stored, U₀ − U₁; a motor of speed w does at most F_max max(|u|, |w|) dt. Locked axes, limits, friction and resting contact with
//! static bodies can only remove energy. So
//!
//!   ΔE = ΔK − Σ (F·Δx + τ·Δθ) − (U₀ − U₁) − Σ F_max max(|u|, |w|) dt ≤ 0,
//!
//! and where it is positive, the velocities of the group are scaled so that it is zero. With K the kinetic energy, s² = 1 − ΔE/K. Joints permit what remains, since
//! their equations J v = 0 are linear and homogeneous. A group that no joint connects to the ground keeps its momentum and its angular momentum: what is scaled is its
//! motion relative to that of a rigid body with the same momenta, which no joint resists either.
//!
//! Groups in contact with bodies that move by themselves are left alone: what those do to them is not known here.

use super::Realtime;
use super::contact::Contact;
use super::joint_groups::{JointGroup, Support};
use super::sim_bodies::{NONE, SimBodies};
use super::tuning::{MAX_KEYED_ROWS, PASSIVITY_TOLERANCE};
use crate::force::ForceAccumulator;
use crate::joint::{Effect, JointFrame, JointRecord, JointState, Rows};
use crate::rigid::{Inertia, Motion};
use crate::world::{Status, World};
use glam::{DMat3, DVec3};
use rattleback_numerics::team::each;
use std::f64::consts::TAU;

impl JointGroup {
    /// Computes what the loads do not explain.
    fn measure(&mut self, world: &World, sim_bodies: &SimBodies, loads: &ForceAccumulator) {
        (self.gain, self.kinetic) = (0.0, 0.0);
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let g = loads.uniform_acceleration();
        for slot in &self.slots {
            let Some(sim_body) = sim_bodies.body(*slot) else { continue };
            let index = sim_body.index as usize;
            let (Some(before), Some(now), Some(inertia)) =
                (world.initial_states().get(index), motion.get(index), inertia.get(index))
            else {
                continue;
            };
            let wrench = loads.wrench(index);
            let force = g * inertia.mass() + wrench.force;
            let mut work = force.dot(now.x - before.x);
            if wrench.torque != DVec3::ZERO {
                work += wrench.torque.dot((now.q * before.q.conjugate()).to_scaled_axis());
            }
            let kinetic = inertia.kinetic_energy(now);
            self.kinetic += kinetic;
            self.gain += kinetic - inertia.kinetic_energy(before) - work;
        }
    }
}

impl Realtime {
    /// Removes energy that joints have created in this step.
    pub(super) fn limit_joint_energy(&mut self, world: &mut World, dt: f64) {
        let threads = self.threads();
        let Self { joint_groups, sim_bodies, contact_graph, mechanisms, loads, .. } = self;
        if joint_groups.groups.is_empty() {
            return;
        }
        for group in &mut joint_groups.groups {
            group.support = match (group.moved, group.anchored) {
                (true, _) => Support::Moving,
                (false, true) => Support::Static,
                (false, false) => Support::None,
            };
        }
        for (_, pair) in contact_graph.near() {
            let [a, b] = pair.bodies;
            let jointed = pair.bodies.iter().any(|slot| joint_groups.of(*slot) != NONE);
            // An open contact that did not act transfers no energy.
            if !jointed || !contact_graph.contact(pair).is_some_and(Contact::acts) {
                continue;
            }
            for (own, other) in [(a, b), (b, a)] {
                let group = joint_groups.of(own);
                if group == NONE {
                    continue;
                }
                let fixed = sim_bodies.body(other).is_none_or(|body| body.status == Status::Fixed);
                let support = if pair.bouncy {
                    Support::Moving
                } else if fixed {
                    Support::Static
                } else if joint_groups.of(other) == group {
                    Support::None
                } else {
                    Support::Moving
                };
                let group = &mut joint_groups.groups[group as usize];
                group.support = group.support.max(support);
            }
        }
        for group in &mut joint_groups.groups {
            let known = group.slots.first().is_some_and(|slot| {
                !mechanisms.are_integrated(*slot) && sim_bodies.body(*slot).is_some_and(|body| !body.asleep)
            });
            if !known {
                group.support = Support::Moving;
            }
        }
        let (sim_bodies, loads) = (&*sim_bodies, &*loads);
        let at = &*world;
        each(threads.min(joint_groups.groups.len()), &mut joint_groups.groups, |_, group| {
            if group.support < Support::Moving {
                group.measure(at, sim_bodies, loads);
            }
        });
        let gains = |group: &JointGroup| {
            group.support < Support::Moving && group.gain > PASSIVITY_TOLERANCE * group.kinetic
        };
        for number in 0..self.joint_groups.groups.len() {
            if gains(&self.joint_groups.groups[number]) {
                self.scale_group(world, number, dt);
            }
        }
    }

    /// Scales the motion of a group that has gained energy.
    fn scale_group(&mut self, world: &mut World, number: usize, dt: f64) {
        let Self { joint_groups, sim_bodies, joints, work_account, .. } = self;
        let group = &joint_groups.groups[number];
        let mut rows = Rows::default();
        let mut excess = group.gain;
        for joint in &group.joints {
            let Some(joint) = joints.all.get(*joint as usize) else { return };
            let Ok(record) = world.joint(joint.id) else { return };
            if !record.kind().has_rows() {
                continue;
            }
            let Some(supply) = supply(world, record, joint.driven, dt, &mut rows) else { return };
            excess -= supply;
        }
        if !excess.is_finite() || excess <= PASSIVITY_TOLERANCE * group.kinetic {
            return;
        }
        let bodies = group.slots.iter().filter_map(|slot| Some(sim_bodies.body(*slot)?.index as usize));
        let inertia = world.bodies().inertia(Status::Dynamic);
        let motion = world.bodies().motion(Status::Dynamic);
        let at_rest = RigidMotion::default();
        let mean = if group.support == Support::Static {
            at_rest
        } else {
            RigidMotion::of(bodies.clone().map(|index| (&motion[index], &inertia[index])))
        };
        let relative: f64 = bodies
            .clone()
            .map(|index| {
                let v = mean.velocity_at(motion[index].x);
                let relative = Motion {
                    v: motion[index].v - v,
                    omega: motion[index].omega - mean.omega,
                    ..motion[index]
                };
                inertia[index].kinetic_energy(&relative)
            })
            .sum();
        if !relative.is_finite() || relative <= 0.0 {
            return;
        }
        let scale = (1.0 - excess / relative).max(0.0).sqrt();
        let removed = relative * (1.0 - scale * scale);
        let motion = world.bodies_mut().dynamic_mut().0;
        for index in bodies {
            let v = mean.velocity_at(motion[index].x);
            motion[index].v = v + (motion[index].v - v) * scale;
            motion[index].omega = mean.omega + (motion[index].omega - mean.omega) * scale;
        }
        work_account.joint -= removed;
    }
}

/// Energy that a joint may have supplied in a step, J: U₀ − U₁ of its springs and the most that its motors can do; none if no bound is known.
fn supply(world: &World, record: &JointRecord, driven: bool, dt: f64, rows: &mut Rows) -> Option<f64> {
    let side = |k: usize, initial: bool| {
        let Some(id) = record.bodies[k] else { return Some((JointFrame::fixed(&record.frames[k]), None)) };
        let (status, index) = world.bodies().locate(id)?;
        if status != Status::Dynamic {
            return Some((JointFrame::on(world.bodies().motion_of(id)?, &record.frames[k]), None));
        }
        let inertia = world.bodies().inertia(Status::Dynamic).get(index)?;
        let motion =
            if initial { world.initial_states().get(index)? } else { world.bodies().motion_of(id)? };
        Some((JointFrame::on(motion, &record.frames[k]), Some((*motion, *inertia))))
    };
    let mut supply = 0.0;
    let mut stiffness = [0.0_f64; MAX_KEYED_ROWS];
    for (initial, sign) in [(true, 1.0), (false, -1.0)] {
        let [a, b] = [side(0, initial)?, side(1, initial)?];
        let state = JointState { time: world.time(), dt, frames: [a.0, b.0], turned: record.turned };
        rows.clear();
        record.kind().rows(&state, rows);
        for row in rows.as_slice() {
            let stiffness = stiffness.get_mut(row.key as usize)?;
            match row.effect {
                // The zero of a driven spring moves by itself.
                Effect::Spring { .. } if driven => return None,
                Effect::Spring { frequency, max_force, .. } => {
                    if initial {
                        let inverse_mass: f64 = [&a.1, &b.1]
                            .into_iter()
                            .zip(row.angular)
                            .filter_map(|(body, arm)| body.as_ref().map(|body| (body, arm)))
                            .map(|((motion, inertia), arm)| {
                                row.linear.length_squared() * inertia.inverse_mass
                                    + arm.dot(inertia.angular_velocity(motion.q, arm))
                            })
                            .sum();
                        *stiffness =
                            if inverse_mass > 0.0 { (TAU * frequency).powi(2) / inverse_mass } else { 0.0 };
                    }
                    let stored = 0.5 * *stiffness * row.error * row.error;
                    supply += sign * stored.min(max_force * row.error.abs());
                }
                Effect::Motor { speed, max_force } if speed != 0.0 => {
                    supply += max_force * state.rate(row).abs().max(speed.abs()) * dt;
                }
                // A motor of speed zero is a brake.
                Effect::Lock | Effect::Limit | Effect::Motor { .. } => {}
            }
        }
    }
    supply.is_finite().then_some(supply)
}

/// Motion of a rigid body: velocity of a point at `x` v + ω × (p − x).
#[derive(Clone, Copy, Debug, Default)]
struct RigidMotion {
    x: DVec3,
    v: DVec3,
    omega: DVec3,
}

impl RigidMotion {
    /// The rigid motion with the momentum and angular momentum of some bodies.
    fn of<'b>(bodies: impl Iterator<Item = (&'b Motion, &'b Inertia)> + Clone) -> Self {
        let mass: f64 = bodies.clone().map(|(_, inertia)| inertia.mass()).sum();
        let mean = |of: fn(&Motion) -> DVec3| {
            bodies.clone().map(|(motion, inertia)| of(motion) * inertia.mass()).sum::<DVec3>() / mass
        };
        let (x, v) = (mean(|motion| motion.x), mean(|motion| motion.v));
        let (mut l, mut total) = (DVec3::ZERO, DMat3::ZERO);
        for (motion, inertia) in bodies {
            let (r, u) = (motion.x - x, motion.v - v);
            l += inertia.mass() * r.cross(u) + inertia.angular_momentum(motion.q, motion.omega);
            let axes = DMat3::from_quat(motion.q);
            total += axes * DMat3::from_diagonal(inertia.moments) * axes.transpose();
            let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
            total += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * inertia.mass();
        }
        let omega = total.inverse() * l;
        Self { x, v, omega: if omega.is_finite() { omega } else { DVec3::ZERO } }
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.v + self.omega.cross(point - self.x)
    }
}
