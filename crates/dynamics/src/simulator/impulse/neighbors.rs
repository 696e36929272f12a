//! Who may meet whom during the step: swept boxes that overlap.

use rattleback_geometry::Aabb;

/// Boxes of parts; parts without end overlap everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    boxes: Vec<Option<Aabb>>,
}

impl Neighbors {
    pub fn reset(&mut self, parts: usize) {
        self.boxes.clear();
        self.boxes.resize(parts, None);
    }

    pub fn holds(&self, part: u32, bounds: &Aabb) -> bool {
        self.boxes[part as usize].is_some_and(|known| known.contains_box(bounds))
    }

    pub fn set(&mut self, part: u32, bounds: Option<Aabb>) {
        self.boxes[part as usize] = bounds;
    }

    pub fn meet(&self, a: u32, b: u32) -> bool {
        match (&self.boxes[a as usize], &self.boxes[b as usize]) {
            (Some(a), Some(b)) => a.overlaps(b),
            _ => true,
        }
    }

    /// Parts whose boxes overlap that of `part`, into `found`.
    pub fn of(&self, part: u32, found: &mut Vec<u32>) {
        found.clear();
        found.extend((0..self.boxes.len() as u32).filter(|other| *other != part && self.meet(part, *other)));
    }
}
