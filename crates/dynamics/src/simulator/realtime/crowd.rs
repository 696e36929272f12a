//! Limit on the number of overlapping bodies that are added at once.
//!
//! n boxes in one place are n²/2 pairs: a hundred thousand would exhaust memory before the solver could
//! separate them. New bodies are therefore counted by the position and size of their bounding boxes: in a
//! cell of side 2^k along each axis, eight boxes with sides between 2^(k−1) and 2^k fit side by side, and all
//! boxes with their centre in the cell overlap or nearly do. Where a multiple of that number would be, the
//! bodies added last are quarantined and reported; the simulation continues with the others.

use super::Realtime;
use super::roster::Roster;
use crate::error::Error;
use crate::world::{BodyId, Handle, Status, World};
use rattleback_geometry::Aabb;
use std::collections::HashMap;

const UNCOUNTED: usize = 256;
/// Most boxes of a cell: eight times what fits side by side, and half of that again and again while there are
/// too many pairs.
const MOST: [u32; 4] = [64, 32, 16, 8];
/// Pairs that are never too many, and how many more for each body.
const PAIRS: f64 = 1e6;
const PAIRS_EACH: f64 = 32.0;

/// Size class and cell coordinate of a box along each axis.
type Cell = [(i32, i64); 3];

fn cell(bounds: &Aabb) -> Cell {
    let (sides, middle) = (bounds.max() - bounds.min(), bounds.center());
    std::array::from_fn(|axis| {
        let class = sides[axis].max(1e-12).log2().ceil().clamp(-40.0, 60.0) as i32;
        (class, (middle[axis] / f64::from(class).exp2()).floor() as i64)
    })
}

/// Numbers of boxes per cell.
struct Census {
    cells: HashMap<Cell, u32>,
    most: u32,
}

impl Census {
    /// Counts the boxes of a body unless one of their cells is full ⇒ whether there was room.
    fn admit(&mut self, boxes: &[Aabb], always: bool) -> bool {
        let full = |bounds: &Aabb| self.cells.get(&cell(bounds)).is_some_and(|count| *count >= self.most);
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
    pub(super) fn thin_crowds(&mut self, world: &World) -> Result<(), Error> {
        if self.roster.newcomers.len() < UNCOUNTED {
            return Ok(());
        }
        let mut newcomers = std::mem::take(&mut self.roster.newcomers);
        newcomers.sort_unstable();
        newcomers.dedup();
        let mut surplus = Vec::new();
        for most in MOST {
            surplus.clear();
            let mut census = Census { cells: HashMap::new(), most };
            let (mut boxes, bodies) = (Vec::new(), world.bodies().ids(Status::Dynamic));
            for id in bodies.iter().filter(|id| newcomers.binary_search(id).is_err()) {
                self.boxes_of(*id, &mut boxes);
                census.admit(&boxes, true);
            }
            for id in &newcomers {
                self.boxes_of(*id, &mut boxes);
                if !census.admit(&boxes, false) {
                    surplus.push(*id);
                }
            }
            if census.pairs() <= PAIRS + PAIRS_EACH * bodies.len() as f64 {
                break;
            }
        }
        for id in surplus {
            if let Some((Status::Dynamic, place)) = world.bodies().locate(id) {
                self.roster.dismiss(id.slot(), &mut *self.space)?;
                self.sick.push(place);
            }
        }
        Ok(())
    }

    fn boxes_of(&self, id: BodyId, boxes: &mut Vec<Aabb>) {
        boxes.clear();
        let Roster { actors, parts, .. } = &self.roster;
        let actor = actors.get(id.slot() as usize).and_then(Option::as_ref).filter(|actor| actor.id == id);
        let parts =
            actor.iter().flat_map(|actor| &actor.parts).filter_map(|part| parts[*part as usize].as_ref());
        boxes.extend(parts.filter_map(|part| self.space.bounds(part.proxy).ok()));
    }
}
