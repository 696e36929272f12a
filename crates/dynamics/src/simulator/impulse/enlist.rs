//! Who takes part: the bodies of a world, taken on stage.

use super::actor::{Actor, Role};
use super::neighbors::{Grounds, Neighbors};
use super::part::{Part, parts_of};
use super::script::Script;
use super::stage::Stage;
use super::{ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{BodyId, Status, World};
use glam::DVec3;
use rattleback_geometry::Pose;
use rattleback_geometry::space::SpaceKind;
use std::sync::Arc;

/// Hops are not made slower than this, in parts of √(2gε): they would come ever more often.
const SMALLEST_HOP: f64 = 0.02;

impl Stage {
    /// Takes everybody in the world on stage.
    pub fn enlist(&mut self, world: &World, settings: &ImpulseSettings, gravity: DVec3) -> Result<(), Error> {
        let observer = std::mem::take(&mut self.observer);
        *self = Self {
            observer,
            gravity,
            weight: gravity.length(),
            smallest_gap: f64::INFINITY,
            ..Self::default()
        };
        let (time, mut parts) = (world.time(), Vec::new());
        for status in [Status::Dynamic, Status::Animated, Status::Fixed] {
            for (place, id) in world.bodies().ids(status).iter().enumerate() {
                let mut actor = self.actor_of(world, *id, status, place, time)?;
                let first = parts.len();
                for shape in world.body(*id)?.shapes() {
                    let attached = world.shape(*shape)?;
                    if !attached.sensor {
                        let number = self.actors.len() as u32;
                        parts_of(attached, *shape, number, actor.frame * attached.pose, &mut parts);
                    }
                }
                actor.assemble(&parts, first..parts.len());
                self.actors.push(actor);
            }
        }
        self.parts = parts.into();
        self.cast = (0..self.actors.len() as u32).collect();
        self.locals.clone_from(&self.cast);
        self.epsilon = if settings.collision_epsilon > 0.0 {
            settings.collision_epsilon
        } else {
            self.natural_epsilon()
        };
        self.landing = settings.landing_margin;
        self.least_hop = settings.least_hop.max(SMALLEST_HOP);
        self.open_space(settings, time)
    }

    fn actor_of(
        &self,
        world: &World,
        id: BodyId,
        status: Status,
        place: usize,
        time: f64,
    ) -> Result<Actor, Error> {
        let body = world.body(id)?;
        let script = body.path().map(|(path, start)| Script::new(path.clone(), start));
        let role = match (status, &script) {
            (Status::Dynamic, _) => Role::Flying,
            (Status::Animated, Some(_)) => Role::Scripted,
            _ => Role::Fixed,
        };
        // A body turns about its centre of mass if it is free, and about the origin of its path if that moves it.
        let (motion, frame) = if role == Role::Scripted {
            let pose = body.pose();
            let motion = *body.motion();
            (Motion { x: pose.translation, q: pose.rotation, ..motion }, Pose::IDENTITY)
        } else {
            (*body.motion(), body.body_from_principal().inverse())
        };
        let inertia = *world.bodies().inertia_of(id).unwrap_or(&crate::motion::Inertia::default());
        let mut actor = Actor::new(id, role, place, time, motion, inertia);
        actor.frame = frame;
        if role == Role::Flying {
            actor.gravity = self.gravity;
        }
        actor.script = script.filter(|_| role == Role::Scripted);
        Ok(actor)
    }

    /// A thousandth of the smallest moving body.
    fn natural_epsilon(&self) -> f64 {
        let size = |actor: &Actor| {
            self.parts[actor.parts.clone()].iter().map(|part| 2.0 * part.radius).fold(0.0, f64::max)
        };
        let smallest = self
            .actors
            .iter()
            .filter(|actor| actor.role == Role::Flying)
            .map(size)
            .filter(|size| *size > 0.0)
            .fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { 1e-3 * smallest } else { 1e-3 }
    }

    /// Puts a box around every part as it is now; who moves is given room when the play begins.
    fn open_space(&mut self, settings: &ImpulseSettings, time: f64) -> Result<(), Error> {
        let refused = |source| ImpulseError::Space { source };
        let kind = SpaceKind::from_name(&settings.space).map_err(refused)?;
        self.end = time;
        let firm = |part: &Part| self.actors[part.actor as usize].is_firm();
        let bounds = |part: &Part| part.aabb(&self.actors[part.actor as usize].start.pose());
        let mut grounds = Grounds::default();
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| firm(part)) {
            grounds.add(number as u32, bounds(part).as_ref()).map_err(refused)?;
        }
        grounds.build();
        let mut neighbors = Neighbors::new(kind, Arc::new(grounds));
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| !firm(part)) {
            neighbors.add(number as u32, bounds(part).as_ref()).map_err(refused)?;
        }
        neighbors.build();
        self.neighbors = neighbors;
        for actor in 0..self.actors.len() as u32 {
            self.ring(actor, time);
        }
        Ok(())
    }
}
