//! Broad phase: pairs of convex parts whose fat AABBs overlap.
//!
//! Whether two parts are a pair depends on their two AABBs and on nothing else. A [`Space`] may report more
//! than that (shared cells, enlarged boxes), depending on its kind and on what else is in it. So its pairs
//! are candidates only, and every AABB that has changed is tested against those of its candidates. Runs are
//! therefore the same to the last bit whatever the space, its other contents and its history.
//!
//! Stationary parts are in a tree of their own, shared by all partitions.

use rattleback_geometry::Aabb;
use rattleback_geometry::space::{
    Mobility, PairChanges, ProxyId, Space, SpaceCounters, SpaceError, SpaceKind, everywhere,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Tree of the AABBs of stationary parts.
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
    /// Adds a part; no AABB means that it is unbounded.
    pub fn add(&mut self, part: u32, bounds: Option<&Aabb>) -> Result<(), SpaceError> {
        self.space.insert(bounds.unwrap_or(&everywhere()), Mobility::Fixed, u64::from(part)).map(|_| ())
    }

    /// Builds the tree.
    pub fn build(&mut self) {
        self.space.build();
        self.space.step(1, &mut PairChanges::default());
    }

    /// Appends the parts whose AABBs overlap this one, in no particular order.
    fn overlapping(&self, bounds: &Aabb, parts: &mut Vec<u32>) {
        self.space.overlapping(bounds, &mut |id| {
            parts.extend(self.space.user(id).ok().map(|part| part as u32));
            ControlFlow::Continue(())
        });
    }
}

/// Slot of a part that does not move.
const NO_INDEX: u32 = u32::MAX;

/// Broad phase of the moving parts of a partition, against each other and against the stationary parts.
#[derive(Debug)]
pub(super) struct ImpulseBroadPhase {
    kind: SpaceKind,
    static_tree: Arc<StaticTree>,
    space: Box<dyn Space>,
    movers: Vec<MovingProxy>,
    /// Part ⇒ its slot among the moving parts.
    slot_of: Vec<u32>,
    changes: PairChanges,
    /// Moving parts with a new AABB since the last update.
    changed: Vec<u32>,
    overlapping_now: Vec<u32>,
    /// Previous AABBs of the parts that changed, while a step may be rolled back.
    undo_log: Option<Vec<(u32, Aabb)>>,
}

/// A moving part.
#[derive(Debug)]
struct MovingProxy {
    part: u32,
    id: ProxyId,
    /// Slots of the candidates reported by the space.
    candidates: Vec<u32>,
    /// Parts whose AABBs overlap its own, ascending.
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

    /// Empty broad phase over the same stationary parts.
    pub fn empty_like(&self) -> Self {
        Self::new(self.kind, Arc::clone(&self.static_tree))
    }

    /// Adds a moving part; no AABB means that it is unbounded.
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

    /// Builds the space after many additions.
    pub fn build(&mut self) {
        self.space.build();
    }

    fn slot(&self, part: u32) -> Option<usize> {
        self.slot_of.get(part as usize).filter(|slot| **slot != NO_INDEX).map(|slot| *slot as usize)
    }

    /// AABB of a moving part.
    pub fn bounds(&self, part: u32) -> Option<Aabb> {
        self.space.bounds(self.movers[self.slot(part)?].id).ok()
    }

    /// All moving parts and their AABBs.
    pub fn boxes(&self) -> impl Iterator<Item = (u32, Aabb)> + '_ {
        self.movers.iter().filter_map(|mover| Some((mover.part, self.space.bounds(mover.id).ok()?)))
    }

    /// Changes the AABB of a moving part. One too large for the space is replaced by an AABB that overlaps
    /// everything.
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

    /// Updates the overlaps ⇒ pairs of parts whose AABBs have begun, and have ceased, to overlap, both
    /// sorted.
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

    /// Updates the candidates from the changes that the space reports.
    fn update_candidates(&mut self) {
        self.space.step(1, &mut self.changes);
        // Nothing is ever removed from the space, so its indices are the slots.
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

    /// Tests the AABB of a moving part against its candidates and the stationary parts.
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

    /// Starts the undo log.
    pub fn begin_log(&mut self) {
        self.undo_log.get_or_insert_default().clear();
    }

    /// Drops the undo log.
    pub fn end_log(&mut self) {
        self.undo_log = None;
    }

    /// Restores all AABBs to what they were when the undo log was started.
    pub fn undo(&mut self) -> Result<(), SpaceError> {
        for (part, bounds) in self.undo_log.take().unwrap_or_default().into_iter().rev() {
            self.set(part, &bounds)?;
        }
        self.update(&mut Vec::new(), &mut Vec::new());
        Ok(())
    }

    /// Parts with a new AABB since the undo log was started, and the union of all AABBs they have had since.
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
