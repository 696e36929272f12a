//! Which shapes a query considers.

use crate::world::{AttachedShape, BodyId, CollisionGroups, ShapeId};
use std::fmt;

/// Which shapes a query considers; all but sensors by default.
#[derive(Clone, Copy, Default)]
pub struct QueryFilter<'a> {
    /// Collision groups of the query, as if it were a shape.
    pub groups: Option<CollisionGroups>,
    /// Bodies to ignore.
    pub exclude: &'a [BodyId],
    /// Whether sensors are considered.
    pub sensors: bool,
    /// Predicate that a shape must satisfy.
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
    pub(super) fn admits(&self, id: ShapeId, attached: &AttachedShape) -> bool {
        (self.sensors || !attached.sensor)
            && !self.exclude.contains(&attached.body)
            && self.groups.is_none_or(|groups| groups.admits(attached.groups))
            && self.accept.is_none_or(|accept| accept(attached.body, id))
    }
}
