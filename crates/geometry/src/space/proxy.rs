//! Proxies of a space: ids, boxes, and which of them may move.
//!
//! A slot is not reused before the next step has reported the removal, so that within a step an index means
//! one box only; the generation distinguishes later users of the same slot.

use glam::DVec3;

use super::{MAX_REACH, SpaceError};
use crate::Aabb;

/// Names a box of a space; ids of removed boxes are never mistaken for those of later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProxyId {
    index: u32,
    generation: u32,
}

impl ProxyId {
    /// Number of the slot, small and dense: good for arrays beside the space.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Number of earlier boxes of the slot.
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// Whether a box is expected to move. Pairs of two fixed boxes are never reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mobility {
    /// No cost per step; may be moved, but not often.
    Fixed,
    /// Expected to move in every step.
    Moving,
}

/// The box of an unbounded shape: overlaps every other box that a space accepts.
pub fn everywhere() -> Aabb {
    Aabb::new(DVec3::splat(-MAX_REACH), DVec3::splat(MAX_REACH)).unwrap_or_else(|_| unreachable!())
}

/// Most boxes in a space: links of trees keep a bit for themselves.
pub(super) const MAX_PROXIES: usize = 1 << 30;

/// One line of memory: reading a box at random costs one miss, not two.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot {
    bounds: Aabb,
    user: u64,
    generation: u32,
    mobility: Mobility,
    alive: bool,
}

/// The boxes of a space by id; every space has one.
#[derive(Clone, Debug, Default)]
pub struct ProxyTable {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Removed since the last step.
    leaving: Vec<u32>,
    alive: usize,
}

impl ProxyTable {
    /// Checks and stores a box ⇒ its id.
    pub fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        check(bounds)?;
        let slot = Slot { bounds: *bounds, user, generation: 0, mobility, alive: true };
        let index = if let Some(index) = self.free.pop() {
            let old = &mut self.slots[index as usize];
            *old = Slot { generation: old.generation.wrapping_add(1), ..slot };
            index
        } else {
            if self.slots.len() >= MAX_PROXIES {
                return Err(SpaceError::Full { limit: MAX_PROXIES });
            }
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        };
        self.alive += 1;
        Ok(self.id(index))
    }

    /// Checks and stores a new box ⇒ the index and the old box.
    #[inline]
    pub fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(u32, Aabb), SpaceError> {
        check(bounds)?;
        let slot = self.slots.get_mut(id.index as usize);
        match slot {
            Some(slot) if slot.alive && slot.generation == id.generation => {
                Ok((id.index, std::mem::replace(&mut slot.bounds, *bounds)))
            }
            _ => Err(SpaceError::Unknown { id }),
        }
    }

    /// Marks a box as removed ⇒ its index, which is free again after [`Self::recycle`].
    pub fn remove(&mut self, id: ProxyId) -> Result<u32, SpaceError> {
        let index = self.find(id)?;
        self.slots[index as usize].alive = false;
        self.leaving.push(index);
        self.alive -= 1;
        Ok(index)
    }

    /// At the end of a step: slots of removed boxes become free.
    pub fn recycle(&mut self) {
        self.free.append(&mut self.leaving);
    }

    /// Id ⇒ index, if the box is still there.
    pub fn find(&self, id: ProxyId) -> Result<u32, SpaceError> {
        match self.slots.get(id.index as usize) {
            Some(slot) if slot.alive && slot.generation == id.generation => Ok(id.index),
            _ => Err(SpaceError::Unknown { id }),
        }
    }

    /// Index of a box that exists or was removed in this step ⇒ its id.
    #[inline(always)]
    pub fn id(&self, index: u32) -> ProxyId {
        ProxyId { index, generation: self.slots[index as usize].generation }
    }

    /// Box at an index.
    #[inline(always)]
    pub fn bounds(&self, index: u32) -> &Aabb {
        &self.slots[index as usize].bounds
    }

    /// Whether the box at an index may move.
    #[inline(always)]
    pub fn is_moving(&self, index: u32) -> bool {
        self.slots[index as usize].mobility == Mobility::Moving
    }

    /// User data.
    pub fn user(&self, index: u32) -> u64 {
        self.slots[index as usize].user
    }

    /// Whether there is a box at an index.
    #[inline(always)]
    pub fn is_alive(&self, index: u32) -> bool {
        self.slots[index as usize].alive
    }

    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// One more than the largest index ever given.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Indices of all boxes, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.slots).filter(|(_, slot)| slot.alive).map(|(index, _)| index)
    }

    /// Free indices; the last is used first.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Indices removed since the last step.
    pub fn leaving(&self) -> &[u32] {
        &self.leaving
    }
}

/// Error if a box reaches too far; NaN, infinities and inverted boxes are already refused by [`Aabb::new`].
#[inline]
fn check(bounds: &Aabb) -> Result<(), SpaceError> {
    let reach = bounds.min().abs().max(bounds.max().abs());
    if reach.max_element() <= MAX_REACH {
        return Ok(());
    }
    let axis = (0..3).find(|&axis| !(reach[axis] <= MAX_REACH)).unwrap_or(0);
    Err(SpaceError::Enormous { axis, reach: reach[axis] })
}
