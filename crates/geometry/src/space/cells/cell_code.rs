//! One number for a cell, such that near cells mostly have near numbers.
//!
//! The code of cell (x, y, z) takes the bits of the lowest 21 bits of x, y and z in turn (Morton 1966).
//! Sorted by their codes, cells that touch lie mostly close together in memory. Cells a multiple of 2²¹ apart
//! share a code; boxes in them are compared in vain, without other effect.

use glam::DVec3;

use super::tiling::{CellRange, MAX_CELLS, MAX_INDEX};
use crate::Aabb;

const BITS: u32 = 21;
const MASK: u64 = (1 << BITS) - 1;

/// Puts two empty bits after each of the lowest 21 bits.
#[inline(always)]
fn spread(x: u64) -> u64 {
    let x = x & MASK;
    let x = (x | x << 32) & 0x001F_0000_0000_FFFF;
    let x = (x | x << 16) & 0x001F_0000_FF00_00FF;
    let x = (x | x << 8) & 0x100F_00F0_0F00_F00F;
    let x = (x | x << 4) & 0x10C3_0C30_C30C_30C3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// The other way round.
fn gather(x: u64) -> u64 {
    let x = x & 0x1249_2492_4924_9249;
    let x = (x | x >> 2) & 0x10C3_0C30_C30C_30C3;
    let x = (x | x >> 4) & 0x100F_00F0_0F00_F00F;
    let x = (x | x >> 8) & 0x001F_0000_FF00_00FF;
    let x = (x | x >> 16) & 0x001F_0000_0000_FFFF;
    (x | x >> 32) & MASK
}

/// Cell ⇒ code.
#[inline(always)]
pub(super) fn code(cell: [i64; 3]) -> u64 {
    spread(cell[0] as u64) | spread(cell[1] as u64) << 1 | spread(cell[2] as u64) << 2
}

/// Code ⇒ the cell that has it, no lower than `low` on any axis and less than 2²¹ above.
pub(super) fn cell_above(code: u64, low: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|axis| {
        let ahead = gather(code >> axis).wrapping_sub(low[axis] as u64) & MASK;
        low[axis] + ahead.cast_signed()
    })
}

/// Sum of the three indices of the cell nearest to zero that has a code.
pub(super) fn index_sum(code: u64) -> u64 {
    (0..3).map(|axis| gather(code >> axis)).sum()
}

/// Cubic cells of one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    side: f64,
    inverse: f64,
}

impl Lattice {
    /// Side > 0 ⇒ lattice.
    pub fn new(side: f64) -> Self {
        Self { side, inverse: side.recip() }
    }

    pub fn side(&self) -> f64 {
        self.side
    }

    /// Cell of a point at most 2⁴⁰ cells away. Rounding is monotonous, so a box that holds a point holds its
    /// cell, too.
    #[inline(always)]
    pub fn cell(&self, point: DVec3) -> [i64; 3] {
        (point * self.inverse).to_array().map(floor)
    }

    /// Cells of a box; None if they are too many or too far out.
    #[inline(always)]
    pub fn range(&self, bounds: &Aabb) -> Option<CellRange> {
        let reach = bounds.min().abs().max(bounds.max().abs()).max_element() * self.inverse;
        if !(reach <= MAX_INDEX) {
            return None;
        }
        let range = CellRange { low: self.cell(bounds.min()), high: self.cell(bounds.max()) };
        (range.count() <= MAX_CELLS).then_some(range)
    }
}

/// ⌊x⌋ of a number that fits.
#[inline(always)]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

/// Cells of a box in few bytes: enough to detect changes, and their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Lowest 32 bits of the lowest cell.
    low: [i32; 3],
    /// One less than the number of cells along each axis.
    more: [u16; 3],
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nowhere,
    Cells,
    Giant,
}

impl Place {
    /// In no cell.
    pub const NOWHERE: Self = Self { low: [0; 3], more: [0; 3], kind: Kind::Nowhere };
    /// In too many cells.
    pub const GIANT: Self = Self { kind: Kind::Giant, ..Self::NOWHERE };

    #[inline(always)]
    pub fn of(range: Option<CellRange>) -> Self {
        let Some(range) = range else { return Self::GIANT };
        let more = |axis: usize| (range.high[axis] - range.low[axis]) as u16;
        Self { low: range.low.map(|x| x as i32), more: [more(0), more(1), more(2)], kind: Kind::Cells }
    }

    pub fn is_giant(self) -> bool {
        self.kind == Kind::Giant
    }

    /// Codes of its cells.
    pub fn codes(self) -> impl Iterator<Item = u64> {
        let count = i64::from(self.kind == Kind::Cells);
        let [x, y, z] = self.more;
        let low = self.low.map(i64::from);
        (0..count * (i64::from(x) + 1)).flat_map(move |x| {
            (0..=i64::from(y)).flat_map(move |y| {
                (0..=i64::from(z)).map(move |z| code([low[0] + x, low[1] + y, low[2] + z]))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A code leads back to its cell, and the cells of a place are those of its range.
        #[test]
        fn codes_lead_back(
            low in prop::array::uniform3(-(1i64 << 39)..(1i64 << 39)), more in prop::array::uniform3(0i64..9),
        ) {
            let high = [low[0] + more[0], low[1] + more[1], low[2] + more[2]];
            let range = CellRange { low, high };
            let codes: Vec<u64> = Place::of(Some(range)).codes().collect();
            let cells: Vec<[i64; 3]> = codes.iter().map(|&code| cell_above(code, low)).collect();
            prop_assert_eq!(cells, range.cells().collect::<Vec<_>>());
        }

        #[test]
        fn lattice_floors(x in -1e9..1e9f64, side in 1e-3..1e3f64) {
            let cell = Lattice::new(side).cell(DVec3::splat(x))[0] as f64;
            let slack = 1e-12 * x.abs();
            prop_assert!(cell * side <= x + slack && x - slack <= (cell + 1.0) * side);
        }
    }
}
