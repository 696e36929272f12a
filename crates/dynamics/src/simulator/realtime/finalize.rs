//! End of a step: integration of free bodies, reading back the solver, and new bounding boxes.
//!
//! Bodies without contact fly exactly; the displacements of the others come from the solver. Every body that
//! moved gets a new bounding box and a new displacement for the separation bounds.

use super::Realtime;
use super::impact_body::{fly_under_loads, half_kick};
use super::lanes::LANES;
use super::separation_bound::StepDisplacement;
use super::sim_bodies::{EXACT, NONE, SimBodies, update_bounds, update_bounds_at};
use super::solver_body::{BodyRow, Kick, SolverBody, SolverFrame};
use super::step::{coordinates, linear_coordinates};
use super::tuning::{
    FLIGHT_CHUNK, MARGIN_PER_RADIUS, MIN_STEP_BODIES_PER_THREAD, STILL_ANGLE, STILL_DISTANCE,
};
use crate::error::Error;
use crate::rigid::{Inertia, Motion, fly};
use crate::world::{BodyId, Handle, Status, World};
use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;
use rattleback_numerics::team::{Shared, each_range, spread};

/// A body that is read back from a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolvedBody {
    index: u32,
    slot: u32,
    pub(super) solver_index: u32,
    pub(super) high_mass_ratio: bool,
}

impl Realtime {
    /// Integrates the bodies without contact, exactly.
    pub(super) fn integrate_free_bodies(&mut self, world: &mut World, dt: f64) {
        let threads = self.threads();
        let Self { sim_bodies, loads, flight_ranges, non_finite, .. } = self;
        flight_ranges.clear();
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(sim_body) = sim_bodies.body(id.slot()) else { continue };
            if sim_body.asleep || sim_body.solver_index != NONE {
                continue;
            }
            let wrench = loads.wrench(index);
            if !(wrench.force.is_finite() && wrench.torque.is_finite()) {
                non_finite.push(index);
                continue;
            }
            match flight_ranges.last_mut() {
                Some(flight) if flight.end == index && flight.len() < FLIGHT_CHUNK => flight.end += 1,
                _ => flight_ranges.push(index..index + 1),
            }
        }
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        let kick = |index: usize, motion: &mut Motion| {
            let (wrench, inertia) = (loads.wrench(index), &inertia[index]);
            half_kick(motion, inertia, g + wrench.force * inertia.inverse_mass, wrench.torque, dt);
        };
        let min_ranges = MIN_STEP_BODIES_PER_THREAD / FLIGHT_CHUNK;
        each_range(threads, motion, flight_ranges, min_ranges, |flight, motion| {
            flight.clone().zip(&mut *motion).for_each(|(index, motion)| kick(index, motion));
            fly(motion, &inertia[flight.clone()], dt);
            flight.clone().zip(motion).for_each(|(index, motion)| kick(index, motion));
        });
    }

    /// Writes the solved bodies to the world, and updates all bounding boxes.
    pub(super) fn finalize(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.scatter_bodies(world, dt);
        self.limit_joint_energy(world, dt);
        self.begin_stage(world);
        for (index, translation, rotation, end) in &self.impacts.outcomes {
            let id = world.bodies().ids(Status::Dynamic)[*index as usize];
            let constrained = self.sim_bodies.body(id.slot()).is_some_and(|sim_body| sim_body.constrained);
            let motion = &mut world.bodies_mut().dynamic_mut().0[*index as usize];
            if constrained {
                motion.x += *translation;
                motion.q = (DQuat::from_scaled_axis(*rotation) * motion.q).normalize();
            } else {
                *motion = *end;
            }
        }
        if self.settings.continuous {
            self.find_fast_bodies(world, dt);
            if !self.continuous.fast_indices.is_empty() {
                self.stop_fast_bodies(world, dt)?;
            }
        }
        self.update_bodies(world, dt);
        for id in world.bodies().ids(Status::Dynamic) {
            let Some(sim_body) = self.sim_bodies.body(id.slot()) else { continue };
            if sim_body.asleep {
                self.counters.asleep += 1;
                continue;
            }
            for collider_index in &sim_body.colliders {
                if let Some(collider) = self.sim_bodies.collider(*collider_index)
                    && let Some(bounds) =
                        self.next_bounds.get_mut(*collider_index as usize).and_then(Option::take)
                {
                    update_bounds(&mut *self.space, collider, &bounds)?;
                }
            }
        }
        self.move_animated(world, dt)
    }

    /// Writes the solved bodies to the world. Bodies on which no impulse acted are integrated exactly
    /// instead: single precision and the semi-implicit sub-steps, which fall by ½ g h dt too far, are only
    /// for bodies with constraints.
    #[allow(unsafe_code)]
    fn scatter_bodies(&mut self, world: &mut World, dt: f64) {
        let threads = self.threads();
        let Self { sim_bodies, solvers, solved_bodies, substeps, loads, .. } = self;
        solved_bodies.clear();
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(sim_body) = sim_bodies.body_mut(id.slot()) else { continue };
            let solver_index = std::mem::replace(&mut sim_body.solver_index, NONE);
            sim_body.constrained = std::mem::take(&mut sim_body.jointed) || solver_index == EXACT;
            if solver_index != NONE && solver_index != EXACT {
                solved_bodies.push(SolvedBody {
                    index: index as u32,
                    slot: id.slot(),
                    solver_index,
                    high_mass_ratio: sim_body.high_mass_ratio,
                });
            }
        }
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        let (motion, bodies) = (Shared::new(motion), Shared::new(&mut sim_bodies.bodies));
        spread(threads, solved_bodies.len(), MIN_STEP_BODIES_PER_THREAD, |range| {
            for solved_body in &solved_bodies[range] {
                let (solver, index) =
                    (&solvers[usize::from(solved_body.high_mass_ratio)], solved_body.index as usize);
                let (solver_body, frame) = solver.body_and_frame(solved_body.solver_index);
                // SAFETY: every body is listed once.
                let (motion, sim_body) =
                    unsafe { (motion.get_mut(index), bodies.get_mut(solved_body.slot as usize)) };
                let Some(sim_body) = sim_body else { continue };
                let (substeps, jointed) =
                    (substeps[usize::from(solved_body.high_mass_ratio)], sim_body.constrained);
                let h = dt / substeps as f64;
                let kick = solver.kick_of(solved_body.solver_index);
                sim_body.constrained |=
                    !is_ballistic(motion, &inertia[index], solver_body, kick, substeps, h as f32);
                let wrench = loads.wrench(index);
                let a = g + wrench.force * inertia[index].inverse_mass;
                if sim_body.constrained {
                    let v = motion.v;
                    scatter(motion, solver_body, frame);
                    if !jointed
                        && let Some((normal, cold)) = solver.single_manifold_normal(solved_body.solver_index)
                    {
                        motion.x += friction_displacement_error(motion.v - v, a, normal, cold, h, dt);
                    }
                } else {
                    fly_under_loads(motion, &inertia[index], a, wrench.torque, dt);
                }
            }
        });
    }

    /// Lists the bodies that may have passed through something.
    fn find_fast_bodies(&mut self, world: &World, dt: f64) {
        self.continuous.fast_indices.clear();
        let motion = world.bodies().motion(Status::Dynamic);
        for (index, (before, now)) in world.initial_states().iter().zip(motion).enumerate() {
            let id = world.bodies().ids(Status::Dynamic)[index];
            if let Some(sim_body) = self.sim_bodies.body(id.slot())
                && !sim_body.asleep
                && now.is_finite()
                && self.is_fast(sim_body, before, now, dt)
            {
                self.continuous.fast_indices.push(index as u32);
            }
        }
    }

    /// Updates displacements, still times and bounding boxes.
    #[allow(unsafe_code)]
    fn update_bodies(&mut self, world: &World, dt: f64) {
        let threads = self.threads();
        let (foresight, still_speed) = (self.settings.foresight, self.settings.sleep_speed);
        let still_distance = STILL_DISTANCE * still_speed * self.settings.sleep_time;
        let Self { sim_bodies, next_bounds, loads, .. } = self;
        let before = world.initial_states();
        let g = loads.uniform_acceleration();
        let SimBodies { bodies, colliders, displacements, .. } = sim_bodies;
        next_bounds.resize(colliders.len(), None);
        let (ids, motion) = (world.bodies().ids(Status::Dynamic), world.bodies().motion(Status::Dynamic));
        let inertia = world.bodies().inertia(Status::Dynamic);
        let (bodies, displacements, next_bounds) =
            (Shared::new(bodies), Shared::new(displacements), Shared::new(next_bounds));
        let update_body = |index: usize, id: &BodyId, before: &Motion, now: &Motion| {
            let slot = id.slot() as usize;
            if slot >= bodies.len() {
                return;
            }
            // SAFETY: every body is listed once, and its colliders are its own.
            let (sim_body, displacement) = unsafe { (bodies.get_mut(slot), displacements.get_mut(slot)) };
            let Some(sim_body) = sim_body else { return };
            if sim_body.asleep {
                *displacement = StepDisplacement::REST;
                return;
            }
            if !now.is_finite() {
                *displacement = StepDisplacement::UNKNOWN;
                return;
            }
            *displacement = StepDisplacement::new(before, now, sim_body.reach);
            let speed = now.v.length() + now.omega.length() * sim_body.reach;
            let pose = now.pose();
            if speed >= still_speed || !stays_near(&sim_body.still_pose, &pose, still_distance) {
                (sim_body.still_time, sim_body.still_pose) = (0.0, pose);
            } else if sim_body.constrained || (now.v == DVec3::ZERO && now.omega == DVec3::ZERO) {
                sim_body.still_time += dt as f32;
            }
            let wrench = loads.wrench(index);
            let a = g + wrench.force * inertia[index].inverse_mass;
            for collider_index in &sim_body.colliders {
                let Some(collider) = colliders.get(*collider_index as usize).and_then(Option::as_ref) else {
                    continue;
                };
                let margin = foresight.min(MARGIN_PER_RADIUS * collider.radius);
                // SAFETY: as above.
                *unsafe { next_bounds.get_mut(*collider_index as usize) } =
                    collider.step_bounds(now, a, dt, margin);
            }
        };
        spread(threads, ids.len(), MIN_STEP_BODIES_PER_THREAD, |range| {
            range.for_each(|index| update_body(index, &ids[index], &before[index], &motion[index]));
        });
    }

    /// Bounding boxes of kinematic bodies at the end of the next step.
    fn move_animated(&mut self, world: &World, dt: f64) -> Result<(), Error> {
        for id in world.bodies().ids(Status::Kinematic) {
            if let Some(sim_body) = self.sim_bodies.body_mut(id.slot()) {
                sim_body.solver_index = NONE;
                self.sim_bodies.displacements[id.slot() as usize] = StepDisplacement::UNKNOWN;
            }
            let Some(sim_body) = self.sim_bodies.body(id.slot()) else { continue };
            let body = world.body(*id)?;
            let pose = match body.path() {
                Some((path, start)) => path.at(&start, world.time() + dt).pose * *body.body_from_principal(),
                None => body.motion().pose(),
            };
            for collider_index in &sim_body.colliders {
                if let Some(collider) = self.sim_bodies.collider(*collider_index) {
                    update_bounds_at(&mut *self.space, collider, &pose, self.settings.foresight)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether two poses agree within a distance, m, and the angle [`STILL_ANGLE`].
fn stays_near(still_pose: &Pose, now: &Pose, distance: f64) -> bool {
    let turn = still_pose.rotation.conjugate() * now.rotation;
    let half_sine = DVec3::new(turn.x, turn.y, turn.z).length();
    still_pose.translation.distance(now.translation) <= distance && 2.0 * half_sine <= STILL_ANGLE
}

/// Whether a solver body moved by its kicks alone, to the last bit: no row acted on it.
fn is_ballistic(
    motion: &Motion,
    inertia: &Inertia,
    solver_body: &SolverBody,
    kick: &Kick,
    substeps: usize,
    h: f32,
) -> bool {
    let (velocity, total_shift) = (solver_body.velocity.lanes(), solver_body.shift.lanes());
    let moved_by_kicks = |start: &BodyRow, i: usize| {
        let (mut y, mut shift) = (start.lanes()[i], 0.0);
        for _ in 0..substeps {
            y = y * kick.damping(i) + kick.change(i);
            shift += h * y;
        }
        y == velocity[i] && shift == total_shift[i]
    };
    // Most constrained bodies differ in a linear lane already.
    let linear = BodyRow::new(linear_coordinates(motion, inertia), DVec3::ZERO);
    if !(0..3).all(|i| moved_by_kicks(&linear, i)) {
        return false;
    }
    let (v, w) = coordinates(motion, inertia);
    let start = BodyRow::new(v, w);
    (0..LANES).all(|i| moved_by_kicks(&start, i))
}

/// Correction of the displacement of a body that slides or rolls on one other.
///
/// Sub-steps drift by h v with the velocity at their end, Σ h v_k over n of them, where a velocity that
/// changes uniformly gives Σ h (v_k₋₁ + v_k)/2: ½ h Δv too much, in sliding with friction half a sub-step of
/// the whole deceleration. A contact without impulse before the step has no friction until after the drift of
/// the first sub-step. Along the normal nothing is corrected, as velocities change instantaneously there.
fn friction_displacement_error(change: DVec3, a: DVec3, normal: DVec3, cold: bool, h: f64, dt: f64) -> DVec3 {
    let along = |v: DVec3| v - normal * normal.dot(v);
    let friction = if cold { along(change) * (h / dt) - along(a) * h } else { DVec3::ZERO };
    h * (friction - 0.5 * along(change))
}

/// Solver coordinates ⇒ state of the body.
fn scatter(motion: &mut Motion, solver_body: &SolverBody, frame: &SolverFrame) {
    let (root, scale) = (frame.inverse_sqrt_inertia(), frame.inverse_sqrt_mass());
    let (v, w) = (solver_body.velocity.linear(), solver_body.velocity.angular());
    let (translation, rotation) = (solver_body.shift.linear(), solver_body.shift.angular());
    motion.v = v * scale;
    motion.omega = motion.q * (w * root);
    motion.x += translation * scale;
    motion.q = (DQuat::from_scaled_axis(motion.q * (rotation * root)) * motion.q).normalize();
}
