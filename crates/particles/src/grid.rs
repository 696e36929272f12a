//! Points sorted into cubic cells: neighbours within a cut-off in O(n).
//!
//! The cell of p is ⌊p/s⌋. Cells are numbered row by row over the box around all points, with an empty layer
//! around it, and the points sorted by that number: three cells that follow each other in x are one range of
//! points. Where the box has few cells for its points, starts of cells are in a table and sorting is by
//! counting. Else (few points far apart) keys are sorted and rows found by bisection, so that an outlier costs
//! neither memory nor time.
//!
//! Points within a cut-off c lie in cells at most m = ⌈c/s⌉ away; the distance decides.

use std::ops::Range;

use glam::{DVec3, IVec3};

use crate::ParticleError;

/// Cells per axis at most: three numbers of 21 bits fit into a key.
const MAX_CELLS: i64 = 1 << 21;

/// Points in sorted cells.
#[derive(Clone, Debug, Default)]
pub struct CellGrid {
    cell: f64,
    /// Cell with number 0, one below the lowest.
    low: IVec3,
    /// Cells along the axes, empty layer included.
    count: [u64; 3],
    /// Sorted place ⇒ index of the point.
    order: Vec<u32>,
    /// Keys of the sorted points, if there is no table.
    keys: Vec<u64>,
    /// Start of each cell, one more than there are cells; empty if keys are searched.
    start: Vec<u32>,
    /// Key and index, to be sorted.
    scratch: Vec<(u64, u32)>,
}

impl CellGrid {
    /// Sorts the points into cells of side `cell`.
    ///
    /// # Errors
    /// A side that is not positive, a point that is not finite, or an extent of more than two million cells.
    pub fn build(&mut self, points: &[DVec3], cell: f64) -> Result<(), ParticleError> {
        crate::error::check("cell size", cell, cell > 0.0, "finite and greater than zero")?;
        self.cell = cell;
        let infinite = DVec3::splat(f64::INFINITY);
        let (low, high) = points.iter().fold((infinite, -infinite), |(l, h), &p| (l.min(p), h.max(p)));
        let finite = points.iter().all(|p| p.is_finite());
        let extent = if points.is_empty() { DVec3::ZERO } else { high - low };
        let reach = low.abs().max(high.abs()).max_element() / cell;
        if !finite
            || extent.max_element() / cell > (MAX_CELLS - 4) as f64
            || reach > f64::from(i32::MAX) / 2.0
        {
            if points.is_empty() {
                self.clear();
                return Ok(());
            }
            let extent = extent.max_element().max(reach * cell);
            return Err(ParticleError::TooFarApart { extent, limit: MAX_CELLS as u32, cell });
        }
        if points.is_empty() {
            self.clear();
            return Ok(());
        }
        self.low = self.cell_of(low) - 1;
        let high = self.cell_of(high) + 1;
        self.count = (high - self.low).to_array().map(|n| n as u64 + 1);
        let cells = self.count.iter().product::<u64>();
        if cells <= 4 * points.len() as u64 + 4096 {
            self.sort_by_counting(points, cells as usize);
            return Ok(());
        }
        self.scratch.clear();
        self.scratch.extend(points.iter().enumerate().map(|(i, &p)| {
            let cell = (p / cell).floor().as_ivec3();
            (key(cell - self.low, self.count), i as u32)
        }));
        self.scratch.sort_unstable();
        self.start.clear();
        self.order.clear();
        self.order.extend(self.scratch.iter().map(|&(_, index)| index));
        self.keys.clear();
        self.keys.extend(self.scratch.iter().map(|&(key, _)| key));
        Ok(())
    }

    fn clear(&mut self) {
        self.count = [0; 3];
        self.order.clear();
        self.keys.clear();
        self.start.clear();
    }

    fn sort_by_counting(&mut self, points: &[DVec3], cells: usize) {
        let (low, count, cell) = (self.low, self.count, self.cell);
        let key = |p: DVec3| key((p / cell).floor().as_ivec3() - low, count) as usize;
        self.keys.clear();
        self.start.clear();
        self.start.resize(cells + 1, 0);
        for &p in points {
            self.start[key(p) + 1] += 1;
        }
        for cell in 0..cells {
            self.start[cell + 1] += self.start[cell];
        }
        self.order.clear();
        self.order.resize(points.len(), 0);
        // `start` of a cell serves as its fill mark and ends as the start of the next: moved back after.
        for (index, &p) in points.iter().enumerate() {
            let place = &mut self.start[key(p)];
            self.order[*place as usize] = index as u32;
            *place += 1;
        }
        self.start.copy_within(0..cells, 1);
        self.start[0] = 0;
    }

    /// The cell of a point.
    #[inline]
    pub fn cell_of(&self, p: DVec3) -> IVec3 {
        (p / self.cell).floor().as_ivec3()
    }

    /// Side of a cell.
    pub const fn cell(&self) -> f64 {
        self.cell
    }

    /// Sorted place ⇒ index of the point.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Sorted places of the points in the cells (x, y, z) with x from `from.x` to `to_x` inclusive.
    pub fn row(&self, from: IVec3, to_x: i32) -> Range<usize> {
        let a = from - self.low;
        let last = to_x - self.low.x;
        let outside = |k: i32, axis: usize| k < 0 || k as u64 >= self.count[axis];
        if outside(a.y, 1) || outside(a.z, 2) || self.order.is_empty() {
            return 0..0;
        }
        let (first, last) = (a.x.max(0), i64::from(last).min(self.count[0].cast_signed() - 1) as i32);
        if first > last {
            return 0..0;
        }
        let from = key(IVec3::new(first, a.y, a.z), self.count);
        let to = key(IVec3::new(last, a.y, a.z), self.count);
        if self.start.is_empty() {
            self.keys.partition_point(|&k| k < from)..self.keys.partition_point(|&k| k <= to)
        } else {
            self.start[from as usize] as usize..self.start[to as usize + 1] as usize
        }
    }

    /// Sorted places of the points in a cell.
    #[inline]
    pub fn cell_range(&self, cell: IVec3) -> Range<usize> {
        self.row(cell, cell.x)
    }

    /// Sorts an array like the points, in place; `marks` has one bit of room per point.
    pub(crate) fn permute<T: Copy>(&self, values: &mut [T], marks: &mut Vec<u64>) {
        marks.clear();
        marks.resize(values.len().div_ceil(64), 0);
        for first in 0..values.len() {
            if marks[first / 64] >> (first % 64) & 1 == 1 {
                continue;
            }
            let displaced = values[first];
            let mut place = first;
            loop {
                marks[place / 64] |= 1 << (place % 64);
                let source = self.order[place] as usize;
                if source == first {
                    values[place] = displaced;
                    break;
                }
                values[place] = values[source];
                place = source;
            }
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.order.capacity()
            + 8 * self.keys.capacity()
            + 4 * self.start.capacity()
            + 16 * self.scratch.capacity()
    }

    /// Calls `found(i, j)` once for every pair of points with |p_i − p_j| ≤ `cutoff`; i comes before j in the
    /// order of cells.
    pub fn pairs_within(&self, points: &[DVec3], cutoff: f64, mut found: impl FnMut(usize, usize)) {
        let reach = (cutoff / self.cell).ceil().min(f64::from(1 << 20)) as i32;
        for (place, &i) in self.order.iter().enumerate() {
            let p = points[i as usize];
            let center = self.cell_of(p);
            for z in center.z..=center.z.saturating_add(reach) {
                for y in center.y - reach..=center.y + reach {
                    if z == center.z && y < center.y {
                        continue;
                    }
                    let range = self.row(IVec3::new(center.x - reach, y, z), center.x + reach);
                    for other in range {
                        // The own row is visited from both ends; later places only.
                        if z == center.z && y == center.y && other <= place {
                            continue;
                        }
                        let j = self.order[other] as usize;
                        if points[j].distance_squared(p) <= cutoff * cutoff {
                            found(i as usize, j);
                        }
                    }
                }
            }
        }
    }

    /// Calls `found(j)` for every point with |p − p_j| ≤ `radius`, in the order of cells.
    pub fn points_within(&self, points: &[DVec3], p: DVec3, radius: f64, mut found: impl FnMut(usize)) {
        let reach = (radius / self.cell).ceil().min(f64::from(1 << 20)) as i32;
        let center = self.cell_of(p);
        for z in center.z - reach..=center.z + reach {
            for y in center.y - reach..=center.y + reach {
                for other in self.row(IVec3::new(center.x - reach, y, z), center.x + reach) {
                    let j = self.order[other] as usize;
                    if points[j].distance_squared(p) <= radius * radius {
                        found(j);
                    }
                }
            }
        }
    }
}

/// Cell counted from the lowest ⇒ its number.
#[inline]
fn key(cell: IVec3, count: [u64; 3]) -> u64 {
    (cell.z as u64 * count[1] + cell.y as u64) * count[0] + cell.x as u64
}
