//! Sums over neighbours, eight at a time: the loops where the time goes.
//!
//! With t = max(0, 1 − |x|/h) all sums contain t³ x, the gradient of the kernel but for a constant. Pair terms are
//! formed in single precision, exactly antisymmetric; sums that change momentum are added up in double precision.
#![allow(unsafe_code)]

use glam::{DVec3, IVec3};

use super::lanes::Lanes;
use super::neighbours::{Block, Period, Record, Sorted, offset};

/// What a pass reads.
pub(super) struct PassInput<'a> {
    pub fluid: Sorted<'a>,
    /// Boundary points; their scalar is the volume V_b.
    pub boundary: Sorted<'a>,
    /// A vector per fluid particle.
    pub field: &'a [Record],
    /// A vector per boundary point.
    pub boundary_field: &'a [Record],
    pub support: f32,
    pub period: Period,
}

/// Eight neighbours of a particle: x_ij, t, their scalars and vectors.
pub(super) struct Group {
    pub x: [Lanes; 3],
    pub t: Lanes,
    pub scalar: Lanes,
    pub field: [Lanes; 3],
}

/// A boundary neighbour: x_ib, t, V_b, its vector and its index.
pub(super) struct BoundaryNeighbour {
    pub x: [f32; 3],
    pub t: f32,
    pub volume: f32,
    pub field: [f32; 3],
    pub index: usize,
}

/// A particle with its neighbours.
pub(super) struct Visit<'a, 'b> {
    input: &'a PassInput<'b>,
    pub index: usize,
    at: Record,
    start: &'a [u32; 27],
    boundary_start: &'a [u32; 27],
    offsets: &'a [Record; 27],
    codes: &'a [[u16; 8]],
    boundary_codes: &'a [u16],
    /// Number of neighbours without filling.
    pub length: u32,
}

impl Visit<'_, '_> {
    /// Scalar of the particle.
    #[inline(always)]
    pub(super) const fn scalar(&self) -> f32 {
        self.at[3]
    }

    /// Vector of the particle.
    #[inline(always)]
    pub(super) fn field(&self) -> [f32; 3] {
        let [x, y, z, _] = self.input.field[self.index];
        [x, y, z]
    }

    /// Number of entries that only fill groups up: the particle itself.
    #[inline(always)]
    pub(super) const fn filling(&self) -> u32 {
        self.codes.len() as u32 * 8 - self.length
    }

    /// Calls `visit` for every group of neighbours; vectors are gathered if `FIELD`.
    #[inline(always)]
    pub(super) fn groups<const FIELD: bool>(&self, mut visit: impl FnMut(&Group)) {
        let inverse = Lanes::splat(1.0 / self.input.support);
        let [ax, ay, az, _] = self.at;
        for codes in self.codes {
            let mut gathered = [[0.0_f32; 8]; 4];
            let mut field = [[0.0_f32; 8]; 3];
            for (lane, code) in codes.iter().enumerate() {
                let k = usize::from(code >> 11);
                let j = (self.start[k] + u32::from(code & 0x7ff)) as usize;
                let (r, o) = (self.input.fluid.records[j], self.offsets[k]);
                gathered[0][lane] = (ax - r[0]) - o[0];
                gathered[1][lane] = (ay - r[1]) - o[1];
                gathered[2][lane] = (az - r[2]) - o[2];
                gathered[3][lane] = r[3];
                if FIELD {
                    let f = self.input.field[j];
                    field[0][lane] = f[0];
                    field[1][lane] = f[1];
                    field[2][lane] = f[2];
                }
            }
            let x = [Lanes(gathered[0]), Lanes(gathered[1]), Lanes(gathered[2])];
            let r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
            let t = (Lanes::splat(1.0) - r2.sqrt() * inverse).positive();
            let field = [Lanes(field[0]), Lanes(field[1]), Lanes(field[2])];
            visit(&Group { x, t, scalar: Lanes(gathered[3]), field });
        }
    }

    /// Calls `visit` for every boundary neighbour.
    #[inline(always)]
    pub(super) fn boundary(&self, mut visit: impl FnMut(&BoundaryNeighbour)) {
        let inverse = 1.0 / self.input.support;
        for code in self.boundary_codes {
            let k = usize::from(code >> 11);
            let index = (self.boundary_start[k] + u32::from(code & 0x7ff)) as usize;
            let (r, o) = (self.input.boundary.records[index], self.offsets[k]);
            let x = [0, 1, 2].map(|c: usize| (self.at[c] - r[c]) - o[c]);
            let t = (1.0 - (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt() * inverse).max(0.0);
            let f = self.input.boundary_field[index];
            visit(&BoundaryNeighbour { x, t, volume: r[3], field: [f[0], f[1], f[2]], index });
        }
    }
}

/// Calls `work` for every particle of a block, in their order.
#[inline(always)]
fn visit_block(block: &Block, input: &PassInput<'_>, mut work: impl FnMut(&Visit<'_, '_>)) {
    let offsets: [Record; 27] = std::array::from_fn(|k| {
        let o: IVec3 = offset(k);
        let o = o.as_vec3() * input.support;
        [o.x, o.y, o.z, 0.0]
    });
    let (mut n, mut codes, mut boundary_codes) = (0, &block.codes[..], &block.boundary_codes[..]);
    for cell in &block.cells {
        let (start, _) = input.fluid.around(cell.coordinates, input.period);
        let boundary_near =
            block.boundary_length[n..n + cell.count as usize].iter().any(|&length| length > 0);
        let boundary_start =
            if boundary_near { input.boundary.around(cell.coordinates, input.period).0 } else { [0; 27] };
        for i in cell.start..cell.start + cell.count {
            let (own, rest) = codes.split_at(usize::from(block.length[n]).div_ceil(8));
            let (own_boundary, boundary_rest) =
                boundary_codes.split_at(usize::from(block.boundary_length[n]));
            (codes, boundary_codes) = (rest, boundary_rest);
            work(&Visit {
                input,
                index: i as usize,
                at: input.fluid.records[i as usize],
                start: &start,
                boundary_start: &boundary_start,
                offsets: &offsets,
                codes: own,
                boundary_codes: own_boundary,
                length: u32::from(block.length[n]),
            });
            n += 1;
        }
    }
}

/// The same, compiled for wide registers where the processor has them; the bits are the same.
#[inline]
pub(super) fn for_block(block: &Block, input: &PassInput<'_>, work: impl FnMut(&Visit<'_, '_>)) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide(block: &Block, input: &PassInput<'_>, work: impl FnMut(&Visit<'_, '_>)) {
            visit_block(block, input, work);
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { wide(block, input, work) };
        }
    }
    visit_block(block, input, work);
}

/// Σ over three lanes of eight, in double precision.
#[inline(always)]
pub(super) fn sum_f64(sums: [Lanes; 3]) -> DVec3 {
    DVec3::new(sums[0].sum_f64(), sums[1].sum_f64(), sums[2].sum_f64())
}
