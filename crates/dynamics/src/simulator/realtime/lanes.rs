//! Eight-lane single-precision arithmetic with the same bits on every machine.
//!
//! [`PortableLanes`] is a plain array for any target, [`AvxLanes`] one 256-bit register. No operation is
//! fused or approximate, so that results do not depend on the machine.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Number of lanes.
pub(super) const LANES: usize = 8;

/// Eight numbers in memory, aligned for register loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C, align(32))]
pub(super) struct F32x8(pub [f32; LANES]);

impl F32x8 {
    /// The 3-vector in three consecutive lanes.
    pub fn vector(&self, lane: usize) -> DVec3 {
        DVec3::new(self.0[lane].into(), self.0[lane + 1].into(), self.0[lane + 2].into())
    }
}

/// Arithmetic on eight lanes.
pub(super) trait F32Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The same number in all lanes.
    fn splat(value: f32) -> Self;
    /// ForceAccumulator from memory.
    fn load(row: &F32x8) -> Self;
    /// Stores to memory.
    fn store(self, row: &mut F32x8);
    /// Lane-wise maximum; `other` where self is NaN.
    fn max(self, other: Self) -> Self;
    /// Lane-wise minimum; `other` where self is NaN.
    fn min(self, other: Self) -> Self;
    /// Lane-wise square root.
    fn sqrt(self) -> Self;
    /// `yes` in lanes where self > 0, else `no`.
    fn if_positive(self, yes: Self, no: Self) -> Self;
    /// Transposes eight rows into eight columns, and back.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];
}

/// Eight lanes as a plain array.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortableLanes([f32; LANES]);

macro_rules! by_lane {
    ($operation:ident, $method:ident, $symbol:tt) => {
        impl $operation for PortableLanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] $symbol other.0[i]))
            }
        }
    };
}

by_lane!(Add, add, +);
by_lane!(Sub, sub, -);
by_lane!(Mul, mul, *);
by_lane!(Div, div, /);

impl Neg for PortableLanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl F32Lanes for PortableLanes {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn load(row: &F32x8) -> Self {
        Self(row.0)
    }
    #[inline(always)]
    fn store(self, row: &mut F32x8) {
        row.0 = self.0;
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] > 0.0 { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|i| Self(std::array::from_fn(|k| rows[k].0[i])))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx::AvxLanes;

/// Eight lanes in one AVX register.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx {
    use super::{F32Lanes, F32x8, LANES};
    use std::arch::x86_64::{
        __m256, _CMP_GT_OQ, _mm256_add_ps, _mm256_blendv_ps, _mm256_cmp_ps, _mm256_div_ps, _mm256_load_ps,
        _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps, _mm256_permute2f128_ps, _mm256_set1_ps,
        _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_sqrt_ps, _mm256_store_ps, _mm256_sub_ps,
        _mm256_unpackhi_ps, _mm256_unpacklo_ps, _mm256_xor_ps,
    };
    use std::ops::{Add, Div, Mul, Neg, Sub};

    /// Constructed only inside functions that are called after AVX support was detected; every method relies
    /// on it.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct AvxLanes(__m256);

    macro_rules! by_lane {
        ($operation:ident, $method:ident, $instruction:ident) => {
            impl $operation for AvxLanes {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: values of this type exist only after AVX was detected.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        };
    }

    by_lane!(Add, add, _mm256_add_ps);
    by_lane!(Sub, sub, _mm256_sub_ps);
    by_lane!(Mul, mul, _mm256_mul_ps);
    by_lane!(Div, div, _mm256_div_ps);

    impl Neg for AvxLanes {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
        }
    }

    impl F32Lanes for AvxLanes {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: the kernels that use `AvxLanes` run only where AVX was detected.
            Self(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn load(row: &F32x8) -> Self {
            // SAFETY: as above; `F32x8` is aligned to 32 bytes.
            Self(unsafe { _mm256_load_ps(row.0.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, row: &mut F32x8) {
            // SAFETY: as above.
            unsafe { _mm256_store_ps(row.0.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn if_positive(self, yes: Self, no: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps());
                Self(_mm256_blendv_ps(no.0, yes.0, positive))
            }
        }
        #[inline(always)]
        fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
            let [a, b, c, d, e, f, g, h] = rows.map(|row| row.0);
            // SAFETY: as above.
            unsafe {
                let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                let (ef_low, ef_high) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
                let (gh_low, gh_high) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
                let first = [
                    _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
                    _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
                    _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                    _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
                ];
                let second = [
                    _mm256_shuffle_ps::<0x44>(ef_low, gh_low),
                    _mm256_shuffle_ps::<0xee>(ef_low, gh_low),
                    _mm256_shuffle_ps::<0x44>(ef_high, gh_high),
                    _mm256_shuffle_ps::<0xee>(ef_high, gh_high),
                ];
                [
                    Self(_mm256_permute2f128_ps::<0x20>(first[0], second[0])),
                    Self(_mm256_permute2f128_ps::<0x20>(first[1], second[1])),
                    Self(_mm256_permute2f128_ps::<0x20>(first[2], second[2])),
                    Self(_mm256_permute2f128_ps::<0x20>(first[3], second[3])),
                    Self(_mm256_permute2f128_ps::<0x31>(first[0], second[0])),
                    Self(_mm256_permute2f128_ps::<0x31>(first[1], second[1])),
                    Self(_mm256_permute2f128_ps::<0x31>(first[2], second[2])),
                    Self(_mm256_permute2f128_ps::<0x31>(first[3], second[3])),
                ]
            }
        }
    }
}

/// Eight 3-vectors, one in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vec3Lanes<L> {
    pub x: L,
    pub y: L,
    pub z: L,
}

impl<L: F32Lanes> Vec3Lanes<L> {
    #[inline(always)]
    pub fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }
    #[inline(always)]
    pub fn load(rows: &[F32x8; 3]) -> Self {
        Self { x: L::load(&rows[0]), y: L::load(&rows[1]), z: L::load(&rows[2]) }
    }
    #[inline(always)]
    pub fn store(self, rows: &mut [F32x8; 3]) {
        self.x.store(&mut rows[0]);
        self.y.store(&mut rows[1]);
        self.z.store(&mut rows[2]);
    }
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
    #[inline(always)]
    pub fn scaled(self, factor: L) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl<L: F32Lanes> Add for Vec3Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<L: F32Lanes> Sub for Vec3Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

/// Whether the processor has AVX2.
pub(super) fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Defines `run_task` from `run`: a pass over a range of blocks, compiled with AVX2 for machines that have it. A macro, since a
/// generic function that is not certainly inlined would be compiled without AVX2.
macro_rules! dispatch {
    ($task:ident, $arena:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        #[allow(unsafe_code)]
        unsafe fn run_avx(
            task: $task,
            arena: &$arena<'_>,
            blocks: std::ops::Range<usize>,
            parameters: &SweepParameters,
        ) {
            // SAFETY: guaranteed by the caller.
            unsafe { run::<super::lanes::AvxLanes>(task, arena, blocks, parameters) }
        }

        /// Runs a pass over a range of blocks, to which the caller has exclusive access.
        #[allow(unsafe_code)]
        pub(super) unsafe fn run_task(
            avx: bool,
            task: $task,
            arena: &$arena<'_>,
            blocks: std::ops::Range<usize>,
            parameters: &SweepParameters,
        ) {
            #[cfg(target_arch = "x86_64")]
            if avx {
                // SAFETY: AVX2 support was detected.
                return unsafe { run_avx(task, arena, blocks, parameters) };
            }
            let _ = avx;
            // SAFETY: guaranteed by the caller.
            unsafe { run::<super::lanes::PortableLanes>(task, arena, blocks, parameters) }
        }
    };
}

pub(super) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> [F32x8; LANES] {
        std::array::from_fn(|i| F32x8(std::array::from_fn(|k| (i * 8 + k) as f32 - 20.5)))
    }

    fn exercise<L: F32Lanes>() -> Vec<[f32; LANES]> {
        let lanes = rows().map(|row| L::load(&row));
        let columns = L::transpose(lanes);
        let mixed = (columns[1] * columns[2] + columns[3] / columns[0] - columns[4]).max(-columns[5]);
        let chosen = mixed.if_positive(mixed.max(L::splat(0.0)).sqrt(), columns[6].min(columns[7]));
        let mut out = vec![];
        for lanes in columns.into_iter().chain([mixed, chosen]) {
            let mut row = F32x8::default();
            lanes.store(&mut row);
            out.push(row.0);
        }
        out
    }

    #[test]
    fn registers_and_arrays_give_the_same_bits() {
        let plain = exercise::<PortableLanes>();
        assert_eq!(plain[3][2], rows()[2].0[3]);
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            assert_eq!(plain, exercise::<AvxLanes>());
        }
    }
}
