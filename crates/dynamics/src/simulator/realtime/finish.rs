//! Moving the bodies at the end of a step.
//!
//! Who touches nothing flies exactly; the others get back from the solver how far they came. Whoever moved gets a new box, and what
//! contacts have to know of its way.

use super::Realtime;
use super::apart::Path;
use super::block::{Frame, Mover};
use super::roster::{NONE, Roster, place_box, set_box};
use super::step::LEAST_BODIES;
use crate::error::Error;
use crate::motion::{Motion, fly};
use crate::world::{BodyId, Handle, Status, World};
use glam::DQuat;
use rattleback_numerics::team::{Shared, spread};
use std::ops::Range;

/// Bodies that fly one after the other, at most.
const FLIGHT: usize = 64;

impl Realtime {
    /// Moves the bodies that nothing touches: exactly.
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
            motion.v += (g + wrench.force * inertia.inverse_mass) * (0.5 * dt);
            motion.omega += inertia.angular_velocity(motion.q, wrench.torque * (0.5 * dt));
            // Most are not damped, and e⁰ takes as long as any other power.
            if inertia.linear_damping > 0.0 {
                motion.v *= (-0.5 * dt * inertia.linear_damping).exp();
            }
            if inertia.angular_damping > 0.0 {
                motion.omega *= (-0.5 * dt * inertia.angular_damping).exp();
            }
        };
        let fly_together = |flight: &Range<usize>| {
            // SAFETY: flights do not overlap.
            let motion = unsafe { shared.range_mut(flight.clone()) };
            flight.clone().zip(&mut *motion).for_each(|(place, motion)| kick(place, motion));
            fly(motion, &inertia[flight.clone()], dt);
            flight.clone().zip(motion).for_each(|(place, motion)| kick(place, motion));
        };
        spread(threads, flights.len(), LEAST_BODIES / FLIGHT, |range| {
            flights[range].iter().for_each(fly_together);
        });
    }

    /// Takes the solved bodies back into the world, and gives everybody who moved a new box.
    pub(super) fn finish(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.take_back(world);
        for (place, moved, turned) in &self.bounces.bends {
            let motion = &mut world.bodies_mut().dynamic_mut().0[*place as usize];
            motion.x += *moved;
            motion.q = (DQuat::from_scaled_axis(*turned) * motion.q).normalize();
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

    /// Takes the solved bodies back into the world.
    #[allow(unsafe_code)]
    fn take_back(&mut self, world: &mut World) {
        let threads = self.threads();
        let Self { roster, solvers, seats, .. } = self;
        seats.clear();
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = roster.actor_mut(id.slot()) else { continue };
            actor.joined = false;
            let mover = std::mem::replace(&mut actor.mover, NONE);
            if mover != NONE {
                seats.push((place as u32, mover, actor.delicate));
            }
        }
        let motion = Shared::new(world.bodies_mut().dynamic_mut().0);
        spread(threads, seats.len(), LEAST_BODIES, |range| {
            for (place, mover, delicate) in &seats[range] {
                let (mover, frame) = solvers[usize::from(*delicate)].leave(*mover);
                // SAFETY: every body is listed once.
                leave(unsafe { motion.get_mut(*place as usize) }, mover, frame);
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

    /// Finds out how everybody went, who keeps still, and what boxes they need now.
    #[allow(unsafe_code)]
    fn measure(&mut self, world: &World, dt: f64) {
        let threads = self.threads();
        let (foresight, still_speed) = (self.settings.foresight, self.settings.sleep_speed);
        let Self { roster, boxes, before, .. } = self;
        let Roster { actors, parts, paths, .. } = roster;
        boxes.resize(parts.len(), None);
        let (ids, motion) = (world.bodies().ids(Status::Dynamic), world.bodies().motion(Status::Dynamic));
        let (actors, paths, boxes) = (Shared::new(actors), Shared::new(paths), Shared::new(boxes));
        let measure = |id: &BodyId, before: &Motion, now: &Motion| {
            let slot = id.slot() as usize;
            if slot >= actors.len() {
                return;
            }
            // SAFETY: every body is listed once, and its parts are its own.
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
            actor.still = if speed < still_speed { actor.still + dt as f32 } else { 0.0 };
            let pose = now.pose();
            for index in &actor.parts {
                let Some(part) = parts.get(*index as usize).and_then(Option::as_ref) else { continue };
                let margin = foresight.min(0.25 * part.radius);
                let travel = part.velocity(now) * dt;
                let bounds = part.shape.aabb(&(pose * part.place));
                let bounds = bounds.map(|tight| {
                    let roomy = if margin > 0.0 { tight.enlarged(margin) } else { Ok(tight) };
                    if travel.length_squared() > foresight * foresight {
                        roomy.and_then(|roomy| roomy.swept(travel)).unwrap_or(tight)
                    } else {
                        roomy.unwrap_or(tight)
                    }
                });
                // SAFETY: as above.
                *unsafe { boxes.get_mut(*index as usize) } = bounds;
            }
        };
        spread(threads, ids.len(), LEAST_BODIES, |range| {
            let bodies = ids[range.clone()].iter().zip(&before[range.clone()]).zip(&motion[range]);
            bodies.for_each(|((id, before), now)| measure(id, before, now));
        });
    }

    /// Animated bodies go where their paths lead; their boxes go ahead.
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

/// Solver coordinates ⇒ body.
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
