//! Builds a partition from the bodies of a world.

use super::ballistic_body::{BallisticBody, MotionKind};
use super::broad_phase::{ImpulseBroadPhase, StaticTree};
use super::convex_part::{ConvexPart, convex_parts};
use super::kinematic_bound::KinematicPath;
use super::partition::Partition;
use super::tuning::HOP_SPEED_MIN;
use super::{ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::rigid::Motion;
use crate::world::{BodyId, ColliderOwner, Status, World};
use glam::DVec3;
use rattleback_geometry::Pose;
use std::sync::Arc;

impl Partition {
    /// Replaces everything by the bodies of the world, at its time and under this gravity.
    pub fn build(&mut self, world: &World, settings: &ImpulseSettings, gravity: DVec3) -> Result<(), Error> {
        let observer = std::mem::take(&mut self.observer);
        *self = Self {
            observer,
            gravity,
            gravity_norm: gravity.length(),
            smallest_gap: f64::INFINITY,
            ..Self::default()
        };
        let (time, mut parts) = (world.time(), Vec::new());
        for status in [Status::Dynamic, Status::Kinematic, Status::Fixed] {
            for (dynamic_index, id) in world.bodies().ids(status).iter().enumerate() {
                let mut body = self.new_body(world, *id, status, dynamic_index, time)?;
                let first = parts.len();
                for shape in world.body(*id)?.shapes() {
                    let attached = world.shape(*shape)?;
                    if !attached.sensor {
                        let number = self.bodies.len() as u32;
                        convex_parts(attached, *shape, number, body.frame * attached.pose, &mut parts);
                    }
                }
                body.set_parts(&parts, first..parts.len());
                self.bodies.push(body);
            }
        }
        self.parts = parts.into();
        self.global_of = (0..self.bodies.len() as u32).collect();
        self.local_of.clone_from(&self.global_of);
        self.epsilon = if settings.collision_epsilon > 0.0 {
            settings.collision_epsilon
        } else {
            self.default_epsilon()
        };
        self.landing_margin = settings.landing_margin;
        self.least_hop = settings.least_hop.max(HOP_SPEED_MIN);
        self.build_broad_phase(settings, time)
    }

    /// Body of the world ⇒ body of the simulator, without parts.
    fn new_body(
        &self,
        world: &World,
        id: BodyId,
        status: Status,
        dynamic_index: usize,
        time: f64,
    ) -> Result<BallisticBody, Error> {
        let body = world.body(id)?;
        let script = body.path().map(|(path, start)| KinematicPath::new(path.clone(), start));
        let kind = match (status, &script) {
            (Status::Dynamic, _) => MotionKind::Ballistic,
            (Status::Kinematic, Some(_)) => MotionKind::Kinematic,
            _ => MotionKind::Static,
        };
        // A dynamic body rotates about its centre of mass, a kinematic one about the origin of its path.
        let (motion, frame) = if kind == MotionKind::Kinematic {
            let pose = body.pose();
            let motion = *body.motion();
            (Motion { x: pose.translation, q: pose.rotation, ..motion }, Pose::IDENTITY)
        } else {
            (*body.motion(), body.body_from_principal().inverse())
        };
        let inertia = *world.bodies().inertia_of(id).unwrap_or(&crate::rigid::Inertia::default());
        let mut body = BallisticBody::new(id, kind, dynamic_index, time, motion, inertia);
        body.frame = frame;
        body.is_link = matches!(world.owner_of(id)?, ColliderOwner::Link(_));
        if kind == MotionKind::Ballistic {
            body.gravity = self.gravity;
        }
        body.kinematic = script.filter(|_| kind == MotionKind::Kinematic);
        Ok(body)
    }

    /// A thousandth of the diameter of the smallest dynamic body, m.
    fn default_epsilon(&self) -> f64 {
        let size = |body: &BallisticBody| {
            self.parts[body.parts.clone()].iter().map(|part| 2.0 * part.radius).fold(0.0, f64::max)
        };
        let smallest = self
            .bodies
            .iter()
            .filter(|body| body.kind == MotionKind::Ballistic)
            .map(size)
            .filter(|size| *size > 0.0)
            .fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { 1e-3 * smallest } else { 1e-3 }
    }

    /// Inserts the tight AABB of every part; moving bodies get fat ones when the step begins.
    fn build_broad_phase(&mut self, settings: &ImpulseSettings, time: f64) -> Result<(), Error> {
        let space_error = |source| ImpulseError::Space { source };
        self.end = time;
        let stationary = |part: &ConvexPart| self.bodies[part.body as usize].is_stationary();
        let bounds = |part: &ConvexPart| part.aabb(&self.bodies[part.body as usize].start.pose());
        let mut static_tree = StaticTree::default();
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| stationary(part)) {
            static_tree.add(number as u32, bounds(part).as_ref()).map_err(space_error)?;
        }
        static_tree.build();
        let mut broad_phase = ImpulseBroadPhase::new(settings.space, Arc::new(static_tree));
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| !stationary(part)) {
            broad_phase.add(number as u32, bounds(part).as_ref()).map_err(space_error)?;
        }
        broad_phase.build();
        self.broad_phase = broad_phase;
        for body in 0..self.bodies.len() as u32 {
            self.reschedule_body(body, time);
        }
        Ok(())
    }
}
