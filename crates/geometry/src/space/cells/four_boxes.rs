//! Four boxes side by side, so that one vector operation tests all of them.

use glam::Vec4;

use crate::box32::Box32;

/// Coordinate by coordinate; an empty lane overlaps no box.
#[derive(Clone, Copy, Debug)]
pub(super) struct FourBoxes {
    low: [Vec4; 3],
    high: [Vec4; 3],
}

impl FourBoxes {
    /// Up to four boxes ⇒ lanes.
    #[inline(always)]
    pub fn new(boxes: &[Box32]) -> Self {
        let lane = |k: usize| boxes.get(k).copied().unwrap_or(Box32::EMPTY);
        let [a, b, c, d] = [lane(0), lane(1), lane(2), lane(3)];
        let side =
            |v: [Vec4; 4]| [0, 1, 2].map(|axis| Vec4::new(v[0][axis], v[1][axis], v[2][axis], v[3][axis]));
        Self { low: side([a.low, b.low, c.low, d.low]), high: side([a.high, b.high, c.high, d.high]) }
    }

    /// Bit k: lane k overlaps the box.
    #[inline(always)]
    pub fn overlap_mask(&self, bounds: Box32) -> u32 {
        let mut out = 0;
        for axis in 0..3 {
            let (low, high) = (Vec4::splat(bounds.low[axis]), Vec4::splat(bounds.high[axis]));
            out |= (self.low[axis].cmpgt(high) | self.high[axis].cmplt(low)).bitmask();
        }
        !out & 0b1111
    }
}
