//! Who may meet whom: parts whose boxes overlap.
//!
//! Whether two parts are close is a matter of their two boxes and of nothing else. Any [`Space`] may say more than that (shared
//! cells, enlarged boxes), and which it is depends on what else is in it. So what a space tells are candidates only, and every box
//! that has changed is held against those of its candidates. Runs are the same to the last bit whatever the space, whoever else is
//! in it, and however it came to hold what it holds.
//!
//! What never moves is in a tree of its own, shared by all who play on the same grounds.

use rattleback_geometry::Aabb;
use rattleback_geometry::space::{
    Mobility, PairChanges, ProxyId, Space, SpaceCounters, SpaceError, SpaceKind, everywhere,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Boxes of parts that never move.
#[derive(Debug)]
pub(super) struct Grounds {
    space: Box<dyn Space>,
}

impl Default for Grounds {
    fn default() -> Self {
        Self { space: SpaceKind::DynamicBvh.create() }
    }
}

impl Grounds {
    /// Adds a part; nothing for a box means that it has no end.
    pub fn add(&mut self, part: u32, bounds: Option<&Aabb>) -> Result<(), SpaceError> {
        self.space.insert(bounds.unwrap_or(&everywhere()), Mobility::Fixed, u64::from(part)).map(|_| ())
    }

    /// Sorts all boxes in.
    pub fn build(&mut self) {
        self.space.build();
        self.space.step(1, &mut PairChanges::default());
    }

    /// Adds the parts whose boxes overlap this one, in no particular order.
    fn under(&self, bounds: &Aabb, parts: &mut Vec<u32>) {
        self.space.overlapping(bounds, &mut |id| {
            parts.extend(self.space.user(id).ok().map(|part| part as u32));
            ControlFlow::Continue(())
        });
    }
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// Boxes of parts in a space.
#[derive(Debug)]
pub(super) struct Neighbors {
    kind: SpaceKind,
    grounds: Arc<Grounds>,
    space: Box<dyn Space>,
    movers: Vec<Mover>,
    /// Part ⇒ its place among the movers.
    places: Vec<u32>,
    changes: PairChanges,
    /// Movers with a new box since the last news.
    changed: Vec<u32>,
    fresh: Vec<u32>,
    /// Boxes as they were before they changed, if anybody wants to know.
    log: Option<Vec<(u32, Aabb)>>,
}

/// A part that moves.
#[derive(Debug)]
struct Mover {
    part: u32,
    id: ProxyId,
    /// Movers that the space calls candidates.
    candidates: Vec<u32>,
    /// Parts whose boxes overlap its own, ascending.
    close: Vec<u32>,
}

impl Default for Neighbors {
    fn default() -> Self {
        Self::new(SpaceKind::SpatialHash, Arc::default())
    }
}

impl Neighbors {
    pub fn new(kind: SpaceKind, grounds: Arc<Grounds>) -> Self {
        Self {
            kind,
            grounds,
            space: kind.create(),
            movers: Vec::new(),
            places: Vec::new(),
            changes: PairChanges::default(),
            changed: Vec::new(),
            fresh: Vec::new(),
            log: None,
        }
    }

    /// Others on the same grounds, and nobody there yet.
    pub fn empty_alike(&self) -> Self {
        Self::new(self.kind, Arc::clone(&self.grounds))
    }

    /// Adds a part that moves; nothing for a box means that it has no end.
    pub fn add(&mut self, part: u32, bounds: Option<&Aabb>) -> Result<(), SpaceError> {
        let id =
            self.space.insert(bounds.unwrap_or(&everywhere()), Mobility::Moving, self.movers.len() as u64)?;
        if self.places.len() <= part as usize {
            self.places.resize(part as usize + 1, NOWHERE);
        }
        self.places[part as usize] = self.movers.len() as u32;
        self.changed.push(self.movers.len() as u32);
        self.movers.push(Mover { part, id, candidates: Vec::new(), close: Vec::new() });
        Ok(())
    }

    /// Sorts all boxes in at once.
    pub fn build(&mut self) {
        self.space.build();
    }

    fn place(&self, part: u32) -> Option<usize> {
        self.places.get(part as usize).filter(|place| **place != NOWHERE).map(|place| *place as usize)
    }

    /// The box of a part that moves.
    pub fn bounds(&self, part: u32) -> Option<Aabb> {
        self.space.bounds(self.movers[self.place(part)?].id).ok()
    }

    /// All parts that move, and their boxes.
    pub fn boxes(&self) -> impl Iterator<Item = (u32, Aabb)> + '_ {
        self.movers.iter().filter_map(|mover| Some((mover.part, self.space.bounds(mover.id).ok()?)))
    }

    /// Gives a part that moves a new box. Whoever may get farther than a space can tell may meet anybody.
    pub fn set(&mut self, part: u32, bounds: &Aabb) -> Result<(), SpaceError> {
        let Some(place) = self.place(part) else { return Ok(()) };
        let id = self.movers[place].id;
        if let Some(log) = &mut self.log {
            log.push((part, self.space.bounds(id)?));
        }
        self.changed.push(place as u32);
        match self.space.update(id, bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(id, &everywhere()),
            other => other,
        }
    }

    /// Brings everything up to date ⇒ pairs of parts that have come close, and that have parted, both in order.
    pub fn news(&mut self, came: &mut Vec<[u32; 2]>, parted: &mut Vec<[u32; 2]>) {
        came.clear();
        parted.clear();
        self.hear_of_candidates();
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        for place in changed.drain(..) {
            self.compare(place, came, parted);
        }
        self.changed = changed;
        came.sort_unstable();
        parted.sort_unstable();
    }

    fn hear_of_candidates(&mut self) {
        self.space.step(1, &mut self.changes);
        // Nothing is ever removed from the space, so the slots are the places.
        for pair in &self.changes.vanished {
            for [one, other] in [[pair.a, pair.b], [pair.b, pair.a]] {
                let candidates = &mut self.movers[one.index() as usize].candidates;
                if let Some(place) = candidates.iter().position(|known| *known == other.index()) {
                    candidates.swap_remove(place);
                }
            }
        }
        for pair in &self.changes.appeared {
            self.movers[pair.a.index() as usize].candidates.push(pair.b.index());
            self.movers[pair.b.index() as usize].candidates.push(pair.a.index());
        }
    }

    /// Holds the box of a mover against those of its candidates and of the grounds.
    fn compare(&mut self, place: u32, came: &mut Vec<[u32; 2]>, parted: &mut Vec<[u32; 2]>) {
        let mover = &self.movers[place as usize];
        let (table, part) = (self.space.proxies(), mover.part);
        let bounds = *table.bounds(mover.id.index());
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        let near = mover.candidates.iter().filter(|other| table.bounds(**other).overlaps(&bounds));
        fresh.extend(near.map(|other| self.movers[*other as usize].part));
        self.grounds.under(&bounds, &mut fresh);
        fresh.sort_unstable();
        let close = std::mem::take(&mut self.movers[place as usize].close);
        for other in fresh.iter().filter(|other| close.binary_search(other).is_err()) {
            came.push([part.min(*other), part.max(*other)]);
            if let Some(other) = self.place(*other) {
                let known = &mut self.movers[other].close;
                if let Err(at) = known.binary_search(&part) {
                    known.insert(at, part);
                }
            }
        }
        for other in close.iter().filter(|other| fresh.binary_search(other).is_err()) {
            parted.push([part.min(*other), part.max(*other)]);
            if let Some(other) = self.place(*other) {
                let known = &mut self.movers[other].close;
                if let Ok(at) = known.binary_search(&part) {
                    known.remove(at);
                }
            }
        }
        self.movers[place as usize].close = fresh;
        self.fresh = close;
    }

    /// From now on remembers how boxes were.
    pub fn begin_log(&mut self) {
        self.log.get_or_insert_default().clear();
    }

    /// Forgets how boxes were, and stops remembering.
    pub fn end_log(&mut self) {
        self.log = None;
    }

    /// Puts all boxes back to where they were when the log began.
    pub fn undo(&mut self) -> Result<(), SpaceError> {
        for (part, bounds) in self.log.take().unwrap_or_default().into_iter().rev() {
            self.set(part, &bounds)?;
        }
        self.news(&mut Vec::new(), &mut Vec::new());
        Ok(())
    }

    /// Parts with a new box since the log began, and a box around all they have had since.
    pub fn reaches(&self) -> Vec<(u32, Aabb)> {
        let mut reaches = self.log.clone().unwrap_or_default();
        reaches.sort_by_key(|(part, _)| *part);
        reaches.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.union(&next.1);
            }
            same
        });
        for (part, bounds) in &mut reaches {
            if let Some(now) = self.bounds(*part) {
                *bounds = bounds.union(&now);
            }
        }
        reaches
    }

    pub fn counters(&self) -> SpaceCounters {
        self.space.counters()
    }
}
