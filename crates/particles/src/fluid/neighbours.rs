//! Neighbours of sorted particles within the support radius.
//!
//! Particles are sorted by cells of side h, positions kept as f32 relative to the corner of their cell: differences
//! x_ij = (r_i − r_j) − h D, D the offset of the cell of j from that of i, have a relative error of 1e-7 of h wherever
//! in space the fluid is, and x_ji = −x_ij bit for bit. A neighbour is a number of 16 bits: which of the 27 cells (5
//! bits), and which particle in it (11 bits). Lists are filled up to multiples of eight with the particle itself, whose
//! kernel gradient is zero.
//!
//! Lists belong to blocks of consecutive cells, which threads build and use on their own.

use glam::{DVec3, IVec3};

use crate::{CellGrid, ParticleError, parallel};

/// Particles per block at least.
const BLOCK: usize = 192;
/// Particles of a cell that a number of 11 bits can name.
pub(super) const MAX_IN_CELL: usize = 1 << 11;
/// The cell itself among its 27.
pub(super) const CENTER: usize = 13;

/// Four numbers: coordinates relative to a cell, or a vector, and a scalar.
pub(super) type Record = [f32; 4];

/// An occupied cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// First particle.
    pub start: u32,
    pub count: u32,
    pub coordinates: IVec3,
}

/// Consecutive cells with the lists of their particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub cells: Vec<Cell>,
    /// First particle.
    pub first: u32,
    pub count: u32,
    /// Lists of the particles one after the other, each in whole groups.
    pub codes: Vec<[u16; 8]>,
    /// Number of neighbours without filling.
    pub length: Vec<u16>,
    /// Lists of boundary neighbours one after the other.
    pub boundary_codes: Vec<u16>,
    pub boundary_length: Vec<u16>,
    /// The list that is being built.
    list: Vec<u16>,
    /// A cell with too many particles.
    too_dense: Option<IVec3>,
}

impl Block {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<Cell>() * self.cells.capacity()
            + 16 * self.codes.capacity()
            + 2 * (self.list.capacity()
                + self.length.capacity()
                + self.boundary_length.capacity()
                + self.boundary_codes.capacity())
    }
}

/// Offsets of the 27 cells, x fastest.
pub(super) fn offset(k: usize) -> IVec3 {
    let k = k as u32;
    glam::UVec3::new(k % 3, k / 3 % 3, k / 9).as_ivec3() - 1
}

/// The period of space in cells along each axis; 0 where it is not periodic.
pub(super) type Period = [i32; 3];

/// A cell of periodic space ⇒ the one of the same name in the first period.
pub(super) fn wrapped(mut cell: IVec3, period: Period) -> IVec3 {
    for axis in 0..3 {
        if period[axis] > 0 {
            cell[axis] = cell[axis].rem_euclid(period[axis]);
        }
    }
    cell
}

/// Points in cells with records, either fluid or boundary.
pub(super) struct Sorted<'a> {
    pub grid: &'a CellGrid,
    pub records: &'a [Record],
}

impl Sorted<'_> {
    /// First points of the 27 cells around a cell, and their numbers of points.
    pub(super) fn around(&self, cell: IVec3, period: Period) -> ([u32; 27], [u32; 27]) {
        let (mut start, mut count) = ([0; 27], [0; 27]);
        for k in 0..27 {
            let range = self.grid.cell_range(wrapped(cell + offset(k), period));
            start[k] = range.start as u32;
            count[k] = range.len() as u32;
        }
        (start, count)
    }
}

/// Divides sorted particles into blocks of cells; blocks keep their buffers.
pub(super) fn divide(blocks: &mut Vec<Block>, grid: &CellGrid, position: &[DVec3]) {
    let mut used = 0;
    let mut fresh = true;
    let mut cell_end = 0;
    for i in 0..position.len() {
        if i < cell_end {
            continue;
        }
        let coordinates = grid.cell_of(position[i]);
        let range = grid.cell_range(coordinates);
        cell_end = range.end.max(i + 1);
        if fresh {
            if used == blocks.len() {
                blocks.push(Block::default());
            }
            used += 1;
            let block = &mut blocks[used - 1];
            block.cells.clear();
            block.first = i as u32;
            block.count = 0;
        }
        let block = &mut blocks[used - 1];
        let count = (cell_end - i) as u32;
        block.cells.push(Cell { start: i as u32, count, coordinates });
        block.count += count;
        fresh = block.count as usize >= BLOCK;
    }
    blocks.truncate(used);
}

/// Position ⇒ relative to the corner of its cell.
pub(super) fn local(grid: &CellGrid, p: DVec3) -> Record {
    let corner = grid.cell_of(p).as_dvec3() * grid.cell();
    let r = (p - corner).as_vec3();
    [r.x, r.y, r.z, 0.0]
}

/// Builds the lists of all blocks.
pub(super) fn build(
    threads: usize,
    blocks: &mut [Block],
    fluid: &Sorted<'_>,
    boundary: &Sorted<'_>,
    support: f64,
    period: Period,
) -> Result<(), ParticleError> {
    parallel::each(threads, blocks, |_, block| build_block(block, fluid, boundary, support as f32, period));
    match blocks.iter().find_map(|block| block.too_dense) {
        None => Ok(()),
        Some(cell) => {
            let position = ((cell.as_dvec3() + 0.5) * support).to_array();
            Err(ParticleError::FluidTooDense { limit: MAX_IN_CELL, position })
        }
    }
}

fn build_block(block: &mut Block, fluid: &Sorted<'_>, boundary: &Sorted<'_>, h: f32, period: Period) {
    let Block {
        cells,
        codes,
        length,
        boundary_length,
        boundary_codes,
        list,
        too_dense,
        count: particles,
        ..
    } = block;
    codes.clear();
    length.clear();
    boundary_length.clear();
    boundary_codes.clear();
    *too_dense = None;
    // Room for what a fluid usually needs, without the doubling of a growing vector.
    codes.reserve_exact(9 * *particles as usize / 2);
    for cell in cells.iter() {
        let (start, count) = fluid.around(cell.coordinates, period);
        let (b_start, b_count) = boundary.around(cell.coordinates, period);
        if count.iter().chain(&b_count).any(|&n| n as usize > MAX_IN_CELL) {
            *too_dense = Some(cell.coordinates);
            return;
        }
        for i in cell.start..cell.start + cell.count {
            let at = fluid.records[i as usize];
            list.clear();
            for k in 0..27 {
                let o = offset(k).as_vec3() * h;
                let range = start[k] as usize..(start[k] + count[k]) as usize;
                for (n, r) in fluid.records[range].iter().enumerate() {
                    if distance_squared(&at, r, o) < h * h && start[k] + n as u32 != i {
                        list.push((k << 11 | n) as u16);
                    }
                }
            }
            // 27 cells of 2048 at most: fits into 16 bits.
            length.push(list.len() as u16);
            let own = (CENTER << 11) as u16 | (i - cell.start) as u16;
            for group in list.chunks(8) {
                let mut filled = [own; 8];
                filled[..group.len()].copy_from_slice(group);
                codes.push(filled);
            }
            let before = boundary_codes.len();
            for k in (0..27).filter(|&k| b_count[k] > 0) {
                let o = offset(k).as_vec3() * h;
                let range = b_start[k] as usize..(b_start[k] + b_count[k]) as usize;
                for (n, r) in boundary.records[range].iter().enumerate() {
                    if distance_squared(&at, r, o) < h * h {
                        boundary_codes.push((k << 11 | n) as u16);
                    }
                }
            }
            boundary_length.push((boundary_codes.len() - before) as u16);
        }
    }
}

/// |x_ij|².
#[inline(always)]
fn distance_squared(a: &Record, b: &Record, o: glam::Vec3) -> f32 {
    let (x, y, z) = ((a[0] - b[0]) - o.x, (a[1] - b[1]) - o.y, (a[2] - b[2]) - o.z);
    x * x + y * y + z * z
}
