//! Limit on the number of overlapping bodies that are added at once.
//!
//! n boxes in one place are n²/2 pairs: a hundred thousand would exhaust memory before the solver could
//! separate them. New bodies are therefore counted by the position and size of their bounding boxes: in a
//! cell of side 2^k along each axis, eight boxes with sides between 2^(k−1) and 2^k fit side by side, and all
//! boxes with their centre in the cell overlap or nearly do. Where a multiple of that number would be, the
//! bodies added last are quarantined and reported; the simulation continues with the others.

use super::Realtime;
use super::sim_bodies::SimBodies;
use super::tuning::{OVERLAP_CHECK_BODIES, OVERLAP_LIMITS, OVERLAP_PAIRS, OVERLAP_PAIRS_PER_BODY};
use crate::error::Error;
use crate::world::{BodyId, Handle, Status, World};
use rattleback_geometry::Aabb;
use std::collections::HashMap;

/// Size class and cell coordinate of a box along each axis.
type Cell = [(i32, i64); 3];

/// Cell of a box.
fn cell(bounds: &Aabb) -> Cell {
    let (sides, center) = (bounds.max() - bounds.min(), bounds.center());
    std::array::from_fn(|axis| {
        let class = sides[axis].max(1e-12).log2().ceil().clamp(-40.0, 60.0) as i32;
        (class, (center[axis] / f64::from(class).exp2()).floor() as i64)
    })
}

/// Numbers of boxes per cell.
struct CellCounts {
    cells: HashMap<Cell, u32>,
    limit: u32,
}

impl CellCounts {
    /// Counts the boxes of a body unless one of their cells is full ⇒ whether there was room.
    fn admit(&mut self, boxes: &[Aabb], always: bool) -> bool {
        let full = |bounds: &Aabb| self.cells.get(&cell(bounds)).is_some_and(|count| *count >= self.limit);
        if !always && boxes.iter().any(full) {
            return false;
        }
        for bounds in boxes {
            *self.cells.entry(cell(bounds)).or_insert(0) += 1;
        }
        true
    }

    /// Expected number of pairs: a box overlaps those of its own and of the neighbouring cells.
    fn pairs(&self) -> f64 {
        self.cells.values().map(|count| 4.0 * f64::from(*count).powi(2)).sum()
    }
}

impl Realtime {
    /// Quarantines new bodies that exceed the limit.
    pub(super) fn limit_overlaps(&mut self, world: &World) -> Result<(), Error> {
        if self.sim_bodies.added.len() < OVERLAP_CHECK_BODIES {
            return Ok(());
        }
        let mut added = std::mem::take(&mut self.sim_bodies.added);
        added.sort_unstable();
        added.dedup();
        let mut surplus = Vec::new();
        for limit in OVERLAP_LIMITS {
            surplus.clear();
            let mut census = CellCounts { cells: HashMap::new(), limit };
            let (mut boxes, bodies) = (Vec::new(), world.bodies().ids(Status::Dynamic));
            for id in bodies.iter().filter(|id| added.binary_search(id).is_err()) {
                self.boxes_of(*id, &mut boxes);
                census.admit(&boxes, true);
            }
            for id in &added {
                self.boxes_of(*id, &mut boxes);
                if !census.admit(&boxes, false) {
                    surplus.push(*id);
                }
            }
            if census.pairs() <= OVERLAP_PAIRS + OVERLAP_PAIRS_PER_BODY * bodies.len() as f64 {
                break;
            }
        }
        for id in surplus {
            if let Some((Status::Dynamic, index)) = world.bodies().locate(id) {
                self.sim_bodies.remove_body(id.slot(), &mut *self.space)?;
                self.non_finite.push(index);
            }
        }
        Ok(())
    }

    /// Bounding boxes of the colliders of a body.
    fn boxes_of(&self, id: BodyId, boxes: &mut Vec<Aabb>) {
        boxes.clear();
        let SimBodies { bodies, colliders, .. } = &self.sim_bodies;
        let sim_body =
            bodies.get(id.slot() as usize).and_then(Option::as_ref).filter(|sim_body| sim_body.id == id);
        let colliders = sim_body
            .iter()
            .flat_map(|sim_body| &sim_body.colliders)
            .filter_map(|collider| colliders[*collider as usize].as_ref());
        boxes.extend(colliders.filter_map(|collider| self.space.bounds(collider.proxy).ok()));
    }
}
