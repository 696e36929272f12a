//! Who may meet whom: parts whose boxes overlap.
//!
//! Whether two parts are overlaps is a matter of their two boxes and of nothing else. Any [`Space`] may say more than that (shared
//! cells, enlarged boxes), and which it is depends on what else is in it. So what a space tells are candidates only, and every box
//! that has changed is held against those of its candidates. Runs are the same to the last bit whatever the space, whoever else is
//! in it, and however it began to freeze_stalled what it holds.
//!
//! What never moves is in a tree of its own, shared by all who run_events on the same static_tree.

use rattleback_geometry::Aabb;
use rattleback_geometry::space::{
    Mobility, PairChanges, ProxyId, Space, SpaceCounters, SpaceError, SpaceKind, everywhere,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Boxes of parts that never move.
#[derive(Debug)]
pub(super) struct StaticTree {
    space: Box<dyn Space>,
}

impl Default for StaticTree {
    fn default() -> Self {
        Self { space: SpaceKind::DynamicBvh.create() }
    }
}

impl StaticTree {
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
    fn overlapping(&self, bounds: &Aabb, parts: &mut Vec<u32>) {
        self.space.overlapping(bounds, &mut |id| {
            parts.extend(self.space.user(id).ok().map(|part| part as u32));
            ControlFlow::Continue(())
        });
    }
}

/// No slot.
const NO_INDEX: u32 = u32::MAX;

/// Boxes of parts in a space.
#[derive(Debug)]
pub(super) struct ImpulseBroadPhase {
    kind: SpaceKind,
    static_tree: Arc<StaticTree>,
    space: Box<dyn Space>,
    movers: Vec<MovingProxy>,
    /// ConvexPart ⇒ its slot among the movers.
    slot_of: Vec<u32>,
    changes: PairChanges,
    /// Movers with a new box since the last update.
    changed: Vec<u32>,
    overlapping_now: Vec<u32>,
    /// Boxes as they were before they changed, if anybody wants to know.
    undo_log: Option<Vec<(u32, Aabb)>>,
}

/// A part that moves.
#[derive(Debug)]
struct MovingProxy {
    part: u32,
    id: ProxyId,
    /// Movers that the space calls candidates.
    candidates: Vec<u32>,
    /// Parts whose boxes overlap its own, ascending.
    overlaps: Vec<u32>,
}

impl Default for ImpulseBroadPhase {
    fn default() -> Self {
        Self::new(SpaceKind::SpatialHash, Arc::default())
    }
}

impl ImpulseBroadPhase {
    pub fn new(kind: SpaceKind, static_tree: Arc<StaticTree>) -> Self {
        Self {
            kind,
            static_tree,
            space: kind.create(),
            movers: Vec::new(),
            slot_of: Vec::new(),
            changes: PairChanges::default(),
            changed: Vec::new(),
            overlapping_now: Vec::new(),
            undo_log: None,
        }
    }

    /// Others on the same static_tree, and nobody there yet.
    pub fn empty_like(&self) -> Self {
        Self::new(self.kind, Arc::clone(&self.static_tree))
    }

    /// Adds a part that moves; nothing for a box means that it has no end.
    pub fn add(&mut self, part: u32, bounds: Option<&Aabb>) -> Result<(), SpaceError> {
        let id =
            self.space.insert(bounds.unwrap_or(&everywhere()), Mobility::Moving, self.movers.len() as u64)?;
        if self.slot_of.len() <= part as usize {
            self.slot_of.resize(part as usize + 1, NO_INDEX);
        }
        self.slot_of[part as usize] = self.movers.len() as u32;
        self.changed.push(self.movers.len() as u32);
        self.movers.push(MovingProxy { part, id, candidates: Vec::new(), overlaps: Vec::new() });
        Ok(())
    }

    /// Sorts all boxes in at once.
    pub fn build(&mut self) {
        self.space.build();
    }

    fn slot(&self, part: u32) -> Option<usize> {
        self.slot_of.get(part as usize).filter(|slot| **slot != NO_INDEX).map(|slot| *slot as usize)
    }

    /// The box of a part that moves.
    pub fn bounds(&self, part: u32) -> Option<Aabb> {
        self.space.bounds(self.movers[self.slot(part)?].id).ok()
    }

    /// All parts that move, and their boxes.
    pub fn boxes(&self) -> impl Iterator<Item = (u32, Aabb)> + '_ {
        self.movers.iter().filter_map(|mover| Some((mover.part, self.space.bounds(mover.id).ok()?)))
    }

    /// Gives a part that moves a new box. Whoever may get farther than a space can tell may meet anybody.
    pub fn set(&mut self, part: u32, bounds: &Aabb) -> Result<(), SpaceError> {
        let Some(slot) = self.slot(part) else { return Ok(()) };
        let id = self.movers[slot].id;
        if let Some(undo_log) = &mut self.undo_log {
            undo_log.push((part, self.space.bounds(id)?));
        }
        self.changed.push(slot as u32);
        match self.space.update(id, bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(id, &everywhere()),
            other => other,
        }
    }

    /// Brings everything up to date ⇒ pairs of parts that have come overlaps, and that have ended, both in order.
    pub fn update(&mut self, began: &mut Vec<[u32; 2]>, ended: &mut Vec<[u32; 2]>) {
        began.clear();
        ended.clear();
        self.update_candidates();
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        for slot in changed.drain(..) {
            self.update_overlaps(slot, began, ended);
        }
        self.changed = changed;
        began.sort_unstable();
        ended.sort_unstable();
    }

    fn update_candidates(&mut self) {
        self.space.step(1, &mut self.changes);
        // Nothing is ever removed from the space, so the slots are the slot_of.
        for pair in &self.changes.vanished {
            for [one, other] in [[pair.a, pair.b], [pair.b, pair.a]] {
                let candidates = &mut self.movers[one.index() as usize].candidates;
                if let Some(slot) = candidates.iter().position(|known| *known == other.index()) {
                    candidates.swap_remove(slot);
                }
            }
        }
        for pair in &self.changes.appeared {
            self.movers[pair.a.index() as usize].candidates.push(pair.b.index());
            self.movers[pair.b.index() as usize].candidates.push(pair.a.index());
        }
    }

    /// Holds the box of a mover against those of its candidates and of the static_tree.
    fn update_overlaps(&mut self, slot: u32, began: &mut Vec<[u32; 2]>, ended: &mut Vec<[u32; 2]>) {
        let mover = &self.movers[slot as usize];
        let (table, part) = (self.space.proxies(), mover.part);
        let bounds = *table.bounds(mover.id.index());
        let mut overlapping_now = std::mem::take(&mut self.overlapping_now);
        overlapping_now.clear();
        let near = mover.candidates.iter().filter(|other| table.bounds(**other).overlaps(&bounds));
        overlapping_now.extend(near.map(|other| self.movers[*other as usize].part));
        self.static_tree.overlapping(&bounds, &mut overlapping_now);
        overlapping_now.sort_unstable();
        let overlaps = std::mem::take(&mut self.movers[slot as usize].overlaps);
        for other in overlapping_now.iter().filter(|other| overlaps.binary_search(other).is_err()) {
            began.push([part.min(*other), part.max(*other)]);
            if let Some(other) = self.slot(*other) {
                let known = &mut self.movers[other].overlaps;
                if let Err(at) = known.binary_search(&part) {
                    known.insert(at, part);
                }
            }
        }
        for other in overlaps.iter().filter(|other| overlapping_now.binary_search(other).is_err()) {
            ended.push([part.min(*other), part.max(*other)]);
            if let Some(other) = self.slot(*other) {
                let known = &mut self.movers[other].overlaps;
                if let Ok(at) = known.binary_search(&part) {
                    known.remove(at);
                }
            }
        }
        self.movers[slot as usize].overlaps = overlapping_now;
        self.overlapping_now = overlaps;
    }

    /// From now on remembers how boxes were.
    pub fn begin_log(&mut self) {
        self.undo_log.get_or_insert_default().clear();
    }

    /// Forgets how boxes were, and stops remembering.
    pub fn end_log(&mut self) {
        self.undo_log = None;
    }

    /// Puts all boxes back to where they were when the undo_log began.
    pub fn undo(&mut self) -> Result<(), SpaceError> {
        for (part, bounds) in self.undo_log.take().unwrap_or_default().into_iter().rev() {
            self.set(part, &bounds)?;
        }
        self.update(&mut Vec::new(), &mut Vec::new());
        Ok(())
    }

    /// Parts with a new box since the undo_log began, and a box around all they have had since.
    pub fn swept_boxes(&self) -> Vec<(u32, Aabb)> {
        let mut swept_boxes = self.undo_log.clone().unwrap_or_default();
        swept_boxes.sort_by_key(|(part, _)| *part);
        swept_boxes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.union(&next.1);
            }
            same
        });
        for (part, bounds) in &mut swept_boxes {
            if let Some(now) = self.bounds(*part) {
                *bounds = bounds.union(&now);
            }
        }
        swept_boxes
    }

    pub fn counters(&self) -> SpaceCounters {
        self.space.counters()
    }
}
