//! Somebody who is shown every collision at the moment it happens, between steps too.

use super::partition::Partition;
use crate::world::BodyId;
use rattleback_geometry::Pose;

/// A collision about to be answered, and where everybody is just then.
#[derive(Clone, Copy, Debug)]
pub struct CollisionInfo<'a> {
    /// s.
    pub time: f64,
    /// Who collides.
    pub bodies: [BodyId; 2],
    /// The gap between them as last_gap, m.
    pub gap: f64,
    /// Whether it is a microcollision.
    pub slow: bool,
    /// Every body that has a shape or moves, with its pose at that time.
    pub poses: &'a [(BodyId, Pose)],
}

type Call = Box<dyn FnMut(&CollisionInfo<'_>) + Send + Sync>;

/// What is called at every collision.
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

    /// Whether anybody watches.
    pub fn is_watching(&self) -> bool {
        self.call.is_some()
    }
}

impl Partition {
    /// Shows a collision to whoever watches.
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
