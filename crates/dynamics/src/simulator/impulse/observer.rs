//! Somebody who is shown every collision at the moment it happens, between steps too.

use super::stage::Stage;
use crate::world::BodyId;
use rattleback_geometry::Pose;

/// A collision about to be answered, and where everybody is just then.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// s.
    pub time: f64,
    /// Who collides.
    pub bodies: [BodyId; 2],
    /// The gap between them as measured, m.
    pub gap: f64,
    /// Whether it is a microcollision.
    pub slow: bool,
    /// Every body that has a shape or moves, with its pose at that time.
    pub poses: &'a [(BodyId, Pose)],
}

type Call = Box<dyn FnMut(&Moment<'_>) + Send + Sync>;

/// What is called at every collision.
#[derive(Default)]
pub(super) struct Observer {
    call: Option<Call>,
    poses: Vec<(BodyId, Pose)>,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").field("watching", &self.call.is_some()).finish_non_exhaustive()
    }
}

impl Observer {
    pub fn new(call: impl FnMut(&Moment<'_>) + Send + Sync + 'static) -> Self {
        Self { call: Some(Box::new(call)), poses: Vec::new() }
    }

    /// Whether anybody watches.
    pub fn is_watching(&self) -> bool {
        self.call.is_some()
    }
}

impl Stage {
    /// Shows a collision to whoever watches.
    pub fn show(&mut self, bodies: [u32; 2], time: f64, gap: f64, slow: bool) {
        let Some(mut call) = self.observer.call.take() else { return };
        let mut poses = std::mem::take(&mut self.observer.poses);
        poses.clear();
        poses.extend(self.actors.iter_mut().map(|actor| (actor.id, actor.at(time).pose() * actor.frame)));
        let bodies = bodies.map(|actor| self.actors[actor as usize].id);
        call(&Moment { time, bodies, gap, slow, poses: &poses });
        self.observer = Observer { call: Some(call), poses };
    }
}
