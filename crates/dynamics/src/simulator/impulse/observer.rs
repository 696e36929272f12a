//! Callback for every collision, at its time within the step.

use super::partition::Partition;
use crate::world::BodyId;
use rattleback_geometry::Pose;

/// A collision that is about to be resolved, and the poses of all bodies at its time.
#[derive(Clone, Copy, Debug)]
pub struct CollisionInfo<'a> {
    /// Time of the collision, s.
    pub time: f64,
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// Measured gap between them, m.
    pub gap: f64,
    /// Whether it is a microcollision.
    pub slow: bool,
    /// Every body of the simulation, with its pose at that time.
    pub poses: &'a [(BodyId, Pose)],
}

type Call = Box<dyn FnMut(&CollisionInfo<'_>) + Send + Sync>;

/// The callback, if there is one, and a buffer for the poses.
#[derive(Default)]
pub(super) struct CollisionObserver {
    call: Option<Call>,
    poses: Vec<(BodyId, Pose)>,
}

impl std::fmt::Debug for CollisionObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionObserver").field("watching", &self.call.is_some()).finish_non_exhaustive()
    }
}

impl CollisionObserver {
    pub fn new(call: impl FnMut(&CollisionInfo<'_>) + Send + Sync + 'static) -> Self {
        Self { call: Some(Box::new(call)), poses: Vec::new() }
    }

    /// Whether a callback is registered.
    pub fn is_watching(&self) -> bool {
        self.call.is_some()
    }
}

impl Partition {
    /// Calls the callback, if there is one.
    pub fn notify(&mut self, bodies: [u32; 2], time: f64, gap: f64, slow: bool) {
        let Some(mut call) = self.observer.call.take() else { return };
        let mut poses = std::mem::take(&mut self.observer.poses);
        poses.clear();
        poses.extend(self.bodies.iter_mut().map(|body| (body.id, body.at(time).pose() * body.frame)));
        let ids = bodies.map(|body| self.bodies[body as usize].id);
        call(&CollisionInfo { time, bodies: ids, gap, slow, poses: &poses });
        self.observer = CollisionObserver { call: Some(call), poses };
    }
}
