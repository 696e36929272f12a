//! End of a step: integration of free bodies, reading back the solver, and new bounding boxes.
//!
//! Bodies without contact fly exactly; the displacements of the others come from the solver. Every body that
//! moved gets a new bounding box and a new displacement for the separation bounds.

use super::Realtime;
use super::apart::Path;
use super::block::{Frame, Mover};
use super::course::{drift, kick};
use super::lanes::{LANES, Row};
use super::roster::{EXACT, NONE, Roster, place_box, set_box};
use super::step::{LEAST_BODIES, coordinates};
use crate::error::Error;
use crate::motion::{Inertia, Motion, fly};
use crate::world::{BodyId, Handle, Status, World};
use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;
use rattleback_numerics::team::{Shared, spread};
use std::ops::Range;

const STAY: f64 = 0.2;
const STAY_ANGLE: f64 = 0.1;

/// A body that is read back from a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    place: u32,
    slot: u32,
    pub(super) mover: u32,
    pub(super) delicate: bool,
}

const FLIGHT: usize = 64;

impl Realtime {
    /// Integrates the bodies without contact, exactly.
    #[allow(unsafe_code)]
    pub(super) fn fly_free(&mut self, world: &mut World, dt: f64) {
        let threads = self.threads();
        let Self { roster, loads, flights, sick, .. } = self;
        flights.clear();
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = roster.actor(id.slot()) else { continue };
            if actor.asleep || actor.mover != NONE {
                continue;
            }
            let wrench = loads.wrench(place);
            if !(wrench.force.is_finite() && wrench.torque.is_finite()) {
                sick.push(place);
                continue;
            }
            match flights.last_mut() {
                Some(flight) if flight.end == place && flight.len() < FLIGHT => flight.end += 1,
                _ => flights.push(place..place + 1),
            }
        }
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        let shared = Shared::new(motion);
        let kick = |place: usize, motion: &mut Motion| {
            let (wrench, inertia) = (loads.wrench(place), &inertia[place]);
            kick(motion, inertia, g + wrench.force * inertia.inverse_mass, wrench.torque, dt);
        };
        let fly_together = |flight: &Range<usize>| {
            // SAFETY: ranges do not overlap.
            let motion = unsafe { shared.range_mut(flight.clone()) };
            flight.clone().zip(&mut *motion).for_each(|(place, motion)| kick(place, motion));
            fly(motion, &inertia[flight.clone()], dt);
            flight.clone().zip(motion).for_each(|(place, motion)| kick(place, motion));
        };
        spread(threads, flights.len(), LEAST_BODIES / FLIGHT, |range| {
            flights[range].iter().for_each(fly_together);
        });
    }

    /// Writes the solved bodies to the world, and updates all bounding boxes.
    pub(super) fn finish(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.take_back(world, dt);
        self.begin_stage(world);
        for (place, moved, turned, end) in &self.bounces.bends {
            let id = world.bodies().ids(Status::Dynamic)[*place as usize];
            let pushed = self.roster.actor(id.slot()).is_some_and(|actor| actor.pushed);
            let motion = &mut world.bodies_mut().dynamic_mut().0[*place as usize];
            if pushed {
                motion.x += *moved;
                motion.q = (DQuat::from_scaled_axis(*turned) * motion.q).normalize();
            } else {
                *motion = *end;
            }
        }
        if self.settings.continuous {
            self.list_fast(world, dt);
            if !self.sweeps.fast.is_empty() {
                self.stop_fast(world, dt)?;
            }
        }
        self.measure(world, dt);
        for id in world.bodies().ids(Status::Dynamic) {
            let Some(actor) = self.roster.actor(id.slot()) else { continue };
            if actor.asleep {
                self.counters.asleep += 1;
                continue;
            }
            for index in &actor.parts {
                if let Some(part) = self.roster.part(*index)
                    && let Some(bounds) = self.boxes.get_mut(*index as usize).and_then(Option::take)
                {
                    set_box(&mut *self.space, part, &bounds)?;
                }
            }
        }
        self.move_animated(world, dt)
    }

    /// Writes the solved bodies to the world. Bodies on which no impulse acted are integrated exactly
    /// instead: single precision and the semi-implicit sub-steps, which fall by ½ g h dt too far, are only
    /// for bodies with constraints.
    #[allow(unsafe_code)]
    fn take_back(&mut self, world: &mut World, dt: f64) {
        let threads = self.threads();
        let Self { roster, solvers, seats, substeps, loads, .. } = self;
        seats.clear();
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = roster.actor_mut(id.slot()) else { continue };
            let mover = std::mem::replace(&mut actor.mover, NONE);
            actor.pushed = std::mem::take(&mut actor.joined) || mover == EXACT;
            if mover != NONE && mover != EXACT {
                seats.push(Seat { place: place as u32, slot: id.slot(), mover, delicate: actor.delicate });
            }
        }
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        let (motion, actors) = (Shared::new(motion), Shared::new(&mut roster.actors));
        spread(threads, seats.len(), LEAST_BODIES, |range| {
            for seat in &seats[range] {
                let (solver, place) = (&solvers[usize::from(seat.delicate)], seat.place as usize);
                let (mover, frame) = solver.leave(seat.mover);
                // SAFETY: every body is listed once.
                let (motion, actor) = unsafe { (motion.get_mut(place), actors.get_mut(seat.slot as usize)) };
                let Some(actor) = actor else { continue };
                let (substeps, joined) = (substeps[usize::from(seat.delicate)], actor.pushed);
                let h = dt / substeps as f64;
                let kick = solver.kick_of(seat.mover);
                actor.pushed |= !has_flown(motion, &inertia[place], mover, kick, substeps, h as f32);
                let wrench = loads.wrench(place);
                let a = g + wrench.force * inertia[place].inverse_mass;
                if actor.pushed {
                    let v = motion.v;
                    leave(motion, mover, frame);
                    if !joined && let Some((normal, cold)) = solver.only_normal(seat.mover) {
                        motion.x += late(motion.v - v, a, normal, cold, h, dt);
                    }
                } else {
                    drift(motion, &inertia[place], a, wrench.torque, dt);
                }
            }
        });
    }

    /// Lists the bodies that may have passed through something.
    fn list_fast(&mut self, world: &World, dt: f64) {
        self.sweeps.fast.clear();
        let motion = world.bodies().motion(Status::Dynamic);
        for (place, (before, now)) in self.before.iter().zip(motion).enumerate() {
            let id = world.bodies().ids(Status::Dynamic)[place];
            if let Some(actor) = self.roster.actor(id.slot())
                && !actor.asleep
                && now.is_finite()
                && self.is_fast(actor, before, now, dt)
            {
                self.sweeps.fast.push(place as u32);
            }
        }
    }

    /// Updates displacements, still times and bounding boxes.
    #[allow(unsafe_code)]
    fn measure(&mut self, world: &World, dt: f64) {
        let threads = self.threads();
        let (foresight, still_speed) = (self.settings.foresight, self.settings.sleep_speed);
        let stay = STAY * still_speed * self.settings.sleep_time;
        let Self { roster, boxes, before, loads, .. } = self;
        let g = loads.uniform_acceleration();
        let Roster { actors, parts, paths, .. } = roster;
        boxes.resize(parts.len(), None);
        let (ids, motion) = (world.bodies().ids(Status::Dynamic), world.bodies().motion(Status::Dynamic));
        let inertia = world.bodies().inertia(Status::Dynamic);
        let (actors, paths, boxes) = (Shared::new(actors), Shared::new(paths), Shared::new(boxes));
        let measure = |place: usize, id: &BodyId, before: &Motion, now: &Motion| {
            let slot = id.slot() as usize;
            if slot >= actors.len() {
                return;
            }
            // SAFETY: every body is listed once, and its colliders are its own.
            let (actor, path) = unsafe { (actors.get_mut(slot), paths.get_mut(slot)) };
            let Some(actor) = actor else { return };
            if actor.asleep {
                *path = Path::REST;
                return;
            }
            if !now.is_finite() {
                *path = Path::UNKNOWN;
                return;
            }
            *path = Path::new(before, now, actor.reach);
            let speed = now.v.length() + now.omega.length() * actor.reach;
            let pose = now.pose();
            if speed >= still_speed || !is_near(&actor.anchor, &pose, stay) {
                (actor.still, actor.anchor) = (0.0, pose);
            } else if actor.pushed || (now.v == DVec3::ZERO && now.omega == DVec3::ZERO) {
                actor.still += dt as f32;
            }
            let wrench = loads.wrench(place);
            let a = g + wrench.force * inertia[place].inverse_mass;
            for index in &actor.parts {
                let Some(part) = parts.get(*index as usize).and_then(Option::as_ref) else { continue };
                let margin = foresight.min(0.25 * part.radius);
                // SAFETY: as above.
                *unsafe { boxes.get_mut(*index as usize) } = part.box_of_step(now, a, dt, margin);
            }
        };
        spread(threads, ids.len(), LEAST_BODIES, |range| {
            range.for_each(|place| measure(place, &ids[place], &before[place], &motion[place]));
        });
    }

    /// Bounding boxes of kinematic bodies at the end of the next step.
    fn move_animated(&mut self, world: &World, dt: f64) -> Result<(), Error> {
        for id in world.bodies().ids(Status::Animated) {
            if let Some(actor) = self.roster.actor_mut(id.slot()) {
                actor.mover = NONE;
                self.roster.paths[id.slot() as usize] = Path::UNKNOWN;
            }
            let Some(actor) = self.roster.actor(id.slot()) else { continue };
            let body = world.body(*id)?;
            let pose = match body.path() {
                Some((path, start)) => path.at(&start, world.time() + dt).pose * *body.body_from_principal(),
                None => body.motion().pose(),
            };
            for index in &actor.parts {
                if let Some(part) = self.roster.part(*index) {
                    place_box(&mut *self.space, part, &pose, self.settings.foresight)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether two poses agree within a distance, m, and the angle [`STILL_ANGLE`].
fn is_near(anchor: &Pose, now: &Pose, distance: f64) -> bool {
    let turn = anchor.rotation.conjugate() * now.rotation;
    let half_sine = DVec3::new(turn.x, turn.y, turn.z).length();
    anchor.translation.distance(now.translation) <= distance && 2.0 * half_sine <= STAY_ANGLE
}

/// Whether a solver body moved by its kicks alone, to the last bit: no row acted on it.
fn has_flown(motion: &Motion, inertia: &Inertia, mover: &Mover, kick: &Row, substeps: usize, h: f32) -> bool {
    let (v, w) = coordinates(motion, inertia);
    let mut y = [v.x as f32, v.y as f32, v.z as f32, 0.0, w.x as f32, w.y as f32, w.z as f32, 0.0];
    let mut shift = [0.0; LANES];
    for _ in 0..substeps {
        for (i, (y, shift)) in y.iter_mut().zip(&mut shift).enumerate() {
            let damping = if i < 4 { kick.0[3] } else { kick.0[7] };
            *y = *y * damping + if i % 4 == 3 { 0.0 } else { kick.0[i] };
            *shift += h * *y;
        }
    }
    y == mover.velocity.0 && shift == mover.shift.0
}

/// Correction of the displacement of a body that slides or rolls on one other.
///
/// Sub-steps drift by h v with the velocity at their end, Σ h v_k over n of them, where a velocity that
/// changes uniformly gives Σ h (v_k₋₁ + v_k)/2: ½ h Δv too much, in sliding with friction half a sub-step of
/// the whole deceleration. A contact without impulse before the step has no friction until after the drift of
/// the first sub-step. Along the normal nothing is corrected, as velocities change instantaneously there.
fn late(change: DVec3, a: DVec3, normal: DVec3, cold: bool, h: f64, dt: f64) -> DVec3 {
    let along = |v: DVec3| v - normal * normal.dot(v);
    let friction = if cold { along(change) * (h / dt) - along(a) * h } else { DVec3::ZERO };
    h * (friction - 0.5 * along(change))
}

/// Solver coordinates ⇒ state of the body.
fn leave(motion: &mut Motion, mover: &Mover, frame: &Frame) {
    let root = frame.rest.vector(1);
    let scale = f64::from(frame.rest.0[4]);
    let (v, w) = (mover.velocity.vector(0), mover.velocity.vector(4));
    let (moved, turned) = (mover.shift.vector(0), mover.shift.vector(4));
    motion.v = v * scale;
    motion.omega = motion.q * (w * root);
    motion.x += moved * scale;
    motion.q = (DQuat::from_scaled_axis(motion.q * (turned * root)) * motion.q).normalize();
}
