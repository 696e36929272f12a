//! Whom a question is about.

use crate::world::{AttachedShape, BodyId, CollisionGroups, ShapeId};
use std::fmt;

/// Which shapes count. Everything but sensors by default.
#[derive(Clone, Copy, Default)]
pub struct QueryFilter<'a> {
    /// Groups the question belongs to and may meet, as if it were a shape.
    pub groups: Option<CollisionGroups>,
    /// Bodies that do not count.
    pub exclude: &'a [BodyId],
    /// Whether sensors count.
    pub sensors: bool,
    /// A last word on every shape.
    pub accept: Option<&'a (dyn Fn(BodyId, ShapeId) -> bool + Sync)>,
}

impl fmt::Debug for QueryFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryFilter")
            .field("groups", &self.groups)
            .field("exclude", &self.exclude)
            .field("sensors", &self.sensors)
            .field("accept", &self.accept.is_some())
            .finish()
    }
}

impl QueryFilter<'_> {
    pub(super) fn wants(&self, id: ShapeId, attached: &AttachedShape) -> bool {
        (self.sensors || !attached.sensor)
            && !self.exclude.contains(&attached.body)
            && self.groups.is_none_or(|groups| groups.admits(attached.groups))
            && self.accept.is_none_or(|accept| accept(attached.body, id))
    }
}
