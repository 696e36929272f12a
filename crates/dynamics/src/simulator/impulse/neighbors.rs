//! Who may meet whom during the step: swept boxes that come close, told by any [`Space`].

use rattleback_geometry::Aabb;
use rattleback_geometry::space::{
    Mobility, PairChanges, ProxyId, Space, SpaceCounters, SpaceError, SpaceKind, everywhere,
};

/// Boxes of parts in a space.
#[derive(Debug)]
pub(super) struct Neighbors {
    space: Box<dyn Space>,
    ids: Vec<ProxyId>,
    changes: PairChanges,
}

impl Default for Neighbors {
    fn default() -> Self {
        Self::new(SpaceKind::SpatialHash)
    }
}

impl Neighbors {
    pub fn new(kind: SpaceKind) -> Self {
        Self { space: kind.create(), ids: Vec::new(), changes: PairChanges::default() }
    }

    /// Adds the next part; nothing for a box means that it has no end.
    pub fn add(&mut self, bounds: Option<&Aabb>, moves: bool) -> Result<(), SpaceError> {
        let mobility = if moves { Mobility::Moving } else { Mobility::Fixed };
        let id = self.space.insert(bounds.unwrap_or(&everywhere()), mobility, self.ids.len() as u64)?;
        self.ids.push(id);
        Ok(())
    }

    /// Sorts all boxes in at once.
    pub fn build(&mut self) {
        self.space.build();
    }

    pub fn bounds(&self, part: usize) -> Result<Aabb, SpaceError> {
        self.space.bounds(self.ids[part])
    }

    /// Gives a part a new box. Whoever may get farther than a space can tell may meet anybody.
    pub fn set(&mut self, part: usize, bounds: &Aabb) -> Result<(), SpaceError> {
        match self.space.update(self.ids[part], bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(self.ids[part], &everywhere()),
            other => other,
        }
    }

    /// Brings everything up to date ⇒ pairs of parts that have come close, and that have parted, both in order.
    pub fn news(&mut self, came: &mut Vec<[u32; 2]>, parted: &mut Vec<[u32; 2]>) {
        self.space.step(1, &mut self.changes);
        let part = |id: ProxyId| id.index();
        came.clear();
        parted.clear();
        // Nothing is ever removed from the space, so the slots are the parts.
        came.extend(self.changes.appeared.iter().map(|pair| [part(pair.a), part(pair.b)]));
        parted.extend(self.changes.vanished.iter().map(|pair| [part(pair.a), part(pair.b)]));
    }

    pub fn counters(&self) -> SpaceCounters {
        self.space.counters()
    }
}
