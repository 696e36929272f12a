//! Cubic cells of side ρ: a point x lies in the cell ⌊x/ρ⌋ of each axis; a box lies in all cells from that of
//! its lowest to that of its highest corner. Boxes that share a point share the cell of that point.

use std::hash::{BuildHasherDefault, Hasher};

use glam::DVec3;

use crate::primitive::aabb_sphere;
use crate::{Aabb, BoundingSphere};

/// Boxes that would cover more cells than this are not put into cells.
pub(super) const MAX_CELLS: u64 = 4096;
/// Cells farther out than this are not numbered.
pub(super) const MAX_INDEX: f64 = (1u64 << 40) as f64;

/// All cells from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRange {
    /// Smallest index on each axis.
    pub low: [i64; 3],
    /// Largest index on each axis.
    pub high: [i64; 3],
}

impl CellRange {
    /// (box, side of a cell > 0) ⇒ the cells it lies in; None if they are more than 4096 or farther out than
    /// 2⁴⁰.
    pub fn of(bounds: &Aabb, side: f64) -> Option<Self> {
        let (low, high) = ((bounds.min() / side).floor(), (bounds.max() / side).floor());
        let far = low.abs().max(high.abs()).max_element();
        if !(far <= MAX_INDEX) {
            return None;
        }
        let range = Self { low: low.to_array().map(|x| x as i64), high: high.to_array().map(|x| x as i64) };
        (range.count() <= MAX_CELLS).then_some(range)
    }

    /// How many cells.
    pub fn count(&self) -> u64 {
        let sides: [u64; 3] = std::array::from_fn(|axis| (self.high[axis] - self.low[axis]) as u64 + 1);
        sides[0].saturating_mul(sides[1]).saturating_mul(sides[2])
    }

    /// Whether a cell is one of them.
    #[inline(always)]
    pub fn contains(&self, cell: [i64; 3]) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&cell[axis]))
    }

    /// The cells in order.
    pub fn cells(&self) -> impl Iterator<Item = [i64; 3]> + use<> {
        let Self { low, high } = *self;
        (low[0]..=high[0]).flat_map(move |x| {
            (low[1]..=high[1]).flat_map(move |y| (low[2]..=high[2]).map(move |z| [x, y, z]))
        })
    }
}

/// (centre, radius, side of a cell) ⇒ the cells that the solid sphere itself overlaps, fewer than those of
/// its box; None where [`CellRange::of`] is None.
pub fn cells_of_sphere(center: DVec3, radius: f64, side: f64) -> Option<Vec<[i64; 3]>> {
    let bounds = Aabb::from_center(center, DVec3::splat(radius)).ok()?;
    let sphere = BoundingSphere::new(center, radius).ok()?;
    let overlaps_bounds = |cell: &[i64; 3]| {
        let low = DVec3::from_array(cell.map(|index| index as f64)) * side;
        Aabb::new(low, low + side).is_ok_and(|cube| aabb_sphere(&cube, &sphere))
    };
    Some(CellRange::of(&bounds, side)?.cells().filter(overlaps_bounds).collect())
}

/// Mixes whole words; the result does not change from run to run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mix(u64);

/// Makes a [`Mix`] for hash tables.
pub(super) type MixState = BuildHasherDefault<Mix>;

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
